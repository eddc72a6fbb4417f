"""Runs of a net as evidence: their causes, their decisions, and whether they end."""

from __future__ import annotations

from orgflow_ir.flow.nets.net import FIRST, Net
from orgflow_ir.flow.soundness.space import Move
from orgflow_ir.flow.soundness.witness_search import Firing, final_marking

LONGEST = 400
"""Maximum length of a run that is checked for growth."""


def needed_moves(moves: list[Move], wanted: int) -> list[Move]:
    """The moves that cause the last one, and the token that it meets."""
    *before, last = moves
    kept, wanted = [last], wanted | last.taken
    for move in reversed(before):
        if move.put & wanted:
            kept.append(move)
            wanted = wanted & ~move.put | move.taken
    return kept[::-1]


def turning_decision(
    net: Net, log: list[Firing], missing: tuple[int, ...], join: int
) -> tuple[int, tuple[int, ...]]:
    """The last decision of the run that excluded a missing branch: its node and the flow it
    took."""
    behind, stack = set(missing), list(missing)
    while stack:
        src = net.src[stack.pop()]
        if src != join:
            for arc in net.ins[src]:
                if arc not in behind:
                    behind.add(arc)
                    stack.append(arc)
    for step in reversed(log):
        outs = net.outs[step.node]
        chose = net.kind[step.node] != "A" and len(outs) > 1
        if chose and any(a in behind for a in outs) and not any(a in behind for a in step.put):
            return step.node, step.put
    return -1, ()


def list_cycle(net: Net, node: int) -> tuple[int, ...]:
    """All nodes reachable from a node, including itself."""
    seen, stack = {node}, [node]
    while stack:
        for arc in net.outs[stack.pop()]:
            if net.dst[arc] not in seen:
                seen.add(net.dst[arc])
                stack.append(net.dst[arc])
    return tuple(sorted(seen))


def move_outward(net: Net, log: list[Firing]) -> list[Firing]:
    """Move tokens inside an element to its output: two that meet there leave on the same flow, and
    the last step is completed (the game has no intermediate state)."""
    marks = dict(final_marking(net, log) or {})
    while True:
        inner = [a for a in marks if net.flow[a] is None and net.dst[a] >= FIRST]
        events = {a for a in inner if a in net.by_event}
        inner = [a for a in inner if net.element[net.src[a]] == net.element[net.dst[a]]]
        begun = {a for a in log[-1].put if a in inner} | events
        inner += events
        arc = next((a for a in inner if marks[a] > 1 or a in begun), -1)
        if arc < 0:
            return log
        node, count = net.dst[arc], marks.pop(arc)
        outs = net.outs[node]
        if not outs or (net.kind[node] == "A" and len(net.ins[node]) > 1):
            return log
        put = tuple(outs) if net.kind[node] == "A" else (outs[-1 if node in net.aside else 0],)
        log = [*log, *[Firing(node, (arc,), put)] * count]
        for way in put:
            marks[way] = marks.get(way, 0) + count


def run_grows(net: Net, log: list[Firing]) -> bool:
    """Whether the run reaches a position that covers an earlier one with additional tokens: the
    steps between can then be repeated indefinitely (except for inclusive joins, which additional
    tokens can cause to wait). Tokens at the end are ignored."""
    marks: dict[int, int] = {}
    seen: list[tuple[int, int]] = []  # after each step the arcs with tokens, as bits, and how many
    first = holding = total = 0
    put: set[int] = set()
    for last, step in enumerate(log):
        if net.kind[step.node] == "O" and len(net.ins[step.node]) > 1:
            first = last
        for arcs, change in ((step.taken, -1), (step.put, 1)):
            for arc in arcs:
                if net.dst[arc] >= FIRST:
                    marks[arc] = marks.get(arc, 0) + change
                    total += change
                    holding = holding | 1 << arc if marks[arc] else holding & ~(1 << arc)
        if not put.isdisjoint(step.put):  # before that nothing has gone round
            covered = (
                at
                for at in range(first, last)
                if not seen[at][0] & ~holding and seen[at][1] < total
            )
            earliest = next(covered, last)
            if earliest < last and _covers_position(net, log, earliest, last):
                return True
        put.update(step.put)
        seen.append((holding, total))
        if last - first >= LONGEST:
            return False
    return False


def _covers_position(net: Net, log: list[Firing], first: int, last: int) -> bool:
    """Whether the position after a step covers, with more tokens, the position after an earlier
    one that is not before `first`: the steps are taken back one by one."""
    more: dict[int, int] = {}
    """By arc how many tokens there are more after the last step than at the position looked at."""
    lacking = surplus = 0
    for at in range(last, first, -1):
        for arcs, change in ((log[at].put, 1), (log[at].taken, -1)):
            for arc in arcs:
                if net.dst[arc] < FIRST:
                    continue
                was = more.get(arc, 0)
                more[arc] = now = was + change
                lacking += (now < 0) - (was < 0)
                if net.dst[arc] not in net.aside:
                    surplus += (now > 0) - (was > 0)
        if surplus and not lacking:
            return True
    return False
