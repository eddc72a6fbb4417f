"""Work that a model only names: one workflow a name, called wherever it is used, filled once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from n8n_stand_in import KEY, StandIn
from orgflow import cli
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest

Json = dict[str, Any]

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d">'
    '<process id="p" name="Pay" isExecutable="true">'
)
CHARGE = (
    '<serviceTask id="t" name="Charge card" camunda:type="external" camunda:topic="charge">'
    "<extensionElements><camunda:inputOutput>"
    '<camunda:inputParameter name="amount">${total}</camunda:inputParameter>'
    '<camunda:outputParameter name="paid">${ok}</camunda:outputParameter>'
    "</camunda:inputOutput></extensionElements></serviceTask>"
)


def flow(id: str, source: str, target: str, condition: str = "") -> str:
    inner = f"<conditionExpression>{condition}</conditionExpression>" if condition else ""
    return (
        f'<sequenceFlow id="{id}" sourceRef="{source}" targetRef="{target}">{inner}</sequenceFlow>'
    )


MODEL = f"""{HEAD}<startEvent id="s"/>{CHARGE}<exclusiveGateway id="g" name="Paid?"/>
<serviceTask id="u" name="Charge fee" camunda:type="external" camunda:topic="charge"/>
<serviceTask id="w" name="Ship it" camunda:class="org.acme.Ship"/>
<scriptTask id="x" name="Count" scriptFormat="groovy"><script>for (i in 1..3) {{ a = i }}</script>
</scriptTask><exclusiveGateway id="h" name="Sent?"/>
<endEvent id="e" name="Done"/><endEvent id="n" name="Not sent"/>
{flow("f0", "s", "t")}{flow("f1", "t", "g")}{flow("f2", "g", "u", "${paid}")}
{flow("f3", "g", "w", "${!paid}")}{flow("f4", "u", "w")}{flow("f5", "w", "x")}{flow("f6", "x", "h")}
{flow("f7", "h", "e", "${sent == 'yes'}")}{flow("f8", "h", "n", "${sent != 'yes'}")}
</process></definitions>"""
TARGET = "n8n{stubs=workflow}"
PATHS = {
    "pay.json": "Pay",
    "pay-charge-topic.json": "Pay: charge (topic)",
    "pay-org-acme-ship-class.json": "Pay: org.acme.Ship (class)",
    "pay-count-script.json": "Pay: Count (script)",
}


def compiled(folder: Path) -> dict[str, Json]:
    """The workflows of the model, by their titles; proved to do what it says."""
    model = folder / "model.bpmn"
    model.write_text(MODEL, "utf-8")
    out = folder / "out"
    said = ["compile", str(model), "--target", TARGET, "-o", f"{out}/", "--verify"]
    assert cli.run(said) == 0
    assert {path.name for path in out.glob("*.json")} == set(PATHS)
    return {title: json.loads((out / name).read_text("utf-8")) for name, title in PATHS.items()}


def node(workflow: Json, name: str) -> Json:
    return next(one for one in workflow["nodes"] if one["name"] == name)  # type: ignore[no-any-return]


def contract(workflow: Json) -> str:
    (note,) = [n for n in workflow["nodes"] if n["name"] == "About this workflow"]
    return str(note["parameters"]["content"]).replace("\\", "")


def test_one_workflow_for_all_that_name_the_same(tmp_path: Path) -> None:
    found = compiled(tmp_path)
    calls = {
        name: node(found["Pay"], name)["parameters"]["workflowId"]["value"]
        for name in ("Charge card", "Charge fee", "Ship it", "Count")
    }
    assert calls["Charge card"] == calls["Charge fee"] == found["Pay: charge (topic)"]["id"]
    assert calls["Ship it"] == found["Pay: org.acme.Ship (class)"]["id"]
    assert calls["Count"] == found["Pay: Count (script)"]["id"]
    assert not [n for n in found["Pay"]["nodes"] if "Placeholder" in n.get("notes", "")]
    said = contract(found["Pay: charge (topic)"])
    assert "Called by “Charge card”\ninput amount = ${total}" in said
    assert "Called by “Charge fee”" in said
    assert "ok: the output mapping of “Charge card”" in said
    assert "sent: “Sent?” reads it" in contract(found["Pay: org.acme.Ship (class)"])
    assert "for (i in 1..3) { a = i }" in contract(found["Pay: Count (script)"])


def test_what_is_to_be_implemented_is_listed_beside_the_workflows(tmp_path: Path) -> None:
    compiled(tmp_path)
    said = (tmp_path / "out/pay-work-to-implement.md").read_text("utf-8")
    assert said.count("\n## ") == 3
    assert "In `pay-charge-topic.json`, replace the placeholder" in said
    assert "    Called by “Charge card”\n    input amount = ${total}\n" in said


def test_what_fills_a_workflow_is_done_for_every_caller(
    engine: LocalEngine, tmp_path: Path
) -> None:
    """The same code for both callers: it gets what the mapping of the first gives it, and all else
    that is known; what it hands on is mapped, and read by the gateways."""
    found = compiled(tmp_path)
    code = "const d = $json; return [{ json: { ok: d.amount > 5, seen: d.amount ?? d.total } }];"
    fill(found["Pay: charge (topic)"], "charge", code)
    fill(
        found["Pay: org.acme.Ship (class)"], "org.acme.Ship", "return [{ json: { sent: 'yes' } }];"
    )
    whole = found.pop("Pay")
    called = {one["id"]: one for one in found.values()}
    rows = ((7, True, "Done"), (3, False, "Done"))
    runs = engine.run_many(
        RunRequest(whole, "Start", items=[{"json": {"total": total}}], workflows=called, data=True)
        for total, *_ in rows
    )
    for (_, fee, end), run in zip(rows, runs, strict=True):
        assert run.status == "success", run.error
        assert run.order[-1].node == end
        assert ("Charge fee" in [one.node for one in run.order]) is fee


def fill(workflow: Json, name: str, code: str) -> None:
    node(workflow, name).update(
        type="n8n-nodes-base.code", typeVersion=2, parameters={"jsCode": code}
    )


def test_runs_are_played_with_scripted_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.bpmn"
    model.write_text(MODEL, "utf-8")
    assert cli.run(["run", str(model), "--target", TARGET, "--all-paths"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "runs conform to the model, mean F1 1.000" in said
    assert ("scripted values replace the workflow that `Charge card` calls") in said


def test_deploy_keeps_what_somebody_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = StandIn()
    try:
        monkeypatch.setenv("N8N_API_KEY", KEY)
        model = tmp_path / "model.bpmn"
        model.write_text(MODEL, "utf-8")
        deploy = ["deploy", "--url", server.url, "--target", TARGET, str(model)]
        assert cli.run(deploy) == 0, capsys.readouterr().err
        rows = {row["name"]: row for row in server.workflows.values()}
        assert set(rows) == set(PATHS.values())
        charge = rows["Pay: charge (topic)"]
        nodes = json.loads(json.dumps(charge["nodes"]))
        body = {"parameters": {"url": "https://pay.example"}, "typeVersion": 4.2}
        node({"nodes": nodes}, "charge").update(type="n8n-nodes-base.httpRequest", **body)
        server.edit(charge["id"], nodes=nodes)
        model.write_text(MODEL.replace("Charge fee", "Charge the fee"), "utf-8")
        assert cli.run(deploy) == 0, capsys.readouterr().err
        now = server.workflows[charge["id"]]
        assert node(now, "charge")["parameters"] == body["parameters"]
        assert "“Charge the fee”" in contract(now)
        assert len(server.workflows) == len(PATHS)
    finally:
        server.close()
