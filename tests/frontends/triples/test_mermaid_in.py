"""Mermaid flowcharts, as people and language models write them, and as our own target does."""

from __future__ import annotations

import random
from pathlib import Path

import orgflow
import pytest
from orgflow.frontends.triples.mermaid import MermaidFrontend

from orgflow_ir.model import Event, Gateway, Model, Task
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

CHART = """\
flowchart TD
  %% an order
  subgraph Sales
    S([Start]) --> A["Receive order"]
    A --> B{In stock?}
  end
  B -->|yes| C[Ship goods]
  B -- no --> D(Order parts):::late
  C & D --> E{ }
  E ==> F{+} --> G[Write invoice] & H[Call customer]
  G --> I{+}
  H -.-> I
  I --> Z((End))
  classDef late fill:#f00
"""


def read(text: str) -> tuple[Model | None, list[str]]:
    ctx = PassContext()
    model = MermaidFrontend().parse(SourceFile("m.mmd", text.encode()), ctx)
    return model, [d.code for d in ctx.diagnostics]


def test_a_flowchart() -> None:
    model, found = read(CHART)
    assert (found, model is not None) == ([], True)
    assert model is not None
    assert orgflow.check(model).ok
    (process,) = model.processes
    names = {n.id: n.name or n.construct for n in process.nodes}
    flows = {(names[f.source], f.name, names[f.target]) for f in process.flows}
    assert ("In stock?", "yes", "Ship goods") in flows
    assert ("In stock?", "no", "Order parts") in flows
    kinds = [n.gateway_kind for n in process.nodes if isinstance(n, Gateway)]
    assert kinds == ["exclusive", "exclusive", "parallel", "parallel"]
    assert [lane.name for lane in process.lanes] == ["Sales"]


@pytest.mark.parametrize("path", sorted(Path("examples").glob("*/model.bpmn")), ids=str)
def test_what_our_target_writes(path: Path) -> None:
    drawn = orgflow.read(path)
    (text,) = orgflow.compile(drawn, "mermaid").files.values()
    model, found = read(text)
    assert model is not None
    assert "OF074" not in found
    assert drawn.model is not None
    wanted = {n.caption for p in drawn.model.processes for n in p.nodes if isinstance(n, Task)}
    got = {n.name for p in model.processes for n in p.nodes if isinstance(n, Task)}
    assert wanted <= got
    asked = {n.name for p in drawn.model.processes for n in p.nodes if isinstance(n, Gateway)}
    known = {n.name for p in model.processes for n in p.nodes if isinstance(n, Gateway)}
    assert {" ".join(name.split()) for name in asked} <= known


def _drawn(text: str) -> set[tuple[str, str, str]]:
    """Flows between captions, with labels, but for those of starts and ends that were not drawn.
    Nothing may be unread."""
    model, found = read(text)
    assert model is not None
    assert found == []
    names = {n.id: n.name or n.construct for p in model.processes for n in p.nodes}
    made = {n.id for p in model.processes for n in p.nodes if isinstance(n, Event) and not n.loc}
    return {
        (names[f.source], f.name, names[f.target])
        for p in model.processes
        for f in p.flows
        if not made & {f.source, f.target}
    }


@pytest.mark.parametrize(
    ("text", "flows"),
    [
        ("---\ntitle: Orders\n---\nflowchart LR\nA-->B", {("A", "", "B")}),
        ("%%{init: {\n'theme': 'dark'}}%%\ngraph TD; A-->B;", {("A", "", "B")}),
        ('graph TD; A-->B["x; y"]; B-->C', {("A", "", "x; y"), ("x; y", "", "C")}),
        ("graph TD; A-->B[x #amp; y]", {("A", "", "x & y")}),
        ("flowchart\nA--yes-->B{q}", {("A", "yes", "q")}),
        ('flowchart\nA--"a -> b"-->B', {("A", "a -> b", "B")}),
        ("flowchart\nA --x B --> C --o D", {("A", "", "B"), ("B", "", "C"), ("C", "", "D")}),
        ('flowchart\nA-->|"yes | no"|B', {("A", "yes | no", "B")}),
        ('flowchart\nA["`pack\n  the goods`"] --> B', {("pack the goods", "", "B")}),
        ('flowchart\nA@{ shape: rect, label: "Do it } now" } --> B', {("Do it } now", "", "B")}),
        ("flowchart\nA@{shape: circle} --> B", {("event.start.none", "", "B")}),
        ("flowchart\nA e1@--> B\ne1@{ animate: true }", {("A", "", "B")}),
        ("flowchart\nA <--> B", {("A", "", "B")}),
        ("flowchart\nA --> B\nB ~~~ C", {("A", "", "B")}),
        ("flowchart\nA --> D[(db)] --> B", {("A", "", "db"), ("db", "", "B")}),
        ("flowchart\nA --> D[(db)] --> B\nA --> B", {("A", "", "B")}),
    ],
)  # fmt: skip
def test_other_forms(text: str, flows: set[tuple[str, str, str]]) -> None:
    assert _drawn(text) == flows


def test_gateways_of_named_shapes() -> None:
    model, found = read("flowchart\nA --> f@{ shape: fork } --> B & C --> d@{ shape: diam }")
    assert model is not None
    assert found == []
    kinds = [n.gateway_kind for n in model.processes[0].nodes if isinstance(n, Gateway)]
    assert kinds == ["parallel", "exclusive"]


@pytest.mark.parametrize("text", ["", "flowchart TD", "sequenceDiagram\nA->>B: hi"])
def test_no_flowchart(text: str) -> None:
    model, found = read(text)
    assert model is None
    assert found == ["OF074"]


def test_noise_never_raises() -> None:
    chance = random.Random(5)
    pieces = (
        "A",
        "B",
        "-->",
        "--",
        "|",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        '"',
        "&",
        " ",
        "\n",
        ";",
        "==",
    )
    for _ in range(500):
        read("".join(chance.choice(pieces) for _ in range(chance.randrange(40))))


def test_commas_between_nodes_are_refused_with_what_to_write() -> None:
    ctx = PassContext()
    text = b"flowchart\nA --> B --> C & D\nB --> E, F\nG[x, y] --> A"
    MermaidFrontend().parse(SourceFile("m.mmd", text), ctx)
    (found,) = ctx.diagnostics
    assert (found.code, found.loc and found.loc.line) == ("OF075", 3)
    assert found.help == "join several nodes with `&`, as in `A --> B & C`"
