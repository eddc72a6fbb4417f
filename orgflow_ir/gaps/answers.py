"""Validates answers to gaps and converts them to fixes.

An answer is data that an agent or a person gives. It is never inserted into the model directly. It
is validated against the gap's schema and the types of the model, and converted to a `Fix`.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from orgflow_ir.diagnostics import Edit, Fix
from orgflow_ir.gaps.gap import Gap
from orgflow_ir.gaps.timer_times import time_kind
from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import (
    Event,
    EventDefinition,
    Expression,
    Flow,
    Model,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import BINDINGS, AnyBinding
from orgflow_ir.model.timer_values import Moment
from orgflow_ir.model.timers import read_time
from orgflow_ir.program.syntax import Comparison
from orgflow_ir.work.gateway_decisions import DecisionConventions

if TYPE_CHECKING:
    import jsonschema
    import pydantic
else:  # answers of agents are checked against schemas
    jsonschema = LazyModule("jsonschema")
    pydantic = LazyModule("pydantic")

MAX_LENGTH = 100_000
"""Maximum length of an answer as JSON, in characters."""
MAX_DEPTH = 100
"""Maximum nesting depth of lists and objects in an answer."""


class AnswerError(ValueError):
    """An answer that a gap does not accept; the message gives the reason."""


def convert_answer(gap: Gap, answer: Any, model: Model) -> Fix:
    """The change that an answer makes to `model`, which may have been edited since the gap was
    found. Raises `AnswerError` if the answer does not match the gap's schema, contains a malformed
    time or condition, or is for an element that no longer exists."""
    if gap.schema is None:
        raise AnswerError("the model cannot hold an answer to it")
    answer = _to_plain(answer)

    schema_errors = jsonschema.Draft202012Validator(gap.schema).iter_errors(answer)
    error = jsonschema.exceptions.best_match(schema_errors)
    if error is not None:
        place = f" at `{error.json_path}`" if error.absolute_path else ""
        # Of alternatives the library says only that none fits.
        faults = dict.fromkeys(inner.message for inner in error.context) or [error.message]
        raise AnswerError(f"{_shorten_text(', or '.join(faults))}{place}")
    edits = tuple(_CHANGES[gap.kind](gap, answer, model))
    return Fix(title=f"answer {gap.rule.code}", applicability="unsafe", edits=edits)


def _to_plain(answer: Any) -> Any:
    """The answer as what JSON has, whatever it was made of. Raises `AnswerError`."""
    check_size(answer)
    try:
        text = json.dumps(answer, ensure_ascii=False, allow_nan=False)
        text.encode()
    except Exception as error:  # noqa: BLE001  # whatever the classes of an agent raise
        raise AnswerError(f"it is no JSON: {_shorten_text(str(error))}") from None
    if len(text) > MAX_LENGTH:
        raise AnswerError(f"it has {len(text)} characters; the maximum is {MAX_LENGTH}")
    plain = json.loads(text)
    for part in _list_texts(plain):
        # XML cannot hold them, and a terminal must not see them.
        if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", part):
            raise AnswerError(f"it contains control characters: {_shorten_text(repr(part))}")
    return plain


def check_size(answer: Any) -> None:
    """Raises `AnswerError` for an answer that is nested too deeply, is circular, or has too many
    parts, since the later checks are recursive."""
    # Parts and height of every container that was gone through: one that stands in several places
    # is gone through once.
    known: dict[int, tuple[int, int]] = {}
    todo, level = [(answer, False)], 0
    while todo:
        value, left = todo.pop()
        inner = value.values() if isinstance(value, dict) else value
        if not left:
            _, height = known.get(id(value), (1, 0))
            if level + height > MAX_DEPTH:
                raise AnswerError(f"it is nested deeper than {MAX_DEPTH}")
            if id(value) in known or not isinstance(value, dict | list | tuple):
                continue
            level += 1
            todo.append((value, True))
            todo += [(inner_value, False) for inner_value in inner]
        else:
            level -= 1
            sizes = [known.get(id(inner_value), (1, 0)) for inner_value in inner]
            parts = 1 + sum(size for size, _ in sizes)
            if parts > MAX_LENGTH:
                raise AnswerError(f"it has more than {MAX_LENGTH} parts")
            known[id(value)] = (parts, 1 + max((height for _, height in sizes), default=-1))


def _list_texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _list_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _list_texts(inner)


def _shorten_text(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= 160 else f"{folded[:160]}…"


# -- what each kind changes ------------------------------------------------------------------------


def _binding_edits(gap: Gap, answer: Any, model: Model) -> Iterator[Edit]:
    task = _find_element(gap, model)
    assert isinstance(task, Task)
    try:
        binding = BINDINGS[answer["kind"]].validate(answer)
    except ValueError as error:
        raise AnswerError(
            f"it is not a binding of the kind `{answer['kind']}`: {_field_faults(error)}"
        ) from None
    binding = _with_settings(binding, task)
    yield Edit(action="set-binding", scope=gap.scope, id=task.id, binding=binding)


_SETTINGS = ("inputs", "outputs", "result", "retries", "parameters", "listeners")


def _with_settings(binding: AnyBinding, task: Task) -> AnyBinding:
    """The binding with what the source says already: mappings and settings that do no work."""
    if task.binding is None:
        return binding
    there = {name: getattr(task.binding, name) for name in _SETTINGS}
    return binding.replace(
        **{name: value for name, value in there.items() if value and not getattr(binding, name)}
    )


def _field_faults(error: ValueError) -> str:
    """What pydantic says, in one line: it has a line a fault, with links."""
    if not isinstance(error, pydantic.ValidationError):
        return _shorten_text(str(error))
    faults = (f"`{'.'.join(map(str, e['loc']))}`: {e['msg']}" for e in error.errors())
    return _shorten_text("; ".join(faults))


def _time_edits(gap: Gap, answer: Any, model: Model) -> Iterator[Edit]:
    event = _find_element(gap, model)
    assert isinstance(event, Event)
    kind, value = answer["kind"], answer["value"].strip()
    time = read_time(value)
    if time_kind(time) != kind or (isinstance(time, Moment) and not _moment_exists(time)):
        raise AnswerError(f"`{_shorten_text(value)}` is not an ISO 8601 {kind}")
    old = next((d for d in event.definitions if d.kind == "timer"), EventDefinition(kind="timer"))
    timer = old.replace(timer=kind, expression=Expression(text=value))
    yield Edit(action="set-timer", scope=gap.scope, id=event.id, timer=timer)


def _moment_exists(moment: Moment) -> bool:
    try:
        datetime.date.fromisoformat(moment.day)
    except ValueError:
        return False
    return moment.is_possible


def _condition_edits(gap: Gap, answer: Any, model: Model) -> Iterator[Edit]:
    flow = _find_element(gap, model)
    yield _condition_edit(gap, flow.id, _read_condition(answer["text"], answer.get("language")))


def _decision_edits(gap: Gap, answer: Any, model: Model) -> Iterator[Edit]:
    _find_element(gap, model)
    if "conditions" in answer:
        texts = answer["conditions"]
    else:
        variable, values = answer["variable"], answer["values"]
        if len(set(values.values())) < len(values):
            raise AnswerError("two branches have the same value")
        texts = {flow: f'{variable} = "{_quote_text(value)}"' for flow, value in values.items()}
        for text in texts.values():
            _check_variable(variable, _read_condition(text, "FEEL"))
    there = {flow.id for flow in _leaving_flows(gap, model)}
    for flow, text in texts.items():
        if flow not in there:
            raise AnswerError(f"the branch `{flow}` no longer exists")
        yield _condition_edit(gap, flow, _read_condition(text, "FEEL"))


def _check_variable(name: str, condition: Expression) -> None:
    """Raise `AnswerError` where a word of FEEL stands for the variable."""
    if not isinstance(read_condition(condition), Comparison):
        raise AnswerError(f"the variable `{name}` cannot be read: it is a FEEL keyword")


def _condition_edit(gap: Gap, flow: str, condition: Expression) -> Edit:
    return Edit(action="set-condition", scope=gap.scope, id=flow, condition=condition)


def _branch_edits(gap: Gap, answer: Any, model: Model) -> Iterator[Edit]:
    _find_element(gap, model)
    assert gap.schema is not None
    asked = gap.schema["properties"]["labels"]["properties"]
    labels, default = answer.get("labels", {}), answer.get("default")
    silent = [flow for flow in asked if flow not in labels and flow != default]
    if silent:
        raise AnswerError(f"the branch `{silent[0]}` has no label and is not the default")
    flows = {flow.id: flow for flow in _leaving_flows(gap, model)}
    gone = [flow for flow in asked if flow not in flows]
    if gone:
        raise AnswerError(f"the branch `{gone[0]}` no longer exists")
    names = [_fold_case(labels.get(id, flow.name)) for id, flow in flows.items()]
    if len(set(filter(None, names))) < len(list(filter(None, names))):
        raise AnswerError("two branches have the same label")
    for id, label in labels.items():
        yield Edit(action="relabel", scope=gap.scope, id=id, name=label)
    if default is not None:
        yield Edit(action="set-default", scope=gap.scope, id=default, default=True)


def _fold_case(text: str) -> str:
    return " ".join(text.split()).casefold()


def _list_edits(gap: Gap, answer: Any, model: Model) -> Iterator[Edit]:
    node = _find_element(gap, model)
    assert isinstance(node, Task | SubProcess)
    if node.loop is None:
        raise AnswerError("the element is no longer repeated")
    if "count" in answer:
        loop = node.loop.replace(cardinality=Expression(text=str(int(answer["count"]))))
    else:
        loop = node.loop.replace(
            collection=answer["collection"], item=answer.get("item", node.loop.item)
        )
    yield Edit(action="replace", scope=gap.scope, id=node.id, node=node.replace(loop=loop))


_CHANGES = {
    "task": _binding_edits, "message": _binding_edits, "time": _time_edits,
    "condition": _condition_edits, "decision": _decision_edits, "branch": _branch_edits,
    "list": _list_edits,
}  # fmt: skip


def _find_scope(gap: Gap, model: Model) -> Scope:
    scope = next((scope for scope in model.scopes() if scope.id == gap.scope), None)
    if scope is None:
        raise AnswerError("its element no longer exists")
    return scope


def _find_element(gap: Gap, model: Model) -> Task | Event | Flow | SubProcess | Any:
    """The element that a gap is about, as it is by now. Raises `AnswerError`."""
    scope = _find_scope(gap, model)
    for element in (*scope.nodes, *scope.flows):
        if element.id == gap.element.id and type(element) is type(gap.element):
            return element
    raise AnswerError("its element no longer exists")


def _leaving_flows(gap: Gap, model: Model) -> list[Flow]:
    return [f for f in _find_scope(gap, model).flows if f.source == gap.element.id]


def _quote_text(text: str) -> str:
    """Text of an answer inside a FEEL string: it can end neither the string nor the condition."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise AnswerError("a value contains control characters")
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _read_condition(text: str, language: str | None) -> Expression:
    """A condition as code. Raises `AnswerError` where it cannot be read."""
    condition = Expression(text=text, language=language)
    try:
        tree = DecisionConventions().compile(condition)
    except ValueError as error:
        raise AnswerError(
            f"the condition `{_shorten_text(text)}` cannot be read: {_shorten_text(str(error))}"
        ) from None
    if tree is None or _SEVERAL_WORDS.fullmatch(text.strip()):
        raise AnswerError(f"`{_shorten_text(text)}` is a label, not a condition")
    return condition


_SEVERAL_WORDS = re.compile(r"[^\W\d]\w*(?:\s+\w+)+")
"""Matches a text that FEEL parses as one variable name and that an answer may give as a branch
label."""
