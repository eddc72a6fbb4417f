"""`orgflowc ingest`."""

from __future__ import annotations

import contextlib
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import client_mails as mails
import peak_memory
import pytest
from orgflow import cli
from orgflow.agents.discovery.decisions import Decided, read_decisions, write_decisions
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


TABLE = """\
{"id": "1", "sender": "Jane Doe <jane@x.example>", "to": "Ann", "text": "Book the crane."}
{"id": "2", "sender": "Ann", "to": "Jane Doe <jane@x.example>", "text": "Jane, done."}
{"id": "3", "sender": "Jane Doe <doe@y.example>", "to": "Ann", "text": "Hello"}
{"id": "4", "sender": "Ann", "to": "Ben", "text": "Jane Doe is away"}
"""


def test_forgetting_names_what_it_leaves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, store = tmp_path / "t.jsonl", tmp_path / "s"
    table.write_text(TABLE)
    cli.run(["ingest", str(table), "--store", str(store)])
    decisions, answers = store / "discovery-decisions.json", store / "discovery-answers.jsonl"
    cases = (("1", "2"), ("3",))
    write_decisions(decisions, [Decided("Crane of Jane Doe", "accepted", cases)])
    assert decisions.stat().st_mode & 0o777 == 0o600
    answers.write_text("Jane Doe books a crane")
    assert cli.run(["ingest", "--forget", "jane doe", "--store", str(store)]) == 2
    assert (
        "2 people have the name jane doe: doe@y.example, jane@x.example" in capsys.readouterr().err
    )
    assert cli.run(["ingest", "--forget", "jane@x.example", "--store", str(store)]) == 0
    out = capsys.readouterr().out
    assert "1 messages of jane@x.example deleted, mentions removed from 2 others" in out
    assert "kept: doe@y.example, who has the same name; --forget 'doe@y.example' deletes" in out
    assert f"not changed: {table}, which still contain them" in out
    (kept,) = read_decisions(decisions)
    assert (kept.name, kept.cases) == ("Crane of [removed]", (("2",), ("3",)))
    assert not answers.exists()
    assert cli.run(["ingest", str(table), "--forget", "doe@y.example", "--store", str(store)]) == 0
    out = capsys.readouterr().out
    assert "0 new messages, 3 known, 0 skipped\n  1 skipped: from forgotten people" in out
    held = b"".join(p.read_bytes() for p in store.iterdir()).lower()
    assert b"jane" not in held
    assert b"doe" not in held
    decisions.write_text("{")
    assert cli.run(["ingest", "--keep-days", "9", "--store", str(store)]) == 0
    out = capsys.readouterr().out
    assert f"not changed: {decisions}, which cannot be read" in out
    assert "kept: 2 messages without a date" in out


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--keep-since", "2999-01-01"],
        ["--keep-days", "999999999"],
        ["x.mbox", "--from", "mbx"],
        ["x.mbox", "--map", "body"],
        ["--keep-since", "soon"],
    ],
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


def killed_ingests(folder: Path, kills: int, seed: int = 1) -> tuple[int, int, int, int]:
    """Start reading 6,000 mails `kills` times and kill each run at a random moment of one and a
    half times a whole run; then let one run end. Returns messages, their different ids, rows of
    the full-text index, and conversations."""
    box, store = folder / "box.mbox", folder / "s"
    mail = (
        b"From: a%d@b.c\nSubject: %sorder %d\nMessage-ID: <%d@x>\n%s"
        b"Date: Mon, 2 Mar 2026 10:00:00 +0000\n\nPlease pack order %d.\n\n"
    )
    box.write_bytes(
        mails.mbox(*(
            mail % (n % 50, b"Re: " * (n % 2), n // 2, n,
                    b"In-Reply-To: <%d@x>\n" % (n - 1) if n % 2 else b"", n)
            for n in range(6000)
        ))
    )  # fmt: skip
    command = [sys.executable, "-m", "orgflow", "ingest", str(box), "--store"]
    begin = time.monotonic()
    subprocess.run([*command, str(folder / "whole")], check=True, capture_output=True, timeout=300)
    whole = time.monotonic() - begin
    rng = random.Random(seed)
    for _ in range(kills):
        process = subprocess.Popen(
            [*command, str(store)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(rng.random() * 1.5 * whole)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(120)
    subprocess.run([*command, str(store)], check=True, capture_output=True, timeout=300)
    with MessageStore.open(str(store)) as opened:
        opened._db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        (words,) = opened._db.execute("SELECT count(*) FROM words").fetchone()
        ids = list(opened.documents())
        assert opened._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return len(ids), len(set(ids)), words, opened.counts().conversations


@pytest.mark.slow
def test_ingests_killed_at_random_moments_lose_nothing(tmp_path: Path) -> None:
    assert killed_ingests(tmp_path, 4) == (6000, 6000, 6000, 3000)


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_store_that_others_may_read_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, store = tmp_path / "t.jsonl", tmp_path / "s"
    table.write_text('{"text": "please book"}\n')
    store.mkdir(mode=0o755)
    command = ["ingest", str(table), "--store", str(store)]
    assert cli.run(command) == 0
    assert "chmod" not in capsys.readouterr().err
    (store / "messages.db").chmod(0o644)
    assert cli.run(command) == 0
    report = f"may read {store}; to prevent this, run chmod -R go= {store}"
    assert report in capsys.readouterr().err
    store.chmod(0o700)
    assert cli.run(command) == 0
    assert "chmod" not in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of POSIX")
def test_a_progress_bar_on_a_terminal_only(tmp_path: Path) -> None:
    box = tmp_path / "m.mbox"
    box.write_bytes(mails.mbox(*mails.ALL * 500))
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "orgflow", "ingest", str(box), "--store"]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(
        [*command, str(tmp_path / "a")], stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    ) as running:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(ours, 65536):
                shown += piece
    os.close(ours)
    assert running.returncode == 0
    done = [int(part) for part in re.findall(rb"(\d+)/%d" % box.stat().st_size, shown)]
    assert done == sorted(done)
    assert done[-1] > 0
    piped = subprocess.run([*command, str(tmp_path / "b")], capture_output=True, check=True)
    assert piped.stderr == b""
