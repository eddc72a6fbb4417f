"""The model of n8n's engine, driven by the decisions of a run of the source model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from orgflow.backends.n8n.emit.compiled import CompiledProcess, CompiledScope
from orgflow.backends.n8n.engine_model.config import Config, Event, Phase, Place
from orgflow.backends.n8n.engine_model.model import EngineModel
from orgflow.backends.n8n.engine_model.outcome import ANSWERED, FAILS, Emits, Outcome
from orgflow.backends.n8n.plan.actions import AskAgain, CatchError, CheckCall, ReadEscalations
from orgflow.backends.n8n.plan.graph import HelperKey, PlanNode, start_key

from orgflow_ir.flow.token_game.stimulus import Stimulus, StimulusError, replay_stimuli
from orgflow_ir.flow.token_game.stub_data import decided_by
from orgflow_ir.model import CallActivity, Model
from orgflow_ir.model.records import NamedTuple

MOST_NODES = 20_000
"""Maximum number of nodes executed in one run."""


def executed_nodes(
    model: Model, compiled: CompiledProcess, stimuli: Sequence[Stimulus]
) -> tuple[str, ...]:
    """Names of the nodes that n8n executes, in order, with the listed answers of the environment.

    Each choice takes the flows that the model takes with the list; waits are answered. Nodes of
    called workflows are included at their position.

    Args:
        model: the source model, not lowered.
        compiled: one of its processes, compiled for n8n.
        stimuli: a list for `replay_stimuli`.

    Raises:
        StimulusError: the list does not match the model, or a workflow has a choice that the model
            lacks.
    """
    played = play_script(compiled, stimuli[0].element, replay_stimuli(model, stimuli).script)
    return tuple(event.node for event in played.events)


class Played(NamedTuple):
    """The result of the engine model for a workflow.

    Attributes:
        status: of the main workflow; "limit" after `MOST_NODES` nodes.
        events: for each node, the event in which it ran, opened a wait, or called a workflow.
    """

    status: Literal["success", "error", "waiting", "limit"]
    events: tuple[Event, ...]


def play_script(
    compiled: CompiledProcess,
    start: str,
    script: Mapping[str, Sequence[tuple[str, ...]]],
    *,
    failures: Mapping[str, Sequence[str | None]] = MappingProxyType({}),
    scripted: frozenset[str] = frozenset(),
) -> Played:
    """Execute a workflow with the choices of a run; items are counted, and expressions are not
    evaluated.

    Args:
        compiled: a process, compiled for n8n.
        start: the initial element of the run, or the process.
        script: for every choosing element, the flows that it takes, visit by visit.
        failures: for every failing task, the event that catches it, visit by visit; `None` if the
            task succeeds.
        scripted: names of nodes that pass on each input item, regardless of their type.

    Raises:
        StimulusError: the script lacks a choice of a workflow, or a node is unknown to the engine
            model.
    """
    driver = _Driver(compiled, script, failures, scripted)
    key = start_key(compiled.process) if start == compiled.process.id else start
    config = driver.machine.initial(compiled.root.plan.workflow_graph.nodes[key].name)
    events: list[Event] = []
    while not config.ended and len(events) < MOST_NODES:
        advance = driver.machine.advance(config, driver.outcome(config))
        events += [event for event in advance.events if event.action in ("run", "open", "call")]
        config = advance.config
    status = config.status
    return Played("limit" if status == "running" else status, tuple(events))


class _Driver:
    """Chooses what each node of the workflows of a process does."""

    def __init__(
        self,
        compiled: CompiledProcess,
        chosen: Mapping[str, Sequence[tuple[str, ...]]],
        failures: Mapping[str, Sequence[str | None]],
        scripted: frozenset[str],
    ) -> None:
        others = (*compiled.scopes[1:], *compiled.called)
        called = {s.plan.scope.workflow_id: s for s in others}
        self.scopes: dict[str | None, CompiledScope] = {None: compiled.root}
        self.scopes.update(called)
        self.machine = EngineModel(
            compiled.root.workflow, {id: scope.workflow for id, scope in called.items()}
        )
        self.nodes: dict[tuple[str | None, str], PlanNode] = {
            (id, node.name): node
            for id, scope in self.scopes.items()
            for node in scope.plan.workflow_graph.nodes.values()
        }
        self.chosen = chosen
        self.failures = failures
        self.scripted = scripted
        self.visits: Counter[str] = Counter()
        self.tried: Counter[str] = Counter()
        self.escalated = {
            (id, node.element): node.action
            for (id, _), node in self.nodes.items()
            if isinstance(node.action, ReadEscalations)
        }
        self.ran: set[str] = set()

    def outcome(self, config: Config) -> Outcome:
        """What the node that runs next does. Raises `StimulusError`."""
        options = self.machine.outcomes(config)
        place = self.machine.at(config)
        assert place is not None
        node = self.nodes.get((place.workflow, place.node))
        if self.escalated and node is not None:
            self._note_escalation(place, node)
        fails = node is not None and place.phase is Phase.READY and self._task_fails(node)
        if node is not None and fails and place.kind != "call":  # what a call runs fails by itself
            return Emits((0, place.inputs[0])) if node.fails_over else FAILS
        if place.kind != "choice" or len(options) < 2:
            return ANSWERED if ANSWERED in options else options[0]
        if place.node in self.scripted:
            return Emits(place.inputs[:1])
        if node is None:
            raise StimulusError(_describe_unknown(place))
        if isinstance(node.action, AskAgain | CheckCall):  # the form is answered, the call complete
            return Emits(place.inputs[:1])
        scope = self.scopes[place.workflow]
        if isinstance(node.action, CatchError):
            return self._caught_outcome(scope, node, place)
        if isinstance(node.action, ReadEscalations):
            return self._escalation_outcome(node.action, place)
        compiled = self.machine.node_at(config)
        if compiled is None or not compiled.behaviour.known:
            raise StimulusError(_describe_unknown(place))
        return self._choose_outcome(scope, place.node, options)

    def _task_fails(self, node: PlanNode) -> bool:
        """Whether a task fails now; counts its visits."""
        if node.role != "element" or node.element not in self.failures:
            return False
        self.tried[node.element] += 1
        return self._catching_event(node.element) is not None

    def _catching_event(self, task: str) -> str | None:
        """The event that catches the error of the last visit of a task."""
        visits, at = self.failures[task], self.tried[task]
        return visits[at - 1] if 0 < at <= len(visits) else None

    def _caught_outcome(self, scope: CompiledScope, node: PlanNode, place: Place) -> Outcome:
        """By which output the error of a task or call goes on; one of what a call runs that no
        event catches goes to the node that stops the run."""
        event = self._catching_event(node.element) if node.element in self.failures else None
        called = isinstance(scope.plan.graph.nodes.get(node.element), CallActivity)
        stop = HelperKey(node.element, "stop") if called else None
        for source, target in scope.plan.workflow_graph.wires:
            if source.node == node.key and target.node == (event or stop):
                return Emits((*(0 for _ in range(source.number)), place.inputs[0]))
        raise StimulusError(f"the run does not define the error of `{node.name}`")

    def _note_escalation(self, place: Place, node: PlanNode) -> None:
        """What has run that may throw an escalation, since the call began that may catch it."""
        escalation = self.escalated.get((place.workflow, node.element))
        if node.role == "element" and place.phase is Phase.READY:
            if escalation is not None:
                self.ran -= {thrown.event.id for e in escalation.events for thrown in e.leaving}
            self.ran.add(node.element)

    def _escalation_outcome(self, escalation: ReadEscalations, place: Place) -> Outcome:
        """By which outputs a call goes on: those of events that catch what ran in it, and the last
        one unless an event interrupts it."""
        occurred = [
            any(thrown.event.id in self.ran for thrown in caught.leaving)
            for caught in escalation.events
        ]
        ended = any(
            happened and caught.event.interrupting
            for happened, caught in zip(occurred, escalation.events, strict=True)
        )
        counts = [place.inputs[0] * happened for happened in occurred]
        return Emits((*counts, 0 if ended else place.inputs[0]))

    def _choose_outcome(
        self, scope: CompiledScope, name: str, options: Sequence[Outcome]
    ) -> Outcome:
        """The output or outputs of the flows taken. Those of no flow (a stop, the way past a
        branch) get items only where the others do not."""
        node = next(n for n in scope.plan.workflow_graph.nodes.values() if n.name == name)
        taken = self._taken_flows(scope, node.element, begins=node.role == "element")
        flows = {port.number: f for f, port in scope.plan.exits.items() if port.node == node.key}
        fitting = [
            option
            for option in options
            if isinstance(option, Emits)
            and all(
                (number < len(option.counts) and option.counts[number] > 0) is (flow in taken)
                for number, flow in flows.items()
            )
        ]
        if not fitting:
            raise StimulusError(f"`{node.name}` cannot take {', '.join(sorted(taken))}")
        return min(fitting, key=lambda option: self._count_aside(option, flows))

    def _count_aside(self, option: Outcome, flows: Mapping[int, str]) -> int:
        assert isinstance(option, Emits)
        return sum(count for number, count in enumerate(option.counts) if number not in flows)

    def _taken_flows(self, scope: CompiledScope, gateway: str, *, begins: bool) -> frozenset[str]:
        """The flows that a gateway takes now; `begins`: this is its first node."""
        decision = scope.plan.decisions.get(gateway)
        if decision is None:
            raise StimulusError(f"the model decides nothing at `{gateway}`")
        self.visits[gateway] += begins
        visits = self.chosen.get(decided_by(decision), ())
        if self.visits[gateway] > len(visits):
            raise StimulusError(f"the list does not define the next choice at `{gateway}`")
        mine = {branch.flow.id for branch in decision.branches}
        flows = mine & set(visits[self.visits[gateway] - 1])
        if not flows and decision.default is not None:
            flows = {decision.default.flow.id}
        return frozenset(flows)


def _describe_unknown(place: Place) -> str:
    return f"the engine model does not know how many items `{place.node}` passes on"
