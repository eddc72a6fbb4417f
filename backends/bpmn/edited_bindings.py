"""Bindings that were edited after reading: contradictory data of the engine are removed.

Data of an engine's extensions are in a model twice: as the binding of a task or event and,
verbatim, in its `extra`. Unedited data are written from the latter, so nothing of the vendor is
lost. Edits are detected by reading the written file again.
"""

from __future__ import annotations

from orgflow.backends.bpmn.writer import Writer

from orgflow_ir.model import CallActivity, Event, Model, Task
from orgflow_ir.model.bindings import without_binding
from orgflow_ir.model.rewriter import Rewriter
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

Bound = Task | CallActivity | Event


def without_outdated(model: Model, text: str, ctx: PassContext) -> Model:
    """The model without extension data that contradict the bindings; the same object without any.

    Args:
        model: the model to write.
        text: its written form.
        ctx: its registry has the frontend that reads BPMN; without it, nothing is compared.
    """
    suspects = [
        (scope, node)
        for scope in model.scopes()
        for node in scope.nodes
        if isinstance(node, Bound) and _without_binding(node) != node
    ]
    if not suspects or ctx.registry is None:
        return model
    frontend = ctx.registry.frontends.get("bpmn")
    if frontend is None:
        return model
    source = SourceFile("written.bpmn", text.encode("utf-8", "replace"))
    again = frontend.parse(source, PassContext(registry=ctx.registry))
    if again is None:
        return model
    bindings_read = {
        node.id: node.binding
        for scope in again.scopes()
        for node in scope.nodes
        if isinstance(node, Bound)
    }
    rewriter, written = Rewriter(model), Writer(model)
    for scope, node in suspects:
        id = written.id(node.id)
        if id in bindings_read and bindings_read[id] != node.binding:
            rewriter.replace(scope.id, node.id, _without_binding(node))
    return rewriter.done() if rewriter.count else model


def _without_binding(node: Bound) -> Bound:
    """The same without extension data that says what does it."""
    if isinstance(node, Event):
        definitions = (d.replace(extra=without_binding(d.extra)) for d in node.definitions)
        node = node.replace(definitions=tuple(definitions))
    return node.replace(extra=without_binding(node.extra))
