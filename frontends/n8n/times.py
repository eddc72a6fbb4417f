"""Times of Wait and of schedules as BPMN timers: in ISO 8601 if possible, otherwise in n8n's
notation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n.format.json_values import number
from orgflow.backends.n8n.node_types import n8n_trigger, schedule_trigger, wait
from orgflow.frontends.n8n.branch_conditions import LANGUAGE, operand_text
from orgflow.frontends.n8n.keeping import compact_json

from orgflow_ir.model import EventDefinition, Expression

_UNITS = {
    "seconds": ("T", "S"), "minutes": ("T", "M"), "hours": ("T", "H"), "days": ("", "D"),
    "weeks": ("", "W"), "months": ("", "M"),
}  # fmt: skip


def duration_expression(amount: Any, unit: Any) -> Expression:
    """`PT5M` for 5 minutes; an expression as amount is kept, with its unit."""
    amount_given = number(amount)
    if amount_given is None or amount_given < 0 or not isinstance(unit, str) or unit not in _UNITS:
        return Expression(text=f"{operand_text(amount)} {unit}", language=LANGUAGE)
    before, after = _UNITS[unit]
    return Expression(
        text=f"P{before}{amount_given:g}{after}" if amount_given < 1e6 else f"PT{amount}S"
    )


def wait_timer(parameters: Mapping[str, Any], version: float) -> EventDefinition:
    """The timer of a Wait that resumes after an interval or at a moment."""
    if wait.resume_event(parameters) == "specificTime":
        moment = parameters.get("dateTime", "")
        if isinstance(moment, str) and not moment.startswith("="):
            return EventDefinition(kind="timer", timer="date", expression=Expression(text=moment))
        until = Expression(text=operand_text(moment), language=LANGUAGE)
        return EventDefinition(kind="timer", timer="date", expression=until)
    spent = duration_expression(*wait.wait_interval(version, parameters))
    return EventDefinition(kind="timer", timer="duration", expression=spent)


def limit_timer(parameters: Mapping[str, Any]) -> EventDefinition:
    """The time limit of a Wait for a call or a form."""
    if parameters.get("limitType") == "atSpecifiedTime":
        moment = parameters.get("maxDateAndTime", "")
        until = Expression(text=operand_text(moment), language=LANGUAGE)
        return EventDefinition(kind="timer", timer="date", expression=until)
    most = duration_expression(*wait.wait_limit(parameters))
    return EventDefinition(kind="timer", timer="duration", expression=most)


def schedule_timers(short: str, parameters: Mapping[str, Any]) -> tuple[EventDefinition, ...]:
    """The timers of a schedule, one for each of its rules; one without a time if it has none (n8n's
    defaults depend on the version). Publication counts as an elapsed time."""
    if short == n8n_trigger.NODE.name:
        if parameters.get("events") == [n8n_trigger.PUBLISHED]:
            at_once = Expression(text="PT0S")
            return (EventDefinition(kind="timer", timer="duration", expression=at_once),)
        schedule = Expression(text=compact_json(parameters), language=LANGUAGE)
        return (EventDefinition(kind="timer", timer="cycle", expression=schedule),)
    repeats = (
        _repeat_expression(repeat) for repeat in schedule_trigger.repeat_rules(short, parameters)
    )
    timers = tuple(EventDefinition(kind="timer", timer="cycle", expression=e) for e in repeats)
    return timers or (EventDefinition(kind="timer", timer="cycle"),)


def _repeat_expression(repeat: schedule_trigger.Repeat) -> Expression:
    """A rule: an interval, a cron expression, or n8n's own words for what is neither."""
    if repeat.every is not None:
        length = duration_expression(*repeat.every)
        if length.language is None:
            return Expression(text=f"R/{length.text}")
        return Expression(text=f"every {length.text}", language=LANGUAGE)
    if repeat.cron is None:
        return Expression(text=compact_json(repeat.raw), language=LANGUAGE)
    if isinstance(repeat.cron, str) and not repeat.cron.startswith("="):
        return Expression(text=repeat.cron)
    return Expression(text=operand_text(repeat.cron), language=LANGUAGE)
