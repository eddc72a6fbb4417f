"""Cells of decision tables and mapped values, in the evaluator and on n8n's own engine."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from one_task import compiled, one_task, variables
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest

from orgflow_ir.program.evaluator import evaluate
from orgflow_ir.program.syntax import variables as read_by
from orgflow_ir.work.mappings import read_value

DMN = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="D" namespace="n">
<decision id="rating" name="Rating"><decisionTable id="dt" hitPolicy="FIRST">
<input id="i"><inputExpression id="ie"><text>x</text></inputExpression></input>
<output id="o" name="r"/>
<rule id="r1"><inputEntry id="e1"><text>{cell}</text></inputEntry>
<outputEntry id="o1"><text>true</text></outputEntry></rule>
<rule id="r2"><inputEntry id="e2"><text>-</text></inputEntry>
<outputEntry id="o2"><text>false</text></outputEntry></rule>
</decisionTable></decision></definitions>"""
DECIDES = (
    '<businessRuleTask id="t" name="Work"><extensionElements><zeebe:calledDecision '
    'decisionId="rating" resultVariable="r"/></extensionElements></businessRuleTask>'
)
MAPS = (
    '<scriptTask id="t" name="Work" scriptFormat="groovy"><extensionElements><camunda:inputOutput>'
    '<camunda:outputParameter name="r">{}</camunda:outputParameter></camunda:inputOutput>'
    '</extensionElements><script>println("x")</script></scriptTask>'
)
SCRIPT = (
    '<scriptTask id="t" name="Work"><extensionElements><zeebe:script expression="= {}" '
    'resultVariable="r"/></extensionElements></scriptTask>'
)


def rows(name: str) -> list[tuple[str, Any, Any]]:
    """The rows of a file beside this one: a text, what is given and what is expected."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    parts = (line.split("\t") for line in lines if not line.startswith("#"))
    return [(text, json.loads(given), json.loads(wanted)) for text, given, wanted in parts]


def _request(task: str, given: dict[str, Any], folder: Path) -> RunRequest:
    process, ctx = compiled(one_task(task), folder)
    assert [d.message for d in ctx.diagnostics if d.code in ("OF404", "OF501")] == []
    items = [{"json": given}]
    return RunRequest(process.root.workflow, "Start", items=items, data=True)


def _results(engine: LocalEngine, requests: list[RunRequest]) -> list[Any]:
    found = [variables(run) for run in engine.run_many(requests)]
    return [after.get("r") if isinstance(after, dict) else after for after in found]


def test_cells_on_the_engine(engine: LocalEngine, tmp_path: Path) -> None:
    requests, wanted = [], rows("cell_rows.txt")
    for cell, value, _ in wanted:
        (tmp_path / "rating.dmn").write_text(DMN.format(cell=escape(cell)), "utf-8")
        requests.append(_request(DECIDES, {"x": value}, tmp_path))
    found = _results(engine, requests)
    assert [(*row, got) for row, got in zip(wanted, found, strict=True) if got is not row[2]] == []


def test_values_on_the_engine(engine: LocalEngine, tmp_path: Path) -> None:
    wanted = rows("value_rows.txt")
    requests = [_request(SCRIPT.format(escape(text)), given, tmp_path) for text, given, _ in wanted]
    found = _results(engine, requests)
    ends = zip(wanted, found, strict=True)
    assert [(*row, got) for row, got in ends if json.dumps(got) != json.dumps(row[2])] == []


def test_texts_of_juel_on_the_engine(engine: LocalEngine, tmp_path: Path) -> None:
    wanted = rows("text_rows.txt")
    requests = [_request(MAPS.format(escape(text)), given, tmp_path) for text, given, _ in wanted]
    wrong = []
    for (text, given, want), run in zip(wanted, engine.run_many(requests), strict=True):
        after = variables(run)
        got = after.get("r") if isinstance(after, dict) else "error"
        if json.dumps(got) != json.dumps(want) and not _is_same_number(got, want):
            wrong.append((text, given, want, after))
    assert wrong == []


def _is_same_number(one: Any, other: Any) -> bool:
    """JSON of JavaScript has no 5.0."""
    numbers = all(type(value) in (int, float) for value in (one, other))
    return numbers and float(one) == float(other)


def test_texts_of_juel_in_the_evaluator() -> None:
    wrong = []
    for text, given, wanted in rows("text_rows.txt"):
        tree = read_value(text)
        values = {}
        for path in read_by(tree):
            value: Any = given
            for part in path:
                value = _entry(value, part)
            if value is not MISSING:
                values[path] = value
        found = evaluate(tree, values)
        same = json.dumps(found) == json.dumps(wanted) or _is_same_number(found, wanted)
        if wanted != "error" and not same:
            wrong.append((text, given, wanted, found))
    assert wrong == []


MISSING = object()


def _entry(value: Any, name: str) -> Any:
    if isinstance(value, list):
        return value[int(name)] if name.isdigit() and int(name) < len(value) else MISSING
    return value.get(name, MISSING) if isinstance(value, dict) else MISSING


def test_values_in_the_evaluator() -> None:
    wrong = []
    for text, given, wanted in rows("value_rows.txt"):
        tree = read_value(f"= {text}", "feel")
        values = {}
        for path in read_by(tree):
            value: Any = given
            for part in path:
                value = _part(value, part)
            values[path] = value
        found = evaluate(tree, values)
        stops = isinstance(wanted, str) and wanted.endswith(" is a list.")
        if not stops and json.dumps(found) != json.dumps(wanted):
            wrong.append((text, given, wanted, found))
    assert wrong == []


def _part(value: Any, name: str) -> Any:
    if isinstance(value, list):
        return [_part(one, name) for one in value]
    return value.get(name) if isinstance(value, dict) else None
