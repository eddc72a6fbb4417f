"""How each inclusive join is encoded; facts in N8N.md, "Execution semantics", and DESIGN.

A Merge with `includeUnpaired` waits until nothing else can run and then fires with what came, which
is what an inclusive join does, *unless* another Merge shares a cycle with it: then the two are each
other's ancestors, neither fires, and the run ends green half way. There every branch that is not
taken is wired around, straight into its input of the join, so that all inputs always come.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from orgflow_ir.analysis.control_flow.graph import ControlFlow, reach
from orgflow_ir.analysis.control_flow.regions import ScopeReduction
from orgflow_ir.model import Gateway
from orgflow_ir.model.elements import Scope
from orgflow_ir.pipeline import PassContext

WIDE = 10
"""Inputs above which a join needs several Merge nodes."""

JoinKind = Literal["exclusive", "all", "partial", "bypass", "unstructured"]


class InclusiveJoin(NamedTuple):
    """An inclusive gateway with several ways in.

    `exclusive`: exactly one branch ever comes (several wires into one input do); `all`: every
    branch comes; `partial`: a Merge that fires with what came; `bypass`: branches not taken are
    wired around, `inputs` maps each flow out of `split` to the flow into the join it arrives by;
    `unstructured`: no single split opens what the join closes.
    """

    gateway: str
    kind: JoinKind
    split: str | None = None
    inputs: Mapping[str, str] = MappingProxyType({})


def inclusive_joins(
    scope: Scope, graph: ControlFlow, ctx: PassContext
) -> Mapping[str, InclusiveJoin]:
    """The encoding of every inclusive join by gateway id."""
    joins = [
        n
        for n in scope.nodes
        if isinstance(n, Gateway)
        and n.gateway_kind == "inclusive"
        and len(graph.flows_in(n.id)) > 1
    ]
    if not joins:
        return {}
    pairs = ctx.analysis(ScopeReduction, graph).reduction
    result: dict[str, InclusiveJoin] = {}
    crowd = _merges_per_cycle(scope, graph)
    for join in joins:
        split = pairs.pair_of(join.id)
        if split is not None and join.id in graph.cyclic:
            split = None if _entered_elsewhere(split, join.id, graph) else split
        inputs = _bijection(split, join.id, graph, graph.successors) if split is not None else {}
        result[join.id] = _encode(join.id, split, inputs, graph, crowd)
    return result


def _entered_elsewhere(split: str, join: str, graph: ControlFlow) -> bool:
    """Whether a flow leads into a block of several tokens from outside, past its split: a loop back
    into a branch brings one token, and a Merge that was run by several before does not fire for it
    as the join does (found by `verify`)."""
    node = graph.nodes[split]
    if isinstance(node, Gateway) and node.gateway_kind == "exclusive":
        return False
    first = [f.target for f in graph.flows_out(split) if f.target != join]
    inside = reach(first, graph.successors, frozenset({join, split}))
    return any(
        arc.source not in inside and arc.source != split and arc.source in graph.reachable
        for node in inside
        for arc in graph.into[node]
    )


def _encode(
    join: str,
    split: str | None,
    inputs: dict[str, str],
    graph: ControlFlow,
    crowd: Mapping[int, int],
) -> InclusiveJoin:
    if split is None:
        return InclusiveJoin(join, "unstructured")
    node = graph.nodes[split]
    kind = node.gateway_kind if isinstance(node, Gateway) else "parallel"
    if kind == "exclusive" and inputs:
        return InclusiveJoin(join, "exclusive", split, inputs)
    shared = join in graph.cyclic and (
        crowd.get(graph.components[join], 0) > 1 or len(graph.flows_in(join)) > WIDE
    )
    if not shared:
        return InclusiveJoin(join, "partial", split, inputs)
    if inputs and kind == "inclusive":
        return InclusiveJoin(join, "bypass", split, inputs)
    if inputs and kind == "parallel":
        return InclusiveJoin(join, "all", split, inputs)
    return InclusiveJoin(join, "unstructured", split)


def _bijection(
    split: str, join: str, graph: ControlFlow, succ: Mapping[str, list[str]]
) -> dict[str, str]:
    """Flow out of the split → the one flow into the join that it leads to, where all do; else
    nothing."""
    ways_in = graph.flows_in(join)
    result: dict[str, str] = {}
    for out in graph.flows_out(split):
        if out.target == join:
            result[out.id] = out.id
            continue
        inside = reach([out.target], succ, frozenset({join, split}))
        arrives = [f.id for f in ways_in if f.source in inside]
        if len(arrives) != 1:
            return {}
        result[out.id] = arrives[0]
    return result if sorted(result.values()) == sorted(f.id for f in ways_in) else {}


def _merges_per_cycle(scope: Scope, graph: ControlFlow) -> Mapping[int, int]:
    """How many gateways that become Merge nodes each strongly connected component holds."""
    count: dict[int, int] = {}
    for node in scope.nodes:
        if (
            isinstance(node, Gateway)
            and node.gateway_kind in ("parallel", "inclusive")
            and len(graph.flows_in(node.id)) > 1
        ):
            component = graph.components[node.id]
            count[component] = count.get(component, 0) + 1
    return count
