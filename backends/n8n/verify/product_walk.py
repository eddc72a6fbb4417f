"""The exploration of the product: n8n's engine on one side, the token game on the other.

The engine moves; if a node represents a task or an event, the marking has to allow its step, and if
a node decides, the marking's choices are all followed one by one. Steps that neither side shows
(merges, joins, connections, splits into parallel work) happen automatically. Everything is
memoised, so loops are closed instead of unrolled.

A decision is read from the node that sets it (`$('Check stock').last()`), not from the item, so a
choice is free once per run of the setter; reading it again gives the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from itertools import combinations
from typing import TYPE_CHECKING

from orgflow.backends.n8n.engine_model import Config, EngineModel, Phase, Place
from orgflow.backends.n8n.engine_model.explorer import Explorer
from orgflow.backends.n8n.engine_model.flow import Node
from orgflow.backends.n8n.engine_model.outcome import RUNS, Emits, Opens, Outcome, Resumes
from orgflow.backends.n8n.verify.choices import Reader
from orgflow.backends.n8n.verify.endless import Onward, find_circle, is_pumped
from orgflow.backends.n8n.verify.marking import Marking, list_labels
from orgflow.backends.n8n.verify.points import (
    OPEN,
    Differs,
    Move,
    PilesUp,
    Point,
    Roles,
    TooMuch,
    difference_at,
    inert_nodes,
    live_decisions,
)

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.semantics import State
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.records import dataclass
from orgflow_ir.targets.verification import Difference, SideBySide

if TYPE_CHECKING:
    from orgflow.backends.n8n.plan.actions import ReadEscalations

_MOST_ITEMS_PER_NODE = 4


@dataclass
class Walk:
    """The exploration of one workflow and one process.

    Attributes:
        machine: the workflow.
        marking: the model.
        roles: the roles of the nodes.
        most: maximum number of explored points.
        states: number of explored points.
        delayed: work that is blocked while the workflow waits, in words.
        stopped: nodes of stubs at which runs stopped.
        expected: elements that the model could do next at the difference.
    """

    machine: EngineModel
    marking: Marking
    roles: Roles
    most: int
    states: int = 0
    delayed: dict[str, None] = field(default_factory=dict)
    stopped: dict[str, None] = field(default_factory=dict)
    expected: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.flow = self.machine.flows[0]
        self.live = live_decisions(self.machine, self.roles)
        self.inert = inert_nodes(self.machine, self.roles)
        self.most_items = _MOST_ITEMS_PER_NODE * len(self.flow.nodes)

    def run(self, start: Point, steps: tuple[Step, ...] = ()) -> Difference | None:
        """The first difference of the runs from `start`, breadth first; None if there is none.

        `steps` are those of the model before it. Raises `TooMuch`.
        """
        explorer = Explorer[Point, Move](self.most - self.states)
        explorer.start(start)
        after: dict[Point, list[Onward]] = {}
        for point in explorer.pending():
            # Every move of the engine is followed; the first that the model does not allow ends the
            # walk, and the way to it is the shortest.
            self.states += 1
            onward = after.setdefault(point, [])
            try:
                for move in self._moves(point):
                    onward.append(Onward(move.to, bool(move.steps)))
                    explorer.reach(move.to, move)
            except Differs as difference:
                self.expected = tuple(self.marking.expected(point))
                return difference_at(explorer.way(), point, difference, steps)
            except PilesUp:
                # Items without bound: a difference where the same moves can be repeated while the
                # model stands still, else only too much to look at.
                if not is_pumped(explorer.back(), point):
                    raise
                return difference_at(explorer.way(), point, self._endless(point), steps)
        if explorer.bounded:
            raise TooMuch(f"more than {self.most} states")
        # Every state is known: a circle without an exit in which the model stands still?
        stuck = find_circle(after)
        if stuck is None:
            return None
        return difference_at(
            explorer.way(explorer.index(stuck)), stuck, self._endless(stuck), steps
        )

    def _endless(self, point: Point) -> Differs:
        place = self.machine.at(point.config)
        name = place.node if place is not None else ""
        return Differs(
            f"the workflow loops at `{name}` indefinitely, but the model continues",
            (SideBySide(" or ".join(self.marking.next(point)[:3]), f"{name}: again and again"),),
        )

    def _moves(self, point: Point) -> Iterator[Move]:
        place = self.machine.at(point.config)
        node = self.machine.node_at(point.config)
        if place is None or node is None:
            self._ends(point)
            return
        # A wait that is open goes on whatever else the node is. A disabled node and one without
        # items do nothing that the model could see: n8n passes items on, or skips the node.
        element = self.roles.stands.get(place.node)
        reader = self.roles.readers.get(place.node)
        if place.phase is not Phase.READY:
            yield from self._goes_on(point, place, node, element)
        elif not (any(place.inputs) or place.kind == "trigger"):
            yield self._hidden(point, RUNS, place)
        elif node.disabled:
            yield from self._switched_off(point, place, element)
        elif place.node in self.roles.uncaught:
            return  # the run ends with the error, which nothing in the model catches
        elif place.node in self.roles.stubs and not point.unfit:
            # The run stops there, loudly: nothing after it is to be compared.
            element = self.roles.stubs[place.node]
            if element is not None and not self.marking.game.is_at(point.state, element):
                raise self.marking.not_allowed(point, place.node)
            self.stopped[place.node] = None
        elif reader is not None:
            yield from self._reads(point, place, reader)
        elif place.node in self.roles.escalated:
            yield from self._escalates(point, place, self.roles.escalated[place.node])
        elif element is None:
            if self.roles.loose and place.node in self.roles.refusals:
                # Drawn by hand: it stops loudly where no branch of a choice of its own fits.
                point = point._replace(unfit=place.node)
            for outcome in self._outcomes(point.config, node, place):
                yield self._hidden(point, outcome, place)
        else:
            yield from self._shows(point, place, node, element)

    # -- nodes that stand for something ---------------------------------------------------------

    def _shows(self, point: Point, place: Place, node: Node, element: str) -> Iterator[Move]:
        name, items = place.node, place.inputs[0]
        if element in point.early:
            left = list(point.early)
            left.remove(element)
            yield self._hidden(point._replace(early=tuple(left)), RUNS, place)
            return
        for outcome in self._outcomes(point.config, node, place):
            if element in self.roles.splitting and not isinstance(outcome, Opens):
                for fired in self.marking.splits(point, element, items, name):
                    line = SideBySide(fired.text, name)
                    yield self._arrive(fired.point, outcome, (line,), fired.steps, name)
                continue
            if isinstance(outcome, Opens):
                fired = self.marking.opens(point, element, name)
                text = f"{name}: waits"
            elif name in self.roles.escalating:
                fired = self.marking.opens(point, element, name)
                text = name
            else:
                fired = self.marking.fires(point, element, items, name)
                text = name if items < 2 else f"{name} ({items} items)"
            line = SideBySide(fired.text, text)
            yield self._arrive(fired.point, outcome, (line,), fired.steps, name)
        if name in self.roles.failing:
            yield self._fails(point, place, node, element)

    def _fails(self, point: Point, place: Place, node: Node, element: str) -> Move:
        """A node whose errors boundary events catch: its items leave by the error output, and in
        the model the task is begun."""
        name, items = place.node, place.inputs[0]
        if node.on_error != "error":
            raise Differs(
                f"an error of `{name}` ends the run, but the model continues after it: `On Error` "
                "is not `Continue (using error output)`",
                (SideBySide("", f"{name}: fails"),),
            )
        opened = self.marking.opens(point, element, name)
        counts = (*(0,) * (node.behaviour.outputs or 1), items)
        line = SideBySide(opened.text, f"{name}: fails")
        return self._arrive(opened.point, Emits(counts), (line,), opened.steps, name)

    def _escalates(self, point: Point, place: Place, escalated: ReadEscalations) -> Iterator[Move]:
        """A node that tells what a called process has thrown: each set of events that may have
        occurred by then. In the model they occur, and the call ends, now; their nodes run later."""
        outputs = {source_ids(thrown.event)[0]: n for n, thrown in enumerate(escalated.events)}
        ending = [source_ids(e.event)[0] for e in escalated.events if e.event.interrupting]
        others = [event for event in outputs if event not in ending]
        for size in range(len(others) + 1):
            for some in combinations(others, size):
                for last in (*ending, escalated.call):
                    now, steps = point, tuple[Step, ...]()
                    for element in (*some, last):
                        fired = self.marking.fires(now, element, 1, place.node)
                        now, steps = fired.point, (*steps, *fired.steps)
                    events = tuple(e for e in (*some, last) if e != escalated.call)
                    now = now._replace(early=tuple(sorted((*now.early, *events))))
                    taken = [outputs.get(e, escalated.completed) for e in (*some, last)]
                    labels = " + ".join(self.marking.label(e) for e in (*some, last))
                    line = SideBySide(labels, f"{place.node} → {labels}")
                    yield self._leave(now, place, tuple(taken), (line,), steps)

    def _switched_off(self, point: Point, place: Place, element: str | None) -> Iterator[Move]:
        """A node that only hands on its items: what it stands for is not done, unless there was
        nothing to do."""
        if element is None or element not in self.roles.idle:
            yield self._hidden(point, RUNS, place)
            return
        fired = self.marking.fires(point, element, place.inputs[0], place.node)
        line = SideBySide(fired.text, f"{place.node} (switched off)")
        yield self._arrive(fired.point, RUNS, (line,), fired.steps, place.node)

    def _goes_on(
        self, point: Point, place: Place, node: Node, element: str | None
    ) -> Iterator[Move]:
        """A wait that is over."""
        if element is not None:
            self._standing_still(point.state, element)
        for outcome in self.machine.outcomes(point.config):
            if element is None:
                yield self._hidden(point, outcome, place)
                continue
            timed_out = isinstance(outcome, Resumes) and outcome.items is None
            late = " (time is up)" if timed_out and node.behaviour.answered else ""
            fired = self.marking.fires(point, element, 1, place.node)
            line = SideBySide(fired.text, f"{place.node}: goes on{late}")
            yield self._arrive(fired.point, outcome, (line,), fired.steps, place.node)

    def _outcomes(self, config: Config, node: Node, place: Place) -> tuple[Outcome, ...]:
        """What the node can do. Of a node whose behaviour is not known it is assumed that every
        item that comes in leaves by one output, and no error output."""
        if place.node in self.roles.guards:
            return (Emits(place.inputs[:1]),)
        if place.kind == "wait":
            return self.machine.outcomes(config)[:1]
        if place.kind != "choice" or node.behaviour.known:
            return self.machine.outcomes(config)
        count = node.behaviour.outputs or 1
        wired = sorted({w.output for w in node.wires if w.output < count}) or [0]
        return tuple(Emits((*(0,) * output, place.inputs[0])) for output in wired)

    def _hidden(self, point: Point, outcome: Outcome, place: Place) -> Move:
        """The node stands for nothing, or does nothing: the engine moves alone."""
        name = place.node
        text = ""
        if name in self.roles.disabled:
            text = f"{name} (switched off)"
        elif name not in self.roles.helpers and name not in self.roles.stands:
            text = f"{name} (added)"
        lines = (SideBySide("", text),) if text and any(place.inputs) else ()
        return self._arrive(point, outcome, lines, (), name)

    def _arrive(
        self,
        point: Point,
        outcome: Outcome,
        lines: tuple[SideBySide, ...],
        steps: tuple[Step, ...],
        name: str,
    ) -> Move:
        """The point after the engine's step: decisions that the node sets are open again, those
        that nothing can read any more are forgotten."""
        # 1. The engine moves; pending nodes that lead to nothing are dropped.
        place = self.machine.at(point.config)
        config = self._without_inert(self.machine.step(point.config, outcome))
        # 2. The node has output a new value: the gateways that read it may choose again. A wait
        # outputs when it is over, a disabled node sets nothing, and one that got no item but always
        # outputs data hands on an item without a value.
        decided = dict(point.decided)
        if not isinstance(outcome, Opens) and name not in self.roles.disabled:
            fed = place is None or place.kind == "trigger" or any(place.inputs[:1])
            value = OPEN if fed else ()
            decided.update((gateway, value) for gateway in self.roles.sets.get(name, ()))
        # 3. A decision that no pending node leads to a reader of is forgotten, so that points that
        # differ by it alone are one and loops close.
        alive: set[str] = set()
        for frame in config.frames if decided else ():
            if frame.flow == 0:
                for index, _ in (*frame.stack, *frame.waiting):
                    alive |= self.live[index]
        kept = tuple(sorted((g, t) for g, t in decided.items() if g in alive))
        # 4. What the model does by itself and nobody sees is done at once.
        state, quiet = self.marking.settled(point.state)
        world = self.machine.world_of(config)
        after = point._replace(world=world, state=state, decided=kept)
        return Move(after, lines, (*steps, *quiet))

    def _without_inert(self, config: Config) -> Config:
        """The configuration without pending nodes that lead to nothing: in a loop they would pile
        up. One stays where nothing else would be left, since n8n looks at what waits only then."""
        if len(config.frames) != 1:  # a called workflow runs, whose nodes are not looked at
            return config
        frame = config.frames[0]
        size = len(frame.stack) + sum(len(entries) for _, entries in frame.waiting)
        if size > self.most_items:
            raise PilesUp(f"items accumulate in the workflow, more than {self.most_items}")
        if not self.inert:
            return config
        kept = tuple(entry for entry in frame.stack if entry[0] not in self.inert)
        if len(kept) == len(frame.stack):
            return config
        return config._replace(frames=(frame._replace(stack=kept or frame.stack[:1]),))

    # -- nodes that decide ----------------------------------------------------------------------

    def _reads(self, point: Point, place: Place, reader: Reader) -> Iterator[Move]:
        """A node that decides: one move for each choice of the model."""
        owner = self.roles.owners[reader.gateway]
        flows, default = self.roles.branches[reader.gateway]
        if reader.broken:
            raise Differs(
                f"`{place.node}` reads `{reader.broken[0]}`, which does not exist in the "
                "workflow: n8n ends the run with an error there",
                (SideBySide(self.marking.label(owner), f"{place.node}: error"),),
            )
        # A further node of a gateway (a branch test of an inclusive split) repeats its decision and
        # makes no step of the model.
        value = dict(point.decided).get(reader.gateway)
        if reader.main and any(gateway == reader.gateway for gateway, _ in point.chosen):
            yield from self._as_chosen(point, place, reader)
            return
        if not reader.main:
            answers = [(f,) for f in flows] if value is None or value == OPEN else [value]
            for taken in answers:
                after = _decide_gateway(point, reader.gateway, taken)
                yield from self._leaves(after, place, reader, taken, "", ())
            return
        # Conditions over the process's own data may give another answer each time.
        if reader.gateway in self.roles.coded:
            value = OPEN
        options = self.marking.options(point, reader.gateway)
        before: tuple[Step, ...] = ()
        # The model is not there yet: silent steps of it may come first.
        if not options:
            loosened = self.marking.loosened(
                point.state,
                lambda s: bool(self.marking.options(point._replace(state=s), reader.gateway)),
            )
            if loosened is None:
                raise self.marking.not_allowed(point, place.node)
            point, before = point._replace(state=loosened.state), loosened.steps
            options = self.marking.options(point, reader.gateway)
        # Nothing has set the value since: the node answers as before, so the model must agree.
        if value != OPEN:
            self._as_before(
                place, reader, value or (() if default is None else (default,)), options
            )
        for taken in options:
            yield from self._decides(point, place, reader, taken, before)
        if reader.compiled and not point.unfit:
            choices: list[tuple[int, ...]] = [(output,) for output in reader.stops]
            choices += reader.outputs(frozenset()) if default is None else ()
            yield from self._fits_none(point, place, reader, choices)

    def _as_chosen(self, point: Point, place: Place, reader: Reader) -> Iterator[Move]:
        """What was chosen when the activity ran, which n8n reads from its last run."""
        chosen = list(point.chosen)
        taken = [flows for gateway, flows in chosen if gateway == reader.gateway][-1]
        for _ in range(place.inputs[0]):
            if (reader.gateway, taken) not in chosen:
                raise Differs(
                    f"`{place.node}` reads the previous choice, but the model chose differently",
                    (SideBySide("", place.node),),
                )
            chosen.remove((reader.gateway, taken))
        after = _decide_gateway(point._replace(chosen=tuple(chosen)), reader.gateway, taken)
        yield from self._leaves(after, place, reader, taken, "", ())

    def _as_before(
        self,
        place: Place,
        reader: Reader,
        value: tuple[str, ...],
        options: Mapping[tuple[str, ...], Step],
    ) -> None:
        """The decision is an old one: the model must have no other choice."""
        other = next((taken for taken in options if set(taken) != set(value)), None)
        if other is not None:
            label = self.marking.label(self.roles.owners[reader.gateway])
            branches = self.marking.join_labels(other)
            raise Differs(
                f"`{place.node}` reads an earlier decision, since no new one was made: it cannot "
                f"take `{branches}` here, but the model can",
                (SideBySide(f"{label} → {branches}", place.node),),
                (options[other],),
            )

    def _decides(
        self,
        point: Point,
        place: Place,
        reader: Reader,
        taken: tuple[str, ...],
        before: tuple[Step, ...],
    ) -> Iterator[Move]:
        owner = self.roles.owners[reader.gateway]
        state, begun = point.state, list(point.begun)
        # One step of the model for each item that the node gets.
        fired = list(before)
        for times in range(place.inputs[0]):
            now = point._replace(state=state, begun=tuple(begun))
            step = self.marking.options(now, reader.gateway).get(taken)
            if step is None:
                raise self.marking.not_allowed(now, place.node, times, tuple(fired))
            state, quiet = self.marking.settled(self.marking.game.fire(state, step))
            fired += (step, *quiet)
            if owner in begun:
                begun.remove(owner)
        after = _decide_gateway(
            point._replace(state=state, begun=tuple(begun)), reader.gateway, taken
        )
        text = f"{self.marking.label(owner)} → {self.marking.join_labels(taken)}"
        yield from self._leaves(after, place, reader, taken, text, tuple(fired))

    def _fits_none(
        self, point: Point, place: Place, reader: Reader, choices: Iterable[tuple[int, ...]]
    ) -> Iterator[Move]:
        """A value that is no branch's, or none at all: the run has to stop loudly."""
        label = self.marking.label(self.roles.owners[reader.gateway])
        after = _decide_gateway(point, reader.gateway, ())._replace(unfit=label)
        for outputs in choices:
            line = SideBySide("", f"{place.node} → no branch fits")
            yield self._leave(after, place, outputs, (line,), ())

    def _leaves(
        self,
        after: Point,
        place: Place,
        reader: Reader,
        taken: tuple[str, ...],
        text: str,
        steps: tuple[Step, ...],
    ) -> Iterator[Move]:
        line = SideBySide(text, f"{place.node} → {self.marking.join_labels(taken)}")
        for outputs in reader.outputs(frozenset(taken)):
            yield self._leave(after, place, outputs, (line,) if text else (), steps)

    def _leave(
        self,
        after: Point,
        place: Place,
        outputs: tuple[int, ...],
        lines: tuple[SideBySide, ...],
        steps: tuple[Step, ...],
    ) -> Move:
        counts = [0] * (max(outputs, default=0) + 1)
        for output in outputs:
            counts[output] = place.inputs[0]
        return self._arrive(after, Emits(tuple(counts)), lines, steps, place.node)

    # -- the end, and standing still ------------------------------------------------------------

    def _ends(self, point: Point) -> None:
        """The run is over: so has to be the model's."""
        if point.unfit:
            if point.config.status != "error":
                raise Differs(
                    f"if no branch of `{point.unfit}` matches, the run ends silently as if it "
                    "were complete; a compiled workflow stops there with an error",
                    (SideBySide("", "ends"),),
                    unfit=True,
                )
            return
        game, marking = self.marking.game, self.marking
        state = point.state
        # The model may have silent steps left, such as a join or an end event without a node.
        ended = None if game.finished(state) else marking.loosened(state, game.finished)
        if ended is not None:
            state = ended.state
        outcome = game.outcome(state)
        goes_on = marking.next(point)
        shown = " or ".join(goes_on[:3])
        if point.config.status == "error" and outcome != "error":
            raise Differs(
                "the workflow stops with an error, but the model does not",
                (SideBySide(shown, "stops with an error"),),
            )
        if point.begun:
            raise Differs(
                f"the workflow ends after `{marking.label(point.begun[0])}`, but the model takes "
                "one of its branches",
                (SideBySide(shown, "ends"),),
            )
        # Where the model is stuck the workflow ends, too: the fault is the model's.
        if not game.finished(state) and outcome != "stuck":
            raise Differs(
                f"the workflow ends, but the model continues with {list_labels(goes_on)}",
                (SideBySide(shown, "ends"),),
            )

    def _standing_still(self, state: State, waiting: str) -> None:
        """What the model has open while the workflow waits at one place: n8n stores the execution
        as a whole, so parallel branches stand still."""
        label = self.marking.label
        game = self.marking.game
        for element in (*(s.element for s in game.enabled(state)), *game.open_elements(state)):
            if element != waiting:
                self.delayed[f"while `{label(waiting)}` waits, `{label(element)}` is paused"] = None


def _decide_gateway(point: Point, gateway: str, taken: tuple[str, ...]) -> Point:
    decided = {**dict(point.decided), gateway: taken}
    return point._replace(decided=tuple(sorted(decided.items())))
