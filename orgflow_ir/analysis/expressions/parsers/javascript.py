"""JavaScript, and Groovy and Python as far as they are the same on this level."""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.analysis.expressions.parsers.core import Parser
from orgflow_ir.analysis.expressions.syntax import ComparisonOperator, Meaning


class JavaScriptParser(Parser):
    """Comparisons and logic of JavaScript. A single `=` would assign: whoever knows that a text is
    JavaScript refuses it before (`recognise`); in a text of no known language it compares."""

    meaning: ClassVar[Meaning] = "loose"
    signs: ClassVar[dict[str, tuple[ComparisonOperator, Meaning]]] = {
        "==": ("==", "loose"), "!=": ("!=", "loose"), "===": ("==", "strict"),
        "!==": ("!=", "strict"), "=": ("==", "feel"), "<>": ("!=", "feel"),
    }  # fmt: skip


class GroovyParser(JavaScriptParser):
    """Groovy's `==` is `equals`, of Python's the same is true on this level."""

    meaning: ClassVar[Meaning] = "java"
    signs: ClassVar[dict[str, tuple[ComparisonOperator, Meaning]]] = {
        **JavaScriptParser.signs, "==": ("==", "java"), "!=": ("!=", "java"),
    }  # fmt: skip
