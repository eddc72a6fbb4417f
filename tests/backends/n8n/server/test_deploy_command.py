"""`orgflowc deploy` and `run --engine URL` before a stand-in for n8n."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_cases import DEADLOCK, LINEAR, Ran, interruptible
from deploy_faults import Site, assert_whole, hook
from faulty_proxy import Fault
from n8n_stand_in import KEY, StandIn
from orgflow.backends.n8n.server.deploy.apply import DeployTransaction
from orgflow.backends.n8n.server.deploy.deployment_plan import Step
from orgflow.cli import run

MESSAGE_START = LINEAR.replace(
    '<startEvent id="start" name="Order received" />',
    '<startEvent id="start" name="Order received"><messageEventDefinition/></startEvent>',
)


@pytest.fixture
def server() -> Iterator[StandIn]:
    made = StandIn()
    yield made
    made.close()


@pytest.fixture
def site(server: StandIn) -> Iterator[Site]:
    made = Site(server.url, KEY)
    yield made
    made.close()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "order.bpmn"
    path.write_text(MESSAGE_START, encoding="utf-8")
    return path


def orgflowc(*args: str | Path, env: dict[str, str], stdin: str = "") -> Ran:
    """The command line in this process, which saves the start of another one."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", io.StringIO(stdin))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = run([str(arg) for arg in args])
    texts = []
    for stream in (out, err):
        stream.flush()
        buffer = stream.buffer
        assert isinstance(buffer, io.BytesIO)
        texts.append(buffer.getvalue().decode())
    return Ran(code, *texts)


def deploy(url: str, *args: str | Path, key: str = KEY) -> Ran:
    done = orgflowc("deploy", "--url", url, *args, env={"N8N_API_KEY": key})
    assert KEY not in done.out + done.err
    assert "Traceback" not in done.err
    return done


def test_twice_is_one_workflow(server: StandIn, model: Path) -> None:
    first = deploy(server.url, model)
    assert first.code == 0, first.err
    assert first.out.startswith("created")
    assert f"{server.url}/webhook/" in first.out
    again = deploy(server.url, model)
    assert again.out == first.out.replace("created  ", "unchanged")
    assert len(server.workflows) == 1
    for _, headers, body in server.seen:
        assert KEY not in body
        assert KEY not in {v for k, v in headers.items() if k.lower() != "x-n8n-api-key"}


def test_compiled_files_and_json(server: StandIn, model: Path, tmp_path: Path) -> None:
    compiled = tmp_path / "order.json"
    orgflowc("compile", model, "--target", "n8n", "-o", compiled, env={})
    done = deploy(server.url, compiled, "--json")
    (row,) = json.loads(done.out)["workflows"]
    assert (row["action"], row["state"], row["source"]) == ("created", "published", str(compiled))
    # The same model is the same workflow, whichever way it comes.
    (row,) = json.loads(deploy(server.url, model, "--json").out)["workflows"]
    assert row["action"] == "unchanged"


def test_dry_run_changes_nothing(server: StandIn, model: Path) -> None:
    done = deploy(server.url, model, "--dry-run")
    assert done.out == "create     `Order`\n"
    assert server.workflows == {}
    deploy(server.url, model)
    changed = model.with_name("order.bpmn")
    changed.write_text(MESSAGE_START.replace("Ship order", "Send order"), encoding="utf-8")
    before = json.dumps(server.workflows)
    done = deploy(server.url, changed, "--dry-run")
    assert done.code == 0
    assert done.out.startswith("update     `Order` (id server0001)")
    assert "Ship order" in done.out
    assert "Send order" in done.out
    assert json.dumps(server.workflows) == before
    assert not any(call.startswith(("POST", "PUT")) for call in server.calls[-3:])


def test_an_edit_stays(server: StandIn, model: Path) -> None:
    deploy(server.url, model)
    server.edit("server0001", name="Mine")
    assert deploy(server.url, model).code == 0
    assert server.workflows["server0001"]["name"] == "Mine"
    assert deploy(server.url, model).out.startswith("unchanged")
    done = deploy(server.url, model, "--take-over")
    assert done.code == 0
    assert server.workflows["server0001"]["name"] == "Order"


def test_what_a_person_did_is_told_before_it_is_undone(server: StandIn, model: Path) -> None:
    deploy(server.url, model)
    row = server.workflows["server0001"]
    kept = json.loads(json.dumps(row["nodes"]))

    def told(nodes: list[dict[str, object]]) -> str:
        server.edit("server0001", nodes=nodes)
        done = deploy(server.url, model, "--dry-run", "--take-over")
        assert done.out.startswith("update "), done.out
        return " ".join(done.out.split())

    off = [{**one, "disabled": one["name"] == "Ship order"} for one in kept]
    assert "`Ship order` is switched on in the new workflow" in told(off)
    no_map = [one for one in kept if "orgflow-map" not in json.dumps(one)]
    assert "+ the map from the nodes to the model" in told(no_map)
    no_note = [one for one in kept if "orgflow-deploy" not in json.dumps(one)]
    assert "no note of a deployment" in told(no_note)
    moved = [{**one, "position": [one["position"][0] + 5, one["position"][1]]} for one in kept]
    assert "only layout differs" in told(moved)


def test_started_by_hand(server: StandIn, tmp_path: Path) -> None:
    path = tmp_path / "linear.bpmn"
    path.write_text(LINEAR, encoding="utf-8")
    done = deploy(server.url, path)
    assert done.code == 0
    assert "by hand" in done.out
    assert "OF616" in done.err
    assert not server.workflows["server0001"]["active"]


def test_no_publish(server: StandIn, model: Path) -> None:
    assert "draft" in deploy(server.url, model, "--no-publish").out
    assert not server.workflows["server0001"]["active"]
    assert "published" in deploy(server.url, model).out


def test_a_model_with_errors_is_not_sent(server: StandIn, model: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.bpmn"
    bad.write_text(DEADLOCK, encoding="utf-8")
    done = deploy(server.url, model, bad)
    assert done.code == 1
    assert [row["name"] for row in server.workflows.values()] == ["Order"], "it stops no other"
    assert "OF201" in done.err
    assert deploy(server.url, tmp_path / "none.json").code == 2


@pytest.mark.parametrize(
    ("change", "code", "exit_code"),
    [({"key": "n8n_api_other"}, "OF602", 3), ({"url": "http://127.0.0.1:9"}, "OF601", 3)],
)
def test_servers_that_fail(
    server: StandIn, model: Path, change: dict[str, str], code: str, exit_code: int
) -> None:
    done = deploy(change.get("url", server.url), model, "--wait", "0.2", key=change.get("key", KEY))
    assert done.code == exit_code
    assert f"error {code}" in done.err
    assert "n8n_api_other" not in done.err


def test_something_else_than_n8n(site: Site, model: Path) -> None:
    for text in ("<html>hello</html>", '{"hello": 1}'):
        site.proxy.faults = [Fault("GET /api", 200, text, times=-1)]
        done = deploy(site.proxy.url, model)
        assert done.code == 3
        assert "OF603" in done.err
    site.proxy.faults = [Fault("GET /api", 308, "", {"location": "https://x/?k=1"}, times=-1)]
    done = deploy(site.proxy.url, model)
    assert "redirects GET /api/v1/workflows to https://x/ help" in " ".join(
        done.err.split()
    )  # without its query


@pytest.mark.parametrize(("version", "code"), [("1.50.0", "OF604"), ("2.99.0", "OF605")])
def test_versions(model: Path, version: str, code: str) -> None:
    server = StandIn(version)
    try:
        done = deploy(server.url, model)
        assert code in done.err
        assert done.code == (3 if code == "OF604" else 0)
        assert len(server.workflows) == (0 if code == "OF604" else 1)
    finally:
        server.close()


def test_a_model_is_compiled_for_the_version_of_the_server(model: Path) -> None:
    server = StandIn("1.123.81")
    try:
        assert deploy(server.url, model).code == 0
        assert any(call.endswith("/activate") for call in server.calls)
        versions = {row["type"].rpartition(".")[2]: row["typeVersion"]
                    for row in server.workflows["server0001"]["nodes"]}  # fmt: skip
        assert versions["webhook"] == 2.1
        new = hook()
        new["nodes"][1] |= {"type": "n8n-nodes-base.set", "typeVersion": 3.5, "parameters": {}}
        model.with_suffix(".json").write_text(json.dumps(new))
        done = deploy(server.url, model.with_suffix(".json"))
        assert done.code == 1
        assert "OF606" in done.err
    finally:
        server.close()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--url", "nowhere"), "is not the address of a server"),
        (("--url", "http://a:b@x"), "a password in the address"),
        ((), "set N8N_URL"),
    ],
)
def test_misuse(model: Path, args: tuple[str, ...], said: str) -> None:
    done = orgflowc("deploy", model, *args, env={"N8N_API_KEY": KEY})
    assert done.code == 2
    assert said.lower() in done.err.lower()
    done = orgflowc("deploy", model, "--url", "http://x", env={"N8N_API_KEY": ""})
    assert "N8N_API_KEY" in done.err


def test_the_key_from_standard_input(server: StandIn, model: Path) -> None:
    args = ("deploy", model, "--url", server.url, "--key-file", "-")
    done = orgflowc(*args, stdin=KEY + "\n", env={"N8N_API_KEY": ""})
    assert done.code == 0, done.err


def started(site: Site, *files: Path) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "orgflow.cli",
        "deploy",
        "--url",
        site.proxy.url,
        *map(str, files),
    ]
    return subprocess.Popen(
        command, env={**os.environ, "N8N_API_KEY": KEY}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=interruptible,
    )  # fmt: skip


def many(folder: Path, count: int) -> list[Path]:
    files = []
    for index in range(count):
        path = folder / f"{index:02d}.json"
        path.write_text(json.dumps(hook(f"Order {index:02d}", f"order{index}")), encoding="utf-8")
        files.append(path)
    return files


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ended_in_the_middle(site: Site, tmp_path: Path, number: int) -> None:
    """After Ctrl-C or SIGTERM nothing is half there; after SIGKILL the next deploy fixes it."""
    files = many(tmp_path, 12)
    site.proxy.faults = [Fault("POST .*/publish", slow=0.3, times=-1)]
    child = started(site, *files)
    deadline = time.monotonic() + 120
    while len([row for row in site.rows() if row["active"]]) < 2:
        assert time.monotonic() < deadline
        assert child.poll() is None
        time.sleep(0.02)
    child.send_signal(number)
    out, err = child.communicate(timeout=120)
    assert child.returncode == {signal.SIGINT: 130}.get(signal.Signals(number), -number)
    assert KEY.encode() not in out + err
    rows = site.rows()
    assert len(rows) < 12
    if number != signal.SIGKILL:
        assert all(row["active"] for row in rows)
        assert len(out.splitlines()) == len(rows)  # what was done is told
    site.proxy.faults = []
    done = deploy(site.proxy.url, *files)
    assert done.code == 0, done.err
    assert_whole(site, *(f"Order {index:02d}" for index in range(12)))


@pytest.mark.parametrize(("version", "most"), [(None, 4), ("1.123.81", 1)])
def test_how_many_calls_are_made_at_once(
    tmp_path: Path, version: str | None, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """n8n 1 on SQLite mixes up the transactions of calls that come at once."""
    server = StandIn(version)
    running, seen = 0, 0
    lock = threading.Lock()
    place = DeployTransaction.place

    def counted(transaction: DeployTransaction, step: Step) -> None:
        nonlocal running, seen
        with lock:
            running += 1
            seen = max(seen, running)
        time.sleep(0.05)
        place(transaction, step)
        with lock:
            running -= 1

    monkeypatch.setattr(DeployTransaction, "place", counted)
    try:
        assert deploy(server.url, *many(tmp_path, 8)).code == 0
    finally:
        server.close()
    assert seen == most


def test_a_hundred_in_one_command(server: StandIn, tmp_path: Path) -> None:
    done = deploy(server.url, *many(tmp_path, 100))
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == 100
    assert len(server.workflows) == 100
    assert all(row["active"] for row in server.workflows.values())


# -- run ---------------------------------------------------------------------------------------


def test_run_on_a_server_is_as_on_the_local_engine(server: StandIn, model: Path) -> None:
    environment = {"N8N_API_KEY": KEY}
    done = orgflowc("run", model, "--engine", server.url, "--json", env=environment)
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert report["ok"] is True
    assert report["failures"] == []
    assert report["runs"][0]["executed"] == ["Order received", "Ship order", "Order shipped"]
    assert server.workflows == {}, "the copy that was made for the runs is gone"


def test_run_where_the_server_fails(site: Site, model: Path) -> None:
    environment = {"N8N_API_KEY": KEY}
    site.proxy.faults = [Fault("POST /webhook/", 500, times=-1)]
    args = ("run", model, "--engine", site.proxy.url, "--wait", "0.2", "--json")
    done = orgflowc(*args, env=environment)
    assert done.code == 3
    assert "OF618" in done.err
    (failure,) = json.loads(done.out)["failures"]
    assert failure["failure_stage"] == "execution"
    assert failure["failure_source"] == "unknown"
    assert site.rows() == []


def test_run_where_a_webhook_is_late(site: Site, model: Path) -> None:
    site.proxy.faults = [Fault("POST /webhook/", 404, times=2)]
    done = orgflowc("run", model, "--engine", site.proxy.url, env={"N8N_API_KEY": KEY})
    assert done.code == 0, done.err
    assert site.proxy.hit == 2


def test_no_such_engine(model: Path) -> None:
    done = orgflowc("run", model, "--engine", "remote", env={})
    assert done.code == 2
    assert "use local, model, or the URL of a server" in done.err
