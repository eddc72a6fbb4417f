"""Diagnostics: faults of a user's model, as values; rules, fixes and reporters."""

from orgflow_ir.diagnostics.diagnostic import Applicability, Diagnostic, Fix, Related, Step
from orgflow_ir.diagnostics.fixes import FixError, apply, in_full
from orgflow_ir.diagnostics.rule import Category, RetiredRule, Rule, Severity
from orgflow_ir.model.edits import Edit

__all__ = [
    "Applicability", "Category", "Diagnostic", "Edit", "Fix", "FixError", "Related", "RetiredRule",
    "Rule", "Severity", "Step", "apply", "in_full",
]  # fmt: skip
