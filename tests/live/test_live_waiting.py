"""The support set on a real server: two people in parallel, with a repeated answer and a repeated
start, joined once; installed twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from cli_cases import orgflowc
from orgflow.backends.n8n.format.support_ids import part_id
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.server.process import N8nServer
from orgflow.backends.n8n.waiting.installation import CREDENTIAL_HEADER, install_support_set
from orgflow.backends.n8n.waiting.rows import TABLE_NAME
from orgflow.backends.n8n.waiting.support_set import PARTS
from waiting_canvas import parallel_tasks
from waiting_trials import OutsideServer, TrialRunner

SECRET = "live-secret"


@pytest.fixture
def runner(server: N8nServer, client: Client) -> Iterator[TrialRunner]:
    outside = OutsideServer()
    with TableClient(server.url, client.key, seconds=120) as connected:
        installed = install_support_set(connected, SECRET)
        assert install_support_set(connected, SECRET).changes == ()
        made = TrialRunner(connected, installed, outside)
        yield made
        made.close()
        for workflow_id in reversed(list(installed.workflows.values())):
            connected.delete(workflow_id)
        connected.delete_data_table(installed.table)
    outside.close()


def test_two_people_in_parallel_join_once(runner: TrialRunner) -> None:
    trial = runner.start(2, "live-case")
    tasks = runner.open_tasks(trial)
    again = runner.start(2, "live-case")
    for task, key in tasks.items():
        runner.answer(trial, task, key, f"answer of {task}")
        runner.answer(trial, task, key, "too late")
    runner.check_end(trial, 240)
    assert trial.failures == []
    assert trial.accepted == {task: f"answer of {task}" for task in tasks}
    assert runner.rows_of(again) == runner.rows_of(trial)


def deployed_process(tmp_path: Path, name: str, outside: OutsideServer) -> Path:
    """A file with a process of two people, as a compilation writes it."""
    ids = {part: part_id(part) for part in PARTS}
    built = parallel_tasks(name, 2, outside.url, ids)
    file = tmp_path / f"{name}.json"
    file.write_text(json.dumps({**built, "id": name}), "utf-8")
    return file


def test_commands_on_a_process_with_open_tasks(
    server: N8nServer, client: Client, tmp_path: Path
) -> None:
    """Deployed with its support set, listed, cancelled, changed while it waits, and removed."""
    outside = OutsideServer()
    name = f"living-{time.time_ns()}"
    file = deployed_process(tmp_path, name, outside)
    env = {"N8N_API_KEY": client.key, "N8N_URL": server.url}

    def command(*words: object) -> Any:
        done = orgflowc(*words, "--json", env=env)
        return done.code, json.loads(done.out)

    def start(case: str) -> None:
        assert client.call(f"/webhook/{name}", {"instance": case})["status"] == 200
        wait_until(lambda: len(tasks(case)) == 2)

    def tasks(case: str) -> list[Any]:
        return [task for task in command("tasks")[1]["tasks"] if task["case"] == case]

    code, shown = command("deploy", file)
    assert code == 0, shown
    assert [row["code"] for row in shown["diagnostics"]] == ["OF624"]
    code, shown = command("deploy", file)
    assert (code, shown["diagnostics"]) == (0, [])
    for case in ("one", "two"):
        start(case)
    _, shown = command("instances")
    assert {row["case"] for row in shown["instances"]} >= {"one", "two"}
    code, shown = command("cancel", "one")
    assert code == 0
    assert [place["element"] for place in shown["cancelled"][0]["places"]] == ["Task 1", "Task 2"]
    assert tasks("one") == []
    assert command("cancel", "one")[0] == 1
    assert command("heal") == (0, {"version": 1, "problems": []})

    other = file.read_text("utf-8").replace("Task 2", "Release").replace("task-2", "release")
    file.write_text(other, "utf-8")
    code, shown = command("deploy", file)
    assert code == 1
    assert "OF627" in {row["code"] for row in shown["diagnostics"]}
    code, shown = command("deploy", file, "--migrate", "Task 2=Release")
    assert code == 0, shown
    assert [task["element"] for task in tasks("two")] == ["Task 1", "Release"]
    keys = {row["element"]: row["key"] for row in open_rows(client, "task")}
    answer_form(client, f"{name}-task-1", keys["Task 1"])
    answer_form(client, f"{name}-release", keys["Release"])
    wait_until(lambda: not command("instances")[1]["instances"])
    assert len(outside.calls) == 1
    assert outside.calls[0]["variables"]["Release"] == "yes"

    start("three")
    assert orgflowc("undeploy", file, env=env).code == 1
    assert command("cancel", "three")[0] == 0
    done = orgflowc("undeploy", file, env=env)
    assert done.code == 0, done.out + done.err
    assert "orgflow: table of open work" in done.out
    outside.close()


def open_rows(client: Client, kind: str) -> list[Any]:
    with TableClient(client.url, client.key) as connected:
        (table,) = connected.data_tables(TABLE_NAME)
        tests = [("kind", "eq", kind), ("state", "eq", "open")]
        return [*connected.chosen_rows(str(table["id"]), tests)]


def answer_form(client: Client, path: str, key: str) -> None:
    fields: Any = {"field-0": (None, key), "field-1": (None, "yes")}
    with httpx.Client(timeout=120, trust_env=False) as http:
        assert "Thank you" in http.post(f"{client.url}/form/{path}", files=fields).text


def wait_until(holds: Callable[[], bool], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.3)


def test_messages_need_the_header_and_are_kept_once(runner: TrialRunner) -> None:
    place = "/webhook/orgflow-message"
    body = {"name": "live", "key": "1", "id": "same", "data": {"x": 1}}
    assert runner.client.call(place, body)["status"] == 403
    answers = [
        runner.call_outside(place, body, {CREDENTIAL_HEADER: SECRET}).json() for _ in range(2)
    ]
    assert answers == [
        {"accepted": True, "repeated": False},
        {"accepted": True, "repeated": True},
    ]
