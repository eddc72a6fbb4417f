"""The process IR: the parts of a process model."""

from orgflow_ir.model.bindings import Binding
from orgflow_ir.model.elements import (
    AnyElement,
    Artifact,
    CallActivity,
    Catalog,
    CatalogEntry,
    CorrelationKey,
    DataFlow,
    DataObject,
    Element,
    Event,
    EventDefinition,
    EventKind,
    Expression,
    Flow,
    Gateway,
    GatewayKind,
    Lane,
    Loop,
    MessageFlow,
    Model,
    Node,
    Opaque,
    Pool,
    Process,
    Scope,
    SubProcess,
    Task,
    TaskType,
)
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.source import (
    Source,
    SourceFile,
    SourceFolder,
    SourceKind,
    SourceLocation,
    SourceStore,
    SourceStream,
)

__all__ = [
    "AnyElement", "Artifact", "Binding", "CallActivity", "Catalog", "CatalogEntry",
    "CorrelationKey", "DataFlow", "DataObject", "Element", "Event", "EventDefinition", "EventKind",
    "Evidence", "Expression", "Flow", "Gateway", "GatewayKind", "Lane", "Loop", "MessageFlow",
    "Model", "Node", "Opaque", "Pool", "Process", "Scope", "Source", "SourceFile", "SourceFolder",
    "SourceKind", "SourceLocation", "SourceStore", "SourceStream", "SubProcess", "Task", "TaskType",
]  # fmt: skip
