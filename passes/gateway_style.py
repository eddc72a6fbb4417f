"""Gateways that have no effect, do two things at once, or are hard to read: rules of style."""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.diagnostics import Category, Edit, Fix, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Event, Flow, Gateway, Model, Scope
from orgflow_ir.pipeline import Pass, PassContext, Stage


class JoinAndFork(Rule):
    """
    What it finds
        A gateway with several incoming and several outgoing sequence flows.
    Why it is wrong
        It both joins and splits (BPMN 2.0.2, 10.6.1 allows it); readers overlook one of the two.
    Example
        An exclusive gateway `Order ok?` that the rework loop returns to.
    Instead
        Use a joining gateway without a label, followed by `Order ok?`.
    """

    code = "OF177"
    name = "join-and-fork"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class SuperfluousGateway(Rule):
    """
    What it finds
        A gateway with one incoming and one outgoing sequence flow.
    Why it is wrong
        It neither splits nor joins (BPMN 2.0.2, 10.6.1 requires several flows on one side); usually
        a branch was forgotten or removed.
    Example
        An exclusive gateway `In stock?` whose only outgoing flow leads to `Ship`.
    Instead
        Add the other branch, or connect the flow directly to `Ship`.
    """

    code = "OF178"
    name = "superfluous-gateway"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class InclusiveGateway(Rule):
    """
    What it finds
        An inclusive gateway.
    Why it is wrong
        BPMN allows it. The rule is for teams that avoid inclusive gateways, because the condition
        under which an inclusive join continues depends on the whole process before it (BPMN 2.0.2,
        10.6.3 and 13.4.3).
    Example
        An inclusive gateway `Which checks?`.
    Instead
        Use a parallel gateway with an exclusive one in each branch.
    """

    code = "OF179"
    name = "inclusive-gateway"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class ComplexGateway(Rule):
    """
    What it finds
        A complex gateway.
    Why it is wrong
        BPMN allows it (2.0.2, 10.6.5). The rule is for teams that avoid complex gateways, because
        few readers know their meaning and few engines support them.
    Example
        A complex gateway that continues after two of three offers.
    Instead
        Use a parallel multi-instance task with a completion condition, or exclusive and parallel
        gateways.
    """

    code = "OF180"
    name = "complex-gateway"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class GatewayStyle(Pass):
    """Reports gateways that are superfluous or hard to read."""

    name: ClassVar[str] = "gateway-style"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        JoinAndFork, SuperfluousGateway, InclusiveGateway, ComplexGateway,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for scope in ctx.scopes(model):
            graph: ControlFlow | None = None
            for node in scope.nodes:
                if isinstance(node, Gateway):
                    graph = graph or ctx.analysis(ControlFlow, scope)
                    _check_gateway(
                        node, graph.flows_in(node.id), graph.flows_out(node.id), scope, ctx
                    )
        return model


def _check_gateway(
    gateway: Gateway, into: list[Flow], out: list[Flow], scope: Scope, ctx: PassContext
) -> None:
    named = ctx.full_name(gateway)
    if len(into) > 1 and len(out) > 1:
        ctx.emit(
            JoinAndFork,
            f"{named} joins {len(into)} flows and splits into {len(out)}",
            element=gateway,
            help="put a separate joining gateway before it",
        )
    elif len(into) == 1 and len(out) == 1:
        ctx.emit(
            SuperfluousGateway,
            f"{named} has one incoming flow and one outgoing flow",
            element=gateway,
            help="add the missing branch, or remove the gateway",
            fix=_bypass_fix(gateway, into[0], out[0], scope, ctx),
        )
    if gateway.gateway_kind == "inclusive":
        ctx.emit(
            InclusiveGateway,
            f"{named} is inclusive",
            element=gateway,
            help="use parallel and exclusive gateways",
        )
    elif gateway.gateway_kind == "complex":
        ctx.emit(
            ComplexGateway,
            f"{named} is complex",
            element=gateway,
            help="use exclusive, parallel or event-based gateways",
        )


def _bypass_fix(
    gateway: Gateway, into: Flow, out: Flow, scope: Scope, ctx: PassContext
) -> Fix | None:
    """The fix that leads the flow past the gateway; none where a condition or an event would get
    lost, or where there is a label: somebody meant to decide something there."""
    if gateway.name.strip() or out.name.strip() or out.condition is not None:
        return None
    if gateway.gateway_kind not in ("exclusive", "parallel", "inclusive") or into.source == (
        out.target
    ):
        return None
    if any(n.attached_to == gateway.id for n in scope.nodes if isinstance(n, Event)):
        return None
    return Fix(
        title=f"remove {ctx.name(gateway)}",
        applicability="safe",
        edits=(
            Edit(
                action="replace", scope=scope.id, id=into.id, flow=into.replace(target=out.target)
            ),
            Edit(action="remove", scope=scope.id, id=out.id),
            Edit(action="remove", scope=scope.id, id=gateway.id),
        ),
    )
