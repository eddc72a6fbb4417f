"""The directed search after `runs.enumerate_runs`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.distance import FAR, Distances
from orgflow_ir.flow.token_game.net import NetNode
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.model.records import dataclass

WAIT = "wait"
"""Action of an option that postpones an optional event."""


@dataclass(slots=True)
class Decision:
    """A choice made in a trial, with the state needed to resume from it with another option."""

    state: State
    stack: list[int]
    length: int
    options: tuple[Step, ...]
    chosen: int


@dataclass(slots=True)
class Trial:
    """One simulated run with its decisions."""

    start: str | None
    steps: list[Step]
    decisions: list[Decision]
    state: State
    outcome: str


class Simulator:
    """Runs of a process one at a time, each towards `goals` (flows not covered yet) and then by the
    shortest outgoing flow. Parallel branches run in order, or with `last_first` in reverse order;
    `bounded`: a run was cut off."""

    def __init__(self, game: Game, process_id: str, loops: int, max_trials: int) -> None:
        self.game, self.net, self.process = game, game.net, process_id
        self.loops, self.trials_left = loops, max_trials
        root = self.net.processes[process_id]
        mine = self._own_scopes(root)
        self.own = [p for p, s in enumerate(self.net.flow_scope) if s in mine]
        self.distances = Distances(self.net)
        self.to_end = self.distances.to_end()
        size = sum(len(self.net.scopes[s].nodes) for s in mine) + len(self.own)
        self.max_steps = 60 + 6 * size
        self.steps_left = 20_000 + 20 * size
        self.goals: set[int] = set()
        self._to_goal: tuple[tuple[int, int], list[int]] = ((-1, -1), [])
        self.bounded = False
        self.last_first = False

    @property
    def spent(self) -> bool:
        """Whether the limit on trials, or on their total steps, is reached."""
        return self.trials_left <= 0 or self.steps_left <= 0

    def _own_scopes(self, root: int) -> set[int]:
        own, stack = {root}, [root]
        while stack:
            for i in self.net.scopes[stack.pop()].nodes:
                body = self.net.nodes[i].body
                if body >= 0 and body not in own and body not in self.net.processes.values():
                    own.add(body)
                    stack.append(body)
        return own

    # -- one trial ----------------------------------------------------------------------------

    def simulate(self, start: str | None, resume: tuple[Trial, int, int] | None = None) -> Trial:
        """Run from `start`, or resume from decision `resume[1]` of a trial with another option."""
        self.trials_left -= 1
        game = self.game
        times: Counter[int] = Counter()
        open_goals = set(self.goals)
        if resume is None:
            state = game.initial(self.process, start)
            trial = Trial(start, [], [], state, "running")
            stack = self._fresh_nodes(State(), state)
            forced: Step | None = None
        else:
            before, at, option = resume
            decision = before.decisions[at]
            trial = Trial(start, before.steps[: decision.length], [], decision.state, "running")
            trial.decisions = [*before.decisions[:at], replace(decision, chosen=option)]
            stack = list(decision.stack)
            state = decision.state
            forced = decision.options[option]
            for past in trial.steps:
                self._note_step(past, times, open_goals)
        if forced is not None and forced.action == WAIT:
            stack.pop()
            forced = None
        while len(trial.steps) < self.max_steps:
            step = forced or self._next_step(state, stack, times, open_goals, trial)
            if step is None:
                break
            forced = None
            self._note_step(step, times, open_goals)
            after = game.fire(state, step)
            trial.steps.append(step)
            stack.extend(self._fresh_nodes(state, after))
            state = after
        self.steps_left -= len(trial.steps)
        trial.state = state
        trial.outcome = game.outcome(state)
        self.bounded |= trial.outcome == "running"
        return trial

    def _note_step(self, step: Step, times: Counter[int], goals: set[int]) -> None:
        for flow in step.taken:
            place = self.net.flow_index[flow]
            times[place] += 1
            goals.discard(place)

    def _fresh_nodes(self, before: State, after: State) -> list[int]:
        """Nodes that got a token, the one to go on with last."""
        old = {(f.scope, f.key): dict(f.tokens) for f in before.frames}
        marked: list[int] = []
        for frame in after.frames:
            had = old.get((frame.scope, frame.key), {})
            for place, number in frame.tokens:
                if number > had.get(place, 0):
                    marked.append(self.net.consumer[place])
        if not self.last_first:
            marked.reverse()
        return marked

    def _next_step(
        self,
        state: State,
        stack: list[int],
        times: Counter[int],
        goals: set[int],
        trial: Trial,
    ) -> Step | None:
        while stack:
            node = self.net.nodes[stack[-1]]
            options = self._list_options(state, node)
            if options:
                chosen = self._choose_step(state, stack, options, times, goals, trial)
                if chosen.action != WAIT:
                    return chosen
            stack.pop()
        enabled = self.game.enabled(state)
        if not enabled:
            return None
        node = self.net.nodes[self.net.by_id[enabled[0].element][0]]
        stack.append(node.index)
        options = self._list_options(state, node)
        if not options or options[-1].action == WAIT:
            options = tuple(s for s in enabled if s.element == node.id)
        return self._choose_step(state, stack, options, times, goals, trial)

    def _list_options(self, state: State, node: NetNode) -> tuple[Step, ...]:
        """What can happen at a node: its own steps, those of its boundary events, of its targets
        if it is an event-based gateway, of what may start in it or around it by itself. Where only
        the latter are there, also to wait."""
        own = self.game.steps_of(state, node.id)
        if node.race:
            targets = sorted({self.net.consumer[p] for p in node.outs})
            races = [s for t in targets for s in self.game.steps_of(state, self.net.nodes[t].id)]
            return (*own, *(s for s in races if s.action == "done"))
        others = list(node.boundaries)
        if own:
            others.extend(node.caught_by)
            for i in self.net.scopes[node.scope].events:
                body = self.net.nodes[i].body
                others.extend(self.net.scopes[body].starts if body >= 0 else ())
        if node.body >= 0 and self.net.scopes[node.body].ad_hoc:
            others.extend(self.net.scopes[node.body].sources)
        if not others:
            return own
        possible = list(own)
        for other in others:
            for step in self.game.steps_of(state, self.net.nodes[other].id):
                if step not in possible:
                    possible.append(step)
        if possible and not own:
            possible.append(Step(WAIT, node.id))
        return tuple(possible)

    def _choose_step(
        self,
        state: State,
        stack: list[int],
        options: tuple[Step, ...],
        times: Counter[int],
        goals: set[int],
        trial: Trial,
    ) -> Step:
        if len(options) == 1:
            return options[0]
        fresh = any(self.net.flow_index[f] in goals for s in options for f in s.taken)
        far = None if fresh or not goals else self._goal_distances(goals)
        ranks = [self._rank_step(s, i, times, goals, far) for i, s in enumerate(options)]
        chosen = ranks.index(min(ranks))
        trial.decisions.append(Decision(state, list(stack), len(trial.steps), options, chosen))
        return options[chosen]

    def _rank_step(
        self, step: Step, number: int, times: Counter[int], goals: set[int], far: list[int] | None
    ) -> tuple[int, ...]:
        """Lowest first: not taken too often, covers most that is new, leads nearest to something
        new, is not an event out of the ordinary, was taken least, is nearest to an end."""
        net = self.net
        places = [net.flow_index[f] for f in step.taken]
        node = net.nodes[net.by_id[step.element][0]]
        again = max((times[p] for p in places), default=0)
        over = again if again > self.loops else 0
        new = sum(1 for p in places if p in goals)
        near = FAR
        if far is not None:
            ahead = [net.consumer[p] for p in places]
            if step.action == WAIT:
                ahead = [*net.scopes[node.body].nodes, *(net.consumer[p] for p in node.outs)]
            near = min((far[i] for i in ahead), default=far[node.index])
        event = self._out_of_order(node, step)
        end = max((self.to_end[net.consumer[p]] for p in places), default=0)
        return (over, -new, near, event, len(places), again, end, number)

    def _out_of_order(self, node: NetNode, step: Step) -> int:
        """1 for what need not happen for the run to go on."""
        return int(node.attached >= 0 or (node.guard >= 0 and not node.ins))

    def _goal_distances(self, goals: set[int]) -> list[int]:
        # within a trial goals only go, so their number tells whether any did
        key = (self.trials_left, len(goals))
        if self._to_goal[0] != key:
            self._to_goal = (key, self.distances.to_flows(goals))
        return self._to_goal[1]
