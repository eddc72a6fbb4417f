"""Events that wait for a time or a call."""

from __future__ import annotations

from orgflow.backends.n8n.node_types import wait
from orgflow.backends.n8n.plan.actions import WaitForCall, WaitForTime
from orgflow.backends.n8n.plan.address_names import take_address
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.model import Event
from orgflow_ir.model.records import NamedTuple


class PlannedWait(NamedTuple):
    """The wait of an event.

    Attributes:
        action: of its node.
        address: the last part of the address that is called, if any.
        open_time: whether the model does not state the time.
    """

    action: WaitForTime | WaitForCall
    address: str = ""
    open_time: bool = False


def plan_wait(event: Event, label: str, plan: ScopePlan) -> PlannedWait:
    """The wait of an event for a time or a call; a time that depends on the run is computed in a
    node before it."""
    if event.trigger != "timer":
        address = take_address(plan, event.caption)
        return PlannedWait(WaitForCall(address), address)
    definition = event.definitions[0] if event.definitions else None
    if wait.for_timer(definition) is not None:
        return PlannedWait(WaitForTime(definition))
    if definition is None or definition.time is None:
        return PlannedWait(WaitForTime(definition), open_time=True)
    load_function("computed_waits.plan_moment")(event, definition, label, plan)
    return PlannedWait(WaitForTime(definition, computed=True))
