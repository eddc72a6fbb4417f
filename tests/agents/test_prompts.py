"""The prompts as they are sent, word for word: a change shows in the diff of the snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from orgflow.agents.filling.arrange import arrange_prompt
from orgflow.agents.filling.choose import choose_prompt, find_candidates
from orgflow.agents.filling.context import TaskContext
from orgflow.agents.filling.parameters import parameter_prompt
from orgflow.agents.language.sentences import split_sentences
from orgflow.agents.prompting import render_prompt
from orgflow.agents.text.graph_conversation import request_graph
from orgflow.agents.text.modeller import draft_messages
from orgflow.agents.text.outline_conversation import REPAIR, REVIEW
from orgflow.agents.text.outline_policy import list_rule_names, render_outline_prompt
from small_catalogue import small_catalogue

TEXT = "Title: Orders\n\nThe clerk e.g. checks the order. Then, if it is fine, he ships it."
FOLDER = Path(__file__).resolve().parents[2] / "agents" / "prompts"


def test_the_draft(snapshot: Any) -> None:
    """The request of version 0.2: recorded answers to it stay readable, since nothing in it
    changes."""
    document = render_prompt("text_document", sentences="\n".join(
        f"{'title' if s.heading else f's{s.number}'} {s.text}" for s in split_sentences(TEXT)
    ))  # fmt: skip
    text = "\n".join(f"== {m['role']}\n{m['content']}" for m in request_graph(document))
    assert text == snapshot


def test_the_outline(snapshot: Any) -> None:
    messages = draft_messages(split_sentences(TEXT))
    text = "\n".join(f"== {m['role']}\n{m['content']}" for m in messages)
    assert text == snapshot


def test_what_is_asked_about_an_outline(snapshot: Any) -> None:
    texts = (
        render_prompt("text_changes", intro=REPAIR, findings=["line 3: `if:` cannot be here"]),
        render_prompt("text_changes", intro=REVIEW, findings=["s4: nobody “submits”"]),
        render_prompt("text_continue"),
        render_prompt("text_again", finding="Your answer is not an outline."),
        render_prompt("text_plain"),
    )
    assert "\n====\n".join(texts) == snapshot


def test_the_repair(snapshot: Any) -> None:
    assert (
        render_prompt("text_repair", findings=["the parallel join `A1` waits for ever"]) == snapshot
    )


def test_the_review(snapshot: Any) -> None:
    sentences = split_sentences(TEXT)
    text = render_prompt(
        "text_review", unused=sentences[1:2], words=[(sentences[2], ("fine", "ships"))],
        unsupported=["ship it"], foreign=[("launch rocket", ("launch", "rocket"))],
    )  # fmt: skip
    assert text == snapshot


def test_filling(snapshot: Any) -> None:
    catalogue = small_catalogue()
    context = TaskContext(
        "Send a message", "Tell #orders.", "clerk", ("Enter order",), ("Done",), "Orders",
        ("article",), ("sent",),
    )  # fmt: skip
    post = catalogue.operation("n8n-nodes-base.chat@1:post")
    assert post is not None
    texts = (
        render_prompt("fill_rules"),
        choose_prompt(context, find_candidates(context, catalogue)),
        arrange_prompt(context, post, catalogue, "it is not an object"),
        parameter_prompt(context, post, ()),
        render_prompt(
            "fill_answer", message="no time", help="a duration", material="element: Wait", fault=""
        ),
    )
    assert "\n====\n".join(texts) == snapshot


def test_discovery(snapshot: Any) -> None:
    inventory = "1 Handle order (starts with: order came; goal: paid)"
    message = "[m1] 2026-03-02 09:00 email Ann (Sales) to Bob\nPlease pack the lamps."
    texts = (
        render_prompt("discover_rules"),
        render_prompt(
            "discover_case", inventory=inventory, omitted=2, twin=1, steps="Pack lamps, Ship",
            left_out=3, case=message,
        ),
        render_prompt(
            "discover_case", inventory="", omitted=0, twin=0, steps="", left_out=0, case=message
        ),
        render_prompt(
            "discover_rest", inventory=inventory, omitted=0, title="Messages", messages=message,
            least=3,
        ),
        render_prompt("discover_review", inventory=inventory),
        render_prompt("discover_baseline"),
        render_prompt("discover_all", messages=message, left_out=5, one=False),
        render_prompt("discover_all", messages=message, left_out=0, one=True),
    )  # fmt: skip
    assert "\n====\n".join(texts) == snapshot
    assert len(texts[0]) / 4 < 600


def test_the_structure_of_a_process(snapshot: Any) -> None:
    texts = [
        render_prompt("discover_outline_rules"),
        render_prompt("discover_outline", outline="", page=1, pages=1, messages="[A1] Pack it."),
        render_prompt(
            "discover_outline", outline="pack lamps | A1", page=2, pages=2, messages="[A2] Ship it."
        ),
        render_prompt("discover_outline_fix", faults=["A2 shows `Pack lamps`, which is late."]),
    ]
    assert "\n====\n".join(texts) == snapshot
    assert len(texts[0]) / 4 < 1000


def test_the_questions_after_a_run(snapshot: Any) -> None:
    record = render_prompt(
        "feedback", known="it ended at: execution\nthe moon is full", steps="m = Send a message",
        target="n8n", limitation="n8n_limitation", fault="it is empty",
    )  # fmt: skip
    again = render_prompt("text_feedback", feedback=("the channel does not exist; name one",))
    assert f"{record}==\n{again}" == snapshot


def test_the_questions_of_a_round(snapshot: Any) -> None:
    gateway = render_prompt(
        "round_gateway", sentences="She calls and writes.", gateway="At `A1` all."
    )
    part = render_prompt("round_segment", sentences="She calls.", segment="`call`, then `write`")
    refined = render_prompt("round_refine", findings=["behind `A1`: write first"])
    assert f"{gateway}==\n{part}==\n{refined}" == snapshot


def test_the_rewording(snapshot: Any) -> None:
    messages = '{"number": 1, "channel": "email", "from": "Ann", "text": "Please pack the lamps."}'
    texts = [
        render_prompt("synth_reword", messages=messages, language="English", wrong=wrong)
        for wrong in ("", "1: it leaves out 4711")
    ]
    assert "\n====\n".join(texts) == snapshot


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.j2")), ids=lambda p: p.stem)
def test_every_prompt_is_in_a_snapshot(path: Path) -> None:
    filling = {"fill_rules", "fill_choose", "fill_arrange", "fill_parameters", "fill_answer"}
    names = ("rules", "case", "rest", "review", "all", "baseline", "outline", "outline_fix",
             "outline_rules")  # fmt: skip
    discovery = {f"discover_{name}" for name in names}
    texts = {"text_draft", "text_document", "text_repair", "text_review"}
    outlines = {"text_outline", "outline_example", "outline_rules", "text_changes", "text_continue",
                "text_again", "text_plain"}  # fmt: skip
    others = {
        "synth_reword",
        "feedback",
        "text_feedback",
        "round_gateway",
        "round_segment",
        "round_refine",
    }
    assert path.stem in texts | outlines | filling | discovery | others


def test_a_draft_is_short() -> None:
    system = draft_messages(split_sentences(TEXT))[0]["content"]
    assert len(system) / 4 < 1_200


def test_an_ablation_omits_one_rule() -> None:
    whole = render_outline_prompt()
    assert len(list_rule_names()) == 12
    for name in list_rule_names():
        without = render_outline_prompt([name])
        left_out = [line for line in whole.splitlines() if line not in without.splitlines()]
        assert left_out[0].startswith("- "), name
        assert all(line.startswith("  ") for line in left_out[1:])
        assert len(without) < len(whole)
    assert "Rules:" not in render_outline_prompt(list_rule_names())
    with pytest.raises(ValueError, match="there is no rule 'luck'; the rules are: step-names, "):
        render_outline_prompt(["luck"])
