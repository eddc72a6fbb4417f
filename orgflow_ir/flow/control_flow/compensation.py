"""The activities that undo others: which compensation event names which handler."""

from __future__ import annotations

from orgflow_ir.model import CallActivity, Event, Model, SubProcess, Task


def map_handlers(model: Model) -> dict[str, str]:
    """The handler that each compensation boundary event names, by the ids of the events.

    An association leads from the event to the handler, in either direction, and may stand in any
    scope of the model or beside its processes. The handler is in the scope of the event and marked
    for compensation (BPMN 2.0.2, 10.7.1); other associations have no meaning.
    """
    handlers: dict[str, str] = {}
    links = [
        (artifact.source, artifact.target)
        for holder in (model, *model.scopes())
        for artifact in holder.artifacts
        if artifact.artifact_kind == "association" and artifact.source and artifact.target
    ]
    for scope in model.scopes() if links else ():
        events = {n.id for n in scope.nodes if isinstance(n, Event) and n.position == "boundary"}
        marked = {
            n.id
            for n in scope.nodes
            if isinstance(n, Task | CallActivity | SubProcess) and n.for_compensation
        }
        for source, target in links if events and marked else ():
            if source in events and target in marked:
                handlers[source] = target
            elif target in events and source in marked:
                handlers[target] = source
    return handlers
