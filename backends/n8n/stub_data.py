"""Stub data that makes a workflow take a run of the model: what each node outputs at each visit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orgflow.backends.n8n.emit.decisions import reads_body
from orgflow.backends.n8n.emit.emitter import CompiledScope

from orgflow_ir.analysis import stub_data as scripting

if TYPE_CHECKING:
    from orgflow_ir.analysis.token_game.runs import Run


@dataclass
class Script:
    """Stub data: fields per visit by node name, and the fields of the trigger's item."""

    visits: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    trigger: dict[str, Any] = field(default_factory=dict)
    body: bool = False

    @property
    def item(self) -> dict[str, Any]:
        """The trigger's item, with the fields under `body` where it is a webhook."""
        if not self.body:
            return dict(self.trigger)
        return {"headers": {}, "params": {}, "query": {}, "body": dict(self.trigger)}


def script(emission: CompiledScope, run: Run) -> Script:
    """The data for one run. Raises `Unplayable`."""
    result = Script()
    start = run.start
    if start is not None and start in emission.graph.nodes:
        result.body = reads_body(start, emission.graph, emission)
    nodes = emission.sketch.nodes
    for setter, rows in scripting.script(emission.decisions.values(), run.steps).items():
        if setter in nodes and nodes[setter].role == "trigger":
            for row in rows:
                result.trigger.update(row)
        else:
            result.visits[emission.name_of(setter)] = rows
    return result
