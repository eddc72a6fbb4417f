"""Variables of a scope, and errors that leave one, executed on n8n's own engine.

The expected values follow BPMN 2.0.2 (10.4, 10.5.7, 13.3) and the user guide of Camunda 7: a step
sets a variable in the nearest scope that has it, otherwise in the process. They were written down
before the models were compiled.
"""

from __future__ import annotations

import json
import re
from html import escape
from itertools import pairwise
from pathlib import Path

import orgflow
import pytest
from one_task import HEAD, compiled, variables
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest

ERRORS = '<error id="E1" errorCode="E1"/><error id="E2" errorCode="E2"/>'
MODEL_HEAD = HEAD.replace("<process", ERRORS + "<process", 1)


def step(id: str, code: str, more: str = "") -> str:
    """A script; `more` is what comes before its code, in which `a = 1` is short for a call that
    sets the variable."""
    code = re.sub(r"(?<!\w)(\w+) = ([^;]+)", r"execution.setVariable('\1', \2)", code)
    return (
        f'<scriptTask id="{id}" name="{id}" scriptFormat="groovy">{more}'
        f"<script>{escape(code)}</script></scriptTask>"
    )


def sub(id: str, content: str, more: str = "") -> str:
    return f'<subProcess id="{id}" name="{id}">{more}{content}</subProcess>'


def flows(*ways: str) -> str:
    """Sequence flows along each way of ids, separated by spaces; `a b: condition` has one."""
    made = []
    for way in ways:
        ids, _, condition = way.partition(": ")
        inner = f"<conditionExpression>{escape(condition)}</conditionExpression>"
        names = ids.split()
        made += [
            f'<sequenceFlow id="{a}_{b}" sourceRef="{a}" targetRef="{b}">'
            f"{inner if condition else ''}</sequenceFlow>"
            for a, b in pairwise(names)
        ]
    return "".join(made)


def start(id: str) -> str:
    return f'<startEvent id="{id}"/>'


def end(id: str, error: str = "") -> str:
    thrown = f'<errorEventDefinition errorRef="{error}"/>' if error else ""
    return f'<endEvent id="{id}">{thrown}</endEvent>'


def caught(id: str, at: str, error: str = "", code: str = "") -> str:
    """An error boundary event, with the variable for the code."""
    more = f' errorRef="{error}"' if error else ""
    more += f' camunda:errorCodeVariable="{code}"' if code else ""
    return (
        f'<boundaryEvent id="{id}" attachedToRef="{at}"><errorEventDefinition{more}/>'
        "</boundaryEvent>"
    )


def each(items: str, item: str) -> str:
    return (
        '<multiInstanceLoopCharacteristics isSequential="true" '
        f'camunda:collection="{items}" camunda:elementVariable="{item}"/>'
    )


def mapped(*, given: dict[str, str] | None = None, back: dict[str, str] | None = None) -> str:
    """The mappings of a sub-process: what it is given, and what it gives back."""
    parts = [
        f'<camunda:{kind}Parameter name="{name}">{escape(text)}</camunda:{kind}Parameter>'
        for kind, values in (("input", given), ("output", back))
        for name, text in (values or {}).items()
    ]
    return (
        "<extensionElements><camunda:inputOutput>"
        + "".join(parts)
        + "</camunda:inputOutput></extensionElements>"
    )


DONE = '<endEvent id="done" name="Done"/>'
BEGIN = start("s") + step("A", "x = 5; y = 1; items = [3, 1, 2];") + DONE

RUNS: dict[str, tuple[str, dict[str, object]]] = {
    "variables set before a script throws an error": (
        BEGIN
        + step("B", "y = 50; if (x > 3) throw new BpmnError('E1'); y = 60;")
        + caught("b", "B", "E1", "code")
        + step("D", "seen = y;")
        + flows("s A B done", "b D done"),
        {"seen": 50, "y": 50, "code": "E1"},
    ),
    "an error of the third instance": (
        BEGIN
        + sub(
            "M",
            start("i")
            + step("B", "y = y + 10; if (one == 2) throw new BpmnError('E1');")
            + end("j")
            + flows("i B j"),
            each("items", "one"),
        )
        + caught("b", "M", "E1", "code")
        + step("D", "seen = y;")
        + flows("s A M done", "b D done"),
        {"seen": 31, "code": "E1"},
    ),
    "an error of a script beside one of an event, in the order of the code": (
        BEGIN
        + sub(
            "M",
            start("i")
            + step("B", "y = 50; if (x > 3) throw new BpmnError('E1'); y = 7;")
            + '<exclusiveGateway id="g" default="g_j"/>'
            + end("j")
            + end("k", "E1")
            + flows("i B g", "g k: ${y > 9}", "g j"),
        )
        + caught("b", "M", "E1")
        + step("C", "seen = 'C';")
        + step("D", "seen = y;")
        + flows("s A M C done", "b D done"),
        {"seen": 50},
    ),
    "an error of a script that only an outer event catches": (
        BEGIN
        + sub(
            "M",
            start("i")
            + sub(
                "N",
                start("k") + step("B", "throw new BpmnError('E1');") + end("l") + flows("k B l"),
            )
            + caught("n", "N", "E2")
            + '<exclusiveGateway id="g" default="g_j"/>'
            + end("j")
            + end("m", "E2")
            + flows("i N g", "n g", "g m: ${y > 9}", "g j"),
        )
        + caught("b", "M")
        + step("C", "seen = 'C';")
        + step("D", "seen = 'D';")
        + flows("s A M C done", "b D done"),
        {"seen": "D"},
    ),
    "an inclusive split that takes one of two branches, in a loop with another one": (
        BEGIN
        + '<inclusiveGateway id="o" default="o_P"/><inclusiveGateway id="j"/>'
        + '<exclusiveGateway id="m"/><exclusiveGateway id="g" default="g_F"/>'
        + '<inclusiveGateway id="P" default="P_R"/><inclusiveGateway id="Q"/>'
        + step("B", "x = x - 2;")
        + step("C", "y = 2;")
        + step("R", "z = 1;")
        + step("D", "n = 1;")
        + step("F", "seen = x * 10 + y;")
        # Of the flows into the join, that of the branch that is not taken comes last.
        + flows("s A m o", "o B: ${y == 1}", "o P", "P C: ${y == 9}", "P R", "C Q", "R Q")
        + flows("B j", "Q j D g", "g m: ${n == 0}", "g F done"),
        {"seen": 31},
    ),
    "mappings of a sub-process": (
        BEGIN
        + sub(
            "M",
            start("i") + step("B", "p = p + 100; y = y + 1;") + end("j") + flows("i B j"),
            mapped(given={"p": "${y + 1}"}, back={"x": "${p + y}"}),
        )
        + step("C", "seen = x;")
        + flows("s A M C done"),
        {"seen": 104, "y": 2},
    ),
    "mappings of each instance, and its counts": (
        BEGIN
        + sub(
            "M",
            start("i")
            + step("B", "y = y + p + nrOfInstances * 100 + nrOfCompletedInstances * 1000;")
            + end("j")
            + flows("i B j"),
            mapped(given={"p": "${one * 10}"}) + each("items", "one"),
        )
        + step("C", "seen = y;")
        + flows("s A M C done"),
        {"seen": 1 + 60 + 900 + 3000},
    ),
    "two repetitions one after the other have their own items": (
        BEGIN
        + step("M", "y = y * 10 + one;", each("items", "one"))
        + step("N", "y = y * 10 + one + loopCounter;", each("items", "one"))
        + step("C", "seen = y;")
        + flows("s A M N C done"),
        {"seen": 1312324},
    ),
}


@pytest.mark.parametrize("title", RUNS)
def test_values_on_the_engine(title: str, engine: LocalEngine, tmp_path: Path) -> None:
    content, expected = RUNS[title]
    process, _ = compiled(f"{MODEL_HEAD}{content}</process></definitions>", tmp_path)
    (run,) = engine.run_many([RunRequest(process.root.workflow, "Start", data=True)])
    found = variables(run)
    assert isinstance(found, dict), found
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.parametrize("title", RUNS)
def test_they_are_proved(title: str, tmp_path: Path) -> None:
    path = tmp_path / "model.bpmn"
    path.write_text(f"{MODEL_HEAD}{RUNS[title][0]}</process></definitions>", "utf-8")
    model = orgflow.read(str(path))
    made = orgflow.compile(model, "n8n", options={"trigger": "manual"})
    assert made.ok, made.errors
    assert orgflow.verify(model, made).ok


def call(id: str, process: str, given: str, back: str) -> str:
    """A call that hands over one variable and takes one back, each as `source target`."""
    parts = [
        f'<camunda:{tag} source="{text.split()[0]}" target="{text.split()[1]}"/>'
        for tag, text in (("in", given), ("out", back))
    ]
    return (
        f'<callActivity id="{id}" name="{id}" calledElement="{process}"><extensionElements>'
        f"{''.join(parts)}</extensionElements></callActivity>"
    )


def another(id: str, content: str) -> str:
    """A further process of the same file."""
    return f'</process><process id="{id}" name="{id}" isExecutable="true">{content}'


def test_variables_of_called_processes_are_not_those_of_the_caller(
    engine: LocalEngine, tmp_path: Path
) -> None:
    """Two calls side by side, in a loop: both called processes have a variable `a`, and the join
    compares those of the caller."""
    content = (
        BEGIN
        + '<exclusiveGateway id="m"/><parallelGateway id="g"/><parallelGateway id="h"/>'
        + '<exclusiveGateway id="k" default="k_F"/>'
        + call("K", "q", "x a", "a x")
        + call("L", "r", "y a", "a y")
        + step("N", "n = 1;")
        + step("F", "seen = x * 100 + y;")
        + flows("s A m g K h N k F done", "g L h", "k m: ${x == 6 && n == 1 && y == 3}")
        + another("q", start("i") + step("B", "a = a + 1;") + end("j") + flows("i B j"))
        + another("r", start("t") + step("C", "a = a + 2;") + end("u") + flows("t C u"))
    )
    path = tmp_path / "model.bpmn"
    path.write_text(f"{MODEL_HEAD}{content}</process></definitions>", "utf-8")
    made = orgflow.compile(orgflow.read(str(path)), "n8n", options={"trigger": "manual"})
    assert made.ok, made.errors
    main, *parts = (json.loads(text) for text in made.files.values())
    workflows = {part["id"]: part for part in parts}
    (run,) = engine.run_many([RunRequest(main, "Start", data=True, workflows=workflows)])
    found = variables(run)
    assert isinstance(found, dict), found
    assert found["seen"] == 705


REFUSED: dict[str, tuple[str, str]] = {
    "an item that has the name of a variable read afterwards": (
        BEGIN
        + sub("M", start("i") + step("B", "y = x;") + end("j") + flows("i B j"), each("items", "x"))
        + step("C", "seen = x;")
        + flows("s A M C done"),
        "its variable `x` exists only in it, and `C`, which reads a variable of this name outside, "
        "would get its value",
    ),
    "the counter of an inner repetition": (
        BEGIN
        + sub(
            "M",
            start("i")
            + step("N", "y = loopCounter;", each("items", "two"))
            + step("B", "seen = loopCounter;")
            + end("j")
            + flows("i N B j"),
            each("items", "one"),
        )
        + flows("s A M done"),
        "its variable `loopCounter` exists only in it, and `B`, which reads a variable of this "
        "name outside, would get its value",
    ),
    "an input of a sub-process, read where its error is caught": (
        BEGIN
        + sub(
            "M",
            start("i") + step("B", "x = 77;") + end("j", "E1") + flows("i B j"),
            mapped(given={"x": "${y}"}, back={"x": "${x}"}),
        )
        + caught("b", "M", "E1")
        + step("D", "seen = x;")
        + flows("s A M done", "b D done"),
        "its variable `x` exists only in it, and `D`, which reads a variable of this name outside, "
        "would get its value",
    ),
    "the counters of two repetitions side by side": (
        BEGIN
        + '<parallelGateway id="g"/><parallelGateway id="h"/>'
        + step("M", "a = loopCounter;", each("items", "one"))
        + step("N", "b = loopCounter;", each("items", "two"))
        + flows("s A g M h done", "g N h"),
        "its variable `loopCounter` exists only in it, and `N`, which reads a variable of this "
        "name outside, would get its value",
    ),
    "results of a process that ends in several branches": (
        BEGIN
        + call("K", "q", "x a", "b y")
        + step("C", "seen = y;")
        + flows("s A K C done")
        + another(
            "q",
            start("i")
            + '<parallelGateway id="g"/>'
            + step("B", "a = 1;")
            + step("D", "b = 2;")
            + end("j")
            + end("k")
            + flows("i g B j", "g D k"),
        ),
        "`q` ends in several parallel branches, of which n8n returns the variables of one, and `D` "
        "sets `b` in one of them",
    ),
    "an input of a sub-process with other letters, read by code that is not parsed": (
        BEGIN
        + sub(
            "M",
            start("i") + step("B", "y = größe;") + end("j") + flows("i B j"),
            mapped(given={"größe": "${y}"}),
        )
        + step("C", "while (größe > 0) { größe = größe - 1 }")
        + flows("s A M C done"),
        "its variable `größe` exists only in it, and `C`, which reads a variable of this name "
        "outside, would get its value",
    ),
    "a mapping that reads what another one sets": (
        BEGIN
        + sub(
            "M",
            start("i") + step("B", "y = p + q;") + end("j") + flows("i B j"),
            mapped(given={"p": "${y}", "q": "${p}"}),
        )
        + flows("s A M done"),
        "its mapping of `q` reads `p`, which another mapping sets",
    ),
}


@pytest.mark.parametrize("title", REFUSED)
def test_what_one_set_of_variables_cannot_hold_is_refused(title: str, tmp_path: Path) -> None:
    content, reason = REFUSED[title]
    path = tmp_path / "model.bpmn"
    path.write_text(f"{MODEL_HEAD}{content}</process></definitions>", "utf-8")
    made = orgflow.compile(orgflow.read(str(path)), "n8n", options={"trigger": "manual"})
    assert any(d.code in ("OF403", "OF402") and d.message.endswith(reason) for d in made.errors), (
        made.errors
    )


def test_mappings_of_a_sub_process_are_no_notes(tmp_path: Path) -> None:
    path = tmp_path / "model.bpmn"
    path.write_text(f"{MODEL_HEAD}{RUNS['mappings of a sub-process'][0]}</process></definitions>")
    made = orgflow.compile(orgflow.read(str(path)), "n8n", options={"trigger": "manual"})
    assert [d.message for d in made.diagnostics if d.code == "OF408"] == []


@pytest.mark.parametrize(
    ("more", "kept"), [("", True), (mapped(back={"x": "${k}"}), False)], ids=["around", "own"]
)
def test_a_variable_of_the_scope_around_a_script(more: str, kept: bool, tmp_path: Path) -> None:
    """Only an activity with mappings has a scope of its own in Camunda 7."""
    content = BEGIN + step("B", "execution.setVariableLocal('k', 7)", more) + flows("s A B done")
    path = tmp_path / "model.bpmn"
    path.write_text(f"{MODEL_HEAD}{content}</process></definitions>", "utf-8")
    found = orgflow.compile(orgflow.read(str(path)), "n8n").diagnostics
    reasons = [d.message for d in found if d.code == "OF404" and "scope around" in d.message]
    assert bool(reasons) is kept


@pytest.mark.parametrize(
    ("kind", "given", "reason"),
    [
        ("input", {"order.total": "= 7"}, "its mapping of `order.total` sets a part of a variable"),
        (
            "output",
            {"order.total": "= 7", "twice": "= order.total * 2"},
            "its mapping of `twice` reads `order`, which another mapping sets",
        ),
    ],
)
def test_parts_of_variables_of_a_sub_process(
    kind: str, given: dict[str, str], reason: str, tmp_path: Path
) -> None:
    """Camunda 8 makes a variable of the part alone for an input."""
    mappings = "".join(
        f'<zeebe:{kind} source="{text}" target="{name}"/>' for name, text in given.items()
    )
    content = (
        BEGIN
        + sub(
            "M",
            start("i") + step("B", "y = 1;") + end("j") + flows("i B j"),
            "<extensionElements><zeebe:ioMapping "
            'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">'
            f"{mappings}</zeebe:ioMapping></extensionElements>",
        )
        + flows("s A M done")
    )
    path = tmp_path / "model.bpmn"
    path.write_text(f"{MODEL_HEAD}{content}</process></definitions>", "utf-8")
    made = orgflow.compile(orgflow.read(str(path)), "n8n", options={"trigger": "manual"})
    assert any(reason in d.message for d in made.errors), made.errors
