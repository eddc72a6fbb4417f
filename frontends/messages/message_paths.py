"""The reader for a path, and all messages of a path."""

from __future__ import annotations

import codecs
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from orgflow.frontends.messages.mail import text_of
from orgflow.frontends.messages.mailbox import (
    is_maildir,
    read_eml,
    read_maildir,
    read_mbox,
    report_unreadable,
    skip_reason,
)  # fmt: skip
from orgflow.frontends.messages.slack import is_slack, read_slack
from orgflow.frontends.messages.table import (
    FIELDS,
    MappingError,
    Unused,
    read_csv,
    read_jsonl,
)  # fmt: skip
from orgflow.frontends.messages.teams import is_teams, read_teams
from orgflow.frontends.messages.transcript import read_transcript
from orgflow.frontends.messages.whatsapp import is_whatsapp, read_whatsapp
from orgflow.frontends.messages.zoom import is_zoom, read_zoom

from orgflow_ir.model.contained_paths import leads_out
from orgflow_ir.model.input_limits import MIB, MOST_MEMBER, LimitExceeded, load_json
from orgflow_ir.model.message import BrokenMessage, Message

FORMATS = (
    "mbox", "maildir", "eml", "slack", "teams", "whatsapp", "zoom", "transcript", "jsonl", "csv"
)  # fmt: skip
"""The supported formats of messages."""

MAX_JSON = MOST_MEMBER
"""Maximum number of bytes of a JSON document that is read as a whole."""

_SUFFIXES = {
    ".mbox": "mbox", ".mbx": "mbox", ".eml": "eml", ".emlx": "eml",
    ".vtt": "transcript", ".srt": "transcript", ".sbv": "transcript",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv",
}  # fmt: skip
_OUTLOOK = (b"!BDN", b"\xd0\xcf\x11\xe0")
"""The first bytes of .pst and .msg files."""
_HEAD = 64 * 1024


class UnknownMessages(ValueError):
    """A path with an unknown format; the text describes its content."""


def format_of(path: str) -> str:
    """The format of a file or a folder. Raises `UnknownMessages`, `OSError`."""
    if os.path.isdir(path):
        return _folder_format(path)
    suffix = os.path.splitext(path)[1].lower()
    known = _SUFFIXES.get(suffix)
    if known and known not in ("eml", "jsonl"):
        return known
    with open(path, "rb") as file:
        head = file.read(_HEAD)
    if known == "eml":
        return "mbox" if head.startswith(b"From ") else known  # some programs name all mails so
    if known == "jsonl":
        records = [_read_record(line) for line in head.splitlines()[:1]]
        whole = os.path.getsize(path) <= MAX_JSON
        return "teams" if whole and is_teams(records) else known
    if head.startswith(b"PK"):
        if is_slack(path):
            return "slack"
        raise UnknownMessages(f"{path} is a zip file, but not a Slack export")
    if head.startswith(_OUTLOOK):
        raise UnknownMessages(
            f"{path} is in a proprietary Outlook format: save the messages as EML, or "
            "export an mbox"
        )
    if head.startswith(b"From "):
        return "mbox"
    text_format = _text_format(path, suffix, text_of(head))
    if text_format is None:
        raise UnknownMessages(
            f"the format of {path} cannot be determined from its suffix and content"
        )
    return text_format


def _folder_format(path: str) -> str:
    """The format of a folder. Raises `UnknownMessages`."""
    if is_maildir(path):
        return "maildir"
    if is_slack(path):
        return "slack"
    raise UnknownMessages(f"{path} is neither a Maildir nor a Slack export")


def _text_format(path: str, suffix: str, text: str) -> str | None:
    """The format of a file that begins with `text`; `None` where nothing shows it."""
    if text.lstrip("\ufeff").startswith("WEBVTT"):
        return "transcript"
    if is_whatsapp(text):
        return "whatsapp"
    if is_zoom(text):
        return "zoom"
    if text.lstrip("\ufeff \r\n\t")[:1] in ("{", "["):
        json_format = _json_format(path, suffix, text)
        if json_format is not None:
            return json_format
    headers = ("from:", "received:", "return-path:", "message-id:")
    if any(line.lower().startswith(headers) for line in text.splitlines()[:30]):
        return "eml"
    return None


def _json_format(path: str, suffix: str, text: str) -> str | None:
    """The format of a file that begins like JSON; `None` where it is neither a known value nor
    JSON lines. Raises `UnknownMessages` for a file with the suffix of JSON that is none."""
    if suffix == ".json" and os.path.getsize(path) <= MAX_JSON:
        data = _read_json(path)
        if is_teams(data):
            return "teams"
        if isinstance(data, list):
            return "jsonl"
    try:
        load_json(text.lstrip("\ufeff").splitlines()[0])
    except ValueError:
        return None  # no JSON lines
    return "jsonl"


def read_messages(
    path: str,
    *,
    format_: str | None = None,
    mapping: Mapping[str, str] = MappingProxyType({}),
    advance: Callable[[int], None] | None = None,
    unused: Callable[[str, tuple[str, ...]], None] | None = None,
    root: str = "",
) -> Iterator[Message | BrokenMessage]:
    """The messages of a file or a folder, and the unreadable parts, in the order of the source.

    A folder other than a Maildir or an export is read file by file, sorted; a file in it without a
    format of messages is a `BrokenMessage`.

    Args:
        path: the file or the folder.
        format_: one of `FORMATS`, if the content should not decide.
        mapping: the columns of a table by the field they hold (`FIELDS` of `table`).
        advance: called with the number of bytes (files, for folders) that were read.
        unused: called with the name of a table and its columns that hold no field of a message.
        root: the folder out of which no symbolic link is followed; by default `path`.

    Raises:
        UnknownMessages: the format of the file is not recognised.
        MappingError: the mapping does not match the table.
        OSError: the file cannot be read.
    """
    if format_ is None and os.path.isdir(path) and not is_maildir(path) and not is_slack(path):
        yield from _read_folder(path, root or path, mapping, advance, unused)
        return
    kind = format_ or format_of(path)
    if kind == "mbox":
        with open(path, "rb") as file:
            yield from read_mbox(io.BufferedReader(file, 1 << 20), path, advance)
    elif kind == "maildir":
        yield from read_maildir(path, advance, root)
    elif kind == "slack":
        try:
            yield from read_slack(path, advance)
        except zipfile.BadZipFile as error:
            yield BrokenMessage(path, 0, f"is a damaged zip file: {error}")
        except LimitExceeded as error:
            yield BrokenMessage(path, 0, str(error))
    else:
        report = partial(unused, path) if unused is not None else None
        yield from _read_file(path, kind, mapping, report)
        if advance is not None:
            advance(os.path.getsize(path))


def _read_folder(
    path: str,
    root: str,
    mapping: Mapping[str, str],
    advance: Callable[[int], None] | None,
    unused: Callable[[str, tuple[str, ...]], None] | None,
) -> Iterator[Message | BrokenMessage]:
    for name in sorted(os.listdir(path)):
        inner = os.path.join(path, name)
        if leads_out(inner, root):
            yield BrokenMessage(inner, 0, "is a symbolic link out of the folder; it is not read")
            continue
        if name.startswith(".") and not is_maildir(inner):  # `.Sent` is a folder of mails
            continue
        unwanted = skip_reason(name)  # a part of a Maildir
        if unwanted:
            yield BrokenMessage(inner, 0, unwanted)
            continue
        try:
            yield from read_messages(inner, mapping=mapping, unused=unused, root=root)
        except OSError as error:
            yield report_unreadable(inner, error)
        except UnknownMessages:
            yield BrokenMessage(inner, 0, "is in no known message format")
        except MappingError as error:
            if mapping:
                raise
            yield BrokenMessage(inner, 0, f"has no messages: {error}")
        if advance is not None:
            advance(1)


def _read_file(
    path: str, kind: str, mapping: Mapping[str, str], unused: Unused | None
) -> Iterator[Message | BrokenMessage]:
    if kind == "eml":
        yield from read_eml(path)
    elif kind == "teams":
        lined = os.path.splitext(path)[1].lower() in (".jsonl", ".ndjson")
        yield from read_teams(
            [_read_record(line) for line in _read_lines(path) if line.strip()]
            if lined
            else _read_json(path),
            path,
        )
    elif kind == "whatsapp":
        group = os.path.splitext(os.path.basename(path))[0]
        yield from read_whatsapp(lambda: _read_lines(path), path, group)
    elif kind == "zoom":
        yield from read_zoom(_read_lines(path), path)
    elif kind == "transcript":
        yield from read_transcript(_read_lines(path), path)
    elif kind == "csv":
        yield from read_csv(lambda: _read_lines(path), path, mapping, unused)
    else:
        yield from read_jsonl(lambda: _read_records(path), path, mapping, unused)


def _read_record(line: str | bytes) -> object:
    """The value in a line; the line itself if it is no JSON."""
    try:
        return load_json(line)
    except ValueError:
        return line


def _read_json(path: str) -> object:
    with open(path, "rb") as file:
        data = file.read(MAX_JSON + 1)
    try:
        if len(data) > MAX_JSON:
            raise LimitExceeded(f"has more than {MAX_JSON // MIB} MB")
        return load_json(data)
    except LimitExceeded as error:
        raise UnknownMessages(f"{path} {error}") from None
    except ValueError as error:
        raise UnknownMessages(f"{path} is no JSON: {error}") from None


def _read_records(path: str) -> Iterator[str]:
    """The lines of a file, or the entries of the JSON list that it is."""
    if path.lower().endswith(".json"):
        data = _read_json(path)
        if isinstance(data, list):
            yield from (json.dumps(entry) for entry in data)
            return
    yield from _read_lines(path)


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are not in the encoding that the beginning of a file shows, as Windows-1252."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return text_of(error.object[error.start : error.end]), error.end


_MIXED = "orgflow-mixed"
codecs.register_error(_MIXED, _as_windows)


def _read_lines(path: str) -> Iterable[str]:
    """The lines of a text, in the encoding that its first bytes show."""
    with open(path, "rb") as file:
        head = file.read(_HEAD)
    encoding = "cp1252"
    for mark, name in (
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
        (b"\xef\xbb\xbf", "utf-8-sig"),
    ):
        if head.startswith(mark):
            encoding = name
            break
    else:
        try:
            head[: len(head) - 4 if len(head) == _HEAD else None].decode("utf-8")
            encoding = "utf-8"
        except UnicodeDecodeError as error:
            if len(head) == _HEAD and error.start >= len(head) - 8:
                encoding = "utf-8"  # a character was cut in two
    with open(path, encoding=encoding, errors=_MIXED, newline="") as text:
        yield from text


__all__ = ["FIELDS", "FORMATS", "UnknownMessages", "format_of", "read_messages"]
