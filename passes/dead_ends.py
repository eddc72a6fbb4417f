"""Steps without outgoing flows, in a process that has end events."""

from __future__ import annotations

from typing import ClassVar, assert_never

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.flow.nets.wiring import Wiring, is_handler
from orgflow_ir.model import CallActivity, Event, Gateway, Model, Opaque, Scope, SubProcess, Task
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.pipeline import Pass, PassContext, Stage


class DeadEnd(Rule):
    """
    What it finds
        A task, sub-process, start event or intermediate event without an outgoing flow, in a
        process or sub-process with an end event.
    Why it is wrong
        If a process has end events, every step leads to one (BPMN 2.0.2, 10.5.3); a run that
        reaches this step ends silently. Usually a flow was forgotten.
    Example
        `Ship` leads to the end event `Done`, and nothing leaves `Reorder`.
    Instead
        Add a flow from `Reorder` to the next step or to an end event.
    """

    code = "OF130"
    name = "dead-end"
    severity = Severity.WARNING
    category = Category.MALFORMED


class DeadEnds(Pass):
    """Reports steps without outgoing flows in scopes with end events."""

    name: ClassVar[str] = "dead-ends"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (DeadEnd,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for scope in ctx.scopes(model):
            if not (isinstance(scope, SubProcess) and scope.flavour == "ad-hoc") and has_end(scope):
                _check_scope(scope, ctx)
        return model


def _check_scope(scope: Scope, ctx: PassContext) -> None:
    sources = {f.source for f in scope.flows}  # OF101 and OF102 report those that lead nowhere
    reached: frozenset[str] | None = None
    for node in scope.nodes:
        if node.id in sources or not _leads_on(node):
            continue
        if reached is None:
            reached = ctx.analysis(Wiring, scope).live
        if node.id in reached:  # OF111 reports the others
            begins = isinstance(node, Event) and node.position == "start"
            ends = "begins with it ends immediately" if begins else "reaches it ends there"
            if any(_interrupts_node(n, node) for n in scope.nodes):
                ends += " unless a boundary event interrupts it"
            ctx.emit(
                DeadEnd,
                f"{ctx.name(node)} has no outgoing flow: a run that {ends}, although "
                f"{ctx.name(scope)} has an end event",
                element=node,
                help="add a flow from it to the next step or to an end event",
            )


def _leads_on(node: ModelNode) -> bool:
    """Whether a node has to have a way out (OF110 is for gateways, OF122 for boundary events)."""
    match node:
        case Task() | CallActivity() | SubProcess():
            return needs_way_out(node)
        case Event():
            return node.position in ("start", "catch", "throw") and needs_way_out(node)
        case Gateway() | Opaque():
            return False
        case _:
            assert_never(node)


def _interrupts_node(event: ModelNode, node: ModelNode) -> bool:
    """Whether an event on the border of a node ends it, so that a run can leave it there."""
    if not isinstance(event, Event) or event.attached_to != node.id:
        return False
    return event.interrupting and not is_compensation_event(event)


def has_end(scope: Scope) -> bool:
    """Whether a scope has an end event."""
    return any(n.position == "end" for n in scope.nodes if isinstance(n, Event))


def needs_way_out(node: ModelNode) -> bool:
    """Whether a run ends without an end event at a node without outgoing flows."""
    if not isinstance(node, Event):
        return not is_handler(node)
    if node.position == "end":
        return False
    if node.position == "throw" and any(d.kind == "link" for d in node.definitions):
        return False
    return not is_compensation_event(node)


def is_compensation_event(node: ModelNode) -> bool:
    """Whether a node is a compensation boundary event, which an association continues instead of a
    flow."""
    return (
        isinstance(node, Event)
        and node.position == "boundary"
        and any(d.kind == "compensation" for d in node.definitions)
    )
