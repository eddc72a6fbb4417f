"""A person works on a deployed workflow, the model changes, it is deployed again: on a real server.

What a person does goes through the interface that n8n's editor uses, and in one test through the
editor itself.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Ran, orgflowc
from editor_browser import browser_context, insert_after, move, on_canvas, rename
from order_models import order_model
from orgflow.backends.n8n.server.client.workflows import WorkflowClient, list_webhooks
from orgflow.backends.n8n.server.deployment_marker import marker_of
from orgflow.backends.n8n.server.process import N8nServer, Owner
from verify_edits import node

Json = dict[str, Any]
SECONDS = 120.0


class Site:
    """The server, the models of a person, and what the person does in the editor."""

    def __init__(self, url: str, key: str, client: Any, folder: Path) -> None:
        self.url, self.key, self.folder = url, key, folder
        self.server = WorkflowClient(url, key)
        self.editor = client
        self.before = set(self.server.workflows())

    def close(self) -> None:
        for id in set(self.server.workflows()) - self.before:
            self.server.delete(id)
        self.server.close()

    def deploy(self, *args: str | Path) -> Ran:
        done = orgflowc("deploy", "--url", self.url, *map(str, args), env={"N8N_API_KEY": self.key})
        assert self.key not in done.out + done.err
        return Ran(done.code, done.out, " ".join(done.err.split()))

    def rows(self) -> list[Json]:
        """The workflows of this test that are not archived."""
        return [
            row
            for row in self.server.listed()
            if row["id"] not in self.before and not row.get("isArchived")
        ]

    def row(self) -> Json:
        (found,) = self.rows()
        return found

    def save(self, row: Json) -> None:
        """Save a workflow as the editor does, and publish it, if it was."""
        body = {k: row[k] for k in ("name", "nodes", "connections", "settings", "versionId")}
        path = f"/rest/workflows/{row['id']}"
        self.editor._call_api(self.editor._editor, "PATCH", path, body)
        if row.get("active"):
            self.server.publish(str(row["id"]))
            self.server.await_live(self.server.workflow(row["id"]), again=True)

    def archive(self, id: str, door: str = "archive") -> None:
        self.editor._call_api(self.editor._editor, "POST", f"/rest/workflows/{id}/{door}")

    def duplicate(self, row: Json) -> str:
        """What the editor's "Duplicate" makes: the same nodes under another name."""
        body = {k: row[k] for k in ("nodes", "connections", "settings")}
        made = self.editor._call_api(
            self.editor._editor, "POST", "/rest/workflows", {**body, "name": row["name"] + " copy"}
        )
        return str(made["data"]["id"])

    def verified(self, model: Path) -> bool:
        """Whether what is on the server does what the model says."""
        path = self.folder / "deployed.json"
        path.write_text(json.dumps(self.row()), "utf-8")
        done = orgflowc("verify", str(model), str(path))
        assert "proved" in done.out, done.out + done.err
        return done.code == 0

    def played(self, model: Path, bodies: list[Json]) -> Json:
        """Call the workflow with each body; how its executions compare with the model."""
        row = self.row()
        known = len(list(self.server.stored_executions(str(row["id"]))))
        ((path, method),) = list_webhooks(row)
        for body in bodies:
            assert self.server.call(f"/{path}", body, method=method)["status"] == 200
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            over = list(self.server.stored_executions(str(row["id"])))
            done = all(e["status"] in ("success", "error") for e in over)
            if done and len(over) == known + len(bodies):
                break
            time.sleep(0.2)
        said = orgflowc(
            "run", str(model), "--engine", self.url, "--executions", str(len(bodies)), "--json",
            env={"N8N_API_KEY": self.key},
        )  # fmt: skip
        report: Json = json.loads(said.out)
        return report


@pytest.fixture
def site(server_url: str, key: str, client: Any, tmp_path: Path) -> Iterator[Site]:
    made = Site(server_url, key, client, tmp_path)
    yield made
    made.close()


@pytest.fixture
def credential(client: Any) -> Iterator[Json]:
    """A credential that the person has."""
    made = client._call_api(
        client._api,
        "POST",
        "/api/v1/credentials",
        {"name": "Kim", "type": "httpBasicAuth", "data": {"user": "kim", "password": "x"}},
    )
    yield {"httpBasicAuth": {"id": str(made["id"]), "name": "Kim"}}
    client._call_api(client._api, "DELETE", f"/api/v1/credentials/{made['id']}")


CHECK = "return [{ json: { ...$json, in_stock: $('Order received').first().json.body.stock } }];"


def edited(row: Json, url: str, credential: Json) -> Json:
    """The placeholders filled, a node put between, one renamed and moved, notes written."""
    found = copy.deepcopy(row)
    check, ship = node(found, "check"), node(found, "ship")
    code = {"type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": CHECK}}
    check |= {**code, "notes": f"Ask Kim before you change this.\n\n{check['notes']}"}
    parameters = {
        "url": f"{url}/healthz", "authentication": "genericCredentialType",
        "genericAuthType": "httpBasicAuth", "options": {},
    }  # fmt: skip
    http = {"type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "parameters": parameters}
    ship |= {**http, "credentials": credential, "name": "Ship by mail", "position": [1000, 1000]}
    log = {
        "id": "0b0b0b0b-0000-4000-8000-000000000001", "name": "Log it", "parameters": {},
        "type": "n8n-nodes-base.noOp", "typeVersion": 1, "position": [400, 700],
    }  # fmt: skip
    note = {
        "id": "0b0b0b0b-0000-4000-8000-000000000002", "name": "Mine",
        "parameters": {"content": "Do not forget the customs"},
        "type": "n8n-nodes-base.stickyNote", "typeVersion": 1, "position": [0, 1500],
    }  # fmt: skip
    found["nodes"] += [log, note]
    wires = found["connections"]
    wires["Ship by mail"] = wires.pop("ship")
    wires["check"]["main"][0] = [{"node": "Log it", "type": "main", "index": 0}]
    wires["Log it"] = {"main": [[{"node": "Ship by mail", "type": "main", "index": 0}]]}
    found["settings"]["timezone"] = "Europe/Vienna"
    return found


def test_edited_in_n8n_and_changed_in_the_model(
    site: Site, credential: Json, tmp_path: Path
) -> None:
    file = tmp_path / "order.bpmn"
    first = site.deploy(order_model(file, "check", "ship"))
    assert first.code == 0, first.err
    address = first.out.split()[-1]
    site.save(edited(site.row(), site.url, credential))
    order_model(file, "check:Check stock", "ship", "bill", question="In stock?")
    dry = site.deploy(file, "--dry-run")
    assert "`check` is called `Check stock`" in dry.out, dry.out + dry.err
    assert "`Ship by mail`" in dry.out
    ran = site.deploy(file)
    assert (ran.code, ran.out.split()[0]) == (0, "updated"), ran.err
    assert ran.out.split()[-1] == address
    row = site.row()
    check, ship = node(row, "Check stock"), node(row, "Ship by mail")
    assert check["parameters"]["jsCode"] == CHECK
    assert check["notes"].startswith("Ask Kim before you change this.")
    assert ship["parameters"]["url"] == f"{site.url}/healthz"
    assert ship["credentials"] == credential
    assert ship["position"] == [1000, 1000]
    assert node(row, "Mine")["parameters"]["content"] == "Do not forget the customs"
    assert row["settings"]["timezone"] == "Europe/Vienna"
    names = [one["name"] for one in row["nodes"]]
    assert len(names) == len(set(names))
    assert {"Log it", "In stock?", "Cancel", "bill"} <= set(names)
    assert site.verified(file)
    report = site.played(file, [{"stock": "Yes"}, {"stock": "No"}])
    assert report["verdicts"] == {"equal": 2}, report
    assert site.deploy(file).out.startswith("unchanged")
    # What a person filled is not thrown away with its element; nothing was written.
    before = site.row()
    refused = site.deploy(order_model(file, "check:Check stock", "bill", question="In stock?"))
    assert refused.code == 1
    assert "`Ship by mail`" in refused.err
    assert "`ship` was removed" in refused.err
    assert site.row() == before


def test_edited_in_the_editor_and_changed_in_the_model(
    site: Site, server: N8nServer, owner: Owner, tmp_path: Path
) -> None:
    """What a person does with the mouse and the keyboard stays when the model is deployed again."""
    file = tmp_path / "order.bpmn"
    assert site.deploy(order_model(file, "check", "ship")).code == 0
    before = site.row()
    added = "No Operation, do nothing"
    with browser_context(server, owner) as context:
        page = context.new_page()
        page.goto(f"{server.url}/workflow/{before['id']}", wait_until="domcontentloaded")
        on_canvas(page, "ship").wait_for()
        rename(page, "ship", "Ship by mail")
        move(page, "check")
        insert_after(page, "check", added)
        page.keyboard.press("Control+s")
        deadline = time.monotonic() + SECONDS
        while not {"Ship by mail", added} <= {one["name"] for one in site.row()["nodes"]}:
            assert time.monotonic() < deadline, "the editor did not save"
            time.sleep(0.3)
    person = site.row()
    assert node(person, "check")["position"] != node(before, "check")["position"]
    order_model(file, "check", "ship", "bill", question="In stock?")
    ran = site.deploy(file)
    assert (ran.code, ran.out.split()[0]) == (0, "updated"), ran.err
    after = site.row()
    for name in ("check", "Ship by mail", added):
        assert node(after, name)["position"] == node(person, name)["position"], name
    wires = after["connections"]
    assert [out["node"] for out in wires["check"]["main"][0]] == [added]
    assert {"In stock?", "Cancel", "bill"} <= {one["name"] for one in after["nodes"]}
    assert site.verified(file)
    assert site.deploy(file).out.startswith("unchanged")


def test_two_deploys_at_once(site: Site, tmp_path: Path) -> None:
    """Of the first ones, and of two that differ: one workflow, and each deploy says what became of
    it."""
    file = order_model(tmp_path / "order.bpmn", "check", "ship")
    said = _at_once(site, file, file)
    assert [code for code, _, _ in said] == [0, 0], said
    row = copy.deepcopy(site.row())
    assert row["active"]
    node(row, "ship")["parameters"] = {"edited": "by a person"}
    site.save(row)
    mine = order_model(tmp_path / "mine/order.bpmn", "check", "ship", "bill")
    its = order_model(tmp_path / "its/order.bpmn", "check", "ship", "thank")
    said = _at_once(site, mine, its)
    row = site.row()
    assert row["active"]
    assert node(row, "ship")["parameters"] == {"edited": "by a person"}
    last = "bill" if any(one["name"] == "bill" for one in row["nodes"]) else "thank"
    (other,) = {"bill", "thank"} - {last}
    assert other not in {one["name"] for one in row["nodes"]}
    loser = said[("bill", "thank").index(other)]
    # The other one was overwritten and says so, came first and is updated, or was refused, also
    # since the one that came first was compiled from another file, which is named.
    made_from = (
        f"was compiled from {'its' if last == 'thank' else 'mine'}/order.bpmn, which still exists"
    )
    refused = "N8N01" in loser[2] or ("OF620" in loser[2] and made_from in loser[2])
    assert loser[0] == 0 or refused, said
    assert said[("bill", "thank").index(last)][0] == 0, said
    # Whoever comes later is refused in these words.
    late = site.deploy(mine if last == "thank" else its)
    assert late.code == 1
    assert "OF620" in late.err
    assert made_from in " ".join(late.err.split())


def _at_once(site: Site, *files: Path) -> list[tuple[int, str, str]]:
    jobs = [
        subprocess.Popen(
            [sys.executable, "-m", "orgflow.cli", "deploy", "--url", site.url, str(file)],
            env={**os.environ, "N8N_API_KEY": site.key}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for file in files
    ]  # fmt: skip
    said = [job.communicate(timeout=120) for job in jobs]
    return [
        (job.returncode, out, " ".join(err.split()))
        for job, (out, err) in zip(jobs, said, strict=True)
    ]


def test_a_restored_archive_and_a_duplicate(site: Site, tmp_path: Path) -> None:
    file = order_model(tmp_path / "order.bpmn", "check", "ship")
    site.deploy(file)
    old = site.row()
    site.archive(old["id"])
    assert site.deploy(file).code == 0
    new = site.row()
    assert new["id"] != old["id"]
    site.archive(old["id"], "unarchive")
    ran = site.deploy(order_model(file, "check", "ship", "bill"))
    assert ran.code == 1
    assert "OF614" in ran.err
    assert {row["id"] for row in site.rows()} == {old["id"], new["id"]}
    assert all(not _has(row, "bill") for row in site.rows()), "nothing is overwritten"
    site.server.delete(old["id"])
    twin = site.duplicate(new)
    ran = site.deploy(file)
    assert ran.code == 0, ran.err
    rows = {row["id"]: row for row in site.rows()}
    assert set(rows) == {new["id"], twin}
    assert _has(rows[new["id"]], "bill")
    assert not _has(rows[twin], "bill")


def _has(row: Json, name: str) -> bool:
    return any(one["name"] == name for one in row["nodes"])


def test_files_that_look_alike(site: Site, tmp_path: Path) -> None:
    """A renamed file is the same model, which has to be confirmed; another process of that name,
    and a copy, are not."""
    file = order_model(tmp_path / "order.bpmn", "check", "ship")
    site.deploy(file)
    row = copy.deepcopy(site.row())
    node(row, "ship")["parameters"] = {"edited": "by a person"}
    site.save(row)
    before = site.row()
    moved = file.rename(tmp_path / "sales.bpmn")
    ran = site.deploy(order_model(moved, "check", "ship", "bill"))
    assert (ran.code, "OF621" in ran.err) == (1, True), ran.err
    assert site.row() == before
    assert site.deploy(moved, "--take-over").code == 0
    now = site.row()
    assert (now["id"], _has(now, "bill")) == (row["id"], True)
    assert node(now, "ship")["parameters"] == {"edited": "by a person"}
    assert site.deploy(moved).out.startswith("unchanged")
    before = site.row()
    other = order_model(tmp_path / "other/sales.bpmn", "weigh", "load", "drive", start="Lorry here")
    ran = site.deploy(other)
    assert ran.code == 1, ran.out
    assert site.row() == before
    copied = order_model(tmp_path / "copy/sales.bpmn", "check", "ship", "bill")
    assert site.deploy(copied, "--as", "second").code == 0
    assert len(site.rows()) == 2
    assert site.deploy(moved).out.startswith("unchanged")


def test_an_older_clone_and_a_relabelled_start(site: Site, tmp_path: Path) -> None:
    mine, its = tmp_path / "mine/order.bpmn", tmp_path / "its/order.bpmn"
    order_model(mine, "check", "ship")
    identity = ("-c", "user.name=Kim", "-c", "user.email=kim@a.example")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "A model"],
                  ["clone", "-q", ".", str(its.parent)]):  # fmt: skip
        subprocess.run(["git", *identity, *words], cwd=mine.parent, check=True)
    address = site.deploy(mine).out.split()[-1]
    ran = site.deploy(order_model(its, "check", "ship", "bill", start="Something ordered"))
    assert (ran.code, ran.out.split()[-1]) == (0, address), ran.err
    assert site.played(its, [{}])["verdicts"] == {"equal": 1}
    before = site.row()
    ran = site.deploy(mine)
    assert (ran.code, "N8N010" in ran.err) == (1, True), ran.err
    assert site.row() == before
    assert site.deploy(mine, "--rollback").code == 0
    marker = marker_of(site.row())
    assert marker is not None
    assert (marker.server, marker.revision) == (before["id"], 3)
