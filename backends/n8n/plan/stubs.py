"""Elements that n8n does not support: a run stops where it would reach them."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import Placeholder, StopBefore
from orgflow.backends.n8n.plan.graph import HelperKey, Port
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.legalisation.stubs import is_guard
from orgflow_ir.model import Opaque


def plan_stub(stub: Opaque, reason: str, plan: ScopePlan) -> None:
    """A node that stops the run; a placeholder behind it, without connections to it, is wired
    onward as the element is."""
    graph = plan.workflow_graph
    # A stub without a label is called as messages name the element.
    label = stub.name or plain(plan.ctx.name(stub).replace("`", ""))
    if not is_guard(stub):
        placeholder = graph.add(stub.id, label, Placeholder(), element=stub.id)
        placeholder.notes += notes.note_stub(stub, reason)
    if not plan.flows_into(stub.id):
        return
    key = HelperKey(stub.id, "stub")
    graph.add(key, f"Stop: {label}", StopBefore(plain(reason)), element=stub.id, role="stub")
    for flow in plan.flows_into(stub.id):
        plan.entry[(stub.id, flow.id)] = Port(key)
