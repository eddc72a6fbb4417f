"""Drawings that are completed: ids of their own, planes, artifacts of collaborations, canvases."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from bpmn_trips import read, read_file, schema_errors, written
from shared_data import shared_cases

from orgflow_ir.layout.connect import connect_boxes
from orgflow_ir.layout.keep import draw_model
from orgflow_ir.layout.labels import boxes_overlap
from orgflow_ir.layout.planes import plane_of, stack_planes
from orgflow_ir.model import (
    Artifact,
    DataFlow,
    DataObject,
    Event,
    Flow,
    Gateway,
    Model,
    Pool,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.diagram import PLANE, Diagram, Edge, Shape

BPMN = 'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"'
BAD = f"""<definitions {BPMN} targetNamespace="u"><process id="p"><task id="1 a"/>
<task id="_1_20_a"/><task id="_1_20_a_di"/></process></definitions>"""
TWINS = f"""<definitions {BPMN} id="D" targetNamespace="u"><process id="p">
<task id="t_di" name="A"/><task id="t" name="B"/><task id="t_di_2" name="C"/>
<sequenceFlow id="f" sourceRef="t" targetRef="t_di"/></process></definitions>"""
DIAGRAM = f"""<definitions {BPMN} id="D" targetNamespace="u">
<collaboration id="D__diagram"><participant id="P1" name="A" processRef="p"/></collaboration>
<process id="p"><startEvent id="s"/><task id="D__diagram_plane" name="X"/>
<sequenceFlow id="s_di" sourceRef="s" targetRef="D__diagram_plane"/></process></definitions>"""
KEPT = f"""<definitions {BPMN} xmlns:v="urn:v" id="D" targetNamespace="u"><process id="p">
<task id="t"><extensionElements><v:a id="t_di"/></extensionElements></task></process>
<correlationProperty id="D__diagram" name="x"/></definitions>"""


@pytest.mark.parametrize("source", [TWINS, DIAGRAM, KEPT, BAD])
def test_ids_of_the_drawing_are_free(source: str) -> None:
    model, _ = read(source)
    text = written(model)
    ids = Counter(re.findall(r'\sid="([^"]*)"', text))
    assert [name for name, count in ids.items() if count > 1] == []
    if source is not KEPT:
        assert schema_errors(text) == []
    again, said = read(text, diagram=True)
    assert {d.code for d in said} <= {d.code for d in read(source)[1]}
    assert again.diagram is not None
    assert len(again.diagram.shapes) == len(draw_model(model).shapes)
    assert written(again) == text


def planes() -> Model:
    """A closed sub-process with a plane of its own that lacks a node and a line."""
    inner = SubProcess(
        id="sub",
        name="Handle order",
        nodes=(Task(id="a"), Task(id="b"), Task(id="c")),
        flows=(Flow(id="g1", source="a", target="b"), Flow(id="g2", source="b", target="c")),
    )
    process = Process(
        id="P",
        nodes=(Event(id="s", position="start"), inner),
        flows=(Flow(id="f", source="s", target="sub"),),
    )
    second = ((PLANE, "1"),)
    shapes = (
        Shape(element="s", bounds=(100, 120, 36, 36)),
        Shape(element="sub", bounds=(180, 100, 100, 80), expanded=False),
        Shape(element="a", bounds=(100, 100, 100, 80), extra=second),
        Shape(element="b", bounds=(300, 100, 100, 80), extra=second),
    )
    edges = (Edge(element="f", waypoints=((136, 138), (180, 138))),)
    return Model(id="M", processes=(process,), diagram=Diagram(shapes=shapes, edges=edges))


def test_what_is_added_is_added_to_its_plane() -> None:
    drawing = draw_model(planes())
    where = {item.element: plane_of(item) for item in drawing.shapes}
    where |= {item.element: plane_of(item) for item in drawing.edges}
    assert where == {"s": 0, "sub": 0, "f": 0, "a": 1, "b": 1, "c": 1, "g1": 1, "g2": 1}


def test_planes_lie_below_each_other() -> None:
    model = planes()
    drawing, headings = stack_planes(model, draw_model(model))
    boxes = {s.element: s.bounds for s in drawing.shapes}
    assert [name for name, _ in headings] == ["Handle order"]
    heading = headings[0][1]
    for upper in ("s", "sub"):
        assert boxes[upper][1] + boxes[upper][3] < heading[1]
    for lower in ("a", "b", "c"):
        assert heading[1] + heading[3] <= boxes[lower][1]
    assert min(y for e in drawing.edges if e.element == "g1" for _, y in e.waypoints) > heading[1]
    one = draw_model(Model(id="M", processes=(Process(id="P", nodes=(Task(id="t"),)),)))
    assert stack_planes(model, one) == (one, ())


def test_real_planes_do_not_overlap(shared: Path) -> None:
    for name, count in (("C.4.0", 4), ("C.5.0", 2)):
        model = read_file(shared / "data" / "miwg-reference" / f"{name}.bpmn", diagram=True)
        before = draw_model(model)
        after, headings = stack_planes(model, before)
        assert len(headings) == count - 1
        spans: dict[int, list[float]] = {}
        for old, new in zip(before.shapes, after.shapes, strict=False):
            spans.setdefault(plane_of(old), []).extend((new.bounds[1], sum(new.bounds[1::2])))
        assert len(spans) == count
        for one, other in pairwise(sorted(spans)):
            assert max(spans[one]) < min(spans[other])


def collaboration(kept: Diagram | None = None) -> Model:
    things = (
        Artifact(id="G", artifact_kind="group", text="Group"),
        Artifact(id="N", artifact_kind="annotation", text="A note"),
        Artifact(id="A", artifact_kind="association", source="N", target="Q"),
        Artifact(id="B", artifact_kind="association", source="t", target="G"),
        Artifact(id="C", artifact_kind="association", source="N", target="f"),
    )
    nodes = (Task(id="t"), Task(id="u"))
    process = Process(id="P", nodes=nodes, flows=(Flow(id="f", source="t", target="u"),))
    pools = (Pool(id="O", process="P"), Pool(id="Q"))
    return Model(id="M", processes=(process,), pools=pools, artifacts=things, diagram=kept)


@pytest.mark.parametrize("kept", [False, True])
def test_artifacts_of_a_collaboration_are_drawn(kept: bool) -> None:
    model = collaboration()
    if kept:
        model = collaboration(draw_model(model.replace(artifacts=())))
    drawing = draw_model(model)
    boxes = {s.element: s.bounds for s in drawing.shapes}
    lines = {e.element: e.waypoints for e in drawing.edges}
    assert {"G", "N"} <= boxes.keys()
    assert {"A", "B", "C"} <= lines.keys()
    for name in "GN":
        assert not [n for n, b in boxes.items() if n != name and boxes_overlap(boxes[name], b)]
    assert len(lines["A"]) == 2  # straight from the note to the pool beside it
    text = written(model)
    assert schema_errors(text) == []
    again, said = read(text, diagram=True)
    assert said == []
    assert again.diagram is not None
    assert {s.element for s in again.diagram.shapes} == boxes.keys()
    assert {e.element for e in again.diagram.edges} == lines.keys()


def canvas(step: float) -> Model:
    """Nodes with places and no lines, as n8n has them; the last one has data."""
    nodes = tuple(Task(id=f"t{n}") for n in range(4))
    flows = tuple(Flow(id=f"f{n}", source=f"t{n}", target=f"t{n + 1}") for n in range(3))
    process = Process(
        id="P",
        nodes=nodes,
        flows=flows,
        data_objects=(DataObject(id="d", name="Model", data_kind="object"),),
        data_flows=(DataFlow(id="df", source="d", target="t3"),),
    )
    shapes = [
        Shape(element=f"t{n}", bounds=(n * step, (n % 2) * step / 2, 96, 96)) for n in range(4)
    ]
    shapes.append(Shape(element="d", bounds=(3 * step + 40, 2 * step, 96, 96)))
    return Model(id="M", processes=(process,), diagram=Diagram(shapes=tuple(shapes)))


def test_a_canvas_keeps_its_places_and_gets_upright_lines() -> None:
    model = canvas(200)
    drawing = draw_model(model)
    assert model.diagram is not None
    assert drawing.shapes == model.diagram.shapes
    assert {e.element for e in drawing.edges} == {"f0", "f1", "f2", "df"}
    for edge in drawing.edges:
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(edge.waypoints)), edge


def test_a_canvas_that_is_far_too_wide_is_laid_out() -> None:
    drawing = draw_model(canvas(1500))
    right = max(x + w for x, _, w, _ in (s.bounds for s in drawing.shapes))
    assert right < 1200
    assert {e.element for e in drawing.edges} == {"f0", "f1", "f2", "df"}


@pytest.mark.parametrize("number", shared_cases(["001", "016", "081"], "n8n-workflows"))
def test_data_of_real_workflows_has_lines(number: str, shared: Path) -> None:
    model = read_file(shared / "data" / "n8n-workflows" / f"{number}.json", diagram=True)
    drawing = draw_model(model)
    lines = {e.element: e.waypoints for e in drawing.edges}
    shapes = {s.element for s in drawing.shapes}
    wanted = [
        f
        for scope in model.scopes()
        for f in (*scope.flows, *scope.data_flows)
        if f.source in shapes and f.target in shapes
    ]
    assert any(isinstance(f, DataFlow) for f in wanted)
    if number != "001":  # there a data object has data of its own
        assert [f.id for f in wanted if f.id not in lines] == []
    for flow in wanted:
        if isinstance(flow, Flow):
            points = lines[flow.id]
            assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(points)), flow.id


def test_lines_meet_small_shapes_in_the_middle() -> None:
    event, task = (0.0, 100.0, 36.0, 36.0), (100.0, 60.0, 100.0, 80.0)
    assert connect_boxes(event, task, ()) == ((36, 118), (100, 118))
    low = (100.0, 116.0, 100.0, 80.0)
    points = connect_boxes(event, low, ())
    assert points[0] in ((36, 118), (18, 136))
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(points))
    assert connect_boxes(low, event, (), flow=False)[-1][0] in (18, 36)


@pytest.mark.parametrize("end", ["t1", "join"])
def test_labelled_branches_of_a_gateway_leave_apart(end: str) -> None:
    nodes = (
        Task(id="t0"), Gateway(id="g", gateway_kind="exclusive", name="ok?"), Task(id="t1"),
        Gateway(id="join", gateway_kind="exclusive"), Event(id="e", position="end"),
    )  # fmt: skip
    ends = [
        ("t0", "g", ""),
        ("g", "t1", "no"),
        ("g", "join", "yes"),
        ("t1", "join", ""),
        ("join", "e", ""),
        ("g", "e", "never") if end == "join" else ("t1", "g", ""),
    ]
    flows = tuple(
        Flow(id=f"f{n}", source=a, target=b, name=name) for n, (a, b, name) in enumerate(ends)
    )
    drawing = draw_model(Model(id="M", processes=(Process(id="P", nodes=nodes, flows=flows),)))
    lines = {e.element: e.waypoints for e in drawing.edges}
    ways = [lines[f.id][0] for f in flows if f.source == "g"]
    assert len(set(ways)) == len(ways)


def test_branches_of_real_models_leave_apart(shared: Path) -> None:
    root = Path(__file__).parents[3]
    for path, gateway in (
        (shared / "data" / "pmo" / "pme" / "47.json", "ExclusiveGateway_4"),
        (root / "examples" / "purchase-requisition" / "model.bpmn", "approved"),
    ):
        model = read_file(path)
        lines = {e.element: e.waypoints for e in draw_model(model).edges}
        flows = [f for s in model.scopes() for f in s.flows if f.source == gateway]
        assert len({lines[f.id][0] for f in flows}) == len(flows), path.name
