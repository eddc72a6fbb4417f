"""Deploying to a real server: the faults of the unit suite again, and the server itself killed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from deploy_faults import CREATE, PUBLISH, SCENARIOS, Site, assert_whole, chain, hook, ok
from faulty_proxy import Fault
from orgflow.backends.n8n.engine.runs import RunRequest
from orgflow.backends.n8n.server.client.backoff import Backoff
from orgflow.backends.n8n.server.client.errors import ServerError
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.executions.runner import ServerRunner
from orgflow.backends.n8n.server.process import N8nServer, Owner

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples/leave-request/model.bpmn"
CALLED = ROOT / "examples/incident/model.bpmn"
WAIT = 120.0


@pytest.fixture
def site(server_url: str, key: str) -> Iterator[Site]:
    made = Site(server_url, key)
    yield made
    made.close()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_fault(site: Site, scenario: Callable[[Site], None]) -> None:
    scenario(site)


# -- the server itself -------------------------------------------------------------------------


class Mortal:
    """A server with a data folder of its own, that is killed and comes back on another port."""

    def __init__(self, folder: Path) -> None:
        self.server = N8nServer(data=folder)
        self.server.start()
        owner = Owner()
        with WorkflowClient(self.server.url) as client:
            self.site = Site(self.server.url, client.set_up_owner(owner.email, owner.password))
        self.back: threading.Thread | None = None

    def die(self) -> None:
        """Kill it with all it started; it is back some seconds later."""
        assert self.server.pid is not None
        os.killpg(self.server.pid, signal.SIGKILL)
        while self.server.alive:
            time.sleep(0.01)
        self.back = threading.Thread(target=self._return)
        self.back.start()

    def _return(self) -> None:
        self.server.start()
        self.site.proxy.target = self.server.url

    def whole(self) -> Site:
        """The site with the server as it is after its return."""
        assert self.back is not None
        self.back.join()
        direct = WorkflowClient(self.server.url, self.site.key)
        self.site.direct.close()
        self.site.direct = direct
        return self.site


@pytest.fixture(scope="module")
def mortal(server: N8nServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mortal]:
    made = Mortal(tmp_path_factory.mktemp("mortal"))
    yield made
    with contextlib.suppress(ServerError):
        made.site.close()
    made.server.stop()


@pytest.fixture
def fresh(mortal: Mortal) -> Iterator[Mortal]:
    mortal.site.proxy.faults, mortal.site.proxy.hit = [], 0
    yield mortal
    for row in mortal.site.rows():
        mortal.site.direct.delete(row["id"])


def test_killed_during_deploy(fresh: Mortal) -> None:
    """The callee is there, the caller is not yet; it goes on when the server is back."""
    fresh.site.proxy.faults = [Fault(CREATE, skip=1, deed=fresh.die, broken="before")]
    results, codes = fresh.site.deploy(*chain(), wait=WAIT)
    assert ok(results), codes
    assert_whole(fresh.whole(), "Callee", "Caller")


def test_killed_during_publish(fresh: Mortal) -> None:
    fresh.site.proxy.faults = [Fault(PUBLISH, deed=fresh.die, broken="before")]
    results, codes = fresh.site.deploy(hook(), wait=WAIT)
    assert ok(results), codes
    site = fresh.whole()
    assert_whole(site, "Order")
    assert site.direct.call("/webhook/order", {})["status"] == 200


def test_killed_for_good_during_deploy(fresh: Mortal) -> None:
    """Without patience: a clear error, and the next deploy completes it."""
    fresh.site.proxy.faults = [Fault(CREATE, skip=1, deed=fresh.die, broken="before")]
    results, codes = fresh.site.deploy(*chain(), wait=0.2)
    assert not ok(results)
    assert codes == ["OF601", "OF615"]
    site = fresh.whole()
    assert [row["name"] for row in site.rows()] == ["Callee"]
    results, codes = site.deploy(*chain())
    assert ok(results), codes
    assert_whole(site, "Callee", "Caller")


def test_killed_during_a_run(fresh: Mortal) -> None:
    """The execution is lost, which is said; the copy that was made for the run is not left."""
    site = fresh.site
    site.proxy.faults = [Fault("GET /api/v1/executions/", deed=fresh.die, broken="before")]
    with (
        WorkflowClient(site.proxy.url, site.key, backoff=Backoff(WAIT)) as client,
        WorkflowClient(site.proxy.url, site.key, backoff=Backoff(WAIT)) as undo,
    ):
        flow = hook()
        flow["nodes"][1] |= {
            "type": "n8n-nodes-base.wait", "typeVersion": 1.1, "webhookId": "w",
            "parameters": {"resume": "webhook", "httpMethod": "POST", "options": {}},
        }  # fmt: skip
        runner = ServerRunner(client, undo)
        (played,) = runner.play_requests([RunRequest(flow, "Hook")])
        # It waited when the server was killed: a waiting execution survives and is answered.
        assert played.status in ("success", "error"), played
        if played.status == "error":
            # The status, or what n8n writes of it once it has looked through what it lost.
            lost = ("crashed", "Workflow did not finish, possible out-of-memory issue")
            assert played.error in lost
        runner.close()
    assert fresh.whole().rows() == []


# -- the commands ------------------------------------------------------------------------------


def test_the_key_is_nowhere_but_in_the_header(
    server: N8nServer, site: Site, key: str, tmp_path: Path
) -> None:
    environment = {"N8N_API_KEY": key, "N8N_URL": server.url}
    said = ""
    deployed = orgflowc("deploy", str(CALLED), str(MODEL), "--json", env=environment)
    assert deployed.code == 0, deployed.err
    rows = {row["name"]: row for row in json.loads(deployed.out)["workflows"]}
    assert {row["state"] for row in rows.values()} == {"published"}
    said += deployed.out + deployed.err
    (url,) = rows["IT incident"]["urls"]
    assert site.direct.call(url, {})["status"] == 200
    ran = orgflowc("run", str(MODEL), "--engine", server.url, "--all-paths", "-v", env=environment)
    assert ran.code == 0, ran.err
    local = orgflowc("run", str(MODEL), "--all-paths", "-v", env=environment)
    mark = "differs from the delivered workflow: every run starts at its own webhook\n"
    assert ran.out.replace(mark, "") == local.out
    said += ran.out + ran.err
    again = orgflowc("deploy", str(CALLED), str(MODEL), "--dry-run", env=environment)
    assert again.out.count("unchanged") == 2
    said += again.out + again.err
    data = Path(server._data or tmp_path)
    said += (data / "n8n.log").read_text("utf-8", "replace")
    executions = site.direct.executions(rows["IT incident"]["id"])
    assert executions
    said += json.dumps([site.direct.execution(one) for one in executions])
    assert key not in said


@pytest.mark.parametrize(("format_", "models"), [("bpmn", 55), ("pme", 8)])
def test_pmo_on_the_server(
    server: N8nServer,
    key: str,
    shared: Path,
    tmp_path: Path,
    format_: str,
    models: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Deploy, publish, execute, replay: every enumerated run of every model that compiles. PME
    files become the workflows of the BPMN files, which tests/test_pmo.py compares: here some."""
    files = sorted((shared / "data" / "pmo" / format_).iterdir())
    (tmp_path / format_).mkdir()
    for file in files[:: len(files) // models]:
        shutil.copy(file, tmp_path / format_)
    table = tmp_path / "pmo.csv"
    done = orgflowc(
        "eval", "pmo", str(tmp_path), "--models", format_, "--engine", server.url,
        "-o", str(table), env={"N8N_API_KEY": key}, timeout=1500,
    )  # fmt: skip
    with capsys.disabled():  # the figures are wanted, also where all is well
        print(f"\n{done.err}")
    assert done.code == 0, done.err
    import csv

    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= models
    passed = [row for row in rows if row["pipeline_status"] == "pass"]
    assert len(passed) >= len(rows) - 3
    assert all(row["f1"] == "1.0" and row["runs"] == row["runs_equal"] for row in passed)
    assert all(row["failure_stage"] == "none" for row in passed)
    refused = [row for row in rows if row not in passed]
    assert all(row["failure_stage"] == "compile" and row["codes"] for row in refused)
