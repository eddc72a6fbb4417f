"""For whom a task is and until when, as what is computed before somebody is asked to do it."""

from __future__ import annotations

from typing import NamedTuple

from orgflow_ir.analysis.expressions.syntax import (
    Conditional,
    ConditionError,
    Constant,
    Empty,
    Logical,
    Not,
    Tree,
    Variable,
    variables,
)
from orgflow_ir.analysis.work.mappings import read_value
from orgflow_ir.analysis.work.statements import Compose, Statement, Until, When
from orgflow_ir.analysis.work.tasks import Unread, Work
from orgflow_ir.model.bindings import Form
from orgflow_ir.model.timers import Computed, Duration, read_time

ABOUT, DUE = "_task", "_due"
"""Fields of the item: an object of what is computed of a task, by the names of the binding, and the
moment until which it has to be done."""

SAID = ("assignee", "candidate_users", "candidate_groups", "priority")
"""Fields of a binding that say something of a task."""


class About(NamedTuple):
    """What a page says of a task.

    Attributes:
        fixed: what the model says as it is, by the field of the binding; `due` too.
        computed: fields whose text an expression gives in each run; `due` too.
        work: what computes it; its `unread` are the expressions that are not understood.
    """

    fixed: dict[str, str]
    computed: tuple[str, ...]
    work: Work


def about(form: Form) -> About:
    """What a page says of a task with this binding."""
    fixed: dict[str, str] = {}
    values: list[tuple[tuple[str, ...], Tree]] = []
    statements: list[Statement] = []
    unread: list[Unread] = []
    computed: list[str] = []
    for name in SAID:
        text = getattr(form, name)
        if not text or not text.strip():
            continue
        if not _is_computed(text):
            fixed[name] = text
            continue
        try:
            values.append(((name,), _where_known(_value(text))))
        except ConditionError as error:
            unread.append(Unread(name, text, str(error)))
        else:
            computed.append(name)
    due = (form.due or "").strip()
    if due:
        try:
            value = _moment(due)
        except ConditionError as error:
            unread.append(Unread("due", due, str(error)))
        else:
            if value is None:
                fixed["due"] = due
            else:
                statements.append(_until(value))
                computed.append("due")
    if values:
        statements.insert(0, Compose(ABOUT, tuple(values)))
    return About(fixed, tuple(computed), Work(before=tuple(statements), unread=tuple(unread)))


def _where_known(tree: Tree) -> Tree:
    """The value of an expression, or nothing where a variable of it has none: a page without it is
    better than no page."""
    for path in dict.fromkeys(variables(tree)):
        tree = Conditional(Empty(Variable(path)), Constant(None), tree, "juel")
    return tree


def _until(value: Tree) -> Statement:
    """The moment, where every variable of it has a value."""
    known: Tree | None = None
    for path in dict.fromkeys(variables(value)):
        there = Not(Empty(Variable(path)), "juel")
        known = there if known is None else Logical("and", known, there, "juel")
    until = Until(DUE, value)
    return until if known is None else When(known, (until,), ())


def _is_computed(text: str) -> bool:
    return "${" in text or "#{" in text or text.lstrip().startswith("=")


def _value(text: str) -> Tree:
    return read_value(text.strip(), "feel" if text.lstrip().startswith("=") else None)


def _moment(text: str) -> Tree | None:
    """What gives the moment until which a task has to be done; `None` for a text that says it."""
    time = read_time(text)
    if isinstance(time, Duration) and time.sign != "-":
        date = f"{time.years:g}Y{time.months:g}M{time.weeks * 7 + time.days:g}D"
        return Constant(f"P{date}T{time.hours:g}H{time.minutes:g}M{time.seconds:g}S")
    if not isinstance(time, Computed):
        return None
    tree = _value(text)
    if isinstance(tree, Constant):
        raise ConditionError("it is no time")
    return tree
