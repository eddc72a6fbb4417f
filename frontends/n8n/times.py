"""Times of Wait and of schedules as BPMN timers: ISO 8601 where they can be, else n8n's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.frontends.n8n.conditions import LANGUAGE, operand
from orgflow.frontends.n8n.keeping import text

from orgflow_ir.model import EventDefinition, Expression

_UNITS = {
    "seconds": ("T", "S"), "minutes": ("T", "M"), "hours": ("T", "H"), "days": ("", "D"),
    "weeks": ("", "W"), "months": ("", "M"),
}  # fmt: skip
_CRON_MODES = {
    "everyMinute": "* * * * *", "everyHour": "{minute} * * * *",
    "everyDay": "{minute} {hour} * * *", "everyWeek": "{minute} {hour} * * {weekday}",
    "everyMonth": "{minute} {hour} {dayOfMonth} * *",
}  # fmt: skip


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def duration(amount: Any, unit: Any) -> Expression:
    """`PT5M` for 5 minutes; an expression as amount stays one, with its unit."""
    number = _number(amount)
    if number is None or number < 0 or not isinstance(unit, str) or unit not in _UNITS:
        return Expression(text=f"{operand(amount)} {unit}", language=LANGUAGE)
    before, after = _UNITS[unit]
    return Expression(text=f"P{before}{number:g}{after}" if number < 1e6 else f"PT{amount}S")


def wait_timer(parameters: Mapping[str, Any], version: float) -> EventDefinition:
    """The timer of a Wait that resumes after an interval or at a moment."""
    if parameters.get("resume") == "specificTime":
        moment = parameters.get("dateTime", "")
        if isinstance(moment, str) and not moment.startswith("="):
            return EventDefinition(kind="timer", timer="date", expression=Expression(text=moment))
        said = Expression(text=operand(moment), language=LANGUAGE)
        return EventDefinition(kind="timer", timer="date", expression=said)
    early = version < 1.1
    amount = parameters.get("amount", 1 if early else 5)
    unit = parameters.get("unit", "hours" if early else "seconds")
    return EventDefinition(kind="timer", timer="duration", expression=duration(amount, unit))


def limit_timer(parameters: Mapping[str, Any]) -> EventDefinition:
    """The limit of a Wait for a call or a form."""
    if parameters.get("limitType") == "atSpecifiedTime":
        moment = parameters.get("maxDateAndTime", "")
        said = Expression(text=operand(moment), language=LANGUAGE)
        return EventDefinition(kind="timer", timer="date", expression=said)
    amount, unit = parameters.get("resumeAmount", 1), parameters.get("resumeUnit", "hours")
    return EventDefinition(kind="timer", timer="duration", expression=duration(amount, unit))


def schedule(short: str, parameters: Mapping[str, Any]) -> tuple[EventDefinition, ...]:
    """The timers of a schedule, one for each of its rules; one without a time where it says none
    (n8n's defaults depend on the version)."""
    if short == "interval":
        found = [_every(parameters.get("interval", 1), str(parameters.get("unit", "seconds")))]
    elif short == "cron":
        times = parameters.get("triggerTimes")
        items = times.get("item") if isinstance(times, Mapping) else None
        found = [_cron(i) for i in _objects(items)]
    else:
        rule = parameters.get("rule")
        items = rule.get("interval") if isinstance(rule, Mapping) else None
        found = [_interval(i) for i in _objects(items)]
    timers = tuple(EventDefinition(kind="timer", timer="cycle", expression=e) for e in found)
    return timers or (EventDefinition(kind="timer", timer="cycle"),)


def _objects(items: Any) -> list[Mapping[str, Any]]:
    return [i for i in items if isinstance(i, Mapping)] if isinstance(items, list) else []


def _every(amount: Any, unit: str) -> Expression:
    length = duration(amount, unit)
    if length.language is None:
        return Expression(text=f"R/{length.text}")
    return Expression(text=f"every {length.text}", language=LANGUAGE)


def _cron(item: Mapping[str, Any]) -> Expression:
    """A rule of the Cron node, the schedule trigger of n8n's first years."""
    mode = str(item.get("mode", "everyDay"))
    if mode == "custom":
        return Expression(text=str(item.get("cronExpression", "")))
    if mode == "everyX":
        return _every(item.get("value", 2), str(item.get("unit", "hours")))
    if mode not in _CRON_MODES:
        return Expression(text=text(item), language=LANGUAGE)
    parts = {"minute": 0, "hour": 14, "weekday": "1", "dayOfMonth": 1, **item}
    return Expression(text=_CRON_MODES[mode].format(**parts))


def _interval(item: Mapping[str, Any]) -> Expression:
    """A rule of the Schedule Trigger. A day by default, at midnight; an interval of more than one
    day or week at a time of day has no cron form and stays n8n's."""
    field = str(item.get("field", "days"))
    if field == "cronExpression":
        said = item.get("expression", item.get("value", ""))
        if isinstance(said, str) and not said.startswith("="):
            return Expression(text=said)
        return Expression(text=operand(said), language=LANGUAGE)
    amount = _number(item.get(f"{field}Interval", 5 if field == "minutes" else 1))
    if field == "seconds" and "secondsInterval" not in item:
        amount = 30
    timed = any(k.startswith("triggerAt") for k in item)
    if not timed and field in _UNITS:
        return _every(item.get(f"{field}Interval", amount), field)
    minute, hour = _number(item.get("triggerAtMinute", 0)), _number(item.get("triggerAtHour", 0))
    if minute is None or hour is None:
        return Expression(text=text(item), language=LANGUAGE)
    clock = f"{minute:g} {hour:g}"
    days = item.get("triggerAtDay")
    if field == "hours" and amount:
        every = "*" if amount == 1 else f"*/{amount:g}"
        return Expression(text=f"{minute:g} {every} * * *")
    if amount == 1 and field == "days":
        return Expression(text=f"{clock} * * *")
    if amount == 1 and field == "weeks" and (days is None or isinstance(days, list)):
        return Expression(text=f"{clock} * * {','.join(map(str, days or [0]))}")
    if amount == 1 and field == "months":
        return Expression(text=f"{clock} {item.get('triggerAtDayOfMonth', 1)} * *")
    return Expression(text=text(item), language=LANGUAGE)
