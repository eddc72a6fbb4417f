"""`orgflowc model`: from a text to a target, with a language model and without."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_cases import interruptible, orgflowc
from model_server import Scripted, model_server
from orgflow.commands.questions_page import QuestionsPage

from orgflow_ir.model import Model, Process

TEXT = "The clerk checks the order. If it is fine, the clerk ships the order."
LINES = """\
T1 check order | clerk | s1
X1 fine? | | s2
T2 ship order | clerk | s2
X2 join | | s2
Start -> T1
T1 -> X1
X1 -(fine)-> T2
X1 -(otherwise)-> X2
T2 -> X2
X2 -> End
"""


def run(*args: str) -> tuple[int, str, str]:
    ran = orgflowc(*args)
    return ran.code, ran.out, ran.err


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("ORGFLOW_MODEL_URL", "ORGFLOW_MODEL", "ORGFLOW_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "order.txt"
    path.write_text(TEXT)
    return path


def test_three_variables(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with model_server([LINES]) as server:
        monkeypatch.setenv("ORGFLOW_MODEL_URL", server.url)
        monkeypatch.setenv("ORGFLOW_MODEL", "toy")
        monkeypatch.setenv("ORGFLOW_MODEL_KEY", "sk-secret")
        code, out, err = run("model", str(text), "--target", "n8n")
    assert code == 0, err
    assert {"check order", "ship order"} <= {n["name"] for n in json.loads(out)["nodes"]}
    assert f"asking toy at {server.url}: at most 50,000 tokens" in err
    assert "text: 1 call, 10 tokens in, 5 out" in err
    assert "sk-secret" not in err + out


def test_without_a_model_it_says_so_and_drafts_by_rules(text: Path) -> None:
    code, out, err = run("model", str(text))
    assert code == 0, err
    assert err.splitlines()[0] == (
        "no language model is configured: set ORGFLOW_MODEL_URL and ORGFLOW_MODEL; "
        "drafting by rules alone"
    )
    assert "<definitions" in out or "<bpmn:definitions" in out
    assert "Check order" in out


def test_a_failing_model_is_exit_code_3(text: Path) -> None:
    with model_server([Scripted("no", status=401)]) as server:
        code, out, err = run("model", str(text), "--model-url", server.url, "--model", "toy")
    assert code == 3
    assert out == ""
    assert "answered 401: no; check ORGFLOW_MODEL_KEY" in " ".join(err.split())


def test_calls_are_recorded_and_replayed(text: Path, tmp_path: Path) -> None:
    record = str(tmp_path / "calls")
    with model_server([LINES]) as server:
        args = ("model", str(text), "--model", "toy", "--record", record)
        _, first, _ = run(*args, "--model-url", server.url)
    code, again, err = run(*args, "--model-url", server.url, "--replay")
    assert (code, again) == (0, first)
    assert "1 call (1 replayed), 0 tokens in" in err


def test_settings_in_a_file(text: Path) -> None:
    with model_server([LINES]) as server:
        (text.parent / "orgflow.toml").write_text(f'[model]\nurl = "{server.url}"\nname = "toy"\n')
        assert run("model", str(text))[0] == 0
        assert len(server.requests) == 1
    (text.parent / "orgflow.toml").write_text('[model]\nkey = "sk"\n')
    code, _, err = run("model", str(text))
    assert code == 2
    assert "set ORGFLOW_MODEL_KEY instead" in err


def test_the_page(text: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text.write_text(f"{TEXT} <script>alert(1)</script> matters greatly to nobody here.")
    assert run("model", str(text), "--no-model", "--explain", str(page))[0] == 0
    html = page.read_text()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "data:image/svg+xml;base64," in html
    assert "Check order" in html
    assert f"<title>Process of {text.name}</title>" in html
    assert "end event" in html or "exclusive gateway" in html

    text.write_text(f"Handle orders\n\n{TEXT}")
    assert run("model", str(text), "--no-model", "--explain", str(page))[0] == 0
    assert "<title>Handle orders</title>" in page.read_text()


def test_the_page_shows_words_that_no_element_uses(text: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text.write_text(
        "The reader, whose card the librarians stamped yesterday beside the machines in the "
        "basement archive, fills in a slip. The clerk fetches the book."
    )
    assert run("model", str(text), "--no-model", "--explain", str(page))[0] == 0
    notes = re.findall(r"no element uses: <bdi>(.*?)</bdi>", page.read_text())
    assert len(notes) == 1
    assert {"librarians", "yesterday", "machines", "basement"} <= set(notes[0].split(", "))


def test_the_page_of_questions_is_titled_by_the_text() -> None:
    model = Model(id="m", processes=(Process(id="p"),))
    for given, title in ((model, "Process of order.txt"), (named(model), "Ordering")):
        page = QuestionsPage(given, (), lambda drawn: "", lambda answers: None, "order.txt")
        assert f"<title>{title}</title>" in page.text("").html


def named(model: Model) -> Model:
    return model.replace(processes=(model.processes[0].replace(name="Ordering"),))


def test_questions_and_answers(text: Path, tmp_path: Path) -> None:
    asked, given = tmp_path / "asked.json", tmp_path / "given.json"
    lines = LINES.replace("X1", "O1").replace("X2", "O2")
    with model_server([lines]) as server:
        args = ("model", str(text), "--model-url", server.url, "--model", "toy")
        assert run(*args, "--questions", str(asked))[0] == 0
        document = json.loads(asked.read_text())
        (question,) = document["questions"]
        assert question["sentence"] == "If it is fine, the clerk ships the order."
        question["answer"] = "exclusive"
        given.write_text(json.dumps(document))
        code, out, err = run(*args, "--answers", str(given))
        assert code == 0, err
        assert "exclusiveGateway" in out
        assert "inclusiveGateway" not in out
        given.write_text("[]")
        assert run(*args, "--answers", str(given))[0] == 2


@pytest.mark.skipif(os.name != "posix", reason="terminals of POSIX")
def test_questions_in_the_terminal(text: Path, tmp_path: Path) -> None:
    """A wrong word is asked again; whoever stops keeps the answers so far, and is told how not to
    pay for the draft twice."""
    import pty

    lines = LINES.replace("X1", "O1").replace("X2", "O2")
    keyboard, terminal = pty.openpty()
    kept = tmp_path / "kept.json"
    command = [sys.executable, "-m", "orgflow.cli", "model", str(text), "--model", "toy", "--ask"]

    def start(*more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*command, "--model-url", server.url, *more],
            stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=interruptible,
        )  # fmt: skip

    with model_server([lines]) as server:
        os.write(keyboard, b"every\none\n")
        out, err = start("--questions", str(kept)).communicate(timeout=240)
        assert "  one   one of them happens" in err
        assert "'every' is not one of 'all', 'one', 'some'" in err
        assert "exclusiveGateway" in out
        assert "inclusiveGateway" not in out
        assert json.loads(kept.read_text())["questions"][0]["answer"] == "exclusive"

        stopped = start()
        assert stopped.stderr is not None
        said = ""
        while not said.endswith("answer [some]: ") and stopped.poll() is None:
            said += stopped.stderr.read(1)
        time.sleep(0.5)  # the prompt is there before the reading begins
        stopped.send_signal(signal.SIGINT)
        out, err = stopped.communicate(timeout=120)
    os.close(keyboard)
    os.close(terminal)
    assert stopped.returncode != 0
    assert "the answer so far: " in err
    assert "reuses them without cost" in err
    assert out == ""


def test_open_questions_are_counted(text: Path) -> None:
    with model_server([LINES.replace("X1", "O1").replace("X2", "O2")]) as server:
        args = ("model", str(text), "--model-url", server.url, "--model", "toy")
        _, _, err = run(*args)
        assert "1 question about the text: see --ask, --page and --questions" in err
        _, _, err = run(*args, "--ask")
        assert "1 question about the text: --ask needs a terminal; see" in err


def test_what_is_wrong_with_the_configuration_is_a_line(text: Path) -> None:
    nobody = ("--model-url", "http://127.0.0.1:9/v1", "--model", "toy")
    code, _, err = run("model", str(text), *nobody, "--cost", "0.1")
    assert code == 2
    assert "`cost` has no effect without prices: set `price-in` and `price-out`" in err
    code, _, err = run("model", str(text), "--agent", "text")
    assert code == 3
    assert "set ORGFLOW_MODEL_URL and ORGFLOW_MODEL" in err
    (text.parent / "orgflow.toml").write_text("[model]\ntries = 1\n")
    code, _, err = run("model", str(text), *nobody)
    assert code == 3
    assert "cannot be reached: nothing listens there" in " ".join(err.split())


@pytest.mark.parametrize(
    "args", [("missing.txt",), ("--agent", "nobody"), ("--target", "nothing"), ("--redact", "x")]
)
def test_misuse(text: Path, args: tuple[str, ...]) -> None:
    given = args if args[0] == "missing.txt" else (str(text), *args)
    assert run("model", *given)[0] == 2


def test_something_that_is_no_text(text: Path) -> None:
    text.write_bytes(b"\x00\xff\xfe\x80")
    assert run("model", str(text))[0] == 2


@pytest.mark.parametrize("command", ["check", "compile"])
@pytest.mark.parametrize("suffix", [".txt", ".md"])
def test_a_description_is_no_model_yet(text: Path, command: str, suffix: str) -> None:
    """What reads models names the command that makes one of a text."""
    prose = text.with_suffix(suffix)
    prose.write_text(TEXT)
    target = ["--target", "n8n"] if command == "compile" else []
    code, out, err = run(command, str(prose), *target)
    said = " ".join((out + err).split())
    assert code == 2
    assert "is not in a supported notation for processes" in said
    assert f"orgflowc model {prose}" in said


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ended_while_the_model_thinks(text: Path) -> None:
    """It is the user who ends it, and no fault of the agent."""
    with model_server([Scripted(LINES, delay=20)]) as server:
        command = [sys.executable, "-m", "orgflow.cli", "model", str(text)]
        running = subprocess.Popen(
            [*command, "--model-url", server.url, "--model", "toy"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        while not server.requests and running.poll() is None:
            time.sleep(0.05)
        running.terminate()
        _, err = running.communicate(timeout=120)
    assert running.returncode == -signal.SIGTERM
    assert "OF903" not in err
