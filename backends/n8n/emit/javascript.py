"""Conditions and texts as JavaScript, the language of n8n's expressions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from orgflow_ir.analysis.expressions.conditions import Ast

# n8n refuses to evaluate an expression in which this stands, be it in a string.
_REFUSED = re.compile(r"(\.\s*)constructor")


def without_refused(literal: str) -> str:
    """The same string literal, in which n8n sees no attempt to reach a constructor."""
    return _REFUSED.sub(r"\1\\u0063onstructor", literal)


def js_string(text: str) -> str:
    """A JavaScript string literal that n8n evaluates: it cannot end an expression (`}}`) or open
    one, and says nothing that n8n refuses."""
    quoted = json.dumps(text, ensure_ascii=False)
    quoted = quoted.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return without_refused(quoted).replace("{{", "{\\u007b").replace("}}", "}\\u007d")


def to_js(tree: Ast, variable: Callable[[tuple[str, ...]], str]) -> str:
    """JavaScript for a tree; `variable` says how a variable is read."""
    kind = tree[0]
    if kind == "num":
        return repr(tree[1])
    if kind == "str":
        return js_string(tree[1])
    if kind == "bool":
        return "true" if tree[1] else "false"
    if kind == "null":
        return "null"
    if kind == "var":
        return variable(tree[1])
    if kind == "not":
        return f"!({to_js(tree[1], variable)})"
    if kind == "neg":
        return f"-({to_js(tree[1], variable)})"
    if kind == "empty":
        return f"((v) => v == null || v.length === 0)({to_js(tree[1], variable)})"
    op, left, right = tree[1:]
    return f"({to_js(left, variable)} {op} {to_js(right, variable)})"
