"""The client's calls for Data Tables and named versions, of the public API of n8n 2."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from orgflow.backends.n8n.server.client.errors import NotN8nError, RefusedError
from orgflow.backends.n8n.server.client.workflows import WorkflowClient

Json = dict[str, Any]

RowTests = Sequence[tuple[str, str, str]]
"""Conditions that all have to hold: column, n8n's name of the condition, and value."""


class TableClient(WorkflowClient):
    """A client that also reads and changes Data Tables."""

    def data_tables(self, name: str) -> tuple[Json, ...]:
        """Id and name of the tables whose name contains a text, which includes the table of this
        name. Raises `ServerError`."""
        wanted = quote(json.dumps({"name": name}))
        path = f"/api/v1/data-tables?limit=250&filter={wanted}"
        rows = self._call_api(self._api, "GET", path).get("data")
        if not isinstance(rows, list):
            raise NotN8nError(f"{self.shown} does not list Data Tables like n8n", 200)
        return tuple(row for row in rows if name in str(row.get("name")))

    def create_data_table(self, name: str, columns: Sequence[str]) -> str | None:
        """Create a table with columns of texts; returns its id, `None` if there is one of this name
        already. Never retried automatically. Raises `ServerError`."""
        listed = [{"name": column, "type": "string"} for column in columns]
        body = {"name": name, "columns": listed}
        try:
            return str(self._call_api(self._api, "POST", "/api/v1/data-tables", body)["id"])
        except RefusedError as error:
            if error.status != 409:
                raise
            return None

    def data_table_columns(self, table_id: str) -> tuple[str, ...]:
        """Names of the columns of a table, without those that n8n adds. Raises `ServerError`."""
        table = self._call_api(self._api, "GET", f"/api/v1/data-tables/{quote(table_id)}")
        return tuple(str(column["name"]) for column in table.get("columns") or ())

    def data_table_size(self, table_id: str) -> int:
        """Bytes of a table, as n8n measures them now and then; 0 if unknown. Raises
        `ServerError`."""
        table = self._call_api(self._api, "GET", f"/api/v1/data-tables/{quote(table_id)}")
        size = table.get("sizeBytes")
        return size if isinstance(size, int) else 0

    def add_data_table_column(self, table_id: str, name: str) -> None:
        """Add a column of texts; it is empty in existing rows. Raises `ServerError`."""
        path = f"/api/v1/data-tables/{quote(table_id)}/columns"
        self._call_api(self._api, "POST", path, {"name": name, "type": "string"})

    def data_table_rows(self, table_id: str, most: int = 250) -> tuple[Json, ...]:
        """Rows of a table, the oldest first, page by page. Raises `ServerError`."""
        path = f"/api/v1/data-tables/{quote(table_id)}/rows?limit={min(most, 250)}&sortBy=id%3Aasc"
        rows: list[Json] = []
        cursor = ""
        while True:
            tail = f"&cursor={quote(cursor)}" if cursor else ""
            page = self._call_api(self._api, "GET", f"{path}{tail}")
            rows += page.get("data") or ()
            cursor = str(page.get("nextCursor") or "")
            if not cursor or len(rows) >= most:
                return tuple(rows[:most])

    def chosen_rows(self, table_id: str, tests: RowTests, most: int = 10_000) -> tuple[Json, ...]:
        """Rows for which all of some conditions hold, the oldest first. Raises `ServerError`."""
        wanted = quote(json.dumps(_filter_of(tests)), safe="")
        path = f"/api/v1/data-tables/{quote(table_id)}/rows?limit=250&sortBy=id%3Aasc"
        pages = self._list_pages(f"{path}&filter={wanted}", "rows")
        return tuple(itertools.islice(pages, most))

    def insert_rows(self, table_id: str, rows: Sequence[Mapping[str, str]]) -> None:
        """Insert rows, in one transaction. Never retried automatically. Raises `ServerError`."""
        body = {"data": [dict(row) for row in rows], "returnType": "count"}
        self._call_api(self._api, "POST", f"/api/v1/data-tables/{quote(table_id)}/rows", body)

    def update_rows(
        self, table_id: str, tests: RowTests, values: Mapping[str, str]
    ) -> tuple[Json, ...]:
        """Change rows for which all of some conditions hold, in one step of the server; returns the
        changed rows. Raises `ServerError`."""
        body = {"filter": _filter_of(tests), "data": dict(values), "returnData": True}
        path = f"/api/v1/data-tables/{quote(table_id)}/rows/update"
        rows = self._call_api(self._api, "PATCH", path, body).get("data")
        return tuple(rows) if isinstance(rows, list) else ()

    def delete_data_table(self, table_id: str) -> None:
        """Delete a table with its rows; a deleted one is not an error. Raises `ServerError`."""
        try:
            self._call_api(self._api, "DELETE", f"/api/v1/data-tables/{quote(table_id)}")
        except RefusedError as error:
            if error.status != 404:
                raise

    def delete_credential(self, credential_id: str) -> None:
        """Delete a credential; a deleted one is not an error. Raises `ServerError`."""
        try:
            self._call_api(self._api, "DELETE", f"/api/v1/credentials/{quote(credential_id)}")
        except RefusedError as error:
            if error.status != 404:
                raise

    def execution_status(self, execution_id: str) -> str:
        """The status of an execution, without its data. Raises `RefusedError` (404 if it is
        gone)."""
        path = f"/api/v1/executions/{quote(execution_id)}"
        return str(self._call_api(self._api, "GET", path).get("status"))

    def unarchive(self, workflow_id: str) -> None:
        """Take a workflow out of the archive. Raises `ServerError`."""
        path = f"/api/v1/workflows/{quote(workflow_id)}/unarchive"
        self._call_api(self._api, "POST", path, again=True)

    def publish_version(self, workflow_id: str, name: str) -> None:
        """Publish the present content of a workflow as a version with a name, which the editor
        shows in the history. Raises `RefusedError`."""
        body: Mapping[str, Any] = {"name": name}
        path = f"/api/v1/workflows/{quote(workflow_id)}/publish"
        self._call_api(self._api, "POST", path, body, again=True)


def _filter_of(tests: RowTests) -> Json:
    filters = [
        {"columnName": column, "condition": condition, "value": value}
        for column, condition, value in tests
    ]
    return {"type": "and", "filters": filters}
