"""`orgflowc synth --reword`: a language model words the messages, and the truth stays true."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from model_server import Scripted, model_server
from orgflow import cli
from orgflow.evaluation.corpus.rewording import ATTEMPTS, BATCH, reword_messages
from orgflow.evaluation.corpus.weave import Written

from orgflow_ir.pipeline.agent_services import Reply
from orgflow_ir.pipeline.services import OverBudget

ORDER = """flowchart TD
  a([start]) --> b[Check customer order]
  b --> d[Pack ordered goods]
  d --> f[Send delivery note]
  f --> g[Customer pays the invoice]
  g --> h([end])
"""
TASKS = {("order", "b"): "Check customer order"}
SHOWN = re.compile(r'^\{"number": .*$', re.MULTILINE)


def mail(
    body: str, *, channel: str = "email", scenario: str = "order-1", task: str = "b"
) -> Written:
    return Written(
        datetime(2026, 3, 2), channel, "Ann (Sales)", ("Ben",), "S", "t", body,
        "order" if task else "", scenario if task else "", (task,) if task else (),
    )  # fmt: skip


class Words:
    """A language model that changes each text by a function; it counts its calls."""

    name = "words"

    def __init__(self, change: Callable[[str], Any], *, calls: int = 10**6) -> None:
        self._change, self._most = change, calls
        self.prompts: list[str] = []

    def ask(self, messages: Sequence[Mapping[str, Any]], **more: Any) -> Reply:
        if len(self.prompts) == self._most:
            raise OverBudget("the budget is spent")
        prompt = str(messages[0]["content"])
        self.prompts.append(prompt)
        return Reply(answer(prompt, self._change), 10, 5)


def answer(prompt: str, change: Callable[[str], Any]) -> str:
    shown = [json.loads(line) for line in SHOWN.findall(prompt)]
    texts = [{"number": one["number"], "text": change(one["text"])} for one in shown]
    return json.dumps({"messages": texts}, ensure_ascii=False)


def kindly(text: str) -> str:
    return f"Well, {text[:1].lower()}{text[1:]} Kind regards"


def test_messages_have_the_words_of_the_model_and_quotations_follow() -> None:
    first = "Hi Ben,\n\nI checked the customer order AB-1234.\n\nAnn"
    quoted = "\n".join(f"> {line}" for line in first.splitlines() if line)
    given = [
        mail(first), mail(f"Thanks for the order.\n\nOn Friday, Ann wrote:\n{quoted}"),
        mail("one\n\nOn Friday, Ann wrote:\n> other\n\ntwo"), mail("Coffee at 10?", task=""),
    ]  # fmt: skip
    client = Words(kindly)
    done = reword_messages(given, TASKS, "en", client)
    assert [one.body for one in done.written] == [
        "Well, hi Ben,\n\nI checked the customer order AB-1234.\n\nAnn Kind regards",
        "Well, thanks for the order. Kind regards\n\nOn Friday, Ann wrote:\n"
        "> Well, hi Ben,\n> I checked the customer order AB-1234.\n> Ann Kind regards",
        given[2].body, "Well, coffee at 10? Kind regards",
    ]  # fmt: skip
    assert (done.changed, done.refused, done.stopped) == (3, 0, "")
    assert [(w.at, w.tasks, w.subject) for w in done.written] == [
        (w.at, w.tasks, w.subject) for w in given
    ]
    assert len(client.prompts) == 2, "the scenario, and noise"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is missing"),
        (None, "is missing"),
        ("I checked the customer order.", "lost `4711`"),
        ("I checked order 4711 in 3 days.", "has `3`, which the message has not"),
        ("I did it, 4711.", "no longer states `Check customer order`"),
        ("> I checked the customer order 4711.", "quotes another message"),
        ("I checked the customer order 4711. " * 20, "is too long"),
        ("Ich habe die order 4711 für den Kunden und mit dem Lager geprüft.", "is not in English"),
        ("\u202e\u200b", "is missing"),
    ],
)  # fmt: skip
def test_what_is_not_used(text: Any, reason: str) -> None:
    given = [mail("I checked the customer order 4711, and the stock.")]
    client = Words(lambda _: text)
    done = reword_messages(given, TASKS, "en", client)
    assert done.written == given
    assert (done.changed, done.refused) == (0, 1)
    assert len(client.prompts) == ATTEMPTS
    assert f"1: it {reason}" in client.prompts[1]


def test_a_call_stays_a_transcript() -> None:
    given = [mail("Ann: Ann here.\nBen: Yes?\nAnn: Bye.", channel="call")]
    good, bad = "Ann: It is Ann.\nBen: Hello!\nAnn: See you.", "Ann called Ben."
    assert reword_messages(given, {}, "en", Words(lambda _: good)).written[0].body == good
    client = Words(lambda _: bad)
    assert reword_messages(given, {}, "en", client).written == given
    assert "is no transcript of Ann, Ben" in client.prompts[1]


def test_only_what_was_not_used_is_asked_about_again() -> None:
    given = [mail(f"I checked the order {n}.") for n in range(20)]
    client = Words(lambda text: "no" if " 3." in text and len(client.prompts) < 2 else kindly(text))
    done = reword_messages(given, TASKS, "en", client)
    assert (done.changed, done.refused) == (20, 0)
    assert [len(SHOWN.findall(prompt)) for prompt in client.prompts] == [BATCH, 1, BATCH, 4]


@pytest.mark.parametrize(
    "reply", ["", "no", "[1, 2]", '{"messages": 3}', "[" * 100_000,
              '{"messages": [{"number": true, "text": "x"}]}',
              '{"messages": [{"number": 1}, 7, null]}'],
)  # fmt: skip
def test_answers_that_cannot_be_read(reply: str) -> None:
    class Fixed(Words):
        def ask(self, messages: Sequence[Mapping[str, Any]], **more: Any) -> Reply:
            return Reply(reply)

    given = [mail("I checked the order 7.")]
    assert reword_messages(given, TASKS, "en", Fixed(kindly)).written == given


def test_a_budget_ends_it_with_what_there_is() -> None:
    given = [mail("I checked the order."), mail("We met.", task=""), mail("Packed.", scenario="2")]
    done = reword_messages(given, TASKS, "en", Words(kindly, calls=2))
    assert (done.changed, done.refused, done.stopped) == (2, 0, "the budget is spent")
    assert done.written[2] == given[2]


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "order.mmd"
    model.write_text(ORDER)
    asked = ["synth", str(model), "--scenarios", "2", "--reword", "-o"]
    monkeypatch.delenv("ORGFLOW_MODEL_URL", raising=False)
    assert cli.run([*asked, str(tmp_path / "none")]) == 2
    assert "ORGFLOW_MODEL_URL" in capsys.readouterr().err
    assert cli.run([*asked[:-2], "-o", str(tmp_path / "plain")]) == 0
    monkeypatch.setenv("ORGFLOW_MODEL", "toy")

    def said(request: dict[str, Any]) -> str:
        return answer(str(request["messages"][-1]["content"]), kindly)

    with model_server(said) as server:
        monkeypatch.setenv("ORGFLOW_MODEL_URL", server.url)
        record = ["--record", str(tmp_path / "kept")]
        assert cli.run([*asked, str(tmp_path / "one"), *record]) == 0
        calls = len(server.requests)
        assert cli.run([*asked, str(tmp_path / "two"), *record]) == 0
        assert len(server.requests) == calls > 0, "recorded answers give the same corpus"
    err = capsys.readouterr().err
    assert "messages reworded by the language model" in err
    corpora = [
        [json.loads(line) for line in (tmp_path / name / "messages.jsonl").open(encoding="utf-8")]
        for name in ("plain", "one", "two")
    ]
    assert corpora[1] == corpora[2]
    changed = [one["body"] for one in corpora[1] if "Well, " in one["body"]]
    assert len(changed) > 0.8 * len(corpora[0])
    assert [one["date"] for one in corpora[0]] == [one["date"] for one in corpora[1]]
    tasks = [
        [one["tasks"] for one in json.loads((tmp_path / name / "truth.json").read_text())[
            "messages"].values()]
        for name in ("plain", "one")
    ]  # fmt: skip
    assert tasks[0] == tasks[1]
    with model_server([Scripted("down", status=400)]) as server:
        monkeypatch.setenv("ORGFLOW_MODEL_URL", server.url)
        assert cli.run([*asked, str(tmp_path / "failed")]) == 3
    assert not (tmp_path / "failed").exists()
