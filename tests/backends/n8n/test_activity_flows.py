"""Flows out of activities mean the same everywhere: compared with an oracle of the specification.

The token game gives the oracle's sets of flows, n8n's engine does what the oracle does with the
same data, `verify` proves what was compiled, and state machines play the token game's runs.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from activity_flow_oracle import Drawing, Flow, NoWay, random_drawing
from asl_play import Compiled, moto_runner
from orgflow import compiler
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compilation.reading import load_model
from seeds import seeds
from shared_data import shared_cases

from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.verification import Verdict, Verification

DRAWN = ("ec", "d1_default_flow", "d1c", "uc", "d3b")
LEVELS = (0, 5, 9)


def read(xml: str, registry: Registry) -> Model:
    source = SourceFile("drawn.bpmn", xml.encode())
    found = load_model(source, registry, PassContext(registry=registry))
    assert found is not None
    return found


def compiled(model: Model, registry: Registry) -> tuple[dict[str, Any], Verification]:
    """The workflow and the verdict on it."""
    ctx = PassContext(registry=registry)
    made = compiler.compile_model(model, registry.backends["n8n"], ctx, force=True)
    assert made is not None, [d.message for d in ctx.diagnostics if d.severity == "error"]
    workflow = json.loads(made.artifacts[0].text)
    return workflow, verify_process(model, model.processes[0], workflow, PassContext())


def data_of(
    drawing: Drawing, workflow: dict[str, Any], levels: dict[str, int], picked: set[str]
) -> dict[str, dict[str, Any]]:
    """What the nodes of activities put out: the number its conditions read, and where labels
    decide the field that the workflow reserved for the answer."""
    fields: dict[str, dict[str, Any]] = {}
    parameters = {n["name"]: n["parameters"] for n in workflow["nodes"]}
    for node in drawing.tasks():
        name = drawing.nodes[node].get("name", "")
        found: dict[str, Any] = {f"x{node.removeprefix('t')}": levels[node]}
        rows = parameters[name].get("assignments", {}).get("assignments", [])
        _, chosen, _ = drawing.parts(node)
        labels = [f.name or _way_to(drawing, f) for f in chosen if f.id in picked and not f.text]
        for row in rows:
            found[row["name"]] = labels if row["type"] == "array" else "".join(labels) or "none"
        fields[name] = found
    return fields


def _way_to(drawing: Drawing, flow: Flow) -> str:
    return drawing.nodes[flow.target].get("name", "")


def holds_by(levels: dict[str, int], picked: set[str]) -> Any:
    def holds(flow: Flow) -> bool:
        if flow.text:
            return levels[flow.source] > int(flow.text.rpartition(">")[2].strip("} "))
        return flow.id in picked

    return holds


def played(
    engine: LocalEngine, workflow: dict[str, Any], fields: dict[str, dict[str, Any]]
) -> tuple[str, Counter[str]]:
    """How the run ended, and how often each node was executed."""
    stubs = {name: {"visits": [values] * 9, "mode": "replace"} for name, values in fields.items()}
    trigger = next(n["name"] for n in workflow["nodes"] if n["type"].endswith("Trigger"))
    run = engine.run(workflow, trigger, stubs=stubs)
    return run.status, Counter(n.node for n in run.order)


def drawings() -> list[str]:
    return [random_drawing(random.Random(f"flows/{seed}")) for seed in seeds(300)]


@pytest.mark.parametrize("xml", drawings())
def test_random_drawings_do_what_the_specification_says(
    xml: str, registry: Registry, engine: LocalEngine
) -> None:
    drawing, model = Drawing(xml), read(xml, registry)
    game = Game(model)
    for node in drawing.tasks():
        wanted = drawing.possible(node)
        assert {frozenset(o) for o in game.net.nodes[game.net.by_id[node][0]].options} == wanted
    workflow, verdict = compiled(model, registry)
    assert verdict.verdict is Verdict.PROVED, verdict
    names = {e.get("name", "") for e in drawing.nodes.values()}
    rnd = random.Random(xml)
    for _ in range(6):
        levels = {node: rnd.choice(LEVELS) for node in drawing.tasks()}
        picked = {f.id for f in drawing.flows if rnd.random() < 0.5}
        fields = data_of(drawing, workflow, levels, picked)
        status, done = played(engine, workflow, fields)
        try:
            wanted_runs = drawing.run(holds_by(levels, picked))
        except NoWay:
            assert status == "error", (levels, picked)
            continue
        shown = {n: c for n, c in done.items() if n in names}
        assert (status, shown) == ("success", wanted_runs), (levels, picked)


@pytest.mark.parametrize("name", shared_cases(DRAWN, "outside-look"))
def test_drawn_models_run_proved_on_both_targets(
    name: str, shared: Path, registry: Registry
) -> None:
    xml = (shared / "data" / "outside-look" / "bpmn" / f"{name}.bpmn").read_text()
    model = read(xml, registry)
    _, verdict = compiled(model, registry)
    assert verdict.verdict is Verdict.PROVED, verdict
    with moto_runner() as runner:
        report = Compiled(model, registry).replay(runner)
    assert [r.verdict for r in report.runs] == ["equal"] * len(report.runs)
    assert len(report.runs) == 2
    assert report.uncovered == ()


@pytest.mark.parametrize("name", shared_cases(["ec", "d1_default_flow", "d1c"], "outside-look"))
def test_exactly_one_of_two_tasks_runs_behind_a_default(
    name: str, shared: Path, registry: Registry, engine: LocalEngine
) -> None:
    xml = (shared / "data" / "outside-look" / "bpmn" / f"{name}.bpmn").read_text()
    drawing = Drawing(xml)
    workflow, _ = compiled(read(xml, registry), registry)
    chooser = next(n for n in drawing.tasks() if drawing.nodes[n].get("default"))
    label, default = (f for f in drawing.out(chooser))
    setter = drawing.nodes[chooser].get("name", "")
    (row,) = next(n for n in workflow["nodes"] if n["name"] == setter)["parameters"]["assignments"][
        "assignments"
    ]
    for value, taken, left in ((label.name, label, default), ("anything", default, label)):
        status, done = played(engine, workflow, {setter: {row["name"]: value}})
        assert status == "success"
        assert done[_way_to(drawing, taken)] == 1
        assert done[_way_to(drawing, left)] == 0


def test_a_choice_among_the_flows_of_a_task_is_a_gap(registry: Registry) -> None:
    """The label decides, so somebody has to: the same question as at a gateway."""
    xml = (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p">'
        '<startEvent id="s"/><task id="a" name="Check" default="f3"/><endEvent id="e1"/>'
        '<endEvent id="e2"/><sequenceFlow id="f1" sourceRef="s" targetRef="a"/>'
        '<sequenceFlow id="f2" name="faulty" sourceRef="a" targetRef="e1"/>'
        '<sequenceFlow id="f3" sourceRef="a" targetRef="e2"/></process></definitions>'
    )
    ctx = PassContext(registry=registry)
    made = compiler.compile_model(read(xml, registry), registry.backends["n8n"], ctx)
    assert made is not None
    (found,) = [d for d in ctx.diagnostics if d.code == "OF502"]
    assert found.element == "a"
    assert found.message == (
        "no condition decides whether `Check` continues with `faulty`; the workflow reads "
        "`gateway_after_check` from the output of `Check`"
    )
