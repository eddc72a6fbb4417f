"""Calls of workflows, with the nodes that compute what they hand over and take back."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import Call, HandOver, TakeBack
from orgflow.backends.n8n.plan.effects import may_have_effect
from orgflow.backends.n8n.plan.emission_rules import OutputsLostOnError, UnstatedCallData
from orgflow.backends.n8n.plan.events import event_label
from orgflow.backends.n8n.plan.graph import HelperKey, Port
from orgflow.backends.n8n.plan.named_calls import call_named_work
from orgflow.backends.n8n.plan.prepared_work import add_conclusion, add_preparation
from orgflow.backends.n8n.plan.row_waits import waits_in_rows
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.scopes import WorkflowScope

from orgflow_ir.flow.control_flow.calls import (
    hands_computed,
    states_data,
    takes_computed,
    takes_everything,
)
from orgflow_ir.gaps.gap_rules import OpenMessage, OpenTask
from orgflow_ir.model import CallActivity, Event, SubProcess, Task
from orgflow_ir.model.dialect import Engine
from orgflow_ir.work.statements import Evaluate
from orgflow_ir.work.tasks import Work, call_mappings


def plan_call(caller: SubProcess | CallActivity, called: WorkflowScope, plan: ScopePlan) -> None:
    """A node that calls a workflow and waits for its end."""
    if isinstance(caller, CallActivity) and not states_data(caller):
        _report_unstated(caller, plan)
    if isinstance(caller, CallActivity):
        _report_lost_outputs(caller, plan)
    lines = notes.note_call(caller, called.title)
    keyed = may_have_effect(called.body, plan.scope.model, plan.ctx)
    plan.has_effects |= keyed
    _plan_calling(caller, Call(called.workflow_id, keyed=keyed), lines, plan)


def plan_delivery(sender: Task | Event, plan: ScopePlan) -> bool:
    """A node that begins the process which a message starts, and does not wait for its end."""
    delivery = plan.deliveries[sender.id]
    called = plan.scope.of(delivery.receiver)
    label = event_label(sender) if isinstance(sender, Event) else sender.name
    lines = notes.note_delivery(sender, called.title)
    keyed = may_have_effect(called.body, plan.scope.model, plan.ctx)
    plan.has_effects |= keyed
    model = plan.scope.model
    begins = delivery.start.id if waits_in_rows(delivery.receiver, model, plan.ctx) else ""
    call = Call(called.workflow_id, waits=False, keyed=keyed, begins=begins)
    graph = plan.workflow_graph
    if not plan.decided_by.get(sender.id):
        graph.add(sender.id, label, call, element=sender.id, notes=lines)
        plan.defaults.fill((OpenTask, OpenMessage), sender.id)
        return True
    # A gateway reads its result: the message comes before the placeholder that sets it.
    key = HelperKey(sender.id, "message")
    graph.add(key, f"Send: {label}", call, element=sender.id, role="message", notes=lines)
    for flow in plan.flows_into(sender.id):
        plan.entry[(sender.id, flow.id)] = Port(key)
    graph.connect(Port(key), Port(sender.id))
    plan.defaults.fill((OpenMessage,), sender.id)
    return False


def plan_stub_call(task: Task, plan: ScopePlan) -> bool:
    """Whether a task stands for the call of a process that is not in the model, and became a call
    of the workflow that stands for the process, with the same mappings."""
    call = None if call_mappings(task).unread else call_named_work(task, plan)
    if call is None:
        return False
    plan.stubs_called.add(task.id)
    named = plan.named_work[task.id]
    decisions = plan.decided_by.get(task.id, [])
    lines = notes.named_work(task, decisions, f"{named.kind} {named.name}", plan.ctx)
    _plan_calling(task, call, lines, plan)
    return True


def _plan_calling(
    caller: SubProcess | CallActivity | Task, call: Call, lines: list[str], plan: ScopePlan
) -> None:
    """The node that calls a workflow, and those around it."""
    graph = plan.workflow_graph
    if isinstance(caller, SubProcess) or not (hands_computed(caller) or takes_computed(caller)):
        graph.add(caller.id, caller.name, call, element=caller.id, notes=lines)
        return
    mappings = plan.mapped[caller.id] = call_mappings(caller)
    before = None
    if hands_computed(caller):
        # What the mappings read; their code is that of the call.
        plan.work[caller.id] = Work(before=tuple(Evaluate(value) for _, value in mappings.inputs))
        name = f"{caller.name or caller.id} inputs"
        before = add_preparation(
            plan, caller.id, name, HandOver(mappings), notes.note_mapping(before=True)
        )
    graph.add(caller.id, caller.name, call, element=caller.id, notes=lines)
    if before is not None:
        graph.connect(Port(before), Port(caller.id))
    if takes_computed(caller):
        add_conclusion(plan, caller.id, TakeBack(mappings), notes.note_mapping(before=False))


def _report_unstated(call: CallActivity, plan: ScopePlan) -> None:
    """OF427, where the engine is not known, either."""
    if plan.scope.process.dialect is not None:
        return
    plan.ctx.emit(
        UnstatedCallData,
        f"{plan.ctx.name(call)} does not state which variables it passes: all variables are "
        "passed to the called process and returned",
        element=call.id,
        loc=call.loc,
        help="name the variables in the call, or the engine in the file: most engines pass "
        "only the variables that a call names",
    )


_MAPS_ON_ERROR: frozenset[Engine] = frozenset(("camunda7", "operaton"))
"""Engines that map the outputs of a call also if an error ends the called process (Camunda 7,
`AbstractBpmnActivityBehavior.propagateError`)."""


def _report_lost_outputs(call: CallActivity, plan: ScopePlan) -> None:
    """OF494, if an error event on a call may continue with its outputs."""
    dialect = plan.scope.process.dialect
    if dialect is None or dialect.engine not in _MAPS_ON_ERROR:
        return
    if call.binding is None or not (call.binding.outputs or takes_everything(call)):
        return
    events = (
        node
        for node in plan.scope.body.nodes
        if isinstance(node, Event) and node.attached_to == call.id and node.trigger == "error"
    )
    event = next(events, None)
    if event is not None:
        plan.ctx.emit(
            OutputsLostOnError,
            f"{plan.ctx.name(call)} returns no variables if {plan.ctx.name(event)} occurs; Camunda "
            "7 maps its outputs also then",
            element=call.id,
            loc=call.loc,
            help="pass the value in the message of the error, or end the called process with an "
            "escalation",
        )
