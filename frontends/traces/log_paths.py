"""The reader for a log, chosen by its content."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from orgflow.frontends.traces.ocel import (
    SQLITE,
    flatten_log,
    is_ocel_json,
    read_ocel_json,
    read_ocel_sqlite,
    read_ocel_xml,
)
from orgflow.frontends.traces.opened_file import GZIP, detect_encoding, open_log, read_head
from orgflow.frontends.traces.table_rows import (
    PARQUET,
    SEPARATORS,
    read_csv_log,
    read_parquet_log,
)
from orgflow.frontends.traces.tool_calls import is_tool_trace, read_call_document, read_tool_calls
from orgflow.frontends.traces.xes import read_xes
from orgflow.frontends.traces.xml_events import XmlOpened, iterate_xml

from orgflow_ir.mining.event_log import EventLog, LogItem, UnreadableLog, collect_log
from orgflow_ir.model.input_limits import MIB, MOST_MEMBER, LimitExceeded, load_json

_OTHERS: Final[tuple[tuple[bytes, str, str], ...]] = (
    (b"PK", "a zip archive or an Excel workbook", "unpack it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Office document", "save the sheet as CSV"),
    (b"%PDF", "a PDF document", ""),
    (b"\x89PNG", "a picture", ""),
    (b"\xff\xd8\xff", "a picture", ""),
    (b"From ", "a mailbox", "read it with: orgflowc ingest FILE"),
    (b"7z\xbc\xaf", "a 7-zip archive", "unpack it"),
    (b"(\xb5/\xfd", "packed with Zstandard", "unpack it"),
    (b"BZh", "packed with bzip2", "unpack it"),
    (b"\xfd7zXZ", "packed with xz", "unpack it"),
)
"""First bytes of files that are no logs, and what they are."""

_ROOTS: Final[Mapping[str, tuple[str, str]]] = {
    "definitions": ("a BPMN or DMN model", "a model is the second argument of `eval traces`"),
    "pnml": ("a Petri net", ""),
    "html": ("a web page", ""),
    "svg": ("a picture", ""),
    "WorkflowLog": ("an MXML log", "convert it to XES"),
}
"""Roots of XML that is no log."""


_ORDERED: Final = frozenset(("xes", "tool calls"))
"""Formats in which the order of the events of a case has a meaning."""


def read_log(
    path: str,
    mapping: Mapping[str, str] = MappingProxyType({}),
    object_type: str | None = None,
) -> EventLog:
    """The log in a file, in columns. See `iterate_log`."""
    format_ = detect_format(path)
    log = collect_log(path, _READERS[format_](path, mapping, object_type))
    log.is_ordered = format_ in _ORDERED
    return log


def iterate_log(
    path: str,
    mapping: Mapping[str, str] = MappingProxyType({}),
    object_type: str | None = None,
) -> Iterator[LogItem]:
    """The events of a file in XES, CSV, Parquet, OCEL, or of tool calls.

    Args:
        path: the file; XES, CSV, JSON and XML may be packed with gzip.
        mapping: names of columns by field, for tables.
        object_type: the type of the objects that are cases, for OCEL.

    Raises:
        UnreadableLog: the file is something else, damaged, or beyond a limit.
        OSError: it cannot be opened.
    """
    yield from _READERS[detect_format(path)](path, mapping, object_type)


def detect_format(path: str) -> str:
    """The format of a file by its content: a key of the table of readers. Raises `UnreadableLog`,
    `OSError`."""
    if os.path.isdir(path):
        raise UnreadableLog(f"{path} is a folder; name a file")
    head = read_head(path)
    text = head.decode(detect_encoding(head), "replace").lstrip("\ufeff \t\r\n")
    for begin, name, advice in _OTHERS:
        if head.startswith(begin):
            raise UnreadableLog(f"the file is {name}, not an event log", advice=advice)
    if not text.strip("\0"):
        raise UnreadableLog("the file is empty")
    if head.startswith((SQLITE, PARQUET)):
        with open(path, "rb") as file:
            if file.read(2) == GZIP:
                raise UnreadableLog("this format cannot be read from gzip", advice="unpack it")
        return "ocel sqlite" if head.startswith(SQLITE) else "parquet"
    if text.startswith("<"):
        return _detect_xml(path)
    if text.startswith(("{", "[")):
        return _detect_json(text)
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableLog("the file is in an unknown binary format, not an event log")
    if any(separator in text.split("\n", 1)[0] for separator in SEPARATORS):
        return "csv"
    raise UnreadableLog(
        "the file is no XES, CSV, OCEL, Parquet or JSON lines: its first line is "
        f"`{text.splitlines()[0][:60]}`"
    )


def _detect_xml(path: str) -> str:
    """XES or OCEL: OCEL has types, objects and events in its root. Raises `UnreadableLog`."""
    names = []
    with open_log(path) as file:
        for tag in iterate_xml(file):
            if isinstance(tag, XmlOpened):
                names.append(tag.name)
                if len(names) == 1 and tag.name != "log":
                    name, advice = _ROOTS.get(tag.name, (f"XML with the root `{tag.name}`", ""))
                    raise UnreadableLog(f"the file is {name}, not an event log", tag.line, advice)
                if len(names) == 2:
                    break
    ocel = ("object-types", "event-types", "objects", "events")
    return "ocel xml" if len(names) > 1 and names[1] in ocel else "xes"


def _detect_json(text: str) -> str:
    """Tool calls by line, or one document."""
    try:  # a first line that is a value by itself is one of JSON lines
        first = load_json(text.splitlines()[0]) if "\n" in text.strip() else None
    except ValueError:
        first = None
    return "tool calls" if isinstance(first, dict) and is_tool_trace(first) else "json document"


def _read_document(
    path: str, mapping: Mapping[str, str], object_type: str | None
) -> Iterator[LogItem]:
    """The events of one JSON document. Raises `UnreadableLog`."""
    with open_log(path) as file:
        raw = file.read(MOST_MEMBER + 1)
    if len(raw) > MOST_MEMBER:
        raise UnreadableLog(f"the JSON document has more than {MOST_MEMBER // MIB} MB")
    try:
        data = load_json(raw.decode("utf-8-sig"))
    except LimitExceeded as error:
        raise UnreadableLog(f"the JSON document {error}") from None
    except UnicodeDecodeError:
        raise UnreadableLog("the JSON document is not in UTF-8") from None
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        raise UnreadableLog(f"the JSON cannot be read: {error}", line) from None
    if is_ocel_json(data):
        yield from flatten_log(read_ocel_json(data), object_type)
        return
    if is_tool_trace(data[0] if isinstance(data, list) and data else data):
        yield from read_call_document(data)
        return
    keys = ", ".join(f"`{key}`" for key in list(data)[:8]) if isinstance(data, dict) else "a list"
    raise UnreadableLog(
        f"the JSON is neither OCEL nor tool calls; it has {keys}",
        advice="convert rows to CSV, with columns for case, activity and time",
    )


_READERS: Final[Mapping[str, Callable[[str, Mapping[str, str], str | None], Iterator[LogItem]]]] = {
    "xes": lambda path, mapping, object_type: read_xes(path),
    "csv": lambda path, mapping, object_type: read_csv_log(path, mapping),
    "parquet": lambda path, mapping, object_type: read_parquet_log(path, mapping),
    "ocel xml": lambda path, mapping, object_type: flatten_log(read_ocel_xml(path), object_type),
    "ocel sqlite": lambda path, mapping, object_type: flatten_log(
        read_ocel_sqlite(path), object_type
    ),
    "tool calls": lambda path, mapping, object_type: read_tool_calls(path),
    "json document": _read_document,
}
"""The reader of each format."""
