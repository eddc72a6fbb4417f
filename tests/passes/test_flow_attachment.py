"""A flow that leads nowhere is attached to the shape at which it is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from orgflow import cli
from orgflow.compiler import check_model
from orgflow.frontends.bpmn.frontend import BpmnFrontend
from orgflow.passes.flow_attachment import NEAR, border_distance

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

BOXES = {"s": (0, 82, 36, 36), "a": (100, 60, 100, 80), "b": (300, 60, 100, 80),
         "e": (500, 82, 36, 36)}  # fmt: skip


def drawn(end: tuple[float, float], *, target: str = "", near: str = "") -> bytes:
    """Start, `A`, `B`, end; the flow from `A` ends at `target` and is drawn to a point."""
    shapes = "".join(
        f'<di:BPMNShape id="{id}_di" bpmnElement="{id}"><dc:Bounds x="{x}" y="{y}" width="{w}" '
        f'height="{h}"/></di:BPMNShape>'
        for id, (x, y, w, h) in BOXES.items()
    )
    lines = {"f1": ((36, 100), (100, 100)), "f2": ((200, 100), end), "f3": ((400, 100), (500, 100))}
    edges = "".join(
        f'<di:BPMNEdge id="{id}_di" bpmnElement="{id}">'
        + "".join(f'<d:waypoint x="{x}" y="{y}"/>' for x, y in points)
        + "</di:BPMNEdge>"
        for id, points in lines.items()
    )
    return (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
        'xmlns:di="http://www.omg.org/spec/BPMN/20100524/DI" '
        'xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" '
        'xmlns:d="http://www.omg.org/spec/DD/20100524/DI" targetNamespace="t" id="defs">\n'
        '<process id="p"><startEvent id="s"><outgoing>f1</outgoing></startEvent>'
        '<task id="a" name="A"><incoming>f1</incoming><outgoing>f2</outgoing></task>'
        '<task id="b" name="B"><outgoing>f3</outgoing></task>'
        '<endEvent id="e"><incoming>f3</incoming></endEvent>'
        '<sequenceFlow id="f1" sourceRef="s" targetRef="a"/>'
        f'<sequenceFlow id="f2" sourceRef="a" targetRef="{target}"/>'
        f'<sequenceFlow id="f3" sourceRef="b" targetRef="e"/>{near}</process>\n'
        f'<di:BPMNDiagram id="dia"><di:BPMNPlane id="pl" bpmnElement="p">{shapes}{edges}'
        "</di:BPMNPlane></di:BPMNDiagram></definitions>"
    ).encode()


def checked(data: bytes) -> tuple[Model, list[Diagnostic]]:
    ctx = PassContext()
    model = BpmnFrontend().parse(SourceFile("order.bpmn", data), ctx)
    assert model is not None
    check_model(model, ctx)
    return model, ctx.diagnostics


def finding(data: bytes) -> Diagnostic:
    (found,) = (d for d in checked(data)[1] if d.code == "OF101")
    assert found.fix is not None
    return found


@pytest.mark.parametrize("target", ["", "gone"])
def test_an_end_drawn_at_one_shape_is_attached_safely(target: str) -> None:
    found = finding(drawn((291, 104), target=target))
    assert found.fix is not None
    assert (found.fix.applicability, found.fix.title) == ("safe", "attach the flow to `B`")
    assert found.help == "attach it to `B`, next to which it is drawn"


def test_an_end_drawn_at_no_shape_is_not_attached() -> None:
    found = finding(drawn((300 - NEAR - 1, 100)))
    assert found.fix is not None
    assert (found.fix.applicability, found.fix.title) == ("unsafe", "remove the flow")


def test_an_end_drawn_at_two_shapes_is_offered_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BOXES, "e", (300, 145, 36, 36))
    found = finding(drawn((302, 141)))
    assert found.fix is not None
    assert (found.fix.applicability, found.fix.title) == ("unsafe", "attach the flow to `B`")
    assert (
        found.help == "attach it to `B` or the end event after `B`: it is drawn near each of them"
    )


def test_no_flow_is_attached_to_what_it_cannot_lead_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BOXES, "s", (300, 145, 36, 36))  # a start event beside the end of the arrow
    found = finding(drawn((302, 141)))
    assert found.fix is not None
    assert (found.fix.applicability, found.fix.title) == ("safe", "attach the flow to `B`")


def test_a_flow_that_is_there_already_is_not_drawn_again() -> None:
    other = '<sequenceFlow id="f4" sourceRef="a" targetRef="b"/>'
    found = finding(drawn((296, 100), near=other))
    assert found.fix is not None
    assert found.fix.title == "remove the flow"


def test_the_fix_is_written_into_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "order.bpmn"
    path.write_bytes(drawn((291, 104)))
    before = path.read_text()
    cli.run(["check", "--fix", str(path)])
    assert "fixed: " in capsys.readouterr().err
    after = path.read_text()
    model, found = checked(path.read_bytes())
    flow = next(f for f in model.processes[0].flows if f.id == "f2")
    assert (flow.source, flow.target) == ("a", "b")
    assert not [d for d in found if d.code.startswith("OF10")]
    listed = "\n  <incoming>f2</incoming>"
    assert f'<task id="b" name="B">{listed}<outgoing>f3</outgoing></task>' in after
    # the arrow touches the shape now, and nothing else has changed
    changes = ((listed, ""), ('x="300" y="104"', 'x="291" y="104"'),
               ('sourceRef="a" targetRef="b"', 'sourceRef="a" targetRef=""'))  # fmt: skip
    for new, old in changes:
        assert after.count(new) == 1
        after = after.replace(new, old)
    assert after == before


@pytest.mark.parametrize(
    ("point", "far"),
    [((0, 0), 0), ((5, 5), 5), ((-3, 5), 3), ((13, 14), 5), ((5, 9), 1)],
)
def test_distance_to_a_border(point: tuple[float, float], far: float) -> None:
    assert border_distance(point, (0, 0, 10, 10)) == far
