"""The third step: constants for the parameters of an operation, by its schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from orgflow.agents.filling.choose import Unusable, describe_task
from orgflow.agents.filling.context import TaskContext
from orgflow.agents.prompting import render_prompt

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.bindings import Parameter
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.operation_catalogue import Catalogue, Operation, Values

if TYPE_CHECKING:
    import jsonschema
else:  # when parameters are checked: importing jsonschema takes longer than a small compile
    jsonschema = LazyModule("jsonschema")

_MOST_FAULTS = 6
_SPECIFIC = re.compile(
    r"\d{3,}|@|://|^[#/]|[A-Z0-9]{6,}|\b(?:sk|pk|rk|gh[opsu]|xox[abprs]|glpat)[-_][\w-]{6,}"
)
"""Values that cannot be guessed: numbers, addresses, names of channels, keys."""


class Fault(NamedTuple):
    """The fault of a parameter: its path and the reason."""

    path: tuple[str | int, ...]
    reason: str


class Parameters(NamedTuple):
    """Values that conform to the schema, and the omitted ones."""

    values: dict[str, Any]
    left_out: tuple[Fault, ...]


def parameter_prompt(
    context: TaskContext, operation: Operation, inputs: Sequence[Parameter], fault: str = ""
) -> str:
    """The question for the model."""
    names = ", ".join(parameter.name for parameter in inputs) or "none"
    return render_prompt(
        "fill_parameters", operation=operation.title, task=describe_task(context), inputs=names,
        fault=fault,
    )  # fmt: skip


def answer_schema(
    operation: Operation, values: Values, inputs: Sequence[Parameter], catalogue: Catalogue
) -> dict[str, Any]:
    """The schema of the permitted values: nothing is required, and values from variables are
    omitted."""
    schema = catalogue.schema(operation, values)
    gone = {parameter.name for parameter in inputs} | {name for name, _ in operation.fixed}
    shown = {name: s for name, s in schema["properties"].items() if name not in gone}
    return {**schema, "properties": shown, "required": []}


def find_faults(
    values: dict[str, Any],
    operation: Operation,
    arranged: Sequence[Parameter],
    catalogue: Catalogue,
    context: TaskContext,
) -> list[Fault]:
    """All faults of given values: hidden or unknown parameters, wrong types, invented values, and
    inputs that are hidden with them."""
    schema = answer_schema(operation, values, arranged, catalogue)
    faults: list[Fault] = []
    for error in _load_validator()(schema).iter_errors(values):
        path = tuple(error.absolute_path)
        if error.validator == "additionalProperties" and isinstance(error.instance, dict):
            known = error.schema.get("properties", {})
            for name in error.instance:
                if name not in known:
                    faults.append(Fault((*path, name), "the parameter is hidden with these values"))
        elif error.validator == "required":
            continue
        else:
            faults.append(Fault(path, _cut_text(error.message)))
    material = " ".join((context.label, context.text, context.process, context.actor))
    for path, text in _walk_texts(values, ()):
        if _SPECIFIC.search(text) and text.casefold() not in material.casefold():
            faults.append(Fault(path, f"`{text[:60]}` is not in the material"))
    for parameter in arranged:
        if not catalogue.accepts_input(operation, values, parameter.name):
            faults.append(
                Fault((parameter.name,), "the parameter is hidden, so it cannot take a variable")
            )
    return faults


def _load_validator() -> Any:
    """The validator of JSON Schema 2020-12. Its library is heavy, so that the first values load
    it."""
    return jsonschema.Draft202012Validator


def read_values(answer: Any) -> dict[str, Any]:
    """The object in an answer. Raises `Unusable`."""
    if isinstance(answer, dict) and set(answer) == {"parameters"}:
        answer = answer["parameters"]  # many models name what they are asked for
    if not isinstance(answer, dict):
        raise Unusable("it is not an object")
    return answer


def describe_faults(faults: Sequence[Fault]) -> str:
    """Faults in the form for the model."""
    return "; ".join(f"`{_describe_path(f.path)}`: {f.reason}" for f in faults[:_MOST_FAULTS])


def keep_valid(
    values: dict[str, Any],
    operation: Operation,
    arranged: Sequence[Parameter],
    catalogue: Catalogue,
    context: TaskContext,
) -> tuple[Parameters, tuple[Parameter, ...]]:
    """The values without faulty ones, and the inputs that are visible with them: values are removed
    repeatedly, since an omitted one may hide others."""
    left_out: list[Fault] = []
    inputs = tuple(arranged)
    while True:
        faults = find_faults(values, operation, inputs, catalogue, context)
        if not faults:
            return Parameters(values, tuple(left_out)), inputs
        for fault in faults:
            left_out.append(fault)
            name = fault.path[0] if fault.path else None
            inputs = tuple(i for i in inputs if i.name != name)
            values = _remove_path(values, fault.path)


def _remove_path(values: Any, path: tuple[str | int, ...]) -> Any:
    """A copy without what is at a path; of a list the whole list goes."""
    if not path:
        return {}
    name, *rest = path
    if not isinstance(values, dict) or name not in values:
        return values
    if not rest or isinstance(rest[0], int):
        return {key: value for key, value in values.items() if key != name}
    return {**values, name: _remove_path(values[name], tuple(rest))}


def _walk_texts(
    value: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk_texts(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _walk_texts(inner, (*path, number))


def _describe_path(path: Sequence[str | int]) -> str:
    return ".".join(str(part) for part in path) or "the answer"


def _cut_text(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= 120 else f"{folded[:120]}…"
