"""Compiled to n8n and read back: the same ids, and the same runs (see `n8n_language`)."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_gen import random_model
from n8n_language import Seen, difference, in_both
from n8n_scopes import flows
from orgflow import compiler
from orgflow.compilation.process_selection import select_process
from orgflow.compilation.reading import load_model
from played_models import ONE_EXECUTION
from random_processes import process as random_process
from seeds import at_least, seeds

from orgflow_ir.model import Event, Expression, Gateway, Model, Node, Process, Task
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Frontend

STEPS = 6_000
"""Hidden steps granted to each side of a comparison."""


def compiled(model: Model, registry: Registry) -> tuple[dict[str, Any] | None, set[str]]:
    """The workflow of a one-process model, and the codes of flow faults that were forced."""
    ctx = PassContext(registry=registry)
    found = compiler.compile_model(
        model,
        registry.backends["n8n"],
        ctx,
        force=True,
        options={"people": "placeholder", **ONE_EXECUTION},
    )
    if found is None:
        return None, set()
    (artifact,) = found.artifacts
    faults = {d.code for d in ctx.diagnostics if d.code.startswith("OF2")}
    return json.loads(artifact.text), faults


def read_back(workflow: dict[str, Any], registry: Registry) -> Model:
    frontend: Frontend = registry.frontends["n8n"]
    ctx = PassContext()
    model = frontend.parse(SourceFile("w.json", json.dumps(workflow).encode()), ctx)
    assert model is not None
    assert [d.message for d in ctx.diagnostics] == []
    assert Model.from_json(model.to_json()) == model
    return model


def compare(model: Model, back: Model, steps: int = STEPS) -> str:
    process = model.processes[0]
    visible = in_both(process, back.processes[0])
    one = Seen(model, process, visible, steps)
    other = Seen(back, back.processes[0], visible, steps)
    verdict, trace = difference(one, other)
    if verdict == "bounded":
        one.granted = other.granted = 20 * steps
        for mine, its, source in ((one, other, model), (other, one, back)):
            assert all(its.accepts(t) for t in mine.traces(source, 2))
    return f"{verdict} after {' '.join(trace)}" if trace else verdict


def all_processes(folder: Path, registry: Registry) -> Iterator[tuple[str, Model]]:
    for path in sorted(folder.rglob("*.bpmn")):
        if path.parent.name == "models":
            continue  # of examples/golden-repo: the same as examples/leave-request
        model = load_model(str(path), registry, PassContext(registry=registry))
        assert model is not None
        for process in model.processes:
            if process.nodes:
                alone = select_process(model, process.id)
                yield f"{path.stem} {process.id}", alone


def check_all(models: Iterator[tuple[str, Model]], registry: Registry) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, model in models:
        workflow, _ = compiled(model, registry)
        if workflow is None:
            counts["refused"] += 1
            continue
        back = read_back(workflow, registry)
        mine, its = model.processes[0], back.processes[0]
        assert mine.id == its.id, name
        there = {n.id for n in its.nodes}
        assert [n.id for n in mine.nodes if not isinstance(n, Gateway) and n.id not in there] == []
        counts["labelled choices"] += len(in_both(mine, its).choices)
        verdict = compare(model, back)
        assert verdict in ("same", "bounded"), f"{name}: {verdict}"
        counts[verdict] += 1
    return counts


def test_examples(root: Path, registry: Registry) -> None:
    models = list(all_processes(root / "examples", registry))
    counts = check_all(iter(models), registry)
    assert counts.pop("labelled choices") >= 5
    assert counts.pop("refused") == 1  # parallel-approval, which one execution does not have
    assert counts == {"same": len(models) - 1}
    assert len(models) >= len(list((root / "examples").glob("*/model.bpmn")))


def test_pmo(shared: Path, registry: Registry) -> None:
    counts = check_all(all_processes(shared / "data" / "pmo" / "bpmn", registry), registry)
    print(dict(counts))
    assert counts["same"] >= 53
    assert counts["bounded"] <= 2
    assert counts["labelled choices"] >= 50


def test_random_processes(registry: Registry) -> None:
    """Sound ones: where work can be done twice, an inclusive join is not what n8n does."""
    counts: Counter[str] = Counter()
    for seed in seeds(150):
        model = Model(id="m", processes=(random_process(seed),))
        workflow, faults = compiled(model, registry)
        if workflow is None or faults:
            continue
        verdict = compare(model, read_back(workflow, registry), 2_000)
        assert verdict in ("same", "bounded"), f"{seed}: {verdict}"
        counts[verdict] += 1
    print(dict(counts))
    assert counts["same"] >= at_least(30)


# -- inclusive gateways in loops ---------------------------------------------------------------


def looped_choice(
    branches: int, *, default: bool = False, direct: bool = False, coded: bool = False
) -> Model:
    """A loop over an inclusive split with its join, and a parallel one: `default` adds a default
    branch, `direct` a branch without a step, `coded` conditions on data."""
    nodes: list[Node] = [
        Event(id="s", position="start"),
        Gateway(id="lp", gateway_kind="exclusive"),
        Gateway(id="o", gateway_kind="inclusive", name="Which?"),
        Gateway(id="oj", gateway_kind="inclusive"),
        Gateway(id="p", gateway_kind="parallel"),
        Task(id="x", name="X"),
        Task(id="y", name="Y"),
        Gateway(id="pj", gateway_kind="parallel"),
        Gateway(id="again", gateway_kind="exclusive", name="Again?"),
        Event(id="e", position="end", name="Done"),
    ]
    wires = [
        "s>lp",
        "lp>o",
        "oj>p",
        "p>x",
        "p>y",
        "x>pj",
        "y>pj",
        "pj>again",
        "again>lp:yes",
        "again>e:no",
    ]
    for number in range(branches):
        nodes.append(Task(id=f"t{number}", name=f"T{number}"))
        wires += [f"o>t{number}:branch {number}", f"t{number}>oj"]
    if direct:
        wires.append("o>oj:nothing")
    if default:
        nodes.append(Task(id="other", name="Other"))
        wires += ["o>other:otherwise", "other>oj"]
    found = []
    for flow in flows("f", *wires):
        if flow.name == "otherwise":
            flow = flow.replace(default=True)
        elif coded and flow.source == "o":
            flow = flow.replace(condition=Expression(text=f"${{amount > {10 * len(found)}}}"))
        found.append(flow)
    return Model(id="m", processes=(Process(id="p1", nodes=tuple(nodes), flows=tuple(found)),))


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(looped_choice(2), id="two branches"),
        pytest.param(looped_choice(3, default=True), id="a default branch"),
        pytest.param(looped_choice(2, direct=True), id="a branch without a step"),
        pytest.param(looped_choice(2, coded=True), id="conditions"),
        pytest.param(looped_choice(2, default=True, coded=True), id="conditions and a default"),
        pytest.param(looped_choice(11), id="more branches than a Merge has inputs"),
    ],
)
def test_branches_that_are_wired_around(model: Model, registry: Registry) -> None:
    """A split in a loop of which some branch is taken, though each has an If of its own."""
    workflow, _ = compiled(model, registry)
    assert workflow is not None
    back = read_back(workflow, registry)
    kinds = {n.id: n.gateway_kind for n in back.processes[0].nodes if isinstance(n, Gateway)}
    assert kinds["o"] == kinds["oj"] == "inclusive"
    assert not any("branch" in id for id in kinds)
    if len(model.processes[0].nodes) < 20:
        assert compare(model, back) in ("same", "bounded")


def test_random_inclusive_gateways_in_loops(registry: Registry) -> None:
    counts: Counter[str] = Counter()
    for seed in dict.fromkeys((98, 249, 295, 467, 1392, *seeds(300))):
        model = random_model(seed, 8 + seed % 9, ("and", "or", "loop", "task"))
        workflow, faults = compiled(model, registry)
        if workflow is None or faults or "(branch)" not in json.dumps(workflow):
            continue
        verdict = compare(model, read_back(workflow, registry), 2_000)
        assert verdict in ("same", "bounded"), f"{seed}: {verdict}"
        counts[verdict] += 1
    assert counts["same"] >= 5


def rewire(workflow: dict[str, Any], name: str, output: int, target: str) -> None:
    outputs(workflow, name)[output] = [{"node": target, "type": "main", "index": 0}]


@pytest.mark.parametrize("edit", ["past a branch", "into another step"])
def test_edited_wires_around_branches_are_read_as_they_are(edit: str, registry: Registry) -> None:
    model = looped_choice(2)
    workflow, _ = compiled(model, registry)
    assert workflow is not None
    if edit == "past a branch":
        rewire(workflow, "branch 0?", 1, "T1")
    else:
        rewire(workflow, "Which?", 0, "T0")
    back = read_back(workflow, registry)
    kinds = {n.id: n.gateway_kind for n in back.processes[0].nodes if isinstance(n, Gateway)}
    assert kinds["oj"] == "parallel"
    assert compare(model, back).startswith("different")


# -- the comparison can fail -------------------------------------------------------------------


@pytest.fixture(scope="module")
def order(registry: Registry) -> tuple[Model, dict[str, Any]]:
    path = Path(__file__).resolve().parents[3] / "examples" / "order-to-cash" / "model.bpmn"
    model = load_model(str(path), registry, PassContext(registry=registry))
    assert model is not None
    workflow, _ = compiled(model, registry)
    assert workflow is not None
    return model, workflow


def outputs(workflow: dict[str, Any], name: str) -> list[list[dict[str, Any]]]:
    found: list[list[dict[str, Any]]] = workflow["connections"][name]["main"]
    return found


def swap_targets(w: dict[str, Any]) -> None:
    main = outputs(w, "Paid in full?")
    main[0], main[1] = main[1], main[0]


def drop_a_wire(w: dict[str, Any]) -> None:
    outputs(w, "Paid in full?")[0].pop()


def join_no_more(w: dict[str, Any]) -> None:
    outputs(w, "Send receipt")[0][0]["index"] = 0


def skip_a_step(w: dict[str, Any]) -> None:
    outputs(w, "Create invoice")[0][0]["node"] = "Receive payment"


def take_one(w: dict[str, Any]) -> None:
    node = next(n for n in w["nodes"] if n["name"] == "What is in the order?")
    del node["parameters"]["options"]["allMatchingOutputs"]


@pytest.mark.parametrize("edit", [swap_targets, drop_a_wire, join_no_more, skip_a_step, take_one])
def test_an_edited_workflow_is_different(
    edit: Any, order: tuple[Model, dict[str, Any]], registry: Registry
) -> None:
    model, workflow = order
    edited = copy.deepcopy(workflow)
    edit(edited)
    assert compare(model, read_back(edited, registry)).startswith("different")


# -- identity ----------------------------------------------------------------------------------


def ids(process: Process) -> list[str]:
    return [n.id for n in process.nodes]


def test_ids_and_kinds_come_back(order: tuple[Model, dict[str, Any]], registry: Registry) -> None:
    model, workflow = order
    process = read_back(workflow, registry).processes[0]
    assert process.id == "order_to_cash"
    silent = {"check_or_recheck", "await_or_remind", "close_split"}  # wires say what these do
    assert {n.id for n in model.processes[0].nodes} - set(ids(process)) == silent
    assert "in_stock__stop" in ids(process)
    kinds = {n.id: n.task_type for n in model.processes[0].nodes if isinstance(n, Task)}
    (call,) = [id for id, kind in kinds.items() if kind == "receive"]
    (waits,) = [n for n in process.nodes if n.id == call]
    assert isinstance(waits, Event)
    assert waits.trigger == "message"
    del kinds[call]  # what waits for a call is read as an event
    assert {n.id: n.task_type for n in process.nodes if isinstance(n, Task) and n.id in kinds} == (
        kinds
    )


@pytest.mark.parametrize("without", ["map", "notes", "names"])
def test_ids_come_back_by_map_or_notes(
    without: str, order: tuple[Model, dict[str, Any]], registry: Registry
) -> None:
    _, workflow = order
    edited = copy.deepcopy(workflow)
    if without == "map":
        edited["nodes"] = [n for n in edited["nodes"] if n["name"] != "About this workflow"]
    if without == "names":
        text = json.dumps(edited).replace('"Create invoice"', '"Write an invoice"')
        edited = json.loads(text)
    for number, node in enumerate(edited["nodes"]):
        node["id"] = f"new-{number}"
        if without == "notes" and "Stop" not in node["name"]:
            node.pop("notes", None)
    before, after = (read_back(w, registry).processes[0] for w in (workflow, edited))
    assert ids(after) == ids(before)


def test_a_copied_node_is_not_taken_for_the_element(
    order: tuple[Model, dict[str, Any]], registry: Registry
) -> None:
    _, workflow = order
    edited = copy.deepcopy(workflow)
    at = next(i for i, n in enumerate(edited["nodes"]) if n["name"] == "Create invoice")
    copied = {**edited["nodes"][at], "name": "Create invoice1", "id": "copied"}
    edited["nodes"].insert(at, copied)
    process = read_back(edited, registry).processes[0]
    assert next(n.id for n in process.nodes if n.name == "Create invoice") == "create_invoice"
    assert next(n.id for n in process.nodes if n.name == "Create invoice1") == "copied"
