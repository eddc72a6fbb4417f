"""Cells of Flowable's decision tables."""

from __future__ import annotations

import pytest
from orgflow.frontends.dmn.columns import column_type, convert_cell
from orgflow.frontends.dmn.flowable import in_feel, output_in_feel

ALWAYS = "and (? = null or ? != null)"


@pytest.mark.parametrize(
    ("cell", "type_ref", "feel"),
    [
        ("== 'open'", "string", '"open"'),
        ('== "open"', "string", '"open"'),
        ("!= 'open'", "string", 'not("open")'),
        ("==5", "number", "5"),
        ("== -2.5", "double", "-2.5"),
        ("!= true", "boolean", "not(true)"),
        (".startsWith('t')", "string", 'starts with(?, "t")'),
        ('.contains("t")', "string", 'contains(?, "t")'),
        ("${collection:contains(i, 20)}", "collection", f"list contains(i, 20) {ALWAYS}"),
        ("${collection:contains(o.i, 'a')}", None, f'list contains(o.i, "a") {ALWAYS}'),
        # converted by Flowable, or unknown: left as they are, which FEEL refuses
        ("== 5", "string", "== 5"),
        ("== 'a'", None, "== 'a'"),
        ("== x", "number", "== x"),
        (".matches('t')", "string", ".matches('t')"),
        ("${collection:allOf(i, '1,2')}", "collection", "${collection:allOf(i, '1,2')}"),
        ("${collection:contains(i, x)}", "collection", "${collection:contains(i, x)}"),
        ("== 'a\\'b'", "string", "== 'a\\'b'"),
        # FEEL already
        ("> 5", "number", "> 5"),
        ("-", "string", "-"),
        ('"a","b"', "string", '"a","b"'),
    ],
)
def test_cells_are_read_as_feel(cell: str, type_ref: str | None, feel: str) -> None:
    assert in_feel(cell, type_ref) == feel


def test_output_cells() -> None:
    assert output_in_feel("'a b'") == '"a b"'
    for cell in ('"a"', "1", "'a' + 'b'", "a'b"):
        assert output_in_feel(cell) == cell


@pytest.mark.parametrize(
    ("cell", "type_ref", "flowable", "camunda7"),
    [
        ("5", "string", '"5"', '"5"'),
        ("-5", "string", '"-5"', '"-5"'),
        ("007", "string", '"7"', '"7"'),
        ("5.50", "string", '"5.5"', '"5.5"'),
        ("5.0", "string", '"5.0"', '"5"'),
        ("-0.0", "string", '"-0.0"', '"0"'),
        ("true", "string", '"true"', '"true"'),
        ("order.x", "string", "string(order.x)", "string(order.x)"),
        ('"5"', "integer", "5", "5"),
        ('"5"', "number", "5", "5"),
        ('"True"', "boolean", "true", "true"),
        ('"yes"', "boolean", "false", "false"),
        # not converted
        ('"a"', "string", '"a"', '"a"'),
        ("null", "string", "null", "null"),
        ("-", "string", "-", "-"),
        ("0.0001", "string", "0.0001", "0.0001"),
        ('"a"', "number", '"a"', '"a"'),
        ("x", "number", "x", "x"),
        ("5", None, "5", "5"),
    ],
)
def test_conclusions_take_the_type_of_their_column(
    cell: str, type_ref: str | None, flowable: str, camunda7: str
) -> None:
    assert convert_cell(cell, type_ref, "flowable") == flowable
    assert convert_cell(cell, type_ref, "camunda7") == camunda7
    assert convert_cell(cell, type_ref, None) == cell


def test_types_of_engines() -> None:
    assert column_type("double", ["1.5"]) == "number"
    assert column_type("long", ["1", "x"]) == "number"
    assert column_type("integer", ["1", "1.5"]) == "integer"  # which FEEL refuses
    assert column_type("string", ["1"]) == "string"
