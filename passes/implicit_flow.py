"""Splits, joins, starts and ends without a gateway or an event: rules of style."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.dead_ends import has_end, is_compensation_event, needs_way_out
from orgflow.passes.process_ends import NeverRuns

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.nets.wiring import Wiring, is_handler
from orgflow_ir.model import Event, Flow, Gateway, Model, Opaque, Scope, SubProcess
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.pipeline import Pass, PassContext, Stage


class FakeJoin(Rule):
    """
    What it finds
        A task, sub-process or event with several incoming sequence flows.
    Why it is wrong
        It looks like a join but is not one (BPMN 2.0.2, 10.3.1): the step runs once for each token,
        while many readers expect it to wait for all of them.
    Example
        `Check stock` and `Check credit` both lead directly to `Ship`.
    Instead
        Connect both to an exclusive gateway before `Ship`, or to a parallel one if both should
        complete first.
    """

    code = "OF172"
    name = "fake-join"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class ImplicitSplit(Rule):
    """
    What it finds
        A task, sub-process or event with several outgoing sequence flows without a condition.
    Why it is wrong
        All of them are taken (BPMN 2.0.2, 10.3.1), as at a parallel gateway; without the gateway,
        many readers mistake it for a choice.
    Example
        `Order received` leads directly to `Check stock` and to `Check credit`.
    Instead
        Put a parallel gateway after `Order received`, or an exclusive one if only one should be
        taken.
    """

    code = "OF173"
    name = "implicit-split"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class ImplicitStart(Rule):
    """
    What it finds
        A step, event or gateway without an incoming flow that is not a start event.
    Why it is wrong
        In a process without a start event, it begins with the process (BPMN 2.0.2, 10.3.1), which
        the diagram does not show; if there is a start event, it never runs (OF111).
    Example
        A process that begins with the task `Check order`.
    Instead
        Add a start event `Order received` that leads to `Check order`.
    """

    code = "OF174"
    name = "implicit-start"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class ImplicitEnd(Rule):
    """
    What it finds
        A step, event or gateway without an outgoing flow, in a process or sub-process without an
        end event. (If there is an end event, it is OF130.)
    Why it is wrong
        A run ends there (BPMN 2.0.2, 10.5.3); an end event would make that explicit and name the
        outcome.
    Example
        The last task `Ship` has no outgoing flow.
    Instead
        Add an end event `Order shipped` after `Ship`.
    """

    code = "OF175"
    name = "implicit-end"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class Disconnected(Rule):
    """
    What it finds
        A step, event or gateway without any sequence flow.
    Why it is wrong
        It is not part of the process; usually it was forgotten.
    Example
        The task `Archive` has no incoming and no outgoing flow.
    Instead
        Connect it, or remove it.
    """

    code = "OF176"
    name = "disconnected"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class ImplicitFlow(Pass):
    """Reports flow without the gateways and events that show it."""

    name: ClassVar[str] = "implicit-flow"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        FakeJoin, ImplicitSplit, ImplicitStart, ImplicitEnd, Disconnected,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for scope in ctx.scopes(model):
            _check_scope(scope, ctx)
        return model


def _check_scope(scope: Scope, ctx: PassContext) -> None:
    graph = ctx.analysis(ControlFlow, scope)
    loose = isinstance(scope, SubProcess) and scope.flavour == "ad-hoc"
    ended = has_end(scope)
    live = ctx.analysis(Wiring, scope).live
    reported = live if ctx.grading.reports(NeverRuns) and not loose else None
    for node in scope.nodes:
        if isinstance(node, Opaque):
            continue
        into, out = graph.flows_in(node.id), graph.flows_out(node.id)
        if not isinstance(node, Gateway):
            _check_joins_and_splits(node, into, out, ctx)
        if loose or is_handler(node):
            continue
        dead = reported is not None and node.id not in reported  # OF111 reports it
        if not into and not dead:
            _check_way_in(node, scope, ctx, loose=not out)
        if not out and not ended and needs_way_out(node):
            ctx.emit(
                ImplicitEnd,
                f"{ctx.name(scope)} ends after {ctx.name(node)} without an end event",
                element=node,
                help="add an end event after it",
            )


def _check_way_in(node: ModelNode, scope: Scope, ctx: PassContext, *, loose: bool) -> None:
    """A node without an incoming flow; `loose`: it has no outgoing one either."""
    if loose and not is_compensation_event(node):
        ctx.emit(
            Disconnected,
            f"no flow touches {ctx.name(node)}",
            element=node,
            help="add incoming and outgoing flows, or remove it",
        )
    if _needs_way_in(node):
        ctx.emit(
            ImplicitStart,
            f"{ctx.name(node)} starts together with {ctx.name(scope)}: it has no incoming flow",
            element=node,
            help="add a start event before it",
        )


def _check_joins_and_splits(
    node: ModelNode, into: list[Flow], out: list[Flow], ctx: PassContext
) -> None:
    """Several flows into or out of a step or an event."""
    if len(into) > 1:
        _fake_join(node, into, ctx)
    plain = [f for f in out if f.condition is None and not f.default]
    if len(plain) > 1:
        _report_split(node, plain, ctx)


def _needs_way_in(node: ModelNode) -> bool:
    if not isinstance(node, Event):
        return True
    if node.position in ("start", "boundary"):
        return False
    return not (node.position == "catch" and any(d.kind == "link" for d in node.definitions))


def _fake_join(node: ModelNode, into: list[Flow], ctx: PassContext) -> None:
    sources = join_listed(dict.fromkeys(ctx.name(f.source) for f in into))
    ctx.emit(
        FakeJoin,
        f"{len(into)} flows lead to {ctx.name(node)} (from {sources}): it does not wait for all "
        "of them",
        element=node,
        help="join them with an exclusive gateway before it, or with a parallel one if it should "
        "wait for all of them",
    )


def _report_split(node: ModelNode, plain: list[Flow], ctx: PassContext) -> None:
    targets = join_listed(dict.fromkeys(ctx.name(f.target) for f in plain))
    ctx.emit(
        ImplicitSplit,
        f"{len(plain)} flows leave {ctx.name(node)} (to {targets}): all of them are taken",
        element=node,
        help="put a parallel gateway after it, or an exclusive one if only one should be taken",
    )
