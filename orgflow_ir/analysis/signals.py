"""Who throws and who waits for the same signal in a model."""

from __future__ import annotations

from orgflow_ir.model import Event, Model

_THROWING = ("throw", "end")


def other_end(event: Event, model: Model) -> Event | None:
    """For an event that throws a signal one of the model that waits for it, for one that waits for
    a signal one that throws it; `None` where the other end is outside of the model. A signal has
    the identity of its entry in the catalogue, and without one of its name."""
    own = _signals(event)
    throws = event.position in _THROWING
    for scope in model.scopes():
        for node in scope.nodes:
            if not isinstance(node, Event) or (node.position in _THROWING) is throws:
                continue
            if own & _signals(node):
                return node
    return None


def _signals(event: Event) -> set[str]:
    return {d.ref or d.name for d in event.definitions if d.kind == "signal"}
