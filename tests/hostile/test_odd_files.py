"""Odd files through the command line: the exit code, a message with a code, nothing left behind."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from odd_files import FILES, OddFile
from odd_runs import COMMANDS, Outcome, arguments, faults, folder_with, run
from orgflow import cli

SMALL = [f for f in FILES if not f.large]
IN_A_PROCESS = ("entity bomb", "nested 100,000 deep", "null byte", "endless device",
                "file that cannot be read", "file of others", "ir: keys 100,000 deep",
                "n8n: nested inside", "pme: lone surrogate", "UTF-16 with mark")  # fmt: skip
"""Run as people do, in a process of its own with 2 GB; the others in this one, which is quick."""


def here(args: list[str | Path], folder: Path) -> Outcome:
    """The command line in this process."""
    before = {p.name for p in folder.iterdir()}
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.run([str(a) for a in args])
    out.flush()
    left = tuple(sorted({p.name for p in folder.iterdir()} - before))
    return Outcome(code, out.buffer.getvalue(), err.getvalue(), 0.0, 0, left)  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("file", SMALL, ids=[f.name for f in SMALL])
def test_odd_files(file: OddFile, tmp_path: Path) -> None:
    if file.name == "file of others":
        pytest.skip("this process may be root's; it is run in one of its own below")
    for command in COMMANDS:
        folder = tmp_path / command
        folder.mkdir()
        done = here(arguments(command, *folder_with(file, folder)), folder)
        assert faults(file, command, done) == [], f"{command}: {done.err[:500]}"


@pytest.mark.skipif(sys.platform != "linux", reason="takes capabilities away, Linux only")
@pytest.mark.parametrize("name", IN_A_PROCESS)
def test_odd_files_in_a_process_with_little_memory(name: str, tmp_path: Path) -> None:
    (file,) = [f for f in FILES if f.name == name]
    done = run(arguments("check", *folder_with(file, tmp_path)), tmp_path)
    assert faults(file, "check", done) == [], done.printed[:500]
    assert done.seconds < 30
    assert done.megabytes < 1024


def test_a_file_that_is_too_large_for_any_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orgflow.compilation import input_sources

    from orgflow_ir.model import json_source_map as json_places

    path = tmp_path / "m.ir.json"
    path.write_text(json.dumps({"id": "m", "processes": []}) + " " * 3_000_000)
    assert "OF156" in here(["check", path], tmp_path).printed  # read, and empty
    monkeypatch.setattr(input_sources, "MOST_BYTES", 2_000_000)
    done = here(["check", path], tmp_path)
    assert (done.code, "OF002" in done.printed) == (2, True)
    monkeypatch.setattr(input_sources, "MOST_BYTES", 4_000_000)
    monkeypatch.setattr("orgflow_ir.model.json_source_map.MAX_BYTES", 1_000_000)
    done = here(["check", path], tmp_path)
    assert (done.code, "OF041" in done.printed) == (1, True)
    assert json_places.MAX_BYTES < 256 * 1024 * 1024


def test_too_little_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(path: str) -> None:
        raise MemoryError

    monkeypatch.setattr("orgflow.compilation.reading.open_source", full)
    done = here(["check", "m.bpmn"], tmp_path)
    assert (done.code, done.err) == (2, "orgflowc: out of memory\n")
