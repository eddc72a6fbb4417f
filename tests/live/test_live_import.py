"""The support set imported manually, in the steps of docs/open-work.md: files of `engine export`,
n8n's command line, one run of the workflow that creates the table, a credential, and publishing."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
from cli_cases import orgflowc
from orgflow.backends.n8n.format.support_ids import part_id
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.server.install import server_status
from orgflow.backends.n8n.server.process import N8nServer
from orgflow.backends.n8n.waiting.installation import CREDENTIAL_HEADER
from orgflow.backends.n8n.waiting.manual_import import TABLE_WORKFLOW
from orgflow.backends.n8n.waiting.rows import TABLE_NAME
from orgflow.backends.n8n.waiting.support_set import PARTS
from waiting_canvas import parallel_tasks
from waiting_trials import OutsideServer

IDS = {part: part_id(part) for part in PARTS}


def import_workflows(server: N8nServer, folder: Path) -> None:
    """As a person does on the machine of the server."""
    files = server_status().files
    assert files is not None
    subprocess.run(
        [files.node, files.script, "import:workflow", "--separate", f"--input={folder}"],
        env=server._build_environment(files, 0),
        cwd=server._data,
        check=True,
        capture_output=True,
        timeout=300,
    )


def choose_credential(client: TableClient, workflow_id: str, credential: dict[str, str]) -> None:
    """As a person does in the editor."""
    row = client.workflow(workflow_id)
    for node in row["nodes"]:
        if node["parameters"].get("authentication") == "headerAuth":
            node["credentials"] = {"httpHeaderAuth": credential}
    client.update(workflow_id, client.body_of(row))


def open_rows(client: TableClient, kind: str) -> list[Any]:
    (table,) = client.data_tables(TABLE_NAME)
    tests = [("kind", "eq", kind), ("state", "eq", "open")]
    return [*client.chosen_rows(str(table["id"]), tests)]


def test_an_import_by_hand_runs_and_is_upgraded_by_a_deployment(
    server: N8nServer, client: Client, tmp_path: Path
) -> None:
    outside = OutsideServer()
    folder = tmp_path / "set"
    written = orgflowc("engine", "export", folder)
    assert written.code == 0, written.err
    assert len(written.out.splitlines()) == len(PARTS) + 1
    name = f"imported{time.time_ns()}"[:16]
    process = {**parallel_tasks(name, 2, outside.url, IDS), "id": name}
    file = tmp_path / "process.json"
    file.write_text(json.dumps(process), "utf-8")
    (folder / "process.json").write_text(json.dumps(process), "utf-8")
    import_workflows(server, folder)

    run = client.run(TABLE_WORKFLOW, "Run once")
    assert client.wait_for(run, 120)["status"] == "success"
    with TableClient(server.url, client.key, seconds=60) as connected:
        data = {"name": CREDENTIAL_HEADER, "value": "chosen by hand"}
        made = connected.create_credential("Messages", "httpHeaderAuth", data)
        for part in ("message", "sweep"):
            choose_credential(connected, IDS[part], {"id": made, "name": "Messages"})
        for workflow_id in (*IDS.values(), name):
            connected.publish(workflow_id)
        connected.await_live(connected.workflow(name))
        assert client.call(f"/webhook/{name}", {"instance": "by hand"})["status"] == 200
        deadline = time.monotonic() + 120
        while len(tasks := open_rows(connected, "task")) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.3)
        with httpx.Client(timeout=120, trust_env=False) as http:
            page = http.get(f"{server.url}/webhook/orgflow-task?key={tasks[0]['key']}")
            assert page.status_code == 200
            assert "This task is open." in page.text
            assert page.headers["cache-control"] == "no-store"
            for number, task in enumerate(tasks, 1):
                fields: Any = {"field-0": (None, task["key"]), "field-1": (None, "yes")}
                form = f"{server.url}/form/{name}-task-{number}"
                assert "Thank you" in http.post(form, files=fields).text
            page = http.get(f"{server.url}/webhook/orgflow-task?key={tasks[0]['key']}")
            assert "already been answered" in page.text
            page = http.get(f"{server.url}/webhook/orgflow-task?key=unknown")
            assert (page.status_code, "no longer open" in page.text) == (404, True)
            address = f"{server.url}/webhook/orgflow-message"
            header = {CREDENTIAL_HEADER: "chosen by hand"}
            assert http.post(address, json={"name": "x"}).status_code == 403
            assert http.post(address, json={"name": "x"}, headers=header).status_code == 200
            refused = http.post(address, json={"name": "x", "data": "text"}, headers=header)
            assert (refused.status_code, refused.json()) == (
                400, {"error": "data is no object of variables"},
            )  # fmt: skip
        deadline = time.monotonic() + 120
        while not outside.calls:
            assert time.monotonic() < deadline
            time.sleep(0.3)
        assert len(outside.calls) == 1

        env = {"N8N_API_KEY": client.key, "N8N_URL": server.url}
        done = orgflowc("deploy", file, "--take-over", "--json", env=env)
        assert done.code == 0, done.out + done.err
        findings = json.loads(done.out)["diagnostics"]
        assert [finding["code"] for finding in findings] == ["OF624"], findings
        finding = findings[0]
        assert f"connected {len(PARTS) - 1} workflows" in finding["message"]
        assert "created the workflow" not in finding["message"]
        for workflow_id in (name, *reversed(IDS.values()), TABLE_WORKFLOW):
            connected.delete(workflow_id)
        (table,) = connected.data_tables(TABLE_NAME)
        connected.delete_data_table(str(table["id"]))
    outside.close()
