"""Computed values of a user task: the content of its page, and the results of its mappings.

Input mappings define variables local to the task: the page shows them, and they are the defaults of
fields with the same name. An answer is local to the task if an input mapping has its name (Camunda
7 and 8 set a variable in the scope that defines it), and if the engine returns only the variables
of output mappings (Camunda 8, jBPM).
"""

from __future__ import annotations

from collections.abc import Iterator

from orgflow_ir.model import Task
from orgflow_ir.model.bindings import Form
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.timer_values import Computed, Duration
from orgflow_ir.model.timers import read_time
from orgflow_ir.program import java_operators, methods
from orgflow_ir.program.juel_operators import JUEL
from orgflow_ir.program.syntax import (
    Call,
    ConditionError,
    Constant,
    Tree,
    Variable,
    variables,
)
from orgflow_ir.work.asked_fields import EXPRESSION
from orgflow_ir.work.mappings import read_value
from orgflow_ir.work.statements import Assign, Compose, Statement, Until, When, read
from orgflow_ir.work.tasks import Unread, Work, only_mapped, work_by

ABOUT, DUE = "_task", "_due"
"""Fields of the item: an object of the computed attributes of a task, by the names of the binding,
and its due date."""

TEXT = "text"
"""The computed attribute that is the documentation of a task with the values of its expressions."""

SAID = ("assignee", "candidate_users", "candidate_groups", "priority")
"""Fields of a binding that describe a task."""


class About(NamedTuple):
    """The description of a task on its page.

    Attributes:
        fixed: constant values by the field of the binding, including `due`.
        computed: fields computed by an expression in each run, including `due`.
        work: the computation, and the mappings of the task; its `unread` are the unsupported
            expressions.
        inputs: variables of input mappings by name, with the text if it is constant.
        only_mapped: whether answers leave the task only through output mappings.
        mapped: whether its mappings and the code of its listeners are supported.
    """

    fixed: dict[str, str]
    computed: tuple[str, ...]
    work: Work
    inputs: dict[str, str | None]
    only_mapped: bool = False
    mapped: bool = True

    @property
    def fills_in_text(self) -> bool:
        """Whether the documentation of the task is computed."""
        return TEXT in self.computed

    def is_inside(self, variable: str) -> bool:
        """Whether an answer with this name is local to the task."""
        return self.only_mapped or variable in self.inputs


def about_task(task: Task, doc: str) -> About:
    """The page description of a user or manual task with this documentation."""
    return about(task.binding if isinstance(task.binding, Form) else Form(), doc)


def about(form: Form, doc: str = "") -> About:
    """The page description of a task with this binding and documentation."""
    mapped = work_by(form, None)
    before = list(_shown_statements(mapped))
    fixed: dict[str, str] = {}
    values: list[tuple[tuple[str, ...], Tree]] = []
    statements: list[Statement] = []
    unread = list(mapped.unread)
    computed: list[str] = []
    for name in SAID:
        text = getattr(form, name)
        if not text or not text.strip():
            continue
        if not _is_computed(text):
            fixed[name] = text
            continue
        try:
            values.append(((name,), _where_known(_read_value(text))))
        except ConditionError as error:
            unread.append(Unread(name, text, str(error)))
        else:
            computed.append(name)
    if (filled := _filled_in(doc)) is not None:
        values.append(((TEXT,), filled))
        computed.append(TEXT)
    due = (form.due or "").strip()
    if due:
        try:
            value = _read_moment(due)
        except ConditionError as error:
            unread.append(Unread("due", due, str(error)))
        else:
            if value is None:
                fixed["due"] = due
            else:
                statements.append(_until_moment(value))
                computed.append("due")
    if values:
        statements.insert(0, Compose(ABOUT, tuple(values)))
    inputs = {
        statement.name: statement.value.value
        if isinstance(statement.value, Constant)
        and isinstance(statement.value.value, str)
        and not statement.part
        else None
        for statement in before
        if isinstance(statement, Assign)
        and statement.local
        and statement.name not in _OF_THE_ENGINE
    }
    work = Work((*before, *statements), None, mapped.after, tuple(unread))
    narrow = only_mapped(form) and not mapped.unread
    return About(fixed, tuple(computed), work, inputs, narrow, not mapped.unread)


_OF_THE_ENGINE = frozenset(
    (
        "Skippable", "Locale", "CreatedBy", "NodeName", "NotStartedReassign", "NotStartedNotify",
        "NotCompletedReassign", "NotCompletedNotify",
    )
)  # fmt: skip
"""Inputs that jBPM handles itself."""


def _shown_statements(work: Work) -> Iterator[Statement]:
    """What is computed before somebody is asked. Where nobody has set what an input reads that is
    only shown, it is empty: a page without it is better than no page."""
    used = {needed.path[0] for needed in read(work.after)}
    for statement in work.before:
        if isinstance(statement, Assign) and statement.local and statement.name not in used:
            statement = statement._replace(value=_where_known(statement.value))
        yield statement


def _where_known(tree: Tree) -> Tree:
    """The value of an expression, or nothing where a variable of it has none: a page without it is
    better than no page."""
    for path in dict.fromkeys(variables(tree)):
        tree = JUEL.choice(methods.EMPTY(Variable(path)), Constant(None), tree)
    return tree


def _filled_in(doc: str) -> Tree | None:
    """A text with the values of the expressions in it, as Camunda 7, Flowable and Activiti show it
    to a person. An expression stays as it is where it is not supported, and in a run in which a
    variable of it has no value; `None` if none is supported."""
    parts: list[Tree] = []
    end, known = 0, False
    for match in EXPRESSION.finditer(doc):
        if end < match.start():
            parts.append(Constant(doc[end : match.start()]))
        end = match.end()
        try:
            value = read_value(match[0], None)
        except ConditionError:
            parts.append(Constant(match[0]))
            continue
        known = True
        for path in dict.fromkeys(variables(value)):
            value = JUEL.choice(methods.EMPTY(Variable(path)), Constant(match[0]), value)
        parts.append(value)
    if end < len(doc):
        parts.append(Constant(doc[end:]))
    return Call(java_operators.TEXT, tuple(parts)) if known else None


def _until_moment(value: Tree) -> Statement:
    """The moment, where every variable of it has a value."""
    known: Tree | None = None
    for path in dict.fromkeys(variables(value)):
        there = JUEL.negation(methods.EMPTY(Variable(path)))
        known = there if known is None else JUEL.logic["and"](known, there)
    until = Until(DUE, value)
    return until if known is None else When(known, (until,), ())


def _is_computed(text: str) -> bool:
    return "${" in text or "#{" in text or text.lstrip().startswith("=")


def _read_value(text: str) -> Tree:
    return read_value(text.strip(), "feel" if text.lstrip().startswith("=") else None)


def _read_moment(text: str) -> Tree | None:
    """What gives the moment until which a task has to be done; `None` for a text that says it."""
    time = read_time(text)
    if isinstance(time, Duration) and time.sign != "-":
        date = f"{time.years:g}Y{time.months:g}M{time.weeks * 7 + time.days:g}D"
        return Constant(f"P{date}T{time.hours:g}H{time.minutes:g}M{time.seconds:g}S")
    if not isinstance(time, Computed):
        return None
    tree = _read_value(text)
    if isinstance(tree, Constant):
        raise ConditionError("it is not a time")
    return tree
