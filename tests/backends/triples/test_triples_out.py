"""Procedural graphs out: read back they are the same process, whatever its labels."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from orgflow.backends.triples.backend import TriplesBackend
from orgflow.compiler import compile_model
from orgflow.frontends.powl.build import build_model
from orgflow.frontends.triples.frontend import TriplesFrontend
from powl_language import language, played, random_powl
from seeds import seeds
from text_model import model as drawn

from orgflow_ir.model import Artifact, DataFlow, DataObject, Lane, Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def written(model: Model) -> tuple[str, PassContext]:
    ctx = PassContext(registry=Registry(outside=False))
    emitted = compile_model(model, TriplesBackend(), ctx)
    assert emitted is not None, [d.message for d in ctx.diagnostics]
    return emitted.artifacts[0].text, ctx


def read(text: str) -> Model:
    ctx = PassContext()
    model = TriplesFrontend().parse(SourceFile("x.triples", text.encode()), ctx)
    assert model is not None, text
    assert ctx.diagnostics == [], text
    return model


def wiring(model: Model) -> Any:
    """How many nodes and flows there are of each kind and label."""
    (process,) = model.processes
    nodes = Counter((n.construct, n.name) for n in process.nodes)
    return nodes, Counter(f.name for f in process.flows)


def once(model: Model) -> Model:
    """The model without arrows that are drawn twice: of equal lines a reader takes one."""
    (process,) = model.processes
    flows = {(f.source, f.target, f.name): f for f in reversed(process.flows)}
    kept = tuple(f for f in process.flows if f in flows.values())
    return model.replace(processes=(process.replace(flows=kept),))


@pytest.mark.parametrize("seed", seeds(80))
def test_a_random_process_is_read_back_as_it_was(seed: int) -> None:
    powl = random_powl(random.Random(seed))
    model = build_model(powl, "random", "random.powl")
    back = read(written(model)[0])
    assert wiring(back) == wiring(once(model))
    assert played(back, 5) == language(powl, 5)


def test_what_a_line_holds() -> None:
    model = drawn(
        """start -> check
        check -> o
        o -> call: if urgent (today)
        o -> mail: default
        call -> p
        mail -> p
        p -> end""",
        {"o": "inclusive How urgent?", "p": "inclusive"},
    )
    process = model.processes[0]
    process = process.replace(
        lanes=(Lane(id="l", name="Sales", members=("check", "call"), lane_set="s"),),
        data_objects=(DataObject(id="d", name="Order", data_kind="object"),),
        data_flows=(DataFlow(id="df", source="d", target="check"),),
        artifacts=(
            Artifact(id="n", artifact_kind="annotation", text="Be polite."),
            Artifact(id="na", artifact_kind="association", source="call", target="n"),
        ),
    )
    text, ctx = written(model.replace(processes=(process,)))
    assert text.splitlines() == [
        "T1 Check | Sales",
        "O1 How urgent?",
        "T2 Call | Sales",
        "T3 Mail",
        "End1 end",
        "Start1 -> T1",
        "T1 -> O1",
        "O1 -(if urgent (today))-> T2",
        "O1 -(otherwise (default))-> T3",
        "T2 -> O2",
        "T3 -> O2",
        "O2 -> End1",
        "DataObject(Order) -> T1",
        "TextAnnotation(Be polite) -> T2",
    ]
    assert [d.code for d in ctx.diagnostics if d.code.startswith("TRIPLES")] == []
    back = read(text)
    assert [d.name for d in back.processes[0].data_objects] == ["Order"]
    assert len(back.processes[0].data_flows) == 1


@pytest.mark.parametrize(
    ("label", "kept"),
    [
        ("send -> receive", "send to receive"),
        ("a | b", "a / b"),
        ('"quoted"', "quoted"),
        ("==> x", "to x"),
        ("check (twice", "check (twice"),
        ("T2", "T2"),
        ("s1", "s1"),
        ("- none -", "- none -"),
        ("***", "T1"),
        ("End", "End"),
    ],
)
def test_labels_stay_labels(label: str, kept: str) -> None:
    """A step is one step, whatever its label; a label that has to change is reported."""
    model = drawn("start -> a\na -> x\nx -> b: yes\nx -> end: no\nb -> end", {"x": "exclusive"})
    process = model.processes[0]
    nodes = tuple(n.replace(name=label) if n.id == "a" else n for n in process.nodes)
    flows = tuple(f.replace(name=label) if f.name == "yes" else f for f in process.flows)
    text, ctx = written(model.replace(processes=(process.replace(nodes=nodes, flows=flows),)))
    back = read(text)
    assert [n.construct for n in back.processes[0].nodes if n.construct == "task.abstract"] == [
        "task.abstract", "task.abstract",
    ]  # fmt: skip
    assert len(back.processes[0].flows) == len(flows)
    assert kept in [n.name for n in back.processes[0].nodes]
    changed = [d for d in ctx.diagnostics if "symbols of the notation" in d.message]
    assert bool(changed) is (kept != label or "(" in label)
