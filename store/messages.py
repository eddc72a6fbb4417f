"""The store in one folder: SQLite for fields and full text, a flat file for vectors.

SQLite was measured beside DuckDB and LanceDB (`benchmarks/messages.py store`).
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from orgflow.store.columns import (
    READ,
    content_hash,
    embedded_text,
    lists_of,
    message_of,
    storable_text,
)  # fmt: skip
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
from orgflow.store.vectors import Vectors

from orgflow_ir.model.message import Message, Person
from orgflow_ir.plugins.message_stores import (
    EVERYTHING,
    Counts,
    Filter,
    Forgotten,
    MessageStorage,
    StoreError,
    seconds_since_epoch,
)  # fmt: skip

if TYPE_CHECKING:
    from types import TracebackType

    from orgflow.store.vectors import Vectors

    from orgflow_ir.pipeline.agent_services import Embedder

FILE = "messages.db"
VERSION = 1
BATCH = 2000
WAIT = 60.0
"""Seconds that a writer waits for another one."""
_EMBEDDED = 64
"""Number of texts that are embedded at a time, the maximum that an interrupted run loses."""

_SCHEMA = """
CREATE TABLE people (
  n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL, address TEXT NOT NULL
);
CREATE TABLE messages (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at REAL, date TEXT, channel TEXT NOT NULL,
  sender INTEGER REFERENCES people, subject TEXT NOT NULL, body TEXT NOT NULL,
  quoted TEXT NOT NULL, signature TEXT NOT NULL, named TEXT NOT NULL, conversation TEXT,
  refs TEXT NOT NULL, attachments TEXT NOT NULL, hash BLOB NOT NULL,
  file TEXT NOT NULL, line INTEGER NOT NULL
);
CREATE INDEX messages_at ON messages (at);
CREATE INDEX messages_sender ON messages (sender);
CREATE INDEX messages_conversation ON messages (conversation);
CREATE INDEX messages_hash ON messages (hash);
CREATE TABLE receivers (
  message INTEGER NOT NULL, person INTEGER NOT NULL, PRIMARY KEY (message, person)
) WITHOUT ROWID;
CREATE INDEX receivers_person ON receivers (person);
CREATE TABLE vectors (model TEXT, hash BLOB, row INTEGER, PRIMARY KEY (model, hash)) WITHOUT ROWID;
CREATE UNIQUE INDEX vectors_row ON vectors (model, row);
CREATE VIRTUAL TABLE words USING fts5(
  subject, body, content='messages', content_rowid='n', tokenize='unicode61 remove_diacritics 2'
);
INSERT INTO words (words, rank) VALUES ('hashsize', 33554432);
"""
_LEFT_OUT = (
    "CREATE TABLE IF NOT EXISTS forgotten (hash BLOB PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS retention (since REAL NOT NULL)",
)
"""The part that is not read again. Stores of earlier versions lack it."""


class MessageStore(MessageStorage):
    """Messages in a folder. Any number of processes can read and write; writers wait for each
    other.

    Example:
        with MessageStore.create("mail") as store:
            store.add(messages)
    """

    def __init__(self, folder: str, database: sqlite3.Connection) -> None:
        """Use `open` or `create`."""
        self.folder = folder
        self._db = database
        self._people: dict[str, int] = {}
        self._forgotten: frozenset[bytes] = frozenset()
        self._since: float | None = None
        self._seen = -1
        self._vectors: dict[str, Vectors] = {}

    @classmethod
    def open(cls, folder: str) -> MessageStore:
        """The store in a folder. Raises `StoreError`."""
        if not os.path.isfile(os.path.join(folder, FILE)):
            raise StoreError(f"{folder} is not a message store")
        return cls(folder, cls._connect(folder))

    @classmethod
    def create(cls, folder: str) -> MessageStore:
        """The store in a folder, created if it does not exist. Raises `StoreError`, `OSError`."""
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return cls(folder, cls._connect(folder))

    @staticmethod
    def _connect(folder: str) -> sqlite3.Connection:
        path = os.path.join(folder, FILE)
        database = sqlite3.connect(path, timeout=WAIT)
        try:
            _keep_a_log(database)
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute("PRAGMA secure_delete = ON")
            database.execute("PRAGMA cache_size = -65536")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version == 0:
                _make_tables(database)
                os.chmod(path, 0o600)
            elif version != VERSION:
                raise StoreError(f"{folder} is a store with version {version}, not {VERSION}")
            if (
                database.execute("SELECT 1 FROM sqlite_master WHERE name = 'retention'").fetchone()
                is None
            ):
                for statement in _LEFT_OUT:
                    database.execute(statement)
        except sqlite3.Error as error:
            database.close()
            raise StoreError(f"{path} is not a message store: {error}") from None
        return database

    def close(self) -> None:
        """End the connection."""
        for vectors in self._vectors.values():
            vectors.close()
        self._db.close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Raises `StoreError` after what SQLite refused: a full disk, another writer, damage."""
        self.close()
        if isinstance(error, sqlite3.Error):
            raise StoreError(
                f"{os.path.join(self.folder, FILE)} cannot be used: {error}"
            ) from error

    # -- writing -----------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction that sees what all others have written, and waits for its turn."""
        self._db.execute("BEGIN IMMEDIATE")
        (seen,) = self._db.execute("PRAGMA data_version").fetchone()
        if seen != self._seen:  # another process has written: a person may have gone
            self._people.clear()
            self._seen = seen
            self._read_what_is_left_out()
        try:
            with self._db:
                yield
        except BaseException:
            self._people.clear()  # numbers that were never written
            raise

    def _read_what_is_left_out(self) -> None:
        self._forgotten = frozenset(h for (h,) in self._db.execute("SELECT hash FROM forgotten"))
        (self._since,) = self._db.execute("SELECT max(since) FROM retention").fetchone()

    def add(self, messages: Iterable[Message]) -> int:
        """Add new messages, in transactions of `BATCH` messages; returns their number. Call `link`
        once afterwards, before conversations are read."""
        added = 0
        batch: list[Message] = []
        renamed = Renamed()
        for message in messages:
            batch.append(message)
            if len(batch) == BATCH:
                added += self._add(batch, renamed)
                batch = []
        return added + self._add(batch, renamed)

    def _add(self, batch: Sequence[Message], renamed: Renamed) -> int:
        if not batch:
            return 0
        with self._writing():
            unique = renamed.unique(batch, self._identities(ids_of(batch)))
            known = self._identities([*unique])
            asked = {id_: message for id_, message in unique.items() if id_ not in known}
            new = select_admitted(asked.values(), self._forgotten, self._since)
            self.left_out += len(asked) - len(new)
            (top,) = self._db.execute("SELECT coalesce(max(n), 0) FROM messages").fetchone()
            rows, receivers = [], []
            for number, message in enumerate(new, top + 1):
                rows.append(self._row(number, message))
                receivers += [(number, self._person(p)) for p in message.receivers]
            self._db.executemany(
                "INSERT INTO messages VALUES (?,?,?,?,?,?,?,?,?,?,?,NULL,?,?,?,?,?)", rows
            )
            self._db.executemany("INSERT OR IGNORE INTO receivers VALUES (?,?)", receivers)
            self._db.executemany(
                "INSERT INTO words (rowid, subject, body) VALUES (?,?,?)",
                [(row[0], row[6], row[7]) for row in rows],
            )
        return len(new)

    def _identities(self, ids: Sequence[str]) -> dict[str, Identity]:
        rows = self._db.execute(
            "SELECT id, coalesce(key, ''), at, hash FROM messages LEFT JOIN people ON "
            f"people.n = sender WHERE id IN ({_question_marks(ids)})", ids,
        )  # fmt: skip
        return {id_: Identity(*rest) for id_, *rest in rows}

    def _row(self, number: int, m: Message) -> tuple[Any, ...]:
        return (
            number,
            storable_text(m.id),
            seconds_since_epoch(m.date) if m.date is not None else None,
            m.date.isoformat() if m.date is not None else None,
            m.channel,
            self._person(m.sender) if m.sender is not None else None,
            storable_text(m.subject),
            storable_text(m.body),
            storable_text(m.quoted),
            storable_text(m.signature),
            m.thread,
            *lists_of(m),
            content_hash(m.text),
            m.file,
            m.line,
        )

    def _person(self, person: Person) -> int:
        key = storable_text(person.key)
        number = self._people.get(key)
        if number is not None:
            return number
        row = self._db.execute("SELECT n, name FROM people WHERE key = ?", (key,)).fetchone()
        if row is None:
            done = self._db.execute(
                "INSERT INTO people (key, name, address) VALUES (?,?,?)",
                (key, storable_text(person.name), storable_text(person.address)),
            )
            number = int(done.lastrowid or 0)
        else:
            number = int(row[0])
            if not row[1] and person.name:
                self._db.execute(
                    "UPDATE people SET name = ? WHERE n = ?", (storable_text(person.name), number)
                )
        if len(self._people) > 200_000:
            self._people.clear()
        self._people[key] = number
        return number

    def link(self) -> int:
        """Find the conversation of every message again; returns the number of conversations."""
        with self._writing():
            self._db.execute("CREATE TEMP TABLE found (id TEXT PRIMARY KEY, first TEXT)")
            self._db.executemany(
                "INSERT OR REPLACE INTO found VALUES (?,?)", link_conversations(self._linked())
            )
            self._db.execute(
                "UPDATE messages SET conversation = (SELECT first FROM found WHERE "
                "found.id = messages.id) WHERE conversation IS NOT (SELECT first FROM found "
                "WHERE found.id = messages.id)"
            )
            (count,) = self._db.execute("SELECT count(DISTINCT first) FROM found").fetchone()
            self._db.execute("DROP TABLE found")
        return int(count)

    def _linked(self) -> Iterator[Linked]:
        rows = self._db.execute(
            "SELECT id, refs, named, subject, coalesce(at, 0), sender, (SELECT group_concat(person)"
            " FROM receivers WHERE message = messages.n) FROM messages ORDER BY at, n"
        )
        for id_, refs, named, subject, at, sender, receivers in rows:
            people = {int(part) for part in receivers.split(",")} if receivers else set()
            if sender is not None:
                people.add(sender)
            yield Linked(id_, tuple(json.loads(refs)), named, subject, at, frozenset(people))

    def delete_person(self, key: str) -> Forgotten:
        """Delete everything that a person wrote, quotes of it, and the person as a receiver;
        replace the address and the name in messages of others."""
        key = storable_text(key).lower()
        with self._writing():
            row = self._db.execute(
                "SELECT n, name, address FROM people WHERE key = ?", (key,)
            ).fetchone()
            person = Known(*row) if row is not None else unknown_person(key)
            own = list(self._held("sender = ?", person.n))
            near = self._db.execute(
                "SELECT DISTINCT conversation FROM messages WHERE sender = ? OR n IN (SELECT "
                "message FROM receivers WHERE person = ?)", (person.n, person.n),
            ).fetchall()  # fmt: skip
            names = dict(self._db.execute("SELECT n, name FROM people"))
            traces = Traces(person, own, (c or "" for (c,) in near), names)
            changes = [
                (held, change) for held in self._held("sender IS NOT ?", person.n)
                if (change := traces.change(held)) is not None
            ]  # fmt: skip
            for held, change in changes:
                self._change(held, change)
            self._delete([held.n for held in own])
            self._db.execute("DELETE FROM receivers WHERE person = ?", (person.n,))
            self._db.execute("DELETE FROM people WHERE n = ?", (person.n,))
            self._db.executemany("UPDATE people SET name = ? WHERE n = ?", traces.names(names))
            self._db.executemany(
                "INSERT OR IGNORE INTO forgotten VALUES (?)",
                [(person_hash(key),)]
                + [(message_hash(held.id),) for held, change in changes if change.id != held.id],
            )
        self._forget()
        files = {held.file for held in own} | {held.file for held, _ in changes}
        return Forgotten(len(own), len(changes), tuple(sorted(files)))

    def _held(self, condition: str, person: int) -> Iterator[Held]:
        rows = self._db.execute(
            f"SELECT {HELD}, sender, coalesce(conversation, ''), (SELECT group_concat(person) FROM "
            f"receivers WHERE message = messages.n) FROM messages WHERE {condition}", (person,),
        )  # fmt: skip
        for *columns, sender, conversation, receivers in rows:
            people = {int(part) for part in receivers.split(",")} if receivers else set()
            people |= {sender} - {None}
            yield Held._make((*columns, frozenset(people), conversation))

    def _change(self, held: Held, change: Change) -> None:
        """Write the texts of a message again, in the full-text index as well."""
        self._db.execute(
            "INSERT INTO words (words, rowid, subject, body) VALUES ('delete', ?, ?, ?)",
            (held.n, held.subject, held.body),
        )
        fields = ", ".join(f"{name} = ?" for name in CHANGED)
        self._db.execute(f"UPDATE messages SET {fields} WHERE n = ?", change)
        self._db.execute(
            "INSERT INTO words (rowid, subject, body) VALUES (?, ?, ?)",
            (held.n, change.subject, change.body),
        )

    def delete_before(self, date: datetime) -> int:
        """Delete all messages older than a date (retention); returns their number."""
        with self._writing():
            rows = self._db.execute(
                "SELECT n FROM messages WHERE at < ?", (seconds_since_epoch(date),)
            ).fetchall()
            self._delete([n for (n,) in rows])
            self._db.execute(
                "DELETE FROM people WHERE n NOT IN (SELECT person FROM receivers) AND n NOT IN "
                "(SELECT sender FROM messages WHERE sender IS NOT NULL)"
            )
            self._db.execute("DELETE FROM retention")
            self._db.execute("INSERT INTO retention VALUES (?)", (seconds_since_epoch(date),))
        self._forget()
        return len(rows)

    def _delete(self, numbers: Sequence[int]) -> None:
        keys = [(n,) for n in numbers]
        self._db.executemany(
            "INSERT INTO words (words, rowid, subject, body) "
            "SELECT 'delete', n, subject, body FROM messages WHERE n = ?",
            keys,
        )
        self._db.executemany("DELETE FROM receivers WHERE message = ?", keys)
        self._db.executemany("DELETE FROM messages WHERE n = ?", keys)

    def _forget(self) -> None:
        """Overwrite what was deleted: in the full-text index, the vectors and the log. Raises
        `StoreError` where another process reads on, so that it cannot be overwritten."""
        self._people.clear()
        self._seen = -1
        self.link()
        with self._writing():
            self._db.execute("INSERT INTO words (words) VALUES ('optimize')")
            unused = self._db.execute(
                "SELECT model, row FROM vectors WHERE hash NOT IN (SELECT hash FROM messages)"
            ).fetchall()
            tops = self._db.execute("SELECT model, max(row) FROM vectors GROUP BY model").fetchall()
            for model, top in tops:
                vectors = self._vectors_of(model)
                # a killed process may have left some behind the last one
                left = range(top + 1, vectors.rows)
                vectors.erase([*(row for m, row in unused if m == model), *left])
            self._db.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM messages)")
        try:
            self._db.execute("VACUUM")
            (busy, _, _) = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError as error:
            busy = str(error)
        if busy:
            raise StoreError(
                f"another process uses {self.folder}: the messages are deleted, but their bytes "
                "are not overwritten yet; end it and run the same command again"
            )

    # -- reading -----------------------------------------------------------------------------

    def counts(self) -> Counts:
        """The amounts of stored data."""
        row = self._db.execute(
            "SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM people), "
            "(SELECT count(DISTINCT conversation) FROM messages), (SELECT count(*) FROM vectors)"
        ).fetchone()
        return Counts(*row)

    def messages(self, wanted: Filter = EVERYTHING) -> Iterator[Message]:
        """The messages that match a filter, oldest first; `thread` is the conversation."""
        condition, values = wanted.sql()
        where = f" WHERE {condition}" if condition else ""
        query = f"SELECT {READ} FROM messages{where} ORDER BY at, n"
        for row in self._db.execute(query, values):
            yield self._message(row)

    def message(self, id_: str) -> Message | None:
        """A message by its id."""
        row = self._db.execute(f"SELECT {READ} FROM messages WHERE id = ?", (id_,)).fetchone()
        return self._message(row) if row is not None else None

    def _message(self, row: tuple[Any, ...]) -> Message:
        receivers = self._db.execute(
            "SELECT name, address FROM receivers JOIN people ON person = people.n "
            "WHERE message = ? ORDER BY person",
            (row[0],),
        )
        writer = self._db.execute("SELECT name, address FROM people WHERE n = ?", (row[4],))
        sender_row = writer.fetchone()
        sender = Person(*sender_row) if sender_row is not None else None
        return message_of(row, sender, (Person(*r) for r in receivers))

    def people(self) -> Iterator[tuple[Person, int, int]]:
        """Everybody with the number of messages sent and received, highest first."""
        rows = self._db.execute(
            "SELECT name, address, (SELECT count(*) FROM messages WHERE sender = people.n) AS s, "
            "(SELECT count(*) FROM receivers WHERE person = people.n) AS r FROM people "
            "ORDER BY s + r DESC, key"
        )
        for name, address, sent, received in rows:
            yield Person(name, address), sent, received

    def full_text(
        self, query: str, limit: int = 10, wanted: Filter = EVERYTHING
    ) -> list[tuple[str, float]]:  # fmt: skip
        """Ids of the messages that contain words of the query, best (BM25) first, with scores."""
        words = re.findall(r"\w+", query)
        if not words:
            return []
        condition, values = wanted.sql()
        where = f" AND n IN (SELECT n FROM messages WHERE {condition})" if condition else ""
        rows = self._db.execute(
            "SELECT messages.id, -rank FROM words JOIN messages ON messages.n = words.rowid "
            f"WHERE words MATCH ?{where} ORDER BY rank LIMIT ?",
            [" OR ".join(f'"{word}"' for word in words), *values, limit],
        )
        return [(id_, float(score)) for id_, score in rows]

    # -- vectors -----------------------------------------------------------------------------

    def _vectors_of(self, model: str, size: int = 0) -> Vectors:
        if model not in self._vectors:
            self._vectors[model] = _load_vectors()(self.folder, model, size)
        return self._vectors[model]

    def embed(self, embedder: Embedder, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed the messages that have no vector of this model yet, equal texts once; returns the
        number of texts. After an interruption, it continues where it stopped."""
        missing = self._db.execute(
            "SELECT hash, min(n) FROM messages WHERE hash NOT IN (SELECT hash FROM vectors WHERE "
            "model = ?) GROUP BY hash ORDER BY length(body), n", (embedder.name,),
        ).fetchall()  # fmt: skip
        for begin in range(0, len(missing), _EMBEDDED):
            part = missing[begin : begin + _EMBEDDED]
            rows = self._db.execute(
                f"SELECT n, subject, body FROM messages WHERE n IN ({_question_marks(part)})",
                [n for _, n in part],
            )
            texts = {n: embedded_text(subject, body) for n, subject, body in rows}
            self._write(embedder, [(hash_, texts[n]) for hash_, n in part])
            if progress is not None:
                progress(begin + len(part), len(missing))
        return len(missing)

    def embedded(self, embedder: Embedder, texts: Sequence[str]) -> list[Sequence[float]]:
        """The vector of each text, from the store if it was embedded before. Raises the exceptions
        of the embedder; an interruption keeps the finished vectors."""
        hashes = [content_hash(text) for text in texts]
        rows = self._rows_of(embedder.name, hashes)
        missing = {h: text for h, text in zip(hashes, texts, strict=True) if h not in rows}
        ordered = sorted(missing.items(), key=lambda item: len(item[1]))
        for begin in range(0, len(ordered), _EMBEDDED):
            self._write(embedder, ordered[begin : begin + _EMBEDDED])
        if missing:
            rows = self._rows_of(embedder.name, hashes)
        vectors = self._vectors_of(embedder.name, embedder.size).read([rows[h] for h in hashes])
        return list(vectors)

    def _rows_of(self, model: str, hashes: Sequence[bytes]) -> dict[bytes, int]:
        row_of_hash: dict[bytes, int] = {}
        for begin in range(0, len(hashes), 500):
            part = hashes[begin : begin + 500]
            row_of_hash.update(
                self._db.execute(
                    "SELECT hash, row FROM vectors WHERE model = ? "
                    f"AND hash IN ({_question_marks(part)})",
                    [model, *part],
                )
            )
        return row_of_hash

    def _write(self, embedder: Embedder, part: Sequence[tuple[bytes, str]]) -> None:
        """Embed texts and keep their vectors under their hashes."""
        vectors = dict(zip((h for h, _ in part), embedder.embed([t for _, t in part]), strict=True))
        with self._writing():
            for hash_ in self._rows_of(embedder.name, list(vectors)):
                del vectors[hash_]  # another process was faster
            (top,) = self._db.execute(
                "SELECT coalesce(max(row), -1) FROM vectors WHERE model = ?", (embedder.name,)
            ).fetchone()
            self._vectors_of(embedder.name, embedder.size).write(top + 1, list(vectors.values()))
            self._db.executemany(
                "INSERT INTO vectors VALUES (?,?,?)",
                [(embedder.name, hash_, top + 1 + i) for i, hash_ in enumerate(vectors)],
            )

    def vectors(self, model: str, ids: Sequence[str]) -> list[Sequence[float] | None]:
        """The vectors of messages, `None` for those that have none."""
        rows = self._rows(model, ids)
        numbers = self._vectors_of(model).read(list(rows.values())) if rows else ()
        vectors = dict(zip(rows, numbers, strict=True))
        return [vectors.get(id_) for id_ in ids]

    def _rows(self, model: str, ids: Sequence[str]) -> dict[str, int]:
        row_of_id: dict[str, int] = {}
        for begin in range(0, len(ids), 500):
            part = ids[begin : begin + 500]
            row_of_id.update(
                self._db.execute(
                    "SELECT id, row FROM messages JOIN vectors USING (hash) "
                    f"WHERE model = ? AND id IN ({_question_marks(part)})", [model, *part],
                )
            )  # fmt: skip
        return row_of_id

    def nearest(
        self,
        model: str,
        vector: Sequence[float],
        limit: int = 10,
        wanted: Filter = EVERYTHING,
    ) -> list[tuple[str, float]]:
        """Ids of the messages whose vectors have the largest cosine with a vector, and the
        cosine."""
        vectors = self._vectors_of(model, len(vector))
        condition, values = wanted.sql()
        rows: list[int] | None = None
        if condition:
            rows = [
                row for (row,) in self._db.execute(
                    "SELECT row FROM vectors WHERE model = ? AND hash IN "
                    f"(SELECT hash FROM messages WHERE {condition})", [model, *values],
                )
            ]  # fmt: skip
        scored: list[tuple[str, float]] = []
        extra = f" AND {condition}" if condition else ""
        for row, score in vectors.nearest(vector, limit, rows):
            scored += [
                (id_, score) for (id_,) in self._db.execute(
                    "SELECT id FROM messages WHERE hash = (SELECT hash FROM vectors WHERE "
                    f"model = ? AND row = ?){extra} ORDER BY at, n", [model, row, *values],
                )
            ]  # fmt: skip
            if len(scored) >= limit:
                break
        return scored[:limit]

    def documents(self) -> Iterator[str]:
        """The ids of all messages, oldest first."""
        for (id_,) in self._db.execute("SELECT id FROM messages ORDER BY at, n"):
            yield id_


def _load_vectors() -> type[Vectors]:
    """The class of vectors; most commands need none, so that numpy is loaded for the first ones."""
    return Vectors


def _keep_a_log(database: sqlite3.Connection) -> None:
    """Switch to a write-ahead log. While another process does the same, SQLite refuses at once
    instead of waiting. Raises `sqlite3.Error`."""
    until = time.monotonic() + WAIT
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.05)


def _make_tables(database: sqlite3.Connection) -> None:
    """All tables or none, however the process ends; made once, however many begin at a time."""
    database.execute("BEGIN IMMEDIATE")
    with database:
        if database.execute("PRAGMA user_version").fetchone() == (0,):
            for statement in _SCHEMA.split(";\n"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {VERSION}")


def _question_marks(values: Sized) -> str:
    return ",".join("?" * len(values))
