"""Random expressions, and their texts in each language: the printers are the parsers' referees."""

from __future__ import annotations

import json
import random

from orgflow_ir.languages.expression_parser import Parser
from orgflow_ir.languages.feel.reading import read_comparison
from orgflow_ir.languages.javascript import GroovyParser, JavaScriptParser
from orgflow_ir.languages.juel import JuelParser
from orgflow_ir.program import methods
from orgflow_ir.program.ecmascript_operators import STRICT
from orgflow_ir.program.feel_operators import FEEL
from orgflow_ir.program.syntax import (
    Arithmetic,
    ArithmeticOperator,
    Comparison,
    Constant,
    Empty,
    Logical,
    Negative,
    Not,
    Scalar,
    Tree,
    Variable,
)


class FeelParser:
    """FEEL's operators between variables and constants, with the members of other parsers."""

    operators, entries = FEEL, None

    def __init__(self, text: str) -> None:
        self.text = text

    def parse(self) -> Tree:
        """The tree of the text."""
        return read_comparison(self.text)


PARSERS: dict[str, type[Parser | FeelParser]] = {
    "feel": FeelParser, "juel": JuelParser, "javascript": JavaScriptParser, "groovy": GroovyParser,
}  # fmt: skip

SCALARS: tuple[Scalar, ...] = (
    0, 1, 2, 10, 2.5, 0.1, 1000, 12345678901234567890123, "", "1", "10", "2.5", "true", "a", "B",
    'say "no"', "it's", "back\\slash", " 7 ", "0x1F", "\u00e9\U0001f600", True, False, None,
)  # fmt: skip
"""Constants and values whose conversions differ from language to language."""

PATHS = (("a",), ("b",), ("order", "amount"), ("größe",))


def tree(rng: random.Random, language: str, depth: int = 4) -> Tree:
    """A random tree as the parser of `language` makes them."""
    operators = PARSERS[language].operators
    kind = rng.choice("cvnmelllccaa") if depth else rng.choice("cv")
    if kind == "v":
        path = rng.choice(PATHS)
        reading = PARSERS[language].entries
        return Variable(path, reading=reading if len(path) > 1 else None)
    if kind == "n" or (kind == "e" and language in ("groovy", "feel")):  # which have no `empty`
        return operators.negation(tree(rng, language, depth - 1))
    if kind == "m":
        return operators.negative(tree(rng, language, depth - 1))
    if kind == "e":
        return methods.EMPTY(tree(rng, language, depth - 1))
    if kind == "c" and (not depth or rng.random() < 0.5):
        return Constant(rng.choice(SCALARS))
    left, right = tree(rng, language, depth - 1), tree(rng, language, depth - 1)
    if kind == "l":
        return operators.logic[rng.choice(("and", "or"))](left, right)
    if kind == "a":
        signs: list[ArithmeticOperator] = ["+", "-", "*", "/", "%"]
        if language == "feel":
            signs.remove("%")
        return operators.arithmetic[rng.choice(signs)](left, right)
    operator = rng.choice(("==", "!=", "<", "<=", ">", ">="))
    if operator in ("==", "!=") and language == "javascript" and rng.random() < 0.5:
        return STRICT[operator](left, right)
    return operators.comparison[operator](left, right)


def text(found: Tree, language: str) -> str:
    """The tree in `language`, with every operation in parentheses."""
    words = language in ("feel", "juel")
    match found:
        case Constant(value):
            return _constant(value)
        case Variable(path):
            return ".".join(path)
        case Not():
            operand = text(found.operand, language)
            return f"(not ({operand}))" if words else f"!({operand})"
        case Negative():
            return f"-({text(found.operand, language)})"
        case Empty():
            return f"empty ({text(found.operand, language)})"
        case Logical():
            sign: str = found.operator if words else {"and": "&&", "or": "||"}[found.operator]
        case Comparison():
            operator = found.operator
            sign = {"==": "="}.get(operator, operator) if language == "feel" else operator
            sign += "=" if found.operation in STRICT.values() else ""
        case Arithmetic():
            sign = found.operator
        case _:
            raise AssertionError(found)
    return f"({text(found.left, language)} {sign} {text(found.right, language)})"


def _constant(value: Scalar) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)
