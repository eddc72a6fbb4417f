"""The page of discovered processes: what people decide is kept, and the next run honours it."""

from __future__ import annotations

import json
import re
import threading
import urllib.parse
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from orgflow import cli
from orgflow.agents.discovery.agent import discover_with_model
from orgflow.agents.discovery.decisions import (
    FILE,
    Decided,
    DecisionsError,
    apply_decisions,
    read_decisions,
    write_decisions,
)
from orgflow.agents.discovery.discover import Discovery, Stages, group_messages
from orgflow.agents.discovery.joined_cases import CaseJoin
from orgflow.commands.discovery_page import DiscoveryPage
from orgflow.commands.page_server import PageServer, Refused
from orgflow.evaluation.discovery_page import _case_data
from orgflow.store.embedder import HashedWords
from orgflow.store.messages import MessageStore
from scripted_reader import ScriptedReader
from small_corpus import corpus

from orgflow_ir.filling.evidence_check import check_evidence
from orgflow_ir.model.message import Message
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


@pytest.fixture(scope="module")
def stages() -> Stages:
    return group_messages(corpus()[0], HashedWords())


class Kept(list[Any]):
    """The decisions that a page kept last."""


def page_of(stages: Stages, decided: tuple[Decided, ...] = ()) -> tuple[DiscoveryPage, Kept]:
    kept = Kept(decided)
    now = apply_decisions(stages, decided)

    def keep(given: tuple[Decided, ...]) -> None:
        kept[:] = given

    found = now.described(HashedWords())
    return DiscoveryPage(now, found, decided, HashedWords(), lambda model: "<svg/>", keep), kept


def again(stages: Stages, kept: Kept) -> Discovery:
    """The next run, after the decisions went through a file's JSON."""
    return apply_decisions(stages, tuple(kept)).described(HashedWords())


def kinds(found: Discovery) -> list[tuple[str, set[str]]]:
    """The kind of each process by the cases in it."""
    return [
        (one.name, {case[0].rpartition("-")[0] for case in one.cases}) for one in found.processes
    ]  # fmt: skip


def decide(page: DiscoveryPage, then: str, process: int = 0, **more: Any) -> str:
    version = page._version
    fields = {key: value if isinstance(value, list) else [value] for key, value in more.items()}
    saved = page.save(
        {"then": [then], "process": [str(process)], "version": [str(version)], **fields}
    )  # fmt: skip
    return saved.message


def test_rename_and_accept(stages: Stages) -> None:
    page, kept = page_of(stages)
    assert "is called “Sell lamps” now" in decide(page, "rename", name=" Sell  lamps ")
    decide(page, "accept", 1)
    assert [one.state for one in kept] == ["accepted", "accepted"]
    found = again(stages, kept)
    assert found.processes[0].name == "Sell lamps"
    assert found.processes[0].process.name == "Sell lamps"
    assert again(stages, Kept()).processes[0].name != "Sell lamps"
    with pytest.raises(Refused, match="needs a name"):
        decide(page, "rename", name=" ")


def test_reject_and_restore(stages: Stages) -> None:
    page, kept = page_of(stages)
    name = page._found[0].name
    decide(page, "reject")
    assert len(page.discovery.processes) == 1
    assert 'class="rejected"' in page.text("").html
    found = again(stages, kept)
    assert len(found.processes) == 1
    assert len(found.noise) == len(corpus()[0]) - sum(map(len, found.processes[0].cases))
    later, kept_later = page_of(stages, tuple(kept))
    assert "Rejected earlier" in later.text("").html
    decide(later, "rename", name="The other")
    assert [one.state for one in kept_later] == ["accepted", "rejected"], "it is not forgotten"
    decide(later, "restore", rejected=name)
    assert len(again(stages, kept_later).processes) == 2


def test_merge_and_split(stages: Stages) -> None:
    page, kept = page_of(stages)
    names = [one.name for one in page._found]
    decide(page, "merge", 0, other="1")
    (merged,) = page.discovery.processes
    assert merged.name == names[1]
    assert len(merged.cases) == 6
    texts = {m.id: m.text for m in corpus()[0]}
    ctx = PassContext(registry=Registry(outside=False))
    check_evidence(page.discovery.model, texts.get, ctx)
    assert ctx.diagnostics == []
    assert [name for name, _ in kinds(again(stages, kept))] == [names[1]]
    decide(page, "split", 0, case=["0", "5"])
    found = page.discovery
    assert [len(one.cases) for one in found.processes] == [4, 2]
    assert len({e.id for e in all_elements(found.model)}) == len(list(all_elements(found.model)))
    assert {frozenset(k) for _, k in kinds(again(stages, kept))} == {
        frozenset(k) for _, k in kinds(found)
    }
    with pytest.raises(Refused, match="some of the cases, not all"):
        decide(page, "split", 1, case=["0", "1"])
    with pytest.raises(Refused, match="another process"):
        decide(page, "merge", 1, other="1")


def test_what_an_old_or_a_foreign_page_sends(stages: Stages) -> None:
    page, kept = page_of(stages)
    decide(page, "accept")
    before = list(kept)
    with pytest.raises(Refused, match="out of date"):
        page.save({"then": ["reject"], "process": ["0"], "version": ["0"]})
    for process in ("9", "x", "-1"):
        with pytest.raises(Refused, match="not on the page"):
            page.save({"then": ["reject"], "process": [process], "version": ["1"]})
    with pytest.raises(Refused, match="Nothing was chosen"):
        decide(page, "burn")
    with pytest.raises(Refused, match="unexpected form"):
        page.save([1])
    assert list(kept) == before


def test_new_messages_and_new_cases_follow_what_was_decided(stages: Stages) -> None:
    """A case of which most messages are new, of a kind that was rejected, is rejected too."""
    page, kept = page_of(stages)
    order = next(
        n for n, one in enumerate(page._found) if one.cases[0][0].startswith("order")
    )  # fmt: skip
    decide(page, "reject", order)
    (rejected,) = kept
    older = rejected._replace(cases=rejected.cases[:2])
    found = apply_decisions(stages, [older]).described(HashedWords())
    assert [k for _, k in kinds(found)] == [{"leave-0", "leave-1", "leave-2"}]


MOVED = ("order-0-0", "order-0-1", "order-0-2")


def regrouped(stages: Stages, into: str) -> Stages:
    """As if new messages had changed the cases: some messages are in another one, or in none."""
    ids = [m.id for m in stages.traits.messages]
    moved = [place for place, id_ in enumerate(ids) if id_ in MOVED]
    cases = [
        [p for p in case if p not in moved] + (moved if ids[case[0]].startswith(into) else [])
        for case in stages.cases
    ]
    return stages._replace(cases=cases)


@pytest.mark.parametrize("into", ["none", "leave-0"])
@pytest.mark.parametrize("then", ["accept", "reject"])
def test_messages_stay_where_people_decided(stages: Stages, then: str, into: str) -> None:
    page, kept = page_of(stages)
    order = next(
        n for n, one in enumerate(page._found) if one.cases[0][0].startswith("order")
    )  # fmt: skip
    decide(page, then, order)
    before = again(stages, kept)
    assert again(regrouped(stages, into), kept) == before


def test_a_case_that_is_no_longer_found_stays(stages: Stages) -> None:
    page, kept = page_of(stages)
    decide(page, "accept", 0)
    decide(page, "accept", 1)
    before = again(stages, kept)
    assert again(stages._replace(cases=[], processes=[]), kept) == before


def test_decisions_bind_the_language_model(stages: Stages) -> None:
    page, kept = page_of(stages)
    order = next(
        n for n, one in enumerate(page._found) if one.cases[0][0].startswith("order")
    )  # fmt: skip
    decide(page, "split", order, case=["2"])
    decide(page, "rename", order, name="Orders of last year")
    decide(page, "rename", order + 1, name="Orders of today")
    leave = next(
        n for n, one in enumerate(page._found) if one.cases[0][0].startswith("leave")
    )  # fmt: skip
    decide(page, "reject", leave)
    now = apply_decisions(stages, tuple(kept))
    found, report = discover_with_model(now, HashedWords(), ScriptedReader())
    assert {one.name: len(one.cases) for one in found.processes} == {
        "Orders of last year": 2, "Orders of today": 1,
    }  # fmt: skip
    assert all("Pack lamps" in one.steps for one in found.processes[:1])
    # a person has the last word also where the model says that a case is none
    found, _ = discover_with_model(now, HashedWords(), ScriptedReader("all none"))
    assert {one.name for one in found.processes} == {"Orders of last year", "Orders of today"}
    assert report.cases == 3


def test_the_file(tmp_path: Path) -> None:
    path = tmp_path / FILE
    assert read_decisions(path) == ()
    given = (Decided("ä", "rejected", (("1", "2"), ("3",))), Decided("b", "accepted", ()))
    write_decisions(path, given)
    assert read_decisions(path) == given
    for text in ("{", "[]", '{"version": 1}', '{"version": 2, "processes": []}'):
        path.write_text(text)
        with pytest.raises(DecisionsError):
            read_decisions(path)


def test_texts_are_escaped(stages: Stages) -> None:
    page, _ = page_of(stages)
    decide(page, "rename", name='<script>alert("x")</script>')
    assert "<script" not in page.text("<b>").html
    assert "&lt;b&gt;" in page.text("<b>").html


@pytest.mark.slow
def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(tmp_path / "store")
    with MessageStore.create(store) as opened:
        opened.add(corpus()[0])
        opened.link()
    monkeypatch.delenv("ORGFLOW_MODEL_URL", raising=False)
    opened_at: list[str] = []
    add = PageServer.add

    def added(self: PageServer, page: Any) -> str:
        address = add(self, page)
        opened_at.append(address)
        threading.Thread(target=_visit, args=(address,), daemon=True).start()
        return address

    monkeypatch.setattr(PageServer, "add", added)
    assert cli.run(["discover", store, "--page", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["processes"][0]["name"] == "By a person"
    assert cli.run(["discover", store, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["processes"][0]["name"] == "By a person"
    assert len(opened_at) == 1
    (tmp_path / "store" / FILE).write_text("[")
    assert cli.run(["discover", store]) == 2
    assert "decide again" in capsys.readouterr().err


def _visit(address: str) -> None:
    for fields in (
        {"then": "rename", "process": "0", "version": "0", "name": "By a person"},
        {"then": "finish"},
    ):
        data = urllib.parse.urlencode(fields).encode()
        with urllib.request.urlopen(address, data, timeout=120) as answer:
            answer.read()


def test_cases_are_named_after_what_most_messages_are_about(stages: Stages) -> None:
    def one(n: int, subject: str, day: int = 1) -> Message:
        return Message(f"{n}", datetime(2026, 3, day, tzinfo=UTC), "email", None, subject=subject,
                       body=f"text {n}")  # fmt: skip

    listed = [one(0, "Lost umbrella"), one(1, "Order 7"), one(2, "RE: order 7", 4), one(3, "", 5)]
    of = {m.id: m for m in (*listed, one(4, ""), *(one(n, "x", 6) for n in range(5, 30)))}
    case = _case_data([m.id for m in listed], of)
    assert (case["title"], case["days"], case["size"]) == (
        "Order 7", "2026-03-01 to 2026-03-05", 4,
    )  # fmt: skip
    assert [m["text"] for m in case["messages"]][::3] == ["Lost umbrella text 0", "text 3"]
    assert _case_data(["4"], of)["title"] == "text 4"
    assert _case_data(["4"], of)["days"] == "2026-03-01"
    long = _case_data(list(of), of)
    assert (long["size"], len(long["messages"])) == (30, 12)
    page, _ = page_of(stages)
    assert page.text("").html.count("<li>") >= sum(len(c) for f in page._found for c in f.cases[:1])


def test_cases_that_may_be_one_are_a_question(stages: Stages) -> None:
    process = stages.processes[0]
    first, second = (tuple(stages.cases[case]) for case in process[:2])
    asked = stages._replace(undecided=(CaseJoin(first, second, 0.6),))
    page, kept = page_of(asked)
    html = page.text("").html
    assert html.count("Yes, one case") == html.count("No, two cases") == 1
    (pair,) = re.findall(r'value="join:(\d+-\d+)"', html)
    count = len(page.discovery.processes[0].cases)
    with pytest.raises(Refused, match="not on the page"):
        decide(page, "join:7-9")
    assert decide(page, f"join:{pair}") == "They are one case now."
    assert "one case" not in page.text("").html
    assert len(page.discovery.processes[0].cases) == count - 1
    later = sorted(len(process.cases) for process in again(asked, kept).processes)
    assert later == [count - 1, count], "the next run keeps it"

    page, kept = page_of(asked)
    assert decide(page, f"apart:{pair}") == "They stay two cases."
    assert "one case" not in page.text("").html
    assert len(again(asked, kept).processes[0].cases) == count
    assert "one case" not in page_of(asked, tuple(kept))[0].text("").html, "it is asked once"


def test_a_decision_leads_back_to_its_process(stages: Stages) -> None:
    html = page_of(stages)[0].text("").html
    for number in (0, 1):
        assert html.count(f'id="process-{number}"') == 1
        assert html.count(f'action="#process-{number}"') == 1


def test_enter_in_the_name_renames(stages: Stages) -> None:
    """A form is sent by its first button where a person presses Enter."""
    html = page_of(stages)[0].text("").html
    forms = re.findall(r'<form method="post" action="#process-\d+">.*?</form>', html, re.DOTALL)
    assert len(forms) == 2
    for form in forms:
        assert re.findall(r'name="then" value="(\w+)"', form)[:1] == ["rename"]
