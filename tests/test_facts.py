"""Nothing a model says is dropped: each attribute that the BPMN frontend reads is looked for in
what two targets emit, in the messages, and in the report."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from orgflow.commands.report import render_markdown
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.facts import keep
from orgflow_ir.model import Artifact, Event, Model, Process, Task
from orgflow_ir.model.bindings import _ENGINE_NAMES, ENGINES
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

REGISTRY = Registry(outside=False)
TARGETS = ("n8n", "asl")
BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
TASKS = ("userTask", "serviceTask", "scriptTask", "businessRuleTask", "sendTask", "task")


def compiled(xml: str, target: str, **options: str) -> tuple[str, list[Diagnostic], str]:
    """What was emitted, what was reported, and the report."""
    ctx = PassContext(registry=REGISTRY, options=options)
    model = load_model(SourceFile("said.bpmn", xml.encode()), REGISTRY, ctx)
    assert model is not None
    made = compile_model(model, REGISTRY.backends[target], ctx)
    assert made is not None, [d.message for d in ctx.diagnostics if d.severity == "error"]
    text = "\n".join(a.text for a in made.artifacts)
    return text, ctx.diagnostics, render_markdown("said.bpmn", target, [model], (), ctx.diagnostics)


def process(inside: str, around: str = "", namespace: str = "urn:none") -> str:
    return (
        f'<definitions xmlns="{BPMN}" xmlns:v="{namespace}"><process id="p" name="P">'
        f'<startEvent id="s"/>{inside}<endEvent id="e"/>'
        '<sequenceFlow id="f1" sourceRef="s" targetRef="t"/>'
        f'<sequenceFlow id="f2" sourceRef="t" targetRef="e"/></process>{around}</definitions>'
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("vendor", ENGINES)
def test_every_attribute_of_every_vendor(vendor: str, kind: str, target: str) -> None:
    """One attribute a task, so that none hides behind another."""
    names = sorted(_ENGINE_NAMES)
    tasks = "".join(f'<{kind} id="t{n}" name="T" v:{a}="mark-{a}x"/>' for n, a in enumerate(names))
    ids = ["s", *(f"t{n}" for n in range(len(names))), "e"]
    flows = "".join(
        f'<sequenceFlow id="f{n}" sourceRef="{one}" targetRef="{other}"/>'
        for n, (one, other) in enumerate(pairwise(ids))
    )
    xml = (
        f'<definitions xmlns="{BPMN}" xmlns:v="{vendor}"><process id="p" name="P">'
        f'<startEvent id="s"/>{tasks}<endEvent id="e"/>{flows}</process></definitions>'
    )
    text, found, report = compiled(xml, target)
    seen = text + "".join(d.message for d in found)
    assert [name for name in names if f"mark-{name}x" not in seen] == []
    assert [name for name in names if f"mark-{name}x" not in report] == []


ELEMENTS = {
    "http://camunda.org/schema/1.0/bpmn": """
        <v:inputOutput><v:inputParameter name="m1">m2</v:inputParameter>
          <v:outputParameter name="m3"><v:script scriptFormat="m4">m5</v:script></v:outputParameter>
        </v:inputOutput>
        <v:properties><v:property name="m6" value="m7"/></v:properties>
        <v:failedJobRetryTimeCycle>m8</v:failedJobRetryTimeCycle>
        <v:executionListener class="m9" event="m10"/><v:field name="m11" stringValue="m12"/>
        <v:formData><v:formField id="m13" label="m14" type="m15"/></v:formData>""",
    "http://flowable.org/bpmn": """
        <v:field name="m1"><v:string>m2</v:string></v:field>
        <v:formProperty id="m3" name="m4" type="m5"/>
        <v:executionListener expression="m6" event="m7"/>
        """,
    "http://activiti.org/bpmn": """
        <v:field name="m1"><v:expression>m2</v:expression></v:field>
        <v:taskListener delegateExpression="m3" event="m4"/>""",
    "http://camunda.org/schema/zeebe/1.0": """
        <v:taskDefinition type="m1" retries="m2"/><v:taskHeaders><v:header key="m3" value="m4"/>
        </v:taskHeaders><v:ioMapping><v:input source="=m5" target="m6"/>
        <v:output source="=m7" target="m8"/></v:ioMapping>
        <v:properties><v:property name="m9" value="m10"/></v:properties>
        <v:assignmentDefinition assignee="m11" candidateGroups="m12"/>
        <v:taskSchedule dueDate="m13"/><v:formDefinition formId="m14"/>""",
    "http://www.jboss.org/drools": """
        <v:metaData name="m1"><v:metaValue>m2</v:metaValue></v:metaData>
        <v:onEntry-script scriptFormat="m3"><v:script>m4</v:script></v:onEntry-script>""",
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["userTask", "serviceTask", "scriptTask", "businessRuleTask"])
@pytest.mark.parametrize("vendor", ELEMENTS)
def test_every_element_of_a_vendor(vendor: str, kind: str, target: str) -> None:
    inside = re.sub(r"\bm(\d+)\b", r"mark\1x", ELEMENTS[vendor])
    wanted = set(re.findall(r"mark\d+x", inside))
    task = f'<{kind} id="t" name="T"><extensionElements>{inside}</extensionElements></{kind}>'
    text, found, report = compiled(process(task, namespace=vendor), target)
    seen = text + "".join(d.message for d in found)
    assert sorted(mark for mark in wanted if mark not in seen) == []
    assert sorted(mark for mark in wanted if mark not in report) == []


PLAIN = f"""<definitions xmlns="{BPMN}">
<message id="me" name="m1"/><message id="mo" name="m2"/><itemDefinition id="it"/>
<process id="p" name="P"><documentation>m3</documentation>
 <laneSet id="ls"><lane id="l" name="m4"><documentation>m5</documentation>
  <flowNodeRef>t</flowNodeRef></lane></laneSet>
 <startEvent id="s" name="m6"><documentation>m7</documentation>
  <messageEventDefinition messageRef="me"/></startEvent>
 <sendTask id="t" name="m8" messageRef="mo" implementation="m9"><documentation>m10</documentation>
  <dataOutputAssociation id="do"><targetRef>dr</targetRef></dataOutputAssociation></sendTask>
 <scriptTask id="sc" name="m11" scriptFormat="m12"><script>m13</script></scriptTask>
 <exclusiveGateway id="g" name="m14"><documentation>m15</documentation></exclusiveGateway>
 <userTask id="u" name="m16">
  <potentialOwner><resourceAssignmentExpression><formalExpression>m17</formalExpression>
  </resourceAssignmentExpression></potentialOwner></userTask>
 <intermediateCatchEvent id="c" name="m18"><conditionalEventDefinition>
  <condition>m19</condition></conditionalEventDefinition></intermediateCatchEvent>
 <endEvent id="e" name="m20"/>
 <dataObject id="d"/><dataObjectReference id="dr" dataObjectRef="d" name="m21">
  <documentation>m22</documentation><dataState name="m23"/></dataObjectReference>
 <dataObjectReference id="free" name="m24"/><dataStoreReference id="st" name="m25"/>
 <textAnnotation id="ta"><text>m26</text></textAnnotation>
 <textAnnotation id="tb"><text>m27</text></textAnnotation>
 <textAnnotation id="tc"><text>m28</text></textAnnotation>
 <association id="as" sourceRef="t" targetRef="ta"/>
 <association id="at" sourceRef="f4" targetRef="tc"/>
 <sequenceFlow id="f1" sourceRef="s" targetRef="t"/>
 <sequenceFlow id="f2" sourceRef="t" targetRef="sc"/>
 <sequenceFlow id="f3" sourceRef="sc" targetRef="g"/>
 <sequenceFlow id="f4" name="m29" sourceRef="g" targetRef="u"><documentation>m30</documentation>
 </sequenceFlow>
 <sequenceFlow id="f5" name="m31" sourceRef="g" targetRef="c"/>
 <sequenceFlow id="f6" sourceRef="u" targetRef="e"/>
 <sequenceFlow id="f7" sourceRef="c" targetRef="e"/>
</process>
<collaboration id="co"><participant id="pp" name="m32" processRef="p"/>
 <participant id="box" name="m33"/><messageFlow id="mf" name="m34" sourceRef="box" targetRef="s"/>
</collaboration></definitions>"""


@pytest.mark.parametrize("target", TARGETS)
def test_every_word_of_bpmn_itself(target: str) -> None:
    xml = re.sub(r"\bm(\d+)\b", r"mark\1x", PLAIN)
    wanted = set(re.findall(r"mark\d+x", xml))
    text, found, _ = compiled(xml, target)
    seen = text + "".join(d.message for d in found)
    assert sorted(mark for mark in wanted if mark not in seen) == []


def test_a_diagnostic_a_kind(shared: Path) -> None:
    xml = (shared / "data" / "outside-look" / "bpmn" / "silent.bpmn").read_text()
    text, found, report = compiled(xml, "n8n")
    for said in ("mary", "P2D", "x.Y", "rating", "Use form 17b.", "Law says 14 days",
                 "Invoice"):  # fmt: skip
        assert said in text
    for said in ("mary", "P2D", "x.Y", "rating", "Law says 14 days", "Invoice"):
        assert said in report
    kept = [d.message.partition(" of ")[0] for d in found if d.code == "OF408"]
    assert kept == ["the annotations", "the data"]
    assert {d.element for d in found if d.code == "OF404"} == {"t", "r"}
    assert not any(d.code == "OF501" for d in found), "nothing is left open"


def test_what_says_nothing_beside_its_flow_stays_as_it_is() -> None:
    text, found, report = compiled(process('<task id="t" name="T"/>'), "n8n")
    assert "From the model" not in text
    assert not any(d.code == "OF408" for d in found)
    assert "From the model" not in report


def test_long_texts_are_cut_in_notes_and_whole_in_the_report() -> None:
    long = "word " * 300 + "theend"
    many = "".join(
        f'<textAnnotation id="a{n}"><text>note {n}</text></textAnnotation>'
        f'<association id="l{n}" sourceRef="t" targetRef="a{n}"/>'
        for n in range(30)
    )
    task = f'<task id="t" name="T" v:class="{long}"/>'
    xml = process(task, namespace="http://flowable.org/bpmn").replace(
        "</process>", many + "</process>"
    )
    text, found, report = compiled(xml, "n8n", stubs="placeholder")
    (note,) = (n["notes"] for n in json.loads(text)["nodes"] if n["name"] == "T")
    assert len(note) < 2_000
    assert " …\n" in note
    assert "theend" not in text
    assert "- … and 11 more" in note
    assert "theend" in report
    assert "note 29" in report
    (kept,) = (d for d in found if d.code == "OF408")
    assert kept.help is not None
    assert "--report" in kept.help


def test_what_is_said_of_a_removed_element_is_said_of_the_process() -> None:
    task = Task(id="t", name="Leave", doc="Page 2")
    note = Artifact(id="n", artifact_kind="annotation", text="Ask first")
    line = Artifact(id="l", artifact_kind="association", source="n", target="t")
    whole = Process(id="p", name="P", nodes=(task, Event(id="e", position="end")))
    whole = whole.replace(artifacts=(note, line))
    source = Model(id="m", processes=(whole,))
    left = source.replace(processes=(whole.replace(nodes=whole.nodes[1:]),))
    kept = keep(left, "notes", PassContext(registry=REGISTRY, source=source))
    lines = kept.processes[0].doc.splitlines()
    assert "- Leave, annotation: Ask first" in lines
    assert "- documentation of Leave: Page 2" in lines


def test_what_a_tools_editor_wrote_is_no_fact() -> None:
    signavio = """<extensionElements><v:signavioMetaData metaKey="bgcolor" metaValue="#ffffcc"/>
 <v:signavioMetaData metaKey="userstory" metaValue="[]"/>
 <v:signavioMetaData metaKey="responsible" metaValue="Head of finance"/></extensionElements>"""
    text, found, _ = compiled(
        process(f'<task id="t" name="T">{signavio}</task>', namespace="http://www.signavio.com"),
        "n8n",
    )
    assert "responsible: Head of finance" in text
    assert "ffffcc" not in text
    assert "userstory" not in text
    assert [d.message.partition(" of `")[0] for d in found if d.code == "OF408"] == [
        "the data of other tools"
    ]


def test_a_value_without_a_name_of_its_own_is_a_fact() -> None:
    message = '<v:message><v:field field="Student_id"/></v:message>'
    inside = f"<extensionElements>{message}</extensionElements>"
    xml = process(f'<task id="t" name="T">{inside}</task>', namespace="http://mida.org/schema")
    text, _, _ = compiled(xml, "n8n")
    assert "- message: field: Student_id" in text


def test_a_performer_named_by_a_resource_is_an_assignment() -> None:
    task = """<userTask id="t" name="T"><potentialOwner id="po" name="Owner 1">
 <resourceRef>r</resourceRef></potentialOwner></userTask>"""
    xml = process(task, around='<resource id="r" name="Hiring manager"/>')
    text, found, _ = compiled(xml, "n8n")
    assert "- candidate groups: Hiring manager" in text
    assert "Owner 1" not in text
    assert not any(d.code == "OF501" for d in found)


@pytest.mark.parametrize("word", ["##unspecified", "##WebService", "WebService"])
def test_a_technology_is_no_implementation(word: str) -> None:
    _, found, _ = compiled(
        process(f'<serviceTask id="t" name="T" implementation="{word}"/>'), "n8n"
    )
    assert [d.code for d in found if d.code in ("OF404", "OF501")] == ["OF501"]
