"""Runs of a net that are directed at a goal, played by the rules and checked at each step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush

from orgflow_ir.flow.nets.net import FIRST, SINK, SOURCE, TERM, Net
from orgflow_ir.flow.nets.reduction import Clash, Edge, Reduction
from orgflow_ir.flow.nets.region_tree import Pair
from orgflow_ir.flow.soundness.space import Move, list_bits
from orgflow_ir.model.records import NamedTuple

FAR = 1 << 30


class Firing(NamedTuple):
    """One firing of a node of the net: the arcs it consumes tokens from and produces tokens on."""

    node: int
    taken: tuple[int, ...]
    put: tuple[int, ...]


class Lost(Exception):
    """A directed run did not reach its goal."""


class Play:
    """A position of the net and the run that led to it."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.marks: dict[int, int] = {}
        self.log: list[Firing] = []
        self.left = 6 * len(net.src) + 100

    def fire(self, node: int, taken: Iterable[int], put: Iterable[int]) -> None:
        """Move tokens. Raises `Lost` if the run exceeds the maximum length."""
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
        """The first step: every path from the source, or the one nearest to the goals."""
        outs = self.net.outs[SOURCE]
        if not outs:
            raise Lost
        if self.net.kind[SOURCE] == "A":
            self.fire(SOURCE, (), outs)
        else:
            self.fire(SOURCE, (), [self._nearest_arc(outs, goals, aims)])

    def enabled(self, node: int) -> tuple[int, ...]:
        """The arcs from which `node` would consume tokens now; empty if it cannot fire."""
        net, marks = self.net, self.marks
        held = [a for a in net.ins[node] if a in marks]
        if not held or node < FIRST or node in net.never:
            return ()
        kind = net.kind[node]
        if net.ghosts and all(a in net.ghosts for a in net.outs[node]):
            return ()
        if kind == "X":
            return (held[0],)
        if kind == "A":
            return tuple(held) if len(held) == len(net.ins[node]) else ()
        if len(net.ins[node]) > 1 and not self._may_join(node, held):
            return ()
        return tuple(held)

    def _may_join(self, join: int, held: list[int]) -> bool:
        marked, empty = set(held), set(self.net.ins[join]) - set(held)
        if not empty:
            return True
        to_empty = self._arcs_upstream(join, empty, set())
        to_marked = self._arcs_upstream(join, marked, self.net.by_event)
        return not any(a in to_empty and a not in to_marked for a in self.marks if a not in marked)

    def _arcs_upstream(self, join: int, entries: set[int], closed: set[int]) -> set[int]:
        """Arcs from which a path that avoids `join` and `closed` arcs ends with an entry."""
        seen, stack = set(entries), list(entries)
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

    def _nearest_arc(self, arcs: list[int], goals: list[int], aims: list[list[int]]) -> int:
        def arc_distance(arc: int) -> int:
            return min(
                (
                    0 if arc == g else aim[self.net.dst[arc]] + 1
                    for g, aim in zip(goals, aims, strict=True)
                ),
                default=FAR,
            )

        return arcs[0] if len(arcs) == 1 else min(arcs, key=arc_distance)

    def choose(self, node: int, goals: list[int], aims: list[list[int]]) -> list[int]:
        """The outgoing flows that lead nearest to the goals."""
        outs, kind = self.net.outs[node], self.net.kind[node]
        if self.net.ghosts:
            outs = [a for a in outs if a not in self.net.ghosts]
        if kind == "A" or len(outs) < 2:
            return outs
        if kind == "X":
            return [self._nearest_arc(outs, goals, aims)]
        chosen = {
            self._nearest_arc(outs, [g], [aim])
            for g, aim in zip(goals, aims, strict=True)
            if aim[node] < FAR
        }
        return sorted(chosen) or [self._nearest_arc(outs, goals, aims)]

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
        missed = set(goals) - self.marks.keys()
        if self.log and (enough(self.marks) if enough else not missed):
            return
        aims = [goal_distances(net, net.src[g], avoid=frozen) for g in goals]
        if not self.log:
            self.start(goals, aims)
        near: list[tuple[int, int]] = []
        open_goals: list[int] = []
        open_aims: list[list[int]] = []
        touched: set[int] = set()
        waiting: list[tuple[int, int]] = []
        while True:
            missed.difference_update(self.marks)
            if enough(self.marks) if enough else not missed:
                return
            if len(open_goals) != (len(missed) or len(goals)):  # another goal is reached
                open_goals = [g for g in goals if g in missed] or goals
                open_aims = [a for g, a in zip(goals, aims, strict=True) if g in open_goals]
                near = _rank_nearest(open_aims, {net.dst[a] for a in self.marks}, frozen)
                heapify(near)
            else:  # a join may have got what it lacked
                for candidate in (*waiting, *_rank_nearest(open_aims, touched, frozen)):
                    heappush(near, candidate)
            node, taken, waiting = self._next_node(near)
            put = self.choose(node, open_goals, open_aims)
            self.fire(node, taken, put)
            touched = {node, *[net.dst[a] for a in put]}

    def _next_node(
        self, near: list[tuple[int, int]]
    ) -> tuple[int, tuple[int, ...], list[tuple[int, int]]]:
        """The first node of a heap that can fire, the arcs it takes tokens from, and the nodes
        before it that wait; what holds no token leaves the heap. Raises `Lost` where none can."""
        waiting: list[tuple[int, int]] = []
        while near:
            candidate = heappop(near)
            if candidate in waiting:
                continue
            taken = self.enabled(candidate[1])
            if taken:
                return candidate[1], taken, waiting
            if any(a in self.marks for a in self.net.ins[candidate[1]]):
                waiting.append(candidate)
        raise Lost

    def drain(self) -> None:
        """Play everything that can still move, on the shortest path to an end. Raises `Lost`."""
        net = self.net
        aim = goal_distances(net, SINK)
        if net.ins[TERM]:
            early = goal_distances(net, TERM)
            aim = [a if a < FAR else min(FAR, 1000 + b) for a, b in zip(aim, early, strict=True)]
        while True:
            for node in sorted({net.dst[a] for a in self.marks}):
                taken = self.enabled(node)
                if taken:
                    self.fire(node, taken, self.choose(node, [-1], [aim]))
                    break
            else:
                return

    def stuck(self) -> list[int]:
        """Nodes that wait indefinitely: tokens remain, nothing can move, and no event ended the
        scope."""
        if any(self.net.dst[a] == TERM for a in self.marks):
            return []
        aside = self.net.aside  # what may still happen beside a task that is over does not
        held = sorted(n for n in {self.net.dst[a] for a in self.marks} if n >= FIRST)
        held = [n for n in held if n not in aside]
        return [] if any(self.enabled(n) for n in held) else held


def _rank_nearest(
    aims: list[list[int]], nodes: Iterable[int], frozen: int
) -> list[tuple[int, int]]:
    """Those nodes that the goals can be reached from, with how near they are."""
    ranked = []
    for node in nodes:
        if node >= FIRST and node != frozen:
            far = aims[0][node] if len(aims) == 1 else min([aim[node] for aim in aims], default=FAR)
            if far < FAR:
                ranked.append((far, node))
    return ranked


_MOST_KEPT = 1_000_000
"""Maximum number of distance tables kept per net."""


def goal_distances(net: Net, goal: int, avoid: int = -1) -> list[int]:
    """Fewest arcs from each node to `goal`, avoiding `avoid`; `FAR` if there is no path. Cached per
    net, since many faults share goals; do not modify."""
    known = net.far.get((goal, avoid))
    if known is None:
        if len(net.far) * len(net.kind) > _MOST_KEPT:
            net.far.clear()
        known = net.far[goal, avoid] = _compute_distances(net, goal, avoid)
    return known


def _compute_distances(net: Net, goal: int, avoid: int) -> list[int]:
    far = [FAR] * len(net.kind)
    far[goal] = 0
    queue = deque([goal])
    ins, src, ghosts = net.ins, net.src, net.ghosts
    while queue:
        node = queue.popleft()
        for arc in ins[node]:
            before = src[arc]
            if arc in ghosts:
                continue
            if far[before] == FAR and before != avoid:
                far[before] = far[node] + 1
                queue.append(before)
    return far


def of_clash(reduction: Reduction, clash: Clash) -> list[Firing]:
    """A run that shows a clash; empty if another fault prevents it."""
    play = Play(reduction.net)
    try:
        if clash.fault == "livelock":
            play.toward([clash.around[0]])
            play.toward([clash.around[1]])
            return play.log
        if clash.fault == "deadlock":
            return _deadlock_run(reduction, clash, play)
        assert clash.pair is not None
        return _unsync_run(reduction, clash.pair, clash.join, play)
    except Lost:
        return []


def _deadlock_run(reduction: Reduction, clash: Clash, play: Play) -> list[Firing]:
    net = reduction.net
    if clash.pair is None:
        branch = (net.ins[clash.join][0],) * 2
    else:
        branch = min(clash.pair.branches)
        play.toward([branch[0]])
    play.toward([branch[1]])
    play.drain()
    group = reduction.root(clash.join)
    return play.log if any(reduction.root(n) == group for n in play.stuck()) else []


def _unsync_run(reduction: Reduction, pair: Pair, join: int, play: Play) -> list[Firing]:
    net = reduction.net
    (first, second) = sorted(pair.branches)[:2]
    play.toward(sorted({first[0], second[0]}))
    if len(net.outs[join]) != 1:
        return []
    (out,) = net.outs[join]
    play.toward([out], enough=lambda marks: marks.get(out, 0) > 1, frozen=net.dst[out])
    return play.log


def of_moves(reduction: Reduction, moves: list[Move], double: int = -1) -> list[Firing]:
    """The run of the net that corresponds to the moves of the reduced graph (empty if it does not
    reach the goal). Tokens on the edge `double` that no later move consumes stay at its beginning,
    so that two are seen there."""
    for late in (False, True):
        log = _Carrier(reduction, late).run(moves, double)
        if log and final_marking(reduction.net, log) is not None:
            return log
    return []


class _Carrier:
    """Plays moves of the reduced graph on the net. What one token is there are several here where
    parallel branches were merged: `held` has them by edge. Tokens go along an edge at once, or
    (`late`) when the next node takes them."""

    def __init__(self, reduction: Reduction, late: bool) -> None:
        self.reduction, self.late = reduction, late
        self.play = Play(reduction.net)
        self.play.left = 100_000
        self.held: dict[int, list[dict[int, int]]] = {}

    def run(self, moves: list[Move], double: int) -> list[Firing]:
        """The run, nothing where it gets lost."""
        last_taken = max(
            (i for i, m in enumerate(moves) if double >= 0 and m.taken >> double & 1), default=-1
        )
        try:
            for i, move in enumerate(moves):
                self.move(move, double if i >= last_taken else -1)
            if self.late:
                for e, tokens in sorted(self.held.items()):
                    for token in tokens if e != double else ():
                        self.along(e, token)
        except (Lost, KeyError, IndexError):
            return []
        return self.play.log

    def along(self, e: int, token: dict[int, int]) -> dict[int, int]:
        """Bring a token to the end of an edge."""
        self.play.marks = token
        lasts = last_arcs(self.reduction.edges[e])
        if not all(a in token for a in lasts):
            self.play.toward(lasts)
        return self.play.marks

    def move(self, move: Move, stays: int) -> None:
        """Bring the tokens of some edges through the gateway and on (but not along `stays`)."""
        play, edges = self.play, self.reduction.edges
        tokens: dict[int, int] = {}
        for e in list_bits(move.taken):
            for arc, count in self.along(e, self.held[e].pop(0)).items():
                tokens[arc] = tokens.get(arc, 0) + count
        put = list(list_bits(move.put))
        if move.node >= len(self.reduction.net.kind):  # only keeps edges apart
            for e in put:
                self.held.setdefault(e, []).append(tokens)
            return
        firsts = {e: first_arcs(edges[e]) for e in put}
        goals = [a for e in put for a in firsts[e]]
        play.marks = tokens
        if move.node == SOURCE:
            all_ways = play.net.kind[SOURCE] == "A"
            play.fire(SOURCE, (), play.net.outs[SOURCE] if all_ways else goals[:1])
        if not all(a in play.marks for a in goals):
            play.toward(goals)
        for e in put:
            mine = dict.fromkeys(firsts[e], 1)
            if e != stays and not self.late:
                mine = self.along(e, mine)
            self.held.setdefault(e, []).append(mine)


def first_arcs(edge: Edge) -> list[int]:
    """The arcs that hold tokens when a token is at the beginning of the edge: several if parallel
    branches begin there."""
    return _list_arcs(edge.content, edge.first, 0)


def last_arcs(edge: Edge) -> list[int]:
    """The arcs that hold tokens when a token is at the end of the edge."""
    return _list_arcs(edge.content, edge.last, 1)


def _list_arcs(content: object, arc: int, end: int) -> list[int]:
    while isinstance(content, tuple):
        match content[0]:
            case "seq":
                content = content[3 if end else 1]
            case "head":
                content = content[2]
            case "tail":
                content = content[1]
            case _:
                return [arc]
    if isinstance(content, Pair) and content.kind == "and":
        ends = zip(content.contents, content.branches, strict=True)
        return [a for inner, branch_ends in ends for a in _list_arcs(inner, branch_ends[end], end)]
    return [arc]


_RUNS_KEPT = 8
"""Maximum number of earlier runs of a net that are cached with their marking."""


def final_marking(net: Net, log: list[Firing]) -> dict[int, int] | None:
    """The marking after `log`, simulated strictly by the rules; `None` if a step is not allowed.
    Cached with the net, because one run often shows several faults; do not modify the run or the
    marking."""
    for known, marks in net.judged:
        if known is log:
            return marks
    marks = _compute_marking(net, log)
    net.judged = [(log, marks), *net.judged[:_RUNS_KEPT]]
    return marks


def _compute_marking(net: Net, log: list[Firing]) -> dict[int, int] | None:
    play = Play(net)
    play.left = len(log) + 1
    for step in log:
        if step.node != SOURCE or step.taken:
            allowed = play.enabled(step.node)
            if net.kind[step.node] == "X":  # it takes any one of the tokens before it
                fits = len(step.taken) == len(step.put) == 1 and step.taken[0] in play.marks
            else:
                fits = allowed == step.taken or set(allowed) == set(step.taken)
            if not (allowed and fits and net.ghosts.isdisjoint(step.put)):
                return None
        play.fire(step.node, step.taken, step.put)
    return play.marks
