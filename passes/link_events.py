"""Link events: a throw and its catch in one scope are one flow in two pieces."""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Event, Model, Scope
from orgflow_ir.model.links import Links, link_names
from orgflow_ir.pipeline import Pass, PassContext, Stage


class BrokenLink(Rule):
    """
    What it finds
        A link event whose counterpart is not in the same process or sub-process.
    Why it is wrong
        A throwing link jumps to the catching link of the same name (BPMN 2.0.2, 10.5.5); without
        one, a run stops there, and a catching link without a throwing link never runs.
    Example
        A throwing link event `A` and no catching link event `A`.
    Instead
        Give both the same name, or use a flow.
    """

    code = "OF118"
    name = "broken-link"
    severity = Severity.ERROR
    category = Category.MALFORMED


class SameLinkTwice(Rule):
    """
    What it finds
        Two catching link events of the same name in one process or sub-process.
    Why it is wrong
        The target of a throwing link is ambiguous; there may be several throwing links, but only
        one catching link of a name (BPMN 2.0.2, 10.5.5).
    Example
        Two catching link events `A`, before `Ship` and before `Bill`.
    Instead
        Rename one of them; to reach both, use one catching link followed by a parallel gateway.
    """

    code = "OF119"
    name = "same-link-twice"
    severity = Severity.ERROR
    category = Category.MALFORMED


class LinkEventFlow(Rule):
    """
    What it finds
        A sequence flow into a catching link event, or out of a throwing one.
    Why it is wrong
        A link replaces a flow (BPMN 2.0.2, 10.5.5): a run reaches the catching event only through
        the throwing event, and continues from a throwing event only at the catching event.
    Example
        `Check` leads to the catching link event `A`.
    Instead
        Connect `Check` to the throwing link event `A`, or to the step after the catching one.
    """

    code = "OF142"
    name = "link-event-flow"
    severity = Severity.WARNING
    category = Category.MALFORMED


class UnnamedLink(Rule):
    """
    What it finds
        A link event whose definition has no name.
    Why it is wrong
        Links are paired by the name of their definition (BPMN 2.0.2, 10.5.5). orgflow uses the
        label of the event instead; other tools do not.
    Example
        <intermediateThrowEvent id="t" name="A"><linkEventDefinition/></intermediateThrowEvent>
    Instead
        <intermediateThrowEvent id="t" name="A"><linkEventDefinition name="A"/>…
    """

    code = "OF191"
    name = "unnamed-link"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class LinkEvents(Pass):
    """Reports links that do not lead to exactly one place."""

    name: ClassVar[str] = "link-events"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        BrokenLink, SameLinkTwice, LinkEventFlow, UnnamedLink,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for scope in ctx.scopes(model):
            _check_scope(scope, ctx)
        return model


_LOSS = {
    "throw": ("catch", "a run that reaches it stops"),
    "catch": ("throw", "the steps after it never happen"),
}


def _check_scope(scope: Scope, ctx: PassContext) -> None:
    alone = [
        node
        for node in scope.nodes
        if isinstance(node, Event) and node.trigger == "link" and node.position in _LOSS
    ]
    if alone:
        graph = ctx.analysis(ControlFlow, scope)
        for event in alone:
            _check_alone(event, graph, ctx)
    links = Links(scope.nodes)
    reported: set[tuple[str, str]] = set()
    for event in links.lone():
        name = link_names(event)[0]
        if event.trigger != "link" or event.position not in _LOSS:
            continue
        if (event.position, name) in reported:
            continue
        reported.add((event.position, name))
        other, loss = _LOSS[event.position]
        if _has_name(event):
            fault = f"has no {other}ing link of that name in {ctx.name(scope)}"
            help_text = f"add a {other}ing link event `{name}`, or draw a flow instead"
        else:
            fault = f"has no name, so no {other}ing link in {ctx.name(scope)} belongs to it"
            help_text = f"use the name of a {other}ing link event, or draw a flow instead"
        ctx.emit(
            BrokenLink,
            f"{_name_link(event, ctx)} {fault}: {loss}",
            element=event,
            help=help_text,
        )
    seen: set[str] = set()
    meant = {c[0].id for e in links.throws for c in links.caught(e) if len(c) == 1}
    for event in links.catches:
        name = link_names(event)[0]
        if event.trigger != "link" or event.id in meant:
            continue
        if name in seen:
            ctx.emit(
                SameLinkTwice,
                f"two catching links in {ctx.name(scope)} are named `{name}`: it is undefined at "
                "which of them a run continues",
                element=event,
                help="rename them, and the throwing links accordingly",
            )
        seen.add(name)


def _check_alone(event: Event, graph: ControlFlow, ctx: PassContext) -> None:
    """Faults of one link event, whatever it is paired with."""
    if not event.definitions[0].name.strip():
        ctx.emit(
            UnnamedLink,
            f"the link of {ctx.full_name(event)} has no name",
            element=event,
            help="name both the throwing and the catching link",
        )
    catches = event.position == "catch"
    for flow in graph.flows_in(event.id) if catches else graph.flows_out(event.id):
        where = f"into {ctx.name(event)}" if catches else f"out of {ctx.name(event)}"
        ctx.emit(
            LinkEventFlow,
            f"a flow leads {where}, which is a {event.position}ing link",
            element=flow,
            help="use either the link or the flow",
        )


def _has_name(event: Event) -> bool:
    return bool(event.definitions[0].name.strip() or event.name.strip())


def _name_link(event: Event, ctx: PassContext) -> str:
    """A link by the name that joins it to others; by its surroundings where it has none."""
    if _has_name(event):
        return f"the {event.position}ing link `{link_names(event)[0]}`"
    return ctx.name(event)
