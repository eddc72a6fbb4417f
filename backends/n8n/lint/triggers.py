"""Triggers, waits and settings: schedules, addresses, time limits, order, error workflow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.form_fields import hidden_fields
from orgflow.backends.n8n.format.json_values import texts
from orgflow.backends.n8n.format.workflow_document import Node, Path
from orgflow.backends.n8n.lint.flow_rules import UntoldTimeout
from orgflow.backends.n8n.lint.lint_report import Report, list_names
from orgflow.backends.n8n.lint.linted_workflow import Workflow
from orgflow.backends.n8n.lint.run_rules import (
    DeadSchedule,
    LegacyOrder,
    SharedAddress,
    StaleTimer,
)
from orgflow.backends.n8n.lint.shape_rules import ErrorWorkflowElsewhere
from orgflow.backends.n8n.lint.webhook_addresses import check_shared_addresses
from orgflow.backends.n8n.node_types import schedule_trigger
from orgflow.backends.n8n.plan.emission_rules import OpenAddress

from orgflow_ir.diagnostics import Severity

_DECIDES: Final = frozenset({"if", "switch", "filter", "code", "function", "functionItem"})
_BOUNDS: Final = {6: ((0, 59),), 5: ()}
_FIELDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_MONTHS: Final = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
_WEEKDAYS: Final = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_NAMES: Final = {3: _MONTHS, 4: _WEEKDAYS}
"""The names that a field permits, by its place among five."""

_PRESETS: Final = frozenset(
    {"@secondly", "@minutely", "@hourly", "@daily", "@weekly", "@weekdays", "@weekends",
     "@monthly", "@yearly"}
)  # fmt: skip
_RANDOM: Final = re.compile(
    r"(?i)-key[0-9a-f]{24}$|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)
"""A path that nobody guesses: with the key of `deploy --keys`, or as n8n's editor makes them."""
_PART: Final = re.compile(r"(\*|[0-9a-z]+(?:-[0-9a-z]+)?)(?:/(\d+))?")


def check_triggers(report: Report, others: tuple[Workflow, ...]) -> None:
    """Triggers, waits and settings; `others` are all workflows of the file."""
    flow = report.workflow
    if not flow.ordered and _order_matters(flow):
        report.add(
            LegacyOrder,
            (*flow.document.path, "settings"),
            f"`{flow.name}` does not set `executionOrder` v1, so n8n runs it in its legacy order",
            'add "settings": {"executionOrder": "v1"} after you review the order of the branches',
        )
    _error_workflow(report, others)
    check_shared_addresses(report, others)
    _check_suffixes(report)
    _open_addresses(report)
    for node in flow.nodes:
        if node.disabled:
            continue
        if node.short in ("scheduleTrigger", "cron"):
            _check_schedule(report, node)
        elif node.short in ("wait", "form"):
            _check_limited(report, node)


# -- settings --------------------------------------------------------------------------------------


def _order_matters(flow: Workflow) -> bool:
    """Whether branches run side by side or meet: else both orders of execution are one."""
    inputs = {(wire.target, wire.slot) for wire in flow.wires if wire.target in flow.live}
    outputs = [(wire.source, wire.output) for wire in flow.wires if wire.source in flow.live]
    targets = [target for target, _ in inputs]
    return len(outputs) > len(set(outputs)) or len(targets) > len(set(targets))


def _error_workflow(report: Report, others: tuple[Workflow, ...]) -> None:
    flow = report.workflow
    identity = flow.document.settings.get("errorWorkflow")
    if type(identity) not in (str, int) or identity in ("", "DEFAULT"):
        return
    handler = next((w for w in others if w.document.id == str(identity)), None)
    if handler is not None and any(n.short == "errorTrigger" and n.starts for n in handler.nodes):
        return
    what = "has no Error Trigger" if handler is not None else "is not in this file"
    report.add(
        ErrorWorkflowElsewhere,
        (*flow.document.path, "settings", "errorWorkflow"),
        f"the error workflow `{identity}` of `{flow.name}` {what}: unless it exists, is published "
        "and has an Error Trigger, n8n runs nothing when this workflow fails",
        "publish it before this workflow",
        severity=Severity.WARNING if handler is not None else None,
    )


# -- schedules -------------------------------------------------------------------------------------


_RANGES: Final = {"seconds": 59, "minutes": 59, "hours": 23, "days": 31}
"""The largest interval of each unit (n8n's `validateInterval`, from version 1.3 of the node)."""


def _check_interval(report: Report, node: Node, place: Path, unit: str, amount: float) -> None:
    """An interval that n8n refuses when it publishes the workflow, which only its log says, or one
    of hours that never passes, since n8n counts the hours since the last run modulo 24."""
    most = _RANGES[unit]
    if 1 <= amount <= most or (unit != "hours" and node.version < 1.3):
        return
    refused = node.version >= 1.3
    report.add(
        DeadSchedule,
        node,
        f"`{node.name}` "
        + ("never starts" if refused else "starts once and never again")
        + f": an interval of {amount:g} {unit} is outside of 1 to {most}",
        {"hours": "use days", "minutes": "use hours", "seconds": "use minutes"}.get(
            unit, "use weeks or months"
        ),
        "parameters",
        *place,
    )


def _check_schedule(report: Report, node: Node) -> None:
    for rule in schedule_trigger.repeat_rules(node.short, node.parameters):
        unit = str(rule.raw.get("field", "days"))
        amount: Any = rule.raw.get(f"{unit}Interval")
        if node.short == "scheduleTrigger" and unit in _RANGES and type(amount) in (int, float):
            _check_interval(report, node, rule.place, unit, amount)
    for rule in schedule_trigger.repeat_rules(node.short, node.parameters):
        cron = rule.cron
        if rule.written is None or not isinstance(cron, str) or cron.startswith("="):
            continue
        why = unreadable_cron(cron)
        if not why and has_no_day(cron):
            report.add(
                DeadSchedule,
                node,
                f"`{node.name}` never starts: no month of the cron expression `{cron}` has its day",
                "choose a day that the month has",
                "parameters",
                *rule.written,
            )
        if why:
            report.add(
                DeadSchedule,
                node,
                f"`{node.name}` never starts: n8n cannot parse the cron expression `{cron}`, {why}",
                "use five fields (minute hour day month weekday), or six with the seconds first",
                "parameters",
                *rule.written,
            )


_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def has_no_day(text: str) -> bool:
    """Whether a cron expression in which `unreadable_cron` finds no fault asks for days that none
    of its months has. A weekday is an alternative to the day."""
    fields = text.lower().split()
    if len(fields) not in _BOUNDS or fields[-1] != "*":
        return False
    days = _list_values(fields[-3], 31, {})
    months = _list_values(fields[-2], 12, _MONTHS)
    return all(day > _DAYS[month - 1] for day in days for month in months)


def _list_values(field: str, most: int, names: Mapping[str, int]) -> set[int]:
    """The values from 1 that a field of a cron expression stands for."""
    values: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if span == "*":
            first, last = "1", str(most)
        end = last or (str(most) if step else first)
        low, high = (names[name] if name in names else int(name) for name in (first, end))
        values.update(range(low, high + 1, int(step or 1)))
    return {value for value in values if 1 <= value <= most}


def unreadable_cron(text: str) -> str:
    """The reason why n8n's scheduler cannot read a cron expression; empty if it can.

    The library is `cron` 4.4: five or six fields, names of months and days, no Quartz signs.
    """
    if text.strip().lower() in _PRESETS:
        return ""
    fields = text.lower().split()
    if len(fields) not in _BOUNDS:
        return f"it has {len(fields)} fields"
    bounds = (*_BOUNDS[len(fields)], *_FIELDS)
    for place, (field, (low, high)) in enumerate(zip(fields, bounds, strict=True)):
        names = _NAMES.get(place + 5 - len(fields), {})
        for part in field.split(","):
            match = _PART.fullmatch(part)
            if match is None:
                return f"`{part}` is not supported"
            if match[2] is not None and int(match[2]) == 0:
                return f"`{part}` has a step of zero"
            if match[1] == "*":
                continue
            ends: list[int] = []
            for end in match[1].split("-"):
                if end not in names and not end.isdecimal():
                    return f"`{part}` is not supported"
                ends.append(names[end] if end in names else int(end))
                if not low <= ends[-1] <= high:
                    return f"`{end}` is not within {low} to {high}"
            if ends[0] > ends[-1]:
                return f"`{part}` ends before it begins"
    return ""


# -- addresses -------------------------------------------------------------------------------------


def _open_addresses(report: Report) -> None:
    """Webhooks and pages that anyone can call who guesses their address."""
    triggers = []
    for node in report.workflow.nodes:
        if node.disabled or node.short not in ("webhook", "formTrigger"):
            continue
        path = node.parameters.get("path") or node.inside("options", "path")
        fixed = isinstance(path, str) and path and not path.startswith("=")
        if node.parameters.get("authentication", "none") != "none":
            continue
        if node.short == "formTrigger" and "key" in hidden_fields(node.parameters):
            continue  # the page of a task, which needs the key of its row
        if fixed and _RANDOM.search(str(path)) is None:
            triggers.append(node)
    if triggers:
        report.add(
            OpenAddress,
            triggers[0],
            f"anyone who knows the address of {list_names([node.name for node in triggers])} can "
            f"start runs of `{report.workflow.name}`",
            "select an authentication in the node, or use a path that nobody can guess",
        )


def _check_suffixes(report: Report) -> None:
    for node in report.workflow.nodes:
        if node.disabled:
            continue
        if node.short in ("wait", "form"):
            suffix = node.inside("options", "webhookSuffix")
            if isinstance(suffix, str) and suffix.startswith("=") and "{{" in suffix:
                report.add(
                    SharedAddress,
                    node,
                    f"`{node.name}` can never be answered: its `webhookSuffix` is an expression, "
                    "and calls get 404",
                    "use a fixed text",
                    "parameters",
                    "options",
                    "webhookSuffix",
                )


# -- waits -----------------------------------------------------------------------------------------


def waits_for_answer(node: Node) -> bool:
    """Whether the node waits for an answer."""
    waits = node.short == "wait" and node.parameters.get("resume") in ("webhook", "form")
    return not node.disabled and (waits or node.short == "form")


def _check_limited(report: Report, node: Node) -> None:
    flow = report.workflow
    if node.parameters.get("limitWaitTime") is not True or not waits_for_answer(node):
        return
    if node.index not in flow.live:
        return
    after = flow.after(node.index)
    if after and not any(_tells_address(flow.nodes[i], node) for i in after):
        report.add(
            UntoldTimeout,
            node,
            f"when the time limit of `{node.name}` expires, the run continues as if an answer had "
            "arrived, and no later node distinguishes the two",
            "set a field before it and test it with an If after it: the field is present "
            "only after a timeout",
            "parameters",
            "limitWaitTime",
        )
    later = sorted(i for i in after if _waits_for_call(flow.nodes[i]))
    if later:
        report.add(
            StaleTimer,
            node,
            f"the time limit of `{node.name}` remains active after the answer, and can end "
            f"`{flow.nodes[later[0]].name}` too early",
            "move the limited wait to its own workflow, and call that workflow",
            "parameters",
            "limitWaitTime",
            others=(("a later wait", flow.nodes[later[0]]),),
        )


def _tells_address(node: Node, wait: Node) -> bool:
    if node.short not in _DECIDES or node.disabled:
        return False
    reads: tuple[Path, str]
    for reads in texts(node.parameters):
        text = reads[1]
        if any(sign in text for sign in ("$json", "$input", "items", wait.name)):
            return True
    return False


def _waits_for_call(node: Node) -> bool:
    if node.disabled:
        return False
    kind = node_types.find_type(node.short)
    return kind is not None and kind.waits(node.parameters)
