"""`orgflowc verify` and `compile --verify`: exit codes, what is printed, bad input."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import verify_edits as edits
from cli_cases import DEADLOCK, LINEAR, Ran
from orgflow import cli

ROOT = Path(__file__).resolve().parents[4]
LEAVE = ROOT / "examples" / "leave-request" / "model.bpmn"
SCHEMA = ROOT / "orgflow_ir" / "schema" / "verification.schema.json"
Invoke = Callable[..., Ran]


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Run a command line in this process."""

    def call(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def workflow(invoke: Invoke, tmp_path: Path) -> Path:
    path = tmp_path / "leave.json"
    assert invoke("compile", LEAVE, "--target", "n8n", "-o", path).code == 0
    return path


def changed(path: Path, edit: Callable[[dict[str, Any]], dict[str, Any]]) -> Path:
    path.write_text(json.dumps(edit(json.loads(path.read_text()))))
    return path


def test_proved(invoke: Invoke, workflow: Path) -> None:
    ran = invoke("verify", LEAVE, workflow)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "proved: the workflow `Leave request` behaves like the process `Leave request`;\n"
        "  all 21 states were compared\n"
        "  17 nodes found: 11 by the map, 6 by their notes\n"
    )


def test_different_shows_both_runs(invoke: Invoke, workflow: Path) -> None:
    path = changed(workflow, lambda w: edits.without(w, "Send rejection"))
    ran = invoke("verify", LEAVE, path)
    assert ran.code == 1
    assert "> Send rejection                        Request rejected" in ran.out
    assert "  Request approved? → No                Request approved? → No" in ran.out
    assert "  not there: `Send rejection`" in ran.out
    assert all(len(line) <= 80 for line in ran.out.splitlines())


def test_findings_as_diagnostics(invoke: Invoke, workflow: Path) -> None:
    """OF480 with its run, OF482; in JSON and SARIF, where no report says them."""
    path = changed(workflow, lambda w: edits.inserted(w, "Confirm leave"))
    changed(path, lambda w: edits.without(w, "Send rejection"))
    ran = invoke("verify", LEAVE, path, "--format", "json")
    found = json.loads(ran.out)["diagnostics"]
    assert {d["code"] for d in found} == {"OF480", "OF482"}
    assert next(d for d in found if d["code"] == "OF480")["trace"]


def test_changed_expressions_are_an_error(invoke: Invoke, workflow: Path) -> None:
    path = changed(
        workflow,
        lambda w: json.loads(json.dumps(w).replace('"rightValue": "Yes"', '"rightValue": "Ja"')),
    )
    ran = invoke("verify", LEAVE, path, "--format", "json")
    assert (ran.code, json.loads(ran.out)["diagnostics"][0]["code"]) == (1, "OF480")
    other = '{"type": "string", "operation": "contains"}'
    changed(path, lambda w: json.loads(json.dumps(w).replace('"Ja"', '"Yes"')))
    before = '{"type": "string", "operation": "equals"}'
    changed(path, lambda w: json.loads(json.dumps(w).replace(before, other)))
    ran = invoke("verify", LEAVE, path, "--format", "json")
    assert (ran.code, json.loads(ran.out)["diagnostics"][0]["code"]) == (1, "OF481")
    assert json.loads(ran.out)["results"][0]["verdict"] == "changed"
    assert "changed: `Request approved?`" in invoke("verify", LEAVE, path).out
    assert invoke("verify", LEAVE, path, "--strict").code == 1


def test_legacy_order_is_an_error(invoke: Invoke, workflow: Path) -> None:
    path = changed(workflow, lambda w: {**w, "settings": {}})
    ran = invoke("verify", LEAVE, path)
    assert ran.code == 1
    assert "OF486" in ran.err
    assert "does not use the execution order v1" in ran.err


def test_json_keeps_its_schema(invoke: Invoke, workflow: Path) -> None:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    ran = invoke("verify", LEAVE, workflow, "--json")
    jsonschema.validate(json.loads(ran.out), schema)
    (result,) = json.loads(ran.out)["results"]
    assert (result["process"], result["verdict"]) == ("leave_request", "proved")
    assert {"node": "Leave needed", "element": "leave_needed", "how": "map"} in result["matched"]
    changed(workflow, lambda w: edits.without(w, "Send rejection"))
    ran = invoke("verify", LEAVE, workflow, "--json")
    jsonschema.validate(json.loads(ran.out), schema)
    assert json.loads(ran.out)["results"][0]["difference"]["steps"]


def test_json_carries_the_whole_result(invoke: Invoke, workflow: Path, tmp_path: Path) -> None:
    """`--format json` is one document on standard output: verdicts, counterexample, findings."""
    schema = json.loads(SCHEMA.read_text("utf-8"))

    def told(*args: str | Path, code: int) -> dict[str, Any]:
        ran = invoke("verify", *args, "--format", "json")
        assert (ran.code, ran.err) == (code, "")
        jsonschema.validate(json.loads(ran.out), schema)
        found: dict[str, Any] = json.loads(ran.out)
        return found

    assert told(LEAVE, workflow, code=0)["ok"] is True
    changed(workflow, lambda w: edits.without(w, "Send rejection"))
    different = told(LEAVE, workflow, code=1)
    (result,) = different["results"]
    assert (different["ok"], result["verdict"], result["label"]) == (
        False, "different", "Leave request",
    )  # fmt: skip
    assert result["difference"]["lines"]
    assert different["summary"]["error"] == 1
    nothing = told(tmp_path / "none.bpmn", workflow, code=2)
    assert (nothing["ok"], nothing["results"]) == (False, [])
    assert [d["code"] for d in nothing["diagnostics"]] == ["OF002"]


def test_standing_still_is_told(invoke: Invoke, tmp_path: Path) -> None:
    """OF484: a timer beside other work."""
    model = tmp_path / "beside.bpmn"
    model.write_text(
        LINEAR.replace(
            '<task id="ship" name="Ship order" />',
            '<parallelGateway id="fork" /><task id="ship" name="Ship order" />'
            '<intermediateCatchEvent id="late" name="Two days"><timerEventDefinition>'
            "<timeDuration>P2D</timeDuration></timerEventDefinition></intermediateCatchEvent>"
            '<parallelGateway id="join" />',
        ).replace(
            '<sequenceFlow id="f1" sourceRef="start" targetRef="ship" />\n'
            '    <sequenceFlow id="f2" sourceRef="ship" targetRef="end" />',
            '<sequenceFlow id="f0" sourceRef="start" targetRef="fork" />'
            '<sequenceFlow id="f1" sourceRef="fork" targetRef="late" />'
            '<sequenceFlow id="f2" sourceRef="fork" targetRef="ship" />'
            '<sequenceFlow id="f3" sourceRef="late" targetRef="join" />'
            '<sequenceFlow id="f4" sourceRef="ship" targetRef="join" />'
            '<sequenceFlow id="f5" sourceRef="join" targetRef="end" />',
        )
    )
    path = tmp_path / "w.json"
    assert invoke("compile", model, "--target", "n8n", "-o", path).code == 0
    ran = invoke("verify", model, path)
    assert ran.code == 0
    assert "n8n takes turns: while `Two days` waits, `Ship order` is paused" in ran.out
    assert invoke("verify", model, path, "--strict").code == 1
    codes = json.loads(invoke("verify", model, path, "--format", "json").out)["diagnostics"]
    assert [d["code"] for d in codes] == ["OF484"]


def test_unfinished(invoke: Invoke, workflow: Path) -> None:
    """OF483: a choice that no node decides is followed, but not proved."""

    def by_hand(made: dict[str, Any]) -> dict[str, Any]:
        bare = edits.imported(edits.stripped(made))
        rules = edits.node(bare, "Request approved?")["parameters"]["rules"]["values"]
        for number, rule in enumerate(rules):
            rule["outputKey"] = f"way {number}"
            rule["conditions"]["conditions"][0]["leftValue"] = "={{ $json.way }}"
        return edits.inserted(edits.inserted(bare, "Send rejection", name="a"), "Confirm leave")

    edited = changed(workflow, by_hand)
    told = json.loads(invoke("verify", LEAVE, edited, "--format", "json").out)
    assert [d["code"] for d in told["diagnostics"]][:1] == ["OF483"]
    ran = invoke("verify", LEAVE, edited)
    assert ran.out.startswith("bounded: no difference between the workflow")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[]", ""),
        ('{"a": 1}', ""),
        ('{"nodes": 7, "connections": []}', "corresponds to the start"),
        (
            '{"nodes": [{"name": "a"}, {"name": "a"}, 3], "connections": {"b": 1}}',
            "corresponds to the start",
        ),
    ],
)
def test_bad_workflows(invoke: Invoke, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "w.json"
    path.write_text(text)
    ran = invoke("verify", LEAVE, path)
    assert ran.code == 1
    assert said in " ".join((ran.out + ran.err).split())
    assert "Traceback" not in ran.err


def test_misuse(invoke: Invoke, workflow: Path, tmp_path: Path) -> None:
    assert invoke("verify", LEAVE, tmp_path / "none.json").code == 2
    assert invoke("verify", LEAVE).code == 2
    assert invoke("verify", "-", "-").code == 2
    ran = invoke("verify", LEAVE, workflow, "--target", "ir")
    assert (ran.code, "does not support verification" in ran.err) == (2, True)


def test_a_model_that_n8n_cannot_say(invoke: Invoke, workflow: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.bpmn"
    model.write_text(LINEAR.replace('<task id="ship" name="Ship order" />',
                                    '<callActivity id="ship" name="Ship order" />'))  # fmt: skip
    ran = invoke("verify", model, workflow)
    assert (ran.code, "OF403" in ran.err) == (1, True)


def test_the_other_process_has_no_workflow(invoke: Invoke, workflow: Path, tmp_path: Path) -> None:
    """OF485."""
    text = LEAVE.read_text()
    start = text.index("<bpmn:process")
    second = (
        '<bpmn:process id="other" name="Other" isExecutable="true"><bpmn:startEvent id="o1"/>'
        '<bpmn:task id="o2" name="Wait"/><bpmn:sequenceFlow id="of1" sourceRef="o1" '
        'targetRef="o2"/></bpmn:process>'
    )
    model = tmp_path / "two.bpmn"
    model.write_text(text[:start] + second + text[start:])
    ran = invoke("verify", model, workflow)
    assert ran.code == 1
    assert "OF485" in ran.err
    assert "behaves like the process `Leave request`" in " ".join(ran.out.split())
    assert invoke("verify", model, workflow, "--process", "leave_request").code == 0


def test_every_workflow_of_a_file_counts(invoke: Invoke, workflow: Path) -> None:
    """A wrong copy beside a right one, and OF487: one of another model."""
    good = json.loads(workflow.read_text())
    wrong = edits.swapped(good, "Request approved?")
    for order in ([good, wrong], [wrong, good]):
        workflow.write_text(json.dumps(order))
        ran = invoke("verify", LEAVE, workflow)
        assert ran.code == 1
        assert "proved: the workflow" in ran.out
        assert "different: the workflow" in ran.out
    workflow.write_text(json.dumps([good, {**edits.stripped(good), "name": "Stranger"}]))
    ran = invoke("verify", LEAVE, workflow)
    assert ran.code == 0
    assert "OF487" in ran.err
    assert "`Stranger`" in ran.err


def test_compile_verifies(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    ran = invoke("compile", LEAVE, "--target", "n8n", "--verify", "-o", path)
    assert ran.code == 0
    assert "verified `Leave request`: proved, 21 states" in ran.err
    assert path.exists()


def test_compile_writes_nothing_that_differs(invoke: Invoke, tmp_path: Path) -> None:
    """Work done twice: n8n's Merge loses what the model keeps."""
    from orgflow.compilation.reading import load_model
    from random_processes import process

    from orgflow_ir.model import Model
    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.plugins import Registry

    registry = Registry(outside=False)
    model = Model(id="m", processes=(process(107),))
    (artifact,) = registry.backends["ir"].emit(model, PassContext(registry=registry)).artifacts
    source, path = tmp_path / "m.json", tmp_path / "w.json"
    source.write_text(artifact.text)
    assert load_model(str(source), registry, PassContext(registry=registry)) is not None
    assert invoke("compile", source, "--target", "n8n", "-o", path).code == 0
    path.unlink()
    ran = invoke("compile", source, "--target", "n8n", "--verify", "-o", path)
    assert ran.code == 1
    assert "OF480" in ran.err
    assert not path.exists()


def test_compile_cannot_verify_ir(invoke: Invoke) -> None:
    ran = invoke("compile", LEAVE, "--target", "ir", "--verify")
    assert (ran.code, "does not support verification" in ran.err) == (2, True)


def test_a_deadlock_can_be_verified(invoke: Invoke, tmp_path: Path) -> None:
    model, path = tmp_path / "d.bpmn", tmp_path / "w.json"
    model.write_text(DEADLOCK)
    assert invoke("compile", model, "--target", "n8n", "--force", "-o", path).code == 0
    assert invoke("verify", model, path).code == 0
    assert copy.deepcopy(json.loads(path.read_text()))["name"] == "Order"


def test_several_workflows_of_a_model_are_verified_together(invoke: Invoke, tmp_path: Path) -> None:
    target = ("--target", "n8n{errors=workflow}")
    folder = tmp_path / "out"
    assert invoke("compile", LEAVE, *target, "-o", f"{folder}/").code == 0
    main, failed = sorted(folder.glob("*.json"), key=lambda p: len(p.name))
    alone = invoke("verify", LEAVE, main, *target)
    assert alone.code == 1
    assert "pass all files that were compiled from the model, or their folder" in " ".join(
        alone.err.split()
    )
    for given in ([folder], [main, failed], [failed, main]):
        ran = invoke("verify", LEAVE, *given, *target)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.count("proved: ") == 2
    changed(failed, lambda w: edits.without(w, "Report the failure"))
    assert invoke("verify", LEAVE, folder, *target).code == 1
    ran = invoke("diff", folder, main)
    assert ran.code == 1
    assert "Leave request: what failed: only in the old version" in ran.out


def test_files_that_cannot_be_read_together_are_named(invoke: Invoke, tmp_path: Path) -> None:
    ran = invoke("verify", LEAVE, tmp_path)
    assert ran.code == 2
    assert f"{tmp_path} contains no JSON files" in " ".join(ran.err.split())
    (tmp_path / "bad.json").write_text("{")
    ran = invoke("verify", LEAVE, tmp_path)
    assert ran.code == 2
    assert "bad.json is not JSON: expected a key" in " ".join(ran.err.split())
    assert invoke("verify", LEAVE, "-", "-").code == 2
