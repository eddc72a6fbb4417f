"""`check --fix` on files of several faults, processes and encodings: nothing else changes."""

from __future__ import annotations

import codecs
import difflib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cases import orgflowc
from orgflow.commands.autofix import fix_files
from orgflow.commands.project.file_fixes import Fixer
from orgflow.frontends.bpmn.frontend import BpmnFrontend

from orgflow_ir.diagnostics import Fix, FixError
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

HEAD = """<?xml version="1.0" encoding="ENCODING"?>
<!-- Prüfung -->
<b:definitions xmlns:b="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI"
  xmlns:dc="http://www.omg.org/spec/DD/20100524/DC"
  xmlns:di="http://www.omg.org/spec/DD/20100524/DI" id="d" targetNamespace='x'>
"""
DEADLOCK = """  <b:process id="@"   isExecutable = "true">
    <b:startEvent id="@s" name="Größe"/>
    <b:exclusiveGateway id="@x" name='Größer &gt; 1?' />
    <b:task id="@a" name="A"/><b:task id="@b" name="B"/>
    <b:parallelGateway id="@j"
    />
    <b:endEvent id="@e"/>
    <b:sequenceFlow id="@1" sourceRef="@s" targetRef="@x"/>
    <b:sequenceFlow id="@2" name="ja" sourceRef="@x" targetRef="@a"/>
    <b:sequenceFlow id="@3" name="nein" sourceRef="@x" targetRef="@b"/>
    <b:sequenceFlow id="@4" sourceRef="@a" targetRef="@j"/>
    <b:sequenceFlow id="@5" sourceRef="@b" targetRef="@j"/>
    <b:sequenceFlow id="@6" sourceRef="@j" targetRef="@e"/>
  </b:process>
"""
DOUBLE = """  <b:process id="@">
    <b:startEvent id="@s"/>
    <b:task id="@f" name="Fork"/>
    <b:task id="@a" name="A"/>
    <b:task id="@b" name="B"/>
    <b:task id="@z" name="Z"/>
    <b:task name="Lose"/>
    <b:sequenceFlow id="@1" sourceRef="@s" targetRef="@f"/>
    <b:sequenceFlow id="@2" sourceRef="@f" targetRef="@a"/>
    <b:sequenceFlow id="@3" sourceRef="@f" targetRef="@b"/>
    <b:sequenceFlow id="@4" sourceRef="@a" targetRef="@z"/>
    <b:sequenceFlow id="@5" sourceRef="@b" targetRef="@z"/>
  </b:process>
"""
DRAWN = """  <bpmndi:BPMNDiagram id="D"><bpmndi:BPMNPlane id="P" bpmnElement="r">
    <bpmndi:BPMNShape id="ra_di" bpmnElement="ra"><dc:Bounds x="0" y="0" width="100" height="80"/></bpmndi:BPMNShape>
    <bpmndi:BPMNShape id="rz_di" bpmnElement="rz"><dc:Bounds x="160" y="0" width="100" height="80"/></bpmndi:BPMNShape>
    <bpmndi:BPMNEdge id="r4_di" bpmnElement="r4">
      <di:waypoint x="100" y="40"/>
      <di:waypoint x="160" y="40"/>
    </bpmndi:BPMNEdge>
  </bpmndi:BPMNPlane></bpmndi:BPMNDiagram>
</b:definitions>
"""  # noqa: E501  # as tools write it
TEXT = HEAD + "".join(
    part.replace("@", name) for name, part in (("p", DEADLOCK), ("q", DEADLOCK), ("r", DOUBLE))
) + DRAWN  # fmt: skip
FILES = {
    "utf-8": ("utf-8", "\n"), "utf-8, windows": ("utf-8", "\r\n"),
    "utf-8 with mark": ("utf-8-sig", "\r\n"), "utf-16": ("utf-16", "\r\n"),
    "utf-16, big first": ("utf-16-be", "\n"), "latin": ("iso-8859-1", "\n"),
}  # fmt: skip
GONE = {
    '    <b:parallelGateway id="pj"', '    <b:parallelGateway id="qj"',
    '    <b:task name="Lose"/>',
    '    <b:sequenceFlow id="r4" sourceRef="ra" targetRef="rz"/>',
    '    <b:sequenceFlow id="r5" sourceRef="rb" targetRef="rz"/>',
    '    <bpmndi:BPMNShape id="rz_di" bpmnElement="rz">'
    '<dc:Bounds x="160" y="0" width="100" height="80"/></bpmndi:BPMNShape>',
    '      <di:waypoint x="160" y="40"/>',
}  # fmt: skip
CAME = {
    '    <b:exclusiveGateway id="pj"', '    <b:exclusiveGateway id="qj"',
    '    <b:task name="Lose" id="task_1"/>', '    <b:parallelGateway id="rz_join" />',
    '    <b:sequenceFlow id="r4" sourceRef="ra" targetRef="rz_join"/>',
    '    <b:sequenceFlow id="r5" sourceRef="rb" targetRef="rz_join"/>',
    '    <b:sequenceFlow id="rz_join_flow" sourceRef="rz_join" targetRef="rz" />',
    '    <bpmndi:BPMNShape id="rz_di" bpmnElement="rz">'
    '<dc:Bounds x="200" y="0" width="100" height="80"/></bpmndi:BPMNShape>',
    '      <di:waypoint x="125" y="40"/>',
}  # fmt: skip


def written(encoding: str, line_end: str) -> bytes:
    named = {"utf-8-sig": "utf-8", "utf-16-be": "utf-16"}.get(encoding, encoding)
    data = TEXT.replace("ENCODING", named.upper()).replace("\n", line_end).encode(encoding)
    return codecs.BOM_UTF16_BE + data if encoding == "utf-16-be" else data


@pytest.mark.parametrize("name", FILES)
def test_only_what_is_fixed_changes(name: str, tmp_path: Path) -> None:
    encoding, line_end = FILES[name]
    path = tmp_path / "m.bpmn"
    before = written(encoding, line_end)
    path.write_bytes(before)
    ran = orgflowc("check", "--fix", path)
    assert ran.err.count("fixed: ") == 4
    assert "OF2" not in ran.out
    after = path.read_bytes()
    assert after[:2] == before[:2], "the mark at the beginning stays"
    old, new = (b.decode(encoding).split(line_end) for b in (before, after))
    assert "\n" not in "".join(new), "line ends stay of one kind"
    diff = list(difflib.ndiff(old, new))
    assert {d[2:] for d in diff if d[0] == "-"} == GONE
    came = {d[2:] for d in diff if d[0] == "+"}
    assert came >= CAME
    for line in came - CAME:  # the drawing of what is new
        assert "rz_join" in line or line.strip().split(" ")[0] in (
            "<dc:Bounds", "</bpmndi:BPMNShape>", "<di:waypoint", "</bpmndi:BPMNEdge>",
        ), line  # fmt: skip


def test_an_id_that_the_file_has_elsewhere_is_not_given_twice(tmp_path: Path) -> None:
    path = tmp_path / "m.bpmn"
    path.write_text(
        TEXT.replace("ENCODING", "UTF-8").replace('id="D"', 'id="task_1"'), encoding="utf-8"
    )
    ran = orgflowc("check", "--fix", path)
    assert "the file has an element with the id `task_1` already" in ran.err
    assert path.read_text("utf-8").count('id="task_1"') == 1


def test_an_end_event_becomes_one_that_ends_all(tmp_path: Path) -> None:
    path = tmp_path / "m.bpmn"
    end = '<b:endEvent id="t" name="Abgesagt"/>'
    text = f"""{HEAD.replace("ENCODING", "UTF-8")}  <b:process id="p">
    <b:startEvent id="s"/>
    <b:parallelGateway id="g"/>
    <b:task id="a" name="A"/>
    <b:task id="c" name="C"/>
    <b:exclusiveGateway id="x" name="Ok?"/>
    {end}
    <b:parallelGateway id="j"/>
    <b:endEvent id="e"/>
    <b:sequenceFlow id="f1" sourceRef="s" targetRef="g"/>
    <b:sequenceFlow id="f2" sourceRef="g" targetRef="a"/>
    <b:sequenceFlow id="f3" sourceRef="g" targetRef="c"/>
    <b:sequenceFlow id="f4" sourceRef="a" targetRef="x"/>
    <b:sequenceFlow id="f5" name="no" sourceRef="x" targetRef="t"/>
    <b:sequenceFlow id="f6" name="yes" sourceRef="x" targetRef="j"/>
    <b:sequenceFlow id="f7" sourceRef="c" targetRef="j"/>
    <b:sequenceFlow id="f8" sourceRef="j" targetRef="e"/>
  </b:process>
</b:definitions>
"""
    path.write_text(text, encoding="utf-8")
    assert "1 fix more with --unsafe-fixes" in orgflowc("check", "--fix", path).err
    assert path.read_text("utf-8") == text
    ran = orgflowc("check", "--fix", "--unsafe-fixes", path)
    assert (ran.code, "make `Abgesagt` a terminate end event" in ran.err) == (0, True)
    made = end.replace("/>", ">\n      <b:terminateEventDefinition />\n    </b:endEvent>")
    assert path.read_text("utf-8") == text.replace(end, made)


ASKED = f"""{HEAD.replace("ENCODING", "UTF-8")}  <b:process id="p">
    <b:startEvent id="s"/>
    <b:userTask id="a" name="Ask"/>
    <b:boundaryEvent id="h" name="One hour" attachedToRef="a" cancelActivity="false">
      <b:timerEventDefinition><b:timeDuration>PT1H</b:timeDuration></b:timerEventDefinition>
    </b:boundaryEvent>
    <b:task id="r" name="Remind"/>
    <b:exclusiveGateway id="j"/>
    <b:task id="n" name="On"/>
    <b:endEvent id="e"/>
    <b:sequenceFlow id="f1" sourceRef="s" targetRef="a"/>
    <b:sequenceFlow id="f2" sourceRef="a" targetRef="j"/>
    <b:sequenceFlow id="f3" sourceRef="h" targetRef="r"/>
    <b:sequenceFlow id="f4" sourceRef="r" targetRef="j"/>
    <b:sequenceFlow id="f5" sourceRef="j" targetRef="n"/>
    <b:sequenceFlow id="f6" sourceRef="n" targetRef="e"/>
  </b:process>
</b:definitions>
"""


@pytest.mark.parametrize("target", ["n8n", "asl"])
def test_a_fix_is_one_that_the_target_supports(target: str, tmp_path: Path) -> None:
    """What a fix makes of the model is not refused then; the event on the task still is by a target
    without rows."""
    path = tmp_path / "m.bpmn"
    path.write_text(ASKED, encoding="utf-8")
    ran = orgflowc("check", "--fix", "--unsafe-fixes", "--target", target, path)
    assert ran.err.startswith("fixed: "), ran.err
    left = orgflowc("check", "--target", target, path, "--format", "json").out
    found = json.loads(left)["diagnostics"]
    errors = [one["element"] for one in found if one["severity"] == "error"]
    if target == "n8n":  # rows have the event, but no join that no split belongs to
        assert path.read_text("utf-8") == ASKED.replace(' cancelActivity="false"', "")
        assert errors == []
        return
    assert path.read_text("utf-8") == ASKED.replace("exclusiveGateway", "inclusiveGateway")
    assert errors == ["h"]


def test_fixes_of_elements_apart_are_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is read before and after: not once more for each fix."""
    readings: list[str] = []
    parse = BpmnFrontend.parse

    def counted(self: BpmnFrontend, source: SourceFile, ctx: PassContext) -> Model | None:
        readings.append(source.path)
        return parse(self, source, ctx)

    monkeypatch.setattr(BpmnFrontend, "parse", counted)
    path = tmp_path / "m.bpmn"
    processes = "".join(DEADLOCK.replace("@", f"p{n}") for n in range(12))
    path.write_text(HEAD.replace("ENCODING", "UTF-8") + processes + "</b:definitions>", "utf-8")
    fixer = Fixer(Registry(outside=False), None, unsafe=False, write=True)
    fix_files(fixer, [str(path)])
    assert path.read_text("utf-8").count("<b:parallelGateway") == 0
    assert len(readings) == 2


def test_of_fixes_for_one_element_each_is_seen_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be written at once is written one by one."""
    monkeypatch.setattr(
        "orgflow.frontends.bpmn.frontend.BpmnFrontend.patched", _only_one_edit(BpmnFrontend.patched)
    )
    path = tmp_path / "m.bpmn"
    processes = "".join(DEADLOCK.replace("@", f"p{n}") for n in range(3))
    path.write_text(HEAD.replace("ENCODING", "UTF-8") + processes + "</b:definitions>", "utf-8")
    fix_files(Fixer(Registry(outside=False), None, unsafe=False, write=True), [str(path)])
    assert path.read_text("utf-8").count("<b:parallelGateway") == 0


def _only_one_edit(patched: Callable[..., bytes]) -> Callable[..., bytes]:
    def picky(self: BpmnFrontend, source: SourceFile, model: Model, fix: Fix) -> bytes:
        if len(fix.edits) > 1:
            raise FixError("two changes of the fix overlap")
        return patched(self, source, model, fix)

    return picky
