"""Rounds of scored feedback on a draft, with a language model that makes realistic mistakes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orgflow
import pytest
from cli_cases import orgflowc
from model_server import ModelServer, Scripted, model_server
from orgflow.agents.model_client.client import OpenAIModelClient
from orgflow.agents.model_client.settings import ModelSettings
from orgflow.agents.text.draft_options import PROMPT, ROUNDS
from orgflow.agents.text.modeller import TextModeller
from orgflow.agents.text.rounds import BUDGET, Point, select_points, share_of_runs

from orgflow_ir.model import Gateway, Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import Services
from orgflow_ir.plugins import Document, Registry

SECOND = "She calls the customer and, at the same time, she writes a letter."
TEXT = f"The clerk opens the case. {SECOND}"
LINES = """\
T1 open case | clerk | s1
X1 how? | | s2
T2 call customer | clerk | s2
T3 write letter | clerk | s2
X2 join | | s2
Start -> T1 -> X1
X1 -> T2 -> X2
X1 -> T3 -> X2
X2 -> End
"""
RIGHT = LINES.replace("X1", "A1").replace("X2", "A2")
DEADLOCK = LINES.replace("X2", "A2")
FINE = json.dumps({"verdict": "right", "kind": "exclusive", "why": "fine"})
WRONG = json.dumps({"verdict": "wrong", "kind": "parallel", "why": "it happens at the same time"})


def draft(
    script: Any, rounds: int = 2, **settings: Any
) -> tuple[Model | None, ModelServer, PassContext]:
    with model_server(script) as server:
        client = OpenAIModelClient(ModelSettings(url=server.url, name="toy", **settings))
        ctx = PassContext(
            registry=Registry(),
            services=Services(client, client.budget),
            options={ROUNDS: rounds, PROMPT: "triples"},
        )
        model = TextModeller().produce([Document("t.txt", TEXT)], ctx)
    return model, server, ctx


def kinds(model: Model | None) -> list[str]:
    assert model is not None
    return [n.gateway_kind for n in model.processes[0].nodes if isinstance(n, Gateway)]


def kind_of(request: dict[str, Any]) -> str:
    said = request["messages"][-1]["content"]
    for words, kind in (
        ("Does this gateway", "gateway"), ("Does this part", "part"), ("matter most", "refine"),
    ):  # fmt: skip
        if words in said:
            return kind
    return "draft"


def answering(
    gateway: str, refined: str, first: str = LINES, part: str = FINE
) -> Callable[[dict[str, Any]], str]:
    said = {"draft": first, "gateway": gateway, "part": part, "refine": refined}
    return lambda request: said[kind_of(request)]


def asked(server: ModelServer) -> list[str]:
    return [kind_of(request) for request in server.requests]


def test_a_wrong_gateway_is_found_and_corrected() -> None:
    def answer(request: dict[str, Any]) -> str:
        known = "all of these branches" in request["messages"][-1]["content"]
        return answering(FINE.replace("exclusive", "parallel") if known else WRONG, RIGHT)(request)

    model, server, _ = draft(answer)
    assert kinds(model) == ["parallel", "parallel"]
    assert asked(server)[:4] == ["draft", "gateway", "part", "refine"]
    assert asked(server).count("refine") == 1  # the second round finds nothing, and ends it
    question = server.prompt(1)
    assert SECOND in question
    assert "exactly one of these branches is taken: `call customer` and `write letter`" in question
    assert "The text says parallel: it happens at the same time" in server.prompt(3)


def test_errors_of_the_flow_go_before_the_meaning() -> None:
    model, server, _ = draft(answering(FINE, LINES, first=DEADLOCK))
    assert asked(server)[:2] == ["draft", "refine"]
    assert "a run: " in server.prompt(1)
    assert kinds(model) == ["exclusive", "exclusive"]


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_feedback_that_is_ignored_ends(rounds: int) -> None:
    model, server, _ = draft(answering(FINE, DEADLOCK, first=DEADLOCK), rounds)
    assert asked(server) == ["draft", *["refine"] * rounds]
    assert kinds(model) == ["exclusive", "parallel"]


@pytest.mark.parametrize(
    "said",
    [
        "", "Looks good to me.", "[]", '{"verdict": "wrong"}',
        '{"verdict": "wrong", "kind": "triangular", "why": "x"}',
        '{"verdict": "wrong", "kind": "exclusive", "why": "it is what it is"}',
        '{"verdict": "unclear", "kind": "parallel", "why": "?"}', '{"verdict": 7, "kind": []}',
    ],
)  # fmt: skip
def test_a_review_that_says_nothing_changes_nothing(said: str) -> None:
    model, server, _ = draft(answering(said, "HACKED", part=said.replace("wrong", "unclear")))
    assert kinds(model) == ["exclusive", "exclusive"]
    assert "refine" not in asked(server)


def test_a_refined_draft_that_is_worse_is_not_kept() -> None:
    model, _, _ = draft(answering(WRONG, "I am sorry, I cannot."))
    assert kinds(model) == ["exclusive", "exclusive"]
    model, _, _ = draft(answering(WRONG, DEADLOCK))
    assert kinds(model) == ["exclusive", "exclusive"]


def test_a_budget_ends_it_with_the_draft_that_is_paid() -> None:
    script = [Scripted(LINES, usage=(900, 90)), Scripted(WRONG, usage=(900, 90))]
    model, server, _ = draft(script, tokens=1_800)
    assert kinds(model) == ["exclusive", "exclusive"]
    assert len(server.requests) == 2


def test_points_are_worth_what_they_touch_and_what_was_ignored() -> None:
    rare, often = Point("the join A1 waits for ever", 0.1), Point("the join A2 waits for ever", 0.9)
    meaning = Point("at X1 the text says parallel: both happen")
    assert select_points([meaning, rare, often], []) == (often.text, rare.text, meaning.text)
    ignored = select_points([meaning, rare, often], [meaning.text])
    assert ignored == (often.text, meaning.text, rare.text)
    assert select_points([], []) == ()


def test_points_keep_to_the_budget() -> None:
    long = Point("word " * 4 * BUDGET, 1.0)
    many = [Point(f"point {n} about the flow", 0.5) for n in range(9)]
    chosen = select_points([long, *many], [])
    assert long.text not in chosen
    assert len(chosen) == 3


def test_shares_of_runs(tmp_path: Path) -> None:
    text = (
        "Start -> T1 -> X1\nX1 -> T2 -> X2\nX1 -> T3 -> X2\nX2 -> A1\nA1 -> T4 -> A2\n"
        "A1 -> T5 -> A2\nA2 -> X3\nX3 -> T1\nX3 -> End\n"
    )
    path = tmp_path / "m.triples"
    path.write_text(text)
    model = orgflow.read(path).model
    assert model is not None
    share = share_of_runs(model)
    assert share["t1"] == share["t4"] == share["t5"] == 1
    assert 0.5 < share["t2"] < 0.85  # once for sure, and again with every other round
    assert share == share_of_runs(model)


@pytest.mark.slow
def test_the_commands(tmp_path: Path) -> None:
    for name, text in (("descriptions/a.txt", TEXT), ("bpmn/a.bpmn", "")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    with model_server(answering(WRONG, RIGHT)) as server:
        flags = ("--model-url", server.url, "--model", "toy")
        record = ("--record", tmp_path / "calls")
        made = orgflowc(
            "model", tmp_path / "descriptions" / "a.txt", "--rounds", "1", *flags, *record
        )
        assert made.code == 0, made.err
        assert "parallelGateway" in made.out
        (tmp_path / "bpmn" / "a.bpmn").write_text(made.out)
        args = ("eval", "text", tmp_path, "--agent", "text", "--rounds", "1", *flags, *record)
        first = orgflowc(*args)
        assert first.code == 0, first.err
        calls = len(server.requests)
        again = orgflowc(*args, "--replay")
        assert len(server.requests) == calls
    rows = [line.split(",") for line in first.out.splitlines()]
    assert [row[0] for row in rows[1:]] == ["text", '"text']
    assert rows[2][1] == ' 1 round"'
    assert "text, 1 round, all" in first.err
    lines = [line for line in again.err.splitlines() if line.startswith("text, 1 round, all")]
    assert " 1.000" in lines[0]
    assert orgflowc("eval", "text", tmp_path, "--rounds", "1").code == 2
