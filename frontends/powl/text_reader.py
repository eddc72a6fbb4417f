"""POWL in the text form that pm4py prints and reads:
`PO=(nodes={ a, X ( b, tau ) }, order={ a-->X ( b, tau ) })`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from orgflow.backends.powl.format import (
    MAX_DEPTH,
    Activity,
    Choice,
    Loop,
    Powl,
    PowlError,
    Silent,
    partial_order,
)

from orgflow_ir.model.source import SourceLocation

_T = TypeVar("_T")

_ORDER = re.compile(r"PO\s*=?\s*\(\s*nodes\s*=\s*\{")
_OPERATOR = re.compile(r"(X|\*|\+|->)\s*\(")
_BEGIN = re.compile(r"\s*(?:PO\s*=?\s*\(|(?:X|\*|\+|->)\s*\()")
_BLANK = re.compile(r"\s*")


def is_text_form(text: str) -> bool:
    """Whether a text begins as an order, a choice or a loop of this form."""
    return _BEGIN.match(text) is not None


class TextReader:
    """Reads one text. Raises `PowlError` with the place."""

    def __init__(self, file: str, text: str) -> None:
        self._file, self._text, self._at = file, text, 0
        self._line, self._line_start, self._counted = 1, 0, 0
        """The line, where it begins, and up to where lines are counted."""

    def read(self) -> Powl:
        """The model of the whole text."""
        powl = self._read_powl(0)
        self._skip_blanks()
        if self._at < len(self._text):
            raise self._fault("text follows the end of the model")
        return powl

    def _read_powl(self, depth: int) -> Powl:
        if depth > MAX_DEPTH:
            raise self._fault(f"the model is nested more than {MAX_DEPTH} levels deep")
        self._skip_blanks()
        if match := _ORDER.match(self._text, self._at):
            self._at = match.end()
            return self._read_order(depth)
        if match := _OPERATOR.match(self._text, self._at):
            loc = self._place()
            self._at = match.end()
            parts = self._read_list(")", lambda: self._read_powl(depth + 1))
            return self._build_operator(match[1], parts, loc)
        return self._read_activity()

    def _build_operator(self, operator: str, parts: list[Powl], loc: SourceLocation) -> Powl:
        if operator == "*":
            if len(parts) != 2:
                raise PowlError(f"a loop has 2 parts, and this one has {len(parts)}", loc)
            return Loop(parts[0], parts[1])
        if not parts:
            raise PowlError(f"`{operator}` has no parts", loc)
        if operator == "X":
            return Choice(tuple(parts))
        row = [(n, n + 1) for n in range(len(parts) - 1)] if operator == "->" else []
        return partial_order(parts, row, loc)

    def _read_order(self, depth: int) -> Powl:
        """The nodes, then the pairs of nodes, which name them by their texts."""
        loc = self._place()
        places: dict[str, list[int]] = {}
        nodes: list[Powl] = []

        def read_node() -> None:
            text, node = self._read_with_text(depth)
            places.setdefault(text, []).append(len(nodes))
            nodes.append(node)

        self._read_list("}", read_node)
        self._expect(",")
        self._expect("order")
        self._expect("=")
        self._expect("{")

        def read_pair() -> tuple[int, int]:
            first = self._find_node(depth, places)
            self._expect("-->")
            return first, self._find_node(depth, places)

        pairs = self._read_list("}", read_pair)
        self._expect(")")
        return partial_order(nodes, pairs, loc)

    def _find_node(self, depth: int, places: dict[str, list[int]]) -> int:
        loc = self._place()
        text, _ = self._read_with_text(depth)
        same_text = places.get(text, [])
        if len(same_text) != 1:
            what = "names no node" if not same_text else "names several nodes"
            raise PowlError(f"`{text}` in the order {what}", loc)
        return same_text[0]

    def _read_with_text(self, depth: int) -> tuple[str, Powl]:
        """A model and its text, in which blanks do not matter."""
        self._skip_blanks()
        begin = self._at
        powl = self._read_powl(depth + 1)
        return "".join(self._text[begin : self._at].split()), powl

    def _read_activity(self) -> Powl:
        """A label, in quotes or up to a separator outside of its own brackets; `tau` is silent."""
        loc, begin = self._place(), self._at
        quote = self._text[begin : begin + 1]
        if quote in ("'", '"') and (end := self._text.find(quote, begin + 1)) >= 0:
            label, self._at = self._text[begin + 1 : end], end + 1
        else:
            depth = 0
            while self._at < len(self._text):
                sign = self._text[self._at]
                closes = sign in ")}" and depth == 0
                if closes or (depth == 0 and sign == ",") or self._text.startswith("-->", self._at):
                    break
                depth += (sign == "(") - (sign == ")")
                self._at += 1
            label = self._text[begin : self._at]
        label = " ".join(label.split())
        if not label:
            raise PowlError("an activity has no label", loc)
        return Silent() if label in ("tau", "τ") else Activity(label, loc=loc)

    def _read_list(self, end: str, read: Callable[[], _T]) -> list[_T]:
        """What `read` returns for each part between commas, up to a closing sign."""
        parts: list[_T] = []
        self._skip_blanks()
        while not self._text.startswith(end, self._at):
            parts.append(read())
            self._skip_blanks()
            if not self._text.startswith(end, self._at):
                self._expect(",")
        self._at += len(end)
        return parts

    def _expect(self, sign: str) -> None:
        self._skip_blanks()
        if not self._text.startswith(sign, self._at):
            raise self._fault(f"`{sign}` is missing")
        self._at += len(sign)

    def _skip_blanks(self) -> None:
        match = _BLANK.match(self._text, self._at)
        assert match is not None
        self._at = match.end()

    def _fault(self, message: str) -> PowlError:
        return PowlError(message, self._place())

    def _place(self) -> SourceLocation:
        passed = self._text.count("\n", self._counted, self._at)
        if passed:
            self._line += passed
            self._line_start = self._text.rindex("\n", self._counted, self._at) + 1
        self._counted = self._at
        column = self._at - self._line_start + 1
        return SourceLocation(file=self._file, line=self._line, column=column)
