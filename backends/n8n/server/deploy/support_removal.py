"""Removing processes that wait in several places: not while instances are open; the support set
goes with the last workflow that calls it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from orgflow.backends.n8n.node_types.workflow_calls import called_workflows
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.server.support_rows import find_support_server, open_instances
from orgflow.backends.n8n.waiting.installation import CREDENTIAL_NAME, credential_of

from orgflow_ir.plugins.deployment import Removed

Json = dict[str, Any]


class SupportRemoval:
    """The removals of one command.

    Args:
        client: with a key.
        rows: the workflows of the server that are not archived.
    """

    def __init__(self, client: TableClient, rows: Sequence[Json]) -> None:
        self._client, self._rows = client, rows
        self._server = find_support_server(client, rows)
        self._set = (
            frozenset(self._server.state.ids.values()) if self._server is not None else frozenset()
        )
        self._gone: set[str] = set()

    def _uses_set(self, row: Json) -> bool:
        calls = {id for id, _ in called_workflows({"nodes": row.get("nodes") or ()})}
        return bool(calls & self._set)

    def remove_process(self, row: Json, *, dry_run: bool) -> str:
        """Delete a workflow; why it was kept, in words, if instances of it are open. It is
        unpublished before they are counted, so none can begin afterwards. Raises `ServerError`."""
        id = str(row["id"])
        if not self._uses_set(row):
            self._gone.add(id)
            if not dry_run:
                self._client.delete(id)
            return ""
        open_work = self._open_work(id)
        if not open_work and not dry_run:
            self._client.unpublish(id)
            open_work = self._open_work(id)
            if open_work and row.get("active"):
                self._client.announce(id)
            elif not open_work:
                self._client.delete(id)
        if not open_work:
            self._gone.add(id)
        return open_work

    def _open_work(self, id: str) -> str:
        assert self._server is not None
        instances = sorted(open_instances(self._server.live_rows("workflow", id)))
        if not instances:
            return ""
        count = f"{len(instances)} process instance{'s are' if len(instances) > 1 else ' is'} open"
        return f"{count}: wait for the end, or end each with `orgflowc cancel`"

    def remove_unused(self, *, dry_run: bool) -> Iterator[Removed]:
        """Delete the support set if this command removed the last workflow that called it, and no
        row is open. Raises `ServerError`."""
        server = self._server
        if server is None or not any(
            self._uses_set(row) for row in self._rows if str(row["id"]) in self._gone
        ):
            return
        rows = self._rows if dry_run else [*self._client.listed()]
        for row in rows:
            id = str(row["id"])
            other = id not in self._gone and id not in self._set and not row.get("isArchived")
            if other and self._uses_set(row):
                return
        left = server.live_rows()
        if left:
            kept = f"{len(left)} row{'s are' if len(left) > 1 else ' is'} open in the table"
            yield Removed("orgflow: support set", server.table, kept)
            return
        parts = [*server.state.parts.values()]
        credential = credential_of(parts)
        for row in reversed(parts):
            if not dry_run:
                self._client.delete(str(row["id"]))
            yield Removed(str(row.get("name")), str(row["id"]))
        if not dry_run:
            self._client.delete_data_table(server.table)
            if credential and credential["name"] == CREDENTIAL_NAME:
                self._client.delete_credential(credential["id"])
        yield Removed("orgflow: table of open work", server.table)
