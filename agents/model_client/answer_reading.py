"""Reads the output of language models: JSON in fences, with trailing text, truncated, or nearly
JSON.

Nothing is ever executed; the result is data that the caller validates.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from orgflow_ir.model.records import NamedTuple

MAX_CHARACTERS = 1_000_000
"""Maximum number of characters of an answer that are read."""

_MAX_DEPTH = 100


class UnreadableAnswer(ValueError):
    """An answer without a JSON value; the message is the end of a sentence."""


class ReadAnswer(NamedTuple):
    """A JSON value, and whether it was completed because the text ends within it."""

    value: Any
    truncated: bool = False


_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n`]*\n(.*?)(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)


def without_thinking(text: str) -> str:
    """The text without the reasoning that some models write before they answer."""
    return _THINKING.sub("", text[:MAX_CHARACTERS])


def fenced_text(text: str) -> str:
    """The content of the longest fence, otherwise the text itself; reasoning is removed.

    Example:
        >>> fenced_text("Here you are:\\n```mermaid\\nA --> B\\n```\\nAnything else?")
        'A --> B\\n'
    """
    plain = without_thinking(text)
    blocks = [match[2] for match in _FENCE.finditer(plain)]
    return max(blocks, key=len) if any(block.strip() for block in blocks) else plain


def read_json(text: str) -> ReadAnswer:
    """The first JSON object or list in an answer; a bare scalar if there is nothing else.

    Raises `UnreadableAnswer`.
    """
    plain = without_thinking(text).lstrip("\ufeff \t\r\n")
    candidates = [match[2] for match in _FENCE.finditer(plain)]
    for candidate in (*candidates, plain):
        answer = _first_value(candidate)
        if answer is not None:
            return answer
    raise UnreadableAnswer("is empty" if not plain.strip() else "contains no JSON")


def _first_value(text: str) -> ReadAnswer | None:
    stripped = text.strip()
    try:
        return ReadAnswer(_decode_json(stripped))
    except ValueError:
        pass
    for match in list(re.finditer(r"[{\[]", stripped))[:_STARTS]:
        try:  # whole, whatever stands behind it
            value, _ = _DECODER.raw_decode(stripped, match.start())
        except (ValueError, RecursionError):
            repaired = _repair_json(stripped[match.start() :])
            if repaired is not None:
                return repaired
            continue
        return ReadAnswer(value)
    return None


_STARTS = 50
"""Maximum number of brackets that are tried as the beginning of the value."""

_LIKE_JSON = re.compile(r"\{\s*(?:[\"'}]|\Z)|\[\s*(?:[{\[\"'\]\d-]|\Z)")


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _decode_json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _repair_json(text: str) -> ReadAnswer | None:
    """JSON with trailing commas, Python's literals, or JSON whose end is missing."""
    if _LIKE_JSON.match(text) is None:  # a bracket in prose
        return None
    cut, closing, truncated = _balance_brackets(text)
    repaired = _COMMA.sub(r"\1", cut + closing)
    try:
        return ReadAnswer(_decode_json(repaired), truncated)
    except ValueError:
        pass
    if not truncated:
        try:
            value = ast.literal_eval(cut)  # literals only; nothing is called or looked up
            return ReadAnswer(_decode_json(json.dumps(value)))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
    # The end is within a member: take away the last pieces until the rest reads.
    for _ in range(50):
        at = max(cut.rfind(","), cut.rfind("{"), cut.rfind("["))
        if at < 0:
            return None
        cut = cut[: at + 1] if cut[at] in "{[" and len(cut) > at + 1 else cut[:at]
        body, closing, _ = _balance_brackets(cut)
        try:
            return ReadAnswer(_decode_json(_COMMA.sub(r"\1", body + closing)), True)
        except ValueError:
            continue
    return None


_COMMA = re.compile(r",\s*([}\]])")


_STRUCTURE = re.compile(
    r""""(?:[^"\\]++|\\.)*+(?:(")|\\?\Z)|'(?:[^'\\]++|\\.)*+(?:(')|\\?\Z)|[{}\[\]]""", re.DOTALL
)
"""A bracket, or a string: with its end, or up to the end of the text, possibly within an escape."""


_ESCAPING = re.compile(r"(?<!\\)(?:\\\\)*+\\\Z")
"""An odd number of backslashes at the end."""


def _balance_brackets(text: str) -> tuple[str, str, bool]:
    """The text up to where its first bracket closes, what closes the open ones, and whether any
    was open."""
    stack: list[str] = []
    quoted, escaped = "", False  # outside of strings an apostrophe can only be Python's
    for match in _STRUCTURE.finditer(text):
        character = match.group()
        if character[0] in "\"'":
            if match.lastindex is None:  # the text ends in it
                quoted, escaped = character[0], _ESCAPING.search(character) is not None
        elif character in "{[":
            stack.append("}" if character == "{" else "]")
            if len(stack) > _MAX_DEPTH:
                return text[: match.start()], "", False
        else:
            if not stack or stack[-1] != character:
                return text[: match.start()], "", False
            stack.pop()
            if not stack:
                return text[: match.end()], "", False
    body = text[:-1] if escaped else text
    return body, quoted + "".join(reversed(stack)), True
