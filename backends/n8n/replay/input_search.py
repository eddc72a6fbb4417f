"""Inputs with which a workflow takes the branches of a model: a search by distances.

Scripts, decisions, mappings and times are evaluated (`data_walk`), so an input that is computed on
its way to a condition is chosen as well. The search is the alternating variable method of McMinn
(2004, "Search-based software test data generation"): one input after the other gets the constants
of the model and their neighbours, then steps of growing size.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.replay.data_walk import (
    UNSET,
    ComputedProcess,
    Conflict,
    DataWalk,
    WalkRules,
    used_constants,
)
from orgflow.backends.n8n.replay.path_conditions import (
    PathCondition,
    Slot,
    is_covered,
    order_values,
    relate_conditions,
    solve_conditions,
    tells_all_apart,
)

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.run_search import Simulator, Trial
from orgflow_ir.flow.token_game.runs import Run, RunSet
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.flow.token_game.stub_data import OTHERWISE
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.plugins.runners import ComputedFault, RunSelection
from orgflow_ir.program.syntax import Tree, variables

RESTRICTED = (WalkRules(), WalkRules(portable=False))
"""The rules under which no step sets what the model lets other steps set."""

ALL_RULES = (*RESTRICTED, WalkRules(portable=False, freely=True))

FEW_WALKS = 24
"""Maximum number of walks along one run, as long as others may take its flows."""

MOST_WALKS = 200
"""Maximum number of walks along runs that take a flow which no other one takes."""

MOST_FREE = 40
"""Maximum number of runs that data chooses, for such a flow."""

MOST_VARIANTS = 240
"""Maximum number of walks for runs with other values on the same branches."""

MOST_VAIN = 60
"""Number of such walks in a row without anything new after which the search ends."""

MOST_STEPS = 1_000
"""Maximum number of steps of a run whose branches the data chooses; more count as endless."""

_PAIR_CANDIDATES = 14
_MOST_BASES = 8
_MOST_RUNS = 2
_MOST_ITEMS = 12
_BEHIND = 0.001
"""The distance of a run that fails behind the flow that it was to take."""
_STRIDES = (1, -1, 16, -16, 256, -256, 4096, -4096, 65536, -65536)


class _Attempt(NamedTuple):
    """A walk with some inputs: how far it came, and why not farther."""

    inputs: Mapping[Slot, Any]
    walk: DataWalk
    conflict: Conflict | None

    @property
    def score(self) -> tuple[int, float]:
        """More is better."""
        if self.conflict is None:
            return (1 << 30, 0.0)
        return (self.walk.reached, -self.conflict.distance)


class PlannedRun(NamedTuple):
    """A run with its inputs, by the walk along it."""

    run: Run
    walk: DataWalk


Confirm = Callable[[PlannedRun], bool]


class _Base(NamedTuple):
    """Where a search begins: a run, and inputs that lead along it or some part of it."""

    run: Run
    inputs: Mapping[Slot, Any]


class _Nearness(NamedTuple):
    """How far a run is from a flow.

    Attributes:
        distance: of the conditions before it, 2 if it does not come to them.
        slots: the inputs that they depend on.
        given: all inputs of the run.
        failed: the conditions, if they are some.
        passed: the earlier ones of the run.
        is_repeated: whether a number of rounds depends on them.
    """

    distance: float
    slots: frozenset[Slot]
    given: Mapping[Slot, Any]
    failed: PathCondition | None = None
    passed: Sequence[PathCondition] = ()
    is_repeated: bool = False


class _Selection:
    """The runs that were chosen so far, and what ended others before their end.

    Attributes:
        runs: those of the flow.
        planned: the runs, with their inputs.
        solved: the numbers of those runs of the flow that are planned.
        is_covered: whether a search covers the programs.
        undecided: flows before which a condition is that a search does not cover.
        dead: flows before which a condition is for which a search finds no values.
        proved: those of them for which there are none, since the search is exhaustive.
        taken: flows that runs took which then failed.
        faults: by kind and element, those of any run.
        stopped: by flow, the first of a run that was to take it.
    """

    def __init__(self, runs: RunSet, confirm: Confirm, *, is_covered: bool) -> None:
        self.runs, self._confirm, self.is_covered = runs, confirm, is_covered
        self.planned: list[PlannedRun] = []
        self.solved: set[int] = set()
        self.undecided: set[str] = set()
        self.dead: set[str] = set()
        self.proved: set[str] = set()
        self.taken: set[str] = set()
        self.faults: dict[tuple[str, str], ComputedFault] = {}
        self.stopped: dict[str, ComputedFault] = {}
        self._seen: set[Hashable] = set()

    def keep(self, candidate: PlannedRun) -> bool:
        """Add a run, unless one with the same choices and branches of programs is there, or it
        depends on a conversion that the workflow refuses; whether it was added."""
        signature = (
            candidate.run.start,
            candidate.run.choices,
            tuple(sorted(map(repr, candidate.walk.observed))),
        )
        if signature in self._seen:
            return False
        self._seen.add(signature)
        if not candidate.walk.rules.portable and not self._confirm(candidate):
            return False
        self.planned.append(candidate)
        return True

    def stop(self, fault: ComputedFault, flow: str) -> None:
        """Note what ended a run that was to take a flow."""
        self.faults.setdefault((fault.kind, fault.element), fault)
        self.stopped.setdefault(flow, fault)

    def note_failure(self, flow: str, near: _Nearness) -> None:
        """Note whether a search says anything about the conditions that a run did not pass."""
        if near.failed is not None and near.slots and flow not in self.undecided:
            related = relate_conditions(near.failed, near.passed)
            is_said = is_covered(tree for c in related for tree, _ in c.demands)
            if near.is_repeated or not is_said or (near.failed.fixed and not self.is_covered):
                self.undecided.add(flow)

    def shortest_with(self, flow: str) -> list[tuple[int, Run]]:
        """The runs of the flow that take a flow, the shortest first, each with its number."""
        runs = [(n, run) for n, run in enumerate(self.runs.runs) if flow in run.flows]
        return sorted(runs, key=lambda item: len(item[1].steps))

    def passing(self, flow: str) -> list[_Base]:
        """The first planned runs that pass the element before a flow."""
        takers = (s.element for run in self.runs.runs for s in run.steps if flow in s.taken)
        element = next(takers, "")
        return [
            _Base(candidate.run, candidate.walk.slots)
            for candidate in self.planned
            if any(step.element == element for step in candidate.run.steps)
        ][:_MOST_BASES]

    def border(self) -> list[str]:
        """The flows that no planned run takes, and that follow an element which one passes; the
        first flow of each run if there is no planned one."""
        if not self.planned:
            firsts = (next((s.taken for s in r.steps if s.taken), ()) for r in self.runs.runs)
            return list(dict.fromkeys(flow for taken in firsts for flow in taken))
        covered = {flow for candidate in self.planned for flow in candidate.run.flows}
        passed = {step.element for candidate in self.planned for step in candidate.run.steps}
        border: dict[str, None] = {}
        for run in self.runs.runs:
            for step in run.steps:
                if step.element in passed:
                    border.update(dict.fromkeys(f for f in step.taken if f not in covered))
        return list(border)

    def is_open(self, flow: str, known: Mapping[str, Sequence[int]]) -> bool:
        """Whether a search for a flow may find more than earlier ones, by the number of planned
        runs at each of them."""
        numbers = known.get(flow, ())
        if not numbers:
            return True
        return len(numbers) < 2 and flow not in self.dead and numbers[-1] < len(self.planned)

    def first(self) -> tuple[RunSelection, list[PlannedRun]]:
        """The first run alone."""
        left_out = len(self.runs.runs) - 1
        return RunSelection((self.planned[0].run,), left_out=left_out), self.planned[:1]

    def close(self) -> RunSelection:
        """The selection of all runs."""
        # What other runs pass is no cause; a flow that only a failing run takes is reached.
        passed = {step.element for p in self.planned for step in p.run.steps}
        border = self.border()
        stopped = {f: fault for f in border if (fault := self.stopped.get(f)) is not None}
        stopped = {flow: f for flow, f in stopped.items() if f.element not in passed}
        causes = {(f.kind, f.element): f for f in stopped.values()}
        if not self.planned:
            causes.update(self.faults)
        unreached = [flow for flow in border if flow not in stopped] if self.planned else []
        undecided = (self.undecided - self.dead) | self.taken
        return RunSelection(
            tuple(candidate.run for candidate in self.planned),
            tuple(causes.values()),
            tuple(f for f in unreached if f not in undecided),
            undecided=tuple(f for f in unreached if f in undecided),
            excluded=tuple(r for n, r in enumerate(self.runs.runs) if n not in self.solved),
            excluded_flows=frozenset(self.proved),
        )


class InputSearch:
    """Chooses the inputs of the runs of one process.

    Args:
        process: its workflows.
        game: the token game of the model that is executed; not needed for single runs.
        process_id: the id of the process.
        confirm: whether the workflow itself does not stop a run whose inputs a language converts.
    """

    def __init__(
        self,
        process: ComputedProcess,
        game: Game | None,
        process_id: str,
        confirm: Confirm = lambda candidate: True,
    ) -> None:
        self.process, self._game, self.process_id = process, game, process_id
        self._confirm = confirm
        self._ordered: dict[str, list[Any]] = {}
        self._solved: dict[str, Mapping[Slot, Any] | None] = {}
        self.faulty: list[PlannedRun] = []
        self.candidates = list_candidate_values(used_constants(process))

    @property
    def game(self) -> Game:
        """The token game of the model."""
        assert self._game is not None
        return self._game

    # -- one run -----------------------------------------------------------------------------------

    def solve(
        self, run: Run, rules: Sequence[WalkRules] = ALL_RULES, *, most: int = MOST_WALKS
    ) -> _Attempt:
        """The best inputs for a run, after at most `most` walks by each rule; without a conflict if
        they lead all the way. The first rules under which they do are preferred: inputs that a
        language has to convert, and steps that overwrite what others set, are the last choice."""
        best: _Attempt | None = None
        for allowed in rules:
            attempt = self._search(run, allowed, most)
            if attempt.conflict is None:
                return attempt
            if best is None or attempt.score > best.score:
                best = attempt
        assert best is not None
        return best

    def _search(self, run: Run, rules: WalkRules, most: int) -> _Attempt:
        walk = DataWalk(self.process, run.start or run.process, {}, rules)
        best = self._follow(run, walk)
        left = most
        while best.conflict is not None and best.conflict.slots and left > 0:
            better = None
            for attempt in itertools.islice(self._neighbours(run, best), left):
                left -= 1
                if attempt.score > best.score:
                    better = attempt
                    break
            if better is None:
                break
            best = better
        return best

    def _follow(self, run: Run, walk: DataWalk) -> _Attempt:
        try:
            walk.follow(run.steps, keep=True)
        except Conflict as conflict:
            return _Attempt(walk.inputs, walk, conflict)
        return _Attempt(walk.inputs, walk, None)

    def _neighbours(self, run: Run, best: _Attempt) -> Iterator[_Attempt]:
        """Walks with other values of the inputs that a conflict depends on. Each goes on where the
        first of them is read."""
        assert best.conflict is not None
        asked_at = best.walk.asked_at
        slots = sorted(best.conflict.slots, key=lambda slot: (-asked_at.get(slot, 0), str(slot)))
        base = {**best.walk.slots, **best.inputs}
        solved = self._solve_path(best.walk.failed, best.walk.passed, base)
        if solved is not None:
            yield self._change(run, best, {**base, **solved}, 0)
        for slot in slots:
            for value in self._values_near(slot, base.get(slot)):
                yield self._change(run, best, {**base, slot: value}, asked_at.get(slot, 0))
        for first_slot, other_slot in itertools.combinations(slots[:4], 2):
            values = self.candidates[:_PAIR_CANDIDATES]
            at = min(asked_at.get(first_slot, 0), asked_at.get(other_slot, 0))
            for first, second in itertools.product(values, repeat=2):
                inputs = {**base, first_slot: first, other_slot: second}
                yield self._change(run, best, inputs, at)

    def _solve_path(
        self,
        failed: PathCondition | None,
        passed: Sequence[PathCondition],
        inputs: Mapping[Slot, Any],
    ) -> Mapping[Slot, Any] | None:
        """Inputs that meet the conditions of a path together; each problem is solved once."""
        if failed is None or not failed.inputs:
            return None
        related = relate_conditions(failed, passed)
        key = repr([([(id(t), w) for t, w in c.demands], c.inputs, c.fixed) for c in related])
        if key not in self._solved:
            self._solved[key] = solve_conditions(related, inputs, self.process.types)
        return self._solved[key]

    def _change(
        self, run: Run, best: _Attempt, inputs: Mapping[Slot, Any], number: int
    ) -> _Attempt:
        """The walk with other inputs, all of which are first read in a step or behind it."""
        walk = best.walk.before[number].fork(inputs)
        walk.before = best.walk.before[:number]
        return self._follow(run, walk)

    def _values_near(
        self, slot: Slot, value: Any, strides: Sequence[int] = _STRIDES
    ) -> Iterator[Any]:
        """Other values of an input: the steps of a number, and all candidates, those of its type
        first."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield from (value + stride for stride in strides)
        if isinstance(value, list) and value:
            yield from ([*value, value[-1]], value[:-1])
        kind = self.process.types.get(slot.path[0], "") if len(slot.path) == 1 else ""
        if kind not in self._ordered:
            self._ordered[kind] = order_values(self.candidates, kind or None)
        yield from self._ordered[kind]

    # -- runs whose branches the data chooses ------------------------------------------------------

    def run_freely(
        self, guide: Run, inputs: Mapping[Slot, Any], rules: WalkRules
    ) -> PlannedRun | ComputedFault:
        """The run that inputs lead to, near a given one where the data leaves a choice; or what
        ends it before its end."""
        walk = DataWalk(self.process, guide.start or guide.process, inputs, rules)
        return self._simulate(_DataSimulator(self.game, self.process_id, walk, guide))

    def _simulate(self, simulator: _DataSimulator) -> PlannedRun | ComputedFault:
        walk, guide = simulator.walk, simulator.guide
        if simulator.goal:
            simulator.goals = {self.game.net.flow_index[simulator.goal]}
        try:
            trial = simulator.simulate(guide.start)
        except Conflict as conflict:
            assert simulator.trial is not None
            simulator.note_failure(conflict)
            run = self._read_run(guide, simulator.trial, "failed")
            self.faulty.append(PlannedRun(run, walk))
            return ComputedFault(conflict.kind, conflict.element, conflict.message, run)
        run = self._read_run(guide, trial, trial.outcome)
        if not run.complete:
            kind = "endless" if trial.outcome == "running" else "stuck"
            self.faulty.append(PlannedRun(run, walk))
            return ComputedFault(kind, _most_frequent(trial.steps), "the run does not end", run)
        return PlannedRun(run, walk)

    def _read_run(self, guide: Run, trial: Trial, outcome: str) -> Run:
        steps = tuple(trial.steps)
        choices = tuple(c for s in steps for c in self.game.decisions(s))
        return Run(
            self.process_id, guide.start, steps, choices, outcome, self.game.left(trial.state)
        )

    # -- all runs ----------------------------------------------------------------------------------

    def select(
        self, runs: RunSet, *, all_paths: bool, most: int
    ) -> tuple[RunSelection, list[PlannedRun]]:
        """The runs to play, with their inputs, and what no input reaches."""
        chosen = _Selection(runs, self._confirm, is_covered=self.process.is_covered)
        # 1. Inputs for each run of the flow, with a short search.
        for number, run in enumerate(runs.runs):
            attempt = self.solve(run, RESTRICTED[:1], most=FEW_WALKS)
            if attempt.conflict is None:
                chosen.keep(PlannedRun(run, attempt.walk))
                chosen.solved.add(number)
            if chosen.planned and not all_paths:
                return chosen.first()
        # 2. A longer search for the first flows that none of them takes.
        # Runs that it finds are where another one may begin, so each flow has two searches.
        known: dict[str, list[int]] = {}
        while flow := next((f for f in chosen.border() if chosen.is_open(f, known)), None):
            known.setdefault(flow, []).append(len(chosen.planned))
            self._reach(flow, chosen)
            if chosen.planned and not all_paths:
                return chosen.first()
        if all_paths:
            self._vary(chosen, most)
        return chosen.close(), chosen.planned

    def _reach(self, flow: str, chosen: _Selection) -> None:
        """Look for inputs that lead to a flow: from planned runs that pass the element before it,
        wherever data leads, then along runs of the flow."""
        runs = chosen.shortest_with(flow)
        for rules in ALL_RULES:
            budget = [MOST_FREE * _MOST_RUNS]
            for base in chosen.passing(flow):
                if self._approach(flow, base, chosen, rules, budget) or flow in chosen.dead:
                    return
            for number, run in runs[:_MOST_RUNS]:
                attempt = self.solve(run, (rules,), most=MOST_WALKS // _MOST_RUNS)
                if attempt.conflict is None and chosen.keep(PlannedRun(run, attempt.walk)):
                    chosen.solved.add(number)
                    return
                if not chosen.planned or not chosen.passing(flow):
                    inputs = {**attempt.walk.slots, **attempt.inputs}
                    if self._approach(flow, _Base(run, inputs), chosen, rules, budget):
                        return

    def _approach(
        self, flow: str, base: _Base, chosen: _Selection, rules: WalkRules, budget: list[int]
    ) -> bool:
        """Look for a run that data chooses and that takes a flow, by changing the inputs that the
        choice before the flow depends on, as long as it comes nearer; whether there is one."""
        left = min(MOST_FREE, budget[0])
        best, inputs = self._probe(flow, base.run, base.inputs, chosen, rules), base.inputs
        while best is not None and left > 0 and flow not in chosen.dead:
            better = None
            for other in itertools.islice(self._list_changes(best, inputs), left):
                left -= 1
                budget[0] -= 1
                near = self._probe(flow, base.run, other, chosen, rules)
                if near is None:
                    return True
                if near.distance < best.distance:
                    better = near, other
                    break
            if better is None:
                return False
            best, inputs = better
        return best is None

    def _probe(
        self,
        flow: str,
        guide: Run,
        inputs: Mapping[Slot, Any],
        chosen: _Selection,
        rules: WalkRules,
    ) -> _Nearness | None:
        """How near the run that inputs lead to comes to a flow; `None` if it takes it, and then it
        is kept."""
        walk = DataWalk(self.process, guide.start or guide.process, inputs, rules)
        simulator = _DataSimulator(self.game, self.process_id, walk, guide, flow)
        result = self._simulate(simulator)
        if isinstance(result, PlannedRun):
            if flow in result.run.flows and chosen.keep(result):
                return None
            if not chosen.planned:
                chosen.keep(result)
        else:
            chosen.stop(result, flow)
            if result.run is not None:
                chosen.taken.update(result.run.flows)
        near = simulator.nearest or _Nearness(2.0, frozenset(walk.slots), walk.slots)
        contradicting = self._contradicting_demands(near.failed) if near.failed is not None else ()
        if contradicting:
            chosen.dead.add(flow)
            if tells_all_apart(contradicting):
                chosen.proved.add(flow)
        chosen.note_failure(flow, near)
        return near

    def _contradicting_demands(self, condition: PathCondition) -> Sequence[tuple[Tree, bool]]:
        """A demand of a condition, or all demands together, for which a search finds no values of
        the variables, wherever these come from; empty if it finds some."""
        for demands in (*((demand,) for demand in condition.demands), condition.demands):
            paths = {path for tree, _ in demands for path in variables(tree)}
            free = {path: Slot("", 0, path) for path in sorted(paths)}
            part = PathCondition(demands, free, {})
            is_said = is_covered(tree for tree, _ in demands)
            if is_said and free and self._solve_path(part, (), {}) is None:
                return demands
        return ()

    def _list_changes(
        self, near: _Nearness, inputs: Mapping[Slot, Any]
    ) -> Iterator[Mapping[Slot, Any]]:
        """Inputs with other values of those that a choice depends on."""
        slots = sorted(near.slots, key=str)
        solved = self._solve_path(near.failed, near.passed, {**near.given, **inputs})
        if solved is not None:
            yield {**inputs, **solved}
        if any(slot in inputs for slot in slots):
            # Without them, the choice itself determines those that it reads.
            yield {slot: value for slot, value in inputs.items() if slot not in near.slots}
        for slot in slots:
            for value in self._values_near(slot, inputs.get(slot)):
                yield {**inputs, slot: value}
        for first_slot, other_slot in itertools.combinations(slots[:4], 2):
            values = self.candidates[:_PAIR_CANDIDATES]
            for first, second in itertools.product(values, repeat=2):
                yield {**inputs, first_slot: first, other_slot: second}

    def _vary(self, chosen: _Selection, most: int) -> None:
        """Add runs with other inputs that take other branches of programs and conditions, or come
        to the borders between these."""
        observed: set[Hashable] = {item for p in chosen.planned for item in p.walk.observed}
        queue = list(chosen.planned)
        vain = 0
        for base, inputs in itertools.islice(self._list_variants(queue), MOST_VARIANTS):
            if len(chosen.planned) >= most or vain >= MOST_VAIN:
                return
            vain += 1
            result = self.run_freely(base.run, inputs, base.walk.rules)
            if isinstance(result, ComputedFault):
                continue
            if result.walk.observed - observed and chosen.keep(result):
                observed |= result.walk.observed
                queue.append(result)
                vain = 0

    def _list_variants(
        self, queue: list[PlannedRun]
    ) -> Iterator[tuple[PlannedRun, Mapping[Slot, Any]]]:
        """The runs of a growing list, each with one input that has another value of its type."""
        tried: set[str] = set()
        for base in queue:
            for slot, value in list(base.walk.slots.items()):
                for other in self._values_near(slot, value, strides=(1, -1)):
                    inputs = {**base.walk.slots, slot: other}
                    key = repr(sorted((str(s), repr(v)) for s, v in inputs.items()))
                    if type(other) is type(value) and key not in tried:
                        tried.add(key)
                        yield base, inputs


class _DataSimulator(Simulator):
    """A run whose branches the data chooses, otherwise near another run.

    Attributes:
        goal: a flow that it takes wherever it can.
        nearest: the smallest distance at which it did not take it.
    """

    def __init__(
        self, game: Game, process_id: str, walk: DataWalk, guide: Run, goal: str = ""
    ) -> None:
        super().__init__(game, process_id, loops=MOST_STEPS, max_trials=1)
        self.walk, self.guide, self.goal = walk, guide, goal
        self.nearest: _Nearness | None = None
        self.max_steps = MOST_STEPS
        self.steps_left = 10 * MOST_STEPS
        self._on_guide = True
        self.trial: Trial | None = None

    def _choose_step(
        self,
        state: State,
        stack: list[int],
        options: tuple[Step, ...],
        times: Any,
        goals: set[int],
        trial: Trial,
    ) -> Step:
        self.trial = trial
        number = len(trial.steps)
        guided = (
            self.guide.steps[number] if self._on_guide and number < len(self.guide.steps) else None
        )
        wanted = (
            guided
            if guided in options
            else super()._choose_step(state, stack, options, times, goals, trial)
        )
        conflicts: list[Conflict] = []
        ordered = [wanted, *(o for o in options if o != wanted)]
        if self.goal:
            ordered.sort(key=lambda option: self.goal not in option.taken)
        self.walk.reached = number
        for option in ordered:
            if option.action == "wait":
                return option
            try:
                self.walk.prepare(option)
                self.walk.decide(option)
            except Conflict as conflict:
                conflicts.append(conflict)
                if self.goal in option.taken:
                    self._note_nearness(conflict)
                if conflict.kind != "branch":
                    break
                continue
            self._on_guide = self._on_guide and option == guided
            return option
        last = conflicts[-1]
        if last.kind == "branch":
            raise Conflict("no-branch", last.element, "no branch fits these values", last.slots)
        raise last

    def note_failure(self, conflict: Conflict) -> None:
        """Note what ended the run; behind its goal, that is all that is in the way."""
        assert self.trial is not None
        if self.goal and any(self.goal in step.taken for step in self.trial.steps):
            self.nearest = _Nearness(_BEHIND, conflict.slots, dict(self.walk.slots))

    def _note_nearness(self, conflict: Conflict) -> None:
        walk = self.walk
        near = _Nearness(
            conflict.distance, conflict.slots, dict(walk.slots), walk.failed, list(walk.passed),
            bool(conflict.slots & walk.cycle_slots),
        )  # fmt: skip
        if self.nearest is None or near.distance < self.nearest.distance:
            self.nearest = near

    def _note_step(self, step: Step, times: Any, goals: set[int]) -> None:
        super()._note_step(step, times, goals)
        self.walk.apply(step)


def list_candidate_values(constants: Iterable[Any]) -> list[Any]:
    """Values for inputs: constants and their neighbours, truth values, texts, lists, times."""
    single: dict[str, Any] = {}
    for value in constants:
        more = [value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            more = [value, value + 1, value - 1]
        for near in more:
            single.setdefault(repr(near), near)
    for value in (True, False, 1, 0, -1, OTHERWISE):
        single.setdefault(repr(value), value)
    plain = list(single.values())[:40]
    several: list[Any] = [[value] for value in plain[:8]]
    lengths = {v for v in plain if isinstance(v, int) and 1 < v <= _MOST_ITEMS}
    several += [[1] * length for length in sorted(lengths)]
    several += [[], [1, 2, 3], "2030-01-01", "PT1H", None, {}, UNSET]
    return [*plain, *several]


def _most_frequent(steps: Sequence[Step]) -> str:
    """The element at which an endless run is: the one that is done most often, the last of them."""
    last = steps[-200:]
    counts: dict[str, int] = {}
    for step in last:
        counts[step.element] = counts.get(step.element, 0) + 1
    return max(counts, key=lambda element: counts[element], default="")
