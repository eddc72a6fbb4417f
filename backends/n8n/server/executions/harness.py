"""A workflow prepared for scripted runs on a plain server, and the calls that run it.

As on the local engine, only the bodies of placeholders are replaced, and forms are answered
immediately: here by a node in their place, which outputs the hidden fields and the input of the
run. A webhook before the trigger receives the data of a run; expressions that are the same in every
run read them, so one deployed workflow executes all of them. No label is part of an expression:
stubs are numbered.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any, Final

from orgflow.backends.n8n.engine.runs import EngineRun, NodeRun, RunRequest
from orgflow.backends.n8n.format.document import node_type, node_uuid, short_type
from orgflow.backends.n8n.format.form_fields import hidden_fields
from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.node_types import wait
from orgflow.backends.n8n.node_types.type_versions import type_version
from orgflow.backends.n8n.server.executions.execution import StoredExecution

Json = dict[str, Any]

_FRONT: Final = "orgflow run"
_ANSWER: Final = "orgflow answer"
_SECONDS: Final = 120
"""Seconds after which n8n itself ends an abandoned run."""
_SENT: Final = {"formMode": "production"}
"""Fields that n8n adds to the answers of a page: an item without them is not from a form."""
_TIMED: Final = frozenset({"timeInterval", "specificTime"})
_WAIT: Final = {"resume": "timeInterval", "amount": 0.01, "unit": "seconds"}


class Harness:
    """A deployable copy of a workflow.

    Args:
        request: a run; the workflow, the trigger and the stubs are the same in all of them.
        path: the secret path of its webhook.
        version: the version of the server.

    Raises:
        ValueError: the run needs something that a plain server does not provide.
    """

    def __init__(self, request: RunRequest, path: str, version: N8nVersion) -> None:
        if request.workflows:
            raise ValueError("runs with sub-workflows are not executed on a server")
        self.path = path
        self._version = version
        self._stubs = tuple(request.stubs or {})
        self._forms = {
            row["name"]: hidden_fields(row["parameters"])
            for row in request.workflow["nodes"]
            if short_type(row) == "wait" and wait.is_form(row["parameters"])
        }
        names = {row["name"] for row in request.workflow["nodes"]}
        self.front = _free_name(_FRONT, names)
        self._answer = _free_name(_ANSWER, names)
        self.workflow = self._build_workflow(request)

    def body(self, request: RunRequest) -> Json:
        """The data for the webhook in one run."""
        stubs, answers = request.stubs or {}, request.answers or {}
        items = list(request.items or [{"json": {}}])
        if len(items) != 1:
            raise ValueError("a run on a server starts with one item")
        forms = [{"sent": _SENT, "visits": list(answers.get(name, ()))} for name in self._forms]
        return {
            "item": items[0].get("json", {}),
            "stubs": [
                {
                    "visits": list(stubs[name].get("visits", ())),
                    "replace": stubs[name].get("mode") == "replace",
                }
                for name in self._stubs
            ],
            **({"answers": forms} if forms else {}),
        }

    def _build_workflow(self, request: RunRequest) -> Json:
        workflow: Json = copy.deepcopy(dict(request.workflow))
        workflow["name"] = f"orgflow run: {workflow.get('name')}"
        workflow["id"] = f"run-{self.path}"
        workflow.pop("pinData", None)
        settings = {"executionTimeout": _SECONDS, "saveDataSuccessExecution": "all"}
        workflow["settings"] = {**workflow.get("settings", {}), **settings}
        workflow["settings"]["saveDataErrorExecution"] = "all"
        stubs = {name: index for index, name in enumerate(self._stubs)}
        forms = {name: index for index, name in enumerate(self._forms)}
        rows: list[Json] = []
        for row in workflow["nodes"]:
            kind = short_type(row)
            if row["name"] == request.trigger:
                rows += [self._webhook_node(row), self._answering_node(row)]
                rows.append(self._raw_node(row, f"{self._given_body()}.item"))
                continue
            if row["name"] in stubs:
                rows.append(self._raw_node(row, self._stub_code(stubs[row["name"]])))
                continue
            if row["name"] in forms:
                given = f"{self._given_body()}.answers[{forms[row['name']]}]"
                page = [f"{json.dumps(n)}: {v}" for n, v in self._forms[row["name"]].items()]
                hidden = f"{{ {', '.join(page)} }}" if page else "{}"
                answer = f"Object.assign({{}}, {given}.sent, {hidden}, {given}.visits[$runIndex])"
                rows.append(self._raw_node(row, answer))
                continue
            if kind == "wait":
                row["parameters"] = _shorten_wait(row["parameters"])
            elif kind in ("webhook", "scheduleTrigger", "n8nTrigger", "formTrigger"):
                row["disabled"] = True  # another way to start it, which nobody shall find
            rows.append(row)
        workflow["nodes"] = rows
        workflow["connections"] = {
            **workflow["connections"],
            self.front: _make_wire(self._answer),
            self._answer: _make_wire(request.trigger),
        }
        return workflow

    def _given_body(self) -> str:
        return f'$("{self.front}").first().json.body'

    def _stub_code(self, index: int) -> str:
        mine = f"{self._given_body()}.stubs[{index}]"
        return f"Object.assign({{}}, {mine}.replace ? {{}} : $json, {mine}.visits[$runIndex])"

    def _webhook_node(self, trigger: Mapping[str, Any]) -> Json:
        x, y = trigger["position"]
        return {
            "id": node_uuid(f"run/{self.path}"),
            "name": self.front,
            "type": node_type("webhook"),
            "typeVersion": type_version("webhook", self._version),
            "position": [x - 240, y],
            "webhookId": self.path,
            "parameters": {
                "httpMethod": "POST",
                "path": self.path,
                "responseMode": "responseNode",
                "options": {},
            },
        }

    def _answering_node(self, trigger: Mapping[str, Any]) -> Json:
        """Says the execution's id, which n8n 1 does not know yet when a webhook answers at once."""
        x, y = trigger["position"]
        return {
            "id": node_uuid(f"run/{self.path}/answer"),
            "name": self._answer,
            "type": node_type("respondToWebhook"),
            "typeVersion": type_version("respondToWebhook", self._version),
            "position": [x - 120, y],
            "parameters": {
                "respondWith": "text",
                "responseBody": "={{ $execution.id }}",
                "options": {},
            },
        }

    def _raw_node(self, row: Mapping[str, Any], expression: str) -> Json:
        kept = {key: row[key] for key in ("id", "name", "position")}
        return {
            **kept,
            "type": node_type("set"),
            "typeVersion": type_version("set", self._version),
            "parameters": {"mode": "raw", "jsonOutput": f"={{{{ {expression} }}}}", "options": {}},
        }

    def engine_run(self, stored: StoredExecution, answer: Mapping[str, Any]) -> EngineRun:
        """An execution in the form of a local run, without the nodes before the trigger."""
        order = tuple(
            NodeRun(run.node, None, run.run, run.outputs, run.status, run.error, None)
            for run in stored.order
            if run.node not in (self.front, self._answer)
        )
        result = (answer.get("data") or {}).get("resultData") or {}
        error = result.get("error") or {}
        status = {"success": "success", "waiting": "waiting", "canceled": "limit"}.get(
            stored.status, "error"
        )
        times = [run.began for run in stored.order] + [run.ended for run in stored.order]
        return EngineRun(
            status=status,  # type: ignore[arg-type]  # one of the literals, by the table above
            error=None if status == "success" else str(error.get("message") or stored.status),
            error_node=(error.get("node") or {}).get("name"),
            order=order,
            ms=max(times) - min(times) if times else 0,
        )


def _free_name(name: str, names: set[str]) -> str:
    """The name, changed until no node has it."""
    while name in names:
        name += "'"
    return name


def _make_wire(target: str) -> Json:
    return {"main": [[{"node": target, "type": "main", "index": 0}]]}


def _shorten_wait(parameters: Mapping[str, Any]) -> Json:
    """A wait whose time is over at once, or that is answered by a call."""
    resume = wait.resume_event(parameters)
    if resume in _TIMED:
        return dict(_WAIT)
    if resume == "form":
        return {"resume": "webhook", "httpMethod": "POST", "options": {}}
    # Nobody who plays runs has the secrets of callers.
    return {name: value for name, value in parameters.items() if name != "incomingAuthentication"}
