"""Workflows in a file of n8n's own format, checked offline before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n.format.workflow_document import WorkflowDocument, workflows_in
from orgflow.backends.n8n.server.client.server_rules import RefusedWorkflow

from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext

Json = dict[str, Any]


def read_workflows(source: SourceFile, ctx: PassContext) -> list[Json]:
    """The workflows in a file; an error in `ctx` if there is none, or one is invalid."""
    try:
        flows = workflows_in(parse_json(source.path, source.data))
    except JsonFault as fault:
        loc = SourceLocation(file=source.path, line=fault.line, column=fault.column)
        _report_refusal(f"{source.path} is not JSON: {fault.message}", loc, ctx)
        return []
    first = SourceLocation(file=source.path, line=1)
    if not flows:
        _report_refusal(f"{source.path} contains no n8n workflow", first, ctx)
    for flow in flows:
        for message in _list_faults(flow):
            _report_refusal(f"`{flow.raw.get('name')}` cannot be deployed: {message}", first, ctx)
    return [dict(flow.raw) for flow in flows]


def _report_refusal(message: str, loc: SourceLocation, ctx: PassContext) -> None:
    ctx.emit(
        RefusedWorkflow, message, loc=loc, help="write it again with `compile` or n8n's export"
    )


def _list_faults(flow: WorkflowDocument) -> list[str]:
    """What the API refuses, or what cannot be read at all."""
    faults = [] if flow.name.strip() else ["it has no name"]
    unread = {fault.path[len(flow.path) :] for fault in flow.faults if fault.kind == "wrong-type"}
    listed = flow.raw.get("nodes")
    if not isinstance(listed, list) or len(flow.nodes) != len(listed):
        return [*faults, "its nodes cannot be read"]
    if ("connections",) in unread or flow.raw.get("connections", {}) is None:
        faults.append("its connections cannot be read")
    names = [node.raw.get("name") for node in flow.nodes]
    if not all(isinstance(text, str) and text for text in names):
        faults.append("a node has no name")
    else:
        twice = sorted(fault.name for fault in flow.faults if fault.kind == "repeated-name")
        faults += [f"two nodes have the name `{name}`" for name in twice[:1]]
    if not isinstance(flow.raw.get("settings"), Mapping | None):
        faults.append("its settings cannot be read")
    return faults
