"""Processes whose open work is rows: commands prove them, report edits that they cannot read, and
keep edits of people; one execution a process is proved as well."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Ran
from orgflow import cli

Invoke = Callable[..., Ran]

MODEL = Path(__file__).with_name("models") / "checked-in-parallel.bpmn"
INLINE = "n8n{waits=execution}"


@pytest.fixture
def invoke(capfdbinary: pytest.CaptureFixture[bytes]) -> Invoke:
    def run(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        printed = capfdbinary.readouterr()
        return Ran(code, printed.out.decode(), printed.err.decode())

    return run


@pytest.fixture
def compiled(invoke: Invoke, tmp_path: Path) -> Path:
    file = tmp_path / "order.json"
    assert invoke("compile", MODEL, "--target", "n8n", "-o", file).code == 0
    return file


def edit(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    flow = json.loads(file.read_text("utf-8"))
    change(flow)
    file.write_text(json.dumps(flow), "utf-8")


def remove_switch(flow: dict[str, Any]) -> None:
    flow["nodes"] = [node for node in flow["nodes"] if node["name"] != "What happened?"]


def replace_rows(flow: dict[str, Any]) -> None:
    (split,) = [node for node in flow["nodes"] if node["name"] == "Check order"]
    inputs = split["parameters"]["workflowInputs"]["value"]
    inputs["rows"] = "={{ $json.rows }}"


def test_a_process_that_waits_in_several_places_is_proved(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "order.json"
    ran = invoke("compile", MODEL, "--target", "n8n", "--verify", "-o", file)
    assert ran.code == 0, ran.err
    assert "verified `Order`: proved, 4 states" in ran.err
    ran = invoke("verify", MODEL, file)
    assert (ran.code, ran.out.partition(":")[0]) == (0, "proved")


def test_nothing_is_compared(invoke: Invoke, compiled: Path) -> None:
    edit(compiled, remove_switch)
    ran = invoke("verify", MODEL, compiled)
    assert ran.code == 1
    assert ran.out.startswith("not compared: ")
    assert "OF629" in ran.err
    (result,) = json.loads(invoke("verify", MODEL, compiled, "--json").out)["results"]
    assert (result["verdict"], result["states"]) == ("not compared", 0)


def test_what_is_not_read(invoke: Invoke, compiled: Path) -> None:
    edit(compiled, replace_rows)
    ran = invoke("verify", MODEL, compiled, "--format", "json")
    assert ran.code == 1
    codes = {d["code"] for d in json.loads(ran.out)["diagnostics"]}
    assert codes == {"OF481", "OF635"}


def test_one_execution_keeps_the_proof(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "order.json"
    ran = invoke("compile", MODEL, "--target", INLINE, "--verify", "-o", file)
    assert ran.code == 0, ran.err
    assert "OF423" in ran.err
    assert "executeWorkflow" not in file.read_text("utf-8"), "it needs no support set"
    ran = invoke("verify", MODEL, file)  # the workflow states the option
    assert (ran.code, ran.out.partition(":")[0]) == (0, "proved"), ran.err


def test_one_execution_changes_nothing_where_nothing_waits_beside(
    invoke: Invoke, tmp_path: Path
) -> None:
    good = MODEL.with_name("checked-in-turn.bpmn")
    texts = []
    for target in ("n8n{waits=rows}", INLINE):
        ran = invoke("compile", good, "--target", target)
        assert ran.code == 0, ran.err
        (flow,) = [json.loads(ran.out)] if ran.out.startswith("{") else json.loads(ran.out)
        texts.append([(n["name"], n["parameters"]) for n in flow["nodes"][1:]])
    assert texts[0] == texts[1]


def test_edits_are_merged_with_a_warning(invoke: Invoke, tmp_path: Path) -> None:
    model, file = tmp_path / "order.bpmn", tmp_path / "order.json"
    model.write_text(MODEL.read_text("utf-8"), "utf-8")
    assert invoke("compile", model, "--target", "n8n", "-o", file).code == 0
    flow = json.loads(file.read_text("utf-8"))
    (page,) = [node for node in flow["nodes"] if node["name"] == "Check credit"]
    page["parameters"]["formTitle"] = "Is the customer solvent?"
    file.write_text(json.dumps(flow), "utf-8")
    renamed = model.read_text("utf-8").replace('"Check stock"', '"Count stock"')
    model.write_text(renamed, "utf-8")
    ran = invoke("compile", model, "--target", "n8n", "--merge", file, "-o", file)
    assert ran.code == 0, ran.err
    assert "warning OF481" in ran.err
    merged = {n["name"]: n for n in json.loads(file.read_text("utf-8"))["nodes"]}
    assert merged["Check credit"]["parameters"]["formTitle"] == "Is the customer solvent?"
    assert {"Count stock", "Claim Count stock"} <= merged.keys()
    assert "Check stock" not in merged
