"""The rule of the backend of outlines."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class LeftOutOfOutline(Rule):
    """
    What it finds
        Parts of a model that an outline cannot state and that do not affect its flow (types of
        tasks, implementations, documentation, names of joins), and characters in labels that are
        part of its syntax, such as bars, which are replaced.
    Why it is wrong
        The flow is complete, but a model read from the file lacks these parts.
    Example
        A service task with an HTTP call, compiled with --target outline: its label is kept.
    Instead
        Keep the original model, or use --target bpmn, which keeps all parts.
    """

    code = "OUTLINE001"
    name = "left-out-of-outline"
    severity = Severity.INFO
    category = Category.TARGET
    target = "outline"
