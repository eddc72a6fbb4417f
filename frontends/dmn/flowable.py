"""Cells of decision tables in Flowable's syntax, in FEEL.

Flowable accepts DMN files and reads their cells as its own expressions, with the input before
them: `== 'open'`, `!= 5`, `.startsWith('t')`, and `${collection:contains(items, 20)}`, which is a
complete condition. None of these is FEEL, so no cell is ambiguous. Its `==` converts values, unlike
FEEL's: a cell is read only if its column declares the type of the comparison. If the input is null,
a method is an error in Flowable, and here no match.
"""

from __future__ import annotations

import re

_VALUES = {
    "string": r"'(?P<single>[^'\"\\]*)'|\"[^\"\\]*\"",
    "number": r"-?\d+(?:\.\d+)?",
    "boolean": r"true|false",
}
"""The permitted comparison values of a cell, by the type of the column."""

_TYPES = {"integer": "number", "long": "number", "double": "number"}

_METHODS = {"startsWith": "starts with", "endsWith": "ends with", "contains": "contains"}
_METHOD = re.compile(r"\s*\.(\w+)\((['\"])([^'\"\\]*)\2\)\s*")
_CONTAINS = re.compile(
    r"\s*\$\{\s*collection:contains\(\s*([A-Za-z_][\w.]*)\s*,\s*([^,()]+?)\s*\)\s*\}\s*"
)


def in_feel(cell: str, type_ref: str | None) -> str:
    """A cell of an input column in FEEL; unchanged if it is not Flowable's or not supported.

    Example:
        in_feel("== 'open'", "string") == '"open"'
    """
    kind = _TYPES.get(type_ref or "", type_ref or "")
    if kind in _VALUES:
        match = re.fullmatch(rf"\s*(==|!=)\s*(?P<value>{_VALUES[kind]})\s*", cell)
        if match is not None:
            value = _feel_value(match["value"])
            return value if match[1] == "==" else f"not({value})"
    called = _METHOD.fullmatch(cell)
    if called is not None and called[1] in _METHODS and kind == "string":
        return f'{_METHODS[called[1]]}(?, "{called[3]}")'
    asked = _CONTAINS.fullmatch(cell)
    if asked is not None:
        constant = (re.fullmatch(values, asked[2]) for values in _VALUES.values())
        if any(constant):
            found_in = f"list contains({asked[1]}, {_feel_value(asked[2])})"
            return f"{found_in} and (? = null or ? != null)"  # with `?` it is a test by itself
    return cell


def output_in_feel(cell: str) -> str:
    """A text in single quotes, as an output cell may have it, in FEEL."""
    match = re.fullmatch(r"\s*'([^'\"\\]*)'\s*", cell)
    return cell if match is None else f'"{match[1]}"'


def _feel_value(text: str) -> str:
    return f'"{text[1:-1]}"' if text.startswith("'") else text
