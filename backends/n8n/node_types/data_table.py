"""Data Table: rows of a table of the server, inserted, read, updated or deleted.

`read_request` turns the parameters of a node into the request that it makes of the table. It covers
the operations of the encoding by rows (WAITING.md); anything else is a reason in words, never a
guess. Sources: `nodes/DataTable` of n8n-nodes-base 2.41.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

from orgflow.backends.n8n.format.expression_parts import value_code
from orgflow.backends.n8n.format.json_values import count, inside, mapping, rows
from orgflow.backends.n8n.node_types.behaviour import Behaviour, unknown_behaviour
from orgflow.backends.n8n.node_types.node_type import NodeType, Parameters, Use, is_expression

from orgflow_ir.model.records import NamedTuple

Scalar = str | int | float | bool | None
"""A value of a cell."""

RowOperation = Literal["insert", "get", "update", "upsert", "delete"]

TestName = Literal[
    "eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike",
    "isEmpty", "isNotEmpty", "isTrue", "isFalse",
]  # fmt: skip
"""n8n's names of the conditions on a column."""

_TEST_NAMES: Final = frozenset(get_args(TestName))
_WITHOUT_VALUE: Final = frozenset({"isEmpty", "isNotEmpty", "isTrue", "isFalse"})
_OPERATIONS: Final[Mapping[str, RowOperation]] = {
    "insert": "insert",
    "get": "get",
    "update": "update",
    "upsert": "upsert",
    "deleteRows": "delete",
}
"""n8n's names of the operations on rows; `rowExists` and `rowNotExists` are not covered."""

_DEFAULT_LIMIT: Final = 50


class Given(NamedTuple):
    """A value that the parameters contain."""

    value: Scalar


class Computed(NamedTuple):
    """The code of an expression, which n8n evaluates for each item."""

    code: str


Operand = Given | Computed


class ColumnTest(NamedTuple):
    """A condition on a column of a row."""

    column: str
    name: TestName
    operand: Operand


class TableRequest(NamedTuple):
    """The request of a node for each of its items.

    Attributes:
        operation: what is done to the rows.
        table: n8n's id of the table.
        tests: the conditions that select rows; none for an insertion.
        every: whether a row has to meet all conditions, otherwise one of them.
        values: columns and values of an insertion, update or upsert.
        limit: most rows of a reading for each item; `None` for all.
        counts_only: an insertion that returns one item, the number of rows ("Optimize Bulk").
    """

    operation: RowOperation
    table: str
    tests: tuple[ColumnTest, ...] = ()
    every: bool = True
    values: tuple[tuple[str, Operand], ...] = ()
    limit: int | None = None
    counts_only: bool = False


VERSION: Final = 1.1
"""The version of emitted nodes; 1 cannot select a table by its name."""

Tests = tuple[tuple[str, TestName, Any], ...]
"""Conditions that all have to hold: column, name, and value or expression."""


def insert_parameters(table: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """Parameters that insert a row for each item, all in one transaction, with the columns from the
    fields of the same name."""
    values = {column: f"={{{{ $json.{column} }}}}" for column in columns}
    return {
        "resource": "row",
        "operation": "insert",
        "dataTableId": dict(table),
        "columns": {"mappingMode": "defineBelow", "value": values},
        "options": {"optimizeBulk": True},
    }


def create_table_parameters(name: str, columns: Sequence[str]) -> dict[str, Any]:
    """Parameters that create a table with columns of texts, unless there is one of this name."""
    listed = [{"name": column, "type": "string"} for column in columns]
    return {
        "resource": "table",
        "operation": "create",
        "tableName": name,
        "columns": {"column": listed},
        "options": {"createIfNotExists": True},
    }


def get_parameters(table: Mapping[str, Any], tests: Tests, limit: int) -> dict[str, Any]:
    """Parameters that read rows by ascending number."""
    return {**_row_parameters("get", table, tests), "limit": limit, "options": {}}


def update_parameters(
    table: Mapping[str, Any], tests: Tests, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Parameters that change rows and return them; one step of the server."""
    columns = {"mappingMode": "defineBelow", "value": dict(values)}
    return {**_row_parameters("update", table, tests), "columns": columns, "options": {}}


def delete_parameters(table: Mapping[str, Any], tests: Tests) -> dict[str, Any]:
    """Parameters that delete rows."""
    return {**_row_parameters("deleteRows", table, tests), "options": {}}


def _row_parameters(operation: str, table: Mapping[str, Any], tests: Tests) -> dict[str, Any]:
    conditions = [
        {"keyName": column, "condition": name, "keyValue": value} for column, name, value in tests
    ]
    return {
        "resource": "row",
        "operation": operation,
        "dataTableId": dict(table),
        "matchType": "allConditions",
        "filters": {"conditions": conditions},
    }


class _Uncovered(Exception):
    """The reason why a request is unknown."""


def read_request(parameters: Parameters) -> TableRequest | str:
    """The request of a Data Table node, or the reason why it is unknown."""
    try:
        return _row_request(parameters)
    except _Uncovered as reason:
        return str(reason)


def _row_request(parameters: Parameters) -> TableRequest:
    if parameters.get("resource", "row") != "row":
        raise _Uncovered("it changes tables, not rows")
    name = parameters.get("operation", "insert")
    operation = _OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        raise _Uncovered(f"the operation `{name}` is not modelled")
    options = parameters.get("options", {})
    if not isinstance(options, Mapping):
        raise _Uncovered("an expression computes the options")
    if options.get("dryRun", False) is not False:
        raise _Uncovered("a dry run is not modelled")
    bulk = options.get("optimizeBulk", False)
    if not isinstance(bulk, bool):
        raise _Uncovered("an expression computes an option")
    request = TableRequest(operation, _table_id(parameters), counts_only=bulk)
    if operation != "insert":
        request = request._replace(tests=_column_tests(parameters), every=_needs_every(parameters))
        if not request.tests and operation != "get":
            raise _Uncovered("it has no condition, so the node fails")
    if operation in ("insert", "update", "upsert"):
        request = request._replace(values=_written_values(parameters))
    if operation == "get":
        request = request._replace(limit=_row_limit(parameters))
    return request


def _table_id(parameters: Parameters) -> str:
    table = parameters.get("dataTableId")
    mode, value = inside(table, "mode"), inside(table, "value")
    if mode not in ("id", "list"):
        # A name means the first table whose name contains it (WAITING.md, section 2).
        raise _Uncovered("the table is not selected by its id")
    if not isinstance(value, str) or not value or is_expression(value):
        raise _Uncovered("an expression selects the table")
    return value


def _needs_every(parameters: Parameters) -> bool:
    match = parameters.get("matchType", "anyCondition")
    if match not in ("anyCondition", "allConditions"):
        raise _Uncovered("an expression selects how the conditions are combined")
    return bool(match == "allConditions")


def _column_tests(parameters: Parameters) -> tuple[ColumnTest, ...]:
    filters = parameters.get("filters", {})
    listed = filters.get("conditions", []) if isinstance(filters, Mapping) else None
    if not isinstance(listed, list):
        raise _Uncovered("an expression computes the conditions")
    tests: list[ColumnTest] = []
    for row in rows(listed):
        column, name = row.get("keyName", "id"), row.get("condition", "eq")
        if not isinstance(column, str) or is_expression(column):
            raise _Uncovered("an expression selects a column")
        if name not in _TEST_NAMES:
            raise _Uncovered(f"the condition `{name}` is not modelled")
        value = None if name in _WITHOUT_VALUE else row.get("keyValue", "")
        if value is None and name not in _WITHOUT_VALUE:
            # A null of an expression selects empty cells; one of the file does not (tried).
            raise _Uncovered(f"the condition `{name}` compares with null")
        tests.append(ColumnTest(column, name, _read_operand(value)))
    return tuple(tests)


def _written_values(parameters: Parameters) -> tuple[tuple[str, Operand], ...]:
    if inside(parameters, "columns", "mappingMode") != "defineBelow":
        raise _Uncovered("the columns are those of the item")
    given = inside(parameters, "columns", "value")
    if given is not None and not isinstance(given, Mapping):
        raise _Uncovered("an expression computes the columns")
    return tuple((str(name), _read_operand(value)) for name, value in mapping(given).items())


def _row_limit(parameters: Parameters) -> int | None:
    if parameters.get("orderBy", False) is not False:
        raise _Uncovered("sorted rows are not modelled")
    every = parameters.get("returnAll", False)
    if not isinstance(every, bool):
        raise _Uncovered("an expression computes the number of rows")
    if every:
        return None
    limit = count(parameters.get("limit", _DEFAULT_LIMIT))
    if not limit:
        raise _Uncovered("an expression computes the number of rows")
    return limit


def _read_operand(value: Any) -> Operand:
    if not is_expression(value):
        if value is not None and not isinstance(value, str | int | float | bool):
            raise _Uncovered("a value is an object or a list")
        return Given(value)
    code = value_code(value)
    if code is not None:
        return Computed(code.strip())
    if "{{" in value:
        raise _Uncovered("a value is a text that contains expressions")
    return Given(value[1:])


def _node_behaviour(use: Use) -> Behaviour:
    # The number of rows is unknown without the table: as for a node of unknown type, any number of
    # items leaves. A model of the server (`engine_model.world_model`) reads the request instead.
    return unknown_behaviour(use.wired).replace(request=read_request(use.parameters))


NODE = NodeType(
    name="dataTable",
    label="Data table",
    behaviour=_node_behaviour,
)
