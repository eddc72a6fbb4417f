"""Every type, attribute and element of the BPMN 2.0 schemas is accounted for, and survives reading.

The schemas come from SpiffWorkflow's wheel and are only read here. For each member a minimal file
is generated in every place the schema allows, with two different values: the models must differ,
and the difference must be where `coverage.py` says (a field, kept data, an opaque element).
"""

from __future__ import annotations

import importlib.util
import itertools
import xml.etree.ElementTree as ET
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from orgflow.frontends.bpmn import bpmn_reading, scope
from orgflow.frontends.bpmn.frontend import BpmnFrontend
from orgflow.frontends.bpmn.schema_disposition import (
    KNOWN_TAGS,
    LOCAL_TAGS,
    OPAQUE_NODES,
    SUBSTITUTES,
    TAGS,
    TYPES,
    Disposition,
    Type,
    attributes_of,
    children_of,
)
from orgflow.frontends.bpmn.schema_disposition_di import DRAWING_TYPES
from orgflow.frontends.bpmn.xml.bpmn_names import (
    BPMN,
    ELEMENTS,
    FLOW_NODES,
    HARMLESS_ROOTS,
    ILLEGAL_ROOTS,
)

from orgflow_ir.model import Model
from orgflow_ir.model.codec import to_data
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

XSD = "{http://www.w3.org/2001/XMLSchema}"
DI_NAMES = ("BPMNDI.xsd", "DI.xsd", "DC.xsd")


# -- the schemas -----------------------------------------------------------------------------


@cache
def schema(name: str) -> ET.Element:
    spec = importlib.util.find_spec("SpiffWorkflow")
    assert spec is not None, "the schemas come with SpiffWorkflow (test extra)"
    assert spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0]) / "bpmn" / "parser" / "schema"
    return ET.parse(folder / name).getroot()


@dataclass
class SchemaType:
    base: str | None
    abstract: bool
    members: dict[str, str | None] = field(default_factory=dict)
    """Member, written as in coverage.py, to its declared type (`None`: by reference)."""


def local(name: str | None) -> str | None:
    return None if name is None else name.rpartition(":")[2]


@cache
def schema_types(*names: str) -> dict[str, SchemaType]:
    found = {}
    for name in names:
        for node in schema(name).findall(f"{XSD}complexType"):
            extension = node.find(f".//{XSD}extension")
            entry = SchemaType(
                local(extension.get("base")) if extension is not None else None,
                node.get("abstract") == "true",
            )
            for part in node.iter():
                if part.tag == f"{XSD}attribute":
                    entry.members[f"@{part.get('name')}"] = part.get("type")
                elif part.tag == f"{XSD}element":
                    member = part.get("name") or local(part.get("ref"))
                    assert member is not None
                    entry.members[member] = part.get("type")
            found[node.attrib["name"]] = entry
    return found


def semantic() -> dict[str, SchemaType]:
    return schema_types("Semantic.xsd", "BPMN20.xsd")


@pytest.mark.parametrize(
    ("table", "names"),
    [(TYPES, ("Semantic.xsd", "BPMN20.xsd")), (DRAWING_TYPES, DI_NAMES)],
    ids=["semantic", "drawing"],
)
def test_every_member_is_classified_and_none_is_invented(
    table: dict[str, Type], names: tuple[str, ...]
) -> None:
    types = schema_types(*names)
    assert len(types) > 15
    ours = {(t, m) for t, entry in table.items() for m in entry.members}
    theirs = {(t, m) for t, entry in types.items() for m in entry.members}
    assert sorted(theirs - ours) == [], "not classified"
    assert sorted(ours - theirs) == [], "not in the schema"
    assert table.keys() == types.keys()
    assert {t: e.base for t, e in table.items()} == {t: e.base for t, e in types.items()}
    print(f"\n{len(types)} types, {len(theirs)} members: all classified")


def test_tags_and_their_types_are_those_of_the_schema() -> None:
    declared = {
        e.attrib["name"]: local(e.get("type"))
        for name in ("Semantic.xsd", "BPMN20.xsd")
        for e in schema(name).findall(f"{XSD}element")
    }
    assert declared == TAGS
    inner = {
        member: local(kind)
        for entry in semantic().values()
        for member, kind in entry.members.items()
        if not member.startswith("@") and local(kind) in TYPES
    }
    expressions = {"tExpression", "tFormalExpression"}
    assert {m: "tFormalExpression" if k in expressions else k for m, k in inner.items()} == (
        LOCAL_TAGS
    )


def test_substitution_groups_are_those_of_the_schema() -> None:
    heads: dict[str, set[str]] = {}
    for element in schema("Semantic.xsd").findall(f"{XSD}element"):
        head = local(element.get("substitutionGroup"))
        if head:
            heads.setdefault(head, set()).add(element.attrib["name"])

    def closure(head: str) -> set[str]:
        direct = heads.get(head, set())
        return direct.union(*(closure(d) for d in direct)) if direct else set()

    outer = set(heads) - {"performer", "humanPerformer", "choreography"}  # in larger ones
    assert set(SUBSTITUTES) == outer
    for head in outer - {"rootElement"}:
        assert set(SUBSTITUTES[head].split()) == closure(head), head
    assert children_of("definitions") >= closure("rootElement")


def test_the_readers_tables_speak_of_the_schema() -> None:
    assert ELEMENTS <= KNOWN_TAGS
    assert KNOWN_TAGS >= FLOW_NODES | HARMLESS_ROOTS | ILLEGAL_ROOTS
    assert {t for t in OPAQUE_NODES if t in FLOW_NODES} == set()
    flow_elements = set(SUBSTITUTES["flowElement"].split())
    others = {"sequenceFlow", "dataObject", "dataObjectReference", "dataStoreReference"}
    assert flow_elements - FLOW_NODES - others <= OPAQUE_NODES
    assert "startQuantity" in attributes_of("task")


# -- survival --------------------------------------------------------------------------------


def chain(name: str | None) -> Iterator[str]:
    types = semantic()
    while name is not None:
        yield name
        name = types[name].base


def tag_type(tag: str) -> str | None:
    return LOCAL_TAGS.get(tag) or TAGS.get(tag)


def concrete_children(tag: str) -> list[tuple[str, str, str]]:
    """(owning type, member, concrete tag) for every child the schema allows."""
    found = []
    for owner in chain(tag_type(tag)):
        for member in TYPES[owner].members:
            if member.startswith("@") or member == "BPMNDiagram":
                continue
            names = [member] if not _abstract(member) else []
            names += SUBSTITUTES.get(member, "").split()
            if member == "rootElement":
                names = ["process", *SUBSTITUTES["eventDefinition"].split(), *names]
            found += [(owner, member, n) for n in dict.fromkeys(names) if not _abstract(n)]
    return found


def _abstract(tag: str) -> bool:
    kind = TAGS.get(tag)
    if tag in LOCAL_TAGS or kind is None:
        return False
    return semantic()[kind].abstract or tag == "gateway"


@cache
def paths() -> dict[str, tuple[str, ...]]:
    """The shortest way of tags from the root to every tag, through processes where it can."""
    found: dict[str, tuple[str, ...]] = {"definitions": ("definitions",)}
    queue = deque(["definitions"])
    while queue:
        tag = queue.popleft()
        for _, _, child in concrete_children(tag):
            if child not in found:
                found[child] = (*found[tag], child)
                if tag_type(child) is not None:
                    queue.append(child)
    return found


ENUMERATIONS = {
    s.attrib["name"]: [e.attrib["value"] for e in s.iter(f"{XSD}enumeration")]
    for s in schema("Semantic.xsd").findall(f"{XSD}simpleType")
}


def values(kind: str | None) -> tuple[str, str]:
    """Two different values of a simple type."""
    if kind == "xsd:boolean":
        return "true", "false"
    if kind in ("xsd:integer", "xsd:int"):
        return "7", "8"
    words = ENUMERATIONS.get(kind or "")
    if words and len(words) > 1:
        return words[0], words[1]
    return "zq1", "zq2"


TELLING = {
    "participantMultiplicity": ('<{tag} minimum="{n}" maximum="9"/>'),
    "laneSet": '<{tag}><lane id="{value}"/></{tag}>',
    "childLaneSet": '<{tag}><lane id="{value}"/></{tag}>',
    "standardLoopCharacteristics": '<{tag} loopMaximum="{n}"/>',
    "multiInstanceLoopCharacteristics": "<{tag}><loopCardinality>{n}</loopCardinality></{tag}>",
    "dataState": '<{tag} name="{value}"/>',
    "assignment": "<{tag}><from>{value}</from><to>x</to></{tag}>",
}
"""Elements that would say nothing with an id alone."""


def content(tag: str, value: str) -> str:
    """An element `tag` that carries `value` in a way its type allows."""
    kind = tag_type(tag)
    if tag in TELLING:
        return TELLING[tag].format(tag=tag, value=value, n=value[-1])
    if tag == "extensionElements":
        return f'<extensionElements><v:{value} xmlns:v="urn:v"/></extensionElements>'
    if kind in ("tDocumentation", "tText", "tScript", "tFormalExpression", None):
        return f"<{tag}>{value}</{tag}>"
    if kind in ("tImport", "tExtension"):
        attribute = "location" if kind == "tImport" else "definition"
        return f'<{tag} {attribute}="{value}"/>'
    return f'<{tag} id="{value}"/>'


def file_with(path: tuple[str, ...], attributes: str, inner: str) -> str:
    """Elements along a path, each with the next one in it; the last has what is asked for."""
    text = f"<{path[-1]}{attributes}>{inner}</{path[-1]}>"
    for tag in reversed(path[:-1]):
        text = f"<{tag}>{text}</{tag}>"
    head = f"<definitions xmlns='{BPMN}'"
    return text.replace("<definitions", head, 1)


FRONTEND = BpmnFrontend()


def read(text: str) -> Model:
    ctx = PassContext(options={"diagram": True})
    model = FRONTEND.parse(SourceFile("generated.bpmn", text.encode()), ctx)
    assert model is not None, f"{text}\n{[d.message for d in ctx.diagnostics]}"
    return model


def parts(model: Model) -> dict[str, Any]:
    """The model taken apart: fields, kept data, harmless and illegal opaque elements."""
    found: dict[str, list[Any]] = {"extra": [], "harmless": [], "illegal": []}

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            if value.get("kind") == "opaque":
                found["harmless" if value["harmless"] else "illegal"].append(value["payload"])
                value = {k: v for k, v in value.items() if k != "payload"}
            if value.get("extra"):
                found["extra"].append(value["extra"])
            return {k: walk(v) for k, v in value.items() if k not in ("loc", "extra")}
        if isinstance(value, list | tuple):
            return [walk(v) for v in value]
        return value

    return {"fields": walk(to_data(model)), **found}


PLACES = {
    Disposition.MODELLED: "fields",
    Disposition.KEPT: "extra",
    Disposition.HARMLESS: "harmless",
    Disposition.ILLEGAL: "illegal",
}

PROCESS = (
    "<definitions xmlns='" + BPMN + "'><process id='p'>{}"
    "<task id='t'{}/><sequenceFlow id='zq1' sourceRef='t' targetRef='g'/>"
    "<sequenceFlow id='zq2' sourceRef='t' targetRef='g'/>"
    "<{} id='g'{}>{}</{}><sequenceFlow id='zq3' sourceRef='g' targetRef='t'/>"
    "<sequenceFlow id='zq4' sourceRef='g' targetRef='t'/></process></definitions>"
)


def special(owner: str, member: str, tag: str) -> tuple[str, str] | None:
    """Files for members that say something only together with another element."""
    if member == "@default":
        return tuple(
            PROCESS.format("", "", tag, f" default='{v}'", "", tag) for v in ("zq3", "zq4")
        )  # type: ignore[return-value]
    if member == "flowNodeRef":
        return tuple(
            PROCESS.format(
                f"<laneSet><lane id='l'><flowNodeRef>{v}</flowNodeRef></lane></laneSet>", "",
                "task", "", "", "task",
            )
            for v in ("t", "g")
        )  # type: ignore[return-value]  # fmt: skip
    if member == "eventDefinitionRef":
        event = "endEvent" if owner == "tThrowEvent" else "startEvent"
        return tuple(
            f"<definitions xmlns='{BPMN}'><signalEventDefinition id='zq1'/>"
            f"<signalEventDefinition id='zq2'/><process id='p'><{event} id='e'>"
            f"<eventDefinitionRef>{v}</eventDefinitionRef></{event}></process></definitions>"
            for v in ("zq1", "zq2")
        )  # type: ignore[return-value]
    return None


def cases() -> Iterator[tuple[str, str, str, str]]:
    """(type, member, file with one value, file with another), in every place there is."""
    types = semantic()
    for tag in paths():
        kind = tag_type(tag)
        if kind is None:
            continue
        parents = {p: paths()[p] for p in paths() if tag in _concrete(p)} or {"": ()}
        for owner in chain(kind):
            for member, declared in types[owner].members.items():
                if member == "BPMNDiagram" or member in ("incoming", "outgoing"):
                    continue
                pair = special(owner, member, tag)
                if pair is not None:
                    yield owner, member, *pair
                elif member.startswith("@"):
                    one, two = values(declared)
                    inner = "x > 1" if kind == "tFormalExpression" else ""
                    for parent in parents.values():
                        full = (*parent, tag)
                        yield (
                            owner,
                            member,
                            file_with(full, f' {member[1:]}="{one}"', inner),
                            file_with(full, f' {member[1:]}="{two}"', inner),
                        )
        for owner, member, child in concrete_children(tag):
            if member in ("incoming", "outgoing") or special(owner, member, tag):
                continue
            for parent in parents.values():
                full = (*parent, tag)
                yield (
                    owner,
                    member,
                    file_with(full, "", content(child, "zq1")),
                    file_with(full, "", content(child, "zq2")),
                )


@cache
def _concrete(tag: str) -> frozenset[str]:
    return frozenset(c for _, _, c in concrete_children(tag))


def test_everything_survives_reading_where_the_table_says() -> None:
    seen: dict[tuple[str, str], set[str]] = {}
    lost, number = [], 0
    for owner, member, one, two in cases():
        number += 1
        first, second = parts(read(one)), parts(read(two))
        where = {place for place in first if first[place] != second[place]}
        seen.setdefault((owner, member), set()).update(where)
        if not where:
            lost.append(f"{owner} {member}: {one}")
    assert lost == []
    wrong = [
        f"{owner} {member} is {disposition} but was found in {sorted(seen[owner, member])}"
        for owner, entry in TYPES.items()
        for member, disposition in entry.members.items()
        if (owner, member) in seen and PLACES[disposition] not in seen[owner, member]
    ]
    assert wrong == [], chr(10).join(wrong)
    apart = {("tFlowNode", "incoming"), ("tFlowNode", "outgoing"), ("tDefinitions", "BPMNDiagram")}
    every = {(t, m) for t, entry in TYPES.items() for m in entry.members}
    assert every - set(seen) == apart, "no file was generated"
    print(f"\n{number} generated pairs of files for {len(seen)} members: all survive")


def test_incoming_and_outgoing_are_the_flows() -> None:
    good = PROCESS.format("", "", "task", "", "<incoming>zq1</incoming><incoming>zq2</incoming>"
                          "<outgoing>zq3</outgoing><outgoing>zq4</outgoing>", "task")  # fmt: skip
    ctx = PassContext()
    model = FRONTEND.parse(SourceFile("x.bpmn", good.encode()), ctx)
    assert model is not None
    assert [d.code for d in ctx.diagnostics] == []
    assert [f.id for f in model.processes[0].flows if f.target == "g"] == ["zq1", "zq2"]
    for wrong in ("<incoming>zq3</incoming>", "<outgoing>zq9</outgoing>"):
        ctx = PassContext()
        text = PROCESS.format("", "", "task", "", wrong, "task")
        FRONTEND.parse(SourceFile("x.bpmn", text.encode()), ctx)
        assert [d.code for d in ctx.diagnostics] == ["OF157"]


# -- drawings --------------------------------------------------------------------------------

DRAWING = f"""<definitions xmlns="{BPMN}" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI"
 xmlns:di="http://www.omg.org/spec/DD/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC">
<process id="p"><task id="t"/><task id="u"/><sequenceFlow id="f" sourceRef="t" targetRef="u"/>
<sequenceFlow id="g" sourceRef="t" targetRef="u"/></process>
<bpmndi:BPMNDiagram %(BPMNDiagram)s><bpmndi:BPMNPlane %(BPMNPlane)s>%(in:BPMNPlane)s
<bpmndi:BPMNShape %(BPMNShape)s bpmnElement="t"><dc:Bounds %(Bounds)s/>%(in:BPMNShape)s
<bpmndi:BPMNLabel %(BPMNLabel)s>%(in:BPMNLabel)s</bpmndi:BPMNLabel></bpmndi:BPMNShape>
<bpmndi:BPMNEdge %(BPMNEdge)s bpmnElement="f"><di:waypoint %(Point)s/><di:waypoint x="1" y="2"/>
%(in:BPMNEdge)s<bpmndi:BPMNLabel/></bpmndi:BPMNEdge></bpmndi:BPMNPlane>
<bpmndi:BPMNLabelStyle %(BPMNLabelStyle)s>%(in:BPMNLabelStyle)s<dc:Font %(Font)s/>
</bpmndi:BPMNLabelStyle></bpmndi:BPMNDiagram></definitions>"""
BOUNDS = 'x="1" y="2" width="3" height="4"'
DRAWN = {"Bounds": BOUNDS, "Point": 'x="1" y="2"'}


def drawing(**changes: str) -> str:
    slots = {
        name: DRAWN.get(name, "")
        for name in ("BPMNDiagram", "BPMNPlane", "BPMNShape", "Bounds", "BPMNLabel", "BPMNEdge",
                     "Point", "BPMNLabelStyle", "Font")
    }  # fmt: skip
    text = DRAWING
    for name, value in slots.items():
        mine = changes.get(name, "")
        keys = {a.partition("=")[0] for a in mine.split()}
        kept = " ".join(a for a in value.split() if a.partition("=")[0] not in keys)
        text = text.replace(f"%({name})s", f"{kept} {mine}")
        inner = changes.get(f"in_{name}", "")
        text = text.replace(f"%(in:{name})s", inner)
        if "bpmnElement=" in mine:
            for element in ("t", "f"):
                text = text.replace(f'{mine} bpmnElement="{element}"', mine)
    return text


def di_chain(name: str | None) -> Iterator[str]:
    while name is not None:
        yield name
        name = DRAWING_TYPES[name].base


def test_every_attribute_of_a_drawing_survives() -> None:
    types = schema_types(*DI_NAMES)
    tried = set()
    concrete = ("BPMNDiagram", "BPMNPlane", "BPMNShape", "BPMNEdge", "BPMNLabel", "BPMNLabelStyle",
                "Font", "Point", "Bounds")  # fmt: skip
    for tag, owner in itertools.chain.from_iterable(
        ((t, o) for o in di_chain(t)) for t in concrete
    ):
        for member, kind in types[owner].members.items():
            if not member.startswith("@"):
                continue
            pair = {
                "@bpmnElement": ("f", "g") if tag == "BPMNEdge" else ("t", "u"),
                "@id": ("zq1", "zq2"),
            }.get(member)
            if pair is None and kind in ("xsd:double", "double"):
                pair = ("7", "8")
            one, two = (f'{member[1:]}="{v}"' for v in pair or values(kind))
            first, second = (parts(read(drawing(**{tag: v}))) for v in (one, two))
            where = {place for place in first if first[place] != second[place]}
            disposition = DRAWING_TYPES[owner].members[member]
            assert where == {PLACES[disposition]}, (tag, owner, member)
            tried.add((owner, member))
    every = {(t, m) for t, e in DRAWING_TYPES.items() for m in e.members if m.startswith("@")}
    assert tried == every


def test_the_elements_of_a_drawing_survive() -> None:
    model = read(drawing(in_BPMNLabel=f"<dc:Bounds {BOUNDS}/>"))
    assert model.diagram is not None
    (shape,), (edge,) = model.diagram.shapes, model.diagram.edges
    assert (shape.element, shape.bounds, shape.label) == ("t", (1, 2, 3, 4), (1, 2, 3, 4))
    assert (edge.element, edge.waypoints) == ("f", ((1, 2), (1, 2)))
    for tag in ("BPMNShape", "BPMNEdge", "BPMNPlane", "BPMNLabel"):
        inner = '<di:extension><v:zq1 xmlns:v="urn:v"/></di:extension>'
        assert "zq1" in read(drawing(**{f"in_{tag}": inner})).to_json()
    assert "Font" in model.to_json()


def test_no_drawing_is_read_unless_asked_for() -> None:
    model = FRONTEND.parse(SourceFile("x.bpmn", drawing().encode()), PassContext())
    assert model is not None
    assert model.diagram is None
    assert "BPMNDiagram" not in model.to_json()


def test_shortcuts_past_the_table_agree_with_it() -> None:
    """What most files have is recognised without the table of the schema, which takes a
    hundredth of a compile to import."""
    assert attributes_of("definitions") - {"id", "name"} == bpmn_reading._OF_ROOTS
    assert scope._OF_ALL <= KNOWN_TAGS - OPAQUE_NODES
