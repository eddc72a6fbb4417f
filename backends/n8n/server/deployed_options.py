"""The options with which the deployed workflows of a model were compiled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from orgflow.backends.n8n.format.compilation_options import find_stated_options, permitted_options
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.plan.scopes import scopes_of
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.server.deployment_marker import marker_of

from orgflow_ir.model import Model
from orgflow_ir.targets import executable_processes


def read_deployed_options(rows: Iterable[Mapping[str, Any]], model: Model) -> dict[str, str]:
    """The options that the workflows of a model state, among all workflows of a server: those whose
    note of the deployment has the identity of a process."""
    identities = {
        next(scopes_of(model, process)).workflow_id for process in executable_processes(model)
    }
    deployed = []
    for row in rows:
        marker = marker_of(row) if not row.get("isArchived") else None
        if marker is not None and marker.identity in identities:
            deployed.append(WorkflowDocument(row))
    return read_process_options(deployed, model)


def read_process_options(documents: Iterable[WorkflowDocument], model: Model) -> dict[str, str]:
    """The options of the target that a workflow states: the first of some that was compiled from a
    process of a model and states any."""
    processes = {process.id for process in model.processes}
    stated = find_stated_options(documents, processes)
    return permitted_options(stated, N8N_TARGET) if stated is not None else {}
