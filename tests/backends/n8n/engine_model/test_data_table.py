"""Data Table nodes: what their parameters ask of a table, and what is unknown."""

from __future__ import annotations

from typing import Any

import pytest
from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.engine_model.tables import (
    CellTest,
    Column,
    Table,
    TableOperation,
    UnknownOperation,
    apply_operation,
    make_table,
)
from orgflow.backends.n8n.node_types.data_table import (
    ColumnTest,
    Computed,
    Given,
    TableRequest,
    read_request,
)
from orgflow.backends.n8n.node_types.node_type import Use

BY_ID = {"__rl": True, "mode": "id", "value": "t"}
TESTS = {"conditions": [{"keyName": "key", "condition": "eq", "keyValue": "={{ $json.key }}"}]}
VALUES = {"mappingMode": "defineBelow", "value": {"state": "=open", "run": "={{ $execution.id }}"}}


def parameters(**changes: Any) -> dict[str, Any]:
    """A conditional update with other parameters."""
    usual = {
        "resource": "row",
        "operation": "update",
        "dataTableId": BY_ID,
        "matchType": "allConditions",
        "filters": TESTS,
        "columns": VALUES,
        "options": {},
    }
    return {**usual, **changes}


def test_a_conditional_update() -> None:
    assert read_request(parameters()) == TableRequest(
        "update",
        "t",
        (ColumnTest("key", "eq", Computed("$json.key")),),
        True,
        (("state", Given("open")), ("run", Computed("$execution.id"))),
    )


def test_defaults_of_n8n() -> None:
    request = read_request(
        {"operation": "get", "dataTableId": BY_ID, "filters": {"conditions": [{}]}}
    )
    assert request == TableRequest(
        "get", "t", (ColumnTest("id", "eq", Given("")),), every=False, limit=50
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"resource": "table"}, "changes tables"),
        ({"operation": "rowExists"}, "`rowExists` is not modelled"),
        ({"operation": "={{ $json.o }}"}, "is not modelled"),
        ({"dataTableId": {"mode": "name", "value": "t"}}, "not selected by its id"),
        ({"dataTableId": {"mode": "id", "value": "={{ $json.t }}"}}, "selects the table"),
        ({"matchType": "={{ $json.m }}"}, "how the conditions are combined"),
        ({"operation": "get", "filters": "={{ $json.f }}"}, "computes the conditions"),
        ({"filters": {"conditions": "={{ $json.f }}"}}, "computes the conditions"),
        ({"options": "={{ $json.o }}"}, "computes the options"),
        ({"filters": {}}, "no condition"),
        ({"filters": {"conditions": [{"condition": "near"}]}}, "`near` is not modelled"),
        ({"filters": {"conditions": [{"keyName": "={{ 1 }}"}]}}, "selects a column"),
        ({"filters": {"conditions": [{"keyValue": None}]}}, "compares with null"),
        (
            {"filters": {"conditions": [{"keyValue": "={{ 1 }}{{ 2 }}"}]}},
            "a text that contains expressions",
        ),
        ({"filters": {"conditions": [{"keyValue": ["a"]}]}}, "an object or a list"),
        ({"columns": {"mappingMode": "autoMapInputData"}}, "those of the item"),
        ({"columns": {"mappingMode": "defineBelow", "value": "={{ 1 }}"}}, "computes the columns"),
        ({"options": {"dryRun": True}}, "dry run"),
        ({"options": {"optimizeBulk": "={{ 1 }}"}}, "computes an option"),
        ({"operation": "get", "orderBy": True}, "sorted rows"),
        ({"operation": "get", "limit": "={{ 1 }}"}, "number of rows"),
        ({"operation": "get", "returnAll": "={{ 1 }}"}, "number of rows"),
    ],
)
def test_what_is_outside_is_unknown(changes: dict[str, Any], reason: str) -> None:
    request = read_request(parameters(**changes))
    assert isinstance(request, str)
    assert reason in request


def test_one_execution_does_not_know_the_rows() -> None:
    kind = node_types.find_type("dataTable")
    assert kind is not None
    assert kind.behaviour is not None
    behaviour = kind.behaviour(Use(1.1, parameters(), 1, frozenset()))
    assert behaviour is not None
    assert (behaviour.kind, behaviour.known, behaviour.outputs) == ("choice", False, 1)
    assert isinstance(behaviour.request, TableRequest)


# -- operations whose effect is not determined ---------------------------------------------------

TABLE: Table = make_table(
    "t",
    ["s", Column("n", "number"), Column("b", "boolean")],
    [{"s": "2024-05-01", "n": 2, "b": True}, {"s": "x", "n": None, "b": False}, {}],
)


def selected(column: str, name: Any, value: Any) -> list[int]:
    """The numbers of the rows that a condition selects."""
    operation = TableOperation("get", (CellTest(column, name, value),))
    return [row.id for row in apply_operation(TABLE, operation).rows]


def test_conditions_on_other_types() -> None:
    assert selected("n", "gte", 2) == [1]
    assert selected("n", "lt", 2.5) == [1]
    assert selected("n", "neq", 2) == [2, 3]
    assert selected("n", "eq", None) == [2, 3]
    assert selected("b", "isTrue", None) == [1]
    assert selected("b", "isFalse", None) == [2]
    assert selected("b", "isEmpty", None) == [3]


@pytest.mark.parametrize(
    ("column", "name", "value"),
    [
        ("createdAt", "lt", "2024-05-01"),  # not modelled
        ("none", "eq", "a"),
        ("n", "eq", "2"),  # n8n would convert
        ("s", "eq", 2),
        ("s", "lt", "2024-05-01T00:00"),  # another shape: the collation decides
        ("s", "gt", None),
        ("s", "ilike", "Ä"),
        ("n", "like", 2),
    ],
)
def test_a_comparison_that_is_not_determined(column: str, name: Any, value: Any) -> None:
    with pytest.raises(UnknownOperation):
        selected(column, name, value)


def test_an_update_of_no_column_is_not_determined() -> None:
    operation = TableOperation("update", (CellTest("s", "eq", "x"),), values=((),))
    with pytest.raises(UnknownOperation, match="no column"):
        apply_operation(TABLE, operation)
