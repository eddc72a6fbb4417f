"""Dissolves sub-processes, and determines why one cannot be dissolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from orgflow_ir.flow.concurrency.parallel_steps import Concurrency
from orgflow_ir.flow.control_flow.calls import called_from, find_callee
from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.flow.control_flow.outgoing import sort_outgoing
from orgflow_ir.flow.nets.activity_summaries import Nesting
from orgflow_ir.flow.nets.escalations import (
    LeavingEscalation,
    caught_escalations,
    throwing_calls,
)
from orgflow_ir.flow.nets.failures import failing_steps, steps_called
from orgflow_ir.lowering.listeners import is_listener_step
from orgflow_ir.lowering.mappings import list_obstacles as of_mappings
from orgflow_ir.lowering.unrolling import find_obstacle
from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Flow,
    Gateway,
    GatewayKind,
    Model,
    Node,
    Opaque,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.scope_mappings import has_mappings
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.spec import Reason
from orgflow_ir.work.thrown_errors import throws_by_code

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter

_THROWN = ("error", "escalation")
_NAMED = 3
_WAITING_JOINS = ("parallel", "inclusive", "complex")


def list_obstacles(sub: SubProcess, scope: Scope, model: Model, ctx: PassContext) -> Iterator[str]:
    """Why a sub-process cannot be dissolved, with the cheapest tests first."""
    if sub.loop is not None:
        obstacle = find_obstacle(sub, scope, model, ctx)
        yield "it is repeated, and " + (
            obstacle or "its parallel instances wait, but a loop runs one after the other"
        )
    if sub.for_compensation:
        yield "it compensates another activity"
    if has_mappings(sub):
        yield from of_mappings(sub, scope, model, ctx)
    if undoing := [node for node in sub.nodes if _is_undoing(node)]:
        yield Reason(
            "it contains compensation, which would have another effect in the parent process",
            *undoing,
        )
    graph, outer = ctx.analysis(ControlFlow, sub), ctx.analysis(ControlFlow, scope)
    if sort_outgoing(outer.flows_out(sub.id)).chosen:
        yield "its outgoing flows depend on data"
    if any(source_ids(outer.nodes[f.target])[0] == sub.id for f in outer.flows_out(sub.id)[1:]):
        yield "some of its outgoing flows depend on data and others do not"
    inner = next((n for n in sub.nodes if isinstance(n, SubProcess)), None)
    if inner is not None:
        yield Reason(f"{ctx.name(inner)} in it stays its own process", inner)
    if len([n for n in sub.nodes if _is_start(n)]) > 1:
        yield "the model does not define at which of its start events it begins"
    beside = ctx.analysis(Concurrency, outer).beside(sub.id) if sub.nodes else ()
    if sub.id in beside and (_has_join(graph) or len(list(_exit_nodes(graph))) > 1):
        yield "it may be active twice at the same time, and its branches would be confused"
    yield from _events_outside(sub, scope, model, ctx)
    yield from _never_reached(sub, scope, model, ctx)
    if sub.nodes:
        yield from _ends_early(sub, scope, graph, model, ctx)


def _never_reached(inner: Scope, scope: Scope, model: Model, ctx: PassContext) -> Iterator[str]:
    """Error events around a scope all of whose errors are caught nearer: with what catches them
    dissolved they would seem to catch those of steps."""
    nesting = nesting_of(scope, model)
    chain = nesting.chain(scope)
    around = [(here, event) for here in chain for event in nesting.around.get(here.id, ())]
    around += [
        (here, start)
        for here in chain
        for node in here.nodes
        if isinstance(node, SubProcess) and node.flavour == "event" and node is not inner
        for start in node.nodes
        if _is_start(start) and isinstance(start, Event)
    ]
    for here, event in around:
        if len(event.definitions) != 1 or event.definitions[0].kind != "error":
            continue
        caught = [
            nesting.caught(below, thrown).by
            for below in here.scopes()
            for _, thrown in list_thrown(below)
            if nesting.matches(event.definitions[0], thrown)
        ]
        own = event.id if event.attached_to else _holder_of(event, here)
        if caught and own not in caught:
            yield f"{ctx.name(event)} catches an error that is always caught before it"


def _holder_of(start: Event, scope: Scope) -> str:
    """The event sub-process of a scope that an event starts."""
    return next(
        node.id for node in scope.nodes if isinstance(node, SubProcess) and start in node.nodes
    )


def _events_outside(sub: SubProcess, scope: Scope, model: Model, ctx: PassContext) -> Iterator[str]:
    """Boundary events that do not come from events directly in the sub-process."""
    nesting = nesting_of(scope, model)
    for event in _attached_events(sub, scope):
        if len(event.definitions) != 1 or event.definitions[0].kind not in _THROWN:
            yield Reason(f"{ctx.name(event)} may occur while something in it is active", event)
        elif event.definitions[0].kind == "error":
            thrown = any(nesting.matches(event.definitions[0], d) for _, d in list_thrown(sub))
            if not thrown or failing_steps_of(event, sub, model, ctx):
                yield from _why_not_from_steps(event, sub, model, ctx)
        else:
            calls = throwing_calls(event.definitions[0], sub, model)
            yield from _why_not_from_calls(event, calls, sub, ctx)
            thrown = any(nesting.matches(event.definitions[0], d) for _, d in list_thrown(sub))
            if not calls and not thrown:
                yield f"nothing in it throws the event that {ctx.name(event)} catches"


def _why_not_from_calls(
    event: Event, calls: list[CallActivity], sub: SubProcess, ctx: PassContext
) -> Iterator[str]:
    """Why an escalation event of a sub-process cannot become one of each call in it out of which
    the escalation comes."""
    graph = ctx.analysis(ControlFlow, sub)
    for call in calls if event.interrupting else ():
        beside = ctx.analysis(Concurrency, graph).beside(call.id)
        if beside:
            what = _work_in(beside, graph, ctx)
            yield f"the process called by {ctx.name(call)} may end it while {what} may be active"


def _work_in(beside: Iterable[str], graph: ControlFlow, ctx: PassContext) -> str:
    """Activities among some nodes, by name; another branch where there are none."""
    work = [graph.nodes[n] for n in beside]
    named = [ctx.name(n) for n in work if not isinstance(n, Event | Gateway)]
    return join_listed(named[:_NAMED]) if named else "another branch"


def _why_not_from_steps(
    event: Event, scope: Scope, model: Model, ctx: PassContext, handler: SubProcess | None = None
) -> Iterator[str]:
    """Why an error event of a scope (that starts `handler`, or is on the scope) cannot become an
    error boundary event of each step that may throw its error."""
    graph = ctx.analysis(ControlFlow, scope)
    concurrency = ctx.analysis(Concurrency, graph)
    steps = failing_steps_of(event, scope, model, ctx, handler)
    named = "it" if handler is not None else ctx.name(event)
    if not steps:
        yield f"{named} catches every error, and no step can fail"
    for step in steps:
        if step.id not in graph.nodes:
            holder = next(s for s in scope.scopes() if any(n is step for n in s.nodes))
            yield Reason(
                f"{ctx.name(step)}, whose errors {named} catches, stays in its own process", holder
            )
            continue
        if step.loop is not None:
            yield f"{ctx.name(step)}, whose errors {named} catches, is repeated"
        beside = (graph.nodes[n] for n in concurrency.beside(step.id))
        others = [n for n in beside if handler is None or n.id != handler.id]
        if others:
            what = _work_in((n.id for n in others), graph, ctx)
            yield f"{ctx.name(step)} may fail while {what} may be active"


def failing_steps_of(
    event: Event, scope: Scope, model: Model, ctx: PassContext, handler: SubProcess | None = None
) -> list[Task | CallActivity]:
    """The steps of the source, and those of its listeners, whose errors an error event of a scope
    catches: where an event throws its error, the scripts and the calls of processes that do, else
    all that may fail."""
    nesting = nesting_of(scope, model)
    caught = event.definitions[0]
    own_steps = list_failing(event, scope, model, ctx, handler)
    thrown = any(nesting.matches(caught, d) for d in nesting.thrown_in(scope))
    return [
        step
        for step in own_steps
        if (
            _throws_by_call(step, caught, nesting)
            or throws_by_code(step, caught, model, nesting.matches)
            if thrown
            else not isinstance(step, CallActivity) or _may_fail(step, caught, model, nesting)
        )
    ]


def list_failing(
    event: Event, scope: Scope, model: Model, ctx: PassContext, handler: SubProcess | None = None
) -> list[Task | CallActivity]:
    """The steps of the source, and those of its listeners, that may fail with an error that no
    event nearer than an error event of a scope catches."""
    own = handler.id if handler is not None else ""
    steps = failing_steps(scope, event.definitions[0], nesting_of(scope, model).matches, own)
    return [step for step in steps if source_ids(step) == (step.id,) or is_listener_step(step, ctx)]


def _throws_by_call(step: Task | CallActivity, caught: EventDefinition, nesting: Nesting) -> bool:
    """Whether a step calls a process in which an event throws what is caught."""
    called = nesting.process_called(step) if isinstance(step, CallActivity) else None
    return called is not None and any(nesting.matches(caught, d) for d in nesting.thrown_in(called))


def _throwing_calls(caught: EventDefinition, scope: Scope, nesting: Nesting) -> list[CallActivity]:
    """The calls directly in a scope of processes in which an event throws what is caught."""
    calls = (n for n in scope.nodes if isinstance(n, CallActivity))
    return [call for call in calls if _throws_by_call(call, caught, nesting)]


def _may_fail(call: CallActivity, caught: EventDefinition, model: Model, nesting: Nesting) -> bool:
    if nesting.process_called(call) is None:
        return True
    return next(steps_called(call, caught, model), None) is not None


def why_no_error_of(call: CallActivity, event: Event, model: Model, ctx: PassContext) -> str:
    """The reason why an error boundary event on a call cannot catch the errors of the called
    process; empty if it can."""
    called = find_callee(call, model)
    if called is None or not event.definitions:
        return ""
    caught = event.definitions[0]
    nesting = Nesting(called, model)
    if any(nesting.matches(caught, d) for d in nesting.thrown_in(called)):
        return ""
    steps = {step.id: step for step in steps_called(call, caught, model)}
    if not steps:
        return f"no step of {ctx.name(called)} can fail"
    for process in (called, *called_from(called, model)):
        for scope in process.scopes():
            graph = ctx.analysis(ControlFlow, scope)
            concurrency = ctx.analysis(Concurrency, graph)
            for node in scope.nodes:
                inner = isinstance(node, CallActivity) and find_callee(node, model) is not None
                if (node.id in steps or inner) and (others := concurrency.beside(node.id)):
                    what = _work_in(others, graph, ctx)
                    return f"{ctx.name(node)} may fail while {what} may be active"
    return ""


def why_no_escalation_of(call: CallActivity, event: Event, model: Model, ctx: PassContext) -> str:
    """The reason why an escalation boundary event on a call cannot catch the escalations of the
    called process; empty if it can.

    The event occurs when the call returns. An interrupting event therefore needs a called process
    that ends where it throws, and a non-interrupting event needs a called process that throws once.
    """
    scope = next(s for s in model.scopes() if any(n is event for n in s.nodes))
    caught = {
        caught_escalation.event.id: caught_escalation.leaving
        for caught_escalation in caught_escalations(scope, model).get(call.id, ())
    }
    if event.id not in caught:
        other = any(n.id in caught for n in scope.nodes)
        called = ctx.name(call)
        if other:
            return "another event catches the same escalation"
        return f"nothing that {called} calls throws the event that it catches"
    if event.interrupting:
        return next(_why_it_continues(caught[event.id], ctx), "")
    errors = (n for n in scope.nodes if isinstance(n, Event) and n.attached_to == call.id)
    if any(catch.trigger == "error" for catch in errors):
        return f"{ctx.name(call)} may also fail, and then returns no escalations"
    return next(_why_several(caught[event.id], ctx), "")


def _why_it_continues(leaving: Iterable[LeavingEscalation], ctx: PassContext) -> Iterator[str]:
    """Why a called process does not end where it throws an escalation that ends it."""
    for escalation in leaving:
        graph = ctx.analysis(ControlFlow, escalation.way[-1].scope)
        others = ctx.analysis(Concurrency, graph).beside(escalation.event.id)
        thrown = ctx.name(escalation.event)
        if len(escalation.way) > 1:
            yield f"{thrown} also ends the process that {ctx.name(escalation.way[0].node)} is in"
        if graph.flows_out(escalation.event.id):
            yield f"{thrown} is not the last step of the scope that it ends"
        if others:
            yield f"{thrown} ends its process while {_work_in(others, graph, ctx)} may be active"


def _why_several(leaving: Sequence[LeavingEscalation], ctx: PassContext) -> Iterator[str]:
    """Why some escalations may be thrown more than once before the outermost call returns."""
    for escalation in leaving:
        for node, scope in escalation.way:
            graph = ctx.analysis(ControlFlow, scope)
            beside = ctx.analysis(Concurrency, graph).beside(node.id)
            if node.id in graph.cyclic or node.id in beside or getattr(node, "loop", None):
                yield f"{ctx.name(escalation.event)} may be thrown several times"
    for escalation, other in combinations(leaving, 2):
        places = zip(escalation.way, other.way, strict=False)
        first, second = next(
            ((a, b) for a, b in places if a != b), (escalation.way[-1], other.way[-1])
        )
        graph = ctx.analysis(ControlFlow, first.scope)
        follows = any(
            b.node.id in list_reachable([a.node.id], graph.successors)
            for a, b in ((first, second), (second, first))
        )
        beside = ctx.analysis(Concurrency, graph).beside(first.node.id)
        if follows or second.node.id in beside:
            yield f"{ctx.name(escalation.event)} and {ctx.name(other.event)} may both be thrown"


def _ends_early(
    sub: SubProcess, scope: Scope, graph: ControlFlow, model: Model, ctx: PassContext
) -> Iterator[str]:
    """Events that would end other branches, and ends that cannot be told from each other."""
    concurrency = ctx.analysis(Concurrency, graph)
    yield from _early_ends(sub, scope, graph, model, ctx)
    if _one_end(graph, concurrency):
        return
    for node in _exit_nodes(graph):
        for flow in graph.flows_in(node.id):
            if flow.source in concurrency.beside(flow.source):
                source = ctx.name(graph.nodes[flow.source])
                yield f"{source} may run twice at the same time, and both runs end it"
        kept = isinstance(node, Event) and (node.definitions or node.name.strip())
        if kept and len(graph.flows_in(node.id)) > 1:
            yield f"several branches end at {ctx.name(node)}"


def _early_ends(
    sub: SubProcess, scope: Scope, graph: ControlFlow, model: Model, ctx: PassContext
) -> Iterator[str]:
    """Events that would end other branches, or throw several things."""
    concurrency = ctx.analysis(Concurrency, graph)
    for node in graph.nodes.values():
        if not isinstance(node, Event) or node.position not in ("throw", "end"):
            continue
        kinds = {d.kind for d in node.definitions}
        caught = _caught_by(node, sub, scope, model)
        ends = "terminate" in kinds or "error" in kinds
        ends = ends or (caught is not None and caught.interrupting)
        if len(node.definitions) > 1 and (ends or kinds & {*_THROWN}):
            yield f"{ctx.name(node)} has several events to throw"
        others = concurrency.beside(node.id) if ends else ()
        if others:
            what = _work_in(others, graph, ctx)
            yield f"{ctx.name(node)} ends it while {what} may be active"


# -- what is in it -----------------------------------------------------------------------------


def _is_start(node: Node) -> bool:
    return isinstance(node, Event) and node.position == "start"


def _is_undoing(node: Node) -> bool:
    """Whether a node undoes work, or says what does."""
    if isinstance(node, Event):
        return any(d.kind in ("compensation", "cancel") for d in node.definitions)
    return not isinstance(node, Gateway | Opaque) and node.for_compensation


def _has_join(graph: ControlFlow) -> bool:
    """Whether anything in a scope waits for several tokens."""
    return any(
        n.gateway_kind in _WAITING_JOINS and len(graph.flows_in(n.id)) > 1
        for n in graph.nodes.values()
        if isinstance(n, Gateway)
    )


def _exit_nodes(graph: ControlFlow) -> Iterator[Node]:
    """Where tokens end, in order; an event that always ends the sub-process early is none."""
    for node in graph.nodes.values():
        if node.id not in graph.reachable or graph.flows_out(node.id):
            continue
        if isinstance(node, Event) and any(d.kind == "error" for d in node.definitions):
            continue
        yield node


def _one_end(graph: ControlFlow, concurrency: Concurrency) -> bool:
    """Whether the first token that ends is always the last one."""
    return not any(concurrency.beside(node.id) for node in _exit_nodes(graph))


def _attached_events(sub: SubProcess, scope: Scope) -> list[Event]:
    return [n for n in scope.nodes if isinstance(n, Event) and n.attached_to == sub.id]


def list_thrown(sub: Scope) -> Iterator[tuple[Event, EventDefinition]]:
    """Errors and escalations that events directly in a scope throw."""
    for node in sub.nodes:
        if isinstance(node, Event) and node.position in ("throw", "end"):
            yield from ((node, d) for d in node.definitions if d.kind in _THROWN)


def _caught_by(event: Event, sub: SubProcess, scope: Scope, model: Model) -> Event | None:
    """The boundary event of the sub-process that catches what an event in it throws."""
    nesting = nesting_of(scope, model)
    attached = _attached_events(sub, scope)
    for boundary in sorted(
        attached, key=lambda caught: any(map(model.catches_any, caught.definitions))
    ):
        for thrown in event.definitions:
            if any(nesting.matches(d, thrown) for d in boundary.definitions):
                return boundary
    return None


def nesting_of(scope: Scope, model: Model) -> Nesting:
    process = next(p for p in model.processes if any(s is scope for s in p.scopes()))
    return Nesting(process, model)


def _on_the_way(event: Event, model: Model) -> Event:
    """An event that catches as one on the way, which all that throw it lead to."""
    entries = {e.id: e for e in (*model.catalog.errors, *model.catalog.escalations)}
    entry = entries.get(event.definitions[0].ref or "")
    what = event.definitions[0].kind.capitalize()
    thrown = (entry.name or entry.code or what) if entry is not None else what
    name = event.name if event.name.strip() else thrown
    return event.replace(
        position="throw", name=name, definitions=(), attached_to=None, interrupting=True
    )


# -- dissolving it -----------------------------------------------------------------------------


class Inlining:
    """Dissolves one sub-process."""

    def __init__(self, sub: SubProcess, scope: Scope, rewriter: Rewriter, ctx: PassContext) -> None:
        self.sub, self.scope, self.rewriter = sub, scope, rewriter
        self.graph = ctx.analysis(ControlFlow, sub)
        self.outer = ctx.analysis(ControlFlow, scope)
        self.one_end = _one_end(self.graph, ctx.analysis(Concurrency, self.graph))
        self.caught = {
            event.id: catcher
            for event, _ in list_thrown(sub)
            if (catcher := _caught_by(event, sub, scope, rewriter.model)) is not None
        }
        self.exits = list(_exit_nodes(self.graph))
        nesting = nesting_of(scope, rewriter.model)
        self.from_steps: dict[str, Sequence[Task | CallActivity]] = {
            event.id: failing_steps_of(event, sub, rewriter.model, ctx)
            if event.definitions[0].kind == "error"
            else throwing_calls(event.definitions[0], sub, rewriter.model)
            for event in _attached_events(sub, scope)
        }
        self.thrown = {
            event.id
            for event in _attached_events(sub, scope)
            if any(nesting.matches(event.definitions[0], d) for _, d in list_thrown(sub))
        }

    def run(self) -> None:
        """The edits, ordered so that each refers only to earlier ones."""
        sub, rewriter, around = self.sub, self.rewriter, self.scope.id
        # 1. Nodes of the scope around it that take the place of its border.
        entry = self._add_gateway("begin", "exclusive", name=sub.name, doc=sub.doc)
        out = self.outer.flows_out(sub.id)
        leave = self._leave_subprocess(out) if out else None
        boundaries = {
            event.id: self._inline_boundary(event) for event in _attached_events(sub, self.scope)
        }
        for flow in self.outer.flows_in(sub.id):
            rewriter.redirect(around, flow.id, target=entry)
        # 2. What is in it.
        rewriter.dissolve(around, sub.id)
        # 3. How it begins and ends.
        self._inline_start(entry)
        for node in self.graph.nodes.values():
            if isinstance(node, Event) and node.position in ("throw", "end"):
                boundary = self.caught.get(node.id)
                self._inline_event(node, leave, boundaries[boundary.id] if boundary else None)
            ends = not isinstance(node, Event) or node.position != "end"
            if leave is not None and ends and any(node is exit_node for exit_node in self.exits):
                self._connect_nodes(node.id, leave)

    def _add_gateway(self, role: str, kind: GatewayKind, name: str = "", doc: str = "") -> str:
        id = self.rewriter.fresh_id(self.sub.id, role)
        gateway = Gateway(id=id, name=name, doc=doc, gateway_kind=kind)
        self.rewriter.insert(self.scope.id, gateway)
        return id

    def _connect_nodes(self, source: str, target: str) -> None:
        id = self.rewriter.fresh_id(source, "to")
        self.rewriter.connect(self.scope.id, source, target, id=id)

    def _leave_subprocess(self, out: list[Flow]) -> str:
        """The gateway that all ends lead to; several flows out of the sub-process fork behind."""
        leave = self._add_gateway("end", "exclusive" if self.one_end else "inclusive")
        source = leave
        if len(out) > 1:
            source = self._add_gateway("fork", "parallel")
            self._connect_nodes(leave, source)
        for flow in out:
            self.rewriter.redirect(self.scope.id, flow.id, source=source)
        return leave

    def _inline_boundary(self, event: Event) -> str:
        if self.from_steps[event.id]:
            self._on_steps(event, self.from_steps[event.id])
            return event.id
        self.rewriter.replace(self.scope.id, event.id, _on_the_way(event, self.rewriter.model))
        return event.id

    def _on_steps(self, event: Event, steps: Sequence[Task | CallActivity]) -> None:
        """A boundary event goes to the step that may throw what it catches; where several may, one
        on each leads to it."""
        if len(steps) == 1 and event.id not in self.thrown:
            there = event.replace(attached_to=steps[0].id)
            self.rewriter.replace(self.scope.id, event.id, there)
            return
        plain = _on_the_way(event, self.rewriter.model).replace(binding=None)
        self.rewriter.replace(self.scope.id, event.id, plain)
        for step in steps:
            copy = self.rewriter.fresh_id(event.id, "of")
            self.rewriter.insert(
                self.scope.id, event.replace(id=copy, attached_to=step.id), of=(event,)
            )
            self._connect_nodes(copy, event.id)

    def _inline_start(self, entry: str) -> None:
        around, rewriter = self.scope.id, self.rewriter
        start = next((n for n in self.sub.nodes if _is_start(n)), None)
        if start is None:
            first = [self.graph.nodes[n] for n in self.graph.entries]
            targets = [n.id for n in first if not getattr(n, "for_compensation", False)]
            source = entry if len(targets) < 2 else self._add_split(entry)
            for target in targets:
                self._connect_nodes(source, target)
        elif start.name.strip() or not self.graph.flows_out(start.id):
            name = start.name.strip() or self.sub.name
            kept = start.replace(position="throw", name=name, definitions=(), interrupting=True)
            rewriter.replace(around, start.id, kept)
            self._connect_nodes(entry, start.id)
        else:
            flows = self.graph.flows_out(start.id)
            source = entry if len(flows) < 2 else self._add_split(entry)
            for flow in flows:
                rewriter.redirect(around, flow.id, source=source)
            rewriter.remove(around, start.id)

    def _add_split(self, entry: str) -> str:
        split = self._add_gateway("split", "parallel")
        self._connect_nodes(entry, split)
        return split

    def _inline_event(self, event: Event, leave: str | None, boundary: str | None) -> None:
        """A throw or end event: kept where it does something, or has a name."""
        around, rewriter = self.scope.id, self.rewriter
        caught = self.caught.get(event.id)
        kinds = {d.kind for d in event.definitions}
        if caught is None and (event.position == "throw" or "error" in kinds):
            return  # it does what it did, or ends what is around it, too
        if event.position == "throw":
            assert boundary is not None
            assert caught is not None
            rewriter.replace(around, event.id, event.replace(definitions=()))
            for flow in self.graph.flows_out(event.id) if caught.interrupting else ():
                rewriter.remove(around, flow.id)
            self._connect_nodes(event.id, boundary)
            return
        goes_on = caught is None or not caught.interrupting
        targets = [t for t in (boundary, leave if goes_on else None) if t is not None]
        definitions = () if caught is not None or "terminate" in kinds else event.definitions
        into = self.graph.flows_in(event.id)
        if not targets:
            rewriter.replace(around, event.id, event.replace(definitions=definitions))
        elif len(targets) > 1 or definitions or event.name.strip() or not into:
            kept = event.replace(position="throw", definitions=definitions)
            rewriter.replace(around, event.id, kept)
            for target in targets:
                self._connect_nodes(event.id, target)
        else:
            for flow in into:
                rewriter.redirect(around, flow.id, target=targets[0])
            rewriter.remove(around, event.id)


# -- event sub-processes -----------------------------------------------------------------------


def handler_obstacles(
    handler: SubProcess, scope: Scope, model: Model, ctx: PassContext
) -> Iterator[str]:
    """Why an event sub-process cannot become flows from the throwing elements to its steps."""
    starts = [n for n in handler.nodes if isinstance(n, Event) and n.position == "start"]
    definitions = [d for start in starts for d in start.definitions]
    if any(d.kind == "compensation" for d in definitions):
        named = ctx.name(scope) if isinstance(scope, SubProcess) else f"`{scope.label}`"
        yield f"it begins when {named} as a whole is compensated"
        return
    if len(starts) != 1 or len(definitions) != 1 or definitions[0].kind not in _THROWN:
        yield ""
        return
    yield from _handler_content_obstacles(handler, ctx)
    here = _thrown_to(handler, scope, nesting_of(scope, model))
    yield from _unseen_throws(handler, starts[0], here, scope, model, ctx)
    yield from _never_reached(handler, scope, model, ctx)
    yield from _branch_obstacles(handler, starts[0], here, scope, ctx)


def _branch_obstacles(
    handler: SubProcess, start: Event, here: Sequence[Event], scope: Scope, ctx: PassContext
) -> Iterator[str]:
    """Branches that are active beside the events that an event sub-process catches (`here`), or
    beside an end in it that ends all of it."""
    concurrency = ctx.analysis(Concurrency, ctx.analysis(ControlFlow, scope))
    for event in here:
        others = [n for n in concurrency.beside(event.id) if n != handler.id]
        if event.position == "throw" and start.interrupting:
            yield f"{ctx.name(event)} is not the last step of the scope that it ends"
        if others and start.interrupting:
            yield f"other branches may be active when {ctx.name(event)} ends them"
        elif event.id in others and _has_join(ctx.analysis(ControlFlow, handler)):
            yield "it may be active twice at the same time, and its branches would be confused"
    inside = ctx.analysis(ControlFlow, handler)
    for node in filter(_is_terminate_event, handler.nodes):
        if ctx.analysis(Concurrency, inside).beside(node.id):
            yield f"{ctx.name(node)} ends it while something else in it may be active"


def _handler_content_obstacles(handler: SubProcess, ctx: PassContext) -> Iterator[str]:
    """What an event sub-process contains that cannot stand in the scope around it."""
    inner = next((n for n in handler.nodes if isinstance(n, SubProcess)), None)
    if inner is not None:
        yield Reason(f"{ctx.name(inner)} in it stays its own process", inner)
    if any(True for _ in list_thrown(handler)):
        yield "it throws something itself"
    if any(map(_is_undoing, handler.nodes)):
        yield "it contains compensation"


def _unseen_throws(
    handler: SubProcess,
    start: Event,
    here: Sequence[Event],
    scope: Scope,
    model: Model,
    ctx: PassContext,
) -> Iterator[str]:
    """Why what an event sub-process catches is not thrown by events of its scope alone (`here`)."""
    nesting = nesting_of(scope, model)
    definition = start.definitions[0]
    everywhere = [d for d in nesting.thrown_in(scope) if nesting.matches(definition, d)]
    calls = _throwing_calls(definition, scope, nesting)
    called = [p for p in map(nesting.process_called, calls) if p is not None]
    from_calls = [
        d
        for process in {p.id: p for p in called}.values()
        for d in nesting.thrown_in(process)
        if nesting.matches(definition, d)
    ]
    if definition.kind == "error" and (from_calls or not everywhere):
        yield from _why_not_from_steps(start, scope, model, ctx, handler)
    elif not everywhere:
        yield "nothing throws its event"
    if everywhere and definition.kind == "escalation" and from_calls:
        yield f"it catches an escalation of the process that {ctx.name(calls[0])} calls"
    elif len(here) + len(from_calls) != len(everywhere):
        yield "its event is thrown in a part that stays its own process"


def _thrown_to(handler: SubProcess, scope: Scope, nesting: Nesting) -> list[Event]:
    """The events directly in a scope whose error or escalation an event sub-process catches."""
    return [
        event
        for event, thrown in list_thrown(scope)
        if len(event.definitions) == 1 and nesting.caught(scope, thrown).by == handler.id
    ]


def dissolve_handler(
    handler: SubProcess, scope: Scope, rewriter: Rewriter, ctx: PassContext
) -> None:
    """Connect the elements that throw the event of an event sub-process to its steps."""
    throws = _thrown_to(handler, scope, nesting_of(scope, rewriter.model))
    (start,) = (n for n in handler.nodes if isinstance(n, Event) and n.position == "start")
    model = rewriter.model
    error = start.definitions[0].kind == "error"
    failing = failing_steps_of(start, scope, model, ctx, handler) if error else []
    begin = rewriter.fresh_id(handler.id, "begin")
    gateway = Gateway(id=begin, name=handler.name, doc=handler.doc, gateway_kind="exclusive")
    rewriter.insert(scope.id, gateway)
    rewriter.dissolve(scope.id, handler.id)
    out = [flow for flow in handler.flows if flow.source == start.id]
    source = begin
    if len(out) > 1:
        source = rewriter.fresh_id(handler.id, "split")
        rewriter.insert(scope.id, Gateway(id=source, gateway_kind="parallel"))
        rewriter.connect(scope.id, begin, source, id=rewriter.fresh_id(begin, "to"))
    for flow in out:
        rewriter.redirect(scope.id, flow.id, source=source)
    rewriter.remove(scope.id, start.id)
    for node in filter(_is_terminate_event, handler.nodes):
        assert isinstance(node, Event)
        rewriter.replace(scope.id, node.id, node.replace(definitions=()))
    for event in throws:
        plain = event.replace(position="throw", definitions=())
        rewriter.replace(scope.id, event.id, plain)
        rewriter.connect(scope.id, event.id, begin, id=rewriter.fresh_id(event.id, "to"))
    for step in failing:
        caught = start.replace(
            id=rewriter.fresh_id(handler.id, "of"), position="boundary", attached_to=step.id
        )
        rewriter.insert(scope.id, caught, of=(start,))
        rewriter.connect(scope.id, caught.id, begin, id=rewriter.fresh_id(caught.id, "to"))


def _is_terminate_event(node: Node) -> bool:
    return isinstance(node, Event) and any(d.kind == "terminate" for d in node.definitions)
