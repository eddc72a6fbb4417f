"""`eval executable`: what compiles, runs as it says, and is left open, file by file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cases import Ran
from orgflow import cli
from orgflow.backends.n8n.engine.local import LocalEngine

Invoke = Callable[..., Ran]

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="t">'
    '<process id="p" isExecutable="true">'
)
FILES = {
    "class": '<startEvent id="s"/><serviceTask id="t" camunda:class="a.B"/><endEvent id="e"/>'
    '<sequenceFlow id="f" sourceRef="s" targetRef="t"/>'
    '<sequenceFlow id="g" sourceRef="t" targetRef="e"/>',
    "nothing-said": '<startEvent id="s"/><serviceTask id="t"/><endEvent id="e"/>'
    '<sequenceFlow id="f" sourceRef="s" targetRef="t"/>'
    '<sequenceFlow id="g" sourceRef="t" targetRef="e"/>',
    "race": '<startEvent id="s"/><userTask id="t"/><endEvent id="e"/>'
    '<boundaryEvent id="b" attachedToRef="t"><timerEventDefinition>'
    "<timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>"
    '<sequenceFlow id="f" sourceRef="s" targetRef="t"/>'
    '<sequenceFlow id="g" sourceRef="t" targetRef="e"/>'
    '<sequenceFlow id="h" sourceRef="b" targetRef="e"/>',
    "limit": '<startEvent id="s"/><serviceTask id="t"/><endEvent id="e"/>'
    '<boundaryEvent id="b" attachedToRef="t"><timerEventDefinition>'
    "<timeDuration>PT1H</timeDuration></timerEventDefinition></boundaryEvent>"
    '<sequenceFlow id="f" sourceRef="s" targetRef="t"/>'
    '<sequenceFlow id="g" sourceRef="t" targetRef="e"/>'
    '<sequenceFlow id="h" sourceRef="b" targetRef="e"/>',
    "undone": '<startEvent id="s"/><task id="t"/>'
    '<endEvent id="e"><cancelEventDefinition/></endEvent>'
    '<sequenceFlow id="f" sourceRef="s" targetRef="t"/>'
    '<sequenceFlow id="g" sourceRef="t" targetRef="e"/>',
}


SIGNALS = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">'
    '<signal id="sig" name="Ready"/>'
    '<process id="p"><startEvent id="s"/><endEvent id="e"><signalEventDefinition '
    'signalRef="sig"/></endEvent><sequenceFlow id="f" sourceRef="s" targetRef="e"/></process>'
    '<process id="q"><startEvent id="i"><signalEventDefinition signalRef="sig"/></startEvent>'
    '<endEvent id="o"/><sequenceFlow id="g" sourceRef="i" targetRef="o"/></process></definitions>'
)


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Run a command line in this process."""

    def call(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


def test_each_file_has_its_verdict(invoke: Invoke, tmp_path: Path, engine: LocalEngine) -> None:
    del engine  # there has to be one
    for name, text in FILES.items():
        (tmp_path / f"{name}.bpmn").write_text(f"{HEAD}{text}</process></definitions>")
    ran = invoke("eval", "executable", tmp_path)
    assert ran.code == 0, ran.err
    rows = {r["model"].removesuffix(".bpmn"): r for r in csv.DictReader(io.StringIO(ran.out))}
    assert {name: row["status"] for name, row in rows.items()} == {
        "class": "equal", "nothing-said": "open", "race": "equal", "limit": "refused",
        "undone": "refused",
    }  # fmt: skip
    assert rows["class"]["runs"] == rows["class"]["runs_equal"] == "1"
    assert (rows["nothing-said"]["placeholders"], rows["nothing-said"]["empty"]) == (
        "1",
        "task.service",
    )
    assert rows["undone"]["refused"] == "OF123 event.end.cancel"
    assert {name for name, row in rows.items() if row["waits_beside"]} == {"limit", "race"}
    said = ran.err
    assert "3 of 5 (60%)" in said
    assert "2 of 3 (67%)" in said
    assert "1 of 3 (33%)" in said
    assert "races and parallel waits (2):\n  limit.bpmn: " in said
    assert "\n  race.bpmn: " in said


def test_a_folder_without_models(invoke: Invoke, tmp_path: Path) -> None:
    ran = invoke("eval", "executable", tmp_path)
    assert ran.code == 2
    assert "no model in" in ran.err


@pytest.mark.parametrize("suite", ["executable", "text", "fill", "dmn"])
def test_formats_are_for_another_suite(suite: str, invoke: Invoke, tmp_path: Path) -> None:
    ran = invoke("eval", suite, tmp_path, "--models", "pme")
    assert ran.code == 2
    assert "--models" in ran.err


def test_processes_that_compile_by_themselves(
    invoke: Invoke, tmp_path: Path, engine: LocalEngine
) -> None:
    del engine  # there has to be one
    (tmp_path / "two.bpmn").write_text(SIGNALS)
    ran = invoke("eval", "executable", tmp_path)
    (row,) = csv.DictReader(io.StringIO(ran.out))
    assert (row["status"], row["runs_equal"]) == ("equal", "2")
    assert row["options"].endswith(",each process separately")


REPEATED_CALL = """\
<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="each"/>
<subProcess id="each">
  <multiInstanceLoopCharacteristics isSequential="true">
    <loopCardinality>3</loopCardinality></multiInstanceLoopCharacteristics>
  <startEvent id="is"/><sequenceFlow id="i0" sourceRef="is" targetRef="book"/>
  <serviceTask id="book" name="Book hotel" camunda:expression="${true}"/>
  <boundaryEvent id="b" attachedToRef="book"><compensateEventDefinition/></boundaryEvent>
  <callActivity id="undo" name="Cancel hotel" isForCompensation="true" calledElement="elsewhere"/>
  <sequenceFlow id="i1" sourceRef="book" targetRef="ie"/><endEvent id="ie"/>
  <association id="l" associationDirection="One" sourceRef="b" targetRef="undo"/>
</subProcess>
<sequenceFlow id="f1" sourceRef="each" targetRef="back"/>
<intermediateThrowEvent id="back"><compensateEventDefinition activityRef="each"/>
</intermediateThrowEvent>
<sequenceFlow id="f2" sourceRef="back" targetRef="e"/><endEvent id="e" name="Done"/>
"""


def test_a_call_that_hands_nothing_back_decides_nothing(
    invoke: Invoke, tmp_path: Path, engine: LocalEngine
) -> None:
    """The workflow of a missing callee hands back what the call states; how often it is called is
    not set by it, so a replay does not let it."""
    del engine
    (tmp_path / "m.bpmn").write_text(f"{HEAD}{REPEATED_CALL}</process></definitions>")
    ran = invoke("eval", "executable", tmp_path)
    (row,) = csv.DictReader(io.StringIO(ran.out))
    assert (row["status"], row["runs"]) == ("equal", row["runs_equal"]), row["reason"]
    assert int(row["runs"]) > 3


ANSWERING_CALL = """\
<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="ask"/>
<callActivity id="ask" name="Ask partner" calledElement="elsewhere">
  <extensionElements><camunda:out source="fine" target="fine"/></extensionElements></callActivity>
<sequenceFlow id="f1" sourceRef="ask" targetRef="x"/><exclusiveGateway id="x" default="f3"/>
<sequenceFlow id="f2" sourceRef="x" targetRef="a">
  <conditionExpression>${fine}</conditionExpression></sequenceFlow>
<sequenceFlow id="f3" sourceRef="x" targetRef="b"/>
<endEvent id="a" name="Taken"/><endEvent id="b" name="Left"/>
"""


def test_a_call_that_hands_a_variable_back_decides_by_it(
    invoke: Invoke, tmp_path: Path, engine: LocalEngine
) -> None:
    del engine
    (tmp_path / "m.bpmn").write_text(f"{HEAD}{ANSWERING_CALL}</process></definitions>")
    ran = invoke("eval", "executable", tmp_path)
    (row,) = csv.DictReader(io.StringIO(ran.out))
    assert (row["status"], row["runs"], row["runs_equal"]) == ("equal", "2", "2"), row["reason"]
