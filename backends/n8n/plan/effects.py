"""Effects outside of n8n, which a crashed execution must not repeat when somebody retries it."""

from __future__ import annotations

from typing import Final

from orgflow.backends.n8n.plan.messages import sends_message
from orgflow.backends.n8n.plan.target_options import MESSAGES, PLACEHOLDER
from orgflow.backends.n8n.plan.task_work import work_in

from orgflow_ir.flow.control_flow.calls import find_callee
from orgflow_ir.flow.control_flow.deliveries import find_deliveries
from orgflow_ir.model import CallActivity, Event, Model, Scope, SubProcess, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.requests import Request
from orgflow_ir.work.tasks import Act

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods that change nothing (RFC 9110, 9.2.1)."""


def has_effect(act: Act | None) -> bool:
    """Whether an external action changes something outside of n8n."""
    return act is not None and not (isinstance(act, Request) and act.method in _SAFE)


def may_have_effect(body: Scope, model: Model, ctx: PassContext) -> bool:
    """Whether a scope, or a process or sub-process that it calls or begins by a message, changes
    something outside of n8n by nodes that the compiler writes. Placeholders have no effect until
    somebody fills them."""
    deliveries = ctx.analysis(find_deliveries, model)
    seen: set[str] = set()
    bodies = [body]
    while bodies:
        scope = bodies.pop()
        if scope.id in seen:
            continue
        seen.add(scope.id)
        for node in scope.nodes:
            if isinstance(node, SubProcess):
                bodies.append(node)
            elif isinstance(node, CallActivity):
                callee = find_callee(node, model)
                bodies += [callee] if callee is not None else []
            elif node.id in deliveries:
                bodies.append(deliveries[node.id].receiver)
            elif isinstance(node, Task | Event) and _has_own_effect(node, ctx):
                return True
    return False


def _has_own_effect(element: Task | Event, ctx: PassContext) -> bool:
    if ctx.options.get(MESSAGES, PLACEHOLDER) != PLACEHOLDER and sends_message(element):
        return True
    return isinstance(element, Task) and has_effect(work_in(element, ctx).act)
