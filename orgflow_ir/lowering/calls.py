"""Calls of processes that the model does not contain become tasks whose implementation is only
named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orgflow_ir.flow.control_flow.calls import (
    find_callee,
    global_task,
    hands_everything,
    takes_everything,
)
from orgflow_ir.lowering.common import as_task
from orgflow_ir.model import CallActivity
from orgflow_ir.model.bindings import SubProcessCall
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.element_names import one_line
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter

_NAME = r"[^\s${}#=][^${}]*"
"""A process by its name; the process that an expression names is known only at run time."""


class CallToNamedWork(RewritePattern):
    """A call of a process that is not in the model becomes a service task that names the process
    and the variables that it passes and returns. In the token game, both are one step that is begun
    and done."""

    name = "call-to-named-work"
    consumes = ("call-activity",)
    produces = ("task.service",)

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        call, scope = use.element, use.scope
        assert isinstance(call, CallActivity)
        assert scope is not None
        called = call.process
        known = find_callee(call, rewriter.model) is not None
        if known or call.loop is not None or re.fullmatch(_NAME, called) is None:
            return None
        given = call.binding
        settings: tuple[tuple[str, str], ...] = ()
        if isinstance(given, SubProcessCall):
            # Of the call as such, not of the work: only named in the note.
            stated = (
                ("version", given.version), ("business key", given.business_key),
                ("retries", given.retries), ("result", given.result),
            )  # fmt: skip
            # That it has an `inputOutput` is said by its mappings.
            more = (pair for pair in given.parameters if pair[0] != "inputOutput")
            settings = (*((k, v) for k, v in stated if v is not None), *more)
        named = global_task(call, rewriter.model)
        label = one_line(called if named is None else named.label).replace("`", "'")
        if named is not None:
            settings = (("global task", label), *settings)
        binding = SubProcessCall(
            process=called if named is None else None,
            all_variables=hands_everything(call),
            all_results=takes_everything(call),
            inputs=given.inputs if given is not None else (),
            outputs=given.outputs if given is not None else (),
            listeners=given.listeners if given is not None else (),
            parameters=settings,
        )
        task = as_task(
            call,
            "service",
            for_compensation=call.for_compensation,
            binding=binding,
        )
        rewriter.replace(scope.id, call.id, task)
        if named is not None:
            return f"{ctx.name(call)} calls the global task `{label}`: the work is left open"
        return (
            f"{ctx.name(call)} calls the process `{label}`, whose steps are not in the model: "
            "the work is left open"
        )


CALLS: tuple[RewritePattern, ...] = (CallToNamedWork(),)
