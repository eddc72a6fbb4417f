"""The settings of workflows: the time limit of a run, permitted callers, and the handling of
errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow.backends.n8n.format.document import Settings
from orgflow.backends.n8n.plan.target_options import CALLERS, ERRORS, TIMEOUT, seconds_of

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.emitter import CompiledScope


def settings_of(compiled: CompiledScope) -> Settings:
    """The settings of the workflow of a scope, according to the options."""
    scope, options = compiled.scope, compiled.ctx.options
    found: Settings = {"executionOrder": "v1"}
    limit = options.get(TIMEOUT)
    if limit is not None and (seconds := seconds_of(str(limit))) is not None:
        found["executionTimeout"] = seconds
    # What several models call fails its callers, each of which reports to its own.
    if options.get(ERRORS) == "workflow" and not (scope.on_error or scope.shared):
        from orgflow.backends.n8n.emit.failure_report import failure_scope

        found["errorWorkflow"] = failure_scope(scope.model).workflow_id
    if options.get(CALLERS) == "model":
        called = scope.started_by_call or scope.on_error
        found["callerPolicy"] = "workflowsFromSameOwner" if called else "none"
    return found
