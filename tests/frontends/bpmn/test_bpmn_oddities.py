"""Files that are BPMN but not as they should be: a model all the same, and a word about it."""

from __future__ import annotations

import pytest
from bpmn_text import by_id, definitions, model_of, odd, parse, process
from orgflow.frontends.bpmn.frontend import BpmnFrontend
from orgflow.frontends.bpmn.patch.patch import apply_patch
from orgflow.frontends.bpmn.scope import MAX_NESTED
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN

from orgflow_ir.diagnostics import Fix
from orgflow_ir.diagnostics.fixes import FixError
from orgflow_ir.model import Event, Flow, Model, Opaque, Task
from orgflow_ir.model.constructs import plain_constructs
from orgflow_ir.model.edits import Edit
from orgflow_ir.model.source import SourceFile


def ids(model: Model) -> list[str]:
    return [n.id for n in model.processes[0].nodes]


def test_every_rule_has_a_code_of_its_range() -> None:
    codes = [rule.code for rule in BpmnFrontend.rules]
    assert len(set(codes)) == len(codes)
    ranges = (  # input, forms, malformed, style
        ("OF010", "OF029"), ("OF147", "OF147"), ("OF150", "OF179"), ("OF190", "OF199"),
    )  # fmt: skip
    assert all(any(first <= c <= last for first, last in ranges) for c in codes)


# -- ids -------------------------------------------------------------------------------------


def test_a_second_id_is_renamed_and_references_stay_with_the_first() -> None:
    model, found = odd(process(
        '<task id="a" name="Pick"/>\n<task id="a" name="Pack"/><task id="a__2"/><task id="a"/>'
        '<sequenceFlow id="f" sourceRef="a" targetRef="a__2"/>'
    ))  # fmt: skip
    assert ids(model) == ["a", "a__3", "a__2", "a__4"]
    assert model.processes[0].flows[0].source == "a"
    assert found == [("OF150", "a__3"), ("OF150", "a__4")]
    _, diagnostics = parse(process('<task id="a" name="Pick"/>\n<task id="a" name="Pack"/>'))
    (only,) = diagnostics
    assert only.message == "`Pack` has the id `a`, which `Pick` already has"
    assert only.loc is not None
    assert only.loc.line == 2
    assert only.related[0].loc is not None
    assert only.related[0].loc.line == 1


def test_an_element_without_a_name_is_not_called_by_the_id_that_it_shares() -> None:
    _, diagnostics = parse(process(
        '<task id="a"/><task id="b"/><sequenceFlow id="f" sourceRef="a" targetRef="b"/>'
        '<sequenceFlow id="f" sourceRef="b" targetRef="a"/>'
    ))  # fmt: skip
    (only,) = (d for d in diagnostics if d.code == "OF150")
    assert only.message == (
        "a `<sequenceFlow>` has the id `f`, which another `<sequenceFlow>` already has"
    )


def test_what_contradicts_is_named_by_its_labels() -> None:
    """The ids of flows, data associations and types are nothing that the author has seen."""
    text = """
      <itemDefinition id="i1" structureRef="order"/><itemDefinition id="i2" structureRef="bill"/>
      <process id="p" isExecutable="true">
        <dataObject id="d1" name="Order" itemSubjectRef="i1"/>
        <dataObject id="d2" name="Order" itemSubjectRef="i2" isCollection="true"/>
        <startEvent id="s" name="Begin"/>
        <task id="t" name="Bill"><dataInputAssociation id="x1">
          <sourceRef>d1</sourceRef><targetRef>d2</targetRef></dataInputAssociation></task>
        <callActivity id="c" name="Ask" calledElement="q"><ioSpecification>
          <dataInput id="ci" name="Question"/></ioSpecification></callActivity>
        <endEvent id="e" name="Billed"><dataInput id="ei" name="Bill"/></endEvent>
        <sequenceFlow id="f1" sourceRef="s" targetRef="t" isImmediate="false"/>
      </process>
      <process id="q" name="Ask" processType="Public" isExecutable="true"/>
      <process id="r" processType="Public" isExecutable="true"/>
      <collaboration id="k"><participant id="u" name="Store" processRef="r"/></collaboration>"""
    _, diagnostics = parse(definitions(text))
    assert [d.message for d in diagnostics if d.code in ("OF165", "OF166", "OF193")] == [
        "`dataObject` `Order` is a collection, its type `bill` is none",
        "the `dataInputAssociation` of `Bill` from `dataObject` `Order` (`d1`) to `dataObject` "
        "`Order` (`d2`) takes data of the type `order` to data of the type `bill`",
        "`callActivity` `Ask` has 1 input, `process` `Ask`, which it calls, has none",
        "`endEvent` `Billed` has 1 data input for no trigger",
        "the `sequenceFlow` from `Begin` to `Bill` is not immediate, but its process is executable",
        "`process` `Ask` is public and executable",
        "the `process` of the pool `Store` is public and executable",
    ]


def test_ids_are_unique_over_the_whole_file() -> None:
    model, found = odd(definitions(
        '<process id="p"><subProcess id="s"><task id="t"/></subProcess><task id="t"/>'
        '<startEvent id="e"><messageEventDefinition messageRef="t"/></startEvent></process>'
        '<message id="t"/><process id="p"/>'
    ))  # fmt: skip
    assert found == [
        ("OF150", "t__2"), ("OF150", "t__3"), ("OF150", "p__2"), ("OF162", "e"),
    ]  # fmt: skip
    assert [p.id for p in model.processes] == ["p", "p__2"]
    assert by_id(model)["t"].name == ""
    assert [s.id for s in model.scopes()] == ["p", "s", "p__2"]
    assert model.catalog.messages[0].id == "t__3"


def test_the_root_gives_way() -> None:
    model, found = odd(definitions('<process id="p"/>', ' id="p"'))
    assert (model.id, model.processes[0].id) == ("p__2", "p")
    assert [code for code, _ in found] == ["OF150"]


def test_ids_of_tools_do_not_count() -> None:
    model = model_of(process(
        '<task id="a"><extensionElements><v:x id="a"/></extensionElements></task>'
        '<startEvent id="b"><timerEventDefinition id="a"/></startEvent>'
    ))  # fmt: skip
    assert ids(model) == ["a", "b"]


def test_missing_ids_are_made_up_the_same_way_each_time() -> None:
    text = definitions(
        '<process><task/><task id="task_2"/><task id=" "/><task name="x"/><sequenceFlow/></process>'
    )
    model, found = odd(text)
    assert model.processes[0].id == "process_1"
    assert ids(model) == ["task_1", "task_2", "task_3", "task_4"]
    assert model.processes[0].flows[0].id == "sequenceFlow_1"
    assert [code for code, _ in found] == ["OF151"] * 4
    assert odd(text) == (model, found)
    assert odd(text)[0].to_json() == model.to_json()


def test_dangling_flows_are_kept_as_they_are() -> None:
    model, found = odd(process(
        '<task id="a"/><sequenceFlow id="f" sourceRef="a" targetRef="nowhere"/>'
        '<sequenceFlow id="g" targetRef="a"/><sequenceFlow id="h" sourceRef="" targetRef="x:y"/>'
    ))  # fmt: skip
    assert [(f.source, f.target) for f in model.processes[0].flows] == [
        ("a", "nowhere"), ("", "a"), ("", "x:y"),
    ]  # fmt: skip
    assert found == [], "ends of flows are for the passes to judge"


# -- references ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "element"),
    [
        ('<process id="p"><laneSet id="s"><lane id="e"><flowNodeRef>nobody</flowNodeRef></lane>'
         "</laneSet></process>", "e"),
        ('<process id="p"><startEvent id="e"><messageEventDefinition id="d" messageRef="m"/>'
         "</startEvent></process>", "d"),
        ('<process id="p"><receiveTask id="e" messageRef="m"/></process>', "e"),
        ('<process id="p"><serviceTask id="e" operationRef="m"/></process>', "e"),
        ('<process id="p"><endEvent id="e"><compensateEventDefinition id="d" activityRef="m"/>'
         "</endEvent></process>", "d"),
        ('<process id="p"><startEvent id="e"><eventDefinitionRef>m</eventDefinitionRef>'
         "</startEvent></process>", "e"),
        ('<process id="p"><dataObjectReference id="e" dataObjectRef="m"/></process>', "e"),
        ('<process id="p"><association id="e" sourceRef="p" targetRef="m"/></process>', "e"),
        ('<process id="p"><task id="t"><dataInputAssociation id="e"><sourceRef>m</sourceRef>'
         "</dataInputAssociation></task></process>", "e"),
        ('<process id="p"/><collaboration id="c"><participant id="e" processRef="q"/>'
         "</collaboration>", "e"),
        ('<process id="p"/><collaboration id="c"><messageFlow id="e" sourceRef="x" '
         'targetRef="p"/></collaboration>', "e"),
        ('<process id="p"/><collaboration id="c"><correlationKey id="e"><correlationPropertyRef>'
         "x</correlationPropertyRef></correlationKey></collaboration>", "e"),
        ('<process id="p"><exclusiveGateway id="e" default="f"/></process>', "e"),
        ('<process id="p"><exclusiveGateway id="e" default="f"/><sequenceFlow id="f" '
         'sourceRef="p" targetRef="e"/></process>', "e"),
    ],
)  # fmt: skip
def test_references_to_nothing(content: str, element: str | None) -> None:
    model, found = odd(definitions(content))
    # A data association without a target is reported as well.
    rest = ["OF163"] if "dataInputAssociation" in content else []
    assert [code for code, _ in found] == ["OF152", *rest]
    assert found[0][1] == element
    assert model.processes


def test_references_into_other_files_are_left_alone() -> None:
    model = model_of(definitions(
        '<import namespace="urn:o" location="o.bpmn" importType="t"/><process id="p">'
        '<callActivity id="c" calledElement="o:q"/><startEvent id="s"><messageEventDefinition '
        'messageRef="o:m"/></startEvent></process>', ' xmlns:o="urn:o"',
    ))  # fmt: skip
    start = by_id(model)["s"]
    assert isinstance(start, Event)
    assert start.definitions[0].ref == "o:m"


def test_an_unknown_member_of_a_lane_is_kept_beside_the_others() -> None:
    model, _ = odd(process(
        '<laneSet id="s"><lane id="l"><flowNodeRef>no</flowNodeRef><flowNodeRef>t</flowNodeRef>'
        '</lane></laneSet><task id="t"/>'
    ))  # fmt: skip
    (lane,) = model.processes[0].lanes
    assert lane.members == ("t",)
    assert [key for key, _ in lane.extra] == [f"{{{BPMN}}}flowNodeRef"]


def test_a_bad_default_is_kept() -> None:
    model, _ = odd(process('<exclusiveGateway id="e" default="f"/>'))
    assert model.processes[0].nodes[0].extra == ((f"@{{{BPMN}}}default", "f"),)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('<boundaryEvent id="b" name="late"/>', "`late` is attached to nothing"),
        ('<boundaryEvent id="b" attachedToRef="t"/>', "`b` is attached to `t`, which is not in"),
        ('<startEvent id="t"/><boundaryEvent id="b" attachedToRef="t"/>', "not an activity"),
        ('<subProcess id="s"><task id="t"/></subProcess><boundaryEvent id="b" attachedToRef="t"/>',
         "`b` is attached to `t`, which is not an activity in the same process"),
    ],
)  # fmt: skip
def test_detached_boundary_events(content: str, words: str) -> None:
    model, diagnostics = parse(process(content))
    assert model is not None
    assert [(d.code, d.element) for d in diagnostics] == [("OF153", "b")]
    assert words in diagnostics[0].message


# -- values ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        '<startEvent id="x" isInterrupting="maybe"/>',
        '<startEvent id="x" isInterrupting="True"/>',
        '<startEvent id="x" isInterrupting=""/>',
        '<eventBasedGateway id="x" eventGatewayType="Both"/>',
        '<adHocSubProcess id="x" ordering="Random"/>',
        '<transaction id="x" triggeredByEvent="true"/>',
        '<association id="x" sourceRef="p" targetRef="p" associationDirection="Up"/>',
    ],
)
def test_values_of_the_wrong_kind(content: str) -> None:
    assert odd(process(content))[1] == [("OF154", "x")]


@pytest.mark.parametrize("value", ["many", "", "1.5", "9" * 5000, "٣"])
def test_numbers_of_the_wrong_kind(value: str) -> None:
    model, found = odd(process(
        f'<task id="x"><standardLoopCharacteristics loopMaximum="{value}"/></task>'
    ))  # fmt: skip
    assert [code for code, _ in found] == ["OF154"]
    task = model.processes[0].nodes[0]
    assert isinstance(task, Task)
    assert task.loop is not None
    assert task.loop.maximum is None


def test_a_timer_with_two_times() -> None:
    model, found = odd(process(
        '<startEvent id="x"><timerEventDefinition id="d"><timeCycle/><timeDate>2030-01-01'
        "</timeDate><timeDuration>PT1H</timeDuration></timerEventDefinition></startEvent>"
    ))  # fmt: skip
    event = model.processes[0].nodes[0]
    assert isinstance(event, Event)
    assert event.definitions[0].timer == "date"
    assert [code for code, _ in found] == ["OF154"]
    assert "PT1H" in str(event.definitions[0].extra)


def test_two_conditions() -> None:
    model, found = odd(process(
        '<sequenceFlow id="x" sourceRef="" targetRef=""><conditionExpression>a'
        "</conditionExpression><conditionExpression>b</conditionExpression></sequenceFlow>"
    ))  # fmt: skip
    assert found == [("OF154", "x")]
    (flow,) = model.processes[0].flows
    assert flow.condition is not None
    assert flow.condition.text == "a"
    assert ">b<" in flow.extra[0][1]


# -- places ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        process('<task id="a"><timerEventDefinition id="x"/></task>'),
        process('<task id="a"><startEvent id="x"/></task>'),
        process('<lane id="x"/>'),
        process('<participant id="x"/>'),
        definitions('<process id="p"/><task id="x"/>'),
        definitions('<process id="p"/><lane id="x"/>'),
        definitions('<process id="p"/><sequenceFlow id="x" sourceRef="a" targetRef="b"/>'),
        definitions('<process id="p"/><textAnnotation id="x"/>'),
        definitions('<process id="p"/><collaboration id="c"><task id="x"/></collaboration>'),
        process('<task id="a"><standardLoopCharacteristics/><standardLoopCharacteristics id="x"/>'
                "</task>"),
        process('<laneSet id="s"><lane id="l"/><task id="x"/></laneSet>'),
    ],
)  # fmt: skip
def test_elements_in_foreign_places_are_kept(text: str) -> None:
    model, found = odd(text)
    assert found == [("OF155", "x")]
    assert "x&quot;" in model.to_json() or 'id=\\"x\\"' in model.to_json()


def test_flow_nodes_outside_of_processes_cannot_be_run() -> None:
    model, _ = odd(definitions('<task id="x" name="Pick"/><textAnnotation id="y"/>'))
    assert [(o.id, o.construct) for o in model.opaque] == [
        ("x", "opaque.illegal"), ("y", "opaque.harmless"),
    ]  # fmt: skip


def test_a_process_in_a_process_is_read() -> None:
    model, found = odd(process(
        '<task id="a"/><process id="q"><task id="b"/><process id="r"/></process>'
        '<collaboration id="c"><participant id="pool"/></collaboration>'
    ))  # fmt: skip
    assert [(p.id, [n.id for n in p.nodes]) for p in model.processes] == [
        ("p", ["a"]), ("q", ["b"]), ("r", []),
    ]  # fmt: skip
    assert [p.id for p in model.pools] == ["pool"]
    assert found == [("OF155", "q"), ("OF155", "c"), ("OF155", "r")]


@pytest.mark.parametrize(
    "content", ["", '<collaboration id="c"><participant id="a"/></collaboration>']
)
def test_no_process(content: str) -> None:
    model, found = odd(definitions(content))
    assert model.processes == ()
    assert found == []  # a pass reports it, of whatever format the file is


def test_several_processes_and_order_of_elements_do_not_matter() -> None:
    model = model_of(definitions(
        '<process id="a"><startEvent id="s"><outgoing>f</outgoing><messageEventDefinition/>'
        "<documentation>late</documentation></startEvent><sequenceFlow id=\"f\" sourceRef=\"s\" "
        'targetRef="s"/></process><message id="m"/><process id="b"/>'
    ))  # fmt: skip
    assert [p.id for p in model.processes] == ["a", "b"]
    assert by_id(model)["s"].doc == "late"


@pytest.mark.parametrize(
    "lists",
    ["<incoming>g</incoming>", "<outgoing>f</outgoing>", "<outgoing>x</outgoing>",
     "<incoming>f</incoming><incoming>f</incoming>", "<incoming/>"],
)  # fmt: skip
def test_flow_lists_that_disagree(lists: str) -> None:
    text = (f'<task id="a">{lists}</task><sequenceFlow id="f" sourceRef="b" targetRef="a"/>'
            '<task id="b"/><sequenceFlow id="g" sourceRef="a" targetRef="b"/>')  # fmt: skip
    model, found = odd(process(text))
    assert found == [("OF157", "a")]
    assert [(f.id, f.target) for f in model.processes[0].flows] == [("f", "a"), ("g", "b")]
    assert [d.severity for d in parse(process(text))[1]] == ["info"]


# -- what BPMN does not have -----------------------------------------------------------------


def test_a_tools_own_node_keeps_its_flows() -> None:
    model, found = odd(process(
        '<task id="a"/><v:robot id="r" name="Robo" v:arm="left"><v:x/></v:robot>'
        '<sequenceFlow id="f" sourceRef="a" targetRef="r"/>'
    ))  # fmt: skip
    robot = model.processes[0].nodes[1]
    assert isinstance(robot, Opaque)
    assert (robot.id, robot.name, robot.tag, robot.construct) == (
        "r", "Robo", "{urn:v}robot", "opaque.illegal",
    )  # fmt: skip
    assert '<v:robot xmlns:v="urn:v" id="r"' in robot.payload
    assert found == [("OF158", "r")]


def test_a_tools_own_element_that_no_flow_touches_is_kept() -> None:
    model, found = odd(process('<task id="a"/><v:meta id="r"/>'))
    assert ids(model) == ["a"]
    assert [key for key, _ in model.processes[0].extra] == ["{urn:v}meta"]
    assert found == [("OF158", "r")]


@pytest.mark.parametrize("tag", ["robotTask", "activity", "implicitThrowEvent", "choreographyTask"])
def test_unknown_and_abstract_bpmn_nodes_are_opaque(tag: str) -> None:
    model, found = odd(process(
        f'<{tag} id="r"/><sequenceFlow id="f" sourceRef="r" targetRef="r"/>'
    ))  # fmt: skip
    assert [(n.id, n.construct) for n in model.processes[0].nodes] == [("r", "opaque.illegal")]
    assert found == [("OF158", "r")]


def test_unknown_root_elements() -> None:
    model, found = odd(definitions('<process id="p"/><robot id="r"/><v:x id="y"/>'))
    assert [(o.id, o.harmless) for o in model.opaque] == [("r", False)]
    assert [key for key, _ in model.extra][-1] == "{urn:v}x"
    assert sorted(found) == [("OF158", "r"), ("OF158", "y")]


def test_unknown_attributes_are_kept_and_told() -> None:
    model, found = odd(
        process('<task id="a" colour="red" scriptFormat="js"/>', ' isExecuteable="1"')
    )
    assert model.processes[0].nodes[0].extra == (
        (f"@{{{BPMN}}}colour", "red"), (f"@{{{BPMN}}}scriptFormat", "js"),
    )  # fmt: skip
    assert model.processes[0].extra == ((f"@{{{BPMN}}}isExecuteable", "1"),)
    assert found == [("OF159", "p"), ("OF159", "a"), ("OF159", "a")]


@pytest.mark.parametrize(
    "text",
    [
        process('<task id="t"><multiInstanceLoopCharacteristics id="x" behavior="One" '
                'oneBehaviorEventRef="e"/></task>'),
        definitions('<extension mustUnderstand="true" definition="v:x"/><process id="p"/>'),
    ],
)  # fmt: skip
def test_behaviour_that_is_only_kept_is_told(text: str) -> None:
    missing = ["OF152"] if "oneBehaviorEventRef" in text else []
    assert [code for code, _ in odd(text)[1]] == ["OF160", *missing]


def test_stray_text_is_told() -> None:
    assert [code for code, _ in odd(process('invoice <task id="a"/>'))[1]] == ["OF161"]
    assert [code for code, _ in odd(definitions('<process id="p"/> x'))[1]] == ["OF161"]


def nested(depth: int) -> str:
    opening = "".join(f'<subProcess id="s{n}">' for n in range(depth))
    return process(opening + "</subProcess>" * depth)


def test_the_deepest_model_survives_the_way_through_json() -> None:
    model = model_of(nested(MAX_NESTED))
    assert sum(1 for _ in model.scopes()) == MAX_NESTED + 1


def test_deeper_nesting_is_refused() -> None:
    model, found = parse(nested(MAX_NESTED + 1))
    assert model is None
    assert [d.code for d in found] == ["OF014"]


def test_a_second_id_that_nothing_refers_to_is_a_warning() -> None:
    flow = '<sequenceFlow id="f" sourceRef="a" targetRef="b"/>'
    tasks = '<task id="a" name="f"/><task id="b"/>'
    _, diagnostics = parse(process(tasks + flow + flow.replace('"b"', '"a"')))
    assert [(d.code, d.severity.value) for d in diagnostics] == [("OF150", "warning")]
    _, diagnostics = parse(process('<task id="a"/>' + tasks + flow))
    assert [(d.code, d.severity.value) for d in diagnostics] == [("OF150", "error")]


@pytest.mark.parametrize("value", ["0", "-1", "many", ""])
def test_quantities_below_one_are_invalid_and_count_as_one(value: str) -> None:
    for attribute in ("startQuantity", "completionQuantity"):
        model, diagnostics = parse(process(f'<task id="a" {attribute}="{value}"/>'))
        assert [(d.code, d.severity.value) for d in diagnostics] == [("OF154", "warning")]
        assert "activity.quantity" not in {u.construct for u in plain_constructs(model)}
    model, diagnostics = parse(process('<task id="a" startQuantity="2"/>'))
    assert diagnostics == []
    assert "activity.quantity" in {u.construct for u in plain_constructs(model)}


def _twice(outside: str = "", inside: str = "") -> str:
    """Two processes that share all their ids but their own."""

    def one(id: str, last: str) -> str:
        return (
            f'<process id="{id}"><startEvent id="s" name="Begin {last}"/>'
            f'<exclusiveGateway id="g" name="{last}?" default="f2"/>'
            f'<task id="a" name="{last}">{inside}</task>'
            f'<endEvent id="e" name="{last} done"/>'
            '<sequenceFlow id="f1" sourceRef="s" targetRef="g"/>'
            '<sequenceFlow id="f2" sourceRef="g" targetRef="a"/>'
            '<sequenceFlow id="f3" sourceRef="a" targetRef="e"/></process>'
        )

    return definitions(one("p", "Pick") + one("q", "Pack") + outside)


def test_references_to_a_shared_id_mean_the_element_of_their_own_process() -> None:
    model, diagnostics = parse(_twice(inside="<incoming>f2</incoming><outgoing>f3</outgoing>"))
    assert model is not None
    assert {(d.code, d.severity.value) for d in diagnostics} == {("OF150", "warning")}
    for process_, last in zip(model.processes, ("Pick", "Pack"), strict=True):
        names = {node.id: node.name for node in process_.nodes}
        assert [(names[f.source], names[f.target], f.default) for f in process_.flows] == [
            (f"Begin {last}", f"{last}?", False), (f"{last}?", last, True),
            (last, f"{last} done", False),
        ]  # fmt: skip
    found = {d.element: d for d in diagnostics}
    assert found["a__2"].message == (
        "`Pack` has the id `a`, which `Pick` in another process already has"
    )
    assert found["a__2"].help == (
        "give one of them another id; this one is read as `a__2`; references mean the one in "
        "their own process"
    )


def test_a_reference_from_outside_to_a_shared_id_stays_an_error() -> None:
    pool = (
        '<collaboration id="c"><participant id="x"/>'
        '<messageFlow id="m" sourceRef="x" targetRef="a"/></collaboration>'
    )
    _, diagnostics = parse(_twice(pool))
    severities = {d.element: d.severity.value for d in diagnostics if d.code == "OF150"}
    assert severities["a__2"] == "error"
    assert severities["s__2"] == "warning"
    thrice = _twice('<message id="a"/>')
    _, diagnostics = parse(thrice)
    errors = [d.element for d in diagnostics if d.code == "OF150" and d.severity.value == "error"]
    assert errors == ["a__2", "a__3"], "a reference may mean the message"


def test_a_fix_writes_nothing_about_an_id_that_several_elements_have() -> None:
    text = _twice()
    model, _ = parse(text)
    assert model is not None
    source = SourceFile("two.bpmn", text.encode())
    for scope, source_, target, id in (("q", "a__2", "e__2", "new"), ("p", "a", "e", "new")):
        flow = Flow(id=id, source=source_, target=target)
        fix = Fix(
            title="add a flow", applicability="safe",
            edits=(Edit(action="add", scope=scope, flow=flow),),
        )  # fmt: skip
        with pytest.raises(FixError):
            apply_patch(source, model, fix)
    removal = Fix(
        title="remove a flow", applicability="safe",
        edits=(Edit(action="remove", scope="p", id="f2"),),
    )  # fmt: skip
    with pytest.raises(FixError):
        apply_patch(source, model, removal)


def test_a_shape_of_a_shared_id_is_of_no_element() -> None:
    """It may be of either; where it stands would decide the order of branches."""

    def shape(id: str, x: int) -> str:
        bounds = f'<dc:Bounds x="{x}" y="0" width="36" height="36"/>'
        return f'<di:BPMNShape id="d{x}" bpmnElement="{id}">{bounds}</di:BPMNShape>'

    diagram = (
        '<di:BPMNDiagram xmlns:di="http://www.omg.org/spec/BPMN/20100524/DI" '
        'xmlns:dc="http://www.omg.org/spec/DD/20100524/DC"><di:BPMNPlane id="plane">'
        f"{shape('s', 0)}{shape('s', 100)}{shape('only', 200)}</di:BPMNPlane></di:BPMNDiagram>"
    )
    text = _twice(f'<process id="r"><task id="only"/></process>{diagram}')
    model, diagnostics = parse(text, options={"diagram": True})
    assert model is not None
    assert model.diagram is not None
    assert [found.element for found in model.diagram.shapes] == ["only"]
    assert {d.code for d in diagnostics if d.element != "r"} == {"OF150"}
