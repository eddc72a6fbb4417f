"""The 150 real workflows: all read, nothing lost, checked and rewritten without a crash."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from n8n_restore import kept, leaves, missing, node_of, wires_of
from orgflow import compiler
from orgflow.compilation.reading import choose_frontend, load_model
from orgflow.frontends.n8n.frontend import N8nFrontend

from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

SECONDS = 6.0
"""Bound on reading all of them (about 1 s on an idle machine of two cores)."""


@pytest.fixture(scope="module")
def files(shared: Path) -> dict[str, bytes]:
    """Contents by file name."""
    found = {p.name: p.read_bytes() for p in sorted((shared / "data/n8n-workflows").glob("*.json"))}
    assert len(found) == 150
    return found


@pytest.fixture(scope="module")
def models(files: dict[str, bytes]) -> dict[str, tuple[Model, PassContext]]:
    """Models with drawings, and what was said."""
    found = {}
    start = time.process_time()
    for name, data in files.items():
        ctx = PassContext(options={"diagram": True})
        model = N8nFrontend().parse(SourceFile(name, data), ctx)
        assert model is not None, name
        found[name] = (model, ctx)
    assert time.process_time() - start < SECONDS
    return found


def test_all_are_recognised(files: dict[str, bytes], registry: Registry) -> None:
    for name, data in files.items():
        ctx = PassContext()
        frontend = choose_frontend(SourceFile(name, data), registry, ctx, None)
        assert frontend is not None
        assert frontend.name == "n8n"


def test_nothing_is_lost(
    files: dict[str, bytes], models: dict[str, tuple[Model, PassContext]]
) -> None:
    """Each workflow is rebuilt from the JSON of its model alone: every node with every key, every
    wire, every setting, and nothing besides."""
    counts: Counter[str] = Counter()
    for name, data in files.items():
        value: dict[str, Any] = json.loads(data)
        model = Model.from_json(models[name][0].to_json())
        assert model == models[name][0]
        assert not list_violations(model)
        assert missing(value, model, model.processes[0]) == [], name
        counts["nodes"] += len(value["nodes"])
        counts["wires"] += sum(1 for _ in wires_of(value))
        counts["parameter values"] += sum(leaves(n.get("parameters")) for n in value["nodes"])
    print(dict(counts))
    assert counts == {"nodes": 3795, "wires": 2708, "parameter values": 13812}


def test_every_wire_is_a_flow_from_its_node_to_its_node(
    models: dict[str, tuple[Model, PassContext]],
) -> None:
    """Joins, splits and boundary events that stand between are those of the two nodes."""
    flows = dead = 0
    for model, _ in models.values():
        process = model.processes[0]
        by_name: dict[str, str] = {}
        for element in process.nodes:
            if node_of(element) is not None:
                by_name.setdefault(element.name, element.id)
        for flow in process.flows:
            for source, kind, _, end in kept(flow, "wire"):
                flows += 1
                assert kind == "main"
                assert flow.source.split("__")[0] == by_name[source].split("__")[0]
                assert flow.target.split("__")[0] == by_name[end["node"]].split("__")[0]
        dead += len(kept(process, "dead-wire"))
    print(f"{flows} wires are flows, {dead} are dead")
    assert flows > 2100
    assert dead == 3


def test_what_is_said_of_them(models: dict[str, tuple[Model, PassContext]]) -> None:
    codes = Counter(d.code for _, ctx in models.values() for d in ctx.diagnostics)
    print(dict(codes))
    assert codes == {"OF056": 54, "OF058": 3, "OF052": 1, "OF057": 1}


def test_they_can_be_checked_and_compiled(files: dict[str, bytes], registry: Registry) -> None:
    compiled = 0
    backend = registry.backends["n8n"]
    for name, data in list(files.items())[::3]:
        ctx = PassContext(registry=registry)
        model = load_model(SourceFile(name, data), registry, ctx, diagram=True)
        assert model is not None
        compiled += compiler.compile_model(model, backend, ctx, force=True) is not None
        assert not [d for d in ctx.diagnostics if d.code.startswith("OF9")], name
    print(f"{compiled} of 50 compile")
    assert compiled >= 35
