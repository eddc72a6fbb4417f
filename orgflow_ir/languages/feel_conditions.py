"""FEEL (DMN 1.3, chapter 10), as Camunda 8 writes it after a leading `=`."""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.languages.expression_parser import Parser
from orgflow_ir.program.syntax import ComparisonOperator, Meaning


class FeelParser(Parser):
    """Comparisons and logic of FEEL. `==` is not a FEEL operator; engines that accept it convert
    it."""

    meaning: ClassVar[Meaning] = "feel"
    signs: ClassVar[dict[str, tuple[ComparisonOperator, Meaning]]] = {
        "=": ("==", "feel"), "!=": ("!=", "feel"), "<>": ("!=", "feel"), "==": ("==", "loose"),
        "===": ("==", "strict"), "!==": ("!=", "strict"),
    }  # fmt: skip
