"""Answers to gaps: each closes its gap and changes nothing else; wrong ones are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import orgflow
import pytest
from gap_models import answerable, gaps, good_answer, open_model
from orgflow.passes.pipelines import CHECK

from orgflow_ir.diagnostics import Severity, apply
from orgflow_ir.gaps import Gap, GapKind
from orgflow_ir.gaps.answers import AnswerError, convert_answer
from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Event, Expression, Flow, Model, SubProcess, Task
from orgflow_ir.model.bindings import Form, Script, Worker
from orgflow_ir.model.codec import to_data
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.rewriter import Rewriter
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import PassContext, PassManager
from orgflow_ir.plugins.agents import GAP_KINDS
from orgflow_ir.program.evaluator import evaluate
from orgflow_ir.testing import minimal_models

ROOT = Path(__file__).resolve().parents[2]


def models() -> Iterator[tuple[str, Model]]:
    yield "every kind", open_model()
    for path in sorted((ROOT / "examples").glob("*/model.*")):
        yield path.parent.name, _read(path)
    for path in sorted((ROOT / "tests" / "diagnostics").glob("OF50*/bad.*")):
        yield path.parent.name, _read(path)
    yield from minimal_models()


def _read(path: Path) -> Model:
    model = orgflow.read(path).model
    assert model is not None
    return model


def cases() -> Iterator[Any]:
    for name, model in models():
        for gap in answerable(model):
            yield pytest.param(model, gap, id=f"{name}-{gap.kind}-{gap.element.id}")


def key(gap: Gap) -> tuple[str, str, str]:
    return gap.kind, gap.scope, gap.element.id


def errors(model: Model) -> list[tuple[str, str | None]]:
    ctx = PassContext()
    PassManager(CHECK).run(model, ctx)
    return [(d.code, d.element) for d in ctx.diagnostics if d.severity is Severity.ERROR]


def parts(model: Model) -> dict[str, dict[str, Any]]:
    """Every element by its id, a scope without the nodes and flows in it."""
    return {
        e.id: {k: v for k, v in to_data(e).items() if k not in ("nodes", "flows")}
        for e in all_elements(model)
    }


CHANGED = {
    "task": {"binding"}, "message": {"binding"}, "time": {"definitions"}, "list": {"loop"},
    "condition": {"condition"}, "decision": {"condition"}, "branch": {"name", "default"},
}  # fmt: skip
"""The fields that an answer of each kind may change."""


def test_the_kinds_with_an_answer() -> None:
    assert {gap.kind for gap in answerable(open_model())} == GAP_KINDS == CHANGED.keys()
    assert set(get_args(GapKind)) > GAP_KINDS


@pytest.mark.parametrize(("model", "gap"), list(cases()))
def test_an_answer_closes_its_gap_and_changes_nothing_else(model: Model, gap: Gap) -> None:
    changed = apply(model, convert_answer(gap, good_answer(gap), model))
    assert key(gap) not in {key(left) for left in answerable(changed)}
    assert {key(left) for left in gaps(changed)} >= {key(g) for g in gaps(model)} - {key(gap)}
    assert list_violations(changed) <= list_violations(model)
    assert set(errors(changed)) <= set(errors(model))

    before, after = parts(model), parts(changed)
    assert list(before) == list(after), "no element comes, goes or moves"
    touched = {id for id in before if before[id] != after[id]}
    flows = {f.id for s in model.scopes() for f in s.flows if f.source == gap.element.id}
    assert touched
    assert touched <= (flows if gap.kind in ("decision", "branch") else {gap.element.id})
    fields = {k for id in touched for k in before[id] if before[id][k] != after[id][k]}
    assert fields <= CHANGED[gap.kind]


def find(kind: str, element: str | None = None) -> Gap:
    return next(
        g for g in answerable(open_model())
        if g.kind == kind and element in (None, g.element.id)
    )  # fmt: skip


def answered(gap: Gap, answer: Any) -> Model:
    model = open_model()
    return apply(model, convert_answer(gap, answer, model))


def element(model: Model, id: str) -> Any:
    return next(e for e in all_elements(model) if e.id == id)


# -- what becomes of answers -----------------------------------------------------------------------


def test_a_binding_keeps_the_settings_of_the_source() -> None:
    task = element(answered(find("task", "check"), {"kind": "script", "code": "x"}), "check")
    old = element(open_model(), "check").binding
    assert isinstance(task.binding, Script)
    assert (task.binding.inputs, task.binding.retries) == (old.inputs, "3")
    other = {"kind": "worker", "by": "topic", "target": "check", "retries": "9"}
    task = element(answered(find("task", "check"), other), "check")
    assert isinstance(task.binding, Worker)
    assert (task.binding.target, task.binding.retries) == ("check", "9")


def test_a_person_may_do_a_task() -> None:
    answer = {"kind": "form", "assignee": "ann", "fields": [{"name": "ok", "type": "boolean"}]}
    task = element(answered(find("task", "repair"), answer), "repair")
    assert isinstance(task.binding, Form)
    assert task.binding.fields[0].name == "ok"


def test_a_time_keeps_the_rest_of_its_event() -> None:
    answer = {"kind": "date", "value": "2030-01-02T03:04:05Z"}
    event = element(answered(find("time", "later"), answer), "later")
    assert isinstance(event, Event)
    (timer,) = event.definitions
    assert (timer.id, timer.timer) == ("timer_1", "date")
    assert timer.expression == Expression(text="2030-01-02T03:04:05Z")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Yes", 'ok = "Yes"'),
        ('say "no"', 'ok = "say \\"no\\""'),
        ("a \\ b", 'ok = "a \\\\ b"'),
        ('" or true or "', 'ok = "\\" or true or \\""'),
        ("{{ $json.x }}", 'ok = "{{ $json.x }}"'),
        ("ü 注文 🚚", 'ok = "ü 注文 🚚"'),
    ],
)
def test_a_value_is_a_text_whatever_it_looks_like(value: str, text: str) -> None:
    answer = {"variable": "ok", "values": {"yes": value, "no": "No"}}
    model = answered(find("decision", "ok"), answer)
    flow = element(model, "yes")
    assert isinstance(flow, Flow)
    assert flow.condition == Expression(text=text, language="FEEL")
    tree = read_condition(flow.condition)
    assert tree is not None
    assert evaluate(tree, {("ok",): value}) is True
    assert evaluate(tree, {("ok",): "No"}) is False


def test_a_branch_becomes_the_default() -> None:
    answer = {"labels": {"to_wait": "A reply is due"}, "default": "to_skip"}
    model = answered(find("branch"), answer)
    assert [element(model, f).default for f in ("to_wait", "to_skip")] == [False, True]
    assert element(model, "to_wait").name == "A reply is due"


def test_a_gateway_with_a_default_is_not_asked_for_another() -> None:
    rewriter = Rewriter(open_model())
    rewriter.set_default("order", "to_skip")
    gap = next(g for g in answerable(rewriter.done()) if g.kind == "branch")
    with pytest.raises(AnswerError, match="'labels' is a required property"):
        convert_answer(gap, {"default": "to_wait"}, rewriter.done())


def test_a_list_by_its_name() -> None:
    each = element(answered(find("list", "each"), {"collection": "orders"}), "each")
    assert isinstance(each, SubProcess)
    assert each.loop is not None
    assert (each.loop.collection, each.loop.item) == ("orders", "old")
    rate = element(answered(find("list", "rate"), {"collection": "a", "item": "b"}), "rate")
    assert isinstance(rate, Task)
    assert rate.loop is not None
    assert (rate.loop.collection, rate.loop.item) == ("a", "b")


def test_answers_one_after_the_other_in_one_element() -> None:
    """A gap that was found before an edit does not undo that edit."""
    model = open_model()
    both = [g for g in answerable(model) if g.element.id == "rate"]
    assert [g.kind for g in both] == ["task", "list"]
    for order in (both, both[::-1]):
        changed = model
        for gap in order:
            changed = apply(changed, convert_answer(gap, good_answer(gap), changed))
        rate = element(changed, "rate")
        assert rate.binding is not None
        assert rate.loop.cardinality == Expression(text="3")


# -- what is refused -------------------------------------------------------------------------------


class Strange:
    """Of no kind that JSON has."""


def _nested() -> Any:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    return value


WRONG: list[tuple[str, Any, str]] = [
    ("task", None, "None is not of type 'object'"),
    ("task", "a script", "'a script' is not of type 'object'"),
    ("task", {}, "'kind' is a required property"),
    ("task", {"kind": "robot"}, "'robot' is not one of"),
    ("task", {"kind": "script"}, "'code' is a required property, or 'resource' is"),
    ("task", {"kind": "script", "code": "  "}, "does not match"),
    ("task", {"kind": "http"}, "'url' is a required property"),
    ("task", {"kind": "worker", "by": "class"}, "'target' is a required property, or 'code' is"),
    ("task", {"kind": "http", "url": 7}, "7 is not of type 'string' at `\\$.url`"),
    (
        "task", {"kind": "http", "url": "x", "verb": "GET"},
        "not a binding of the kind `http`: .*verb",
    ),
    ("task", {"kind": "form", "fields": [{}]}, "not a binding of the kind `form`: .*name"),
    ("task", {"kind": "script", "code": "\x00"}, "control characters"),
    ("task", {"kind": "script", "code": "\ud800"}, "it is no JSON"),
    ("task", {"kind": "script", "code": "x" * 200_000}, "has 2000.. characters; the maximum is"),
    ("task", Strange(), "it is no JSON"),
    ("task", {"kind": "script", "code": Strange()}, "it is no JSON"),
    ("task", float("nan"), "it is no JSON"),
    ("task", _nested(), "it is nested deeper than 100"),
    ("message", {"kind": "mail"}, "'to' is a required property"),
    ("time", {"kind": "duration"}, "'value' is a required property"),
    ("time", {"kind": "duration", "value": "soon"}, "`soon` is not an ISO 8601 duration"),
    ("time", {"kind": "duration", "value": "R/P1D"}, "is not an ISO 8601 duration"),
    ("time", {"kind": "date", "value": "2030-02-31T00:00:00Z"}, "is not an ISO 8601 date"),
    ("time", {"kind": "duration", "value": "${days}"}, "is not an ISO 8601 duration"),
    ("time", {"kind": "later", "value": "PT1H"}, "'later' is not one of"),
    ("time", {"kind": "duration", "value": "PT1H", "x": 1}, "Additional properties"),
    ("condition", {"text": "Yes, please"}, "is a label|cannot be read"),
    ("condition", {"text": "a > (1"}, "is a label|cannot be read"),
    ("condition", {"text": "f(x)", "language": "FEEL"}, "cannot be read"),
    ("condition", {"text": ""}, "does not match"),
    ("list", {"count": 0}, "less than the minimum"),
    ("list", {"count": "3"}, "not of type 'integer'"),
    ("list", {"collection": "a b"}, "does not match"),
    ("list", {"collection": "orders\n"}, "does not match"),
    ("list", {"collection": "a", "count": 1}, "'count' was unexpected"),
    ("branch", {}, "the branch `to_wait` has no label and is not the default"),
    ("branch", {"labels": {"to_wait": "a"}}, "the branch `to_skip` has no label"),
    ("branch", {"labels": {"to_wait": "Go", "to_skip": "go "}}, "two branches have the same label"),
    ("branch", {"labels": {"yes": "a"}, "default": "to_wait"}, "Additional properties"),
    ("branch", {"labels": {"to_wait": " "}, "default": "to_skip"}, "does not match"),
    ("branch", {"default": "yes"}, "'yes' is not one of"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "answer", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_answers_are_refused(kind: str, answer: Any, message: str) -> None:
    with pytest.raises(AnswerError, match=message) as refused:
        convert_answer(find(kind), answer, open_model())
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


OK = {"yes": "Yes", "no": "No"}
WRONG_DECISIONS: list[tuple[str, Any, str]] = [
    ("ok", {"variable": "ok"}, "'values' is a required property"),
    ("ok", {"variable": "ok", "values": {"yes": "Yes"}}, "'no' is a required property"),
    ("ok", {"variable": "is ok", "values": OK}, "does not match"),
    ("ok", {"variable": "ok\n", "values": OK}, "does not match"),
    ("ok", {"variable": "not", "values": OK}, "is a label|cannot be read"),
    ("ok", {"variable": "ok", "values": {"yes": "Yes", "no": "Yes"}}, "the same value"),
    ("ok", {"variable": "ok", "values": {"yes": "a\nb", "no": "c"}}, "control characters"),
    ("ok", {"variable": "ok", "values": {**OK, "f1": "x"}}, "Additional properties"),
    ("how", {"conditions": {"by_mail": "a > 1"}}, "'by_phone' is a required property"),
    ("how", {"conditions": {"by_mail": "Mail it", "by_phone": "a > 1"}}, "label|cannot be"),
    ("how", {"variable": "how", "values": {"by_mail": "a", "by_phone": "b"}}, "conditions|Additi"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("gateway", "answer", "message"), WRONG_DECISIONS, ids=range(len(WRONG_DECISIONS))
)
def test_wrong_decisions_are_refused(gateway: str, answer: Any, message: str) -> None:
    with pytest.raises(AnswerError, match=message):
        convert_answer(find("decision", gateway), answer, open_model())


def test_a_gap_without_a_place_for_an_answer() -> None:
    gap = find("time")._replace(schema=None)
    with pytest.raises(AnswerError, match="the model cannot hold an answer"):
        convert_answer(gap, {"kind": "duration", "value": "PT1H"}, open_model())


@pytest.mark.parametrize("gap", answerable(open_model()), ids=lambda g: f"{g.kind}-{g.element.id}")
def test_an_answer_for_what_is_no_longer_there(gap: Gap) -> None:
    rewriter = Rewriter(open_model())
    rewriter.remove(gap.scope, gap.element.id)
    with pytest.raises(AnswerError, match="its element no longer exists"):
        convert_answer(gap, good_answer(gap), rewriter.done())


@pytest.mark.parametrize("flow", ["yes", "to_skip"])
def test_an_answer_for_branches_that_are_no_longer_there(flow: str) -> None:
    gap = find("decision", "ok") if flow == "yes" else find("branch")
    rewriter = Rewriter(open_model())
    rewriter.remove("order", flow)
    with pytest.raises(AnswerError, match=f"the branch `{flow}` no longer exists"):
        convert_answer(gap, good_answer(gap), rewriter.done())


@pytest.mark.parametrize("gap", answerable(open_model()), ids=lambda g: f"{g.kind}-{g.element.id}")
def test_schemas_are_json_schemas_and_take_good_answers(gap: Gap) -> None:
    """Checked by the library against the meta-schema, after a trip through text."""
    assert gap.schema is not None
    schema = json.loads(json.dumps(gap.schema))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(good_answer(gap))
