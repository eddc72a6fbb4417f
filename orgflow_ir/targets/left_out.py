"""Describes the parts of a model that pure control-flow notations (POWL, procedural graphs)
omit."""

from __future__ import annotations

from orgflow_ir.model import CallActivity, Model, SubProcess, Task


def left_out(model: Model, *, data: bool = True) -> tuple[str, ...]:
    """Phrases such as `the kinds of 3 tasks` for content that does not affect the order of steps
    and has no place in a list of steps and flows. `data`: whether to include data objects and
    notes."""
    kinds = bindings = objects = notes = docs = messages = 0
    for scope in model.scopes():
        for node in scope.nodes:
            docs += bool(node.doc)
            if isinstance(node, Task):
                kinds += node.task_type != "abstract"
            if isinstance(node, Task | CallActivity | SubProcess):
                bindings += getattr(node, "binding", None) is not None
        objects += len(scope.data_objects)
        notes += sum(artifact.artifact_kind != "association" for artifact in scope.artifacts)
    notes += sum(artifact.artifact_kind != "association" for artifact in model.artifacts)
    messages += len(model.message_flows)
    counted = (
        (kinds, "the kind of {} task{}"),
        (bindings, "what {} task{} execute"),
        (docs, "documentation of {} element{}"),
        (objects if data else 0, "{} data object{}"),
        (notes if data else 0, "{} note{}"),
        (messages, "{} message flow{}"),
    )
    return tuple(text.format(n, "s"[: n != 1]) for n, text in counted if n)
