"""Structures that a language model states: one request a process, replayed, corrected once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytest
from orgflow import compiler
from orgflow.agents.discovery import agent
from orgflow.agents.discovery.agent import (
    AgentReport,
    discover_with_model,
    page_messages,
    part_cases,
)
from orgflow.agents.discovery.case_replay import CaseEvent, replay_cases, share_in_place
from orgflow.agents.discovery.discover import Discovery, Stages, group_messages
from orgflow.agents.discovery.stated_outline import (
    MessageLabels,
    UnreadableOutline,
    list_steps,
    name_part,
    read_stated_process,
)
from orgflow.store.embedder import HashedWords
from outline_reader import LEAVE, ORDER, OutlineReader
from small_corpus import corpus

from orgflow_ir.diagnostics import Severity
from orgflow_ir.filling.evidence_check import check_evidence
from orgflow_ir.model import Event, Gateway, Model, Task
from orgflow_ir.model.evidence import DOUBT
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

REGISTRY = Registry(outside=False)


@functools.cache
def stages() -> Stages:
    return group_messages(corpus()[0], HashedWords())


def run(reader: OutlineReader) -> tuple[Discovery, AgentReport]:
    return discover_with_model(stages(), HashedWords(), reader, registry=REGISTRY)


@pytest.fixture(scope="module")
def found() -> tuple[Discovery, AgentReport, OutlineReader]:
    reader = OutlineReader()
    return (*run(reader), reader)


def test_one_request_a_process_reads_every_message_whole(
    found: tuple[Discovery, AgentReport, OutlineReader],
) -> None:
    discovery, report, reader = found
    assert {p.name: len(p.cases) for p in discovery.processes} == {
        "Handle order": 3, "Handle leave": 3,
    }  # fmt: skip
    assert (report.structures, report.read, report.cases, report.mined) == (2, 6, 6, 0)
    asked = [prompt for prompt in reader.prompts if "Write the lines." in prompt]
    assert len(asked) == reader.answers == 2
    cased = {id_ for p in discovery.processes for case in p.cases for id_ in case}
    shown = "\n".join(asked)
    assert all(m.body in shown for m in corpus()[0] if m.id in cased)


def test_the_structure_is_the_stated_one(
    found: tuple[Discovery, AgentReport, OutlineReader],
) -> None:
    process = next(p for p in found[0].processes if p.name == "Handle order")
    nodes = {node.name: node for node in process.process.nodes if node.name}
    assert isinstance(nodes["Check lamp stock"], Task)
    assert isinstance(nodes["Are the lamps there?"], Gateway)
    assert process.steps[0] == "Receive order"
    timers = [n for n in process.process.nodes if isinstance(n, Event) and n.name == "14 days"]
    assert [d.kind for n in timers for d in n.definitions] == ["timer"]
    leave = next(p for p in found[0].processes if p.name == "Handle leave")
    kinds = {n.gateway_kind for n in leave.process.nodes if isinstance(n, Gateway)}
    assert kinds == {"parallel"}
    assert len(process.steps) == len(set(process.steps)), "no step stands twice"


def test_messages_from_outside_have_a_pool(
    found: tuple[Discovery, AgentReport, OutlineReader],
) -> None:
    model = found[0].model
    assert [pool.name for pool in model.pools] == ["customer"]
    assert len(model.message_flows) == 2
    assert {f.source for f in model.message_flows} == {pool.id for pool in model.pools}
    ctx = PassContext(registry=REGISTRY)
    made = compiler.compile_separately(
        compiler.CompileRequest(model, REGISTRY.backends["bpmn"]), ctx
    )
    assert len(made) == 2
    assert [d for d in ctx.diagnostics if d.severity is Severity.ERROR] == []


def test_every_line_cites_messages_or_is_a_doubt(
    found: tuple[Discovery, AgentReport, OutlineReader],
) -> None:
    model = found[0].model
    doubts = {e.name for e in all_elements(model) if any(k == DOUBT for k, _ in e.extra)}
    assert doubts == {"Order more lamps", "lamps are not there", "14 days"}
    without = [e.name for e in all_elements(model) if not e.evidence]
    assert set(without) == doubts
    ctx = PassContext(registry=REGISTRY)
    check_evidence(model, {m.id: m.text for m in corpus()[0]}.get, ctx)
    assert {d.code for d in ctx.diagnostics} == {"OF514"} or len(ctx.diagnostics) == 2


def test_doubts_are_drawn_dashed(found: tuple[Discovery, AgentReport, OutlineReader]) -> None:
    process = next(p for p in found[0].processes if p.name == "Handle order")
    ctx = PassContext(registry=REGISTRY)
    (made,) = compiler.compile_separately(
        compiler.CompileRequest(
            Model(id="m", processes=(process.process,)), REGISTRY.backends["svg"]
        ),
        ctx,
    )
    (artifact,) = made[1].artifacts
    text = str(artifact.text)
    assert text.count("of-node of-dash") == 2, "a step and a timer"
    assert text.count("of-line of-dash") == 1, "a condition"


def test_a_case_may_go_on_with_another_one() -> None:
    reader = OutlineReader(change=lambda text, n: f"cases: A+B C\n{text}" if n == 1 else text)
    discovery, report = run(reader)
    assert report.apart == 1, "parts that do the same steps are two cases"
    assert sorted(len(p.cases) for p in discovery.processes) == [3, 3]
    halves = MessageLabels(((0, 1), (2, 3), (4, 5, 6, 7)))
    text = "cases: A+B C\nask | A1 C1\ncheck | A2 C2\nsign | B1 C3\nfile | B2 C4\n"
    stated = read_stated_process(text, halves, REGISTRY)
    assert stated.joined == ((0, 1), (2,))
    assert part_cases(stated, halves) == [(0, 1), (2,)]


@pytest.mark.parametrize(
    ("fault", "hint"),
    [
        (lambda text: text.replace("ship parcel | stock | ", "ship parcel | stock | Z9, "),
         "cites Z9, which no message has"),
        (lambda text: f"{text}check lamp stock | stock\n", "`check lamp stock` stands 2 times"),
        (lambda text: text.replace("  if: lamps are there", "  pack lamps\n  if: lamps are there"),
         "cannot be inside `choose:`"),
        (lambda text: "\n".join(
            [*text.splitlines()[:4], *text.splitlines()[-1:], *text.splitlines()[4:-1]]),
         "shows `book payment`, which the outline does not have at this point"),
    ],
)  # fmt: skip
def test_a_fault_goes_back_once(fault: Any, hint: str) -> None:
    broken: list[int] = []

    def change(text: str, number: int) -> str:
        if "Handle order" not in text or broken:
            return text
        broken.append(number)
        return str(fault(text))

    reader = OutlineReader(change=change)
    discovery, report = run(reader)
    asked = [prompt for prompt in reader.prompts if "A program compared" in prompt]
    assert len(asked) == 1
    assert hint in asked[0]
    assert report.structures == 2
    assert any(hint in reason for reason in report.refused)
    assert discovery == run(OutlineReader())[0], "the correction is what counts"


def test_an_outline_that_stays_wrong_is_mined_from_its_steps() -> None:
    turned = "\n".join([*ORDER.splitlines()[:4], *reversed(LEAVE.splitlines()[2:6])])
    assert "approve leave" in turned
    backwards = "name: Backwards\n" + "\n".join(
        ["approve leave | manager | {I approve}",
         "check vacation balance | personnel | {please check the vacation balance}",
         "review leave request | manager | {I review}",
         "request annual leave | employee | {I request annual leave}"]
    )  # fmt: skip
    discovery, report = run(OutlineReader({"lamps": ORDER, "leave": backwards}))
    assert report.mined == 1
    steps = next(p.steps for p in discovery.processes if p.name == "Backwards")
    process = next(p.process for p in discovery.processes if p.name == "Backwards")
    order = [n.name for n in process.nodes if isinstance(n, Task)]
    assert order[0] == "Request annual leave"
    assert len(steps) == 4


def test_a_case_that_does_not_fit_names_where_it_leaves() -> None:
    # the confirmation is printed before the approval in the model; no case does so
    printed = "print confirmation | employee | {printed the leave}\n"
    early = LEAVE.replace("together:\n", "").replace("  register", "register")
    early = early.replace(f"  {printed}", "").replace("approve leave", f"{printed}approve leave")
    discovery, report = run(OutlineReader({"lamps": ORDER, "leave": early}))
    process = next(p for p in discovery.processes if p.name == "Handle leave")
    assert {m.case for m in process.misfits} == {0, 1, 2}
    assert {m.step for m in process.misfits} == {"Print confirmation"}
    assert {m.message for m in process.misfits} <= {i for case in process.cases for i in case}
    assert report.structures == 2


def test_none_is_no_process() -> None:
    discovery, report = run(OutlineReader(change=lambda text, n: "NONE"))
    assert discovery.processes == ()
    assert report.read == 6


def test_a_request_depends_on_its_process_alone() -> None:
    """So that a recorded answer holds when other processes change."""
    whole, part = OutlineReader(), OutlineReader()
    run(whole)
    alone = stages()._replace(processes=[stages().processes[1]])
    discover_with_model(alone, HashedWords(), part, registry=REGISTRY)
    assert part.prompts[0] == whole.prompts[1]


# -- pages -------------------------------------------------------------------------------------


def test_pages_keep_every_character() -> None:
    texts = [(f"A{n}", f"[A{n}] {n}\n{'lorem ipsum ' * n}") for n in range(1, 60)]
    for most in (30, 100, 1000):
        pages = page_messages(texts, most)
        joined = "".join(pages)
        for label, _ in texts:
            joined = joined.replace(f"[{label}, continued]\n", "")
        assert joined.replace("\n", "") == "".join(t for _, t in texts).replace("\n", "")
    assert len(page_messages(texts, 10**6)) == 1


def test_the_outline_grows_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "PAGE_TOKENS", 150)
    reader = OutlineReader()
    _, report = run(reader)
    pages = [p for p in reader.prompts if "Messages, page" in p]
    assert len(pages) > 2
    assert all("The process so far" in p for p in pages if "page 1 of" not in p)
    shown = "\n".join(pages)
    assert all(m.body in shown for m in corpus()[0] if not m.id.startswith("chat"))
    assert report.structures >= 1


# -- replay ------------------------------------------------------------------------------------


def fit(outline: str, *cases: str) -> Any:
    """How cases, a letter an event, fit an outline whose steps are letters."""
    every = sorted({letter for case in cases for letter in case})
    labels = MessageLabels((tuple(range(len(every))),))
    lines = [
        f"{line} | A{every.index(line.strip()) + 1}" if line.strip() in every else line
        for line in outline.splitlines()
    ]
    model = read_stated_process("\n".join(lines), labels, REGISTRY).model
    ids = {step.name: step.id for step in list_steps(model)}
    events = {
        n: [CaseEvent(ids[letter], p) for p, letter in enumerate(case)]
        for n, case in enumerate(cases)
    }
    fits = replay_cases(model, model.processes[0].id, events)
    names = {id_: name for name, id_ in ids.items()}
    letters = [
        (
            "".join(names[event.element] for event in case.out_of_place),
            "".join(names[id_] for id_ in case.unmentioned),
        )
        for case in fits.values()
    ]
    return letters, share_in_place(fits)


ROW = "a\nb\nc\nd"
LOOP = "a\nrepeat:\n  b\nagain if: bad\n  c\nd"
CHOICE = "a\nchoose: q?\n  if: x\n    b\n  if: y\n    c\nd"
BESIDE = "a\ntogether:\n  b\n  row:\n    c\n    d\ne"


@pytest.mark.parametrize(
    ("outline", "case", "expected"),
    [
        (ROW, "abcd", ("", "")),
        (ROW, "ab", ("", "")),  # a case may be going on
        (ROW, "abd", ("", "c")),  # nobody mentions c
        (ROW, "acbd", ("b", "b")),
        (LOOP, "abd", ("", "")),
        (LOOP, "abcbcbd", ("", "")),
        (LOOP, "abbd", ("", "c")),
        (CHOICE, "abd", ("", "")),
        (CHOICE, "abcd", ("b", "")),
        (BESIDE, "acbde", ("", "")),
        (BESIDE, "acdbe", ("", "")),
        (BESIDE, "adcbe", ("d", "d")),
    ],
)
def test_replay_by_hand(outline: str, case: str, expected: tuple[str, str]) -> None:
    whole = "abcd" if outline in (ROW, LOOP, CHOICE) else "abcde"
    fits, share = fit(outline, case, whole)
    out, passed = fits[0]
    assert len(out) == len(expected[0]), (out, passed)
    if not expected[0]:
        assert passed == expected[1]
    assert share <= 1


def test_labels_and_letters() -> None:
    assert [name_part(n) for n in (0, 25, 26, 51, 52, 701)] == ["A", "Z", "AA", "AZ", "BA", "ZZ"]
    with pytest.raises(ValueError, match="no letters"):
        name_part(702)


@pytest.mark.parametrize(
    ("text", "places"),
    [("A1,A2", (0, 1)), ("a1 A2", (0, 1)), ("@A1 @A2", (0, 1)), ("[A1]; B1", (0, 2)),
     ("A1-2", (0, 1)), ("A1-A2, B1", (0, 1, 2)), ("A1 – A2", (0, 1))],
)  # fmt: skip
def test_citations_are_read_in_every_form(text: str, places: Sequence[int]) -> None:
    labels = MessageLabels(((0, 1), (2,)))
    stated = read_stated_process(f"check it | clerk | {text}", labels, REGISTRY)
    assert next(iter(stated.cited.values())) == tuple(places)
    assert stated.model.processes[0].lanes[0].name == "clerk"
    assert stated.faults == ()


@pytest.mark.parametrize(
    ("text", "is_outline"),
    [('{"same": []}', False), ("", False), ("I am sorry.", False), ("name: x\nchoose:", True),
     ("check | clerk | Z9", True), ("process: a\nb | A1\nprocess: c\nd | A1", True)],
)  # fmt: skip
def test_what_is_no_process(text: str, is_outline: bool) -> None:
    with pytest.raises(UnreadableOutline) as caught:
        read_stated_process(text, MessageLabels(((0,),)), REGISTRY)
    assert caught.value.is_outline is is_outline
    assert caught.value.faults
