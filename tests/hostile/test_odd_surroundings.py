"""Full disks, locked files, closed pipes, signals, no file descriptors: one line, the old output
whole, nothing left behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cases import LINEAR, interruptible
from odd_files import chain
from odd_runs import locked_out

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses limits and devices of Linux")

OLD = "what was there before"
ORGFLOWC = [sys.executable, "-m", "orgflow.cli"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.bpmn").write_text(LINEAR)
    (tmp_path / "out.json").write_text(OLD)
    return tmp_path


def orgflowc(
    folder: Path, *args: str, before: Callable[[], object] | None = None, stdout: int | None = None
) -> tuple[int, str]:
    """Exit code and what was printed: the findings of `check`, then standard error."""
    done = subprocess.run(
        [*ORGFLOWC, *args], cwd=folder, preexec_fn=before, check=False, timeout=120,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if stdout is None else stdout,
        stderr=subprocess.PIPE, text=True,
        # Where no file can be written, the interpreter would leave half a compiled module.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    found = done.stdout if args[0] == "check" and done.stdout else ""
    return done.returncode, found + done.stderr


def untouched(folder: Path, *more: str) -> bool:
    names = {p.name for p in folder.iterdir()}
    return names == {"m.bpmn", "out.json", *more} and (folder / "out.json").read_text() == OLD


COMPILE = ("compile", "m.bpmn", "--target", "n8n")


def test_a_full_disk_keeps_the_old_output(folder: Path) -> None:
    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    for option in ("-o", "--report"):
        code, said = orgflowc(folder, *COMPILE, option, "out.json", before=small)
        assert (code, "cannot write" in said) == (2, True), said
        assert untouched(folder)


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_a_full_device(folder: Path, option: str) -> None:
    code, said = orgflowc(folder, *COMPILE, option, "/dev/full")
    assert (code, "cannot write /dev/full: no space left on device" in said) == (2, True), said
    assert untouched(folder)


PRINTING = (
    COMPILE,
    ("trace", "m.bpmn"),
    ("diff", "m.bpmn", "m.bpmn"),
    ("list", "rules"),
    ("opt", "m.bpmn", "--passes", ""),
    ("check", "m.bpmn"),
)


@pytest.mark.parametrize("args", PRINTING)
def test_a_full_device_as_standard_output(folder: Path, args: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        code, said = orgflowc(folder, *args, stdout=full.fileno())
    assert (code, "no space left on device" in said.lower()) == (2, True), said


@pytest.mark.parametrize(("closed", "codes"), [(0, {0}), (1, {2}), (2, {0})])
def test_a_stream_that_is_not_there(folder: Path, closed: int, codes: set[int]) -> None:
    code, said = orgflowc(folder, *COMPILE, before=lambda: os.close(closed))
    assert code in codes, said


def test_an_output_that_is_read_only(folder: Path) -> None:
    (folder / "out.json").chmod(0o444)
    code, said = orgflowc(folder, *COMPILE, "-o", "out.json", before=locked_out)
    assert (code, "cannot write out.json: permission denied" in said) == (2, True), said
    assert untouched(folder)


def test_a_folder_that_is_read_only(folder: Path) -> None:
    folder.chmod(0o555)
    try:
        code, said = orgflowc(folder, *COMPILE, "-o", "new.json", before=locked_out)
        assert (code, "cannot write new.json: permission denied" in said) == (2, True), said
        code, said = orgflowc(folder, *COMPILE, "-o", "new/a.json", before=locked_out)
        assert (code, "permission denied" in said) == (2, True), said
    finally:
        folder.chmod(0o755)
    assert untouched(folder)


def test_an_output_in_a_ring_of_links(folder: Path) -> None:
    (folder / "ring").symlink_to("ring")
    code, said = orgflowc(folder, *COMPILE, "-o", "ring")
    assert (code, "cannot write ring" in said) == (2, True), said
    code, said = orgflowc(folder, *COMPILE, "-o", "ring/a.json")
    assert (code, "cannot write" in said) == (2, True), said
    assert untouched(folder, "ring")


def test_an_output_that_cannot_be_read_is_not_replaced(folder: Path) -> None:
    large = folder / "large.json"
    large.touch()
    os.truncate(large, 3 << 30)  # without disk space
    code, said = orgflowc(folder, *COMPILE, "-o", "large.json")
    assert (code, "cannot replace large.json" in said) == (2, True), said
    assert large.stat().st_size == 3 << 30


def test_an_output_name_that_is_too_long(folder: Path) -> None:
    code, said = orgflowc(folder, *COMPILE, "-o", "x" * 300 + ".json")
    assert (code, "file name too long" in said) == (2, True), said
    assert untouched(folder)


def test_a_link_to_nothing_is_written_through(folder: Path) -> None:
    (folder / "link").symlink_to("made.json")
    assert orgflowc(folder, *COMPILE, "-o", "link")[0] == 0
    assert (folder / "link").is_symlink()
    assert (folder / "made.json").read_text().startswith("{")


@pytest.mark.parametrize("most", [3, 4, 5, 6, 8])
def test_few_file_descriptors(folder: Path, most: int) -> None:
    """Python itself needs some to start; where it starts, we end well or with a line."""

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    plain = subprocess.run(
        [sys.executable, "-c", "import orgflow.cli, click"], cwd=folder, preexec_fn=few,
        capture_output=True, check=False,
    )  # fmt: skip
    if plain.returncode:
        pytest.skip(f"Python does not start with {most} file descriptors")
    code, said = orgflowc(folder, *COMPILE, "-o", "out.json", before=few)
    if code == 0:
        assert (folder / "out.json").read_text().startswith("{")
    else:
        assert (code, "too many open files" in said.lower()) == (2, True), said
        assert untouched(folder)


# -- signals in the middle of work ---------------------------------------------------------------


def started(folder: Path) -> subprocess.Popen[str]:
    """A compile that takes seconds, at work."""
    (folder / "long.bpmn").write_text(chain(60_000))
    process = subprocess.Popen(
        [*ORGFLOWC, "compile", "long.bpmn", "--target", "n8n", "-o", "out.json"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=interruptible,
    )  # fmt: skip
    return process


@pytest.mark.parametrize("after", [0.6, 1.5])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_the_old_output(folder: Path, number: int, after: float) -> None:
    process = started(folder)
    time.sleep(after)
    assert process.poll() is None, "the model is too small to be interrupted"
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert out == ""
    if number == signal.SIGINT:
        assert (process.returncode, err.strip()) == (130, "orgflowc: interrupted")
    else:
        assert (process.returncode, err) == (-number, "")
    assert untouched(folder, "long.bpmn")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_while_files_are_written(folder: Path, number: int) -> None:
    """Held in the middle of writing a temporary file: it goes, and the old output stays."""
    code = (
        "import os, signal, sys\n"
        "from orgflow import cli\n"
        "from orgflow.commands import output\n"
        "mode = os.chmod\n"
        "def held(*args):\n"
        f"    os.kill(os.getpid(), {int(number)})\n"
        "    mode(*args)\n"
        "os.chmod = held\n"
        "sys.argv = ['orgflowc', 'compile', 'm.bpmn', '--target', 'n8n', '-o', 'out.json']\n"
        "cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, preexec_fn=interruptible, capture_output=True,
        text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == (130 if number == signal.SIGINT else -number), done.stderr
    assert "Traceback" not in done.stderr
    assert untouched(folder)


def test_a_signal_that_was_ignored_stays_ignored(folder: Path) -> None:
    def deaf() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process = subprocess.Popen(
        [*ORGFLOWC, *COMPILE, "-o", "out.json"], cwd=folder, preexec_fn=deaf,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    time.sleep(0.15)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=120) == 0


@pytest.mark.parametrize(
    "args",
    [
        ("check", "{}"),
        ("check", "{}", "--format", "json"),
        ("check", "{}", "--format", "sarif"),
        ("check", "{}", "--fix"),
        ("trace", "{}"),
        *(("compile", "{}", "--target", t) for t in ("n8n", "ir", "bpmn", "svg", "mermaid", "asl")),
        ("compile", "{}", "--target", "n8n", "--verify"),
    ],
    ids=" ".join,
)
def test_the_name_of_a_file_need_not_be_text(args: tuple[str, ...], folder: Path) -> None:
    name = os.fsdecode(b"or\xffder.bpmn")
    (folder / "m.bpmn").rename(folder / name)
    done = subprocess.run(
        [*ORGFLOWC, *(a.format(name) for a in args)], cwd=folder, check=False, timeout=120,
        capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for text in (done.stdout, done.stderr):
        text.decode()
    assert b"OF9" not in done.stdout + done.stderr
