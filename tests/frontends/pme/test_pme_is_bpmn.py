"""All 55 PMo models: PME gives what the BPMN file of the same number gives, up to ids.

What PME loses, and nothing else: ids (PME has its own), ids of event definitions, the id of the
collaboration and of lane sets, the order between different kinds of nodes, and whether a pool
without nodes has an empty process or none; and the trigger of a start event that PME has no type
for: the conditional start of model 24.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from orgflow.frontends.bpmn.frontend import BpmnFrontend
from orgflow.frontends.pme.frontend import PmeFrontend
from shared_data import shared_cases

from orgflow_ir.model import Event, Model, Node, Pool, Process
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend

NUMBERS = [f"{n:02}" for n in range(1, 56)]


def read(frontend: Frontend, path: Path) -> Model:
    ctx = PassContext()
    model = frontend.parse(SourceFile(path.name, path.read_bytes()), ctx)
    assert model is not None
    assert ctx.diagnostics == []
    return model


def used(model: Model) -> list[Process]:
    """Processes with nodes: PME cannot tell an empty process from none."""
    return [p for p in model.processes if p.nodes]


def construct(node: Node) -> str:
    """The construct, as far as PME can name it: it has none and message starts only."""
    known = ("event.start.none", "event.start.message")
    if node.construct.startswith("event.start.") and node.construct not in known:
        return "event.start.none"
    return node.construct


def names(model: Model) -> dict[str, str]:
    """Every id to one both formats share: the construct, and its place among its like."""
    found: dict[str, str] = {}
    counts: Counter[str] = Counter()

    def add(name: str, kind: str) -> None:
        counts[kind] += 1
        found[name] = f"{kind} {counts[kind]}"

    for number, process in enumerate(used(model)):
        found[process.id] = f"process {number}"
    for process in model.processes:
        for node in process.nodes:
            add(node.id, construct(node))
    for pool in model.pools:
        add(pool.id, "pool")
    return found


def normal(model: Model) -> dict[str, Any]:
    """What a model says, in the shared names; node order within a kind and flow order count."""
    ids = names(model)
    filled = {p.id for p in used(model)}

    def pool(p: Pool) -> tuple[str, str | None]:
        return p.name, ids[p.process] if p.process in filled else None

    return {
        "processes": [
            {
                "nodes": {
                    ids[n.id]: (
                        n.name,
                        n.doc,
                        tuple((d.kind, d.timer, d.expression, d.name) for d in n.definitions)
                        if isinstance(n, Event) and construct(n) == n.construct
                        else (),
                    )
                    for n in p.nodes
                },
                "flows": [
                    (ids[f.source], ids[f.target], f.name, f.condition, f.default) for f in p.flows
                ],
                "lanes": [(lane.name, sorted(ids[m] for m in lane.members)) for lane in p.lanes],
            }
            for p in used(model)
        ],
        "pools": [pool(p) for p in model.pools],
        "messages": [(ids[m.source], ids[m.target], m.name) for m in model.message_flows],
        "rest": (model.catalog, model.artifacts, model.opaque, model.name, model.doc),
    }


def test_only_one_model_has_a_trigger_that_pme_lacks(shared: Path) -> None:
    folder = shared / "data" / "pmo" / "bpmn"
    lost = [
        (number, node.construct)
        for number in NUMBERS
        for process in read(BpmnFrontend(), folder / f"{number}.bpmn").processes
        for node in process.nodes
        if construct(node) != node.construct
    ]
    assert lost == [("24", "event.start.conditional")]


@pytest.mark.parametrize("number", shared_cases(NUMBERS, "pmo"))
def test_pme_says_what_the_bpmn_file_says(shared: Path, number: str) -> None:
    folder = shared / "data" / "pmo"
    bpmn = read(BpmnFrontend(), folder / "bpmn" / f"{number}.bpmn")
    pme = read(PmeFrontend(), folder / "pme" / f"{number}.json")
    assert normal(pme) == normal(bpmn)
    assert Model.from_json(pme.to_json()) == pme


def test_the_comparison_can_fail(shared: Path) -> None:
    folder = shared / "data" / "pmo"
    bpmn = read(BpmnFrontend(), folder / "bpmn" / "01.bpmn")
    process = bpmn.processes[0]
    swapped = process.flows[0].replace(target=process.flows[1].target)
    other = bpmn.replace(processes=(process.replace(flows=(swapped, *process.flows[1:])),))
    assert normal(other) != normal(bpmn)
    renamed = process.nodes[0].replace(name="x")
    other = bpmn.replace(processes=(process.replace(nodes=(renamed, *process.nodes[1:])),))
    assert normal(other) != normal(bpmn)
