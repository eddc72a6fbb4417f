"""Random expressions, and their texts in each language: the printers are the parsers' referees."""

from __future__ import annotations

import json
import random
from typing import assert_never

from orgflow_ir.languages.expression_parser import Parser
from orgflow_ir.languages.feel_conditions import FeelParser
from orgflow_ir.languages.javascript import GroovyParser, JavaScriptParser
from orgflow_ir.languages.juel import JuelParser
from orgflow_ir.program.syntax import (
    Arithmetic,
    Comparison,
    Constant,
    Empty,
    EntryPath,
    Logical,
    Meaning,
    Negative,
    Not,
    Scalar,
    Tree,
    Variable,
)

PARSERS: dict[str, type[Parser]] = {
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
    meaning = PARSERS[language].meaning
    kind = rng.choice("cvnmelllccaa") if depth else rng.choice("cv")
    if kind == "v":
        path = rng.choice(PATHS)
        rules = PARSERS[language].entries
        if rules is None or len(path) == 1:
            return Variable(path)
        return EntryPath(path, counted=(), got=(), rules=rules)
    if kind == "n" or (kind == "e" and language == "groovy"):  # which has no `empty`
        return Not(tree(rng, language, depth - 1), meaning)
    if kind == "m":
        return Negative(tree(rng, language, depth - 1), meaning)
    if kind == "e":
        return Empty(tree(rng, language, depth - 1))
    if kind == "c" and (not depth or rng.random() < 0.5):
        return Constant(rng.choice(SCALARS))
    left, right = tree(rng, language, depth - 1), tree(rng, language, depth - 1)
    if kind == "l":
        return Logical(rng.choice(("and", "or")), left, right, meaning)
    if kind == "a":
        return Arithmetic(rng.choice(("+", "-", "*", "/", "%")), left, right, meaning)
    operator = rng.choice(("==", "!=", "<", "<=", ">", ">="))
    equality: Meaning = meaning
    if operator in ("==", "!=") and language == "javascript" and rng.random() < 0.5:
        equality = "strict"
    return Comparison(operator, left, right, equality)


def text(found: Tree, language: str) -> str:
    """The tree in `language`, with every operation in parentheses."""
    words = language in ("feel", "juel")
    match found:
        case Constant(value):
            return _constant(value)
        case Variable(path):
            return ".".join(path)
        case Not(operand):
            return (
                f"(not ({text(operand, language)}))" if words else f"!({text(operand, language)})"
            )
        case Negative(operand):
            return f"-({text(operand, language)})"
        case Empty(operand):
            return f"empty ({text(operand, language)})"
        case Logical(operator, left, right):
            sign: str = operator if words else {"and": "&&", "or": "||"}[operator]
        case Comparison(operator, left, right, meaning):
            sign = {"==": "="}.get(operator, operator) if language == "feel" else operator
            sign += "=" if meaning == "strict" else ""
        case Arithmetic(operator, left, right):
            sign = operator
        case _:
            assert_never(found)
    return f"({text(left, language)} {sign} {text(right, language)})"


def _constant(value: Scalar) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)
