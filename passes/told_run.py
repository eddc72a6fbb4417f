"""A run of the net told as steps of the token game, by playing it there.

The run that a diagnostic carries has thereby been replayed: what the game does not allow comes out
as no run at all. Sub-processes on the way are run through, those around the fault entered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from orgflow.passes.counterexample import Firing, Lost, Play
from orgflow.passes.flow_findings import enclosing

from orgflow_ir.control_net import SINK, SOURCE, Net, lower
from orgflow_ir.diagnostics import Step
from orgflow_ir.graph import ControlFlow
from orgflow_ir.model import CallActivity, Event, Gateway, Model, Process, Scope, SubProcess
from orgflow_ir.semantics import Game, Policy, State

_BODY_STATES = 400


class Untold(Exception):
    """The game does not allow the run, or a sub-process on the way could not be run through."""


def game_of(model: Model) -> Game:
    """The token game with the policies of the analysis (for `PassContext.analysis`)."""
    return Game(model, Policy(once=True))


@dataclass
class _Teller:
    game: Game
    model: Model
    state: State
    steps: list[Step] = field(default_factory=list)

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
        if self._leave(element, wanted):
            return
        self.enter(element)
        if self._races(element) or self._leave(element, wanted):
            return
        self._run_body(element)
        if not self._leave(element, wanted):
            raise Untold(element)

    def _races(self, element: str) -> bool:
        """Whether it is an event-based gateway: its way is chosen by the event's own step."""
        node = self.game.net.nodes[self.game.net.by_id[element][0]]
        return node.race

    def _leave(self, element: str, wanted: set[str]) -> bool:
        for step in self.game.steps_of(self.state, element):
            if step.action == "open":
                continue
            taken = set(step.taken)
            into = taken - wanted
            if taken >= wanted and (not into or self._raced(element, into)):
                self.fire(step)
                return True
        return False

    def _raced(self, element: str, flows: set[str]) -> bool:
        """Whether `flows` is the one flow from an event-based gateway to the element."""
        return len(flows) == 1 and all(
            f.target == element for s in self.model.scopes() for f in s.flows if f.id in flows
        )

    def _run_body(self, element: str) -> None:
        """Play the inside of a sub-process or call until it can be left."""
        inside = _inside(self.model, element)
        if not inside:
            raise Untold(element)
        seen = {self.state}
        queue: deque[tuple[State, tuple[Step, ...]]] = deque([(self.state, ())])
        while queue:
            state, path = queue.popleft()
            for step in self.game.enabled(state):
                if step.element == element and step.action == "done":
                    for one in path:
                        self.fire(one)
                    return
                if step.element in inside and len(seen) < _BODY_STATES:
                    new = self.game.fire(state, step)
                    if new not in seen:
                        seen.add(new)
                        queue.append((new, (*path, step)))
        raise Untold(element)


def _inside(model: Model, element: str) -> set[str]:
    node = next((n for s in model.scopes() for n in s.nodes if n.id == element), None)
    scopes: list[Scope] = []
    if isinstance(node, SubProcess):
        scopes = list(node.scopes())
    elif isinstance(node, CallActivity):
        scopes = [s for p in model.processes if p.id == node.called for s in p.scopes()]
    return {n.id for s in scopes for n in s.nodes}


def tell(game: Game, scope: Scope, net: Net, log: list[Firing], finish: bool) -> tuple[Step, ...]:
    """The steps of a run of `scope`, from the start of its process; `finish`: end events that hold
    a token fire in the end. Empty where the game does not allow it."""
    around = enclosing(game.model, scope)
    gateways = {n.id for n in scope.nodes if isinstance(n, Gateway)}
    for late in (set(), gateways, {n.id for n in scope.nodes}):
        try:
            teller = _begin(game, around, net, log)
            _play(teller, net, _together(net, log, late), finish)
        except (Untold, Lost, KeyError):
            continue
        return tuple(teller.steps)
    return ()


def _begin(game: Game, around: list[Scope], net: Net, log: list[Firing]) -> _Teller:
    process, *inner = around
    assert isinstance(process, Process)
    logs = []
    for scope, nested in zip(around, inner, strict=False):
        assert isinstance(nested, SubProcess)
        outer = lower(ControlFlow(scope))
        play = Play(outer)
        if nested.flavour == "event":
            play.start([], [])
        else:
            into = [a for a, dst in enumerate(outer.dst) if outer.element[dst] == nested.id]
            if not into:
                raise Untold(nested.id)
            play.toward([into[0]])
        logs.append((outer, play.log, nested))
    first_net, first_log = (logs[0][0], logs[0][1]) if logs else (net, log)
    teller = _Teller(
        game, game.model, game.initial(process.id, _start(game, process, first_net, first_log))
    )
    for outer, moves, nested in logs:
        _play(teller, outer, _together(outer, moves, set()), False)
        if nested.flavour != "event":
            teller.enter(nested.id)
    return teller


def _start(game: Game, process: Process, net: Net, log: list[Firing]) -> str | None:
    chosen = [net.element[net.dst[a]] for a in log[0].put] if log else []
    starts = game.starts(process.id)
    return next((c for c in chosen if c in starts), starts[0])


def _play(teller: _Teller, net: Net, log: list[Firing], finish: bool) -> None:
    kept: dict[str, list[str]] = {}
    for firing in log:
        node = firing.node
        if node == SOURCE or node in net.aside:
            continue
        element = net.element[node]
        flows = [f.id for a in firing.put if (f := net.flow[a]) is not None]
        within = [
            a for a in firing.put if net.flow[a] is None and net.element[net.dst[a]] == element
        ]
        elsewhere = [
            a
            for a in firing.put
            if net.flow[a] is None and net.dst[a] != SINK and net.element[net.dst[a]] != element
        ]
        if within:
            kept.setdefault(element, []).extend(flows)
            teller.enter(element)
        elif not elsewhere or flows or _throws_link(teller.model, element):
            teller.leave(element, kept.pop(element, []) + flows)
        else:
            teller.enter(element)  # left by a boundary event, whose own step comes next
    if finish:
        _finish(teller, net)


def _together(net: Net, log: list[Firing], late: set[str]) -> list[Firing]:
    """The same run with what happens inside an element at once: the game has no state in between.
    Elements in `late` begin when they are done, others are done when they have begun; a
    non-interrupting boundary event comes before its activity is done."""
    made: dict[int, list[int]] = {}
    keys: list[tuple[float, ...]] = []
    for i, firing in enumerate(log):
        key: tuple[float, ...] = (i,)
        for arc in firing.taken:
            if net.flow[arc] is not None or net.src[arc] == SOURCE or not made.get(arc):
                continue
            begun = made[arc].pop(0)
            if net.element[net.src[arc]] in late:
                keys[begun] = (i - 0.5,)
            else:
                key = (*keys[begun], 0 if _aside(net, firing.node) else 1)
        for arc in firing.put:
            made.setdefault(arc, []).append(i)
        keys.append(key)
    return [log[i] for i in sorted(range(len(log)), key=lambda i: (keys[i], i))]


def _aside(net: Net, node: int) -> bool:
    return node in net.aside or any(net.src[a] in net.aside for a in net.ins[node])


def _throws_link(model: Model, element: str) -> bool:
    return any(
        n.id == element and isinstance(n, Event) and n.trigger == "link"
        for s in model.scopes()
        for n in s.nodes
    )


def _finish(teller: _Teller, net: Net) -> None:
    ends = dict.fromkeys(
        f.target for a, f in enumerate(net.flow) if f is not None and net.dst[a] == SINK
    )
    for end in ends:
        while teller.game.steps_of(teller.state, end):
            teller.leave(end, ())
