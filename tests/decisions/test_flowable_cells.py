"""Cells of Flowable's decision tables."""

from __future__ import annotations

import pytest
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
