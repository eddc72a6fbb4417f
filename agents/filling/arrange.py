"""The second step: the variables that an operation reads, and those that it sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orgflow.agents.filling.choose import Unusable, describe_task
from orgflow.agents.filling.context import TaskContext
from orgflow.agents.prompting import render_prompt

from orgflow_ir.model.bindings import Parameter
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.operation_catalogue import Catalogue, Operation
from orgflow_ir.program.syntax import ConditionError, variables
from orgflow_ir.work.mappings import read_value, variable_name

_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"inputs": _TEXTS, "outputs": _TEXTS},
    "required": ["inputs", "outputs"],
    "additionalProperties": False,
}
_MOST = 40
_LONGEST = 500


class Arrangement(NamedTuple):
    """Inputs by the path of a parameter, outputs by process variable; texts are FEEL."""

    inputs: tuple[Parameter, ...] = ()
    outputs: tuple[Parameter, ...] = ()


def arrange_prompt(
    context: TaskContext, operation: Operation, catalogue: Catalogue, fault: str = ""
) -> str:
    """The question for the model."""
    return render_prompt(
        "fill_arrange",
        operation=operation.title,
        task=describe_task(context),
        variables=", ".join(context.variables) or "none",
        parameters=", ".join(find_input_parameters(operation, catalogue)) or "none",
        wanted=", ".join(context.wanted),
        fault=fault,
    )


def find_input_parameters(operation: Operation, catalogue: Catalogue) -> list[str]:
    """Parameters that are visible initially and may read variables."""
    names = catalogue.schema(operation, {})["properties"]
    return [name for name in names if catalogue.accepts_input(operation, {}, name)][:_MOST]


def read_arrangement(answer: Any, context: TaskContext) -> Arrangement:
    """The answer, with every expression parsed. Raises `Unusable`."""
    if not isinstance(answer, dict):
        raise Unusable("it is not an object")
    return Arrangement(
        tuple(_read_expression(n, t, context.variables) for n, t in _read_pairs(answer, "inputs")),
        tuple(
            _check_target(_read_expression(n, t, None)) for n, t in _read_pairs(answer, "outputs")
        ),
    )


def _read_pairs(answer: dict[str, Any], key: str) -> list[tuple[str, str]]:
    pairs = answer.get(key) or {}
    if not isinstance(pairs, dict) or len(pairs) > _MOST:
        raise Unusable(f"`{key}` is not an object of texts")
    for name, text in pairs.items():
        if not isinstance(text, str) or len(text) > _LONGEST:
            raise Unusable(f"`{name}` of `{key}` is not a short text")
    return [(name.strip(), text.strip()) for name, text in pairs.items() if text.strip()]


def _read_expression(name: str, text: str, known: Sequence[str] | None) -> Parameter:
    text = text.removeprefix("=").strip()
    try:
        tree = read_value(text, "feel")
    except ConditionError as error:
        raise Unusable(f"`{text[:80]}` is not valid FEEL: {error}") from None
    used = [path[0] for path in variables(tree)]
    missing = [variable for variable in used if known is not None and variable not in known]
    if missing:
        there = ", ".join(known or ()) or "none"
        raise Unusable(f"there is no process variable `{missing[0]}`; the variables are: {there}")
    return Parameter(name=name, text=text, language="feel")


def _check_target(parameter: Parameter) -> Parameter:
    try:
        variable_name(parameter.name)
    except ConditionError as error:
        raise Unusable(str(error)) from None
    if not parameter.name.isidentifier():
        raise Unusable(f"`{parameter.name}` is not a valid name of a variable")
    return parameter
