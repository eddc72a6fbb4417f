"""The product walk: n8n's engine on one side, the token game on the other (DESIGN, idea 4).

A node of the product is a configuration of the engine, a marking, and what is decided but not used
up. The engine moves; where a node stands for a task or an event the marking has to allow its step,
and where a node decides, the marking's choices are followed one by one, so that none is missing.
What neither side shows (merges, joins, wires, splits into parallel work) happens on its own.
Everything is memoised, so loops are closed instead of unrolled.

A decision is read from the node that sets it (`$('Check stock').last(0)`), not from the item, so a
choice is free once for each time the setter ran; reading it again gives the same answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from orgflow.backends.n8n.machine import Config, Machine, Phase, Place
from orgflow.backends.n8n.machine.flow import Node
from orgflow.backends.n8n.machine.outcome import RUNS, Emits, Opens, Outcome, Resumes
from orgflow.backends.n8n.verify.choices import Reader

from orgflow_ir.diagnostics import Step
from orgflow_ir.semantics import Game, State
from orgflow_ir.verification import Difference, SideBySide

_OPEN: Final = ("?",)
"""A decision that is set and not read yet; no flow has this id."""

_ACTS: Final = ("start", "fire", "done")


@dataclass(frozen=True)
class Roles:
    """What the nodes of one workflow do for one process.

    Attributes:
        stands: task or event of the source by node name.
        readers: deciding nodes by name.
        owners: gateway of the sketch → element of the source whose step decides.
        branches: gateway → flows of its branches in order, and its default, if any.
        coded: gateways that read data the model does not model: free at every visit.
        sets: node name → gateways whose decision it sets each time it runs.
        given: gateways whose decision comes with the trigger.
        helpers: nodes the compiler made that stand for nothing.
        disabled: nodes that are switched off.
        silent: elements of the source that need no node: gateways that do not decide.
    """

    stands: Mapping[str, str]
    readers: Mapping[str, Reader]
    owners: Mapping[str, str]
    branches: Mapping[str, tuple[tuple[str, ...], str | None]]
    coded: frozenset[str]
    sets: Mapping[str, tuple[str, ...]]
    given: frozenset[str]
    helpers: frozenset[str]
    disabled: frozenset[str]
    silent: frozenset[str]


class Point(NamedTuple):
    """A node of the product.

    Attributes:
        config: of the engine.
        state: of the token game.
        decided: for each gateway that may still be read, the branches decided for, or `_OPEN`.
        begun: elements that have run in the workflow and whose branches are not decided yet.
        unfit: a decision was taken with a value that is no branch's: only a stop may follow.
    """

    config: Config
    state: State
    decided: tuple[tuple[str, tuple[str, ...]], ...] = ()
    begun: tuple[str, ...] = ()
    unfit: str = ""


class Move(NamedTuple):
    """A step of the product: where it leads, and what both sides did."""

    to: Point
    lines: tuple[SideBySide, ...]
    steps: tuple[Step, ...]


class Differs(Exception):
    """Here the two part; `lines` and `steps` are the last ones."""

    def __init__(
        self,
        message: str,
        lines: tuple[SideBySide, ...] = (),
        steps: tuple[Step, ...] = (),
        unfit: bool = False,
    ) -> None:
        super().__init__(message)
        self.message, self.lines, self.steps, self.unfit = message, lines, steps, unfit


class TooMuch(Exception):
    """A bound was hit; the text says which."""


@dataclass
class Walk:
    """The walk over one workflow and one process.

    Args:
        machine: the workflow.
        game: the model.
        roles: what the nodes do.
        labels: what elements and flows are called.
        most: pairs that are looked at before it gives up.
    """

    machine: Machine
    game: Game
    roles: Roles
    labels: Mapping[str, str]
    most: int
    states: int = 0
    delayed: dict[str, None] = field(default_factory=dict)
    _quiet: dict[State, tuple[State, tuple[Step, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.flow = self.machine.flows[0]
        self.live = _live(self.machine, self.roles)
        self.waits = {
            element
            for name, element in self.roles.stands.items()
            if self._node(name).behaviour.kind == "wait" and not self._node(name).disabled
        }
        self.visible = set(self.roles.stands.values())
        self.choosers = {self.roles.owners[g] for g in self.roles.branches}

    def _node(self, name: str) -> Node:
        return self.flow.nodes[self.flow.by_name[name]]

    # -- the search -----------------------------------------------------------------------------

    def run(self, start: Point) -> Difference | None:
        """The first difference of the runs from `start`, breadth first; None where there is none.

        Raises `TooMuch`.
        """
        seen: dict[Point, tuple[Point, Move] | None] = {start: None}
        queue = deque([start])
        while queue:
            point = queue.popleft()
            self.states += 1
            if self.states > self.most:
                raise TooMuch(f"{self.most} states")
            try:
                for move in self._moves(point):
                    if move.to not in seen:
                        seen[move.to] = (point, move)
                        queue.append(move.to)
            except Differs as found:
                return self._told(seen, point, found)
        return None

    def _told(
        self, seen: Mapping[Point, tuple[Point, Move] | None], point: Point, found: Differs
    ) -> Difference:
        lines = [found.lines]
        steps = [found.steps]
        at = seen[point]
        while at is not None:
            before, move = at
            lines.append(move.lines)
            steps.append(move.steps)
            at = seen[before]
        return Difference(
            found.message,
            tuple(line for part in reversed(lines) for line in part),
            tuple(step for part in reversed(steps) for step in part),
            found.unfit or bool(point.unfit),
        )

    # -- one step -------------------------------------------------------------------------------

    def _moves(self, point: Point) -> Iterator[Move]:
        place = self.machine.at(point.config)
        node = self.machine.node_at(point.config)
        if place is None or node is None:
            self._ends(point)
            return
        if place.phase is Phase.READY:
            yield from self._ready(point, place, node)
            return
        element = self.roles.stands.get(place.node)
        if element is not None:
            self._standing_still(point.state, element)
        for outcome in self.machine.outcomes(point.config):
            told = "" if isinstance(outcome, Resumes) and outcome.items else " (time is up)"
            told = told if node.behaviour.answered else ""
            line = SideBySide("", f"{place.node}: goes on{told}")
            if element is None:
                yield self._hidden(point, outcome, place)
                continue
            after, steps, model = self._fire(point, element, 1, place.node)
            line = line._replace(model=model)
            yield self._arrive(after, outcome, (line,), steps, place.node)

    def _ready(self, point: Point, place: Place, node: Node) -> Iterator[Move]:
        name = place.node
        items = place.inputs[0] if place.kind != "merge" else 1
        trigger = place.kind == "trigger"
        if not any(place.inputs) and not trigger:
            yield self._hidden(point, RUNS, place)
            return
        reader = self.roles.readers.get(name)
        if reader is not None and not node.disabled:
            yield from self._reads(point, place, reader, items)
            return
        element = self.roles.stands.get(name)
        if element is None or node.disabled:
            for outcome in self._outcomes(point.config, node, place):
                yield self._hidden(point, outcome, place)
            return
        if point.unfit:
            raise Differs(
                f"where no branch of `{point.unfit}` fits, the workflow goes on to `{name}`; the "
                "model has no such run",
                (SideBySide("", name),),
                unfit=True,
            )
        for outcome in self._outcomes(point.config, node, place):
            if isinstance(outcome, Opens):
                after, steps, model = self._open(point, element, name)
                line = SideBySide(model, f"{name}: waits")
            else:
                after, steps, model = self._fire(point, element, items, name)
                line = SideBySide(model, name if items < 2 else f"{name} ({items} items)")
            yield self._arrive(after, outcome, (line,), steps, name)

    def _outcomes(self, config: Config, node: Node, place: Place) -> tuple[Outcome, ...]:
        """What the node can do. Of a node whose behaviour is not known it is assumed that every
        item that comes in leaves by one output."""
        kind = place.kind
        if kind != "choice":
            found = self.machine.outcomes(config)
            return found[:1] if kind == "wait" else found
        behaviour = node.behaviour
        if behaviour.known:
            return self.machine.outcomes(config)
        last = behaviour.outputs if node.on_error == "error" else None
        wired = sorted({w.output for w in node.wires if w.output != last}) or [0]
        items = place.inputs[0]
        return tuple(Emits((*(0,) * output, items)) for output in wired)

    def _hidden(self, point: Point, outcome: Outcome, place: Place) -> Move:
        """The node stands for nothing: the engine moves alone."""
        name = place.node
        lines: tuple[SideBySide, ...] = ()
        if place.kind not in ("merge",) and name not in self.roles.helpers and any(place.inputs):
            told = f"{name} (switched off)" if name in self.roles.disabled else f"{name} (added)"
            if name in self.roles.disabled or name not in self.roles.stands:
                lines = (SideBySide("", told),)
        return self._arrive(point, outcome, lines, (), name)

    def _arrive(
        self,
        point: Point,
        outcome: Outcome,
        lines: tuple[SideBySide, ...],
        steps: tuple[Step, ...],
        name: str,
    ) -> Move:
        config = self.machine.step(point.config, outcome)
        decided = dict(point.decided)
        if not isinstance(outcome, Opens) and name not in self.roles.disabled:
            for gateway in self.roles.sets.get(name, ()):
                decided[gateway] = _OPEN
        alive = self._alive(config)
        kept = tuple(sorted((g, t) for g, t in decided.items() if g in alive))
        state, quiet = self.settled(point.state)
        return Move(Point(config, state, kept, point.begun, point.unfit), lines, (*steps, *quiet))

    def _alive(self, config: Config) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for frame in config.frames:
            if frame.flow == 0:
                for index, _ in frame.stack:
                    found |= self.live[index]
                for index, _ in frame.waiting:
                    found |= self.live[index]
        return found

    # -- the model's side -----------------------------------------------------------------------

    def settled(self, state: State) -> tuple[State, tuple[Step, ...]]:
        """The state after all steps that no node shows: gateways that do not decide. They are
        confluent, so one order stands for all."""
        known = self._quiet.get(state)
        if known is not None:
            return known
        fired: list[Step] = []
        now = state
        for _ in range(10_000):
            step = self._silent(now)
            if step is None:
                break
            fired.append(step)
            now = self.game.fire(now, step)
        else:
            raise TooMuch("gateways that lead to each other without end")
        self._quiet[state] = (now, tuple(fired))
        return now, tuple(fired)

    def _silent(self, state: State) -> Step | None:
        for step in self.game.enabled(state):
            if step.element in self.visible or step.element in self.choosers:
                continue
            if step.action in _ACTS and step.element in self.roles.silent:
                return step
        return None

    def _open(self, point: Point, element: str, name: str) -> tuple[Point, tuple[Step, ...], str]:
        """The element begins to wait in the workflow."""
        steps = self.game.steps_of(point.state, element)
        if not steps:
            raise self._not_allowed(point, name, element)
        opening = next((s for s in steps if s.action == "open"), None)
        if opening is None:
            return point, (), ""
        state = self.game.fire(point.state, opening)
        return point._replace(state=state), (opening,), f"{self._label(element)}: waits"

    def _fire(
        self, point: Point, element: str, items: int, name: str
    ) -> tuple[Point, tuple[Step, ...], str]:
        """The element happens in the workflow, once for each item."""
        fired: list[Step] = []
        state = point.state
        begun = list(point.begun)
        for number in range(items):
            steps = self.game.steps_of(state, element)
            opening = next((s for s in steps if s.action == "open"), None)
            done = [s for s in steps if s.action in _ACTS]
            if opening is not None and not done:
                state = self.game.fire(state, opening)
                fired.append(opening)
                done = [s for s in self.game.steps_of(state, element) if s.action in _ACTS]
            waiting = begun.count(element)
            if len({s.instance for s in done}) <= 0 or (
                element in self.choosers and waiting and not self._again(state, element, waiting)
            ):
                at = point._replace(state=state)
                raise self._not_allowed(at, name, element, number, tuple(fired))
            if element in self.choosers:
                begun.append(element)
                continue
            state = self.game.fire(state, done[0])
            fired.append(done[0])
        after = point._replace(state=state, begun=tuple(sorted(begun)))
        told = self._label(element)
        return after, tuple(fired), told if items < 2 else f"{told} ({items} times)"

    def _again(self, state: State, element: str, waiting: int) -> bool:
        """Whether the element can happen once more than it already has without being fired."""
        for _ in range(waiting):
            done = [s for s in self.game.steps_of(state, element) if s.action in _ACTS]
            if not done:
                return False
            state = self.game.fire(state, done[0])
        return any(s.action in _ACTS for s in self.game.steps_of(state, element))

    def _reads(self, point: Point, place: Place, reader: Reader, items: int) -> Iterator[Move]:
        """A node that decides: one move for each choice of the model."""
        gateway, name = reader.gateway, place.node
        owner = self.roles.owners[gateway]
        flows, default = self.roles.branches[gateway]
        if reader.broken:
            raise Differs(
                f"`{name}` reads `{reader.broken[0]}`, which is not in the workflow: n8n ends the "
                "run with an error there",
                (SideBySide(self._label(owner), f"{name}: error"),),
            )
        decided = dict(point.decided)
        value = decided.get(gateway)
        if reader.main and gateway in self.roles.coded:
            value = _OPEN
        if not reader.main:
            answers = [value] if value not in (None, _OPEN) else [(f,) for f in flows]
            for taken in answers:
                assert taken is not None
                after = point._replace(decided=_with(decided, gateway, taken))
                yield from self._leaves(after, place, reader, taken, items, "", ())
            return
        options = self._options(point, owner, flows, default)
        if not options:
            raise self._not_allowed(point, name, owner)
        if value is None:
            value = (default,) if default is not None else ()
        if value != _OPEN and any(set(taken) != set(value) for taken in options):
            other = next(taken for taken in options if set(taken) != set(value))
            raise Differs(
                f"`{name}` reads what was decided before, since nothing has set it anew: it cannot "
                f"take {self._ways(owner, other)} here, and the model can",
                (SideBySide(f"{self._label(owner)} → {self._ways(owner, other)}", name),),
                (options[other],),
            )
        for taken, step in options.items():
            state, fired = point.state, []
            for _ in range(items):
                again = self._options(point._replace(state=state), owner, flows, default)
                if taken not in again:
                    raise self._not_allowed(
                        point._replace(state=state), name, owner, len(fired), tuple(fired)
                    )
                fired.append(again[taken])
                state = self.game.fire(state, again[taken])
            begun = list(point.begun)
            if owner in begun:
                begun.remove(owner)
            after = Point(
                point.config, state, _with(decided, gateway, taken), tuple(begun), point.unfit
            )
            ways = self._ways(owner, taken)
            told = f"{self._label(owner)} → {ways}"
            yield from self._leaves(after, place, reader, taken, items, told, tuple(fired))
        if default is None and not point.unfit:
            after = point._replace(
                decided=_with(decided, gateway, ()), unfit=self._label(owner) or name
            )
            for outputs in reader.outputs(frozenset()):
                if any(w.output in outputs for w in self._node(name).wires):
                    yield self._leave(after, place, outputs, items, ("", "no branch fits"), ())

    def _options(
        self, point: Point, owner: str, flows: tuple[str, ...], default: str | None
    ) -> dict[tuple[str, ...], Step]:
        """The model's choices at a decision: branches taken → the step that takes them."""
        found: dict[tuple[str, ...], Step] = {}
        if owner in self.visible and owner not in point.begun:
            return found
        for step in self.game.steps_of(point.state, owner):
            if step.action in _ACTS:
                taken = tuple(f for f in flows if f in step.taken)
                if not taken and default is not None:
                    taken = (default,)
                found.setdefault(taken, step)
        return found

    def _leaves(
        self,
        after: Point,
        place: Place,
        reader: Reader,
        taken: tuple[str, ...],
        items: int,
        told: str,
        steps: tuple[Step, ...],
    ) -> Iterator[Move]:
        for outputs in reader.outputs(frozenset(taken)):
            ways = self._ways(self.roles.owners[reader.gateway], taken)
            yield self._leave(after, place, outputs, items, (told, ways), steps)

    def _leave(
        self,
        after: Point,
        place: Place,
        outputs: tuple[int, ...],
        items: int,
        told: tuple[str, str],
        steps: tuple[Step, ...],
    ) -> Move:
        counts = [0] * (max(outputs, default=0) + 1)
        for output in outputs:
            counts[output] = items
        line = SideBySide(told[0], f"{place.node} → {told[1]}")
        shown = (line,) if told[0] or after.unfit else ()
        return self._arrive(after, Emits(tuple(counts)), shown, steps, place.node)

    # -- where the two part ---------------------------------------------------------------------

    def _not_allowed(
        self,
        point: Point,
        name: str,
        element: str,
        times: int = 0,
        steps: tuple[Step, ...] = (),
    ) -> Differs:
        node = f"`{name}`" if name == self._label(element) else f"`{name}`"
        allowed = self._next(point)
        instead = f"; the model goes on with {_listed(allowed)}" if allowed else ""
        if self.game.finished(point.state):
            instead = "; the model has ended"
        line = SideBySide("" if not allowed else " or ".join(allowed[:3]), name)
        if times:
            return Differs(
                f"the workflow runs {node} {times + 1} times where the model has it "
                f"{'once' if times == 1 else f'{times} times'}",
                (line,),
                steps,
            )
        return Differs(
            f"the workflow runs {node} where the model does not{instead}", (line,), steps
        )

    def _ends(self, point: Point) -> None:
        """The run is over: so has to be the model's."""
        if point.unfit:
            return
        status = point.config.status
        outcome = self.game.outcome(point.state)
        if status == "error" and outcome != "error":
            raise Differs(
                "the workflow stops with an error where the model does not",
                (SideBySide(" or ".join(self._next(point)[:3]), "stops with an error"),),
            )
        if point.begun:
            label = self._label(point.begun[0])
            raise Differs(
                f"the workflow ends after `{label}`, where the model takes one of its branches",
                (SideBySide(" or ".join(self._next(point)[:3]), "ends"),),
            )
        if self.game.finished(point.state) or outcome == "stuck":
            return
        allowed = self._next(point)
        raise Differs(
            f"the workflow ends where the model goes on with {_listed(allowed)}",
            (SideBySide(" or ".join(allowed[:3]), "ends"),),
        )

    def _standing_still(self, state: State, waiting: str) -> None:
        """DESIGN, idea 4: what the model has open while the workflow waits at one place."""
        for element in dict.fromkeys(
            [s.element for s in self.game.enabled(state)] + list(self.game.open_elements(state))
        ):
            if element != waiting:
                self.delayed.setdefault(
                    f"while `{self._label(waiting)}` waits, `{self._label(element)}` stands still"
                )

    def _next(self, point: Point) -> list[str]:
        found: dict[str, None] = {}
        for step in self.game.enabled(point.state):
            if step.element not in point.begun:
                found.setdefault(self._label(step.element))
        return list(found)

    def _label(self, element: str) -> str:
        return self.labels.get(element, element)

    def _ways(self, owner: str, taken: tuple[str, ...]) -> str:
        del owner
        return " + ".join(self.labels.get(f, "otherwise") or f for f in taken) or "none"


def _with(
    decided: Mapping[str, tuple[str, ...]], gateway: str, taken: tuple[str, ...]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(sorted({**decided, gateway: taken}.items()))


def _listed(labels: list[str]) -> str:
    shown = ", ".join(f"`{label}`" for label in labels[:3]) or "nothing"
    return shown + (f" and {len(labels) - 3} more" if len(labels) > 3 else "")


def _live(machine: Machine, roles: Roles) -> list[frozenset[str]]:
    """For each node the gateways whose decision may be read from there on before it is set anew."""
    flow = machine.flows[0]
    reads: list[set[str]] = [set() for _ in flow.nodes]
    sets: list[frozenset[str]] = [frozenset() for _ in flow.nodes]
    before: list[list[int]] = [[] for _ in flow.nodes]
    for node in flow.nodes:
        reader = roles.readers.get(node.name)
        if reader is not None:
            reads[node.index].add(reader.gateway)
        sets[node.index] = frozenset(roles.sets.get(node.name, ()))
        for wire in node.wires:
            before[wire.target].append(node.index)
    live = [set(r) for r in reads]
    work = deque(i for i, r in enumerate(reads) if r)
    while work:
        index = work.popleft()
        for source in before[index]:
            grown = live[index] - sets[source] - live[source]
            if grown:
                live[source] |= grown
                work.append(source)
    return [frozenset(entry) for entry in live]
