"""The store in a PostgreSQL database: pgvector for vectors, its own full text, asyncpg to reach it.

Several processes can read and write at the same time.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from orgflow.store.columns import (
    READ,
    content_hash,
    embedded_text,
    lists_of,
    message_of,
    storable_text,
)
from orgflow.store.forgetting import (
    CHANGED,
    HELD,
    Change,
    Held,
    Known,
    Traces,
    message_hash,
    person_hash,
    select_admitted,
    unknown_person,
)  # fmt: skip
from orgflow.store.identities import Identity, Renamed, ids_of
from orgflow.store.threads import Linked, link_conversations

from orgflow_ir.model.message import Message, Person
from orgflow_ir.pipeline.agent_services import Embedder
from orgflow_ir.plugins.message_stores import (
    EVERYTHING,
    Counts,
    Filter,
    Forgotten,
    MessageStorage,
    StoreError,
    seconds_since_epoch,
    words_of,
)
from orgflow_ir.plugins.packages import install_command

T = TypeVar("T")
VERSION = 1
BATCH = 2000
INDEXED = 200_000
"""Maximum number of characters for full-text search: PostgreSQL's limit is 1 MB of words."""

HNSW_FROM = 20_000
"""Maximum number of vectors that are compared one by one; beyond it, an index (HNSW) finds the
nearest."""

WAIT = 30
"""Seconds to wait for other processes before tables are rewritten."""

_EMBEDDED = 64
_PAGE = 1000

_SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA orgflow;
CREATE TABLE orgflow.version (version INTEGER NOT NULL);
CREATE TABLE orgflow.people (
  n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  address TEXT NOT NULL
);
CREATE TABLE orgflow.messages (
  n BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  at DOUBLE PRECISION, date TEXT, channel TEXT NOT NULL, sender BIGINT REFERENCES orgflow.people,
  subject TEXT NOT NULL, body TEXT NOT NULL, quoted TEXT NOT NULL, signature TEXT NOT NULL,
  named TEXT NOT NULL, conversation TEXT, refs TEXT NOT NULL, attachments TEXT NOT NULL,
  hash BYTEA NOT NULL, file TEXT NOT NULL, line BIGINT NOT NULL, words TSVECTOR NOT NULL
);
CREATE INDEX messages_at ON orgflow.messages (at, n);
CREATE INDEX messages_sender ON orgflow.messages (sender);
CREATE INDEX messages_conversation ON orgflow.messages (conversation);
CREATE INDEX messages_hash ON orgflow.messages (hash);
CREATE INDEX messages_words ON orgflow.messages USING gin (words);
CREATE TABLE orgflow.receivers (
  message BIGINT NOT NULL REFERENCES orgflow.messages ON DELETE CASCADE,
  person BIGINT NOT NULL REFERENCES orgflow.people ON DELETE CASCADE, PRIMARY KEY (message, person)
);
CREATE INDEX receivers_person ON orgflow.receivers (person);
CREATE TABLE orgflow.vectors (
  model TEXT, hash BYTEA, vector VECTOR NOT NULL, PRIMARY KEY (model, hash)
);
"""
_LEFT_OUT = """
CREATE TABLE orgflow.forgotten (hash BYTEA PRIMARY KEY);
CREATE TABLE orgflow.retention (since DOUBLE PRECISION NOT NULL);
"""
"""The part that is not read again. Stores of earlier versions lack it."""

_WRITTEN = (
    ("id", "text"), ("at", "float8"), ("date", "text"), ("channel", "text"), ("sender", "bigint"),
    ("subject", "text"), ("body", "text"), ("quoted", "text"), ("signature", "text"),
    ("named", "text"), ("refs", "text"), ("attachments", "text"), ("hash", "bytea"),
    ("file", "text"), ("line", "bigint"), ("words", "text"),
)  # fmt: skip


class PostgresStore(MessageStorage):
    """Messages in the schema `orgflow` of a database. Use `open` or `create`."""

    def __init__(self, connection: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._connection, self._loop = connection, loop

    @classmethod
    def open(cls, location: str) -> PostgresStore:
        """The store in the database of a URL. Raises `StoreError`."""
        return cls._connected(location, make=False)

    @classmethod
    def create(cls, location: str) -> PostgresStore:
        """The store in the database of a URL; its tables are created if they do not exist. The
        extension `vector` has to exist, or its creation has to be allowed. Raises `StoreError`."""
        return cls._connected(location, make=True)

    @classmethod
    def _connected(cls, location: str, *, make: bool) -> PostgresStore:
        asyncpg = _load_driver()
        loop = asyncio.new_event_loop()

        async def connected() -> Any:
            settings = {"search_path": "orgflow, public", "application_name": "orgflow"}
            connection = await asyncpg.connect(location, server_settings=settings, timeout=30)
            try:
                await _check_schema(connection, make=make)
            except BaseException:
                await connection.close()
                raise
            return connection

        try:
            return cls(loop.run_until_complete(connected()), loop)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError,
                ValueError) as error:  # fmt: skip
            loop.close()
            where = _without_password(location)
            raise StoreError(
                f"{where} cannot be used: {_first_line(error)}{_connection_remedy(error)}"
            ) from None
        except StoreError:
            loop.close()
            raise

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        asyncpg = _load_driver()
        try:
            return self._loop.run_until_complete(work)
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            if self._connection.is_closed():
                raise StoreError(
                    f"the connection to PostgreSQL was lost ({_first_line(error)}); run the "
                    "command again; it continues after the messages that are already written"
                ) from error
            raise StoreError(f"the store on PostgreSQL failed: {_first_line(error)}") from error

    def close(self) -> None:
        """End the connection."""
        if not self._loop.is_closed():
            if not self._connection.is_closed():
                self._run(self._connection.close())
            self._loop.close()

    def _rows(self, query: str, *values: Any) -> list[Any]:
        rows: list[Any] = self._run(self._connection.fetch(query, *values))
        return rows

    def _count(self, query: str, *values: Any) -> int:
        return int(self._run(self._connection.fetchval(query, *values)))

    # -- writing -----------------------------------------------------------------------------

    def add(self, messages: Iterable[Message]) -> int:
        """Add new messages; another process may add at the same time."""
        added = 0
        batch: list[Message] = []
        renamed = Renamed()
        for message in messages:
            batch.append(message)
            if len(batch) == BATCH:
                added += self._run(self._add(batch, renamed))
                batch = []
        return added + (self._run(self._add(batch, renamed)) if batch else 0)

    async def _add(self, given: list[Message], renamed: Renamed) -> int:
        async with self._connection.transaction():
            asked = renamed.unique(given, await self._identities(ids_of(given)))
            batch = {storable_text(m.id): m for m in await self._admitted(asked)}
            people = await self._people_of(batch.values())
            rows = [_row_of_message(id_, message, people) for id_, message in batch.items()]
            names = ", ".join(name for name, _ in _WRITTEN)
            arrays = ", ".join(f"${i}::{kind}[]" for i, (_, kind) in enumerate(_WRITTEN, 1))
            taken = ", ".join(
                "to_tsvector('simple', words)" if name == "words" else name for name, _ in _WRITTEN
            )
            new = await self._connection.fetch(
                f"INSERT INTO messages ({names}) SELECT {taken} FROM unnest({arrays}) "
                f"WITH ORDINALITY AS given ({names}, place) ORDER BY place "
                "ON CONFLICT (id) DO NOTHING RETURNING id, n",
                *([row[i] for row in rows] for i in range(len(_WRITTEN))),
            )
            pairs = {
                (n, people[storable_text(p.key)]) for id_, n in new for p in batch[id_].receivers
            }
            await self._connection.executemany(
                "INSERT INTO receivers VALUES ($1, $2)", sorted(pairs)
            )
        self.left_out += len(asked) - len(batch)
        return len(new)

    async def _identities(self, ids: list[str]) -> dict[str, Identity]:
        rows = await self._connection.fetch(
            "SELECT id, coalesce(key, ''), at, hash FROM messages LEFT JOIN people ON "
            "people.n = sender WHERE id = ANY($1::text[])",
            ids,
        )
        return {id_: Identity(*rest) for id_, *rest in rows}

    async def _admitted(self, batch: dict[str, Message]) -> list[Message]:
        """The messages that are not left out; those that are there stay among them."""
        forgotten = await self._connection.fetch("SELECT hash FROM forgotten")
        since = await self._connection.fetchval("SELECT max(since) FROM retention")
        return select_admitted(batch.values(), frozenset(hash_ for (hash_,) in forgotten), since)

    async def _people_of(self, messages: Iterable[Message]) -> dict[str, int]:
        """The numbers of everybody in some messages, by key. They are written in one order by all
        processes, so that none waits for another in a circle."""
        people: dict[str, Person] = {}
        for person in (p for message in messages for p in message.people):
            key = storable_text(person.key)
            if not people.get(key, Person("")).name:
                people[key] = person
        keys = sorted(people)
        rows = await self._connection.fetch(
            "INSERT INTO people (key, name, address) SELECT * FROM unnest($1::text[], $2::text[], "
            "$3::text[]) ON CONFLICT (key) DO UPDATE SET name = CASE WHEN people.name = '' THEN "
            "excluded.name ELSE people.name END RETURNING key, n",
            keys,
            [storable_text(people[key].name) for key in keys],
            [storable_text(people[key].address) for key in keys],
        )
        return dict(rows)

    def link(self) -> int:
        """Find the conversation of every message again."""
        conversations = list(link_conversations(self._linked()))

        async def write() -> None:
            async with self._connection.transaction():
                for begin in range(0, len(conversations), 10 * BATCH):
                    part = conversations[begin : begin + 10 * BATCH]
                    await self._connection.execute(
                        "UPDATE messages SET conversation = first FROM unnest($1::text[], "
                        "$2::text[]) AS found (id, first) WHERE messages.id = found.id AND "
                        "conversation IS DISTINCT FROM first",
                        [id_ for id_, _ in part],
                        [first for _, first in part],
                    )

        self._run(write())
        return len({first for _, first in conversations})

    def _linked(self) -> Iterator[Linked]:
        columns = (
            "id, refs, named, subject, coalesce(at, 0), sender, ARRAY(SELECT person FROM receivers "
            "WHERE message = messages.n)"
        )
        for _, _, id_, refs, named, subject, at, sender, receivers in self._pages(columns):
            people = {*receivers, sender} - {None}
            yield Linked(id_, tuple(json.loads(refs)), named, subject, at, frozenset(people))

    def _pages(
        self, columns: str, condition: str = "", values: Sequence[Any] = ()
    ) -> Iterator[Any]:
        """Rows of messages by time, a page at a time, messages without a time first; the first two
        columns are the time and the number, by which the next page is found."""
        base = _number_places(f" AND {condition}" if condition else "")
        count = len(values)
        last: tuple[float, int] = (float("-inf"), 0)
        while True:
            rows = self._rows(
                f"SELECT coalesce(at, '-infinity'), n, {columns} FROM messages WHERE "
                f"(coalesce(at, '-infinity'), n) > (${count + 1}::float8, ${count + 2}::bigint)"
                f"{base} ORDER BY 1, 2 LIMIT {_PAGE}",
                *values, *last,
            )  # fmt: skip
            yield from rows
            if len(rows) < _PAGE:
                return
            last = (rows[-1][0], rows[-1][1])

    def delete_person(self, key: str) -> Forgotten:
        """Delete everything that a person wrote, quotes of it, and the person as a receiver;
        replace the address and the name in messages of others."""
        key = storable_text(key).lower()

        async def delete() -> Forgotten:
            async with self._connection.transaction():
                # nobody adds messages meanwhile, which might name the person
                await self._connection.execute("LOCK TABLE people, messages IN EXCLUSIVE MODE")
                row = await self._connection.fetchrow(
                    "SELECT n, name, address FROM people WHERE key = $1", key
                )
                person = Known(*row) if row is not None else unknown_person(key)
                own = [held async for held in self._held("sender = $1", person.n)]
                near = await self._connection.fetch(
                    "SELECT DISTINCT coalesce(conversation, '') FROM messages WHERE sender = $1 "
                    "OR n IN (SELECT message FROM receivers WHERE person = $1)", person.n,
                )  # fmt: skip
                names = dict(await self._connection.fetch("SELECT n, name FROM people"))
                traces = Traces(person, own, (c for (c,) in near), names)
                changes = [
                    (held, change)
                    async for held in self._held("sender IS DISTINCT FROM $1", person.n)
                    if (change := traces.change(held)) is not None
                ]
                await self._change([change for _, change in changes])
                await self._connection.execute("DELETE FROM messages WHERE sender = $1", person.n)
                await self._connection.execute("DELETE FROM people WHERE n = $1", person.n)
                await self._connection.executemany(
                    "UPDATE people SET name = $1 WHERE n = $2", list(traces.names(names))
                )
                await self._connection.executemany(
                    "INSERT INTO forgotten VALUES ($1) ON CONFLICT DO NOTHING",
                    [(person_hash(key),)]
                    + [(message_hash(h.id),) for h, change in changes if change.id != h.id],
                )
            files = {held.file for held in own} | {held.file for held, _ in changes}
            return Forgotten(len(own), len(changes), tuple(sorted(files)))

        forgotten = self._run(delete())
        self._forget()
        return forgotten

    async def _held(self, condition: str, person: int) -> AsyncIterator[Held]:
        query = (
            f"SELECT {HELD}, sender, coalesce(conversation, ''), ARRAY(SELECT person FROM "
            f"receivers WHERE message = messages.n) FROM messages WHERE {condition}"
        )
        async for *columns, sender, conversation, receivers in self._connection.cursor(
            query, person, prefetch=_PAGE
        ):
            people = frozenset({*receivers, sender} - {None})
            yield Held._make((*columns, people, conversation))

    async def _change(self, changes: Sequence[Change]) -> None:
        """Write the texts of messages again, for full-text search as well."""
        fields = ", ".join(f"{name} = ${i}" for i, name in enumerate(CHANGED, 1))
        count = len(CHANGED)
        await self._connection.executemany(
            f"UPDATE messages SET {fields}, words = to_tsvector('simple', ${count + 2}) "
            f"WHERE n = ${count + 1}",
            [(*change, _indexed_words(change.subject, change.body)) for change in changes],
        )

    def delete_before(self, date: datetime) -> int:
        """Delete all messages older than a date (retention)."""

        async def delete() -> int:
            async with self._connection.transaction():
                done = await self._connection.execute(
                    "DELETE FROM messages WHERE at < $1", seconds_since_epoch(date)
                )
                await self._connection.execute(
                    "DELETE FROM people WHERE NOT EXISTS (SELECT 1 FROM receivers WHERE person = "
                    "people.n) AND NOT EXISTS (SELECT 1 FROM messages WHERE sender = people.n)"
                )
                await self._connection.execute("DELETE FROM retention")
                await self._connection.execute(
                    "INSERT INTO retention VALUES ($1)", seconds_since_epoch(date)
                )
                return _affected_rows(done)

        count = self._run(delete())
        self._forget()
        return count

    def _forget(self) -> None:
        """Delete the vectors of texts that no message has any more, and write the tables again, so
        that their files and statistics hold nothing of what was deleted. Raises `StoreError` where
        another process reads on, so that they cannot be written again."""
        self.link()

        async def forget() -> None:
            await self._connection.execute(
                "DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM messages WHERE messages.hash "
                "= vectors.hash)"
            )
            await self._connection.execute(f"SET lock_timeout = '{WAIT}s'")
            try:
                for table in ("messages", "people", "receivers", "vectors"):
                    await self._connection.execute(f"VACUUM (FULL, ANALYZE) orgflow.{table}")
            except _load_driver().LockNotAvailableError:
                raise StoreError(
                    "another process uses the store on PostgreSQL: the messages are deleted, but "
                    "their bytes are not overwritten yet; end it and run the same command again"
                ) from None
            finally:
                await self._connection.execute("RESET lock_timeout")

        self._run(forget())

    # -- reading -----------------------------------------------------------------------------

    def counts(self) -> Counts:
        """The amounts of stored data."""
        (row,) = self._rows(
            "SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM people), "
            "(SELECT count(DISTINCT conversation) FROM messages), (SELECT count(*) FROM vectors)"
        )
        return Counts(*row)

    def messages(self, wanted: Filter = EVERYTHING) -> Iterator[Message]:
        """The messages that match a filter, one page at a time."""
        condition, values = wanted.sql()
        for row in self._pages(_JOINED, condition, values):
            yield _message_of_row(row[2:])

    def message(self, id_: str) -> Message | None:
        """A message by its id."""
        rows = self._rows(f"SELECT {_JOINED} FROM messages WHERE id = $1", id_)
        return _message_of_row(rows[0]) if rows else None

    def people(self) -> Iterator[tuple[Person, int, int]]:
        """Everybody with the number of messages sent and received, highest first."""
        for name, address, sent, received in self._rows(
            "SELECT name, address, s, r FROM (SELECT *, (SELECT count(*) FROM messages WHERE "
            "sender = people.n) AS s, (SELECT count(*) FROM receivers WHERE person = people.n) "
            'AS r FROM people) AS p ORDER BY s + r DESC, key COLLATE "C"'
        ):
            yield Person(name, address), sent, received

    def full_text(
        self, query: str, limit: int = 10, wanted: Filter = EVERYTHING
    ) -> list[tuple[str, float]]:
        """Ids of the messages that contain words of the query, best (`ts_rank`) first."""
        words = words_of(query)
        if not words:
            return []
        condition, values = wanted.sql()
        count = len(values)
        some = f" AND {_number_places(condition)}" if condition else ""
        rows = self._rows(
            f"SELECT id, ts_rank(words, q, 1) AS rank FROM messages, to_tsquery('simple', "
            f"${count + 1}) AS q WHERE words @@ q{some} "
            f"ORDER BY rank DESC, at, n LIMIT ${count + 2}",
            *values, " | ".join(words), limit,
        )  # fmt: skip
        return [(id_, float(rank)) for id_, rank in rows]

    def documents(self) -> Iterator[str]:
        """The ids of all messages, oldest first."""
        for row in self._pages("id"):
            yield row[2]

    # -- vectors -----------------------------------------------------------------------------

    def embed(self, embedder: Embedder, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed the messages that have no vector of this model yet, equal texts once."""
        missing = self._rows(
            "SELECT min(n) FROM messages WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE model = $1 "
            "AND vectors.hash = messages.hash) GROUP BY hash ORDER BY min(length(body)), 1",
            embedder.name,
        )
        for begin in range(0, len(missing), _EMBEDDED):
            part = [n for (n,) in missing[begin : begin + _EMBEDDED]]
            rows = self._rows(
                "SELECT hash, subject, body FROM messages WHERE n = ANY($1::bigint[])", part
            )
            self._write(embedder, [(hash_, embedded_text(*text)) for hash_, *text in rows])
            if progress is not None:
                progress(begin + len(part), len(missing))
        self._index(embedder)
        return len(missing)

    def embedded(self, embedder: Embedder, texts: Sequence[str]) -> list[Sequence[float]]:
        """The vector of each text, from the database if it was embedded before."""
        hashes = [content_hash(text) for text in texts]
        vectors = self._kept(embedder.name, hashes)
        missing = {h: text for h, text in zip(hashes, texts, strict=True) if h not in vectors}
        ordered = sorted(missing.items(), key=lambda item: len(item[1]))
        for begin in range(0, len(ordered), _EMBEDDED):
            self._write(embedder, ordered[begin : begin + _EMBEDDED])
        if missing:
            vectors.update(self._kept(embedder.name, list(missing)))
        return [vectors[h] for h in hashes]

    def _kept(self, model: str, hashes: Sequence[bytes]) -> dict[bytes, Sequence[float]]:
        rows = self._rows(
            "SELECT hash, vector::real[] FROM vectors WHERE model = $1 AND hash = ANY($2::bytea[])",
            model, list(hashes),
        )  # fmt: skip
        return dict(rows)

    def _write(self, embedder: Embedder, part: Sequence[tuple[bytes, str]]) -> None:
        """Embed texts and keep their vectors under their hashes."""
        vectors = embedder.embed([text for _, text in part])
        self._run(
            self._connection.executemany(
                "INSERT INTO vectors VALUES ($1, $2, $3::real[]::vector) ON CONFLICT DO NOTHING",
                [
                    (embedder.name, hash_, [float(x) for x in vector])
                    for (hash_, _), vector in zip(part, vectors, strict=True)
                ],
            )
        )

    def _index(self, embedder: Embedder) -> None:
        """Make an index of many vectors of a model; pgvector keeps it up to date."""
        count = self._count("SELECT count(*) FROM vectors WHERE model = $1", embedder.name)
        if count >= HNSW_FROM:
            name = re.sub(r"\W", "_", embedder.name)[:40].lower()
            literal = embedder.name.replace("'", "''")
            self._run(
                self._connection.execute(
                    f"CREATE INDEX IF NOT EXISTS vectors_of_{name} ON vectors USING hnsw "
                    f"((vector::vector({embedder.size})) vector_cosine_ops) "
                    f"WHERE model = '{literal}'"
                )
            )

    def vectors(self, model: str, ids: Sequence[str]) -> list[Sequence[float] | None]:
        """The vectors of messages, `None` for those that have none."""
        vectors = dict(
            self._rows(
                "SELECT id, vector::real[] FROM messages JOIN vectors USING (hash) "
                "WHERE model = $1 AND id = ANY($2::text[])", model, list(ids),
            )
        )  # fmt: skip
        return [vectors.get(id_) for id_ in ids]

    def nearest(
        self, model: str, vector: Sequence[float], limit: int = 10, wanted: Filter = EVERYTHING
    ) -> list[tuple[str, float]]:
        """Ids of the messages whose vectors have the largest cosine with a vector, and the cosine.
        With a filter, all matching vectors are compared."""
        condition, values = wanted.sql()
        count = len(values)
        size = len(vector)
        asked = f"${count + 1}::real[]::vector({size})"
        literal = model.replace("'", "''")
        some = (
            f" AND hash IN (SELECT hash FROM messages WHERE {_number_places(condition)})"
            if condition else ""
        )  # fmt: skip
        distance = f"(vector::vector({size}) <=> {asked})" + (" + 0" if condition else "")
        query = (
            f"WITH near AS MATERIALIZED (SELECT hash, {distance} AS distance FROM vectors WHERE "
            f"model = '{literal}'{some} ORDER BY {distance} LIMIT ${count + 2}) "
            "SELECT id, 1 - distance FROM near JOIN messages USING (hash)"
            f"{f' WHERE {_number_places(condition)}' if condition else ''} "
            f"ORDER BY distance, at, n LIMIT ${count + 2}"
        )

        async def fetch() -> list[Any]:
            async with self._connection.transaction():
                await self._connection.execute(
                    f"SET LOCAL hnsw.ef_search = {_search_breadth(limit)}"
                )
                rows: list[Any] = await self._connection.fetch(
                    query, *values, [float(x) for x in vector], limit
                )
                return rows

        return [(id_, float(score)) for id_, score in self._run(fetch())]


def _load_driver() -> Any:
    """The driver, which has no types. Raises `StoreError` where it is not installed."""
    try:
        return importlib.import_module("asyncpg")
    except ImportError:
        raise StoreError(
            "asyncpg and numpy are needed for a store on PostgreSQL: "
            f"{install_command('asyncpg', 'numpy')}"
        ) from None


_JOINED = (
    ", ".join(f"messages.{name}" for name in READ.split(", "))
    + ", (SELECT ARRAY[name, address] FROM people WHERE n = sender)"
    + ", (SELECT array_agg(ARRAY[name, address] ORDER BY person) FROM receivers JOIN people ON "
    "person = people.n WHERE message = messages.n)"
)


def _message_of_row(row: Any) -> Message:
    *columns, sender, receivers = row
    return message_of(columns, Person(*sender) if sender else None,
                      (Person(*r) for r in receivers or ()))  # fmt: skip


def _row_of_message(id_: str, m: Message, people: dict[str, int]) -> tuple[Any, ...]:
    references, attachments = lists_of(m)
    subject, body = storable_text(m.subject), storable_text(m.body)
    return (
        id_,
        seconds_since_epoch(m.date) if m.date is not None else None,
        m.date.isoformat() if m.date is not None else None,
        m.channel,
        people[storable_text(m.sender.key)] if m.sender is not None else None,
        subject,
        body,
        storable_text(m.quoted),
        storable_text(m.signature),
        storable_text(m.thread),
        references,
        attachments,
        content_hash(m.text),
        storable_text(m.file),
        m.line,
        _indexed_words(subject, body),
    )


def _indexed_words(subject: str, body: str) -> str:
    """The words that full-text search finds a message by."""
    return " ".join(word[:500] for word in words_of(f"{subject} {body}"[:INDEXED]))


def _search_breadth(limit: int) -> int:
    """How many candidates the index looks at: more find more, and take longer."""
    return max(1, min(1000, max(100, 4 * limit)))


def _number_places(condition: str) -> str:
    """A condition with the numbered places that PostgreSQL wants for question marks."""
    parts = condition.split("?")
    return "".join(part + (f"${i}" if i < len(parts) else "") for i, part in enumerate(parts, 1))


def _affected_rows(done: str) -> int:
    """The number at the end of what a command reports, as `DELETE 3`."""
    return int(done.rpartition(" ")[2])


def _first_line(error: Exception) -> str:
    """The message of an error without PostgreSQL's details and hints."""
    return str(error).partition("\n")[0] or type(error).__name__


def _connection_remedy(error: Exception) -> str:
    """How to get a connection or the tables after all, as the end of a sentence; empty where the
    error says it."""
    state = getattr(error, "sqlstate", None)
    text = str(error)
    if state in ("28P01", "28000"):
        return "; put the password into ~/.pgpass, or name another user: postgresql://USER@HOST/DB"
    if state == "3D000":
        return "; createdb makes it"
    if "vector" in text and "permission" in text:
        return "; an administrator runs `CREATE EXTENSION vector` in the database once"
    if "vector" in text and state in ("0A000", "58P01"):
        return "; install pgvector on the server: https://github.com/pgvector/pgvector"
    if state == "42501":
        return "; the user needs the right to create a schema in the database"
    if isinstance(error, OSError):
        return "; check that the server is running and listens there"
    return ""


def _without_password(location: str) -> str:
    return re.sub(r"(://[^:@/]*):[^@]*@", r"\1@", location)


_THERE = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'orgflow')"


_COMPLETE = (
    "SELECT EXISTS (SELECT 1 FROM pg_class WHERE relname = 'retention' AND relnamespace = "
    "'orgflow'::regnamespace)"
)


async def _check_schema(connection: Any, *, make: bool) -> None:
    """Raises `StoreError` where the database holds no store, or one of another version."""
    there = await connection.fetchval(_THERE)
    if not there and make:
        async with connection.transaction():
            # two processes that make the store at once: the second one waits, then finds it
            await connection.execute("SELECT pg_advisory_xact_lock(8675309)")
            if not await connection.fetchval(_THERE):
                await connection.execute(_SCHEMA)
                await connection.execute("INSERT INTO orgflow.version VALUES ($1)", VERSION)
    elif not there:
        raise StoreError("the database is not a message store")
    version = await connection.fetchval("SELECT version FROM orgflow.version")
    if version != VERSION:
        raise StoreError(f"the store has version {version}, not {VERSION}")
    if not await connection.fetchval(_COMPLETE):
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(8675309)")
            if not await connection.fetchval(_COMPLETE):
                await connection.execute(_LEFT_OUT)
