"""What a process has to be started with is checked where it is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from one_task import HEAD
from orgflow import cli
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest

Json = dict[str, Any]
TARGET = "n8n{payload=checked}"


def flow(id: str, source: str, target: str, condition: str = "", name: str = "") -> str:
    inner = f"<conditionExpression>{condition}</conditionExpression>" if condition else ""
    return (
        f'<sequenceFlow id="{id}" name="{name}" sourceRef="{source}" targetRef="{target}">{inner}'
        "</sequenceFlow>"
    )


MODEL = f"""{HEAD}<startEvent id="s" name="Order">
<messageEventDefinition messageRef="m"/></startEvent>
<scriptTask id="t" name="Add up" scriptFormat="groovy" camunda:resultVariable="sum">
<script>order.net + order.tax</script></scriptTask>
<exclusiveGateway id="g" name="Large?"/>
<scriptTask id="u" name="Greet" scriptFormat="groovy" camunda:resultVariable="x">
<script>"Hi " + who</script></scriptTask>
<endEvent id="e" name="Done"/><endEvent id="n" name="Small"/>
{flow("f0", "s", "t")}{flow("f1", "t", "g")}{flow("f2", "g", "u", "${limit &lt; sum}")}
{flow("f3", "g", "n", "${limit &gt;= sum and !(express == null)}")}{flow("f4", "u", "e")}
</process><message id="m" name="Order"/></definitions>"""
GIVEN: Json = {"order": {"net": 2, "tax": 1}, "limit": 1, "who": "Bo", "express": True}


def compiled(folder: Path, text: str = MODEL, target: str = TARGET) -> Json:
    model, out = folder / "model.bpmn", folder / "out.json"
    model.write_text(text, "utf-8")
    assert cli.run(["compile", str(model), "--target", target, "-o", str(out), "--verify"]) == 0
    assert cli.run(["check", "--strict", str(out)]) == 0
    return json.loads(out.read_text("utf-8"))  # type: ignore[no-any-return]


def asked(workflow: Json) -> str:
    (note,) = [n["notes"] for n in workflow["nodes"] if n["name"] == "Order: complete?"]
    return str(note).partition("\n")[0]


def test_what_a_start_needs_is_said(tmp_path: Path) -> None:
    """`who` is read on one way only, `express` is asked to be null; both may be missing."""
    said = asked(compiled(tmp_path))
    assert "order (an object)" in said
    assert "limit (a number)" in said or "limit" in said
    assert "who (given, if present)" in said
    assert "sum" not in said


ROWS: tuple[tuple[Json, list[str]], ...] = (
    (GIVEN, []),
    ({k: v for k, v in GIVEN.items() if k != "express"}, []),
    ({}, ["“order” is missing", "“limit” is missing"]),
    ({**GIVEN, "order": "A-1"}, ["“order” has to be an object"]),
    ({**GIVEN, "order": [1], "limit": None}, ["“order” has to be an object", "“limit” is missing"]),
)


def test_a_call_that_lacks_something_is_refused(engine: LocalEngine, tmp_path: Path) -> None:
    workflow = compiled(tmp_path)
    requests = [
        RunRequest(workflow, "Order", items=[{"json": {"body": body}}], data=True,
                   stubs={"Order: refused": {"visits": []}, "Order: accepted": {"visits": []}})
        for body, _ in ROWS
    ]  # fmt: skip
    for (body, problems), run in zip(ROWS, engine.run_many(requests), strict=True):
        names = [one.node for one in run.order]
        if problems:
            assert names == ["Order", "Order: complete?", "Order: refused"], body
            assert run.status == "success"
        else:
            assert names[2] == "Order: accepted"
            assert names[-1] == "Done", run.error


def test_answers_of_a_decision_are_the_only_ones(tmp_path: Path) -> None:
    text = f"""{HEAD}<startEvent id="s" name="Order">
<messageEventDefinition messageRef="m"/></startEvent><exclusiveGateway id="g" name="Size?"/>
<endEvent id="e" name="Done"/><endEvent id="n" name="Small"/>
{flow("f0", "s", "g")}{flow("f2", "g", "e", name="Large")}{flow("f3", "g", "n", name="Small")}
</process><message id="m" name="Order"/></definitions>"""
    assert asked(compiled(tmp_path, text)) == "A call must contain size (Large | Small)."


def test_runs_are_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled(tmp_path)
    said = ["run", f"{tmp_path}/model.bpmn", "--target", TARGET, "--all-paths"]
    assert cli.run(said) == 0
    assert "mean F1 1.000" in " ".join(capsys.readouterr().out.split())


def test_nothing_is_added_where_nothing_is_needed(tmp_path: Path) -> None:
    text = f"""{HEAD}<startEvent id="s" name="Order"><messageEventDefinition messageRef="m"/>
</startEvent><endEvent id="e" name="Done"/>{flow("f0", "s", "e")}
</process><message id="m" name="Order"/></definitions>"""
    workflow = compiled(tmp_path, text)
    (hook,) = [n for n in workflow["nodes"] if n["name"] == "Order"]
    assert hook["parameters"]["responseMode"] == "onReceived"
    assert len(workflow["nodes"]) == 3
