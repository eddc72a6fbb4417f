"""The rule of the backend of procedural graphs."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class LeftOutOfTriples(Rule):
    """
    What it finds
        Parts of a process that a procedural graph cannot express and that do not affect the order
        of its steps (types of tasks, implementations, documentation), and characters in labels that
        are part of its syntax, such as arrows and bars, which are replaced.
    Why it is wrong
        The order of steps is complete, but a process read from the file lacks these parts.
    Example
        A service task with an HTTP call, compiled with --target triples: its label is kept.
    Instead
        Keep the original model, or use --target bpmn, which keeps all parts.
    """

    code = "TRIPLES001"
    name = "left-out-of-triples"
    severity = Severity.INFO
    category = Category.TARGET
    target = "triples"
