"""Sequence flows with impossible ends: a missing element, another scope, a start event."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.flow_attachment import Attachment, affects_runs, find_attachment

from orgflow_ir.diagnostics import Category, Edit, Fix, Rule, Severity
from orgflow_ir.flow.nets.wiring import Wiring
from orgflow_ir.model import Event, Flow, Gateway, Model, Scope
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.pipeline import Pass, PassContext, Stage


class DanglingFlow(Rule):
    """
    What it finds
        A sequence flow that is not connected to a step, event or gateway at both ends.
    Why it is wrong
        It leads from nowhere or to nowhere (BPMN 2.0.2, 7.6.1 and 8.4.13); usually an arrow was not
        attached to its shape. It is an error if a run can reach its other end, and a warning if
        nothing depends on it.
    Example
        <sequenceFlow id="f" sourceRef="Pack" targetRef=""/>
    Instead
        <sequenceFlow id="f" sourceRef="Pack" targetRef="Ship"/>
        If the arrow ends within 12 units of exactly one shape, `check --fix` attaches it there.
    """

    code = "OF101"
    name = "dangling-flow"
    severity = Severity.ERROR
    category = Category.MALFORMED


class CrossingFlow(Rule):
    """
    What it finds
        A sequence flow between two pools, or from inside a sub-process to outside it.
    Why it is wrong
        BPMN 2.0.2, 7.6.1: a sequence flow stays within its pool and its sub-process. A run cannot
        follow this flow, so it has no effect.
    Example
        A sequence flow from `Send order` in pool Buyer to `Receive order` in pool Seller.
    Instead
        Use a message flow between pools; leave a sub-process by its own outgoing flow or by a
        boundary event.
    """

    code = "OF102"
    name = "crossing-flow"
    severity = Severity.ERROR
    category = Category.MALFORMED


class FlowIntoStart(Rule):
    """
    What it finds
        A sequence flow that leads into a start event.
    Why it is wrong
        A start event begins a process and cannot be reached again (BPMN 2.0.2, 10.5.2).
    Example
        `Order wrong?` leads back to the start event `Order received`.
    Instead
        Connect the flow to an exclusive gateway directly after the start event.
    """

    code = "OF103"
    name = "flow-into-start"
    severity = Severity.ERROR
    category = Category.MALFORMED


class FlowOutOfEnd(Rule):
    """
    What it finds
        A sequence flow that leaves an end event.
    Why it is wrong
        A run ends at an end event (BPMN 2.0.2, 10.5.3): the steps after it never happen.
    Example
        The end event `Order sent` leads to `Archive`.
    Instead
        Make it an intermediate event, or move it after the following steps.
    """

    code = "OF104"
    name = "flow-out-of-end"
    severity = Severity.ERROR
    category = Category.MALFORMED


class FlowIntoBoundary(Rule):
    """
    What it finds
        A sequence flow that leads into a boundary event.
    Why it is wrong
        A boundary event is triggered while its activity is active (BPMN 2.0.2, 10.5.6); a flow
        cannot trigger it.
    Example
        `Remind` leads to the timer on the border of `Approve`.
    Instead
        Connect the flow to the step after the boundary event, or to the activity itself.
    """

    code = "OF105"
    name = "flow-into-boundary"
    severity = Severity.ERROR
    category = Category.MALFORMED


class SelfLoop(Rule):
    """
    What it finds
        A flow that leads from a non-waiting gateway back to the same gateway.
    Why it is wrong
        The loop has no effect; usually the flow was meant to end elsewhere.
    Example
        The exclusive gateway `Stock ok?` has a flow `no` that leads back to `Stock ok?`.
    Instead
        Connect the flow to the task that should be repeated.
    """

    code = "OF109"
    name = "self-loop"
    severity = Severity.WARNING
    category = Category.MALFORMED


class FlowEnds(Pass):
    """Reports sequence flows with impossible ends."""

    name: ClassVar[str] = "flow-ends"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        DanglingFlow, CrossingFlow, FlowIntoStart, FlowOutOfEnd, FlowIntoBoundary, SelfLoop,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        home: dict[str, Scope] = {}
        for scope in ctx.scopes(model):
            for node in scope.nodes:
                home.setdefault(node.id, scope)
        for scope in ctx.scopes(model):
            here = {n.id: n for n in scope.nodes}
            reached: frozenset[str] | None = None
            for flow in scope.flows:
                if flow.source in here and flow.target in here:
                    _check_flow(flow, here[flow.source], here[flow.target], scope, ctx)
                    continue
                missing = [e for e in (flow.source, flow.target) if e not in home]
                if not missing:
                    _report_crossing(flow, home[flow.source], home[flow.target], ctx)
                    continue
                if reached is None:
                    reached = ctx.analysis(Wiring, scope).live
                _report_dangling(flow, here, reached, scope, model, ctx)
        return model


def _kind_and(event: Event, ctx: PassContext) -> str:
    """`the start event `Order received``; one without a label by what is next to it."""
    named = ctx.name(event)
    return f"the {_POSITIONS[event.position]} {named}" if event.name.strip() else named


_POSITIONS = {"start": "start event", "end": "end event", "boundary": "boundary event"}


def _name_flow(flow: Flow) -> str:
    return f"the flow `{flow.label}`" if flow.name.strip() else "a flow"


def _report_dangling(
    flow: Flow,
    here: dict[str, ModelNode],
    reached: frozenset[str],
    scope: Scope,
    model: Model,
    ctx: PassContext,
) -> None:
    ends, lost = [], []
    for word, end in (("from", flow.source), ("to", flow.target)):
        if end in here:
            ends.append(f"{word} {ctx.name(end)}")
        elif end:
            ends.append(f"{word} `{end}`")
            lost.append(f"`{end}`")
        else:
            ends.append(f"{word} nowhere")
    attached = find_attachment(flow, here, scope, model)
    gone = f", but there is no {join_listed(lost, last='and no')}" if lost else ""
    matters = affects_runs(flow, scope, reached)
    ctx.emit(
        DanglingFlow,
        f"{_name_flow(flow)} leads {' '.join(ends)}{gone}",
        element=flow,
        help="connect it to a step at both ends, or remove it"
        if attached is None
        else _as_drawn(attached, ctx),
        severity=None if matters else Severity.WARNING,
        fix=Fix(
            title="remove the flow",
            applicability="unsafe",
            edits=(Edit(action="remove", scope=scope.id, id=flow.id),),
        )
        if attached is None
        else Fix(
            title=f"attach the flow {_to_where(attached, ctx)}",
            applicability="safe" if attached.sure else "unsafe",
            edits=(Edit(action="replace", scope=scope.id, id=flow.id, flow=attached.flow),),
        ),
    )


def _as_drawn(attached: Attachment, ctx: PassContext) -> str:
    """What to do about a flow whose drawn ends are at shapes."""
    if attached.sure:
        return f"attach it {_to_where(attached, ctx)}, next to which it is drawn"
    near = join_listed([ctx.name(node) for node in attached.near], last="or")
    return f"attach it to {near}: it is drawn near each of them"


def _to_where(attached: Attachment, ctx: PassContext) -> str:
    words = (("from", attached.source), ("to", attached.target))
    return " ".join(f"{word} {ctx.name(end)}" for word, end in words if end is not None)


def _report_crossing(flow: Flow, source: Scope, target: Scope, ctx: PassContext) -> None:
    ends = {n.id: n for s in (source, target) for n in s.nodes}
    source_node, target_node = ends[flow.source], ends[flow.target]
    where = "another scope" if source is target else f"{ctx.name(target)}"
    ctx.emit(
        CrossingFlow,
        f"{_name_flow(flow)} leads from {ctx.name(source_node)} in {ctx.name(source)} to "
        f"{ctx.name(target_node)} in "
        f"{where}",
        element=flow,
        help="between pools, use a message flow; to leave a sub-process, use a flow from its "
        "border or from a boundary event",
    )


def _check_flow(
    flow: Flow, source: ModelNode, target: ModelNode, scope: Scope, ctx: PassContext
) -> None:
    if isinstance(target, Event) and target.position == "start":
        ctx.emit(
            FlowIntoStart,
            f"{_name_flow(flow)} from {ctx.name(source)} leads into {_kind_and(target, ctx)}",
            element=flow,
            help=f"put an exclusive gateway directly after {ctx.name(target)} and connect the "
            "flow to it",
        )
    if isinstance(target, Event) and target.position == "boundary":
        ctx.emit(
            FlowIntoBoundary,
            f"{_name_flow(flow)} from {ctx.name(source)} leads into {_kind_and(target, ctx)}",
            element=flow,
            help=f"connect it to the activity that {ctx.name(target)} is attached to, or to the "
            f"step after {ctx.name(target)}",
        )
    if isinstance(source, Event) and source.position == "end":
        ctx.emit(
            FlowOutOfEnd,
            f"{_name_flow(flow)} to {ctx.name(target)} leaves {_kind_and(source, ctx)}",
            element=flow,
            help=f"make {ctx.name(source)} an intermediate event, or move it to the end of the "
            "process",
        )
    if source is target and isinstance(source, Gateway) and source.gateway_kind == "exclusive":
        ctx.emit(
            SelfLoop,
            f"{_name_flow(flow)} leads from {ctx.name(source)} back to itself",
            element=flow,
            help="connect it to the step to repeat before this decision",
        )
