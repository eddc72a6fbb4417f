"""Optimal alignments of cases with a model: where and how often cases leave it.

An alignment pairs the events of a case with a run of the model, by the fewest moves of one side
only: an event that the model does not allow there, or an activity of the model that the case skips
(Adriansyah, van Dongen and van der Aalst 2011). It is a shortest path in the product of the case
and the states of the token game, of which only the needed part is explored.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from orgflow_ir.flow.token_game.trace_equivalence import (
    Markings,
    ObservedGame,
    StepBudget,
)
from orgflow_ir.model import CallActivity, Model, Process, Task
from orgflow_ir.model.records import NamedTuple, dataclass

MOST_STEPS: Final = 2_000_000
"""Steps of the token game for one model."""

MOST_STATES: Final = 200_000
"""States of the product that are expanded for one case."""

MoveKind = Literal["both", "log", "model"]


class AlignmentMove(NamedTuple):
    """A move of the case and the model, of the case alone, or of the model alone."""

    kind: MoveKind
    activity: str


class Alignment(NamedTuple):
    """The moves of a case. `cost` is the number of those of one side only."""

    moves: tuple[AlignmentMove, ...]
    cost: int


class BehaviourMachine:
    """The runs of a process as a deterministic machine over the names of its activities.

    States are numbers; 0 is the start. They are explored when they are asked for.

    Raises (from every method):
        StepsExceeded: the token game needs more than `most_steps`.
    """

    def __init__(self, model: Model, process: Process, most_steps: int = MOST_STEPS) -> None:
        keys = name_activities(process)
        budget = StepBudget(most_steps)
        self._game = ObservedGame(model, process, keys, frozenset(), frozenset(), budget)
        self.activities = frozenset(keys.values())
        self._numbers: dict[Markings, int] = {}
        self._markings: list[Markings] = []
        self._edges: dict[int, dict[str, int]] = {}
        self._accepting: dict[int, bool] = {}
        self._number_of(self._game.start())

    def _number_of(self, markings: Markings) -> int:
        number = self._numbers.setdefault(markings, len(self._markings))
        if number == len(self._markings):
            self._markings.append(markings)
        return number

    def list_edges(self, state: int) -> dict[str, int]:
        """The activities that may be next, with the states after them."""
        known = self._edges.get(state)
        if known is None:
            after = self._game.after(self._markings[state])
            known = {shown[0]: self._number_of(then) for shown, then in after.items()}
            self._edges[state] = known
        return known

    def is_accepting(self, state: int) -> bool:
        """Whether the run may end here."""
        known = self._accepting.get(state)
        if known is None:
            known = "the run ends" in self._game.ends(self._markings[state])
            self._accepting[state] = known
        return known

    def accepts(self, names: Iterable[str]) -> bool:
        """Whether a sequence of activities is a complete run."""
        state: int | None = 0
        for name in names:
            state = self.list_edges(state).get(name) if state is not None else None
        return state is not None and self.is_accepting(state)


def name_activities(process: Process) -> dict[str, str]:
    """The name of each task and call, by id, with its space folded."""
    return {
        node.id: " ".join(node.label.split())
        for scope in process.scopes()
        for node in scope.nodes
        if isinstance(node, Task | CallActivity)
    }


def align_case(
    names: Sequence[str], machine: BehaviourMachine, most_states: int = MOST_STATES
) -> Alignment | None:
    """An optimal alignment, `None` beyond the limit of states.

    Args:
        names: the activities of a case.
        machine: the model.
        most_states: maximum number of expanded states of the product.

    Raises:
        StepsExceeded: the model has too many states.
    """
    length = len(names)
    # An entry is (cost, events left, order, place, state): of equal costs, the furthest is first.
    start = (0, 0)
    best: dict[tuple[int, int], int] = {start: 0}
    came: dict[tuple[int, int], tuple[tuple[int, int], AlignmentMove]] = {}
    # events that no state allows cost 1 each: they bound the remaining cost from below
    unknown = [0] * (length + 1)
    for place in range(length - 1, -1, -1):
        unknown[place] = unknown[place + 1] + (names[place] not in machine.activities)
    queue = [(unknown[0], length, 0, 0)]
    expanded: set[tuple[int, int]] = set()
    while queue:
        _, _, place, state = heapq.heappop(queue)
        here = (place, state)
        if here in expanded:
            continue
        expanded.add(here)
        cost = best[here]
        if place == length and machine.is_accepting(state):
            return Alignment(_collect_moves(here, came), cost)
        if len(expanded) > most_states:
            return None
        edges = machine.list_edges(state)
        options: list[tuple[int, tuple[int, int], AlignmentMove]] = []
        if place < length:
            name = names[place]
            if name in edges:
                options.append((cost, (place + 1, edges[name]), AlignmentMove("both", name)))
            options.append((cost + 1, (place + 1, state), AlignmentMove("log", name)))
        for name, then in edges.items():
            options.append((cost + 1, (place, then), AlignmentMove("model", name)))
        for total, there, move in options:
            if total < best.get(there, total + 1):
                best[there] = total
                came[there] = (here, move)
                left = length - there[0]
                heapq.heappush(queue, (total + unknown[there[0]], left, *there))
    return None  # the model cannot end


def _collect_moves(
    end: tuple[int, int], came: Mapping[tuple[int, int], tuple[tuple[int, int], AlignmentMove]]
) -> tuple[AlignmentMove, ...]:
    moves: list[AlignmentMove] = []
    here = end
    while here in came:
        here, move = came[here]
        moves.append(move)
    return tuple(reversed(moves))


class Deviation(NamedTuple):
    """A way in which cases leave the model.

    Attributes:
        kind: `log` for an event that the model does not allow, `model` for a skipped activity.
        activity: the activity.
        after: the activity of the model before it, or nothing at the start.
    """

    kind: MoveKind
    activity: str
    after: str


@dataclass(eq=False)
class Conformance:
    """How well a log and a model agree.

    Attributes:
        cases: aligned cases.
        fitting: cases that are runs of the model.
        unaligned: cases beyond the limit of states; they are in no figure.
        events: events of the aligned cases.
        fitness: 1 without deviations, 0 if no event is possible in the model: one minus the cost of
            all alignments by that of the worst ones.
        precision: of what the model allows at the states that cases pass, the share that cases do
            (Adriansyah and others 2015), weighted by visits; 1 without visits.
        deviations: the cases of each deviation, most frequent first.
        counts: how often cases did each activity of the model.
    """

    cases: int
    fitting: int
    unaligned: int
    events: int
    fitness: float
    precision: float
    deviations: dict[Deviation, int]
    counts: dict[str, int]


def measure_conformance(
    variants: Iterable[tuple[Sequence[str], int]],
    machine: BehaviourMachine,
    most_states: int = MOST_STATES,
) -> Conformance:
    """The agreement of a log and a model.

    Args:
        variants: sequences of activities with their numbers of cases.
        machine: the model.
        most_states: maximum number of states for one case.

    Raises:
        StepsExceeded: the model has too many states.
    """
    shortest = align_case((), machine, most_states)
    least = shortest.cost if shortest is not None else 0
    cases = fitting = unaligned = events = cost = worst = 0
    deviations: Counter[Deviation] = Counter()
    counts: Counter[str] = Counter()
    visits: Counter[int] = Counter()
    taken: dict[int, set[str]] = {}
    for names, number in variants:
        alignment = align_case(names, machine, most_states)
        if alignment is None:
            unaligned += number
            continue
        cases += number
        fitting += number if not alignment.cost else 0
        events += number * len(names)
        cost += number * alignment.cost
        worst += number * (len(names) + least)
        for deviation in set(list_deviations(alignment)):
            deviations[deviation] += number
        # the states that the case passes, and what it does there; what it skips is not done
        state = 0
        for move in alignment.moves:
            if move.kind == "log":
                continue
            if move.kind == "both":
                visits[state] += number
                taken.setdefault(state, set()).add(move.activity)
                counts[move.activity] += number
            state = machine.list_edges(state)[move.activity]
    allowed = sum(number * len(machine.list_edges(state)) for state, number in visits.items())
    done = sum(number * len(taken[state]) for state, number in visits.items())
    return Conformance(
        cases, fitting, unaligned, events,
        1 - cost / worst if worst else 1.0, done / allowed if allowed else 1.0,
        dict(sorted(deviations.items(), key=lambda entry: (-entry[1], entry[0]))), dict(counts),
    )  # fmt: skip


def list_deviations(alignment: Alignment) -> list[Deviation]:
    """The deviations of an alignment, in order."""
    listed = []
    after = ""
    for move in alignment.moves:
        if move.kind != "both":
            listed.append(Deviation(move.kind, move.activity, after))
        if move.kind != "log":
            after = move.activity
    return listed
