"""OCEL, the standard of object-centric logs: version 2.0 in JSON, XML and SQLite, and 1.0 in JSON.

An event of such a log belongs to several objects: an order, its items, a delivery. A case is an
object of one type here, and has every event that is related to it ("flattening").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from orgflow.frontends.traces.log_times import UnreadableTime, read_time
from orgflow.frontends.traces.opened_file import open_log
from orgflow.frontends.traces.xml_events import XmlOpened, iterate_xml

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.mining.event_log import (
    COMPLETE,
    NO_TIME,
    CaseAttributes,
    LogEvent,
    LogFault,
    LogItem,
    Scalar,
    UnreadableLog,
)
from orgflow_ir.model.records import NamedTuple, dataclass

if TYPE_CHECKING:
    import sqlite3
else:  # some builds of Python have none
    sqlite3 = LazyModule("sqlite3")

MOST_OBJECTS: Final = 10_000_000
"""Objects and events of a log, which are kept in memory to relate them."""


class OcelEvent(NamedTuple):
    """An event and the ids of its objects."""

    activity: str
    time: str
    objects: tuple[str, ...]
    attributes: Mapping[str, Scalar]
    line: int = 0


@dataclass(eq=False)
class OcelLog:
    """The events of a log, the type of each object, and the first values of its attributes."""

    events: list[OcelEvent]
    types: dict[str, str]
    attributes: dict[str, dict[str, Scalar]]


def flatten_log(log: OcelLog, object_type: str | None) -> Iterator[LogItem]:
    """The events of each object of a type.

    Args:
        log: the log.
        object_type: the type; the only one of the log by default.

    Raises:
        UnreadableLog: there is no such type, or several to choose from.
    """
    counts = Counter(log.types.values())
    listed = ", ".join(f"`{name}` ({number:,} objects)" for name, number in counts.most_common())
    if object_type is None and len(counts) != 1:
        raise UnreadableLog(
            f"the log has objects of several types: {listed}" if counts else "it has no objects",
            advice="name the type that is the case: --object-type TYPE" if counts else "",
        )
    chosen = next(iter(counts)) if object_type is None else object_type
    if chosen not in counts:
        raise UnreadableLog(f"no objects of type `{chosen}`; the types are {listed}")
    for name, values in log.attributes.items():
        if log.types.get(name) == chosen and values:
            yield CaseAttributes(name, values)
    unrelated: set[str] = set()
    for event in log.events:
        try:
            time = read_time(event.time) if event.time else NO_TIME
        except UnreadableTime:
            yield LogFault(event.line, f"`{event.time[:60]}` is no time", True)
            time = NO_TIME
        if not event.activity:
            yield LogFault(event.line, "the event has no type; it is left out")
            continue
        for name in dict.fromkeys(event.objects):
            if name not in log.types and name not in unrelated:
                unrelated.add(name)
                yield LogFault(event.line, f"the log has no object `{name[:60]}`")
            if log.types.get(name) == chosen:
                yield LogEvent(
                    name, event.activity, time, NO_TIME, COMPLETE,
                    str(event.attributes.get("resource", "")), event.attributes, event.line,
                )  # fmt: skip


# -- JSON --------------------------------------------------------------------------------------


def is_ocel_json(data: object) -> bool:
    """Whether a value is a log of version 2.0 or 1.0."""
    return isinstance(data, dict) and (
        (isinstance(data.get("events"), list) and isinstance(data.get("objects"), list))
        or "ocel:events" in data
    )


def read_ocel_json(data: Mapping[str, Any]) -> OcelLog:
    """A log as JSON. Raises `UnreadableLog`."""
    try:
        return _read_json_1(data) if "ocel:events" in data else _read_json_2(data)
    except (AttributeError, KeyError, TypeError) as error:
        raise UnreadableLog(f"the OCEL file is not as the standard says: {error!r}") from None


def _read_json_2(data: Mapping[str, Any]) -> OcelLog:
    log = OcelLog([], {}, {})
    for entry in data["objects"]:
        log.types[entry["id"]] = entry["type"]
        values: dict[str, Scalar] = {}
        for attribute in entry.get("attributes") or ():
            _keep_scalar(values, attribute["name"], attribute.get("value"))
        log.attributes[entry["id"]] = values
    for entry in data["events"]:
        values = {}
        for attribute in entry.get("attributes") or ():
            _keep_scalar(values, attribute["name"], attribute.get("value"))
        objects = tuple(r["objectId"] for r in entry.get("relationships") or ())
        log.events.append(OcelEvent(entry["type"], str(entry.get("time", "")), objects, values))
    return log


def _read_json_1(data: Mapping[str, Any]) -> OcelLog:
    log = OcelLog([], {}, {})
    for name, entry in (data.get("ocel:objects") or {}).items():
        log.types[name] = entry["ocel:type"]
        log.attributes[name] = _keep_scalars(entry.get("ocel:ovmap") or {})
    for entry in data["ocel:events"].values():
        log.events.append(
            OcelEvent(
                entry["ocel:activity"], str(entry["ocel:timestamp"]),
                tuple(entry.get("ocel:omap") or ()), _keep_scalars(entry.get("ocel:vmap") or {}),
            )
        )  # fmt: skip
    return log


def _keep_scalars(values: Mapping[str, Any]) -> dict[str, Scalar]:
    kept: dict[str, Scalar] = {}
    for name, value in values.items():
        _keep_scalar(kept, name, value)
    return kept


def _keep_scalar(values: dict[str, Scalar], name: str, value: Any) -> None:
    """Keep the first value of an attribute: later ones are changes."""
    if name not in values and isinstance(value, str | bool | int | float):
        if isinstance(value, str) and re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", value):
            value = float(value)
        values[name] = value if isinstance(value, str | bool) else float(value)


# -- XML ---------------------------------------------------------------------------------------


def read_ocel_xml(path: str) -> OcelLog:
    """A log as XML. Raises `UnreadableLog`, `OSError`."""
    log = OcelLog([], {}, {})
    scopes: list[str] = []
    # the open object or event: its kind, tag, values and related objects
    holder, opened = "", XmlOpened("", {}, 0)
    values: dict[str, Scalar] = {}
    related: list[str] = []
    attribute = ""
    with open_log(path) as file:
        for tag in iterate_xml(file):
            if isinstance(tag, XmlOpened):
                inside = "/".join(scopes)
                scopes.append(tag.name)
                if inside in ("log/objects", "log/events") and tag.name in ("object", "event"):
                    holder, opened, values, related = tag.name, tag, {}, []
                elif tag.name == "attribute":
                    attribute = tag.attributes.get("name", "")
                elif holder == "event" and "object-id" in tag.attributes:
                    related.append(tag.attributes["object-id"])
                if len(log.types) + len(log.events) > MOST_OBJECTS:
                    raise UnreadableLog(f"the log has more than {MOST_OBJECTS:,} objects", tag.line)
                continue
            scopes.pop()
            if tag.name == "attribute" and holder and attribute:
                _keep_scalar(values, attribute, tag.text)
            elif tag.name == holder and len(scopes) == 2:
                stated = opened.attributes
                if holder == "object":
                    log.types[stated.get("id", "")] = stated.get("type", "")
                    log.attributes[stated.get("id", "")] = values
                else:
                    log.events.append(
                        OcelEvent(
                            stated.get("type", ""), stated.get("time", ""), tuple(related), values,
                            opened.line,
                        )
                    )  # fmt: skip
                holder = ""
    return log


# -- SQLite ------------------------------------------------------------------------------------

SQLITE: Final = b"SQLite format 3\0"
_MAPS: Final = ("event_map_type", "object_map_type", "event_object", "event", "object")


def read_ocel_sqlite(path: str) -> OcelLog:
    """A log as a database, opened read-only. Raises `UnreadableLog`."""
    address = f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            return _read_tables(database)
    except sqlite3.Error as error:
        raise UnreadableLog(f"the database cannot be read: {error}") from None


def _read_tables(database: sqlite3.Connection) -> OcelLog:
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    missing = [name for name in _MAPS if name not in tables]
    if missing:
        raise UnreadableLog(
            f"the database is no OCEL 2.0 log: it has no table `{missing[0]}`; it has "
            + (", ".join(f"`{name}`" for name in sorted(tables)[:20]) or "none")
        )
    log = OcelLog([], {}, {})
    log.types.update(database.execute("SELECT ocel_id, ocel_type FROM object"))
    objects: dict[str, list[str]] = {}
    for event, name in database.execute("SELECT ocel_event_id, ocel_object_id FROM event_object"):
        objects.setdefault(event, []).append(name)
    for _, table in database.execute("SELECT ocel_type, ocel_type_map FROM object_map_type"):
        for row in _iterate_rows(database, f"object_{table}", tables):
            own = log.attributes.setdefault(row.pop("ocel_id"), {})
            for name, value in row.items():
                if not name.startswith("ocel_"):
                    _keep_scalar(own, name, value)
    kinds = database.execute("SELECT ocel_type, ocel_type_map FROM event_map_type").fetchall()
    for kind, table in kinds:
        for row in _iterate_rows(database, f"event_{table}", tables):
            name, time = row.pop("ocel_id"), row.pop("ocel_time", "")
            related = tuple(objects.get(name, ()))
            log.events.append(OcelEvent(kind, str(time or ""), related, _keep_scalars(row)))
    log.events.sort(key=lambda event: event.time)  # one table for each type
    return log


def _iterate_rows(
    database: sqlite3.Connection, table: str, tables: Iterable[str]
) -> Iterator[dict[str, Any]]:
    """The rows of a table by column; none if there is no such table."""
    if table not in tables:
        return
    quoted = table.replace('"', '""')
    cursor = database.execute(f'SELECT * FROM "{quoted}"')
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))
