"""Workflows in a file of n8n's own format, checked offline before anything is sent."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.diff.reading import flows_of
from orgflow.backends.n8n.server.deploy.rules import RefusedWorkflow

from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext

Json = dict[str, Any]


def read_workflows(source: SourceFile, ctx: PassContext) -> list[Json]:
    """The workflows in a file; an error in `ctx` where there is none, or one is no workflow."""
    try:
        value = parse_json(source.path, source.data).root.value
    except JsonFault as fault:
        loc = SourceLocation(file=source.path, line=fault.line, column=fault.column)
        _refuse(f"{source.path} is not JSON: {fault.message}", loc, ctx)
        return []
    first = SourceLocation(file=source.path, line=1)
    found = [dict(flow.raw) for flow in flows_of(value)]
    if not found:
        _refuse(f"there is no n8n workflow in {source.path}", first, ctx)
    for workflow in found:
        for said in _faults(workflow):
            _refuse(f"`{workflow.get('name')}` cannot be deployed: {said}", first, ctx)
    return found


def _refuse(said: str, loc: SourceLocation, ctx: PassContext) -> None:
    ctx.emit(RefusedWorkflow, said, loc=loc, help="write it anew with `compile` or n8n's export")


def _faults(workflow: Json) -> list[str]:
    """What the API refuses, or what cannot be read at all."""
    faults = []
    name = workflow.get("name")
    if not isinstance(name, str) or not name.strip():
        faults.append("it has no name")
    rows = workflow.get("nodes")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return [*faults, "its nodes cannot be read"]
    if not isinstance(workflow.get("connections", {}), dict):
        faults.append("its connections cannot be read")
    names = [row.get("name") for row in rows]
    if not all(isinstance(one, str) and one for one in names):
        faults.append("a node has no name")
    elif len(set(names)) != len(names):
        twice = sorted({str(one) for one in names if names.count(one) > 1})
        faults.append(f"two nodes have the name `{twice[0]}`")
    settings = workflow.get("settings")
    if settings is not None and not isinstance(settings, dict):
        faults.append("its settings cannot be read")
    return faults
