"""Processes and sub-processes that have a start event but no end event."""

from __future__ import annotations

from typing import ClassVar, assert_never

from orgflow.passes.flow_attachment import loose_ends
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.nets.wiring import Wiring, is_handler
from orgflow_ir.model import CallActivity, Event, Gateway, Model, Opaque, Scope, SubProcess, Task
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.pipeline import Pass, PassContext, Stage

_SHOWN = 4


class NoEnd(Rule):
    """
    What it finds
        A process or sub-process with a start event and steps, but without an end event.
    Why it is wrong
        A process with a start event also has an end event (BPMN 2.0.2, 10.5.3). The process ends
        after its last steps, and the model does not show whether this is intended.
    Example
        `Order received` leads to `Ship`, which has no outgoing flow.
    Instead
        Add an end event `Order shipped` after `Ship`.
    """

    code = "OF128"
    name = "no-end"
    severity = Severity.WARNING
    category = Category.MALFORMED


class MissingEnds(Pass):
    """Reports processes and sub-processes with a start event and no end event."""

    name: ClassVar[str] = "missing-ends"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (NoEnd,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for scope in ctx.scopes(model):
            positions = {n.position for n in scope.nodes if isinstance(n, Event)}
            if "start" in positions and "end" not in positions:
                _check_scope(scope, ctx)
        return model


def _check_scope(scope: Scope, ctx: PassContext) -> None:
    graph = ctx.analysis(ControlFlow, scope)
    reached = ctx.analysis(Wiring, scope).live
    # Where nothing is last, the process goes round indefinitely, which OF202 says.
    last = [n.id for n in scope.nodes if n.id in reached and not graph.out[n.id] and _ends_run(n)]
    loose = loose_ends(scope, reached)
    last = [id for id in last if id not in loose]  # OF101 and OF102 report those that lead nowhere
    if not last:
        return
    namer = ctx.analysis(Namer, scope)
    names = [namer.name(n) for n in last[:_SHOWN]]
    if len(last) > _SHOWN:
        names.append(f"{len(last) - _SHOWN} more")
    ctx.emit(
        NoEnd,
        f"{ctx.name(scope)} has no end event; it ends after {join_listed(names)}",
        element=scope,
        help="add an end event after each last step",
    )


def _ends_run(node: ModelNode) -> bool:
    """Whether a run that comes to a node with no way out of it ends there, as its last step."""
    match node:
        case Event():
            # A run goes on at the other end of a link; OF122 reports a boundary event.
            return node.position in ("catch", "throw") and all(
                d.kind != "link" for d in node.definitions
            )
        case Task() | CallActivity() | SubProcess():
            return not is_handler(node)
        case Gateway() | Opaque():
            return False
        case _:
            assert_never(node)
