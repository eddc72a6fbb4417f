"""One version during exploration: its machine, with its unmatched nodes hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from orgflow.backends.n8n.diff.decisions import Joint
from orgflow.backends.n8n.engine_model import (
    ANSWERED,
    RUNS,
    TIMED_OUT,
    Config,
    Counts,
    Emits,
    EngineModel,
    Opens,
    Outcome,
    Phase,
)
from orgflow.backends.n8n.engine_model.choices import handed_on
from orgflow.backends.n8n.engine_model.flow import Node
from orgflow.backends.n8n.format.node_decisions import Decision

from orgflow_ir.model.records import NamedTuple

Sort = Literal["visible", "hidden", "ended"]

MOST_ITEMS = 16
MOST_STACKED = 100
"""Beyond this number (besides the items that one node starts at once), a run accumulates work and
is not followed."""
_WIDE = 1_000
_TOP = 8
_SINGLE = 3
"""Maximum number of outputs of an unknown node for which every combination is tried."""


class Settled(NamedTuple):
    """The state of a version after its hidden nodes have run: those nodes, and whether it loops
    among them indefinitely."""

    config: Config
    ran: tuple[str, ...]
    endless: bool = False


class Side:
    """A machine whose nodes have keys shared by both versions; a node without one is hidden.

    `left_out`: a hidden node has more possible decisions than were tried.
    """

    def __init__(
        self, machine: EngineModel, keys: Mapping[str, int], decisions: Mapping[str, Decision]
    ) -> None:
        self.machine, self.keys, self.decisions = machine, keys, decisions
        self.left_out = False
        fan = max((len(node.wires) for node in machine.flows[0].nodes), default=0)
        self._most = MOST_STACKED + min(fan, _WIDE)

    def start(self, trigger: str) -> Config:
        """The state before a trigger runs, with one item."""
        return self.machine.initial(trigger)

    def node(self, config: Config) -> Node | None:
        """The node that runs next."""
        return self.machine.node_at(config)

    def key(self, config: Config) -> int | None:
        """The key of the node that runs next."""
        node = self.machine.node_at(config)
        return None if node is None else self.keys.get(node.name)

    def sort(self, config: Config) -> Sort:
        """Whether the next step has to be matched by the other version."""
        node = self.machine.node_at(config)
        if node is None:
            return "ended"
        if self.keys.get(node.name) is None or self._skips_node(config, node):
            return "hidden"
        return "visible"

    def _skips_node(self, config: Config, node: Node) -> bool:
        """Without any item n8n leaves no trace of the node."""
        return (
            self.phase(config) is Phase.READY
            and not node.always_output
            and node.behaviour.kind != "trigger"
            and not any(self.inputs(config))
        )

    def inputs(self, config: Config) -> Counts:
        """The input of the next node."""
        place = self.machine.at(config)
        return () if place is None else place.inputs

    def phase(self, config: Config) -> Phase:
        """The state of the next node."""
        return config.frames[-1].phase

    def hidden(self, config: Config) -> tuple[Outcome, ...]:
        """The possible behaviour of a node that only this version has. It is assumed to succeed and
        pass its input on; only deciding nodes take every branch."""
        node = self.machine.node_at(config)
        assert node is not None
        behaviour = node.behaviour
        if self.phase(config) is Phase.SLEEPING:
            return (TIMED_OUT,)
        if self.phase(config) is Phase.PARKED:
            return (ANSWERED,) if behaviour.answered and not behaviour.limited else (TIMED_OUT,)
        inputs = self.inputs(config)
        if node.disabled or not any(inputs) or behaviour.kind not in ("choice", "wait"):
            return (RUNS,)
        if behaviour.kind == "wait":
            return (Opens(False),)
        if node.name not in self.decisions and (behaviour.outputs or 1) <= 1:
            return (Emits(handed_on(node, (inputs[0],))),)
        decision = self.decisions.get(node.name)
        if decision is None:
            return tuple(
                Emits(counts) for counts in spread_items(behaviour.outputs or 1, inputs[0])
            )
        choices, cut = Joint(decision, decision).joint_ways(inputs[0])
        self.left_out |= cut
        return tuple(Emits(handed_on(node, way.old)) for way in choices)

    def settle(self, config: Config) -> Settled:
        """Run hidden steps up to a visible one or several alternatives."""
        ran: list[str] = []
        seen = {config}
        while self.sort(config) == "hidden":
            outcomes = self.hidden(config)
            if len(outcomes) != 1 or len(ran) > 50_000:
                break
            node = self.machine.node_at(config)
            assert node is not None
            if self.phase(config) is Phase.READY and any(self.inputs(config)):
                ran.append(node.name)
            config = self.machine.step(config, outcomes[0])
            if config in seen:
                return Settled(config, tuple(ran), endless=True)
            if self.piles_up(config):
                break
            seen.add(config)
        return Settled(config, tuple(ran))

    def piles_up(self, config: Config) -> bool:
        """Whether work exceeds the followed amount."""
        return any(
            len(frame.stack) > self._most
            or any(len(entries) > MOST_ITEMS for _, entries in frame.waiting)
            # What is new is on top: what lies below was looked at before.
            or any(max(counts, default=0) > MOST_ITEMS for _, counts in frame.stack[-_TOP:])
            for frame in config.frames
        )


def spread_items(size: int, items: int, several: bool = False) -> list[Counts]:
    """The possible output of an unknown node by this number of outputs; `several`: also two items
    of one."""
    # One item may become several (a list is fetched), and none: two show what several do.
    values = (items, 0, 2) if several and size == 1 and items == 1 else (items, 0)
    spreads: list[Counts] = [()]
    if size <= _SINGLE:
        for _ in range(size):
            spreads = [(*counts, value) for counts in spreads for value in values]
        return spreads
    spreads = [tuple(items if i == at else 0 for i in range(size)) for at in range(size)]
    return [*spreads, (items,) * size, (0,) * size]
