"""Fixes written into BPMN files: only the elements concerned change, in any encoding, and the
drawing follows."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from orgflow.frontends.bpmn.frontend import BpmnFrontend

from orgflow_ir.diagnostics import Edit, Fix, FixError, apply
from orgflow_ir.model import Flow, Gateway, Model, Process, Task
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

FILE = """<?xml version="1.0" encoding="ENCODING"?>
<!-- kept: <exclusiveGateway id="g"/> -->
<b:definitions xmlns:b="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:di="http://www.omg.org/spec/BPMN/20100524/DI"
  xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" id="d"  targetNamespace='x'>
  <b:process id="p"   isExecutable="true">
    <b:laneSet id="ls"><b:lane id="l" name="Büro">
        <b:flowNodeRef>s</b:flowNodeRef>
        <b:flowNodeRef>g</b:flowNodeRef>
        <b:flowNodeRef>e</b:flowNodeRef>
    </b:lane></b:laneSet>
    <b:startEvent id="s" ><b:outgoing>f1</b:outgoing></b:startEvent>
    <b:exclusiveGateway id="g" name="default=&quot;x&quot; &gt; ü" default = 'f3' >
      <b:incoming>f1</b:incoming>
      <b:outgoing>f2</b:outgoing>
      <b:outgoing>f3</b:outgoing>
    </b:exclusiveGateway>
    <b:task id="a" name="A"/><b:task id="c" name="C"/>
    <b:endEvent id="e">
      <b:incoming>f4</b:incoming>
      <b:incoming>f5</b:incoming>
    </b:endEvent>
    <b:sequenceFlow id="f1" sourceRef="s" targetRef="g"/>
    <b:sequenceFlow id="f2" sourceRef="g" targetRef="a"/>
    <b:sequenceFlow id="f3" sourceRef="g" targetRef="c"/>
    <b:sequenceFlow id="f4" sourceRef="a" targetRef="e"/>
    <b:sequenceFlow id="f5" sourceRef="c" targetRef="e" />
  </b:process>
  <di:BPMNDiagram id="D"><di:BPMNPlane id="P" bpmnElement="p">
    <di:BPMNShape id="a_di" bpmnElement="a"><dc:Bounds x="200" y="0" width="100" height="80"/></di:BPMNShape>
    <di:BPMNShape id="c_di" bpmnElement="c"><dc:Bounds x="200" y="100" width="100" height="80"/></di:BPMNShape>
    <di:BPMNShape id="e_di" bpmnElement="e"><dc:Bounds x="500" y="62" width="36" height="36"/></di:BPMNShape>
    <di:BPMNEdge id="f4_di" bpmnElement="f4"><w:waypoint xmlns:w="http://www.omg.org/spec/DD/20100524/DI" x="300" y="40"/>
      <w:waypoint xmlns:w="http://www.omg.org/spec/DD/20100524/DI" x="500" y="80"/></di:BPMNEdge>
  </di:BPMNPlane></di:BPMNDiagram>
</b:definitions>
"""  # noqa: E501  # as tools write it
ENCODINGS = {
    "utf-8": "utf-8", "utf-8 with mark": "utf-8-sig", "utf-16": "utf-16", "latin": "iso-8859-1",
}  # fmt: skip


def source(encoding: str = "utf-8", line_end: str = "\n") -> SourceFile:
    named = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    text = FILE.replace("ENCODING", named.upper()).replace("\n", line_end)
    return SourceFile("m.bpmn", text.encode(encoding))


def read(file: SourceFile) -> Model:
    ctx = PassContext(options={"diagram": True})
    model = BpmnFrontend().parse(file, ctx)
    assert model is not None, [d.message for d in ctx.diagnostics]
    return model


def scope(model: Model) -> Process:
    return model.processes[0]


def replaced(model: Model, element: str, **changes: object) -> Edit:
    for node in scope(model).nodes:
        if node.id == element:
            return Edit(action="replace", scope="p", id=element, node=node.replace(**changes))
    flow = next(f for f in scope(model).flows if f.id == element)
    return Edit(action="replace", scope="p", id=element, flow=flow.replace(**changes))


def fix(*edits: Edit) -> Fix:
    return Fix(title="t", applicability="safe", edits=edits)


def to_parallel(model: Model) -> Fix:
    return fix(replaced(model, "f3", default=False), replaced(model, "g", gateway_kind="parallel"))


def add_join(model: Model) -> Fix:
    join = Gateway(id="e__join", gateway_kind="exclusive")
    flow = Flow(id="e__join_flow", source="e__join", target="e")
    return fix(
        Edit(action="add", scope="p", node=join),
        replaced(model, "f4", target="e__join"),
        replaced(model, "f5", target="e__join"),
        Edit(action="add", scope="p", flow=flow),
    )


def remove_task(model: Model) -> Fix:
    del model
    return fix(*(Edit(action="remove", scope="p", id=name) for name in ("f3", "f5", "c")))


def small_edits(model: Model) -> Fix:
    del model
    return fix(
        Edit(action="relabel", scope="p", id="g", name="Ready? ü"),
        Edit(action="set-default", scope="p", id="f3", default=False),
        Edit(action="redirect", scope="p", id="f5", target="a"),
    )


def lines_changed(before: bytes, after: bytes, encoding: str) -> tuple[list[str], list[str]]:
    """Lines that went and lines that came; the others are byte for byte the same."""
    old, new = (b.decode(encoding).split("\n") for b in (before, after))
    diff = [d for d in difflib.ndiff(old, new) if d[:2] in ("- ", "+ ")]
    return [d[2:] for d in diff if d[0] == "-"], [d[2:] for d in diff if d[0] == "+"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS.keys())
@pytest.mark.parametrize("make", [to_parallel, add_join, remove_task, small_edits])
def test_the_file_says_what_the_fix_says(make: object, encoding: str, line_end: str) -> None:
    file = source(encoding, line_end)
    model = read(file)
    assert callable(make)
    wanted = apply(model, make(model))
    patched = BpmnFrontend().patched(file, model, make(model))
    again = read(SourceFile("m.bpmn", patched))
    assert {n.id: n for n in scope(again).nodes} == {n.id: n for n in scope(wanted).nodes}
    assert {f.id: f for f in scope(again).flows} == {f.id: f for f in scope(wanted).flows}
    assert (b"\r\n" in patched) == (line_end == "\r\n" and encoding != "utf-16")
    text = patched.decode(encoding)
    assert text.count("\r\n") in (0, text.count("\n")), "line ends stay of one kind"


def test_a_changed_gateway_touches_its_tags_only() -> None:
    file = source()
    model = read(file)
    gone, came = lines_changed(
        file.data, BpmnFrontend().patched(file, model, to_parallel(model)), "utf-8"
    )
    assert gone == [
        '    <b:exclusiveGateway id="g" name="default=&quot;x&quot; &gt; ü" default = \'f3\' >',
        "    </b:exclusiveGateway>",
    ]
    assert came == [
        '    <b:parallelGateway id="g" name="default=&quot;x&quot; &gt; ü" >',
        "    </b:parallelGateway>",
    ]


def test_an_added_join_is_drawn_listed_and_in_its_lane() -> None:
    file = source()
    model = read(file)
    patched = BpmnFrontend().patched(file, model, add_join(model))
    gone, came = lines_changed(file.data, patched, "utf-8")
    assert {line.strip() for line in gone} <= {
        "<b:incoming>f4</b:incoming>",
        "<b:incoming>f5</b:incoming>",
        "</b:endEvent>",  # the same line again behind what came
        '<b:sequenceFlow id="f4" sourceRef="a" targetRef="e"/>',
        '<b:sequenceFlow id="f5" sourceRef="c" targetRef="e" />',
        '<w:waypoint xmlns:w="http://www.omg.org/spec/DD/20100524/DI" x="500" y="80"/>'
        "</di:BPMNEdge>",
    }
    text = "\n".join(came)
    assert "<b:flowNodeRef>e__join</b:flowNodeRef>" in text
    assert "<b:incoming>e__join_flow</b:incoming>" in text
    again = read(SourceFile("m.bpmn", patched))
    assert again.diagram is not None
    assert {s.element for s in again.diagram.shapes} == {"a", "c", "e", "e__join"}
    shape = next(s for s in again.diagram.shapes if s.element == "e__join")
    assert 300 < shape.bounds[0] < 500 - 50
    edge = next(e for e in again.diagram.edges if e.element == "f4")
    assert edge.waypoints[0] == (300, 40)
    assert edge.waypoints[-1] == (shape.bounds[0] + 25, shape.bounds[1])
    (lane,) = scope(again).lanes
    assert lane.members == ("s", "g", "e", "e__join")


def test_what_is_removed_is_gone_from_lists_and_drawing() -> None:
    file = source()
    model = read(file)
    patched = BpmnFrontend().patched(file, model, remove_task(model))
    assert b'"c"' not in patched
    assert b"f3" not in patched
    assert b"f5" not in patched
    assert read(SourceFile("m.bpmn", patched)).diagram is not None


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (Edit(action="remove", scope="p", id="nothing"), "no element"),
        (Edit(action="add", scope="p", node=Task(id="t")), "only gateways"),
        (Edit(action="replace", scope="p", id="a", node=Task(id="a", name="B")), "only gateways"),
        (Edit(action="remove", scope="q", id="a"), None),
    ],
)
def test_what_cannot_be_written_is_refused(edit: Edit, why: str | None) -> None:
    file = source()
    if why is None:
        BpmnFrontend().patched(file, read(file), fix(edit))
        return
    with pytest.raises(FixError, match=why):
        BpmnFrontend().patched(file, read(file), fix(edit))


def test_a_name_the_encoding_lacks_is_refused() -> None:
    file = source("iso-8859-1")
    model = read(file)
    with pytest.raises(FixError, match="iso-8859-1"):
        BpmnFrontend().patched(file, model, fix(replaced(model, "g", name="gültig? ✓")))


def test_real_files_stay_as_they_are(shared: Path) -> None:
    tried = 0
    for path in sorted((shared / "data" / "camunda7-executable").rglob("*.bpmn")):
        file = SourceFile(str(path), path.read_bytes())
        model = read(file)
        for process in model.scopes():
            gates = [n for n in process.nodes if isinstance(n, Gateway)]
            for gate in gates[:2]:
                if gate.gateway_kind != "exclusive" or any(
                    f.default for f in process.flows if f.source == gate.id
                ):
                    continue
                node = gate.replace(gateway_kind="inclusive")
                edit = Edit(action="replace", scope=process.id, id=gate.id, node=node)
                patched = BpmnFrontend().patched(file, model, fix(edit))
                gone, came = lines_changed(file.data, patched, "utf-8")
                assert len(gone) == len(came) <= 2
                assert [g.replace("exclusive", "inclusive") for g in gone] == came
                assert read(SourceFile("m.bpmn", patched)) == apply(model, fix(edit))
                tried += 1
    assert tried >= 20
