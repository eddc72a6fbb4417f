"""Events that no run of the model can trigger: they are omitted, with the steps that only they lead
to.

An error or escalation event catches what something in its activity or scope throws (BPMN 2.0.2,
10.5.7), a cancel event what a cancel end event of its transaction throws (10.5.5), a compensation
event sub-process runs when its scope is compensated (10.7). Where the model contains nothing that
throws, and no step that may fail, the event never occurs, and the rest means the same without it.
Where the source does not show what is thrown, the event is kept: calls of unknown processes,
listeners, implementations of message events, computed codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from orgflow_ir.flow.control_flow.calls import called_from, calls_in, find_callee
from orgflow_ir.flow.control_flow.compensation import map_handlers
from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Gateway,
    Model,
    Node,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import Form, SubProcessCall
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.links import Links
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern, rewrite_all
from orgflow_ir.targets.target_rules import NeverOccurs

if TYPE_CHECKING:
    from orgflow_ir.flow.nets import escalations, failures
    from orgflow_ir.lowering import inlining
    from orgflow_ir.model.rewriter import Rewriter
    from orgflow_ir.work import listeners
else:  # models with events that catch what is thrown
    escalations = LazyModule("orgflow_ir.flow.nets.escalations")
    failures = LazyModule("orgflow_ir.flow.nets.failures")
    inlining = LazyModule("orgflow_ir.lowering.inlining")
    listeners = LazyModule("orgflow_ir.work.listeners")

_COMPUTED = lazy_pattern(r"\s*=|.*[$#]\{", re.DOTALL)
"""A code that is an expression of FEEL or JUEL."""

_NAMED = 3
"""Most omitted steps that a note names."""


class OmitUnreachedEvent(RewritePattern):
    """An event that never occurs is omitted, with the steps that only it leads to."""

    name = "omit-unreached-event"
    consumes = (
        "event.boundary.error", "event.boundary.escalation", "event.boundary.cancel",
        "sub-process.event",
    )  # fmt: skip
    reports = NeverOccurs

    def meaning(self, model: Model) -> Model:
        """See `RewritePattern`; the token game lets an error occur that nothing throws."""
        return without_unreached_events(model)

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        node, scope = use.element, use.scope
        assert isinstance(node, Event | SubProcess)
        assert scope is not None
        reason = why_never(node, scope, rewriter.model, ctx)
        if not reason:
            return None
        omitted = omit_branch(node, scope, rewriter, ctx)
        steps = [
            ctx.name(n) for n in omitted if n is not node and not isinstance(n, Event | Gateway)
        ]
        steps[_NAMED:] = [f"{len(steps) - _NAMED} more"] if len(steps) > _NAMED else []
        also = f", with {join_listed(steps)}" if steps else ""
        return f"{ctx.name(node)} never occurs, and is omitted{also}: {reason}"


class OmitUnreachedStep(RewritePattern):
    """An event that no run comes to, and that no other pattern rewrites, is omitted, with the steps
    that only it leads to."""

    name = "omit-unreached-step"
    consumes = ("event.catch", "event.throw", "event.end")
    reports = NeverOccurs

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        event, scope = use.element, use.scope
        assert isinstance(event, Event)
        assert scope is not None
        graph = ctx.analysis(ControlFlow, scope)
        begin = [*graph.entries, *(n for n in graph.sources if _begins_process(graph.nodes[n]))]
        if not begin or event.id in list_reachable(begin, _map_ahead(scope, graph)):
            return None
        omit_branch(event, scope, rewriter, ctx)
        return f"{ctx.name(event)} is omitted: no flow from a start event leads to it"


def _begins_process(node: Node) -> bool:
    """Whether a receive task or an event-based gateway begins a process (BPMN 2.0.2, 13.2)."""
    return isinstance(node, Task | Gateway) and node.instantiate


def why_never(node: Event | SubProcess, scope: Scope, model: Model, ctx: PassContext) -> str:
    """The reason why a boundary event or an event sub-process of a scope never occurs; empty if it
    may occur."""
    if isinstance(node, SubProcess):
        return _why_handler_never(node, scope, model, ctx)
    host = next((n for n in scope.nodes if n.id == node.attached_to), None)
    if host is None or len(node.definitions) != 1:
        return ""
    (caught,) = node.definitions
    if caught.kind == "cancel":
        return _why_not_cancelled(host, ctx)
    if isinstance(host, CallActivity):
        return _why_call_never(node, caught, host, scope, model, ctx)
    if isinstance(host, SubProcess):
        return _why_scope_never(node.id, node, host, scope, model, ctx)
    return ""  # a person or a worker may throw it


def _why_not_cancelled(host: Node, ctx: PassContext) -> str:
    inside = host.scopes() if isinstance(host, SubProcess) else ()
    ends = (n for scope in inside for n in scope.nodes if isinstance(n, Event))
    if any(
        d.kind == "cancel" for event in ends for d in event.definitions if not event.attached_to
    ):
        return ""
    return f"no cancel end event in {ctx.name(host)} cancels it"


def _why_call_never(
    event: Event,
    caught: EventDefinition,
    call: CallActivity,
    scope: Scope,
    model: Model,
    ctx: PassContext,
) -> str:
    called = find_callee(call, model)
    if called is None or _throws_unseen(called, caught.kind, model):
        return ""
    thrown = _name_thrown(caught, model)
    reason = f"nothing in {ctx.name(called)}, which {ctx.name(call)} calls, throws {thrown}"
    if caught.kind == "escalation":
        known = escalations.caught_escalations(scope, model).get(call.id, ())
        return "" if any(one_caught.event.id == event.id for one_caught in known) else reason
    nesting = inlining.nesting_of(scope, model)
    if any(nesting.matches(caught, d) for d in nesting.thrown_in(called)):
        return ""
    return "" if any(True for _ in failures.steps_called(call, caught, model)) else reason


def _throws_unseen(inside: Scope, kind: str, model: Model) -> bool:
    """Whether something in a scope, or in the processes that it calls, may throw errors or
    escalations (`kind`) that the source does not show."""
    if _has_computed_code(kind, model):
        return True
    called = [c for call in calls_in(inside) if (c := find_callee(call, model)) is not None]
    entered = [p for process in called for p in (process, *called_from(process, model))]
    return any(
        _is_unseen(element, kind, model)
        for outer in (inside, *entered)
        for scope in outer.scopes()
        for element in (scope, *scope.nodes)
    )


def _is_unseen(element: Scope | Node, kind: str, model: Model) -> bool:
    """Whether an element may throw what the source does not show: a call of a process that the
    model does not contain, and for errors also a listener and a message event with an
    implementation."""
    if isinstance(element, CallActivity) and find_callee(element, model) is None:
        return True
    if isinstance(element, Task) and isinstance(element.binding, SubProcessCall):
        return True  # of a process that the model does not contain
    if kind != "error":
        return False
    if isinstance(element, Event) and element.position in ("throw", "end"):
        implemented = element.binding is not None and not isinstance(element.binding, Form)
    else:
        implemented = False
    return implemented or bool(listeners.all_listeners(element))


def _has_computed_code(kind: str, model: Model) -> bool:
    """Whether an expression computes a code of errors or escalations in each run. An event that
    throws it may be rewritten already, the entry of the catalog stays."""
    entries = model.catalog.errors if kind == "error" else model.catalog.escalations
    return any(_COMPUTED.match(entry.code or "") for entry in entries)


def _why_handler_never(handler: SubProcess, scope: Scope, model: Model, ctx: PassContext) -> str:
    starts = [n for n in handler.nodes if isinstance(n, Event) and n.position == "start"]
    if len(starts) != 1 or len(starts[0].definitions) != 1:
        return ""
    (caught,) = starts[0].definitions
    if caught.kind == "compensation":
        return _why_not_compensated(scope, model, ctx)
    if caught.kind not in ("error", "escalation"):
        return ""
    return _why_scope_never(handler.id, starts[0], scope, scope, model, ctx, handler)


def _why_not_compensated(scope: Scope, model: Model, ctx: PassContext) -> str:
    """Nothing undoes a scope as a whole: no event outside of it compensates or cancels."""
    process = next(p for p in model.processes if any(s is scope for s in p.scopes()))
    inside = {id(s) for s in scope.scopes()} if scope is not process else set()
    throws = (
        node
        for outer in process.scopes()
        if id(outer) not in inside
        for node in outer.nodes
        if isinstance(node, Event) and node.position in ("throw", "end")
    )
    undoes = any(d.kind in ("compensation", "cancel") for node in throws for d in node.definitions)
    if undoes and scope is not process:
        return ""
    return f"no event outside of {ctx.name(scope)} compensates it"


def _why_scope_never(
    catcher: str,
    event: Event,
    inside: Scope,
    scope: Scope,
    model: Model,
    ctx: PassContext,
    handler: SubProcess | None = None,
) -> str:
    """Why an error or escalation event of a scope (`inside`: the sub-process that it is on, or the
    scope of its event sub-process) never occurs.

    Args:
        catcher: the id by which the scope names the event: its own, or that of the handler.
    """
    (caught,) = event.definitions
    if caught.kind not in ("error", "escalation"):
        return ""
    if _throws_unseen(inside, caught.kind, model):
        return ""
    nesting = inlining.nesting_of(scope, model)
    by = [
        nesting.caught(below, thrown).by
        for below in inside.scopes()
        if below is not handler
        for _, thrown in inlining.list_thrown(below)
        if nesting.matches(caught, thrown)
    ]
    called = [c for call in calls_in(inside) if (c := find_callee(call, model)) is not None]
    from_calls = any(nesting.matches(caught, d) for c in called for d in nesting.thrown_in(c))
    # What events throw is no reason why a step beside them does not fail.
    steps = caught.kind == "error" and any(
        not isinstance(step, CallActivity)
        or any(True for _ in failures.steps_called(step, caught, model))
        for step in inlining.list_failing(event, inside, model, ctx, handler)
    )
    if catcher in by or from_calls or steps:
        return ""
    if by:
        return "another event catches everything that it could catch"
    where = f"`{inside.label}`" if isinstance(inside, Process) else ctx.name(inside)
    return f"nothing in {where} throws {_name_thrown(caught, model)}"


def _name_thrown(caught: EventDefinition, model: Model) -> str:
    """The error or escalation that an event catches, in words."""
    entries = model.catalog.errors if caught.kind == "error" else model.catalog.escalations
    entry = next((e for e in entries if e.id == caught.ref), None)
    name = (entry.code or entry.name) if entry is not None else ""
    article = "an" if not name else "the"
    return f"{article} {caught.kind}" + (f" `{name}`" if name else "")


# -- the edits ---------------------------------------------------------------------------------


def omit_branch(node: Node, scope: Scope, rewriter: Rewriter, ctx: PassContext) -> list[Node]:
    """Remove a node with its flows and all nodes that only it leads to; returns these nodes, the
    first of which is the node itself."""
    graph = ctx.analysis(ControlFlow, scope)
    ahead = _map_ahead(scope, graph)
    caught = {n for _, after in _linked_ahead(scope) for n in after}
    begin = [n for n in dict.fromkeys((*graph.entries, *graph.sources)) if n not in caught]
    kept = list_reachable(begin, ahead, frozenset((node.id,)))
    gone = list_reachable((node.id,), ahead) - kept
    named = map_handlers(rewriter.model)
    still = {handler for id, handler in named.items() if id not in gone}
    gone |= {named[id] for id in gone if id in named} - still
    # Another edit of this round may have removed a part already.
    for flow in scope.flows:
        cut = flow.source in gone or flow.target in gone
        if cut and not rewriter.touched(scope.id, flow.id):
            rewriter.remove(scope.id, flow.id)
    omitted = [node, *(n for n in scope.nodes if n.id in gone and n is not node)]
    omitted = [each for each in omitted if not rewriter.touched(scope.id, each.id)]
    for each in omitted:
        rewriter.remove(scope.id, each.id)
    return omitted


def _map_ahead(scope: Scope, graph: ControlFlow) -> dict[str, list[str]]:
    """What follows each node: by flows, as an event on its border, or by a link."""
    linked = dict(_linked_ahead(scope))
    return {n: [*after, *linked.get(n, ())] for n, after in graph.successors.items()}


def _linked_ahead(scope: Scope) -> Iterator[tuple[str, list[str]]]:
    """The ids of the events that each link throw event leads to."""
    links = Links(scope.nodes)
    for throw in links.throws:
        yield throw.id, [event.id for caught in links.caught(throw) for event in caught]


def without_unreached_events(model: Model) -> Model:
    """The model without its events that never occur and what only they lead to; the model itself if
    there are none."""
    ctx = PassContext(source=model)
    while uses := [
        ConstructUse(node.construct, node, scope)
        for scope in model.scopes()
        for node in scope.nodes
        if isinstance(node, Event | SubProcess) and _is_catcher(node)
    ]:
        model, omitted = rewrite_all(OmitUnreachedEvent(), uses, model, ctx)
        if not omitted:
            break
    return model


def _is_catcher(node: Event | SubProcess) -> bool:
    """Whether a node is a boundary event or an event sub-process for what is thrown."""
    if isinstance(node, SubProcess):
        return node.flavour == "event"
    return node.position == "boundary" and node.trigger in ("error", "escalation", "cancel")


UNREACHED_EVENTS: tuple[RewritePattern, ...] = (OmitUnreachedEvent(),)
"""Before patterns for sub-processes, of which such an event would keep them."""

UNREACHED_STEPS: tuple[RewritePattern, ...] = (OmitUnreachedStep(),)
"""After all patterns that rewrite events without a loss."""
