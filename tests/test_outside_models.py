"""Models that showed a fault to people who tested the compiler from outside, by command lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cases import Ran
from orgflow import cli
from shared_data import shared_cases

from orgflow_ir.diagnostics.core_rules import CrashedPass

Invoke = Callable[..., Ran]


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Run a command in this process."""

    def run(*args: str) -> Ran:
        capsys.readouterr()
        code = cli.run(list(args))
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def outside(shared: Path) -> Path:
    return shared / "data" / "outside-look"


def said(err: str) -> str:
    """What was printed, on one line: messages are wrapped."""
    return " ".join(err.split())


def test_a_file_without_a_process_is_an_error(invoke: Invoke, outside: Path) -> None:
    file = str(outside / "bpmn" / "empty.bpmn")
    checked = invoke("check", file)
    assert checked.code == 0
    assert "[no-process]" in checked.out + checked.err
    for command in (("compile", "--target", "n8n"), ("compile", "--target", "asl")):
        ran = invoke(command[0], file, *command[1:])
        assert ran.code == 1
        printed = ran.out + ran.err
        assert "error OF156 [no-process]" in printed
        assert "OF903" not in printed
    drawn = invoke("compile", file, "--target", "svg")
    assert drawn.code == 0
    assert "warning OF156 [no-process]" in drawn.err
    assert "Customer" in drawn.out


def test_a_model_without_a_process_in_any_format(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "none.ir.json"
    file.write_text('{"id": "m", "processes": []}')
    ran = invoke("compile", str(file), "--from", "ir", "--target", "n8n")
    assert ran.code == 1
    assert "error OF156" in ran.err
    assert "OF903" not in ran.err


def test_a_timer_without_any_time_is_a_warning_in_an_executable_process(
    invoke: Invoke, outside: Path, shared: Path
) -> None:
    ran = invoke("check", str(outside / "lint" / "x.timer-nothing.bpmn"))
    assert "warning OF504 [open-time]" in ran.out
    drawn = invoke("check", str(shared / "data" / "pmo" / "bpmn" / "30.bpmn"))
    assert "info OF504 [open-time]" in drawn.out
    assert "warning OF504" not in drawn.out


@pytest.mark.parametrize("name", shared_cases(["k5", "crash2"], "outside-look"))
def test_a_forking_loop_is_reported_without_an_internal_error(
    name: str, invoke: Invoke, outside: Path
) -> None:
    file = str(outside / "bpmn" / f"{name}.bpmn")
    for command in (("check", file), ("compile", file, "--target", "n8n")):
        ran = invoke(*command)
        assert ran.code == 1
        printed = ran.out + ran.err
        assert "OF206 [unbounded-work]" in printed
        assert not re.search(r"OF9\d\d", printed)
        assert "Traceback" not in printed
    shown = said(invoke("check", file).out)
    run = shown[shown.index("run:") : shown.index("help:")]
    assert not re.search(r"`[a-z]`", run), "a run names elements, not ids"


def test_no_outside_model_provokes_an_internal_error(invoke: Invoke, outside: Path) -> None:
    paths = sorted((outside / "bpmn").glob("*.bpmn"))
    assert len(paths) == 48
    for path in paths:
        for command in (("check", str(path)), ("compile", str(path), "--target", "n8n")):
            ran = invoke(*command)
            assert ran.code in (0, 1), path.name
            assert not re.search(r"OF9\d\d", ran.out + ran.err), path.name


def test_a_crash_names_the_file(
    invoke: Invoke, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orgflow.passes.references import References

    def crash(*_: object) -> None:
        raise KeyError("odd")

    monkeypatch.setattr(References, "run", crash)
    file = outside / "bpmn" / "term.bpmn"
    ran = invoke("check", str(file))
    assert f"{file}: error {CrashedPass.code}" in ran.out


def test_one_refusal_of_a_gateway_by_what_is_next_to_it(invoke: Invoke, outside: Path) -> None:
    ran = invoke("compile", str(outside / "bpmn" / "names.bpmn"), "--target", "asl",
                 "--format", "json")  # fmt: skip
    found = json.loads(ran.err)["diagnostics"]
    (error,) = (one["message"] for one in found if one["severity"] == "error")
    assert error.startswith("the complex gateway before `Ship` (gateway.complex) ")
    assert not any("Gateway_" in one["message"] for one in found)


def test_a_gateway_has_one_name_in_all_messages(invoke: Invoke, outside: Path) -> None:
    ran = invoke("compile", str(outside / "bpmn" / "names2.bpmn"), "--target", "n8n",
                 "--format", "json")  # fmt: skip
    texts = " ".join(
        text
        for one in json.loads(ran.err)["diagnostics"]
        for text in (one["message"], one.get("help") or "", *(r["message"] for r in one["related"]))
    )
    named = set(re.findall(r"the (?:parallel|exclusive) gateway (?:before|after) `[^`]*`", texts))
    assert named == {
        "the parallel gateway before `Ship`",
        "the exclusive gateway after `Check order`",
    }
    assert "Gateway_" not in texts


def test_what_one_run_covers(invoke: Invoke, outside: Path) -> None:
    file = str(outside / "cli" / "cov.bpmn")
    first = invoke("run", file)
    assert "4 of 6 flows covered" in first.out
    assert "not executed: one more run of the model (--all-paths executes it)" in first.out
    data = json.loads(invoke("run", file, "--json").out)
    assert (data["flows"], data["left_out"]) == ({"covered": 4, "total": 6}, 1)
    every = invoke("run", file, "--all-paths")
    assert "6 of 6 flows covered" in every.out
    assert "not played" not in every.out


def test_a_run_that_data_cannot_drive_blames_the_model_only_where_it_is_its_fault(
    invoke: Invoke, outside: Path, tmp_path: Path
) -> None:
    loop = invoke("run", str(outside / "variables" / "c1.bpmn"), "--all-paths")
    assert "bpmn_quality" not in loop.out
    assert "contradict" not in loop.out
    closed = tmp_path / "closed.bpmn"
    closed.write_text(
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p">'
        '<startEvent id="s"/><task id="t" name="T"/><exclusiveGateway id="g" name="Big?"/>'
        '<task id="a" name="A"/><task id="b" name="B"/><endEvent id="e"/>'
        '<sequenceFlow id="f1" sourceRef="s" targetRef="t"/>'
        '<sequenceFlow id="f2" sourceRef="t" targetRef="g"/>'
        '<sequenceFlow id="f3" sourceRef="g" targetRef="a">'
        "<conditionExpression>${x &gt; 5}</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="f4" sourceRef="g" targetRef="b">'
        "<conditionExpression>${x &gt; 7}</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="f5" sourceRef="a" targetRef="e"/>'
        '<sequenceFlow id="f6" sourceRef="b" targetRef="e"/></process></definitions>'
    )
    ran = invoke("run", str(closed), "--all-paths")
    unreached = "OF561 [unreached-branch] no input leads to the branch from `Big?` to `B`"
    assert unreached in said(ran.err)


def test_labels_that_differ_only_in_case_are_both_named(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "case.bpmn"
    file.write_text(
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p">'
        '<startEvent id="s"/><exclusiveGateway id="g" name="Ok?"/><task id="a" name="A"/>'
        '<task id="b" name="B"/><endEvent id="e"/>'
        '<sequenceFlow id="f1" sourceRef="s" targetRef="g"/>'
        '<sequenceFlow id="f2" name="Yes" sourceRef="g" targetRef="a"/>'
        '<sequenceFlow id="f3" name="yes" sourceRef="g" targetRef="b"/>'
        '<sequenceFlow id="f4" sourceRef="a" targetRef="e"/>'
        '<sequenceFlow id="f5" sourceRef="b" targetRef="e"/></process></definitions>'
    )
    shown = said(invoke("check", str(file)).out)
    assert "two flows out of `Ok?` are labelled `Yes` and `yes`, which differ only in case" in shown
    shown = said(invoke("compile", str(file), "--target", "n8n", "-v").err)
    assert "`Yes` or `yes`" in shown or "`Yes`, `yes`" in shown


def test_what_orgflow_lacks_is_not_blamed_on_the_target(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "sub.bpmn"
    file.write_text(
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p">'
        '<startEvent id="s"/><subProcess id="x" name="Pack"><multiInstanceLoopCharacteristics>'
        "<loopCardinality>the number of parcels</loopCardinality>"
        '</multiInstanceLoopCharacteristics><task id="t"/>'
        "</subProcess>"
        '<eventBasedGateway id="e" name="Which?"/><intermediateCatchEvent id="c1">'
        '<messageEventDefinition/></intermediateCatchEvent><intermediateCatchEvent id="c2">'
        "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
        '</intermediateCatchEvent><sequenceFlow id="g1" sourceRef="e" targetRef="c1"/>'
        '<sequenceFlow id="g2" sourceRef="e" targetRef="c2"/>'
        '<sequenceFlow id="f1" sourceRef="s" targetRef="x"/>'
        '<sequenceFlow id="f2" sourceRef="x" targetRef="e"/></process></definitions>'
    )
    shown = said(invoke("compile", str(file), "--target", "n8n").err)
    assert "orgflow does not support `Pack` (sub-process.plain) on n8n yet" in shown
    assert "orgflow does not support `Which?` (gateway.event) on n8n yet" in shown
