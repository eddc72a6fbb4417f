"""A process from a text as an outline, with a language model that makes realistic mistakes: what a
program proves to be wrong is asked about once, by lines with numbers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import orgflow
import pytest
from cli_cases import orgflowc
from model_server import ModelServer, Scripted, model_server
from orgflow.agents.language.sentences import split_sentences
from orgflow.agents.model_client.client import OpenAIModelClient
from orgflow.agents.model_client.recordings import Recordings
from orgflow.agents.model_client.redaction import Redactor
from orgflow.agents.model_client.settings import ModelSettings
from orgflow.agents.text.doubts import apply_answers, find_questions
from orgflow.agents.text.draft_review import find_foreign_words, list_statements
from orgflow.agents.text.line_changes import apply_changes, is_unchanged, number_lines, read_changes
from orgflow.agents.text.outline_conversation import join_continued
from orgflow.agents.text.outline_policy import render_outline_prompt

from orgflow_ir.model import Event, Gateway, Model, Task
from orgflow_ir.pipeline.services import ServiceError, Services

TEXT = """\
Title: Orders

The clerk receives an order. He checks the stock.
If the goods are there, the warehouse ships them. Otherwise the clerk orders the goods.
Then accounting writes the invoice.
"""
GOOD = """\
receive order | clerk | s2
check stock | clerk | s3
choose: goods there? | s4
  if: goods are there
    ship goods | warehouse | s4
  else:
    order goods | clerk | s5
write invoice | accounting | s6
"""
ROOT = Path(__file__).resolve().parents[2]
STEPS = ["receive order", "check stock", "ship goods", "order goods", "write invoice"]


def draft(
    *script: Scripted | str, text: str = TEXT, **settings: Any
) -> tuple[orgflow.ReadResult, ModelServer, OpenAIModelClient]:
    with model_server(script) as server:
        client = OpenAIModelClient(ModelSettings(url=server.url, name="toy", **settings))
        result = orgflow.draft(
            [orgflow.Document("order.txt", text)], "text",
            services=Services(client, client.budget),
        )  # fmt: skip
    return result, server, client


def list_steps(model: Model | None) -> list[str]:
    assert model is not None
    return [n.name for scope in model.scopes() for n in scope.nodes if isinstance(n, Task)]


def test_a_good_draft_is_one_call() -> None:
    result, server, client = draft(GOOD)
    assert result.diagnostics == ()
    assert len(server.requests) == 1
    assert list_steps(result.model) == STEPS
    model = result.model
    assert model is not None
    (process,) = model.processes
    assert process.name == "Orders"
    ship = next(n for n in process.nodes if n.name == "ship goods")
    assert [e.quote for e in ship.evidence] == ["If the goods are there, the warehouse ships them."]
    assert ship.evidence[0].lines == (4, 4)
    assert ship.loc is not None
    assert (ship.loc.file, ship.loc.line) == ("order.txt", 4)
    assert orgflow.compile(result).ok
    assert client.usage.agents.keys() == {"text"}


def test_elements_inside_parts_cite_their_sentences() -> None:
    text = "The clerk packs the goods. After two days he calls the boss."
    lines = (
        "part: pack | s1\n  pack goods | clerk | s1\n  on: after 2 days, also | s2\n"
        "    call boss | clerk | s2\n"
    )
    result, _, _ = draft(lines, text=text)
    assert result.diagnostics == ()
    assert result.model is not None
    elements = [n for scope in result.model.scopes() for n in scope.nodes if n.name]
    assert {n.name for n in elements if not n.evidence} == set()
    assert {n.loc.file for n in elements if n.loc is not None} == {"order.txt"}
    assert "graph" not in str([n.extra for n in elements])  # numbers became evidence


@pytest.mark.parametrize(
    "around",
    [
        "```\n{}```",
        "<think>A loop? No.</think>\nHere is the outline:\n\n```text\n{}```\nShall I refine it?",
        "Here is the outline:\n{}\nShall I refine it?",
        "{}",
    ],
)
def test_what_is_around_the_lines(around: str) -> None:
    result, server, _ = draft(around.format(GOOD))
    assert list_steps(result.model) == STEPS
    assert len(server.requests) == 1


def test_graph_lines_are_read_as_well() -> None:
    lines = "T1 receive order | clerk | s2\nT2 check stock | clerk | s3\nStart -> T1 -> T2 -> End\n"
    result, _server, _ = draft(lines, "OK")
    assert list_steps(result.model) == ["receive order", "check stock"]


# -- repair ----------------------------------------------------------------------------------


def test_a_line_in_the_wrong_place_is_repaired_by_changed_lines() -> None:
    wrong = (
        GOOD.replace("choose: goods there? | s4\n", "")
        .replace("  if", "if")
        .replace("  else", "else")
    )
    changes = (
        "2+ choose: goods there? | s4\n3:   if: goods are there\n"
        "4:     ship goods | warehouse | s4\n"
        "5:   else:\n6:     order goods | clerk | s5\n"
    )
    result, server, _ = draft(wrong, changes)
    assert result.diagnostics == ()
    assert list_steps(result.model) == STEPS
    asked = server.requests[1]["messages"]
    assert [m["role"] for m in asked] == ["system", "user", "assistant", "user"]
    assert asked[2]["content"].startswith("1: receive order | clerk | s2\n2: check stock")
    assert "- line 3: `if:` cannot be here; write it inside `choose:`" in asked[3]["content"]
    assert "- line 5: `else:` cannot be here" in asked[3]["content"]


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        (GOOD + "go to: #nowhere\n", "no line has the id `#nowhere`"),
        (GOOD.replace("choose:", "together:"), "cannot be inside `together:`"),
        (GOOD + "end: done\nship again | clerk | s6\n", "the line never runs"),
        ("together: | s2\n  receive order | clerk | s2\n  row:\n    check stock | clerk | s3\n"
         "    end: done\n", "`end:` is in a branch of `together:`"),
        (GOOD + "leave:\n", "`leave:` is not inside a `repeat:`"),
    ],
)  # fmt: skip
def test_what_a_program_proves_is_asked_about(wrong: str, fault: str) -> None:
    result, server, _ = draft(wrong, GOOD)
    assert fault in server.requests[1]["messages"][3]["content"]
    assert list_steps(result.model) == STEPS
    assert [d.code for d in result.diagnostics] == []


def test_an_unsound_flow_is_shown_with_its_line_and_its_run() -> None:
    unsound = (
        "receive order | clerk | s2\ntogether: | s3\n  row:\n    check stock | clerk | s3 | #a\n"
        "  row:\n    order goods | clerk | s5\n    choose: late? | s4\n      if: late\n"
        "        go to: #a\n      else:\nwrite invoice | accounting | s6\nship goods | x | s4\n"
    )
    result, server, _ = draft(unsound, "OK")
    assert len(server.requests) == 2
    point = server.requests[1]["messages"][3]["content"].splitlines()[1]
    assert point.startswith("- line 4: `check stock` can happen more than once")
    assert point.endswith("a run through lines 1, 2, 6, 7, 4")
    assert not orgflow.check(result).ok


def test_what_stays_unread_is_an_error_and_the_rest_is_kept() -> None:
    result, server, _ = draft(GOOD + "go to: #nowhere\n", "OK")
    assert len(server.requests) == 2
    assert [(d.code, d.severity.value) for d in result.diagnostics] == [("OF645", "error")]
    assert "line 9 of the draft cannot be read: `go to: #nowhere`" in result.diagnostics[0].message
    assert list_steps(result.model) == STEPS


@pytest.mark.parametrize("answer", ["I cannot help with that.", "", "1-\n2-\n3-", "3: (((", "99-"])
def test_a_repair_that_is_worse_is_not_kept(answer: str) -> None:
    result, _, _ = draft(GOOD + "leave:\n", answer)
    assert list_steps(result.model) == STEPS


@pytest.mark.parametrize("answer", ["", "I cannot help with that.", '{"nodes": []}', "-> -> ->"])
def test_no_draft_at_all_is_asked_for_once_more(answer: str) -> None:
    result, server, _ = draft(answer)
    assert result.model is None
    assert [(d.code, d.severity.value) for d in result.diagnostics] == [("OF517", "error")]
    assert len(server.requests) == 2
    other, server, _ = draft(answer, GOOD)
    assert list_steps(other.model) == STEPS
    assert "Your answer is not an outline" in server.requests[1]["messages"][3]["content"]


def test_a_budget_keeps_the_draft_that_is_paid() -> None:
    result, server, _ = draft(Scripted(GOOD + "leave:\n", usage=(1_400, 90)), tokens=1_500)
    assert len(server.requests) == 1
    assert list_steps(result.model) == STEPS


# -- changed lines ---------------------------------------------------------------------------


def test_changes_by_number() -> None:
    lines = ["a", "repeat:", "  b", "  c", "d"]
    assert number_lines(lines).splitlines()[2] == "3:   b"
    changes = read_changes("3:   x\n4-\n5+ e\n5+ f\nline 1: A\n0+ start:")
    assert changes is not None
    (changed,) = apply_changes(lines, changes)
    assert changed == ("start:", "A", "repeat:", "  x", "d", "e", "f")
    assert read_changes("Nothing to change.") is None
    assert read_changes("It takes 3 - 4 days.") is None


def test_an_indent_that_is_left_out_is_that_of_the_line() -> None:
    changes = read_changes("3: x\n3+ y\n1: A")
    assert changes is not None
    assert apply_changes(["a", "repeat:", "  b"], changes) == (
        ("A", "repeat:", "x", "y"), ("A", "repeat:", "  x", "  y"),
    )  # fmt: skip
    wrong = GOOD.replace("    ship goods | warehouse | s4", "    leave:")
    result, _, _ = draft(wrong, "5: ship goods | warehouse | s4")
    assert list_steps(result.model) == STEPS
    assert result.diagnostics == ()


def test_many_numbers_are_not_many_lines() -> None:
    changes = read_changes("99999: x")
    assert changes is not None
    assert len(apply_changes(["a"], changes)[0]) < 1_100


@pytest.mark.parametrize(("answer", "said"), [("OK", True), ("ok.", True), ("**OK**", True),
                                              ("OK, but 3-", False), ("", False)])  # fmt: skip
def test_nothing_is_to_be_changed(answer: str, said: bool) -> None:
    assert is_unchanged(answer) is said


# -- answers that are cut off ----------------------------------------------------------------


def test_an_answer_that_is_cut_off_is_continued_behind_its_last_line() -> None:
    lines = GOOD.splitlines(keepends=True)
    result, server, _ = draft(
        Scripted("".join(lines[:3]) + lines[3][:5], finish="length"),
        Scripted("".join(lines[3:5]) + lines[5][:4], finish="length"),
        "".join(lines[5:]),
    )
    assert result.diagnostics == ()
    assert list_steps(result.model) == STEPS
    assert server.requests[1]["messages"][2]["content"] == "".join(lines[:3]).rstrip()
    assert server.requests[2]["messages"][2]["content"] == "".join(lines[:5]).rstrip()


def test_an_answer_without_an_end_is_an_error() -> None:
    result, server, _ = draft(Scripted(GOOD + "write inv", finish="length"))
    assert len(server.requests) == 3
    assert "OF646" in {d.code for d in result.diagnostics}
    assert list_steps(result.model) == STEPS


def test_a_continuation_may_repeat_lines_or_begin_again() -> None:
    assert join_continued(("a", "b", "c"), ("c", "d")) == ("a", "b", "c", "d")
    assert join_continued(("a", "b", "c"), ("a", "b", "c", "d")) == ("a", "b", "c", "d")
    assert join_continued(("a", "b"), ()) == ("a", "b")
    assert join_continued((), ("a",)) == ("a",)


def test_reasoning_that_is_cut_off_is_no_draft() -> None:
    result, server, _ = draft(Scripted("<think>Let me see", finish="length"))
    assert result.model is None
    assert len(server.requests) == 2  # nothing to continue: asked once more


# -- review ----------------------------------------------------------------------------------

SHORT = "receive order | clerk | s2\ncheck stock | clerk | s3\n"
MADE_UP = GOOD.replace("write invoice", "launch rocket")


def test_no_review_by_default() -> None:
    result, server, _ = draft(MADE_UP)
    assert len(server.requests) == 1
    assert [d.message for d in result.diagnostics if d.code == "OF518"] == [
        "`launch rocket` contains words that do not occur in the text: `launch`, `rocket`"
    ]


def test_a_weak_server_is_asked_about_what_is_made_up() -> None:
    result, server, _ = draft(MADE_UP, "8: write invoice | accounting | s6", weak=True)
    assert len(server.requests) == 2
    review = server.requests[1]["messages"][3]["content"]
    assert "- line 8: the text has no “launch”, “rocket”; it cites: Then accounting" in review
    assert list_steps(result.model) == STEPS
    assert result.diagnostics == ()


def test_a_weak_server_without_anything_to_ask_about_is_asked_once() -> None:
    _, server, _ = draft(GOOD, weak=True)
    assert len(server.requests) == 1


def test_a_draft_of_a_part_of_the_text_is_reviewed() -> None:
    result, server, _ = draft(SHORT, GOOD)
    review = server.requests[1]["messages"][3]["content"]
    assert "- no line cites s4: If the goods are there, the warehouse ships them." in review
    assert list_steps(result.model) == STEPS


def test_statements_are_few() -> None:
    words = [
        "apples",
        "pears",
        "plums",
        "figs",
        "dates",
        "limes",
        "nuts",
        "beans",
        "leeks",
        "peas",
        "kale",
    ]
    text = " ".join(f"The clerk stamps {word}." for word in words)
    _, server, _ = draft("read form | clerk | s1\n", "OK", text=text)
    review = server.requests[1]["messages"][3]["content"]
    assert review.count("\n- ") == 8


@pytest.mark.parametrize(
    ("name", "text", "language", "foreign"),
    [
        ("check approval", "The boss approves it after checking.", "en", ()),
        ("archive order", "The clerk ships the orders.", "en", ("archive",)),
        ("conduct interview", "The team interviews the applicant.", "en", ()),
        ("plan journey", "The journey is planned.", "en", ()),
        ("Antrag ausfüllen", "Er füllt die Anträge aus.", "de", ()),
        ("Antrag prüfen", "Der Urlaubsantrag wird geprüft.", "de", ()),
        ("Rakete starten", "Der Antrag wird geprüft.", "de", ("Rakete",)),
    ],
)
def test_words_are_compared_by_lemma(
    name: str, text: str, language: str, foreign: tuple[str, ...]
) -> None:
    words = frozenset(word.strip(".").lower() for word in text.split())
    assert find_foreign_words(name, words, language) == foreign


@pytest.mark.parametrize(
    ("text", "language", "statements"),
    [
        ("The clerk reads the form. Then the clerk submits it.", "en",
         ("s2: nobody “submits”: Then the clerk submits it.",)),
        ("The clerk reads the form. The clerk has a form.", "en", ()),
        ("The clerk reads the form, the clerk submits it.", "en", ()),
        ("The clerk reads the form. The clerks office is here.", "en", ()),
        ("Der Leiter liest das Formular. Danach unterschreibt der Leiter.", "de", ()),
        ("Der Leiter liest das Formular. Der Leiter unterschreibt es.", "de",
         ("s2: nobody “unterschreibt”: Der Leiter unterschreibt es.",)),
    ],
)  # fmt: skip
def test_acts_that_no_line_tells(text: str, language: str, statements: tuple[str, ...]) -> None:
    name = "read form | clerk | s1\n" if language == "en" else "Formular lesen | Leiter | s1\n"
    result, _, _ = draft(name, "OK", text=text)
    assert result.model is not None
    found = list_statements(result.model, {}, split_sentences(text), language)
    assert found == statements


# -- doubts ----------------------------------------------------------------------------------


def test_a_doubt_is_a_question_for_the_person() -> None:
    text = "The clerk opens the case. At the same time he calls the customer and writes a letter."
    lines = (
        "part: case | s1\n  open case | clerk | s1\n  together{}: | s2\n"
        "    call customer | clerk | s2\n    write letter | clerk | s2\n"
    )
    sure, _, _ = draft(lines.format(""), text=text)
    assert sure.model is not None
    assert find_questions(sure.model) == ()  # "at the same time" says it
    unsure, _, _ = draft(lines.format("?"), text=text)
    assert unsure.model is not None
    (question,) = find_questions(unsure.model)
    assert question.sentence.startswith("At the same time")
    answered = apply_answers(unsure.model, {question.element: "exclusive"})
    kinds = [n.gateway_kind for s in answered.scopes() for n in s.nodes if isinstance(n, Gateway)]
    assert kinds == ["exclusive", "exclusive"]
    assert find_questions(answered) == ()
    assert "OF524" not in {d.code for d in orgflow.check(answered).diagnostics}


def test_other_doubts_are_reported(tmp_path: Path) -> None:
    text = tmp_path / "t.txt"
    text.write_text("The clerk waits for an answer. Then he writes a letter.")
    with model_server(["wait?: 3 days | s1\nwrite letter | clerk | s2\n"]) as server:
        ran = orgflowc("model", text, "--model-url", server.url, "--model", "toy")
    assert ran.code == 0, ran.err
    assert "info OF524 [open-doubt]" in ran.err
    assert "the author was unsure about `3 days`" in " ".join(ran.err.split())


# -- events ----------------------------------------------------------------------------------


def test_what_graph_lines_could_not_say() -> None:
    text = (
        "Every Monday the clerk checks the bills. If the bank fails, he calls the bank. "
        "He sends a reminder to the customer and waits for the payment, at most ten days."
    )
    lines = (
        "start: every Monday | s1\ncheck bills | clerk | s1\n  on: error bank fails, stop | s2\n"
        "    call bank | clerk | s2\nsend: reminder to customer | s3\n"
        "receive: payment from customer | s3\n  on: after 10 days, stop | s3\n"
    )
    result, _server, _ = draft(lines, text=text)
    assert result.diagnostics == ()
    assert result.model is not None
    events = {n.construct for s in result.model.scopes() for n in s.nodes if isinstance(n, Event)}
    assert {"event.start.timer", "event.boundary.error", "event.boundary.timer"} <= events
    assert [pool.name for pool in result.model.pools] == ["customer"]


# -- redaction, servers, records -------------------------------------------------------------


def test_keywords_are_no_speakers() -> None:
    lines = (
        "start: receive order from customer\nsend: form to boss\nchoose: fine?\n  if: fine\n"
        "    call boss | clerk\nend: sent\nstart again later\nwait: 3 days\nsend the form\n"
    )
    redactor = Redactor(use_parser=False)
    assert redactor.redact(lines) == lines
    prompt = render_outline_prompt()
    assert redactor.redact(prompt) == prompt
    spoken = "Yusra: please call\nTariku: yes, Yusra\n"
    assert "Yusra" not in redactor.redact(spoken)


def test_a_server_that_hangs_is_asked_twice() -> None:
    with model_server([Scripted(GOOD, delay=1.5)]) as server:
        client = OpenAIModelClient(
            ModelSettings(url=server.url, name="toy", seconds=0.2, patience=9.0)
        )
        message = [{"role": "user", "content": "x" * 400}]
        for said in ("did not answer within 0.2 seconds", "is not asked again"):
            with pytest.raises(ServiceError, match=said):
                client.ask(message)
    assert len(server.requests) == 2
    usage = client.usage.total
    assert usage.tokens_in == 200  # the prompt of both
    assert usage.estimated


def test_tokens_of_an_answer_that_cannot_be_used_are_counted() -> None:
    with model_server([Scripted(body=b"no JSON"), Scripted(GOOD, usage=(70, 9))]) as server:
        client = OpenAIModelClient(ModelSettings(url=server.url, name="toy"))
        client.ask([{"role": "user", "content": "x" * 400}])
    assert len(server.requests) == 2
    assert client.usage.total.tokens_in == 170


def test_refused_calls_use_no_tokens() -> None:
    with model_server([Scripted("no", status=401)]) as server:
        client = OpenAIModelClient(ModelSettings(url=server.url, name="toy"))
        with pytest.raises(ServiceError):
            client.ask([{"role": "user", "content": "x" * 400}])
    assert client.usage.total.calls == 1
    assert client.usage.total.tokens == 0


def test_answers_recorded_by_version_0_2_are_replayed(tmp_path: Path) -> None:
    lines = "T1 receive order | clerk | s2\nT2 check stock | clerk | s3\nStart -> T1 -> T2 -> End\n"
    text = tmp_path / "t.txt"
    text.write_text(TEXT)
    record = ("--model", "toy", "--record", tmp_path / "calls", "--target", "triples")
    with model_server([lines]) as server:
        args = ("model", text, *record, "--model-url", server.url)
        older = orgflowc(*args, "--prompt", "triples")
        assert "process graph" in server.prompt(0)
        again = orgflowc(*args, "--replay")
    assert (again.code, again.out) == (older.code, older.out)
    assert "receive order" in again.out
    assert Recordings(tmp_path / "calls").folder.is_dir()
    outline = orgflowc(*args, "--replay", "--prompt", "outline")
    assert outline.code == 3
    assert "no recorded call matches this request" in " ".join(outline.err.split())


def test_an_unsound_draft_is_written_and_exits_1(tmp_path: Path) -> None:
    lines = (
        "T1 receive order | clerk | s2\nX1 late? | | s3\nStart -> T1 -> X1\n"
        "X1 -(a)-> T2 check -> A1\nX1 -(b)-> T3 write -> A1\nA1 -> End\n"
    )
    text = tmp_path / "t.txt"
    text.write_text(TEXT)
    with model_server([lines]) as server:
        for target in ("bpmn", "triples"):
            args = ("--target", target, "--model-url", server.url, "--model", "toy")
            ran = orgflowc("model", text, *args)
            assert ran.code == 1
            assert "receive order" in ran.out
            assert "error OF647 [unsound-draft]" in ran.err


# -- evaluation ------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A text with its model, as `eval text` reads them."""
    for name in ("descriptions", "bpmn"):
        (tmp_path / name).mkdir()
    (tmp_path / "descriptions" / "a.txt").write_text(TEXT)
    (tmp_path / "a.outline").write_text(GOOD)
    drawn = orgflowc("compile", tmp_path / "a.outline", "--target", "bpmn")
    assert drawn.code == 0, drawn.err
    (tmp_path / "bpmn" / "a.bpmn").write_text(drawn.out)
    return tmp_path


def answer_all(request: dict[str, Any]) -> Scripted:
    asked = request["messages"][-1]["content"]
    if "Answer in JSON" in asked:
        return Scripted('{"verdict": "wrong", "kind": "inclusive", "why": "or both"}')
    if "matter most" in asked:
        return Scripted("OK", usage=(30, 1))
    return Scripted(GOOD, usage=(1_000, 100))


def test_rounds_improve_the_draft_that_they_are_compared_with(folder: Path) -> None:
    with model_server(answer_all) as server:
        args = ("eval", "text", folder, "--agent", "text", "--rounds", "1", "--model", "toy",
                "--model-url", server.url, "--record", folder / "calls")  # fmt: skip
        first = orgflowc(*args)
        drafts = [r for r in server.requests if len(r["messages"]) == 2]
        again = orgflowc(*args, "--replay")
    assert first.code == 0, first.err
    assert len(drafts) == 1
    assert any("matter most" in server.prompt(n) for n in range(len(server.requests)))
    rows = [row.split(",") for row in first.out.splitlines()]
    tokens = rows[0].index("tokens")
    assert rows[1][tokens] == "1100"
    assert int(rows[2][tokens + 1]) > 1_100  # "text, 1 round" has a comma
    assert again.code == 0, again.err
    columns = [row.split(",")[tokens] for row in again.out.splitlines()]
    assert columns[1] == "1100"  # the tokens of the recorded run


def test_a_plain_request_has_no_rules(folder: Path) -> None:
    lines = "Start -> receive order\nreceive order -> check stock\ncheck stock -> End\n"
    with model_server([lines]) as server:
        args = ("eval", "text", folder, "--agent", "text", "--prompt", "plain", "--model", "toy",
                "--model-url", server.url)  # fmt: skip
        ran = orgflowc(*args)
    assert ran.code == 0, ran.err
    assert len(server.requests) == 1
    (message,) = server.requests[0]["messages"]
    assert message["content"].endswith(TEXT.strip())
    assert "Rules" not in message["content"]
    assert orgflowc("eval", "text", folder, "--prompt", "plain").code == 2


@pytest.mark.slow
def test_the_ablation_of_rules(folder: Path) -> None:
    """A server that splits a list only if the rule says so."""

    def answer(request: dict[str, Any]) -> str:
        ruled = "without an order word" in request["messages"][0]["content"]
        return GOOD if ruled else GOOD.replace("choose:", "some:")

    command = [sys.executable, str(ROOT / "benchmarks" / "rule_ablation.py"), str(folder),
               "--rules", "lists,loops", "--record", str(folder / "calls"), "--model", "toy",
               "--tokens", "90000"]  # fmt: skip
    with model_server(answer) as server:
        command += ["--model-url", server.url]
        first = subprocess.run(command, capture_output=True, text=True, check=False)
        calls = len(server.requests)
        again = subprocess.run([*command, "--replay"], capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stderr
    assert calls == len(server.requests) == 3
    assert again.stdout == first.stdout
    rows = {row[:30].strip(): row[30:].split() for row in first.stdout.splitlines()}
    columns = rows[""]
    assert columns[-2:] == ["better", "worse"]
    lists, loops = (dict(zip(columns, rows[f"without {n}"][:], strict=False))
                    for n in ("lists", "loops"))  # fmt: skip
    assert float(lists["gateway"]) == 1
    assert rows["without lists"][-2:] == ["1", "0"]
    assert rows["without loops"][-2:] == ["0", "0"]
    assert float(loops["gateway"]) == 0
