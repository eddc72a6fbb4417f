"""Deploying over what people did on the server: merged, or refused with both sides named."""

from __future__ import annotations

import copy
import json
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_cases import DEADLOCK, Ran, run_in_process
from n8n_stand_in import KEY, StandIn
from order_models import order_model as model
from orgflow.backends.n8n.server.deployment_marker import marker_of

Json = dict[str, Any]
Deploy = Callable[..., Ran]


@pytest.fixture
def server() -> Iterator[StandIn]:
    made = StandIn()
    yield made
    made.close()


def orgflowc(*args: str | Path) -> Ran:
    ran = run_in_process(*args, env={"N8N_API_KEY": KEY})
    return replace(ran, err=" ".join(ran.err.split()))


@pytest.fixture
def deploy(server: StandIn) -> Deploy:
    return lambda *args: orgflowc("deploy", "--url", server.url, *args)


def only(server: StandIn) -> Json:
    (row,) = server.workflows.values()
    return row


def node(row: Json, name: str) -> Json:
    return next(one for one in row["nodes"] if one["name"] == name)  # type: ignore[no-any-return]


def fill(server: StandIn, name: str) -> None:
    row = only(server)
    nodes = copy.deepcopy(row["nodes"])
    node({"nodes": nodes}, name).update(
        type="n8n-nodes-base.httpRequest", typeVersion=4.2, parameters={"url": "https://x.example"},
        credentials={"httpBasicAuth": {"id": "c1", "name": "Kim"}},
    )  # fmt: skip
    server.edit(row["id"], nodes=nodes)


def test_filled_and_changed(server: StandIn, deploy: Deploy, tmp_path: Path) -> None:
    file = tmp_path / "order.bpmn"
    deploy(model(file, "check", "ship"))
    fill(server, "ship")
    for tasks in (("check:Look", "ship"), ("check:Look", "ship", "bill"), ("ship", "bill")):
        dry = deploy(model(file, *tasks), "--dry-run")
        assert dry.out.startswith("merge "), dry.err
        assert "kept from the workflow" in dry.out
        ran = deploy(file)
        assert (ran.code, ran.out[:7]) == (0, "updated"), ran.err
        assert node(only(server), "ship")["parameters"] == {"url": "https://x.example"}
        assert node(only(server), "ship")["credentials"]["httpBasicAuth"]["id"] == "c1"
        assert deploy(file).out.startswith("unchanged")
    names = [one["name"] for one in only(server)["nodes"]]
    assert "bill" in names
    assert "Look" not in names
    marker = marker_of(only(server))
    assert marker is not None
    assert (marker.server, marker.revision, marker.kept) == ("server0001", 4, True)


def test_filled_and_removed(server: StandIn, deploy: Deploy, tmp_path: Path) -> None:
    file = model(tmp_path / "order.bpmn", "check", "ship")
    deploy(file)
    fill(server, "ship")
    before = copy.deepcopy(server.workflows)
    ran = deploy(model(file, "check"))
    assert ran.code == 1
    assert "`ship`: in the workflow an HTTP Request node was added or edited" in ran.err
    assert "in the model `ship` was removed" in ran.err
    assert "conflict: `ship`" in deploy(file, "--dry-run").out
    assert server.workflows == before
    assert deploy(file, "--take-over").code == 0
    assert not [one for one in only(server)["nodes"] if one["name"] == "ship"]


def test_a_compiled_file_over_what_was_merged(
    server: StandIn, deploy: Deploy, tmp_path: Path
) -> None:
    """What a merge kept is no edit since, but no file may overwrite it silently, either."""
    file = model(tmp_path / "order.bpmn", "check", "ship")
    deploy(file)
    fill(server, "ship")
    deploy(model(file, "check:Look", "ship"))
    compiled = tmp_path / "order.json"
    orgflowc("compile", model(file, "check:See", "ship"), "--target", "n8n", "-o", compiled)
    ran = deploy(compiled)
    assert ran.code == 0, ran.err
    assert node(only(server), "ship")["type"].endswith("httpRequest")
    assert node(only(server), "See")
    flow = json.loads(compiled.read_text("utf-8"))
    node(flow, "See")["parameters"] = {"edited": "in the file"}
    compiled.write_text(json.dumps(flow), "utf-8")
    assert "OF607" in deploy(compiled).err


def test_a_relabelled_start_keeps_its_address(
    server: StandIn, deploy: Deploy, tmp_path: Path
) -> None:
    file = model(tmp_path / "order.bpmn", "ship")
    address = deploy(file).out.split()[-1]
    ran = deploy(model(file, "ship", start="Something ordered"))
    assert ran.out.startswith("updated")
    assert ran.out.split()[-1] == address


def test_an_older_clone(server: StandIn, deploy: Deploy, tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine/order.bpmn", tmp_path / "theirs/order.bpmn"
    for folder in (mine, theirs):
        (folder.parent / ".git").mkdir(parents=True)
        config = '[remote "origin"]\n\turl = https://git.example/order.git\n'
        (folder.parent / ".git/config").write_text(config, encoding="utf-8")
    deploy(model(mine, "check", "ship"))
    deploy(model(theirs, "check", "ship", "bill"))
    before = copy.deepcopy(server.workflows)
    ran = deploy(mine)
    assert ran.code == 1
    assert "N8N010" in ran.err
    assert "revision 2" in ran.err
    assert server.workflows == before
    assert deploy(mine, "--rollback").code == 0
    assert "N8N010" in deploy(theirs).err, "now this one is the older"


def test_two_creations_at_once(server: StandIn, tmp_path: Path) -> None:
    """Both look before either has created it: one is there in the end, and both succeed."""
    file = model(tmp_path / "order.bpmn", "check", "ship")
    meet = threading.Barrier(2, timeout=120)
    first, answer = [True, True], server.answer

    def slow(method: str, path: str, headers: Any, body: bytes) -> Any:
        found = answer(method, path, headers, body)
        if method == "GET" and path.startswith("/api/v1/workflows?") and first:
            first.pop()
            server.lock.release()
            meet.wait()
            server.lock.acquire()
        return found

    server.answer = slow  # type: ignore[method-assign]
    script = (
        "import sys; from orgflow.cli import run; "
        f"sys.exit(run(['deploy', '--url', {server.url!r}, {str(file)!r}]))"
    )
    import os
    import subprocess

    jobs = [
        subprocess.Popen(
            [sys.executable, "-c", script], env={**os.environ, "N8N_API_KEY": KEY},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [job.communicate(timeout=120) for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0], said
    assert only(server)["active"]


def test_two_updates_at_once(server: StandIn, deploy: Deploy, tmp_path: Path) -> None:
    """Another deploy comes between the update and its end: whoever was overwritten is told."""
    file = model(tmp_path / "order.bpmn", "check", "ship")
    deploy(file)
    answer, done = server.answer, []

    def between(method: str, path: str, headers: Any, body: bytes) -> Any:
        found = answer(method, path, headers, body)
        if method == "PUT" and not done:
            done.append(True)
            other = json.loads(body)
            text = json.dumps(other).replace("check", "check it")
            marker = marker_of({**other, "id": "server0001"})
            assert marker is not None
            server.edit(
                "server0001", nodes=json.loads(text.replace(marker.digest, "other"))["nodes"]
            )
        return found

    server.answer = between  # type: ignore[method-assign]
    ran = deploy(model(file, "check", "ship", "bill"))
    assert ran.code == 1
    assert "N8N011" in ran.err


def test_a_restored_archive(server: StandIn, deploy: Deploy, tmp_path: Path) -> None:
    file = model(tmp_path / "order.bpmn", "check", "ship")
    deploy(file)
    only(server).update(isArchived=True, active=False)
    deploy(file)
    server.workflows["server0001"]["isArchived"] = False
    before = copy.deepcopy(server.workflows)
    ran = deploy(model(file, "check", "ship", "bill"))
    assert ran.code == 1
    assert "OF614" in ran.err
    assert server.workflows == before, "nothing is deleted"


def test_a_duplicate_of_the_editor(server: StandIn, deploy: Deploy, tmp_path: Path) -> None:
    """With the same ids of nodes and the same note: only the server's id tells them apart."""
    file = model(tmp_path / "order.bpmn", "check", "ship")
    deploy(file)
    twin = copy.deepcopy(only(server))
    twin |= {"id": "server0099", "name": "Order copy", "active": False}
    server.workflows["server0099"] = twin
    before = copy.deepcopy(twin)
    ran = deploy(model(file, "check", "ship", "bill"))
    assert (ran.code, ran.out.split()[1]) == (0, "server0001")
    assert server.workflows["server0099"] == before


def test_what_is_unfinished(server: StandIn, deploy: Deploy, tmp_path: Path) -> None:
    file = model(tmp_path / "order.bpmn", "check", "ship")
    assert "unfinished: `Order` has 2 unfilled placeholders" in deploy(file).err
    fill(server, "ship")
    assert "has 1 unfilled placeholder: `check`" in deploy(file).err


def test_a_folder(server: StandIn, deploy: Deploy, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    model(folder / "order.bpmn", "check")
    (folder / "bad.bpmn").write_text(DEADLOCK, "utf-8")
    ran = deploy(folder)
    assert ran.code == 1
    assert "OF201" in ran.err
    assert only(server)["name"] == "Order"
    (tmp_path / "none").mkdir()
    assert deploy(tmp_path / "none").code != 0
