"""Results of decision tables that no rule or several rules match, by the engine of the file, on
n8n's engine.

- Camunda 7 has a list of rule results, which is empty without a match; a sum is then null and a
  count 0 (`AbstractCollectNumberHitPolicyHandler`, `CollectCountAggregator`). Two matches of a
  UNIQUE table, and different ones of an ANY table, are errors.
- Camunda 8 has null without a match, for a count too (dmn-scala, `applyDefaultOutputEntries`).
  Violated hit policies are errors.
- Flowable sets variables: a list of results for COLLECT and RULE ORDER; otherwise outputs, and
  nothing without a match, also for a count (`DmnActivityBehavior`, `HitPolicyCollect`). A violated
  UNIQUE is an error.
- DMN 1.3, 8.2.11 and 10.3.2.8: null without a match and for a violated hit policy, a count is 0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from one_task import compiled, one_task, variables
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest

DMN = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" {engine} id="d" name="D"
namespace="n"><decision id="rating" name="Rating"><decisionTable id="dt" {policy}>
<input id="i"><inputExpression id="ie" typeRef="number"><text>x</text></inputExpression></input>
<output id="o" name="o" typeRef="{type}"/>
<rule id="r1"><inputEntry id="e1"><text>&gt; 1</text></inputEntry>
<outputEntry id="o1"><text>{one}</text></outputEntry></rule>
<rule id="r2"><inputEntry id="e2"><text>&gt; 2</text></inputEntry>
<outputEntry id="o2"><text>{two}</text></outputEntry></rule>
</decisionTable></decision></definitions>"""
ENGINES = {
    "camunda7": 'xmlns:camunda="http://camunda.org/schema/1.0/dmn"',
    "camunda8": (
        'xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
        'modeler:executionPlatform="Camunda Cloud" modeler:executionPlatformVersion="8.6.0"'
    ),
    "flowable": 'xmlns:flowable="http://flowable.org/dmn"',
}
CAMUNDA_7 = (
    '<businessRuleTask id="t" name="Work" camunda:decisionRef="rating" camunda:resultVariable="r"'
    ' camunda:mapDecisionResult="{}"/>'
)
CAMUNDA_8 = (
    '<businessRuleTask id="t" name="Work"><extensionElements><zeebe:calledDecision '
    'decisionId="rating" resultVariable="r"/></extensionElements></businessRuleTask>'
)
FLOWABLE = (
    '<serviceTask id="t" name="Work" flowable:type="dmn"><extensionElements><flowable:field '
    'name="decisionTableReferenceKey" stringValue="rating"/></extensionElements></serviceTask>'
)
STOPS = "stops"
TEXTS, NUMBERS = ("string", '"a"', '"b"'), ("number", "1", "2")
UNIQUE, ANY, COLLECT = 'hitPolicy="UNIQUE"', 'hitPolicy="ANY"', 'hitPolicy="COLLECT"'
RULES = 'hitPolicy="RULE ORDER"'
SUM, COUNT = f'{COLLECT} aggregation="SUM"', f'{COLLECT} aggregation="COUNT"'
MIN = f'{COLLECT} aggregation="MIN"'
A, B = {"o": "a"}, {"o": "b"}

# Engine and mapping, hit policy, cells, and the results of no, one and two matches.
ROWS: tuple[tuple[str, str, tuple[str, str, str], tuple[Any, Any, Any]], ...] = (
    ("singleEntry", UNIQUE, TEXTS, (None, "a", STOPS)),
    ("singleResult", UNIQUE, TEXTS, (None, A, STOPS)),
    ("resultList", UNIQUE, TEXTS, ([], [A], STOPS)),
    ("singleEntry", ANY, TEXTS, (None, "a", STOPS)),
    ("singleEntry", COLLECT, TEXTS, (None, "a", STOPS)),
    ("collectEntries", COLLECT, TEXTS, ([], ["a"], ["a", "b"])),
    ("resultList", COLLECT, TEXTS, ([], [A], [A, B])),
    ("collectEntries", RULES, TEXTS, ([], ["a"], ["a", "b"])),
    ("singleEntry", SUM, NUMBERS, (None, 1, 3)),
    ("resultList", SUM, NUMBERS, ([], [{"o": 1}], [{"o": 3}])),
    ("collectEntries", SUM, NUMBERS, ([], [1], [3])),
    ("singleEntry", MIN, NUMBERS, (None, 1, 1)),
    ("singleEntry", COUNT, NUMBERS, (0, 1, 2)),
    ("camunda8", UNIQUE, TEXTS, (None, "a", STOPS)),
    ("camunda8", ANY, TEXTS, (None, "a", STOPS)),
    ("camunda8", COLLECT, TEXTS, (None, ["a"], ["a", "b"])),
    ("camunda8", RULES, TEXTS, (None, ["a"], ["a", "b"])),
    ("camunda8", SUM, NUMBERS, (None, 1, 3)),
    ("camunda8", COUNT, NUMBERS, (None, 1, 2)),
    ("flowable", UNIQUE, TEXTS, ({}, {"o": "a"}, STOPS)),
    ("flowable", COLLECT, TEXTS, ({"rating": []}, {"rating": [A]}, {"rating": [A, B]})),
    ("flowable", RULES, TEXTS, ({"rating": []}, {"rating": [A]}, {"rating": [A, B]})),
    ("flowable", SUM, NUMBERS, ({}, {"o": 1}, {"o": 3})),
    ("flowable", COUNT, NUMBERS, ({}, {"o": 1}, {"o": 2})),
)


@pytest.mark.parametrize(("how", "policy", "cells", "wanted"), ROWS)
def test_matches_by_engine(
    how: str,
    policy: str,
    cells: tuple[str, str, str],
    wanted: tuple[Any, Any, Any],
    engine: LocalEngine,
    tmp_path: Path,
) -> None:
    of, one, two = cells
    head = ENGINES.get(how, ENGINES["camunda7"])
    text = DMN.format(engine=head, policy=policy, type=of, one=one, two=two)
    (tmp_path / "rating.dmn").write_text(text, "utf-8")
    tasks = {"camunda8": CAMUNDA_8, "flowable": FLOWABLE}
    process, ctx = compiled(one_task(tasks.get(how, CAMUNDA_7.format(how))), tmp_path)
    assert [d.message for d in ctx.diagnostics if d.code in ("OF404", "OF501")] == []
    requests = [
        RunRequest(process.root.workflow, "Start", items=[{"json": {"x": x}}], data=True)
        for x in (0, 2, 3)
    ]
    found = []
    for run in engine.run_many(requests):
        after = variables(run)
        if isinstance(after, str):
            found.append(STOPS)
        else:
            rest = {name: value for name, value in after.items() if name != "x"}
            found.append(rest if how == "flowable" else rest["r"])
    assert tuple(found) == wanted
