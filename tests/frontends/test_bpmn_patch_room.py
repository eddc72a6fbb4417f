"""Room for a new gateway in a drawing: nothing overlaps, no line is without length, and only what
lies behind it moves."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from orgflow.frontends.bpmn.frontend import BpmnFrontend
from shared_data import shared_cases

from orgflow_ir.diagnostics import Edit, Fix
from orgflow_ir.model import Flow, Gateway, Model, Scope
from orgflow_ir.model.diagram import Diagram
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

HEAD = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" id="d" targetNamespace="x"
  xmlns:di="http://www.omg.org/spec/DD/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC">
"""
NEAR = {
    "c": (200, 0, 100, 80), "d": (200, 120, 100, 80), "z": (360, 0, 100, 80),
    "b": (440, 62, 36, 36), "r": (500, 120, 100, 80), "below": (320, 300, 100, 80),
}  # fmt: skip
LINES = {
    "f1": ((300, 40), (360, 40)),
    "f2": ((300, 160), (330, 160), (330, 40), (360, 40)),
    "f3": ((458, 98), (458, 160), (500, 160)),
}


def drawn(boxes: dict[str, tuple[int, ...]], lines: dict[str, tuple[tuple[int, int], ...]]) -> str:
    shapes = "".join(
        f'    <bpmndi:BPMNShape id="{n}_di" bpmnElement="{n}">'
        '<dc:Bounds x="{}" y="{}" width="{}" height="{}" /></bpmndi:BPMNShape>\n'.format(*b)
        for n, b in boxes.items()
    )
    edges = "".join(
        f'    <bpmndi:BPMNEdge id="{n}_di" bpmnElement="{n}">\n'
        + "".join(f'      <di:waypoint x="{x}" y="{y}" />\n' for x, y in points)
        + "    </bpmndi:BPMNEdge>\n"
        for n, points in lines.items()
    )
    return shapes + edges


def file(
    boxes: dict[str, tuple[int, ...]], lines: dict[str, tuple[tuple[int, int], ...]]
) -> SourceFile:
    text = f"""{HEAD}  <collaboration id="co">
    <participant id="pool" processRef="p"/>
  </collaboration>
  <process id="p">
    <task id="c"/>
    <task id="d"/>
    <task id="z"/>
    <boundaryEvent id="b" attachedToRef="z"><timerEventDefinition/></boundaryEvent>
    <task id="r"/>
    <task id="below"/>
    <sequenceFlow id="f1" sourceRef="c" targetRef="z"/>
    <sequenceFlow id="f2" sourceRef="d" targetRef="z"/>
    <sequenceFlow id="f3" sourceRef="b" targetRef="r"/>
  </process>
  <bpmndi:BPMNDiagram id="D"><bpmndi:BPMNPlane id="P" bpmnElement="co">
    <bpmndi:BPMNShape id="pool_di" bpmnElement="pool" isHorizontal="true">
      <dc:Bounds x="100" y="-40" width="600" height="300" />
    </bpmndi:BPMNShape>
{drawn(boxes, lines)}  </bpmndi:BPMNPlane></bpmndi:BPMNDiagram>
</definitions>
"""
    return SourceFile("m.bpmn", text.encode())


def read(source: SourceFile) -> Model:
    model = BpmnFrontend().parse(source, PassContext(options={"diagram": True}))
    assert model is not None
    return model


def joined(scope: Scope, node: str) -> Fix:
    into = [f for f in scope.flows if f.target == node]
    join = f"{node}_made"
    return Fix(
        title="t",
        applicability="safe",
        edits=(
            Edit(action="add", scope=scope.id, node=Gateway(id=join, gateway_kind="parallel")),
            *(
                Edit(action="replace", scope=scope.id, id=f.id, flow=f.replace(target=join))
                for f in into
            ),
            Edit(
                action="add",
                scope=scope.id,
                flow=Flow(id=f"{join}_flow", source=join, target=node),
            ),
        ),
    )


def repaired(source: SourceFile, node: str = "z") -> tuple[bytes, Diagram]:
    model = read(source)
    data = BpmnFrontend().patched(source, model, joined(model.processes[0], node))
    diagram = read(SourceFile("m.bpmn", data)).diagram
    assert diagram is not None
    return data, diagram


def boxes_of(diagram: Diagram) -> dict[str, tuple[float, ...]]:
    return {s.element: tuple(s.bounds) for s in diagram.shapes}


def points_of(diagram: Diagram) -> dict[str, list[tuple[float, float]]]:
    return {e.element: [(x, y) for x, y in e.waypoints] for e in diagram.edges}


def meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return all(a[i] < b[i] + b[i + 2] and b[i] < a[i] + a[i + 2] for i in (0, 1))


def within(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return all(b[i] <= a[i] and a[i] + a[i + 2] <= b[i] + b[i + 2] for i in (0, 1))


def overlapping(model: Model) -> set[frozenset[str]]:
    """Pairs of shapes of which neither is in the other, or an event at its activity."""
    assert model.diagram is not None
    hosts = {n.id: getattr(n, "attached_to", None) for s in model.scopes() for n in s.nodes}
    return {
        frozenset((a, b))
        for (a, one), (b, two) in combinations(boxes_of(model.diagram).items(), 2)
        if meet(one, two) and not within(one, two) and not within(two, one)
        and hosts.get(a) != b and hosts.get(b) != a
    }  # fmt: skip


def test_what_lies_behind_moves_and_what_is_around_grows() -> None:
    _, diagram = repaired(file(NEAR, LINES))
    boxes, points = boxes_of(diagram), points_of(diagram)
    assert boxes["z_made"] == (325, 15, 50, 50)
    assert boxes["z"] == (400, 0, 100, 80)
    assert boxes["b"] == (480, 62, 36, 36), "an event goes with its activity"
    assert boxes["r"] == (540, 120, 100, 80)
    assert boxes["below"] == NEAR["below"], "it begins before"
    assert boxes["c"] == NEAR["c"]
    assert boxes["pool"] == (100, -40, 640, 300)
    assert points["f1"] == [(300, 40), (325, 40)]
    assert points["f2"] == [(300, 160), (350, 160), (350, 65)]
    assert points["f3"] == [(498, 98), (498, 160), (540, 160)]
    assert points["z_made_flow"] == [(375, 40), (400, 40)]
    assert overlapping(read(file(NEAR, LINES))) == set()


def test_where_there_is_room_nothing_moves() -> None:
    wide = {**NEAR, "z": (460, 0, 100, 80), "b": (540, 62, 36, 36), "r": (600, 120, 100, 80)}
    source = file(wide, {"f1": ((300, 40), (460, 40)), "f2": ((300, 160), (460, 40))})
    data, diagram = repaired(source)
    assert {n: b for n, b in boxes_of(diagram).items() if n in wide} == wide
    assert boxes_of(diagram)["z_made"] == (370, 15, 50, 50)
    numbers = re.compile(rb'<dc:Bounds x="[^"]*"')
    assert set(numbers.findall(source.data)) <= set(numbers.findall(data))


def test_only_coordinates_change_of_what_moves() -> None:
    source = file(NEAR, LINES)
    data, _ = repaired(source)
    old, new = source.data.decode().splitlines(), data.decode().splitlines()
    same = {re.sub(r'(?<= )(x|y|width)="[^"]*"', "", line) for line in new}
    for line in old:
        if line not in new and "sequenceFlow" not in line and "waypoint" not in line:
            assert re.sub(r'(?<= )(x|y|width)="[^"]*"', "", line) in same
    assert [x for x in old if "below" in x] == [x for x in new if "below" in x]


def test_a_drawing_that_runs_downwards() -> None:
    boxes = {"c": (0, 200, 100, 80), "d": (150, 200, 100, 80), "z": (0, 320, 100, 80)}
    lines = {"f1": ((50, 280), (50, 320)), "f2": ((200, 280), (200, 360), (100, 360))}
    _, diagram = repaired(file(boxes, lines))
    assert boxes_of(diagram)["z_made"] == (25, 305, 50, 50)
    assert boxes_of(diagram)["z"] == (0, 380, 100, 80)
    points = points_of(diagram)
    assert points["f1"] == [(50, 280), (50, 305)]
    assert points["f2"] == [(200, 280), (200, 330), (75, 330)]
    assert points["z_made_flow"] == [(50, 355), (50, 380)]


@pytest.mark.parametrize(
    "folder", shared_cases(["miwg-reference", "soundness/fbpmn", "camunda7-executable"])
)
def test_real_drawings(folder: str, shared: Path) -> None:
    """A join before every node that several flows lead to."""
    made = 0
    for path in sorted((shared / "data" / folder).rglob("*.bpmn")):
        source = SourceFile("m.bpmn", path.read_bytes())
        if source.data.count(b"BPMNPlane ") != 1:
            continue
        model = BpmnFrontend().parse(source, PassContext(options={"diagram": True}))
        if model is None or model.diagram is None:
            continue
        before, drawn = overlapping(model), boxes_of(model.diagram)
        for scope in model.scopes():
            for node in scope.nodes:
                into = [f.id for f in scope.flows if f.target == node.id]
                if len(into) < 2 or node.id not in drawn:
                    continue
                patched = BpmnFrontend().patched(source, model, joined(scope, node.id))
                after = read(SourceFile("m.bpmn", patched))
                assert overlapping(after) <= before, (path.name, node.id)
                assert after.diagram is not None
                points = points_of(after.diagram)
                for edge in (*into, f"{node.id}_made_flow"):
                    for a, b in pairwise(points.get(edge, ())):
                        assert a != b, (path.name, edge)
                made += 1
    assert made > 5
