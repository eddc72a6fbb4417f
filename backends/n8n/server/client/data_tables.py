"""The client's calls for Data Tables and named versions, of the public API of n8n 2."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from orgflow.backends.n8n.server.client.errors import NotN8nError
from orgflow.backends.n8n.server.client.workflows import WorkflowClient

Json = dict[str, Any]


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

    def create_data_table(self, name: str, columns: Sequence[str]) -> str:
        """Create a table with columns of texts; returns its id. Never retried automatically.
        Raises `ServerError`."""
        listed = [{"name": column, "type": "string"} for column in columns]
        body = {"name": name, "columns": listed}
        return str(self._call_api(self._api, "POST", "/api/v1/data-tables", body)["id"])

    def data_table_columns(self, table_id: str) -> tuple[str, ...]:
        """Names of the columns of a table, without those that n8n adds. Raises `ServerError`."""
        table = self._call_api(self._api, "GET", f"/api/v1/data-tables/{quote(table_id)}")
        return tuple(str(column["name"]) for column in table.get("columns") or ())

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

    def publish_version(self, workflow_id: str, name: str) -> None:
        """Publish the present content of a workflow as a version with a name, which the editor
        shows in the history. Raises `RefusedError`."""
        body: Mapping[str, Any] = {"name": name}
        path = f"/api/v1/workflows/{quote(workflow_id)}/publish"
        self._call_api(self._api, "POST", path, body, again=True)
