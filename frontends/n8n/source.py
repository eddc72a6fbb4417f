"""The workflows of a file in the form for processes: nodes with ids and places; faults are
reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n.format.json_values import number
from orgflow.backends.n8n.format.workflow_document import Fault, Node, Path, WorkflowDocument
from orgflow.backends.n8n.node_types.catalogue import known_short
from orgflow.frontends.n8n.import_rules import (
    LostConnection,
    MissingWorkflowKey,
    RepeatedNodeName,
    UnreadableMap,
    WrongWorkflowValue,
)

from orgflow_ir.diagnostics import Rule, Severity
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.json_source_map import json_path
from orgflow_ir.model.records import dataclass
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext

_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false",
          int: "a number", float: "a number", type(None): "null"}  # fmt: skip
_FARTHEST = 1e9


@dataclass(eq=False)
class SourceNode(Node):
    """A node with its place; `id` is that of its element."""

    loc: SourceLocation
    id: str = ""

    @property
    def short(self) -> str:
        """The type without the package; empty for packages that are not part of n8n."""
        return known_short(self.type)

    @property
    def position(self) -> tuple[float, float] | None:
        """Left and top on the canvas, also in the form of very old exports."""
        position = self.raw.get("position")
        if isinstance(position, Mapping):
            position = [position.get("x"), position.get("y")]
        if not isinstance(position, list) or len(position) != 2:
            return None
        x, y = number(position[0]), number(position[1])
        if x is None or y is None or abs(x) + abs(y) >= _FARTHEST:
            return None
        return x, y


@dataclass
class Wire:
    """A connection: `raw` is its end in the file, `path` its place."""

    kind: str
    source: SourceNode
    output: int
    target: SourceNode
    input: int
    raw: Any
    path: Path


class SourceWorkflow:
    """A workflow, its nodes and connections; `loc` is its place."""

    def __init__(self, document: WorkflowDocument, ctx: PassContext) -> None:
        self.document, self.ctx = document, ctx
        self.loc = document.loc(document.path)
        self.nodes = [SourceNode(**vars(n), loc=document.loc(n.path)) for n in document.nodes]
        by_key = {node.key: node for node in self.nodes}
        self.wires = [
            Wire(w.kind, by_key[w.source], w.output, by_key[w.target], w.input, w.raw, w.path)
            for w in document.wires
        ]

    def report_faults(self) -> None:
        """Report all faults of the file."""
        for fault in self.document.faults:
            self._report_fault(fault)
        for place in self.document.map.broken:
            node = next(n for n in self.nodes if n.place == place)
            self.report(
                UnreadableMap,
                f"the map in the note `{node.name}` cannot be read",
                node.path,
                "delete the note, or compile the model again",
            )

    def report(
        self,
        rule: type[Rule],
        message: str,
        path: Path,
        help: str,
        element: str | None = None,
        severity: Severity | None = None,
    ) -> None:
        """Report a fault at a JSON path."""
        loc = self.document.loc(path)
        self.ctx.emit(rule, message, loc=loc, help=help, element=element, severity=severity)

    def _name_node(self, path: Path) -> str:
        """The node at a path by its name, else by the path."""
        node = next((n for n in self.nodes if n.path == path), None)
        name = node.raw.get("name") if node is not None else None
        own = one_line(name) if isinstance(name, str) else ""
        return f"`{own}`" if own else json_path(path)

    def _report_fault(self, fault: Fault) -> None:
        path, name = json_path(fault.path), fault.name
        match fault.kind:
            case "repeated-key":
                message = f"{path} has the key `{name}` more than once; only the last one counts"
                self.report(WrongWorkflowValue, message, fault.path, "keep one of them")
            case "missing" if name == "nodes":
                message = f"{path} has connections but no `nodes`"
                help = "export the workflow again"
                self.report(MissingWorkflowKey, message, fault.path, help)
            case "missing":
                message = f"{self._name_node(fault.path)} has no `{name}`"
                self.report(MissingWorkflowKey, message, fault.path, "give it one")
            case "repeated-name":
                help = "rename them; connections refer to the first one"
                message = f"more than one node is named `{name}`"
                self.report(RepeatedNodeName, message, fault.path, help)
            case "lost-source" | "lost-target":
                which = "from" if fault.kind == "lost-source" else "to"
                message = (
                    f"a connection leads {which} `{name}`, which does not exist in the workflow"
                )
                help = "name a node of the workflow, or remove the connection"
                self.report(LostConnection, message, fault.path, help)
            case "wrong-type":
                # In a connection of a type that n8n does not know, n8n does not look at it (N8N.md,
                # "refused nowhere").
                unread = fault.wire != "main" and not fault.wire.startswith("ai_")
                message = f"{path} is {_KINDS[type(fault.value)]}, not {name}"
                if unread:
                    message += f", and n8n has no connections of the type `{fault.wire}`"
                severity = Severity.WARNING if unread else None
                help = f"write {name}"
                self.report(WrongWorkflowValue, message, fault.path, help, severity=severity)
