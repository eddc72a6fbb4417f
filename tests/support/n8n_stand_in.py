"""A stand-in for an n8n server: the API as it was measured on n8n 2.41.1, without its engine.

What matters is kept: content comes back as it was sent, unknown keys are refused, a conflict at an
update leaves the new content there unpublished, publishing checks triggers, callees and paths,
webhooks come up a moment later, and a published workflow cannot be deleted. A called webhook walks
the first wires and stores that as an execution.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]

KEY = "n8n_api_stand_in"
LIVE_AFTER = 0.02
_TAKEN = {"name", "nodes", "connections", "settings", "staticData", "pinData", "nodeGroups"}
_PAGE = (
    '<meta name="n8n:config:sentry" content="'
    "eyJkc24iOiIiLCJlbnZpcm9ubWVudCI6ImRldmVsb3BtZW50IiwicmVsZWFzZSI6Im44bkAyLjQxLjEifQ=="
    '">'
)


class Refusal(Exception):
    """An answer with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class StandIn:
    """An n8n server on a free port; `workflows` is what it has, by id."""

    def __init__(self, version: str | None = None) -> None:
        self.version = version
        self.keys = {KEY}
        self.workflows: dict[str, Json] = {}
        self.executions: dict[str, Json] = {}
        self.credentials: list[Json] = []
        self.schemas: dict[str, Json] = {}  # of types of credentials
        self.calls: list[str] = []
        self.seen: list[tuple[str, dict[str, str], str]] = []
        self.live_at: dict[str, float] = {}
        self.lock = threading.RLock()
        self._numbers = itertools.count(1)
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(length)
                with stand_in.lock:
                    stand_in.calls.append(f"{self.command} {self.path}")
                    stand_in.seen.append((self.path, dict(self.headers), body.decode()))
                    status, said, headers = stand_in.answer(
                        self.command, self.path, self.headers, body
                    )
                text = (said if isinstance(said, str) else json.dumps(said)).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_any

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    # -- for tests -------------------------------------------------------------------------------

    def named(self, name: str) -> list[Json]:
        return [row for row in self.workflows.values() if row["name"] == name]

    def edit(self, workflow_id: str, **changes: Any) -> None:
        """As a person does in the editor."""
        row = self.workflows[workflow_id]
        self._put(row, {**{k: row[k] for k in _TAKEN if row.get(k) is not None}, **changes})

    # -- the API ---------------------------------------------------------------------------------

    def answer(
        self, method: str, path: str, headers: Any, body: bytes
    ) -> tuple[int, Any, dict[str, str]]:
        place, _, query = path.partition("?")
        for root in ("/webhook/", "/form/"):
            if place.startswith(root):
                return self._webhook(method, place.removeprefix(root), headers, body)
        if place == "/rest/settings":
            data = {"settingsMode": "public"}
            return 200, {"data": data | ({"versionCli": self.version} if self.version else {})}, {}
        if place == "/":
            return 200, _PAGE if self.version is None else "", {}
        if not place.startswith("/api/v1/"):
            return 404, "<!DOCTYPE html>", {}
        if headers.get("X-N8N-API-KEY") not in self.keys:
            return 401, {"message": "Unauthorized"}, {}
        try:
            sent = json.loads(body) if body else None
            return 200, self._api(method, place.removeprefix("/api/v1"), query, sent), {}
        except Refusal as refusal:
            return refusal.status, {"message": str(refusal)}, {}

    def _api(self, method: str, place: str, query: str, body: Any) -> Any:
        if place == "/workflows" and method == "GET":
            return self._list(query)
        if place == "/workflows" and method == "POST":
            return self._create(body)
        if place == "/credentials" and method == "GET":
            rows = [{k: one[k] for k in ("id", "name", "type")} for one in self.credentials]
            return {"data": rows, "nextCursor": None}
        if place.startswith("/credentials/schema/"):
            if place.rpartition("/")[2] not in self.schemas:
                raise Refusal(404, "unknown type")
            return self.schemas[place.rpartition("/")[2]]
        if place == "/credentials" and method == "POST":
            if set(body) != {"name", "type", "data"}:
                raise Refusal(400, "request/body is wrong")
            self.credentials.append({"id": f"cred{len(self.credentials) + 1}", **body})
            return {k: self.credentials[-1][k] for k in ("id", "name", "type")}
        found = re.fullmatch(r"/executions/(\d+)(/stop)?", place)
        if found:
            if found[1] not in self.executions:
                raise Refusal(404, "Not Found")
            return self.executions[found[1]]
        found = re.fullmatch(r"/workflows/([^/]+)(?:/(\w+))?", place)
        if found is None:
            raise Refusal(404, "not found")
        row = self.workflows.get(found[1])
        if row is None:
            raise Refusal(404, "You do not have permission. Ask the owner to share it with you.")
        verb = found[2] or method
        if verb == "PUT":
            if row["isArchived"]:
                raise Refusal(400, "Cannot update an archived workflow.")
            self._put(row, body)
        elif verb in ("publish", "activate"):
            self._publish(row)
        elif verb in ("unpublish", "deactivate"):
            row.update(active=False, activeVersionId=None, activeVersion=None, triggerCount=0)
        elif verb == "archive":
            row.update(isArchived=True, active=False, activeVersionId=None, activeVersion=None)
        elif verb == "DELETE":
            if row["active"]:
                raise Refusal(409, "Cannot delete a published workflow. Unpublish it first.")
            del self.workflows[row["id"]]
        return copy.deepcopy(row)

    def _list(self, query: str) -> Json:
        options = dict(part.split("=") for part in query.split("&") if part)
        rows = list(self.workflows.values())
        first, size = int(options.get("cursor", 0)), int(options.get("limit", 100))
        more = str(first + size) if first + size < len(rows) else None
        return {"data": copy.deepcopy(rows[first : first + size]), "nextCursor": more}

    def _checked(self, body: Json) -> None:
        unknown = set(body) - _TAKEN
        if unknown:
            raise Refusal(400, "request/body must NOT have additional properties")
        names = [node["name"] for node in body["nodes"]]
        if len(set(names)) != len(names):
            raise Refusal(400, "Workflow contains duplicate node names")

    def _create(self, body: Json) -> Json:
        self._checked(body)
        number = next(self._numbers)
        row = {
            "id": f"server{number:04d}", "active": False, "activeVersionId": None,
            "activeVersion": None, "isArchived": False, "versionCounter": 0, "triggerCount": 0,
            "createdAt": f"2026-01-01T00:00:00.{number:03d}Z", "meta": None, "tags": [],
            "updatedAt": "2026-01-01T00:00:00.000Z",
        }  # fmt: skip
        self.workflows[str(row["id"])] = row
        self._put(row, body)
        return copy.deepcopy(row)

    def _put(self, row: Json, body: Json) -> None:
        self._checked(body)
        before = {key: row.get(key) for key in ("nodes", "connections", "settings", "name")}
        row.update(copy.deepcopy(body))
        if before != {key: row.get(key) for key in before}:
            row["versionCounter"] += 1
            row["versionId"] = f"v{row['id']}-{row['versionCounter']}"
        if row["active"]:
            self._publish(row)

    def _publish(self, row: Json) -> None:
        if row["isArchived"]:
            raise Refusal(400, "Cannot activate an archived workflow.")
        kinds = [node["type"].rpartition(".")[2] for node in row["nodes"]]
        starts = {
            "webhook",
            "formTrigger",
            "executeWorkflowTrigger",
            "scheduleTrigger",
            "errorTrigger",
        }
        if not set(kinds) & starts:
            raise Refusal(400, "Workflow cannot be activated because it has no trigger node.")
        for node in row["nodes"]:
            if node["type"].endswith(".executeWorkflow"):
                called = node["parameters"]["workflowId"]["value"]
                if called.startswith("="):
                    continue
                callee = self.workflows.get(called)
                if callee is not row and (callee is None or not callee["active"]):
                    said = "Node references workflow x which is not published."
                    raise Refusal(400, said)
        mine = set(_paths(row))
        for other in self.workflows.values():
            if other is not row and other["active"] and mine & set(_paths(other["activeVersion"])):
                raise Refusal(409, "There is a conflict with one of the webhooks.")
        version = {"nodes": copy.deepcopy(row["nodes"]), "versionId": row["versionId"]}
        row.update(active=True, activeVersionId=row["versionId"], activeVersion=version,
                   triggerCount=len(mine))  # fmt: skip
        for path in mine:
            self.live_at[path] = time.monotonic() + LIVE_AFTER

    def _webhook(
        self, method: str, path: str, headers: Any, body: bytes
    ) -> tuple[int, Any, dict[str, str]]:
        row = next(
            (
                row
                for row in self.workflows.values()
                if row["active"] and path in _paths(row["activeVersion"])
            ),
            None,
        )
        live = row is not None and time.monotonic() >= self.live_at.get(path, 0)
        if method == "OPTIONS":
            allowed = "OPTIONS, POST" if live else "OPTIONS"
            return 204, "", {"access-control-allow-methods": allowed} if "origin" in headers else {}
        if row is None or not live:
            return 404, {"message": f'The requested webhook "{path}" is not registered.'}, {}
        number = str(next(self._numbers))
        self.executions[number] = self._walk(number, row, json.loads(body or b"null"))
        return 200, number, {}

    def _walk(self, number: str, row: Json, body: Any) -> Json:
        name = next(
            n["name"] for n in row["nodes"] if n["type"].endswith((".webhook", ".formTrigger"))
        )
        done: dict[str, list[Json]] = {}
        clock = itertools.count()
        todo = [name]
        while todo and sum(map(len, done.values())) < 200:
            name = todo.pop()
            wires = (row["connections"].get(name) or {}).get("main") or []
            entry = {"startTime": next(clock), "executionTime": 0, "executionStatus": "success",
                     "data": {"main": [[{"json": {}}] for _ in wires]}}  # fmt: skip
            done.setdefault(name, []).append(entry)
            todo += [end["node"] for end in (wires[0] if wires else [])][::-1]
        data = {"resultData": {"runData": done, "lastNodeExecuted": name}}
        return {"id": number, "workflowId": row["id"], "status": "success", "data": data,
                "workflowData": row, "body": body}  # fmt: skip


def _paths(row: Mapping[str, Any]) -> Iterator[str]:
    for node in row["nodes"]:
        if node["type"].endswith(".webhook") and not node.get("disabled"):
            yield node["parameters"]["path"]
        if node["type"].endswith(".formTrigger") and not node.get("disabled"):
            parameters = node["parameters"]
            yield parameters.get("path") or parameters["options"]["path"]
