"""Mappings of sub-processes and events as steps, for targets with one set of variables for a
process.

A step in front of a sub-process sets its inputs, and a step behind it sets its outputs. An event
has one step: behind it, or in front of one that ends something.
`mappings_as_steps` returns the same steps for a whole model, under the same ids, so runs of a
target that rewrites mappings are runs of that model's token game.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Event, Model, Scope, SubProcess, Task
from orgflow_ir.model.bindings import Parameter, Script
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.scope_mappings import (
    ScopeMappings,
    has_mappings,
    maps_by_itself,
    scope_mappings,
    without_mappings,
)
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern, rewrite_all

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter
    from orgflow_ir.program import syntax
    from orgflow_ir.work import local_variables
    from orgflow_ir.work import mappings as work_mappings
else:  # models with mappings only
    syntax = LazyModule("orgflow_ir.program.syntax")
    local_variables = LazyModule("orgflow_ir.work.local_variables")
    work_mappings = LazyModule("orgflow_ir.work.mappings")

MAPPING = "mapping"
"""The derived construct: a sub-process or an event with mappings that can become steps."""


def mapping_uses(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`mapping`: sub-processes and events with mappings that can become steps."""
    for scope in model.scopes():
        for node in scope.nodes:
            if not node.extra:
                continue
            if isinstance(node, Event) and maps_by_itself(node):
                if _why_not(node) is None:
                    yield ConstructUse(MAPPING, node, scope)
                continue
            if not isinstance(node, SubProcess) or not has_mappings(node):
                continue
            # Each instance of a repeated one has its own: first it becomes a loop.
            if node.loop is None and next(list_obstacles(node, scope, model, ctx), None) is None:
                yield ConstructUse(MAPPING, node, scope)


def _why_not(event: Event) -> str | None:
    """Why the mappings of an event cannot become a step; `None` if they can, or if it has none that
    set a variable of the process."""
    mapped = scope_mappings(event)
    if not mapped.outputs and not mapped.unread:
        return "it sets nothing"
    if mapped.inputs and event.position not in ("throw", "end"):
        return "what it waits for may read its inputs"
    return next(_unsupported_mappings(mapped), None)


def why_unmapped(event: Event) -> str:
    """Why variables that the mappings of an event set are not set; empty if there are none."""
    if not event.extra or not maps_by_itself(event):
        return ""
    mapped = scope_mappings(event)
    return (_why_not(event) or "") if mapped.outputs or mapped.unread else ""


def _unsupported_mappings(mapped: ScopeMappings) -> Iterator[str]:
    """What is not supported in mappings."""
    if mapped.unread:
        yield f"its mapping of `{mapped.unread}` is no expression or text"
    for mapping in (*mapped.inputs, *mapped.outputs):
        try:
            work_mappings.read_value(mapping.text, mapping.language)
        except syntax.ConditionError as error:
            yield f"its mapping of `{mapping.name}` is not supported: {error}"


def list_obstacles(sub: SubProcess, scope: Scope, model: Model, ctx: PassContext) -> Iterator[str]:
    """Why the mappings of a sub-process cannot become steps in the scope around it."""
    mapped = scope_mappings(sub)
    if mapped.unread:
        yield f"its mapping of `{mapped.unread}` is no expression or text"
    for side in (mapped.inputs, mapped.outputs):
        before: set[str] = set()
        for mapping in side:
            try:
                read = {
                    path[0]
                    for path in syntax.variables(
                        work_mappings.read_value(mapping.text, mapping.language)
                    )
                }
            except syntax.ConditionError as error:
                yield f"its mapping of `{mapping.name}` is not supported: {error}"
                continue
            if read & before:
                both = sorted(read & before)[0]
                yield f"its mapping of `{mapping.name}` reads `{both}`, which another mapping sets"
            whole, _, part = mapping.name.partition(".")
            if part and side is mapped.inputs:
                # The engine makes a variable of this part alone.
                yield f"its mapping of `{mapping.name}` sets a part of a variable"
            before.add(whole)
    caught = any(n.attached_to == sub.id for n in scope.nodes if isinstance(n, Event))
    kept = set() if caught else {mapping.name for mapping in mapped.outputs}
    later = local_variables.read_afterwards(
        sub, scope, local_variables.locals_of(sub, scope) - kept, model, ctx
    )
    if later is not None:
        yield local_variables.why_outlived(*later, ctx)


class MappingToTask(RewritePattern):
    """The mappings of a sub-process become tasks: one in front of it sets its inputs, one behind it
    sets its outputs. Its own variables are then those of the process, which is refused if anything
    reads their names outside of it. The mappings of an event become one task."""

    name = "mapping-to-task"
    consumes = (MAPPING,)
    produces = ("task.script", "flow.sequence", "event.end.none")

    def meaning(self, model: Model) -> Model:
        """See `RewritePattern`: each mapping is its own step."""
        return mappings_as_steps(model)

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        node, scope = use.element, use.scope
        assert isinstance(node, SubProcess | Event)
        assert scope is not None
        graph = ctx.analysis(ControlFlow, scope)
        into, out = graph.flows_in(node.id), graph.flows_out(node.id)
        if any(rewriter.touched(scope.id, id) for id in (node.id, *(f.id for f in (*into, *out)))):
            return None  # in the next round, with what is there then
        mapped = scope_mappings(node)
        before, after = mapped.inputs, mapped.outputs
        inputs: tuple[Parameter, ...] = ()
        if isinstance(node, Event) and node.position in ("throw", "end"):
            before, after, inputs = mapped.outputs, (), mapped.inputs
        role = "Outputs" if isinstance(node, Event) else "Inputs"
        if before:
            name = f"{role} of {node.label}"
            first = _add_step(node, "in", name, before, scope, rewriter, inputs)
            for flow in into:
                rewriter.redirect(scope.id, flow.id, target=first)
            rewriter.connect(scope.id, first, node.id, id=rewriter.fresh_id(node.id, "to_in"))
        if after:
            last = _add_step(node, "out", f"Outputs of {node.label}", after, scope, rewriter)
            for flow in out:
                rewriter.redirect(scope.id, flow.id, source=last)
            rewriter.connect(scope.id, node.id, last, id=rewriter.fresh_id(node.id, "to_out"))
        rewriter.replace(scope.id, node.id, without_mappings(node))
        became = "a task" if isinstance(node, Event) else "tasks"
        return f"the mappings of {ctx.name(node)} became {became}"


def _add_step(
    node: SubProcess | Event,
    role: str,
    name: str,
    values: tuple[Parameter, ...],
    scope: Scope,
    rewriter: Rewriter,
    inputs: tuple[Parameter, ...] = (),
) -> str:
    """A task that sets the variables of mappings; `inputs` are its own."""
    id = rewriter.fresh_id(node.id, role)
    binding = Script(language="feel", code="null", inputs=inputs, outputs=values)
    rewriter.insert(scope.id, Task(id=id, name=name, task_type="script", binding=binding))
    return id


MAPPINGS: tuple[RewritePattern, ...] = (MappingToTask(),)


def mappings_as_steps(model: Model) -> Model:
    """The model with the mappings of its sub-processes and events as tasks; the model itself if it
    has none that can be."""
    ctx = PassContext(source=model)
    while True:
        uses = list(mapping_uses(model, ctx))
        if not uses:
            return model
        model, _ = rewrite_all(MappingToTask(), uses, model, ctx)
