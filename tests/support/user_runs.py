"""Runs of models on a real n8n server as people start and answer them: begun by a page or a call,
with waits answered at their addresses.

Only the bodies of placeholders are replaced, by Code nodes that output the decisions of a run, and
long times are shortened.
"""

from __future__ import annotations

import copy
import html
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import httpx
from orgflow.backends.n8n.engine.runs import EngineRun, NodeRun, RunRequest
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.node_types import code
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.server.client.client import FINISHED, Client
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.executions.execution import (
    StoredRun,
    nest_runs,
    read_execution,
)

from orgflow_ir.flow.token_game.stimulus import Stimulus

Json = dict[str, Any]

SECONDS = 120.0
"""Maximum elapsed time of all runs that are played together, after the last was started."""

_LOOK_SECONDS = 0.1
_DATA_LOOKS = 30
_PAGE = 100


CALLED_ONLY = "other processes call it"


class TwoPassRunner(LocalRunner):
    """Collects the requests of many models, so that one deployment serves all of them, and then
    returns their results in the same order."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[RunRequest] = []
        self.results: Sequence[EngineRun] = ()
        self._known: dict[str, int] = {}
        self._places: list[int] = []
        self._next = 0

    def request(
        self,
        stimuli: Sequence[Stimulus],
        errors: Mapping[str, Sequence[str | None]] | None = None,
        *,
        scripted: bool = False,
    ) -> RunRequest:
        """As of `LocalRunner`; where a page starts a run, its item is the input by label."""
        made = super().request(stimuli, errors, scripted=scripted)
        page = self.compiled.root.plan.forms.get(stimuli[0].element)
        if page is None:
            return made
        (item,) = made.items or ()
        return made._replace(items=[{"json": page.answers(item["json"])}])

    def play_requests(self, requests: Sequence[RunRequest]) -> Iterable[EngineRun]:
        """Of the first pass nothing is used but the requests."""
        if any(_is_called(request) for request in requests):
            return [EngineRun("limit", CALLED_ONLY, None)] * len(requests)
        if not self.results:
            self._places += [self._place_of(request) for request in requests]
            return [EngineRun("limit", "collected", None)] * len(requests)
        places = self._places[self._next : self._next + len(requests)]
        self._next += len(requests)
        return [self.results[place] for place in places]

    def _place_of(self, request: RunRequest) -> int:
        """Its place among the requests, of which equal ones are played once."""
        key = json.dumps(request.message(), sort_keys=True)
        if key not in self._known:
            self._known[key] = len(self.requests)
            self.requests.append(request)
        return self._known[key]


def _is_called(request: RunRequest) -> bool:
    """Whether nobody but a calling workflow starts it."""
    trigger = next(row for row in request.workflow["nodes"] if row["name"] == request.trigger)
    return short_type(trigger) == "executeWorkflowTrigger"


class UserRun:
    """One run: its workflows under names and addresses of their own, and what happens to them.

    Args:
        request: the run.
        name: identifies it among all runs on the server.
    """

    def __init__(self, request: RunRequest, name: str) -> None:
        self.request = request
        self.name = name
        self._called = dict(request.workflows or {})
        self.workflows = {
            id: self._own(workflow, id)
            for id, workflow in {**self._called, "": request.workflow}.items()
        }
        self._ids: dict[str, str] = {}
        self._main = ""
        self._answered: set[tuple[str, str, int]] = set()

    def _own(self, workflow: Mapping[str, Any], id: str) -> Json:
        made = copy.deepcopy(dict(workflow))
        made["name"] = f"{self.name} {id}".strip()
        made["id"] = f"{self.name}/{id}"
        stubs = self.request.stubs or {}
        for row in made["nodes"]:
            place = f"{id}/{row['name']}" if id else row["name"]
            kind, parameters = short_type(row), row["parameters"]
            row["id"] = f"{self.name}/{row['id']}"
            if place in stubs:
                _script(row, stubs[place])
            elif kind == "webhook":
                parameters["path"] = row["webhookId"] = self._path
            elif kind == "formTrigger":
                parameters["options"]["path"] = row["webhookId"] = self._path
            elif kind == "executeWorkflow":
                called = parameters["workflowId"]
                called["value"] = f"{self.name}/{called['value']}"
            elif kind == "wait" and parameters.get("resume") in ("timeInterval", "specificTime"):
                row["parameters"] = {"resume": "timeInterval", "amount": 0.1, "unit": "seconds"}
        return made

    @property
    def _path(self) -> str:
        return self.name.replace(" ", "-").replace(".", "-")

    def deployed(self, ids: Mapping[str, str]) -> None:
        """The ids on the server, by name."""
        self._ids = {ids[flow["name"]]: id for id, flow in self.workflows.items()}
        self._main = ids[self.workflows[""]["name"]]

    def start(self, client: WorkflowClient) -> None:
        """Submit the page, or call the address, by which the process begins."""
        trigger = next(
            row for row in self.request.workflow["nodes"] if row["name"] == self.request.trigger
        )
        (item,) = self.request.items or [{"json": {}}]
        match short_type(trigger):
            case "formTrigger":
                fields = trigger["parameters"].get("formFields", {}).get("values", ())
                submit(f"{client.url}/form/{self._path}", fields, item["json"])
            case "webhook":
                said = client.call(f"/webhook/{self._path}", item["json"]["body"])
                assert said["status"] == 200, said
            case "n8nTrigger":
                pass  # it has begun with its publication
            case other:
                raise AssertionError(f"{self.name}: nobody can start a {other}")

    def look(self, client: WorkflowClient, found: Sequence[Json]) -> EngineRun | None:
        """Answer what waits of the executions of the server; the run once it is over."""
        own = [one for one in found if str(one["workflowId"]) in self._ids]
        main = [one for one in own if str(one["workflowId"]) == self._main]
        assert len(main) <= 1, f"{self.name} began {len(main)} times"
        for one in own:
            if one["status"] == "waiting":
                self._answer(client, client.execution(str(one["id"])))
        if not main or any(one["status"] not in FINISHED for one in own):
            return None
        return self._engine_run([whole(client, str(one["id"])) for one in own])

    def _answer(self, client: WorkflowClient, execution: Json) -> None:
        result = (execution.get("data") or {}).get("resultData") or {}
        name = str(result.get("lastNodeExecuted"))
        rows = result.get("runData", {}).get(name) or ()
        row = next((r for r in execution["workflowData"]["nodes"] if r["name"] == name), None)
        key = (str(execution["id"]), name, len(rows))
        if row is None or not rows or key in self._answered:
            return
        flow = self._ids[str(execution["workflowId"])]
        given = (self.request.answers or {}).get(f"{flow}/{name}" if flow else name, ())
        times = sum(1 for id, node, _ in self._answered if (id, node) == key[:2])
        answer = given[times] if times < len(given) else {}
        parameters = row["parameters"]
        if short_type(row) != "wait":
            return
        if parameters.get("resume") == "form":
            fields = parameters.get("formFields", {}).get("values", ())
            submit(f"{client.url}/form-waiting/{execution['id']}", fields, answer)
        elif parameters.get("resume") == "webhook":
            suffix = parameters["options"]["webhookSuffix"]
            said = client.resume(execution, answer, suffix=suffix)
            assert said["status"] == 200, said
        else:
            return
        self._answered.add(key)

    def _engine_run(self, executions: Sequence[Json]) -> EngineRun:
        stored = [read_execution(one) for one in executions]
        ((root, main),) = [
            (one, answer)
            for one, answer in zip(stored, executions, strict=True)
            if one.workflow == self._main
        ]
        called = [one for one in stored if one is not root]
        callers = [
            (server, row["name"])
            for server, id in self._ids.items()
            for row in self.workflows[id]["nodes"]
            if short_type(row) == "executeWorkflow"
        ]
        order = tuple(self._node_run(run) for run in nest_runs(root, called, callers))
        error = main["data"]["resultData"].get("error") or {}
        status = "success" if main["status"] == "success" else "error"
        return EngineRun(
            status=status,  # type: ignore[arg-type]  # one of the literals
            error=None if status == "success" else str(error.get("message")),
            error_node=(error.get("node") or {}).get("name"),
            order=order,
        )

    def _node_run(self, run: StoredRun) -> NodeRun:
        flow = self._ids[run.workflow] or None
        return NodeRun(run.node, flow, run.run, run.outputs, run.status, run.error, None)


def executions_of(client: Client) -> list[Json]:
    """The executions of a server, without their data, as its editor lists them: the API of n8n 1
    lists none that waits."""
    found: list[Json] = []
    tail = ""
    while True:
        page = client._call_api(client._editor, "GET", f"/rest/executions?limit={_PAGE}{tail}")
        rows = page["data"]["results"]
        found += rows
        if len(rows) < _PAGE:
            return found
        tail = f"&lastId={rows[-1]['id']}"


def whole(client: WorkflowClient, id: str) -> Json:
    """A finished execution with all its data: n8n 1 writes its state first."""
    answer, before = client.execution(id), -1
    for _ in range(_DATA_LOOKS):
        count = len(read_execution(answer).order)
        if count and count == before:
            break
        time.sleep(_LOOK_SECONDS)
        answer, before = client.execution(id), count
    return answer


def _script(row: Json, stub: Mapping[str, Any]) -> None:
    """A Code node that outputs the decisions of a run at each visit, and fails where it fails."""
    text = (
        f"const errors = {json.dumps(stub.get('errors', []))};\n"
        "if (errors[$runIndex]) throw new Error(errors[$runIndex]);\n"
        f"const visits = {json.dumps(stub['visits'])};\n"
        "return $input.all().map((item) => ({\n"
        "  json: { ...item.json, ...(visits[$runIndex] ?? {}) },\n"
        "}));"
    )
    parameters = code.visible_code(code.code_parameters(text))  # needed by n8n 1, harmless in n8n 2
    row |= {"type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": parameters}


def submit(
    url: str,
    fields: Sequence[Mapping[str, Any]],
    answers: Mapping[str, Any],
    who: tuple[str, str] | None = None,
) -> None:
    """Open a page and send it as a browser does, with the hidden fields that it has; `who`: user
    name and password."""
    with httpx.Client(timeout=120, auth=who) as browser:
        page = browser.get(url)
        assert page.status_code == 200, page.text[:300]
        left = dict(answers)
        parts: dict[str, tuple[None, str]] = {}
        for number, field in enumerate(fields):
            if field["fieldType"] == "hiddenField":
                parts[f"field-{number}"] = (None, _hidden(page.text, f"field-{number}"))
                continue
            value = left.pop(field["fieldLabel"], None)
            if value is not None:
                text = value if isinstance(value, str) else json.dumps(value)
                parts[f"field-{number}"] = (None, text)
        assert not left, f"the page does not ask for {sorted(left)}"
        sent = browser.post(url, files=parts or {"": (None, "")})
        assert sent.status_code == 200, sent.text[:300]


def _hidden(page: str, name: str) -> str:
    (tag,) = re.findall(rf'<input[^>]*name="{name}"[^>]*>', page)
    found = re.search(r'value="([^"]*)"', tag)
    assert found is not None, tag
    return html.unescape(found[1])


def play(runs: Sequence[UserRun], client: WorkflowClient) -> list[EngineRun | None]:
    """Start deployed runs and answer them until all are over; `None` for one that is late."""
    done: dict[int, EngineRun] = {}
    for run in runs:
        run.start(client)
    deadline = time.monotonic() + SECONDS
    while len(done) < len(runs) and time.monotonic() < deadline:
        found = executions_of(client)
        for number, run in enumerate(runs):
            if number not in done and (over := run.look(client, found)) is not None:
                done[number] = over
        time.sleep(_LOOK_SECONDS)
    return [done.get(number) for number in range(len(runs))]
