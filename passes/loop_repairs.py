"""Changes that may mend loops: a way out of one, work that a round waits for."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.passes.repair_edits import KINDS, Candidate, Changes, by_hand

from orgflow_ir.analysis.soundness import Fault
from orgflow_ir.diagnostics import Edit
from orgflow_ir.model import Event, Flow, Gateway


def leaving(changes: Changes, fault: Fault) -> Iterator[Candidate]:
    """A way out of a loop: where it chooses already, else at a new choice."""
    graph, name, scope = changes.graph, changes.namer.name, changes.scope.id
    round_ = [i for i in fault.cycle if i in graph.nodes]
    end, made = _end(changes)
    where = f"to {name(end)}" if not made else "to an end"
    for node in round_:
        found = graph.nodes[node]
        if isinstance(found, Gateway) and found.gateway_kind in ("exclusive", "inclusive"):
            if len(graph.flows_out(node)) < 2:
                continue
            advice = f"add a way from {name(node)} {where}"
            yield by_hand(advice, *made, changes.added(node, end))
            return
    for node in round_:
        if isinstance(graph.nodes[node], Gateway) or len(graph.out[node]) != 1:
            continue
        (on,) = graph.flows_out(node)
        choice = changes.free(f"{node}_choice")
        gateway = Gateway(id=choice, gateway_kind="exclusive")
        back = Flow(id=changes.free(f"{choice}_back"), source=choice, target=on.target)
        yield by_hand(
            f"add an exclusive gateway to the loop, after {name(node)} for example, with a way "
            f"{where}",
            *made,
            Edit(action="add", scope=scope, node=gateway),
            changes.moved(on, target=choice),
            Edit(action="add", scope=scope, flow=back),
            changes.added(choice, end),
        )
        return


def _end(changes: Changes) -> tuple[str, tuple[Edit, ...]]:
    """An end that no way leads to, else a new one and the edit that makes it."""
    graph = changes.graph
    for node in graph.nodes.values():
        ends = isinstance(node, Event) and node.position == "end" and not node.definitions
        if ends and not graph.into[node.id]:
            return node.id, ()
    end = Event(id=changes.free("way_out"), position="end")
    return end.id, (Edit(action="add", scope=changes.scope.id, node=end),)


def bounding(changes: Changes, fault: Fault) -> Iterator[Candidate]:
    """A round that waits for the work it starts; a fork that chooses instead."""
    graph = changes.graph
    home = graph.components[fault.element]
    inside = {n for n, c in graph.components.items() if c == home}
    forks = [
        n for n in graph.nodes.values()
        if n.id in inside and isinstance(n, Gateway) and n.gateway_kind == "parallel"
        and len(graph.flows_out(n.id)) > 1
    ]  # fmt: skip
    for fork in forks:
        yield from _waited_for(changes, fork, inside)
    for fork in forks:
        ways = " or ".join(f"to {changes.namer.name(f.target)}" for f in graph.flows_out(fork.id))
        fix = changes.of_kind(fork, "exclusive", "unsafe")
        yield Candidate(fix, f"{fix.title}, to go either {ways} each time")


def _waited_for(changes: Changes, fork: Gateway, inside: set[str]) -> Iterator[Candidate]:
    """What leaves the loop at a fork is joined before the loop's next choice."""
    graph, name = changes.graph, changes.namer.name
    aside = [f for f in graph.flows_out(fork.id) if f.target not in inside]
    around = [f for f in graph.flows_out(fork.id) if f.target in inside]
    if len(aside) != 1 or len(around) != 1:
        return
    last, ahead = _row(changes, aside[0]), _row(changes, around[0])
    end, choice = graph.nodes[last.target], graph.nodes[ahead.target]
    if not (isinstance(end, Event) and isinstance(choice, Gateway)):
        return
    if end.definitions or choice.gateway_kind not in KINDS or len(graph.flows_in(choice.id)) != 1:
        return
    join = changes.free(f"{choice.id}_join")
    gateway = Gateway(id=join, gateway_kind="parallel")
    scope = changes.scope.id
    edits = [
        Edit(action="add", scope=scope, node=gateway),
        changes.moved(last, target=join),
        changes.moved(ahead, target=join),
        changes.added(join, choice.id),
    ]
    if len(graph.flows_in(end.id)) == 1:
        edits.append(Edit(action="remove", scope=scope, id=end.id))
    advice = (
        f"let {name(choice.id)} wait for {name(last.source)}: join {name(last.source)} and "
        f"{name(ahead.source)} with a parallel gateway before it"
    )
    yield by_hand(advice, *edits)


def _row(changes: Changes, flow: Flow) -> Flow:
    """The last flow of steps in a row that a flow leads into."""
    graph = changes.graph
    for _ in graph.nodes:
        if len(graph.into[flow.target]) != 1 or len(graph.out[flow.target]) != 1:
            break
        (flow,) = graph.flows_out(flow.target)
    return flow
