"""Forms of people's tasks as data: fields, what identifies a page, and what a person can enter.

n8n keys the answers of a form by the labels of the fields, outputs texts, and does not check
answers itself: the code for that is made of this data. Any other value and a blank one set nothing,
so a decision that reads the variable stops and names it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from orgflow.backends.n8n.plan.names import plain

from orgflow_ir.model import Lane
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.work.asked_fields import AskedField, Option

if TYPE_CHECKING:
    from orgflow_ir.work.people import About

YES, NO = "Yes", "No"
_MOST_PATTERN = 500
_UNLIKE = re.compile(r"\(\?|\\[^dDwWsSbB.*+?^$|()\[\]{}/\\nrt-]|[*+?}]\+|\{,|\[\]|\[\^\]|\}\}")
"""Syntax that Python and JavaScript read differently, or only one of them supports."""


class FormField(NamedTuple):
    """A field in n8n's form.

    Attributes:
        asked: the requested data.
        label: its label there, unique in the form, since n8n keys the answer by it.
        options: the choices, by the value that each represents.
    """

    asked: AskedField
    label: str
    options: tuple[Option, ...]

    @property
    def ticked(self) -> bool:
        """Whether it is a checkbox of the model that may stay unticked, which is also an answer:
        false, or an empty list."""
        asked = self.asked
        boxes = asked.type in ("boolean", "choices")
        return boxes and asked.source == "model" and not asked.required

    @property
    def default(self) -> str | None:
        """The label or text that it begins with, if any."""
        default = _choose_default(self.asked, self.options)
        if default is None and self.asked.type == "boolean" and self.ticked:
            return NO
        return default

    @property
    def is_filled(self) -> bool:
        """Whether it can begin with the value of its variable: it is never blank at first."""
        kind = self.asked.type
        return kind in ("boolean", "choice") or (kind != "choices" and bool(self.default))

    @property
    def is_tested(self) -> bool:
        """Whether n8n's page permits answers that are not valid."""
        asked = self.asked
        if asked.type in ("number", "whole"):
            return bool(list_bounds(asked)) or asked.type == "whole" or not asked.required
        if asked.type in ("text", "lines"):
            return bool(list_lengths(asked)) or valid_pattern(asked) is not None
        return False

    def answer(self, value: object) -> object:
        """The input of a person for a value. Raises `ValueError` if it cannot be entered."""
        asked = self.asked
        if asked.type == "boolean" and isinstance(value, bool):
            return YES if value else NO
        if asked.type == "choices" and isinstance(value, list):
            return [self._chosen(choice) for choice in value]
        if asked.type == "choice":
            return self._chosen(value)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if asked.type == "number" and number:
            return str(value)
        if asked.type == "whole" and isinstance(value, int) and number:
            return str(value)
        if asked.type in ("text", "lines", "date") and isinstance(value, str) and value:
            return value
        raise ValueError(f"the form has no answer for {value!r} in “{self.label}”")

    def _chosen(self, value: object) -> str:
        for option in self.options:
            if option.value == value:
                return option.label
        if self.asked.open:
            return self.options[-1].label
        raise ValueError(f"“{self.label}” cannot be answered with {value!r}")


class TaskForm(NamedTuple):
    """The form of a task.

    Attributes:
        fields: the requested fields.
        page: identifies its page among those of other forms; empty if there is no other.
        again: whether a run may reach it several times.
        inside: variables of the answers that are local to the task.
        sets: variables that its output mappings set.
        by: the channel of the message that asks a person to fill it in; empty if it is only listed.
        dated: whether n8n adds the time of the answer to a message.
        shown: values that its page shows, as fields.
        begins: variables with whose values their fields begin.
    """

    fields: tuple[FormField, ...]
    page: str = ""
    again: bool = False
    inside: frozenset[str] = frozenset()
    sets: tuple[str, ...] = ()
    by: str = ""
    dated: bool = True
    shown: tuple[FormField, ...] = ()
    begins: frozenset[str] = frozenset()

    @property
    def is_checked(self) -> bool:
        """Whether an answer to it may be invalid: of another page, or against a rule."""
        return bool(self.page) or any(field.is_tested for field in self.fields)

    @property
    def variables(self) -> tuple[str, ...]:
        """The process variables for its answers."""
        return tuple(name for name in self.asks if name not in self.inside)

    @property
    def known(self) -> frozenset[str]:
        """The process variables that it sets, by its answers or its mappings."""
        return frozenset((*self.variables, *self.sets))

    @property
    def asks(self) -> tuple[str, ...]:
        """The variables of its fields."""
        return tuple(dict.fromkeys(field.asked.variable for field in self.fields))

    def answers(self, row: Mapping[str, object]) -> dict[str, object]:
        """The input by label that gives the variables the values of a row; other fields stay blank.
        Raises `ValueError` if no input gives a value."""
        missing = [name for name in row if name not in self.asks]
        if missing:
            raise ValueError(f"the form does not ask for {join_listed(missing)}")
        entered = {}
        for field in self.fields:
            value: object = row
            for name in field.asked.path:
                value = value.get(name, _NOTHING) if isinstance(value, Mapping) else _NOTHING
            if value is not _NOTHING:
                entered[field.label] = field.answer(value)
        return entered


_NOTHING = object()


class Page(NamedTuple):
    """The further content of a task's page.

    Attributes:
        lanes: the lanes of its process.
        counter: the node that counts its rounds, if it is reached again.
        about: its performer and due date.
        inputs: the node that computes the parts of them that depend on the run.
    """

    lanes: tuple[Lane, ...]
    counter: str = ""
    about: About | None = None
    inputs: str = ""


def _choose_default(asked: AskedField, options: tuple[Option, ...]) -> str | None:
    if asked.default is None:
        return None
    if asked.type == "boolean":
        return {"true": YES, "false": NO}.get(asked.default.strip().lower())
    if asked.type == "choice":
        return next((o.label for o in options if o.value == asked.default), None)
    return plain(asked.default) or None


def list_bounds(asked: AskedField) -> list[tuple[str, int | float]]:
    """The bounds of a number: an operator, and what is on its right."""
    return _list_limits(asked, (("min", ">="), ("max", "<=")))


def list_lengths(asked: AskedField) -> list[tuple[str, int | float]]:
    """The bounds of the length of a text."""
    return _list_limits(asked, (("minlength", ">="), ("maxlength", "<=")))


def _list_limits(
    asked: AskedField, names: tuple[tuple[str, str], ...]
) -> list[tuple[str, int | float]]:
    constraints = dict(asked.constraints)
    limits = ((sign, _read_number(constraints.get(name))) for name, sign in names)
    return [(sign, number) for sign, number in limits if number is not None]


def valid_pattern(asked: AskedField) -> str | None:
    """The pattern of a text, if JavaScript reads it as Python does."""
    pattern = dict(asked.constraints).get("pattern")
    return pattern if pattern is not None and _is_pattern(pattern) else None


def _is_pattern(text: str) -> bool:
    """Whether a text is a regular expression that JavaScript reads as Python does."""
    if len(text) > _MOST_PATTERN or not text.isascii() or _UNLIKE.search(text):
        return False
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _read_number(text: str | None) -> int | float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    if number is None or number != number or number in (float("inf"), float("-inf")):
        return None
    return int(number) if number.is_integer() else number
