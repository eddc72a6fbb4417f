"""Matches the events that throw a signal with those that wait for it."""

from __future__ import annotations

from orgflow_ir.model import Event, Model

_THROWING = ("throw", "end")


def other_end(event: Event, model: Model) -> Event | None:
    """For an event that throws a signal, an event of the model that waits for it, and vice versa;
    `None` if the counterpart is outside of the model. A signal is identified by its entry in the
    catalogue or, without an entry, by its name."""
    own = _list_signals(event)
    throws = event.position in _THROWING
    for scope in model.scopes():
        for node in scope.nodes:
            if not isinstance(node, Event) or (node.position in _THROWING) is throws:
                continue
            if own & _list_signals(node):
                return node
    return None


def _list_signals(event: Event) -> set[str]:
    return {d.ref or d.name for d in event.definitions if d.kind == "signal"}
