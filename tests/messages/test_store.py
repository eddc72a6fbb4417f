"""The store: what is new, conversations, searching, forgetting, and what a crash leaves."""

from __future__ import annotations

import os
import random
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import client_mails as mails
import numpy as np
import pytest
from orgflow.store.messages import Filter, MessageStore, StoreError
from orgflow.store.vectors import Vectors

from orgflow_ir.model.message import Message, Person
from orgflow_ir.pipeline.services import ServiceError

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


def test_only_what_is_new_is_added(tmp_path: Path) -> None:
    with MessageStore.create(str(tmp_path / "s")) as store:
        assert store.add([message("1"), message("2"), message("1")]) == 2
        assert store.add([message("2"), message("3")]) == 1
        assert list(store.documents()) == ["1", "2", "3"]
    assert (tmp_path / "s").stat().st_mode & 0o777 == 0o700


def test_a_message_comes_back_as_it_was(tmp_path: Path) -> None:
    import io

    from orgflow.frontends.messages.mailbox import read_mbox

    found = [
        m for m in read_mbox(io.BytesIO(mails.mbox(*mails.ALL)), "box") if isinstance(m, Message)
    ]
    assert len(found) == 9
    with MessageStore.create(str(tmp_path / "s")) as store:
        store.add(found)
        for item in found:
            back = store.message(item.id)
            assert back is not None
            for field in ("date", "subject", "body", "quoted", "signature", "references",
                          "attachments", "file", "line"):  # fmt: skip
                assert getattr(back, field) == getattr(item, field), field
            assert back.sender is not None
            assert item.sender is not None
            assert back.sender.key == item.sender.key, "a name may come from another message"
            assert {p.key for p in back.receivers} == {p.key for p in item.receivers}


def test_conversations(tmp_path: Path) -> None:
    later = START + timedelta(days=1)
    with MessageStore.create(str(tmp_path / "s")) as store:
        store.add([
            message("1", subject="Order"), message("2", references=("1",)),
            message("3", references=("lost", "2")), message("4", references=("lost",)),
            message("5", subject="AW: order", date=later),
            message("6", subject="Order", date=later),
            message("7", subject="Re: Order", sender=EVE, receivers=(), date=later),
            message("8", thread="T"), message("9", thread="T"),
        ])  # fmt: skip
        assert store.link() == 4
        found = {m.id: m.thread for m in store.messages()}
        groups = {frozenset(i for i in found if found[i] == t) for t in set(found.values())}
        assert groups == {frozenset("12345"), frozenset("6"), frozenset("7"), frozenset("89")}
        store.add([message("0", subject="Re: Order", references=("6", "1"))])
        assert store.link() == 3


def test_searching(tmp_path: Path) -> None:
    with MessageStore.create(str(tmp_path / "s")) as store:
        store.add([
            message("1", "Please pack the über-order"), message("2", "zzz", sender=BEN),
            message("3", "pack pack pack", sender=EVE, date=START + timedelta(days=9)),
        ])  # fmt: skip
        assert [id_ for id_, _ in store.full_text("pack")] == ["3", "1"]
        assert [id_ for id_, _ in store.full_text('uber OR "')] == ["1"]
        late = Filter(since=START + timedelta(days=1))
        assert [id_ for id_, _ in store.full_text("pack", wanted=late)] == ["3"]
        assert [m.id for m in store.messages(Filter(person="ben@x.example"))] == ["1", "2", "3"]
        assert [m.id for m in store.messages(Filter(sender="eve"))] == ["3"]
        (passage,) = store.search("zzz", where={"sender": "ben@x.example"})
        assert (passage.document, passage.fields["sender"]) == ("2", "Ben")
        with pytest.raises(ServiceError, match="no field colour"):
            store.search("x", where={"colour": "red"})
        assert store.full_text("!?") == []


def test_vectors_are_made_once_and_found(tmp_path: Path) -> None:
    rng = random.Random(1)
    bodies = ["".join(rng.choices("abcdefgh", k=12)) for _ in range(200)]
    folder = str(tmp_path / "s")
    embedder = Letters()
    with MessageStore.create(folder) as store:
        store.add([message(str(i), b, (ANN, BEN)[i % 2]) for i, b in enumerate(bodies)])
        store.add([message("twin", bodies[7])])
        assert store.embed(embedder) == len(set(bodies))
        assert store.embed(embedder) == 0
    with MessageStore.open(folder) as store:
        wanted = Letters().embed([bodies[7]])[0]
        exact = np.array(Letters().embed(bodies)) @ np.array(wanted)
        found = store.nearest("letters", wanted, 5)
        assert {found[0][0], found[1][0]} == {"7", "twin"}
        assert [s for _, s in found[1:]] == pytest.approx(sorted(exact, reverse=True)[:4], abs=1e-5)
        of_ben = store.nearest("letters", wanted, 3, Filter(sender="ben@x.example"))
        best = sorted(range(1, 200, 2), key=lambda i: -exact[i])[:3]
        assert [s for _, s in of_ben] == pytest.approx([exact[i] for i in best], abs=1e-5)
        assert store.vectors("letters", ["7", "none"])[1] is None


def test_what_a_crash_left_in_the_vectors_is_overwritten(tmp_path: Path) -> None:
    folder = str(tmp_path / "s")
    with MessageStore.create(folder) as store:
        store.add([message("1", "abc"), message("2", "xyz")])
        store.embed(Letters())
        store._db.execute("DELETE FROM vectors WHERE row = 1")  # written to the file, not committed
        store._db.commit()
        assert store.embed(Letters()) == 1
        assert store.nearest("letters", Letters().embed(["xyz"])[0], 1)[0][0] == "2"


def test_a_person_is_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    secret = "wherefore-art-thou"
    with MessageStore.create(str(folder)) as store:
        store.add([
            message("1", f"I am {secret}", sender=EVE),
            message("2", "fine", quoted=f"> I am {secret}", references=("1",)),
            message("3", "hello", receivers=(EVE, BEN)),
        ])  # fmt: skip
        store.embed(Letters())
        assert store.delete_person("Eve") == 1
        assert store.delete_person("Eve") == 0
        assert [m.id for m in store.messages()] == ["2", "3"]
        assert [p.name for p, _, _ in store.people()] == ["Ann", "Ben"]
        assert store.full_text(secret) == []
        assert store.counts().vectors == 2
    data = b"".join(p.read_bytes() for p in folder.iterdir())
    assert secret.encode() not in data
    assert b"wherefore" not in data, "not in the full-text index, either"


def test_retention(tmp_path: Path) -> None:
    with MessageStore.create(str(tmp_path / "s")) as store:
        store.add([message("old", sender=EVE), message("new", date=START + timedelta(days=40))])
        assert store.delete_before(START + timedelta(days=1)) == 1
        assert list(store.documents()) == ["new"]
        assert "Eve" not in [p.name for p, _, _ in store.people()]


def test_what_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is no message store"):
        MessageStore.open(str(tmp_path))
    (tmp_path / "messages.db").write_bytes(b"hello" * 1000)
    with pytest.raises(StoreError, match="is no message store"):
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
