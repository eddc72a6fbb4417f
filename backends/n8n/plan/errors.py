"""End events that end a run with an error."""

from __future__ import annotations

from orgflow.backends.n8n.plan.actions import Stop
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.model import Event

NO_CODE = "Error"
"""The message of an error of the process that has no entry in the catalogue."""


def plan_error_end(event: Event, plan: ScopePlan) -> Stop:
    """A stop with the message of the error, by its entry of the catalogue."""
    ref = event.definitions[0].ref if event.definitions else None
    entry = next((e for e in plan.scope.model.catalog.errors if e.id == ref), None)
    words = plain(entry.name) if entry is not None else ""
    code = plain(entry.code or "") if entry is not None else ""
    text = ": ".join(dict.fromkeys(w for w in (code, words) if w))
    return Stop(text or plain(ref or NO_CODE))
