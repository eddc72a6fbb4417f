"""Loops that fork on every round and have no exit: they never end."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Opaque,
    SubProcess,
    Task,
)
from orgflow_ir.model import Node as ModelNode

if TYPE_CHECKING:
    from orgflow_ir.flow.token_game.semantics import Game

_ENDING = frozenset({"terminate", "error", "cancel"})


def endless_forks(graph: ControlFlow) -> tuple[tuple[str, frozenset[str]], ...]:
    """Cycles that a token can never leave as a whole: the first node that forks out of it, and the
    cycle.

    A token in such a cycle meets only nodes that take all outgoing flows, so a copy of it always
    stays inside. Cycles with a choice that leads out, with a waiting join or a boundary event
    (which may stop them), or in a scope that an end event can end as a whole are left to the other
    analyses.
    """
    if not any(_takes_all(graph.nodes[n]) for n, arcs in graph.out.items() if len(arcs) > 1):
        return ()  # as in most scopes: nothing forks
    if any(
        n.position == "end" and n.trigger in _ENDING
        for n in graph.scope.nodes
        if isinstance(n, Event)
    ):
        return ()
    members: dict[int, list[str]] = {}
    for node in graph.nodes:
        if node in graph.cyclic and node in graph.reachable:
            members.setdefault(graph.components[node], []).append(node)
    loops = []
    for nodes in members.values():
        inside = frozenset(nodes)
        forks = [n for n in nodes if any(a.target not in inside for a in graph.out[n])]
        waits = any(_is_waiting(graph.nodes[n], graph) for n in nodes)
        if forks and not waits and all(_is_fork(graph.nodes[n], graph, inside) for n in forks):
            loops.append((forks[0], inside))
    return tuple(loops)


def round_trip(graph: ControlFlow, game: Game, fork: str) -> tuple[Step, ...]:
    """A run of the token game of a process that passes `fork` twice; empty if it has to wait
    before. `graph` is the graph of the process."""
    if fork not in graph.nodes or not graph.entries:
        return ()
    process = graph.scope.id
    succ = {n: [a.target for a in arcs] for n, arcs in graph.out.items()}
    way = _shortest_path(graph.entries, fork, succ)
    back = _shortest_path(tuple(succ[fork]), fork, succ)
    start = way[0] if way and way[0] in game.starts(process) else None
    state = game.initial(process, start)
    steps: list[Step] = []
    route = [*way, *back]
    for here, ahead in zip(route, [*route[1:], ""], strict=True):
        flows = {a.flow.id for a in graph.out[here] if a.flow is not None and a.target == ahead}
        for _ in range(2):  # a step that opens, and one that is done
            fitting = [
                s
                for s in game.steps_of(state, here)
                if not ahead or not s.taken or flows & set(s.taken)
            ]
            if not fitting:
                break
            steps.append(fitting[0])
            state = game.fire(state, fitting[0])
            if fitting[0].action != "open":
                break
    passed = sum(1 for s in steps if s.element == fork and s.action != "open")
    return tuple(steps) if passed == 2 else ()


def _shortest_path(starts: tuple[str, ...], goal: str, succ: dict[str, list[str]]) -> list[str]:
    before: dict[str, str | None] = dict.fromkeys(starts)
    queue = list(before)
    for node in queue:
        if node == goal:
            path = [node]
            while (last := before[path[-1]]) is not None:
                path.append(last)
            return path[::-1]
        for target in succ[node]:
            if target not in before:
                before[target] = node
                queue.append(target)
    return []


def _is_fork(node: ModelNode, graph: ControlFlow, inside: frozenset[str]) -> bool:
    """Whether the node goes all its ways at once, one of them inside."""
    arcs = graph.out[node.id]
    if any(a.flow is None or a.flow.condition is not None or a.flow.default for a in arcs):
        return False
    return _takes_all(node) and any(a.target in inside for a in arcs)


def _takes_all(node: ModelNode) -> bool:
    """Whether the node goes all its ways at once where it has several."""
    return not isinstance(node, Gateway) or node.gateway_kind == "parallel"


def _is_waiting(node: ModelNode, graph: ControlFlow) -> bool:
    match node:
        case Event():
            return node.attached_to is not None
        case Gateway():
            joins = node.gateway_kind in ("parallel", "inclusive", "complex")
            return joins and len(graph.flows_in(node.id)) > 1
        case Task() | CallActivity() | SubProcess() | Opaque():
            return False
        case _:
            assert_never(node)
