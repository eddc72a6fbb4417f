"""A deployment over an edited workflow: the new output is merged into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n.format.document import to_api
from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.merge.files import base_of
from orgflow.backends.n8n.merge.merge import merge
from orgflow.backends.n8n.server.deploy.address_keys import without_keys
from orgflow.backends.n8n.server.deploy.deployment_marker import marker_of, without_marker
from orgflow.backends.n8n.server.deploy.plan import Problem, Step, is_as_compiled
from orgflow.backends.n8n.server.deploy.references import rewritten

Json = dict[str, Any]


def merge_step(
    step: Step, identities: Mapping[str, str], version: N8nVersion, *, take_over: bool
) -> None:
    """Let a step keep people's edits of the existing workflow.

    A model is always merged: the deployed version contains earlier merges, and known addresses
    stay. A file has priority, and is merged only if both it and the deployed version are plain
    compiler output.

    Args:
        step: the step whose workflow and problems are replaced.
        identities: identities of workflows by their ids on the server.
        version: the version of the server.
        take_over: whether to overwrite; a workflow under another name is merged nevertheless.
    """
    row, wanted = step.existing, step.wanted
    marker = marker_of(row) if row is not None else None
    if row is None or marker is None or {p.kind for p in step.problems} - {"edited"}:
        return
    if take_over and marker.identity == wanted.identity:
        return
    edited = bool(step.problems) or marker.kept
    if wanted.verify is None and not edited:
        return
    plain = marker.plain and is_as_compiled(wanted.workflow)
    if wanted.verify is None and not plain:
        step.problems = (Problem("edited", str(row["id"])),)
        return
    there = without_keys(without_marker(to_api(row, version)))
    theirs = rewritten(there, lambda id: identities.get(id, id))
    base = base_of(WorkflowDocument(theirs), wanted.bases)
    if base is None and not edited:
        return
    found = merge(base, theirs, wanted.workflow)
    if take_over and found.conflicts:
        return
    if found.conflicts or any(c.origin == "workflow" or c.notable for c in found.changes):
        step.merged = found
    if found.conflicts:
        step.problems = (Problem("conflict", str(row["id"])),)
        return
    workflow = {**found.workflow, "id": wanted.identity}
    difference = wanted.verify(workflow) if wanted.verify is not None else ""
    if difference:
        step.problems = (Problem("unverified", difference),)
        return
    step.problems = ()
    kept = any(change.origin == "workflow" for change in found.changes)
    step.wanted = wanted._replace(
        workflow=workflow, kept=kept or (marker.kept and not found.changes)
    )
