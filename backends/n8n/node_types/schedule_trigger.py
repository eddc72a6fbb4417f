"""Schedule Trigger: starts by the clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, assert_never

from orgflow.backends.n8n.format.json_values import inside, number
from orgflow.backends.n8n.node_types.behaviour import trigger_behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, Parameters, no_port

from orgflow_ir.model import EventDefinition
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.timer_values import (
    Computed,
    Cron,
    Cycle,
    Duration,
    Moment,
    Time,
    Unread,
    last_day,
)
from orgflow_ir.targets.spec import Reason

_SCHEDULE_UNITS = ((3600, "hours", 24), (60, "minutes", 60), (1, "seconds", 60))
_KEPT = (
    "repeat every 1, 2, 3, 4, 6, 8 or 12 hours, after minutes or seconds that divide 60, or after "
    "1 to 31 days"
)
_MOST_DAYS = 31
"""Maximum number of days between two runs in n8n."""
_FIELDS = ("seconds", "minutes", "hours", "days", "weeks", "months")


def for_timer(definition: EventDefinition | None) -> dict[str, Any] | None:
    """Parameters for a timer start that repeats without end, otherwise `None`.

    A count, a first moment or a delay (`R3/…`, `R/2030-01-01…/…`) has no counterpart in n8n.
    """
    if definition is None:
        return None
    time = definition.time
    if isinstance(time, Cron):
        cron = cron_text(time)
        if cron is None or cron_fault(time):
            return None
        return {"rule": {"interval": [{"field": "cronExpression", "expression": cron}]}}
    if not isinstance(time, Cycle) or time != Cycle(time.interval) or not time.interval.is_plain:
        return None
    seconds = time.interval.exact_seconds
    if seconds is None:
        months = 12 * time.interval.years + time.interval.months
        alone = time.interval._replace(years=0, months=0).exact_seconds == 0
        return _interval_rule(months, "months") if alone else None
    if seconds and seconds % 86400 == 0:
        return _interval_rule(seconds // 86400, "days") if seconds // 86400 <= _MOST_DAYS else None
    for size, unit, whole in _SCHEDULE_UNITS:
        # n8n makes a cron step of it, which is even only where it divides the larger unit
        if seconds and seconds % size == 0 and whole % (seconds // size) == 0:
            return _interval_rule(seconds // size, unit)
    return None


def _interval_rule(amount: float, unit: str) -> dict[str, Any]:
    return {"rule": {"interval": [{"field": unit, f"{unit}Interval": int(amount)}]}}


def every_seconds(seconds: int) -> dict[str, Any]:
    """Parameters that start a run every so many seconds."""
    return {"rule": {"interval": [{"field": "seconds", "secondsInterval": seconds}]}}


def why_not(time: Time) -> str:
    """The reason why `for_timer` has no parameters for a time."""
    match time:
        case Computed():
            return "an expression computes it, but a trigger has no data to read"
        case Unread():
            return "it is not an ISO 8601 time"
        case Cron():
            return cron_fault(time) or "n8n's scheduler does not support this cron expression"
        case Moment(is_possible=False):
            return "this time does not exist"
        case Moment() | Duration():
            return "a Schedule Trigger repeats, but this time does not"
        case Cycle(interval=interval) if not any(interval.parts.values()):
            return "its interval is zero"
        case Cycle(interval=Duration(sign="-")):
            return "its interval is negative"
        case Cycle(repetitions=count) if count is not None and count >= 0:
            return "a Schedule Trigger repeats indefinitely"
        case Cycle(start=None, end=None, delay=None, interval=interval):
            seconds = interval.exact_seconds
            text = "n8n's scheduler cannot keep this interval exactly"
            if seconds is not None and seconds % 3600 == 0 and seconds < 86400:
                text = "not every version of n8n keeps this interval exactly"
            return Reason(text, help=_KEPT)
        case Cycle():
            return "a Schedule Trigger has no first or last time"
        case _:
            assert_never(time)


class Repeat(NamedTuple):
    """A rule for repeated starts.

    Attributes:
        raw: the object in the file; place: its path in the parameters.
        every: amount and unit, if it is an interval; the amount may be an expression.
        cron: a cron expression, literal or equivalent to the fields of the rule; neither for a rule
            without a cron form, such as every second day at noon.
        written: the place of a literal cron expression.
    """

    raw: Mapping[str, Any]
    place: tuple[str | int, ...]
    every: tuple[Any, str] | None = None
    cron: Any = None
    written: tuple[str | int, ...] | None = None


_CRON_MODES: Final[Mapping[object, str]] = {
    "everyMinute": "* * * * *", "everyHour": "{minute} * * * *",
    "everyDay": "{minute} {hour} * * *", "everyWeek": "{minute} {hour} * * {weekday}",
    "everyMonth": "{minute} {hour} {dayOfMonth} * *",
}  # fmt: skip


def repeat_rules(short: str, parameters: Parameters) -> Iterator[Repeat]:
    """The rules of a Schedule Trigger, or of its predecessors Cron and Interval."""
    if short == "interval":
        every = (parameters.get("interval", 1), str(parameters.get("unit", "seconds")))
        yield Repeat(parameters, (), every)
        return
    old = short == "cron"
    keys, read = (
        (("triggerTimes", "item"), _cron_repeat) if old else (("rule", "interval"), _rule_repeat)
    )
    listed = inside(parameters, *keys)
    for index, raw in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(raw, Mapping):
            yield read(raw, (*keys, index))


def _written_repeat(raw: Mapping[str, Any], place: tuple[str | int, ...], key: str) -> Repeat:
    written = (*place, key) if key in raw else None
    return Repeat(raw, place, cron=raw.get(key, ""), written=written)


def _cron_repeat(raw: Mapping[str, Any], place: tuple[str | int, ...]) -> Repeat:
    mode = raw.get("mode", "everyDay")
    if mode == "custom":
        return _written_repeat(raw, place, "cronExpression")
    if mode == "everyX":
        return Repeat(raw, place, (raw.get("value", 2), str(raw.get("unit", "hours"))))
    form = _CRON_MODES.get(mode) if isinstance(mode, str) else None
    if form is None:
        return Repeat(raw, place)
    parts = {"minute": 0, "hour": 14, "weekday": "1", "dayOfMonth": 1, **raw}
    return Repeat(raw, place, cron=form.format(**parts))


def _rule_repeat(raw: Mapping[str, Any], place: tuple[str | int, ...]) -> Repeat:
    """A day by default, at midnight; an interval of more than one day or week at a time of day has
    no cron form."""
    field = str(raw.get("field", "days"))
    if field == "cronExpression":
        if "expression" not in raw:
            return Repeat(raw, place, cron=raw.get("value", ""))
        return _written_repeat(raw, place, "expression")
    usual = {"minutes": 5, "seconds": 30}.get(field, 1)
    amount = number(raw.get(f"{field}Interval", usual))
    timed = any(key.startswith("triggerAt") for key in raw)
    if not timed and field in _FIELDS:
        return Repeat(raw, place, (raw.get(f"{field}Interval", usual), field))
    minute, hour = number(raw.get("triggerAtMinute", 0)), number(raw.get("triggerAtHour", 0))
    if minute is None or hour is None:
        return Repeat(raw, place)
    clock, days = f"{minute:g} {hour:g}", raw.get("triggerAtDay")
    cron = None
    if field == "hours" and amount:
        cron = f"{minute:g} {'*' if amount == 1 else f'*/{amount:g}'} * * *"
    elif amount == 1 and field == "days":
        cron = f"{clock} * * *"
    elif amount == 1 and field == "weeks" and (days is None or isinstance(days, list)):
        cron = f"{clock} * * {','.join(map(str, days or [0]))}"
    elif amount == 1 and field == "months":
        cron = f"{clock} {raw.get('triggerAtDayOfMonth', 1)} * *"
    return Repeat(raw, place, cron=cron)


_DAYS = {d: i for i, d in enumerate(("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"))}
_MONTHS = {
    m: i
    for i, m in enumerate(
        ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"), 1
    )
}
_NONE: dict[str, int] = {}
_CRON = (
    (0, 59, _NONE), (0, 59, _NONE), (0, 23, _NONE), (1, 31, _NONE), (1, 12, _MONTHS), (0, 7, _DAYS),
)  # fmt: skip


def cron_text(cron: Cron) -> str | None:
    """A cron expression in n8n's dialect (five or six fields), or `None`.

    In Quartz's dialect, days of the week count from Sunday = 1 and a year may follow; `L`, `W` and
    `#` exist only there, and n8n's scheduler refuses them at the start.
    """
    fields, quartz = cron.fields, cron.quartz
    if quartz and len(fields) == 7 and fields[6] == "*":
        fields = fields[:6]
    if len(fields) not in ((6,) if quartz else (5, 6)):
        return None
    checks = _CRON[6 - len(fields) :]
    result = []
    for position, (field, (low, high, names)) in enumerate(zip(fields, checks, strict=True)):
        day_of_week = position == len(fields) - 1
        shift = 1 if quartz and day_of_week else 0
        field_text = "*" if field == "?" else _cron_field(field, low + shift, high, names, shift)
        if field_text is None:
            return None
        result.append(field_text)
    return " ".join(result)


_CRON_NAMES = (
    "a second", "a minute", "an hour", "a day of the month", "a month", "a day of the week"
)  # fmt: skip


def cron_fault(cron: Cron) -> str:
    """Why no scheduler ever fires for a cron expression: a number that its field does not have, or
    a day that its months do not have; empty if there is no such reason."""
    fields = cron.fields[:6]
    checks = _CRON[6 - len(fields) :]
    for field, (low, high, _), name in zip(
        fields, checks, _CRON_NAMES[6 - len(fields) :], strict=True
    ):
        weekday = name == "a day of the week"
        least, most = (1, 7) if cron.quartz and weekday else (low, high)
        for part in field.split(","):
            span, _, step = part.partition("/")
            wrong = [e for e in span.split("-") if e.isdecimal() and not least <= int(e) <= most]
            if wrong:
                return f"`{wrong[0]}` is not {name}"
            if step.isdecimal() and not int(step):
                return "a step of it is zero"
    if cron_text(cron) is None:
        return ""
    _, _, _, days, months, weekdays, _ = cron_sets(cron)
    if len(weekdays) == 7 and min(days) > max(last_day(2024, month) for month in months):
        return "its months do not have this day"
    return ""


def cron_sets(cron: Cron) -> tuple[list[int], ...]:
    """The values of each field of a cron expression that `cron_text` can write: seconds, minutes,
    hours, days, months, weekdays from Sunday = 0; then whether one of days and weekdays suffices,
    as 0 or 1 (Unix's rule if both are limited)."""
    text = cron_text(cron)
    assert text is not None
    fields = text.split()
    fields = ["0", *fields] if len(fields) == 5 else fields
    sets = []
    for position, (field, (low, high, _)) in enumerate(zip(fields, _CRON, strict=True)):
        values: set[int] = set()
        for part in field.split(","):
            span, _, step = part.partition("/")
            ends = [low, high] if span == "*" else [int(end) for end in span.split("-")]
            values.update(range(ends[0], ends[-1] + 1, int(step or 1)))
        sets.append(sorted({v % 7 for v in values} if position == 5 else values))
    return (*sets, [int(fields[3] != "*" and fields[5] != "*")])


def _cron_field(field: str, low: int, high: int, names: dict[str, int], shift: int) -> str | None:
    parts = []
    for part in field.split(","):
        span, slash, step = part.partition("/")
        if slash and not (step.isdecimal() and 1 <= int(step) <= high):
            return None
        ends = [] if span == "*" else span.split("-")
        values = []
        for end in ends:
            if end in names:
                values.append(names[end])
            elif end.isdecimal() and low <= int(end) <= high:
                values.append(int(end) - shift)
            else:
                return None
        if len(values) > 2 or values != sorted(values):
            return None
        base = "-".join(map(str, values)) or "*"
        if slash and len(values) == 1:
            base += f"-{high - shift}"  # Quartz and n8n differ on `5/10`; a range says it
        parts.append(base + (f"/{step}" if slash else ""))
    return ",".join(parts)


NODE = NodeType(
    name="scheduleTrigger",
    label="Schedule Trigger",
    emitted=True,
    versions=((1.2, 1.3), (1.2, 1.3, 1.4)),
    start="schedule",
    inputs=no_port,
    behaviour=trigger_behaviour,
    task=None,
)
