"""Computed waits of events: until a moment, or until a condition holds."""

from __future__ import annotations

from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import EventDefinition, Expression
from orgflow_ir.model.timer_values import Computed, Cron, first_of
from orgflow_ir.program.syntax import ConditionError, Constant, Tree
from orgflow_ir.work.mappings import read_value
from orgflow_ir.work.statements import Fail, NextMoment, Until, When
from orgflow_ir.work.tasks import Work

UNTIL = "_until"
"""The field of the item with the moment at which a wait ends."""


def waiting_until(definition: EventDefinition) -> Work:
    """The computation before a waiting event; empty if its time is constant.

    Raises `ConditionError` for an unsupported expression.
    """
    time = first_of(definition.time) if definition.time is not None else None
    if isinstance(time, Cron):
        return Work(before=(NextMoment(UNTIL, time),))
    if not isinstance(time, Computed):
        return Work()
    expression = definition.expression
    assert expression is not None
    return Work(before=(Until(UNTIL, _read_time(expression)),))


def holding(definition: EventDefinition, otherwise: str) -> Work | None:
    """The statements of an event that continues if its condition holds and otherwise fails with a
    message, which is equivalent to waiting if nothing else in the process is active; `None` if the
    condition is not code."""
    if definition.expression is None:
        return None
    try:
        tree = read_condition(definition.expression)
    except ConditionError:
        return None
    if tree is None:
        return None
    return Work(steps=(When(tree, (), (Fail(Constant(otherwise)),)),))


def _read_time(expression: Expression) -> Tree:
    text = expression.text.strip()
    if text.startswith("="):
        language: str | None = "feel"  # in a timer nothing else begins so
    else:
        language = None if "${" in text or "#{" in text else expression.language
    tree = read_value(text, language)
    if isinstance(tree, Constant):
        raise ConditionError("it is not a time")
    return tree
