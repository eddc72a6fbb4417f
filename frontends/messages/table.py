"""Messages in JSON lines or CSV, whose columns a mapping names."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from orgflow.frontends.messages.mail import people
from orgflow.frontends.messages.quotes import split

from orgflow_ir.model.message import Attachment, BrokenMessage, Message, Person, content_id

FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "message_id", "message-id", "messageid", "uid"),
    "date": ("date", "datetime", "timestamp", "time", "sent", "sent_at", "created_at", "created"),
    "channel": ("channel", "medium", "kind", "type"),
    "sender": ("sender", "from", "author", "user", "speaker", "from_name"),
    "receivers": ("receivers", "receiver", "to", "recipients", "recipient"),
    "cc": ("cc",),
    "subject": ("subject", "title", "betreff"),
    "body": ("body", "text", "message", "content", "description"),
    "thread": ("thread", "thread_id", "conversation", "conversation_id", "ticket", "case"),
    "references": ("references", "in_reply_to", "in-reply-to", "reply_to_id", "parent_id"),
    "attachments": ("attachments", "files"),
}  # fmt: skip
"""The fields of a message, and the columns that hold them unless a mapping says otherwise."""


class MappingError(ValueError):
    """A mapping of columns that does not fit the table."""


def columns_of(header: Iterable[str], mapping: Mapping[str, str]) -> dict[str, str]:
    """The column of each field that the table has. Raises `MappingError`."""
    names = list(header)
    lowered = {name.strip().lower(): name for name in reversed(names)}
    columns: dict[str, str] = {}
    for field, column in mapping.items():
        if field not in FIELDS:
            raise MappingError(f"there is no field `{field}`; the fields are {', '.join(FIELDS)}")
        if column not in names:
            raise MappingError(f"there is no column `{column}`; the columns are {', '.join(names)}")
        columns[field] = column
    for field, candidates in FIELDS.items():
        found = next((lowered[name] for name in candidates if name in lowered), None)
        if field not in columns and found is not None:
            columns[field] = found
    if "body" not in columns:
        raise MappingError(
            f"no column contains the text (use --map body=COLUMN): {', '.join(names)}"
        )
    return columns


def read_jsonl(
    lines: Iterable[str], file: str, mapping: Mapping[str, str]
) -> Iterator[Message | BrokenMessage]:
    """One message a line. Raises `MappingError` where the first record has no text."""
    mapped = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            yield BrokenMessage(file, number, f"is no JSON: {error}")
            continue
        if not isinstance(record, dict):
            yield BrokenMessage(file, number, "is no JSON object")
            continue
        try:
            columns = columns_of(record, mapping)
        except MappingError as error:
            if not mapped:
                raise
            yield BrokenMessage(file, number, f"has other fields than the first line: {error}")
            continue
        mapped = True
        yield _message(record, columns, file, number)


def read_csv(
    lines: Iterable[str], file: str, mapping: Mapping[str, str]
) -> Iterator[Message | BrokenMessage]:
    """One message a row; the first row names the columns, and the separator is a comma, a
    semicolon or a tab, whichever the first row has most. Raises `MappingError`."""
    source = iter(lines)
    first = next(source, "")
    separator = max(",;\t|", key=first.count)
    limit = csv.field_size_limit(1 << 24)
    try:
        rows = csv.reader(_with_first(first, source), delimiter=separator, strict=True)
        header: list[str] | None = None
        columns: dict[str, str] = {}
        while True:
            line = rows.line_num + 1
            try:
                row = next(rows, None)
            except csv.Error as error:
                yield BrokenMessage(file, line, f"is no row: {error}")
                continue
            if row is None:
                return
            if header is None:
                header = [name.lstrip("\ufeff") for name in row]
                columns = columns_of(header, mapping)
            elif row and len(row) != len(header):
                yield BrokenMessage(
                    file, line, f"has {len(row)} columns, but the first row has {len(header)}"
                )
            elif row:
                yield _message(dict(zip(header, row, strict=True)), columns, file, line)
    finally:
        csv.field_size_limit(limit)


def _with_first(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _message(
    record: Mapping[str, Any], columns: Mapping[str, str], file: str, line: int
) -> Message | BrokenMessage:
    values = {field: record.get(column) for field, column in columns.items()}
    raw_date = values.get("date")
    date = read_date(raw_date)
    if raw_date not in (None, "") and date is None:
        return BrokenMessage(file, line, f"has a date that cannot be read: {raw_date!r}")
    body = _plain(values.get("body"))
    channel = _plain(values.get("channel")).lower() or "email"
    quoted = signature = ""
    if channel == "email":
        body, quoted, signature = split(body)
    subject = " ".join(_plain(values.get("subject")).split())
    if not body.strip() and not subject:
        return BrokenMessage(file, line, "has no text")
    senders = _people(values.get("sender"))
    sender = senders[0] if senders else None
    receivers = {p.key: p for f in ("receivers", "cc") for p in _people(values.get(f))}
    if sender is not None:
        receivers.pop(sender.key, None)
    id_ = _plain(values.get("id")) or content_id(
        sender.key if sender else "", str(raw_date), subject, body
    )
    return Message(
        id=id_,
        date=date,
        channel=channel,
        sender=sender,
        receivers=tuple(receivers.values()),
        subject=subject,
        body=body.strip(),
        quoted=quoted,
        signature=signature,
        thread=_plain(values.get("thread")),
        references=tuple(_strings(values.get("references"), r"[\s,;<>]+")),
        attachments=tuple(Attachment(a) for a in _strings(values.get("attachments"), r"[,;]\s*")),
        file=file,
        line=line,
    )


def _plain(value: Any) -> str:
    return "" if value is None else str(value)


def _strings(value: Any, separator: str) -> list[str]:
    items = value if isinstance(value, list) else re.split(separator, _plain(value))
    found = [str(i.get("name", "")) if isinstance(i, dict) else str(i) for i in items]
    return [item.strip() for item in found if item.strip()]


def _people(value: Any) -> list[Person]:
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list):
        return [person for item in value for person in _one(item)]
    text = _plain(value)
    if "@" in text:
        return list(people(text.replace(";", ",")))
    return [Person(name.strip()) for name in re.split(r"[;\n]", text) if name.strip()]


def _one(item: Any) -> list[Person]:
    if isinstance(item, dict):
        name = _plain(item.get("name") or item.get("displayName"))
        address = _plain(item.get("address") or item.get("email"))
        return [Person(name, address)] if name or address else []
    text = " ".join(_plain(item).split())
    return list(people(text)) if "@" in text else ([Person(text)] if text else [])


def read_date(value: Any) -> datetime | None:
    """ISO 8601, seconds or milliseconds since 1970, or the date of a mail."""
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        text = str(value).strip()
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            from email.utils import parsedate_to_datetime

            try:
                return parsedate_to_datetime(text)
            except (ValueError, TypeError, IndexError):
                return None
    seconds = number / 1000 if number > 1e11 else number
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds > 1e8 else None
    except (OverflowError, OSError, ValueError):
        return None
