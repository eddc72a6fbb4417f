"""JavaScript, and the subset of Groovy and Python with the same expressions."""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.analysis.expressions.parsers.core import Parser
from orgflow_ir.analysis.expressions.syntax import ComparisonOperator, Meaning


class JavaScriptParser(Parser):
    """Comparisons and logic of JavaScript. A single `=` is an assignment: callers that know the
    text is JavaScript refuse it first (`recognise`); in a text of unknown language it compares."""

    meaning: ClassVar[Meaning] = "loose"
    signs: ClassVar[dict[str, tuple[ComparisonOperator, Meaning]]] = {
        "==": ("==", "loose"), "!=": ("!=", "loose"), "===": ("==", "strict"),
        "!==": ("!=", "strict"), "=": ("==", "feel"), "<>": ("!=", "feel"),
    }  # fmt: skip


class GroovyParser(JavaScriptParser):
    """Groovy's `==` is `equals`; Python's has the same meaning here."""

    meaning: ClassVar[Meaning] = "java"
    signs: ClassVar[dict[str, tuple[ComparisonOperator, Meaning]]] = {
        **JavaScriptParser.signs, "==": ("==", "java"), "!=": ("!=", "java"),
    }  # fmt: skip
