"""`orgflowc deploy` and `undeploy` of processes that wait in several places."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from deploy_faults import hook
from n8n_stand_in import KEY
from n8n_table_stand_in import TableStandIn
from orgflow.backends.n8n.format.support_ids import SUPPORT_IDS, part_id
from orgflow.backends.n8n.server.canvas_elements import elements_of
from orgflow.backends.n8n.server.deploy.open_rows import compare_rows
from orgflow.backends.n8n.waiting.support_set import PARTS
from orgflow.cli import run
from waiting_canvas import parallel_tasks

Json = dict[str, Any]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TableStandIn]:
    made = TableStandIn()
    monkeypatch.setenv("N8N_API_KEY", KEY)
    monkeypatch.setenv("N8N_URL", made.url)
    yield made
    made.close()


def process(count: int = 2, name: str = "approve") -> Json:
    ids = {part: part_id(part) for part in PARTS}
    built: Any = parallel_tasks(name, count, "http://127.0.0.1:9/", ids)
    return {**built, "id": name}


def renamed(workflow: Json, old: str, new: str) -> Json:
    """The same canvas with another name of a task, everywhere."""
    text = json.dumps(workflow).replace(old, new)
    changed: Json = json.loads(text.replace(old.replace(" ", "-").lower(), new.lower()))
    return changed


def deploy(path: Path, workflow: Json, *more: str) -> int:
    path.write_text(json.dumps(workflow), "utf-8")
    return run(["deploy", str(path), *more])


def deployed(server: TableStandIn, name: str = "approve") -> Json:
    (row,) = server.named(name)
    return row


def open_task(server: TableStandIn, element: str, **more: str) -> None:
    workflow = deployed(server)["id"]
    row = {"kind": "task", "element": element, "state": "open", "live": "1", "instance": "i",
           "workflow": workflow, "title": element}  # fmt: skip
    server.add_rows({**row, **more})


def test_the_set_comes_with_the_first_process_that_needs_it(
    server: TableStandIn, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "approve.json"
    assert run(["deploy", str(write(tmp_path / "plain.json", hook("Plain", "plain")))]) == 0
    assert not server.tables
    assert deploy(file, process(), "--dry-run") == 0
    assert "create     the support set" in capsys.readouterr().out
    assert not server.tables
    assert deploy(file, process()) == 0
    shown = capsys.readouterr()
    assert "OF624" in shown.err
    assert len(server.named("approve")) == 1
    assert len(server.workflows) == 2 + len(PARTS)
    called = {
        node["parameters"]["workflowId"]["value"]
        for node in deployed(server)["nodes"]
        if node["type"].endswith(".executeWorkflow")
    }
    assert called
    assert not called & SUPPORT_IDS.keys()
    assert all(server.workflows[id]["active"] for id in called)
    secret = server.credentials[0]["data"]["value"]
    assert len(secret) > 30
    assert secret not in shown.out + shown.err
    server.calls.clear()
    assert deploy(file, process()) == 0
    shown = capsys.readouterr()
    assert "unchanged" in shown.out
    assert "OF624" not in shown.err
    assert all(call.startswith(("GET ", "OPTIONS ")) for call in server.calls)


def write(path: Path, workflow: Json) -> Path:
    path.write_text(json.dumps(workflow), "utf-8")
    return path


def test_settings_of_the_set(server: TableStandIn, tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "approve.json"
    assert deploy(file, process(), "--setting", "retention_days=5") == 0
    assert "more than 5 days ago" in json.dumps(server.named("orgflow: sweep"))
    assert deploy(file, process(3), "--setting", "sweep_seconds=60") == 0
    text = json.dumps(server.named("orgflow: sweep"))
    assert "more than 5 days ago" in text
    assert "Runs every 60 seconds" in text
    for wrong in ("lease=5", "lease_minutes=0", "lease_minutes=soon", "lease_minutes"):
        assert deploy(file, process(), "--setting", wrong) == 2
    assert "no setting `lease`" in capsys.readouterr().err


def test_a_failed_set_leaves_only_the_others_deployed(
    server: TableStandIn, tmp_path: Path, capsys: Captured
) -> None:
    write(tmp_path / "plain.json", hook("Plain", "plain"))
    write(tmp_path / "approve.json", process())
    assert run(["deploy", str(tmp_path / "plain.json"), str(tmp_path / "approve.json")]) == 0
    (first,) = server.named("orgflow: claim open work")
    body = {key: first[key] for key in ("name", "nodes", "connections", "settings")}
    server.answer("POST", "/api/v1/workflows", {"X-N8N-API-KEY": KEY}, json.dumps(body).encode())
    capsys.readouterr()
    write(tmp_path / "plain.json", hook("Plain", "plain2"))
    write(tmp_path / "approve.json", process(3))
    assert run(["deploy", str(tmp_path / "plain.json"), str(tmp_path / "approve.json")]) == 1
    shown = capsys.readouterr()
    assert "updated" in shown.out
    assert "OF625" in shown.err
    assert "twice" in shown.err


def test_n8n_1_is_refused_with_the_reason(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("N8N_API_KEY", KEY)
    older = TableStandIn()
    older.version = "1.123.4"
    try:
        file = write(tmp_path / "approve.json", process())
        assert run(["deploy", str(file), "--url", older.url]) == 1
        assert "OF625" in capsys.readouterr().err
        assert not older.workflows
    finally:
        older.close()


def test_elements_of_a_canvas() -> None:
    forms = {"Task 1": "approve-task-1", "Task 2": "approve-task-2"}
    assert elements_of(process()) == {"Start": "", "All answered": "", **forms}
    # All claims may lead to one switch: then the rows that the canvas writes name the forms.
    rows = [
        "{kind:'task',element:'A',title:\"x\",link:'/form/a' }",
        "{kind:'task',element:'B',link:'/form/b?x' }",
    ]
    code = f"={{{{ [{','.join(rows)}] }}}}"
    form = {"type": "n8n-nodes-base.formTrigger", "parameters": {"path": "a"}}
    shared = {
        "nodes": [
            {"name": "A", **form}, {"name": "B", **form, "parameters": {"path": "b"}},
            {"name": "Where", "type": "n8n-nodes-base.switch", "parameters": {"rules": {"values": [
                {"leftValue": f"={{{{ x.token.event==='{name}' }}}}"} for name in "AB"
            ]}}},
            {"name": "Ask", "type": "n8n-nodes-base.executeWorkflow",
             "parameters": {"workflowInputs": {"value": {"rows": code}}}},
        ],
        "connections": {
            **{name: {"main": [[{"node": "Where"}]]} for name in "AB"},
            "Where": {"main": [[{"node": "Do A"}], [{"node": "Do B"}]]},
        },
    }  # fmt: skip
    assert elements_of(shared) == {"A": "a", "B": "b"}
    rule = {"conditions": {"conditions": [
        {"leftValue": "={{ $json.token.event }}", "rightValue": "A"},
        {"leftValue": "={{ $json.token.element=='B' }}", "rightValue": ""},
    ]}}  # fmt: skip
    canvas = {"nodes": [{"name": "Where", "type": "n8n-nodes-base.switch",
                         "parameters": {"rules": {"values": [rule]}}}]}  # fmt: skip
    assert elements_of(canvas) == {"A": "", "B": ""}
    assert elements_of(hook("Plain", "plain")) == {}


def test_open_work_goes_on_in_the_new_version(
    server: TableStandIn, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "approve.json"
    assert deploy(file, process()) == 0
    open_task(server, "Task 1")
    open_task(server, "Task 2", instance="j")
    capsys.readouterr()
    assert deploy(file, process(3)) == 0
    shown = " ".join(capsys.readouterr().err.split())
    assert "OF626" in shown
    assert "`approve` has 2 open instances; 2 open rows go on" in shown


def test_work_without_a_counterpart_keeps_the_old_version(
    server: TableStandIn, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "approve.json"
    assert deploy(file, process()) == 0
    link = "http://x/form/approve-task-2?key=k"
    open_task(server, "Task 2", link=link)
    open_task(server, "Task 2", state="running", event="Task 2", execution="7")
    open_task(server, "Task 2", state="done", live="0")
    new = renamed(process(), "Task 2", "Release")
    before = json.dumps(deployed(server)["nodes"])
    capsys.readouterr()
    assert deploy(file, new) == 1
    shown = " ".join(capsys.readouterr().err.split())
    assert "OF627" in shown
    assert "2 open rows of `approve` at `Task 2` would have no counterpart" in shown
    assert "new elements are `Release`" in shown
    assert json.dumps(deployed(server)["nodes"]) == before
    assert deploy(file, new, "--migrate", "Task 2=Nowhere") == 1
    assert deploy(file, new, "--migrate", "Task 2=Release", "--dry-run") == 0
    assert "(`Task 2` becomes `Release`)" in " ".join(capsys.readouterr().err.split())
    (table,) = server.tables.values()
    assert [row["element"] for row in table["rows"]] == ["Task 2"] * 3
    assert deploy(file, new, "--migrate", "Task 2=Release") == 0
    rows = table["rows"]
    assert [row["element"] for row in rows] == ["Release", "Release", "Task 2"]
    assert rows[0]["link"] == "http://x/form/approve-release?key=k"
    assert rows[1]["event"] == "Release"
    capsys.readouterr()
    assert deploy(file, new) == 0
    assert "OF627" not in capsys.readouterr().err


def test_work_that_was_lost_before_is_only_named() -> None:
    rows = [{"kind": "task", "element": "Old", "state": "open", "instance": "i", "event": "",
             "title": ""}]  # fmt: skip
    plan = compare_rows(process(), process(3), rows, {})
    assert plan is not None
    assert (plan.lost, plan.lost_before) == ({}, {"Old": 1})


def test_undeploy_keeps_what_is_open_and_removes_the_set_with_the_last_process(
    server: TableStandIn, tmp_path: Path, capsys: Captured
) -> None:
    first, other = tmp_path / "approve.json", tmp_path / "other.json"
    assert deploy(first, process()) == 0
    assert deploy(other, process(name="other")) == 0
    open_task(server, "Task 1")
    capsys.readouterr()
    assert run(["undeploy", str(first)]) == 1
    assert "1 process instance is open" in capsys.readouterr().out
    assert deployed(server)["active"]
    assert run(["undeploy", str(other)]) == 0
    assert len(server.workflows) == 1 + len(PARTS)
    (table,) = server.tables.values()
    table["rows"].clear()
    server.add_rows({"kind": "message", "state": "open", "live": "1"})
    capsys.readouterr()
    assert run(["undeploy", str(first)]) == 1
    assert "1 row is open in the table" in capsys.readouterr().out
    assert len(server.workflows) == len(PARTS)
    assert deploy(first, process()) == 0
    table["rows"].clear()
    assert run(["undeploy", str(first), "--dry-run"]) == 0
    assert len(server.workflows) == 1 + len(PARTS)
    assert run(["undeploy", str(first)]) == 0
    assert not server.workflows
    assert not server.tables
    assert not server.credentials


def test_a_workflow_that_calls_a_deleted_part_is_named(
    server: TableStandIn, tmp_path: Path, capsys: Captured
) -> None:
    assert deploy(tmp_path / "approve.json", process()) == 0
    assert deploy(tmp_path / "other.json", process(name="other")) == 0
    (claim,) = server.named("orgflow: claim open work")
    del server.workflows[claim["id"]]
    capsys.readouterr()
    assert deploy(tmp_path / "approve.json", process()) == 0
    shown = capsys.readouterr().err
    assert "OF628" in shown
    assert "`other`" in shown
    assert deploy(tmp_path / "other.json", process(name="other")) == 0
    assert "OF628" not in capsys.readouterr().err
