"""Workflows on a server that only others call: replaced by another identity, or no longer called.

The callers of a process in another file share one workflow of it when their files are compiled
together, and have one each otherwise. Work that a model only names has a workflow for each name. So
a deployment may call another workflow than the one before, which nothing calls any more.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.format.compiled_workflow import exists_for_callers
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.node_types.workflow_calls import called_workflows
from orgflow.backends.n8n.server.deploy.process_similarity import (
    deleted_in,
    is_same_process,
    steps_of,
)
from orgflow.backends.n8n.server.deployment_marker import is_edited, marker_of

from orgflow_ir.model.element_names import CALLED
from orgflow_ir.model.records import NamedTuple

Json = dict[str, Any]


class Uncalled(NamedTuple):
    """A workflow that was called before a deployment and is not called after it.

    Attributes:
        id: on the server.
        name: its name.
        callers: names of the deployed workflows that called it.
        implemented: whether somebody edited it.
    """

    id: str
    name: str
    callers: tuple[str, ...]
    implemented: bool


class Demoted(NamedTuple):
    """A call that is now one of a placeholder, because the called process was not found.

    Attributes:
        caller: the name of the workflow that calls.
        before: the name of the workflow of the process that it has called.
        now: the name of the workflow with the placeholder.
    """

    caller: str
    before: str
    now: str


def find_demoted(
    rows: Iterable[Json], steps: Iterable[tuple[Json, Mapping[str, Any]]], new: Iterable[Json]
) -> Iterator[Demoted]:
    """Calls of a process in another file that become calls of a placeholder for it.

    Args:
        rows: the workflows on the server before the deployment.
        steps: the old and the new content of those that it updates.
        new: all workflows of the deployment, with the ids that the new content calls.
    """
    there = {str(row["id"]): row for row in rows if is_for_callers(row)}
    names = {str(workflow.get("id")): str(workflow.get("name")) for workflow in new}
    for old, content in steps:
        calls = _called_ids(content)
        now = {names[id] for id in calls if id in names}
        for id in dict.fromkeys(id for id, _ in called_workflows(old) if id in there):
            stub = f"{WorkflowDocument(there[id]).map.process} (process)"
            if stub in now and id not in calls:
                yield Demoted(str(content.get("name")), str(there[id].get("name")), stub)


def is_for_callers(workflow: Mapping[str, Any]) -> bool:
    """Whether a compiled workflow is that of a process for its callers in other files."""
    return CALLED in str(workflow.get("name"))


def find_predecessor(
    workflow: Mapping[str, Any],
    rows: Iterable[Json],
    updated: Container[str],
    taken: Container[str],
) -> Json | None:
    """The workflow on the server that is of the same process for its callers, under another name,
    and whose callers are all `updated` by the deployment; the one with the most callers. Those that
    are `taken` stay."""
    every = list(rows)
    steps = steps_of(workflow)
    process = _process_name(workflow)
    candidates: list[tuple[int, str, Json]] = []
    for row in every:
        id = str(row["id"])
        same = is_for_callers(row) and _process_name(row) == process and id not in taken
        if not same or marker_of(row) is None or steps_of(row).process != steps.process:
            continue
        callers = [
            str(caller["id"]) for caller in every if caller is not row and id in _called_ids(caller)
        ]
        if all(caller in updated for caller in callers) and is_same_process(steps_of(row), steps):
            candidates.append((-len(callers), id, row))
    return min(candidates, key=lambda caller: caller[:2])[2] if candidates else None


def find_uncalled(
    rows: Sequence[Json], deployed: Mapping[str, Mapping[str, Any]], kept: Container[str]
) -> tuple[Uncalled, ...]:
    """Workflows of an earlier deployment that only callers start and that have lost their last one.

    Args:
        rows: the workflows on the server before the deployment.
        deployed: the new content of those that it updates, by their ids on the server.
        kept: ids of all workflows that it deploys.
    """
    there = {str(row["id"]): row for row in rows if not row.get("isArchived")}
    before_it = {id: _called_ids(row) for id, row in there.items()}
    after_it = {**before_it, **{id: _called_ids(row) for id, row in deployed.items()}}
    uncalled: dict[str, Uncalled] = {}
    while True:
        before = len(uncalled)
        for id, row in there.items():
            marker = marker_of(row)
            if (
                marker is None
                or id in uncalled
                or id in kept
                or not exists_for_callers(WorkflowDocument(row))
            ):
                continue
            changed = (caller for caller in (*deployed, *uncalled) if caller != id)
            called_it = [caller for caller in changed if id in before_it.get(caller, ())]
            call_it = (caller for caller in after_it if caller not in uncalled and caller != id)
            if called_it and not any(id in after_it[caller] for caller in call_it):
                names = tuple(str(there[caller].get("name")) for caller in called_it)
                edited = marker.kept or is_edited(row)
                uncalled[id] = Uncalled(id, str(row.get("name")), names, edited)
        if len(uncalled) == before:
            return tuple(uncalled.values())


class Orphan(NamedTuple):
    """A workflow whose model was deleted, and that something other than a workflow starts.

    Attributes:
        row: the workflow.
        place: the file of its model.
    """

    row: Json
    place: str


def find_orphans(
    rows: Iterable[Json], folders: Sequence[str], kept: Container[str] = ()
) -> tuple[Orphan, ...]:
    """Workflows of models that were in some folders and no longer exist; those that others call
    are omitted.

    Args:
        rows: the workflows on the server.
        folders: the folders on this machine.
        kept: ids of workflows that have another model now.
    """
    there = [row for row in rows if not row.get("isArchived")]
    calls = {str(row["id"]): _called_ids(row) for row in there}
    orphans = []
    for row in there:
        id, marker = str(row["id"]), marker_of(row)
        if marker is None or id in kept or exists_for_callers(WorkflowDocument(row)):
            continue
        if any(id in others for other, others in calls.items() if other != id):
            continue
        if any(deleted_in(other, marker.origin, marker.project) for other in folders):
            orphans.append(Orphan(row, marker.origin))
    return tuple(sorted(orphans, key=lambda other: (other.place, str(other.row["id"]))))


def _called_ids(row: Mapping[str, Any]) -> set[str]:
    return {id for id, _ in called_workflows(row)}


def _process_name(workflow: Mapping[str, Any]) -> str:
    return str(workflow.get("name")).rpartition(CALLED)[0]
