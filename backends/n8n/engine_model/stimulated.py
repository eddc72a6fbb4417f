"""The model of n8n's engine, driven by a list of stimuli."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from orgflow.backends.n8n.emit.emitter import CompiledProcess, CompiledScope
from orgflow.backends.n8n.emit.graph import NodeKey, start_key
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

    Each choice takes the flows that the list makes the model take there; waits are answered.

    Args:
        model: the source model, not lowered.
        compiled: one of its processes, for n8n.
        stimuli: a list that `replay_stimuli` plays.

    Raises:
        StimulusError: the list does not fit the model, the workflow chooses where the model does
            not, or the process is several workflows, which call each other.
    """
    if len(compiled.scopes) > 1:
        raise StimulusError(f"`{compiled.process.label}` is more than one workflow")
    root, process = compiled.root, compiled.process.id
    driver = _Driver(root, replay_stimuli(model, stimuli).script)
    start = stimuli[0].element
    key = start_key(compiled.process) if start == process else start
    config = driver.machine.initial(root.workflow_graph.nodes[key].name)
    found: list[str] = []
    while not config.ended and len(found) < MOST_NODES:
        advance = driver.machine.advance(config, driver.outcome(config))
        found += [event.node for event in advance.events if event.action in ("run", "open")]
        config = advance.config
    return tuple(found)


class _Driver:
    """Chooses what each node does."""

    def __init__(
        self, compiled: CompiledScope, chosen: Mapping[str, Sequence[tuple[str, ...]]]
    ) -> None:
        self.compiled, self.chosen = compiled, chosen
        self.machine = EngineModel(compiled.workflow)
        self.key_of = {node.name: key for key, node in compiled.workflow_graph.nodes.items()}
        self.visits: Counter[str] = Counter()
        self.flow_at: dict[NodeKey, dict[int, str]] = {}
        for flow, port in compiled.exits.items():
            self.flow_at.setdefault(port.node, {})[port.number] = flow

    def outcome(self, config: Config) -> Outcome:
        """What the node that runs next does. Raises `StimulusError`."""
        options = self.machine.outcomes(config)
        place = self.machine.at(config)
        assert place is not None
        if place.kind == "choice" and len(options) > 1:
            return self._choice(self.key_of[place.node], options)
        return ANSWERED if ANSWERED in options else options[0]

    def _choice(self, key: NodeKey, options: Sequence[Outcome]) -> Outcome:
        """The output or outputs of the flows taken. Those of no flow (a stop, the way past a
        branch) get items only where the others do not."""
        node = self.compiled.workflow_graph.nodes[key]
        taken = self._taken(node.element, begins=node.role == "element")
        flows = self.flow_at.get(key, {})
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

    def _taken(self, gateway: str, *, begins: bool) -> frozenset[str]:
        """The flows that a gateway takes now; `begins`: this is its first node."""
        decision = self.compiled.decisions.get(gateway)
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
