"""Wait: the run waits for a duration, until a moment, for a call or for a form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, assert_never

from orgflow.backends.n8n.node_types.behaviour import Behaviour
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.node_type import (
    Effect,
    NodeType,
    Parameters,
    Use,
    inbound_credential,
    is_expression,
)

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import EventDefinition

if TYPE_CHECKING:
    from orgflow.backends.n8n.node_types import schedule_trigger

    from orgflow_ir.model import timer_values
    from orgflow_ir.program import syntax
    from orgflow_ir.work import waiting
else:  # models with timers only
    schedule_trigger = LazyModule("orgflow.backends.n8n.node_types.schedule_trigger")
    timer_values = LazyModule("orgflow_ir.model.timer_values")
    syntax = LazyModule("orgflow_ir.program.syntax")
    waiting = LazyModule("orgflow_ir.work.waiting")

_UNIT_SECONDS: Final = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
_SLEEPS_BELOW: Final = 65
"""Number of seconds below which n8n sleeps in process; longer waits are stored."""


def for_call(suffix: str) -> dict[str, Any]:
    """Wait until the resume URL is called. The suffix is static (N8N_PATTERNS.md: an expression
    there never matches) and unique for each Wait."""
    return {
        "resume": "webhook",
        "httpMethod": "POST",
        "responseMode": "onReceived",
        "options": {"webhookSuffix": suffix},
    }


def is_form(parameters: Parameters) -> bool:
    """Whether a person fills in a form to continue the run."""
    return bool(resume_event(parameters) == "form")


def is_called(parameters: Parameters) -> bool:
    """Whether a call continues the run."""
    return bool(resume_event(parameters) == "webhook")


def for_interval(amount: float, unit: str) -> dict[str, Any]:
    """Wait a fixed time."""
    return {"resume": "timeInterval", "amount": amount, "unit": unit}


def wait_until(moment: str) -> dict[str, Any]:
    """Wait until a moment: ISO text or an expression."""
    return {"resume": "specificTime", "dateTime": moment}


def for_timer(definition: EventDefinition | None) -> dict[str, Any] | None:
    """Parameters for a timer of a fixed length or moment, otherwise `None`; only the first of a
    repetition.

    The content of the text counts, not whether it is in BPMN's element for dates or durations.
    """
    if definition is None or definition.time is None:
        return None

    time = timer_values.first_of(definition.time)
    if isinstance(time, timer_values.Moment) and time.is_possible:
        return wait_until(time.text)
    if not isinstance(time, timer_values.Duration) or not time.is_plain:
        return None
    seconds = time.exact_seconds
    if seconds is None:
        plus = ", ".join(f"{k}: {v}" for k, v in time.parts.items() if v)
        return wait_until(make_expression(f"$now.plus({{ {plus} }})"))
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds and seconds % size == 0:
            return for_interval(int(seconds // size), unit)
    return for_interval(seconds, "seconds")


def due_code(definition: EventDefinition | None, field: str = "") -> str:
    """JavaScript for the moment at which a timer fires, in ISO 8601 and UTC: that in a `field` of
    the item, that of a definition (`for_timer`), and where neither states one, now."""
    if field:
        return f"DateTime.fromISO(String($json.{field})).toUTC().toISO()"
    parameters = for_timer(definition)
    if parameters is None:
        return "new Date().toISOString()"
    moment = parameters.get("dateTime")
    if moment is None:
        length = f"{parameters['unit']}: {parameters['amount']}"
        return f"$now.plus({{ {length} }}).toUTC().toISO()"
    if moment.startswith("="):
        return f"{moment[3:-2].strip()}.toUTC().toISO()"
    return f"DateTime.fromISO('{moment}').toUTC().toISO()"


def until_field(name: str) -> dict[str, Any]:
    """Wait until the moment in a field of the item."""
    return wait_until(make_expression(f"$json.{name}"))


def why_not(definition: EventDefinition) -> str | None:
    """The reason why a time is neither supported by `for_timer` nor computable."""
    # A form waits without a time, so that a compile that has forms alone does not read any.

    assert definition.time is not None
    time = timer_values.first_of(definition.time)
    match time:
        case timer_values.Computed():
            try:
                waiting.waiting_until(definition)
            except syntax.ConditionError as error:
                return f"an unsupported expression computes it: {error}"
            return None
        case timer_values.Unread():
            return "it is not an ISO 8601 time"
        case timer_values.Cron():
            known = schedule_trigger.cron_text(time) is not None
            return schedule_trigger.cron_fault(time) or (
                None if known else "this cron expression has unsupported parts"
            )
        case timer_values.Moment():
            return "this time does not exist"
        case timer_values.Duration(sign="-"):
            return "it is negative"
        case timer_values.Duration() | timer_values.Cycle():
            return "a part of it is not a whole number"
        case _:
            assert_never(time)


def resume_event(parameters: Parameters) -> Any:
    """The event that continues the run: `timeInterval`, `specificTime`, `webhook` or `form`."""
    return parameters.get("resume", "timeInterval")


def wait_interval(version: float, parameters: Parameters) -> tuple[Any, Any]:
    """Amount and unit of a wait for a time; either may be an expression. The defaults differ
    between versions."""
    amount, unit = (1, "hours") if version < 1.1 else (5, "seconds")
    return parameters.get("amount", amount), parameters.get("unit", unit)


def wait_limit(parameters: Parameters) -> tuple[Any, Any]:
    """Amount and unit after which a run no longer waits for a call or a form."""
    return parameters.get("resumeAmount", 1), parameters.get("resumeUnit", "hours")


def with_times_in_seconds(version: float, parameters: Parameters) -> Parameters:
    """Parameters with fixed times as texts in seconds, whatever their unit is."""
    by = resume_event(parameters)
    times: dict[str, float | None] = {}
    if by == "timeInterval":
        times = {"amount": _fixed_seconds(*wait_interval(version, parameters))}
    elif by in ("webhook", "form") and parameters.get("limitWaitTime"):
        times = {"resumeAmount": _fixed_seconds(*wait_limit(parameters))}
    result = dict(parameters)
    for amount, seconds in times.items():
        if seconds is not None:
            unit = "unit" if amount == "amount" else "resumeUnit"
            result[amount] = f"{seconds:g} seconds"
            result.pop(unit, None)
    return result


def _field_effect(version: float, parameters: Parameters) -> Effect:
    answered = resume_event(parameters) in ("webhook", "form")
    return "replace" if answered and parameters.get("limitWaitTime") is not True else "pass"


def _node_behaviour(use: Use) -> Behaviour:
    version, parameters = use.version, use.parameters
    by = resume_event(parameters)
    if is_expression(by):
        return Behaviour(kind="wait", answered=True)
    if by in ("webhook", "form"):
        limited = bool(parameters.get("limitWaitTime"))
        fixed = limited and parameters.get("limitType", "afterTimeInterval") == "afterTimeInterval"
        return Behaviour(
            kind="wait",
            in_process=False,
            answered=True,
            limited=limited,
            resumption=by,
            seconds=_fixed_seconds(*wait_limit(parameters)) if fixed else None,
        )
    if by != "timeInterval":
        return Behaviour(kind="wait", resumption="time")
    seconds = _fixed_seconds(*wait_interval(version, parameters))
    if seconds is None:
        return Behaviour(kind="wait", resumption="time")
    in_process = seconds < _SLEEPS_BELOW
    return Behaviour(kind="wait", in_process=in_process, resumption="time", seconds=seconds)


def _fixed_seconds(amount: object, named: object) -> float | None:
    """The duration of an amount in a unit; `None` if an expression computes it."""
    unit = _UNIT_SECONDS.get(named) if isinstance(named, str) else None
    if unit is None or not isinstance(amount, int | float):
        return None
    return amount * unit


def _needed_credential(parameters: Parameters) -> str:
    if resume_event(parameters) not in ("webhook", "form"):
        return ""
    return inbound_credential(parameters.get("incomingAuthentication"))


NODE = NodeType(
    name="wait",
    credential=_needed_credential,
    label="Wait",
    emitted=True,
    versions=((1.1,), (1.1,)),
    behaviour=_node_behaviour,
    effect=_field_effect,
    waits=lambda parameters: True,
    required=(
        ("dateTime", {"resume": ("specificTime",)}),
        ("formTitle", {"resume": ("form",)}),
    ),
    task="user",
)
