"""Mappings of sub-processes as steps, for targets with one set of variables for a process.

A step in front of a sub-process sets its inputs, and a step behind it sets its outputs.
`mappings_as_steps` returns the same steps for a whole model, under the same ids, so runs of a
target that rewrites mappings are runs of that model's token game.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orgflow_ir.analysis.control_flow.graph import ControlFlow
from orgflow_ir.model import Event, Model, Scope, SubProcess, Task
from orgflow_ir.model.bindings import Parameter, Script
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.scope_mappings import has_mappings, scope_mappings, without_mappings
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern, rewrite_all

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter

MAPPING = "mapping"
"""The derived construct: a sub-process with mappings that can become steps."""


def mapping_uses(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`mapping`: sub-processes with mappings that can become steps."""
    for scope in model.scopes():
        for node in scope.nodes:
            if not isinstance(node, SubProcess) or not node.extra or not has_mappings(node):
                continue
            # Each instance of a repeated one has its own: first it becomes a loop.
            if node.loop is None and next(obstacles(node, scope, model, ctx), None) is None:
                yield ConstructUse(MAPPING, node, scope)


def obstacles(sub: SubProcess, scope: Scope, model: Model, ctx: PassContext) -> Iterator[str]:
    """Why the mappings of a sub-process cannot become steps in the scope around it."""
    from orgflow_ir.analysis.expressions.syntax import ConditionError, variables
    from orgflow_ir.analysis.local_variables import locals_of, outlived, read_afterwards
    from orgflow_ir.analysis.work.mappings import read_value

    mapped = scope_mappings(sub)
    if mapped.unread:
        yield f"its mapping of `{mapped.unread}` is no expression or text"
    for side in (mapped.inputs, mapped.outputs):
        before: set[str] = set()
        for one in side:
            try:
                read = {path[0] for path in variables(read_value(one.text, one.language))}
            except ConditionError as error:
                yield f"its mapping of `{one.name}` is not supported: {error}"
                continue
            if read & before:
                both = sorted(read & before)[0]
                yield f"its mapping of `{one.name}` reads `{both}`, which another mapping sets"
            before.add(one.name)
    caught = any(n.attached_to == sub.id for n in scope.nodes if isinstance(n, Event))
    kept = set() if caught else {one.name for one in mapped.outputs}
    later = read_afterwards(sub, scope, locals_of(sub, scope) - kept, model, ctx)
    if later is not None:
        yield outlived(*later, ctx)


class MappingToTask(RewritePattern):
    """The mappings of a sub-process become tasks: one in front of it sets its inputs, one behind it
    sets its outputs. Its own variables are then those of the process, which is refused
    if anything reads their names outside of it."""

    name = "mapping-to-task"
    consumes = (MAPPING,)
    produces = ("task.script", "flow.sequence", "event.end.none")

    def meaning(self, model: Model) -> Model:
        """See `RewritePattern`: each mapping is its own step."""
        return mappings_as_steps(model)

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        sub, scope = use.element, use.scope
        assert isinstance(sub, SubProcess)
        assert scope is not None
        graph = ctx.analysis(ControlFlow, scope)
        into, out = graph.flows_in(sub.id), graph.flows_out(sub.id)
        if any(rewriter.touched(scope.id, id) for id in (sub.id, *(f.id for f in (*into, *out)))):
            return None  # in the next round, with what is there then
        mapped = scope_mappings(sub)
        if mapped.inputs:
            first = _step(sub, "in", f"Inputs of {sub.label}", mapped.inputs, scope, rewriter)
            for flow in into:
                rewriter.redirect(scope.id, flow.id, target=first)
            rewriter.connect(scope.id, first, sub.id, id=rewriter.fresh_id(sub.id, "to_in"))
        if mapped.outputs:
            last = _step(sub, "out", f"Outputs of {sub.label}", mapped.outputs, scope, rewriter)
            for flow in out:
                rewriter.redirect(scope.id, flow.id, source=last)
            rewriter.connect(scope.id, sub.id, last, id=rewriter.fresh_id(sub.id, "to_out"))
        rewriter.replace(scope.id, sub.id, without_mappings(sub))
        return f"the mappings of {ctx.name(sub)} became tasks"


def _step(
    sub: SubProcess,
    role: str,
    name: str,
    values: tuple[Parameter, ...],
    scope: Scope,
    rewriter: Rewriter,
) -> str:
    """A task that sets the variables of mappings."""
    id = rewriter.fresh_id(sub.id, role)
    binding = Script(language="feel", code="null", outputs=values)
    rewriter.insert(scope.id, Task(id=id, name=name, task_type="script", binding=binding))
    return id


MAPPINGS: tuple[RewritePattern, ...] = (MappingToTask(),)


def mappings_as_steps(model: Model) -> Model:
    """The model with the mappings of its sub-processes as tasks; the model itself if it has none
    that can be."""
    ctx = PassContext(source=model)
    while True:
        uses = list(mapping_uses(model, ctx))
        if not uses:
            return model
        model, _ = rewrite_all(MappingToTask(), uses, model, ctx)
