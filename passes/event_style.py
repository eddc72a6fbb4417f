"""Start and end events that are missing, duplicated or superfluous: rules of style."""

from __future__ import annotations

import re
from typing import ClassVar

from orgflow.passes.event_placement import EventSubProcessStart
from orgflow.passes.missing_ends import NoEnd
from orgflow.passes.process_ends import NoStart

from orgflow_ir.diagnostics import Category, Edit, Fix, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Event, Model, Opaque, Scope, SubProcess
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.element_names import join_listed, one_line
from orgflow_ir.model.timer_values import Cycle, Duration, Moment
from orgflow_ir.pipeline import Pass, PassContext, Stage


class SeveralTriggers(Rule):
    """
    What it finds
        An event with several triggers.
    Why it is wrong
        BPMN allows it (2.0.2, 10.5.5). The rule is for teams that avoid such events because their
        marker does not show the triggers.
    Example
        A start event with a message and a timer.
    Instead
        Use a start event for each trigger, joined by an exclusive gateway.
    """

    code = "OF181"
    name = "several-triggers"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class SeveralBlankStarts(Rule):
    """
    What it finds
        A process or sub-process with several start events without a trigger.
    Why it is wrong
        The person who starts the process has to choose one (BPMN 2.0.2, 10.5.2), and the diagram
        does not show when each one applies.
    Example
        The start events `New order` and `Order changed`, both without a trigger.
    Instead
        Add a trigger to each, or use a single start event followed by a decision.
    """

    code = "OF182"
    name = "several-blank-starts"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class SuperfluousTermination(Rule):
    """
    What it finds
        A terminate end event that is the only end of its process or sub-process, when nothing else
        can be active.
    Why it is wrong
        There is nothing to terminate (BPMN 2.0.2, 10.5.3), which confuses readers.
    Example
        `Ship` leads to the terminate end event `Done`, which is the only end.
    Instead
        Use an end event without a trigger.
    """

    code = "OF183"
    name = "superfluous-termination"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class MissingStart(Rule):
    """
    What it finds
        A process or sub-process (not an ad-hoc one) without a start event. It is not reported if
        OF108 or OF127 already reports it.
    Why it is wrong
        Readers do not see the beginning of the process or its trigger (BPMN 2.0.2, 10.5.2 allows
        it).
    Example
        The sub-process `Book trip` begins with `Choose hotel`.
    Instead
        Add a start event to `Book trip` that leads to `Choose hotel`.
    """

    code = "OF184"
    name = "missing-start"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class MissingEnd(Rule):
    """
    What it finds
        A process or sub-process (not an ad-hoc one) without an end event. It is not reported if
        OF128 already reports it.
    Why it is wrong
        Readers do not see the outcome of the process (BPMN 2.0.2, 10.5.3 allows it).
    Example
        The last step of the sub-process `Book trip` is `Pay`.
    Instead
        Add an end event `Trip booked` after `Pay`.
    """

    code = "OF185"
    name = "missing-end"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class InformalTime(Rule):
    """
    What it finds
        A timer whose time is supported but not in the standard form.
    Why it is wrong
        The time of a timer is an ISO 8601 text (BPMN 2.0.2, 10.5.5.11): other tools reject `5
        days`, or interpret it differently.
    Example
        <timeDuration>5 days</timeDuration>
    Instead
        <timeDuration>P5D</timeDuration>
    """

    code = "OF129"
    name = "informal-time"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


_ISO = re.compile(r"(?:R\d*/)?P\S+|R\d*/\d\S*|\d{4}-?\d\d\S*|[$#]\{.*|=.*", re.DOTALL)
"""ISO 8601, or an expression that computes the time."""


class EventStyle(Pass):
    """Reports start and end events that are missing, duplicated or superfluous, and informal
    times."""

    name: ClassVar[str] = "event-style"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        SeveralTriggers, SeveralBlankStarts, SuperfluousTermination, MissingStart, MissingEnd,
        InformalTime,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for scope in ctx.scopes(model):
            _check_scope(scope, ctx)
        return model


def _check_scope(scope: Scope, ctx: PassContext) -> None:
    blank: list[Event] = []
    positions: set[str] = set()
    for node in scope.nodes:
        if not isinstance(node, Event):
            continue
        positions.add(node.position)
        if node.position == "start" and not node.definitions:
            blank.append(node)
        if len(node.definitions) > 1:
            kinds = join_listed(dict.fromkeys(f"`{d.kind}`" for d in node.definitions))
            ctx.emit(
                SeveralTriggers,
                f"{ctx.full_name(node)} has {len(node.definitions)} triggers: {kinds}",
                element=node,
                help="use a separate event for each of them",
            )
        _check_times(node, ctx)
    if len(blank) > 1:
        ctx.emit(
            SeveralBlankStarts,
            f"{ctx.name(scope)} has {len(blank)} start events without a trigger: "
            f"{join_listed(ctx.name(s) for s in blank)}",
            element=scope,
            help="give each a trigger, or use only one of them",
        )
    _check_missing(scope, positions, ctx)
    _check_termination(scope, ctx)


def _check_times(event: Event, ctx: PassContext) -> None:
    for definition in event.definitions:
        if definition.kind != "timer" or definition.expression is None:
            continue
        text = definition.expression.text.strip()
        if not isinstance(definition.time, Duration | Cycle | Moment) or _ISO.fullmatch(text):
            continue
        ctx.emit(
            InformalTime,
            f"the time of {ctx.full_name(event)}, `{one_line(text)}`, is not in ISO 8601 form",
            element=event,
            help="write it as a duration such as PT2H, a date, or a cycle such as R/P1D",
        )


def _check_missing(scope: Scope, positions: set[str], ctx: PassContext) -> None:
    if isinstance(scope, SubProcess) and scope.flavour == "ad-hoc":
        return
    other = EventSubProcessStart if isinstance(scope, SubProcess) else NoStart
    reported = {d.element for d in ctx.diagnostics if d.code in (other.code, NoEnd.code)}
    known = scope.id in reported
    if "start" not in positions and not (known and ctx.grading.reports(other)):
        ctx.emit(
            MissingStart,
            f"{ctx.full_name(scope)} has no start event",
            element=scope,
            help="add a start event",
        )
    if "end" not in positions and not (known and ctx.grading.reports(NoEnd)):
        ctx.emit(
            MissingEnd,
            f"{ctx.full_name(scope)} has no end event",
            element=scope,
            help="add an end event",
        )


def _check_termination(scope: Scope, ctx: PassContext) -> None:
    """One terminate end event, and beside it no other end but event sub-processes that break off
    what is under way."""
    if not any(_is_terminate_event(n) for n in scope.nodes):
        return
    graph = ctx.analysis(ControlFlow, scope)
    ends = [n for n in scope.nodes if not isinstance(n, Opaque) and not graph.flows_out(n.id)]
    last = [n for n in ends if _is_terminate_event(n)]
    if len(last) != 1 or not all(n is last[0] or _is_interrupting(n) for n in ends):
        return
    event = last[0]
    assert isinstance(event, Event)
    plain = event.replace(definitions=())
    ctx.emit(
        SuperfluousTermination,
        f"{ctx.name(event)} is a terminate event, but nothing else is active in {ctx.name(scope)}",
        element=event,
        help="make it an end event without a trigger",
        fix=Fix(
            title=f"remove the trigger of {ctx.name(event)}",
            applicability="unsafe",
            edits=(Edit(action="replace", scope=scope.id, id=event.id, node=plain),),
        ),
    )


def _is_terminate_event(node: ModelNode) -> bool:
    return (
        isinstance(node, Event)
        and node.position == "end"
        and any(d.kind == "terminate" for d in node.definitions)
    )


def _is_interrupting(node: ModelNode) -> bool:
    return (
        isinstance(node, SubProcess)
        and node.flavour == "event"
        and any(
            n.position == "start" and n.interrupting for n in node.nodes if isinstance(n, Event)
        )
    )
