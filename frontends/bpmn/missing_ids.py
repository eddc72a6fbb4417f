"""Fixes for elements without an id: the generated id is written into the file."""

from __future__ import annotations

from orgflow.frontends.bpmn.reading_rules import MissingId

from orgflow_ir.diagnostics import Edit, Fix
from orgflow_ir.model import Model
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.pipeline import PassContext


def offer_ids(model: Model, file: str, ctx: PassContext) -> None:
    """Add a fix to each finding about a step without an id. The model has the id already, so the
    edit does not change it."""
    without_id = [
        (i, d) for i, d in enumerate(ctx.diagnostics)
        if d.code == MissingId.code and d.fix is None and d.loc is not None and d.loc.file == file
    ]  # fmt: skip
    if not without_id:
        return
    index = ctx.analysis(ModelIndex, model)
    for i, diagnostic in without_id:
        id = diagnostic.element or ""
        node, scope = index.nodes.get(id), index.parent(id)
        if node is None or scope is None:
            continue  # of a process or pool
        fix = Fix(
            title=f"write the id `{node.id}` into the file",
            applicability="safe",
            edits=(Edit(action="replace", scope=scope.id, id=node.id, node=node),),
        )
        ctx.diagnostics[i] = diagnostic.replace(fix=fix)
