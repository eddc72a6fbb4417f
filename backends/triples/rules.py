"""The rule of the backend of procedural graphs."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class LeftOutOfTriples(Rule):
    """
    What it finds
        Parts of a process that a procedural graph has no words for and that do not change the order
        of its steps (kinds of tasks, what they do, documentation), and labels with signs that its
        lines use themselves, such as arrows and bars, which are replaced.
    Why it is wrong
        Nothing is wrong; they are not in the file, so a process that is made of it lacks them.
    Example
        A service task with an HTTP call, compiled with --target triples: its label is kept.
    Instead
        Keep the model that the graph was made of, or take --target bpmn, which has all of it.
    """

    code = "TRIPLES001"
    name = "left-out-of-triples"
    severity = Severity.INFO
    category = Category.TARGET
    target = "triples"
