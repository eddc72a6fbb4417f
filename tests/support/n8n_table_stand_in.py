"""The stand-in for an n8n server with Data Tables, as its public API treats them."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs

from n8n_stand_in import Refusal, StandIn

Json = dict[str, Any]


class TableStandIn(StandIn):
    """A stand-in with Data Tables; `tables` is what it has, by id."""

    def __init__(self) -> None:
        self.tables: dict[str, Json] = {}
        self.versions: list[tuple[str, str]] = []
        super().__init__()

    def _api(self, method: str, place: str, query: str, body: Any) -> Any:
        if place.startswith("/data-tables"):
            return self._tables(method, place, query, body)
        restored = re.fullmatch(r"/workflows/([^/]+)/unarchive", place)
        if restored and restored[1] in self.workflows:
            self.workflows[restored[1]]["isArchived"] = False
            return self.workflows[restored[1]]
        removed = re.fullmatch(r"/credentials/([^/]+)", place)
        if removed and method == "DELETE":
            self.credentials = [row for row in self.credentials if row["id"] != removed[1]]
            return {"id": removed[1]}
        published = re.fullmatch(r"/workflows/([^/]+)/publish", place)
        if published and body:
            self.versions.append((published[1], body["name"]))
        return super()._api(method, place, query, body)

    def _tables(self, method: str, place: str, query: str, body: Any) -> Any:
        if place == "/data-tables" and method == "POST":
            if any(table["name"] == body["name"] for table in self.tables.values()):
                raise Refusal(409, "Data table with this name already exists")
            table_id = f"table{len(self.tables) + 1}"
            self.tables[table_id] = {"id": table_id, "rows": [], **body}
            return self.tables[table_id]
        if place == "/data-tables":
            wanted = json.loads(parse_qs(query)["filter"][0])["name"]
            listed = [table for table in self.tables.values() if wanted in table["name"]]
            return {"data": listed, "nextCursor": None}
        _, table_id, *rest = place.strip("/").split("/")
        if table_id not in self.tables:
            raise Refusal(404, "Data table not found")
        if method == "DELETE" and not rest:
            del self.tables[table_id]
            return {}
        if rest[:1] == ["rows"]:
            return self._rows(self.tables[table_id], method, rest, query, body)
        if rest == ["columns"] and method == "POST":
            self.tables[table_id]["columns"].append(body)
            return body
        return self.tables[table_id]

    def _rows(self, table: Json, method: str, rest: list[str], query: str, body: Any) -> Any:
        names = {column["name"] for column in table["columns"]} | {"id"}
        if method == "GET":
            options = parse_qs(query)
            wanted = json.loads(options["filter"][0]) if "filter" in options else None
            chosen = [row for row in table["rows"] if _is_chosen(row, wanted, names)]
            first, size = int(options.get("cursor", ["0"])[0]), int(options["limit"][0])
            more = str(first + size) if first + size < len(chosen) else None
            return {"data": chosen[first : first + size], "nextCursor": more}
        if (method, rest) == ("PATCH", ["rows", "update"]):
            if not set(body["data"]) <= names:
                raise Refusal(400, "unknown column")
            chosen = [row for row in table["rows"] if _is_chosen(row, body["filter"], names)]
            for row in chosen:
                row.update(body["data"])
            return [dict(row) for row in chosen] if body.get("returnData") else True
        raise Refusal(404, "not found")

    def add_rows(self, *rows: Json) -> None:
        """Rows in the only table, with all columns."""
        (table,) = self.tables.values()
        for row in rows:
            empty = {column["name"]: "" for column in table["columns"]}
            number = len(table["rows"]) + 1
            table["rows"].append({"id": number, **empty, "key": f"key{number}", **row})


def _is_chosen(row: Json, wanted: Json | None, names: set[str]) -> bool:
    """Whether a row fits a filter as n8n reads it."""
    for test in (wanted or {}).get("filters", ()):
        column, value = test["columnName"], test["value"]
        if column not in names:
            raise Refusal(400, "unknown column")
        holds = {
            "eq": row[column] == value,
            "neq": row[column] != value,
            "lte": row[column] <= value,
            "like": str(row[column]).startswith(str(value).removesuffix("%")),
        }
        if not holds[test["condition"]]:
            return False
    return True
