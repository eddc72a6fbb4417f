"""The sequence of activities of each case of a log, without faults of the log."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from orgflow_ir.mining.event_log import START, EventLog
from orgflow_ir.model.records import NamedTuple, dataclass

IGNORED: Final = frozenset(
    ("schedule", "assign", "reassign", "suspend", "resume", "withdraw", "pi_abort", "ate_abort")
)
"""Transitions of the standard life cycle at which an activity neither starts nor is done. A word
that is not in the standard is a separate state, and its event is kept."""

ORDERED_SHARE: Final = 0.9
"""The share of neighbouring events in the order of time from which the others are clock faults."""

PLAUSIBLE: Final = (157_766_400.0, 4_102_444_800.0)
"""Times from 1975 to 2100. Others are defaults of a program, not times."""

RARE_SHARE: Final = 0.05
"""The share of an activity's events that are the last ones of their cases, below which such a case
is taken to be cut off."""


class CaseFault(NamedTuple):
    """A fault of the events of a case.

    Attributes:
        kind: `clock`, `duplicate` or `half`.
        line: the line of the event, or 0.
        case: the case.
        text: the fault.
    """

    kind: str
    line: int
    case: str
    text: str


@dataclass(eq=False)
class CleanLog:
    """The cases of a log.

    Attributes:
        log: the log.
        cases: the events of each case in their order, each once.
        start_of: when the work of each event began, or `NO_TIME`.
        variants: the cases of each sequence of activities, most frequent first.
        half: the cases that were cut off.
        faults: what is wrong in the log.
    """

    log: EventLog
    cases: list[array[int]]
    start_of: array[float]
    variants: dict[tuple[int, ...], list[int]]
    half: set[int]
    faults: list[CaseFault]

    def count_cases(self) -> int:
        """The number of cases with events."""
        return sum(map(len, self.variants.values()))


def clean_log(log: EventLog) -> CleanLog:
    """The cases of a log, in which an activity is one event, at the time when it was done.

    Events of a case are in the order of their times, and those of one time or without one in that
    of the file; where a format states the order, that order counts if most times agree with it.
    """
    faults: list[CaseFault] = []
    groups = log.group_events()
    _drop_implausible_times(log, faults)
    ordered = _order_events(log, groups, faults)
    _drop_duplicates(log, ordered, faults)
    start_of = array("d", log.start_of)
    opened = _fold_life_cycles(log, ordered, start_of)
    variants: dict[tuple[int, ...], list[int]] = {}
    activity_of = log.activity_of
    for case, events in enumerate(ordered):
        if events:
            variants.setdefault(tuple([activity_of[e] for e in events]), []).append(case)
    by_number = sorted(variants.items(), key=lambda entry: -len(entry[1]))  # stable
    clean = CleanLog(log, ordered, start_of, dict(by_number), set(), faults)
    _find_half_cases(clean, opened)
    return clean


def _drop_implausible_times(log: EventLog, faults: list[CaseFault]) -> None:
    """Make times that no log has unknown."""
    earliest, latest = PLAUSIBLE
    for event, time in enumerate(log.time_of):
        if time == time and not earliest <= time <= latest:  # NaN is no fault
            log.time_of[event] = float("nan")
            text = "the time is before 1975 or after 2100; the event keeps its place"
            faults.append(_report_event(log, event, "clock", text))


def _report_event(log: EventLog, event: int, kind: str, text: str) -> CaseFault:
    return CaseFault(kind, log.line_of[event], log.cases[log.case_of[event]], text)


def _order_events(
    log: EventLog, groups: Sequence[array[int]], faults: list[CaseFault]
) -> list[array[int]]:
    """The events of each case in order."""
    time_of = log.time_of
    # 1. the neighbours that are not in the order of time
    pairs = 0
    late: list[int] = []
    for events in groups:
        last = float("-inf")
        for event in events:
            time = time_of[event]
            if time == time:
                pairs += 1
                if time < last:
                    late.append(event)
                last = time
    in_order = not pairs or 1 - len(late) / pairs >= ORDERED_SHARE
    # 2. few: faults
    if in_order:
        for event in late:
            name = log.activities[log.activity_of[event]]
            text = f"`{name}` has an earlier time than the event before it"
            faults.append(_report_event(log, event, "clock", text))
    if not late or (log.is_ordered and in_order):
        return list(groups)
    # 3. in the order of time; an event without one follows the event before it
    unordered = {log.case_of[event] for event in late}
    ordered = []
    for case, events in enumerate(groups):
        if case in unordered:
            keys: dict[int, float] = {}
            last = float("-inf")
            for event in events:
                last = time_of[event] if time_of[event] == time_of[event] else last
                keys[event] = last
            events = array("i", sorted(events, key=keys.__getitem__))
        ordered.append(events)
    return ordered


def _drop_duplicates(log: EventLog, ordered: list[array[int]], faults: list[CaseFault]) -> None:
    """Leave out events that agree in all values with another one of their case."""
    time_of, activity_of = log.time_of, log.activity_of
    for case, events in enumerate(ordered):
        seen: dict[tuple[int, float], int] = {}
        doubled: set[int] = set()
        for event in events:
            time = time_of[event]
            if time != time:
                continue
            key = (activity_of[event], time)
            first = seen.setdefault(key, event)
            if first != event and _have_same_values(log, first, event):
                doubled.add(event)
                name = log.activities[activity_of[event]]
                text = f"`{name}` is listed twice with the same values; it counts once"
                faults.append(_report_event(log, event, "duplicate", text))
        if doubled:
            ordered[case] = array("i", [event for event in events if event not in doubled])


def _have_same_values(log: EventLog, first: int, second: int) -> bool:
    return (
        log.transition_of[first] == log.transition_of[second]
        and log.resource_of[first] == log.resource_of[second]
        and all(column.get(first) == column.get(second) for column in log.attributes.values())
    )


def _fold_life_cycles(
    log: EventLog, ordered: list[array[int]], start_of: array[float]
) -> dict[int, int]:
    """Make each activity one event, at its completion; the start becomes its start time.

    Returns:
        For each case with an activity that started and was not completed, the event of the start,
        which stays in the case.
    """
    names = log.transitions
    if not any(name == START or name in IGNORED for name in names):
        return {}
    if all(name == START for name in names):
        return {}  # the program logs starts only
    opened: dict[int, int] = {}
    for case, events in enumerate(ordered):
        kept: list[int] = []
        running: dict[int, list[int]] = {}
        for event in events:
            name, activity = names[log.transition_of[event]], log.activity_of[event]
            if name == START:
                running.setdefault(activity, []).append(event)
            elif name not in IGNORED:
                if running.get(activity):
                    begin = running[activity].pop(0)
                    start_of[event] = log.time_of[begin]
                kept.append(event)
        rest = [event for begun in running.values() for event in begun]
        if rest:
            opened[case] = rest[-1]
            places = {event: n for n, event in enumerate(events)}
            kept = sorted((*kept, *rest), key=places.__getitem__)
        ordered[case] = array("i", kept)
    return opened


def _find_half_cases(clean: CleanLog, opened: Mapping[int, int]) -> None:
    """Find cases that end or begin with an activity with which nearly no other case does."""
    log = clean.log
    total: Counter[int] = Counter()
    first: Counter[int] = Counter()
    last: Counter[int] = Counter()
    for variant, cases in clean.variants.items():
        for activity in set(variant):
            total[activity] += len(cases)
        first[variant[0]] += len(cases)
        last[variant[-1]] += len(cases)
    for case, event in opened.items():
        name = log.activities[log.activity_of[event]]
        clean.half.add(case)
        clean.faults.append(
            _report_event(log, event, "half", f"`{name}` was started and not completed")
        )
    for variant, cases in clean.variants.items():
        if last[variant[-1]] < RARE_SHARE * total[variant[-1]]:
            place, text = -1, "the case ends with `{}`, after which nearly all cases continue"
        elif first[variant[0]] < RARE_SHARE * total[variant[0]]:
            place, text = 0, "the case begins with `{}`, before which nearly all cases have others"
        else:
            continue
        for case in cases:
            if case not in clean.half:
                clean.half.add(case)
                event = clean.cases[case][place]
                name = log.activities[log.activity_of[event]]
                clean.faults.append(_report_event(log, event, "half", text.format(name)))


def iterate_named(clean: CleanLog) -> Iterator[tuple[tuple[str, ...], Sequence[int]]]:
    """The sequence of names of each variant, with its cases."""
    for variant, cases in clean.variants.items():
        yield tuple(clean.log.activities[activity] for activity in variant), cases
