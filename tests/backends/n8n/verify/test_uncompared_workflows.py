"""Processes whose open work is rows: no command says that they are proved, each has a way to write
them, and one execution a process keeps the proof."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cases import Ran
from orgflow import cli

Invoke = Callable[..., Ran]

MODEL = Path(__file__).resolve().parents[3] / "diagnostics/OF629-uncompared-workflow/bad.bpmn"
INLINE = "n8n{waits=execution}"


@pytest.fixture
def invoke(capfdbinary: pytest.CaptureFixture[bytes]) -> Invoke:
    def run(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        printed = capfdbinary.readouterr()
        return Ran(code, printed.out.decode(), printed.err.decode())

    return run


def test_what_is_not_proved_is_not_written_and_the_way_is_named(
    invoke: Invoke, tmp_path: Path
) -> None:
    file = tmp_path / "order.json"
    ran = invoke("compile", MODEL, "--target", "n8n", "--verify", "-o", file)
    words = " ".join(ran.err.split())
    assert ran.code == 1
    assert not file.exists()
    assert "not verified: `Order`" in words
    assert "OF629" in words
    assert "`compile` without --verify writes it" in words
    assert "proved," not in words
    assert invoke("compile", MODEL, "--target", "n8n", "-o", file).code == 0
    ran = invoke("verify", MODEL, file)
    assert ran.code == 1
    assert ran.out.startswith("not compared: ")
    (result,) = json.loads(invoke("verify", MODEL, file, "--json").out)["results"]
    assert (result["verdict"], result["states"]) == ("not compared", 0)


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
    good = MODEL.with_name("good.bpmn")
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
    assert "warning OF629" in ran.err
    merged = {n["name"]: n for n in json.loads(file.read_text("utf-8"))["nodes"]}
    assert merged["Check credit"]["parameters"]["formTitle"] == "Is the customer solvent?"
    assert {"Count stock", "Claim Count stock"} <= merged.keys()
    assert "Check stock" not in merged
