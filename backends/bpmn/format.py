"""The format BPMN 2.0 XML: namespaces, tags, order of children, kept XML; also the frontend's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Literal

from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model import EventKind, GatewayKind, TaskType
from orgflow_ir.model.bindings import SubProcessCall
from orgflow_ir.model.characters import replace_unwritable
from orgflow_ir.model.diagram import PLANE as PLANE
from orgflow_ir.model.dialect import Engine

BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
BPMNDI = "http://www.omg.org/spec/BPMN/20100524/DI"
DC = "http://www.omg.org/spec/DD/20100524/DC"
DI = "http://www.omg.org/spec/DD/20100524/DI"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
XMLNS = "http://www.w3.org/2000/xmlns/"

ORGFLOW = "urn:orgflow"
"""Namespace of IR data that BPMN lacks: names of associations, bindings of other kinds. Kept data
of orgflow's own frontends are in namespaces below it and are text, not XML."""

NAMESPACE = "urn:orgflow:model"
"""The `targetNamespace` of models without one."""

CONVENTIONAL: dict[str, str] = {"bpmn": BPMN, "bpmndi": BPMNDI, "dc": DC, "di": DI, "xsi": XSI}
"""Default prefixes of a written file. Those that the source did not declare are listed on the root
in `orgflow:prefixes`, and the frontend does not keep them."""

MODELER = "http://camunda.org/schema/modeler/1.0"
PLATFORMS: dict[str, Engine] = {
    "camunda platform": "camunda7", "camunda cloud": "camunda8", "operaton": "operaton",
}  # fmt: skip
VENDORS: dict[str, Engine] = {
    "http://camunda.org/schema/1.0/bpmn": "camunda7",
    "http://operaton.org/schema/1.0/bpmn": "operaton",
    "http://flowable.org/bpmn": "flowable",
    "http://activiti.org/bpmn": "activiti",
    "http://camunda.org/schema/zeebe/1.0": "camunda8",
    "http://www.jboss.org/drools": "jbpm",
}
EXPORTERS: tuple[tuple[str, Engine], ...] = (
    ("zeebe modeler", "camunda8"), ("flowable", "flowable"), ("activiti", "activiti"),
    ("jbpm", "jbpm"), ("operaton", "operaton"),
)  # fmt: skip
"""Prefixes of the attribute `exporter`. Tools for several engines name none."""

_UNDERSTOOD: dict[Engine, frozenset[Engine]] = {
    "operaton": frozenset(("operaton", "camunda7", "activiti")),
    "camunda7": frozenset(("camunda7", "activiti")),
    "flowable": frozenset(("flowable", "activiti")),
    "activiti": frozenset(("activiti",)),
    "camunda8": frozenset(("camunda8",)),
    "jbpm": frozenset(("jbpm",)),
}
"""The vocabularies that each engine reads."""

DIALECT = "dialect"
"""The attribute of orgflow's namespace by which a process states its engine."""
LOOP_INPUT = f"@{{{ORGFLOW}}}loopDataInput"
"""Key of the `extra` of a repetition marker: the data input of its activity that the file names as
its list, instead of what is given to it. It is not written."""
NO_DIALECT = "none"
NO_BINDING = "none"
"""The `kind` of a binding that preserves a call without mappings in a file of an engine that
implies some."""


def engine_of(
    platforms: Iterable[str], used: Iterable[Engine], exporter: str, declared: Iterable[Engine]
) -> Engine | None:
    """The engine of a file; `None` if nothing states it, or several are possible.

    In this order: the platforms that Camunda Modeler records, the used vocabularies, the tool that
    wrote the file, the declared but unused vocabularies.
    """
    for platform in platforms:
        if (noted := PLATFORMS.get(platform.strip().lower())) is not None:
            return noted
    if vocabularies := frozenset(used):
        return _of_several(vocabularies)
    tool = exporter.strip().lower()
    for name, engine in EXPORTERS:
        if tool.startswith(name):
            return engine
    return _of_several(frozenset(declared))


def run_by(engine: Engine | None) -> Engine | None:
    """`by` of a script in a file for an engine. Camunda 8 has no assignments in its scripts."""
    return None if engine == "camunda8" else engine


def called_by(engine: Engine | None) -> SubProcessCall | None:
    """The binding of a call with no extensions in a file for an engine. Camunda 8 passes all
    variables by default, as does a file for no engine; all others pass none."""
    return None if engine in (None, "camunda8") else SubProcessCall(by=engine)


def _of_several(engines: frozenset[Engine]) -> Engine | None:
    """The only engine that reads all of these vocabularies and has one of them for its own."""
    fit = [engine for engine in sorted(engines) if engines <= _UNDERSTOOD[engine]]
    return fit[0] if len(fit) == 1 else None


TASKS: dict[str, TaskType] = {
    "task": "abstract",
    "userTask": "user",
    "manualTask": "manual",
    "serviceTask": "service",
    "scriptTask": "script",
    "sendTask": "send",
    "receiveTask": "receive",
    "businessRuleTask": "business-rule",
}

EVENTS: dict[str, Literal["start", "catch", "throw", "boundary", "end"]] = {
    "startEvent": "start",
    "intermediateCatchEvent": "catch",
    "intermediateThrowEvent": "throw",
    "boundaryEvent": "boundary",
    "endEvent": "end",
}

GATEWAYS: dict[str, GatewayKind] = {
    "exclusiveGateway": "exclusive",
    "inclusiveGateway": "inclusive",
    "parallelGateway": "parallel",
    "eventBasedGateway": "event",
    "complexGateway": "complex",
}

EVENT_DEFINITIONS: dict[str, tuple[EventKind, str]] = {
    "messageEventDefinition": ("message", "messageRef"),
    "timerEventDefinition": ("timer", ""),
    "signalEventDefinition": ("signal", "signalRef"),
    "errorEventDefinition": ("error", "errorRef"),
    "escalationEventDefinition": ("escalation", "escalationRef"),
    "conditionalEventDefinition": ("conditional", ""),
    "compensateEventDefinition": ("compensation", "activityRef"),
    "linkEventDefinition": ("link", ""),
    "terminateEventDefinition": ("terminate", ""),
    "cancelEventDefinition": ("cancel", ""),
}
"""Kind and the attribute that refers to the catalogue (or, for compensation, to an activity)."""

CATALOG = {"message": "messages", "signal": "signals", "error": "errors",
           "escalation": "escalations"}  # fmt: skip

DATA: dict[str, Literal["object", "reference", "store-reference"]] = {
    "dataObject": "object",
    "dataObjectReference": "reference",
    "dataStoreReference": "store-reference",
}
ARTIFACTS: dict[str, Literal["annotation", "group", "association"]] = {
    "textAnnotation": "annotation",
    "group": "group",
    "association": "association",
}

EVIDENCE = "evidence"
"""orgflow's element around a passage of a document that supports an element."""

KEPT = "kept"
"""orgflow's element around extension data that XML cannot represent as a separate element or
attribute."""

COLLABORATION = f"@{{{ORGFLOW}}}collaboration"
"""Key of the `extra` of pools, message flows, artifacts and correlation keys in another
collaboration than the first one: its number, counted from 0."""

PLACEHOLDER = "__targetRef_placeholder"
"""Name of the property at which a data association ends if the activity has no data input: the
schema requires an end, and modelling tools create the same."""

ITEM_END = "__item"
"""The id of the data item of a multi-instance activity is that of the activity with this suffix, if
the model only has the item's name."""

PLACEHOLDER_END = "__target"
"""Its id is that of the association with this suffix."""

# -- the order in which the schema wants children ------------------------------------------------

EXTENSIONS = "extensionElements"
_ORDERS: dict[str, list[str]] = {
    parent: ["documentation", *children.split()]
    for parent, children in {
        "": "extensionElements auditing monitoring categoryValueRef incoming outgoing "
        "ioSpecification property dataInput dataInputAssociation dataOutput dataOutputAssociation "
        "inputSet outputSet resourceRole standardLoopCharacteristics "
        "multiInstanceLoopCharacteristics eventDefinitions eventDefinitionRef laneSet flowElements "
        "artifacts script rendering activationCondition conditionExpression dataState "
        "completionCondition",
        "process": "extensionElements supportedInterfaceRef ioSpecification ioBinding auditing "
        "monitoring property laneSet flowElements artifacts resourceRole correlationSubscription "
        "supports",
        "collaboration": "extensionElements participant messageFlow artifacts conversation "
        "conversationAssociation participantAssociation messageFlowAssociation correlationKey "
        "choreographyRef conversationLink",
        "lane": "extensionElements partitionElement flowNodeRef childLaneSet",
        "participant": "extensionElements interfaceRef endPointRef participantMultiplicity",
        "multiInstanceLoopCharacteristics": "extensionElements loopCardinality loopDataInputRef "
        "loopDataOutputRef inputDataItem outputDataItem complexBehaviorDefinition "
        "completionCondition",
        "dataInputAssociation": "extensionElements sourceRef targetRef transformation assignment",
        "linkEventDefinition": "extensionElements source target",
        "definitions": "import extension extensionElements roots BPMNDiagram relationship",
    }.items()
}
_ORDERS["dataOutputAssociation"] = _ORDERS["dataInputAssociation"]
_SAME_RANK = {
    "performer": "resourceRole", "humanPerformer": "resourceRole",
    "potentialOwner": "resourceRole", "callConversation": "conversation",
    "subConversation": "conversation", "textAnnotation": "artifacts", "group": "artifacts",
    "association": "artifacts", **dict.fromkeys(EVENT_DEFINITIONS, "eventDefinitions"),
}  # fmt: skip


@cache
def child_rank(parent: str, ns: str, local: str) -> int:
    """The position of a child element in its parent (by local name): lower comes first. Elements
    outside of BPMN are in `extensionElements`; elements that the schema does not permit there come
    last."""
    order = _ORDERS.get(parent) or _ORDERS[""]
    name = EXTENSIONS if ns not in (BPMN, BPMNDI) else _SAME_RANK.get(local, local)
    return order.index(name) if name in order else len(order)


def split_key(key: str) -> tuple[str, str]:
    """(namespace, local name) of a key of extension data."""
    ns, _, local = key.removeprefix("@").removeprefix("{").rpartition("}")
    return ns, local


def in_order(parent: str, extra: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Extension data with attributes first and then elements in the schema's order."""
    attributes = [pair for pair in extra if pair[0].startswith("@")]
    elements = [pair for pair in extra if not pair[0].startswith("@")]
    if len(elements) > 1:
        elements.sort(key=lambda pair: child_rank(parent, *split_key(pair[0])))
    return attributes + elements


# -- declarations of kept XML --------------------------------------------------------------------


def declare_namespaces(
    qname: str, raw: str, own: Collection[str], prefixes: Mapping[str, str], uses_default: bool
) -> str:
    """The text `raw` of an element with all namespaces that it uses declared on it.

    `own` are its own `xmlns` attributes, `prefixes` those in force around it (`""`: default).
    Prefixes in attribute values and text count (`xsi:type="bpmn:tFormalExpression"`).
    """
    missing = []
    default = prefixes.get("", "")
    if default and uses_default and "xmlns" not in own:
        missing.append(("xmlns", default))
    for prefix in sorted(prefixes):
        if prefix and prefix != "xml" and f"xmlns:{prefix}" not in own and f"{prefix}:" in raw:
            missing.append((f"xmlns:{prefix}", prefixes[prefix]))
    if not missing:
        return raw
    at = 1 + len(qname)
    text = "".join(f' {name}="{attribute_text(uri)}"' for name, uri in missing)
    return raw[:at] + text + raw[at:]


_ATTRIBUTE = {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_IN_ATTRIBUTE = lazy_pattern('[&<"\t\n\r]')


def attribute_text(value: str) -> str:
    """`value` as text between double quotes; characters that XML does not permit are replaced."""
    if _IN_ATTRIBUTE.search(value):
        value = _IN_ATTRIBUTE.sub(lambda m: _ATTRIBUTE[m.group()], value)
    return replace_unwritable(value)


def content_text(value: str) -> str:
    """`value` as the text of an element; characters that XML does not permit are replaced."""
    value = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return replace_unwritable(value.replace("\r", "&#13;"))


def is_our_text(ns: str) -> bool:
    """Whether kept elements of this namespace contain text of one of orgflow's frontends."""
    return ns.startswith(ORGFLOW + ":")
