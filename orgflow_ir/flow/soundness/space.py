"""Bounded exploration of the states of a small graph of X / A / O nodes.

A state is the set of edges that hold a token, as bits, and the number of additional tokens on each.
Graphs without cycles and inclusive joins are explored in one order only (lowest node first): tokens
never compete, so every order of the same choices has the same result, and in this order, all tokens
that ever reach an edge are on it at the same time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import field

from orgflow_ir.flow.control_flow.graph import strong_components
from orgflow_ir.flow.nets.net import SINK, SOURCE, TERM, VOID, Kind
from orgflow_ir.model.records import NamedTuple, dataclass

MOST_WAYS = 10
"""An inclusive split with more outgoing flows has too many choices to try."""
PILED = 300
"""States that are still explored once unlimited growth is known."""
Extra = tuple[tuple[int, int], ...]
"""Edges with more than one token, each with the additional number, sorted."""


class State(NamedTuple):
    """Bits of the edges that hold a token, and the additional tokens."""

    mask: int
    extra: Extra = ()


class Move(NamedTuple):
    """A node consumes one token each from some edges (bits) and produces one each on others."""

    node: int
    taken: int
    put: int


EMPTY = State(0)


@dataclass(slots=True, eq=False, repr=False)
class Exploration:
    """The result of an exploration. `reached[state]` is the (previous state, move) that first
    reached a state.

    `double[node]` is the first (state, move, edge) in which a node puts a second token on an edge;
    `stuck` are states in which nothing can move although tokens remain. `endless` are sets of
    states, one per livelock, from which no end can be reached. `growing` is (state, state) such
    that the second is reached from the first and contains all its tokens and more, so tokens
    accumulate without limit. `complete` is false if the budget was exhausted, a split has too many
    choices (`too_wide`: its node) or tokens accumulate (then at most `PILED` further states are
    explored). `used` are the edges that ever held a token, `fired` the nodes that fired.
    """

    reached: dict[State, tuple[State, Move] | None] = field(default_factory=dict)
    double: dict[int, tuple[State, Move, int]] = field(default_factory=dict)
    stuck: list[State] = field(default_factory=list)
    endless: list[list[State]] = field(default_factory=list)
    growing: tuple[State, State] | None = None
    complete: bool = True
    too_wide: int = -1
    used: int = 0
    fired: set[int] = field(default_factory=set)

    def moves_to(self, state: State) -> list[Move]:
        """The run that first reached `state`."""
        moves: list[Move] = []
        step = self.reached[state]
        while step is not None:
            moves.append(step[1])
            step = self.reached[step[0]]
        return moves[::-1]


class Way(NamedTuple):
    """An edge of the graph: its ends, and whether every path along it passes a boundary event;
    whether it is empty; whether a token on it only represents a possible event, so that two are
    equivalent to one; whether it is a path that no token ever takes; and whether a token that
    reaches it has already ended everything (nothing happens between the throw and the end)."""

    src: int
    dst: int
    event: bool = False
    bare: bool = False
    perhaps: bool = False
    ghost: bool = False
    at_once: bool = False


class Space:
    """A graph defined by node kinds and edges; `never` are nodes that cannot fire, `trap` is the
    node that endless loops lead to."""

    def __init__(
        self,
        kinds: Sequence[Kind],
        space_ways: Sequence[Way],
        never: frozenset[int] = frozenset(),
        trap: int = -1,
    ) -> None:
        self.kinds, self.ways, self.never, self.trap = kinds, space_ways, never, trap
        self.ins: dict[int, int] = {}
        self.outs: dict[int, int] = {}
        self.ghost = self.perhaps = bare = instant = 0
        for number, way in enumerate(space_ways):
            bit = 1 << number
            self.outs[way.src] = self.outs.get(way.src, 0) | bit
            self.ins[way.dst] = self.ins.get(way.dst, 0) | bit
            if way.ghost:
                self.ghost |= bit
            if way.perhaps:
                self.perhaps |= bit
            if way.bare:
                bare |= bit
            if way.at_once:
                instant |= bit
        self.end = self.ins.get(SINK, 0)
        self.term = self.ins.get(TERM, 0)
        self.trapped = self.ins.get(trap, 0)
        void = self.ins.get(VOID, 0)
        self.over = self.end | self.term | void
        self.flat = void | self.perhaps | bare & self.term
        """Edges on which one token stands for any number."""
        self.capped = bare & self.end | self.trapped | self.term & ~self.flat
        """Edges on which two tokens stand for any greater number."""
        self.sinks = {SINK, TERM, VOID, trap}
        self.order, self.cyclic = self._rank_nodes()
        waiting = [n for n in self.order if kinds[n] == "O" and self.ins[n].bit_count() > 1]
        self.one_order = not self.cyclic and not waiting
        self.over_now = 0 if self.one_order else instant  # in one order others have yet to move
        closed = frozenset(i for i, w in enumerate(space_ways) if w.event)
        self.path_rule = {
            n: (self.ways_to(n, frozenset()), self.ways_to(n, closed)) for n in waiting
        }
        self.too_wide = next(
            (n for n in self.order if kinds[n] == "O" and self.outs[n].bit_count() > MOST_WAYS), -1
        )

    def _rank_nodes(self) -> tuple[list[int], bool]:
        follow: dict[int, list[int]] = {}
        for way in self.ways:
            if way.dst not in self.sinks:
                follow.setdefault(way.src, []).append(way.dst)
                follow.setdefault(way.dst, [])
        number = strong_components(follow)
        # What only an event that ends the scope leads to has no edge into it, and never fires.
        nodes = sorted((n for n in follow if n in self.ins), key=lambda n: -number[n])
        loops = any(way.src == way.dst for way in self.ways)
        return nodes, loops or len(set(number.values())) < len(number)

    def ways_to(self, join: int, closed: frozenset[int]) -> dict[int, int]:
        """For each edge, the incoming edges of `join` that a token on it may reach, neither through
        the join itself nor along a `closed` edge."""
        into = [e for e, way in enumerate(self.ways) if way.dst == join]
        behind: dict[int, list[int]] = {}
        for number, way in enumerate(self.ways):
            behind.setdefault(way.dst, []).append(number)
        seen = dict.fromkeys(range(len(self.ways)), 0)
        for into_join in into:
            stack = [into_join]
            while stack:
                edge = stack.pop()
                if seen[edge] & 1 << into_join:
                    continue
                seen[edge] |= 1 << into_join
                src = self.ways[edge].src
                if src != join and edge not in closed:
                    stack.extend(behind.get(src, ()))
        return seen

    def _may_join(self, join: int, mask: int) -> bool:
        """The path rule of inclusive joins (BPMN 2.0.2, 13.4.3). What may come through a boundary
        event is waited for; that a token could leave by one is no reason not to wait for it."""
        # At least one input holds a token; with all of them nothing can be waited for.
        marked = self.ins[join] & mask
        if not marked:
            return False
        empty = self.ins[join] & ~mask
        if not empty:
            return True
        # A token elsewhere with a path to an empty input is waited for, unless it also has a path
        # to an input that holds one: it would come there, behind that token.
        paths, excuses = self.path_rule[join]
        rest = mask & ~marked & ~self.over
        while rest:
            bit = rest & -rest
            rest ^= bit
            edge = bit.bit_length() - 1
            if paths[edge] & empty and not excuses[edge] & marked:
                return False
        return True

    # -- moves --------------------------------------------------------------------------------

    def moves(self, mask: int) -> Iterator[Move]:
        """Every move; if one order suffices, only those of the lowest node."""
        for node in self.order:
            if not self.ins[node] & mask:
                continue
            has_moves = False
            for move in self.moves_of(node, mask):
                has_moves = True
                yield move
            if has_moves and self.one_order:
                return

    def moves_of(self, node: int, mask: int) -> Iterator[Move]:
        """The moves of one node."""
        ins = self.ins[node]
        held = ins & mask
        if not held or node in self.never:
            return
        outs = self.outs.get(node, 0) & ~self.ghost
        kind = self.kinds[node]
        if kind == "A":
            if held == ins:
                yield Move(node, ins, outs)
        elif kind == "X":
            taken = held & -held  # which token goes first makes no difference
            while outs:
                way = outs & -outs
                outs ^= way
                yield Move(node, taken, way)
        elif node not in self.path_rule or self._may_join(node, mask):
            chosen = outs
            while chosen:
                yield Move(node, held, chosen)
                chosen = (chosen - 1) & outs

    def starts(self) -> Iterator[Move]:
        """Moves of the source node."""
        outs = self.outs.get(SOURCE, 0)
        if self.kinds[SOURCE] == "A":
            if outs:
                yield Move(SOURCE, 0, outs)
            return
        while outs:
            way = outs & -outs
            outs ^= way
            yield Move(SOURCE, 0, way)

    def after(self, state: State, move: Move) -> tuple[State, int]:
        """The state after a move, and the edges that the move gave a second token."""
        mask, extra = state
        put = move.put
        # Nearly always every edge holds one token at most, and bits are all there is to change.
        if not extra:
            left = mask & ~move.taken
            twice = left & put & ~self.flat
            if not twice:
                return State(left | put), 0
        # Tokens beyond the first are taken before the bit goes.
        more = dict(extra)
        for e in list_bits(move.taken):
            if e in more:
                more[e] -= 1
                if not more[e]:
                    del more[e]
            else:
                mask &= ~(1 << e)
        # Edges where a number says nothing more are capped, else loops would count indefinitely.
        twice = mask & put & ~self.flat
        for e in list_bits(twice):
            if not (self.capped >> e & 1 and e in more):
                more[e] = more.get(e, 0) + 1
        return State(mask | put, tuple(sorted(more.items()))), twice

    # -- exploration --------------------------------------------------------------------------

    def explore(self, limit: int) -> Exploration:
        """Breadth first, at most `limit` states.

        Breadth-first search finds a shortest run to every state, which makes a short
        counterexample.
        """
        exploration = Exploration()
        if self.too_wide >= 0:
            exploration.complete, exploration.too_wide = False, self.too_wide
            return exploration
        # `after` is the graph of states, `good` those at an end: livelocks are looked for in them
        # when all states are known.
        after: dict[State, list[State]] = {}
        good: set[State] = set()
        queue: deque[State] = deque()
        reached = exploration.reached
        reached[EMPTY] = None
        for move in self.starts():
            state, _ = self.after(EMPTY, move)
            if state not in reached:
                reached[state] = (EMPTY, move)
                queue.append(state)
        while queue:
            state = queue.popleft()
            exploration.used |= state.mask
            following = after[state] = []
            # Nothing happens between the throw of an ending event and the end of everything.
            if state.mask & self.over_now:
                good.add(state)
                continue
            moved = False
            for move in self.moves(state.mask):
                moved = True
                exploration.fired.add(move.node)
                new, twice = self.after(state, move)
                if twice:
                    exploration.double.setdefault(move.node, (state, move, twice.bit_length() - 1))
                if new in reached:
                    following.append(new)
                    continue
                # The budget counts states found, not looked at: those are what takes memory.
                if len(reached) >= limit:
                    exploration.complete = False
                    return exploration
                reached[new] = (state, move)
                following.append(new)
                # Work that piles up has no last state (Karp and Miller's covering argument): the
                # search stops here on this branch, and soon everywhere.
                if new.extra and self.cyclic and self._note_growth(exploration, new):
                    exploration.complete = False
                    limit = min(limit, len(reached) + PILED)
                    exploration.used |= new.mask
                    good.add(new)
                    after[new] = []
                    continue
                queue.append(new)
            # Good: everything is over, or every token is at an end. Stuck: tokens are left that
            # cannot move; in the trap that is a livelock with a finding of its own.
            if state.mask & self.term or not state.mask & ~self.over:
                good.add(state)
            elif not moved and not state.mask & self.trapped:
                exploration.stuck.append(state)
        exploration.endless = _find_livelocks(after, good, set(exploration.stuck))
        return exploration

    def _note_growth(self, exploration: Exploration, state: State) -> bool:
        """Whether the run to a new state passed one that it covers, and can be gone on with."""
        moves: list[Move] = []
        here = state
        while (step := exploration.reached[here]) is not None:
            here = step[0]
            moves.append(step[1])
            if (
                here != EMPTY
                and self._covers_state(state, here)
                and self._can_repeat(state, moves[::-1])
            ):
                if exploration.growing is None:
                    exploration.growing = (here, state)
                return True
        return False

    def _covers_state(self, more: State, less: State) -> bool:
        """Whether `more` holds all that `less` does, and more where it is still under way."""
        aside = self.flat | self.capped
        if less.mask & (~aside | self.perhaps) & ~more.mask:
            return False
        most = dict(more.extra)
        if any(most.get(e, 0) < n for e, n in less.extra if not aside >> e & 1):
            return False
        mine = {e: n for e, n in more.extra if not aside >> e & 1}
        theirs = {e: n for e, n in less.extra if not aside >> e & 1}
        return (more.mask & ~aside, mine) != (less.mask & ~aside, theirs)

    def _can_repeat(self, state: State, moves: list[Move]) -> bool:
        """Whether the moves can be made again, twice (more tokens can make some joins wait)."""
        if all(self.kinds[m.node] != "O" or m.node not in self.path_rule for m in moves):
            return True
        for move in moves * 2:
            if not any(
                m.taken == move.taken and m.put == move.put
                for m in self.moves_of(move.node, state.mask)
            ):
                return False
            state, _ = self.after(state, move)
        return True

    def done(self, state: State) -> bool:
        """Whether a state is final: everything was ended at once, or no token remains."""
        return bool(state.mask & self.term or (state.mask and not state.mask & ~self.over))

    def waiting(self, state: State) -> list[int]:
        """Nodes that hold a token in `state` and cannot fire."""
        return [
            n
            for n in self.order
            if self.ins[n] & state.mask and not any(self.moves_of(n, state.mask))
        ]


def list_bits(mask: int) -> Iterator[int]:
    """Indices of the set bits, lowest first."""
    while mask:
        bit = mask & -mask
        mask ^= bit
        yield bit.bit_length() - 1


def _find_livelocks(
    after: dict[State, list[State]], good: set[State], stuck: set[State]
) -> list[list[State]]:
    """Bottom components of states from which no good state and no halt can be reached."""
    # Backwards from every end and every halt: what is not seen can reach neither.
    before: dict[State, list[State]] = {}
    for state, following in after.items():
        for new in following:
            before.setdefault(new, []).append(state)
    seen = good | stuck
    stack = list(seen)
    while stack:
        for state in before.get(stack.pop(), ()):
            if state not in seen:
                seen.add(state)
                stack.append(state)
    lost = [s for s in after if s not in seen]
    if not lost:
        return []
    # Of these, each component that no edge leaves is one livelock; others only lead into one.
    among = set(lost)
    number = strong_components({s: [t for t in after[s] if t in among] for s in lost})
    groups: dict[int, list[State]] = {}
    for state in lost:
        groups.setdefault(number[state], []).append(state)
    return [
        group
        for c, group in sorted(groups.items(), key=lambda item: item[0])
        if all(number.get(t) == c for s in group for t in after[s])
    ]
