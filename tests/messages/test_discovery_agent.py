"""Discovery with a language model: coverage, twins, variants, stopping, resuming, budget."""

from __future__ import annotations

import functools
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_server import Scripted, model_server
from orgflow import cli
from orgflow.agents.discovery import agent
from orgflow.agents.discovery.agent import AgentReport, discover_with_model
from orgflow.agents.discovery.baselines import (
    cluster_by_k_means,
    discover_by_clusters,
    discover_in_one_call,
)
from orgflow.agents.discovery.described import SCHEMA, UnusableProcess, read_saved
from orgflow.agents.discovery.discover import Discovery, discover_processes, group_messages
from orgflow.agents.discovery.journal import FILE, Journal
from orgflow.agents.discovery.toolbox import SHOWN, TOOLS, Toolbox
from orgflow.agents.discovery.traits import traits_of
from orgflow.store.embedder import HashedWords
from orgflow.store.messages import MessageStore
from scripted_reader import SHOWN_MESSAGE, STEPS, Killed, ScriptedReader
from small_corpus import corpus

from orgflow_ir.diagnostics import Severity
from orgflow_ir.filling.evidence_check import check_evidence
from orgflow_ir.model import Gateway, Task
from orgflow_ir.model.message import Message, Person
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import Reply, ToolCall
from orgflow_ir.pipeline.services import OverBudget
from orgflow_ir.plugins import Registry

BADGE = (
    "I lost my badge on the train.", "We blocked the badge at all doors.",
    "We printed a new badge, it is at the desk.",
)  # fmt: skip


@functools.cache
def messages() -> tuple[Message, ...]:
    """The small corpus, and a rare process of three messages that are no case for the program."""
    given, _ = corpus()
    start = datetime(2026, 5, 4, 9, tzinfo=UTC)
    rare = [
        Message(f"badge-{n}", start + timedelta(hours=n), "chat", Person(f"Gate{n % 2}"), (), "",
                text)
        for n, text in enumerate(BADGE)
    ]  # fmt: skip
    return (*given, *rare)


def run(client: Any, **more: Any) -> tuple[Discovery, AgentReport]:
    found = group_messages(messages(), HashedWords())
    return discover_with_model(found, HashedWords(), client, **more)


@pytest.fixture(scope="module")
def found() -> tuple[Discovery, AgentReport]:
    return run(ScriptedReader())


def names(found: Discovery) -> dict[str, int]:
    return {one.name: len(one.cases) for one in found.processes}


def test_every_case_is_read_and_the_rare_process_is_reached(
    found: tuple[Discovery, AgentReport],
) -> None:
    discovery, report = found
    assert names(discovery) == {"Handle order": 3, "Handle leave": 3, "Handle badge": 1}
    assert (report.read, report.cases, report.stopped) == (6, 6, "")
    assert set(discovery.noise) == {m.id for m in messages() if m.id.startswith("chat")}
    steps = next(one.steps for one in discovery.processes if one.name == "Handle order")
    assert steps == (
        "Order lamps", "Check lamp stock", "Pack lamps", "Ship parcel", "Pay invoice",
        "Book payment",
    )  # fmt: skip


class _Curious(ScriptedReader):
    """Looks at the novel messages before it answers about a sample of them."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[str] = []

    def ask(self, messages: Any, **more: Any) -> Reply:
        reply = super().ask(messages, **more)
        if "Messages least like any saved process" not in str(messages[1]["content"]):
            return reply
        if len(messages) == 2:
            return Reply("", calls=(ToolCall("call_1", "find_novel_messages", "{}"),))
        self.results.append(str(messages[-1]["content"]))
        return reply


def test_a_rare_process_that_no_sample_shows_is_found_among_novel_messages() -> None:
    start = datetime(2026, 5, 1, 9, tzinfo=UTC)
    talk = [
        Message(f"talk-{n}", start + timedelta(hours=n), "chat", Person(f"Talker{n % 9}"), (), "",
                f"The order of lamps and the leave of number {n}, who knows?")
        for n in range(60)
    ]  # fmt: skip
    client = _Curious()
    found = group_messages((*messages(), *talk), HashedWords())
    discovery, _ = discover_with_model(found, HashedWords(), client)
    assert "Handle badge" in names(discovery)
    evenly = [p for p in client.prompts if "Messages outside all saved processes" in p]
    assert evenly
    assert not any("badge" in prompt for prompt in evenly), "these samples do not show it"
    first = next(p for p in client.prompts if "Messages least like any saved process" in p)
    more = SHOWN_MESSAGE.findall(client.results[0])
    assert len(more) == SHOWN
    assert all(f"[{id_}]" not in first for id_, _ in more), "the next ones after the sample"


def test_every_element_has_evidence_and_the_model_compiles(
    found: tuple[Discovery, AgentReport],
) -> None:
    from orgflow import compiler

    texts = {m.id: m.text for m in messages()}
    registry = Registry(outside=False)
    ctx = PassContext(registry=registry)
    check_evidence(found[0].model, texts.get, ctx)
    assert ctx.diagnostics == []
    assert [e.id for e in all_elements(found[0].model) if not e.evidence] == []
    made = compiler.compile_separately(
        compiler.CompileRequest(found[0].model, registry.backends["n8n"]), ctx
    )
    assert len(made) == 3
    assert [d for d in ctx.diagnostics if d.severity is Severity.ERROR] == []


def test_a_decision_has_its_conditions_and_who_said_them(
    found: tuple[Discovery, AgentReport],
) -> None:
    process = next(one.process for one in found[0].processes if one.name == "Handle order")
    (split,) = (n for n in process.nodes if isinstance(n, Gateway) and n.name)
    assert split.name == "Are the lamps there?"
    ways = {flow.name: flow for flow in process.flows if flow.source == split.id}
    assert set(ways) == {"lamps are there", "lamps are not there"}
    (said,) = {e.quote for e in ways["lamps are there"].evidence if "lamps are there" in e.quote}
    assert said.endswith("the lamps are there.")
    tasks = {n.id: n.name for n in process.nodes if isinstance(n, Task)}
    assert tasks[ways["lamps are there"].target] == "Pack lamps"
    assert ways["lamps are not there"].target not in tasks


@pytest.mark.parametrize(
    "mistake", ["invented", "twin", "prose", "no such tool", "broken json"]
)  # fmt: skip
def test_mistakes_are_answered_and_corrected(
    mistake: str, found: tuple[Discovery, AgentReport]
) -> None:
    discovery, report = run(ScriptedReader(mistake))
    assert names(discovery) == names(found[0])
    assert [one.steps for one in discovery.processes] == [one.steps for one in found[0].processes]
    expected = {
        "invented": "names none of the messages",
        "twin": "It is process",
        "broken json": "steps",
    }
    if mistake in expected:
        assert all(expected[mistake] in reason for reason in report.refused)
        assert report.refused


def test_who_never_saves_is_stopped_and_described_without_a_model() -> None:
    client = ScriptedReader("endless")
    discovery, report = run(client)
    most = 6 + agent.MOST_ROUNDS * 2
    assert client.calls <= agent.MOST_STEPS * most
    plain = discover_processes(messages(), HashedWords())
    assert [one.steps for one in discovery.processes] == [one.steps for one in plain.processes]
    assert report.read == 0


def test_a_model_may_say_that_a_case_is_none() -> None:
    discovery, report = run(ScriptedReader("all none"))
    assert discovery.processes == ()
    assert len(discovery.noise) == len(messages())
    assert report.read == 6


def test_a_variant_with_another_start_and_goal_is_kept_apart() -> None:
    made = agent._Run(
        group_messages(messages(), HashedWords()), HashedWords(), ScriptedReader(), lambda *_: None,
        500,
    )  # fmt: skip
    first, other = made.stages.processes[0][:2]
    shown = {f"m{n}": p for n, p in enumerate(made.stages.cases[first], 1)}
    again = {f"m{n}": p for n, p in enumerate(made.stages.cases[other], 1)}
    steps = [{"name": "Check papers", "evidence": ["m1"]}, {"name": "Sign", "evidence": ["m2"]}]
    value = {"name": "Handle lamps", "trigger": "customer order came", "goal": "lamps are shipped",
             "steps": steps}  # fmt: skip
    made._accept_saved(read_saved(value, shown), made.stages.cases[first])
    with pytest.raises(UnusableProcess, match="It is process 1 `Handle lamps`"):
        made._accept_saved(read_saved(value, again), made.stages.cases[other])
    back = value | {"trigger": "broken lamps returned", "goal": "money is refunded"}
    made._accept_saved(read_saved(back, again), made.stages.cases[other])
    assert [one.name for one in made.known] == [
        "Handle lamps", "Handle lamps (broken lamps returned)",
    ]  # fmt: skip


def test_killed_at_each_call_and_resumed(
    tmp_path: Path, found: tuple[Discovery, AgentReport]
) -> None:
    whole = ScriptedReader()
    run(whole)
    for number in range(1, whole.calls + 1):
        path = tmp_path / f"{number}.jsonl"
        first = ScriptedReader(killed_at=number)
        with pytest.raises(Killed):
            run(Journal(first, path))
        second = ScriptedReader()
        discovery, _ = run(Journal(second, path))
        assert discovery == found[0]
        assert first.calls + second.calls == whole.calls, "no question is asked twice"


def test_a_journal_that_ends_in_the_middle_of_a_line(
    tmp_path: Path, found: tuple[Discovery, AgentReport]
) -> None:
    path = tmp_path / "answers.jsonl"
    run(Journal(ScriptedReader(), path))
    assert path.stat().st_mode & 0o077 == 0
    text = path.read_text()
    assert all(m.body not in text for m in messages()), "questions are not kept"
    for cut in (10, len(text) // 2, len(text) - 3):
        path.write_text(text[:cut])
        client = ScriptedReader()
        assert run(Journal(client, path))[0] == found[0]
        assert client.calls > 0
        assert run(Journal(ScriptedReader(killed_at=1), path))[0] == found[0]


class _Spent(ScriptedReader):
    def ask(self, *args: Any, **more: Any) -> Any:
        if self.calls == 4:  # the first one asks for a structure, which it does not state
            raise OverBudget("the budget of 9 tokens is spent")
        return super().ask(*args, **more)


def test_a_budget_ends_it_with_what_there_is() -> None:
    discovery, report = run(_Spent())
    assert report.stopped == "the budget of 9 tokens is spent"
    assert report.over_budget
    assert report.read == 3
    assert sum(len(one.cases) for one in discovery.processes) == 6
    covered = {id_ for one in discovery.processes for case in one.cases for id_ in case}
    assert covered == set(corpus()[1])


def test_input_tokens_are_bounded() -> None:
    client = ScriptedReader("endless")
    _, report = run(client, tokens_a_message=100)
    assert report.tokens_in <= 100 * len(messages())
    assert "input tokens are the limit" in report.stopped
    assert not report.over_budget
    # the bound holds for what is sent: at least the characters of every prompt
    assert sum(map(len, client.prompts)) / 4 <= report.tokens_in


def test_every_tool_answers() -> None:
    traits = traits_of(messages(), HashedWords())
    embedder = HashedWords()
    vectors = np.array(embedder.embed([m.text for m in traits.messages]))
    tools = Toolbox(traits, vectors, embedder, [0, 1, 2], [3], "1 Handle order")
    assert len(TOOLS) == 8
    assert "shipped the parcel" in tools.call("search_messages", '{"query": "ship parcel"}')
    asked = tools.call("filter_messages", '{"sender": "salesson", "until": "2026-03-03"}')
    assert asked.startswith("3 messages match")
    assert tools.call("filter_messages", '{"since": "2030-01-01"}') == "No message fits."
    assert "SALES" in tools.call("list_participants", "")
    assert "\n" in tools.call("get_message_detail", '{"id": "[M1]"}')
    assert tools.call("get_message_detail", '{"id": "m99"}') == "No message has this id."
    assert tools.call("list_discovered_processes", "{}") == "1 Handle order"
    assert tools.call("find_uncovered_messages", "{}").count("[m") == 3
    assert tools.call("find_novel_messages", "{}").count("[m") == 1
    assert tools.call("search_messages", "[") == "The arguments are no JSON."
    assert tools.call("search_messages", "[]") == "The arguments are no JSON object."
    assert "There is no tool" in tools.call("delete", "{}")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": " "}, "no name"),
        ({"steps": []}, "needs 2 to 40 steps"),
        ({"steps": ["a", "b"]}, "names none of the messages"),
        ({"steps": [{"name": "1. ", "evidence": ["m1"]}] * 2}, "has no name"),
        ({"decisions": [{"options": [{"condition": "x", "steps": [9], "evidence": []}]}]},
         "names step 9 of 2"),
        ({"decisions": [{"options": []}]}, "fewer than two options"),
        ({"decisions": [{"options": [{"condition": "", "steps": []}]}]}, "has no condition"),
    ],
)  # fmt: skip
def test_what_cannot_be_saved(change: dict[str, Any], reason: str) -> None:
    steps = [{"name": "2. check stock", "evidence": ["[M1]", 2]},
             {"name": "ship", "evidence": "m2, m7"}]  # fmt: skip
    value = {"name": "Orders\n\u202e", "trigger": "", "goal": "", "steps": steps}
    saved = read_saved(value, {"m1": 5, "m2": 3})
    assert (saved.name, saved.steps[0]) == ("Orders", ("Check stock", "", (3, 5)))
    assert saved.steps[1].evidence == (3,)
    with pytest.raises(UnusableProcess, match=reason):
        read_saved(value | change, {"m1": 5, "m2": 3})


def test_the_schema_is_one() -> None:
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(json.loads(json.dumps(SCHEMA)))


@pytest.mark.slow
def test_the_command_asks_the_configured_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(tmp_path / "store")
    with MessageStore.create(store) as opened:
        opened.add(messages())
        opened.link()
    reader = ScriptedReader()

    def answer(request: dict[str, Any]) -> Scripted:
        reply = reader.ask(request["messages"], tools=request.get("tools", ()))
        calls = [(call.name, call.arguments) for call in reply.calls]
        return Scripted(reply.text, calls=calls, usage=(4000, 20))

    with model_server(answer) as server:
        monkeypatch.setenv("ORGFLOW_MODEL_URL", server.url)
        monkeypatch.setenv("ORGFLOW_MODEL", "scripted")
        asked = ["discover", store, "--json", "--redact", "on"]
        assert cli.run([*asked, "--tokens", "9000"]) == 0  # two calls
        out = capsys.readouterr()
        assert "cases are described without the language model" in out.err
        first = len(server.requests)
        assert first == 3, "the third is paid for, and its answer is kept"
        assert cli.run([*asked, "--tokens", "500000"]) == 0
        out = capsys.readouterr()
        assert f"{first} of an earlier run" in out.err
        assert "6 of 6 cases read" in out.err
        assert "input tokens a message" in out.err
        shown = json.loads(out.out)
        assert "Handle order" in {one["name"] for one in shown["processes"]}
        sent = "\n".join(server.prompt(n) for n in range(len(server.requests)))
        assert "Salesson" not in sent, "names of people are replaced"
        before = len(server.requests)
        assert cli.run([*asked, "--no-model"]) == 0
        assert len(server.requests) == before
    capsys.readouterr()
    assert (tmp_path / "store" / FILE).exists()
    assert cli.run(["ingest", "--store", store, "--forget", "mugger0"]) == 0
    assert not (tmp_path / "store" / FILE).exists()
    with model_server([Scripted("down", status=400)]) as server:
        monkeypatch.setenv("ORGFLOW_MODEL_URL", server.url)
        assert cli.run(asked) == 3


def test_baselines_save_the_same_schema() -> None:
    reader = _OneAnswer()
    whole = discover_in_one_call(messages(), HashedWords(), reader)
    assert reader.calls == 1
    assert names(whole) == {"Handle order": 1, "Handle leave": 1, "Handle badge": 1}
    parts = discover_by_clusters(messages(), HashedWords(), reader, clusters=4, seed=1)
    assert reader.calls == 5
    cited = [i for one in parts.processes for case in one.cases for i in case]
    assert len(cited) == len(set(cited))
    assert {*cited, *parts.noise} == {m.id for m in messages()}
    assert discover_by_clusters(messages(), HashedWords(), reader, clusters=4, seed=1) == parts
    texts = {m.id: m.text for m in messages()}
    ctx = PassContext(registry=Registry(outside=False))
    check_evidence(whole.model, texts.get, ctx)
    check_evidence(parts.model, texts.get, ctx)
    assert ctx.diagnostics == []


@pytest.mark.parametrize("answer", ["no JSON", '{"processes": [{"name": "x"}, 3]}', "[]"])
def test_a_baseline_with_an_answer_that_cannot_be_used(answer: str) -> None:
    class Fixed(ScriptedReader):
        def ask(self, *args: Any, **more: Any) -> Reply:
            return Reply(answer)

    assert discover_in_one_call(messages(), HashedWords(), Fixed()).processes == ()


def test_k_means_by_hand() -> None:
    rows = np.array([[0, 0], [0, 1], [9, 9], [9, 8], [0, 0.5]], np.float32)
    labels, centres = cluster_by_k_means(rows, 2, seed=3)
    assert labels[0] == labels[1] == labels[4] != labels[2] == labels[3]
    assert sorted(centres.tolist()) == [[0, 0.5], [9, 8.5]]
    assert len(cluster_by_k_means(np.zeros((3, 2), np.float32), 2, 0)[1]) == 1


class _OneAnswer(ScriptedReader):
    """Names every process of which it sees two steps."""

    def ask(self, messages: Any, **more: Any) -> Reply:
        self.calls += 1
        shown = dict(SHOWN_MESSAGE.findall(str(messages[1]["content"])))
        saved = []
        for kind in STEPS:
            steps = self._steps(kind, shown)
            if len(steps) > 1:
                saved.append({"name": f"Handle {kind}", "steps": steps})
        return Reply(json.dumps({"processes": saved}), 10, 5)
