"""JUEL, the unified expression language (Jakarta EL 3.0): `${…}` and `#{…}` in Java engines."""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.analysis.expressions.parsers.core import Parser
from orgflow_ir.analysis.expressions.syntax import ComparisonOperator, Meaning


class JuelParser(Parser):
    """Comparisons, logic and `empty` of JUEL; a single `=` is read as FEEL's."""

    meaning: ClassVar[Meaning] = "juel"
    signs: ClassVar[dict[str, tuple[ComparisonOperator, Meaning]]] = {
        "==": ("==", "juel"), "!=": ("!=", "juel"), "=": ("==", "feel"), "<>": ("!=", "feel"),
        "===": ("==", "strict"), "!==": ("!=", "strict"),
    }  # fmt: skip
