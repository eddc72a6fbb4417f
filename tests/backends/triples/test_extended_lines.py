"""Extended graph lines: what they state, that plain lines keep their meaning, and round trips."""

from __future__ import annotations

from pathlib import Path

import orgflow
import pytest
from outline_random import RandomModel
from outline_referee import TooMany, compare_models, compare_statements
from outline_trips import errors_of, model_of, read_text, text_of, through_bpmn, write_model
from seeds import at_least, seeds
from shared_data import shared_cases, shared_data

from orgflow_ir.model import Model

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*/model.bpmn"))
BOUNDED = {"parallel-approval"}
"""Examples with more runs than are compared."""
REFUSED = {"23": "sends and receives messages", "24": "sends and receives messages",
           "37": "complex gateway"}  # fmt: skip
"""Models of PMo that no lines describe, and why."""

LINES = """\
# extended
== dealer
Start1 receive order from customer | | s1
T1 check order | clerk | s2 | each item, at once · reads order · writes report
W1 gateway
E1 wait 3 days | | | named Deadline
E2 receive answer from customer
S1 repair {
T2 repair goods | mechanic
E3 send note to customer
Start2 -> T2
T2 -> E3
E3 -> End1
}
C1 call dunning
T3 cancel order
T4 remind manager
T5 answer auditor
X1 rich?
End2 shipped
End3 stop all over
End4 error no money
Start1 -> T1
T1 -> W1
W1 -> E1
W1 -> E2
E1 -> S1
E2 -> S1
S1 -!(after 10 days | named Too long)-> T3
S1 -+(receive reminder from customer)-> T4
S1 -> X1
X1 -(yes [amount > 10])-> C1
X1 -(no (default))-> End3
C1 -> End2
T3 -> End4
Process -+(receive request from auditor)-> T5
"""


def line_model(text: str) -> Model:
    return model_of(text, "model.triples")


def test_what_extended_lines_are() -> None:
    model = line_model(LINES)
    assert orgflow.check(model).ok
    there = {(n.construct, n.name) for scope in model.scopes() for n in scope.nodes}
    assert {
        ("event.start.message", "order"), ("gateway.event", ""), ("event.catch.timer", "Deadline"),
        ("event.catch.message", "answer"), ("sub-process.plain", "repair"),
        ("event.throw.message", "note"), ("call-activity", "dunning"),
        ("event.boundary.timer", "Too long"),
        ("event.boundary.message.non-interrupting", "reminder"),
        ("event.end.terminate", "all over"), ("event.end.error", "no money"),
        ("event.end.none", "shipped"), ("sub-process.event", ""),
        ("event.start.message.non-interrupting", "request"),
    } <= there  # fmt: skip
    assert [pool.name for pool in model.pools] == ["dealer", "customer", "auditor"]
    (condition,) = [f.condition for p in model.processes for f in p.flows if f.condition]
    assert (condition.text, condition.language) == ("amount > 10", "feel")
    assert [f.name for p in model.processes for f in p.flows if f.default] == ["no"]
    (task,) = [n for p in model.processes for n in p.nodes if n.name == "check order"]
    assert task.loop is not None  # type: ignore[union-attr]
    assert (task.loop.item, task.loop.sequential) == ("item", False)  # type: ignore[union-attr]
    assert compare_models(model, line_model(text_of(model, "triples"))) == []
    assert compare_models(model, through_bpmn(model)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Start -> E1\nE1 receive order\n",
        "T1 check\nS1 -> T1\nT1 -> E1\n",
        "E1 shipped\nT1 check -> E1\n",
        "Start -> W1 -> C1 -> End\nW1 weigh goods\nC1 check\n",
        "T1 check | clerk | each part\nStart -> T1 -> End process\n",
        "X1 -(over 10 [EUR])-> T1\nX1 -(no)-> T2\n",
        "Start the machine\nStart -> T1 -> End\n",
        "== > x\nT1 -> T2\n",
    ],
)
def test_plain_lines_keep_their_meaning(text: str) -> None:
    """Words that extended lines would read otherwise, in texts without any extended form."""
    model, _ = read_text(text, "model.triples")
    assert model is not None
    there = {n.construct for scope in model.scopes() for n in scope.nodes}
    assert there <= {
        "task.abstract", "event.start.none", "event.end.none", "gateway.exclusive",
    }  # fmt: skip
    assert not any(f.condition for p in model.processes for f in p.flows)


@pytest.mark.parametrize("name", ["events", "pools", "german", "twopage"])
def test_recorded_answers_are_read_completely(name: str) -> None:
    """Answers of a language model to texts of the trial, as they were given."""
    texts = shared_data("notation", "own_texts.lines").read_text("utf-8").split("#### ")
    (text,) = [part.partition("\n")[2] for part in texts if part.startswith(f"{name}\n")]
    model, findings = read_text(text, "answer.triples")
    assert model is not None
    assert findings == []
    assert compare_statements(model, line_model(text_of(model, "triples"))) == []


def check_trip(model: Model) -> bool:
    """Whether all runs of a model and of its lines were compared; fails where they differ."""
    back = line_model(text_of(model, "triples"))
    try:
        assert compare_models(model, back) == []
    except TooMany:
        assert compare_statements(model, back) == []
        return False
    return True


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.parent.name for path in EXAMPLES])
def test_an_example_is_the_same_process(path: Path) -> None:
    model, _ = read_text(path.read_text("utf-8"), "model.bpmn")
    assert model is not None
    assert check_trip(model) is (path.parent.name not in BOUNDED)


@pytest.mark.parametrize("number", shared_cases(range(1, 56), "pmo"))
def test_a_pmo_model_is_the_same_process_or_refused(number: int) -> None:
    path = shared_data("pmo", "bpmn", f"{number:02}.bpmn")
    model, _ = read_text(path.read_text("utf-8"), "model.bpmn")
    assert model is not None
    reason = REFUSED.get(f"{number:02}")
    if reason is None:
        check_trip(model)
        return
    text, findings = write_model(model, "triples")
    assert text is None
    assert any(reason in error for error in errors_of(findings))


def has_equal_flows(model: Model) -> bool:
    """Whether a model has flows that lines cannot distinguish: a reader takes one of them."""
    for scope in model.scopes():
        ends = [(f.source, f.target, f.name, f.default) for f in scope.flows]
        if len(set(ends)) < len(ends):
            return True
    return False


def test_random_models_are_the_same_processes() -> None:
    equal = bounded = 0
    for seed in seeds(200):
        model = RandomModel(seed).model()
        if has_equal_flows(model):
            continue
        complete = check_trip(model)
        equal += complete
        bounded += not complete
    assert equal >= at_least(150)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# extended\nT1 a\nStart -> T1\n}\n", 4),
        ("# extended\nT1 a\nStart -> T1\nsome prose here\n", 4),
        ("# extended\nT1 a\nStart -> T1\nT1 -!(after 3 days)->\n", 4),
    ],
)
def test_a_line_that_is_not_read_is_reported(text: str, line: int) -> None:
    model, findings = read_text(text, "m.triples")
    assert model is not None
    assert [d.loc.line for d in findings if d.code == "OF075" and d.loc] == [line]


def test_hostile_lines_raise_nothing() -> None:
    parts = "".join(f"S{n} p {{\n" for n in range(200)) + "T1 -> T2\n" + "}\n" * 300
    waits = "# extended\n" + "E1 wait 3\nE1 -> E1\n" * 50
    loops = ("# extended\nS1 x {\nS1 -> S1\n", "Process -!(x)-> Process\nA -> B\n")
    for text in (parts, waits, *loops, "== a\n== b\nA -> B\n"):
        read_text(text, "m.triples")
