"""Evidence: what it may hold, that no edit loses it, its text form, and how it is shown."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from typing import Any

import pytest
from model_gen import random_model

from orgflow_ir.diagnostics import Category, Edit, Fix, Rule, Severity, apply
from orgflow_ir.model import (
    Element,
    Event,
    Evidence,
    Flow,
    Gateway,
    Model,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.codec import to_data
from orgflow_ir.model.evidence import evidence_fault, joint_evidence
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.rewriter import Rewriter
from orgflow_ir.pipeline import PassContext
from orgflow_ir.reporting.text_reporter import TextReporter

TEXT = "First we check the order.\nThen we pack it\nand ship it.\n"
PACK = Evidence(document="mail", quote="we pack it", span=(31, 41), lines=(2, 2), agent="miner")
SHIP = Evidence(document="mail", quote="ship it", confidence=0.5, agent="miner")


def sample(**more: Any) -> Model:
    inner = SubProcess(id="sub", nodes=(Task(id="in", evidence=(SHIP,)),))
    nodes = (Event(id="s", position="start"), Task(id="pack", name="Pack", **more), inner)
    flows = (Flow(id="f", source="s", target="pack"), Flow(id="g", source="pack", target="sub"))
    return Model(id="m", processes=(Process(id="P", nodes=nodes, flows=flows),))


def evidence_of(model: Model) -> dict[str, tuple[Evidence, ...]]:
    return {e.id: e.evidence for e in all_elements(model) if e.evidence}


# -- what it may hold ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"document": "a"},
        {"document": "a", "quote": 1},
        {"document": "a", "quote": "b", "confidence": 1.01},
        {"document": "a", "quote": "b", "confidence": -0.5},
        {"document": "a", "quote": "b", "confidence": float("nan")},
        {"document": "a", "quote": "b", "span": [1]},
        {"document": "a", "quote": "b", "page": 1},
    ],
    ids=repr,
)
def test_validation_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        Evidence.validate(wrong)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None),
        ({"span": None, "lines": None}, None),
        ({"quote": "pack it and  ship it", "span": None, "lines": (2, 3)}, None),
        ({"quote": " \n"}, "has an empty quote"),
        ({"quote": "we pack them"}, "names characters 31 to 41, where the text is different"),
        ({"quote": "we pack them", "span": None}, "quotes words that do not exist"),
        ({"lines": (1, 1)}, "quotes words that do not exist"),
        ({"lines": (2, 4)}, "names lines 2 to 4 of 3"),
        ({"lines": (3, 2)}, "names lines 3 to 2"),
        ({"lines": (0, 2)}, "names lines 0 to 2"),
        ({"span": (31, 4000)}, f"names characters 31 to 4000 of {len(TEXT)}"),
        ({"span": (-3, 4)}, "names characters -3 to 4"),
    ],
)
def test_evidence_is_compared_with_its_document(changes: dict[str, Any], fault: str | None) -> None:
    assert evidence_fault(PACK.replace(**changes), TEXT) == fault


# -- text form -------------------------------------------------------------------------------------


def test_text_form_and_back() -> None:
    model = sample(evidence=(PACK, SHIP))
    text = model.to_json()
    assert text.count('"evidence"') == 2, "left out where there is none"
    again = Model.from_json(text)
    assert evidence_of(again) == {"pack": (PACK, SHIP), "in": (SHIP,)}
    assert again.to_json() == text
    assert "evidence" not in to_data(Task(id="t"))


def test_equality_ignores_it() -> None:
    assert sample() == sample(evidence=(PACK,))
    assert hash(sample()) == hash(sample(evidence=(PACK,)))


# -- edits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", [None, "a pass"])
def test_edits_keep_it(origin: str | None) -> None:
    model = sample(evidence=(PACK,))
    pack = model.processes[0].nodes[1]

    edited = Rewriter(model, origin=origin)
    edited.relabel("P", "pack", "Pack order")
    edited.relabel("sub", "in", "Inner")
    assert evidence_of(edited.done()) == evidence_of(model)

    replaced = Rewriter(model, origin=origin)
    replaced.replace("P", "pack", Task(id="box", task_type="user"))
    assert evidence_of(replaced.done()) == {"box": (PACK,), "in": (SHIP,)}

    split = Rewriter(model, origin=origin)
    split.insert("P", Task(id="pack__more"), of=(pack,))
    split.connect("P", "pack", "pack__more", id="new", of=(pack,))
    assert evidence_of(split.done()) == {
        "pack": (PACK,), "pack__more": (PACK,), "new": (PACK,), "in": (SHIP,)
    }  # fmt: skip

    merged = Rewriter(model, origin=origin)
    inside = merged.node("sub", "in")
    merged.remove("P", "sub")
    merged.replace("P", "pack", Task(id="pack", name="Pack and ship"), of=(inside,))
    assert evidence_of(merged.done()) == {"pack": (PACK, SHIP)}


@pytest.mark.parametrize("origin", [None, "a pass"])
def test_the_inside_of_a_replaced_sub_process_keeps_it(origin: str | None) -> None:
    rewriter = Rewriter(sample(), origin=origin)
    inside = (Task(id="in", name="Inside"), Task(id="new"))
    rewriter.replace("P", "sub", SubProcess(id="sub", nodes=inside))
    assert evidence_of(rewriter.done()) == {"in": (SHIP,)}


def test_a_fix_keeps_it() -> None:
    task = Task(id="pack", name="Pack order")
    edit = Edit(action="replace", scope="P", id="pack", node=task)
    fixed = apply(sample(evidence=(PACK,)), Fix(title="x", applicability="safe", edits=(edit,)))
    assert evidence_of(fixed)["pack"] == (PACK,)


def test_evidence_is_added() -> None:
    rewriter = Rewriter(sample(evidence=(PACK,)))
    rewriter.cite("P", "pack", SHIP, PACK)
    rewriter.cite("P", "f", SHIP)
    done = rewriter.done()
    assert evidence_of(done) == {"pack": (PACK, SHIP), "f": (SHIP,), "in": (SHIP,)}
    assert done == sample()


def test_evidence_of_several_is_each_once() -> None:
    assert joint_evidence((PACK, SHIP), (SHIP,), ()) == (PACK, SHIP)


@pytest.mark.parametrize("seed", range(20))
def test_no_random_edit_loses_evidence(seed: int) -> None:
    """Every element that stays has its evidence, whatever is edited around it."""
    rng = random.Random(seed)
    model = _cited(random_model(seed, 12))
    rewriter = Rewriter(model, origin="edits")
    scopes = list(model.scopes())
    for scope in rng.sample(scopes, min(len(scopes), 2)):
        for element in rng.sample([*scope.nodes, *scope.flows], min(3, len(scope.nodes))):
            if rewriter.touched(scope.id, element.id) or rewriter.stale(scope, element.id):
                continue
            rng.choice((
                lambda s=scope.id, e=element.id: rewriter.relabel(s, e, "new name"),
                lambda s=scope.id, e=element.id: rewriter.remove(s, e),
            ))()  # fmt: skip
    left = list(_cited_parts(rewriter.done()))
    assert left
    assert [e.id for e in left if [x.quote for x in e.evidence] != [e.id]] == []


def _cited_parts(model: Model) -> Iterator[Element]:
    for scope in model.scopes():
        yield from (*scope.nodes, *scope.flows)


def _cited(model: Model) -> Model:
    """The model with the id of each node and flow as its evidence."""
    rewriter = Rewriter(model)
    for scope in reversed(list(model.scopes())):
        for element in (*scope.nodes, *scope.flows):
            rewriter.cite(scope.id, element.id, Evidence(document="d", quote=element.id))
    return rewriter.done()


# -- how it is shown -------------------------------------------------------------------------------


class _Odd(Rule):
    code = "X001"
    name = "odd"
    severity = Severity.WARNING
    category = Category.DATA


def test_a_diagnostic_shows_the_passages_of_its_element() -> None:
    ctx = PassContext()
    ctx.emit(_Odd, "`Pack` is odd", element=Task(id="pack", name="Pack", evidence=(PACK, SHIP)))
    ctx.emit(_Odd, "`Gate` is odd", element=Gateway(id="g", gateway_kind="parallel"))
    assert ctx.diagnostics[1].related == ()
    out = io.StringIO()
    TextReporter().report(ctx.diagnostics[:1], out)
    assert '  also: mail:2: the text says "we pack it"\n' in out.getvalue()
    assert '  also: mail: the text says "ship it"\n' in out.getvalue()
