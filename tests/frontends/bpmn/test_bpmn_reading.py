"""What BPMN says arrives in the IR: every kind of element, and what tools add to them."""

from __future__ import annotations

from typing import Any

import pytest
from bpmn_text import by_id, definitions, model_of, process
from bpmn_trips import read, written
from orgflow.frontends.bpmn.frontend import BpmnFrontend
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN

from orgflow_ir.model import (
    Artifact,
    CallActivity,
    DataFlow,
    DataObject,
    Event,
    Expression,
    Flow,
    Gateway,
    Lane,
    Loop,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import Script, Worker
from orgflow_ir.model.source import SourceFile


def only(content: str, root: str = "") -> Any:
    """The element `x` of a process with `content`."""
    return by_id(model_of(definitions(f'<process id="p">{content}</process>{root}')))["x"]


# -- flow nodes ------------------------------------------------------------------------------

CONSTRUCTS = [
    ('<task id="x"/>', "task.abstract"),
    ('<userTask id="x"/>', "task.user"),
    ('<manualTask id="x"/>', "task.manual"),
    ('<serviceTask id="x"/>', "task.service"),
    ('<scriptTask id="x"/>', "task.script"),
    ('<sendTask id="x"/>', "task.send"),
    ('<receiveTask id="x"/>', "task.receive"),
    ('<businessRuleTask id="x"/>', "task.business-rule"),
    ('<callActivity id="x"/>', "call-activity"),
    ('<subProcess id="x"/>', "sub-process.plain"),
    ('<subProcess id="x" triggeredByEvent="true"/>', "sub-process.event"),
    ('<transaction id="x"/>', "sub-process.transaction"),
    ('<adHocSubProcess id="x"/>', "sub-process.ad-hoc"),
    ('<exclusiveGateway id="x"/>', "gateway.exclusive"),
    ('<inclusiveGateway id="x"/>', "gateway.inclusive"),
    ('<parallelGateway id="x"/>', "gateway.parallel"),
    ('<eventBasedGateway id="x"/>', "gateway.event"),
    ('<complexGateway id="x"/>', "gateway.complex"),
    ('<startEvent id="x"/>', "event.start.none"),
    ('<endEvent id="x"/>', "event.end.none"),
    ('<intermediateThrowEvent id="x"/>', "event.throw.none"),
    ('<startEvent id="x" isInterrupting="false"><timerEventDefinition/></startEvent>',
     "event.start.timer.non-interrupting"),
    ('<endEvent id="x"><terminateEventDefinition/></endEvent>', "event.end.terminate"),
    ('<endEvent id="x"><cancelEventDefinition/></endEvent>', "event.end.cancel"),
    ('<intermediateCatchEvent id="x"><linkEventDefinition name="A"/></intermediateCatchEvent>',
     "event.catch.link"),
    ('<task id="t"/><boundaryEvent id="x" attachedToRef="t" cancelActivity="0">'
     "<messageEventDefinition/></boundaryEvent>", "event.boundary.message.non-interrupting"),
    ('<startEvent id="x"><messageEventDefinition/><signalEventDefinition/></startEvent>',
     "event.start.multiple"),
    ('<startEvent id="x" parallelMultiple=" true "><messageEventDefinition/>'
     "<signalEventDefinition/></startEvent>", "event.start.parallel-multiple"),
    ('<sequenceFlow id="x" sourceRef="" targetRef=""/>', "flow.sequence"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "construct"), CONSTRUCTS, ids=[c for _, c in CONSTRUCTS])
def test_constructs(content: str, construct: str) -> None:
    assert only(content).construct == construct


def test_names_and_documentation() -> None:
    x: Task = only('<task id="x" name=" Pick&#10;goods "><documentation> why </documentation>'
                   '<documentation textFormat="text/html">more</documentation></task>')  # fmt: skip
    assert (x.name, x.label, x.doc) == (" Pick\ngoods ", "Pick goods", "why")
    assert [key for key, _ in x.extra] == [f"{{{BPMN}}}documentation"]
    assert "text/html" in x.extra[0][1]


def test_a_documentation_with_markup_is_text_and_kept() -> None:
    x: Task = only('<task id="x"><documentation><h:p xmlns:h="urn:h">Pick <h:b>now</h:b></h:p>'
                   "</documentation></task>")  # fmt: skip
    assert x.doc == "Pick\nnow"
    assert "<h:b>now</h:b>" in x.extra[0][1]


ROOT = (
    '<interface id="i" name="I"><operation id="op" name="Op"><inMessageRef>m</inMessageRef>'
    '</operation></interface><message id="m" name="Order" itemRef="item"/>'
    '<itemDefinition id="item"/>'
)


def test_bindings() -> None:
    def binding(content: str) -> Any:
        task: Task = only(content, ROOT)
        return task.binding

    script = "<script> a &lt; 1 </script>"
    assert binding(f'<scriptTask id="x" scriptFormat="js">{script}</scriptTask>') == Script(
        language="js", code=" a < 1 "
    )
    assert binding(
        '<serviceTask id="x" operationRef="op" implementation="##WebService"/>'
    ) == Worker(by="operation", target="op", parameters=(("implementation", "##WebService"),))
    assert binding('<userTask id="x" implementation="http://f"/>') == Worker(
        by="implementation", target="http://f"
    )
    assert binding('<serviceTask id="x"/>') is None
    assert binding('<scriptTask id="x"/>') is None


def test_messages_of_tasks() -> None:
    x: Task = only('<receiveTask id="x" messageRef=" m " instantiate="true"/>', ROOT)
    assert (x.message, x.instantiate) == ("m", True)
    x = only('<sendTask id="x" messageRef="m"/>', ROOT)
    assert x.message == "m"


def test_loops() -> None:
    def loop(content: str) -> Loop:
        found: Loop = only(f'<task id="x">{content}</task>').loop
        return found

    assert loop('<standardLoopCharacteristics testBefore="true" loopMaximum="3"><loopCondition> a '
                "</loopCondition></standardLoopCharacteristics>") == Loop(
        kind="standard", condition=Expression(text="a"), test_before=True, maximum=3,
    )  # fmt: skip
    multiple = loop(
        '<multiInstanceLoopCharacteristics isSequential="true" v:list="l"><loopCardinality>3'
        "</loopCardinality><loopDataInputRef>x</loopDataInputRef><inputDataItem id='i' name='n'/>"
        "<completionCondition>c</completionCondition></multiInstanceLoopCharacteristics>"
    )
    assert multiple.construct == "loop.multi-instance.sequential"
    assert (multiple.cardinality, multiple.collection, multiple.item, multiple.until) == (
        Expression(text="3"), "x", "n", Expression(text="c"),
    )  # fmt: skip
    assert multiple.extra[0] == ("@{urn:v}list", "l")


def test_activities() -> None:
    x: CallActivity = only(
        '<callActivity id="x" calledElement="t:other" isForCompensation="true"/>'
    )
    assert (x.called, x.for_compensation) == ("t:other", True)
    y: SubProcess = only(
        '<adHocSubProcess id="x" ordering="Sequential" cancelRemainingInstances="false">'
        "<completionCondition>c</completionCondition></adHocSubProcess>"
    )
    assert (y.sequential, y.cancel_remaining, y.completion) == (True, False, Expression(text="c"))
    z: Task = only('<task id="x" startQuantity="2"/>')
    assert z.extra == ((f"@{{{BPMN}}}startQuantity", "2"),)


def test_gateways() -> None:
    x: Gateway = only('<eventBasedGateway id="x" instantiate="true" eventGatewayType="Parallel" '
                      'gatewayDirection="Diverging"/>')  # fmt: skip
    assert (x.instantiate, x.await_all) == (True, True)
    assert x.extra == ((f"@{{{BPMN}}}gatewayDirection", "Diverging"),)
    x = only('<complexGateway id="x"><activationCondition language="feel">n > 1'
             "</activationCondition></complexGateway>")  # fmt: skip
    assert x.condition == Expression(text="n > 1", language="feel")


# -- events ----------------------------------------------------------------------------------

CATALOG = (
    '<message id="m"/><signal id="s"/><error id="e" errorCode="E1" structureRef="item"/>'
    '<escalation id="c" name="Up" escalationCode="C1"/><itemDefinition id="item"/>'
)


@pytest.mark.parametrize(
    ("tag", "kind", "ref"),
    [
        ('messageEventDefinition messageRef="m"', "message", "m"),
        ('signalEventDefinition signalRef="t:s"', "signal", "s"),
        ('errorEventDefinition errorRef="e"', "error", "e"),
        ('escalationEventDefinition escalationRef="\n c "', "escalation", "c"),
    ],
)
def test_events_refer_to_the_catalogue(tag: str, kind: str, ref: str) -> None:
    text = definitions(
        f'<process id="p"><startEvent id="x"><{tag}/></startEvent></process>{CATALOG}',
        ' xmlns:t="urn:t"',
    )
    event = by_id(model_of(text))["x"]
    assert isinstance(event, Event)
    assert [(d.kind, d.ref) for d in event.definitions] == [(kind, ref)]


def test_the_catalogue() -> None:
    model = model_of(definitions(f'<process id="p"/>{CATALOG}'))
    catalog = model.catalog
    assert [e.id for e in catalog.messages] == ["m"]
    assert [e.id for e in catalog.signals] == ["s"]
    assert [(e.id, e.code, e.structure) for e in catalog.errors] == [("e", "E1", "item")]
    assert [(e.id, e.name, e.code) for e in catalog.escalations] == [("c", "Up", "C1")]
    assert [(o.id, o.tag, o.harmless) for o in model.opaque] == [
        ("item", f"{{{BPMN}}}itemDefinition", True)
    ]


def test_timers_and_conditions() -> None:
    for tag, timer in (("timeDate", "date"), ("timeDuration", "duration"), ("timeCycle", "cycle")):
        event: Event = only(
            f'<startEvent id="x"><timerEventDefinition id="d"><{tag} xsi:type="tFormalExpression">'
            f" PT1H </{tag}></timerEventDefinition></startEvent>"
        )
        (definition,) = event.definitions
        assert (definition.id, definition.timer) == ("d", timer)
        assert definition.expression == Expression(text="PT1H")
    event = only('<startEvent id="x"><conditionalEventDefinition><condition language="js">a'
                 "</condition></conditionalEventDefinition></startEvent>")  # fmt: skip
    assert event.definitions[0].expression == Expression(text="a", language="js")


def test_compensation_and_links() -> None:
    event: Event = only(
        '<task id="t"/><endEvent id="x"><compensateEventDefinition activityRef="t" '
        'waitForCompletion="false"/></endEvent>'
    )
    (definition,) = event.definitions
    assert (definition.ref, definition.wait_for_completion) == ("t", False)
    event = only('<intermediateThrowEvent id="x"><linkEventDefinition name="A"><target>y</target>'
                 "</linkEventDefinition></intermediateThrowEvent>")  # fmt: skip
    assert event.definitions[0].name == "A"
    assert event.definitions[0].extra[0][0] == f"{{{BPMN}}}target"


def test_definitions_by_reference_come_in_the_order_of_the_file() -> None:
    root = ('<signalEventDefinition id="r1" signalRef="s"/><signal id="s"/>'
            '<timerEventDefinition id="r2"/>')  # fmt: skip
    text = definitions(
        '<process id="p"><startEvent id="x"><eventDefinitionRef>r1</eventDefinitionRef>'
        "<messageEventDefinition/></startEvent></process>" + root
    )
    model = model_of(text)
    event = by_id(model)["x"]
    assert isinstance(event, Event)
    assert [(d.kind, d.id, d.ref) for d in event.definitions] == [
        ("signal", "r1", "s"), ("message", None, None),
    ]  # fmt: skip
    assert [key for key, _ in model.extra if "Definition" in key] == [
        f"{{{BPMN}}}timerEventDefinition"
    ], "the one that is not used is kept"


# -- flows -----------------------------------------------------------------------------------


def flow(inner: str, attributes: str = "", root_attributes: str = "") -> Flow:
    text = definitions(
        '<process id="p"><task id="a"/><task id="b"/><sequenceFlow id="x" name="ok" '
        f'sourceRef=" a " targetRef="b"{attributes}>{inner}</sequenceFlow></process>',
        root_attributes,
    )
    found = by_id(model_of(text))["x"]
    assert isinstance(found, Flow)
    return found


def test_conditions() -> None:
    assert flow("").condition is None
    assert (flow("").source, flow("").target, flow("").name) == ("a", "b", "ok")
    full = flow('<conditionExpression xsi:type="tFormalExpression" language="feel">'
                "<![CDATA[ a > 1 ]]></conditionExpression>")  # fmt: skip
    assert full.condition == Expression(text="a > 1", language="feel")
    plain = "<conditionExpression>a</conditionExpression>"
    assert flow(plain).condition == Expression(text="a")
    assert flow(plain, root_attributes=' expressionLanguage="urn:l"').condition == Expression(
        text="a", language="urn:l"
    )


def test_an_empty_condition_is_none_but_kept() -> None:
    empty = flow('<conditionExpression id="c"/>')
    assert empty.condition is None
    assert [key for key, _ in empty.extra] == [f"{{{BPMN}}}conditionExpression"]
    script = flow('<conditionExpression v:resource="c.js"/>')
    assert script.condition == Expression(text="", extra=(("@{urn:v}resource", "c.js"),))


def test_an_empty_condition_counts_beside_the_default_of_an_activity() -> None:
    """There the flow is a choice of which only the label is known, not one always taken."""
    model = model_of(process(
        '<task id="a" default="f2"/><exclusiveGateway id="g" default="f4"/><endEvent id="e"/>'
        '<sequenceFlow id="f1" name="big" sourceRef="a" targetRef="g">'
        '<conditionExpression id="c"/></sequenceFlow>'
        '<sequenceFlow id="f2" sourceRef="a" targetRef="g"/>'
        '<sequenceFlow id="f3" sourceRef="g" targetRef="e"><conditionExpression/></sequenceFlow>'
        '<sequenceFlow id="f4" sourceRef="g" targetRef="e"/>'
    ))  # fmt: skip
    conditions = {f.id: f.condition for p in model.processes for f in p.flows}
    kept = Expression(text="", extra=((f"@{{{BPMN}}}id", "c"),))
    assert conditions == {"f1": kept, "f2": None, "f3": None, "f4": None}
    again, _ = read(written(model))
    assert again == model


def test_default_flows() -> None:
    model = model_of(process(
        '<exclusiveGateway id="g" default="f2"/><task id="a" default=" f3 "/>'
        '<sequenceFlow id="f1" sourceRef="g" targetRef="a"/>'
        '<sequenceFlow id="f2" sourceRef="g" targetRef="a"/>'
        '<sequenceFlow id="f3" sourceRef="a" targetRef="g"/>'
    ))  # fmt: skip
    (p,) = model.processes
    assert {f.id: f.default for f in p.flows} == {"f1": False, "f2": True, "f3": True}
    assert [n.extra for n in p.nodes] == [(), ()]


def test_flows_keep_the_order_of_the_file() -> None:
    model = model_of(process(
        '<sequenceFlow id="f9" sourceRef="a" targetRef="a"/><task id="a"/>'
        '<sequenceFlow id="f1" sourceRef="a" targetRef="a"/>'
    ))  # fmt: skip
    assert [f.id for f in model.processes[0].flows] == ["f9", "f1"]


# -- scopes, lanes, data ---------------------------------------------------------------------


def test_processes() -> None:
    model = model_of(definitions(
        '<process id="a" isExecutable="true" name="A"/><process id="b" isExecutable="false" '
        'processType="Private"/><process id="c"/>'
    ))  # fmt: skip
    assert [(p.id, p.name, p.executable) for p in model.processes] == [
        ("a", "A", True), ("b", "", False), ("c", "", None),
    ]  # fmt: skip
    assert model.processes[1].extra == ((f"@{{{BPMN}}}processType", "Private"),)


def test_sub_processes_nest() -> None:
    model = model_of(process(
        '<subProcess id="s1"><task id="a"/><transaction id="s2"><task id="b"/>'
        '<sequenceFlow id="f" sourceRef="b" targetRef="b"/></transaction></subProcess>'
        '<task id="c"/>'
    ))  # fmt: skip
    assert [(s.id, [n.id for n in s.nodes], [f.id for f in s.flows]) for s in model.scopes()] == [
        ("p", ["s1", "c"], []), ("s1", ["a", "s2"], []), ("s2", ["b"], ["f"]),
    ]  # fmt: skip


def test_lanes_nest() -> None:
    model = model_of(process(
        '<laneSet id="ls"><lane id="l1" name="Sales" partitionElementRef="r"><flowNodeRef> a '
        '</flowNodeRef><childLaneSet id="cs"><lane id="l2"><flowNodeRef>b</flowNodeRef></lane>'
        '</childLaneSet></lane><lane id="l3"/></laneSet><task id="a"/><task id="b"/>'
    ))  # fmt: skip
    assert model.processes[0].lanes == (
        Lane(id="l1", name="Sales", members=("a",), performer="r", lane_set="ls"),
        Lane(id="l3", lane_set="ls"),
        Lane(id="l2", members=("b",), parent="l1", lane_set="cs"),
    )


def test_data() -> None:
    model = model_of(definitions(
        '<process id="p"><ioSpecification><dataInput id="in" name="I" isCollection="true"/>'
        "<inputSet/><outputSet/></ioSpecification>"
        '<dataObject id="o" isCollection="true" itemSubjectRef="item"/>'
        '<dataObjectReference id="r" name="Order" dataObjectRef="o"><dataState name="open"/>'
        '</dataObjectReference><dataStoreReference id="sr" dataStoreRef="ds"/>'
        '<task id="t"><ioSpecification><dataInput id="ti"/><inputSet/><outputSet/>'
        '</ioSpecification><dataInputAssociation id="da"><sourceRef>r</sourceRef>'
        "<targetRef>ti</targetRef><assignment><from>a</from><to>b</to></assignment>"
        '</dataInputAssociation><dataOutputAssociation id="db"><sourceRef>to</sourceRef>'
        "<targetRef>sr</targetRef><transformation>f(x)</transformation></dataOutputAssociation>"
        '</task></process><dataStore id="ds" name="DB"/><itemDefinition id="item"/>'
    ))  # fmt: skip
    (p,) = model.processes
    assert p.data_objects == (
        DataObject(id="in", name="I", data_kind="input", collection=True),
        DataObject(id="o", data_kind="object", collection=True, type="item"),
        DataObject(id="r", name="Order", data_kind="reference", ref="o", state="open"),
        DataObject(id="sr", data_kind="store-reference", ref="ds"),
    )
    one, two = p.data_flows
    assert (one.id, one.source, one.target, one.mapping) == ("da", "r", "t", (("a", "b"),))
    assert (two.source, two.target) == ("t", "sr")
    assert two.transformation == Expression(text="f(x)")
    assert isinstance(one, DataFlow)
    assert [key for key, _ in one.extra] == [f"{{{BPMN}}}targetRef"]
    assert p.nodes[0].extra[0][0] == f"{{{BPMN}}}ioSpecification"


def test_artifacts() -> None:
    model = model_of(definitions(
        '<process id="p"><task id="t"/><textAnnotation id="n"><text> remember </text>'
        '</textAnnotation><group id="g" categoryValueRef="cv"/><association id="as" '
        'sourceRef="t" targetRef="n" associationDirection="One"/></process>'
        '<category id="c"><categoryValue id="cv" value="Phase 1"/></category>'
    ))  # fmt: skip
    note, group, link = model.processes[0].artifacts
    assert note == Artifact(id="n", artifact_kind="annotation", text="remember")
    assert (group.artifact_kind, group.text) == ("group", "Phase 1")
    assert (link.source, link.target, link.direction) == ("t", "n", "one")


# -- collaborations --------------------------------------------------------------------------


def test_collaborations() -> None:
    model = model_of(definitions(
        '<collaboration id="co" name="C"><participant id="a" name="A" processRef="p">'
        '<participantMultiplicity minimum="2" maximum="5"/></participant>'
        '<participant id="b"/><messageFlow id="mf" name="n" sourceRef="b" targetRef="s" '
        'messageRef="m"/><textAnnotation id="note"/><conversation id="talk"/>'
        '<correlationKey id="k" name="K"><correlationPropertyRef>cp</correlationPropertyRef>'
        '</correlationKey></collaboration><process id="p"><startEvent id="s"/></process>'
        '<message id="m"/><correlationProperty id="cp"/>'
    ))  # fmt: skip
    assert [(p.id, p.process, p.multiplicity) for p in model.pools] == [
        ("a", "p", (2, 5)), ("b", None, None),
    ]  # fmt: skip
    assert [(m.source, m.target, m.message, m.name) for m in model.message_flows] == [
        ("b", "s", "m", "n")
    ]
    assert [(k.id, k.name, k.properties) for k in model.correlation_keys] == [("k", "K", ("cp",))]
    assert [a.id for a in model.artifacts] == ["note"]
    shell = dict(model.extra)[f"{{{BPMN}}}collaboration"]
    assert 'id="co"' in shell
    assert '<conversation id="talk"/>' in shell
    assert "participant" not in shell


def test_root_elements() -> None:
    model = model_of(definitions(
        '<import namespace="n" location="l" importType="t"/><process id="p"/>'
        '<choreography id="ch"><choreographyTask id="ct"/></choreography>'
        '<globalUserTask id="gt" name="G"/><relationship type="r"><source>p</source>'
        "<target>q</target></relationship>", ' id="D" name="N" exporter="E" v:x="1"',
    ))  # fmt: skip
    assert (model.id, model.name, model.source) == ("D", "N", "m.bpmn")
    assert [(o.id, o.harmless) for o in model.opaque] == [("ch", False), ("gt", True)]
    extra = dict(model.extra)
    assert extra["@{http://www.w3.org/2000/xmlns/}v"] == "urn:v"
    assert extra["@{http://www.w3.org/2000/xmlns/}xmlns"] == BPMN
    assert extra[f"@{{{BPMN}}}targetNamespace"] == "urn:t"
    assert extra[f"@{{{BPMN}}}exporter"] == "E"
    assert extra["@{urn:v}x"] == "1"
    assert "location" in extra[f"{{{BPMN}}}import"]
    assert "source" in extra[f"{{{BPMN}}}relationship"]


def test_what_tools_add_is_kept_verbatim() -> None:
    inner = "<v:form v:k=\"1\"  key='a'>\r\n <v:f/> <!-- c --> x &lt; y</v:form>"
    x: Task = only(f'<userTask id="x" v:who="me"><extensionElements>{inner}<w:z xmlns:w="urn:w"/>'
                   "</extensionElements></userTask>")  # fmt: skip
    kept = inner.replace("\r\n", "\n").replace("<v:form", '<v:form xmlns:v="urn:v"')
    assert x.extra == (
        ("@{urn:v}who", "me"), ("{urn:v}form", kept), ("{urn:w}z", '<w:z xmlns:w="urn:w"/>'),
    )  # fmt: skip


def test_sniffing() -> None:
    frontend = BpmnFrontend()
    text = process("")
    for data in (text.encode(), text.encode("utf-16"), text.encode("utf-16-le")):
        assert frontend.sniff(SourceFile("x.xml", data))
    assert frontend.sniff(SourceFile("x.bpmn", b"{}"))
    assert frontend.sniff(SourceFile("x.BPMN20.xml", b""))
    assert not frontend.sniff(SourceFile("x.xml", b"<order/>"))
    assert not frontend.sniff(SourceFile("x.json", b"{}"))
