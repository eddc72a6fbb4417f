"""Messages in JSON lines or CSV, whose columns a mapping names."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from orgflow.frontends.messages.html_text import html_text
from orgflow.frontends.messages.mail import read_people
from orgflow.frontends.messages.quotes import split_quotes

from orgflow_ir.model.input_limits import load_json
from orgflow_ir.model.message import Attachment, BrokenMessage, Message, Person, content_id
from orgflow_ir.model.records import NamedTuple

FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "message_id", "message-id", "messageid", "uid"),
    "date": ("date", "sentdatetime", "receiveddatetime", "datetime", "timestamp", "time", "sent",
             "sent_at", "created_at", "created", "createddatetime", "datum", "gesendet", "zeit",
             "fecha", "data"),
    "channel": ("channel", "medium", "kind", "type"),
    "sender": ("sender", "from", "author", "user", "speaker", "from_name",
               "from: (name)", "from: (address)", "absender", "von", "expéditeur", "remitente",
               "remetente"),
    "receivers": ("receivers", "receiver", "to", "torecipients", "recipients", "recipient",
                  "to: (name)", "to: (address)", "empfänger", "an", "destinataire",
                  "destinatario", "destinatário"),
    "cc": ("cc", "ccrecipients"),
    "subject": ("subject", "title", "betreff", "objet", "asunto", "assunto"),
    "body": ("body", "text", "message", "content", "description", "nachricht", "inhalt",
             "contenu", "mensaje", "mensagem", "texto", "texte"),
    "thread": ("thread", "thread_id", "conversation", "conversation_id", "conversationid", "ticket",
               "case"),
    "references": ("references", "in_reply_to", "in-reply-to", "reply_to_id", "parent_id"),
    "attachments": ("attachments", "files"),
}  # fmt: skip
"""The fields of a message, and the columns that hold them unless a mapping says otherwise."""


_REPORTED = 30
"""Maximum number of columns without a field that are reported."""


class MappingError(ValueError):
    """A mapping of columns that does not match the table."""


def columns_of(
    header: Iterable[str], mapping: Mapping[str, str], *, inside: bool = False
) -> dict[str, str]:
    """The column of each field that the table has. `inside`: a column may be `a.b`, the field `b`
    of the value of `a`. Raises `MappingError`."""
    names = list(header)
    lowered = {name.strip().lower(): name for name in reversed(names)}
    columns: dict[str, str] = {}
    for field, column in mapping.items():
        if field not in FIELDS:
            raise MappingError(f"there is no field `{field}`; the fields are {', '.join(FIELDS)}")
        if column not in names and not (inside and column.partition(".")[0] in names):
            raise MappingError(f"there is no column `{column}`; the columns are {', '.join(names)}")
        columns[field] = column
    for field, candidates in FIELDS.items():
        column_name = next((lowered[name] for name in candidates if name in lowered), None)
        if field not in columns and column_name is not None:
            columns[field] = column_name
    if "body" not in columns:
        raise MappingError(
            f"no column contains the text (use --map body=COLUMN): {', '.join(names)}"
        )
    return columns


Unused = Callable[[tuple[str, ...]], None]
"""Called once with the columns of a table that contain no field, if there are any."""


def unused_columns(header: Iterable[str], columns: Mapping[str, str]) -> tuple[str, ...]:
    """The columns of a table that contain no field. Two languages or spellings of one field are
    both recognised, though only one of them is used."""
    used = {*columns.values(), *(column.partition(".")[0] for column in columns.values())}
    known = {name for names in FIELDS.values() for name in names}
    return tuple(
        name for name in header
        if name not in used and name.strip() and name.strip().lower() not in known
    )  # fmt: skip


def read_jsonl(
    lines: Callable[[], Iterable[str]],
    file: str,
    mapping: Mapping[str, str],
    unused: Unused | None = None,
) -> Iterator[Message | BrokenMessage]:
    """One message per line; a mapping names nested fields as `user.name`. Raises `MappingError` if
    the first record has no text.

    Args:
        lines: returns the lines from the start, each time it is called.
        file: the name of their file.
        mapping: the columns by field.
        unused: called after the last message.
    """
    yield from _read_rows(lambda report: _json_rows(lines(), file, mapping, report), file, unused)


def read_csv(
    lines: Callable[[], Iterable[str]],
    file: str,
    mapping: Mapping[str, str],
    unused: Unused | None = None,
) -> Iterator[Message | BrokenMessage]:
    """One message a row; the first row names the columns, and the separator is the one of
    `SEPARATORS` that it has most, or that a line `sep=;` before it states. Raises `MappingError`.

    Args:
        lines: returns the lines from the start, each time it is called.
        file: the name of their file.
        mapping: the columns by field.
        unused: called before the first message.
    """
    yield from _read_rows(lambda report: _csv_rows(lines(), file, mapping, report), file, unused)


class _Row(NamedTuple):
    line: int
    values: dict[str, Any]


def _read_rows(
    rows: Callable[[Unused], Iterator[_Row | BrokenMessage]], file: str, unused: Unused | None
) -> Iterator[Message | BrokenMessage]:
    """The messages of rows whose values are by field. Whether 3/5 is in March or May is decided by
    all dates of the file, which is read again for it at the first one."""
    month_first: bool | None = None
    for row in rows(unused or _ignore_columns):
        if isinstance(row, BrokenMessage):
            yield row
            continue
        if month_first is None and _SLASHED.match(_plain_text(row.values.get("date"))):
            all_rows = (r for r in rows(_ignore_columns) if isinstance(r, _Row))
            month_first = _month_first(_plain_text(r.values.get("date")) for r in all_rows)
        yield _read_message(row.values, file, row.line, bool(month_first))


def _ignore_columns(columns: tuple[str, ...]) -> None:
    """Columns that hold no field and need not be reported."""


def _json_rows(
    lines: Iterable[str], file: str, mapping: Mapping[str, str], report: Unused
) -> Iterator[_Row | BrokenMessage]:
    mapped = False
    left: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        line = line.lstrip("\ufeff")
        if not line.strip():
            continue
        try:
            record = load_json(line)
        except ValueError as error:
            yield BrokenMessage(file, number, f"is no JSON: {error}")
            continue
        if not isinstance(record, dict):
            yield BrokenMessage(file, number, "is no JSON object")
            continue
        try:
            columns = columns_of(record, mapping, inside=True)
        except MappingError as error:
            if not mapped:
                raise
            yield BrokenMessage(file, number, f"has other fields than the first line: {error}")
            continue
        mapped = True
        if len(left) < _REPORTED:
            left.update(dict.fromkeys(unused_columns(record, columns)))
        yield _Row(
            number, {field: _column_value(record, column) for field, column in columns.items()}
        )
    if left:
        report(tuple(left)[:_REPORTED])


def _column_value(record: Mapping[str, Any], column: str) -> Any:
    """The value of a column, or of the field inside others that `a.b` names."""
    if column in record:
        return record[column]
    value: Any = record
    for part in column.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _csv_rows(
    lines: Iterable[str], file: str, mapping: Mapping[str, str], report: Unused
) -> Iterator[_Row | BrokenMessage]:
    source = iter(lines)
    skipped = 0
    first = next(source, "")
    stated = _SEPARATOR.fullmatch(first)  # as Excel writes it
    if stated:
        first, skipped = next(source, ""), 1
    while first and not first.strip(" \r\n"):
        first, skipped = next(source, ""), skipped + 1
    separator = stated[1] if stated else max(SEPARATORS, key=first.count)
    limit = csv.field_size_limit(1 << 24)
    try:
        rows = csv.reader(_with_first(first, source), delimiter=separator, strict=True)
        header: list[str] | None = None
        columns: dict[str, str] = {}
        while True:
            line = rows.line_num + skipped + 1
            try:
                row = next(rows, None)
            except csv.Error as error:
                last = rows.line_num + skipped
                place = f" up to line {last}" if last > line else ""
                yield BrokenMessage(file, line, f"is no row{place}: {error}")
                continue
            if row is None:
                return
            if header is None:
                header = _number_names([name.lstrip("\ufeff") for name in row])
                columns = columns_of(header, mapping)
                if left := unused_columns(header, columns):
                    report(left[:_REPORTED])
            elif row and len(row) != len(header):
                yield BrokenMessage(
                    file, line, f"has {len(row)} columns, but the first row has {len(header)}"
                )
            elif row:
                record = dict(zip(header, row, strict=True))
                yield _Row(line, {field: record[column] for field, column in columns.items()})
    finally:
        csv.field_size_limit(limit)


SEPARATORS = ",;\t|^~\x1f"
_SEPARATOR = re.compile(r"\ufeff?\"?sep=(.)\"?\r?\n?", re.IGNORECASE)


def _number_names(names: list[str]) -> list[str]:
    """The names of columns; those that are there twice with a number."""
    seen: dict[str, int] = {}
    numbered = []
    for name in names:
        seen[name] = number = seen.get(name, 0) + 1
        numbered.append(name if number == 1 or not name.strip() else f"{name} ({number})")
    return numbered


def _with_first(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _read_message(
    values: Mapping[str, Any], file: str, line: int, month_first: bool
) -> Message | BrokenMessage:
    raw_date = values.get("date")
    date = read_date(raw_date, month_first=month_first)
    if raw_date not in (None, "") and date is None:
        return BrokenMessage(file, line, f"has a date that cannot be read: {raw_date!r}")
    body = _message_text(values.get("body"))
    channel = _plain_text(values.get("channel")).lower() or "email"
    quoted = signature = ""
    if channel == "email":
        body, quoted, signature = split_quotes(body)
    subject = " ".join(_plain_text(values.get("subject")).split())
    if not body.strip() and not subject:
        return BrokenMessage(file, line, "has no text")
    senders = _read_people(values.get("sender"))
    sender = senders[0] if senders else None
    receivers = {p.key: p for f in ("receivers", "cc") for p in _read_people(values.get(f))}
    if sender is not None:
        receivers.pop(sender.key, None)
    id_ = _plain_text(values.get("id")) or content_id(
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
        thread=_plain_text(values.get("thread")),
        references=tuple(_split_strings(values.get("references"), r"[\s,;<>]+")),
        attachments=tuple(
            Attachment(a) for a in _split_strings(values.get("attachments"), r"[,;]\s*")
        ),
        file=file,
        line=line,
    )


def _plain_text(value: Any) -> str:
    return "" if value is None else str(value)


def _message_text(value: Any) -> str:
    """The text of a message: that inside an object, as interfaces of mail and chat give it."""
    if isinstance(value, list):
        return "\n".join(map(_message_text, value))
    if not isinstance(value, dict):
        return _plain_text(value)
    text = next((_plain_text(value[key]) for key in _TEXTS if value.get(key)), "")
    kind = _plain_text(value.get("contentType") or value.get("type")).lower()
    return html_text(text)[0] if "html" in kind else text or json.dumps(value, ensure_ascii=False)


_TEXTS = ("content", "text", "body", "value", "plain")


def _split_strings(value: Any, separator: str) -> list[str]:
    items = value if isinstance(value, list) else re.split(separator, _plain_text(value))
    texts = [str(i.get("name", "")) if isinstance(i, dict) else str(i) for i in items]
    return [item.strip() for item in texts if item.strip()]


def _read_people(value: Any) -> list[Person]:
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, list):
        return [person for item in value for person in _read_item(item)]
    text = _plain_text(value)
    if "@" in text:
        return list(read_people(text.replace(";", ",")))
    return [Person(name.strip()) for name in re.split(r"[;\n]", text) if name.strip()]


def _read_item(item: Any) -> list[Person]:
    if isinstance(item, dict):
        for kind in ("emailAddress", "user", "application"):  # of Microsoft's interfaces
            if isinstance(item.get(kind), dict):
                item = item[kind]
        name = _plain_text(item.get("name") or item.get("displayName"))
        address = _plain_text(item.get("address") or item.get("email"))
        return [Person(name, address)] if name or address else []
    text = " ".join(_plain_text(item).split())
    return list(read_people(text)) if "@" in text else ([Person(text)] if text else [])


_SLASHED = re.compile(
    r"\s*(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<year>\d{4}|\d\d)(?:,?\s+(?P<h>\d{1,2}):(?P<m>\d\d)"
    r"(?::(?P<s>\d\d))?(?:\.\d+)?\s*(?P<half>[ap]\.?\s?m\.?)?)?\s*",
    re.IGNORECASE,
)
_DOTTED = re.compile(
    r"\s*(?P<a>\d{1,2})\.(?P<b>\d{1,2})\.(?P<year>\d{4}|\d\d)(?:,?\s+(?P<h>\d{1,2})[:.](?P<m>\d\d)"
    r"(?:[:.](?P<s>\d\d))?(?P<half>)(?:\s*Uhr)?)?\s*"
)
_EXCEL = re.compile(r"[2-7]\d{4}(?:[.,]\d+)?")
"""Days since 1899-12-30, Excel's form of an unformatted date: 1954 to 2119."""


def _month_first(dates: Iterable[str]) -> bool:
    """Whether 3/5 is the fifth of March: where the dates allow both, with AM and PM it is."""
    possible = {True, False}
    twelve = False
    for match in filter(None, map(_SLASHED.fullmatch, dates)):
        twelve = twelve or bool(match["half"])
        if int(match["a"]) > 12:
            possible.discard(True)
        if int(match["b"]) > 12:
            possible.discard(False)
    return possible.pop() if len(possible) == 1 else twelve


def _by_parts(match: re.Match[str], month_first: bool) -> datetime | None:
    first, second, year = int(match["a"]), int(match["b"]), int(match["year"])
    month, day = (first, second) if month_first else (second, first)
    hour = int(match["h"] or 0)
    half = (match["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    try:
        return datetime(
            year + 2000 if year < 100 else year, month, day, hour,
            int(match["m"] or 0), int(match["s"] or 0),
        )  # fmt: skip
    except ValueError:
        return None


def read_date(value: Any, *, month_first: bool = False) -> datetime | None:
    """ISO 8601, seconds or milliseconds since 1970, the date of a mail, days in Excel's count, or
    `3/5/2026 10:12 PM` and `5.3.2026 22:12`. `month_first`: applies to dates with slashes."""
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        text = str(value).strip()
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            if match := _SLASHED.fullmatch(text):
                return _by_parts(match, month_first)
            if match := _DOTTED.fullmatch(text):
                return _by_parts(match, False)
            if _EXCEL.fullmatch(text):
                return _from_excel(float(text.replace(",", ".")))

            try:
                return parsedate_to_datetime(text)
            except (ValueError, TypeError, IndexError):
                return None
    if 20_000 <= number < 80_000:
        return _from_excel(number)
    seconds = number / 1000 if number > 1e11 else number
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds > 1e8 else None
    except (OverflowError, OSError, ValueError):
        return None


def _from_excel(days: float) -> datetime:
    return datetime(1899, 12, 30) + timedelta(seconds=round(days * 86_400))
