"""Conditions and texts as JavaScript, the language of n8n's expressions."""

from __future__ import annotations

import json
from collections.abc import Callable

from orgflow_ir.conditions import Ast


def js_string(text: str) -> str:
    """A JavaScript string literal that cannot end an n8n expression (`}}`) or open one."""
    quoted = json.dumps(text, ensure_ascii=False)
    quoted = quoted.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return quoted.replace("{{", "{\\u007b").replace("}}", "}\\u007d")


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
