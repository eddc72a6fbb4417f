"""Diagnostics: what is wrong with a user's model, as values; rules, fixes and reporters."""

from orgflow_ir.diagnostics.diagnostic import Applicability, Diagnostic, Edit, Fix, Related, Step
from orgflow_ir.diagnostics.fixes import FixError, apply
from orgflow_ir.diagnostics.rule import Category, RetiredRule, Rule, Severity

__all__ = [
    "Applicability", "Category", "Diagnostic", "Edit", "Fix", "FixError", "Related", "RetiredRule",
    "Rule", "Severity", "Step", "apply",
]  # fmt: skip
