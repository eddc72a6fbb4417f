"""Reads n8n's expressions without executing them: whether they are complete, and which nodes they
name.

n8n checks none of this before a run (N8N.md: "Run time only: expression syntax, reference to a
missing node"). The text around `{{ }}` is split in n8n's way: the first `}}` without an odd number
of preceding backslashes ends an expression, even inside a string or an object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model.records import NamedTuple

_QUOTED = r"""'[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+'|"[^"\\\n]*+(?:\\[\s\S][^"\\\n]*+)*+\""""
_SIGN = r"""[^\w$\s()\[\]{}`'"/]"""
_TOKEN: Final = lazy_pattern(
    # Spaces and signs belong to the token after them: of a sign it only matters whether a slash
    # follows.
    rf"""(?:\s|{_SIGN})*+(?:(?P<string>{_QUOTED})
                            |(?P<word>[\w$]+)
                            |(?P<open>[(\[{{])
                            |(?P<close>[)\]}}])
                            |(?P<tick>`)
                            |(?P<quote>['"]))
      |(?P<space>\s++(?!{_SIGN})|//[^\n]*|/\*[\s\S]*?\*/)
      |(?P<sign>(?:\s|{_SIGN})++)
      |(?P<comment>/\*)
      |(?P<slash>/)""",
    re.VERBOSE,
)
_TEMPLATE: Final = lazy_pattern(r"(?:[^`\\$]|\\[\s\S]|\$(?!\{))*")
_REGEX: Final = lazy_pattern(r"/(?![*/])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_REFERENCE: Final = lazy_pattern(rf"\s*[(\[]\s*({_QUOTED}|`(?:[^`\\$]|\\[\s\S])*`)\s*[)\]]")
_REFERRING: Final = frozenset({"$", "$node", "$items"})
# After these a slash begins a regular expression; after any other word it divides.
_BEFORE_REGEX: Final = frozenset(
    {"await", "case", "delete", "do", "else", "in", "of", "return", "throw", "typeof", "void"}
)
_CLOSER: Final = {"(": ")", "[": "]", "{": "}"}
_ESCAPE: Final = lazy_pattern(
    r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(\r\n|[\s\S]))"
)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_LINE_ENDS: Final = frozenset({"\n", "\r", "\r\n", "\u2028", "\u2029"})


class Reading(NamedTuple):
    """The faults of a text and the nodes that it names."""

    faults: tuple[str, ...]
    references: tuple[str, ...]


@lru_cache(maxsize=20_000)
def read_parameter(text: str) -> Reading:
    """A text parameter in n8n's reading: an expression if it begins with `=`."""
    if not text.startswith("="):
        return Reading((), ())
    faults: list[str] = []
    references: list[str] = []
    position = 1
    expressions = 0
    while True:
        start = _find_brackets(text, "{{", position)
        stray = _find_brackets(text, "}}", position)
        if stray >= 0 and (start < 0 or stray < start):
            faults.append("`}}` without `{{` before it")
        if start < 0:
            break
        expressions += 1
        end = _find_brackets(text, "}}", start + 2)
        if end < 0:
            faults.append("`{{` is never closed")
            break
        body = text[start + 2 : end].replace("\\}}", "}}", 1)
        reading = read_code(body)
        references += reading.references
        if not body.strip():
            faults.append("the expression is empty")
        elif reading.faults and _find_brackets(text, "}}", end + 2) >= 0:
            faults.append(f"{reading.faults[0]}: n8n ends an expression at `}}}}`, write `}} }}`")
            break
        else:
            faults += reading.faults
        position = end + 2
    if expressions == 0 and not faults:
        faults.append("begins with `=` but contains no `{{ }}`, so n8n drops the `=`")
    return Reading(tuple(faults), tuple(references))


@lru_cache(maxsize=20_000)
def read_code(code: str) -> Reading:
    """JavaScript: whether its quotes and brackets are balanced, and the nodes it names."""
    reader = _CodeReader(code)
    while reader.position < len(code):
        if reader.waiting and reader.waiting[-1] == "`":
            reader.read_template()
            continue
        match = _TOKEN.match(code, reader.position)
        if match is None:  # cannot happen: every character is in one of the groups
            break
        kind = match.lastgroup
        assert kind is not None
        reader.position = match.end()
        fault = _TOKEN_KINDS[kind](reader, match[kind])
        if fault:
            return Reading((fault,), tuple(reader.references))
    faults = (f"`{reader.waiting[-1]}` is never closed",) if reader.waiting else ()
    return Reading(faults, tuple(reader.references))


class _CodeReader:
    """The state of the reader of one piece of code, with a method for each kind of token, which
    returns a fault or an empty text.

    Attributes:
        code: the code, read up to `position`.
        references: the nodes that it has named.
        waiting: brackets that are open; a backtick for a template.
        value_before: whether a slash would divide what stands before it.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.position = 0
        self.references: list[str] = []
        self.waiting: list[str] = []
        self.value_before = False

    def read_template(self) -> None:
        """The text of a template up to its end, or to an expression in it."""
        match = _TEMPLATE.match(self.code, self.position)
        self.position = match.end() if match else self.position
        if self.position >= len(self.code):
            return
        self.value_before = self.code[self.position] == "`"
        if self.value_before:
            self.waiting.pop()
            self.position += 1
        else:
            self.waiting.append("${")
            self.position += 2

    def skip_token(self, token: str) -> str:
        """Space, and whole comments."""
        del token
        return ""

    def read_word(self, token: str) -> str:
        """A name or a keyword, which may name a node."""
        self.value_before = token not in _BEFORE_REGEX
        if token in _REFERRING:
            called = _REFERENCE.match(self.code, self.position)
            if called is not None:
                self.references.append(unescape_text(called[1][1:-1]))
        return ""

    def read_string(self, token: str) -> str:
        """A text in quotes."""
        del token
        self.value_before = True
        return ""

    def open_bracket(self, token: str) -> str:
        """An opening bracket."""
        self.waiting.append(token)
        self.value_before = False
        return ""

    def close_bracket(self, token: str) -> str:
        """A closing bracket; the fault where none is open."""
        opener = self.waiting.pop() if self.waiting else ""
        if opener == "${" and token == "}":
            return ""  # back in the template
        if _CLOSER.get(opener) != token:
            return f"`{token}` without its opening bracket"
        self.value_before = True
        return ""

    def open_template(self, token: str) -> str:
        """A backtick."""
        self.waiting.append(token)
        return ""

    def read_slash(self, token: str) -> str:
        """A division, or a regular expression."""
        del token
        regex = None if self.value_before else _REGEX.match(self.code, self.position - 1)
        if regex is not None:
            self.position = regex.end()
        self.value_before = regex is not None
        return ""

    def read_sign(self, token: str) -> str:
        """An operator."""
        del token
        self.value_before = False
        return ""

    def report_quote(self, token: str) -> str:
        """A quote without its end."""
        return f"the quote `{token}` is never closed"

    def report_comment(self, token: str) -> str:
        """A comment without its end."""
        del token
        return "a comment is never closed"


_TOKEN_KINDS: Final[Mapping[str, Callable[[_CodeReader, str], str]]] = {
    "space": _CodeReader.skip_token,
    "word": _CodeReader.read_word,
    "string": _CodeReader.read_string,
    "open": _CodeReader.open_bracket,
    "close": _CodeReader.close_bracket,
    "tick": _CodeReader.open_template,
    "slash": _CodeReader.read_slash,
    "sign": _CodeReader.read_sign,
    "quote": _CodeReader.report_quote,
    "comment": _CodeReader.report_comment,
}
"""What reads a token, by the group of `_TOKEN` that it is in."""


def _find_brackets(text: str, brackets: str, position: int) -> int:
    """Where the brackets stand next, skipping those that a backslash hides from n8n."""
    while True:
        bracket = text.find(brackets, position)
        if bracket < 0:
            return bracket
        before = bracket
        while before > position and text[before - 1] == "\\":
            before -= 1
        if (bracket - before) % 2 == 0:
            return bracket
        position = bracket + 2


def unescape_text(quoted: str) -> str:
    """The text that the inside of a literal of JavaScript stands for."""

    def unescape_match(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3]
        if digits is None:
            return "" if match[4] in _LINE_ENDS else _ESCAPED.get(match[4], match[4])
        point = int(digits, 16)
        return chr(point) if point <= 0x10FFFF else ""

    if "\\" not in quoted:
        return quoted
    text = _ESCAPE.sub(unescape_match, quoted)
    # A pair of surrogate escapes is one character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
