"""A gap as a value: the missing information and the schema of an answer."""

from __future__ import annotations

from typing import Any, Literal

from orgflow_ir.diagnostics import Rule, Severity
from orgflow_ir.model import Element
from orgflow_ir.model.records import NamedTuple

GapKind = Literal[
    "task", "decision", "variable", "branch", "time", "message", "condition", "single-branch",
    "start", "list", "repetition", "doubt",
]  # fmt: skip


class Gap(NamedTuple):
    """Information that the source does not contain.

    Args:
        kind: the kind of information; one rule may ask for several kinds (a decision has labels
            instead of conditions, or conditions that read a variable).
        rule: the rule that reports it.
        element: the element concerned; an answer changes this element or its flows.
        scope: id of the process or sub-process that contains the element.
        message, help: as in a diagnostic, without any target.
        schema: JSON Schema (2020-12) of an answer; `None` if the model cannot hold one, so that
            only a person can change the diagram.
        default: a description of what a target does until there is an answer.
        severity: that of the diagnostic, where it differs from the rule's.
    """

    kind: GapKind
    rule: type[Rule]
    element: Element
    scope: str
    message: str
    help: str
    schema: dict[str, Any] | None
    default: str
    severity: Severity | None = None
