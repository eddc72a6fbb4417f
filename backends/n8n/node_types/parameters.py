"""Parameters of the nodes we emit; shapes as in N8N.md, "Current nodes"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from orgflow.backends.n8n.emit.javascript import without_refused
from orgflow.backends.n8n.format.document import node_uuid


def read_field(node: str, path: Sequence[str], *, body: bool = False) -> str:
    """JavaScript that reads a field of the last output of the node called `node`, or undefined.

    Guarded by `isExecuted`, since n8n refuses a reference to a node that did not run. Output 0 is
    named: without it n8n takes the first output that is wired to the reader, also an error output.
    """
    first, *rest = path
    access = ("body?." if body else "") + first + "".join(f"?.{p}" for p in rest)
    return _last(node, f".{access}")


def read_item(node: str, *, body: bool = False) -> str:
    """JavaScript for the whole last item of a node (what was posted, with `body`), or undefined."""
    return _last(node, ".body" if body else "")


def _last(node: str, access: str) -> str:
    quoted = quote_node(node)
    return f"($({quoted}).isExecuted ? $({quoted}).last(0).json{access} : undefined)"


def quote_node(name: str) -> str:
    """A node name as a string literal for `$(…)`, safe inside `={{ }}`.

    Single quotes: n8n's editor renames references in this form with the node.
    """
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    escaped = escaped.replace("{{", "{\\u007b").replace("}}", "}\\u007d")
    return f"'{without_refused(escaped)}'"


def expression(code: str) -> str:
    """An n8n expression. `}}` inside would end it (N8N_PATTERNS.md): it must not occur."""
    if "}}" in code:
        raise ValueError(f"`}}}}` inside an expression: {code}")
    return "={{ " + code + " }}"


def is_true(code: str, seed: str) -> dict[str, Any]:
    """A condition that holds where the JavaScript `code` gives true."""
    return {
        "id": node_uuid(f"{seed}/condition"),
        "leftValue": expression(code),
        "rightValue": "",
        "operator": {"type": "boolean", "operation": "true", "singleValue": True},
    }


def equals(code: str, value: str, seed: str) -> dict[str, Any]:
    """A condition that holds where the JavaScript `code` gives the text `value`."""
    return {
        "id": node_uuid(f"{seed}/condition"),
        "leftValue": expression(code),
        "rightValue": value,
        "operator": {"type": "string", "operation": "equals"},
    }


def _filter(conditions: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "options": {
            "caseSensitive": True,
            "leftValue": "",
            "typeValidation": "loose",
            "version": 2,
        },
        "conditions": conditions,
        "combinator": "and",
    }


def if_(condition: dict[str, Any]) -> dict[str, Any]:
    """If: output 0 where the condition holds, 1 where not."""
    return {"conditions": _filter([condition]), "looseTypeValidation": True, "options": {}}


def switch(
    rules: Sequence[tuple[dict[str, Any], str]], *, fallback: str | None, every: bool
) -> dict[str, Any]:
    """Switch by rules: one output a rule, then the fallback; `every` takes all that hold."""
    options: dict[str, Any] = {}
    if fallback is not None:
        options |= {"fallbackOutput": "extra", "renameFallbackOutput": fallback}
    if every:
        options["allMatchingOutputs"] = True
    return {
        "mode": "rules",
        "rules": {
            "values": [
                {"conditions": _filter([c]), "renameOutput": True, "outputKey": key}
                for c, key in rules
            ]
        },
        "looseTypeValidation": True,
        "options": options,
    }


def merge(inputs: int, *, partial: bool) -> dict[str, Any]:
    """Merge by position; `partial` fires with what came (inclusive joins only)."""
    options = {"includeUnpaired": True} if partial else {}
    return {
        "mode": "combine",
        "combineBy": "combineByPosition",
        "numberInputs": inputs,
        "options": options,
    }


def set_(fields: Sequence[tuple[str, Any, str]], seed: str) -> dict[str, Any]:
    """Edit Fields: (name, value, type) each, other fields kept."""
    return {
        "assignments": {
            "assignments": [
                {"id": node_uuid(f"{seed}/{name}"), "name": name, "value": value, "type": kind}
                for name, value, kind in fields
            ]
        },
        "includeOtherFields": True,
        "options": {},
    }


def stop(message: str) -> dict[str, Any]:
    """Stop and Error with a fixed message."""
    return {"errorType": "errorMessage", "errorMessage": message}


def wait_for_call(suffix: str) -> dict[str, Any]:
    """Wait until the resume URL is called. The suffix is static (N8N_PATTERNS.md: an expression
    there never matches) and its own for each Wait."""
    return {
        "resume": "webhook",
        "httpMethod": "POST",
        "responseMode": "onReceived",
        "options": {"webhookSuffix": suffix},
    }


def wait_interval(amount: float, unit: str) -> dict[str, Any]:
    """Wait a fixed time."""
    return {"resume": "timeInterval", "amount": amount, "unit": unit}


def wait_until(moment: str) -> dict[str, Any]:
    """Wait until a moment: ISO text or an expression."""
    return {"resume": "specificTime", "dateTime": moment}


class Duration(NamedTuple):
    """ISO 8601 duration, parts as written."""

    years: int = 0
    months: int = 0
    weeks: int = 0
    days: int = 0
    hours: int = 0
    minutes: int = 0
    seconds: float = 0

    @property
    def exact_seconds(self) -> float | None:
        """Length in seconds, or `None` where months or years make it depend on the date."""
        if self.years or self.months:
            return None
        days = self.weeks * 7 + self.days
        return ((days * 24 + self.hours) * 60 + self.minutes) * 60 + self.seconds


_DURATION = re.compile(
    r"P(?=[\dT])(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?"
    r"(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6}(?:\.\d{1,3})?)S)?)?"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_CYCLE = re.compile(r"R/(P[^/]+)")


_SCHEDULE_UNITS = (
    (86400, "days", 1), (3600, "hours", 24), (60, "minutes", 60), (1, "seconds", 60),
)  # fmt: skip


def parse_duration(text: str) -> Duration | None:
    """An ISO 8601 duration of whole numbers (seconds may have a fraction), or `None`."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        return None
    years, months, weeks, days, hours, minutes, seconds = (p or "0" for p in match.groups())
    exact = float(seconds) if "." in seconds else int(seconds)
    return Duration(int(years), int(months), int(weeks), int(days), int(hours), int(minutes), exact)


def timer_wait(kind: str | None, text: str) -> dict[str, Any] | None:
    """Wait parameters for a timer that can be read, else `None`."""
    if kind == "date" and _DATE.fullmatch(text.strip()):
        return wait_until(text.strip())
    duration = parse_duration(text) if kind in ("duration", None) else None
    if duration is None:
        return None
    seconds = duration.exact_seconds
    if seconds is None:
        plus = ", ".join(f"{k}: {v}" for k, v in duration._asdict().items() if v)
        return wait_until(expression(f"$now.plus({{ {plus} }})"))
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds and seconds % size == 0:
            return wait_interval(int(seconds // size), unit)
    return wait_interval(seconds, "seconds")


def timer_schedule(kind: str | None, text: str) -> dict[str, Any] | None:
    """Schedule Trigger parameters for a timer start that repeats without end, else `None`.

    A count or a first moment (`R3/…`, `R/2030-01-01…/…`) has no counterpart in n8n.
    """
    if kind != "cycle":
        return None
    cycle = _CYCLE.fullmatch(text.strip())
    if cycle is not None:
        duration = parse_duration(cycle.group(1))
        seconds = duration.exact_seconds if duration else None
        for size, unit, whole in _SCHEDULE_UNITS:
            # n8n makes a cron step of it, which is even only where it divides the larger unit
            if seconds and seconds % size == 0 and whole % (seconds // size) == 0:
                interval = {"field": unit, f"{unit}Interval": int(seconds // size)}
                return {"rule": {"interval": [interval]}}
        return None
    cron = parse_cron(text)
    if cron is None:
        return None
    return {"rule": {"interval": [{"field": "cronExpression", "expression": cron}]}}


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


def parse_cron(text: str) -> str | None:
    """A cron expression in n8n's dialect (five or six fields), or `None`.

    A `?` marks Quartz's dialect, in which days of the week count from Sunday = 1 and a year may
    follow; `L`, `W` and `#` exist only there, and n8n's scheduler refuses them when it starts.
    """
    fields = text.upper().split()
    quartz = "?" in fields
    if quartz and len(fields) == 7 and fields[6] == "*":
        fields = fields[:6]
    if len(fields) not in ((6,) if quartz else (5, 6)):
        return None
    checks = _CRON[6 - len(fields) :]
    result = []
    for position, (field, (low, high, names)) in enumerate(zip(fields, checks, strict=True)):
        day_of_week = position == len(fields) - 1
        shift = 1 if quartz and day_of_week else 0
        made = "*" if field == "?" else _cron_field(field, low + shift, high, names, shift)
        if made is None:
            return None
        result.append(made)
    return " ".join(result)


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
