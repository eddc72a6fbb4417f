"""Triggers that an event cannot have in its position, and events that lack one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import Event, EventDefinition, Model, Process, Scope, SubProcess
from orgflow_ir.model.vendor_triggers import vendor_trigger
from orgflow_ir.pipeline import Pass, PassContext, Stage


class ImpossibleTrigger(Rule):
    """
    What it finds
        An event with a trigger that BPMN does not allow at this position: an end event with a
        timer, a process that begins with an error, an intermediate terminate event …
    Why it is wrong
        The specification lists the allowed combinations (BPMN 2.0.2, table 10.93 in 10.5.5); the
        meaning of any other is undefined, and engines reject it.
    Example
        An end event `After two days` with a timer definition.
    Instead
        Use an intermediate timer event `After two days`, followed by an end event without a
        trigger.
    """

    code = "OF136"
    name = "impossible-trigger"
    severity = Severity.ERROR
    category = Category.MALFORMED


class MissingTrigger(Rule):
    """
    What it finds
        An intermediate catch event or a boundary event without a trigger, or any event with a
        trigger that only the tool of one vendor has.
    Why it is wrong
        Its trigger is undefined (BPMN 2.0.2, 10.5.4): a run does not wait at it, and a boundary
        event never occurs.
    Example
        <intermediateCatchEvent id="c" name="Answer received"/>
    Instead
        <intermediateCatchEvent id="c" name="Answer received"><messageEventDefinition/>…
    """

    code = "OF137"
    name = "missing-trigger"
    severity = Severity.WARNING
    category = Category.MALFORMED


class MissingEventCondition(Rule):
    """
    What it finds
        A conditional event without a condition in an executable process. (In other processes it is
        a gap, OF505.)
    Why it is wrong
        It is undefined when it occurs (BPMN 2.0.2, 10.5.5.2); engines reject such a process.
    Example
        <conditionalEventDefinition/>
    Instead
        <conditionalEventDefinition><condition>stock &lt; 10</condition>…
    """

    code = "OF138"
    name = "missing-event-condition"
    severity = Severity.WARNING
    category = Category.MALFORMED


_IN_THE_FLOW = frozenset(("message", "timer", "conditional", "signal"))
POSSIBLE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "start": _IN_THE_FLOW,
        "sub-start": _IN_THE_FLOW | {"error", "escalation", "compensation"},
        "sub-start.non-interrupting": _IN_THE_FLOW | {"escalation"},
        "catch": _IN_THE_FLOW | {"link"},
        "throw": frozenset(("message", "escalation", "compensation", "link", "signal")),
        "boundary": _IN_THE_FLOW | {"error", "escalation", "cancel", "compensation"},
        "boundary.non-interrupting": _IN_THE_FLOW | {"escalation"},
        "end": frozenset(
            ("message", "error", "escalation", "cancel", "compensation", "signal", "terminate")
        ),
    }
)
"""The triggers of each position (BPMN 2.0.2, table 10.93)."""

_PLACES = {
    "start": "the start of a process",
    "sub-start": "the start of an event sub-process",
    "catch": "an intermediate event that waits",
    "throw": "an intermediate event that throws",
    "boundary": "a boundary event",
    "end": "an end event",
}
_KINDS = {
    "message": "a message", "timer": "a timer", "conditional": "a condition", "signal": "a signal",
    "error": "an error", "escalation": "an escalation", "compensation": "a compensation",
    "link": "a link", "terminate": "a termination", "cancel": "a cancellation",
}  # fmt: skip


class EventTriggers(Pass):
    """Reports events with a trigger that is not permitted there, and events without one."""

    name: ClassVar[str] = "event-triggers"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        ImpossibleTrigger, MissingTrigger, MissingEventCondition,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for process in model.processes:
            for scope in ctx.scopes(process):
                for node in scope.nodes:
                    if isinstance(node, Event):
                        _check_event(node, scope, process, ctx)
        return model


def _check_event(event: Event, scope: Scope, process: Process, ctx: PassContext) -> None:
    if not event.definitions:
        if trigger := vendor_trigger(event):
            ctx.emit(
                MissingTrigger,
                f"the trigger of {ctx.full_name(event)}, {trigger}, is not part of BPMN: orgflow "
                "does not read it",
                element=event,
                help="use a trigger of BPMN: a message, a timer, a signal …",
            )
        elif event.position in ("catch", "boundary"):
            comes = "a run does not wait at it" if event.position == "catch" else "it never comes"
            ctx.emit(
                MissingTrigger,
                f"{ctx.full_name(event)} has no trigger: {comes}",
                element=event,
                help="add a trigger: a message, a timer, a signal …",
            )
        return
    place = _event_place(event, scope)
    for definition in event.definitions:
        if place is not None and definition.kind not in POSSIBLE[place]:
            _report_impossible(event, definition, place, ctx)
        elif process.executable and definition.kind == "conditional" and not _has_text(definition):
            ctx.emit(
                MissingEventCondition,
                f"{ctx.full_name(event)} has no condition",
                element=event,
                help="add the condition to the model",
            )


def _event_place(event: Event, scope: Scope) -> str | None:
    """The row of the table; `None` where another rule is about such events."""
    if event.position == "start" and isinstance(scope, SubProcess):
        if scope.flavour != "event":
            return None  # OF125 reports a trigger there
        return "sub-start" if event.interrupting else "sub-start.non-interrupting"
    if event.position == "boundary" and not event.interrupting:
        return "boundary.non-interrupting"
    return event.position


def _report_impossible(
    event: Event, definition: EventDefinition, place: str, ctx: PassContext
) -> None:
    if place.endswith(".non-interrupting"):
        if definition.kind == "error":
            return  # OF124 reports it
        place = place.removesuffix(".non-interrupting")
        if definition.kind in POSSIBLE[place]:
            ctx.emit(
                ImpossibleTrigger,
                f"{ctx.full_name(event)} is not interrupting, which is not possible for "
                f"{_KINDS[definition.kind]}",
                element=event,
                help="make it an interrupting event",
            )
            return
    ctx.emit(
        ImpossibleTrigger,
        f"{ctx.full_name(event)} has {_KINDS[definition.kind]} as its trigger, which is not "
        f"allowed for {_PLACES[place]}",
        element=event,
        help=_remedy_text(event, definition),
    )


def _remedy_text(event: Event, definition: EventDefinition) -> str:
    kind, place = definition.kind, event.position
    if place in ("throw", "end") and kind in ("timer", "conditional"):
        return "put an intermediate catch event before it, and remove the trigger here"
    if place in ("catch", "start") and kind in ("error", "escalation", "compensation", "cancel"):
        return (
            "catch it at the border of the activity in which it occurs, or in an event sub-process"
        )
    if place == "throw" and kind in ("error", "terminate", "cancel"):
        return "make it an end event"
    return "use another trigger, or an event in another position"


def _has_text(definition: EventDefinition) -> bool:
    expression = definition.expression
    return expression is not None and bool(expression.text.strip() or expression.extra)
