"""A runner that plays the runs of a model on a real n8n server; shared by the live tests.

As on the local engine, only the bodies of placeholders are replaced and forms are answered: here by
Code nodes, since a server knows neither. Timers are made short, webhook waits are answered.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from orgflow.backends.n8n.engine.runs import EngineRun, NodeRun, RunRequest
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.format.form_fields import hidden_fields
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.server.client.client import Client
from server_recording import Scenario, record

from orgflow_ir.flow.token_game.runs import Run
from orgflow_ir.flow.token_game.stub_data import Unplayable
from orgflow_ir.plugins.runners import RunResult

Json = dict[str, Any]

AT_ONCE = 3


class ServerRunner(LocalRunner):
    """Workflow, stubs and results as in `LocalRunner`; the runs themselves on a server."""

    def __init__(self, client: Client, seconds: float = 120.0) -> None:
        super().__init__()
        self._client = client
        self._seconds = seconds

    @property
    def changed(self) -> tuple[str, ...]:
        return (*super().changed, "every run starts at a manual trigger")

    def play(self, runs: Iterable[Run]) -> Iterator[RunResult]:
        """Deploys, runs and removes the workflow once a run."""

        def one(run: Run) -> RunResult:
            try:
                request = self._run_request(run)
            except Unplayable as error:
                return RunResult("unplayable", error=str(error))
            return self._read_result(
                engine_run(record(self._client, scenario(request), self._seconds))
            )

        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield from pool.map(one, list(runs))


def scenario(request: RunRequest) -> Scenario:
    """A request for the local engine, made fit for a plain server."""
    workflow = copy.deepcopy(dict(request.workflow))
    stubs, answers = request.stubs or {}, request.answers or {}
    for row in workflow["nodes"]:
        if row["name"] in stubs:
            _replace(row, stubs[row["name"]])
        elif short_type(row) == "wait" and row["parameters"].get("resume") == "form":
            _answer(row, answers.get(row["name"], ()))
        elif short_type(row) == "wait":
            _shorten(row)
        elif row["name"] == request.trigger:
            # The items are given: a webhook would make its own.
            row |= {"type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}}
            row.pop("webhookId", None)
    workflow["pinData"] = {request.trigger: list(request.items or [{"json": {}}])}
    called = dict(reversed((request.workflows or {}).items()))  # inner ones first
    calls = {row["name"] for row in workflow["nodes"] if short_type(row) == "wait"}
    return Scenario(
        str(workflow["name"]),
        workflow,
        request.trigger,
        workflows=called,
        answers={name: given for name, given in answers.items() if name in calls},
    )


def _replace(row: Json, stub: Mapping[str, Any]) -> None:
    visits = json.dumps(stub["visits"])
    text = (
        f"const visits = {visits};\n"
        "return $input.all().map((item) => ({\n"
        "  json: { ...item.json, ...(visits[$runIndex] ?? {}) },\n"
        "}));"
    )
    row |= {"type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": text}}


def _answer(row: Json, visits: Sequence[Mapping[str, Any]]) -> None:
    """What n8n hands on when the page is sent: its hidden fields, the answers, and its mark."""
    hidden = hidden_fields(row["parameters"]).items()
    page = "".join(f"{json.dumps(name)}: {code}, " for name, code in hidden)
    text = (
        f"const page = {{ {page}formMode: 'production' }};\n"
        f"const visits = {json.dumps(list(visits))};\n"
        "return [{ json: { ...page, ...(visits[$runIndex] ?? {}) } }];"
    )
    row |= {"type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": text}}


def _shorten(row: Json) -> None:
    if row["parameters"].get("resume", "timeInterval") != "webhook":
        row["parameters"] = {"resume": "timeInterval", "amount": 0.1, "unit": "seconds"}


def engine_run(line: Mapping[str, Any]) -> EngineRun:
    """A line of a recording in the shape of a local run."""
    order = tuple(
        NodeRun(
            node=entry[0],
            workflow=(entry[2] if len(entry) > 2 else {}).get("workflow"),
            run=0,
            outputs=tuple(entry[1]),
            status="error" if len(entry) > 2 and entry[2].get("error") else "success",
            error=None,
            caller=None,
        )
        for entry in line["order"]
    )
    return EngineRun(status=line["status"], error=None, error_node=None, order=order)
