"""Options of the compilation travel in the workflow: commands use them, and report others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from orgflow import cli
from orgflow.api import compile, read, verify
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.backends.n8n.plan.target import N8N_TARGET

from orgflow_ir.model.source import SourceFile

VALUES = {
    "version": "1.123", "people": "placeholder", "inbox": "boss@acme.example",
    "trigger": "webhook", "stubs": "placeholder", "errors": "workflow", "callers": "model",
    "retries": "boundary", "payload": "checked", "timeout": "PT10M",
    "sender": "shop@acme.example", "messages": "https://bus.example/messages", "auth": "header",
    "unsupported": "stub", "waits": "execution",
}  # fmt: skip
"""A value that is not the default, for each option."""

MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
 xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d">
<message id="m" name="Invoice"/><process id="p" name="Order" isExecutable="true">
<startEvent id="s" name="Order received"/><userTask id="t" name="Check order"/>
<serviceTask id="k" name="Book" camunda:type="external" camunda:topic="book"/>
<sendTask id="i" name="Send invoice" messageRef="m"/><endEvent id="e" name="Done"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/>
<sequenceFlow id="f1" sourceRef="t" targetRef="k"/>
<sequenceFlow id="f2" sourceRef="k" targetRef="i"/>
<sequenceFlow id="f3" sourceRef="i" targetRef="e"/>
</process></definitions>"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.bpmn"
    path.write_text(MODEL, "utf-8")
    return path


def map_of(text: str) -> dict[str, Any]:
    """The identity map in a workflow."""
    for node in json.loads(text)["nodes"]:
        content = str(node["parameters"].get("content"))
        if "orgflow-map 1 " in content:
            line = content.partition("orgflow-map 1 ")[2]
            found: dict[str, Any] = json.JSONDecoder().raw_decode(line)[0]
            return found
    raise AssertionError("no map")


def files_of(model: Path, **options: str) -> dict[str, str]:
    result = compile(read(model), "n8n", options=options)
    assert result.ok, result.diagnostics
    return dict(result.files)


def test_every_option_has_a_value_here() -> None:
    assert set(VALUES) == set(N8N_TARGET.options)
    assert all(N8N_TARGET.default_options.get(name) != value for name, value in VALUES.items())


def test_default_options_leave_no_trace(model: Path) -> None:
    default = files_of(model)
    assert all("options" not in map_of(text) for text in default.values())
    assert files_of(model, **N8N_TARGET.default_options) == default


@pytest.mark.parametrize("name", VALUES)
def test_a_workflow_is_verified_with_the_options_it_states(model: Path, name: str) -> None:
    options = {name: VALUES[name]}
    if name in ("inbox", "sender"):
        options["people"] = "mail"
    files = files_of(model, **options)
    stated = [map_of(text).get("options") for text in files.values()]
    assert options in stated
    workflow = SourceFile("w.json", f"[{','.join(files.values())}]".encode())
    result = verify(read(model), workflow, "n8n")
    assert {v.verdict.value for v in result.verifications} == {"proved"}, result.verifications
    assert [d.code for d in result.diagnostics if d.code == "OF410"] == []


@pytest.mark.parametrize("name", ["people", "stubs", "sender", "version"])
def test_an_option_that_contradicts_the_workflow_is_reported(model: Path, name: str) -> None:
    files = files_of(model, people="mail", sender="shop@acme.example", inbox="a@acme.example")
    given = {"people": "slack", "stubs": "placeholder", "sender": "x@acme.example",
             "version": "1.123"}[name]  # fmt: skip
    workflow = SourceFile("w.json", f"[{','.join(files.values())}]".encode())
    result = verify(read(model), workflow, "n8n", options={name: given})
    (reported,) = [d for d in result.diagnostics if d.code == "OF410"]
    assert f"`{name}={given}`" in reported.message
    same = verify(read(model), workflow, "n8n", options={"people": "mail"})
    assert [d.code for d in same.diagnostics if d.code == "OF410"] == []


def test_what_somebody_wrote_into_the_map_is_not_an_option() -> None:
    options = {"people": "nobody", "sender": "no address", "colour": "red", "stubs": "placeholder"}
    content = f"[orgflow]: # (orgflow-map 1 {json.dumps({'process': 'p', 'options': options, 'nodes': {}}, separators=(',', ':'))})"  # noqa: E501
    note = {"name": "N", "type": "n8n-nodes-base.stickyNote", "parameters": {"content": content}}
    source = SourceFile("w.json", json.dumps({"nodes": [note], "connections": {}}).encode())
    assert N8nBackend().stated_options(source) == {"stubs": "placeholder"}
    assert N8nBackend().stated_options(source, ["q"]) is None


def test_a_merge_compiles_with_the_options_of_the_workflow(model: Path, tmp_path: Path) -> None:
    edited, output = tmp_path / "edited.json", tmp_path / "out.json"
    target = "n8n{people=placeholder,stubs=placeholder,messages=request}"
    assert cli.run(["compile", str(model), "--target", target, "-o", str(edited)]) == 0
    merge = ["compile", str(model), "--target", "n8n", "--merge", str(edited), "-o", str(output)]
    assert cli.run(merge) == 0
    assert output.read_text("utf-8") == edited.read_text("utf-8")


def test_a_difference_of_options_is_a_note_of_the_comparison(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, target in (("a", "n8n"), ("b", "n8n{people=placeholder,stubs=placeholder}")):
        output = str(tmp_path / f"{name}.json")
        assert cli.run(["compile", str(model), "--target", target, "-o", output]) == 0
    capsys.readouterr()
    cli.run(["diff", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--format", "json"])
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert notes == [
        "`Order` was compiled with `people=placeholder` and `stubs=placeholder`, and its old "
        "version with default options"
    ]


def test_a_workflow_is_run_and_checked_with_its_options(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """n8n 1 hides the output of Code nodes from expressions: `check` looks for that only there."""
    output = str(tmp_path / "w.json")
    target = "n8n{version=1.123,people=placeholder,stubs=placeholder}"
    assert cli.run(["compile", str(model), "--target", target, "-o", output]) == 0
    assert cli.run(["check", output]) == 0
    run = ["run", output, "--engine", "model"]
    assert cli.run([*run, "--target", "n8n"]) == 0
    assert "OF410" not in capsys.readouterr().err
    cli.run([*run, "--target", "n8n{version=2.41}"])
    assert "OF410" in capsys.readouterr().err
