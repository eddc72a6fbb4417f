"""Changes that may repair loops: an exit, or a join of the work in a round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orgflow.passes.repair_edits import KINDS, Candidate, ScopeRepair

from orgflow_ir.diagnostics import Fix
from orgflow_ir.flow.control_flow.graph import list_reachable
from orgflow_ir.flow.soundness import Fault
from orgflow_ir.model import Event, Flow, Gateway

MOST = 20
"""Maximum number of splits of a loop, and of joins for each, that are examined."""


def list_exits(repair: ScopeRepair, fault: Fault) -> Iterator[Candidate]:
    """An exit of a loop: at an existing choice, otherwise at a new one."""
    graph, name, draft = repair.graph, repair.namer.name, repair.draft()
    round_ = [i for i in fault.cycle if i in graph.nodes]
    unused = _unused_end(repair)
    end = unused or draft.end("way_out")
    where = f"to {name(unused)}" if unused is not None else "to an end"
    for node in round_:
        node_there = graph.nodes[node]
        if isinstance(node_there, Gateway) and node_there.gateway_kind in (
            "exclusive",
            "inclusive",
        ):
            if len(graph.flows_out(node)) < 2:
                continue
            draft.connect(node, end)
            yield draft.by_hand(f"add a flow from {name(node)} {where}")
            return
    for node in round_:
        if isinstance(graph.nodes[node], Gateway) or len(graph.out[node]) != 1:
            continue
        (on,) = graph.flows_out(node)
        choice = draft.gateway(f"{node}_choice", "exclusive")
        draft.move(on, target=choice)
        draft.connect(choice, on.target, f"{choice}_back")
        draft.connect(choice, end)
        yield draft.by_hand(
            f"add an exclusive gateway to the loop, for example after {name(node)}, with a flow "
            f"{where}"
        )
        return


def _unused_end(repair: ScopeRepair) -> str | None:
    """An end that no way leads to."""
    graph = repair.graph
    for node in graph.nodes.values():
        ends = isinstance(node, Event) and node.position == "end" and not node.definitions
        if ends and not graph.into[node.id]:
            return node.id
    return None


def list_joins(repair: ScopeRepair, fault: Fault) -> Iterator[Candidate]:
    """The branches of a parallel split in the loop are joined at the first node that they share."""
    graph, name = repair.graph, repair.namer.name
    home = graph.components[fault.element]
    inside = [n for n, c in graph.components.items() if c == home]
    meetings = [n for n in inside if len(graph.flows_in(n)) > 1][:MOST]
    for fork in [n for n in inside if len(graph.flows_out(n)) > 1][:MOST]:
        split = graph.nodes[fork]
        out = [f for f in graph.flows_out(fork) if graph.components[f.target] == home]
        if not isinstance(split, Gateway) or split.gateway_kind != "parallel" or len(out) < 2:
            continue
        for meeting in meetings:
            apart = frozenset({fork, meeting})
            branches = [{fork, *list_reachable([f.target], graph.successors, apart)} for f in out]
            if sum(len(b) - 1 for b in branches) != len(set().union(*branches)) - 1:
                continue  # they meet before
            into = [f for f in graph.flows_in(meeting) if any(f.source in b for b in branches)]
            direct = [f for f in into if f.source == fork]
            came = sum(any(f.source in b - {fork} for f in into) for b in branches) + len(direct)
            if meeting == fork or came < len(out) or len(into) != len(out):
                continue
            fix = _join_branches(repair, meeting, into)
            why = f", since {name(fork)} starts all of them in every iteration"
            yield Candidate(fix, f"{fix.title}{why}")
            break


def _join_branches(repair: ScopeRepair, meeting: str, into: Sequence[Flow]) -> Fix:
    """A node at which branches meet becomes a parallel join, or gets one before it."""
    graph = repair.graph
    node = graph.nodes[meeting]
    whole = len(into) == len(graph.flows_in(meeting))
    if isinstance(node, Gateway) and whole and len(graph.flows_out(meeting)) == 1:
        return repair.of_kind(node, "parallel", "safe")
    return repair.joined(meeting, "parallel", into, "safe")


def list_bounds(repair: ScopeRepair, fault: Fault) -> Iterator[Candidate]:
    """A round that waits for the work it starts; or a choice instead of a fork or an element with
    several outgoing flows."""
    graph = repair.graph
    home = graph.components[fault.element]
    inside = {n for n, c in graph.components.items() if c == home}
    forks = [
        n for n in graph.nodes.values()
        if n.id in inside and isinstance(n, Gateway) and n.gateway_kind == "parallel"
        and len(graph.flows_out(n.id)) > 1
    ]  # fmt: skip
    for fork in forks:
        yield from _waited_for(repair, fork, inside)
    for fork in forks:
        branches = " or ".join(
            f"to {repair.namer.name(f.target)}" for f in graph.flows_out(fork.id)
        )
        fix = repair.of_kind(fork, "exclusive", "unsafe")
        yield Candidate(fix, f"{fix.title}, so each iteration goes either {branches}")
    for node in (n for n in graph.nodes.values() if n.id in inside):
        flows = graph.flows_out(node.id)
        if isinstance(node, Gateway) or len(flows) < 2 or any(f.condition for f in flows):
            continue
        draft = repair.draft()
        choice = draft.gateway(f"{node.id}_choice", "exclusive")
        for flow in flows:
            draft.move(flow, source=choice)
        draft.connect(node.id, choice)
        branches = " or ".join(f"to {repair.namer.name(f.target)}" for f in flows)
        title = f"put an exclusive gateway after {repair.namer.name(node.id)}"
        yield Candidate(
            draft.fix(title, "unsafe"), f"{title}, so each iteration goes either {branches}"
        )


def _waited_for(repair: ScopeRepair, fork: Gateway, inside: set[str]) -> Iterator[Candidate]:
    """What leaves the loop at a fork is joined before the loop's next choice."""
    graph, name = repair.graph, repair.namer.name
    aside = [f for f in graph.flows_out(fork.id) if f.target not in inside]
    around = [f for f in graph.flows_out(fork.id) if f.target in inside]
    if len(aside) != 1 or len(around) != 1:
        return
    last, ahead = _last_in_row(repair, aside[0]), _last_in_row(repair, around[0])
    end, choice = graph.nodes[last.target], graph.nodes[ahead.target]
    if not (isinstance(end, Event) and isinstance(choice, Gateway)):
        return
    if end.definitions or choice.gateway_kind not in KINDS or len(graph.flows_in(choice.id)) != 1:
        return
    draft = repair.draft()
    join = draft.gateway(f"{choice.id}_join", "parallel")
    draft.move(last, target=join)
    draft.move(ahead, target=join)
    draft.connect(join, choice.id)
    if len(graph.flows_in(end.id)) == 1:
        draft.remove(end.id)
    yield draft.by_hand(
        f"let {name(choice.id)} wait for {name(last.source)}: join {name(last.source)} and "
        f"{name(ahead.source)} with a parallel gateway before it"
    )


def _last_in_row(repair: ScopeRepair, flow: Flow) -> Flow:
    """The last flow of steps in a row that a flow leads into."""
    graph = repair.graph
    for _ in graph.nodes:
        if len(graph.into[flow.target]) != 1 or len(graph.out[flow.target]) != 1:
            break
        (flow,) = graph.flows_out(flow.target)
    return flow
