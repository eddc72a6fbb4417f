"""The rule of the SVG backend."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class UnknownHighlight(Rule):
    """
    What it finds
        An element that is to be highlighted in a picture and is not in the model or not drawn.
    Why it is wrong
        The picture would silently not show what was asked for.
    Example
        --target "svg{highlight=chekc}" for a model whose task has the id `check`.
    Instead
        Give ids of the model, with + between them; `orgflowc compile MODEL --target ir` shows them.
    """

    code = "OF495"
    name = "unknown-highlight"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "svg"
