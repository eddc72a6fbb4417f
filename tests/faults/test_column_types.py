"""Texts in inputs of decision tables become the dates, times and durations that columns state."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest

from orgflow_ir.plugins import Registry
from tests.faults.test_process_values import Json, compile_workflows
from tests.support.shared_data import shared_data

DMN = (
    '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="D" '
    'namespace="n" {engine}>{types}<decision id="dec" name="Dec"><decisionTable id="t" '
    'hitPolicy="FIRST">{columns}<output id="o" name="o"/>{rules}</decisionTable></decision>'
    "</definitions>"
)
CAMUNDA_8 = (
    'xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
    'modeler:executionPlatform="Camunda Cloud" modeler:executionPlatformVersion="8.6.0"'
)


def write_table(
    inputs: list[tuple[str, str]], rules: list[list[str]], *, engine: str = "", types: str = ""
) -> str:
    """A table of columns (expression, type) and rules of cells, whose value is their number."""
    columns = "".join(
        f'<input id="i{n}"><inputExpression id="e{n}" typeRef="{of}"><text>{escape(text)}</text>'
        "</inputExpression></input>"
        for n, (text, of) in enumerate(inputs)
    )
    rows = ""
    for n, cells in enumerate(rules):
        tests = "".join(
            f'<inputEntry id="c{n}_{at}"><text>{escape(cell)}</text></inputEntry>'
            for at, cell in enumerate(cells)
        )
        output = f'<outputEntry id="r{n}"><text>{n}</text></outputEntry>'
        rows += f'<rule id="q{n}">{tests}{output}</rule>'
    return DMN.format(engine=engine, types=types, columns=columns, rules=rows)


TABLES: dict[str, tuple[str, list[tuple[Json, Any]]]] = {
    "time": (
        write_table([("d", "time")], [['<= time("12:00:00")'], ['> time("12:00:00")']]),
        [({"d": "10:00:00"}, 0), ({"d": "13:00:00"}, 1), ({"d": "noon"}, None), ({"d": 5}, None)],
    ),
    "date": (
        write_table([("d", "date")], [['< date("2026-03-01")'], ["-"]]),
        [({"d": "2026-02-01"}, 0), ({"d": "2026-04-01"}, 1), ({"d": None}, 1)],
    ),
    "date and time": (
        write_table(
            [("d", "dateTime")], [['< date and time("2026-03-01T12:00:00")'], ["-"]]
        ),
        [({"d": "2026-03-01T10:00:00"}, 0), ({"d": "2026-03-01T13:00:00"}, 1)],
    ),
    "duration": (
        write_table([("d", "dayTimeDuration")], [['< duration("P1D")'], ['>= duration("P1D")']]),
        [({"d": "PT5H"}, 0), ({"d": "PT24H"}, 1)],
    ),
    "months": (
        write_table([("d", "yearMonthDuration")], [['< duration("P1Y")'], ["-"]]),
        [({"d": "P11M"}, 0), ({"d": "P13M"}, 1)],
    ),
    "a part of an object": (
        write_table([("order.date", "date")], [['< date("2026-03-01")'], ["-"]]),
        [({"order": {"date": "2026-02-01"}}, 0), ({"order": {"date": "2026-04-01"}}, 1)],
    ),
    "of Camunda 8": (
        write_table([("d", "date")], [['< date("2026-03-01")'], ["-"]], engine=CAMUNDA_8),
        [({"d": "2026-02-01"}, 0), ({"d": "2026-04-01"}, 1)],
    ),
    "two columns of one variable": (
        write_table([("d", "date"), ("d", "string")], [['< date("2026-03-01")', '"2026-02-01"'],
                                                       ["-", "-"]]),
        [({"d": "2026-02-01"}, 0), ({"d": "2026-02-02"}, 1)],
    ),
    "read in a cell as well": (
        write_table([("d", "date"), ("x", "string")], [['< date("2026-03-01")', "d"], ["-", "-"]]),
        [({"d": "2026-02-01", "x": "2026-02-01"}, 0), ({"d": "2026-02-02", "x": "no"}, 1)],
    ),
    "a computed date": (
        write_table([("date(d)", "date")], [['< date("2026-03-01")'], ["-"]]),
        [({"d": "2026-02-01"}, 0), ({"d": "2026-04-01"}, 1)],
    ),
    "numbers and truth values are none of these": (
        write_table([("n", "number"), ("b", "boolean")], [["< 5", "true"], ["-", "-"]]),
        [({"n": 4, "b": True}, 0), ({"n": "4", "b": True}, 1), ({"n": 4, "b": "true"}, 1)],
    ),
    "a type of the file": (
        write_table(
            [("d", "tDay")],
            [['< date("2026-03-01")'], ["-"]],
            types='<itemDefinition id="x" name="tDay"><typeRef>date</typeRef></itemDefinition>',
        ),
        [({"d": "2026-02-01"}, 0), ({"d": "2026-04-01"}, 1)],
    ),
}  # fmt: skip


def decide_on_engine(
    engine: LocalEngine, registry: Registry, path: Path, given: list[Json]
) -> list[Any]:
    """The values of the decision `Dec` of a file for each item."""
    (workflow,) = compile_workflows(path, registry)
    requests = [RunRequest(workflow, "Start", items=[{"json": item}], data=True) for item in given]
    values = []
    for run in engine.run_many(requests):
        last = run.order[-1].items
        values.append(last[0][0].get("Dec") if last and run.status == "success" else run.error)
    return values


@pytest.mark.parametrize("name", TABLES)
def test_a_column_converts_texts(
    engine: LocalEngine, registry: Registry, tmp_path: Path, name: str
) -> None:
    text, rows = TABLES[name]
    (path := tmp_path / "t.dmn").write_text(text, "utf-8")
    values = decide_on_engine(engine, registry, path, [given for given, _ in rows])
    assert values == [wanted for _, wanted in rows]


@pytest.mark.parametrize(
    ("file", "given", "wanted"),
    [
        ("dmn-type-time", "10:00:00", "am"),
        ("dmn-type-time", "14:00:00", "pm"),
        ("dmn-type-datetime", "2026-03-01T10:00:00", "early"),
    ],
)
def test_a_fault_has_the_right_value(
    engine: LocalEngine, registry: Registry, file: str, given: str, wanted: str
) -> None:
    path = Path(shared_data("faults")) / "field" / f"{file}.dmn"
    assert decide_on_engine(engine, registry, path, [{"d": given}]) == [wanted]
