"""Ctrl-C while a language model answers: the answer in flight is waited for, nothing that was paid
is lost, and the next run pays for nothing twice. Real signals, real processes, a slow server."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Ran, interruptible, orgflowc
from engine_fixture import missing
from model_server import ModelServer, Scripted, model_server
from orgflow.backends.n8n.engine.install import engine_status
from stored_executions import unexplained_failures

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

TEXT = "The clerk checks the order. If it is fine, the clerk ships the order. Else he rejects it."
FAULTY = """\
T1 check order | clerk | s1
X1 fine? | | s2
T2 ship order | clerk | s2
T3 reject order | clerk | s3
A1 join | | s3
Start -> T1 -> X1
X1 -(fine)-> T2 -> A1
X1 -(otherwise)-> T3 -> A1
A1 -> End
"""
"""A parallel gateway joins alternatives, so it waits indefinitely."""
SOUND = FAULTY.replace("A1", "X2")
STEPS = ("Send a message in Slack", "Append a row to Google Sheets", "Create an issue in Jira")
MODEL = """\
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
<process id="p" name="Orders" isExecutable="true"><startEvent id="s"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t0"/>{}<endEvent id="e" name="Done"/>
</process></definitions>""".format("".join(
    f'<serviceTask id="t{n}" name="{name}"/>'
    f'<sequenceFlow id="f{n + 1}" sourceRef="t{n}" '
    f'targetRef="{"e" if n == len(STEPS) - 1 else f"t{n + 1}"}"/>'
    for n, name in enumerate(STEPS)
))  # fmt: skip

Answer = Callable[[dict[str, Any]], str]


def filled(request: dict[str, Any]) -> str:
    """The first operation of the list, and no parameters."""
    asked = request["messages"][-1]["content"]
    ids = [line.split(" = ")[0][2:] for line in asked.splitlines() if line.startswith("- ")]
    return json.dumps({"operation": ids[0]} if "Which operation" in asked else {})


def reviewed(request: dict[str, Any]) -> str:
    """A draft that has errors until it is told so, and is called right in every question."""
    if "response_format" in request:
        return json.dumps({"verdict": "right", "kind": "exclusive", "why": ""})
    return FAULTY if len(request["messages"]) == 2 else SOUND


LATE, NEVER = 2.0, 600.0
"""Seconds until an answer: within those that a stopped run waits, and beyond."""


def slow(answer: Answer, at: int, delay: float) -> Callable[[dict[str, Any]], Scripted]:
    """The answers, of which the one at a place comes late."""
    asked = 0

    def script(request: dict[str, Any]) -> Scripted:
        nonlocal asked
        asked += 1
        return Scripted(answer(request), delay=delay if asked == at + 1 else 0)

    return script


def stopped(folder: Path, server: ModelServer, at: int, *line: str, twice: bool = False) -> Ran:
    """The command line, with Ctrl-C while the call at a place waits for its answer.

    Args:
        twice: with a second Ctrl-C as soon as the first is answered.
    """
    running = subprocess.Popen(
        [sys.executable, "-m", "orgflow.cli", *line], cwd=folder, text=True,
        env={**os.environ, **variables(server)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=interruptible,
    )  # fmt: skip
    end = time.monotonic() + 120
    while len(server.requests) <= at and running.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    assert running.poll() is None, running.communicate()
    running.send_signal(signal.SIGINT)
    first = ""
    if twice:
        assert running.stderr is not None
        while "press Ctrl-C again to end immediately" not in first:
            first += (got := running.stderr.readline())
            assert got, first
        running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert "Traceback" not in first + err
    assert err.endswith("orgflowc: interrupted\n")
    return Ran(running.returncode, out, first + err)


def variables(server: ModelServer) -> dict[str, str]:
    return {"ORGFLOW_MODEL_URL": server.url, "ORGFLOW_MODEL": "toy", "ORGFLOW_MODEL_KEY": "sk-x"}


def asked_of(server: ModelServer) -> list[str]:
    return [json.dumps(request, sort_keys=True) for request in server.requests]


def case(name: str, folder: Path) -> tuple[Answer, tuple[str, ...]]:
    """The answers and the command line of a case."""
    if name != "model" and not engine_status().installed:
        missing("n8n's engine is not installed")
    (folder / "order.txt").write_text(TEXT)
    (folder / "order.bpmn").write_text(MODEL)
    if name == "model":
        return reviewed, ("model", "order.txt", "--rounds", "2", "--target", "triples")
    if name == "fill":
        return filled, ("fill", "order.bpmn", "--to", "ir")
    return filled, ("compile", "order.bpmn", "--target", "n8n", "--fill")


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize(("name", "at"), [("model", 1), ("model", 2), ("fill", 3), ("compile", 2)])
def test_a_stopped_run_goes_on(name: str, at: int, recorded: bool, tmp_path: Path) -> None:
    answer, line = case(name, tmp_path)
    with model_server(answer) as server:
        whole = orgflowc(*line, cwd=tmp_path, env=variables(server))
        every = asked_of(server)
    assert whole.code == 0, whole.err
    assert len(every) > at + 1, "the case is about one of several calls"

    record = ("--record", "calls") if recorded else ()
    with model_server(slow(answer, at, LATE)) as server:
        first = stopped(tmp_path, server, at, *line, *record)
        assert asked_of(server) == every[: at + 1]
    assert (first.code, first.out) == (130, "")
    assert "waiting up to 5 seconds for the pending answer" in first.err
    assert f"{at + 1} calls, " in first.err, "what was paid is reported"
    kept = tmp_path / "calls"
    if not recorded:
        found = re.search(r"so far: (\S+); the same command with (.*?) reuses them", first.err)
        assert found is not None, first.err
        kept = Path(found[1])
        assert kept.stat().st_mode & 0o077 == 0
        record = tuple(found[2].split())
    assert "sk-x" not in "".join(path.read_text() for path in kept.rglob("*.json"))
    with model_server(answer) as server:
        second = orgflowc(*line, *record, cwd=tmp_path, env=variables(server))
        assert asked_of(server) == every[at + 1 :], "answered requests are not sent again"
    assert (second.code, second.out) == (whole.code, whole.out), second.err
    assert f"({at + 1} replayed)" in second.err
    folder = str(kept) if not recorded else "calls"
    third = orgflowc(*line, "--record", folder, "--replay", cwd=tmp_path)
    assert (third.code, third.out) == (whole.code, whole.out), third.err
    if not recorded:
        shutil.rmtree(kept)


@pytest.mark.parametrize("twice", [False, True])
def test_an_answer_that_does_not_come_is_not_waited_for(twice: bool, tmp_path: Path) -> None:
    """A few seconds at most, and not at all after a second Ctrl-C."""
    answer, line = case("model", tmp_path)
    with model_server(answer) as server:
        whole = orgflowc(*line, cwd=tmp_path, env=variables(server))
        every = asked_of(server)
    with model_server(slow(answer, 1, NEVER)) as server:
        first = stopped(tmp_path, server, 1, *line, "--record", "calls", twice=twice)
    assert (first.code, first.out) == (130, "")
    assert ("no answer within 5 seconds" in first.err) != twice
    assert "1 call, " in first.err, "what was paid is reported"
    with model_server(answer) as server:
        second = orgflowc(*line, "--record", "calls", cwd=tmp_path, env=variables(server))
        assert asked_of(server) == every[1:]
    assert (second.code, second.out) == (whole.code, whole.out), second.err


@pytest.mark.parametrize("status", [429, 500])
def test_a_failure_in_flight_is_not_tried_again(status: int, tmp_path: Path) -> None:
    _, line = case("model", tmp_path)

    def fails(request: dict[str, Any]) -> Scripted:
        return Scripted("busy", status=status, delay=1.0)

    with model_server(fails) as server:
        ran = stopped(tmp_path, server, 0, *line)
        assert len(server.requests) == 1
    assert (ran.code, ran.out) == (130, "")


MAIL = """From shop@example.com Mon Mar  4 09:00:00 2024
From: {0}@example.com
To: office@example.com
Date: Mon, 4 Mar 2024 09:0{1}:00 +0000
Message-ID: <{0}{1}@example.com>
Subject: Order {1}

{2}

"""


@pytest.mark.slow
def test_a_stopped_discovery_goes_on(tmp_path: Path) -> None:
    """The store keeps the answers, the one in flight among them."""
    texts = ("Please send me an offer.", "Here is the offer.", "I order what you offer.",
             "The goods are on their way.", "I have paid the invoice.")  # fmt: skip
    mails = "".join(
        MAIL.format(who, number, text)
        for who in ("ann", "bob")
        for number, text in enumerate(texts)
    )
    for store in ("one", "two"):
        (tmp_path / "mail.mbox").write_text(mails)
        ran = orgflowc("ingest", "mail.mbox", "--store", store, cwd=tmp_path)
        assert ran.code == 0, ran.err

    def answer(request: dict[str, Any]) -> str:
        return "I do not know."

    with model_server(answer) as server:
        whole = orgflowc("discover", "one", cwd=tmp_path, env=variables(server))
        every = asked_of(server)
    assert len(every) > 2, whole.err
    with model_server(slow(answer, 1, LATE)) as server:
        first = stopped(tmp_path, server, 1, "discover", "two")
    assert (first.code, first.out) == (130, "")
    assert "2 calls, " in first.err
    with model_server(answer) as server:
        second = orgflowc("discover", "two", cwd=tmp_path, env=variables(server))
        assert asked_of(server) == every[2:], "answered requests are not sent again"
    assert (second.code, second.out) == (whole.code, whole.out), second.err


@pytest.mark.slow
def test_a_stopped_evaluation_goes_on(tmp_path: Path) -> None:
    """`eval text` prints what it has, and keeps what was answered."""
    for number in (1, 2, 3):
        for name, text in (("descriptions/{}.txt", TEXT), ("bpmn/{}.bpmn", MODEL)):
            path = tmp_path / name.format(number)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.replace("clerk", f"clerk {number}"))
    line = ("eval", "text", str(tmp_path), "--agent", "text")

    def answer(request: dict[str, Any]) -> str:
        return SOUND

    with model_server(answer) as server:
        whole = orgflowc(*line, cwd=tmp_path, env=variables(server))
        every = asked_of(server)
    assert len(every) > 2, whole.err
    with model_server(slow(answer, 2, LATE)) as server:
        first = stopped(tmp_path, server, 2, *line)
    assert first.code == 130
    found = re.search(r"the 3 answers so far: (\S+); the same command with (.*?) reuses", first.err)
    assert found is not None, first.err
    with model_server(answer) as server:
        again = orgflowc(*line, *found[2].split(), cwd=tmp_path, env=variables(server))
        assert asked_of(server) == every[3:], "answered requests are not sent again"
    assert again.code == whole.code
    shutil.rmtree(found[1])


@pytest.mark.slow
def test_a_stopped_diagnosis_goes_on(tmp_path: Path) -> None:
    unexplained_failures(tmp_path)
    line = ("run", "order.triples", "--executions", "executions.json", "--json", "--diagnose")

    def answer(request: dict[str, Any]) -> str:
        return json.dumps({
            "failure_source": "bpmn_quality", "root_cause": "a house", "suggested_fix": "a moon",
            "is_fixable": True, "element": None, "severity": "blocking", "confidence": "high",
        })  # fmt: skip

    with model_server(answer) as server:
        whole = orgflowc(*line, cwd=tmp_path, env=variables(server))
        every = asked_of(server)
    assert len(every) == 2, whole.err
    with model_server(slow(answer, 0, LATE)) as server:
        first = stopped(tmp_path, server, 0, *line)
    assert first.code == 130
    found = re.search(r"the answer so far: (\S+); the same command with (.*?) reuses", first.err)
    assert found is not None, first.err
    with model_server(answer) as server:
        again = orgflowc(*line, *found[2].split(), cwd=tmp_path, env=variables(server))
        assert asked_of(server) == every[1:]
    replayed = orgflowc(*line, *found[2].split(), "--replay", cwd=tmp_path)
    for one in (again, replayed):
        assert one.code == whole.code
        assert json.loads(one.out)["failures"] == json.loads(whole.out)["failures"]
    shutil.rmtree(found[1])


@pytest.mark.slow
def test_the_limit_of_tokens_is_for_all_models_of_a_command(tmp_path: Path) -> None:
    answer, _ = case("compile", tmp_path)
    (tmp_path / "second.bpmn").write_text(MODEL.replace('process id="', 'process id="second_'))
    line = ("compile", "order.bpmn", "--target", "n8n", "--fill", "-o", "out/")
    with model_server(answer) as server:
        one = orgflowc(*line, cwd=tmp_path, env=variables(server))
        alone = len(server.requests)
    assert one.code == 0, one.err
    folder = tmp_path / "models"
    folder.mkdir()
    (tmp_path / "order.bpmn").rename(folder / "order.bpmn")
    (tmp_path / "second.bpmn").rename(folder / "second.bpmn")
    line = ("compile", "models", "--target", "n8n", "--fill", "-o", "all/")
    with model_server(answer) as server:
        both = orgflowc(*line, cwd=tmp_path, env=variables(server))
        whole = len(server.requests)
    assert both.code == 0, both.err
    assert whole == 2 * alone, "all models in a folder are filled"
    dear = 2_000
    with model_server(lambda request: Scripted(answer(request), usage=(dear, 0))) as server:
        limit = str(dear * alone * 3 // 2)
        ran = orgflowc(*line, "--tokens", limit, cwd=tmp_path, env=variables(server))
        limited = len(server.requests)
    assert ran.code == 0, ran.err
    assert alone < limited < whole, "the second model has what the first has left"


@pytest.mark.parametrize(("command", "option"), [("compile", "--fill"), ("run", "--diagnose")])
def test_the_options_of_the_language_model_have_no_effect_alone(
    command: str, option: str, tmp_path: Path
) -> None:
    """They are refused where the command asks no language model, rather than ignored."""
    (tmp_path / "order.bpmn").write_text(MODEL)
    ran = orgflowc(command, "order.bpmn", "--target", "n8n", "--record", "calls", cwd=tmp_path)
    assert ran.code == 2
    assert f"--record requires {option}" in ran.err
