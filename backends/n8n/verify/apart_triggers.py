"""Triggers that somebody added in n8n and that start no run of the process: for testing, or pasted.

n8n starts a Manual Trigger in its editor only. A trigger that leads to no node of the model, such
as a pasted copy of the start without a connection, starts nothing of the process.
"""

from __future__ import annotations

from collections.abc import Mapping

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.plan.graph import NodeKey

from orgflow_ir.flow.control_flow.graph import list_reachable

IN_EDITOR = "starts runs in n8n's editor only, which are not compared"
UNWIRED = "is connected to nothing: it starts no step of the model"
BESIDE = "leads to no step of the model: its runs are not compared"


def find_apart_triggers(
    matching: Matching[NodeKey], workflow: WorkflowDocument
) -> Mapping[str, str]:
    """Enabled triggers that start no run of the process, by name, and why, in words. One that is
    the only one to start a run of the process always does."""
    steps = workflow.steps
    ahead = {
        name: [end for ends in workflow.targets.get(name, {}).values() for end in ends]
        for name in steps
    }
    apart: dict[str, str] = {}
    starting = []
    for name, step in steps.items():
        if not step.starts:
            continue
        if name in matching.key_of and matching.how[name] != "copy":
            starting.append(name)
            continue
        kind = node_types.find_type(step.short)
        follows = list_reachable(ahead[name], ahead)
        if not ahead[name]:
            apart[name] = UNWIRED
        elif not any(node in matching.key_of for node in follows):
            apart[name] = BESIDE
        elif kind is not None and kind.start == "manual" and name not in matching.key_of:
            apart[name] = IN_EDITOR
    return apart if starting else {}
