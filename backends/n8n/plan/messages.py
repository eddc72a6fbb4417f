"""Messages and signals to receivers outside of the model: one request each, to an address that one
option sets for all of them."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import PrepareWork, SendMessage
from orgflow.backends.n8n.plan.emission_rules import SettingNeeded
from orgflow.backends.n8n.plan.events import event_label
from orgflow.backends.n8n.plan.graph import Port
from orgflow.backends.n8n.plan.names import message_name
from orgflow.backends.n8n.plan.needs import Needs
from orgflow.backends.n8n.plan.outside import describe_key
from orgflow.backends.n8n.plan.prepared_work import add_preparation
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.target_options import MESSAGES, PLACEHOLDER, REQUEST

from orgflow_ir.gaps import has_implementation
from orgflow_ir.model import Event, Model, Task
from orgflow_ir.model.bindings import Http
from orgflow_ir.model.element_names import slug
from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.tasks import Work, is_keyed, work_of

_NOWHERE = "https://address-to-set.invalid"
"""An address without a server (RFC 2606): a request to it fails."""


def plan_message(element: Task | Event, plan: ScopePlan) -> bool:
    """Whether an element sends a message, and became a request to the address of the option."""
    if plan.decided_by.get(element.id) or not sends_message(element):
        return False
    base = str(plan.ctx.options.get(MESSAGES, PLACEHOLDER))
    send, work = _plan_request(element, plan.scope.model, plan.ctx, base)
    plan.work[element.id] = work
    plan.has_effects = True
    label = event_label(element) if isinstance(element, Event) else element.name
    name = f"{label or element.id} inputs"
    before = add_preparation(
        plan, element.id, name, PrepareWork(work), notes.note_mapping(before=True)
    )
    node = plan.workflow_graph.add(element.id, label, send, element=element.id)
    needs = Needs(notes=(describe_key(),) if is_keyed(send.act) else ())
    node.notes += notes.note_sent_message(element, send.kind, send.name, needs, plan.defaults)
    plan.workflow_graph.connect(Port(before), Port(element.id))
    return True


def sends_message(element: Task | Event) -> bool:
    """Whether an element sends a message or a signal without a defined implementation."""
    if isinstance(element, Event):
        return element.trigger in ("message", "signal") and element.position in ("throw", "end")
    return element.task_type == "send" and not has_implementation(element)


def _plan_request(
    element: Task | Event, model: Model, ctx: PassContext, base: str
) -> tuple[SendMessage, Work]:
    """The request that sends the message or signal of an element; OF426, once per message, if no
    address is set."""
    kind = element.trigger if isinstance(element, Event) else "message"
    name = message_name(element, model)
    known = base != REQUEST
    path = slug(name).replace("_", "-") or "message"
    url = f"{base.rstrip('/') if known else _NOWHERE}/{path}"
    binding = Http(url=url, method="POST")
    task = Task(id=element.id, name=element.name, task_type="send", binding=binding)
    work = work_of(task, None)
    assert work.act is not None
    message = f"the model does not define the address for the {kind} `{name}`"
    if not known and not any(d.message == message for d in ctx.diagnostics):
        ctx.emit(
            SettingNeeded,
            message,
            element=element,
            help=f"compile with n8n{{messages=URL}} to send it to URL/{path}, or set URL in the "
            "nodes that send it",
        )
    return SendMessage(kind, name, work.act, binding), work
