"""Answers to gaps: whether an answer is valid, and the fix it becomes.

An answer is data that an agent or a person gives. It never reaches the model as it is: it is
checked against the gap's schema and against what the model can hold, and becomes a `Fix`.
"""

from __future__ import annotations

import re
from typing import Any

from orgflow_ir.analysis.decisions import DecisionConventions
from orgflow_ir.analysis.gaps.gap import Gap
from orgflow_ir.analysis.gaps.times import time_kind
from orgflow_ir.diagnostics import Edit, Fix
from orgflow_ir.model import (
    Event,
    EventDefinition,
    Expression,
    Flow,
    Model,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import BINDINGS
from orgflow_ir.model.timers import Moment, read_time


class AnswerError(ValueError):
    """An answer that a gap does not take; the message says why."""


def fix(gap: Gap, answer: Any, model: Model) -> Fix:
    """The change that an answer makes. Raises `AnswerError` where the answer does not match the
    gap's schema, or holds a time or a condition that cannot be read."""
    if gap.schema is None:
        raise AnswerError("the model has no place for an answer to it")
    import jsonschema  # it checks what comes from outside; a compile never gets here

    try:
        jsonschema.Draft202012Validator(gap.schema).validate(answer)
    except jsonschema.ValidationError as error:
        place = f" at `{error.json_path}`" if error.path else ""
        raise AnswerError(f"{error.message}{place}") from None
    made = _CHANGES[gap.kind](gap, answer, model)
    if not made:
        raise AnswerError("it changes nothing")
    edits = tuple(
        Edit(action="replace", scope=gap.scope, id=item.id, flow=item)
        if isinstance(item, Flow)
        else Edit(action="replace", scope=gap.scope, id=item.id, node=item)
        for item in made
    )
    return Fix(title=f"answer {gap.rule.code}", applicability="unsafe", edits=edits)


_Changed = Task | Event | Flow | SubProcess


def _binding(gap: Gap, answer: Any, model: Model) -> list[_Changed]:
    del model
    assert isinstance(gap.element, Task)
    try:
        binding = BINDINGS[answer["kind"]].validate(answer)
    except ValueError as error:
        raise AnswerError(f"it is no binding of the kind `{answer['kind']}`: {error}") from None
    return [gap.element.replace(binding=binding)]


def _time(gap: Gap, answer: Any, model: Model) -> list[_Changed]:
    del model
    event = gap.element
    assert isinstance(event, Event)
    kind, value = answer["kind"], answer["value"].strip()
    time = read_time(value)
    if time_kind(time) != kind or (isinstance(time, Moment) and not time.is_possible):
        raise AnswerError(f"`{value}` is no {kind} in the form of ISO 8601")
    found = [
        d.replace(timer=kind, expression=Expression(text=value)) if d.kind == "timer" else d
        for d in event.definitions
    ] or [EventDefinition(kind="timer", timer=kind, expression=Expression(text=value))]
    return [event.replace(definitions=tuple(found))]


def _condition(gap: Gap, answer: Any, model: Model) -> list[_Changed]:
    del model
    assert isinstance(gap.element, Flow)
    return [gap.element.replace(condition=_readable(answer["text"], answer.get("language")))]


def _decision(gap: Gap, answer: Any, model: Model) -> list[_Changed]:
    if "conditions" in answer:
        texts = answer["conditions"]
    else:
        variable, values = answer["variable"], answer["values"]
        if len(set(values.values())) < len(values):
            raise AnswerError("two branches have the same value")
        texts = {flow: f'{variable} = "{_quoted(value)}"' for flow, value in values.items()}
    return [
        f.replace(condition=_readable(texts[f.id], "FEEL"))
        for f in _flows(gap, model)
        if f.id in texts
    ]


def _branch(gap: Gap, answer: Any, model: Model) -> list[_Changed]:
    labels, default = answer.get("labels", {}), answer.get("default")
    return [
        f.replace(name=labels.get(f.id, f.name), default=f.default or f.id == default)
        for f in _flows(gap, model)
        if f.id in labels or f.id == default
    ]


def _list(gap: Gap, answer: Any, model: Model) -> list[_Changed]:
    del model
    node = gap.element
    assert isinstance(node, Task | SubProcess)
    assert node.loop is not None
    if "count" in answer:
        loop = node.loop.replace(cardinality=Expression(text=str(answer["count"])))
    else:
        loop = node.loop.replace(collection=answer["collection"], item=answer.get("item"))
    return [node.replace(loop=loop)]


_CHANGES = {
    "task": _binding, "message": _binding, "time": _time, "condition": _condition,
    "decision": _decision, "branch": _branch, "list": _list,
}  # fmt: skip


def _flows(gap: Gap, model: Model) -> list[Flow]:
    return [
        f
        for scope in model.scopes()
        if scope.id == gap.scope
        for f in scope.flows
        if f.source == gap.element.id
    ]


def _quoted(text: str) -> str:
    """Text of an answer inside a FEEL string: it can end neither the string nor the condition."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise AnswerError("a value has control characters")
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _readable(text: str, language: str | None) -> Expression:
    """A condition as code. Raises `AnswerError` where it cannot be read."""
    condition = Expression(text=text, language=language)
    try:
        tree = DecisionConventions().compile(condition)
    except ValueError as error:
        raise AnswerError(f"the condition `{text}` cannot be read: {error}") from None
    if tree is None:
        raise AnswerError(f"`{text}` is a label, not a condition")
    return condition
