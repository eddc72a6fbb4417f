"""The last release of n8n 1: deploy, publish, run and replay, shorter than on the default one."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import user_models
from asked_people import SERVICES, ask_by_mail, ask_by_message, local_services
from cli_cases import orgflowc
from clicked_forms import begun, click_through
from deploy_faults import (
    Site,
    answer_of_create_lost,
    assert_whole,
    chain,
    edited_since,
    half_of_several_created,
    hook,
    ok,
    path_taken_at_update,
)
from editor_browser import browser
from ended_commands import MOMENTS, Moment, ended_in_the_middle
from engine_fixture import missing
from fixed_hosts import FixedHosts
from matrix_models import ONLY_ROWS, cases, cells, only_inside
from orgflow.backends.n8n.catalogue.node_catalogue import read_catalogue
from orgflow.backends.n8n.format.versions import V1_123
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.install import N8N_VERSION, OLDER_VERSION, server_status
from orgflow.backends.n8n.server.process import N8nServer, Owner
from orgflow.backends.n8n.server.server_catalogue import server_catalogue
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model
from user_runs import TwoPassRunner, UserRun, executions_of, play, submit

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets import Emitted

ROOT = Path(__file__).resolve().parents[2]
ROWS_ALONE = {"parallel-approval"}
"""Examples that n8n 1 does not have."""
EXAMPLES = sorted(
    path for path in (ROOT / "examples").glob("*/model.bpmn") if path.parent.name not in ROWS_ALONE
)
REPLAYED = ("leave-request", "insurance-claim", "invoice-approval")


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FixedHosts]:
    proxy = local_services(tmp_path_factory.mktemp("hosts"))
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def editor(owner: Owner, services: FixedHosts) -> Iterator[WorkflowClient]:
    """A client of a fresh n8n 1, logged in."""
    found = server_status(OLDER_VERSION)
    if found.files is None:
        missing(f"n8n {OLDER_VERSION} is not installed: {found.problem}")
    with (
        N8nServer(files=found.files, settings=services.settings) as server,
        WorkflowClient(server.url, version=V1_123) as client,
    ):
        client.set_up_owner(owner.email, owner.password)
        yield client


@pytest.fixture(scope="module")
def older(editor: WorkflowClient) -> tuple[str, str]:
    """Address and key of a fresh n8n 1."""
    return editor.url, editor.key


@pytest.fixture
def site(older: tuple[str, str]) -> Iterator[Site]:
    made = Site(*older)
    version = made.direct.version_text()
    assert version == OLDER_VERSION
    made.older()
    yield made
    made.close()


def test_deploys(site: Site) -> None:
    results, codes = site.deploy(*chain(), hook())
    assert ok(results), codes
    assert_whole(site, "Callee", "Caller", "Order")
    again, _ = site.deploy(*chain(), hook())
    assert {one.action for result in again for one in result.placed} == {"unchanged"}
    assert site.direct.call("/webhook/order", {})["status"] == 200


@pytest.mark.parametrize(
    "scenario",
    [answer_of_create_lost, edited_since, half_of_several_created, path_taken_at_update],
)
def test_fault(site: Site, scenario: object) -> None:
    assert callable(scenario)
    scenario(site)


@pytest.mark.parametrize("moment", [MOMENTS[1], MOMENTS[4]], ids=lambda moment: moment.name)
def test_killed_in_the_middle(site: Site, moment: Moment, tmp_path: Path) -> None:
    ended_in_the_middle(site, moment, signal.SIGKILL, tmp_path)


def test_examples_by_the_command(older: tuple[str, str], site: Site) -> None:
    url, key = older
    files = [str(path) for path in EXAMPLES]
    done = orgflowc("deploy", *files, "--url", url, env={"N8N_API_KEY": key})
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == len(EXAMPLES)
    done = orgflowc("deploy", *files, "--url", url, "--dry-run", env={"N8N_API_KEY": key})
    assert done.out.count("unchanged") == len(EXAMPLES), done.out
    assert "OF605" not in done.err


@pytest.mark.parametrize("name", REPLAYED)
def test_examples_run_as_the_model_says(older: tuple[str, str], site: Site, name: str) -> None:
    url, key = older
    model = ROOT / "examples" / name / "model.bpmn"
    done = orgflowc("run", model, "--engine", url, "--all-paths", env={"N8N_API_KEY": key})
    assert done.code == 0, done.out + done.err
    assert "mean F1 1.000" in done.out
    assert site.rows() == []


def test_every_construct_that_runs(
    editor: WorkflowClient, site: Site, registry: Registry, tmp_path: Path
) -> None:
    """The runs of each construct, as users start and answer them, are those of its model."""
    table = cells(registry, "n8n")
    runner = TwoPassRunner()
    made: dict[str, Emitted] = {}
    names: list[str] = []
    models = {
        name: model
        for name, model in cases().items()
        if table[name] != "Refused" and not only_inside(name) and name not in ONLY_ROWS
    }
    for name, model in models.items():
        emitted = compile_model(
            model,
            registry.backends["n8n"],
            PassContext(registry=registry),
            options={"version": "1.123", "trigger": "form"},
            allow_lossy=table[name] == "Degraded",
        )
        assert emitted is not None, name
        made[name] = emitted
        before = len(runner.requests)
        replay_model(model, emitted, runner, PassContext(), max_runs=8)
        names += [f"{name} {number}" for number in range(len(runner.requests) - before)]
    runs = [UserRun(one, name) for one, name in zip(runner.requests, names, strict=True)]
    for number, run in enumerate(runs):
        for part, workflow in enumerate(run.workflows.values()):
            file = tmp_path / f"{number:03}-{part}.json"
            file.write_text(json.dumps(workflow), "utf-8")
    done = orgflowc(
        "deploy", *sorted(tmp_path.glob("*.json")), "--url", editor.url,
        env={"N8N_API_KEY": editor.key},
    )  # fmt: skip
    assert done.code == 0, done.err
    ids = {row["name"]: str(row["id"]) for row in site.rows()}
    for run in runs:
        run.deployed(ids)
    results = play(runs, editor)
    late = [run.name for run, result in zip(runs, results, strict=True) if result is None]
    assert late == []
    runner.results = [result for result in results if result is not None]
    wrong: list[str] = []
    for name, model in models.items():
        report = replay_model(model, made[name], runner, PassContext(), max_runs=8)
        main = report.runs[0].process
        for run in (one for one in report.runs if one.process == main):
            lossy = table[name] == "Degraded" and run.status == "success"
            expected = "stub" if name == "stub" else run.verdict if lossy else "equal"
            if run.verdict not in (expected, "unplayable"):
                wrong.append(f"{name}: {run.verdict} {run.divergence}")
    assert wrong == []
    assert len(models) > 60


@pytest.fixture
def user(editor: WorkflowClient, site: Site, monkeypatch: pytest.MonkeyPatch) -> WorkflowClient:
    """The environment of a user of the server, which is empty."""
    assert site.rows() == []
    monkeypatch.setenv("N8N_API_KEY", editor.key)
    monkeypatch.setenv("N8N_URL", editor.url)
    return editor


@pytest.fixture(scope="module")
def pages() -> Iterator[Any]:
    """A browser in which nobody is logged in."""
    with browser() as context:
        yield context


def test_models_with_data_do_what_they_say(user: WorkflowClient, tmp_path: Path) -> None:
    """Scripts, listeners, decisions, lists, calls with errors, signals, scopes and times."""
    done = orgflowc("deploy", *user_models.write(tmp_path))
    assert done.code == 0, done.err
    assert user_models.differences(user, user_models.MODELS, 60) == []


CYCLE = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
<process id="p" name="Again and again" isExecutable="true">
<startEvent id="s"><timerEventDefinition><timeCycle>R/PT2S</timeCycle></timerEventDefinition>
</startEvent><task id="t" name="Look"/><endEvent id="e"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/><sequenceFlow id="f1" sourceRef="t"
targetRef="e"/></process></definitions>"""


def test_a_cycle_starts_runs(user: WorkflowClient, tmp_path: Path) -> None:
    model = tmp_path / "cycle.bpmn"
    model.write_text(CYCLE, "utf-8")
    assert orgflowc("deploy", model).code == 0
    (row,) = [one for one in user.listed() if one["name"] == "Again and again"]
    deadline, done = time.monotonic() + 120, []
    while len(done) < 3 and time.monotonic() < deadline:
        time.sleep(0.5)
        done = [one for one in executions_of(user) if one["workflowId"] == row["id"]]
    assert [one["status"] for one in done[-2:]] == ["success", "success"]
    assert orgflowc("undeploy", model).code == 0


GUARDED = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
<message id="m" name="Order"/><process id="p" name="Guarded" isExecutable="true">
<startEvent id="s" name="Order"><messageEventDefinition messageRef="m"/></startEvent>
<receiveTask id="r" name="Payment"/><userTask id="t" name="Look"/><endEvent id="e" name="Done"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="r"/><sequenceFlow id="f1" sourceRef="r"
targetRef="t"/><sequenceFlow id="f2" sourceRef="t" targetRef="e"/></process></definitions>"""


def test_callers_have_to_identify_themselves(user: WorkflowClient, tmp_path: Path) -> None:
    """Addresses of waiting runs are not signed: with the option, nobody else gets in there."""
    secret, who = {"X-Secret": "open sesame"}, ("kim", "pass")
    given = [
        {"name": "Caller", "type": "httpHeaderAuth",
         "data": {"name": "X-Secret", "value": "open sesame"}},
        {"name": "Person", "type": "httpBasicAuth", "data": {"user": "kim", "password": "pass"}},
    ]  # fmt: skip
    model, file = tmp_path / "guarded.bpmn", tmp_path / "credentials.json"
    model.write_text(GUARDED, "utf-8")
    file.write_text(json.dumps(given), "utf-8")
    target = ("--target", "n8n{auth=header}")
    done = orgflowc("deploy", model, *target, "--credentials", file)
    assert done.code == 0, done.err
    (row,) = user.listed()
    hook = f"{user.url}/webhook/guarded-order"
    assert httpx.post(hook, json={}).status_code == 403
    assert httpx.post(hook, json={}, headers=secret).status_code == 200
    execution = begun(user, str(row["id"]))
    for node, place in (
        ("Payment", f"{user.url}/webhook-waiting/{execution}/payment"),
        ("Look", f"{user.url}/form-waiting/{execution}"),
    ):
        waiting = user.wait_for(execution, 120, states=("waiting",))
        assert waiting["data"]["resultData"]["lastNodeExecuted"] == node
        assert httpx.post(place, files={"": (None, "")}).status_code in (401, 403)
        if node == "Look":
            submit(place, (), {}, who)
        else:
            assert httpx.post(place, json={}, headers=secret).status_code == 200
    assert user.wait_for(execution, 120)["status"] == "success"
    assert orgflowc("undeploy", model, *target).code == 0


def test_a_plain_start_is_clicked_through(user: WorkflowClient, pages: Any, tmp_path: Path) -> None:
    click_through(user, pages, "purchase-requisition", tmp_path, "n8n{version=1.123}")


def test_people_are_asked_by_mail(user: WorkflowClient, pages: Any, tmp_path: Path) -> None:
    ask_by_mail(user, pages, tmp_path)


@pytest.mark.parametrize("by", SERVICES)
def test_people_are_asked_by_a_message(
    user: WorkflowClient, services: FixedHosts, pages: Any, tmp_path: Path, by: str
) -> None:
    ask_by_message(user, services, pages, tmp_path, by)


def test_the_catalogue_is_that_of_its_package(
    older: tuple[str, str], server_url: str, owner: Owner, client: Client, tmp_path: Path
) -> None:
    """Operations and schemas that servers of both versions give are those of what is installed."""
    login = {"N8N_EMAIL": owner.email, "N8N_PASSWORD": owner.password}
    assert client.key  # the owner is set up
    for url, version in ((older[0], OLDER_VERSION), (server_url, N8N_VERSION)):
        given = server_catalogue(url, login, tmp_path)
        assert given.name == f"n8n {version} at {url}"
        installed = read_catalogue(server_status(version).path)
        assert given.operations == installed.operations
        assert len(given.operations) > 3_000
        for operation in given.operations[::20]:
            assert given.schema(operation, {}) == installed.schema(operation, {})
    older_ids = {o.id for o in server_catalogue(older[0], {}, tmp_path).operations}
    assert older_ids != {o.id for o in given.operations}
