"""Workflows out of a file, and which process each is of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.diff.reading import Flow, flows_of
from orgflow.backends.n8n.emit.names import title
from orgflow.backends.n8n.format.document import TYPE_PREFIX
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.model import Model


def opened(workflow: Mapping[str, Any]) -> dict[str, Any]:
    """A workflow as matching and machine take it: what n8n does not look at is left out, and what
    is malformed."""
    flow = flows_of(workflow)[0]
    sound = flow.sound()
    listed = workflow.get("nodes")
    notes = [
        row if isinstance(row.get("name"), str) else {**row, "name": ""}
        for row in (listed if isinstance(listed, list) else ())
        if isinstance(row, Mapping) and row.get("type") == f"{TYPE_PREFIX}stickyNote"
    ]
    return {
        "name": flow.name,
        "nodes": [*notes, *sound["nodes"]],
        "connections": sound["connections"],
        "settings": {"executionOrder": flow.order or "v0"},
    }


def paired(
    model: Model, references: Mapping[str, Reference], flows: Sequence[Flow]
) -> dict[str, Flow | None]:
    """The workflow of each process: the one whose map names it, or that has its title, or most of
    its nodes; the only one for the only process."""
    left = list(flows)
    found: dict[str, Flow | None] = dict.fromkeys(references)
    processes = {p.id: p for p in model.processes if p.id in references}

    def take(process: str, fitting: Iterable[Flow]) -> None:
        if found[process] is None:
            chosen = next((f for f in fitting if f in left), None)
            if chosen is not None:
                left.remove(chosen)
                found[process] = chosen

    for process in references:
        take(process, (f for f in flows if f.map.process == process))
    for process in references:
        wanted = title(model, processes[process])
        take(process, (f for f in flows if f.name == wanted))
    if len(references) == 1:
        take(next(iter(references)), list(left))
    for process, ref in references.items():
        take(process, sorted(left, key=lambda f: -_shared(ref, f)) if left else ())
    return found


def _shared(ref: Reference, flow: Flow) -> int:
    names = {node.name for node in ref.emission.sketch.nodes.values()}
    return len(names & set(flow.steps))
