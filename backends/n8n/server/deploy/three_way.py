"""A deployment over an edited workflow: the new output is merged into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n.format.compiled_workflow import read_base
from orgflow.backends.n8n.format.document import to_api
from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.merge.merge_outcome import Merged
from orgflow.backends.n8n.merge.three_way_merge import merge_workflows
from orgflow.backends.n8n.node_types.workflow_calls import rewrite_calls
from orgflow.backends.n8n.server.address_keys import without_keys
from orgflow.backends.n8n.server.deploy.deployment_plan import Problem, Step, is_as_compiled
from orgflow.backends.n8n.server.deployment_marker import (
    DeploymentMarker,
    differs_from,
    without_marker,
)

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
    row, wanted, marker = step.existing, step.wanted, step.marker
    if row is None or marker is None or not _is_mergeable(step, marker, take_over=take_over):
        return
    edited = bool(step.problems) or marker.kept or differs_from(row, marker)
    if wanted.verify is None and not (marker.plain and is_as_compiled(wanted.workflow)):
        step.problems = (Problem("edited", str(row["id"])),)
        return
    there = without_keys(without_marker(to_api(row, version)))
    theirs = rewrite_calls(there, lambda id: identities.get(id, id))
    base = read_base(WorkflowDocument(theirs), wanted.bases)
    if base is None and not edited:
        return
    merged = merge_workflows(base, theirs, wanted.workflow)
    if not (take_over and merged.conflicts):
        _apply_merge(step, marker, merged)


def _is_mergeable(step: Step, marker: DeploymentMarker, *, take_over: bool) -> bool:
    """Whether a step may keep edits: nothing else is wrong with it, it overwrites nothing, and a
    file is merged only into a workflow that somebody edited."""
    if {problem.kind for problem in step.problems} - {"edited"}:
        return False
    if take_over and marker.identity == step.wanted.identity and not step.claimed:
        return False
    return step.wanted.verify is not None or bool(step.problems) or marker.kept


def _apply_merge(step: Step, marker: DeploymentMarker, merged: Merged) -> None:
    """Deploy a merged workflow, unless it has conflicts or no longer matches the model."""
    wanted = step.wanted
    if merged.conflicts or any(c.origin == "workflow" or c.notable for c in merged.changes):
        step.merged = merged
    if merged.conflicts:
        assert step.existing is not None
        step.problems = (Problem("conflict", str(step.existing["id"])),)
        return
    workflow = {**merged.workflow, "id": wanted.identity}
    difference = wanted.verify(workflow) if wanted.verify is not None else ""
    if difference:
        step.problems = (Problem("unverified", difference),)
        return
    step.problems = ()
    kept = any(change.origin == "workflow" for change in merged.changes)
    step.wanted = wanted._replace(
        workflow=workflow, kept=kept or (marker.kept and not merged.changes)
    )
