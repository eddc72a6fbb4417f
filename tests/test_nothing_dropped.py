"""Each field of each class that a model is made of shows in what targets emit, in its notes, or in
a diagnostic.

The classes and fields come from the types themselves: a field that is added to the IR fails here
until something makes of it what people see.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin

import pytest
from orgflow.backends.bpmn.document import write_document
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.model import (
    Artifact,
    CallActivity,
    Catalog,
    DataFlow,
    DataObject,
    Element,
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Lane,
    Loop,
    MessageFlow,
    Model,
    Opaque,
    Pool,
    Process,
    SubProcess,
)
from orgflow_ir.model.bindings import BINDINGS
from orgflow_ir.model.diagram import Diagram
from orgflow_ir.model.dialect import Dialect
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.model.value import Value
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

REGISTRY = Registry(outside=False)
TARGETS = ("n8n", "asl")
BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
CAMUNDA = "http://camunda.org/schema/1.0/bpmn"
VENDOR = "http://example.com/modeller"
"""Of no engine: an extension of one makes the process one of that engine."""

SHOWN_ELSEWHERE: dict[tuple[type[Value], str], str] = {
    (Element, "id"): "identity: the map of the workflow has it",
    (Element, "loc"): "where it stands in the file",
    (Element, "origin"): "which pass made it",
    (Element, "derived_from"): "provenance of what lowerings make",
    (Element, "evidence"): "passages of documents: diagnostics quote them, reports list them",
    (EventDefinition, "id"): "identity",
    (EventDefinition, "loc"): "where it stands in the file",
    (Flow, "source"): "control flow: the token game and the engines compare it",
    (Flow, "target"): "control flow",
    (Lane, "members"): "the lane shows as a band or on its members (`name` is looked for)",
    (Lane, "parent"): "how lanes nest: bands of the outermost contain the others",
    (Lane, "lane_set"): "which lanes belong to one set",
    (DataObject, "ref"): "a reference shows what its object says (`state`, `type` …)",
    (DataFlow, "source"): "the node that the statement is about",
    (DataFlow, "target"): "the node that the statement is about",
    (Artifact, "source"): "the element that an annotation is about",
    (Artifact, "target"): "the element that an annotation is about",
    (Artifact, "direction"): "the arrowhead of an association",
    (Pool, "process"): "which process a pool holds",
    (MessageFlow, "source"): "the node that sends",
    (MessageFlow, "target"): "the node that receives",
    (Expression, "language"): "how the text is read: tests of expressions compare each language",
    (Expression, "extra"): "ids and types of XML: the expression itself is looked for",
    (Model, "source"): "the file's name",
    (EventDefinition, "timer"): "the text itself says whether it is a date or a duration",
    (Opaque, "stops"): "the reason of a stub, which legalisation makes: OF407 has it",
    (Process, "executable"): "whether an engine of another vendor runs it",
    (Dialect, "engine"): "what calls and errors mean: their tests compile them for each engine",
    (Dialect, "evidence"): "an extension of the source, which is kept and looked for as such",
    (Dialect, "loc"): "where it stands in the file",
}
"""Fields that no text of the workflow can show, and why; those of `Element` count for all."""

ONLY: dict[tuple[type[Value], str], tuple[str, object]] = {
    (EventDefinition, "name"): ("kind", "link"),
    (EventDefinition, "wait_for_completion"): ("kind", "compensation"),
    (Gateway, "await_all"): ("instantiate", True),
    (Gateway, "instantiate"): ("gateway_kind", "event"),
    (Gateway, "condition"): ("gateway_kind", "complex"),
}
"""Fields that only elements of one kind have."""

HOSTS = {
    "plain": f"""<definitions xmlns="{BPMN}" name="N">
<message id="me" name="a" itemRef="it"/><message id="mo" name="b"/>
<itemDefinition id="it" structureRef="xsd:string"/>
<globalUserTask id="gu" name="G"/>
<process id="p" name="P"><documentation>x</documentation>
 <laneSet id="ls"><lane id="l" name="c"><flowNodeRef>t</flowNodeRef></lane></laneSet>
 <startEvent id="s" name="d"><messageEventDefinition messageRef="me"/></startEvent>
 <sendTask id="t" name="e" messageRef="mo">
  <dataOutputAssociation id="do"><targetRef>dr</targetRef></dataOutputAssociation></sendTask>
 <exclusiveGateway id="g" name="f" default="f5"/>
 <userTask id="u" name="h"/>
 <intermediateCatchEvent id="c" name="i"><timerEventDefinition>
  <timeDuration>PT5M</timeDuration></timerEventDefinition></intermediateCatchEvent>
 <endEvent id="e" name="j"/>
 <dataObject id="d"/><dataObjectReference id="dr" dataObjectRef="d" name="k"/>
 <textAnnotation id="ta"><text>l</text></textAnnotation>
 <association id="as" sourceRef="t" targetRef="ta"/>
 <sequenceFlow id="f1" sourceRef="s" targetRef="t"/>
 <sequenceFlow id="f3" sourceRef="t" targetRef="g"/>
 <sequenceFlow id="f4" name="m" sourceRef="g" targetRef="u"/>
 <sequenceFlow id="f5" name="n" sourceRef="g" targetRef="c"/>
 <sequenceFlow id="f6" sourceRef="u" targetRef="e"/>
 <sequenceFlow id="f7" sourceRef="c" targetRef="e"/>
</process>
<collaboration id="co"><participant id="pp" name="o" processRef="p">
  <participantMultiplicity minimum="1" maximum="3"/></participant>
 <participant id="box" name="q"/><messageFlow id="mf" name="r" sourceRef="box" targetRef="s"/>
 <correlationKey id="ck" name="y"><correlationPropertyRef>cp</correlationPropertyRef>
 </correlationKey></collaboration></definitions>""",
    "wait": f"""<definitions xmlns="{BPMN}" xmlns:v="{VENDOR}"><process id="p" name="P">
 <startEvent id="s" name="a"/>
 <intermediateCatchEvent id="c" name="b"><conditionalEventDefinition><condition>c</condition>
 </conditionalEventDefinition></intermediateCatchEvent><endEvent id="e" name="d"/>
 <sequenceFlow id="f1" sourceRef="s" targetRef="c"/>
 <sequenceFlow id="f2" sourceRef="c" targetRef="e"/></process></definitions>""",
    "coded": f"""<definitions xmlns="{BPMN}"><process id="p" name="P"><startEvent id="s" name="a"/>
 <task id="t" name="b"/><exclusiveGateway id="g" name="c" default="f4"/><endEvent id="e" name="d"/>
 <task id="u" name="f"/>
 <sequenceFlow id="f1" sourceRef="s" targetRef="t"/>
 <sequenceFlow id="f2" sourceRef="t" targetRef="g"/>
 <sequenceFlow id="f3" sourceRef="g" targetRef="u"><conditionExpression language="feel">x = 1
 </conditionExpression></sequenceFlow><sequenceFlow id="f4" sourceRef="g" targetRef="e"/>
 <sequenceFlow id="f5" sourceRef="u" targetRef="e"/></process></definitions>""",
    "called": f"""<definitions xmlns="{BPMN}"><process id="p" name="P"><startEvent id="s" name="a"/>
 <callActivity id="c" name="b" calledElement="q"/><endEvent id="e" name="d"/>
 <sequenceFlow id="f1" sourceRef="s" targetRef="c"/>
 <sequenceFlow id="f2" sourceRef="c" targetRef="e"/></process></definitions>""",
    "inside": f"""<definitions xmlns="{BPMN}"><process id="p" name="P"><startEvent id="s" name="a"/>
 <subProcess id="c" name="b"><startEvent id="s2" name="d"/><task id="t" name="f"/>
 <endEvent id="e2" name="g"/><sequenceFlow id="g1" sourceRef="s2" targetRef="t"/>
 <sequenceFlow id="g2" sourceRef="t" targetRef="e2"/></subProcess><endEvent id="e" name="h"/>
 <sequenceFlow id="f1" sourceRef="s" targetRef="c"/>
 <sequenceFlow id="f2" sourceRef="c" targetRef="e"/></process></definitions>""",
    "list": f"""<definitions xmlns="{BPMN}" xmlns:c="{CAMUNDA}"><process id="p" name="P">
 <startEvent id="s" name="a"/><task id="c" name="b"><multiInstanceLoopCharacteristics
 c:collection="xs" c:elementVariable="y"/></task><endEvent id="e" name="d"/>
 <sequenceFlow id="f1" sourceRef="s" targetRef="c"/>
 <sequenceFlow id="f2" sourceRef="c" targetRef="e"/></process></definitions>""",
    "link": f"""<definitions xmlns="{BPMN}"><process id="p" name="P"><startEvent id="s" name="a"/>
 <intermediateThrowEvent id="i" name="b"><linkEventDefinition name="c"/></intermediateThrowEvent>
 <intermediateCatchEvent id="k" name="d"><linkEventDefinition name="c"/></intermediateCatchEvent>
 <endEvent id="e" name="d"/><sequenceFlow id="f1" sourceRef="s" targetRef="i"/>
 <sequenceFlow id="f2" sourceRef="k" targetRef="e"/></process></definitions>""",
    "undo": f"""<definitions xmlns="{BPMN}"><process id="p" name="P"><startEvent id="s" name="a"/>
 <task id="t" name="b"/><endEvent id="e" name="d"><compensateEventDefinition/></endEvent>
 <boundaryEvent id="u" attachedToRef="t"><compensateEventDefinition/></boundaryEvent>
 <task id="h" name="c" isForCompensation="true"/>
 <association id="as" associationDirection="One" sourceRef="u" targetRef="h"/>
 <sequenceFlow id="f1" sourceRef="s" targetRef="t"/>
 <sequenceFlow id="f2" sourceRef="t" targetRef="e"/></process></definitions>""",
    "complex": f"""<definitions xmlns="{BPMN}"><process id="p"><startEvent id="s" name="a"/>
 <complexGateway id="g" name="c"/><complexGateway id="h" name="k"/><endEvent id="e" name="d"/>
 <task id="t" name="b"/><task id="u" name="f"/>
 <sequenceFlow id="f1" sourceRef="s" targetRef="g"/>
 <sequenceFlow id="f2" sourceRef="g" targetRef="t"/>
 <sequenceFlow id="f3" sourceRef="g" targetRef="u"/>
 <sequenceFlow id="f4" sourceRef="t" targetRef="h"/>
 <sequenceFlow id="f5" sourceRef="u" targetRef="h"/>
 <sequenceFlow id="f6" sourceRef="h" targetRef="e"/></process></definitions>""",
    "begin": f"""<definitions xmlns="{BPMN}"><process id="p" name="P">
 <eventBasedGateway id="g" name="c" instantiate="true"/><endEvent id="e" name="d"/>
 <intermediateCatchEvent id="t" name="b"><messageEventDefinition/></intermediateCatchEvent>
 <intermediateCatchEvent id="u" name="f"><messageEventDefinition/></intermediateCatchEvent>
 <sequenceFlow id="f2" sourceRef="g" targetRef="t"/>
 <sequenceFlow id="f3" sourceRef="g" targetRef="u"/>
 <sequenceFlow id="f4" sourceRef="t" targetRef="e"/>
 <sequenceFlow id="f5" sourceRef="u" targetRef="e"/></process></definitions>""",
    "first": f"""<definitions xmlns="{BPMN}"><process id="p" name="P"><startEvent id="s" name="a"/>
 <eventBasedGateway id="g" name="c"/><endEvent id="e" name="d"/>
 <intermediateCatchEvent id="t" name="b"><messageEventDefinition/></intermediateCatchEvent>
 <intermediateCatchEvent id="u" name="f"><timerEventDefinition><timeDuration>PT5M</timeDuration>
 </timerEventDefinition></intermediateCatchEvent>
 <sequenceFlow id="f1" sourceRef="s" targetRef="g"/>
 <sequenceFlow id="f2" sourceRef="g" targetRef="t"/>
 <sequenceFlow id="f3" sourceRef="g" targetRef="u"/>
 <sequenceFlow id="f4" sourceRef="t" targetRef="e"/>
 <sequenceFlow id="f5" sourceRef="u" targetRef="e"/></process></definitions>""",
}  # fmt: skip


RARE = f"""<definitions xmlns="{BPMN}"><error id="er" name="x" errorCode="5"/>
<process id="p" name="P"><startEvent id="s" name="a"/>
 <adHocSubProcess id="c" name="b" ordering="Sequential" cancelRemainingInstances="false">
  <task id="t" name="f"/><completionCondition>z</completionCondition></adHocSubProcess>
 <task id="u" name="k"><standardLoopCharacteristics testBefore="false"><loopCondition>q
 </loopCondition></standardLoopCharacteristics></task>
 <boundaryEvent id="bo" name="m" attachedToRef="u"><errorEventDefinition errorRef="er"/>
 </boundaryEvent><boundaryEvent id="bt" name="n" attachedToRef="u"><timerEventDefinition>
  <timeDuration>PT5M</timeDuration></timerEventDefinition></boundaryEvent>
 <intermediateCatchEvent id="ic" name="l" parallelMultiple="false"><messageEventDefinition/>
 <signalEventDefinition/></intermediateCatchEvent><receiveTask id="re" name="v"/>
 <endEvent id="e" name="h"/><endEvent id="e2" name="i"/><endEvent id="e3" name="j"/>
 <sequenceFlow id="f1" sourceRef="s" targetRef="c"/>
 <sequenceFlow id="f2" sourceRef="c" targetRef="u"/>
 <sequenceFlow id="f3" sourceRef="u" targetRef="ic"/>
 <sequenceFlow id="f4" sourceRef="bo" targetRef="e2"/>
 <sequenceFlow id="f5" sourceRef="bt" targetRef="e3"/>
 <sequenceFlow id="f6" sourceRef="ic" targetRef="re"/>
 <sequenceFlow id="f7" sourceRef="re" targetRef="e"/></process></definitions>"""
"""What only BPMN itself keeps as it is."""

# -- compiling ---------------------------------------------------------------------------------


def read(host: str) -> Model:
    return read_text(HOSTS[host], f"{host}.bpmn")


def read_text(text: str, name: str) -> Model:
    model = load_model(SourceFile(name, text.encode()), REGISTRY, PassContext(registry=REGISTRY))
    assert model is not None
    return model


NOT_FOR_PEOPLE = re.compile(r"\[orgflow\]: .*$|^ *\"id\": .*$", re.MULTILINE)


def shown(model: Model, target: str) -> tuple[bool, str]:
    """Whether it compiles, and everything people see of it: nodes, notes and messages."""
    ctx = PassContext(registry=REGISTRY)
    made = compile_model(model, REGISTRY.backends[target], ctx)
    texts = [f"{d.code} {d.message} {d.help}" for d in ctx.diagnostics]
    if made is None:
        return False, "\n".join(texts)
    for artifact in made.artifacts:  # the map of a workflow and ids tell nothing to people
        texts.append(NOT_FOR_PEOPLE.sub("", artifact.text))
    return True, "\n".join(texts)


# -- what a model is made of ----------------------------------------------------------------------


def hints(cls: type[Value]) -> dict[str, Any]:
    """The types of the fields of a class."""
    found = {}
    for base in reversed(cls.__mro__):
        written = inspect.get_annotations(base)
        for name in sorted({part.name for part in fields(cls)} & written.keys()):
            found[name] = eval(written[name], vars(sys.modules[base.__module__]))
    return found


def classes() -> list[type[Value]]:
    """Every class that a value in a model may have."""
    found: dict[type[Value], None] = {}

    def visit(hint: Any) -> None:
        if isinstance(hint, type) and issubclass(hint, Value):
            if hint in found or hint in (Diagram, SourceLocation, Evidence):
                return
            found[hint] = None
            for part in hints(hint).values():
                visit(part)
        for part in get_args(hint):
            visit(part)

    visit(Model)
    return list(found)


def values(value: Any) -> Iterator[Value]:
    """Every value in a value."""
    if isinstance(value, tuple):
        for part in value:
            yield from values(part)
    elif isinstance(value, Value):
        yield value
        for part in fields(value):
            yield from values(getattr(value, part.name))


def put(value: Any, old: Value, new: Value) -> Any:
    """A value with one that is in it replaced by another."""
    if value is old:
        return new
    if isinstance(value, tuple):
        parts = tuple(put(part, old, new) for part in value)
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
    if isinstance(value, Value):
        changes = {}
        for part in fields(value):
            before = getattr(value, part.name)
            after = put(before, old, new)
            if after is not before:
                changes[part.name] = after
        return value.replace(**changes) if changes else value
    return value


def exempt(cls: type[Value], name: str) -> bool:
    return any((base, name) in SHOWN_ELSEWHERE for base in cls.__mro__)


def variants(cls: type[Value], name: str, value: Value) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Other values of a field, and the texts of each that have to be seen; without texts, it must
    make a difference."""
    hint = hints(cls)[name]
    now, mark = getattr(value, name), f"mark{name.replace('_', '')}x"
    options = get_args(hint) if get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    for option in options:
        arguments = get_args(option)
        if option is str:
            if name in REFERENCES:
                yield from [(None, ())] if now is not None else ()
            elif name == "payload":  # XML as it was read
                yield f'<part value="{mark}"/>', (mark,)
            else:
                yield mark, (mark,)
        elif option is bool:
            yield not now, ()
        elif option is int:
            yield 7, ()
        elif option is Expression:
            yield (now or Expression(text="")).replace(text=mark), (mark,)
        elif get_origin(option) is Literal:
            yield from ((other, ()) for other in arguments if other != now)
        elif name == "extra":
            yield (*now, (f"@{{{VENDOR}}}{mark}k", mark)), (mark, f"{mark}k")
        elif arguments == (str, Ellipsis):
            yield (mark,), (mark,)
        elif arguments == (int, int):
            yield (2, 77), ("77",)
        elif get_origin(option) is tuple and get_args(arguments[0]) == (str, str):
            yield ((mark, f"{mark}v"),), (mark, f"{mark}v")


REFERENCES = ("ref", "message", "attached_to")
"""Ids of other elements: without one, what it refers to is no longer shown."""


def covered_elsewhere(cls: type[Value]) -> bool:
    """Bindings have a test of their own, with every field full: `test_bindings_are_kept.py`."""
    return cls in BINDINGS.values() or cls.__module__.endswith("bindings")


# -- tests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("cls", [c for c in classes() if not covered_elsewhere(c)])
def test_every_field_shows(cls: type[Value], target: str) -> None:
    silent: dict[str, object] = {}
    seen: set[str] = set()
    samples = 0
    for host in HOSTS:
        model = read(host)
        sample = [v for v in values(model) if type(v) is cls]
        if not sample:
            continue
        samples += len(sample)
        compiles, before = shown(model, target)
        assert compiles or "OF403" in before, f"{host} is refused without a reason"
        for value in sample:
            for part in fields(cls):
                kind, wanted = ONLY.get((cls, part.name), ("", ""))
                if exempt(cls, part.name) or (kind and getattr(value, kind) != wanted):
                    continue
                for new, marks in variants(cls, part.name, value):
                    if not compiles:  # refused, with a diagnostic that names it
                        seen.add(part.name)
                        continue
                    changed = put(model, value, value.replace(**{part.name: new}))
                    still, after = shown(changed, target)
                    lost = [m for m in marks if m not in after] if still else []
                    if lost or after == before:
                        silent.setdefault(part.name, (host, new, lost))
                    else:
                        seen.add(part.name)
    assert samples, f"no host has a {cls.__name__}"
    assert {k: v for k, v in silent.items() if k not in seen} == {}


@pytest.mark.parametrize(
    "cls", [c for c in classes() if not covered_elsewhere(c) and c is not Opaque]
)
def test_every_field_comes_back_from_bpmn(cls: type[Value]) -> None:
    """Written as BPMN and read again, at least where BPMN has a place for it. An `Opaque` is the
    text that it was read from, and its other fields are read from that."""
    wanted = {part.name for part in fields(cls) if not exempt(cls, part.name)}
    back: set[str] = set()
    tried: set[str] = set()
    for host in (*HOSTS, "rare"):
        model = read_text(RARE, "rare.bpmn") if host == "rare" else read(host)
        for value in (v for v in values(model) if type(v) is cls):
            for name in sorted(wanted - back):
                for new, _ in variants(cls, name, value):
                    tried.add(name)
                    changed = put(model, value, value.replace(**{name: new}))
                    if read_text(write_document(changed, None), model.source) == changed:
                        back.add(name)
                        break
    assert tried or not wanted or cls is Catalog  # which has nothing but its entries
    assert tried - back == set()


def test_exemptions_are_fields() -> None:
    """A reason for a field that is no longer there is not kept."""
    for cls, name in SHOWN_ELSEWHERE:
        assert name in {part.name for part in fields(cls)}, (cls, name)
    assert {Loop, SubProcess, CallActivity, Event} <= set(classes())
