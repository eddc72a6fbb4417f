"""Rules: faults with stable codes, each explained by its docstring.

A code never changes its meaning and is never reused.
"""

from __future__ import annotations

import inspect
from enum import StrEnum
from typing import ClassVar

from orgflow_ir.model.records import NamedTuple

CODE_FORM = r"[A-Z][A-Z0-9]{1,7}[0-9]{3}"
"""Form of every code, as a regular expression: the prefix of its owner (OF, N8N, BOARD), a number
of three digits."""


class Severity(StrEnum):
    """Severity: an error sets exit code 1, a warning only with `--strict`."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for errors, 1 for warnings, 2 for infos: the order in reports."""
        return ("error", "warning", "info").index(self.value)


class Category(StrEnum):
    """The subject of a finding. Commands, reports and suppressions use the category, never the
    code."""

    INPUT = "input"
    """The call, the configuration, a plugin, or a file that cannot be read as its format."""
    MALFORMED = "malformed"
    """A model that breaks a rule of its language, so its meaning is unclear."""
    FLOW = "flow"
    """Deadlocks, endless loops, duplicate execution, leftover tokens."""
    DATA = "data"
    """Conditions, variables, messages between participants."""
    TARGET = "target"
    """Constructs that a target does not support or executes differently, and faults in a target's
    own files."""
    GAP = "gap"
    """Information that the source does not contain."""
    DEPLOY = "deploy"
    """Deploying to a server, running there, replaying its executions."""
    STYLE = "style"
    """Style that BPMN leaves open: labels, splits without a gateway, layout."""
    INTERNAL = "internal"
    """A defect of orgflow or of a plugin."""

    @property
    def is_about_model(self) -> bool:
        """Whether the author of a model may suppress such a finding."""
        return self in _ABOUT_MODELS

    @property
    def stops(self) -> bool:
        """Whether an error of this category leaves no model for later stages."""
        return self in (Category.INPUT, Category.MALFORMED, Category.INTERNAL)


_ABOUT_MODELS = frozenset(
    (Category.MALFORMED, Category.FLOW, Category.DATA, Category.TARGET, Category.GAP,
     Category.STYLE)
)  # fmt: skip


class Rule:
    """A fault with a stable code.

    Subclass it: `explain CODE` prints the docstring, with the sections What it finds / Why it is
    wrong / Example / Instead; `name` names the fault (`deadlocked-join`). A rule of one target
    names it in `target`, and its code begins with the target's prefix (`N8N001`, `ASL001`); codes
    that begin with OF are older or apply to every target. An `optional` rule reports only if a
    preset or a project's configuration turns it on; these are style rules, on which teams differ.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    category: ClassVar[Category]
    target: ClassVar[str | None] = None
    optional: ClassVar[bool] = False

    @classmethod
    def explanation(cls) -> str:
        """The docstring, dedented."""
        return inspect.cleandoc(cls.__doc__ or "")


class RetiredRule(NamedTuple):
    """A retired rule: its code and name remain valid as aliases.

    `explain` prints the rule with the code `successor`, and a suppression of the old code or name
    covers the findings of that rule.
    """

    code: str
    name: str
    successor: str
