"""Drawings that are laid out: nothing overlaps, everything is where it belongs, fast."""

from __future__ import annotations

import random
import time
from itertools import pairwise
from pathlib import Path

import pytest
from bpmn_trips import read_file
from drawing_metrics import measure
from hostile_labels import hostile_model
from model_gen import Builder
from seeds import seeds
from shared_data import shared_cases

from orgflow_ir.layout.keep import draw_model
from orgflow_ir.layout.text import text_width, wrap_text
from orgflow_ir.model import (
    Artifact,
    DataFlow,
    DataObject,
    Event,
    EventDefinition,
    Flow,
    Lane,
    MessageFlow,
    Model,
    Pool,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.diagram import Diagram, Edge, Shape
from orgflow_ir.testing.conformance.minimal_models import minimal_models

MUST_BE_NONE = ("node_overlaps", "label_overlaps", "missing", "slanted")
Box = tuple[float, float, float, float]


def clean(model: Model, *also: str) -> Diagram:
    """The drawing of a model, in which nothing overlaps and no line runs through a node."""
    drawing = draw_model(model)
    found = measure(model, drawing)._asdict()
    for key in (*MUST_BE_NONE, "lines_through_nodes", *also):
        assert found[key] == 0, (key, found)
    return drawing


def boxes(drawing: Diagram) -> dict[str, Box]:
    return {s.element: s.bounds for s in drawing.shapes}


def inside(inner: Box, outer: Box) -> bool:
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and inner[0] + inner[2] <= outer[0] + outer[2]
        and inner[1] + inner[3] <= outer[1] + outer[3]
    )


def chain(count: int, name: str = "p") -> Process:
    nodes = [Event(id=f"{name}0", position="start")]
    nodes += [Task(id=f"{name}{n}", name=f"Task {n}") for n in range(1, count)]  # type: ignore[misc]
    flows = tuple(
        Flow(id=f"{name}f{n}", source=a.id, target=b.id) for n, (a, b) in enumerate(pairwise(nodes))
    )
    return Process(id=name, nodes=tuple(nodes), flows=flows)


def test_all_of_pmo_is_drawn_clean(shared: Path) -> None:
    crossings = 0
    paths = sorted((shared / "data" / "pmo" / "pme").glob("*.json"))
    assert len(paths) == 55
    for path in paths:
        model = read_file(path)
        drawing = clean(model, "lines_upon_lines", "lines_in_labels")
        crossings += measure(model, drawing).crossings
    assert crossings <= 40


@pytest.mark.parametrize(
    "folder", shared_cases(["miwg-reference", "n8n-workflows", "soundness/fbpmn"])
)
def test_real_models_without_their_drawings(folder: str, shared: Path) -> None:
    paths = sorted((shared / "data" / folder).iterdir())
    paths = [p for p in paths if p.suffix == (".json" if "n8n" in folder else ".bpmn")]
    assert len(paths) > 20
    through = 0
    for path in paths[:80]:
        model = read_file(path)
        found = measure(model, draw_model(model))._asdict()
        assert {k: found[k] for k in MUST_BE_NONE} == dict.fromkeys(MUST_BE_NONE, 0), path.name
        through += found["lines_through_nodes"]
    assert through <= 2  # message flows from inside of sub-processes


@pytest.mark.parametrize("name", [name for name, _ in minimal_models()])
def test_every_construct_is_drawn_clean(name: str) -> None:
    clean(dict(minimal_models())[name], "lines_upon_lines", "lines_in_labels", "crossings")


@pytest.mark.parametrize("seed", seeds(30))
def test_structured_models_have_no_crossings(seed: int) -> None:
    builder = Builder(random.Random(seed), ("task", "xor", "and", "or"))
    first, last = builder.block(30)
    start, end = Event(id="s", position="start"), Event(id="e", position="end")
    flows = (Flow(id="a", source="s", target=first), *builder.flows,
             Flow(id="b", source=last, target="e"))  # fmt: skip
    process = Process(id="P", nodes=(start, *builder.nodes, end), flows=flows)
    clean(Model(id="M", processes=(process,)), "lines_upon_lines", "crossings")


@pytest.mark.parametrize("seed", seeds(20))
def test_tangled_models_have_no_overlaps(seed: int) -> None:
    rng = random.Random(seed)
    builder = Builder(rng)
    builder.block(40)
    names = [n.id for n in builder.nodes]
    more = [
        Flow(id=f"m{n}", source=rng.choice(names), target=rng.choice(names), name="Back" * (n % 2))
        for n in range(12)
    ]
    process = Process(id="P", nodes=tuple(builder.nodes), flows=(*builder.flows, *more))
    clean(Model(id="M", processes=(process,)))


TEXTS = ["a" * 300, "one two three " * 20, "日本語" * 20, "", "\n\n", "W" * 40]


@pytest.mark.parametrize("text", TEXTS)
def test_labels_of_any_length(text: str) -> None:
    clean(hostile_model(text, "other"))


def test_drawings_go_from_left_to_right() -> None:
    at = boxes(clean(Model(id="M", processes=(chain(12),))))
    xs = [at[f"p{n}"][0] for n in range(12)]
    assert xs == sorted(xs)
    assert len({at[f"p{n}"][1] + at[f"p{n}"][3] / 2 for n in range(12)}) == 1


def two_pools() -> Model:
    left, right = chain(5, "a"), chain(5, "b")
    lanes = (
        Lane(id="office", name="Office", members=("a0", "a1", "a2")),
        Lane(id="stores", name="Stores", members=("a3", "a4")),
        Lane(id="empty", name="Nobody"),
    )
    pools = (
        Pool(id="A", name="Ordering", process="a"), Pool(id="B", name="Supplying", process="b"),
        Pool(id="C", name="Authority"),
    )  # fmt: skip
    messages = (
        MessageFlow(id="m1", source="a2", target="b1", name="Order"),
        MessageFlow(id="m2", source="b3", target="a4", name="Goods"),
        MessageFlow(id="m3", source="b3", target="C"), MessageFlow(id="m4", source="C", target="A"),
        MessageFlow(id="m5", source="A", target="b2"),
    )  # fmt: skip
    return Model(
        id="M", processes=(left.replace(lanes=lanes), right), pools=pools, message_flows=messages
    )


def test_pools_and_lanes_are_bands_around_their_nodes() -> None:
    model = two_pools()
    drawing = clean(model)
    at = boxes(drawing)
    for lane in model.processes[0].lanes:
        assert inside(at[lane.id], at["A"])
        for member in lane.members:
            assert inside(at[member], at[lane.id])
    assert all(inside(at[f"b{n}"], at["B"]) for n in range(5))
    assert len({at[p][2] for p in "ABC"}) == 1
    assert all(s.horizontal for s in drawing.shapes if s.element in "ABC")


def test_message_flows_run_between_pools() -> None:
    drawing = clean(two_pools())
    at = boxes(drawing)
    lines = {edge.element: edge.waypoints for edge in drawing.edges}
    for flow, ends in {"m1": ("a2", "b1"), "m3": ("b3", "C"), "m4": ("C", "A")}.items():
        for name, (x, y) in zip(ends, (lines[flow][0], lines[flow][-1]), strict=True):
            box = at[name]
            assert box[0] <= x <= box[0] + box[2]
            assert y in (box[1], box[1] + box[3])


def nested() -> Model:
    timer = EventDefinition(kind="timer")
    events = tuple(
        Event(id=f"on{n}", name=f"Event number {n}", position="boundary", attached_to="sub",
              definitions=(timer,))
        for n in range(3)
    )  # fmt: skip
    inner = SubProcess(id="deep", name="Deep", nodes=chain(3, "d").nodes, flows=chain(3, "d").flows)
    content = chain(3, "c")
    sub = SubProcess(
        id="sub", name="Outer", nodes=(*content.nodes, inner),
        flows=(*content.flows, Flow(id="in", source="c2", target="deep")),
    )  # fmt: skip
    handler = SubProcess(
        id="handler", flavour="event", nodes=chain(3, "h").nodes, flows=chain(3, "h").flows
    )
    base = chain(3)
    ends = tuple(Task(id=f"then{n}", name=f"Then {n}") for n in range(3))
    flows = (
        *base.flows, Flow(id="to", source="p2", target="sub"),
        *(Flow(id=f"go{n}", source=f"on{n}", target=f"then{n}") for n in range(3)),
    )  # fmt: skip
    nodes = (*base.nodes, sub, *events, *ends, handler)
    return Model(id="M", processes=(base.replace(nodes=nodes, flows=flows),))


def test_what_is_in_a_sub_process_is_drawn_in_it() -> None:
    drawing = clean(nested(), "lines_upon_lines", "crossings")
    at = boxes(drawing)
    for name in ("c0", "c1", "c2", "deep", "d0", "d2"):
        assert inside(at[name], at["sub"])
    assert inside(at["d1"], at["deep"])
    assert inside(at["h1"], at["handler"])
    shown = {s.element for s in drawing.shapes if s.expanded}
    assert shown == {"sub", "deep", "handler"}


def test_boundary_events_sit_on_the_border() -> None:
    drawing = clean(nested())
    at = boxes(drawing)
    x, y, w, h = at["sub"]
    middles = []
    for n in range(3):
        left, top, wide, high = at[f"on{n}"]
        assert top + high / 2 == y + h
        assert x <= left
        assert left + wide <= x + w
        middles.append(left)
        edge = next(e for e in drawing.edges if e.element == f"go{n}")
        assert edge.waypoints[0] == (left + wide / 2, top + high)
    assert middles == sorted(middles, reverse=True)


def test_data_and_notes_stand_with_their_tasks() -> None:
    base = chain(4)
    data = (
        DataObject(id="d", name="Order", data_kind="object"),
        DataObject(id="x", name="Left over", data_kind="store-reference"),
    )
    flows = (DataFlow(id="w", source="p1", target="d"), DataFlow(id="r", source="d", target="p3"))
    notes = (
        Artifact(id="n", artifact_kind="annotation", text="As every year, without exception"),
        Artifact(id="l", artifact_kind="association", source="p2", target="n"),
        Artifact(id="k", artifact_kind="association", source="n", target="pf2"),
    )
    process = base.replace(data_objects=data, data_flows=flows, artifacts=notes)
    model = Model(id="M", processes=(process,))
    drawing = clean(model, "lines_in_labels")
    at = boxes(drawing)
    assert at["d"][1] + at["d"][3] < at["p1"][1]
    assert at["n"][1] + at["n"][3] < at["p2"][1]
    lines = {e.element: e.waypoints for e in drawing.edges}
    assert {"w", "r", "l", "k"} <= set(lines)
    assert lines["w"][-1][1] == at["d"][1] + at["d"][3]  # towards the object


def test_a_drawing_of_the_source_is_not_touched(shared: Path) -> None:
    paths = sorted((shared / "data" / "miwg-reference").glob("*.bpmn"))
    assert len(paths) == 21
    for path in paths:
        model = read_file(path, diagram=True)
        assert model.diagram is not None
        assert len(model.diagram.shapes) >= 5, path.name
        drawing = draw_model(model)
        assert drawing.shapes[: len(model.diagram.shapes)] == model.diagram.shapes, path.name
        assert set(model.diagram.edges) <= set(drawing.edges), path.name


def test_what_a_drawing_leaves_out_is_added() -> None:
    model = Model(id="M", processes=(chain(6), chain(4, "q")))
    full = draw_model(model)
    kept = tuple(s for s in full.shapes if s.element in ("p0", "p1", "p2", "p4"))
    wrong = Edge(element="pf0", waypoints=((0, 0), (900, 900)))
    part = Diagram(shapes=kept, edges=(wrong, *(e for e in full.edges if e.element == "pf1")))
    drawing = clean(model.replace(diagram=part), "lines_upon_lines")
    assert drawing.shapes[:4] == kept
    at = boxes(drawing)
    assert len(at) == 10
    assert at["q1"][1] > at["p1"][1]
    lines = {e.element: e for e in drawing.edges}
    assert lines["pf0"] != wrong
    assert lines["pf1"] in part.edges


def test_a_shape_without_size_is_drawn_anew() -> None:
    model = Model(id="M", processes=(chain(3),))
    flat = Shape(element="p1", bounds=(200, 100, 0, 0))
    shapes = tuple(flat if s.element == "p1" else s for s in draw_model(model).shapes)
    at = boxes(clean(model.replace(diagram=Diagram(shapes=shapes))))
    assert at["p1"][2:] == (100, 80)


def test_a_closed_sub_process_stays_closed() -> None:
    model = nested()
    shapes = tuple(s for s in draw_model(model).shapes if s.element[0] in "ps")
    drawing = draw_model(model.replace(diagram=Diagram(shapes=shapes)))
    assert "c1" not in boxes(drawing)
    assert "then1" in boxes(drawing)


def test_the_same_model_is_drawn_the_same() -> None:
    assert draw_model(two_pools()) == draw_model(two_pools())


def test_an_empty_model_has_an_empty_drawing() -> None:
    assert draw_model(Model(id="M")).shapes == ()
    assert draw_model(Model(id="M", processes=(Process(id="p"),))).shapes == ()


@pytest.mark.parametrize("shape", ["chain", "blocks", "star"])
def test_thousands_of_nodes_take_seconds(shape: str) -> None:
    if shape == "chain":
        process = chain(10_000)
    elif shape == "blocks":
        builder = Builder(random.Random(1))
        last: str | None = None
        while len(builder.nodes) < 4_000:
            first, end = builder.block(25)
            if last is not None:
                builder.flow(last, first)
            last = end
        process = Process(id="P", nodes=tuple(builder.nodes), flows=tuple(builder.flows))
    else:
        tasks = tuple(Task(id=f"t{n}") for n in range(2_000))
        flows = tuple(Flow(id=f"f{n}", source="t0", target=f"t{n}") for n in range(1, 2_000))
        process = Process(id="P", nodes=tasks, flows=flows)
    begin = time.process_time()
    draw_model(Model(id="M", processes=(process,)))
    assert time.process_time() - begin < 15


def test_the_metrics_see_faults() -> None:
    model = Model(id="M", processes=(chain(4),))
    good = draw_model(model)
    piled = tuple(s.replace(bounds=good.shapes[1].bounds) for s in good.shapes)
    assert measure(model, good.replace(shapes=piled)).node_overlaps == 6
    y = good.shapes[1].bounds[1] + 30
    for far, slanted in ((y, 0), (y + 8, 1)):
        line = Edge(element="pf2", waypoints=((0, y), (900, far)))
        found = measure(model, good.replace(edges=(*good.edges[:2], line)))
        assert found.lines_through_nodes == 2
        assert found.slanted == slanted
    assert measure(model, good.replace(edges=())).missing == 3
    labels = tuple(s.replace(label=(0, 0, 50, 20)) for s in good.shapes)
    assert measure(model, good.replace(shapes=labels)).label_overlaps == 6


def test_text_is_broken_where_it_may_be() -> None:
    block = wrap_text("Check the invoice against the purchase order", 90)
    assert all(text_width(line) <= 90 for line in block.lines)
    assert " ".join(block.lines) == "Check the invoice against the purchase order"
    assert wrap_text("Donaudampfschifffahrtsgesellschaft", 90).lines != ()
    assert "".join(wrap_text("Donaudampfschifffahrtsgesellschaft", 90).lines) == (
        "Donaudampfschifffahrtsgesellschaft"
    )
    assert wrap_text("a b c d e f g h", 12, 2).lines[-1].endswith("…")
    assert wrap_text("", 90).lines == ()
