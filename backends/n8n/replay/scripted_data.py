"""Stub data that make a workflow take a run of the model: the output of each node at each visit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from orgflow.backends.n8n.plan.decisions import reads_body
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.flow.token_game.stimulus import Stimulus
from orgflow_ir.flow.token_game.stub_data import stub_data as data_of
from orgflow_ir.model.records import dataclass


@dataclass
class StubData:
    """Fields per visit by node name, and the fields of the trigger's item."""

    visits: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    trigger: dict[str, Any] = field(default_factory=dict)
    body: bool = False

    @property
    def item(self) -> dict[str, Any]:
        """The trigger's item, with the fields under `body` if it is a webhook."""
        if not self.body:
            return dict(self.trigger)
        return {"headers": {}, "params": {}, "query": {}, "body": dict(self.trigger)}


def script_nodes(plan: ScopePlan, stimuli: Sequence[Stimulus]) -> StubData:
    """The output of the nodes of one workflow when a list of stimuli drives them."""
    result = StubData()
    start = stimuli[0].element
    if start in plan.graph.nodes:
        result.body = reads_body(start, plan)
    nodes = plan.workflow_graph.nodes
    setters = {decision.setter for decision in plan.decisions.values()}
    for setter, rows in data_of(stimuli).items():
        if setter not in setters and setter not in nodes and setter != start:
            continue  # it is in another workflow of the process
        if setter == start or (setter in nodes and nodes[setter].role == "trigger"):
            for row in rows:
                result.trigger.update(row)
        else:
            result.visits[plan.name_of(setter)] = rows
    return result
