"""Values of process variables on n8n's engine where the product had wrong ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from orgflow import compiler
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from tests.support.shared_data import shared_data

Json = dict[str, Any]


def compile_workflows(path: Path, registry: Registry) -> list[Json]:
    """The workflows of a file with placeholders for its tasks."""
    ctx = PassContext(registry=registry, given=[str(path)])
    model = load_model(str(path), registry, ctx)
    assert model is not None, ctx.diagnostics
    backend = registry.backends["n8n"]
    options = {"people": "placeholder", "stubs": "placeholder"}
    model = compiler.add_called_processes(model, backend, ctx)
    emitted = compile_model(model, backend, ctx, options=options)
    assert emitted is not None, [f"{d.code} {d.message}" for d in ctx.diagnostics]
    return [json.loads(artifact.text) for artifact in emitted.artifacts]


def run_visits(engine: LocalEngine, workflows: list[Json], stubs: Json) -> list[str]:
    """The nodes that a run executes, in order, or its error at the end."""
    root, *called = workflows
    visits = {name: {"visits": rows, "mode": "replace"} for name, rows in stubs.items()}
    request = RunRequest(
        root,
        next(n["name"] for n in root["nodes"] if n["type"].endswith("Trigger")),
        items=[{"json": {}}],
        workflows={one["id"]: one for one in called} or None,
        stubs=visits,
        data=True,
    )
    (run,) = engine.run_many([request])
    return [visit.node for visit in run.order] + ([run.error] if run.error else [])


ZEEBE = 'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" '
PLATFORM_7 = (
    'xmlns:modeler="http://camunda.org/schema/modeler/1.0" '
    'modeler:executionPlatform="Camunda Platform"'
)
HEAD = (
    f'<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" {ZEEBE}'
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d" targetNamespace="t">'
)


def wire(source: str, target: str, condition: str = "") -> str:
    inside = condition and f"<conditionExpression>{condition}</conditionExpression>"
    ends = f'id="{source}_{target}" sourceRef="{source}" targetRef="{target}"'
    return f"<sequenceFlow {ends}>{inside}</sequenceFlow>"


def process_with(activity: str, condition: str, others: str = "") -> str:
    """A process that asks a condition behind an activity `W`: to `B` if it holds, else to `C`."""
    steps = "".join(f'<userTask id="{name}" name="{name}"/>' for name in "IBC")
    wires = wire("S", "I") + wire("I", "W") + wire("W", "G")
    return (
        f'{HEAD}<process id="P" isExecutable="true"><startEvent id="S"/>{steps}{activity}'
        f'<exclusiveGateway id="G" default="G_C"/><endEvent id="E"/>{wires}'
        f"{wire('G', 'B', condition)}{wire('G', 'C')}{wire('B', 'E')}{wire('C', 'E')}</process>"
        f"{others}</definitions>"
    )


def repeated(inside: str, results: str, until: str = "", tag: str = "serviceTask") -> str:
    """A repeated activity of Camunda 8 over the list `l`."""
    until = until and f"<completionCondition>={until}</completionCondition>"
    return (
        f'<{tag} id="W" name="W"><multiInstanceLoopCharacteristics isSequential="true">'
        '<extensionElements><zeebe:loopCharacteristics inputCollection="=l" inputElement="x" '
        f'outputCollection="res" outputElement="={results}"/></extensionElements>{until}'
        f"</multiInstanceLoopCharacteristics>{inside}</{tag}>"
    )


JOB = '<extensionElements><zeebe:taskDefinition type="t"/></extensionElements>'
INSIDE = (
    f'<startEvent id="is"/><serviceTask id="J" name="J">{JOB}</serviceTask><endEvent id="ie"/>'
    + wire("is", "J") + wire("J", "ie")
)  # fmt: skip
LISTED: dict[str, tuple[str, Json, str]] = {
    "a list that ends early keeps its length": (
        process_with(repeated(JOB, "r", "r = 2"), "=res = [1, 2, null]"),
        {"I": [{"l": [7, 8, 9]}], "W": [{"r": 1}, {"r": 2}, {"r": 3}]},
        "B",
    ),
    "it may read the list that it fills": (
        process_with(repeated(JOB, "r", "count(res[item != null]) = 2"), "=res = [1, 2, null]"),
        {"I": [{"l": [7, 8, 9]}], "W": [{"r": 1}, {"r": 2}, {"r": 3}]},
        "B",
    ),
    "an empty list has no places": (
        process_with(repeated(JOB, "r", "r = 2"), "=res = []"),
        {"I": [{"l": []}]},
        "B",
    ),
    "a part of a variable is the instance's own": (
        process_with(repeated(JOB, "r.ok", ""), "=r = 5 and res = [true, null]"),
        {"I": [{"l": [7, 8], "r": 5}], "W": [{"r": {"ok": True}}, {}]},
        "B",
    ),
    "a computed result leaves the variable alone": (
        process_with(repeated(JOB, "r + 1", ""), "=r = 2 and res = [2, 3]"),
        {"I": [{"l": [7, 8], "r": 5}], "W": [{"r": 1}, {"r": 2}]},
        "B",
    ),
    "in a sub-process": (
        process_with(repeated(INSIDE, "r", "", "subProcess"), "=r = 5 and res = [1, null]"),
        {"I": [{"l": [7, 8], "r": 5}], "J": [{"r": 1}, {}]},
        "B",
    ),
    "a name that was never set is null again": (
        process_with(repeated(JOB, "r", ""), "=r = null"),
        {"I": [{"l": [7, 8]}], "W": [{"r": 1}, {"r": 1}]},
        "B",
    ),
    "mappings of a person's task in any place": (
        process_with(
            '<userTask id="W" name="W"><extensionElements><zeebe:userTask/><zeebe:ioMapping>'
            '<zeebe:input source="=a + 1" target="b"/><zeebe:output source="=b + x" target="y"/>'
            "</zeebe:ioMapping></extensionElements></userTask>",
            "=a = 1 and y = 7",
        ),
        {"I": [{"a": 1}], "W": [{"x": 5, "a": 7, "b": 2}]},
        "B",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTED)
def test_variables_of_camunda_8_have_their_places(
    engine: LocalEngine, registry: Registry, tmp_path: Path, name: str
) -> None:
    text, stubs, wanted = LISTED[name]
    (path := tmp_path / "m.bpmn").write_text(text, "utf-8")
    assert wanted in run_visits(engine, compile_workflows(path, registry), stubs)


CALLED = (
    '<process id="Q" isExecutable="true"><startEvent id="s"/><scriptTask id="z" name="Z" '
    'scriptFormat="groovy"><script>execution.setVariable("made", 1)</script></scriptTask>'
    f'<endEvent id="e"/>{wire("s", "z")}{wire("z", "e")}</process>'
)
MAPPED = "<extensionElements><camunda:{}/></extensionElements>"
CALLS = {
    "nothing is taken": ("", "${made == 1}", False),
    "everything is taken": ('out variables="all"', "${made == 1}", True),
    "the variable is taken": ('out source="made" target="made"', "${made == 1}", True),
    "another name is taken": ('out source="made" target="other"', "${made == 1}", False),
    "it is taken under another name": ('out source="made" target="other"', "${other == 1}", True),
    "an input gives nothing back": ('in variables="all"', "${made == 1}", False),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("placeholder", [False, True])
def test_a_caller_has_only_what_it_takes_from_a_called_process(
    engine: LocalEngine, registry: Registry, tmp_path: Path, name: str, placeholder: bool
) -> None:
    """Camunda 7: a variable of the called process reaches the caller by `out` alone."""
    mapped, condition, has = CALLS[name]
    inside = mapped and MAPPED.format(mapped)
    call = f'<callActivity id="W" name="W" calledElement="Q">{inside}</callActivity>'
    text = process_with(call, condition, "" if placeholder else CALLED)
    text = text.replace(ZEEBE, "").replace('id="d"', f'id="d" {PLATFORM_7}')
    (path := tmp_path / "m.bpmn").write_text(text, "utf-8")
    stubs = {"I": [{}], **({"W": [{"made": 1}]} if placeholder else {})}
    visits = run_visits(engine, compile_workflows(path, registry), stubs)
    assert ("B" in visits) is has, visits
    assert has or "was never set" in visits[-1], visits


REVIEW = [{"approved": True}, {}, {}]
FAULTS: dict[str, tuple[str, Json, str]] = {
    "a result of each instance begins as null": (
        "a1_mi_output_stale", {"Do I": [{"l": [7, 8, 9]}], "Review": REVIEW}, "B"
    ),
    "the variable of the result is of the instance alone": (
        "a2_mi_output_outer",
        {"Do I": [{"l": [7, 8], "approved": 99}], "Review": [{"approved": 1}, {"approved": 2}]},
        "B",
    ),
    "only mapped variables leave a person's task": (
        "a4_output_mapping_leaks", {"Do I": [{"a": 1}], "Work": [{"x": 5, "a": 7}]}, "B"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_the_right_value(engine: LocalEngine, registry: Registry, name: str) -> None:
    file, stubs, wanted = FAULTS[name]
    path = Path(shared_data("faults")) / "run" / f"{file}.bpmn"
    assert wanted in run_visits(engine, compile_workflows(path, registry), stubs)
