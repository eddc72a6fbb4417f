"""XES, the standard of event logs (IEEE 1849-2016 and 1849-2023), read trace by trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orgflow.frontends.traces.log_times import UnreadableTime, read_time
from orgflow.frontends.traces.opened_file import open_log
from orgflow.frontends.traces.xml_events import XmlOpened, iterate_xml

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

_ACTIVITY: Final = "concept:name"
_TIME: Final = "time:timestamp"
_TRANSITION: Final = "lifecycle:transition"
_RESOURCE: Final = "org:resource"
_VALUES: Final = frozenset(("string", "date", "int", "float", "boolean", "id"))


class _Attributes:
    """The attributes directly in a trace or an event, and where they begin."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.values: dict[str, Scalar] = {}
        self.faults: list[str] = []

    def add_value(self, kind: str, attributes: dict[str, str], line: int) -> None:
        """Add an attribute of a kind of `_VALUES`; one without a key or a value is none."""
        key, text = attributes.get("key"), attributes.get("value")
        if key is None or text is None:
            return
        if key == _ACTIVITY:
            self.line = line
        try:
            self.values[key] = _read_value(kind, key, text)
        except ValueError:
            self.faults.append(f"`{text[:60]}` is no {kind}")

    def pop_text(self, key: str) -> str:
        """Take a value out, as text."""
        value = self.values.pop(key, "")
        return value.strip() if isinstance(value, str) else f"{value:g}"


def _read_value(kind: str, key: str, text: str) -> Scalar:
    """Raises `ValueError`."""
    if kind == "date":
        seconds = read_time(text)
        return seconds if key == _TIME else text
    if kind in ("int", "float"):
        return float(text)
    if kind == "boolean":
        return {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()]
    return text


def read_xes(path: str) -> Iterator[LogItem]:
    """The events of a log, plain or as gzip, in its order.

    A trace without a name is a case by its number. Attributes inside of attributes, and globals and
    classifiers, are left out: the activity is `concept:name`.

    Raises:
        UnreadableLog: the file is no XES, is damaged, or beyond a limit.
        OSError: it cannot be opened.
    """
    names: set[str] = set()
    scopes: list[str] = []
    trace: _Attributes | None = None
    event: _Attributes | None = None
    events: list[_Attributes] = []
    number = 0
    with open_log(path) as file:
        for tag in iterate_xml(file):
            if isinstance(tag, XmlOpened):
                # 1. the root shows whether it is XES
                if not scopes and tag.name != "log":
                    raise UnreadableLog(
                        f"the root element is `{tag.name}`, not `log`: this is no XES", tag.line
                    )
                inside = scopes[-1] if scopes else ""
                scopes.append(tag.name)
                # 2. the place decides what an element is: globals have attributes too
                if tag.name == "trace" and inside == "log":
                    trace, events = _Attributes(tag.line), []
                elif tag.name == "event" and inside in ("trace", "log"):
                    event = _Attributes(tag.line)
                elif tag.name in _VALUES and inside == "event" and event is not None:
                    event.add_value(tag.name, tag.attributes, tag.line)
                elif tag.name in _VALUES and inside == "trace" and trace is not None:
                    trace.add_value(tag.name, tag.attributes, tag.line)
                continue
            scopes.pop()
            if tag.name == "event" and event is not None and scopes[-1] == "trace":
                events.append(event)
                event = None
            elif tag.name == "event" and event is not None and scopes[-1] == "log":
                yield LogFault(event.line, "the event is in no trace; it is left out")
                event = None
            elif tag.name == "trace" and trace is not None and scopes == ["log"]:
                number += 1
                yield from _read_trace(trace, events, number, names)
                trace = None


def _read_trace(
    trace: _Attributes, events: list[_Attributes], number: int, names: set[str]
) -> Iterator[LogItem]:
    case = trace.pop_text(_ACTIVITY) or f"trace {number}"
    if case in names:
        fault = f"two traces are named `{case[:60]}`; the second is a separate case"
        yield LogFault(trace.line, fault)
        case = f"{case} (trace {number})"
    names.add(case)
    for fault in trace.faults:
        yield LogFault(trace.line, fault)
    if trace.values:
        yield CaseAttributes(case, trace.values, trace.line)
    for event in events:
        activity = event.pop_text(_ACTIVITY)
        time = event.values.pop(_TIME, NO_TIME)
        for fault in event.faults:
            yield LogFault(event.line, f"{fault}; the event is kept without it", "date" in fault)
        if not activity:
            yield LogFault(event.line, "the event has no `concept:name`; it is left out")
            continue
        if not isinstance(time, float):  # a text, not a date
            try:
                time = read_time(str(time))
            except UnreadableTime:
                yield LogFault(event.line, f"`{str(time)[:60]}` is no time", True)
                time = NO_TIME
        transition = event.pop_text(_TRANSITION).lower() or COMPLETE
        resource = event.pop_text(_RESOURCE)
        yield LogEvent(
            case, activity, time, NO_TIME, transition, resource, event.values, event.line
        )
