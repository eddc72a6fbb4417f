"""Lowerings for any target that split an element with two meanings into several elements. All
lossless."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, assert_never

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.control_flow.outgoing import sort_outgoing
from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    GatewayKind,
    Model,
    Node,
    Opaque,
    Scope,
    SubProcess,
    Task,
    TaskType,
)
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.links import Links
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter


def mixed_gateways(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`gateway.mixed`: gateways that both join and split."""
    for scope in model.scopes():
        graph = ctx.analysis(ControlFlow, scope)
        for node in scope.nodes:
            if (
                isinstance(node, Gateway)
                and len(graph.flows_in(node.id)) > 1
                and len(graph.flows_out(node.id)) > 1
            ):
                yield ConstructUse("gateway.mixed", node, scope)


def conditional_splits(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`split.conditional`: activities whose outgoing flows depend on data."""
    for scope in model.scopes():
        graph = ctx.analysis(ControlFlow, scope)
        for node in scope.nodes:
            if node.id not in graph.with_conditions or not _chooses_flows(node):
                continue
            if sort_outgoing(graph.flows_out(node.id)).chosen:
                yield ConstructUse("split.conditional", node, scope)


def as_task(node: Node, task_type: TaskType, **more: Any) -> Task:
    """A task that replaces another element, with its id, name, documentation, extension data and
    place; `more` contains further fields."""
    return Task(
        id=node.id,
        name=node.name,
        doc=node.doc,
        extra=node.extra,
        loc=node.loc,
        task_type=task_type,
        **more,
    )


def timer_use(
    construct: str, event: Event, scope: Scope, reason: str, ctx: PassContext
) -> ConstructUse:
    """The use of a time that a target does not support; messages name the time and its text."""
    expression = event.definitions[0].expression
    text = one_line(expression.text).replace("`", "'") if expression is not None else ""
    subject = f"the time of {ctx.name(event)}, `{text}`,"
    return ConstructUse(construct, event, scope, reason, subject)


def _chooses_flows(node: Node) -> bool:
    """Whether each flow out of a node decides for itself: a gateway decides for all of them, and a
    condition behind an event is never evaluated (BPMN 2.0.2, 8.4.13; rule OF114)."""
    match node:
        case Task() | CallActivity() | SubProcess():
            return True
        case Event() | Gateway() | Opaque():
            return False
        case _:
            assert_never(node)


def _link_pairs(scope: Scope) -> list[tuple[Event, Event]]:
    links = Links(scope.nodes)
    throws = [e for e in links.throws if e.trigger == "link" and e.position == "throw"]
    pairs = ((t, links.caught(t)[0]) for t in throws)
    return [(t, c[0]) for t, c in pairs if len(c) == 1 and c[0].trigger == "link"]


class SplitMixedGateway(RewritePattern):
    """A gateway that joins and splits becomes a join followed by a split of the same kind
    (BPMN 2.0.2, 10.6: a gateway may do both, converging behaviour first)."""

    name = "split-mixed-gateway"
    consumes = ("gateway.mixed",)
    produces = (
        "gateway.exclusive", "gateway.inclusive", "gateway.parallel", "gateway.event",
        "gateway.complex", "flow.sequence",
    )  # fmt: skip

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str:
        gateway, scope = use.element, use.scope
        assert isinstance(gateway, Gateway)
        assert scope is not None
        # an event-based gateway passes each token that comes (BPMN 2.0.2, 10.6.6)
        kind = gateway.gateway_kind if gateway.gateway_kind != "event" else "exclusive"
        join = Gateway(
            id=rewriter.fresh_id(gateway.id, "join"), gateway_kind=kind, condition=gateway.condition
        )
        rewriter.insert(scope.id, join)
        if gateway.condition is not None:  # it says when the join goes on
            rewriter.replace(scope.id, gateway.id, gateway.replace(condition=None))
        for flow in ctx.analysis(ControlFlow, scope).flows_in(gateway.id):
            rewriter.redirect(scope.id, flow.id, target=join.id)
        between = rewriter.fresh_id(gateway.id, "between")
        rewriter.connect(scope.id, join.id, gateway.id, id=between)
        return f"{ctx.name(gateway)} joins and splits: it became a join followed by a split"


class ConditionalSplitToGateway(RewritePattern):
    """Outgoing flows of an activity that depend on data become an inclusive gateway after it, or an
    exclusive one if there is exactly one and a default (BPMN 2.0.2, 8.4.13: every true flow gets a
    token). Flows that are always taken are not changed."""

    name = "conditional-split-to-gateway"
    consumes = ("split.conditional",)
    produces = (
        "gateway.inclusive", "gateway.exclusive", "event.end.none", "flow.sequence",
        "flow.default",
    )  # fmt: skip

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str:
        node, scope = use.element, use.scope
        assert scope is not None
        flows = ctx.analysis(ControlFlow, scope).flows_out(node.id)
        always, chosen, default = sort_outgoing(flows)
        is_single = len(chosen) == 1 and default is not None
        kind: GatewayKind = "exclusive" if is_single else "inclusive"
        gateway = Gateway(id=rewriter.fresh_id(node.id, "split"), gateway_kind=kind)
        rewriter.insert(scope.id, gateway)
        for flow in flows:
            if flow not in always:
                rewriter.redirect(scope.id, flow.id, source=gateway.id)
        if always and default is None:
            self._nothing_more(rewriter, scope.id, gateway)
        to_split = rewriter.fresh_id(node.id, "to_split")
        rewriter.connect(scope.id, node.id, gateway.id, id=to_split)
        what = "conditions on" if any(f.condition is not None for f in chosen) else "choice between"
        return f"the {what} flows out of {ctx.name(node)} became a gateway"

    def _nothing_more(self, rewriter: Rewriter, scope: str, gateway: Gateway) -> None:
        """With an unconditional flow beside them, all conditions may be false: that is no error."""
        end = Event(
            id=rewriter.fresh_id(gateway.id, "none"), name="Nothing more to do", position="end"
        )
        rewriter.insert(scope, end)
        otherwise = rewriter.fresh_id(gateway.id, "otherwise")
        rewriter.connect(scope, gateway.id, end.id, id=otherwise, default=True)


class LinkToFlow(RewritePattern):
    """A link throw event and its catch event become a flow (BPMN 2.0.2, 10.5.6: a link is a
    go-to inside one process level)."""

    name = "link-to-flow"
    consumes = ("event.throw.link", "event.catch.link")
    produces = ("event.throw.none", "flow.sequence")

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        """Both events of a pair are rewritten with the throw event."""
        scope = use.scope
        assert scope is not None
        pairs = ctx.analysis(_link_pairs, scope)
        throw, catch = next((pair for pair in pairs if pair[0] is use.element), (None, None))
        if throw is None or catch is None:
            return None
        name = throw.name or next((d.name for d in throw.definitions if d.name), None)
        what = f"the link `{one_line(name)}`" if name else ctx.name(throw)
        for event in (throw, catch):
            if not rewriter.touched(scope.id, event.id):  # a catch may belong to several throws
                rewriter.replace(
                    scope.id, event.id, event.replace(position="throw", definitions=())
                )
        link = rewriter.fresh_id(throw.id, "link")
        rewriter.connect(scope.id, throw.id, catch.id, id=link)
        return f"{what} became a flow to its catch event"


LOWERINGS: tuple[RewritePattern, ...] = (
    LinkToFlow(),
    ConditionalSplitToGateway(),
    SplitMixedGateway(),
)
