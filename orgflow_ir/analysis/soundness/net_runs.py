"""Runs of a net as evidence: what they needed, where they turned, whether they ever end."""

from __future__ import annotations

from orgflow_ir.analysis.soundness.net import FIRST, Net
from orgflow_ir.analysis.soundness.space import Move
from orgflow_ir.analysis.soundness.witness_search import Firing, Play, valid

LONGEST = 400
"""Longest run that is looked through for growth."""


def needed(moves: list[Move], wanted: int) -> list[Move]:
    """The moves that the last one, and the token it meets, depend on."""
    *before, last = moves
    kept, wanted = [last], wanted | last.taken
    for move in reversed(before):
        if move.put & wanted:
            kept.append(move)
            wanted = wanted & ~move.put | move.taken
    return kept[::-1]


def turning(
    net: Net, log: list[Firing], missing: tuple[int, ...], join: int
) -> tuple[int, tuple[int, ...]]:
    """The last choice of the run that lost a missing branch: its node and the way it took."""
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


def cycle(net: Net, node: int) -> tuple[int, ...]:
    """All nodes that can be reached from a node, itself among them."""
    seen, stack = {node}, [node]
    while stack:
        for arc in net.outs[stack.pop()]:
            if net.dst[arc] not in seen:
                seen.add(net.dst[arc])
                stack.append(net.dst[arc])
    return tuple(sorted(seen))


def outward(net: Net, log: list[Firing]) -> list[Firing]:
    """Let tokens inside an element come out of it: two that meet there leave it the same way, and
    what the last step has begun is done (the game knows no state in between)."""
    marks = valid(net, log) or {}
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


def grows(net: Net, log: list[Firing]) -> bool:
    """Whether the run comes to a position that covers an earlier one with more tokens: what led
    from there to here can then be repeated indefinitely (inclusive joins aside: more tokens can
    make them wait). Tokens at the end do not count."""
    play = Play(net)
    seen: list[tuple[int, dict[int, int]]] = []
    holding, put = 0, set[int]()
    for step in log:
        if net.kind[step.node] == "O" and len(net.ins[step.node]) > 1:
            seen = []
        play.fire(step.node, step.taken, step.put)
        for arc in step.taken:
            if arc not in play.marks:
                holding &= ~(1 << arc)
        for arc in step.put:
            if net.dst[arc] >= FIRST:
                holding |= 1 << arc
        work = {a: n for a, n in play.marks.items() if net.dst[a] >= FIRST}
        again = not put.isdisjoint(step.put)  # before that nothing has gone round
        put.update(step.put)
        for held, earlier in seen if again else ():
            if held & ~holding or any(work[a] < n for a, n in earlier.items()):
                continue
            if any(n > earlier.get(a, 0) and net.dst[a] not in net.aside for a, n in work.items()):
                return True
        seen.append((holding, work))
        if len(seen) > LONGEST:
            return False
    return False
