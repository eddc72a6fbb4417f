"""Names of the BPMN 2.0 interchange format and the IR elements of its tags; names that are also
written are in the backend."""

from __future__ import annotations

from orgflow.backends.bpmn.format import (
    ARTIFACTS,
    BPMN,
    BPMNDI,
    CATALOG,
    DATA,
    DC,
    DI,
    EVENT_DEFINITIONS,
    EVENTS,
    GATEWAYS,
    TASKS,
    XSI,
)

__all__ = [
    "ARTIFACTS", "BPMN", "BPMNDI", "CATALOG", "DATA", "DATA_ASSOCIATIONS", "DC", "DI", "ELEMENTS",
    "EVENTS", "EVENT_DEFINITIONS", "FLOW_NODES", "GATEWAYS", "HARMLESS_ROOTS", "ILLEGAL_ROOTS",
    "SUB_PROCESSES", "TASKS", "XSI",
]  # fmt: skip

SUB_PROCESSES = ("subProcess", "transaction", "adHocSubProcess")
DATA_ASSOCIATIONS = ("dataInputAssociation", "dataOutputAssociation")

HARMLESS_ROOTS = frozenset(
    (
        "category", "correlationProperty", "dataStore", "endPoint", "globalBusinessRuleTask",
        "globalConversation", "globalManualTask", "globalScriptTask", "globalTask",
        "globalUserTask", "interface", "itemDefinition", "partnerEntity", "partnerRole",
        "resource",
    )
)  # fmt: skip
"""Root elements kept verbatim, since they start or change nothing. A global task has no effect
until a call activity names it, and that is a separate element."""

ILLEGAL_ROOTS = frozenset(("choreography", "globalChoreographyTask"))
"""Root elements with their own control flow, which the IR does not model."""

FLOW_NODES = frozenset((*TASKS, *SUB_PROCESSES, *EVENTS, *GATEWAYS, "callActivity"))

ELEMENTS = frozenset(
    (
        *FLOW_NODES, *CATALOG, *DATA, *DATA_ASSOCIATIONS, *ARTIFACTS, *HARMLESS_ROOTS,
        *ILLEGAL_ROOTS, "process", "sequenceFlow", "lane", "participant", "messageFlow",
        "correlationKey",
    )
)  # fmt: skip
"""Tags that become elements of the IR, whose ids must be unique."""
