"""Replay of production: an example is deployed, run by its webhook, pulled, held to its model."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from html_pages import parsed
from orgflow import cli
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.client.workflows import WorkflowClient, list_webhooks
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "incident" / "model.bpmn"
SECONDS = 120.0


@pytest.fixture
def filled(registry: Registry) -> tuple[Json, dict[str, tuple[str, ...]]]:
    """The workflow with its placeholders filled in: each decision comes with the webhook's body;
    and the values of each decision."""
    ctx = PassContext(registry=registry)
    model = load_model(str(MODEL), registry, ctx, diagram=True)
    assert model is not None
    emitted = compile_model(model, registry.backends["n8n"], ctx, options={"people": "placeholder"})
    assert emitted is not None
    (compiled,) = emitted.compiled.values()
    workflow: Json = json.loads(emitted.artifacts[0].text)
    trigger = next(p.name for p in emitted.source_map.parts if p.role == "trigger")
    for row in workflow["nodes"]:
        fields = (row["parameters"].get("assignments") or {}).get("assignments") or ()
        for field in fields:
            field["value"] = f"={{{{ $('{trigger}').first().json.body.{field['name']} }}}}"
    return workflow, {d.variable: d.values for d in compiled.root.plan.decisions.values()}


@pytest.fixture
def run(
    capfdbinary: pytest.CaptureFixture[bytes], key: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str]]:
    monkeypatch.setenv("N8N_API_KEY", key)

    def call(*args: str | Path) -> tuple[int, str]:
        code = cli.run([str(a) for a in args])
        found = capfdbinary.readouterr()
        assert key.encode() not in found.out + found.err
        return code, found.out.decode()

    return call


def bodies(values: dict[str, tuple[str, ...]], count: int) -> list[Json]:
    """What `count` callers send: the choices in turn; the last one, which loops, ends at once."""
    *free, last = values
    found = []
    for number in range(count):
        body = {v: values[v][(number >> at) % len(values[v])] for at, v in enumerate(free)}
        found.append(body | {last: next(v for v in values[last] if v == "Yes")})
    return found


def test_production_is_pulled_and_replayed(
    client: Client, filled: tuple[Json, dict[str, tuple[str, ...]]],
    run: Callable[..., tuple[int, str]], tmp_path: Path,
) -> None:  # fmt: skip
    workflow, values = filled
    file = tmp_path / "incident.json"
    file.write_text(json.dumps(workflow))
    assert run("deploy", file, "--url", client.url)[0] == 0
    with WorkflowClient(client.url, client.key) as server:
        row = next(r for r in server.listed() if r["name"] == workflow["name"])
        try:
            _call(server, row, bodies(values, 20), 20)
            replay = ("run", MODEL, "--engine", client.url, "--executions")
            html = tmp_path / "page.html"
            code, said = run(*replay, "100", "--json", "--html", html)
            report = json.loads(said)
            assert code == 0, report
            assert report["verdicts"] == {"equal": 20}
            assert not report["edited"] or not report["edited"][0]["unknown"]
            assert not any(e["unknown"] for e in report["executions"])
            assert {e["mode"] for e in report["executions"]} == {"webhook"}
            flows = report["flows"]
            assert sum(n == 20 for n in flows.values()) >= 3
            assert any(0 < n < 20 for n in flows.values())
            assert "All 20 executions conform to the model." in parsed(html.read_text()).text
            assert len(json.loads(run(*replay, "7", "--json")[1])["executions"]) == 7

            # A value that is no branch's stops the run loudly: a failure, not a deviation.
            _call(server, row, [dict.fromkeys(values, "nonsense")], 21)
            code, said = run(*replay, "100", "--json")
            report = json.loads(said)
            assert code == 1
            assert report["verdicts"] == {"equal": 20, "failed": 1}
            assert [f["rule"] for f in report["failures"]] == ["no-branch"]
            only = json.loads(run(*replay, "9", "--status", "error", "--json")[1])
            assert [e["verdict"] for e in only["executions"]] == ["failed"]

            # Somebody edits it: a step of their own is named, a step left out is a deviation.
            server.update(str(row["id"]), _edited(server.body_of(server.workflow(row["id"]))))
            server.await_live(server.workflow(row["id"]), again=True)
            _call(server, row, bodies(values, 2), 23)
            code, said = run(*replay, "2", "--json")
            report = json.loads(said)
            assert code == 1
            assert report["verdicts"] == {"different": 2}
            assert {tuple(e["unknown"]) for e in report["executions"]} == {("Tell the chat",)}
            assert report["edited"][0]["unknown"] == ["Tell the chat"]
            assert report["executions"][0]["deviation"]
        finally:
            server.delete(str(row["id"]))


def _edited(body: Json) -> Json:
    """The first step is left out, and one that the model does not know is in its place."""
    changed = copy.deepcopy(body)
    wires = changed["connections"]
    first = wires["Incident reported"]["main"][0][0]["node"]
    changed["nodes"].append(
        {"id": "0b0b0b0b-0000-4000-8000-000000000001", "name": "Tell the chat", "parameters": {},
         "type": "n8n-nodes-base.noOp", "typeVersion": 1, "position": [0, 900]}
    )  # fmt: skip
    ahead = wires[first]["main"][0]
    end = {"node": "Tell the chat", "type": "main", "index": 0}
    wires["Incident reported"] = {"main": [[end]]}
    wires["Tell the chat"] = {"main": [ahead]}
    return changed


def _call(server: WorkflowClient, row: Json, sent: list[Json], until: int) -> None:
    """Call the webhook with each body, then wait until so many executions are over."""
    ((path, method),) = list_webhooks(server.workflow(row["id"]))
    for body in sent:
        assert server.call(f"/{path}", body, method=method)["status"] == 200
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        over = list(server.stored_executions(str(row["id"])))
        if len(over) >= until and all(e["status"] in ("success", "error") for e in over):
            return
        time.sleep(0.2)
    raise AssertionError(f"{until} executions were not over within {SECONDS:.0f} s")
