"""Inputs with which a workflow takes the branches of a model: a search by distances.

Scripts, decisions, mappings and times are evaluated (`data_walk`), so an input that is computed on
its way to a condition is found as well. The search is the alternating variable method of McMinn
(2004, "Search-based software test data generation"): one input after the other gets the constants
of the model and their neighbours, then steps of growing size.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.replay.data_walk import (
    UNSET,
    ComputedProcess,
    Conflict,
    DataWalk,
    Slot,
    WalkRules,
    used_constants,
)

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.run_search import Simulator, Trial
from orgflow_ir.flow.token_game.runs import Run, RunSet
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.flow.token_game.stub_data import OTHERWISE
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.plugins.runners import ComputedFault, RunSelection

RESTRICTED = (WalkRules(), WalkRules(portable=False))
"""The rules under which no step sets what the model lets other steps set."""

UNRESTRICTED = (WalkRules(freely=True), WalkRules(portable=False, freely=True))
"""The other ones."""

ALL_RULES = (*RESTRICTED, *UNRESTRICTED)

MOST_WALKS = 400
"""Maximum number of walks along one run."""

MOST_VARIANTS = 600
"""Maximum number of walks for runs with other values on the same branches."""

MOST_VAIN = 120
"""Number of such walks in a row without anything new after which the search ends."""

MOST_STEPS = 1_000
"""Maximum number of steps of a run whose branches the data chooses; more count as endless."""

_PAIR_CANDIDATES = 14
_MOST_BASES = 6
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


class _Selection:
    """The runs that were chosen so far, and what ended others before their end.

    Attributes:
        planned: the runs, with their inputs.
        faults: by kind and element, those of any run.
        stopped: by flow, the first of a run that was to take it.
    """

    def __init__(self) -> None:
        self.planned: list[PlannedRun] = []
        self.faults: dict[tuple[str, str], ComputedFault] = {}
        self.stopped: dict[str, ComputedFault] = {}
        self._seen: set[Hashable] = set()

    def keep(self, candidate: PlannedRun) -> bool:
        """Add a run, unless one with the same choices and branches of programs is there."""
        signature = (
            candidate.run.start,
            candidate.run.choices,
            tuple(sorted(map(repr, candidate.walk.observed))),
        )
        if signature in self._seen:
            return False
        self._seen.add(signature)
        self.planned.append(candidate)
        return True

    def stop(self, fault: ComputedFault, flows: Iterable[str]) -> None:
        """Note what ended a run that was to take flows."""
        self.faults.setdefault((fault.kind, fault.element), fault)
        for flow in flows:
            self.stopped.setdefault(flow, fault)

    def missing(self, run: Run) -> set[str]:
        """The flows of a run that no planned one takes."""
        return _list_flows(run) - _collect_flows_taken(self.planned)

    def first(self, number: int) -> tuple[RunSelection, list[PlannedRun]]:
        """The first run alone, of `number`."""
        return RunSelection((self.planned[0].run,), left_out=number - 1), self.planned[:1]

    def close(self, runs: RunSet, excluded: Sequence[Run]) -> RunSelection:
        """The selection of all runs."""
        covered = _collect_flows_taken(self.planned)
        wanted = dict.fromkeys(flow for run in runs.runs for flow in sorted(_list_flows(run)))
        missed = [flow for flow in wanted if flow not in covered]
        # What other runs pass is no cause; a flow that only a failing run takes is reached.
        passed = {step.element for p in self.planned for step in p.run.steps}
        stopped = {flow: f for flow, f in self.stopped.items() if f.element not in passed}
        causes = {(f.kind, f.element): f for f in map(stopped.get, missed) if f is not None}
        if not self.planned:
            causes.update(self.faults)
        return RunSelection(
            tuple(candidate.run for candidate in self.planned),
            tuple(causes.values()),
            tuple(flow for flow in missed if flow not in stopped),
            excluded=tuple(excluded),
        )


class InputSearch:
    """Chooses the inputs of the runs of one process.

    Args:
        process: its workflows.
        game: the token game of the model that is executed; not needed for single runs.
        process_id: the id of the process.
    """

    def __init__(self, process: ComputedProcess, game: Game | None, process_id: str) -> None:
        self.process, self._game, self.process_id = process, game, process_id
        self.faulty: list[PlannedRun] = []
        self.candidates = list_candidate_values(used_constants(process))

    @property
    def game(self) -> Game:
        """The token game of the model."""
        assert self._game is not None
        return self._game

    # -- one run -----------------------------------------------------------------------------------

    def solve(self, run: Run, rules: Sequence[WalkRules] = ALL_RULES) -> _Attempt:
        """The best inputs for a run; without a conflict if they lead all the way. The first rules
        under which they do are preferred: inputs that a language has to convert, and steps that
        overwrite what others set, are the last choice."""
        best: _Attempt | None = None
        for allowed in rules:
            attempt = self._search(run, allowed)
            if attempt.conflict is None:
                return attempt
            if best is None or attempt.score > best.score:
                best = attempt
        assert best is not None
        return best

    def _search(self, run: Run, rules: WalkRules) -> _Attempt:
        left = MOST_WALKS
        best = self._try(run, {}, rules)
        while best.conflict is not None and best.conflict.slots and left > 0:
            better = None
            for attempt in self._neighbours(run, best):
                left -= 1
                if attempt.score > best.score:
                    better = attempt
                    break
                if left <= 0:
                    break
            if better is None:
                break
            best = better
        return best

    def _try(self, run: Run, inputs: Mapping[Slot, Any], rules: WalkRules) -> _Attempt:
        walk = DataWalk(self.process, run.start or run.process, inputs, rules)
        try:
            walk.follow(run.steps)
        except Conflict as conflict:
            return _Attempt(inputs, walk, conflict)
        return _Attempt(inputs, walk, None)

    def _neighbours(self, run: Run, best: _Attempt) -> Iterator[_Attempt]:
        """Walks with other values of the inputs that a conflict depends on."""
        assert best.conflict is not None
        slots = sorted(best.conflict.slots, key=str)
        base = {**best.walk.slots, **best.inputs}
        for slot in slots:
            for value in self._values_near(base.get(slot)):
                yield self._try(run, {**base, slot: value}, best.walk.rules)
        for first_slot, other_slot in itertools.combinations(slots[:4], 2):
            values = self.candidates[:_PAIR_CANDIDATES]
            for first, second in itertools.product(values, repeat=2):
                inputs = {**base, first_slot: first, other_slot: second}
                yield self._try(run, inputs, best.walk.rules)

    def _values_near(self, value: Any, strides: Sequence[int] = _STRIDES) -> Iterator[Any]:
        """Other values of an input: the steps of a number, and all candidates."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield from (value + stride for stride in strides)
        yield from self.candidates

    # -- runs whose branches the data chooses ------------------------------------------------------

    def run_freely(
        self,
        guide: Run,
        inputs: Mapping[Slot, Any],
        goals: Iterable[int] = (),
        rules: WalkRules = WalkRules(),
    ) -> PlannedRun | ComputedFault:
        """The run that inputs lead to, near a given one where the data leaves a choice; or what
        ends it before its end."""
        walk = DataWalk(self.process, guide.start or guide.process, inputs, rules)
        simulator = _DataSimulator(self.game, self.process_id, walk, guide)
        simulator.goals = set(goals)
        try:
            trial = simulator.simulate(guide.start)
        except Conflict as conflict:
            assert simulator.trial is not None
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
        found = _Selection()
        excluded: list[tuple[Run, _Attempt]] = []
        # 1. Inputs for each run of the flow.
        for run in runs.runs:
            attempt = self.solve(run, RESTRICTED)
            if attempt.conflict is None:
                found.keep(PlannedRun(run, attempt.walk))
            else:
                excluded.append((run, attempt))
            if found.planned and not all_paths:
                return found.first(len(runs.runs))
        # 2. Runs that data chooses, for flows that no run of the flow takes with any inputs.
        for run, attempt in excluded:
            self._reach(run, attempt, found)
            if found.planned and not all_paths:
                return found.first(len(runs.runs))
        # 3. The same where steps may also set what other steps set.
        left_over: list[Run] = []
        for run, _ in excluded:
            if found.planned and not found.missing(run):
                left_over.append(run)
                continue
            attempt = self.solve(run, UNRESTRICTED)
            if attempt.conflict is None:
                found.keep(PlannedRun(run, attempt.walk))
            else:
                left_over.append(run)
                self._reach(run, attempt, found)
            if found.planned and not all_paths:
                return found.first(len(runs.runs))
        if all_paths:
            self._vary(found, most)
        return found.close(runs, left_over), found.planned

    def _reach(self, run: Run, attempt: _Attempt, found: _Selection) -> None:
        """Look for a run that data chooses and that takes flows which no planned one takes."""
        missing = found.missing(run)
        if found.planned and not missing:
            return
        base = {**attempt.walk.slots, **attempt.inputs}
        goals = [self.game.net.flow_index[flow] for flow in missing]
        slots = attempt.conflict.slots if attempt.conflict is not None else frozenset()
        known = [base, *(candidate.walk.slots for candidate in found.planned[:_MOST_BASES])]
        trials: Iterator[Mapping[Slot, Any]] = itertools.chain(
            [base],
            (
                {**inputs, slot: value}
                for inputs in known
                for slot in sorted(slots or inputs, key=str)
                for value in self._values_near(inputs.get(slot))
            ),
        )
        for inputs in itertools.islice(trials, MOST_WALKS):
            result = self.run_freely(run, inputs, goals, attempt.walk.rules)
            if isinstance(result, ComputedFault):
                found.stop(result, missing)
                continue
            if _list_flows(result.run) & missing or not found.planned:
                found.keep(result)
                missing -= _list_flows(result.run)
                if not missing:
                    return

    def _vary(self, found: _Selection, most: int) -> None:
        """Add runs with other inputs that take other branches of programs and conditions, or come
        to the borders between these."""
        observed: set[Hashable] = {item for p in found.planned for item in p.walk.observed}
        queue = list(found.planned)
        vain = 0
        for base, inputs in itertools.islice(self._list_variants(queue), MOST_VARIANTS):
            if len(found.planned) >= most or vain >= MOST_VAIN:
                return
            vain += 1
            result = self.run_freely(base.run, inputs, rules=base.walk.rules)
            if isinstance(result, ComputedFault):
                continue
            if result.walk.observed - observed and found.keep(result):
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
                for other in self._values_near(value, strides=(1, -1)):
                    inputs = {**base.walk.slots, slot: other}
                    key = repr(sorted((str(s), repr(v)) for s, v in inputs.items()))
                    if type(other) is type(value) and key not in tried:
                        tried.add(key)
                        yield base, inputs


class _DataSimulator(Simulator):
    """A run whose branches the data chooses, otherwise near another run."""

    def __init__(self, game: Game, process_id: str, walk: DataWalk, guide: Run) -> None:
        super().__init__(game, process_id, loops=MOST_STEPS, max_trials=1)
        self.walk, self.guide = walk, guide
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
        for option in (wanted, *(o for o in options if o != wanted)):
            if option.action == "wait":
                return option
            try:
                self.walk.prepare(option)
                self.walk.decide(option)
            except Conflict as conflict:
                conflicts.append(conflict)
                if conflict.kind != "branch":
                    break
                continue
            self._on_guide = self._on_guide and option == guided
            return option
        last = conflicts[-1]
        if last.kind == "branch":
            raise Conflict("no-branch", last.element, "no branch fits these values", last.slots)
        raise last

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
    several += [[], [1, 2, 3], "2030-01-01", "PT1H", None, {}, UNSET]
    return [*plain, *several]


def _collect_flows_taken(planned: Sequence[PlannedRun]) -> set[str]:
    return {flow for candidate in planned for flow in candidate.run.flows}


def _list_flows(run: Run) -> set[str]:
    return set(run.flows)


def _most_frequent(steps: Sequence[Step]) -> str:
    """The element at which an endless run is: the one that is done most often, the last of them."""
    last = steps[-200:]
    counts: dict[str, int] = {}
    for step in last:
        counts[step.element] = counts.get(step.element, 0) + 1
    return max(counts, key=lambda element: counts[element], default="")
