"""Every example × every target: one golden file each, and all of them sound and explained."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from orgflow import cli
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.compilation.reading import load_model
from orgflow.compiler import check_model, compile_model

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parent.parent
MODELS = sorted((ROOT / "examples").glob("*/model.*"))
NAMES = [path.parent.name for path in MODELS]
BACKENDS = sorted(Registry(outside=False).backends)
GOLDEN = [name for name in BACKENDS if name != "ir"]  # the IR is read back instead: below
LOSSY = ("powl",)
"""Notations without events: what triggers them is lost."""
REFUSED = {
    (name, "powl")
    for name in ("customer-complaint", "employee-onboarding", "incident", "invoice-approval",
                 "order-to-cash", "purchase-requisition")
} | {("parallel-approval", "powl"), ("parallel-approval", "asl")}  # fmt: skip
"""Examples with inclusive gateways, with flows that no choice, loop or order covers, and with
events on the border of a step."""


def read(path: Path, registry: Registry, ctx: PassContext) -> Model:
    """The model of an example, with its drawing; named as people in the checkout name it."""
    from orgflow_ir.model.source import SourceFile

    source = SourceFile(str(path.relative_to(ROOT)), path.read_bytes())
    model = load_model(source, registry, ctx, diagram=True)
    assert model is not None
    return model


def test_there_are_examples() -> None:
    assert {"leave-request", "order-to-cash", "invoice-approval"} <= set(NAMES)
    assert {"n8n", "ir"} <= set(BACKENDS)


@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_the_ir_is_read_back_as_it_was(path: Path, registry: Registry) -> None:
    ctx = PassContext(registry=registry)
    model = read(path, registry, ctx)
    emitted = compile_model(model, registry.backends["ir"], ctx)
    assert emitted is not None, ctx.diagnostics
    assert Model.from_json(emitted.artifacts[0].text) == model


@pytest.mark.parametrize("backend", GOLDEN)
@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_golden(path: Path, backend: str, registry: Registry, artifacts: Any) -> None:
    ctx = PassContext(registry=registry)
    model = read(path, registry, ctx)
    emitted = compile_model(model, registry.backends[backend], ctx, allow_lossy=backend in LOSSY)
    if (path.parent.name, backend) in REFUSED:
        assert emitted is None
        assert {d.code for d in ctx.diagnostics if d.severity is Severity.ERROR} == {"OF403"}
        return
    assert emitted is not None, ctx.diagnostics
    assert emitted.artifacts == artifacts


@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_an_example_is_sound_and_says_so(path: Path, registry: Registry) -> None:
    ctx = PassContext(registry=registry)
    check_model(read(path, registry, ctx), ctx)
    assert [d for d in ctx.diagnostics if d.severity is not Severity.INFO] == []


@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_an_example_is_drawn_without_overlaps(path: Path, registry: Registry) -> None:
    model = read(path, registry, PassContext(registry=registry))
    assert model.diagram is not None
    bounds = {shape.element: shape.bounds for shape in model.diagram.shapes}
    drawn = {edge.element for edge in model.diagram.edges}
    hosts = {
        node.id: getattr(node, "attached_to", None)
        for process in model.processes
        for node in process.nodes
    }
    nodes = list(hosts)
    assert set(nodes) <= set(bounds)
    assert {flow.id for process in model.processes for flow in process.flows} <= drawn
    for one, other in itertools.combinations(nodes, 2):
        (ax, ay, aw, ah), (bx, by, bw, bh) = bounds[one], bounds[other]
        apart = ax + aw <= bx or bx + bw <= ax or ay + ah <= by or by + bh <= ay
        on_border = hosts[one] == other or hosts[other] == one
        assert apart is not on_border, f"{one} and {other}"
    for lane in (lane for process in model.processes for lane in process.lanes):
        x, y, w, h = bounds[lane.id]
        for member in lane.members:
            mx, my, mw, mh = bounds[member]
            assert x <= mx <= mx + mw <= x + w, member
            assert y <= my <= my + mh <= y + h, member


@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_an_example_is_explained(path: Path) -> None:
    text = (path.parent / "README.md").read_text("utf-8")
    assert f"orgflowc compile examples/{path.parent.name}/{path.name} --target n8n" in text
    assert "## Connect in n8n" in text


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=NAMES)
def test_every_run_of_an_example_on_the_real_engine(
    path: Path, registry: Registry, engine: LocalEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["run", str(path), "--all-paths", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"]
    assert report["f1"] == 1.0
    assert report["flows"]["covered"] == report["flows"]["total"]
    assert {run["verdict"] for run in report["runs"]} == {"equal"}


def test_the_readme_is_short_and_names_commands_that_exist() -> None:
    said = (ROOT / "README.md").read_text("utf-8")
    assert len(said.splitlines()) <= 120
    named = set(re.findall(r"(?m)(?:^|`|\$ )orgflowc ([a-z]+)", said))
    assert len(named) >= 10
    assert named <= set(cli._COMMANDS)
    assert len(re.findall(r"(?m)^!\[[^\]]+\]\(docs/pictures/", said)) == 2


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.parent.name)
def test_a_compile_prints_a_screen_of_eight_lines(model: Path, tmp_path: Path) -> None:
    """Of 80 columns: warnings in full, a line a rule for infos, then what to do next."""
    shown = model.relative_to(ROOT)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    command = ("compile", shown, "--target", "n8n", "-o", "made.json")
    ran = orgflowc(*command, cwd=tmp_path)
    lines = ran.err.splitlines()
    assert ran.code == 0
    assert len(lines) <= 8
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("wrote made.json: ") for line in lines)
    found = orgflowc(*command, "--format", "json", cwd=tmp_path)
    diagnostics = json.loads(found.err)["diagnostics"]
    warnings = [d["message"] for d in diagnostics if d["severity"] == "warning"]
    assert all(" ".join(w.split()) in " ".join(ran.err.split()) for w in warnings)
    in_full = orgflowc(*command, "-v", cwd=tmp_path)
    printed = " ".join(in_full.err.split())
    assert [
        d["message"] for d in diagnostics if " ".join(d["message"].split()) not in printed
    ] == []
    quiet = orgflowc(*command, "--quiet", cwd=tmp_path)
    assert [w for w in warnings if w.split("`")[0] not in quiet.err] == []
    assert quiet.err.count(" warning OF") == len(warnings)
    assert "info" not in quiet.err
