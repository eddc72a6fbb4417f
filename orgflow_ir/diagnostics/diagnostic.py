"""Diagnostics as values: a fault of a model, its place, and the fix as data."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from orgflow_ir.diagnostics.rule import Category, Severity
from orgflow_ir.model.edits import Edit
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.model.value import Value


class Step(NamedTuple):
    """One step of a run of the token game.

    `action` is `start`, `fire` (an element that does not wait), `open` or `done` (one that does);
    `taken` are the ids of the flows that received a token; `instance` numbers process instances.
    """

    action: str
    element: str
    taken: tuple[str, ...] = ()
    instance: int = 0


class Related(Value):
    """A related place of a diagnostic."""

    message: str
    element: str | None = None
    loc: SourceLocation | None = field(default=None, compare=False)


Applicability = Literal["safe", "unsafe", "manual"]


class Fix(Value):
    """A change that resolves a diagnostic. Safe: the fault is fixed without loss."""

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()


class Diagnostic(Value):
    """One fault, reported once: lower case, no full stop, elements in backticks by their label.

    `message` states the fault; only `help` states the remedy. `category` and `target` are those of
    its rule. `trace` is a run that shows the fault. `suppressed` is the reason for accepting it;
    such a finding does not affect the exit code.
    """

    code: str
    name: str
    severity: Severity
    message: str
    category: Category | None = None
    target: str | None = None
    element: str | None = None
    loc: SourceLocation | None = field(default=None, compare=False)
    related: tuple[Related, ...] = ()
    trace: tuple[Step, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    source: str | None = None
    suppressed: str | None = None
