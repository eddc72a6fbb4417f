"""Repeated activities run as the token game says, and as often as their lists and numbers say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from orgflow.backends.n8n.emit.compiled import CompiledProcess
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compilation.reading import load_model
from played_models import compiled, faults

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.lowering.loops import loops_as_flows
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d">'
    '<error id="er" name="Broken" errorCode="B"/>'
)


def flow(id: str, source: str, target: str) -> str:
    return f'<sequenceFlow id="{id}" sourceRef="{source}" targetRef="{target}"/>'


def around(activity: str, more: str = "") -> str:
    """A process of two tasks around an activity `t`, with more elements beside them."""
    return (
        f'{HEAD}<process id="p" isExecutable="true"><startEvent id="s"/><task id="a" name="A"/>'
        f'{activity}<task id="b" name="B"/><endEvent id="e" name="Done"/>{more}'
        f"{flow('f0', 's', 'a')}{flow('f1', 'a', 't')}{flow('f2', 't', 'b')}{flow('f3', 'b', 'e')}"
        "</process></definitions>"
    )


def instances(inside: str = "", attributes: str = "", sequential: bool = True) -> str:
    word = "true" if sequential else "false"
    opening = f'<multiInstanceLoopCharacteristics isSequential="{word}" {attributes}>'
    return f"{opening}{inside}</multiInstanceLoopCharacteristics>"


def standard(condition: str = "", attributes: str = "") -> str:
    inside = f"<loopCondition>{condition}</loopCondition>" if condition else ""
    return f"<standardLoopCharacteristics {attributes}>{inside}</standardLoopCharacteristics>"


OVER = 'camunda:collection="orders" camunda:elementVariable="order"'
THREE = "<loopCardinality>3</loopCardinality>"
ENOUGH = "<completionCondition>${nrOfCompletedInstances >= 2}</completionCondition>"


def task(loop: str) -> str:
    return f'<task id="t" name="Check">{loop}</task>'


def sub(loop: str, inside: str = "") -> str:
    return (
        f'<subProcess id="t" name="Handle">{loop}<startEvent id="is"/><task id="x" name="X"/>'
        f"{flow('i0', 'is', 'x')}{inside or '<endEvent id=' + chr(34) + 'ie' + chr(34) + '/>'}"
        f"{'' if inside else flow('i1', 'x', 'ie')}</subProcess>"
    )


CHOICE = (
    '<exclusiveGateway id="g" name="Fine?"/><endEvent id="ie"/><endEvent id="bad" name="Bad">'
    '<errorEventDefinition errorRef="er"/></endEvent>'
    + flow("i1", "x", "g")
    + '<sequenceFlow id="i2" name="yes" sourceRef="g" targetRef="ie"/>'
    '<sequenceFlow id="i3" name="no" sourceRef="g" targetRef="bad"/>'
)
CAUGHT = (
    '<boundaryEvent id="bd" attachedToRef="t"><errorEventDefinition errorRef="er"/></boundaryEvent>'
    '<task id="c" name="C"/><endEvent id="e2" name="Failed"/>'
    + flow("f4", "bd", "c")
    + flow("f5", "c", "e2")
)

PLAYED: dict[str, str] = {
    "a list": around(task(instances("", OVER))),
    "a number": around(task(instances(THREE))),
    "nothing named": around(task(instances())),
    "parallel": around(task(instances("", OVER, sequential=False))),
    "completion": around(task(instances("", OVER).replace("></", f">{ENOUGH}</"))),
    "completion of a step": around(
        task(instances(THREE + "<completionCondition>${done}</completionCondition>"))
    ),
    "completion in words": around(
        task(instances(THREE + "<completionCondition>All agree</completionCondition>"))
    ),
    "standard": around(task(standard("${again}"))),
    "standard, tested before": around(task(standard("${again}", 'testBefore="true"'))),
    "standard, at most": around(task(standard("${again}", 'loopMaximum="2"'))),
    "standard, number only": around(task(standard("", 'loopMaximum="2"'))),
    "standard, in words": around(task(standard("Mistakes found"))),
    "standard, nothing said": around(task(standard())),
    "sub-process": around(sub(instances("", OVER))),
    "parallel sub-process": around(sub(instances("", OVER, sequential=False))),
    "sub-process that fails": around(sub(instances("", OVER), CHOICE), CAUGHT),
    "repeated sub-process": around(sub(standard("${again}"))),
    "no way out": HEAD + '<process id="p"><startEvent id="s"/>' + task(instances("", OVER))
    + flow("f1", "s", "t") + "</process></definitions>",
    "several ways out": around(
        task(instances("", OVER)), '<task id="c" name="C"/>' + flow("f4", "t", "c")
    ),
    "beside another step": around(task(instances("", OVER)))
    .replace('sourceRef="a" targetRef="t"', 'sourceRef="g" targetRef="t"')
    .replace(
        '<task id="b"',
        '<parallelGateway id="g"/><parallelGateway id="j"/><task id="y" name="Y"/>'
        + flow("g0", "a", "g") + flow("g1", "g", "y") + flow("g2", "y", "j") + flow("g3", "j", "b")
        + '<task id="b"',
    )
    .replace('sourceRef="t" targetRef="b"', 'sourceRef="t" targetRef="j"'),
}  # fmt: skip


def read(text: str, registry: Registry) -> Model:
    source = SourceFile("m.bpmn", text.encode())
    model = load_model(source, registry, PassContext(registry=registry))
    assert model is not None
    return model


@pytest.fixture
def runner(engine: LocalEngine) -> Iterator[LocalRunner]:
    return LocalRunner(engine)


@pytest.mark.parametrize("name", PLAYED)
def test_the_engine_runs_it_as_the_token_game_does(
    runner: LocalRunner, registry: Registry, name: str
) -> None:
    model = read(PLAYED[name], registry)
    made, errors = compiled(model, registry)
    assert made is not None, errors
    assert faults(model, made, runner, registry) == []


def test_runs_repeat_from_no_time_on(registry: Registry) -> None:
    """The oracle of the test above: what the flows stand for is written down here."""
    times = {
        name: {
            sum(step.element == "t" and step.action in ("fire", "done") for step in run.steps)
            for run in enumerate_runs(
                loops_as_flows(read(PLAYED[name], registry)), "p", max_runs=40, loops=3
            ).runs
        }
        for name in ("a list", "standard", "standard, tested before", "completion")
    }
    assert times["a list"] >= {0, 1, 2}
    assert times["standard"] >= {1, 2}
    assert 0 not in times["standard"]
    assert times["standard, tested before"] >= {0, 1, 2}
    assert times["completion"] >= {0, 1, 2}


# -- with data -------------------------------------------------------------------------------------


def noting(loop: str, what: str) -> str:
    """A script that notes a value each time it runs."""
    return (
        f'<scriptTask id="t" name="Check" scriptFormat="feel" camunda:resultVariable="seen">{loop}'
        f"<script>append(seen, {what})</script></scriptTask>"
    )


def zeebe(attributes: str, sequential: bool = True) -> str:
    inside = f"<extensionElements><zeebe:loopCharacteristics {attributes}/></extensionElements>"
    return instances(inside, sequential=sequential)


COUNTS = "<completionCondition>${nrOfCompletedInstances/nrOfInstances >= 0.6}</completionCondition>"
ITEMS: list[list[Any]] = [[], ["x"], ["x", "y"], ["x", {"y": 1}, "z"]]

WITH_DATA: tuple[tuple[str, str, dict[str, Any], dict[str, Any]], ...] = (
    *(
        ("camunda", noting(instances("", OVER), "order"), {"orders": items}, {"seen": items})
        for items in ITEMS
    ),
    *(
        (
            "camunda parallel",
            noting(instances("", 'camunda:collection="${data.orders}" '
                   'camunda:elementVariable="order"', sequential=False), "order"),
            {"data": {"orders": items}},
            {"seen": items},
        )
        for items in ITEMS
    ),
    *(
        (
            "zeebe",
            noting(
                zeebe('inputCollection="=orders" inputElement="order" outputCollection="results" '
                      'outputElement="=[loopCounter, order]"'),
                "order",
            ),
            {"orders": items},
            {"seen": items, "results": [[n, item] for n, item in enumerate(items, 1)]},
        )
        for items in ITEMS
    ),
    *(
        ("number", noting(instances(f"<loopCardinality>{text}</loopCardinality>"), "loopCounter"),
         {"n": n}, {"seen": [*range(n)]})
        for n in range(4)
        for text in ("${n}", "n", "=n", str(n))
    ),
    *(
        ("completion", noting(instances(THREE.replace("3", str(n)) + COUNTS), "loopCounter"), {},
         {"seen": [*range(done)]})
        for n, done in ((0, 0), (1, 1), (2, 2), (3, 2), (5, 3))
    ),
    ("standard loop", noting(standard("${count &lt; 3}"), "1").replace(
        "append(seen, 1)", "append(seen, count)"), {"count": 5}, {"seen": [5]}),
    ("standard loop before", noting(standard("${go}", 'testBefore="true"'), "1"), {"go": False},
     {"seen": []}),
    ("standard loop, at most twice", noting(standard("${go}", 'loopMaximum="2"'), "1"),
     {"go": True}, {"seen": [1, 1]}),
    ("a loop in a loop",
     '<subProcess id="t" name="Handle">'
     + instances("", 'camunda:collection="orders" camunda:elementVariable="order"')
     + noting(instances("", 'camunda:collection="${order.parts}" camunda:elementVariable="part"'),
              "[order.id, part]").replace('id="t"', 'id="u"').replace('"Check"', '"Part"')
     + '<startEvent id="is"/>' + flow("i0", "is", "u") + "</subProcess>",
     {"orders": [{"id": 1, "parts": ["a", "b"]}, {"id": 2, "parts": []},
                 {"id": 3, "parts": ["c"]}]},
     {"seen": [[1, "a"], [1, "b"], [3, "c"]]}),
)  # fmt: skip


def test_as_often_as_the_data_says(engine: LocalEngine, registry: Registry) -> None:
    requests = []
    for _, activity, given, _ in WITH_DATA:
        made, errors = compiled(read(around(activity), registry), registry)
        assert made is not None, errors
        process = made.compiled["p"]
        assert isinstance(process, CompiledProcess)
        item = {"json": {"seen": [], **given}}
        requests.append(RunRequest(process.root.workflow, "Start", items=[item], data=True))
    wrong = []
    for (name, _, given, expected), run in zip(WITH_DATA, engine.run_many(requests), strict=True):
        last = run.order[-1]
        item = last.items[0][0] if last.node == "Done" and last.items else {}
        if {name: item.get(name) for name in expected} != expected:
            wrong.append((name, given, item, run.error))
    assert wrong == []
