"""Splits, joins, starts and ends that are drawn without a gateway or an event: rules of style."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.dead_ends import has_end, needs_way_out, undoes
from orgflow.passes.process_ends import NeverRuns

from orgflow_ir.analysis.control_flow.graph import ControlFlow
from orgflow_ir.analysis.soundness.wiring import Wiring, is_handler
from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import Event, Flow, Gateway, Model, Opaque, Scope, SubProcess
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.element_names import listed
from orgflow_ir.pipeline import Pass, PassContext, Stage


class FakeJoin(Rule):
    """
    What it finds
        A task, sub-process or event into which several sequence flows lead.
    Why it is wrong
        It looks like a join and is none (BPMN 2.0.2, 10.3.1): the step runs once for each flow that
        brings a token, and many readers expect it to wait for all of them.
    Example
        `Check stock` and `Check credit` both lead straight to `Ship`.
    Instead
        Lead both to an exclusive gateway before `Ship`, or to a parallel one where both are to be
        done first.
    """

    code = "OF172"
    name = "fake-join"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class ImplicitSplit(Rule):
    """
    What it finds
        A task, sub-process or event that several sequence flows without a condition leave.
    Why it is wrong
        All of them are taken (BPMN 2.0.2, 10.3.1), as at a parallel gateway; without the gateway
        many readers take it for a choice.
    Example
        `Order received` leads straight to `Check stock` and to `Check credit`.
    Instead
        Put a parallel gateway after `Order received`, or an exclusive one if only one is meant.
    """

    code = "OF173"
    name = "implicit-split"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class ImplicitStart(Rule):
    """
    What it finds
        A step, event or gateway that no sequence flow leads to and that is no start event.
    Why it is wrong
        Without a start event in its process it begins with the process (BPMN 2.0.2, 10.3.1), which
        nothing in the picture shows; beside a start event it never runs (OF111).
    Example
        A process that begins with the task `Check order`.
    Instead
        A start event `Order received` that leads to `Check order`.
    """

    code = "OF174"
    name = "implicit-start"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class ImplicitEnd(Rule):
    """
    What it finds
        A step, event or gateway that no sequence flow leaves, in a process or sub-process without
        an end event. (Beside an end event it is OF130.)
    Why it is wrong
        A run ends there (BPMN 2.0.2, 10.5.3); an end event would state so and with what outcome.
    Example
        Nothing leaves the last task `Ship`.
    Instead
        `Ship` leads to the end event `Order shipped`.
    """

    code = "OF175"
    name = "implicit-end"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class Disconnected(Rule):
    """
    What it finds
        A step, event or gateway that no sequence flow touches.
    Why it is wrong
        It takes no part in the process; mostly it was forgotten.
    Example
        The task `Archive` stands beside the others, without a flow.
    Instead
        Lead flows to it and from it, or remove it.
    """

    code = "OF176"
    name = "disconnected"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class ImplicitFlow(Pass):
    """Reports flow that is drawn without the gateways and events that show it."""

    name: ClassVar[str] = "implicit-flow"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        FakeJoin, ImplicitSplit, ImplicitStart, ImplicitEnd, Disconnected,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report; the model is given back as it is."""
        for scope in ctx.scopes(model):
            _check(scope, ctx)
        return model


def _check(scope: Scope, ctx: PassContext) -> None:
    graph = ctx.analysis(ControlFlow, scope)
    loose = isinstance(scope, SubProcess) and scope.flavour == "ad-hoc"
    ended = has_end(scope)
    live = ctx.analysis(Wiring, scope).live
    told = live if ctx.grading.reports(NeverRuns) and not loose else None
    for node in scope.nodes:
        if isinstance(node, Opaque):
            continue
        into, out = graph.flows_in(node.id), graph.flows_out(node.id)
        if not isinstance(node, Gateway):
            if len(into) > 1:
                _fake_join(node, into, ctx)
            plain = [f for f in out if f.condition is None and not f.default]
            if len(plain) > 1:
                _split(node, plain, ctx)
        if loose or is_handler(node):
            continue
        dead = told is not None and node.id not in told  # OF111 reports it
        if not into and not out and not dead and not undoes(node):
            ctx.emit(
                Disconnected,
                f"no flow touches {ctx.name(node)}",
                element=node,
                help="lead flows to it and from it, or remove it",
            )
        if not into and not dead and _needs_way_in(node):
            ctx.emit(
                ImplicitStart,
                f"{ctx.name(node)} begins with {ctx.name(scope)}: no flow leads to it",
                element=node,
                help="put a start event before it",
            )
        if not out and not ended and needs_way_out(node):
            ctx.emit(
                ImplicitEnd,
                f"{ctx.name(scope)} ends after {ctx.name(node)}, without an end event",
                element=node,
                help="put an end event after it",
            )


def _needs_way_in(node: ModelNode) -> bool:
    if not isinstance(node, Event):
        return True
    if node.position in ("start", "boundary"):
        return False
    return not (node.position == "catch" and any(d.kind == "link" for d in node.definitions))


def _fake_join(node: ModelNode, into: list[Flow], ctx: PassContext) -> None:
    sources = listed(dict.fromkeys(ctx.name(f.source) for f in into))
    ctx.emit(
        FakeJoin,
        f"{len(into)} flows lead into {ctx.name(node)}, from {sources}: it does not wait for all "
        "of them",
        element=node,
        help="join them in an exclusive gateway before it, or in a parallel one where it has to "
        "wait for all",
    )


def _split(node: ModelNode, plain: list[Flow], ctx: PassContext) -> None:
    targets = listed(dict.fromkeys(ctx.name(f.target) for f in plain))
    ctx.emit(
        ImplicitSplit,
        f"{len(plain)} flows leave {ctx.name(node)}, to {targets}: all of them are taken",
        element=node,
        help="put a parallel gateway after it, or an exclusive one if only one is meant",
    )
