"""Messages to somebody whom the model does not have: a request to an address that is set once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import missing
from one_task import HEAD
from orgflow import cli
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.backends.n8n.engine.local import LocalEngine
from outside_servers import HttpServer, outside

Json = dict[str, Any]


def flow(id: str, source: str, target: str, condition: str = "") -> str:
    inner = f"<conditionExpression>{condition}</conditionExpression>" if condition else ""
    return (
        f'<sequenceFlow id="{id}" sourceRef="{source}" targetRef="{target}">{inner}</sequenceFlow>'
    )


MODEL = f"""{HEAD}<startEvent id="s"/>
<sendTask id="t" name="Send invoice" messageRef="m"/>
<intermediateThrowEvent id="i" name="Told {{{{ 1 }}}}"><messageEventDefinition/>
</intermediateThrowEvent><exclusiveGateway id="g"/>
<endEvent id="e" name="Invoice again"><messageEventDefinition messageRef="m"/></endEvent>
<endEvent id="n" name="Done"/>
{flow("f0", "s", "t")}{flow("f1", "t", "i")}{flow("f2", "i", "g")}
{flow("f3", "g", "e", "${sum &gt; 5}")}{flow("f4", "g", "n", "${sum &lt;= 5}")}
</process><message id="m" name="Invoice"/></definitions>"""


@pytest.fixture(scope="module")
def http() -> Iterator[HttpServer]:
    with outside() as (found, _):
        yield found


@pytest.fixture(scope="module")
def engine(http: HttpServer) -> Iterator[LocalEngine]:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    with LocalEngine(reach=(http.place,)) as running:
        yield running


def compiled(folder: Path, target: str) -> Json:
    model, out = folder / "model.bpmn", folder / "out.json"
    model.write_text(MODEL, "utf-8")
    report = ["--report", f"{folder}/report.md"]
    said = ["compile", str(model), "--target", target, "-o", str(out), "--verify", *report]
    assert cli.run(said) == 0
    return json.loads(out.read_text("utf-8"))  # type: ignore[no-any-return]


def test_they_are_placeholders_unless_asked_for(tmp_path: Path) -> None:
    kinds = {n["type"].rpartition(".")[2] for n in compiled(tmp_path, "n8n")["nodes"]}
    assert "httpRequest" not in kinds


def test_they_are_sent(engine: LocalEngine, http: HttpServer, tmp_path: Path) -> None:
    """Process variables are what they were before: what comes back sets none."""
    http.answer("/bus/invoice", (200, "application/json", '{"sum": 1, "body": 2}'))
    workflow = compiled(tmp_path, f"n8n{{messages=http://{http.place}/bus/}}")
    run = engine.run(workflow, "Start", items=[{"json": {"sum": 7, "who": "Bo"}}], data=True)
    assert run.status == "success", run.error
    assert [one.path for one in http.received] == ["/bus/invoice", "/bus/told-1", "/bus/invoice"]
    first, told, last = (json.loads(one.body) for one in http.received)
    assert first == {"message": "Invoice", "data": {"sum": 7, "who": "Bo"}}
    assert told["message"] == "Told {{ 1 }}"
    assert (last["message"], last["data"]["sum"]) == ("Invoice", 7)
    keys = {one.headers["idempotency-key"] for one in http.received}
    assert len(keys) == 3


def test_an_address_is_left_to_set_once_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workflow = compiled(tmp_path, "n8n{messages=request}")
    urls = [n["parameters"]["url"] for n in workflow["nodes"] if "url" in n["parameters"]]
    assert sorted(urls) == [
        "https://address-to-set.invalid/invoice",
        "https://address-to-set.invalid/invoice",
        "https://address-to-set.invalid/told-1",
    ]
    said = (tmp_path / "report.md").read_text("utf-8")
    assert said.count("the address for the message `Invoice`") == 1
    assert said.count("the address for the message") == 2
    assert cli.run(["run", f"{tmp_path}/model.bpmn", "--target", "n8n{messages=request}"]) == 0
    assert "mean F1 1.000" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("text", ["bus.example", "ftp://a.example", "http://", "https:// a"])
def test_what_is_no_address(text: str, tmp_path: Path) -> None:
    (tmp_path / "model.bpmn").write_text(MODEL, "utf-8")
    said = ["compile", f"{tmp_path}/model.bpmn", "--target", f"n8n{{messages={text}}}"]
    assert cli.run(said) == 2
