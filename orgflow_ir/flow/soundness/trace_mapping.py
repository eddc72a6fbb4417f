"""Maps a run of a net to steps of the token game by replaying it.

The run of a fault is thereby replayed, and a run that the game does not allow is discarded.
Sub-processes on the path run to completion; those around the fault are entered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from heapq import heappop, heappush

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.nets.net import FIRST, SINK, SOURCE, TERM, Net
from orgflow_ir.flow.soundness.witness_search import Firing, Lost, Play
from orgflow_ir.flow.token_game.distance import Distances
from orgflow_ir.flow.token_game.semantics import Game, State
from orgflow_ir.model import Gateway, Process, Scope, SubProcess
from orgflow_ir.model.records import dataclass

_BODY_STATES = 400
_DEEP = 3_000
_UNREACHED = 1_000
_TRIES = 2
"""Maximum number of failed searches for a run through the same sub-process."""


class Untold(Exception):
    """The game does not allow the run, or a sub-process on the path could not be completed."""


@dataclass
class _Teller:
    game: Game
    state: State
    steps: list[Step] = field(default_factory=list)
    distance: list[int] = field(default_factory=list)
    failed: dict[str, int] = field(default_factory=dict)

    def fire(self, step: Step) -> None:
        self.state = self.game.fire(self.state, step)
        self.steps.append(step)

    def enter(self, element: str) -> None:
        """Open an element that waits, if it does."""
        for step in self.game.steps_of(self.state, element):
            if step.action == "open":
                self.fire(step)
                return

    def leave(self, element: str, flows: Iterable[str]) -> None:
        """The element is done and gives its tokens to `flows`."""
        wanted = set(flows)
        if self._leave_element(element, wanted):
            return
        self.enter(element)
        node = self.game.net.nodes[self.game.net.by_id[element][0]]
        if node.race or self._leave_element(element, wanted):
            return
        host = element
        if node.attached >= 0:  # thrown by what is inside the activity
            host = self.game.net.nodes[node.attached].id
        self.run_body(host, lambda state: self._can_leave(state, element, wanted) is not None)
        if not self._leave_element(element, wanted):
            raise Untold(element)

    def _leave_element(self, element: str, wanted: set[str]) -> bool:
        step = self._can_leave(self.state, element, wanted)
        if step is not None:
            self.fire(step)
        return step is not None

    def _can_leave(self, state: State, element: str, wanted: set[str]) -> Step | None:
        for step in self.game.steps_of(state, element):
            if step.action == "open":
                continue
            taken = set(step.taken)
            into = taken - wanted
            if taken >= wanted and (not into or self._is_raced(element, into)):
                return step
        return None

    def _is_raced(self, element: str, flows: set[str]) -> bool:
        """Whether `flows` is the one flow from an event-based gateway to the element."""
        index, net = self.game.net.flow_index, self.game.net
        return len(flows) == 1 and all(net.flows[index[f]].target == element for f in flows)

    def run_body(self, element: str, enough: Callable[[State], bool]) -> None:
        """Play the inside of a sub-process or call until `enough`."""
        inside = self._elements_inside(element)
        if not inside or self.failed.get(element, 0) >= _TRIES:
            raise Untold(element)
        for near, limit in ((True, _BODY_STATES), (False, _DEEP)):
            search_result = self._search_state(inside, enough, near, limit)
            if search_result is not None:
                path, self.state = search_result  # as the search played it
                self.steps.extend(path)
                return
        self.failed[element] = self.failed.get(element, 0) + 1
        raise Untold(element)

    def _search_state(
        self, inside: frozenset[str], enough: Callable[[State], bool], near: bool, limit: int
    ) -> tuple[list[Step], State] | None:
        """The steps to a state that is `enough`, and that state; states that are nearest to the
        ends of their scopes are tried first, else depth first."""
        before: dict[State, tuple[State, Step] | None] = {self.state: None}
        queue = [(0, 0, self.state)]
        while queue:
            _, _, state = heappop(queue)
            if enough(state):
                path: list[Step] = []
                here = before[state]
                while here is not None:
                    path.append(here[1])
                    here = before[here[0]]
                return path[::-1], state
            for step, after in self.game.steps_from(state, inside):
                if len(before) >= limit:
                    break
                new = after()
                if new not in before:
                    far = self._sum_distances(new) if near else 0
                    heappush(queue, (far, -len(before), new))
                    before[new] = (state, step)
        return None

    def _sum_distances(self, state: State) -> int:
        """How many steps all tokens are from the ends of their scopes."""
        if not self.distance:
            self.distance = [min(far, _UNREACHED) for far in Distances(self.game.net).to_end()]
        far, consumer = self.distance, self.game.net.consumer
        return sum(far[consumer[p]] * n for frame in state.frames for p, n in frame.tokens)

    def _elements_inside(self, element: str) -> frozenset[str]:
        elements: set[str] = set()
        stack = [element]
        while stack:
            for i in self.game.net.by_id.get(stack.pop(), ()):
                node = self.game.net.nodes[i]
                if node.body < 0:
                    continue
                for j in self.game.net.scopes[node.body].nodes:
                    inner = self.game.net.nodes[j].id
                    if inner not in elements:
                        elements.add(inner)
                        stack.append(inner)
        return frozenset(elements)


Nets = Mapping[int, Net]
"""The net of each scope, by `id(scope)`."""


def counterexample_steps(
    game: Game,
    chain: list[Scope],
    nets: Nets,
    log: list[Firing],
    finish: bool,
    failed: dict[str, int],
) -> tuple[State, tuple[Step, ...]] | None:
    """The steps of a run of the last scope of `chain`, from the start of the process that is its
    first scope, and the state that they lead to. With `finish`, end events that hold a token fire
    at the end. `None` if the game does not allow it. `failed` counts the sub-processes for which no
    complete run was found, over all calls."""
    scope = chain[-1]
    net = nets[id(scope)]
    gateways = {n.id for n in scope.nodes if isinstance(n, Gateway)}
    for late in (set(), gateways, {n.id for n in scope.nodes}):
        try:
            teller = _begin_run(game, chain, nets, log, failed)
            _play_log(teller, net, _join_firings(net, log, late), finish)
        except (Untold, Lost, KeyError):
            continue
        return teller.state, tuple(teller.steps)
    return None


def _begin_run(
    game: Game, chain: list[Scope], nets: Nets, log: list[Firing], failed: dict[str, int]
) -> _Teller:
    process, *inner = chain
    assert isinstance(process, Process)
    logs = []
    for scope, nested in zip(chain, inner, strict=False):
        assert isinstance(nested, SubProcess)
        outer = nets[id(scope)]
        play = Play(outer)
        if nested.flavour == "event":
            play.start([], [])
        else:
            into = [a for a, dst in enumerate(outer.dst) if outer.element[dst] == nested.id]
            if not into:
                raise Untold(nested.id)
            play.toward([into[0]])
        logs.append((outer, play.log, nested))
    first_net, first_log = (logs[0][0], logs[0][1]) if logs else (nets[id(process)], log)
    start = _choose_start(game, process, first_net, first_log)
    teller = _Teller(game, game.initial(process.id, start), failed=failed)
    for outer, moves, nested in logs:
        _play_log(teller, outer, _join_firings(outer, moves, set()), False)
        if nested.flavour != "event":
            teller.enter(nested.id)
    return teller


def _choose_start(game: Game, process: Process, net: Net, log: list[Firing]) -> str | None:
    chosen = [net.element[net.dst[a]] for a in log[0].put] if log else []
    starts = game.starts(process.id)
    return next((c for c in chosen if c in starts), starts[0])


def _play_log(teller: _Teller, net: Net, log: list[Firing], finish: bool) -> None:
    kept: dict[str, list[str]] = {}
    game = teller.game
    for firing in log:
        node = firing.node
        if node == SOURCE or node in net.aside:
            continue
        element = net.element[node]
        flows = [f.id for a in firing.put if (f := net.flow[a]) is not None]
        implicit = [a for a in firing.put if net.flow[a] is None]
        within = [a for a in implicit if net.element[net.dst[a]] == element]
        elsewhere = [
            a for a in implicit if net.dst[a] >= FIRST and net.element[net.dst[a]] != element
        ]
        holder = game.net.nodes[game.net.by_id[element][0]]
        if within:
            kept.setdefault(element, []).extend(flows)
            teller.enter(element)
        elif holder.body >= 0 and any(net.dst[a] == TERM for a in implicit):
            teller.enter(element)
            teller.run_body(element, lambda s, e=element: e not in game.open_elements(s))  # type: ignore[misc]
        elif not elsewhere or flows or holder.links:
            teller.leave(element, kept.pop(element, []) + flows)
        else:
            teller.enter(element)  # left by a boundary event, whose own step comes next
    if finish:
        _finish_run(teller, net)


def _join_firings(net: Net, log: list[Firing], late: set[str]) -> list[Firing]:
    """The same run with what happens inside an element at once: the game has no state in between.
    Elements in `late` begin when they are done, others are done when they have begun; a
    non-interrupting boundary event comes before its activity is done."""
    open_firings: dict[int, list[int]] = {}
    keys: list[tuple[float, ...]] = []
    for i, firing in enumerate(log):
        key: tuple[float, ...] = (i,)
        for arc in firing.taken:
            if net.flow[arc] is not None or net.src[arc] == SOURCE or not open_firings.get(arc):
                continue
            begun = open_firings[arc].pop(0)
            if net.element[net.src[arc]] in late:
                keys[begun] = (i - 0.5,)
            else:
                key = (*keys[begun], 0 if _is_aside(net, firing.node) else 1)
        for arc in firing.put:
            open_firings.setdefault(arc, []).append(i)
        keys.append(key)
    return [log[i] for i in sorted(range(len(log)), key=lambda i: (keys[i], i))]


def _is_aside(net: Net, node: int) -> bool:
    return node in net.aside or any(net.src[a] in net.aside for a in net.ins[node])


def _finish_run(teller: _Teller, net: Net) -> None:
    ends = dict.fromkeys(
        f.target for a, f in enumerate(net.flow) if f is not None and net.dst[a] == SINK
    )
    for end in ends:
        while teller.game.steps_of(teller.state, end):
            teller.leave(end, ())
