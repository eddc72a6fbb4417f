"""JSON with places: the line, column and byte span of every value.

The standard library returns only values, but messages about JSON input need places.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from json.decoder import scanstring  # type: ignore[attr-defined]  # there, but not in the stubs
from typing import Any

from orgflow_ir.model.input_limits import (
    MOST_DEPTH,
    MOST_PLACED_VALUES,
    LimitExceeded,
    check_json,
)
from orgflow_ir.model.source import SourceLocation

MAX_DEPTH = MOST_DEPTH
MAX_BYTES = 64 * 1024 * 1024
_LONE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class JsonFault(ValueError):
    """Text that is not JSON, or is too large or too deep; `offset` counts characters."""

    def __init__(self, message: str, offset: int, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message, self.offset, self.line, self.column = message, offset, line, column


class JsonNode:
    """A value with its beginning and end, in characters.

    `items` contains the nodes of an array, `members` those of an object (the last of equal keys),
    and `repeated` the keys that occur more than once in an object.
    """

    def __init__(self, value: Any, start: int, end: int = 0) -> None:
        self.value = value
        self.start, self.end = start, end
        self.items: list[JsonNode] = []
        self.members: dict[str, JsonNode] = {}
        self.repeated: list[str] = []

    def find(self, path: Iterable[str | int]) -> JsonNode:
        """The node at a path of keys and indexes, or the nearest one on that path."""
        node = self
        for step in path:
            if isinstance(step, int) and 0 <= step < len(node.items):
                node = node.items[step]
            elif isinstance(step, str) and step in node.members:
                node = node.members[step]
        return node


class JsonDocument:
    """A parsed JSON file; `root` is its value."""

    root: JsonNode

    def __init__(self, file: str, text: str, encoding: str, bom: int) -> None:
        self.file, self.text, self.encoding, self.bom = file, text, encoding, bom

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(m.end() for m in re.finditer(r"\r\n|\n|\r", self.text))]

    @cached_property
    def _line_bytes(self) -> list[int]:
        line_bytes, at = [], self.bom
        lines = [*self._line_starts, len(self.text)]
        for start, end in pairwise(lines):
            line_bytes.append(at)
            at += len(self.text[start:end].encode(self.encoding, "surrogatepass"))
        return line_bytes

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of a character offset."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def _byte_offset(self, offset: int) -> int:
        line = bisect_right(self._line_starts, offset) - 1
        part = self.text[self._line_starts[line] : offset]
        return self._line_bytes[line] + len(part.encode(self.encoding, "surrogatepass"))

    def loc(self, node: JsonNode, path: str) -> SourceLocation:
        """The place of a value; `path` is its name in messages, such as `$.tasks[3].type`."""
        line, column = self.place(node.start)
        return SourceLocation(
            file=self.file,
            line=line,
            column=column,
            element=path,
            span=(self._byte_offset(node.start), self._byte_offset(node.end)),
        )


def json_path(steps: Iterable[str | int]) -> str:
    """`$.tasks[3].type` for `("tasks", 3, "type")`."""
    parts = ["$"]
    for step in steps:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif step.isidentifier():
            parts.append(f".{step}")
        else:
            parts.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return "".join(parts)


def parse_json(file: str, data: bytes) -> JsonDocument:
    """Parse JSON in UTF-8, UTF-16 or UTF-32, with or without byte order mark. Raises `JsonFault`.

    Stricter than `json.loads` in one respect: NaN and Infinity are refused, as the standard
    requires.
    """
    if len(data) > MAX_BYTES:
        raise JsonFault(f"the file has {len(data):,} bytes; the limit is {MAX_BYTES:,}", 0)
    encoding, bom = _detect_encoding(data)
    try:
        text = data[bom:].decode(encoding)
    except UnicodeDecodeError as error:
        raise JsonFault(f"byte {error.start + bom} is not valid {encoding}", 0) from None
    if not text.strip():
        raise JsonFault("the file is empty", 0)
    if len(text) > MOST_PLACED_VALUES:
        try:
            check_json(text, MOST_PLACED_VALUES)
        except LimitExceeded as error:
            raise JsonFault(f"the file {error}", 0) from None
    document = JsonDocument(file, text, encoding, bom)
    try:
        document.root = _parse_json(text)
    except JsonFault as fault:
        fault.line, fault.column = document.place(min(fault.offset, len(text)))
        raise
    return document


def _detect_encoding(data: bytes) -> tuple[str, int]:
    for mark, name in (
        (b"\xff\xfe\x00\x00", "utf-32-le"),
        (b"\x00\x00\xfe\xff", "utf-32-be"),
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if data.startswith(mark):
            return name, len(mark)
    return json.detect_encoding(data), 0


def _parse_json(text: str) -> JsonNode:
    """Iterative: nesting is bounded by `MAX_DEPTH`, not by Python's stack."""
    at = _SPACE.match(text, 0).end()  # type: ignore[union-attr]  # matches anywhere
    root, at = _read_value(text, at)
    stack = [root] if root.end == 0 else []
    while stack:
        node = stack[-1]
        at = _skip_space(text, at)
        closing = "}" if isinstance(node.value, dict) else "]"
        first = not (node.items or node.members)
        if text[at : at + 1] == closing:
            at += 1
            node.end = at
            stack.pop()
            continue
        if not first:
            if text[at : at + 1] != ",":
                raise JsonFault(f"expected `,` or `{closing}`", at)
            at = _skip_space(text, at + 1)
        key = None
        if closing == "}":
            if text[at : at + 1] != '"':
                raise JsonFault("expected a key in double quotes", at)
            key, at = _read_string(text, at)
            at = _skip_space(text, at)
            if text[at : at + 1] != ":":
                raise JsonFault("expected `:`", at)
            at = _skip_space(text, at + 1)
        child, at = _read_value(text, at)
        if key is None:
            node.items.append(child)
            node.value.append(child.value)
        else:
            if key in node.members:
                node.repeated.append(key)
            node.members[key] = child
            node.value[key] = child.value
        if child.end == 0:
            stack.append(child)
            if len(stack) > MAX_DEPTH:
                raise JsonFault(f"values are nested more than {MAX_DEPTH} levels deep", at)
    at = _skip_space(text, at)
    if at != len(text):
        raise JsonFault("there is text after the end of the value", at)
    return root


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _read_value(text: str, at: int) -> tuple[JsonNode, int]:
    """The value at `at`, or an opened array or object (`end` is 0), and what comes after."""
    char = text[at : at + 1]
    if char == "{":
        return JsonNode({}, at), at + 1
    if char == "[":
        return JsonNode([], at), at + 1
    if char == '"':
        value, end = _read_string(text, at)
        return JsonNode(value, at, end), end
    match = _SCALAR.match(text, at)
    if match is None:
        if not char:
            raise JsonFault("the text ends, but a value is expected", at)
        if char in "]}" and text[:at].rstrip().endswith(","):
            raise JsonFault("a value is missing after the last `,`", at)
        raise JsonFault("expected a value", at)
    try:
        return JsonNode(json.loads(match.group()), at, match.end()), match.end()
    except ValueError:  # a number of more digits than Python converts
        raise JsonFault("a number has too many digits", at) from None


def _read_string(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = scanstring(text, at + 1, True)
    except json.JSONDecodeError as error:
        raise JsonFault(error.msg[0].lower() + error.msg[1:], error.pos) from None
    # half a character (`"\\ud800"`) is JSON, but no text that could ever be written again
    return (_LONE.sub("\ufffd", value) if _LONE.search(value) else value), end
