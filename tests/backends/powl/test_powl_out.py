"POWL out: the language stays, in JSON and in code, and what POWL cannot express is refused."

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
from orgflow.backends.powl.backend import PowlBackend
from orgflow.backends.powl.format import Activity, Choice, Loop, PartialOrder, Powl
from orgflow.compiler import check_model, compile_model
from orgflow.frontends.powl.build import build_model
from orgflow.frontends.powl.frontend import PowlFrontend
from orgflow.frontends.powl.json_reader import powl_schema
from powl_language import language, random_powl
from seeds import seeds
from text_model import model as drawn

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model import Model, Task
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

LONGEST = 5


def compiled(model: Model, *, lossy: bool = False, **options: str) -> tuple[str, PassContext]:
    """The text, empty where it is refused."""
    ctx = PassContext(registry=Registry(outside=False))
    backend = PowlBackend()
    emitted = compile_model(model, backend, ctx, options=options, allow_lossy=lossy)
    return (emitted.artifacts[0].text if emitted is not None else ""), ctx


def read(text: str, name: str) -> tuple[Model, Powl]:
    """The model and the tree that a file holds."""
    ctx = PassContext()
    frontend = PowlFrontend()
    source = SourceFile(name, text.encode())
    model = frontend.parse(source, ctx)
    assert model is not None, ctx.diagnostics
    return model, frontend._read_powl(source, ctx)[1]


@pytest.mark.parametrize("seed", seeds(120))
def test_the_language_stays_both_ways(seed: int) -> None:
    powl = random_powl(random.Random(seed))
    wanted = language(powl, LONGEST)
    model = build_model(powl, "random", "random.powl")
    for form, name in (("json", "again.powl.json"), ("python", "again.powl.py")):
        text, ctx = compiled(model, form=form)
        assert text, ctx.diagnostics
        back, tree = read(text, name)
        assert language(tree, LONGEST) == wanted
        checked = PassContext(registry=Registry(outside=False))
        check_model(back, checked)  # sound by construction
        assert [d for d in checked.diagnostics if d.severity is Severity.ERROR] == []
        if form == "json":
            jsonschema.validate(json.loads(text), powl_schema())


def tree_of(text: str, gateways: dict[str, str]) -> Any:
    written, ctx = compiled(drawn(text, gateways))
    assert written, [d.message for d in ctx.diagnostics]
    return json.loads(written)["model"]


def test_a_loop_with_conditions() -> None:
    tree = tree_of(
        """start -> j
        j -> check
        check -> x
        x -> fix: faulty
        fix -> j
        x -> end: fine""",
        {"j": "exclusive", "x": "exclusive Fine?"},
    )
    assert tree == {
        "type": "loop", "name": "Fine?", "do": {"type": "activity", "label": "Check"},
        "redo": {"type": "activity", "label": "Fix"}, "again": "faulty", "leave": "fine",
    }  # fmt: skip


def test_an_order_that_is_no_block() -> None:
    """`c` waits for both, `d` for one of them alone."""
    tree = tree_of(
        """start -> s
        s -> a
        s -> b
        a -> t
        t -> j
        b -> j
        t -> d
        j -> c
        c -> e
        d -> e
        e -> end""",
        dict.fromkeys("stje", "parallel"),
    )
    labels = {node["id"]: node["label"] for node in tree["nodes"]}
    assert tree["type"] == "partial-order"
    assert {(labels[a], labels[b]) for a, b in tree["order"]} == {
        ("A", "C"), ("B", "C"), ("A", "D"),
    }  # fmt: skip


def test_ends_of_branches_and_implicit_splits() -> None:
    tree = tree_of(
        """start -> a
        a -> b
        a -> x
        x -> c: yes
        x -> end2: no
        b -> end1
        c -> end3""",
        {"x": "exclusive Ask?"},
    )
    assert tree["type"] == "sequence"
    first, both = tree["children"]
    assert first["label"] == "A"
    assert both["type"] == "parallel"
    assert {child["type"] for child in both["children"]} == {"activity", "choice"}


def test_an_end_that_branches_share_is_repeated() -> None:
    model = drawn(
        """start -> x
        x -> j: no
        x -> a: yes
        a -> y
        y -> j: no
        y -> b: yes
        j -> reject
        reject -> end1
        b -> end2""",
        {"x": "exclusive Complete?", "y": "exclusive Covered?", "j": "exclusive"},
    )
    text, ctx = compiled(model)
    assert language(read(text, "x.powl.json")[1], 5) == {("Reject",), ("A", "Reject"), ("A", "B")}
    (note,) = [d for d in ctx.diagnostics if d.code == "POWL002"]
    assert "`Reject` stand" in note.message


def test_what_no_choice_loop_or_order_covers() -> None:
    text, ctx = compiled(
        drawn(
            """start -> x
            x -> a: left
            x -> y: right
            y -> b: one
            y -> j: two
            a -> j
            j -> k
            k -> c
            b -> k2
            c -> k2
            k2 -> z
            z -> j: again
            z -> end: done""",
            {"x": "exclusive Where?", "y": "exclusive Which?", "j": "exclusive", "k": "exclusive",
             "k2": "exclusive", "z": "exclusive More?"},
        )
    )  # fmt: skip
    errors = [d for d in ctx.diagnostics if d.severity is Severity.ERROR]
    assert text == ""
    assert [d.code for d in errors] == ["OF403"]
    assert "flow.unstructured" in errors[0].message
    assert errors[0].element is not None


@pytest.mark.parametrize("kind", ["inclusive", "complex"])
def test_other_gateways_are_refused(kind: str) -> None:
    text, ctx = compiled(
        drawn("start -> o\no -> a\no -> b\na -> p\nb -> p\np -> end", {"o": kind, "p": kind})
    )
    assert text == ""
    assert f"gateway.{kind}" in " ".join(d.message for d in ctx.diagnostics)


def test_events_become_steps_only_where_losses_are_allowed() -> None:
    bpmn = Registry(outside=False).frontends["bpmn"]
    source = SourceFile(
        "o.bpmn",
        b'<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">'
        b'<process id="p" isExecutable="true"><startEvent id="s" name="Order">'
        b'<messageEventDefinition/></startEvent><intermediateCatchEvent id="w" name="Payment">'
        b'<messageEventDefinition/></intermediateCatchEvent><endEvent id="e"/>'
        b'<sequenceFlow id="a" sourceRef="s" targetRef="w"/>'
        b'<sequenceFlow id="b" sourceRef="w" targetRef="e"/></process></definitions>',
    )
    model = bpmn.parse(source, PassContext())
    assert model is not None
    text, ctx = compiled(model)
    assert text == ""
    assert "event.catch.message" in " ".join(d.message for d in ctx.diagnostics)
    text, ctx = compiled(model, lossy=True)
    assert json.loads(text)["model"] == {"type": "activity", "label": "Payment"}
    assert [d.code for d in ctx.diagnostics].count("OF402") == 2


def test_what_is_left_out_is_reported() -> None:
    model = drawn("start -> a\na -> end", {})
    process = model.processes[0]
    nodes = tuple(
        n.replace(task_type="user", doc="Look twice.") if isinstance(n, Task) else n
        for n in process.nodes
    )
    _, ctx = compiled(model.replace(processes=(process.replace(nodes=nodes),)))
    (note,) = [d for d in ctx.diagnostics if d.code == "POWL001"]
    assert "the kind of 1 task" in note.message
    assert "documentation of 1 element" in note.message


@pytest.mark.parametrize(
    "label", ['it\'s "quoted"', "a\\nb", "#{x} ' + __import__('os') + '", "class", "\u2028x", "é"]
)
def test_labels_are_data_in_code(label: str) -> None:
    powl = PartialOrder(
        (Activity(label, "Sales 'A'", "Shop"),
         Choice((Activity(label), Activity("b")), (label, ""))),
        frozenset({(0, 1)}),
    )  # fmt: skip
    looped = Loop(powl, Activity(label), label, label, label)
    text, _ = compiled(build_model(looped, label, "x.powl"), form="python")
    _, tree = read(text, "x.powl.py")
    flat = " ".join(label.split())
    assert language(tree, 2) == {(flat, flat), (flat, "b")}
