"""What is special about single elements: ids, bindings, kept data, hostile text, the drawing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from binding_values import one_of_each
from bpmn_text import definitions, process
from bpmn_trips import differences, read, schema_errors, written
from cli_cases import LINEAR, orgflowc
from hostile_labels import HOSTILE
from orgflow.backends.bpmn.document import write_document

from orgflow_ir.model import (
    Artifact,
    CallActivity,
    DataFlow,
    DataObject,
    Event,
    EventDefinition,
    Flow,
    Gateway,
    Loop,
    Model,
    Opaque,
    Pool,
    Process,
    Task,
)
from orgflow_ir.model.bindings import Script, Worker

START, END = Event(id="s", position="start"), Event(id="e", position="end")


def line(*nodes: object, **more: object) -> Model:
    """A model in which the nodes follow each other."""
    found = [START, *nodes, END]
    flows = [
        Flow(id=f"f{n}", source=a.id, target=b.id)  # type: ignore[attr-defined]
        for n, (a, b) in enumerate(pairwise(found))
    ]
    return Model(
        id="M", processes=(Process(id="P", nodes=tuple(found), flows=tuple(flows), **more),)
    )


def comes_back(model: Model) -> str:
    """The text of a model that is valid and is read as it was."""
    text = written(model)
    assert schema_errors(text) == []
    again, said = read(text)
    assert list(differences(model, again)) == []
    assert said == []
    return text


def same(text: str) -> str:
    """The text that a file becomes, which says the same."""
    model, _ = read(text, diagram=True)
    out = write_document(model, model.diagram)
    again, _ = read(out, diagram=True)
    assert list(differences(model, again)) == []
    return out


@pytest.mark.parametrize("name", ["7", "a b", "1-2", "ä:ö", "<x>", "with\nline", "日本", "a__b"])
def test_ids_that_xml_cannot_have_come_back(name: str) -> None:
    comes_back(line(Task(id=name, name="Work")))


def test_two_ids_that_become_one_are_told_apart() -> None:
    text = comes_back(line(Task(id="a b"), Task(id="a_20_b"), Task(id="a_20_b_2")))
    assert text.count('id="a_20_b"') == 1


@pytest.mark.parametrize("label", HOSTILE)
def test_labels_cannot_break_out(label: str) -> None:
    model = line(Task(id="t", name=label, doc=label), Gateway(id="g", gateway_kind="exclusive"))
    text = written(model)
    assert schema_errors(text) == []
    again, _ = read(text)
    task = again.processes[0].nodes[1]
    clean = "".join("\ufffd" if ord(c) < 32 and c not in "\t\n\r" else c for c in label)
    assert task.name in (label, clean)
    assert [n.kind for n in again.processes[0].nodes] == ["event", "task", "gateway", "event"]


def test_bindings_of_any_kind() -> None:
    parameters = (("url", '{"a": "<b>"}'), ("", "x\ny"))
    for binding in (
        Worker(by="n8n", target="n8n-nodes-base.set@3", parameters=parameters),
        Script(language="python", code="if a < b:\n    print('&')\n"),
        Script(),
        Worker(by="implementation", target="##WebService"),
        Worker(by="other", code=""),
        *one_of_each(),
    ):
        for kind in ("abstract", "service", "script", "user"):
            comes_back(line(Task(id="t", task_type=kind, binding=binding)))
    for binding in one_of_each():
        comes_back(line(CallActivity(id="c", called="other", binding=binding)))


def test_what_is_no_qualified_name_stands_beside() -> None:
    comes_back(line(CallActivity(id="c", called="4cnnwIeC9Sr5ngGZ"),
                    CallActivity(id="d", called="<the other one>")))  # fmt: skip
    loop = Loop(kind="multi-instance", collection="all the items", item="item")
    comes_back(line(Task(id="t", loop=loop)))
    comes_back(line(Task(id="t"), data_objects=(
        DataObject(id="d", data_kind="object", type="@n8n/some.tool"),)))  # fmt: skip


def test_data_flows_that_bpmn_has_no_place_for() -> None:
    gateway = Gateway(id="g", gateway_kind="exclusive")
    data = DataObject(id="d", data_kind="object")
    flows = (
        DataFlow(id="x", source="d", target="t", mapping=(("a", "b"),)),
        DataFlow(id="y", source="d", target="g", name="reads", mapping=(("a", "b"), ("c", "d"))),
    )
    model = line(Task(id="t"), gateway, data_objects=(data,), data_flows=flows)
    assert "__targetRef_placeholder" in comes_back(model)


def test_opaque_nodes_of_other_formats() -> None:
    odd = Opaque(id="o", name="Odd", tag="{urn:pme}task", payload='{"type": "<Strange>"}')
    comes_back(line(odd))


def test_times_and_conditions_that_are_left_open() -> None:
    for definition in (
        EventDefinition(kind="timer", timer="cycle"),
        EventDefinition(kind="conditional"),
    ):
        comes_back(line(Event(id="x", position="catch", definitions=(definition,))))


def test_a_definition_of_several_events_is_a_root() -> None:
    text = same(process(
        '<startEvent id="a"><eventDefinitionRef>d</eventDefinitionRef></startEvent>'
        '<startEvent id="b"><eventDefinitionRef>d</eventDefinitionRef></startEvent>'
    ).replace("<process", '<signalEventDefinition id="d"/><process', 1))  # fmt: skip
    assert schema_errors(text) == []
    assert text.count("eventDefinitionRef") == 4


def test_notes_with_names_and_groups_with_words() -> None:
    notes = (
        Artifact(id="n", name="A name", artifact_kind="annotation", text="Words"),
        Artifact(id="g", artifact_kind="group", text="Together"),
    )
    comes_back(line(Task(id="t"), artifacts=notes))


def test_kept_data_comes_back_verbatim() -> None:
    text = same(process(
        '<userTask id="t" v:who="&lt;me&gt;" startQuantity="2"><extensionElements><v:data a="1">'
        "<!-- kept --><v:inner>  two  words </v:inner></v:data></extensionElements>"
        '<performer name="x"/><property id="q"/></userTask>'
    ))  # fmt: skip
    assert '<v:data a="1"><!-- kept --><v:inner>  two  words </v:inner></v:data>' in text
    assert text.index("<property") < text.index("<performer")


def test_prefixes_of_the_source_are_used() -> None:
    source = LINEAR.replace("xmlns=", "xmlns:semantic=").replace("<", "<semantic:")
    source = source.replace("<semantic:/", "</semantic:").replace("<semantic:?", "<?")
    text = same(source)
    assert "<semantic:process" in text
    assert "bpmn:process" not in text


def test_a_file_without_a_namespace_is_given_one() -> None:
    text = same(
        '<definitions id="d" targetNamespace="x"><process id="p"><userTask id="t">'
        '<humanPerformer id="h"/></userTask></process></definitions>'
    )
    assert schema_errors(text) == []


def test_each_collaboration_keeps_its_pools() -> None:
    text = same(definitions(
        '<collaboration id="c1"><participant id="a" name="A"/></collaboration>'
        '<collaboration id="c2"><participant id="b" name="B"/>'
        '<messageFlow id="m" sourceRef="b" targetRef="b"/></collaboration><process id="p"/>'
    ))  # fmt: skip
    first, second = text.split("</collaboration>")[:2]
    assert 'id="a"' in first
    assert 'id="b"' not in first
    assert 'id="b"' in second
    assert 'id="m"' in second


def test_shapes_stay_in_their_planes() -> None:
    shape = '<di:BPMNShape id="{0}1" bpmnElement="{0}"><dc:Bounds x="1" y="2.5" width="3" ' \
        'height="4"/></di:BPMNShape>'  # fmt: skip
    plane = '<di:BPMNDiagram><di:BPMNPlane id="p{0}" bpmnElement="{0}">{1}</di:BPMNPlane>' \
        "</di:BPMNDiagram>"  # fmt: skip
    text = definitions(
        '<process id="p"><task id="t"/><subProcess id="u"><task id="v"/></subProcess></process>'
        + plane.format("p", shape.format("t") + shape.format("u"))
        + plane.format("u", shape.format("v")),
        ' xmlns:di="http://www.omg.org/spec/BPMN/20100524/DI"'
        ' xmlns:dc="http://www.omg.org/spec/DD/20100524/DC"',
    )
    out = same(text)
    assert out.index('bpmnElement="u">') < out.index('bpmnElement="v"')
    assert out.count("<di:BPMNPlane") == 2


def test_processes_without_a_pool_have_a_plane_of_their_own() -> None:
    def one(name: str) -> Process:
        return Process(id=name, nodes=(Task(id=f"{name}t"),))

    model = Model(id="M", processes=(one("p"), one("q")), pools=(Pool(id="a", process="p"),))
    text = written(model)
    assert text.count("<bpmndi:BPMNPlane") == 2
    assert 'bpmnElement="M__collaboration"' in text
    assert 'bpmnElement="q"' in text
    assert schema_errors(text) == []


def test_the_command_writes_bpmn() -> None:
    done = orgflowc("compile", "-", "--from", "bpmn", "--target", "bpmn", stdin=LINEAR)
    assert done.code == 0
    assert "<bpmndi:BPMNShape" in done.out
    done = orgflowc("compile", "-", "--from", "bpmn", "--target", "bpmn{diagram=no}", stdin=LINEAR)
    assert "BPMNShape" not in done.out
    assert read(done.out)[0] == read(LINEAR)[0]
