"""Rules: faults with stable codes, each explained by its docstring.

A code never changes its meaning and is never reused.
"""

from __future__ import annotations

import inspect
from enum import StrEnum
from typing import ClassVar


class Severity(StrEnum):
    """How bad: an error makes the exit code 1, a warning does with `--strict`."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for errors, 1 for warnings, 2 for infos: the order in which they are shown."""
        return ("error", "warning", "info").index(self.value)


class Rule:
    """A thing that can be wrong. Subclass it: the docstring is what `explain CODE` prints and has
    the sections What it finds / Why it is wrong / Example / Instead; `name` names the fault."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]

    @classmethod
    def explanation(cls) -> str:
        """The docstring, dedented."""
        return inspect.cleandoc(cls.__doc__ or "")
