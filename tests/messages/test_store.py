"""The store: what is new, conversations, searching, forgetting, and what a crash leaves."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from orgflow.store.messages import MessageStore
from orgflow.store.vectors import Vectors

from orgflow_ir.model.message import Message, Person
from orgflow_ir.plugins.message_stores import StoreError

ANN, BEN, EVE = Person("Ann", "ann@x.example"), Person("Ben", "ben@x.example"), Person("Eve")
START = datetime(2026, 3, 2, 10, tzinfo=UTC)


def message(id_: str, body: str = "text", sender: Person = ANN, **more: object) -> Message:
    fields: dict[str, object] = {"receivers": (BEN,), "date": START, **more}
    return Message(id=id_, channel="email", sender=sender, body=body, **fields)  # type: ignore[arg-type]


class Letters:
    """An embedder: how often each letter is there."""

    name = "letters"
    size = 26

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        counts = np.array([[t.lower().count(chr(97 + i)) for i in range(26)] for t in texts], float)
        return list(counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9))


def test_what_is_forgotten_is_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    secret = "wherefore-art-thou"
    with MessageStore.create(str(folder)) as store:
        store.add([message("1", f"I am {secret}", sender=EVE), message("2", "fine")])
        store.embed(Letters())
        assert store.delete_person("Eve").messages == 1
    assert folder.stat().st_mode & 0o777 == 0o700
    data = b"".join(p.read_bytes() for p in folder.iterdir())
    assert secret.encode() not in data
    assert b"wherefore" not in data, "not in the full-text index, either"


def test_what_a_crash_left_in_the_vectors_is_overwritten(tmp_path: Path) -> None:
    folder = str(tmp_path / "s")
    with MessageStore.create(folder) as store:
        store.add([message("1", "abc"), message("2", "xyz")])
        store.embed(Letters())
        store._db.execute("DELETE FROM vectors WHERE row = 1")  # written to the file, not committed
        store._db.commit()
        assert store.embed(Letters()) == 1
        assert store.nearest("letters", Letters().embed(["xyz"])[0], 1)[0][0] == "2"


def test_what_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a message store"):
        MessageStore.open(str(tmp_path))
    (tmp_path / "messages.db").write_bytes(b"hello" * 1000)
    with pytest.raises(StoreError, match="is not a message store"):
        MessageStore.open(str(tmp_path))
    (tmp_path / "messages.db").unlink()
    database = sqlite3.connect(tmp_path / "messages.db")
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StoreError, match="version 99"):
        MessageStore.open(str(tmp_path))


def test_of_many_vectors_those_with_near_signs_are_compared(tmp_path: Path) -> None:
    """Against the product of all; the file of signs is made again where it is too short."""
    rng = np.random.default_rng(1)
    topics = rng.normal(size=(400, 384))
    data = (topics[rng.integers(0, 400, 12_000)] + 0.7 * rng.normal(size=(12_000, 384))).astype(
        "f4"
    )
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    vectors = Vectors(str(tmp_path), "m", 384)
    vectors.write(0, data)
    hits = 0
    for query in data[:50]:
        every = [row for row, _ in vectors.nearest(query, 10, exhaustive=True)]
        assert every == np.argsort(-(data @ query), kind="stable")[:10].tolist()
        found = vectors.nearest(query, 10)
        assert all(score == pytest.approx(data[row] @ query, abs=1e-6) for row, score in found)
        hits += len({row for row, _ in found}.intersection(every))
    assert hits >= 490
    even = range(0, 12_000, 2)
    assert vectors.nearest(data[7], 3, [*even, 7])[0][0] == 7
    before = vectors.nearest(data[3], 10)
    os.truncate(vectors.signs_path, 48 * 9_000)
    assert Vectors(str(tmp_path), "m").nearest(data[3], 10) == before
    vectors.erase([3, 11_999])
    assert 3 not in [row for row, _ in vectors.nearest(data[3], 10)]
    assert not any(Path(vectors.signs_path).read_bytes()[-48:])


ADDING = """
import sys, time
from datetime import UTC, datetime, timedelta
from orgflow.store.messages import MessageStore
from orgflow_ir.model.message import Message, Person
folder, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def messages():
    for n in range(first, last):
        if n % 10 == 0:
            time.sleep(0.001)
        yield Message(id=str(n), channel="chat", sender=Person(f"P{n % 7}"), receivers=(),
                      date=datetime(2026, 3, 2, tzinfo=UTC), body=f"word{n}")
import orgflow.store.messages as module
module.BATCH = 20
with MessageStore.create(folder) as store:
    store.add(messages())
    store.link()
"""


def adding(folder: Path, first: int, last: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", ADDING, str(folder), str(first), str(last)])


def contents(folder: Path) -> tuple[int, int, int, str]:
    """Messages, ids, rows of the full-text index and what SQLite finds wrong."""
    database = sqlite3.connect(folder / "messages.db")
    try:
        database.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        return tuple(
            database.execute(query).fetchone()[0]
            for query in ("SELECT count(*) FROM messages", "SELECT count(DISTINCT id) FROM "
                          "messages", "SELECT count(*) FROM words", "PRAGMA integrity_check")
        )  # type: ignore[return-value]  # fmt: skip
    finally:
        database.close()


def test_processes_that_add_to_one_store_wait_for_each_other(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    running = [adding(folder, first, first + 300) for first in (0, 150, 300)]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    assert contents(folder) == (600, 600, 600, "ok")


@pytest.mark.parametrize("after", range(6))
def test_what_a_killed_process_leaves_is_completed(tmp_path: Path, after: int) -> None:
    folder = tmp_path / "s"
    process = adding(folder, 0, 400)
    until = time.monotonic() + 120
    while not (folder / "messages.db").exists() and time.monotonic() < until:
        time.sleep(0.001)
    time.sleep(after * after * 0.004)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=120)
    with MessageStore.create(str(folder)) as store:
        assert store.counts().messages % 20 == 0, "whole transactions"
    assert adding(folder, 0, 400).wait(timeout=120) == 0
    assert contents(folder) == (400, 400, 400, "ok")


def test_a_person_that_another_process_deleted_is_made_again(tmp_path: Path) -> None:
    folder = str(tmp_path / "s")
    with MessageStore.create(folder) as one, MessageStore.open(folder) as other:
        one.add([message("1", sender=EVE)])
        other.delete_before(START + timedelta(days=1))
        one.add([message("2", sender=EVE, date=START + timedelta(days=2))])
        (found,) = one.messages()
        assert found.sender == EVE
        other.delete_person("Eve")
        assert one.add([message("3", sender=EVE, date=START + timedelta(days=2))]) == 0
        assert one.left_out == 1


def test_forgetting_reports_a_reader_that_keeps_the_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orgflow.store import messages

    monkeypatch.setattr(messages, "WAIT", 0.2)
    folder = str(tmp_path / "s")
    with MessageStore.create(folder) as one, MessageStore.open(folder) as other:
        one.add([message("1", "wherefore", EVE), message("2")])
        reading = other.messages()
        next(reading)
        with pytest.raises(StoreError, match="deleted, but their bytes are not overwritten yet"):
            one.delete_person("eve")
        reading.close()
        assert one.delete_person("eve").messages == 0
        data = b"".join(p.read_bytes() for p in Path(folder).iterdir())
        assert b"wherefore" not in data


def test_vectors_that_a_killed_process_left_are_overwritten(tmp_path: Path) -> None:
    with MessageStore.create(str(tmp_path / "s")) as store:
        store.add([message("1", "abc"), message("2", "xyz")])
        store.embed(Letters())
        store._db.execute("DELETE FROM vectors WHERE row = 1")  # written to the file, not committed
        store._db.commit()
        store.delete_person("nobody")
        (path,) = (tmp_path / "s").glob("*.f32")
        assert not any(path.read_bytes()[4 * 26 :])


def test_what_sqlite_refuses_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from orgflow import cli

    folder, table = tmp_path / "s", tmp_path / "t.jsonl"
    table.write_text('{"text": "please book"}\n')
    with MessageStore.create(str(folder)) as store:
        store._db.execute("DROP TABLE words")
    for command in (["ingest", str(table), "--store", str(folder)], ["discover", str(folder)]):
        if command[0] == "discover":
            with sqlite3.connect(folder / "messages.db") as database:
                database.execute("DROP TABLE messages")
            database.close()
        assert cli.run(command) == 1
        err = capsys.readouterr().err
        assert f"{folder}/messages.db cannot be used: no such table" in err
        assert "internal error" not in err


def test_two_processes_embed_the_same_text(tmp_path: Path) -> None:
    folder = str(tmp_path / "s")
    with MessageStore.create(folder) as one, MessageStore.open(folder) as other:
        one.add([message("1", "abc"), message("2", "xyz")])

        class Slow(Letters):
            def embed(self, texts: list[str]) -> list[list[float]]:
                other.embed(Letters())
                return super().embed(texts)

        one.embed(Slow())
        assert one.nearest("letters", Letters().embed(["xyz"])[0], 1)[0][0] == "2"
        assert one.counts().vectors == 2
