"""Runs as JSON lines, as printed by `orgflowc trace` (`schema/run.schema.json`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orgflow_ir.flow.token_game.runs import Run
from orgflow_ir.model import Model
from orgflow_ir.model.index import ModelIndex

RUN_VERSION = 1
"""Version of the JSON; increased when a field changes its meaning or is removed."""


def run_labels(model: Model) -> dict[str, str]:
    """Labels for people, by id; a flow without a name is described by its ends."""
    index = ModelIndex(model)
    labels = {node.id: node.label for node in index.nodes.values()}
    for flow in index.flows.values():
        ends = f"{labels.get(flow.source, '?')} → {labels.get(flow.target, '?')}"
        labels[flow.id] = " ".join(flow.name.split()) or ends
    for message in model.message_flows:
        labels[message.id] = message.label
    return labels


def run_to_dict(run: Run, labels: Mapping[str, str], number: int = 1) -> dict[str, Any]:
    """A run as plain data; `labels` from `run_labels`, `number` counts runs of the process."""
    return {
        "version": RUN_VERSION,
        "process": run.process,
        "run": number,
        "start": run.start,
        "choices": [
            {
                "element": element,
                "label": labels.get(element, element),
                "taken": list(taken),
                "labels": [labels.get(flow, flow) for flow in taken],
            }
            for element, taken in run.choices
        ],
        "steps": [
            {
                "action": step.action,
                "element": step.element,
                "label": labels.get(step.element, step.element),
                "taken": list(step.taken),
                "instance": step.instance,
            }
            for step in run.steps
        ],
        "outcome": run.outcome,
        "left": [
            {
                "kind": left.kind,
                "element": left.element,
                "label": labels.get(left.element, left.element),
                "count": left.count,
                "instance": left.instance,
            }
            for left in run.left
        ],
    }


def run_to_json(run: Run, model: Model, number: int = 1) -> str:
    """A run as one line of JSON, without the line end."""
    return json.dumps(run_to_dict(run, run_labels(model), number), ensure_ascii=False)
