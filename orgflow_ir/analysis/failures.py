"""Errors of tasks that boundary events on them catch."""

from __future__ import annotations

from typing import NamedTuple

from orgflow_ir.model import Event, Model, Scope, Task


class CaughtError(NamedTuple):
    """A boundary event and the code of the errors that it catches; `None`: of all."""

    event: str
    code: str | None


def caught_errors(scope: Scope, model: Model) -> dict[str, tuple[CaughtError, ...]]:
    """The error boundary events of each task of a scope, those with a code first."""
    codes = {entry.id: entry.code for entry in model.catalog.errors}
    tasks = {node.id for node in scope.nodes if isinstance(node, Task)}
    found: dict[str, list[CaughtError]] = {}
    for node in scope.nodes:
        if (
            isinstance(node, Event)
            and node.position == "boundary"
            and node.trigger == "error"
            and node.attached_to in tasks
        ):
            ref = node.definitions[0].ref
            code = codes.get(ref, ref) if ref is not None else None
            found.setdefault(node.attached_to, []).append(CaughtError(node.id, code or ref or None))
    return {
        host: tuple(sorted(events, key=lambda one: one.code is None))
        for host, events in found.items()
    }
