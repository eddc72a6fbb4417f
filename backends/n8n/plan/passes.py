"""The passes that make the plan of a workflow, in their order.

Each pass is a function on the plan. It reads the typed data of the passes before it, and adds
nodes, connections, or data to nodes. A pass that few processes need has a condition, and its
module is imported only where it holds: this table is the one place that decides about that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from orgflow.backends.n8n.plan.actions import CALLED_FROM_OUTSIDE, Call
from orgflow.backends.n8n.plan.graph import PlanGraph
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.row_waits import RowVerdicts, waits_in_rows
from orgflow.backends.n8n.plan.scope_plan import CONVENTIONS, ScopePlan
from orgflow.backends.n8n.plan.scopes import Together, WorkflowScope, scopes_of
from orgflow.backends.n8n.plan.target_options import PEOPLE, PLACEHOLDER

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Event, Gateway, Model, Process, Task
from orgflow_ir.model.elements import Scope
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.gateway_decisions import DecisionMemory


class PlanPass(NamedTuple):
    """A pass.

    Attributes:
        function: its module in this folder, and its function.
        reason: why it stands where it does.
        needed: whether a plan needs it; `None` for every plan.
    """

    function: str
    reason: str
    needed: Callable[[ScopePlan], bool] | None = None

    def load(self) -> Callable[[ScopePlan], None]:
        """The function. Raises `AttributeError` or `ModuleNotFoundError` if there is none."""
        function: Callable[[ScopePlan], None] = load_function(self.function)
        return function


def _may_wait(plan: ScopePlan) -> bool:
    with_forms = plan.ctx.options.get(PEOPLE) != PLACEHOLDER
    kinds = ("user", "manual", "receive") if with_forms else ("receive",)
    return any(n.task_type in kinds for n in plan.scope.body.nodes if isinstance(n, Task))


def _has_boundary_event(plan: ScopePlan) -> bool:
    return any(n.position == "boundary" for n in plan.scope.body.nodes if isinstance(n, Event))


def _calls_workflows(plan: ScopePlan) -> bool:
    """Whether it calls workflows that result from the model."""
    for node in plan.workflow_graph.nodes.values():
        if type(node.action) is Call and node.action.named is None:
            return True
    return False


def _is_called(plan: ScopePlan) -> bool:
    return plan.scope.started_by_call


def _carries_variables(plan: ScopePlan) -> bool:
    return bool(
        plan.segments is not None
        or plan.work
        or plan.scope.started_by_call
        or any(decision.coded for decision in plan.decisions.values())
        or _calls_workflows(plan)
        or any(form.fields for form in plan.forms.values())
    )


def _checks_calls(plan: ScopePlan) -> bool:
    return plan.ctx.options.get("payload") == "checked"


def _has_forms(plan: ScopePlan) -> bool:
    return bool(plan.forms) and plan.segments is None  # pages of segments check by themselves


def _has_addresses(plan: ScopePlan) -> bool:
    actions = {type(node.action) for node in plan.workflow_graph.nodes.values()}
    return not actions.isdisjoint(CALLED_FROM_OUTSIDE)


def _has_parts(plan: ScopePlan) -> bool:
    source = plan.ctx.source
    return source is not None and any(p.has_kind("sub-process") for p in source.processes)


def _waits_in_rows(plan: ScopePlan) -> bool:
    """Whether a process is cut into segments; no sub-process is."""
    if plan.scope.body is not plan.process:
        return False
    if not plan.ctx.shared(RowVerdicts).used and not _may_wait(plan):
        return False
    return waits_in_rows(plan.process, plan.scope.model, plan.ctx)


def _is_cut(plan: ScopePlan) -> bool:
    return plan.segments is not None


PLAN_PASSES: Final = (
    PlanPass(
        "segment_cuts.find_segments",
        "whether waits are rows decides about nearly every node",
        _waits_in_rows,
    ),
    PlanPass(
        "waits.plan_waits",
        "which tasks wait decides what starts the workflow, and what the nodes of tasks do",
        _may_wait,
    ),
    PlanPass(
        "elements.find_silent_gateways",
        "elements that a silent gateway leads to are entered by the flows before it",
    ),
    PlanPass(
        "starts.plan_implicit_start",
        "its flows lead to elements, whose nodes have to be entered by them",
    ),
    PlanPass(
        "elements.plan_elements",
        "a node for each element, in the order of the model, which decides about names",
    ),
    PlanPass(
        "decisions.plan_decisions",
        "its messages name the setters of variables, so all elements have their nodes",
    ),
    PlanPass(
        "failures.plan_failures",
        "error outputs of tasks lead to the nodes of boundary events",
        _has_boundary_event,
    ),
    PlanPass(
        "escalations.plan_escalations",
        "the nodes after calls take over the flows that leave them, which are connected next",
        _calls_workflows,
    ),
    PlanPass(
        "segment_ends.connect_segments",
        "flows that become rows are not connected, and others begin at the nodes that it adds",
        _is_cut,
    ),
    PlanPass("flows.connect_flows", "all elements have their inputs and outputs by now"),
    PlanPass(
        "segment_ends.settle_openers",
        "an element that only splits open has no connection, which is known only now",
        _is_cut,
    ),
    PlanPass(
        "escalations.plan_returns",
        "the ends of a called workflow are those that no connection leaves",
        _is_called,
    ),
    PlanPass(
        "variables.plan_variables",
        "variables that a node needs depend on all nodes behind it, over their connections",
        _carries_variables,
    ),
    PlanPass(
        "payload.plan_call_checks",
        "goes between a start and all behind it, also the node that keeps its data",
        _checks_calls,
    ),
    PlanPass(
        "guards.plan_guards",
        "goes between a form and all behind it, also the nodes that read its answers",
        _has_forms,
    ),
    PlanPass(
        "addresses.protect_addresses",
        "every node with an address exists",
        _has_addresses,
    ),
    PlanPass("elements.complete_defaults", "every gap has what was planned in its place"),
    PlanPass(
        "group_marks.mark_groups",
        "the last paragraph of a note is the sub-process that a node was part of",
        _has_parts,
    ),
)
"""The order of the passes. Passes up to the connections give elements their nodes and ports; those
behind them insert nodes into connections."""


class PlannedProcess(NamedTuple):
    """The plans of one process: of its own scope, then of its sub-processes that become workflows
    of their own. `digest` is the hash of the model in their maps."""

    process: Process
    scopes: tuple[ScopePlan, ...]
    digest: str = ""

    @property
    def root(self) -> ScopePlan:
        """The plan of the process itself, in which runs start."""
        return self.scopes[0]


def plan_process(
    model: Model,
    process: Process,
    ctx: PassContext,
    together: Mapping[str, Together] | None = None,
) -> PlannedProcess:
    """The plans of a process that is legal for n8n; the messages of gaps that `ctx` has are
    completed by what was planned in their place. `together` is as in `WorkflowScope`."""
    scopes = scopes_of(model, process, together)
    return PlannedProcess(process, tuple(plan_scope(scope, ctx) for scope in scopes))


def plan_added_process(scope: WorkflowScope, ctx: PassContext) -> PlannedProcess:
    """The plan of a process that is added for others, such as work that tasks name."""
    return PlannedProcess(scope.process, (plan_scope(scope, ctx),))


def plan_scope(scope: WorkflowScope, ctx: PassContext) -> ScopePlan:
    """The plan of one workflow: an empty graph, and all passes."""
    graph = ctx.analysis(ControlFlow, scope.body)
    plan = ScopePlan(
        scope,
        graph,
        PlanGraph(),
        ctx.shared(DecisionMemory).decisions(graph, CONVENTIONS),
        _inclusive_joins(scope.body, graph, ctx),
        ctx,
    )
    for step in needed_passes(plan):
        step.load()(plan)
    return plan


def needed_passes(plan: ScopePlan) -> Iterator[PlanPass]:
    """The passes that a plan needs; each is asked when those before it have run."""
    return (step for step in PLAN_PASSES if step.needed is None or step.needed(plan))


def _inclusive_joins(scope: Scope, graph: ControlFlow, ctx: PassContext) -> Mapping[str, Any]:
    if not any(n.gateway_kind == "inclusive" for n in scope.nodes if isinstance(n, Gateway)):
        return {}
    joins: Mapping[str, Any] = load_function("inclusive_joins.inclusive_joins")(scope, graph, ctx)
    return joins
