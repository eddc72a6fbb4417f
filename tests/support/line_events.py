"""A plugin for tests: its frontend reads events, a JSON object a line, from a stream, and its
other one a folder of such files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import (
    Event,
    Flow,
    Model,
    Process,
    SourceFolder,
    SourceKind,
    SourceLocation,
    SourceStream,
    Task,
)
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Frontend, hookimpl

CHUNK = 1024 * 1024
MOST_LINE = 64 * 1024
HOLE = bytes(CHUNK)


class NotAnEvent(Rule):
    """
    What it finds
        A line that is no event.

    Why it is wrong
        It does not say which activity was done.

    Example
        `{"case": 1}`

    Instead
        `{"case": 1, "activity": "Ship order"}`
    """

    code = "LINES101"
    name = "not-an-event"
    severity = Severity.ERROR
    category = Category.INPUT


class LineEvents(Frontend):
    """The activities of a log in the order in which they come first, as a sequence of tasks."""

    name = "lines"
    suffixes = (".lines", ".json")
    accepts = frozenset({SourceKind.STREAM})
    rules = (NotAnEvent,)

    def sniff(self, source: SourceStream) -> bool:
        """Whether the first line is an event."""
        return _activity(source.readline(MOST_LINE)) is not None

    def parse(self, source: SourceStream, ctx: PassContext) -> Model | None:
        activities: dict[str, None] = {}
        offset, number = 0, 1  # of the first byte of `block`
        for block in _blocks(source):
            if block == HOLE:
                offset += len(block)
                continue
            for line in dict.fromkeys(block.split(b"\n")):
                if not line.strip(b"\0\r"):
                    continue
                activity = _activity(line)
                if activity is None:
                    at = block.find(line)
                    loc = SourceLocation(
                        file=source.path,
                        line=number + block.count(b"\n", 0, at),
                        span=(offset + at, offset + at + len(line)),
                    )
                    ctx.emit(NotAnEvent, "this line is no event", loc=loc)
                    return None
                activities[activity] = None
            offset += len(block)
            number += block.count(b"\n")
        if not activities:
            loc = SourceLocation(file=source.path)
            ctx.emit(NotAnEvent, "there is no event in it", loc=loc)
            return None
        return _sequence(source.stem, source.path, list(activities))


class EventFolder(Frontend):
    """A folder whose files, each a line of one event, are a log; it has a file `log.txt`."""

    name = "event-folder"
    suffixes = ()
    accepts = frozenset({SourceKind.FOLDER})
    rules = (NotAnEvent,)

    def sniff(self, source: SourceFolder) -> bool:
        """Whether it has the file that marks it."""
        return "log.txt" in source.names()

    def parse(self, source: SourceFolder, ctx: PassContext) -> Model | None:
        files = [Path(source.path, n) for n in source.names() if n.endswith(".event")]
        found = [_activity(path.read_bytes()) for path in files]
        if not found or None in found:
            loc = SourceLocation(file=source.path)
            ctx.emit(NotAnEvent, "there is no event in it", loc=loc)
            return None
        return _sequence("log", source.path, [name for name in found if name is not None])


def _blocks(source: SourceStream) -> Iterator[bytes]:
    """Whole lines, about a megabyte at once; holes of a sparse file are skipped."""
    rest = b""
    while chunk := source.read(CHUNK):
        if chunk == HOLE and not rest:
            yield chunk
            continue
        block = rest + chunk
        end = block.rfind(b"\n") + 1
        rest = block[end:]
        if not rest.strip(b"\0"):
            yield block
            rest = b""
        else:
            yield block[:end]
        if len(rest) > CHUNK:  # a line without end: it is refused as it is
            break
    yield rest


def _activity(line: bytes) -> str | None:
    if len(line) > MOST_LINE:
        return None
    try:
        event = json.loads(line.strip(b"\0"))
    except (ValueError, RecursionError):
        return None
    activity = event.get("activity") if isinstance(event, dict) else None
    named = isinstance(activity, str) and activity.strip() and activity.isprintable()
    return activity if named else None


def _sequence(id_: str, path: str, activities: list[str]) -> Model:
    loc = SourceLocation(file=path)
    tasks = [Task(id=f"t{n}", name=name, loc=loc) for n, name in enumerate(activities)]
    start = Event(id="start", name="First event", position="start", loc=loc)
    end = Event(id="end", name="Last event", position="end", loc=loc)
    nodes = (start, *tasks, end)
    flows = tuple(
        Flow(id=f"f{n}", source=a.id, target=b.id, loc=loc)
        for n, (a, b) in enumerate(pairwise(nodes))
    )
    process = Process(id="P", name=id_, nodes=nodes, flows=flows, executable=True)
    return Model(id="m", source=path, processes=(process,))


@hookimpl
def orgflow_frontends() -> tuple[Frontend, ...]:
    return LineEvents(), EventFolder()
