"""Data Tables of a server: immutable rows, and the operations of the Data Table node on them.

Each operation is one transaction (WAITING.md, section 2: a conditional update has one winner), so
it is one function from a table to a table and the rows that it returns. Sources: `data-table` and
`nodes/DataTable` of n8n 2.41.1, on SQLite and on PostgreSQL; where the two differ, or a value is
not of the type of its column, the result is unknown and `UnknownOperation` is raised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final, Literal

from orgflow.backends.n8n.node_types.data_table import RowOperation, Scalar, TestName

from orgflow_ir.model.records import NamedTuple

ColumnType = Literal["string", "number", "boolean"]
"""Types of columns; dates are not modelled."""

ROW_ID: Final = "id"
"""The column of the server's own number of a row."""

_MOST_PAGED: Final = 1_000
"""More rows are read in several transactions."""


class UnknownOperation(Exception):
    """The effect of an operation that the model does not determine; the text is the reason."""


class Column(NamedTuple):
    """A column of a table."""

    name: str
    type: ColumnType = "string"


class Row(NamedTuple):
    """A row: n8n's number of it, and a value for each column of its table."""

    id: int
    cells: tuple[Scalar, ...]


class Table(NamedTuple):
    """A table.

    Attributes:
        id: n8n's id of the table.
        columns: its columns without those that n8n adds.
        rows: its rows by ascending number.
        next_id: the number of the next inserted row.
        reuses_ids: whether numbers of deleted rows at the end are used again, as on SQLite; on
            PostgreSQL they are not.
    """

    id: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = ()
    next_id: int = 1
    reuses_ids: bool = False


class CellTest(NamedTuple):
    """A condition on the cell of a column, with its value."""

    column: str
    name: TestName
    value: Scalar


class TableOperation(NamedTuple):
    """An operation with the values of one item.

    Attributes:
        operation: what is done to the rows.
        tests: the conditions that select rows.
        every: whether a row has to meet all of them, otherwise one.
        values: the written columns; for an insertion, those of each inserted row.
        limit: most rows of a reading; `None` for all.
    """

    operation: RowOperation
    tests: tuple[CellTest, ...] = ()
    every: bool = True
    values: tuple[tuple[tuple[str, Scalar], ...], ...] = ()
    limit: int | None = None


class TableResult(NamedTuple):
    """The table after an operation, and the rows that it returns, by ascending number."""

    table: Table
    rows: tuple[Row, ...]


def apply_operation(table: Table, operation: TableOperation) -> TableResult:
    """Apply one operation, which is one atomic step of the server.

    Raises:
        UnknownOperation: its effect is not determined.
    """
    return _OPERATIONS[operation.operation](table, operation)


def make_table(
    table: str,
    columns: Sequence[str | Column],
    rows: Sequence[Mapping[str, Scalar]] = (),
    *,
    reuses_ids: bool = False,
) -> Table:
    """A table with some rows. A column by its name holds texts; a missing cell is empty (null).

    Raises:
        UnknownOperation: a row has another column, or a value of another type.
    """
    listed = tuple(Column(column) if isinstance(column, str) else column for column in columns)
    values = tuple(tuple(row.items()) for row in rows)
    empty = Table(table, listed, reuses_ids=reuses_ids)
    return apply_operation(empty, TableOperation("insert", values=values)).table


def row_fields(table: Table, row: Row) -> dict[str, Scalar]:
    """The fields of the item that n8n makes of a row, without its times."""
    names = (column.name for column in table.columns)
    return {ROW_ID: row.id, **dict(zip(names, row.cells, strict=True))}


# -- operations ------------------------------------------------------------------------------------


def _insert_rows(table: Table, operation: TableOperation) -> TableResult:
    rows = tuple(
        Row(number, _written_cells(table, (None,) * len(table.columns), values))
        for number, values in enumerate(operation.values, table.next_id)
    )
    after = table._replace(rows=table.rows + rows, next_id=table.next_id + len(rows))
    return TableResult(after, rows)


def _get_rows(table: Table, operation: TableOperation) -> TableResult:
    rows = _selected_rows(table, operation)
    if operation.limit is not None:
        rows = rows[: operation.limit]
    if len(rows) > _MOST_PAGED:
        raise UnknownOperation("the rows are read in several steps")
    return TableResult(table, rows)


def _update_rows(table: Table, operation: TableOperation) -> TableResult:
    (values,) = operation.values
    if not values:
        raise UnknownOperation("it writes no column, so the node fails")
    changed = {
        row.id: row._replace(cells=_written_cells(table, row.cells, values))
        for row in _selected_rows(table, operation)
    }
    rows = tuple(changed.get(row.id, row) for row in table.rows)
    return TableResult(table._replace(rows=rows), tuple(changed.values()))


def _upsert_rows(table: Table, operation: TableOperation) -> TableResult:
    updated = _update_rows(table, operation)
    return updated if updated.rows else _insert_rows(table, operation)


def _delete_rows(table: Table, operation: TableOperation) -> TableResult:
    gone = _selected_rows(table, operation)
    rows = tuple(row for row in table.rows if row not in gone)
    next_id = table.next_id
    if table.reuses_ids:
        next_id = max((row.id for row in rows), default=0) + 1
    return TableResult(table._replace(rows=rows, next_id=next_id), gone)


_OPERATIONS: Final[Mapping[RowOperation, Callable[[Table, TableOperation], TableResult]]] = {
    "insert": _insert_rows,
    "get": _get_rows,
    "update": _update_rows,
    "upsert": _upsert_rows,
    "delete": _delete_rows,
}


def _written_cells(
    table: Table, cells: tuple[Scalar, ...], values: tuple[tuple[str, Scalar], ...]
) -> tuple[Scalar, ...]:
    """The cells of a row with some columns written."""
    written = list(cells)
    for name, value in values:
        place, column = _column_of(table, name)
        written[place] = _typed_value(column, value)
    return tuple(written)


# -- conditions ------------------------------------------------------------------------------------


def _selected_rows(table: Table, operation: TableOperation) -> tuple[Row, ...]:
    """The rows for which the conditions hold: all of them without a condition."""
    if not operation.tests:
        return table.rows
    tests = [_bound_test(table, test) for test in operation.tests]
    # Every test sees every row, so that an unknown comparison is never skipped.
    met = [[holds(row) for holds in tests] for row in table.rows]
    combine = all if operation.every else any
    return tuple(row for row, results in zip(table.rows, met, strict=True) if combine(results))


def _bound_test(table: Table, test: CellTest) -> Callable[[Row], bool]:
    """A condition as a function of a row."""
    if test.name in ("isTrue", "isFalse"):
        test = CellTest(test.column, "eq", test.name == "isTrue")
    if test.column == ROW_ID:
        column = Column(ROW_ID, "number")

        def read_cell(row: Row) -> Scalar:
            return row.id
    else:
        place, column = _column_of(table, test.column)

        def read_cell(row: Row) -> Scalar:
            return row.cells[place]

    value = _typed_value(column, test.value)
    if value is None and test.name not in _ALLOWS_NULL:
        raise UnknownOperation(f"the condition `{test.name}` has no value, so the node fails")
    holds = _TESTS[test.name]
    return lambda row: holds(read_cell(row), value)


_ALLOWS_NULL: Final = frozenset({"eq", "neq", "isEmpty", "isNotEmpty"})


def _is_equal(cell: Scalar, value: Scalar) -> bool:
    return cell is None if value is None else cell is not None and cell == value


def _is_unequal(cell: Scalar, value: Scalar) -> bool:
    # n8n adds `OR column IS NULL` for a value: an empty cell is unequal to it.
    return not _is_equal(cell, value)


def _is_empty(cell: Scalar, value: Scalar) -> bool:
    del value
    return cell is None or cell == ""


def _is_filled(cell: Scalar, value: Scalar) -> bool:
    return not _is_empty(cell, value)


def _is_like(cell: Scalar, value: Scalar) -> bool:
    """`%` is any text; a value without it is searched for (WAITING.md, section 2, point 5)."""
    if not isinstance(value, str):
        raise UnknownOperation("`like` compares texts only")
    return isinstance(cell, str) and _like_pattern(value).fullmatch(cell) is not None


def _is_like_any_case(cell: Scalar, value: Scalar) -> bool:
    if not isinstance(value, str) or not (value + str(cell)).isascii():
        raise UnknownOperation("databases differ in the case of other letters than A to Z")
    return isinstance(cell, str) and _is_like(cell.upper(), value.upper())


@cache
def _like_pattern(value: str) -> re.Pattern[str]:
    text = value if "%" in value else f"%{value}%"
    return re.compile(".*".join(re.escape(part) for part in text.split("%")), re.DOTALL)


def _is_greater(cell: Scalar, value: Scalar) -> bool:
    return cell is not None and _compare_values(cell, value) > 0


def _is_at_least(cell: Scalar, value: Scalar) -> bool:
    return cell is not None and _compare_values(cell, value) >= 0


def _is_less(cell: Scalar, value: Scalar) -> bool:
    return cell is not None and _compare_values(cell, value) < 0


def _is_at_most(cell: Scalar, value: Scalar) -> bool:
    return cell is not None and _compare_values(cell, value) <= 0


_TESTS: Final[Mapping[TestName, Callable[[Scalar, Scalar], bool]]] = {
    "eq": _is_equal,
    "neq": _is_unequal,
    "gt": _is_greater,
    "gte": _is_at_least,
    "lt": _is_less,
    "lte": _is_at_most,
    "like": _is_like,
    "ilike": _is_like_any_case,
    "isEmpty": _is_empty,
    "isNotEmpty": _is_filled,
}

_DIGIT: Final = re.compile(r"[0-9]")


def _compare_values(cell: Scalar, value: Scalar) -> int:
    """The order of two values: negative, zero or positive.

    Texts of the same shape, such as two moments in ISO 8601, have one order in every database; for
    others it depends on the collation.
    """
    if isinstance(cell, str) and isinstance(value, str):
        if cell != value and _DIGIT.sub("0", cell) != _DIGIT.sub("0", value):
            raise UnknownOperation("the order of these texts depends on the database")
        return (cell > value) - (cell < value)
    assert isinstance(cell, int | float)
    assert isinstance(value, int | float)
    return (cell > value) - (cell < value)


# -- columns ---------------------------------------------------------------------------------------


def _column_of(table: Table, name: str) -> tuple[int, Column]:
    """A column and its place."""
    for place, column in enumerate(table.columns):
        if column.name == name:
            return place, column
    raise UnknownOperation(f"the table has no modelled column `{name}`")


def _typed_value(column: Column, value: Scalar) -> Scalar:
    """The value itself, if the column holds such values; conversions are not modelled."""
    fits = {
        "string": isinstance(value, str),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
    }[column.type]
    if value is not None and not fits:
        raise UnknownOperation(f"`{column.name}` would have to convert {value!r}")
    return value
