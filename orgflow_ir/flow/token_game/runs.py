"""Runs of a process for replay: few, complete, and together covering every flow that can be
covered.

A directed search, not an enumeration: one interleaving (depth first, branches in model order), at
each split the flow that leads to an uncovered flow, then the shortest outgoing flow.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from functools import cached_property

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.distance import FAR
from orgflow_ir.flow.token_game.net import Policy
from orgflow_ir.flow.token_game.run_search import Decision, Simulator, Trial
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import Left
from orgflow_ir.model import Model
from orgflow_ir.model.records import NamedTuple, dataclass

Choice = tuple[str, tuple[str, ...]]
"""An element that had to choose and the flows it took (see `Game.decisions`)."""


VARIANT_STEPS = 20_000
"""Maximum number of steps spent on runs without new coverage."""


@dataclass(frozen=True)
class Run:
    """One run: its start, its steps, its outcome (`Game.outcome`), and the remaining tokens."""

    process: str
    start: str | None
    steps: tuple[Step, ...]
    choices: tuple[Choice, ...]
    outcome: str
    left: tuple[Left, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether no token is left."""
        return self.outcome in ("completed", "terminated", "error")

    @cached_property
    def script(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """For every deciding element, the flows it took, visit by visit."""
        choices: dict[str, list[tuple[str, ...]]] = {}
        for element, taken in self.choices:
            choices.setdefault(element, []).append(taken)
        return {element: tuple(visits) for element, visits in choices.items()}

    @cached_property
    def flows(self) -> frozenset[str]:
        """Every flow that got a token."""
        return frozenset(f for step in self.steps for f in step.taken)


class RunSet(NamedTuple):
    """Complete runs of a process. `uncovered` maps each flow that no complete run takes to the
    reason; `stuck` are incomplete runs that reach such flows."""

    process: str
    runs: tuple[Run, ...]
    flows_total: int
    flows_covered: int
    uncovered: tuple[tuple[str, str], ...] = ()
    stuck: tuple[Run, ...] = ()


def enumerate_runs(
    model: Model,
    process_id: str,
    *,
    max_runs: int = 32,
    loops: int = 1,
    max_trials: int = 400,
    variants: bool = True,
    game: Game | None = None,
) -> RunSet:
    """Runs of one process, at most `max_runs`, chosen for flow coverage.

    A flow is taken at most `loops` more times in the same run unless it is the only continuation;
    `max_trials` bounds the search. With `variants`, further runs with other choices follow after
    full coverage. `game` (default: free messages, non-interrupting events once) may be shared
    between calls. Raises `KeyError` for an unknown process.
    """
    game = game or Game(model, Policy(once=True))
    return _Coverage(Simulator(game, process_id, loops, max_trials), max_runs).run(variants)


class Coverage(NamedTuple):
    """Run coverage of one process: runs, flows taken by complete runs, all flows, uncovered
    flows."""

    process: str
    runs: int
    flows_covered: int
    flows_total: int
    uncovered: tuple[tuple[str, str], ...]
    longest: int

    @property
    def full(self) -> bool:
        """Whether every flow is on some complete run."""
        return self.flows_covered == self.flows_total


def coverage_report(model: Model, *, max_runs: int = 32) -> tuple[Coverage, ...]:
    """The flow coverage of the enumerated runs, for each process that has nodes."""
    game = Game(model, Policy(once=True))
    lines = []
    for process in model.processes:
        if process.nodes:
            runs = enumerate_runs(model, process.id, max_runs=max_runs, game=game)
            lines.append(
                Coverage(
                    process.id,
                    len(runs.runs),
                    runs.flows_covered,
                    runs.flows_total,
                    runs.uncovered,
                    max((len(r.steps) for r in runs.runs), default=0),
                )
            )
    return tuple(lines)


class _Coverage:
    def __init__(self, simulator: Simulator, max_runs: int) -> None:
        self.sim, self.max_runs = simulator, max_runs
        self.game, self.net, self.process = simulator.game, simulator.net, simulator.process

    def run(self, variants: bool) -> RunSet:
        kept: list[Trial] = []
        signatures: set[tuple[Choice, ...]] = set()
        uncovered = set(self.sim.own)
        stuck: list[Trial] = []
        empty = not self.net.scopes[self.net.processes[self.process]].nodes
        for start in () if empty else self.game.starts(self.process):
            self._cover_flows(start, uncovered, kept, signatures, stuck)
            if uncovered:
                # a terminate or an interruption may need branches to go the other way round
                self.sim.last_first = True
                self._single_goals(start, set(uncovered), uncovered, kept, signatures, stuck)
                self.sim.last_first = False
        if variants:
            self._vary_runs(kept, signatures)
        runs = tuple(self._as_run(t) for t in kept)
        shown = self._show_stuck(stuck, uncovered)
        missing = []
        for place in sorted(uncovered):
            flow = self.net.flows[place].id
            missing.append((flow, self._explain_uncovered(place, shown, len(runs))))
        return RunSet(
            self.process,
            runs,
            len(self.sim.own),
            len(self.sim.own) - len(uncovered),
            tuple(missing),
            shown,
        )

    def _cover_flows(
        self,
        start: str | None,
        uncovered: set[int],
        kept: list[Trial],
        signatures: set[tuple[Choice, ...]],
        stuck: list[Trial],
    ) -> None:
        deferred: set[int] = set()
        first = True
        while not self.sim.spent and len(kept) < self.max_runs:
            self.sim.goals = uncovered - deferred
            if not first and not self.sim.goals:
                break
            trial = self.sim.simulate(start)
            if trial.outcome in ("stuck", "running"):
                stuck.append(trial)
                gain = self._covered_flows(trial, self.sim.goals)
                trial = self._repair_run(trial, stuck) or trial
                if trial.outcome in ("stuck", "running"):
                    deferred |= self._single_goals(start, gain, uncovered, kept, signatures, stuck)
                    if not gain:
                        break
                    first = False
                    continue
            gain = self._covered_flows(trial, uncovered)
            if not gain and not first:
                break
            first = False
            uncovered -= gain
            self._keep_run(trial, kept, signatures)

    def _single_goals(
        self,
        start: str | None,
        goals: set[int],
        uncovered: set[int],
        kept: list[Trial],
        signatures: set[tuple[Choice, ...]],
        stuck: list[Trial],
    ) -> set[int]:
        """Try for each goal by itself; those that do not work out."""
        failed: set[int] = set()
        for goal in sorted(goals):
            if goal not in uncovered:
                continue
            self.sim.goals = {goal}
            if self.sim.spent or len(kept) >= self.max_runs:
                failed.add(goal)
                continue
            trial: Trial | None = self.sim.simulate(start)
            if trial is not None and trial.outcome in ("stuck", "running"):
                stuck.append(trial)
                trial = self._repair_run(trial, stuck, {goal})
            gain = self._covered_flows(trial, uncovered) if trial is not None else set()
            if trial is None or goal not in gain:
                failed.add(goal)
            if trial is not None and gain:
                uncovered -= gain
                self._keep_run(trial, kept, signatures)
        return failed

    def _repair_run(
        self, trial: Trial, stuck: list[Trial], needed: set[int] | None = None
    ) -> Trial | None:
        """A complete run that decides otherwise at one place of a stuck one, the latest first."""
        budget = 60 if trial.outcome == "stuck" else 8
        for at in range(len(trial.decisions) - 1, -1, -1):
            decision = trial.decisions[at]
            for option in range(min(len(decision.options), 12)):
                if option == decision.chosen:
                    continue
                if budget <= 0 or self.sim.spent:
                    return None
                budget -= 1
                other = self.sim.simulate(trial.start, (trial, at, option))
                if other.outcome in ("stuck", "running"):
                    stuck.append(other)
                elif needed is None or self._covered_flows(other, needed):
                    return other
        return None

    def _vary_runs(self, kept: list[Trial], signatures: set[tuple[Choice, ...]]) -> None:
        """Fill up with runs that decide otherwise somewhere, breadth first."""
        self.sim.goals = set()
        enough = self.sim.steps_left - VARIANT_STEPS
        queue = deque(kept)
        while queue and self.sim.steps_left > enough:
            trial = queue.popleft()
            for at, decision in enumerate(trial.decisions):
                for option in range(min(len(decision.options), 12)):
                    if option == decision.chosen or self._loops_again(trial, decision, option):
                        continue
                    done = self.sim.steps_left <= enough or len(kept) >= self.max_runs
                    if done or self.sim.spent:
                        return
                    other = self.sim.simulate(trial.start, (trial, at, option))
                    if other.outcome in ("stuck", "running"):
                        continue
                    if self._keep_run(other, kept, signatures):
                        queue.append(other)

    def _loops_again(self, trial: Trial, decision: Decision, option: int) -> bool:
        taken = Counter(f for s in trial.steps[: decision.length] for f in s.taken)
        return any(taken[f] > self.sim.loops for f in decision.options[option].taken)

    def _covered_flows(self, trial: Trial, wanted: set[int]) -> set[int]:
        return {self.net.flow_index[f] for s in trial.steps for f in s.taken} & wanted

    def _keep_run(
        self, trial: Trial, kept: list[Trial], signatures: set[tuple[Choice, ...]]
    ) -> bool:
        # The flows are part of it: before a terminate end, the order alone decides what is taken.
        taken = sorted({flow for step in trial.steps for flow in step.taken})
        start: Choice = ("", (trial.start or "", *taken))
        signature = (start, *self._list_choices(trial.steps))
        if signature in signatures:
            return False
        signatures.add(signature)
        kept.append(trial)
        return True

    def _list_choices(self, steps: Iterable[Step]) -> tuple[Choice, ...]:
        return tuple(c for s in steps for c in self.game.decisions(s))

    def _as_run(self, trial: Trial) -> Run:
        steps = tuple(trial.steps)
        left = self.game.left(trial.state)
        return Run(self.process, trial.start, steps, self._list_choices(steps), trial.outcome, left)

    def _show_stuck(self, stuck: list[Trial], uncovered: set[int]) -> tuple[Run, ...]:
        """As few stuck runs as needed to show the flows that no complete run covers."""
        shown: list[Run] = []
        rest = set(uncovered)
        for trial in sorted(stuck, key=lambda t: t.outcome != "stuck"):
            gain = self._covered_flows(trial, rest)
            if gain and len(shown) < self.max_runs:
                rest -= gain
                shown.append(self._as_run(trial))
        return tuple(shown)

    def _explain_uncovered(self, place: int, shown: tuple[Run, ...], runs: int) -> str:
        flow = self.net.flows[place].id
        for run in shown:
            if flow in run.flows:
                if run.outcome == "stuck":
                    return "only on runs that get stuck"
                return "only on runs that do not end"
        reach = self.sim.distances.to_flows([place])
        starts = self._entry_nodes()
        if all(reach[i] == FAR for i in starts):
            return "unreachable"
        if runs >= self.max_runs:
            return f"not among the first {self.max_runs} runs"
        if self.sim.spent:
            return "not reached within the bound on trials"
        if self.sim.bounded:
            return f"not reached with {self.sim.loops + 1} iterations of each loop, or never"
        if shown and any(r.outcome == "stuck" for r in shown):
            return "after a deadlock"
        return "no run that takes it was found"

    def _entry_nodes(self) -> list[int]:
        nodes: list[int] = []
        scope = self.net.scopes[self.net.processes[self.process]]
        for start in self.game.starts(self.process):
            if start is None:
                nodes.extend(scope.sources)
            else:
                nodes.append(self.net.by_id[start][0])
        return nodes
