"""Literals and names in generated JavaScript. No text of a source is ever copied into code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from orgflow_ir.lazy_patterns import lazy_pattern

if TYPE_CHECKING:
    from orgflow_ir.program.syntax import Scalar

# n8n refuses to evaluate an expression in which this stands, be it in a string.
_REFUSED = lazy_pattern(r"(\.\s*)constructor")


def without_refused(literal: str) -> str:
    """The same string literal, in a form that n8n does not treat as access to a constructor."""
    return _REFUSED.sub(r"\1\\u0063onstructor", literal)


def js_string(text: str) -> str:
    """A JavaScript string literal that n8n evaluates: it can neither end (`}}`) nor open an
    expression, and contains nothing that n8n refuses."""
    quoted = json.dumps(text, ensure_ascii=False)
    quoted = quoted.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return without_refused(quoted).replace("{{", "{\\u007b").replace("}}", "}\\u007d")


def property_name(name: str) -> str:
    """A variable as the key of an object in JavaScript."""
    return name if is_plain_name(name) else js_string(name)


def property_of(owner: str, name: str) -> str:
    """JavaScript that reads a variable from an object; with the owner `?`, the end of a read that
    gives undefined without an object."""
    if is_plain_name(name):
        return f"{owner}.{name}"
    return f"{owner}{'.' if owner == '?' else ''}[{js_string(name)}]"


def is_plain_name(name: str) -> bool:
    """Whether a name can be written after a point."""
    special = name.startswith("constructor") or name[:2] == "__"
    return name.isidentifier() and name.isascii() and not special


def constant_literal(value: Scalar) -> str:
    """A literal of a constant. Raises `TypeError` for a decimal, which JavaScript does not have."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return js_string(value)
    if not isinstance(value, int | float):
        raise TypeError("a decimal is a constant of programs over exact values only")
    return repr(value)
