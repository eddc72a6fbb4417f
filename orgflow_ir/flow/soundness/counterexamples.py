"""Shows faults on the token game; a fault is reported only if the game plays its run."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.nets.activity_summaries import Nesting
from orgflow_ir.flow.soundness.trace_mapping import Nets, counterexample_steps
from orgflow_ir.flow.soundness.verdicts import Fault
from orgflow_ir.flow.soundness.witness_search import Firing
from orgflow_ir.flow.token_game.distance import Distances
from orgflow_ir.flow.token_game.moves import node_interrupts
from orgflow_ir.flow.token_game.semantics import Game, State
from orgflow_ir.model import Event, Gateway, Task

SETTLING = 400
"""Maximum number of steps played after the fault to check that nothing can repair it."""
SEARCHED = 1_500
"""Maximum number of states searched for a fault whose run is unknown."""
SOON = 12
"""Maximum number of steps played to the next element after a gateway that two tokens pass."""
ROUNDS = 50
"""Maximum number of states examined after the run of a loop to check that no end is reached."""
Told = tuple[State, tuple[Step, ...]] | None


class Shower:
    """The token game of one process, created when the first fault is shown."""

    def __init__(self, nesting: Nesting, nets: Nets, game: Callable[[], Game]) -> None:
        self.nesting, self.nets = nesting, nets
        self._make = game
        self._game: Game | None = None
        self._distance: list[int] | None = None
        self._elements: dict[int, frozenset[str]] = {}
        self._failed: dict[str, int] = {}
        self._traces: dict[tuple[int, bool], tuple[list[Firing], Told]] = {}
        # Many faults are often shown by one run: what holds in its last state is kept.
        self._enabled: tuple[State, tuple[Step, ...]] | None = None
        self._waiting: tuple[State, int, frozenset[str]] | None = None

    @property
    def game(self) -> Game:
        """The token game with the policies of the analysis."""
        if self._game is None:
            self._game = self._make()
        return self._game

    def show(self, fault: Fault, logs: list[list[Firing]]) -> bool:
        """Find the steps that show a fault and store them with it."""
        chain = self.nesting.chain(fault.scope)
        for log in logs:
            finish = fault.kind != "unsync"
            known = self._traces.get((id(log), finish))
            if known is None:
                known = (
                    log,
                    counterexample_steps(self.game, chain, self.nets, log, finish, self._failed),
                )
                self._traces[id(log), finish] = known
            translated = known[1]
            if translated is not None and self._accept_run(fault, *translated):
                return True
        return self._search_run(fault)

    # -- is it to be seen ---------------------------------------------------------------------

    def _accept_run(self, fault: Fault, state: State, steps: tuple[Step, ...]) -> bool:
        if fault.kind == "unsync":
            shown = self._shows_double(fault, state, steps)
            if shown:
                steps = self._continue_run(fault, state, steps)
            elif steps:  # they were seen on the way
                steps = self._first_doubled(fault, steps)
                shown = bool(steps)
        elif fault.kind == "livelock":
            shown = self._shows_endless(fault, state)
        else:
            state, steps = self._settle_scope(fault, state, steps)
            shown = self._shows_waiting(fault, state)
        if shown:
            fault.trace = steps
        return shown

    def _shows_double(self, fault: Fault, state: State, steps: tuple[Step, ...]) -> bool:
        if any(left.count > 1 for left in self.game.left(state)):
            return True
        times = Counter(s.element for s in steps if s.action != "open")
        return times[fault.element] > 1

    def _continue_run(
        self, fault: Fault, state: State, steps: tuple[Step, ...]
    ) -> tuple[Step, ...]:
        """The steps as far as what comes after a gateway has happened twice, where it soon does:
        people see it in what is done, not in a gateway without a name."""
        nodes = {n.id: n for n in fault.scope.nodes}
        after: dict[str, list[str]] = {}
        for flow in fault.scope.flows:
            after.setdefault(flow.source, []).append(flow.target)
        way, here = [fault.element], fault.element
        while isinstance(nodes.get(here), Gateway) and len(after.get(here, ())) == 1:
            here = after[here][0]
            if here in way:
                return steps
            way.append(here)
        if not isinstance(nodes.get(here), Task | Event) or here == fault.element:
            return steps
        played = list(steps)
        for _ in range(SOON):
            if sum(s.element == here and s.action != "open" for s in played) > 1:
                return tuple(played)
            step = next((s for s in self.game.enabled(state) if s.element in way), None)
            if step is None:
                break
            state = self.game.fire(state, step)
            played.append(step)
        return steps

    def _first_doubled(self, fault: Fault, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """The steps up to where two tokens are at the element or before it; none if they never
        are."""
        game, process = self.game, self.nesting.process.id
        starts = game.starts(process)
        state = game.initial(process, steps[0].element if steps[0].element in starts else starts[0])
        at = {f.id for f in fault.scope.flows if f.target == fault.element} | {fault.element}
        for i, step in enumerate(steps):
            state = game.fire(state, step)
            if any(x.count > 1 and x.element in at for x in game.left(state)):
                return steps[: i + 1]
        return ()

    def _relieves_fault(self, fault: Fault, step: Step) -> bool:
        """Whether a step is one by which something from outside ends the scope of the fault. An
        error that nothing inside throws may come, but is not waited for."""
        if not self._cuts_scope(step):
            return False
        node = self.game.net.nodes[self.game.net.by_id[step.element][0]]
        return fault.ended_by is not None or node.kinds() == {"error"}

    def _cuts_scope(self, step: Step) -> bool:
        """Whether a step interrupts something from outside."""
        node = self.game.net.nodes[self.game.net.by_id[step.element][0]]
        if not isinstance(node.element, Event):
            return False
        if node.attached >= 0:
            body = self.game.net.nodes[node.attached].body >= 0
            return body and node_interrupts(node) and not node.thrown_inside
        return step.action == "start" and node.guard >= 0 and node_interrupts(node)

    def _settle_scope(
        self, fault: Fault, state: State, steps: tuple[Step, ...]
    ) -> tuple[State, tuple[Step, ...]]:
        """Play on whatever else is under way in the scope, to its end by the nearest way."""
        played = list(steps)
        for _ in range(SETTLING):
            options = self._going_on(fault, state)
            if not options:
                break
            step = min(options, key=self._rank_step)
            state = self.game.fire(state, step)
            played.append(step)
        return state, tuple(played)

    def _going_on(self, fault: Fault, state: State) -> list[Step]:
        """Steps that can still happen in the scope of a fault, without those that end it from
        outside. Scopes do not put tokens into each other, so those around need not be at rest."""
        inside = self._elements_inside(fault)
        if self._enabled is None or self._enabled[0] is not state:
            self._enabled = state, self.game.enabled(state)
        return [
            s
            for s in self._enabled[1]
            if s.element in inside and not self._relieves_fault(fault, s)
        ]

    def _elements_inside(self, fault: Fault) -> frozenset[str]:
        known = self._elements.get(id(fault.scope))
        if known is None:
            known = frozenset(n.id for s in fault.scope.scopes() for n in s.nodes)
            self._elements[id(fault.scope)] = known
        return known

    def _rank_step(self, step: Step) -> tuple[bool, int, int]:
        game = self.game
        if self._distance is None:
            self._distance = Distances(game.net).to_end()
        ahead = [self._distance[game.net.consumer[game.net.flow_index[f]]] for f in step.taken]
        return self._cuts_scope(step), sum(ahead), len(step.taken)

    def _shows_waiting(self, fault: Fault, state: State) -> bool:
        """Whether nothing moves in the scope any more and a token waits at the element."""
        if self._going_on(fault, state):
            return False
        scope = fault.scope
        known = self._waiting
        if known is None or known[0] is not state or known[1] != id(scope):
            flows = {f.id: f.target for f in scope.flows}
            at = {left.element for left in self.game.left(state)}
            places = frozenset((*at, *(flows[e] for e in at if e in flows)))
            known = self._waiting = state, id(scope), places
        return fault.element in known[2]

    def _shows_endless(self, fault: Fault, state: State) -> bool:
        """Whether the scope never comes to rest, as far as it is looked at."""
        game, inside = self.game, self._elements_inside(fault)
        seen, queue = {state}, deque([state])
        while queue:
            here = queue.popleft()
            moved = False
            for step, after in game.steps_from(here, inside):
                if self._relieves_fault(fault, step):
                    continue
                moved = True
                if len(seen) >= ROUNDS:
                    break
                new = after()
                if new not in seen:
                    seen.add(new)
                    queue.append(new)
            if not moved:
                return False
        return True

    # -- without a run of the net -------------------------------------------------------------

    def _search_run(self, fault: Fault) -> bool:
        """Breadth first on the token game itself, within a budget."""
        game = self.game
        process = self.nesting.process.id
        if fault.kind == "livelock":
            return False
        before: dict[State, tuple[State, Step] | None] = {}
        queue: deque[State] = deque()
        for start in game.starts(process):
            state = game.initial(process, start)
            before[state] = None
            queue.append(state)
        while queue:
            state = queue.popleft()
            if self._shows_fault(fault, state, before):
                fault.trace = tuple(_trace_path(before, state))
                return True
            if len(before) >= SEARCHED:
                continue
            for step in game.enabled(state):
                new = game.fire(state, step)
                if new not in before:
                    before[new] = (state, step)
                    queue.append(new)
        return False

    def _shows_fault(
        self, fault: Fault, state: State, before: dict[State, tuple[State, Step] | None]
    ) -> bool:
        if fault.kind == "unsync":
            at = {f.id for f in fault.scope.flows if fault.element in (f.source, f.target)}
            at.add(fault.element)
            return any(x.count > 1 and x.element in at for x in self.game.left(state))
        return self._shows_waiting(fault, state)


def _trace_path(before: dict[State, tuple[State, Step] | None], state: State) -> Iterator[Step]:
    path = []
    here = before[state]
    while here is not None:
        path.append(here[1])
        here = before[here[0]]
    return reversed(path)
