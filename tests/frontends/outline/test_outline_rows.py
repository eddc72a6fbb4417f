"""Every row of the notation: what it is in BPMN, and that it is the same outline afterwards."""

from __future__ import annotations

import orgflow
import pytest
from outline_referee import compare_models
from outline_rows import ROWS
from outline_trips import format_text, model_of, text_of, through_bpmn

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model import (
    CallActivity,
    Event,
    Flow,
    Gateway,
    Model,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.evidence import DOUBT, SENTENCES


@pytest.mark.parametrize("text", ROWS.values(), ids=ROWS)
def test_a_row_is_canonical(text: str) -> None:
    assert format_text(text) == text


@pytest.mark.parametrize("text", ROWS.values(), ids=ROWS)
def test_a_row_survives_bpmn(text: str) -> None:
    model = model_of(text)
    back = through_bpmn(model)
    assert compare_models(model, back) == []
    assert compare_models(model, model_of(text_of(back))) == []
    assert text_of(back) == text_of(model)


KEPT = sorted(ROWS.keys() - {"go to", "odd labels", "after", "starts"})


@pytest.mark.parametrize("row", KEPT)
def test_a_row_is_printed_as_it_was(row: str) -> None:
    assert text_of(model_of(ROWS[row])) == ROWS[row]


@pytest.mark.parametrize("text", ROWS.values(), ids=ROWS)
def test_a_row_is_sound(text: str) -> None:
    found = orgflow.check(model_of(text)).diagnostics
    assert [d.message for d in found if d.severity is Severity.ERROR] == []


def process_of(text: str) -> Process:
    (process,) = model_of(text).processes
    return process


def constructs(model: Model) -> list[str]:
    return [node.construct for scope in model.scopes() for node in scope.nodes]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("step", ["event.start.none", "task.abstract", "event.end.none"]),
        ("some", ["gateway.inclusive", "gateway.inclusive"]),
        ("first", ["gateway.event", "event.catch.message", "event.catch.timer"]),
        ("part", ["sub-process.plain"]),
        ("boundary", ["event.boundary.timer", "event.boundary.message.non-interrupting",
                      "event.boundary.error"]),
        ("process event", ["sub-process.event", "event.start.message",
                           "event.start.timer.non-interrupting"]),
        ("call", ["call-activity", "call-activity"]),
        ("starts", ["event.start.timer", "event.start.message", "event.start.message"]),
        ("end", ["event.end.none", "event.end.error", "event.end.terminate"]),
        ("message", ["event.catch.message", "event.throw.message", "task.send"]),
        ("wait", ["event.catch.timer"] * 5),
    ],
)  # fmt: skip
def test_what_a_row_is_in_bpmn(row: str, expected: list[str]) -> None:
    there = constructs(model_of(ROWS[row]))
    for construct in expected:
        there.remove(construct)


def flows_from(process: Process, kind: type[Gateway | Event | Task]) -> list[Flow]:
    sources = {node.id for node in process.nodes if isinstance(node, kind)}
    return [flow for flow in process.flows if flow.source in sources]


def test_conditions_and_defaults() -> None:
    flows = [f for f in flows_from(process_of(ROWS["choose"]), Gateway) if f.name or f.default]
    assert [(f.name, f.condition.text if f.condition else "", f.default) for f in flows] == [
        ("yes", "stock > 2", False), ("ordered", "", False), ("", "", True),
    ]  # fmt: skip
    assert flows[0].condition is not None
    assert flows[0].condition.language == "feel"


def test_performers_data_and_evidence() -> None:
    process = process_of("file report | The clerk | s1,s3-4 | reads report | writes file\n")
    (task,) = [n for n in process.nodes if isinstance(n, Task)]
    assert dict(task.extra) == {SENTENCES: "1,3,4"}
    assert [(lane.name, lane.members) for lane in process.lanes] == [("The clerk", (task.id,))]
    names = {data.id: data.name for data in process.data_objects}
    assert [names.get(f.source, names.get(f.target)) for f in process.data_flows] == [
        "report", "file",
    ]  # fmt: skip


def test_repetition_for_each() -> None:
    process = process_of(ROWS["each"])
    loops = [n.loop for n in process.nodes if isinstance(n, Task | SubProcess)]
    assert [(loop.sequential, loop.item) for loop in loops if loop is not None] == [
        (True, "damaged part"), (False, "bidder"), (True, "damaged part"), (False, "bidder"),
    ]  # fmt: skip


def test_times() -> None:
    process = process_of(ROWS["wait"])
    found = [n.definitions[0] for n in process.nodes if isinstance(n, Event) and n.definitions]
    assert [(d.timer, d.expression.text if d.expression else None) for d in found] == [
        ("duration", "3 days"), ("date", "1 May"), ("date", "2026-05-01"),
        ("cycle", "every Monday"), (None, None),
    ]  # fmt: skip


def test_participants_and_their_messages() -> None:
    model = model_of(ROWS["process"])
    assert [pool.name for pool in model.pools] == ["customer", "dealer", "dealer"]
    names = {n.id: n.name for p in model.processes for n in p.nodes}
    assert [(names[f.source], names[f.target], f.name) for f in model.message_flows] == [
        ("order", "order", "order"), ("invoice", "invoice", "invoice"),
    ]  # fmt: skip
    outside = model_of("receive: order from customer\nsend: invoice to customer\n")
    assert [(pool.name, pool.process) for pool in outside.pools] == [("customer", None)]
    assert len(outside.message_flows) == 2


def test_a_called_process() -> None:
    calls = [n for n in process_of(ROWS["call"]).nodes if isinstance(n, CallActivity)]
    assert [(c.name, c.called) for c in calls] == [
        ("dunning", "dunning"), ("Send lawyers", "Process_7"),
    ]  # fmt: skip


def test_a_doubt_is_kept_and_asked() -> None:
    text = "together?:\n  record complaint\n  step?: label goods\n"
    assert format_text(text) == text
    model = model_of(text)
    doubted = [n for p in model.processes for n in p.nodes if dict(n.extra).get(DOUBT)]
    assert [n.construct for n in doubted] == ["gateway.parallel", "task.abstract"]
    assert text_of(through_bpmn(model)) == text
    asked = [d for d in orgflow.check(model).diagnostics if d.code == "OF524"]
    assert [d.loc.line if d.loc else 0 for d in asked] == [1, 3]


def test_a_single_branch_may_be_skipped() -> None:
    model = model_of("choose: urgent?\n  if: urgent\n    call customer\nship goods\n")
    assert text_of(model) == (
        "choose: urgent?\n  if: urgent\n    call customer\n  else:\nship goods\n"
    )
