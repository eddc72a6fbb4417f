"""Rules about procedural graphs: OF074 and OF075."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class NotGraph(Rule):
    """
    What it finds
        A file of the format `triples` without a single `A -> B`.
    Why it is wrong
        It contains no process.
    Example
        First we check the order, then we ship it.
    Instead
        Start -> check the order -> ship the order -> End
    """

    code = "OF074"
    name = "not-a-graph"
    severity = Severity.ERROR
    category = Category.INPUT


class UnreadLine(Rule):
    """
    What it finds
        A line of a procedural graph that is neither a flow, nor a step with an id, nor an actor, or
        a line that may name one step or several.
    Why it is wrong
        The line is ignored; the model may be incomplete.
    Example
        check the order, ship the order
    Instead
        check the order -> ship the order
    """

    code = "OF075"
    name = "unread-line"
    severity = Severity.WARNING
    category = Category.INPUT
