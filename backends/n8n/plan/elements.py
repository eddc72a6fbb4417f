"""A node for each element of a scope, in the order of the model."""

from __future__ import annotations

from typing import assert_never

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.decisions import plan_decision_node
from orgflow.backends.n8n.plan.events import plan_event
from orgflow.backends.n8n.plan.joins import plan_join
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.tasks import plan_task

from orgflow_ir.flow.control_flow.calls import find_callee
from orgflow_ir.model import CallActivity, Event, Gateway, Node, Opaque, SubProcess, Task


def find_silent_gateways(plan: ScopePlan) -> None:
    """Find the gateways that need no node, and report mappings of events that are not executed."""
    for node in plan.scope.body.nodes:
        if _is_silent(node, plan):
            plan.silent.add(node.id)
        if isinstance(node, Event) and node.extra:
            notes.report_unmapped(node, plan.ctx)


def plan_elements(plan: ScopePlan) -> None:
    """Add the nodes of all elements but silent gateways."""
    for node in plan.scope.body.nodes:
        if node.id not in plan.silent:
            _plan_element(node, plan)


def complete_defaults(plan: ScopePlan) -> None:
    """Complete the messages of gaps by what was planned in their place."""
    plan.defaults.complete(plan.ctx)


def _plan_element(node: Node, plan: ScopePlan) -> None:
    match node:
        case Task():
            plan_task(node, plan)
        case SubProcess():
            load_function("calls.plan_call")(node, plan.scope.inside(node), plan)
        case CallActivity() if (called := find_callee(node, plan.scope.model)) is not None:
            load_function("calls.plan_call")(node, plan.scope.of(called), plan)
        case Event():
            plan_event(node, plan)
        case Gateway() if node.id in plan.decisions:
            plan_decision_node(plan.decisions[node.id], plan)
        case Gateway() if plan.segments is not None:
            load_function("segment_elements.plan_cut_gateway")(node, plan)
        case Gateway():
            plan_join(node, plan)
        case Opaque() if node.stops is not None:
            load_function("stubs.plan_stub")(node, node.stops, plan)
        case CallActivity() | Opaque():
            pass  # refused before, or without a meaning for the flow
        case _:
            assert_never(node)


def _is_silent(node: Node, plan: ScopePlan) -> bool:
    if not isinstance(node, Gateway) or node.id in plan.decisions:
        return False
    graph = plan.graph
    if plan.segments is not None and load_function("segment_elements.is_cut")(node, plan):
        return False
    if node.id not in graph.reachable:  # a join behind it still has an input to wait at
        return False
    into, out = graph.flows_in(node.id), graph.flows_out(node.id)
    if node.gateway_kind == "exclusive":
        return True
    if node.gateway_kind == "inclusive":
        return len(into) < 2 or plan.joins[node.id].kind == "exclusive"
    if len(into) > 1:
        return False
    # k wires into a silent join times m out of a split make a knot nobody can read
    before = graph.nodes[into[0].source] if into else None
    return not (
        len(out) > 1
        and isinstance(before, Gateway)
        and before.gateway_kind in ("exclusive", "inclusive")
        and before.id not in plan.decisions
        and len(graph.flows_in(before.id)) > 1
    )
