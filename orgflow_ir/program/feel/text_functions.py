"""Functions of strings (DMN 1.5, 10.3.4.3). Characters are code points."""

from __future__ import annotations

import re
from decimal import Decimal

from orgflow_ir.program.feel.numbers import to_integer
from orgflow_ir.program.feel.patterns import compile_pattern, replacement_parts
from orgflow_ir.program.feel.values import Value


def substring(string: str, position: Decimal, length: Decimal | None = None) -> Value:
    start = to_integer(position.to_integral_value("ROUND_DOWN"))
    count = None if length is None else to_integer(length.to_integral_value("ROUND_DOWN"))
    if not start or abs(start) > len(string) or (count is not None and count < 1):
        return None
    first = start - 1 if start > 0 else len(string) + start
    return string[first:] if count is None else string[first : first + count]


def string_length(string: str) -> Value:
    return Decimal(len(string))


def upper_case(string: str) -> Value:
    return string.upper()


def lower_case(string: str) -> Value:
    return string.lower()


def substring_before(string: str, match: str) -> Value:
    return string.partition(match)[0] if match and match in string else ""


def substring_after(string: str, match: str) -> Value:
    return string.partition(match)[2] if match else string


def replace(input: str, pattern: str, replacement: str, flags: str | None = None) -> Value:
    regex = compile_pattern(pattern, flags or "")
    if regex is None or regex.search("") is not None:
        return None
    parts = replacement_parts(replacement, regex.groups)
    if parts is None:
        return None

    def filled(match: re.Match[str]) -> str:
        return "".join(p if isinstance(p, str) else match.group(p) or "" for p in parts)

    return regex.sub(filled, input)


def contains(string: str, match: str) -> Value:
    return match in string


def starts_with(string: str, match: str) -> Value:
    return string.startswith(match)


def ends_with(string: str, match: str) -> Value:
    return string.endswith(match)


def matches(input: str, pattern: str, flags: str | None = None) -> Value:
    regex = compile_pattern(pattern, flags or "")
    return None if regex is None else regex.search(input) is not None


def split(string: str, delimiter: str) -> Value:
    regex = compile_pattern(delimiter, "")
    if regex is None or regex.search("") is not None:
        return None
    pieces, end = [], 0
    for match in regex.finditer(string):
        pieces.append(string[end : match.start()])
        end = match.end()
    return (*pieces, string[end:])


def string_join(list_: tuple[Value, ...], delimiter: Value = None) -> Value:
    if any(part is not None and not isinstance(part, str) for part in list_):
        return None
    if delimiter is not None and not isinstance(delimiter, str):
        return None
    return (delimiter or "").join(part for part in list_ if part is not None)
