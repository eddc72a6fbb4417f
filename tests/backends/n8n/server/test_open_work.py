"""`orgflowc tasks`, `instances`, `heal` and `cancel` before a stand-in for n8n."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from n8n_stand_in import KEY
from n8n_table_stand_in import TableStandIn
from orgflow.backends.n8n.format.support_ids import part_id
from orgflow.backends.n8n.waiting.support_set import PARTS
from orgflow.cli import run
from waiting_canvas import parallel_tasks

Json = dict[str, Any]
Captured = pytest.CaptureFixture[str]

SINCE = "2026-03-01T08:00:00.000Z"
SOON = "9999-01-01T00:00:00.000Z"


@pytest.fixture
def server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Captured
) -> Iterator[TableStandIn]:
    """A server with a process that asks two people, and two instances of it."""
    made = TableStandIn()
    monkeypatch.setenv("N8N_API_KEY", KEY)
    monkeypatch.setenv("N8N_URL", made.url)
    built: Any = parallel_tasks(
        "approve", 2, "http://127.0.0.1:9/", {part: part_id(part) for part in PARTS}
    )
    file = tmp_path / "approve.json"
    file.write_text(json.dumps({**built, "id": "approve"}), "utf-8")
    assert run(["deploy", str(file)]) == 0
    (row,) = made.named("approve")
    common = {"state": "open", "live": "1", "workflow": row["id"], "changed_at": SINCE,
              "check_at": SOON}  # fmt: skip
    root = {**common, "kind": "scope", "element": "process"}
    task = {**common, "kind": "task", "scope": "first/", "title": "Approve the invoice"}
    made.add_rows(
        {**root, "key": "first", "instance": "first", "business_key": "order 7"},
        {**root, "key": "second", "instance": "second"},
        {**task, "instance": "first", "element": "Task 1", "assignee": "ann", "due": SOON,
         "key": "k1", "link": "/form/approve-task-1"},
        {**task, "instance": "first", "element": "Task 2", "state": "running", "execution": "77",
         "title": ""},
        {**task, "instance": "second", "element": "Task 2", "scope": "second/"},
        {**task, "instance": "second", "element": "Task 1", "state": "staged"},
        {**common, "kind": "message", "instance": "", "workflow": "", "element": ""},
    )  # fmt: skip
    capsys.readouterr()
    yield made
    made.close()


def rows_of(server: TableStandIn) -> list[Json]:
    (table,) = server.tables.values()
    rows: list[Json] = table["rows"]
    return rows


def test_tasks(server: TableStandIn, capsys: Captured) -> None:
    assert run(["tasks"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["who", "what", "process", "case", "since", "due", "link"]
    assert lines[0].split("  ")[0] == "ann"
    assert "Approve the invoice" in lines[0]
    assert "order 7" in lines[0]
    assert "2026-03-01 08:00" in lines[0]
    assert lines[0].endswith(f"{server.url}/form/approve-task-1?key=k1")
    assert lines[1].startswith("anybody")
    assert len(lines) == 2
    assert run(["tasks", "--assignee", "ann", "--json"]) == 0
    (task,) = json.loads(capsys.readouterr().out)["tasks"]
    assert task["element"] == "Task 1"
    assert task["since"] == SINCE
    assert run(["tasks", "--assignee", "bob"]) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "no task is open\n")


def test_instances(server: TableStandIn, capsys: Captured) -> None:
    assert run(["instances"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[1].startswith("first     order 7  approve")
    assert lines[1].endswith("task `Approve the invoice` waits until 9999-01-01 00:00")
    assert lines[2].strip().endswith("task `Task 2` works")
    assert run(["instances", "--process", "approve", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["instances"]
    assert [place["element"] for place in first["places"]] == ["Task 1", "Task 2"]
    assert (first["case"], second["case"]) == ("order 7", "")
    assert run(["instances", "--process", "other"]) == 0
    assert "no process instance is open" in capsys.readouterr().err


def test_an_element_that_the_process_lacks_is_shown(server: TableStandIn, capsys: Captured) -> None:
    rows_of(server)[2]["element"] = "Task 9"
    rows_of(server)[5]["element"] = "Task 9"  # staged
    assert run(["instances"]) == 0
    assert "which the deployed process lacks" in capsys.readouterr().out
    assert run(["heal"]) == 1
    assert capsys.readouterr().out.count("does not have this element") == 1


def test_heal_ends_the_lease_of_dead_executions_only(
    server: TableStandIn, capsys: Captured
) -> None:
    server.executions["77"] = {"id": "77", "status": "running"}
    assert run(["heal"]) == 0
    assert "nothing to heal" in capsys.readouterr().err
    assert rows_of(server)[3]["check_at"] == SOON
    server.executions["77"]["status"] = "crashed"
    assert run(["heal"]) == 0
    assert "its execution 77 is dead" in capsys.readouterr().out
    assert rows_of(server)[3]["check_at"] < SOON
    rows_of(server)[3]["check_at"] = SOON
    del server.executions["77"]
    assert run(["heal", "--json"]) == 0
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem["action"] == "its steps are repeated"


def test_failed_steps_are_tried_again_only_if_asked(server: TableStandIn, capsys: Captured) -> None:
    row = rows_of(server)[3]
    row.update(state="failed", attempts="5", check_at=SOON)
    assert run(["heal"]) == 1
    assert "failed as often as the limit allows" in capsys.readouterr().out
    assert row["state"] == "failed"
    assert run(["heal", "--retry"]) == 0
    assert (row["state"], row["attempts"]) == ("running", "0")
    assert row["check_at"] < SOON


def test_heal_names_a_set_that_does_not_run(server: TableStandIn, capsys: Captured) -> None:
    server.executions["77"] = {"id": "77", "status": "running"}
    (sweep,) = server.named("orgflow: sweep")
    sweep["active"] = False
    (claim,) = server.named("orgflow: claim open work")
    del server.workflows[claim["id"]]
    rows_of(server)[2]["check_at"] = SINCE
    (table,) = server.tables.values()
    table["sizeBytes"] = 180 * 2**20
    assert run(["heal", "--json"]) == 1
    problems = [row["problem"] for row in json.loads(capsys.readouterr().out)["problems"]]
    assert problems[0] == "the workflow `orgflow: claim open work` is missing"
    assert problems[1] == "the workflow `orgflow: sweep` is not published"
    assert problems[2].startswith("the table has 180 MB")
    assert "the sweep does not run" in problems[3]


@pytest.mark.parametrize("name", ["first", "order 7"])
def test_cancel_ends_an_instance_and_says_what_was_open(
    server: TableStandIn, capsys: Captured, name: str
) -> None:
    assert run(["cancel", name]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "cancelled  first  approve"
    assert "task `Approve the invoice` waits" in out
    states = [(row["state"], row["live"]) for row in rows_of(server)]
    assert states == [
        ("cancelled", "0"), ("open", "1"), ("cancelled", "0"), ("cancelled", "0"), ("open", "1"),
        ("staged", "1"), ("open", "1"),
    ]  # fmt: skip
    assert run(["cancel", name]) == 1
    assert "is open" in capsys.readouterr().err


def test_an_id_of_several_instances_cancels_none(server: TableStandIn, capsys: Captured) -> None:
    rows_of(server)[1]["business_key"] = "order 7"
    assert run(["cancel", "order 7"]) == 2
    assert "several open instances are `order 7`: first, second" in capsys.readouterr().err
    assert run(["cancel", "Task 1"]) == 1
    assert all(row["state"] != "cancelled" for row in rows_of(server))


@pytest.mark.parametrize("command", [["tasks"], ["instances"], ["heal"], ["cancel", "x"]])
def test_servers_without_open_work_and_without_answer(
    command: list[str], capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("N8N_API_KEY", KEY)
    monkeypatch.delenv("N8N_URL", raising=False)
    assert run(command) == 2
    assert "use --engine, or set N8N_URL" in capsys.readouterr().err
    assert run([*command, "--engine", "http://127.0.0.1:9", "--wait", "0"]) == 3
    assert "OF601" in capsys.readouterr().err
    assert run([*command, "--engine", "http://127.0.0.1:9", "--target", "svg"]) == 2
    empty = TableStandIn()
    try:
        assert run([*command, "--engine", empty.url]) == (1 if command[0] == "cancel" else 0)
    finally:
        empty.close()
