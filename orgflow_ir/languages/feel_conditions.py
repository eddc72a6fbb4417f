"""FEEL (DMN 1.3, chapter 10), as Camunda 8 writes it after a leading `=`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from orgflow_ir.languages.expression_parser import Parser
from orgflow_ir.program.ecmascript_operators import LOOSE, STRICT
from orgflow_ir.program.feel_operators import FEEL
from orgflow_ir.program.operators import Operators
from orgflow_ir.program.syntax import Comparison, Operation


class FeelParser(Parser):
    """Comparisons and logic of FEEL. `==` is not a FEEL operator; engines that accept it convert
    it."""

    operators: ClassVar[Operators] = FEEL
    signs: ClassVar[Mapping[str, Operation[Comparison]]] = {
        "=": FEEL.comparison["=="], "!=": FEEL.comparison["!="], "<>": FEEL.comparison["!="],
        "==": LOOSE.comparison["=="], "===": STRICT["=="], "!==": STRICT["!="],
    }  # fmt: skip
