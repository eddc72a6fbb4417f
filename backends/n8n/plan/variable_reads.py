"""Variables that the work of tasks reads, and those that calls hand over and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orgflow.backends.n8n.plan.scope_plan import CONVENTIONS, ScopePlan
from orgflow.backends.n8n.plan.scopes import scopes_of
from orgflow.backends.n8n.plan.task_work import computed_in

from orgflow_ir.flow.control_flow.calls import called_from, calls_in, hands_everything
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import CallActivity, Model, Process, SubProcess, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import variables
from orgflow_ir.work.gateway_decisions import DecisionMemory
from orgflow_ir.work.statements import Statement, assigned
from orgflow_ir.work.tasks import Work, call_mappings, mentioned


def list_assigned(statements: Iterable[Statement]) -> list[str]:
    """The variables that statements set, each once."""
    return list(dict.fromkeys(assigned(statements)))


def list_kept_inside(work: Work) -> frozenset[str]:
    """Names under which only the task is given something."""
    return frozenset(assigned(work.before, local=True)) - frozenset(assigned(work.after))


def read_by_work(plan: ScopePlan) -> dict[str, tuple[str, ...]]:
    """Variables that tasks read whose work the workflow does, and those that the model mentions for
    work that somebody else implements, by the task."""
    forms = plan.forms
    reads = {
        element: tuple(
            dict.fromkeys(
                name
                for needed in work.reads()
                if (name := needed.path[0]) not in (forms[element].asks if element in forms else ())
            )
        )
        for element, work in plan.work.items()
        if element in plan.graph.reachable
    }
    for element, work in plan.work.items():
        task = plan.graph.nodes[element]
        if work.unread and isinstance(task, Task) and task.binding is not None:
            reads[element] = (*reads.get(element, ()), *mentioned(task.binding))
    return reads


def handed_over(plan: ScopePlan, ctx: PassContext) -> Mapping[str, tuple[str, ...]]:
    """Variables that a called workflow has to be handed, by the sub-process; under the empty key
    those that this one has to hand back at its ends."""
    scope = plan.scope
    inner = [n for n in scope.body.nodes if isinstance(n, SubProcess | CallActivity)]

    # What is read in any process that this one calls, or that is called beside it.
    model = scope.model
    family = {scope.process.id: scope.process}
    for other in model.processes:
        called = called_from(other, model)
        if other is scope.process or any(process is scope.process for process in called):
            family |= {member.id: member for member in (other, *called)}
    everything = _names_read(family.values(), model, ctx)
    if (once := scope.together.get(scope.process.id)) is not None:
        everything = once.names
    # A call with mappings hands over what these read, which may be of the called process only.
    handed = {
        node.id: tuple(n for n in everything if n in _list_mapped_reads(node))
        if isinstance(node, CallActivity) and not hands_everything(node)
        else everything
        for node in inner
    }
    for node in scope.body.nodes:
        if (begun := plan.deliveries.get(node.id)) is not None:
            receivers = (begun.receiver, *called_from(begun.receiver, model))
            handed[node.id] = _names_read(receivers, model, ctx)
    if scope.started_by_call:
        handed[""] = everything
    return handed


def _names_read(processes: Iterable[Process], model: Model, ctx: PassContext) -> tuple[str, ...]:
    """Variables that conditions, work and calls of some processes read."""
    read: dict[str, None] = {}
    for process in processes:
        for inner_scope in scopes_of(model, process):
            graph = ctx.analysis(ControlFlow, inner_scope.body)
            decisions = ctx.shared(DecisionMemory).decisions(graph, CONVENTIONS)
            read |= dict.fromkeys(path[0] for d in decisions.values() for path in d.coded)
            read |= dict.fromkeys(computed_in(inner_scope.body, ctx))
        for call in calls_in(process):
            taken = (value for _, value in call_mappings(call).outputs)
            read |= dict.fromkeys(path[0] for value in taken for path in variables(value))
    return tuple(read)


def _list_mapped_reads(call: CallActivity) -> frozenset[str]:
    """Variables that the input mappings of a call read."""

    return frozenset(
        path[0] for _, value in call_mappings(call).inputs for path in variables(value)
    )


def handed_back(plan: ScopePlan, ctx: PassContext) -> tuple[str, ...]:
    """Variables that a called workflow has to hand back to what calls it."""
    return handed_over(plan, ctx).get("", ())
