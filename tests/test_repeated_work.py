"""A compile does each piece of work once: counts, since times depend on what else a machine does.

`benchmarks/linear.py` measures times of the same models.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from types import FrameType

import pytest
from long_models import compensated_branches_model, decisions_model
from orgflow import compiler

from orgflow_ir.gaps import find
from orgflow_ir.languages import recognise
from orgflow_ir.languages.feel import reading
from orgflow_ir.lowering import undoing
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.work import gateway_decisions

REGISTRY = Registry(outside=False)


def compile_text(text: str, target: str = "n8n") -> PassContext:
    """The context of compiling a BPMN text as the command does."""
    ctx = PassContext(registry=REGISTRY)
    source = SourceFile("model.bpmn", text.encode())
    model = compiler.load(source, REGISTRY, ctx)
    assert isinstance(model, Model)
    compiler.compile_model(model, REGISTRY.backends[target], ctx)
    return ctx


def call_number(text: str) -> int:
    """The number of Python functions that a compile calls."""
    number = 0

    def count_call(frame: FrameType, event: str, argument: object) -> None:
        nonlocal number
        number += event == "call"

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        compile_text(text)
    finally:
        sys.setprofile(before)
    return number


def test_the_models_are_as_described() -> None:
    (process,) = _model(compensated_branches_model()).processes
    nodes = [node for scope in process.scopes() for node in scope.nodes]
    assert len(nodes) == 36
    assert sum(node.construct == "event.boundary.compensation" for node in nodes) == 4
    (process,) = _model(decisions_model(90)).processes
    assert sum(flow.condition is not None for flow in process.flows) == 20
    (process,) = _model(decisions_model(90, labelled=True)).processes
    assert not any(flow.condition is not None for flow in process.flows)


def _model(text: str) -> Model:
    ctx = PassContext(registry=REGISTRY)
    model = compiler.load(SourceFile("model.bpmn", text.encode()), REGISTRY, ctx)
    assert model is not None
    return model


@pytest.mark.parametrize("target", ["n8n", "asl"])
def test_each_condition_is_parsed_once(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    parsed: Counter[str] = Counter()
    parse = recognise.Recognised.parse

    def count_parse(code: recognise.Recognised) -> object:
        parsed[code.text] += 1
        return parse(code)

    monkeypatch.setattr(recognise.Recognised, "parse", count_parse)
    compile_text(decisions_model(90), target)
    assert len(parsed) == 20
    assert set(parsed.values()) == {1}


@pytest.mark.parametrize("target", ["n8n", "asl"])
def test_each_condition_of_feel_is_parsed_once(
    monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    parsed: Counter[str] = Counter()
    parse = reading.parse_expression

    def count_parse(code: str, *names: object, **options: object) -> object:
        parsed[code] += 1
        return parse(code, *names, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "parse_expression", count_parse)
    compile_text(re.sub(r"[$]\{(.*?)\}", r"= \1 or count(d) = 1", decisions_model(90)), target)
    assert len(parsed) == 20
    assert set(parsed.values()) == {1}


def test_each_scope_is_decided_once_for_each_convention(monkeypatch: pytest.MonkeyPatch) -> None:
    decided: Counter[tuple[str, str]] = Counter()
    decide = gateway_decisions.read_decisions

    def count_decide(scope: object, graph: object, style: object) -> object:
        name = style.field_name.__name__  # type: ignore[attr-defined]
        decided[scope.id, name] += 1  # type: ignore[attr-defined]
        return decide(scope, graph, style)  # type: ignore[arg-type]

    monkeypatch.setattr(gateway_decisions, "read_decisions", count_decide)
    compile_text(decisions_model(90))
    assert len(decided) == 2
    assert set(decided.values()) == {1}


def test_gaps_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found: Counter[str] = Counter()
    scope_gaps = find._Finder.scope

    def count_scope(finder: find._Finder, scope: object) -> object:
        found[scope.id] += 1  # type: ignore[attr-defined]
        return scope_gaps(finder, scope)  # type: ignore[arg-type]

    monkeypatch.setattr(find._Finder, "scope", count_scope)
    compile_text(decisions_model(90))
    assert found == {"p": 1}


def test_the_states_of_compensated_work_are_explored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    explored: list[str] = []
    plans: list[str] = []
    find_started, plan = undoing._find_started, undoing._plan_process

    def count_explored(plan: undoing.Plan, model: Model, ctx: PassContext) -> bool:
        explored.append(plan.process.id)
        return find_started(plan, model, ctx)

    def count_plan(process: object, model: Model, ctx: PassContext) -> undoing.Plan:
        plans.append(process.id)  # type: ignore[attr-defined]
        return plan(process, model, ctx)  # type: ignore[arg-type]

    monkeypatch.setattr(undoing, "_find_started", count_explored)
    monkeypatch.setattr(undoing, "_plan_process", count_plan)
    ctx = compile_text(compensated_branches_model())
    assert len(plans) > 3, "lowerings rewrite the model in several rounds"
    assert explored == ["p"]
    messages = [d.message for d in ctx.diagnostics if "too many states" in d.message]
    assert len(messages) == 1, "one refusal for one cause"


@pytest.mark.parametrize("labelled", [False, True])
def test_the_number_of_calls_grows_with_the_model(labelled: bool) -> None:
    compile_text(decisions_model(30, labelled=labelled))  # what is imported, is
    short, long = (call_number(decisions_model(n, labelled=labelled)) for n in (250, 1_000))
    assert long < 4.4 * short
