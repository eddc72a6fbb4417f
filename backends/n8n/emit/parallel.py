"""Parallel work on n8n: one branch after the other, and one wait at a time."""

from __future__ import annotations

import itertools

from orgflow.backends.n8n.emit import emission_rules

from orgflow_ir.flow.control_flow.graph import ControlFlow, reach
from orgflow_ir.model import Event, Gateway, Node
from orgflow_ir.model.elements import Scope
from orgflow_ir.pipeline import PassContext

SMALL = 2_000
"""Maximum number of nodes for which waits are also searched if only some branches join."""


def report_parallel(scope: Scope, ctx: PassContext) -> None:
    """OF421 for each split into parallel work, OF422 for each wait inside such work."""
    graph = ctx.analysis(ControlFlow, scope)
    splits = [n.id for n in scope.nodes if _splits(n, graph)]
    for split in splits:
        ctx.emit(
            emission_rules.SequentialParallel,
            f"the {len(graph.flows_out(split))} branches after "
            f"{ctx.name(graph.nodes[split])} run one after the other on n8n",
            element=graph.nodes[split],
        )
    waits = [n.id for n in scope.nodes if _waits(n)]
    if not waits or not splits:
        return
    beside = _branch_waits(waits, set(splits), graph)
    if len(scope.nodes) <= SMALL:
        beside = {**_partly_joined(waits, splits, graph), **beside}
    for wait in waits:
        if wait in beside:
            ctx.emit(
                emission_rules.SequentialWait,
                f"while {ctx.name(graph.nodes[wait])} waits, the other branches after "
                f"{ctx.name(graph.nodes[beside[wait]])} are paused on n8n",
                element=graph.nodes[wait],
                help="put the wait before or after the parallel part, or accept that the branches "
                "run in turn",
            )


def _branch_waits(waits: list[str], splits: set[str], graph: ControlFlow) -> dict[str, str]:
    """Waits that lie in one branch of a split: dominated by the first node of that branch."""
    found: dict[str, str] = {}
    for wait in waits:
        chain = [wait, *graph.dominators_of(wait)]
        for inner, outer in itertools.pairwise(chain):
            if outer in splits and any(a.target == inner for a in graph.out[outer]):
                found[wait] = outer
                break
    return found


def _partly_joined(waits: list[str], splits: list[str], graph: ControlFlow) -> dict[str, str]:
    """Waits that some branches of a split lead to and others do not: the others can be active."""
    found: dict[str, str] = {}
    for split in splits:
        branches = [
            reach([f.target], graph.successors, frozenset({split})) for f in graph.flows_out(split)
        ]
        for wait in waits:
            held = sum(1 for b in branches if wait in b)
            if wait not in found and 0 < held < len(branches):
                found[wait] = split
    return found


def _splits(node: Node, graph: ControlFlow) -> bool:
    exclusive = isinstance(node, Gateway) and node.gateway_kind == "exclusive"
    return len(graph.flows_out(node.id)) > 1 and not exclusive


def _waits(node: Node) -> bool:
    return (
        isinstance(node, Event)
        and node.position == "catch"
        and node.trigger in ("timer", "message", "signal")
    )
