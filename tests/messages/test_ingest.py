"""`orgflowc ingest`."""

from __future__ import annotations

import sys
from pathlib import Path

import client_mails as mails
import peak_memory
import pytest
from orgflow import cli
from orgflow.store.messages import MessageStore


def test_again_only_what_is_new(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    box, store = tmp_path / "a.mbox", str(tmp_path / "store")
    box.write_bytes(mails.mbox(*mails.ALL[:4]))
    assert cli.run(["ingest", str(box), "--store", store]) == 0
    box.write_bytes(mails.mbox(*mails.ALL, b"nothing\n"))
    assert cli.run(["ingest", str(box), "--store", store]) == 0
    out, err = capsys.readouterr()
    assert f"{box}: 4 new messages, 0 known, 0 skipped" in out
    assert f"{box}: 5 new messages, 4 known, 1 skipped" in out
    assert "warning OF020" in err
    assert cli.run(["ingest", "--forget", "ann@example.com", "--store", store]) == 0
    assert "2 messages of ann@example.com deleted" in capsys.readouterr().out
    assert cli.run(["ingest", "--keep-since", "2026-03-05", "--store", store]) == 0
    with MessageStore.open(store) as opened:
        assert all(m.date and m.date.day >= 5 for m in opened.messages())


@pytest.mark.parametrize(
    "args",
    [[], ["x.mbox", "--from", "mbx"], ["x.mbox", "--map", "body"], ["--keep-since", "soon"]],
)
def test_misuse(args: list[str], tmp_path: Path) -> None:
    assert cli.run(["ingest", *args, "--store", str(tmp_path / "s")]) == 2
    assert not (tmp_path / "s").exists()


def test_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path / "none.mbox")
    assert cli.run(["ingest", missing, "--store", str(tmp_path / "s")]) == 2
    assert "OF002" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="resource is there on POSIX alone")
def test_memory_is_bounded(tmp_path: Path) -> None:
    """An mbox of 60 MB takes not much more than one of a single mail."""
    body = b"From: a%d@b.c\nSubject: order %d\nMessage-ID: <%d@x>\n\n" + b"Pack it. " * 2200 + b"\n"
    small, large = tmp_path / "small.mbox", tmp_path / "large.mbox"
    small.write_bytes(mails.mbox(body % (0, 0, 0)))
    with large.open("wb") as file:
        for number in range(3000):
            file.write(mails.mbox(body % (number % 50, number, number)))
    peaks = [
        peak_memory.run(
            [sys.executable, "-m", "orgflow", "ingest", str(path), "--store", f"{path}.store"],
            tmp_path / "report",
        ).peak
        for path in (small, large)
    ]
    assert peaks[1] - peaks[0] < 120_000_000


def test_a_killed_ingest_is_linked_by_the_next_one(tmp_path: Path) -> None:
    table, folder = tmp_path / "t.jsonl", str(tmp_path / "s")
    table.write_text('{"id": "1", "text": "please book"}\n')
    assert cli.run(["ingest", str(table), "--store", folder]) == 0
    with MessageStore.open(folder) as store, store._db as database:
        database.execute("UPDATE messages SET conversation = NULL")
    assert cli.run(["ingest", str(table), "--store", folder]) == 0
    with MessageStore.open(folder) as store:
        assert store.counts().conversations == 1
