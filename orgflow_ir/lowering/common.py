"""Lowerings that any target may carry: elements that say two things at once become several. All
lossless."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow_ir.analysis.control_flow.graph import ControlFlow
from orgflow_ir.model import (
    CallActivity,
    Event,
    Flow,
    Gateway,
    Model,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.rewriter import Editor
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import Lowering


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
    """`split.conditional`: conditional flows that leave something that is no gateway."""
    for scope in model.scopes():
        graph = ctx.analysis(ControlFlow, scope)
        for node in scope.nodes:
            if isinstance(node, Task | CallActivity | SubProcess | Event) and any(
                f.condition is not None for f in graph.flows_out(node.id)
            ):
                yield ConstructUse("split.conditional", node, scope)


def links(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`event.link.pair`: link throw events with their one catch event."""
    del ctx
    for scope in model.scopes():
        for throw, _ in _pairs(scope):
            yield ConstructUse("event.link.pair", throw, scope)


def _pairs(scope: Scope) -> list[tuple[Event, Event]]:
    catches: dict[str, list[Event]] = {}
    throws: list[Event] = []
    for node in scope.nodes:
        if isinstance(node, Event) and node.trigger == "link":
            if node.position == "catch":
                catches.setdefault(_link_name(node), []).append(node)
            elif node.position == "throw":
                throws.append(node)
    return [
        (t, catches[_link_name(t)][0]) for t in throws if len(catches.get(_link_name(t), ())) == 1
    ]


def _link_name(event: Event) -> str:
    return " ".join((event.definitions[0].name or event.name).split())


class SplitMixedGateway(Lowering):
    """A gateway that joins and splits becomes a join followed by a split of the same kind
    (BPMN 2.0.2, 10.6: a gateway may do both, converging behaviour first)."""

    name = "split-mixed-gateway"
    consumes = ("gateway.mixed",)
    produces = ("gateway",)

    def measure(self, model: Model, ctx: PassContext) -> int:
        return sum(1 for _ in mixed_gateways(model, ctx))

    def apply(self, model: Model, ctx: PassContext) -> tuple[Model, tuple[str, ...]]:
        edit = Editor(model)
        notes = []
        for use in mixed_gateways(model, ctx):
            gateway, scope = use.element, use.scope
            assert isinstance(gateway, Gateway)
            assert scope is not None
            # an event-based gateway passes each token that comes (BPMN 2.0.2, 10.6.6)
            kind = gateway.gateway_kind if gateway.gateway_kind != "event" else "exclusive"
            join = Gateway(
                id=edit.fresh_id(gateway.id, "join"),
                gateway_kind=kind,
                loc=gateway.loc,
                origin=self.name,
            )
            edit.put_node(scope.id, join)
            for flow in ctx.analysis(ControlFlow, scope).flows_in(gateway.id):
                current = edit.flow(scope.id, flow.id)
                edit.put_flow(scope.id, current.replace(target=join.id))
            edit.put_flow(
                scope.id,
                Flow(
                    id=edit.fresh_id(gateway.id, "between"),
                    source=join.id,
                    target=gateway.id,
                    loc=gateway.loc,
                    origin=self.name,
                ),
            )
            notes.append(
                f"`{gateway.label}` joins and splits: it became a join followed by a split"
            )
        return edit.done(), tuple(notes)


class ConditionalSplitToGateway(Lowering):
    """Conditional flows out of a task become an inclusive gateway behind it; with exactly one
    condition and a default an exclusive one (BPMN 2.0.2, 8.3.13: every true flow gets a token).
    Unconditional flows stay where they are: they are always taken."""

    name = "conditional-split-to-gateway"
    consumes = ("split.conditional",)
    produces = ("gateway.inclusive", "gateway.exclusive")

    def measure(self, model: Model, ctx: PassContext) -> int:
        return sum(1 for _ in conditional_splits(model, ctx))

    def apply(self, model: Model, ctx: PassContext) -> tuple[Model, tuple[str, ...]]:
        edit = Editor(model)
        notes = []
        for use in conditional_splits(model, ctx):
            node, scope = use.element, use.scope
            assert scope is not None
            flows = ctx.analysis(ControlFlow, scope).flows_out(node.id)
            moved = [f for f in flows if f.condition is not None or f.default]
            always = len(moved) < len(flows)
            conditional = sum(1 for f in moved if f.condition is not None)
            default = any(f.default for f in moved)
            gateway = Gateway(
                id=edit.fresh_id(node.id, "split"),
                gateway_kind="exclusive" if conditional == 1 and default else "inclusive",
                loc=node.loc,
                origin=self.name,
            )
            edit.put_node(scope.id, gateway)
            for flow in moved:
                edit.put_flow(scope.id, edit.flow(scope.id, flow.id).replace(source=gateway.id))
            if always and not default:
                self._nothing_more(edit, scope.id, gateway)
            edit.put_flow(
                scope.id,
                Flow(
                    id=edit.fresh_id(node.id, "to_split"),
                    source=node.id,
                    target=gateway.id,
                    loc=node.loc,
                    origin=self.name,
                ),
            )
            notes.append(f"the conditions on flows out of `{node.label}` became a gateway")
        return edit.done(), tuple(notes)

    def _nothing_more(self, edit: Editor, scope: str, gateway: Gateway) -> None:
        """With an unconditional flow beside them, all conditions may be false: that is no error."""
        end = Event(
            id=edit.fresh_id(gateway.id, "none"),
            name="Nothing more to do",
            position="end",
            loc=gateway.loc,
            origin=self.name,
        )
        edit.put_node(scope, end)
        edit.put_flow(
            scope,
            Flow(
                id=edit.fresh_id(gateway.id, "otherwise"),
                source=gateway.id,
                target=end.id,
                default=True,
                loc=gateway.loc,
                origin=self.name,
            ),
        )


class LinkToFlow(Lowering):
    """A link throw event and its catch event become a flow (BPMN 2.0.2, 10.5.6: a link is a
    go-to inside one process level)."""

    name = "link-to-flow"
    consumes = ("event.throw.link", "event.catch.link")
    produces = ("flow.sequence",)

    def measure(self, model: Model, ctx: PassContext) -> int:
        return sum(1 for _ in links(model, ctx))

    def apply(self, model: Model, ctx: PassContext) -> tuple[Model, tuple[str, ...]]:
        del ctx
        edit = Editor(model)
        notes = []
        for scope in model.scopes():
            for throw, catch in _pairs(scope):
                for event in (throw, catch):
                    edit.put_node(scope.id, _passing(event, self.name))
                edit.put_flow(
                    scope.id,
                    Flow(
                        id=edit.fresh_id(throw.id, "link"),
                        source=throw.id,
                        target=catch.id,
                        loc=throw.loc,
                        origin=self.name,
                    ),
                )
                notes.append(f"the link `{throw.label}` became a flow to where it is caught")
        return edit.done(), tuple(notes)


def _passing(event: Event, origin: str) -> Event:
    """The event as one that throws nothing: a token passes it."""
    return event.replace(position="throw", definitions=(), origin=origin)


LOWERINGS: tuple[Lowering, ...] = (
    LinkToFlow(),
    ConditionalSplitToGateway(),
    SplitMixedGateway(),
)
