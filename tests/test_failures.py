"""Typed records of failures: a rule for each kind, and `unknown` with the evidence where none."""

from __future__ import annotations

import copy
import random
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest
from cli_cases import DEADLOCK
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.backends.n8n.engine.engine_messages import MESSAGES
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.server.client.errors import RefusedError, UnreachableError
from orgflow.compilation.reading import load_model
from orgflow.compiler import LOWER, CompileRequest, compile_model, run_stages
from orgflow.evaluation.failures import (
    Failure,
    Severity,
    Stage,
    by_diagnostics,
    by_message,
    by_replay,
    unexplained_failure,
)
from orgflow.evaluation.pmo import COLUMNS, Compiled, evaluate_corpus
from orgflow.evaluation.replay import ReplayReport, replay_model

from orgflow_ir.model import Model
from orgflow_ir.model.codec import from_json, to_json
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.runners import Runner
from orgflow_ir.targets import Emitted

Json = dict[str, Any]

SAID = {
    "no-branch": "No branch of “Unauthorized? refused the API key” matches. Set x in “y” to one.",
    "no-trigger": "Workflow cannot be activated because it has no trigger node. At least one "
    "trigger, webhook, or polling node is required.",
    "taken-path": "n8n refused POST /x with 409: There is a conflict with one of the webhooks.",
    "unpublished-callee": 'Cannot publish workflow: Node "N" references workflow nope which is not '
    "published. Please publish all referenced sub-workflows first.",
    "missing-credential": "Node X: Missing required credential: SMTP",
    "missing-parameter": "Missing or invalid required parameters",
    "unknown-node": "Unrecognized node type: n8n-nodes-base.nope",
    "refused-shape": "request/body must NOT have additional properties",
    "archived": "Cannot update an archived workflow.",
    "refused-key": "n8n at http://x rejected the API key (GET /api/v1/workflows)",
    "unreachable": "cannot reach n8n at http://x: [Errno 111] Connection refused",
    "failed-server": "n8n refused PUT /api/v1/workflows/x with 502: Bad Gateway",
    "missing-node-reference": "Referenced node doesn't exist",
    "unexecuted-reference": "Node 'A' hasn't been executed",
    "broken-expression": "invalid syntax",
    "wrong-type": "Wrong type: 'x' is a string but was expecting a number [condition 0, item 0]",
    "too-long": "not finished after 30 s",
    "out-of-memory": "JavaScript heap out of memory",
    "no-connection": "connect ECONNREFUSED 127.0.0.1:80",
    "too-many-requests": "The service is receiving too many requests from you",
    "failed-service": "Service unavailable - try again later or consider setting this node to "
    "retry automatically (in the node settings)",
    "refused-credential": "Authorization failed - please check your credentials",
    "missing-resource": "The resource you are requesting could not be found",
    "rejected-request": "Bad request - please check your parameters",
    "crashed": "Workflow did not finish, possible out-of-memory issue",
    "shut-down": "The execution was cancelled because the system is shutting down",
    "busy-runner": "Task request timed out",
    "run-timeout": "The execution was cancelled because it timed out",
    "service-timeout": "timeout of 300000ms exceeded",
    "unknown-host": "getaddrinfo ENOTFOUND nowhere.example",
}


N8N = N8nBackend()
SOURCES = {"translation_error", "bpmn_quality", "n8n_limitation", "unknown"}
"""As published."""


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.rule)
def test_every_message_has_its_rule(message: Any) -> None:
    found = by_message("execution", SAID[message.rule], N8N)
    assert found.rule == message.rule
    assert found.evidence == (" ".join(SAID[message.rule].split()),)
    assert found.failure_source in SOURCES
    assert found.severity in get_args(Severity)


def test_no_rule_is_unknown_with_the_evidence() -> None:
    found = by_message("deploy", "something nobody has seen " + "x" * 1000, N8N)
    assert (found.failure_source, found.rule, found.confidence) == ("unknown", "none", "low")
    assert not found.is_fixable
    assert found.evidence[0].startswith("something nobody has seen")
    assert len(found.evidence[0]) == 300
    assert found.failure_stage in get_args(Stage)
    assert from_json(Failure, to_json(found)) == found


def test_what_the_rules_say_comes_from_the_papers_type() -> None:
    names = {f.name for f in fields(Failure)}
    assert {"failure_stage", "failure_source", "is_fixable", "root_cause", "severity", "confidence",
            "bpmn_construct_responsible", "suggested_fix"} <= names  # fmt: skip
    missing = by_message("activation", SAID["no-trigger"], N8N)
    assert missing.failure_source == "bpmn_quality"
    assert missing.failure_stage == "activation"


def test_diagnostics(registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "bad.bpmn"
    path.write_text(DEADLOCK, encoding="utf-8")
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx)
    assert model is not None
    request = CompileRequest(model, registry.backends["n8n"])
    assert run_stages(LOWER, request, ctx).legal is None
    found = by_diagnostics(ctx.diagnostics, model, "n8n")
    assert [(one.rule, one.failure_source) for one in found] == [("OF201", "bpmn_quality")]
    assert found[0].bpmn_construct_responsible == "gateway.parallel"
    assert found[0].is_fixable


# -- replays of workflows that were damaged on purpose ---------------------------------------------


class Damaged(LocalRunner):
    """Plays what is left of a workflow after a damage."""

    def __init__(self, engine: LocalEngine, damage: Any) -> None:
        super().__init__(engine)
        self._damage = damage

    def load(self, emitted: Emitted, process: str, ctx: PassContext) -> None:
        super().load(emitted, process, ctx)
        workflow: Any = copy.deepcopy(self.workflow)
        self._damage(workflow)
        self.workflow = workflow


def replayed(engine: LocalEngine, registry: Registry, path: Path, damage: Any) -> tuple[Model, Any]:
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx)
    assert model is not None
    emitted = compile_model(model, registry.backends["n8n"], ctx)
    assert emitted is not None
    return model, replay_model(model, emitted, Damaged(engine, damage), ctx)


@pytest.fixture
def leave(root: Path) -> Path:
    return root / "examples/leave-request/model.bpmn"


def test_swapped_branches(engine: LocalEngine, registry: Registry, leave: Path) -> None:
    def swap(workflow: Json) -> None:
        outputs = workflow["connections"]["Request approved?"]["main"]
        outputs[0], outputs[1] = outputs[1], outputs[0]

    found = by_replay(*replayed(engine, registry, leave, swap), N8N)
    assert found[0].rule == "wrong-branch"
    assert found[0].bpmn_construct_responsible == "gateway.exclusive"
    assert found[0].failure_source == "translation_error"
    assert found[0].evidence


def test_a_join_that_starves(engine: LocalEngine, registry: Registry, leave: Path) -> None:
    def cut(workflow: Json) -> None:
        workflow["connections"]["Update team calendar"]["main"] = [[]]

    found = by_replay(*replayed(engine, registry, leave, cut), N8N)
    assert found[0].rule == "starved-join"
    assert found[0].bpmn_construct_responsible == "gateway.parallel"
    assert "nothing" in found[0].root_cause


def test_a_wire_that_is_missing(engine: LocalEngine, registry: Registry, leave: Path) -> None:
    def cut(workflow: Json) -> None:
        workflow["connections"]["Fill in leave request"]["main"] = [[]]

    found = by_replay(*replayed(engine, registry, leave, cut), N8N)
    assert found[0].rule == "ended-early"
    assert "Check leave request" in found[0].root_cause


def test_a_broken_expression(engine: LocalEngine, registry: Registry, leave: Path) -> None:
    def spoil(workflow: Json) -> None:
        row = next(r for r in workflow["nodes"] if r["name"] == "Request approved?")
        for rule in row["parameters"]["rules"]["values"]:
            rule["conditions"]["conditions"][0]["leftValue"] = "={{ $('Nobody').last().json.x }}"

    found = by_replay(*replayed(engine, registry, leave, spoil), N8N)
    assert found[0].failure_stage == "execution"
    assert found[0].rule in ("missing-node-reference", "unexecuted-reference")
    assert found[0].failure_source == "translation_error"


def test_work_done_twice(engine: LocalEngine, registry: Registry, leave: Path) -> None:
    def double(workflow: Json) -> None:
        wires = workflow["connections"]["Update team calendar"]["main"][0]
        wires.append({"node": "Confirm leave", "type": "main", "index": 0})

    found = by_replay(*replayed(engine, registry, leave, double), N8N)
    assert found[0].rule in ("ran-again", "wrong-branch", "starved-join")
    assert found[0].failure_stage == "logical"


@pytest.mark.slow
def test_damages_at_random_are_typed(engine: LocalEngine, registry: Registry, leave: Path) -> None:
    """A dropped or a turned wire: no record is without a cause or evidence, few are unknown."""
    rng = random.Random(7)
    rules: list[str] = []
    for _ in range(25):

        def damage(workflow: Json) -> None:
            names = sorted(n for n, kinds in workflow["connections"].items()
                           if any(kinds["main"]))  # fmt: skip
            outputs = workflow["connections"][rng.choice(names)]["main"]
            wires = rng.choice([one for one in outputs if one])
            if rng.random() < 0.5:
                wires.pop()
            else:
                targets = [r["name"] for r in workflow["nodes"] if "sticky" not in r["type"]]
                wires[0] = {**wires[0], "node": rng.choice(sorted(targets)), "index": 0}

        model, report = replayed(engine, registry, leave, damage)
        found = () if report.ok else by_replay(model, report, N8N)
        assert report.ok or found
        rules += [one.rule for one in found]
        assert all(one.root_cause and one.evidence and one.suggested_fix for one in found)
    assert len(rules) > 20
    assert rules.count("none") <= len(rules) / 10, Counter(rules)


def test_nothing_to_play_is_unknown(registry: Registry, leave: Path) -> None:
    model = load_model(str(leave), registry, PassContext(registry=registry))
    assert model is not None
    assert [one.rule for one in by_replay(model, ReplayReport((), (0, 0)), N8N)] == ["none"]
    told = ReplayReport((), (0, 0), unfinished=("a run of the model does not end",))
    assert [one.rule for one in by_replay(model, told, N8N)] == ["model-stuck"]
    assert unexplained_failure("logical", []).evidence == ()


# -- the table -----------------------------------------------------------------------------------


class Failing(Runner):
    """A server that refuses one way or the other."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def load(self, model: Model, process: str, ctx: PassContext) -> None:
        pass

    visible = frozenset()
    changed = ()

    def play(self, runs: Any) -> Any:
        raise self.error

    def close(self) -> None:
        pass


def compiler(registry: Registry) -> Any:
    def compile_file(path: Path, name: str, ctx: PassContext) -> Any:
        ctx.registry = registry
        model = load_model(str(path), registry, ctx, from_=name)
        assert model is not None
        made = compile_model(model, registry.backends["n8n"], ctx)
        return model, Compiled(model, made) if made is not None else None

    return compile_file


def test_the_table_has_the_record(registry: Registry, root: Path, tmp_path: Path) -> None:
    (tmp_path / "bpmn").mkdir()
    source = root / "examples/leave-request/model.bpmn"
    (tmp_path / "bpmn/01.bpmn").write_text(source.read_text("utf-8"), encoding="utf-8")
    (tmp_path / "bpmn/02.bpmn").write_text(DEADLOCK, encoding="utf-8")
    error = RefusedError("n8n refused POST /x with 400: Missing required credential: SMTP", 400)
    error.stage = "activation"
    report = evaluate_corpus(tmp_path, compiler(registry), N8N, Failing(error), formats=("bpmn",))
    first, second = report.rows
    assert (first["pipeline_status"], first["failure_stage"]) == ("fail", "activation")
    assert first["failure_source"] == "bpmn_quality"
    assert first["failure_rule"] == "missing-credential"
    assert (second["pipeline_status"], second["failure_stage"]) == ("regen_fail", "compile")
    assert second["failure_rule"] == "OF201"
    assert set(first) == set(second) == set(COLUMNS)
    assert len(report.to_csv().splitlines()) == 3
    with pytest.raises(UnreachableError):  # the next model would do no better
        evaluate_corpus(
            tmp_path, compiler(registry), N8N, Failing(UnreachableError("x")), formats=("bpmn",)
        )
