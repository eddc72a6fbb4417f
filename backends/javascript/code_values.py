"""Pieces of plain JavaScript for values of FEEL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from typing import Literal as OneOf

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.syntax import Node

Kind = OneOf[
    "any", "null", "number", "text", "truth", "list", "context", "exact", "sum", "shown", "nan",
    "date", "moment", "span", "elapsed", "days", "months", "duration",
]  # fmt: skip
"""The known type of a value, as code has it.

- `exact`: a whole number of units, which only exists within an expression.
- `sum`: a number that is rounded to a double, or a text.
- `shown`: a list, context or choice whose rounded numbers or texts of dates are only a result.
- `nan`: a number, or `NaN` for null.
- `date`: the days since 1970-01-01, or `NaN`.
- `moment`: a date and time as `{ day, nanos, zone }`, or null.
- `span`: a duration of whole days, or `NaN`; `elapsed`: nanoseconds (`BigInt`), or `NaN`;
  `days`: a duration of days and time that is a constant.
- `months`: a duration in months, or `NaN`.
- `duration`: one of either kind as `{ months }` or `{ nanos }`, or null.
"""

TEMPORAL = frozenset({"date", "moment", "span", "elapsed", "days", "months", "duration"})


class Untranslated(Exception):
    """The expression has no plain translation."""


class Value(NamedTuple):
    """Code for a value, which is null unless all `guards` hold; evaluated only if they do.

    `loose` is shorter code, which gives no number, text or truth value where the value is none, but
    may give undefined for a list; for dates and durations, the code of the text in JSON. `simple`
    code may be repeated. `factors` counts the factors of an exact number, `digits` are those that
    it may have (-1: a text that is concatenated). A `sure` date or duration is not null; `constant`
    is the number of nanoseconds or months of a constant duration.
    """

    js: str
    kind: Kind = "any"
    guards: tuple[str, ...] = ()
    loose: str = ""
    simple: bool = False
    factors: int = 0
    digits: int = 0
    sure: bool = False
    constant: int | None = None

    @property
    def short(self) -> str:
        return self.loose or self.js


def print_helper_call(helper: str, *arguments: str) -> str:
    """A call of a helper."""
    return f"{helper}({', '.join(arguments)})"


Scope = Mapping[str, Value]
"""Values of the names that an expression defines."""


class ExactRow(NamedTuple):
    """How an operation, or another kind of node, of programs over exact values is printed.

    Args:
        value: inline code of the value from the inline printer, the node, its scope, and whether
            it has to be a number, if there is such a form.
        truth: inline code of whether the node has a truth value, from the inline printer, the node,
            the truth value and its scope, if there is such a form; `None` as a result, if the node
            has none.
        runtime: code that calls the runtime, in which every node has a form.
    """

    value: Callable[[Any, Any, Scope, bool], Value] | None
    truth: Callable[[Any, Any, bool, Scope], str | None] | None
    runtime: Callable[[Any, Any], str]


ExactRows = Mapping[str | type[Node], ExactRow]
"""Rows by the names of operations, and by the kinds of other nodes."""
