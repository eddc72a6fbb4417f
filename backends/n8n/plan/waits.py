"""Which tasks wait: those that people do become forms, receive tasks wait for a call."""

from __future__ import annotations

from orgflow.backends.n8n.plan.form_planning import plan_forms
from orgflow.backends.n8n.plan.parallel import waiting_alone
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.target_options import PEOPLE, PLACEHOLDER, version_of
from orgflow.backends.n8n.plan.wait_constructs import is_awaited

from orgflow_ir.work.form_fields import is_done_by_a_person


def plan_waits(plan: ScopePlan) -> None:
    """Set the forms of user tasks, and the receive tasks that wait for a call."""
    ctx, nodes = plan.ctx, plan.scope.body.nodes
    with_forms = ctx.options.get(PEOPLE) != PLACEHOLDER
    people = [node.id for node in nodes if with_forms and is_done_by_a_person(node)]
    tasks = [node for node in nodes if node.id in people or is_awaited(node)]
    if plan.segments is not None:
        alone = frozenset(node.id for node in tasks)
    else:
        alone = waiting_alone(tasks, plan.scope.model, ctx)
    plan.received = alone - frozenset(people)
    if people:
        by = str(ctx.options.get(PEOPLE, "form"))
        asked = [task for task in people if task in alone]
        channel = "" if by == "form" else by
        plan.forms = plan_forms(plan, asked, channel, version_of(ctx), ctx)
    if plan.segments is not None:  # each page has its own address, and is the same for all runs
        plan.forms = {
            task: form._replace(page="", again=False, shown=(), begins=frozenset())
            for task, form in plan.forms.items()
        }
