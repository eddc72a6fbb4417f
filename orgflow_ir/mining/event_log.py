"""Events of logs, read one at a time, and a log of millions of them in columns."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from orgflow_ir.model.records import NamedTuple, dataclass

Scalar = str | float | bool
"""The value of an attribute. Whole numbers are floats: logs mix both in one attribute."""

NO_TIME: Final = math.nan
"""The time of an event that states none."""

COMPLETE: Final = "complete"
START: Final = "start"
ENDINGS: Final = frozenset((COMPLETE, "manualskip", "autoskip", ""))
"""Life cycle transitions after which the work is done (IEEE 1849-2016, life cycle extension)."""


class LogEvent(NamedTuple):
    """An event as a log states it.

    Attributes:
        case: the case.
        activity: the work.
        time: seconds since 1970-01-01 UTC, or `NO_TIME`.
        start: when the work began, or `NO_TIME`.
        lifecycle: the transition in lower case: `start`, `complete`, …
        resource: who did it, or nothing.
        attributes: other values of the event.
        line: its line in the file, from 1; 0 where the format has no lines.
    """

    case: str
    activity: str
    time: float = NO_TIME
    start: float = NO_TIME
    lifecycle: str = COMPLETE
    resource: str = ""
    attributes: Mapping[str, Scalar] = {}
    line: int = 0


class CaseAttributes(NamedTuple):
    """Values of a case as a whole."""

    case: str
    attributes: Mapping[str, Scalar]
    line: int = 0


class LogFault(NamedTuple):
    """An event that cannot be read, or only in part.

    Attributes:
        line: its line, or 0.
        text: the fault, as a sentence.
        is_clock: whether only its time is wrong.
    """

    line: int
    text: str
    is_clock: bool = False


LogItem = LogEvent | CaseAttributes | LogFault
"""The items that a reader yields, in the order of the file."""


class UnreadableLog(ValueError):
    """A file that is no event log, or beyond a limit.

    Attributes:
        line: the line of the fault, or 0.
        advice: what to do instead, or nothing.
    """

    def __init__(self, text: str, line: int = 0, advice: str = "") -> None:
        super().__init__(text)
        self.line, self.advice = line, advice


@dataclass(eq=False)
class EventLog:
    """A log in columns: about 50 bytes an event, plus 8 for each attribute.

    The columns `case_of` to `line_of` have an entry for each event in the order of the file;
    numbers in them are places in `cases`, `activities`, `transitions` and `resources`.

    Attributes:
        file: the name of the file.
        attributes: for each attribute, the value of each event that has one, by event.
        case_attributes: for each attribute, the value of each case that has one, by case.
        faults: what could not be read.
        is_ordered: whether the order of the events of a case in the file has a meaning.
    """

    file: str
    cases: list[str]
    activities: list[str]
    transitions: list[str]
    resources: list[str]
    case_of: array[int]
    activity_of: array[int]
    transition_of: array[int]
    resource_of: array[int]
    time_of: array[float]
    start_of: array[float]
    line_of: array[int]
    attributes: dict[str, dict[int, Scalar]]
    case_attributes: dict[str, dict[int, Scalar]]
    faults: list[LogFault]
    is_ordered: bool = False

    def __len__(self) -> int:
        return len(self.case_of)

    def group_events(self) -> list[array[int]]:
        """The events of each case, by case, in the order of the file."""
        groups = [array("i") for _ in self.cases]
        for event, case in enumerate(self.case_of):
            groups[case].append(event)
        return groups


class _Names(dict[str, int]):
    """Places of names in a list that grows."""

    def __init__(self) -> None:
        self.listed: list[str] = []

    def __missing__(self, name: str) -> int:
        place = self[name] = len(self.listed)
        self.listed.append(name)
        return place


def collect_log(file: str, items: Iterable[LogItem]) -> EventLog:
    """The log of what a reader yields. Raises what the reader raises."""
    cases, activities, transitions, resources = _Names(), _Names(), _Names(), _Names()
    known: dict[Scalar, Scalar] = {}  # each text is stored once
    log = EventLog(
        file, cases.listed, activities.listed, transitions.listed, resources.listed,
        array("i"), array("i"), array("i"), array("i"), array("d"), array("d"), array("q"),
        {}, {}, [],
    )  # fmt: skip
    for item in items:
        if type(item) is LogEvent:
            event = len(log.case_of)
            log.case_of.append(cases[item.case])
            log.activity_of.append(activities[item.activity])
            log.transition_of.append(transitions[item.lifecycle])
            log.resource_of.append(resources[item.resource])
            log.time_of.append(item.time)
            log.start_of.append(item.start)
            log.line_of.append(item.line)
            for name, value in item.attributes.items():
                column = log.attributes.get(name)
                if column is None:
                    column = log.attributes[name] = {}
                column[event] = known.setdefault(value, value) if type(value) is str else value
        elif type(item) is LogFault:
            log.faults.append(item)
        else:
            assert isinstance(item, CaseAttributes)
            case = cases[item.case]
            for name, value in item.attributes.items():
                log.case_attributes.setdefault(name, {})[case] = value
    return log


def iterate_scalars(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, Scalar]]:
    """The attributes of a JSON object; values inside of objects are named `a.b`. Lists are left
    out, but for their length as `a.length`."""
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, bool | str):
            yield name, value
        elif isinstance(value, int | float):
            yield name, float(value)
        elif isinstance(value, Mapping):
            yield from iterate_scalars(value, f"{name}.")
        elif isinstance(value, list):
            yield f"{name}.length", float(len(value))
