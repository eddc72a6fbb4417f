"""Events and event sub-processes in a place or form that BPMN does not permit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, TypeGuard

from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import CallActivity, Event, Model, Scope, SubProcess, Task
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.pipeline import Pass, PassContext, Stage


class LooseBoundary(Rule):
    """
    What it finds
        A boundary event without an outgoing flow.
    Why it is wrong
        A boundary event leads to the steps that handle it (BPMN 2.0.2, 10.5.4); without a flow, the
        activity is interrupted or nothing happens at all. Usually a flow was forgotten.
    Example
        The timer `Two days over` on `Approve` has no outgoing flow.
    Instead
        Add a flow from it to `Remind`, or to an end event.
    """

    code = "OF122"
    name = "loose-boundary"
    severity = Severity.WARNING
    category = Category.MALFORMED


class MisplacedCancel(Rule):
    """
    What it finds
        A cancel end event outside a transaction, or a cancel boundary event on an element that is
        not a transaction.
    Why it is wrong
        Only a transaction can be cancelled (BPMN 2.0.2, 10.5.3 and 10.5.4): elsewhere, the end
        event cancels nothing, and the boundary event never occurs.
    Example
        The plain sub-process `Book trip` ends with the cancel end event `No seat`.
    Instead
        Make `Book trip` a transaction, or `No seat` an error end event.
    """

    code = "OF123"
    name = "misplaced-cancel"
    severity = Severity.ERROR
    category = Category.MALFORMED


class SurvivedError(Rule):
    """
    What it finds
        An error event that is marked as non-interrupting.
    Why it is wrong
        An error always interrupts its activity (BPMN 2.0.2, 10.5.4): the event is treated as
        interrupting.
    Example
        A dashed error event `Card refused` on the border of `Pay`.
    Instead
        Make the error event interrupting, or use an escalation event.
    """

    code = "OF124"
    name = "survived-error"
    severity = Severity.WARNING
    category = Category.MALFORMED


class TriggeredSubProcess(Rule):
    """
    What it finds
        A start event with a trigger in a sub-process that is not an event sub-process.
    Why it is wrong
        Such a sub-process begins when the flow reaches it (BPMN 2.0.2, 10.5.2): its start event
        waits for nothing.
    Example
        The sub-process `Book trip` begins with the message start event `Wish received`.
    Instead
        Use a plain start event, followed by an intermediate event `Wish received`.
    """

    code = "OF125"
    name = "triggered-sub-process"
    severity = Severity.WARNING
    category = Category.MALFORMED


class EventSubProcessFlow(Rule):
    """
    What it finds
        A sequence flow into or out of an event sub-process.
    Why it is wrong
        The start event of an event sub-process begins it, independently of the flow around it (BPMN
        2.0.2, 10.3.5): no flow leads to it or from it.
    Example
        `Check order` leads to the event sub-process `Order withdrawn`.
    Instead
        Remove the flow, or make it a sub-process that is not triggered by an event.
    """

    code = "OF126"
    name = "event-sub-process-flow"
    severity = Severity.ERROR
    category = Category.MALFORMED


class EventSubProcessStart(Rule):
    """
    What it finds
        An event sub-process without a start event, with several, or with one without a trigger.
    Why it is wrong
        The trigger of its only start event begins it (BPMN 2.0.2, 10.3.5 and 10.5.2).
    Example
        The event sub-process `Order withdrawn` begins with the task `Pay back`.
    Instead
        Use a message start event `Withdrawal received` that leads to `Pay back`.
    """

    code = "OF127"
    name = "event-sub-process-start"
    severity = Severity.WARNING
    category = Category.MALFORMED


class AdHocContent(Rule):
    """
    What it finds
        An ad-hoc sub-process that contains a start or end event, or no activity.
    Why it is wrong
        People choose which activities to do and when (BPMN 2.0.2, 10.3.5.1): it contains
        activities, and no events that begin or end it.
    Example
        The ad-hoc sub-process `Prepare talk` begins with a start event.
    Instead
        Remove the start event; the activities may be done in any order.
    """

    code = "OF143"
    name = "ad-hoc-content"
    severity = Severity.WARNING
    category = Category.MALFORMED


class EventPlacement(Pass):
    """Reports misplaced events and event sub-processes."""

    name: ClassVar[str] = "event-placement"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        LooseBoundary, MisplacedCancel, SurvivedError, TriggeredSubProcess,
        EventSubProcessFlow, EventSubProcessStart, AdHocContent,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        sources: frozenset[str] | None = None
        for process in model.processes:
            # Each scope with whether it is, or lies within, a transaction.
            within: dict[str, bool] = {}
            for scope in ctx.scopes(process):
                transacted = _is_flavour(scope, "transaction") or within.get(scope.id, False)
                hosts: dict[str, ModelNode] = {}
                for node in scope.nodes:
                    if isinstance(node, SubProcess):
                        within[node.id] = transacted
                    elif isinstance(node, Event) and node.position == "boundary":
                        hosts = hosts or {n.id: n for n in reversed(scope.nodes)}
                        if sources is None:
                            flows = (f for s in ctx.scopes(model) for f in s.flows)
                            sources = frozenset(f.source for f in flows)
                        _check_boundary(node, hosts, scope, node.id not in sources, ctx)
                    elif not transacted and _ends_by_cancel(node):
                        _cancel_end(node, scope, ctx)
                _check_starts(scope, ctx)
                _check_flows(scope, ctx)
        return model


def cancels_nothing(node: ModelNode, nodes: Iterable[ModelNode]) -> bool:
    """Whether a node is a cancel event on the boundary of something other than a transaction."""
    if not isinstance(node, Event) or node.position != "boundary" or not _has_kind(node, "cancel"):
        return False
    return any(n.id == node.attached_to and not _is_flavour(n, "transaction") for n in nodes)


def waits_in_vain(node: ModelNode, scope: Scope) -> bool:
    """Whether a node is a start event with a trigger in a sub-process that has an incoming flow."""
    if not isinstance(node, Event) or node.position != "start" or not node.definitions:
        return False
    return _is_flavour(scope, "plain") or _is_flavour(scope, "transaction")


def never_begun(scope: Scope) -> bool:
    """Whether a scope is an event sub-process without a start event."""
    return _is_flavour(scope, "event") and not any(
        n.position == "start" for n in scope.nodes if isinstance(n, Event)
    )


def _is_flavour(element: ModelNode | Scope, flavour: str) -> bool:
    return isinstance(element, SubProcess) and element.flavour == flavour


def _has_kind(event: Event, kind: str) -> bool:
    return any(d.kind == kind for d in event.definitions)


def _check_boundary(
    event: Event, hosts: Mapping[str, ModelNode], scope: Scope, loose: bool, ctx: PassContext
) -> None:
    host = hosts.get(event.attached_to or "")
    if host is None:
        return  # OF106 or OF153 has said so
    named = ctx.analysis(Namer, scope).name(event.id)
    if cancels_nothing(event, (host,)):
        if isinstance(host, SubProcess):
            advice = f"make {ctx.name(host)} a transaction with a cancel end event in it, or make "
        else:
            advice = "make "
        ctx.emit(
            MisplacedCancel,
            f"{ctx.full_name(event)} is attached to {ctx.name(host)}, which is not a transaction: "
            "it never occurs",
            element=event,
            help=f"{advice}{named} an error event",
        )
        return
    if _has_kind(event, "error") and not event.interrupting:
        _report_survived(event, named, host.label, ctx)
    if loose and not _has_kind(event, "compensation"):
        breaks = event.interrupting or _has_kind(event, "error")
        over = f"it interrupts {ctx.name(host)}, and nothing follows"
        then = over if breaks else "nothing is done"
        border = "" if ctx.name(host) in named else f" on the border of {ctx.name(host)}"
        ctx.emit(
            LooseBoundary,
            f"{named} has no outgoing flow{border}: when it occurs, {then}",
            element=event,
            help=f"add a flow from {named} to the next step, or to an end event",
        )


def _report_survived(event: Event, named: str, inside: str, ctx: PassContext) -> None:
    ctx.emit(
        SurvivedError,
        f"{ctx.full_name(event)} is not interrupting, but an error always interrupts `{inside}`",
        element=event,
        help=f"make it interrupting; if `{inside}` should continue, throw and catch an escalation",
    )


def _ends_by_cancel(node: ModelNode) -> TypeGuard[Event]:
    return isinstance(node, Event) and node.position == "end" and _has_kind(node, "cancel")


def _cancel_end(event: Event, scope: Scope, ctx: PassContext) -> None:
    named = ctx.analysis(Namer, scope).name(event.id)
    if _is_flavour(scope, "plain"):
        help_text = (
            f"make {ctx.name(scope)} a transaction with a cancel event on its border, or make "
            f"{named} an error end event that an error event there catches"
        )
    else:
        help_text = f"make {named} an end event without a trigger, or one that ends everything"
    ctx.emit(
        MisplacedCancel,
        f"{named} cancels, but {ctx.name(scope)} is not a transaction",
        element=event,
        help=help_text,
    )


def _check_starts(scope: Scope, ctx: PassContext) -> None:
    if not isinstance(scope, SubProcess):
        return
    if scope.flavour == "ad-hoc":
        _ad_hoc(scope, ctx)
    if not scope.nodes:
        return
    starts = [n for n in scope.nodes if isinstance(n, Event) and n.position == "start"]
    if scope.flavour == "event":
        _event_starts(scope, starts, ctx)
        return
    plain = next((s for s in starts if not s.definitions), None)
    namer = ctx.analysis(Namer, scope)
    for start in starts:
        if not waits_in_vain(start, scope):
            continue
        if plain is None:
            help_text = (
                "make it a start event without a trigger; to wait for an event, put an "
                "intermediate event after it"
            )
        else:
            help_text = (
                f"begin with {namer.name(plain.id)} only; to wait for an event, use an "
                "intermediate event"
            )
        ctx.emit(
            TriggeredSubProcess,
            f"{namer.name(start.id)} has a trigger, but {ctx.full_name(scope)} begins when the "
            "flow reaches it",
            element=start,
            help=help_text,
        )


def _ad_hoc(scope: SubProcess, ctx: PassContext) -> None:
    for node in scope.nodes:
        if isinstance(node, Event) and node.position in ("start", "end"):
            ctx.emit(
                AdHocContent,
                f"{ctx.full_name(node)} is not allowed in {ctx.name(scope)}: in an ad-hoc "
                "sub-process, people choose when to begin and end",
                element=node,
                help="remove it",
            )
    if not any(isinstance(n, Task | CallActivity | SubProcess) for n in scope.nodes):
        ctx.emit(
            AdHocContent,
            f"{ctx.full_name(scope)} has no activity",
            element=scope,
            help="add the activities that may be done in it",
        )


def _event_starts(scope: SubProcess, starts: list[Event], ctx: PassContext) -> None:
    namer = ctx.analysis(Namer, scope)
    what = ctx.full_name(scope)
    for start in starts:
        if _has_kind(start, "error") and not start.interrupting:
            _report_survived(start, namer.name(start.id), "its surroundings", ctx)
    if not starts:
        ctx.emit(
            EventSubProcessStart,
            f"{what} has no start event, so it never begins",
            element=scope,
            help="add one start event with a trigger: a message, a timer, an error …",
        )
    elif len(starts) > 1:
        ctx.emit(
            EventSubProcessStart,
            f"{what} has {len(starts)} start events: "
            f"{join_listed(namer.name(s.id) for s in starts)}",
            element=scope,
            help="use a separate event sub-process for each of them",
        )
    elif not starts[0].definitions:
        ctx.emit(
            EventSubProcessStart,
            f"the trigger of {what} is undefined: {namer.name(starts[0].id)} has none",
            element=starts[0],
            help="add a trigger: a message, a timer, an error …",
        )


def _check_flows(scope: Scope, ctx: PassContext) -> None:
    if not any(_is_flavour(node, "event") for node in scope.nodes):
        return
    here = {n.id: n for n in scope.nodes}
    name = ctx.analysis(Namer, scope).name
    for flow in scope.flows:
        source, target = here.get(flow.source), here.get(flow.target)
        if source is None or target is None:
            continue  # OF101 or OF102 has said so
        named = f"the flow `{flow.label}`" if flow.name.strip() else "a flow"
        if _is_flavour(target, "event"):
            ctx.emit(
                EventSubProcessFlow,
                f"{named} from {name(source.id)} leads into the event sub-process "
                f"{ctx.name(target)}, which only its start event begins",
                element=flow,
                help=f"remove the flow; or, to run {ctx.name(target)} as a normal step, make it a "
                "plain sub-process whose start event has no trigger",
            )
        elif _is_flavour(source, "event"):
            ctx.emit(
                EventSubProcessFlow,
                f"{named} to {name(target.id)} leaves the event sub-process {ctx.name(source)}, "
                "after which the flow cannot continue",
                element=flow,
                help=f"remove the flow, and move the steps after it into {ctx.name(source)}",
            )
