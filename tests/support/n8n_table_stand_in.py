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
        if rest == ["columns"] and method == "POST":
            self.tables[table_id]["columns"].append(body)
            return body
        return self.tables[table_id]
