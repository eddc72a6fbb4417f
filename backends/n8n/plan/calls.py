"""Calls of workflows, with the nodes that compute what they hand over and take back."""

from __future__ import annotations

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import Call, HandOver, TakeBack
from orgflow.backends.n8n.plan.effects import may_have_effect
from orgflow.backends.n8n.plan.emission_rules import UnstatedCallData
from orgflow.backends.n8n.plan.graph import Port
from orgflow.backends.n8n.plan.named_calls import call_named_work
from orgflow.backends.n8n.plan.prepared_work import add_conclusion, add_preparation
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.scopes import WorkflowScope

from orgflow_ir.flow.control_flow.calls import hands_computed, states_data, takes_computed
from orgflow_ir.model import CallActivity, SubProcess, Task
from orgflow_ir.work.statements import Evaluate
from orgflow_ir.work.tasks import Work, call_mappings


def plan_call(caller: SubProcess | CallActivity, called: WorkflowScope, plan: ScopePlan) -> None:
    """A node that calls a workflow and waits for its end."""
    if isinstance(caller, CallActivity) and not states_data(caller):
        _report_unstated(caller, plan)
    lines = notes.note_call(caller, called.title)
    keyed = may_have_effect(called.body, plan.scope.model, plan.ctx)
    plan.has_effects |= keyed
    _plan_calling(caller, Call(called.workflow_id, keyed=keyed), lines, plan)


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
