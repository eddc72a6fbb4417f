"""The model of n8n's engine, driven by a list of stimuli."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from orgflow.backends.n8n.emit.emitter import CompiledProcess, CompiledScope
from orgflow.backends.n8n.emit.graph import start_key
from orgflow.backends.n8n.engine_model.config import Config
from orgflow.backends.n8n.engine_model.model import EngineModel
from orgflow.backends.n8n.engine_model.outcome import ANSWERED, Emits, Outcome

from orgflow_ir.analysis.stub_data import decided_by
from orgflow_ir.analysis.token_game.stimulus import Stimulus, StimulusError, replay_stimuli
from orgflow_ir.model import Model

MOST_NODES = 20_000
"""Nodes executed in one run."""


def executed_nodes(
    model: Model, compiled: CompiledProcess, stimuli: Sequence[Stimulus]
) -> tuple[str, ...]:
    """Names of the nodes that n8n executes, in order, when the environment answers as listed.

    Each choice takes the flows that the list makes the model take there; waits are answered. Nodes
    of the workflows that the process calls are among those of its own, where they run.

    Args:
        model: the source model, not lowered.
        compiled: one of its processes, for n8n.
        stimuli: a list that `replay_stimuli` plays.

    Raises:
        StimulusError: the list does not fit the model, or a workflow chooses where the model does
            not.
    """
    driver = _Driver(compiled, replay_stimuli(model, stimuli).script)
    start = stimuli[0].element
    key = start_key(compiled.process) if start == compiled.process.id else start
    config = driver.machine.initial(compiled.root.workflow_graph.nodes[key].name)
    found: list[str] = []
    while not config.ended and len(found) < MOST_NODES:
        advance = driver.machine.advance(config, driver.outcome(config))
        found += [event.node for event in advance.events if event.action in ("run", "open", "call")]
        config = advance.config
    return tuple(found)


class _Driver:
    """Chooses what each node of the workflows of a process does."""

    def __init__(
        self, compiled: CompiledProcess, chosen: Mapping[str, Sequence[tuple[str, ...]]]
    ) -> None:
        called = {s.scope.workflow_id: s for s in compiled.scopes if s.scope.called}
        self.scopes: dict[str | None, CompiledScope] = {None: compiled.root}
        self.scopes.update(called)
        self.machine = EngineModel(
            compiled.root.workflow, {id: scope.workflow for id, scope in called.items()}
        )
        self.chosen = chosen
        self.visits: Counter[str] = Counter()

    def outcome(self, config: Config) -> Outcome:
        """What the node that runs next does. Raises `StimulusError`."""
        options = self.machine.outcomes(config)
        place = self.machine.at(config)
        assert place is not None
        if place.kind == "choice" and len(options) > 1:
            return self._choice(self.scopes[place.workflow], place.node, options)
        return ANSWERED if ANSWERED in options else options[0]

    def _choice(self, scope: CompiledScope, name: str, options: Sequence[Outcome]) -> Outcome:
        """The output or outputs of the flows taken. Those of no flow (a stop, the way past a
        branch) get items only where the others do not."""
        node = next(n for n in scope.workflow_graph.nodes.values() if n.name == name)
        taken = self._taken(scope, node.element, begins=node.role == "element")
        flows = {port.number: f for f, port in scope.exits.items() if port.node == node.key}
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
        return min(fitting, key=lambda option: self._aside(option, flows))

    def _aside(self, option: Outcome, flows: Mapping[int, str]) -> int:
        assert isinstance(option, Emits)
        return sum(count for number, count in enumerate(option.counts) if number not in flows)

    def _taken(self, scope: CompiledScope, gateway: str, *, begins: bool) -> frozenset[str]:
        """The flows that a gateway takes now; `begins`: this is its first node."""
        decision = scope.decisions.get(gateway)
        if decision is None:
            raise StimulusError(f"the model decides nothing at `{gateway}`")
        self.visits[gateway] += begins
        visits = self.chosen.get(decided_by(decision), ())
        if self.visits[gateway] > len(visits):
            raise StimulusError(f"the list does not say what `{gateway}` takes the next time")
        mine = {branch.flow.id for branch in decision.branches}
        found = mine & set(visits[self.visits[gateway] - 1])
        if not found and decision.default is not None:
            found = {decision.default.flow.id}
        return frozenset(found)
