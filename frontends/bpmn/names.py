"""Names of the BPMN 2.0 interchange format: namespaces and what its tags become in the IR."""

from __future__ import annotations

from typing import Literal

from orgflow_ir.model import EventKind, GatewayKind, TaskType

BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
BPMNDI = "http://www.omg.org/spec/BPMN/20100524/DI"
DC = "http://www.omg.org/spec/DD/20100524/DC"
DI = "http://www.omg.org/spec/DD/20100524/DI"
XSI = "http://www.w3.org/2001/XMLSchema-instance"

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

SUB_PROCESSES = ("subProcess", "transaction", "adHocSubProcess")

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
DATA_ASSOCIATIONS = ("dataInputAssociation", "dataOutputAssociation")
ARTIFACTS: dict[str, Literal["annotation", "group", "association"]] = {
    "textAnnotation": "annotation",
    "group": "group",
    "association": "association",
}

HARMLESS_ROOTS = frozenset(
    (
        "category", "correlationProperty", "dataStore", "endPoint", "globalBusinessRuleTask",
        "globalConversation", "globalManualTask", "globalScriptTask", "globalTask",
        "globalUserTask", "interface", "itemDefinition", "partnerEntity", "partnerRole",
        "resource",
    )
)  # fmt: skip
"""Root elements kept as they are: nothing starts or changes because they are there. A global task
does nothing until a call activity names it, and that is an element of its own."""

ILLEGAL_ROOTS = frozenset(("choreography", "globalChoreographyTask"))
"""Root elements with control flow of their own that the IR does not model."""

FLOW_NODES = frozenset((*TASKS, *SUB_PROCESSES, *EVENTS, *GATEWAYS, "callActivity"))

ELEMENTS = frozenset(
    (
        *FLOW_NODES, *CATALOG, *DATA, *DATA_ASSOCIATIONS, *ARTIFACTS, *HARMLESS_ROOTS,
        *ILLEGAL_ROOTS, "process", "sequenceFlow", "lane", "participant", "messageFlow",
        "correlationKey",
    )
)  # fmt: skip
"""Tags that become elements of the IR, whose ids must be unique."""
