"""What every message store does, tried on a folder and on a real PostgreSQL with pgvector."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import client_mails as mails
import numpy as np
import postgres_server
import pytest
from orgflow import cli
from small_corpus import corpus, truth_json

from orgflow_ir.model.message import Attachment, Message, Person
from orgflow_ir.pipeline.services import ServiceError
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.message_stores import Filter, MessageStorage, StoreError, provider_name

ANN, BEN, EVE = Person("Ann", "ann@x.example"), Person("Ben", "ben@x.example"), Person("Eve")
START = datetime(2026, 3, 2, 10, tzinfo=UTC)

Make = Callable[[], MessageStorage]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if sys.version_info >= (3, 13):
        pytest.skip("pgserver has no wheels for this Python")
    with postgres_server.running() as url:
        yield url


def database(url: str, name: str) -> str:
    """The URL of a new database."""
    import asyncio

    import asyncpg

    async def create() -> None:
        connection = await asyncpg.connect(url.format("postgres"))
        await connection.execute(f'CREATE DATABASE "{name}"')
        await connection.close()

    asyncio.run(create())
    return url.format(name)


@pytest.fixture(params=["folder", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store can be made."""
    if request.param == "folder":
        return str(tmp_path / "s")
    return database(request.getfixturevalue("server"), f"d{tmp_path.name}")


@pytest.fixture
def make(location: str) -> Make:
    """Makes the store, or opens it again."""
    return lambda: Registry().stores[provider_name(location)].create(location)


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


def test_only_what_is_new_is_added(make: Make) -> None:
    with make() as store:
        assert store.add([message("1"), message("2"), message("1")]) == 2
        assert store.add([message("2"), message("3")]) == 1
        assert list(store.documents()) == ["1", "2", "3"]


def test_a_message_comes_back_as_it_was(make: Make) -> None:
    import io

    from orgflow.frontends.messages.mailbox import read_mbox

    found = [
        m for m in read_mbox(io.BytesIO(mails.mbox(*mails.ALL)), "box") if isinstance(m, Message)
    ]
    assert len(found) == 9
    with make() as store:
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


def test_conversations(make: Make) -> None:
    later = START + timedelta(days=1)
    with make() as store:
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


def test_searching(make: Make) -> None:
    with make() as store:
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


def test_vectors_are_made_once_and_found(make: Make) -> None:
    rng = random.Random(1)
    bodies = ["".join(rng.choices("abcdefgh", k=12)) for _ in range(200)]
    embedder = Letters()
    with make() as store:
        store.add([message(str(i), b, (ANN, BEN)[i % 2]) for i, b in enumerate(bodies)])
        store.add([message("twin", bodies[7])])
        assert store.embed(embedder) == len(set(bodies))
        assert store.embed(embedder) == 0
    with make() as store:
        wanted = Letters().embed([bodies[7]])[0]
        exact = np.array(Letters().embed(bodies)) @ np.array(wanted)
        found = store.nearest("letters", wanted, 5)
        assert {found[0][0], found[1][0]} == {"7", "twin"}
        assert [s for _, s in found[1:]] == pytest.approx(sorted(exact, reverse=True)[:4], abs=1e-5)
        of_ben = store.nearest("letters", wanted, 3, Filter(sender="ben@x.example"))
        best = sorted(range(1, 200, 2), key=lambda i: -exact[i])[:3]
        assert [s for _, s in of_ben] == pytest.approx([exact[i] for i in best], abs=1e-5)
        assert store.vectors("letters", ["7", "none"])[1] is None


def test_a_person_is_forgotten(make: Make) -> None:
    secret = "wherefore-art-thou"
    with make() as store:
        store.add([
            message("1", f"I am {secret}", sender=EVE),
            message("2", "fine", quoted=f"> I am {secret}", references=("1",)),
            message("3", "hello", receivers=(EVE, BEN)),
        ])  # fmt: skip
        store.embed(Letters())
        assert store.delete_person("Eve")[:2] == (1, 1)
        assert store.delete_person("Eve")[:2] == (0, 0)
        assert [m.id for m in store.messages()] == ["2", "3"]
        assert [p.name for p, _, _ in store.people()] == ["Ann", "Ben"]
        assert store.full_text(secret) == []
        assert store.counts().vectors == 2


JANE = Person("Jane Doe-Smith", "jane.doe-smith@x.example")
LONG = "The crane of hall seven has to be booked before noon."
ABOUT_JANE = (
    message("j1", f"Dear Ann,\n{LONG}\nJane", JANE, receivers=(ANN,), subject="Crane for Jane"),
    message(
        "j2",
        f"Hi Jane,\n> {LONG}\nbooked.",
        BEN,
        receivers=(JANE,),
        subject="Re: Crane for Jane",
        references=("j1",),
        quoted=f"On Monday Jane Doe-Smith wrote:\n> {LONG}",
    ),
    message("j3", f"FYI\n{LONG}\n(from Jane Doe-Smith)", ANN, subject="Fwd: Crane"),
    message(
        "jane.doe-smith@x.example-4",
        'Ask "Jane" <JANE.doe-smith@x.example> or DOE-SMITH, JANE',
        BEN,
        receivers=(EVE,),
        file="/mail/jane.doe-smith@x.example.mbox",
    ),
    message(
        "j5",
        "Jane Eyre is a book",
        receivers=(EVE,),
        attachments=(Attachment("cv Jane Doe Smith.pdf"),),
    ),
    message(
        "j6",
        "Hello all",
        Person("Jane Doe-Smith via list", "list@x.example"),
        receivers=(JANE, EVE),
    ),
)


def every_byte(location: str, store: MessageStorage) -> bytes:
    """All that a store holds: the files of a folder, or the rows and statistics of a database."""
    if provider_name(location) == "folder":
        return b"".join(p.read_bytes() for p in sorted(Path(location).rglob("*")) if p.is_file())
    rows = [
        str(row) for table in ("messages", "people", "receivers", "vectors", "forgotten")
        for row in store._rows(f"SELECT t::text FROM orgflow.{table} AS t")  # type: ignore[attr-defined]
    ]  # fmt: skip
    rows += map(str, store._rows("SELECT s::text FROM pg_stats AS s WHERE schemaname = 'orgflow'"))  # type: ignore[attr-defined]
    return "\n".join(rows).encode()


def test_a_person_is_taken_out_of_messages_of_others(make: Make, location: str) -> None:
    with make() as store:
        store.add(ABOUT_JANE)
        store.link()
        store.embed(Letters())
        assert b"doe" in every_byte(location, store).lower()
        done = store.delete_person("Jane.Doe-Smith@x.example")
        assert done == (1, 4, ("", "/mail/jane.doe-smith@x.example.mbox"))
        held = {m.body: m for m in store.messages()}
        assert sorted(held) == [
            "Ask [removed] or [removed]", "FYI\n(from [removed])", "Hello all",
            "Hi [removed],\nbooked.", "Jane Eyre is a book",
        ]  # fmt: skip
        answer = held["Hi [removed],\nbooked."]
        assert (answer.subject, answer.quoted) == ("Re: Crane for [removed]", "")
        assert answer.receivers == ()
        assert held["Jane Eyre is a book"].attachments[0].name == "cv [removed].pdf"
        assert {p.name for p, _, _ in store.people()} == {"Ann", "Ben", "Eve", "[removed] via list"}
        assert store.full_text("noon") == []
        assert store.full_text("doe") == []
        assert [i for i, _ in store.full_text("booked")] == ["j2"]
    with make() as store:
        data = every_byte(location, store).lower()
        assert b"doe" not in data
        assert b"hall seven" not in data
        assert store.add(ABOUT_JANE) == 0, "neither the person nor an id with the name comes back"
        assert store.left_out == 2
        assert store.add([message("new", "x", receivers=(JANE, BEN))]) == 1
        (back,) = (m for m in store.messages() if m.id == "new")
        assert back.receivers == (BEN,)


def test_a_person_whom_the_store_does_not_know_is_taken_out_of_texts(make: Make) -> None:
    with make() as store:
        store.add([message("1", "Please ask Zoë  Miller, zoe@y.example.")])
        assert store.delete_person("zoe@y.example")[:2] == (0, 1)
        assert store.delete_person("zoë miller")[:2] == (0, 1)
        assert [m.body for m in store.messages()] == ["Please ask [removed], [removed]."]


def test_what_is_older_does_not_come_back(make: Make, location: str) -> None:
    old = [message(f"{i}", f"wherefore {i} ", date=START - timedelta(days=i)) for i in range(1, 9)]
    late = message("eve", "wherefore art thou", EVE, date=START - timedelta(days=2))
    undated = message("undated", "no date", date=None)
    with make() as store:
        store.add([*old, late, undated])
        store.embed(Letters())
        assert store.delete_before(START - timedelta(days=1)) == 8
        assert sorted(store.documents()) == ["1", "undated"]
        data = every_byte(location, store)
        assert b"wherefore 1" in data
        assert b"wherefore 2" not in data
        assert b"wherefore art" not in data
    with make() as store:
        assert store.add([*old, late]) == 0
        assert store.left_out >= 8
        assert store.delete_before(START - timedelta(days=4)) == 0
        assert store.add([*old, late]) == 4, "an earlier date lets them in again"


def test_retention(make: Make) -> None:
    with make() as store:
        store.add([message("old", sender=EVE), message("new", date=START + timedelta(days=40))])
        assert store.delete_before(START + timedelta(days=1)) == 1
        assert list(store.documents()) == ["new"]
        assert "Eve" not in [p.name for p, _, _ in store.people()]


def test_filters(make: Make) -> None:
    days = [START + timedelta(days=i) for i in range(4)]
    with make() as store:
        store.add([
            message("0", date=None), message("1", date=days[1], receivers=(EVE,)),
            message("2", sender=BEN, date=days[2], receivers=(ANN, EVE)),
            message("3", date=days[3]),
        ])  # fmt: skip
        store.link()
        asked = [
            (Filter(), "0123"), (Filter(person="eve"), "12"),
            (Filter(sender="ann@x.example"), "013"), (Filter(since=days[2]), "23"),
            (Filter(until=days[2]), "1"), (Filter(channel="call"), ""),
            (Filter(conversation="2"), "2"), (Filter(person="nobody"), ""),
            (Filter(person="eve", since=days[2], channel="email"), "2"),
        ]  # fmt: skip
        for wanted, ids in asked:
            assert "".join(m.id for m in store.messages(wanted)) == ids, wanted
            assert "".join(sorted(i for i, _ in store.full_text("text", wanted=wanted))) == ids
        assert [(p.name, s, r) for p, s, r in store.people()] == [
            ("Ann", 3, 1), ("Ben", 1, 2), ("Eve", 0, 2),
        ]  # fmt: skip
        assert store.text("none") is None


def test_more_messages_than_a_page_in_the_order_of_time(make: Make) -> None:
    rng = random.Random(5)
    times = [
        None if i % 50 == 0 else START + timedelta(seconds=rng.randrange(900)) for i in range(2500)
    ]
    with make() as store:
        assert store.add(message(str(i), date=t) for i, t in enumerate(times)) == 2500
        order = sorted(range(2500), key=lambda i: (times[i] is not None, times[i] or START, i))
        assert list(store.documents()) == [str(i) for i in order]
        assert [m.id for m in store.messages()] == [str(i) for i in order]
        counts = store.counts()
        assert (counts.messages, counts.people) == (2500, 2)


def test_odd_texts(make: Make) -> None:
    """What databases cannot hold, or what could be read as a query."""
    odd = Person("O'\x00Brien \udcff", "o'brien@x.example")
    texts = ["\x00", "\udcfc lone", "'; DROP TABLE messages; --", "a | b & !c:*", "$1 ? %s",
             "x" * 5000, " ".join(f"w{i}" for i in range(60_000)), "日本語 текст", ""]  # fmt: skip
    with make() as store:
        store.add(message(f"m'{i}", text, odd, subject=text[:50]) for i, text in enumerate(texts))
        store.link()
        assert store.counts().messages == len(texts)
        assert store.embed(Letters()) == len(texts)
        for text in texts:
            store.full_text(text[:2000])
        assert [i for i, _ in store.full_text("lone")] == ["m'1"]
        assert [i for i, _ in store.full_text("ТЕКСТ")] == ["m'7"]
        assert store.delete_person("o'brien@x.example").messages == len(texts)
        assert store.counts()[:3] == (0, 1, 0)


def test_vectors_of_texts_are_kept(make: Make) -> None:
    embedder = Letters()
    with make() as store:
        cached = store.cached(embedder)
        first = np.array(cached.embed(["abc", "xyz", "abc"]))
        assert sorted(embedder.texts) == ["abc", "xyz"]
        assert first == pytest.approx(np.array(Letters().embed(["abc", "xyz", "abc"])), abs=1e-6)
    with make() as store:
        assert np.array(store.cached(embedder).embed(["xyz"])) == pytest.approx(first[1:2])
        assert len(embedder.texts) == 2


def test_the_same_answers_from_both_stores(tmp_path: Path, server: str) -> None:
    """One store is the oracle of the other."""
    rng = random.Random(8)
    words = [f"word{i}" for i in range(40)]
    people = [Person(f"P{i}", f"p{i}@x.example") for i in range(9)]
    given = [
        message(f"{i:03}", " ".join(rng.choices(words, k=12)), rng.choice(people),
                receivers=tuple(rng.sample(people, rng.randrange(4))),
                date=START + timedelta(hours=rng.randrange(400)),
                references=(f"{rng.randrange(300):03}",) if rng.random() < 0.4 else ())
        for i in range(300)
    ]  # fmt: skip
    answers = []
    for location in (str(tmp_path / "s"), database(server, "both")):
        with Registry().stores[provider_name(location)].create(location) as store:
            store.add(given)
            linked = store.link()
            store.embed(Letters())
            wanted = Filter(person="p3@x.example", until=START + timedelta(hours=300))
            query = Letters().embed(["word1 word2"])[0]
            found = {i for i, _ in store.full_text("word1 word7", 300, wanted)}
            near = [round(s, 4) for _, s in store.nearest("letters", query, 20, wanted)]
            gone = (store.delete_person("p1@x.example"), store.delete_before(START + timedelta(9)))
            kept = [
                (m.id, m.date, m.sender, frozenset(m.receivers), m.body, m.thread, m.references)
                for m in store.messages()
            ]
            answers.append((linked, found, near, gone, store.counts(), kept))
    for one, other in zip(*answers, strict=True):
        assert one == other


def test_an_index_of_many_vectors_is_used_and_right(server: str, monkeypatch: Any) -> None:
    from orgflow.store import postgres

    monkeypatch.setattr(postgres, "HNSW_FROM", 500)
    rng = random.Random(2)
    bodies = ["".join(rng.choices("abcdefghijklmnop", k=30)) for _ in range(1500)]
    url = database(server, "indexed")
    with postgres.PostgresStore.create(url) as store:
        store.add(message(str(i), body) for i, body in enumerate(bodies))
        store.embed(Letters())
        indexes = store._rows("SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%hnsw%'")
        assert [name for (name,) in indexes] == ["vectors_of_letters"]
        exact = np.array(Letters().embed(bodies))
        hits = 0
        for i in range(0, 1500, 100):
            best = sorted(exact @ exact[i], reverse=True)[:10]
            found = [score for _, score in store.nearest("letters", exact[i].tolist(), 10)]
            hits += sum(score >= best[-1] - 1e-5 for score in found)
        assert hits >= 145, "of 150"


def test_two_write_at_once(server: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from orgflow.store.postgres import PostgresStore

    url = database(server, "two")

    def write(part: int) -> int:
        with PostgresStore.create(url) as store:
            return store.add(message(str(i), sender=(ANN, BEN)[i % 2]) for i in range(part, 600))

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(write, (0, 100, 50))) == 600
    with PostgresStore.open(url) as store:
        assert store.counts()[:2] == (600, 2)


def test_what_is_no_store_on_a_server(server: str) -> None:
    stores = Registry().stores["postgresql"]
    url = database(server, "empty")
    with pytest.raises(StoreError, match="the database is not a message store"):
        stores.open(url)
    with pytest.raises(StoreError, match='database "none" does not exist'):
        stores.open(server.format("none"))
    with pytest.raises(StoreError, match=r"postgresql://u@127.0.0.1:1/x cannot be used") as failed:
        stores.open("postgresql://u:secret@127.0.0.1:1/x")
    assert "secret" not in str(failed.value)
    stores.create(url).close()
    with stores.open(url) as store:
        store._rows("UPDATE orgflow.version SET version = 9")  # type: ignore[attr-defined]
    with pytest.raises(StoreError, match="version 9, not 1"):
        stores.create(url)


def administered(url: str, *statements: str) -> None:
    """Run statements in a database."""
    import asyncio

    import asyncpg

    async def run() -> None:
        connection = await asyncpg.connect(url)
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    asyncio.run(run())


def test_what_a_server_refuses_has_a_remedy(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orgflow.store import postgres

    create = Registry().stores["postgresql"].create
    url = database(server, "refusing")
    administered(url, "CREATE ROLE guest LOGIN", "CREATE ROLE maker LOGIN",
                 "GRANT CREATE ON DATABASE refusing TO maker")  # fmt: skip
    with pytest.raises(StoreError, match=r"permission denied.* an administrator runs `CREATE EXT"):
        create(url.replace("postgres@", "maker@"))
    administered(url, "CREATE EXTENSION vector")
    with pytest.raises(StoreError, match="the user needs the right to create a schema"):
        create(url.replace("postgres@", "guest@"))
    with create(url.replace("postgres@", "maker@")) as store:
        assert store.add([message("1")]) == 1
    with pytest.raises(StoreError, match="createdb makes it"):
        create(server.format("nowhere"))
    with pytest.raises(StoreError, match="check that the server is running"):
        create("postgresql://u:secret@127.0.0.1:1/x")
    missing = postgres._SCHEMA.replace("EXISTS vector", "EXISTS novector")
    monkeypatch.setattr(postgres, "_SCHEMA", missing)
    with pytest.raises(StoreError, match="; install pgvector on the server: https"):
        create(database(server, "lacking"))


def test_a_wrong_password(tmp_path: Path) -> None:
    with postgres_server.running(password="right") as url:
        stores = Registry().stores["postgresql"]
        with stores.create(url.format("postgres").replace("postgres@", "postgres:right@")) as store:
            assert store.counts().messages == 0
        with pytest.raises(StoreError, match=r"password authentication.*pgpass") as failed:
            stores.open(url.format("postgres").replace("postgres@", "postgres:guess@"))
        assert "guess" not in str(failed.value)


def test_a_lost_connection(server: str, tmp_path: Path) -> None:
    from cli_cases import orgflowc as run

    url = database(server, "lost")
    stores = Registry().stores["postgresql"]
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'lost'"

    def given() -> Iterator[Message]:
        yield from (message(str(i)) for i in range(2000))
        administered(server.format("postgres"), ended)
        yield from (message(str(i)) for i in range(2000, 2500))

    with (
        pytest.raises(
            StoreError, match=r"connection to PostgreSQL was lost.*run the command again"
        ),
        stores.create(url) as store,
    ):
        store.add(given())
    with stores.open(url) as store:
        assert store.counts().messages == 2000
        assert store.add(message(str(i)) for i in range(2500)) == 500
    box = tmp_path / "box.mbox"
    box.write_bytes(mails.mbox(*mails.ALL))
    administered(url, "DROP TABLE orgflow.receivers")
    failed = run("ingest", str(box), "--store", url)
    assert failed.code == 1
    assert "the store on PostgreSQL failed: relation" in failed.err
    assert "internal error" not in failed.err


ADDING = """
import sys
from datetime import UTC, datetime
from orgflow.store import postgres
from orgflow_ir.model.message import Message, Person
postgres.BATCH = 20
with postgres.PostgresStore.create(sys.argv[1]) as store:
    store.add(
        Message(str(i), datetime(2026, 3, 2, tzinfo=UTC), "email", Person(f"P{i % 7}"), body="text")
        for i in range(2000)
    )
    store.link()
"""


def test_of_two_that_read_at_once_one_is_killed(server: str) -> None:
    import subprocess
    import time

    url = database(server, "killed")
    first, second = (
        subprocess.Popen([sys.executable, "-c", ADDING, url], stderr=subprocess.PIPE)
        for _ in range(2)
    )
    stores = Registry().stores["postgresql"]
    stores.create(url).close()
    with stores.open(url) as store:
        until = time.monotonic() + 120
        while not store.counts().messages > 200 and time.monotonic() < until:
            time.sleep(0.005)
        first.kill()
        first.wait(120)
        assert second.wait(120) == 0
        assert store.counts()[:3] == (2000, 7, 2000)
    for process in (first, second):
        assert process.stderr is not None
        process.stderr.close()


def test_forgetting_waits_for_readers_and_reports_them(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orgflow.store import postgres

    monkeypatch.setattr(postgres, "WAIT", 1)
    url = database(server, "busy")
    with postgres.PostgresStore.create(url) as store, postgres.PostgresStore.open(url) as other:
        store.add([message("1", sender=EVE)])
        other._rows("BEGIN")
        assert [m.id for m in other.messages()] == ["1"]
        with pytest.raises(StoreError, match=r"another process uses the store.*deleted"):
            store.delete_person("eve")
        other._rows("ROLLBACK")
        assert store.delete_person("eve").messages == 0
        assert store.counts().messages == 0


def test_commands_reach_a_server(server: str, tmp_path: Path) -> None:
    from cli_cases import orgflowc as run

    box = tmp_path / "box.mbox"
    box.write_bytes(mails.mbox(*mails.ALL))
    url = database(server, "cli")
    first = run("ingest", str(box), "--store", url)
    assert f"{box}: 9 new messages, 0 known, 0 skipped" in first.out
    assert "9 new messages" not in run("ingest", str(box), "--store", url).out
    deleted = run("ingest", "--store", url, "--forget", "ann@example.com", "--keep-days", "1")
    assert "messages of ann@example.com deleted" in deleted.out
    unknown = run("ingest", str(box), "--store", "mysql://x/y")
    assert unknown.code == 2
    assert "no store has the prefix `mysql://`" in unknown.err


def test_a_driver_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(StoreError, match=r"pip install 'asyncpg>=0\.29' 'numpy>=2\.0'"):
        Registry().stores["postgresql"].open("postgresql://x/y")


def test_what_a_plugin_gives_as_a_store_is_checked() -> None:
    from orgflow.store import FolderProvider

    from orgflow_ir.plugins.guards import registration_fault
    from orgflow_ir.plugins.message_stores import StoreProvider

    assert registration_fault(FolderProvider(), StoreProvider) is None
    assert registration_fault(FolderProvider, StoreProvider) == (
        "the class `FolderProvider`; it takes an instance of it"
    )
    assert "which is not of type `StoreProvider`" in str(registration_fault(3, StoreProvider))


def test_the_folder_beside_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from orgflow.commands.stores import local_folder

    monkeypatch.chdir(tmp_path)
    assert local_folder("mail") == "mail"
    one = local_folder("postgresql://u:first@h/d", make=True)
    assert one == local_folder("postgresql://u:second@h/d")
    assert one != local_folder("postgresql://u@h/other")
    assert (tmp_path / one).stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_discovery_is_measured(
    location: str, make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages, cases = corpus()
    truth = tmp_path / "truth.json"
    truth.write_text(truth_json(cases))
    with make() as store:
        store.add(messages)
        store.link()
    assert cli.run(["eval", "discovery", location, str(truth), "--seeds", "1"]) == 0
    shown = capsys.readouterr().out
    assert "true number of processes: 2" in shown
    assert re.search(r"v measure +[01]\.\d+ ", shown)
    assert cli.run(["eval", "discovery", f"{location}-none", str(truth)]) == 2


def test_different_messages_with_one_id_are_both_kept(make: Make) -> None:
    later = START + timedelta(days=1)
    first = [message("1", "one", file="a.csv"), message("2", "two", file="a.csv")]
    second = [
        message("1", "another", sender=EVE, date=later, file="b.csv"),
        message("2", "answer", sender=EVE, date=later, references=("1",), file="b.csv"),
    ]
    with make() as store:
        assert store.add(first) == 2
        assert store.add(second) == 2
        assert [m.body for m in store.messages()] == ["one", "two", "another", "answer"]
        *_, other, answer = store.messages()
        assert answer.references == (other.id,), "not the message of the other file"
        assert store.add([*first, *second]) == 0
    with make() as store:
        assert store.add(second) == 0
        store.delete_person(ANN.key)
        assert store.add(second) == 0, "known, though the other message with its id is deleted"


def test_one_message_read_twice_is_kept_once(make: Make) -> None:
    with make() as store:
        store.add([message("1", "text"), message("2", "text", date=None)])
        again = [
            message("1", "text, edited"),
            message("1", "text\n-- \nthe list", sender=EVE),
            message("1", "text", date=START + timedelta(hours=1)),
            message("2", "text"),
        ]
        assert store.add(again) == 0
