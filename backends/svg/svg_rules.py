"""The rule of the SVG backend."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class UnknownHighlight(Rule):
    """
    What it finds
        An element to highlight that is not in the model or not in the diagram.
    Why it is wrong
        The picture would silently lack the highlight.
    Example
        --target "svg{highlight=chekc}" for a model whose task has the id `check`.
    Instead
        Use ids of the model, separated by +; `orgflowc compile MODEL --target ir` prints them.
    """

    code = "OF495"
    name = "unknown-highlight"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "svg"
