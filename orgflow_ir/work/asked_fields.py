"""A field that a person fills in, and the expressions in the text above it."""

from __future__ import annotations

from typing import Literal

from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model.bindings import Pairs
from orgflow_ir.model.records import NamedTuple

AskedType = Literal["text", "lines", "number", "whole", "boolean", "date", "choice", "choices"]
"""Type of a field: `lines` is a text of several lines, `whole` a whole number, `choice` one of
several values, and `choices` several of them."""

Source = Literal["model", "mapping", "condition", "decision"]

EXPRESSION = lazy_pattern(r"[$#]\{[^{}]*\}")
"""An expression in the documentation of a task."""


class Option(NamedTuple):
    """A value that can be chosen, and its label."""

    value: str
    label: str


class AskedField(NamedTuple):
    """A field of a form.

    Attributes:
        variable: the process variable that the answer becomes.
        label: the text that is shown, on one line.
        type: the type of the answer.
        options: for `choice` and `choices`.
        open: whether values other than the options are accepted.
        required: whether an answer is required.
        default: the initial value.
        constraints: rules for the answer by the vendors' names (`min`, `maxlength`, …).
        source: the origin of the field.
        part: the names of the part of the variable that the answer becomes.
    """

    variable: str
    label: str
    type: AskedType
    options: tuple[Option, ...] = ()
    open: bool = False
    required: bool = True
    default: str | None = None
    constraints: Pairs = ()
    source: Source = "model"
    part: tuple[str, ...] = ()

    @property
    def path(self) -> tuple[str, ...]:
        """The variable, and the names of the part of it."""
        return (self.variable, *self.part)
