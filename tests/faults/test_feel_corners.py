"""Corners of FEEL in which the product had other values than the conformance kit of DMN."""

from __future__ import annotations

import json
import subprocess
from html import escape
from pathlib import Path
from typing import Any

import pytest
from orgflow.backends.javascript.expression_code import to_js
from orgflow.backends.n8n.engine.local import LocalEngine

from orgflow_ir.plugins import Registry
from orgflow_ir.program.evaluator import evaluate
from orgflow_ir.work.mappings import read_value
from tests.faults.test_column_types import decide_on_engine

VALUES: tuple[tuple[str, Any], ...] = (
    # the end of a day (XML Schema 1.1, 3.3.7)
    ('time("24:00:00") + duration("PT1H")', "01:00:00"),
    ('time("24:00:00.000")', "00:00:00"),
    ('time("24:00:01")', None),
    ('time("24:00:00.5")', None),
    ('time("25:00:00")', None),
    ('date and time("2020-01-31T24:00:00")', "2020-02-01T00:00:00"),
    ('date and time("2020-12-31T24:00:00+01:00") - duration("PT1H")', "2020-12-31T23:00:00+01:00"),
    ('date and time("2020-01-01T24:00:00") = date and time("2020-01-02T00:00:00")', True),
    ('date and time("2020-01-01T24:00:01")', None),
    # durations
    ('duration("PT0.S")', "PT0S"),
    ('duration("PT1.S")', "PT1S"),
    ('duration("PT.5S")', None),
    # patterns
    ('matches("abracadabra", "bra", null)', True),
    ('replace("abra", "a", "b", null)', "bbrb"),
    ('matches("abracadabra", "bra", [])', None),
    ('matches("abracadabra", "bra", "p")', None),
    ('matches("hello world", " hello[ ]world", "x")', True),
    ('matches("hello world", "he ll o[ ]worl d", "x")', True),
    ('matches("helloworld", "hello world", "x")', True),
    # a date is the start of its day in UTC
    ('@"2021-01-02" - @"2021-01-01T10:10:10"', None),
    ('@"2021-01-01T00:00:00" - @"2021-01-02"', None),
    ('@"2021-01-02" - @"2021-01-01T10:10:10+11:00"', "P1DT49M50S"),
    ('@"2021-01-02T10:10:10@Europe/Paris" - @"2021-01-01"', "P1DT9H10M10S"),
    ('@"2021-01-02T00:00:00Z" - @"2021-01-02"', "PT0S"),
    # named arguments
    ('is(value1: @"2021-02-13", value2: @"2021-02-13")', True),
    ('is(value1: @"2021-02-13", value2: @"2021-02-13", value3: @"2020-01-01")', True),
    ('is(value1: @"2021-02-13")', None),
    ("abs(n: -1, x: 2)", None),
)


def test_values_in_the_evaluator() -> None:
    found = [evaluate(read_value(f"= {text}", "feel"), {}) for text, _ in VALUES]
    assert found == [wanted for _, wanted in VALUES]


def test_values_in_javascript() -> None:
    programs = [to_js(read_value(f"= {text}", "feel"), ".".join) for text, _ in VALUES]
    lines = "".join(f"console.log(JSON.stringify({code} ?? null));\n" for code in programs)
    done = subprocess.run(
        ["node", "-"], input=lines, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [v for _, v in VALUES]


DMN = (
    '<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" id="d" name="D" '
    'namespace="n"><decision id="dec" name="Dec">{}</decision></definitions>'
)


def box(tag: str, *parts: tuple[str, str], more: str = "") -> str:
    inside = "".join(
        f"<{name}><literalExpression><text>{escape(text)}</text></literalExpression></{name}>"
        for name, text in parts
    )
    return f"<{tag} {more}>{inside}</{tag}>"


LIST = ("in", "[1,2,3]")
BOXES: dict[str, tuple[str, Any]] = {
    "a condition that is true": (
        box("conditional", ("if", "x = 1"), ("then", '"a"'), ("else", '"b"')), "a"
    ),
    "a condition that is a variable": (
        box("conditional", ("if", "t"), ("then", '"a"'), ("else", '"b"')), "a"
    ),
    "a condition that is a text": (
        box("conditional", ("if", '"abc"'), ("then", '"a"'), ("else", '"b"')), None
    ),
    "a condition that is null": (
        box("conditional", ("if", "null"), ("then", '"a"'), ("else", '"b"')), "b"
    ),
    "a filter": (box("filter", LIST, ("match", "item >= 2")), [2, 3]),
    "a filter by a position": (box("filter", LIST, ("match", "x + 1")), 2),
    "a filter by a text": (box("filter", LIST, ("match", '"no"')), None),
    "a filter by some texts": (
        box("filter", LIST, ("match", 'if item <= 2 then true else "no"')), None
    ),
    "some by a text": (
        box("some", LIST, ("satisfies", '"no"'), more='iteratorVariable="e"'), None
    ),
    "some by some texts": (
        box("some", LIST, ("satisfies", 'if e = 2 then true else "no"'),
            more='iteratorVariable="e"'),
        None,
    ),
    "some": (box("some", LIST, ("satisfies", "e = 2"), more='iteratorVariable="e"'), True),
    "every by a text": (
        box("every", LIST, ("satisfies", '"no"'), more='iteratorVariable="e"'), None
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BOXES)
def test_boxed_expressions_on_the_engine(
    engine: LocalEngine, registry: Registry, tmp_path: Path, name: str
) -> None:
    text, wanted = BOXES[name]
    (path := tmp_path / "b.dmn").write_text(DMN.format(text), "utf-8")
    assert decide_on_engine(engine, registry, path, [{"x": 1, "t": True}]) == [wanted]
