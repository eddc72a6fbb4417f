"""Fixes applied to a model."""

from __future__ import annotations

from orgflow_ir.diagnostics.diagnostic import Edit, Fix
from orgflow_ir.model import Model, Process, Scope, SubProcess


class FixError(ValueError):
    """A fix does not fit the model it is applied to."""


def apply(model: Model, fix: Fix) -> Model:
    """The model with the edits of `fix` made, in order. Raises `FixError`."""
    for edit in fix.edits:
        model = _apply_edit(model, edit)
    return model


def _apply_edit(model: Model, edit: Edit) -> Model:
    if edit.scope not in {scope.id for scope in model.scopes()}:
        raise FixError(f"no process or sub-process `{edit.scope}`")
    processes = tuple(_edit_in_scope(p, edit) for p in model.processes)
    return model.replace(processes=processes)


def _edit_in_scope(scope: Process, edit: Edit) -> Process:
    edited = _edit_scope(scope, edit)
    assert isinstance(edited, Process)
    return edited


def _edit_scope(scope: Scope, edit: Edit) -> Scope:
    if scope.id != edit.scope:
        nodes = tuple(_edit_scope(n, edit) if isinstance(n, SubProcess) else n for n in scope.nodes)
        changed = any(a is not b for a, b in zip(nodes, scope.nodes, strict=True))
        return scope.replace(nodes=nodes) if changed else scope
    if (edit.node is None) == (edit.flow is None) and edit.action != "remove":
        raise FixError("an edit adds or replaces either a node or a flow")
    ids = {n.id for n in scope.nodes} | {f.id for f in scope.flows}
    if edit.action == "add":
        new = edit.node or edit.flow
        assert new is not None
        if new.id in ids:
            raise FixError(f"`{scope.id}` already has an element `{new.id}`")
        if edit.node is not None:
            return scope.replace(nodes=(*scope.nodes, edit.node))
        return scope.replace(flows=(*scope.flows, new))
    if edit.id not in ids:
        raise FixError(f"`{scope.id}` has no node or flow `{edit.id}`")
    if edit.action == "remove":
        nodes = tuple(n for n in scope.nodes if n.id != edit.id)
        flows = tuple(f for f in scope.flows if f.id != edit.id)
        return scope.replace(nodes=nodes, flows=flows)
    if edit.node is not None:
        nodes = tuple(edit.node if n.id == edit.id else n for n in scope.nodes)
        return scope.replace(nodes=nodes)
    flows = tuple((edit.flow or f) if f.id == edit.id else f for f in scope.flows)
    return scope.replace(flows=flows)
