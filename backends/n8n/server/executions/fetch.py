"""Finished executions of a deployed workflow, from a server or a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.server.client.errors import RefusedError
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.deployment_marker import marker_of

from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.plugins.executions import ExecutionQuery, NotDeployed, time_of

Json = Mapping[str, Any]

STATUSES = ("success", "error", "crashed", "canceled", "waiting")
"""The stored ones that n8n lists; running executions have no data yet."""


def find_deployed(
    client: WorkflowClient, compiled: Iterable[tuple[str, Json]], named: str | None = None
) -> list[Json]:
    """The workflows of a model on the server, in their current version.

    Args:
        client: with a key.
        compiled: the processes and the workflow of each.
        named: the server's id of the requested one, regardless of its marker.

    Raises:
        NotDeployed: there is none, or several are possible.
        ServerError: see the client.
    """
    if named is not None:
        try:
            return [client.workflow(named)]
        except RefusedError as error:
            if error.status != 404:
                raise
            raise NotDeployed(f"the server has no workflow `{named}`") from None
    rows = [row for row in client.listed() if not row.get("isArchived")]
    deployed: list[Json] = []
    for process, workflow in compiled:
        marked = [row for row in rows if _read_identity(row) == str(workflow["id"])]
        # One that was imported by hand has no marker, but the map of its nodes.
        fitting = marked or [row for row in rows if _is_imported(row, process, workflow)]
        if len(fitting) > 1:
            ids = ", ".join(str(row["id"]) for row in fitting)
            raise NotDeployed(f"several workflows were compiled from this model: {ids}")
        deployed += fitting
    if not deployed:
        raise NotDeployed("no workflow on the server was compiled from this model")
    return deployed


def _read_identity(row: Json) -> str | None:
    marker = marker_of(row)
    return marker.identity if marker is not None else None


def _is_imported(row: Json, process: str, compiled: Json) -> bool:
    """Whether a workflow without a marker was made of a process; ids such as `Process_1` are no
    proof, so most of its nodes have to be known, too."""
    if marker_of(row) is not None:
        return False
    noted, known = WorkflowDocument(row).map, WorkflowDocument(compiled).map.nodes.items()
    return noted.process == process and 2 * len(noted.nodes.items() & known) >= len(known)


def pull_executions(
    client: WorkflowClient, workflow_id: str, wanted: ExecutionQuery
) -> Iterator[Json]:
    """Executions of one workflow with their data, the latest first. Raises `ServerError`."""
    count = 0
    if wanted.most == 0:
        return
    for execution in client.stored_executions(workflow_id, wanted.status, wanted.most):
        began = time_of(execution.get("startedAt"))
        if wanted.since is not None and began is not None and began < wanted.since:
            return  # they come in order
        if _is_wanted(wanted, execution):
            yield execution
            count += 1
            if count == wanted.most:
                return


def _is_wanted(wanted: ExecutionQuery, execution: Json) -> bool:
    return wanted.takes(execution.get("status"), execution.get("startedAt"))


def read_saved(path: str, data: bytes, wanted: ExecutionQuery) -> list[Json]:
    """Executions in a file: the API's answer (one, a page, a list), or one per line.

    Raises:
        ValueError: it is not JSON, or contains none; the message gives the reason.
    """
    executions = [e for e in _read_rows(path, data) if _is_wanted(wanted, e)]
    return executions if wanted.most is None else executions[: wanted.most]


def _read_rows(path: str, data: bytes) -> list[Json]:
    try:
        values = [parse_json(path, data).root.value]
    except JsonFault as fault:
        lines = [line for line in data.splitlines() if line.strip()]
        try:
            values = [parse_json(path, line).root.value for line in lines]
        except JsonFault:
            values = []
        if len(values) < 2:
            raise ValueError(f"{path} is not JSON: line {fault.line}: {fault.message}") from None
    rows: list[Json] = []
    for value in values:
        if isinstance(value, Mapping) and isinstance(value.get("data"), list):
            value = value["data"]
        rows += [row for row in (value if isinstance(value, list) else [value]) if _is_one(row)]
    if not rows:
        raise ValueError(f"{path} contains no executions of n8n")
    return rows


def _is_one(value: object) -> bool:
    return isinstance(value, Mapping) and ("workflowData" in value or "workflowId" in value)
