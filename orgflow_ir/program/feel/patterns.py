"""Regular expressions of FEEL (XQuery's, XML Schema's with anchors) for Python and JavaScript.

A pattern is parsed and rewritten for each engine, so that both find the same matches. Constructs
that one engine lacks (categories, blocks, subtraction of classes, back-references) raise
`Unsupported`; a malformed pattern or an unknown flag gives null.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

FLAGS = frozenset("smix")
_ESCAPES = {"n": "\\n", "r": "\\r", "t": "\\t"}
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": " \\t\\n\\r"}
_LITERAL = frozenset("\\|.-^?*+{}()[]$/")
_QUANTIFIER = re.compile(r"(?:[?*+]|\{\d+(?:,\d*)?\})\??", re.ASCII)
_META = frozenset("\\|.^?*+{}()[]$/")


class _Malformed(Exception):
    """No pattern."""


_SPACED = re.compile(r"[ \t\n\r]|(?P<kept>\\.|\[(?:\\.|[^\]\\])*\])", re.DOTALL)
"""Blanks, and what keeps its blanks with the flag `x`: escaped characters and classes."""


class _Reader:
    """Writes a pattern that Python and JavaScript (flag `u`) take for the same."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.pattern, self.at, self.depth = pattern, 0, 0
        self.dot = "[\\s\\S]" if "s" in flags else "[^\\n\\r]"
        self.lines = "m" in flags
        if "x" in flags:
            self.pattern = _SPACED.sub(lambda m: m["kept"] or "", pattern)

    def written(self) -> str:
        result = "".join(self.alternatives())
        if self.at < len(self.pattern):
            raise _Malformed
        return result

    def alternatives(self) -> list[str]:
        parts: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            sign = self.pattern[self.at]
            self.at += 1
            if sign == "|":
                parts.append("|")
                continue
            atom = self.atom(sign)
            quantifier = _QUANTIFIER.match(self.pattern, self.at)
            if quantifier is not None:
                if sign in "^$":
                    raise _Malformed
                self.at = quantifier.end()
                atom += quantifier.group()
            parts.append(atom)
        return parts

    def atom(self, sign: str) -> str:
        match sign:
            case ".":
                return self.dot
            case "^":
                return "(?:^|(?<=\\n))" if self.lines else "^"
            case "$":
                return "(?=\\n|(?![\\s\\S]))" if self.lines else "(?![\\s\\S])"
            case "(":
                return self.group()
            case "[":
                return self.char_class()
            case "\\":
                return self.escape()
            case "?" | "*" | "+" | "{" | "}" | "]" | ")":
                raise _Malformed
        return _escape_sign(sign)

    def group(self) -> str:
        opening = "("
        if self.pattern.startswith("?:", self.at):
            opening, self.at = "(?:", self.at + 2
        self.depth += 1
        if self.depth > 50:
            raise _Malformed
        inner = "".join(self.alternatives())
        self.depth -= 1
        if self.at >= len(self.pattern):
            raise _Malformed
        self.at += 1
        return f"{opening}{inner})"

    def escape(self) -> str:
        sign = self.next()
        if sign in _ESCAPES:
            return _ESCAPES[sign]
        if sign in _CLASSES:
            return f"[{_CLASSES[sign]}]"
        if sign.lower() in _CLASSES:
            return f"[^{_CLASSES[sign.lower()]}]"
        if sign in _LITERAL:
            return _escape_sign(sign)
        raise self.refused(sign)

    def refused(self, sign: str) -> Exception:
        from orgflow_ir.program.feel.values import Unsupported

        if sign in "pPiIcC" or sign.isdigit():
            return Unsupported(f"`\\{sign}` in a regular expression")
        return _Malformed()

    def next(self) -> str:
        if self.at >= len(self.pattern):
            raise _Malformed
        self.at += 1
        return self.pattern[self.at - 1]

    def char_class(self) -> str:
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        parts: list[str] = []
        while (sign := self.next()) != "]" or not parts:
            if sign == "[" or (sign == "-" and parts and self.pattern.startswith("[", self.at)):
                from orgflow_ir.program.feel.values import Unsupported

                raise Unsupported("a class within a class of a regular expression")
            if sign == "]":
                raise _Malformed
            parts.append(self.class_part(sign))
        return f"[{'^' if negated else ''}{''.join(parts)}]"

    def class_part(self, sign: str) -> str:
        low = self.class_sign(sign)
        following = self.pattern[self.at : self.at + 2]
        if following[:1] != "-" or following[1:] in ("]", "", "["):
            return low
        self.at += 1
        high = self.class_sign(self.next())
        if len(low) > 2 or len(high) > 2:
            raise _Malformed
        if _code_point(low) > _code_point(high):
            raise _Malformed
        return f"{low}-{high}"

    def class_sign(self, sign: str) -> str:
        if sign != "\\":
            return _in_class(sign)
        sign = self.next()
        if sign in _ESCAPES:
            return _ESCAPES[sign]
        if sign in _CLASSES:
            return _CLASSES[sign]
        if sign.lower() in _CLASSES:
            raise self.refused("p")
        if sign in _LITERAL:
            return _in_class(sign)
        raise self.refused(sign)


def _escape_sign(sign: str) -> str:
    return f"\\{sign}" if sign in _META else sign


def _in_class(sign: str) -> str:
    return "\\-" if sign == "-" else _escape_sign(sign)


def _code_point(sign: str) -> int:
    return ord({"\\n": "\n", "\\r": "\r", "\\t": "\t"}.get(sign, sign[-1]))


@lru_cache(maxsize=1_000)
def compile_pattern(pattern: str, flags: str) -> re.Pattern[str] | None:
    """A pattern in Python's syntax; `None` if it is malformed."""
    if not FLAGS.issuperset(flags):
        return None
    try:
        return re.compile(_Reader(pattern, flags).written(), re.IGNORECASE if "i" in flags else 0)
    except (_Malformed, re.error, OverflowError):
        return None


def rewrite_pattern(pattern: str, flags: str) -> str:
    """A pattern that `compile_pattern` accepts, in JavaScript's syntax with the flag `u`."""
    return _Reader(pattern, flags).written()


def replacement_parts(text: str, groups: int) -> Sequence[str | int] | None:
    """A replacement as texts and group numbers; `None` if it is malformed."""
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        sign, following = text[at], text[at + 1 : at + 2]
        at += 1
        if sign == "\\":
            if following not in ("\\", "$") or not following:
                return None
            parts.append(following)
            at += 1
        elif sign == "$":
            if not (following.isascii() and following.isdigit()):
                return None
            number, at = int(following), at + 1
            # As many digits as there is such a group.
            while text[at : at + 1].isascii() and text[at : at + 1].isdigit():
                longer = number * 10 + int(text[at])
                if longer > groups:
                    break
                number, at = longer, at + 1
            parts.append(number if number <= groups else "")
        else:
            parts.append(sign)
    return parts
