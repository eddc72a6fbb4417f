"""Models as outlines and back: the same behaviour, or refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from outline_random import RandomModel
from outline_referee import TooMany, compare_models, compare_statements
from outline_trips import errors_of, model_of, read_text, text_of, through_bpmn, write_model
from seeds import at_least, seeds
from shared_data import shared_cases, shared_data
from text_model import model as drawn

from orgflow_ir.model import Event, EventDefinition, Model
from orgflow_ir.model.element_names import one_line

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*/model.bpmn"))
BOUNDED = {"parallel-approval"}
"""Examples with more runs than are compared."""

REFUSED = {
    "21": "its parallel branches meet without a parallel join",
    "23": "it sends and receives messages",
    "24": "it sends and receives messages",
    "37": "complex gateway",
}
"""Models of PMo that no outline describes, and why."""


def compare_or_bound(one: Model, other: Model) -> tuple[list[str], bool]:
    """The differences of two models, and whether all runs were compared."""
    try:
        return compare_models(one, other), True
    except TooMany:
        return compare_statements(one, other), False


def check_round_trip(model: Model) -> bool:
    """A model as outline, and back by way of BPMN; whether all runs were compared."""
    text = text_of(model)
    read = model_of(text)
    back = through_bpmn(read)
    assert text_of(back) == text_of(read)
    differences, complete = compare_or_bound(model, back)
    assert differences == []
    return complete


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.parent.name for path in EXAMPLES])
def test_an_example_is_the_same_process(path: Path) -> None:
    model, _ = read_text(path.read_text("utf-8"), "model.bpmn")
    assert model is not None
    assert check_round_trip(model) is (path.parent.name not in BOUNDED)


@pytest.mark.parametrize("number", shared_cases(range(1, 56), "pmo"))
def test_a_pmo_model_is_the_same_process_or_refused(number: int) -> None:
    path = shared_data("pmo", "bpmn", f"{number:02}.bpmn")
    model, _ = read_text(path.read_text("utf-8"), "model.bpmn")
    assert model is not None
    text, findings = write_model(model, "outline")
    reason = REFUSED.get(f"{number:02}")
    if reason is None:
        assert text is not None, errors_of(findings)
        check_round_trip(model)
        return
    assert text is None
    errors = [d for d in findings if d.severity.name == "ERROR"]
    assert any(reason in d.message for d in errors)
    assert all(d.element is not None for d in errors)


def test_random_models_are_the_same_processes() -> None:
    """Nearly every random model has an outline; the others are refused by name."""
    equal = bounded = 0
    numbers = seeds(200)
    for seed in numbers:
        model = RandomModel(seed).model()
        text, findings = write_model(model, "outline")
        if text is None:
            assert {d.code for d in findings if d.severity.name == "ERROR"} == {"OF403"}
            assert all(d.element for d in findings if d.severity.name == "ERROR")
            continue
        differences, complete = compare_or_bound(model, model_of(text))
        assert differences == [], seed
        equal += complete
        bounded += not complete
    assert equal >= len(numbers) * 0.8
    assert equal + bounded >= at_least(190)


@pytest.mark.parametrize("seed", seeds(0, 200, 5))
def test_a_random_model_survives_bpmn(seed: int) -> None:
    text, _ = write_model(RandomModel(seed).model(), "outline")
    if text is None:
        return  # refused by name: above
    model = model_of(text)
    back = through_bpmn(model)
    assert compare_or_bound(model, back)[0] == []
    assert text_of(back) == text_of(model)


ORDER = """start -> a
a -> fork
fork -> b
fork -> c
b -> fork2
fork2 -> d
fork2 -> j
c -> j
j -> e
d -> k
e -> k
k -> end"""
PARALLEL = {"fork": "parallel", "fork2": "parallel", "j": "parallel", "k": "parallel"}


def test_a_partial_order_names_what_comes_before() -> None:
    model = drawn(ORDER, PARALLEL)
    text = text_of(model)
    assert text == (
        "A\ntogether:\n  B | #b\n  C | #c\n  D | after #b\n  E | after #b, #c\nend: end\n"
    )
    assert check_round_trip(model)


def test_branches_that_end_by_themselves() -> None:
    text = "start -> f\nf -> a\nf -> b\na -> x\nx -> end: yes\nx -> c: no\nc -> end2\nb -> end3"
    model = drawn(text, {"f": "parallel", "x": "exclusive"})
    assert check_round_trip(model)


def test_branches_of_which_some_meet() -> None:
    text = "start -> f\nf -> a\nf -> b\nf -> c\na -> j\nb -> j\nj -> d\nd -> end\nc -> end2"
    model = drawn(text, {"f": "parallel", "j": "parallel"})
    assert check_round_trip(model)


@pytest.mark.parametrize(
    ("text", "kinds", "reason"),
    [
        ("start -> f\nf -> a\nf -> b\na -> c\nb -> c\nc -> end", {"f": "parallel"},
         "its parallel branches meet without a parallel join"),
        ("start -> x\nx -> a\nx -> b\na -> j\nb -> j\nj -> end",
         {"x": "exclusive", "j": "parallel"}, "no block before it splits"),
        ("start -> o\no -> a\no -> b\na -> c\nb -> c\nc -> end", {"o": "inclusive"},
         "one inclusive join"),
    ],
)  # fmt: skip
def test_what_is_no_block_is_refused_by_name(text: str, kinds: dict[str, str], reason: str) -> None:
    written, findings = write_model(drawn(text, kinds), "outline")
    assert written is None
    (error,) = [d for d in findings if d.severity.name == "ERROR"]
    assert error.code == "OF403"
    assert reason in error.message
    assert error.element
    assert error.help


@pytest.mark.parametrize("kind", ["signal", "escalation", "conditional", "compensation"])
def test_an_event_of_another_kind_is_refused_by_name(kind: str) -> None:
    model = drawn("start -> a\na -> end", {})
    process = model.processes[0]
    event = Event.validate(
        {"id": "b", "name": "Alarm", "position": "boundary", "attached_to": "a",
         "definitions": (EventDefinition.validate({"kind": kind}),)}
    )  # fmt: skip
    model = model.replace(processes=(process.replace(nodes=(*process.nodes, event)),))
    written, findings = write_model(model, "outline")
    assert written is None
    assert any("`Alarm`" in one_line(error) for error in errors_of(findings))


def test_what_is_left_out_is_reported() -> None:
    path = ROOT / "examples" / "leave-request" / "model.bpmn"
    model, _ = read_text(path.read_text("utf-8"), "model.bpmn")
    assert model is not None
    _, findings = write_model(model, "outline")
    (left,) = [d for d in findings if d.code == "OUTLINE001"]
    assert "the kind of 6 tasks" in left.message


def test_long_and_deep_models() -> None:
    """A long sequence is no recursion; what is nested too deeply is refused by name."""
    steps = [f"s{n}" for n in range(3000)]
    long = "\n".join(f"{a} -> {b}" for a, b in zip(["start", *steps], [*steps, "end"], strict=True))
    assert text_of(drawn(long, {})).count("\n") == 3001
    lines, kinds = ["start -> x0"], {}
    for n in range(60):
        lines += [
            f"x{n} -> x{n + 1}: in",
            f"x{n} -> a{n}: out",
            f"a{n} -> j{n}",
            f"j{n + 1} -> j{n}",
        ]
        kinds |= {f"x{n}": "exclusive", f"j{n}": "exclusive"}
    lines += ["x60 -> j60", "j0 -> end"]
    deep = drawn("\n".join(lines), {**kinds, "x60": "exclusive", "j60": "exclusive"})
    _, findings = write_model(deep, "outline")
    assert "more than 30 blocks" in errors_of(findings)[0]
