"""Compiled processes of segments on a real server, with a scripted person: tasks are answered by
their pages, messages are sent to the address of messages, and the rows of an instance are read
through n8n's public API."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
from orgflow.backends.n8n.format.support_ids import part_id
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.waiting.installation import CREDENTIAL_HEADER
from orgflow.backends.n8n.waiting.support_set import PARTS
from orgflow.compiler import compile_model

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

Json = dict[str, Any]

_PAUSE = 0.2
REGISTRY = Registry(outside=False)


def compile_segments(model: Model, **options: str) -> list[Json]:
    """The workflows of a model, which has to compile."""
    ctx = PassContext(registry=REGISTRY)
    emitted = compile_model(model, REGISTRY.backends["n8n"], ctx, options=options)
    assert emitted is not None, [d.message for d in ctx.diagnostics]
    return [json.loads(a.text) for a in emitted.artifacts if a.path.endswith(".json")]


class Deployed(NamedTuple):
    """A process on the server.

    Attributes:
        workflow: its workflow, as deployed.
        ids: ids of the workflows, the called ones first.
        address: the path of the webhook that starts an instance.
    """

    workflow: Json
    ids: tuple[str, ...]
    address: str


class Instance(NamedTuple):
    """A process instance: its process, and the key of its row."""

    process: Deployed
    key: str


class SegmentServer:
    """A server with the support set."""

    def __init__(
        self, client: TableClient, table: str, workflows: Mapping[str, str], secret: str
    ) -> None:
        self.client, self.table, self.workflows, self.secret = client, table, workflows, secret
        self.deployed: list[str] = []
        self._http = httpx.Client(timeout=120, trust_env=False)

    def close(self) -> None:
        """Delete the processes."""
        for workflow_id in reversed(self.deployed):
            self.client.delete(workflow_id)
        self._http.close()

    def deploy(self, model: Model, **options: str) -> Deployed:
        """Deploy the one process of a model under addresses of its own."""
        return self.deploy_all(model, **options)[-1]

    def deploy_all(self, model: Model, **options: str) -> list[Deployed]:
        """Deploy the processes of a model, the called ones first."""
        named = tuple(
            process.replace(name=f"{process.name or process.id} {time.time_ns()}")
            for process in model.processes
        )
        workflows = compile_segments(
            model.replace(processes=named), **{"trigger": "webhook", **options}
        )
        ids = {part_id(part): self.workflows[part] for part in PARTS}
        todo, made = list(workflows), []
        while todo:
            own = {str(w["id"]) for w in todo}
            ready = next(
                w
                for w in todo
                if not any(f'"{i}"' in json.dumps(w["nodes"]) for i in own - {w["id"]})
            )
            todo.remove(ready)
            text = json.dumps(ready)
            for old, new in ids.items():
                text = text.replace(f'"{old}"', f'"{new}"')
            workflow_id = self.client.create(json.loads(text))
            ids[str(ready["id"])] = workflow_id
            self.deployed.append(workflow_id)
            self.client.publish_version(workflow_id, "test")
            self.client.await_live(self.client.workflow(workflow_id))
            address = next(
                (n["parameters"]["path"] for n in ready["nodes"] if n["type"].endswith(".webhook")),
                "",
            )
            made.append(Deployed(ready, (workflow_id,), address))
        return made

    def start(self, process: Deployed, **data: Any) -> Instance:
        """Start an instance by its webhook."""
        business_key = f"case {time.time_ns()}"
        headers = {"Idempotency-Key": business_key}
        place = f"{self.client.url}/webhook/{process.address}"
        self._http.post(place, json=data, headers=headers).raise_for_status()
        rows = self.await_rows({"business_key": business_key}, lambda rows: bool(rows))
        return Instance(process, rows[0]["key"])

    def rows(self, tests: Mapping[str, str]) -> list[Json]:
        """Rows by the content of columns."""
        filters = [
            {"columnName": name, "condition": "eq", "value": value} for name, value in tests.items()
        ]
        wanted = quote(json.dumps({"type": "and", "filters": filters}), safe="")
        place = f"/api/v1/data-tables/{self.table}/rows?limit=250&sortBy=id%3Aasc&filter={wanted}"
        answer = self._http.get(
            self.client.url + place, headers={"X-N8N-API-KEY": self.client.key}
        ).raise_for_status()
        rows: list[Json] = answer.json()["data"]
        return rows

    def await_rows(
        self, tests: Mapping[str, str], holds: Callable[[list[Json]], bool], seconds: float = 60
    ) -> list[Json]:
        """Rows, once something holds of them."""
        deadline = time.monotonic() + seconds
        while True:
            rows = self.rows(tests)
            if holds(rows):
                return rows
            if time.monotonic() > deadline:
                short = [(r["kind"], r["element"], r["state"], r["event"]) for r in rows]
                raise TimeoutError(f"{short}")
            time.sleep(_PAUSE)

    def await_open(
        self, instance: Instance, *elements: str, seconds: float = 60
    ) -> dict[str, Json]:
        """The open rows of an instance by element, once they are exactly those of `elements`, and
        nothing runs."""
        wanted = sorted(elements)

        def holds(rows: list[Json]) -> bool:
            live = [r for r in rows if r["live"] == "1" and r["kind"] != "scope"]
            return sorted(r["element"] for r in live) == wanted and all(
                r["state"] == "open" for r in live
            )

        rows = self.await_rows({"instance": instance.key}, holds, seconds)
        return {r["element"]: r for r in rows if r["live"] == "1" and r["kind"] != "scope"}

    def await_end(self, instance: Instance, seconds: float = 60) -> list[Json]:
        """The rows of an instance that has ended."""
        return self.await_rows(
            {"instance": instance.key}, lambda rows: all(r["live"] == "0" for r in rows), seconds
        )

    def answer(self, instance: Instance, row: Json, **answers: str) -> str:
        """Answer a task by its page, with fields by their labels; returns the text of the page."""
        page = next(
            n["parameters"]
            for n in instance.process.workflow["nodes"]
            if n["parameters"].get("path") and row["link"].endswith(f"/{n['parameters']['path']}")
        )
        fields = {}
        for number, field in enumerate(page["formFields"]["values"]):
            text = row["key"] if field.get("fieldName") == "key" else None
            text = text or answers.get(field.get("fieldLabel", ""))
            if text is not None:
                fields[f"field-{number}"] = (None, text)
        answer = self._http.post(f"{self.client.url}{row['link']}", files=fields)
        assert answer.status_code == 200, answer.text
        return answer.text

    def send(self, name: str, key: str, **data: Any) -> None:
        """Send a message to the address of messages."""
        body = {"name": name, "key": key, "data": data}
        self._post("/webhook/orgflow-message", body)

    def sweep(self) -> None:
        """Run the sweep at once."""
        self._post("/webhook/orgflow-sweep", {})

    def _post(self, place: str, body: Json) -> None:
        headers = {CREDENTIAL_HEADER: self.secret}
        self._http.post(self.client.url + place, json=body, headers=headers).raise_for_status()

    def variables(self, rows: list[Json]) -> Json:
        """The variables of an instance: the changes of its ended rows, the latest last."""
        ended = [r for r in rows if r["live"] == "0" and r["state"] != "cancelled"]
        result: Json = {}
        for row in sorted(ended, key=lambda r: (r["changed_at"], r["id"])):
            result.update(json.loads(row["variables"] or "{}"))
        return result
