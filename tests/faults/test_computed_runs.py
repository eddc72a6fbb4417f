"""What `run` says of faults in what a model or workflow computes, and of foreign workflows."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import EngineRun, RunRequest
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.cli import run
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from orgflow.evaluation.failures import by_replay
from orgflow.evaluation.replay import replay_model

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.work.scripts import read_script
from orgflow_ir.work.statement_evaluation import StatementEvaluation, StatementFault, Variables
from tests.support.shared_data import shared_data

ROOT = Path(__file__).resolve().parents[2]
FAULTS = Path(shared_data("faults"))
sys.path.insert(0, str(ROOT / "benchmarks"))


def run_command(*arguments: str) -> tuple[int, str]:
    """The exit code of a command, and what it prints on standard output."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        code = run(["run", *arguments])
    return code, printed.getvalue()


def run_report(*arguments: str) -> tuple[int, dict[str, Any]]:
    code, output = run_command(*arguments, "--format", "json")
    return code, json.loads(output)


@pytest.mark.parametrize(
    ("name", "rule", "element", "status"),
    [("c1_run_endless", "OF562", "A", "limit"), ("c2_run_script_throws", "OF563", "A", "error")],
)
def test_a_model_that_cannot_end_well_fails(
    engine: LocalEngine, name: str, rule: str, element: str, status: str
) -> None:
    del engine  # it is installed
    code, report = run_report(str(FAULTS / "run" / f"{name}.bpmn"), "--all-paths")
    assert code == 1
    (failure,) = report["failures"]
    assert (failure["rule"], failure["element"]) == (rule, element)
    assert failure["failure_source"] == "bpmn_quality"
    assert [d["code"] for d in report["diagnostics"]] == [rule]
    assert [(run["verdict"], run["status"]) for run in report["runs"]] == [("fails", status)]


@pytest.mark.parametrize("name", ["a4_output_mapping_leaks", "a1_mi_output_stale"])
def test_what_a_model_computes_runs_as_emitted(engine: LocalEngine, name: str) -> None:
    del engine
    code, report = run_report(str(FAULTS / "run" / f"{name}.bpmn"), "--all-paths")
    assert code == 0
    assert not report["faults"]
    assert report["flows"]["covered"] == report["flows"]["total"]
    assert not any("result of" in change for change in report["changed"])


# -- other models of the same kinds ----------------------------------------------------------------

CAMUNDA_7 = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
    'modeler:executionPlatform="Camunda Platform" modeler:executionPlatformVersion="7.21.0" '
    'id="d" targetNamespace="t"><process id="P" isExecutable="true">'
)


def write_model(folder: Path, nodes: str, *flows: tuple[str, str, str]) -> str:
    """A process of Camunda 7 from its nodes, and flows as source, target and condition."""
    lines = []
    for number, (source, target, condition) in enumerate(flows):
        asked = condition and (
            f'<conditionExpression xsi:type="tFormalExpression">{escape(condition)}'
            "</conditionExpression>"
        )
        lines.append(
            f'<sequenceFlow id="f{number}" sourceRef="{source}" targetRef="{target}">{asked}'
            "</sequenceFlow>"
        )
    path = folder / "model.bpmn"
    path.write_text(f"{CAMUNDA_7}{nodes}{''.join(lines)}</process></definitions>", encoding="utf-8")
    return str(path)


def script(id: str, code: str) -> str:
    return (
        f'<scriptTask id="{id}" scriptFormat="groovy"><script>{escape(code)}</script></scriptTask>'
    )


def events(*ids: str) -> str:
    return "".join(f'<endEvent id="{id}"/>' for id in ids)


START = '<startEvent id="S"/>'
ENDLESS = (
    # A counter that nobody counts on, one that goes away from its bound, and a text that stays.
    ('execution.setVariable("n", 1)', "${n > 3}", "${n <= 3}"),
    ('execution.setVariable("n", n - 1)', "${n > 3}", "${n <= 3}"),
    ('execution.setVariable("n", "no")', '${n == "yes"}', '${n != "yes"}'),
)


@pytest.mark.parametrize(("code", "leave", "again"), ENDLESS)
def test_loops_that_no_data_leaves(
    engine: LocalEngine, tmp_path: Path, code: str, leave: str, again: str
) -> None:
    del engine
    first = 'execution.setVariable("n", 0)'
    path = write_model(
        tmp_path,
        f'{START}{script("Z", first)}{script("A", code)}<exclusiveGateway id="J"/>'
        f'<exclusiveGateway id="G"/>{events("E")}',
        ("S", "Z", ""), ("Z", "J", ""), ("J", "A", ""), ("A", "G", ""), ("G", "J", again),
        ("G", "E", leave),
    )  # fmt: skip
    exit_code, report = run_report(path, "--all-paths")
    assert exit_code == 1
    assert [(f["rule"], f["failure_source"]) for f in report["failures"]] == [
        ("OF562", "bpmn_quality")
    ]


def test_a_loop_that_data_leaves_is_not_endless(engine: LocalEngine, tmp_path: Path) -> None:
    del engine
    first, counted = (f'execution.setVariable("i", {value})' for value in ("0", "i + 1"))
    path = write_model(
        tmp_path,
        f'{START}{script("Z", first)}{script("A", counted)}'
        f'<exclusiveGateway id="J"/><exclusiveGateway id="G"/>{events("E")}',
        ("S", "Z", ""), ("Z", "J", ""), ("J", "A", ""), ("A", "G", ""), ("G", "J", "${i < 9}"),
        ("G", "E", "${i >= 9}"),
    )  # fmt: skip
    exit_code, report = run_report(path, "--all-paths")
    assert exit_code == 0, report["failures"]
    assert [run["verdict"] for run in report["runs"]] == ["equal"]


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ('throw new IllegalStateException("stopped")', "OF563"),
        ('execution.setVariable("x", nobody + 1)\nthrow new RuntimeException("later")', "OF563"),
        ('execution.setVariable("t", "soon")', "OF564"),
        ('execution.setVariable("t", "2030-13-45")', "OF564"),
    ],
)
def test_steps_that_fail_in_every_run(
    engine: LocalEngine, tmp_path: Path, code: str, rule: str
) -> None:
    del engine
    wait = (
        '<intermediateCatchEvent id="W"><timerEventDefinition><timeDuration '
        'xsi:type="tFormalExpression">${t}</timeDuration></timerEventDefinition>'
        "</intermediateCatchEvent>"
    )
    path = write_model(
        tmp_path, f'{START}{script("A", code)}{wait}{events("E")}',
        ("S", "A", ""), ("A", "W", ""), ("W", "E", ""),
    )  # fmt: skip
    exit_code, report = run_report(path, "--all-paths")
    assert exit_code == 1
    (failure,) = report["failures"]
    assert failure["rule"] == rule
    assert failure["failure_source"] == "bpmn_quality"
    assert failure["element"] == ("W" if rule == "OF564" else "A")


def run_choice(
    folder: Path, before: str, condition: str, *, task: str = ""
) -> tuple[set[str], dict[str, Any]]:
    """The targets of the flows that `run` calls unreached behind a choice by a condition."""
    path = write_model(
        folder,
        f'{START}{script("A", before)}{task}<exclusiveGateway id="G" default="f3"/>'
        '<intermediateThrowEvent id="Yes" name="Yes"/><intermediateThrowEvent id="No" name="No"/>'
        f"{events('E1', 'E2')}",
        ("S", "A", ""), ("A", "T" if task else "G", ""), ("G", "Yes", condition),
        ("G", "No", ""), ("Yes", "E1", ""), ("No", "E2", ""),
        *((("T", "G", ""),) if task else ()),
    )  # fmt: skip
    _, report = run_report(path, "--all-paths")
    targets = {"f2": "Yes", "f3": "No"}
    unreached = [f["element"] for f in report["faults"] if f["kind"] == "unreached"]
    return {targets[flow] for flow in unreached}, report


@pytest.mark.parametrize(
    ("code", "condition", "unreached"),
    [
        ('execution.setVariable("v", false)', "${v}", {"Yes"}),
        ('execution.setVariable("v", 3)', "${v > 2}", {"No"}),
        ('execution.setVariable("v", n * 2)', "${v == 14}", set()),
        ('execution.setVariable("v", n * 7 + 3)', "${v > 500}", set()),
        ('if (n > 5) { execution.setVariable("v", "high") }\n'
         'else { execution.setVariable("v", "low") }', '${v == "mid"}', {"Yes"}),
        ('execution.setVariable("v", n + m)', "${v == 1000}", set()),
        ('execution.setVariable("v", n)', "${n > 5 && n < 3}", {"Yes"}),
        ('execution.setVariable("v", n)', "${n >= 2.5 && n < 2.75}", set()),
        ('execution.setVariable("v", s)', '${s.startsWith("ab") && s.length() > 9}', set()),
        ('execution.setVariable("v", s.substring(0, 2))', '${v == "zz"}', set()),
    ],
)  # fmt: skip
def test_branches_are_called_unreached_only_if_no_data_leads_there(
    engine: LocalEngine, tmp_path: Path, code: str, condition: str, unreached: set[str]
) -> None:
    del engine
    assert run_choice(tmp_path, code, condition)[0] == unreached


def test_a_step_whose_output_is_open_may_set_what_a_script_sets(
    engine: LocalEngine, tmp_path: Path
) -> None:
    del engine
    code = 'execution.setVariable("v", 1)'
    task = '<task id="T" name="Work"/>'
    unreached, report = run_choice(tmp_path, code, "${v > 5}", task=task)
    assert unreached == set()
    assert {run["verdict"] for run in report["runs"]} == {"equal"}
    assert run_choice(tmp_path, code, "${v > 5}")[0] == {"Yes"}


def test_random_models_have_no_false_word(engine: LocalEngine, tmp_path: Path) -> None:
    """A sample of benchmarks/run_reach.py."""
    del engine
    import run_reach

    figures = run_reach.Figures()
    registry = Registry(outside=False)
    run_reach.compare_drawings(6, 30, 7, tmp_path, figures, registry)
    assert figures.counts["models"] >= 5
    assert figures.counts["runs"] > 20
    assert not figures.counts["false words"], figures.lines
    assert not figures.counts["runs that differ"], figures.lines


def test_runs_that_no_data_leads_along_play_their_flow(
    engine: LocalEngine, registry: Registry
) -> None:
    """The loop of a repetition whose number is constant has other rounds only as a flow."""
    ctx = PassContext(registry=registry)
    path = FAULTS / "run" / "c1_run_endless.bpmn"
    model = load_model(str(path), registry, ctx)
    assert model is not None
    emitted = compile_model(model, registry.backends["n8n"], ctx)
    assert emitted is not None
    report = replay_model(model, emitted, LocalRunner(engine), ctx, flow_only=True)
    verdicts = [run.verdict for run in report.runs]
    assert verdicts.count("fails") == 1
    assert verdicts.count("equal") == len(verdicts) - 1 >= 1


def test_faults_by_seed(engine: LocalEngine, tmp_path: Path) -> None:
    """A sample of benchmarks/run_faults.py."""
    del engine
    from run_faults import play

    figures = play(1, 2, 11, tmp_path)
    assert figures.total("reported") >= 4
    assert not figures.total("missed"), figures.lines
    assert not figures.total("false alarm"), figures.lines
    assert figures.reached == figures.reachable, figures.lines


# -- time limits of a busy machine -----------------------------------------------------------------


class _SlowEngine(LocalEngine):
    """An engine on a machine that is too slow for the first attempts at a run."""

    def __init__(self, attempts: int) -> None:
        super().__init__()
        self.attempts = attempts
        self.limits: list[int] = []

    def run_many(self, requests: Any) -> Iterator[EngineRun]:
        for request in requests:
            assert isinstance(request, RunRequest)
            self.limits.append((request.limits or {})["ms"])
            self.attempts -= 1
            if self.attempts >= 0:
                yield EngineRun("limit", f"ran longer than {self.limits[-1]} ms", None)
            else:
                yield from super().run_many([request])


@pytest.mark.parametrize(("attempts", "verdict"), [(1, "equal"), (2, "slow")])
def test_a_slow_machine_is_no_fault_of_a_workflow(
    engine: LocalEngine, registry: Registry, attempts: int, verdict: str
) -> None:
    del engine
    ctx = PassContext(registry=registry)
    path = FAULTS / "run" / "e1_default_lost.bpmn"
    model = load_model(str(path), registry, ctx)
    assert model is not None
    emitted = compile_model(model, registry.backends["n8n"], ctx)
    assert emitted is not None
    slow = _SlowEngine(attempts)
    try:
        report = replay_model(model, emitted, LocalRunner(slow), ctx, all_paths=False)
    finally:
        slow.close()
    assert [run.verdict for run in report.runs] == [verdict]
    assert slow.limits[1] > slow.limits[0]
    sources = [f.failure_source for f in by_replay(model, report, registry.backends["n8n"])]
    assert sources == ([] if verdict == "equal" else ["unknown"])


# -- workflows that nobody compiled ----------------------------------------------------------------


def test_a_foreign_workflow_runs_as_it_is(engine: LocalEngine) -> None:
    del engine
    code, output = run_command(str(FAULTS / "field" / "code-no-return.json"))
    assert code == 1
    assert "fails" in output
    assert "Code doesn't return items properly" in output
    assert "equal" not in output
    assert "F1" not in output


def test_replaced_nodes_are_named_first(engine: LocalEngine, tmp_path: Path) -> None:
    del engine
    names = ("Start", "Ask", "Ok?", "Done")
    kinds = ("manualTrigger", "httpRequest", "if", "noOp")
    condition = {
        "id": "c", "leftValue": "={{ $json.a }}", "rightValue": 1,
        "operator": {"type": "number", "operation": "equals"},
    }  # fmt: skip
    options = {"caseSensitive": True, "typeValidation": "strict", "version": 2}
    asked = {"conditions": {"options": options, "conditions": [condition], "combinator": "and"}}
    nodes = [
        {
            "id": name, "name": name, "type": f"n8n-nodes-base.{kind}", "position": [0, 0],
            "typeVersion": 2.2 if kind == "if" else 1,
            "parameters": asked if kind == "if" else {},
        }
        for name, kind in zip(names, kinds, strict=True)
    ]  # fmt: skip
    wires = {
        source: {"main": [[{"node": target, "type": "main", "index": 0}]]}
        for source, target in itertools.pairwise(names)
    }
    path = tmp_path / "foreign.json"
    path.write_text(
        json.dumps({"name": "Foreign", "nodes": nodes, "connections": wires}), encoding="utf-8"
    )
    code, output = run_command(str(path))
    assert output.startswith("replaced: `Ask` (httpRequest)"), output
    assert code == 0
    assert "End" not in output
    code, report = run_report(str(path))
    assert report["verdict"] == "not compared"
    assert report["changed"] == ["`Ask` (httpRequest) does nothing: it passes on what it gets"]


def test_a_model_that_was_read_from_a_workflow_is_no_proof() -> None:
    path = FAULTS / "field" / "condition-list-if.json"
    code, output = run_command(str(path), "--engine", "model", "--all-paths")
    assert code == 0
    assert output.startswith("read from a workflow"), output
    assert "equal" not in output
    assert "F1" not in output
    assert "End" not in output


# -- the evaluation of statements ------------------------------------------------------------------


def evaluate_script(code: str, **values: Any) -> dict[str, Any]:
    scope = Variables()
    for name, value in values.items():
        scope.assign(name, value, frozenset())
    StatementEvaluation(scope, lambda path, tested: None).run(
        read_script(code, "groovy").statements
    )
    return scope.values


def test_statements_change_variables() -> None:
    code = """
if (amount > 5) { execution.setVariable("total", amount * 2) }
else { execution.setVariable("total", 0) }
execution.setVariable("last", total + 1)
"""
    assert evaluate_script(code, amount=6) == {"amount": 6, "total": 12, "last": 13}
    assert evaluate_script(code, amount=5) == {"amount": 5, "total": 0, "last": 1}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ('throw new RuntimeException("boom")', "failed"),
        ('throw new BpmnError("OOS")', "thrown"),
        ('execution.setVariable("x", missing + 1)', "unset"),
    ],
)
def test_statements_may_fail(code: str, kind: str) -> None:
    with pytest.raises(StatementFault) as fault:
        evaluate_script(code)
    assert fault.value.kind == kind


def test_the_engine_model_that_was_requested_needs_no_engine() -> None:
    path = str(FAULTS / "run" / "e1_default_lost.bpmn")
    code, output = run_command(path, "--engine", "model")
    assert code == 0
    assert "simulated by a model of n8n's engine" in output
    assert "engine install" not in output
