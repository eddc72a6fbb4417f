"""Parallel and inclusive joins, and splits that need a node."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import Join, PassOn
from orgflow.backends.n8n.plan.graph import HelperKey, PlanNode, Port
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Gateway
from orgflow_ir.work.gateway_decisions import target_words

MERGE_INPUTS = 10
"""Maximum number of inputs of a Merge node (DESIGN); wider joins are nested."""


def plan_join(gateway: Gateway, plan: ScopePlan) -> None:
    """A parallel or inclusive join, or a node that passes on for a split in a knot."""
    into = plan.graph.flows_in(gateway.id)
    graph = plan.workflow_graph
    words = next_words(gateway, plan.graph)
    if len(into) < 2 or gateway.gateway_kind == "exclusive":
        split = graph.add(
            gateway.id, gateway.name or f"Split before {words}", PassOn(), element=gateway.id
        )
        split.notes += notes.note_join(gateway)
        return
    join = plan.joins.get(gateway.id)
    partial = join is not None and join.kind == "partial"
    node = graph.add(
        gateway.id,
        gateway.name or f"Join before {words}",
        Join(min(len(into), MERGE_INPUTS), partial),
        element=gateway.id,
    )
    node.notes += notes.note_join(gateway)
    for flow, port in zip(into, _plan_inputs(node, len(into), partial, plan), strict=True):
        plan.entry[(gateway.id, flow.id)] = port


def _plan_inputs(node: PlanNode, wanted: int, partial: bool, plan: ScopePlan) -> list[Port]:
    """Ports for `wanted` branches: inputs of the join, or of joins in front of it."""
    if wanted <= MERGE_INPUTS:
        return [Port(node.key, i) for i in range(wanted)]
    graph = plan.workflow_graph
    result: list[Port] = []
    shares = [wanted // MERGE_INPUTS + (i < wanted % MERGE_INPUTS) for i in range(MERGE_INPUTS)]
    for index, share in enumerate(shares):
        if share == 1:
            result.append(Port(node.key, index))
            continue
        inner = graph.add(
            HelperKey(node.key, "join", index),
            f"{node.name} {index + 1}",
            Join(min(share, MERGE_INPUTS), partial),
            element=node.element,
            role="join",
        )
        graph.connect(Port(inner.key), Port(node.key, index))
        result.extend(_plan_inputs(inner, share, partial, plan))
    return result


def next_words(gateway: Gateway, graph: ControlFlow) -> str:
    """Words for what a gateway leads to."""
    out = graph.flows_out(gateway.id)
    if not out:
        return "the end"
    return target_words(out[0], graph) or "what follows"
