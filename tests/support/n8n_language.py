"""Whether two models have the same runs, seen through the elements that both have.

A run is seen as the sequence of *visible* elements that are done in it: tasks and events of one
model that are also nodes of the other, by id, and splits that both have with the same labels, each
with the labels it took. Openings, other gateways and whatever only one side has are hidden. Left
out are runs of the read-back model into a Stop node, which the compiler adds where no branch fits
and the model has no such run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.net import Policy
from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.model import Event, Gateway, Model, Process

Trace = tuple[str, ...]


class Enough(Exception):
    """More hidden steps than were granted."""


@dataclass(frozen=True)
class Visible:
    """What both processes have: tasks and events, and choices with the same labels."""

    elements: frozenset[str]
    choices: frozenset[str]


def in_both(one: Process, other: Process) -> Visible:
    """Ids of tasks and events that both have, and of splits whose flows have the same names."""
    mine = {n.id for n in one.nodes if not isinstance(n, Gateway)}
    its = {n.id for n in other.nodes if not isinstance(n, Gateway)}
    labels, others = _labels(one), _labels(other)
    return Visible(
        frozenset(mine & its),
        frozenset(g for g, names in labels.items() if others.get(g) == names),
    )


def _labels(process: Process) -> dict[str, list[str]]:
    """Names of the flows out of each choice all of whose flows have one of their own."""
    found: dict[str, list[str]] = {}
    for node in process.nodes:
        if isinstance(node, Gateway) and node.gateway_kind in ("exclusive", "inclusive"):
            flows = [f for f in process.flows if f.source == node.id and "__stop" not in f.target]
            names = sorted(f.name for f in flows)
            if len(names) > 1 and all(names) and len(set(names)) == len(names):
                found[node.id] = names
    return found


class Seen:
    """One process as a machine over visible elements, made deterministic as it is walked."""

    def __init__(self, model: Model, process: Process, visible: Visible, most: int) -> None:
        self.game = Game(model, Policy(once=True))
        self.process, self.visible = process, visible
        self.granted = most
        self.stops = {
            n.id for n in process.nodes if isinstance(n, Event) and "__stop" in n.id
        }  # fmt: skip
        self.names = {f.id: f.name for f in process.flows}
        self.into_stop = {f.id for f in process.flows if f.target in self.stops}

    def start(self) -> frozenset[State]:
        """All states before anything visible."""
        starts = self.game.starts(self.process.id)
        return self.closure(self.game.initial(self.process.id, s) for s in starts)

    def _steps(self, state: State) -> Iterable[Step]:
        for step in self.game.enabled(state):
            if not self.into_stop.intersection(step.taken):
                yield step

    def _shows(self, step: Step) -> str | None:
        """What is seen of a step."""
        if step.action == "open":
            return None
        if step.element in self.visible.choices:
            return f"{step.element}: {', '.join(sorted(self.names[f] for f in step.taken))}"
        return step.element if step.element in self.visible.elements else None

    def closure(self, states: Iterable[State]) -> frozenset[State]:
        """The states and those that hidden steps lead to."""
        found = set(states)
        work = list(found)
        while work:
            state = work.pop()
            for step in self._steps(state):
                if self._shows(step) is None:
                    self.granted -= 1
                    if self.granted < 0:
                        raise Enough
                    after = self.game.fire(state, step)
                    if after not in found:
                        found.add(after)
                        work.append(after)
        return frozenset(found)

    def after(self, states: frozenset[State]) -> dict[str, frozenset[State]]:
        """For each visible element that may be next the states then."""
        found: dict[str, set[State]] = {}
        for state in states:
            for step in self._steps(state):
                shown = self._shows(step)
                if shown is not None:
                    found.setdefault(shown, set()).add(self.game.fire(state, step))
        return {element: self.closure(then) for element, then in sorted(found.items())}

    def may_end(self, states: frozenset[State]) -> bool:
        """Whether everything may be done."""
        return any(self.game.finished(s) and self.game.outcome(s) != "error" for s in states)

    def accepts(self, trace: Trace) -> bool:
        """Whether the sequence is that of a complete run."""
        states = self.start()
        for element in trace:
            states = self.after(states).get(element, frozenset())
            if not states:
                return False
        return self.may_end(states)

    def traces(self, model: Model, most: int = 16) -> list[Trace]:
        """Enumerated complete runs (`token_game.runs`), as far as they are seen."""
        runs = enumerate_runs(model, self.process.id, max_runs=most, game=self.game).runs
        return [
            tuple(shown for s in run.steps if (shown := self._shows(s)) is not None)
            for run in runs
            if run.outcome != "error" and not run.flows & self.into_stop
        ]


def difference(one: Seen, other: Seen) -> tuple[str, Trace]:
    """`same`, `bounded` (the same as far as the granted hidden steps go), or `different` with
    the shortest sequence after which one goes on or ends and the other does not."""
    try:
        return _difference(one, other)
    except Enough:
        return "bounded", ()


def _difference(one: Seen, other: Seen) -> tuple[str, Trace]:
    first = (one.start(), other.start())
    seen = {first}
    queue: deque[tuple[tuple[frozenset[State], frozenset[State]], Trace]] = deque([(first, ())])
    while queue:
        (a, b), trace = queue.popleft()
        if one.may_end(a) != other.may_end(b):
            return "different", trace
        next_a, next_b = one.after(a), other.after(b)
        for element in sorted(next_a.keys() | next_b.keys()):
            if element not in next_a or element not in next_b:
                return "different", (*trace, element)
            pair = (next_a[element], next_b[element])
            if pair not in seen:
                seen.add(pair)
                queue.append((pair, (*trace, element)))
    return "same", ()
