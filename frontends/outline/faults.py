"""Faults of an outline as values: where, what, and the remedy."""

from __future__ import annotations

from typing import Literal

from orgflow_ir.model.records import NamedTuple

FaultKind = Literal["unread", "ended-branch", "reference", "size"]


class Fault(NamedTuple):
    """A fault of a line; `kind` decides on the rule that reports it."""

    kind: FaultKind
    line: int
    column: int
    message: str
    help: str
