"""`orgflowc serve` with a stand-in for n8n in the place of the local server."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from cli_cases import DEADLOCK, LINEAR, orgflowc
from n8n_stand_in import KEY, StandIn
from orgflow.commands import serve
from orgflow.commands.deploy import Compiling, Deploying
from orgflow.commands.options import resolve_target
from orgflow.commands.progress import report_elapsed
from orgflow.commands.server import deployer_of
from orgflow.commands.session import Session

from orgflow_ir.plugins.deployment import DeployOptions
from orgflow_ir.plugins.engines import LocalServer, RunningServer, ServerExecution

MODEL = LINEAR.replace(
    '<startEvent id="start" name="Order received" />',
    '<startEvent id="start" name="Order received"><messageEventDefinition/></startEvent>',
)


class Stand(LocalServer):
    """A local server that is the stand-in."""

    installed = True
    facts: Mapping[str, str] = {}

    def __init__(self, server: RunningServer) -> None:
        self.server: RunningServer | None = server
        self.done: list[ServerExecution] = [ServerExecution("1", "other", "success")]

    def running(self) -> RunningServer | None:
        return self.server

    def start(self, on_line: Callable[[str], None], *, port: int | None = None) -> RunningServer:
        raise NotImplementedError

    def stop(self) -> bool:
        raise NotImplementedError

    def held(
        self, on_line: Callable[[str], None], *, port: int | None = None
    ) -> contextlib.AbstractContextManager[RunningServer]:
        raise NotImplementedError

    def executions(self, server: RunningServer) -> tuple[ServerExecution, ...]:
        return tuple(self.done)


@pytest.fixture
def site() -> Iterator[StandIn]:
    made = StandIn()
    yield made
    made.close()


@pytest.fixture
def stand(site: StandIn, tmp_path: Path) -> Stand:
    key = tmp_path / "key"
    key.write_text(KEY)
    login = ("owner@example.com", "secret")
    return Stand(RunningServer(site.url, str(key), login, "n8n.log", 1, begun=True))


def serving(stand: Stand, *files: Path) -> serve.Serving:
    session = Session()
    backend, options = resolve_target("n8n", session.registry)
    asked = Deploying(
        tuple(map(str, files)), None, None, Compiling(backend, options, False, False, False),
        DeployOptions(rollback=True),
    )  # fmt: skip
    assert stand.server is not None
    return serve.Serving(session, stand, stand.server, deployer_of(backend), asked)


def test_a_save_deploys_again_and_executions_are_followed(
    site: StandIn,
    stand: Stand,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(serve, "_POLL_SECONDS", 0.02)
    model = tmp_path / "models" / "order.bpmn"
    model.parent.mkdir()
    model.write_text(MODEL)
    lines: list[str] = []

    def until(text: str) -> None:
        deadline = time.monotonic() + 120
        while text not in "\n".join(lines):
            assert time.monotonic() < deadline, (text, lines)
            lines.extend(capsys.readouterr().out.splitlines())
            time.sleep(0.02)

    codes: list[int] = []
    server = serving(stand, model.parent)
    thread = threading.Thread(target=lambda: codes.append(server.run(watch=True)))
    thread.start()
    try:
        until(f"created: Order  {site.url}/webhook/order")
        assert f"editor: {site.url}" in lines
        assert "login: owner@example.com  secret" in lines
        until("is watched")
        (id,) = site.workflows
        stand.done.append(ServerExecution("2", id, "waiting"))
        until("run 2 of Order: waiting")
        stand.done[-1] = ServerExecution("2", id, "success")
        until("run 2 of Order: success")
        assert "run 1 of" not in "\n".join(lines)  # of before, and of another workflow

        lines.clear()
        model.write_text(MODEL.replace("Ship order", "Send order"))
        until("updated: Order")
        lines.clear()
        model.write_text(DEADLOCK)
        until("saved: deploying again")
        lines.clear()
        (tmp_path / "models/other.bpmn").write_text(MODEL.replace("Order", "Claim"))
        until("created: Claim")
    finally:
        stand.server = None
        thread.join(120)
    assert codes == [3]
    until("the server has ended")


def test_several_files_are_watched() -> None:
    assert serve._describe_watched(["a.bpmn"]) == "a.bpmn is"
    assert serve._describe_watched(["a.bpmn", "b.bpmn"]) == "a.bpmn, b.bpmn are"


def test_a_server_that_is_not_installed(tmp_path: Path) -> None:
    model = tmp_path / "order.bpmn"
    model.write_text(MODEL)
    env = {"ORGFLOW_N8N_SERVER": str(tmp_path / "none"), "ORGFLOW_N8N_HOME": str(tmp_path / "n8n")}
    ran = orgflowc("serve", model, env=env)
    assert (ran.code, ran.out) == (2, "")
    assert "the server is not installed (2.9 GB, minutes): --yes installs it" in ran.err
    assert "orgflowc engine install --server" in ran.err
    assert not (tmp_path / "n8n").exists()


def test_what_cannot_be_served(tmp_path: Path) -> None:
    assert "cannot be watched" in orgflowc("serve", "-", "--from", "bpmn").err
    assert "has no server to start" in orgflowc("serve", "x.bpmn", "--target", "asl").err


def test_time_is_reported_while_something_takes_long() -> None:
    said: list[str] = []
    with report_elapsed(said.append, 0.01):
        time.sleep(0.2)
    count = len(said)
    assert count > 1
    assert said[0] == "… 0 s"
    time.sleep(0.05)
    assert len(said) == count
