"""The rows of processes that wait in several places, read and changed through the API of a server.

Every change is conditional: a row that a process changed in the meantime stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.waiting.installation import (
    SupportState,
    read_support_state,
)
from orgflow.backends.n8n.waiting.rows import TABLE_NAME

from orgflow_ir.model.records import NamedTuple

Json = dict[str, Any]

_SHOWN: Final = 100
_MOST_ROWS: Final = 100_000
"""Most rows that are read; a server holds 200 MB of all tables."""


class SupportServer(NamedTuple):
    """A server with the support set.

    Attributes:
        client: with a key.
        table: id of the table of rows.
        state: its workflows.
    """

    client: TableClient
    table: str
    state: SupportState

    def live_rows(self, column: str = "", value: str = "") -> tuple[Json, ...]:
        """Rows that keep a scope open, of a workflow or an instance if a column is given; the
        oldest first. Messages from outside are of no instance."""
        tests = [("live", "eq", "1"), *([(column, "eq", value)] if column else [])]
        return self.client.chosen_rows(self.table, tests, _MOST_ROWS)

    def overdue_rows(self, moment: str) -> int:
        """Number of live rows, at most a few, that the sweep should have looked at before."""
        tests = [("live", "eq", "1"), ("check_at", "lte", moment), ("state", "neq", "staged"),
                 ("state", "neq", "failed")]  # fmt: skip
        return len(self.client.chosen_rows(self.table, tests, _SHOWN))

    def change_row(self, row: Mapping[str, Any], values: Mapping[str, str]) -> bool:
        """Change a row unless its state, execution or element changed in the meantime; whether it
        was changed."""
        tests = [(name, "eq", str(row[name] or "")) for name in _GUARDS]
        return bool(self.client.update_rows(self.table, tests, values))


_GUARDS: Final = ("key", "state", "execution", "element")


def find_support_server(client: TableClient, rows: Iterable[Json]) -> SupportServer | None:
    """The support set among the workflows of a server; `None` if it has none, or no table."""
    state = read_support_state(rows)
    if not state.parts:
        return None
    # A set that was imported by hand names the table; one that was deployed has its id.
    for table in client.data_tables(TABLE_NAME):
        if table["name"] == TABLE_NAME:
            return SupportServer(client, str(table["id"]), state)
    return None


def next_element(row: Mapping[str, Any]) -> str:
    """The element at which the process goes on after a row."""
    if row["state"] == "running" and row["event"]:
        return str(row["event"])
    return str(row["element"] or "")


def open_instances(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    """Keys of the process instances that some live rows are of."""
    return {str(row["instance"]) for row in rows if row["instance"]}
