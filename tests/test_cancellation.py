"""Ctrl-C at a chosen moment of a command: exit code 130, one line, nothing half written; and the
service that tells the threads of a compilation."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cli_cases import LINEAR, Ran, interruptible
from engine_fixture import LocalEngine
from orgflow.commands.cancellation import Signals

from orgflow_ir.pipeline.services import CancelFlag

posix = pytest.mark.skipif(os.name != "posix", reason="sends signals to processes")

# -- the service -----------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_flag_is_set_before_the_signal_ends_the_work(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    flag = CancelFlag()
    seen: list[bool] = []

    def ends(*_: object) -> None:
        seen.append(flag.cancelled)
        raise KeyboardInterrupt

    before = signal.signal(number, ends)
    try:
        with pytest.raises(KeyboardInterrupt):
            _raised(flag, number)
        assert seen == [True]
        assert signal.getsignal(number) is ends, "the handler of before is back"
    finally:
        signal.signal(number, before)


def _raised(flag: CancelFlag, number: signal.Signals) -> None:
    with Signals(flag).caught():
        assert not flag.cancelled
        signal.raise_signal(number)


@posix
def test_a_held_signal_raises_where_the_hold_ends() -> None:
    """The first one; a second one does not wait."""
    flag = CancelFlag()
    signals = Signals(flag)
    seen: list[str] = []

    def work(times: int) -> None:
        with signals.held():
            for number in range(times):
                signal.raise_signal(signal.SIGINT)
                seen.append(f"after {number}")
            assert flag.cancelled

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with signals.caught():
            with pytest.raises(KeyboardInterrupt):
                work(1)
            with pytest.raises(KeyboardInterrupt):
                work(2)
            assert seen == ["after 0", "after 0"]
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


@posix
def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals(flag := CancelFlag()).caught():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            signal.raise_signal(signal.SIGHUP)
        assert not flag.cancelled
    finally:
        signal.signal(signal.SIGHUP, before)


def test_another_thread_leaves_the_handlers_alone() -> None:
    """Only the main thread may set them; a compilation in another one works all the same."""
    handler = signal.getsignal(signal.SIGINT)
    found: list[object] = []

    def work() -> None:
        with Signals(CancelFlag()).caught():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [handler]


# -- commands --------------------------------------------------------------------------------

CHILD = """
import os, signal, sys
from importlib import import_module

where, moment, *line = sys.argv[1:]
module, _, name = where.rpartition(":")
owner = import_module(module)
*outer, last = name.split(".")
for part in outer:
    owner = getattr(owner, part)
function = getattr(owner, last)
calls = 0


def interrupted(*args, **options):
    global calls
    calls += 1
    result = function(*args, **options)
    if calls == int(moment):
        os.kill(os.getpid(), signal.SIGINT)
    return result


setattr(owner, last, interrupted)
from orgflow import cli

code = cli.run(line)
print(f"called {calls}", file=sys.stderr)
sys.exit(code)
"""
"""A command line that presses Ctrl-C itself after the n-th call of a function of ours."""


def pressed(folder: Path, where: str, moment: int, *line: str) -> Ran:
    """The command line in a group of processes of its own, of which nothing may be left."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, where, str(moment), *line], cwd=folder, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=interruptible, start_new_session=True,
    )  # fmt: skip
    out, err = child.communicate(timeout=120)
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)
    return Ran(child.returncode, out, err)


def assert_interrupted(ran: Ran, calls: int) -> None:
    assert ran.code == 130
    assert ran.err.endswith(f"\norgflowc: interrupted\ncalled {calls}\n")
    assert "Traceback" not in ran.err


@posix
@pytest.mark.parametrize("moment", [1, 3, 5])
def test_check_of_many_files(moment: int, tmp_path: Path) -> None:
    """Nothing is shown of a check that did not end, nor written to the file of -o."""
    for number in range(5):
        (tmp_path / f"{number}.bpmn").write_text(LINEAR)
    (tmp_path / "found.txt").write_text("what was there before")
    ran = pressed(
        tmp_path, "orgflow.compilation.reading:parse_source", moment,
        "check", ".", "--no-cache", "-o", "found.txt",
    )  # fmt: skip
    assert_interrupted(ran, moment)
    assert ran.out == ""
    assert (tmp_path / "found.txt").read_text() == "what was there before"
    assert len(list(tmp_path.iterdir())) == 6


@posix
@pytest.mark.parametrize("moment", [1, 2, 4])
def test_fixes_are_whole_or_not_made(moment: int, tmp_path: Path) -> None:
    """`check --fix`: files before the interruption are fixed, the others as they were."""
    bad = (Path(__file__).parent / "diagnostics/OF201-deadlocked-join/bad.bpmn").read_bytes()
    for number in range(4):
        (tmp_path / f"{number}.bpmn").write_bytes(bad)
    ran = pressed(
        tmp_path, "orgflow.commands.output:_write_beside", moment, "check", "--fix", "."
    )  # fmt: skip
    assert_interrupted(ran, moment)
    now = [(tmp_path / f"{number}.bpmn").read_bytes() for number in range(4)]
    fixed = bad.replace(b'<parallelGateway id="join"', b'<exclusiveGateway id="join"')
    assert fixed != bad
    assert now == [fixed] * (moment - 1) + [bad] * (5 - moment)
    assert len(list(tmp_path.iterdir())) == 4, "temporary files are gone"


def many(count: int) -> str:
    """A model of so many processes, each of which becomes a file."""
    head, begin, rest = LINEAR.partition("  <process")
    body, end, tail = (begin + rest).partition("</definitions>")
    ids = ("start", "ship", "end", "f1", "f2", "p")
    parts = []
    for number in range(count):
        part = body.replace('name="Order"', f'name="Order {number}"')
        for id in ids:
            part = part.replace(f'"{id}"', f'"{id}{number}"')
        parts.append(part)
    return head + "".join(parts) + end + tail


@posix
@pytest.mark.parametrize("moment", [1, 4, 6])
def test_compile_of_many_processes(moment: int, tmp_path: Path) -> None:
    """No file is there before all are written, and those of before stay whole."""
    (tmp_path / "m.bpmn").write_text(many(6))
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "order-0.json").write_text("what was there before")
    line = ("compile", "m.bpmn", "--target", "n8n", "-o", "made/")
    ran = pressed(tmp_path, "orgflow.commands.output:_write_beside", moment, *line)
    assert_interrupted(ran, moment)
    assert [p.name for p in (tmp_path / "made").iterdir()] == ["order-0.json"]
    assert (tmp_path / "made" / "order-0.json").read_text() == "what was there before"


@posix
def test_compile_while_it_emits(tmp_path: Path) -> None:
    (tmp_path / "m.bpmn").write_text(LINEAR)
    line = ("compile", "m.bpmn", "--target", "n8n", "-o", "out.json")
    ran = pressed(tmp_path, "orgflow.compiler:legalise", 1, *line)
    assert_interrupted(ran, 1)
    assert not (tmp_path / "out.json").exists()


@posix
@pytest.mark.parametrize(
    "where",
    [
        "orgflow.compiler:legalise",
        "orgflow.backends.n8n.engine.process:NodeProcess.__init__",
        "orgflow.backends.n8n.engine.process:NodeProcess.send",
    ],
)
def test_run(where: str, tmp_path: Path, engine: LocalEngine) -> None:
    """Also while the engine works: its process ends with the command."""
    assert engine is not None
    (tmp_path / "m.bpmn").write_text(LINEAR)
    ran = pressed(tmp_path, where, 1, "run", "m.bpmn", "--html", "report.html")
    assert_interrupted(ran, 1)
    assert ran.out == ""
    assert [p.name for p in tmp_path.iterdir()] == ["m.bpmn"]


@posix
def test_the_moment_counts(tmp_path: Path) -> None:
    """A moment that never comes ends the command as always: the tests above can fail."""
    (tmp_path / "m.bpmn").write_text(LINEAR)
    ran = pressed(tmp_path, "orgflow.compilation.reading:parse_source", 2, "check", "m.bpmn")
    assert ran.code == 0
    assert ran.err.endswith("called 1\n")
