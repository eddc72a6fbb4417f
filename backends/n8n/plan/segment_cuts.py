"""Cuts the plan of a process that waits in several places into segments.

A segment begins where a row of open work is claimed, runs in one execution, and ends by writing the
rows that are open next (`waiting.complete`). All segments begin at one switch, by the event by
which the row was claimed: an answer of a person, an event, the last branch at a join. The support
set repeats a segment that was interrupted by the same switch.

`segment_elements` has the nodes of elements, `segment_ends` cuts between them.
"""

from __future__ import annotations

from typing import Final

from orgflow.backends.n8n.plan.actions import Call, SendToProcess
from orgflow.backends.n8n.plan.graph import HelperKey, Role
from orgflow.backends.n8n.plan.message_links import MessageLink, message_links
from orgflow.backends.n8n.plan.row_scopes import FlatProcess
from orgflow.backends.n8n.plan.row_waits import RowVerdicts
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.segment_data import SegmentCuts

from orgflow_ir.model import Event, Gateway

END: Final = "end of "
"""Beginning of the event by which a scope is left whose paths have ended, before its id."""


def find_segments(plan: ScopePlan) -> None:
    """Begin to cut a process into segments: its scopes."""
    flat = plan.ctx.shared(RowVerdicts).flat.get(plan.process.id)
    plan.segments = SegmentCuts(flat=flat or FlatProcess(plan.process, {}, {}, {}))
    if flat is not None:
        plan.joins = flat.joins


def hub_key(plan: ScopePlan, role: Role) -> HelperKey:
    """The key of one of the nodes through which all segments begin."""
    return HelperKey(plan.scope.body.id, role)


def is_row_join(gateway: Gateway, plan: ScopePlan) -> bool:
    """Whether the branches that arrive at a gateway are rows."""
    if len(plan.graph.flows_in(gateway.id)) < 2:
        return False
    if gateway.gateway_kind == "inclusive":
        return plan.joins[gateway.id].kind != "exclusive"
    return gateway.gateway_kind == "parallel"


def send_by(link: MessageLink, plan: ScopePlan) -> SendToProcess | Call:
    """The action that sends a message."""
    if not link.begins:
        return SendToProcess(link.name, link.flow)
    called = plan.scope.of(link.target)
    return Call(called.workflow_id, waits=False, begins=link.receiver.id)


def is_begun(event: Event, plan: ScopePlan) -> bool:
    """Whether a message of another process of the model begins a process at an event."""
    links = plan.ctx.analysis(message_links, plan.scope.model)
    return any(link.receiver.id == event.id for link in links)
