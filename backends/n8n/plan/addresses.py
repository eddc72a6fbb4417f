"""The callers of a workflow's external addresses: its webhooks, its pages, and its waiting
nodes."""

from __future__ import annotations

from typing import cast

from orgflow.backends.n8n.plan import emission_rules
from orgflow.backends.n8n.plan.actions import (
    CALLED_FROM_OUTSIDE,
    WAITS,
    AskByPage,
    OpenPage,
    PageStart,
    WaitForCall,
    WaitForTime,
    WebhookStart,
)
from orgflow.backends.n8n.plan.graph import PlanNode
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.target_options import version_of

from orgflow_ir.model.element_names import join_listed

AUTH = "auth"
"""The option that defines how callers authenticate."""

Addressed = WebhookStart | PageStart | WaitForCall | AskByPage | OpenPage
"""Actions of nodes that somebody outside calls or answers."""


def protect_addresses(plan: ScopePlan) -> None:
    """Set the authentication of the option on the externally called nodes of a scope.

    OF424 for the credentials that this requires; without authentication, OF425 for the addresses
    that start runs, and on n8n 1 for those of waiting runs. Each is reported once per workflow.
    """
    nodes = plan.workflow_graph.nodes.values()
    called = [node for node in nodes if isinstance(node.action, CALLED_FROM_OUTSIDE)]
    if plan.ctx.options.get(AUTH, "none") == "none":
        _report_open(called, plan)
    else:
        _protect_requests([n for n in called if not isinstance(n.action, WaitForTime)], plan)


def _report_open(called: list[PlanNode], plan: ScopePlan) -> None:
    ctx, body = plan.ctx, plan.scope.body
    # The page of a task needs the key of its row.
    begun = [node for node in called if not isinstance(node.action, (*WAITS, OpenPage))]
    starting = [f"`{node.name}`" for node in begun]
    if starting:
        ctx.emit(
            emission_rules.OpenAddress,
            f"anyone who knows the address of {join_listed(starting)} can start runs of "
            f"{ctx.name(body)}",
            element=body,
            help="compile with the option `auth=header`, or `deploy --keys`, which puts a "
            "random key into each address",
        )
    waiting = [f"`{n.name}`" for n in called if isinstance(n.action, WaitForCall | AskByPage)]
    if waiting and version_of(ctx).major < 2:
        ctx.emit(
            emission_rules.OpenAddress,
            f"anyone can answer {join_listed(waiting)} of {ctx.name(body)}: n8n 1 "
            "does not sign the addresses of waiting runs, and numbers the runs",
            element=body,
            help="compile with the option `auth=header`, or use n8n 2",
        )


def _protect_requests(called: list[PlanNode], plan: ScopePlan) -> None:
    headers: list[str] = []
    passwords: list[str] = []
    for node in called:
        # A browser sends no header of its own.
        page = asks_on_page(node)
        node.action = cast(Addressed, node.action)._replace(protected=True)
        (passwords if page else headers).append(f"`{node.name}`")
    needed = [
        f"{what} for {join_listed(names)}"
        for what, names in (("a header", headers), ("a user name and password", passwords))
        if names
    ]
    if needed:
        body = plan.scope.body
        plan.ctx.emit(
            emission_rules.CredentialNeeded,
            f"callers of {plan.ctx.name(body)} have to authenticate: it needs "
            f"{join_listed(needed)}",
            element=body,
            help="create the credentials in n8n and select them in these nodes, or pass them to "
            "`deploy --credentials`",
        )


def asks_on_page(node: PlanNode) -> bool:
    """Whether a node shows a page in a browser."""
    return isinstance(node.action, PageStart | AskByPage | OpenPage)
