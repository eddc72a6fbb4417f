"""An internal error names the file, and the element where that is known, whichever part of the
compiler fails and in every command."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from cli_cases import Ran
from orgflow import cli
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.frontends.bpmn.frontend import BpmnFrontend
from orgflow.passes.event_triggers import EventTriggers

from orgflow_ir.lowering.loops import LOOPS
from orgflow_ir.model import Model
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.source import Source
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import Emitted

TEXT = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="x">
  <process id="p" name="Order" isExecutable="true">
    <startEvent id="s" name="Order received"/>
    <task id="t" name="Pick order"><standardLoopCharacteristics testBefore="false">
      <loopCondition>${open}</loopCondition></standardLoopCharacteristics></task>
    <endEvent id="e" name="Order picked"/>
    <sequenceFlow id="f1" sourceRef="s" targetRef="t"/>
    <sequenceFlow id="f2" sourceRef="t" targetRef="e"/>
  </process>
</definitions>
"""

Inject = Callable[[], None]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("order.bpmn").write_text(TEXT)
    Path("other.bpmn").write_text(TEXT.replace("Pick order", "Pack order"))
    Path("flow.json").write_text(json.dumps({"name": "x", "nodes": [], "connections": {}}))
    return "order.bpmn"


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def run(*args: str) -> Ran:
        capsys.readouterr()
        code = cli.run(list(args))
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


def in_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(self: BpmnFrontend, source: Source, ctx: PassContext) -> Model:
        raise KeyError("injected")

    monkeypatch.setattr(BpmnFrontend, "parse", parse)


def in_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(self: EventTriggers, model: Model, ctx: PassContext) -> Model:
        for node in model.processes[0].nodes[1:]:
            raise KeyError("injected", len(node.id))
        return model

    monkeypatch.setattr(EventTriggers, "run", run)


def in_lowering(monkeypatch: pytest.MonkeyPatch) -> None:
    def rewrite(self: object, use: ConstructUse, rewriter: object, ctx: PassContext) -> str | None:
        raise KeyError("injected")

    for pattern in LOOPS:
        monkeypatch.setattr(type(pattern), "rewrite", rewrite)


def in_target(monkeypatch: pytest.MonkeyPatch) -> None:
    def uses(model: Model, spec: object, ctx: PassContext) -> list[object]:
        task = model.processes[0].nodes[1]
        raise KeyError("injected", len(task.id))

    monkeypatch.setattr(import_module("orgflow_ir.legalisation.legalise"), "illegal_uses", uses)


def in_emission(monkeypatch: pytest.MonkeyPatch) -> None:
    def emit(self: N8nBackend, model: Model, ctx: PassContext) -> Emitted:
        task = next(node for node in model.processes[0].nodes if node.name == "Pick order")
        raise KeyError("injected", len(task.id))

    monkeypatch.setattr(N8nBackend, "emit", emit)


STAGES = {
    "reader": in_reader,
    "pass": in_pass,
    "lowering": in_lowering,
    "target": in_target,
    "emission": in_emission,
}

N8N = ("--target", "n8n")

COMMANDS: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {
    "check": (("check", "order.bpmn"), frozenset(("reader", "pass"))),
    "check target": (
        ("check", "order.bpmn", *N8N), frozenset(("reader", "pass", "lowering", "target"))
    ),
    "check many": (
        ("check", "order.bpmn", "other.bpmn", "--jobs", "1"), frozenset(("reader", "pass"))
    ),
    "compile": (("compile", "order.bpmn", *N8N, "-o", "out.json"), frozenset(STAGES)),
    "compile many": (
        ("compile", "order.bpmn", "other.bpmn", *N8N, "-o", "out/"),
        frozenset(("reader", "pass", "target", "lowering")),
    ),
    "run": (("run", "order.bpmn"), frozenset(STAGES)),
    "verify": (("verify", "order.bpmn", "flow.json"), frozenset(("reader", "target"))),
    "diff": (("diff", "order.bpmn", "other.bpmn"), frozenset(("reader",))),
    "opt": (("opt", "order.bpmn", "--passes", "event-triggers"), frozenset(("reader", "pass"))),
    "trace": (("trace", "order.bpmn"), frozenset(("reader", "pass"))),
    "synth": (("synth", "order.bpmn", "-o", "corpus/"), frozenset(("reader", "pass"))),
    "merge": (
        ("compile", "order.bpmn", *N8N, "--merge", "flow.json", "-o", "out.json"),
        frozenset(STAGES),
    ),
    "fill": (("fill", "order.bpmn", "-o", "out.ir.json"), frozenset(("reader", "pass"))),
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "stage"),
    [
        (name, stage)
        for name, (_, stages) in COMMANDS.items()
        for stage in STAGES
        if stage in stages
    ],
)
def test_an_internal_error_names_file_and_element(
    command: str, stage: str, file: str, invoke: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    STAGES[stage](monkeypatch)
    ran = invoke(*COMMANDS[command][0])
    printed = " ".join((ran.out + ran.err).split())
    assert "injected" in printed, printed
    assert file in printed, printed
    assert "Traceback" not in printed
    assert ran.code == 2, printed
    if stage != "reader":
        assert "`Pick order`" in printed, printed
    assert "OF901" in printed, printed


def test_an_internal_error_is_not_kept_for_the_next_check(
    file: str, invoke: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as injected:
        in_pass(injected)
        assert "OF901" in invoke("check", file).out
    assert "OF901" not in invoke("check", file).out


def test_an_error_outside_of_the_parts_names_file_and_element(
    file: str, invoke: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(model: Model) -> None:
        task = model.processes[0].nodes[1]
        raise KeyError("injected", task.id)

    def check_gaps(model: Model, ctx: PassContext, backend: object = None) -> None:
        write(model)

    monkeypatch.setattr("orgflow.commands.checking.check_gaps", check_gaps)
    ran = invoke("check", file)
    assert ran.code == 2
    assert ran.err.startswith("orgflowc: order.bpmn: internal error at `Pick order`: KeyError")
