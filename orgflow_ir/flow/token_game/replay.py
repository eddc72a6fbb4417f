"""Replay: is a trace of steps, or a sequence of elements that some engine executed, a run?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.net import NetNode
from orgflow_ir.flow.token_game.semantics import Game, NotEnabled
from orgflow_ir.flow.token_game.state import Left, State
from orgflow_ir.model.records import dataclass

Script = Mapping[str, Sequence[tuple[str, ...]]]
"""Element → the flows it takes, visit by visit: `Run.script`."""


@dataclass(frozen=True)
class ReplayResult:
    """Whether a trace is a run; otherwise the index of the first impossible step and the reason."""

    ok: bool
    state: State
    outcome: str
    index: int | None = None
    reason: str = ""


def replay_trace(
    game: Game, steps: Iterable[Step], process_id: str, start: str | None = None
) -> ReplayResult:
    """Replay a trace exactly, step by step, from the beginning of the process at `start`."""
    state = game.initial(process_id, start)
    for index, step in enumerate(steps):
        try:
            state = game.fire(state, step)
        except NotEnabled as error:
            return ReplayResult(False, state, game.outcome(state), index, str(error))
    return ReplayResult(True, state, game.outcome(state))


@dataclass(frozen=True)
class FollowResult:
    """The result of comparing an execution with the model.

    `index` is the index of the first observation that the model does not allow (the number of
    observations if the fault comes after the last one). `expected` are the labels of visible
    elements that could have occurred there. `outcome` and `left` describe the final state of the
    model, `flows` those that got a token. `undecided` is the element whose choice the script does
    not define, if that is the reason.
    """

    index: int | None
    reason: str
    expected: tuple[str, ...]
    outcome: str
    left: tuple[Left, ...]
    flows: frozenset[str]
    steps: tuple[Step, ...]
    undecided: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the execution is a run of the model, from beginning to end."""
        return self.index is None and self.outcome != "running"


class _Diverged(Exception):
    """The execution is not a run; the message says why, `undecided` whose choice nobody tells."""

    def __init__(self, message: str, undecided: str | None = None) -> None:
        super().__init__(message)
        self.undecided = undecided


def follow_execution(
    game: Game,
    process_id: str,
    start: str | None,
    observed: Sequence[str],
    script: Script,
    visible: Collection[str],
) -> FollowResult:
    """Follow an execution of an engine: `observed` element ids in order.

    Only elements in `visible` are observed; the others proceed as soon as they can. `script`
    defines the outcome of each choice. One observation of a waiting element is its `open` and its
    `done`, of a sub-process its `open`, of an event-based gateway's target its `done`. The game's
    policy counts loop bodies once (`instances=1`).
    """
    walk = _Walk(game, game.initial(process_id, start), script, frozenset(visible))
    index = 0
    try:
        for index, element in enumerate(observed):  # noqa: B007
            walk.observe(element)
        index = len(observed)
        walk.finish()
    except _Diverged as error:
        return walk.result(index, str(error), error.undecided)
    return walk.result(None, "")


class _Walk:
    def __init__(self, game: Game, state: State, script: Script, visible: frozenset[str]) -> None:
        self.game, self.net, self.state = game, game.net, state
        self.script, self.visible = script, visible
        self.visits: Counter[str] = Counter()
        self.steps: list[Step] = []
        self.postponed: Counter[str] = Counter()

    def result(self, index: int | None, reason: str, undecided: str | None = None) -> FollowResult:
        """How it stands now."""
        labels = {
            s.element: self._find_node(s.element).element.label
            for s in self.game.enabled(self.state)
            if s.element in self.visible
        }
        return FollowResult(
            index,
            reason,
            tuple(labels.values()),
            self.game.outcome(self.state),
            self.game.left(self.state),
            frozenset(f for s in self.steps for f in s.taken),
            tuple(self.steps),
            undecided,
        )

    def observe(self, element: str) -> None:
        """Make the model do `element`, after what happens by itself."""
        if element not in self.net.by_id:
            raise _Diverged(f"`{element}` is not an element of the model")
        self._settle_silent()
        while True:
            options = self._observable_steps(element)
            if options:
                break
            if not self._give_way(element):
                label = self._find_node(element).element.label
                raise _Diverged(f"`{label}` ran although the model does not allow it here")
        step = self._pick_step(options)
        self._fire_step(step)
        node = self._find_node(element)
        if step.action == "open" and node.body < 0 and not node.race:
            if self._awaits_boundary(node):
                self.postponed[element] += 1
            else:
                self._end_node(node)

    def finish(self) -> None:
        """What happens by itself after the last observation."""
        self._settle_silent()
        while self._give_way(None):
            self._settle_silent()

    # -- choosing -----------------------------------------------------------------------------

    def _find_node(self, element: str) -> NetNode:
        return self.net.nodes[self.net.by_id[element][0]]

    def _observable_steps(self, element: str) -> tuple[Step, ...]:
        """Its own steps; `done` only where an event-based gateway waits for it."""
        possible = self.game.steps_of(self.state, element)
        node = self._find_node(element)
        return tuple(s for s in possible if s.action != "done" or self._is_race(node, s))

    def _is_race(self, node: NetNode, step: Step) -> bool:
        if step.action != "done" or not step.taken or step.taken in node.options:
            return False
        producer = self.net.producer[self.net.flow_index[step.taken[0]]]
        return producer >= 0 and self.net.nodes[producer].race

    def _is_scripted(self, step: Step) -> bool | None:
        """Whether the script wants this step (`None`: it says nothing about it)."""
        known: bool | None = None
        for element, taken in self.game.decisions(step):
            visits = self.script.get(element, ())
            if self.visits[element] < len(visits):
                if visits[self.visits[element]] != taken:
                    return False
                known = True
        return known

    def _pick_step(self, options: Sequence[Step]) -> Step:
        wanted = [s for s in options if self._is_scripted(s)]
        if wanted:
            return wanted[0]
        rest = [s for s in options if self._is_scripted(s) is None]
        label = self._find_node(options[0].element).element.label
        if not rest:
            raise _Diverged(f"the script makes `{label}` take a flow that is not available here")
        usual = [s for s in rest if self._find_node(s.element).attached < 0] or rest
        if len(usual) > 1:
            decided = [e for s in usual for e, _ in self.game.decisions(s)]
            undecided = next((e for e in decided), usual[0].element)
            raise _Diverged(f"the script does not define which flow `{label}` takes", undecided)
        return usual[0]

    def _fire_step(self, step: Step) -> None:
        for element, _ in self.game.decisions(step):
            self.visits[element] += 1
        self.state = self.game.fire(self.state, step)
        self.steps.append(step)

    # -- open activities ----------------------------------------------------------------------

    def _list_endings(self, node: NetNode) -> list[Step]:
        """The ways in which an open activity can end now, its own first."""
        endings = [s for s in self.game.steps_of(self.state, node.id) if s.action == "done"]
        for b in node.boundaries:
            event = self.net.nodes[b]
            if not event.thrown_inside:
                endings.extend(self.game.steps_of(self.state, event.id))
        for c in node.caught_by:
            endings.extend(self.game.steps_of(self.state, self.net.nodes[c].id))
        return endings

    def _ends_node(self, step: Step, node: NetNode) -> bool:
        return any(element == node.id for element, _ in self.game.decisions(step))

    def _awaits_boundary(self, node: NetNode) -> bool:
        """Whether a boundary event is to be observed before the activity is over; what is not
        visible and does not interrupt happens now."""
        waits = False
        for step in self._list_endings(node):
            if step.action == "start":  # what runs next shows whether it has begun
                waits = waits or self._is_scripted(step) is True
                continue
            if step.element == node.id or not self._is_scripted(step):
                continue
            if step.element in self.visible:
                waits = True
            elif not self._ends_node(step, node):
                self._fire_step(step)
        return waits

    def _end_node(self, node: NetNode) -> None:
        options = [
            s for s in self._list_endings(node) if s.element == node.id or self._ends_node(s, node)
        ]
        if not options:
            return
        chosen = self._pick_step(options)
        if chosen.element == node.id or chosen.element not in self.visible:
            self._fire_step(chosen)

    # -- what happens by itself ---------------------------------------------------------------

    def _settle_silent(self) -> None:
        while True:
            for step in self.game.enabled(self.state):
                node = self._find_node(step.element)
                if not self._is_silent(node, step):
                    continue
                options = self._list_rivals(node, step)
                if options:
                    chosen = self._pick_step(options)
                    if chosen.element != step.element and chosen.element in self.visible:
                        continue
                    self._fire_step(chosen)
                    break
            else:
                return

    def _is_silent(self, node: NetNode, step: Step) -> bool:
        if node.attached >= 0:
            # triggered from inside: it has a token of its own already
            return node.id not in self.visible and (node.thrown_inside or "cancel" in node.kinds())
        if node.guard >= 0 and not node.ins:
            return node.action == "start" and self._is_pending(node)
        if node.body >= 0 and step.action == "done":
            return not self.net.scopes[node.body].ad_hoc and not self._left_by_event(node)
        return node.id not in self.visible

    def _is_pending(self, node: NetNode) -> bool:
        frames = (f for f in self.state.frames if f.scope == node.scope)
        return any(p == node.pending for f in frames for p, _ in f.tokens)

    def _left_by_event(self, node: NetNode) -> bool:
        return any(
            self._is_scripted(s) and s.element != node.id and self._ends_node(s, node)
            for s in self._list_endings(node)
        )

    def _list_rivals(self, node: NetNode, step: Step) -> list[Step]:
        """The steps among which the script chooses when `step` could happen by itself."""
        if self._is_race(node, step):
            gateway = self.net.nodes[self.net.producer[self.net.flow_index[step.taken[0]]]]
            targets = sorted({self.net.consumer[p] for p in gateway.outs})
            rivals = [
                s
                for t in targets
                for s in self.game.steps_of(self.state, self.net.nodes[t].id)
                if s.action == "done"
            ]
            if any(s.element in self.visible for s in rivals):
                rivals = [s for s in rivals if self._is_scripted(s)]
            return rivals
        if step.action == "done":
            endings = self._list_endings(node)
            return [s for s in endings if s.element == node.id or self._ends_node(s, node)]
        own = self.game.steps_of(self.state, node.id)
        return [s for s in own if s.action == step.action]

    def _give_way(self, element: str | None) -> bool:
        """Do one thing that was put off: end an activity, leave a sub-process by its event, close
        an ad-hoc sub-process, begin the event sub-process that `element` is in."""
        return (
            self._begin_handler(element) or self._end_postponed() or self._leave_or_close(element)
        )

    def _begin_handler(self, element: str | None) -> bool:
        """Begin an event sub-process that catches an error of a step, as the script says."""
        for step in self.game.enabled(self.state):
            node = self._find_node(step.element)
            if not node.failing or step.action != "start" or not self._is_scripted(step):
                continue
            if element is None or node.scope == self._find_node(element).scope:
                return self._take_step(step)
        return False

    def _end_postponed(self) -> bool:
        """End an activity whose end was put off."""
        for held in sorted(e for e, n in self.postponed.items() if n):
            self.postponed[held] -= 1
            before = len(self.steps)
            self._end_node(self._find_node(held))
            if len(self.steps) > before:
                self._settle_silent()
                return True
        return False

    def _leave_or_close(self, element: str | None) -> bool:
        """Leave a sub-process by its event, close an ad-hoc one, begin the event sub-process that
        `element` is in."""
        for step in self.game.enabled(self.state):
            node = self._find_node(step.element)
            inside = node.guard >= 0 and node.action == "start" and not node.ins
            leaves = node.attached >= 0 and node.id not in self.visible and self._is_scripted(step)
            closes = node.body >= 0 and step.action == "done"
            if inside:
                leaves = element is not None and node.scope == self._find_node(element).scope
            if leaves or closes:
                return self._take_step(step)
        return False

    def _take_step(self, step: Step) -> bool:
        self._fire_step(step)
        self._settle_silent()
        return True
