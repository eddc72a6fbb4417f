"""Rules of a decision table that never apply, and texts that were written without quotes.

A column is divided into regions within which no cell of it changes its value: numbers between and
at the constants, each text of the column and any other text, the texts between them where a cell
compares their order, the truth values, and null. Cells with constants, comparisons, ranges, lists
and negations of these are constant in a region, so that one value a region decides. Rules with
other cells are neither judged nor taken as a reason.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Container, Iterator, Sequence
from decimal import Decimal
from typing import Literal

from orgflow_ir.decisions.completeness import (
    MAX_TRIES,
    OTHER,
    find_table,
    is_simple,
    list_values,
)
from orgflow_ir.decisions.found import FoundDecision
from orgflow_ir.decisions.link import Input
from orgflow_ir.decisions.model import Table
from orgflow_ir.languages.feel.parser import normal_name
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.feel.values import Value
from orgflow_ir.program.structure_evaluation import Scope, passes_tests
from orgflow_ir.program.structures import (
    DecisionTable,
    RangeLiteral,
    UnaryTest,
    UnaryTests,
    parts,
)


class UnreachableRule(NamedTuple):
    """A rule that never applies.

    Attributes:
        rule: its number, from 1.
        cause: `empty`, no value passes a cell; `excluded`, only values that the column does not
            allow do; `covered`, earlier rules apply to all its inputs.
        column: the number of the column with the cell, from 1; 0 for `covered`.
        by: the numbers of the earlier rules.
    """

    rule: int
    cause: Literal["empty", "excluded", "covered"]
    column: int = 0
    by: tuple[int, ...] = ()


class UnquotedText(NamedTuple):
    """A cell that reads a variable where its column has texts: the number of its rule, from 1, and
    the name."""

    rule: int
    name: str


_Box = tuple[int, ...]
"""For each column the regions in which a rule's cell holds, as the bits of a number."""


_NUMBERS = frozenset({"number", "integer", "long", "double"})


def find_unreachable_rules(decision: FoundDecision) -> list[UnreachableRule]:
    """The rules of a decision table that never apply, in order; none for other decisions."""
    table = find_table(decision)
    if table is None or decision.table is None:
        return []
    types = [column.expression.type_ref or "" for column in decision.table.inputs]
    columns = [_divide_column(table, at, type_ref) for at, type_ref in enumerate(types)]
    allowed = [
        sum(1 << n for n, value in enumerate(values) if _is_allowed(column.allowed, value))
        for column, values in zip(table.inputs, columns, strict=True)
    ]
    boxes: list[_Box | None] = [
        _box_of_rule(rule.tests, columns) if all(map(is_simple, rule.tests)) else None
        for rule in table.rules
    ]
    faults: list[UnreachableRule] = []
    for at, box in enumerate(boxes):
        if box is None:
            continue
        fault = _find_empty_cell(at + 1, box, allowed)
        if fault is None and table.hit_policy == "FIRST":
            inside = tuple(b & a for b, a in zip(box, allowed, strict=True))
            fault = _find_cover(at + 1, inside, boxes[:at])
        if fault is not None:
            faults.append(fault)
            boxes[at] = None  # one that never applies is no reason for another
    return faults


def _divide_column(table: DecisionTable, at: int, type_ref: str) -> list[Value]:
    """One value for each region of a column; of other types too, unless it states its own."""
    column = table.inputs[at]
    tests = [rule.tests[at] for rule in table.rules if is_simple(rule.tests[at])]
    allowed = column.allowed if column.allowed is not None and is_simple(column.allowed) else None
    values = list_values(tests, allowed)
    if any(map(_compares_order, [*tests, *([allowed] if allowed is not None else ())])):
        texts = [value for value in values if isinstance(value, str)]
        values += dict.fromkeys(["", *(f"{text}\0" for text in texts)] if texts else ())
    own = type_ref.rpartition(":")[2].lower()
    others: tuple[Value, ...] = (True, False, OTHER, None)
    if own in _NUMBERS:
        # `list_values` adds numbers beside the constants; without constants, any number will do.
        some = any(isinstance(value, Decimal) for value in values)
        others = (None,) if some else (Decimal(0), None)
    elif own == "string":
        others = (OTHER, None)
    elif own == "boolean":
        others = (True, False, None)
    there = {(type(value), value) for value in values}
    return [*values, *(value for value in others if (type(value), value) not in there)]


def _compares_order(tests: UnaryTests) -> bool:
    """Whether a cell has comparisons or ranges."""
    return any(
        isinstance(part, RangeLiteral)
        or (isinstance(part, UnaryTest) and part.operator is not None)
        for part in parts(tests)
    )


def _is_allowed(allowed: UnaryTests | None, value: Value) -> bool:
    return allowed is None or not is_simple(allowed) or passes_tests(allowed, value, Scope({}))


def _box_of_rule(tests: Sequence[UnaryTests], columns: Sequence[Sequence[Value]]) -> _Box:
    return tuple(
        sum(1 << n for n, value in enumerate(values) if passes_tests(cell, value))
        for cell, values in zip(tests, columns, strict=True)
    )


def _find_empty_cell(number: int, box: _Box, allowed: Sequence[int]) -> UnreachableRule | None:
    for column, (regions, possible) in enumerate(zip(box, allowed, strict=True), 1):
        if not regions:
            return UnreachableRule(number, "empty", column)
        if not regions & possible:
            return UnreachableRule(number, "excluded", column)
    return None


def _find_cover(number: int, box: _Box, earlier: Sequence[_Box | None]) -> UnreachableRule | None:
    """The earlier rules that cover a rule: a single one, or several together where their inputs can
    be listed."""
    meeting = [
        (n, other)
        for n, other in enumerate(earlier, 1)
        if other is not None and all(a & b for a, b in zip(box, other, strict=True))
    ]
    for n, other in meeting:
        if _is_within(box, other):
            return UnreachableRule(number, "covered", by=(n,))
    if len(meeting) < 2 or math.prod(map(int.bit_count, box)) > MAX_TRIES:
        return None
    used: dict[int, None] = {}
    for point in itertools.product(*map(_list_bits, box)):
        cover = next((n for n, other in meeting if _is_within(point, other)), None)
        if cover is None:
            return None
        used[cover] = None
    return UnreachableRule(number, "covered", by=tuple(sorted(used)))


def _is_within(box: _Box, other: _Box) -> bool:
    return all(not a & ~b for a, b in zip(box, other, strict=True))


def _list_bits(regions: int) -> list[int]:
    return [1 << n for n in range(regions.bit_length()) if regions >> n & 1]


_NAME = re.compile(r"[^\W\d][\w-]*(?: [\w-]+)*")
_QUOTED = re.compile(r'"[^"]*"')


def find_unquoted_texts(decision: FoundDecision, known: Container[str]) -> list[UnquotedText]:
    """The cells of a table with a name that the file does not define, in columns of texts.

    Args:
        known: variables of the process, which a cell may read.
    """
    table = decision.table
    if table is None:
        return []
    unknown = {
        unit.name
        for unit in decision.model.units.values()
        if isinstance(unit, Input) and "#?" in unit.key and unit.name not in known
    }
    read = {normal_name(column.expression.text) for column in table.inputs}
    return [
        UnquotedText(number, cell)
        for number, cell in _list_text_cells(table)
        if _NAME.fullmatch(cell) and normal_name(cell) in unknown and normal_name(cell) not in read
    ]


def _list_text_cells(table: Table) -> Iterator[tuple[int, str]]:
    """The cells of the columns that have texts, each with the number of its rule."""
    columns = [
        (column.expression.type_ref, [rule.tests[at] for rule in table.rules])
        for at, column in enumerate(table.inputs)
    ]
    columns += [
        (column.type_ref, [rule.entries[at] for rule in table.rules])
        for at, column in enumerate(table.outputs)
    ]
    texts = [cells for type_ref, cells in columns if _is_of_texts(type_ref, cells)]
    for number, row in enumerate(zip(*texts, strict=True), 1):
        yield from ((number, cell.strip()) for cell in row)


def _is_of_texts(type_ref: str | None, cells: Sequence[str]) -> bool:
    if type_ref:
        return type_ref.rpartition(":")[2].lower() == "string"
    return any(_QUOTED.fullmatch(cell.strip()) for cell in cells)
