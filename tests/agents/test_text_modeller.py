"""A process from a text in graph lines, as version 0.2 requests them, with a language model that
makes realistic mistakes: the loop ends where it should, with the best draft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orgflow
import pytest
from model_server import ModelServer, Scripted, model_server
from orgflow.agents.model_client.client import OpenAIModelClient
from orgflow.agents.model_client.settings import ModelSettings
from orgflow.agents.text.doubts import apply_answers, find_questions, questions_json, read_answers
from orgflow.agents.text.draft_options import PROMPT
from orgflow.agents.text.modeller import TextModeller

from orgflow_ir.model import Gateway, Model, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import Services
from orgflow_ir.plugins import Document

TEXT = """\
Title: Orders

The clerk receives an order. He checks the stock.
If the goods are there, the warehouse ships them. Otherwise the clerk orders the goods.
Then accounting writes the invoice.
"""
GOOD = """\
T1 receive order | clerk | s2
T2 check stock | clerk | s3
X1 goods there? | | s4
T3 ship goods | warehouse | s4
T4 order goods | clerk | s5
X2 join | | s5
T5 write invoice | accounting | s6
Start -> T1
T1 -> T2
T2 -> X1
X1 -(goods are there)-> T3
X1 -(otherwise)-> T4
T3 -> X2
T4 -> X2
X2 -> T5
T5 -> End
"""
DEADLOCK = GOOD.replace("X2", "A2")
SHORT = "T1 receive order | clerk | s2\nT2 check stock | clerk | s3\nStart -> T1 -> T2 -> End\n"


class GraphModeller(TextModeller):
    """The agent with the option of `--prompt triples`."""

    def produce(self, documents: Sequence[Document], ctx: PassContext) -> Model | None:
        ctx.options = {**ctx.options, PROMPT: "triples"}
        return super().produce(documents, ctx)


def draft(
    *script: Scripted | str, text: str = TEXT, **settings: Any
) -> tuple[orgflow.ReadResult, ModelServer, OpenAIModelClient]:
    with model_server(script) as server:
        client = OpenAIModelClient(ModelSettings(url=server.url, name="toy", **settings))
        result = orgflow.draft(
            [orgflow.Document("order.txt", text)], GraphModeller(),
            services=Services(client, client.budget),
        )  # fmt: skip
    return result, server, client


def tasks(model: Model | None) -> list[str]:
    assert model is not None
    return [n.name for n in model.processes[0].nodes if isinstance(n, Task)]


def test_a_good_draft_is_one_call() -> None:
    result, server, client = draft(GOOD)
    assert result.ok
    assert result.diagnostics == ()
    assert len(server.requests) == 1
    assert tasks(result.model) == [
        "receive order", "check stock", "ship goods", "order goods", "write invoice",
    ]  # fmt: skip
    model = result.model
    assert model is not None
    (process,) = model.processes
    assert process.name == "Orders"
    ship = next(n for n in process.nodes if n.name == "ship goods")
    assert [e.quote for e in ship.evidence] == ["If the goods are there, the warehouse ships them."]
    assert ship.evidence[0].lines == (4, 4)
    assert {lane.name for lane in process.lanes} == {"clerk", "warehouse", "accounting"}
    assert orgflow.compile(result).ok
    assert client.usage.agents.keys() == {"text"}


@pytest.mark.parametrize(
    "around",
    [
        "```\n{}```",
        "<think>A deadlock? No.</think>\nHere is the graph:\n\n```text\n{}```\nShall I refine it?",
        "{}",
    ],
)
def test_what_is_around_the_lines(around: str) -> None:
    result, server, _ = draft(around.format(GOOD))
    assert len(tasks(result.model)) == 5
    assert len(server.requests) == 1


def test_a_deadlock_is_shown_and_repaired() -> None:
    result, server, _ = draft(DEADLOCK, GOOD)
    assert orgflow.check(result).ok
    assert len(server.requests) == 2
    asked = server.requests[1]["messages"]
    assert [m["role"] for m in asked] == ["system", "user", "assistant", "user"]
    assert "a run: " in asked[3]["content"]


def test_feedback_that_is_ignored_ends() -> None:
    result, server, _ = draft(DEADLOCK)
    assert len(server.requests) == 2  # the draft and one repair; it covers the text, so no review
    assert result.model is not None
    assert not orgflow.check(result).ok  # it is kept, and check says what is wrong


def test_a_repair_that_is_worse_is_not_kept() -> None:
    result, _, _ = draft(DEADLOCK, "I cannot help with that.")
    assert len(tasks(result.model)) == 5


def test_what_is_missing_is_reviewed_once() -> None:
    result, server, _ = draft(SHORT, GOOD)
    assert len(server.requests) == 2
    review = server.requests[1]["messages"][3]["content"]
    assert "- no line cites s4" in review
    assert "- no line cites s6" in review
    assert len(tasks(result.model)) == 5
    assert result.diagnostics == ()


def test_what_stays_missing_is_reported() -> None:
    result, server, _ = draft(SHORT)
    assert len(server.requests) == 2
    assert [d.code for d in result.diagnostics] == ["OF518"] * 3
    assert "If the goods are there" in result.diagnostics[0].message
    assert result.diagnostics[0].loc is not None
    assert result.diagnostics[0].loc.line == 4


def test_made_up_steps_are_reported() -> None:
    made_up = GOOD.replace("write invoice", "launch rocket")
    result, server, _ = draft(made_up)
    assert len(server.requests) == 2
    assert "launch rocket: the text does not contain launch, rocket" in server.prompt()
    found = [d.message for d in result.diagnostics if d.code == "OF518"]
    assert found == [
        "`launch rocket` contains words that do not occur in the text: `launch`, `rocket`"
    ]


@pytest.mark.parametrize("answer", ["", "I cannot help with that.", '{"nodes": []}', "-> -> ->"])
def test_no_draft_at_all(answer: str) -> None:
    result, server, _ = draft(answer)
    assert result.model is None
    assert [(d.code, d.severity.value) for d in result.diagnostics] == [("OF517", "error")]
    assert result.diagnostics[0].message.endswith(f"“{answer}”" if answer else "is empty")
    assert len(server.requests) == 2


def test_a_budget_keeps_the_draft_that_is_paid() -> None:
    result, server, _ = draft(Scripted(SHORT, usage=(900, 90)), tokens=1_000)
    assert len(server.requests) == 1
    assert tasks(result.model) == ["receive order", "check stock"]


def test_a_failing_endpoint_is_reported() -> None:
    result, _, _ = draft(Scripted("no", status=401))
    assert result.model is None
    assert [(d.code, d.severity.value) for d in result.diagnostics] == [("OF514", "error")]


def test_a_flood_of_steps_is_no_draft() -> None:
    flood = "".join(f"T{n} step {n} | x | s2\nT{n} -> T{n + 1}\n" for n in range(1, 300))
    result, _, _ = draft(flood)
    assert result.model is None


def test_doubtful_gateways_are_questions() -> None:
    text = "The clerk opens the case. She calls the customer and writes a letter."
    lines = (
        "T1 open case | clerk | s1\nA1 both | | s2\nT2 call customer | clerk | s2\n"
        "T3 write letter | clerk | s2\nA2 join | | s2\n"
        "Start -> T1 -> A1\nA1 -> T2 -> A2\nA1 -> T3 -> A2\nA2 -> End\n"
    )
    result, _, _ = draft(lines, text=text)
    assert result.model is not None
    (question,) = find_questions(result.model)
    assert question.text.startswith("`call customer` and `write letter`: ")
    assert question.sentence == "She calls the customer and writes a letter."
    filled = questions_json([question]).replace('"answer": null', '"answer": "exclusive"')
    other = apply_answers(result.model, read_answers(filled))
    kinds = [n.gateway_kind for n in other.processes[0].nodes if isinstance(n, Gateway)]
    assert kinds == ["exclusive", "exclusive"]
    assert orgflow.check(other).ok
    assert find_questions(other) == ()
    clear = TEXT + "Meanwhile the clerk waits and calls at the same time.\n"
    assert find_questions(draft(GOOD, text=clear)[0].model or Model(id="m")) == ()


@pytest.mark.parametrize(
    ("sentence", "asked"),
    [
        ("The clerk checks the form or calls the customer.", True),
        ("The clerk either checks the form or calls the customer.", False),
        ("The clerk may check the form.", False),
        ("If the form is late, the clerk checks the form or the list.", False),
    ],
)
def test_steps_joined_by_or_may_both_happen(sentence: str, asked: bool) -> None:
    text = f"The clerk opens the case. {sentence} The clerk closes the case."
    result = orgflow.draft([orgflow.Document("d", text)], "text-rules")
    assert result.model is not None
    found = find_questions(result.model)
    assert [q.sentence for q in found] == [sentence] * asked
    if found:
        some = apply_answers(result.model, {found[0].element: "inclusive"})
        kinds = [n.gateway_kind for n in some.processes[0].nodes if isinstance(n, Gateway)]
        assert kinds == ["inclusive", "inclusive"]
        assert orgflow.check(some).ok


CLASH = (
    "T1 open case | clerk | s1\nX1 late? | | s2\nT2 call customer | clerk | s2\n"
    "T3 write letter | clerk | s3\nA1 join | | \nT4 close case | clerk | s4\n"
    "Start -> T1 -> X1\nX1 -(late)-> T2 -> A1\nX1 -(otherwise)-> T3 -> A1\nA1 -> T4 -> End\n"
)
CLASHING = (
    "The clerk opens the case. If it is late, she calls the customer. Otherwise she writes a "
    "letter. She closes the case."
)


def test_a_join_that_does_not_fit_its_split_is_a_question() -> None:
    result, _, _ = draft(CLASH, text=CLASHING)
    assert result.model is not None
    (question,) = find_questions(result.model)
    assert question.text == (
        "`call customer` and `write letter` come together before `close case`: do all of them "
        "happen first, one, or one or more?"
    )
    assert "She closes the case." in question.sentence
    assert question.current == "parallel"
    joined = apply_answers(result.model, {question.element: "exclusive"})
    assert orgflow.check(joined).ok
    assert not orgflow.check(result.model).ok
    assert find_questions(joined) == ()


def test_a_join_without_a_split_of_its_own_is_a_question() -> None:
    lines = (
        "T1 open case | clerk | s1\nX1 late? | | s2\nT2 call customer | clerk | s2\n"
        "X2 gone? | | s3\nT3 write letter | clerk | s3\nT4 close case | clerk | s4\n"
        "T5 file letter | clerk | s4\n"
        "Start -> T1 -> X1\nX1 -(late)-> T2 -> A1\nX1 -(otherwise)-> X2\n"
        "X2 -(gone)-> T3 -> A1\nX2 -(otherwise)-> T4 -> End\nA1 -> T5 -> End\n"
    )
    result, _, _ = draft(lines, lines, lines, text=CLASHING)
    assert result.model is not None
    (question,) = find_questions(result.model)
    assert question.text.startswith(
        "`call customer` and `write letter` come together before `file letter`: "
    )
    joined = apply_answers(result.model, {question.element: "exclusive"})
    assert orgflow.check(joined).ok
    assert find_questions(joined) == ()


def test_a_question_about_a_gateway_without_sentences_shows_those_of_its_steps() -> None:
    lines = (
        "T1 pack goods | clerk | s1\nT2 book invoice | clerk | s2\nStart -> A1\n"
        "A1 -> T1\nA1 -> T2\nT1 -> A2\nT2 -> A2\nA2 -> End\n"
    )
    text = "The clerk packs goods. The clerk books the invoice."
    result, _, _ = draft(lines, lines, lines, text=text)
    assert result.model is not None
    (question,) = find_questions(result.model)
    assert question.sentence == text
