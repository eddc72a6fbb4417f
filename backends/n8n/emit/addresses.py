"""The callers of a workflow's external addresses: its webhooks, its pages, and its waiting
nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow.backends.n8n.emit import emission_rules
from orgflow.backends.n8n.node_types import wait
from orgflow.backends.n8n.node_types.node_type import Parameters
from orgflow.backends.n8n.plan.target_options import version_of

from orgflow_ir.model.element_names import join_listed
from orgflow_ir.pipeline import PassContext

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.emitter import CompiledScope

AUTH = "auth"
"""The option that defines how callers authenticate."""


def protect(compiled: CompiledScope, ctx: PassContext) -> None:
    """Set the authentication of the option on the externally called nodes of a scope.

    OF424 for the credentials that this requires; without authentication, OF425 for the addresses
    that start runs, and on n8n 1 for those of waiting runs. Each is reported once per workflow.
    """
    called = [node for node in compiled.workflow_graph.nodes.values() if node.webhook]
    if not called:
        return
    if ctx.options.get(AUTH, "none") == "none":
        starting = [f"`{node.name}`" for node in called if node.type != wait.NODE.name]
        if starting:
            ctx.emit(
                emission_rules.OpenAddress,
                f"anyone who knows the address of {join_listed(starting)} can start runs of "
                f"{ctx.name(compiled.scope.body)}",
                element=compiled.scope.body,
                help="compile with the option `auth=header`, or `deploy --keys`, which puts a "
                "random key into each address",
            )
        waiting = [f"`{node.name}`" for node in called if _answered(node.parameters)]
        if waiting and version_of(ctx).major < 2:
            ctx.emit(
                emission_rules.OpenAddress,
                f"anyone can answer {join_listed(waiting)} of "
                f"{ctx.name(compiled.scope.body)}: n8n 1 "
                "does not sign the addresses of waiting runs, and numbers the runs",
                element=compiled.scope.body,
                help="compile with the option `auth=header`, or use n8n 2",
            )
        return
    headers: list[str] = []
    passwords: list[str] = []
    for node in called:
        waits, page = node.type == wait.NODE.name, "formTitle" in node.parameters
        if waits and not _answered(node.parameters):
            continue  # it waits for a time
        # A browser sends no header of its own.
        kind = "basicAuth" if page else "headerAuth"
        name = "incomingAuthentication" if waits else "authentication"
        node.parameters = {**node.parameters, name: kind}
        (passwords if page else headers).append(f"`{node.name}`")
    needed = [
        f"{what} for {join_listed(names)}"
        for what, names in (("a header", headers), ("a user name and password", passwords))
        if names
    ]
    if needed:
        ctx.emit(
            emission_rules.CredentialNeeded,
            f"callers of {ctx.name(compiled.scope.body)} have to authenticate: it needs "
            f"{join_listed(needed)}",
            element=compiled.scope.body,
            help="create the credentials in n8n and select them in these nodes, or pass them to "
            "`deploy --credentials`",
        )


def _answered(parameters: Parameters) -> bool:
    """Whether a person or a call ends a wait."""
    return wait.is_form(parameters) or wait.is_called(parameters)
