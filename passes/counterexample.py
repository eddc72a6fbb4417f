"""Runs that show a fault: directed at it, played on the net of the scope, checked step by step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from orgflow.passes.state_space import Move

from orgflow_ir.control_net import SINK, SOURCE, Net
from orgflow_ir.regions import Clash, Edge, Pair, Reduction

FAR = 1 << 30


class Firing(NamedTuple):
    """One node of the net fires: arcs it takes tokens from and arcs it puts tokens on."""

    node: int
    taken: tuple[int, ...]
    put: tuple[int, ...]


class Lost(Exception):
    """A directed run did not get where it was meant to."""


class Play:
    """A position of the net and the run that led to it."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.marks: dict[int, int] = {}
        self.log: list[Firing] = []
        self.left = 6 * len(net.src) + 100

    def fire(self, node: int, taken: Iterable[int], put: Iterable[int]) -> None:
        """Move tokens. Raises `Lost` when the run gets longer than any sensible one."""
        step = Firing(node, tuple(taken), tuple(put))
        for arc in step.taken:
            self.marks[arc] -= 1
            if not self.marks[arc]:
                del self.marks[arc]
        for arc in step.put:
            self.marks[arc] = self.marks.get(arc, 0) + 1
        self.log.append(step)
        self.left -= 1
        if self.left < 0:
            raise Lost

    def start(self, goals: list[int], aims: list[list[int]]) -> None:
        """The first step: every way from the source, or the one nearest to the goals."""
        outs = self.net.outs[SOURCE]
        if self.net.kind[SOURCE] == "A":
            self.fire(SOURCE, (), outs)
        else:
            self.fire(SOURCE, (), [self._best(outs, goals, aims)])

    def enabled(self, node: int) -> tuple[int, ...]:
        """The arcs `node` would take tokens from now; empty when it cannot fire."""
        net, marks = self.net, self.marks
        held = [a for a in net.ins[node] if a in marks]
        if not held or node == SINK:
            return ()
        kind = net.kind[node]
        if kind == "X":
            return (held[0],)
        if kind == "A":
            if len(held) < len(net.ins[node]) or net.dead_inputs.get(node):
                return ()
            return tuple(held)
        if len(net.ins[node]) > 1 and not self._may_join(node, held):
            return ()
        return tuple(held)

    def _may_join(self, join: int, held: list[int]) -> bool:
        marked, empty = set(held), set(self.net.ins[join]) - set(held)
        if not empty:
            return True
        to_empty = self._upstream(join, empty, set())
        to_marked = self._upstream(join, marked, self.net.by_event)
        return not any(a in to_empty and a not in to_marked for a in self.marks if a not in marked)

    def _upstream(self, join: int, ways: set[int], closed: set[int]) -> set[int]:
        """Arcs from which a path that avoids `join` and `closed` arcs ends with one of `ways`."""
        seen, stack = set(ways), list(ways)
        while stack:
            here = stack.pop()
            src = self.net.src[here]
            if src == join or here in closed:
                continue
            for arc in self.net.ins[src]:
                if arc not in seen:
                    seen.add(arc)
                    stack.append(arc)
        return seen

    def _best(self, arcs: list[int], goals: list[int], aims: list[list[int]]) -> int:
        def far(arc: int) -> int:
            return min(
                (
                    0 if arc == g else aim[self.net.dst[arc]] + 1
                    for g, aim in zip(goals, aims, strict=True)
                ),
                default=FAR,
            )

        return min(arcs, key=far)

    def choose(self, node: int, goals: list[int], aims: list[list[int]]) -> list[int]:
        """The ways out that lead nearest to the goals."""
        outs, kind = self.net.outs[node], self.net.kind[node]
        if kind == "A" or len(outs) < 2:
            return outs
        if kind == "X":
            return [self._best(outs, goals, aims)]
        chosen = {
            self._best(outs, [g], [aim])
            for g, aim in zip(goals, aims, strict=True)
            if aim[node] < FAR
        }
        return sorted(chosen) or [self._best(outs, goals, aims)]

    def toward(
        self,
        goals: list[int],
        *,
        enough: Callable[[dict[int, int]], bool] | None = None,
        frozen: int = -1,
    ) -> None:
        """Play tokens that can reach the goals, nearest first, until every goal holds one (or
        `enough(marks)`). Never fires `frozen`. Raises `Lost`."""
        net = self.net
        aims = [distances(net, net.src[g], avoid=frozen) for g in goals]
        if not self.log:
            self.start(goals, aims)
        missed = set(goals)
        while True:
            missed -= self.marks.keys()
            if enough(self.marks) if enough else not missed:
                return
            open_goals = [g for g in goals if g in missed] or goals
            open_aims = [a for g, a in zip(goals, aims, strict=True) if g in open_goals]
            ready: list[tuple[int, int]] = []
            for node in sorted({net.dst[a] for a in self.marks}):
                reach = min((aim[node] for aim in open_aims), default=FAR)
                if node not in (SINK, frozen) and reach < FAR and self.enabled(node):
                    ready.append((reach, node))
            if not ready:
                raise Lost
            _, node = min(ready)
            self.fire(node, self.enabled(node), self.choose(node, open_goals, open_aims))

    def drain(self) -> None:
        """Play everything that can still move, by the nearest way to an end. Raises `Lost`."""
        net = self.net
        aim = distances(net, SINK)
        while True:
            for node in sorted({net.dst[a] for a in self.marks}):
                taken = self.enabled(node)
                if taken:
                    self.fire(node, taken, self.choose(node, [-1], [aim]))
                    break
            else:
                return

    def stuck(self) -> list[int]:
        """Joins that wait for ever: tokens are left, nothing moves, nothing ended it all."""
        if any(a in self.net.terminating for a in self.marks):
            return []
        held = sorted({self.net.dst[a] for a in self.marks} - {SINK})
        return [] if any(self.enabled(n) for n in held) else held


def distances(net: Net, goal: int, avoid: int = -1) -> list[int]:
    """Fewest arcs from each node to `goal`, not through `avoid`; `FAR` where there is no way."""
    far = [FAR] * len(net.kind)
    far[goal] = 0
    queue = deque([goal])
    while queue:
        node = queue.popleft()
        for arc in net.ins[node]:
            src = net.src[arc]
            if far[src] == FAR and src != avoid:
                far[src] = far[node] + 1
                queue.append(src)
    return far


def of_clash(reduction: Reduction, clash: Clash) -> Play | None:
    """A run that shows a clash, or `None` when another fault stands in its way."""
    play = Play(reduction.net)
    try:
        if clash.fault == "livelock":
            play.toward([clash.around[0]])
            play.toward([clash.around[1]])
            return play
        if clash.fault == "deadlock":
            return _deadlock(reduction, clash, play)
        assert clash.pair is not None
        return _unsync(reduction, clash.pair, clash.join, play)
    except Lost:
        return None


def _deadlock(reduction: Reduction, clash: Clash, play: Play) -> Play | None:
    net = reduction.net
    if clash.pair is None:
        branch = (net.ins[clash.join][0],) * 2
    else:
        branch = min(clash.pair.branches)
        play.toward([branch[0]])
    play.toward([branch[1]])
    play.drain()
    group = reduction.root(clash.join)
    return play if any(reduction.root(n) == group for n in play.stuck()) else None


def _unsync(reduction: Reduction, pair: Pair, join: int, play: Play) -> Play | None:
    net = reduction.net
    (one, two) = sorted(pair.branches)[:2]
    play.toward(sorted({one[0], two[0]}))
    (out,) = net.outs[join]
    play.toward([out], enough=lambda marks: marks.get(out, 0) > 1, frozen=net.dst[out])
    return play


def of_moves(reduction: Reduction, moves: list[Move], double: int = -1) -> Play | None:
    """The run of the net that the moves of the reduced graph stand for. Tokens on the edge
    `double` that no later move takes are left at its beginning, so that two are seen there."""
    play = Play(reduction.net)
    edges = reduction.edges
    last_taken = max(
        (i for i, m in enumerate(moves) if double >= 0 and m[1] >> double & 1), default=-1
    )
    try:
        for i, (node, taken, put) in enumerate(moves):
            still = {double} if i >= last_taken else set()
            ways = [(edges[e], e in still) for e in _bits(put)]
            _move(play, node, [edges[e] for e in _bits(taken)], ways)
    except Lost:
        return None
    return play


def _bits(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def _move(play: Play, node: int, taken: list[Edge], put: list[tuple[Edge, bool]]) -> None:
    """Bring the tokens of `taken` through the gateway and along each edge of `put` (unless it is
    to stay at its beginning); the other tokens stay where they are."""
    others = dict(play.marks)
    for edge in taken:
        others[edge.last] -= 1
        if not others[edge.last]:
            del others[edge.last]
    play.marks = dict.fromkeys((e.last for e in taken), 1)
    if node == SOURCE:
        if play.net.kind[SOURCE] == "A":
            play.start([], [])
        else:
            play.fire(SOURCE, (), [put[0][0].first])
    else:
        _through(play, [e.first for e, _ in put])
    for edge, stays in put:
        if stays:
            continue
        rest = dict(play.marks)
        del rest[edge.first]
        play.marks = {edge.first: 1}
        play.toward([edge.last])
        del play.marks[edge.last]
        for arc, count in play.marks.items():
            rest[arc] = rest.get(arc, 0) + count
        rest[edge.last] = rest.get(edge.last, 0) + 1
        play.marks = rest
    for arc, count in others.items():
        play.marks[arc] = play.marks.get(arc, 0) + count


def _through(play: Play, firsts: list[int]) -> None:
    if all(f in play.marks for f in firsts):
        play.fire(play.net.dst[next(iter(play.marks))], tuple(play.marks), firsts)
        return
    play.toward(firsts)


def valid(net: Net, log: list[Firing]) -> dict[int, int] | None:
    """The marks after `log` played strictly by the rules, `None` where a step is not allowed."""
    play = Play(net)
    play.left = len(log) + 1
    for step in log:
        if step.node != SOURCE or step.taken:
            if any(a in net.terminating for a in play.marks):
                return None
            if step.node == SINK or not set(step.taken) <= play.marks.keys():
                return None
            kind = net.kind[step.node]
            allowed = play.enabled(step.node)
            if not allowed or (kind != "X" and set(allowed) != set(step.taken)):
                return None
            if kind == "X" and (len(step.taken) != 1 or len(step.put) != 1):
                return None
        play.fire(step.node, step.taken, step.put)
    return play.marks
