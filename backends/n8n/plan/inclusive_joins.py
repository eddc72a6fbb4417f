"""The encoding of each inclusive join; facts in N8N.md, "Execution semantics", and DESIGN.

A Merge with `includeUnpaired` waits until nothing else can run and then fires with the received
inputs, like an inclusive join, *unless* another Merge shares a cycle with it: then the two are each
other's ancestors, neither fires, and the run ends with success half way. In that case, every branch
that is not taken is bypassed by a connection directly into its input of the join, so that all
inputs always arrive.

Outside of cycles, such a Merge needs no matching split: n8n runs a waiting node only if none of its
ancestors waits, so nothing can arrive any more that the join has to wait for by the rule of BPMN
(2.0.2, 13.4.3). This holds if no two tokens pass the same place and no token stays behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.flow.control_flow.outgoing import sort_outgoing
from orgflow_ir.flow.nets.reduction import Reduction
from orgflow_ir.flow.nets.regions import ScopeReduction
from orgflow_ir.model import Gateway, Process
from orgflow_ir.model.elements import Scope
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext

WIDE = 10
"""Number of inputs above which a join needs several Merge nodes."""

JoinKind = Literal["exclusive", "all", "partial", "bypass", "unstructured"]


class InclusiveJoin(NamedTuple):
    """An inclusive gateway with several incoming flows.

    `exclusive`: one branch arrives at a time (like several connections into one input); `all`:
    every branch arrives; `partial`: a Merge that fires with the received inputs; `bypass`: branches
    that are not taken are bypassed, and `inputs` maps each flow out of `split` to the flow into the
    join by which it arrives; `unstructured`: the join has no single split, and it is on a cycle, or
    several tokens arrive at one place.
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
    crowd = _merges_per_cycle(scope, graph, frozenset())
    result = {join.id: _encode_join(join.id, graph, pairs, crowd) for join in joins}
    open_ = [join for join in joins if result[join.id].kind == "unstructured"]
    alone = frozenset(join.id for join in open_ if _comes_alone(join, scope))
    if alone:  # they become no Merge, and fewer share a cycle
        crowd = _merges_per_cycle(scope, graph, alone)
        for join in joins:
            if join.id in alone:
                result[join.id] = InclusiveJoin(join.id, "exclusive")
            else:
                result[join.id] = _encode_join(join.id, graph, pairs, crowd)
    for join in open_:
        unstructured = result[join.id].kind == "unstructured"
        if unstructured and join.id not in graph.cyclic and _is_sound(scope, ctx):
            result[join.id] = InclusiveJoin(join.id, "partial")
    return result


def _encode_join(
    join: str, graph: ControlFlow, pairs: Reduction, crowd: Mapping[int, int]
) -> InclusiveJoin:
    """The encoding of a join by the split that it closes."""
    split = pairs.pair_of(join)
    if split is not None and join in graph.cyclic:
        split = None if _entered_elsewhere(split, join, graph) else split
    inputs = _map_flows(split, join, graph, graph.successors) if split is not None else {}
    return _choose_encoding(join, split, inputs, graph, crowd)


def _comes_alone(join: Gateway, scope: Scope) -> bool:
    """Whether nothing else is under way when a token comes to a join. It goes on at once then, with
    that token alone, and is an exclusive one: where nothing is beside the join if it is one, runs
    of both are the same."""
    from orgflow_ir.flow.concurrency.parallel_steps import Concurrency  # of few models

    exclusive = join.replace(gateway_kind="exclusive")
    changed = scope.replace(nodes=tuple(exclusive if n is join else n for n in scope.nodes))
    return not Concurrency(ControlFlow(changed)).beside(join.id)


def _is_sound(scope: Scope, ctx: PassContext) -> bool:
    """Whether it is proved that no place of a process is passed by two tokens, and none stays."""
    return isinstance(scope, Process) and ctx.analysis(_proved_sound, scope)


def _proved_sound(process: Process) -> bool:
    from orgflow_ir.flow.soundness import Property, analyse  # of few models

    wanted = (Property.DOUBLE, Property.STUCK, Property.IMPROPER)
    verdicts = analyse(process, show=False).verdicts
    return all(verdicts[p].outcome == "proved" for p in wanted)


def _entered_elsewhere(split: str, join: str, graph: ControlFlow) -> bool:
    """Whether a flow leads into a block of several tokens from outside, past its split: a loop back
    into a branch brings one token, and a Merge that was run by several before does not fire for it
    as the join does (found by `verify`)."""
    node = graph.nodes[split]
    if isinstance(node, Gateway) and node.gateway_kind == "exclusive":
        return False
    first = [f.target for f in graph.flows_out(split) if f.target != join]
    inside = list_reachable(first, graph.successors, frozenset({join, split}))
    return any(
        arc.source not in inside and arc.source != split and arc.source in graph.reachable
        for node in inside
        for arc in graph.into[node]
    )


def _choose_encoding(
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
    flows = sort_outgoing(graph.flows_out(split))
    if kind == "inclusive" and len(flows.chosen) == 1 and not flows.always:
        kind = "exclusive"  # the one condition or the default: never both
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


def _map_flows(
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
        inside = list_reachable([out.target], succ, frozenset({join, split}))
        arrives = [f.id for f in ways_in if f.source in inside]
        if len(arrives) != 1:
            return {}
        result[out.id] = arrives[0]
    return result if sorted(result.values()) == sorted(f.id for f in ways_in) else {}


def _merges_per_cycle(scope: Scope, graph: ControlFlow, none: frozenset[str]) -> Mapping[int, int]:
    """How many gateways that become Merge nodes each strongly connected component holds; those of
    `none` become none."""
    count: dict[int, int] = {}
    for node in scope.nodes:
        if (
            isinstance(node, Gateway)
            and node.gateway_kind in ("parallel", "inclusive")
            and len(graph.flows_in(node.id)) > 1
            and node.id not in none
        ):
            component = graph.components[node.id]
            count[component] = count.get(component, 0) + 1
    return count
