"""Starts and ends of processes, and steps that never run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, assert_never

from orgflow.passes.dead_ends import is_compensation_event
from orgflow.passes.event_placement import cancels_nothing, never_begun, waits_in_vain
from orgflow.passes.flow_attachment import loose_ends
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.nets.wiring import Wiring, is_handler
from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Model,
    Opaque,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.links import Links
from orgflow_ir.pipeline import Pass, PassContext, Stage


class EmptyProcess(Rule):
    """
    What it finds
        A process without any step. It is an error if no process of the model has a step, and a
        target is to run it.
    Why it is wrong
        There is nothing to run.
    Example
        <process id="p"/>
    Instead
        Add steps to the process, or make its pool a black box.
    """

    code = "OF107"
    name = "empty-process"
    severity = Severity.WARNING
    category = Category.MALFORMED


class NoProcess(Rule):
    """
    What it finds
        A file without a process, such as a choreography or a library of messages. It is an error
        for a target that runs processes, and a warning if the diagram shows a process.
    Why it is wrong
        There is nothing to run: usually the file has only pools, or a choreography.
    Example
        <definitions …><collaboration id="c"/></definitions>
    Instead
        Add the steps of at least one of the pools.
    """

    code = "OF156"
    name = "no-process"
    severity = Severity.ERROR
    category = Category.MALFORMED


class NoStart(Rule):
    """
    What it finds
        A process without a start event, or a sub-process with an end event and no start event.
    Why it is wrong
        A process with an end event also has a start event (BPMN 2.0.2, 10.5.2): this is a warning.
        Without an end event it is allowed, and only reported for processes: every element without
        an incoming flow begins with the process, all at the same time. A start event states how the
        process begins and provides the trigger of the workflow.
    Example
        A process that begins with the task `Check order`.
    Instead
        Add a start event `Order received` that leads to `Check order`.
    """

    code = "OF108"
    name = "no-start"
    severity = Severity.INFO
    category = Category.MALFORMED


class LooseGateway(Rule):
    """
    What it finds
        A gateway without an outgoing flow.
    Why it is wrong
        A run that reaches it ends there; usually a flow was forgotten. An event-based gateway is an
        error: it waits for events that do not exist, and the run never ends.
    Example
        The exclusive gateway `Stock ok?` has no outgoing flow.
    Instead
        Add the flows, or replace it with an end event.
    """

    code = "OF110"
    name = "loose-gateway"
    severity = Severity.WARNING
    category = Category.MALFORMED


class NeverRuns(Rule):
    """
    What it finds
        Steps that no path reaches from a start event. Steps that the source has disabled, and steps
        after them, are not reported.
    Why it is wrong
        They never run and are not emitted. If a process has a start event, flows lead to all other
        elements (BPMN 2.0.2, 10.5.2).
    Example
        No flow leads to `Archive`.
    Instead
        Add a flow to it, or remove it.
    """

    code = "OF111"
    name = "never-runs"
    severity = Severity.WARNING
    category = Category.MALFORMED


class ProcessEnds(Pass):
    """Reports processes without content or start and steps that are never reached."""

    name: ClassVar[str] = "process-ends"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        EmptyProcess, NoProcess, NoStart, LooseGateway, NeverRuns,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        # A library of messages or a choreography is valid, but no target can run it.
        runs = ctx.target is not None and ctx.target.executes
        if not model.processes:
            ctx.emit(
                NoProcess,
                "the file has no process, so there is nothing to run",
                loc=model.loc,
                help="add the steps of at least one pool",
                severity=None if runs else Severity.INFO,
            )
        empty = all(not p.nodes for p in model.processes)
        for process in model.processes:
            if not process.nodes:
                ctx.emit(
                    EmptyProcess,
                    f"{_name_process(process, ctx)} has no steps",
                    element=process,
                    help="add its steps, or remove the process: a pool without a process stands "
                    "for another party",
                    severity=Severity.ERROR if empty and runs else None,
                )
        for scope in ctx.scopes(model):
            if scope.nodes and not (isinstance(scope, SubProcess) and scope.flavour == "ad-hoc"):
                _check_scope(scope, ctx)
        return model


def _check_scope(scope: Scope, ctx: PassContext) -> None:
    graph = ctx.analysis(ControlFlow, scope)
    reached = ctx.analysis(Wiring, scope).live
    started = ctx.analysis(Wiring, scope).has_starts
    ended = any(n.position == "end" for n in scope.nodes if isinstance(n, Event))
    if not started and reached and (ended or isinstance(scope, Process)) and not never_begun(scope):
        first = [n for n in scope.nodes if n.id in reached and not graph.into[n.id]]
        _report_missing_start(scope, first, ended, ctx)
    loose = loose_ends(scope, reached)
    for gateway in _loose_gateways(scope, graph, reached):
        if gateway.id not in loose:
            _report_loose_gateway(gateway, scope, ctx)
    dead = [n for n in scope.nodes if n.id not in reached and not _stands_apart(n, graph)]
    if never_begun(scope) or loose:
        return  # OF127 tells why, or OF101
    for island in _list_islands(dead, graph):
        steps = _unexplained_steps(island, scope, graph)
        if steps:
            ctx.emit(
                NeverRuns,
                f"{_list_names([ctx.name(n) for n in steps])} never "
                f"{'runs' if len(steps) == 1 else 'run'}: no path leads there from a start event",
                element=steps[0],
                help="add a flow to it, or remove the unreachable steps",
            )


def _report_missing_start(
    scope: Scope, first: list[ModelNode], ended: bool, ctx: PassContext
) -> None:
    ctx.emit(
        NoStart,
        f"{ctx.name(scope)} has {'an end event but ' if ended else ''}no start event; "
        f"it begins with {_list_names([ctx.name(n) for n in first])}",
        element=scope,
        help="add a start event",
        severity=Severity.WARNING if ended else None,
    )


def _loose_gateways(scope: Scope, graph: ControlFlow, reached: frozenset[str]) -> Iterator[Gateway]:
    """Gateways that a run comes to and that lead nowhere."""
    for node in scope.nodes:
        if isinstance(node, Gateway) and node.id in reached and not graph.out[node.id]:
            yield node


def _report_loose_gateway(node: Gateway, scope: Scope, ctx: PassContext) -> None:
    named = ctx.analysis(Namer, scope).name(node.id)
    waits = node.gateway_kind == "event"
    events = "connect it to the events that it waits for"
    ctx.emit(
        LooseGateway,
        f"{named} has no outgoing flow: a run that reaches it "
        + ("waits there indefinitely" if waits else "ends there"),
        element=node,
        help=f"{events if waits else 'add its outgoing flows'}, or put an end event in its place",
        severity=Severity.ERROR if waits else None,
    )


def _unexplained_steps(
    island: list[ModelNode], scope: Scope, graph: ControlFlow
) -> list[ModelNode]:
    """The steps of an island that no other finding and nobody who switched them off explains."""
    if any(cancels_nothing(n, scope.nodes) or waits_in_vain(n, scope) for n in island):
        return []  # OF123 or OF125 tells why
    sources = (graph.nodes[arc.source] for n in island for arc in graph.into[n.id])
    if any(map(is_compensation_event, sources)):
        return []  # OF140 tells why
    entries = [n for n in island if not graph.into[n.id]]
    lone = {event.id for event in Links(scope.nodes).lone()}
    if any(n.id in lone for n in entries):
        return []  # OF118 tells why
    if entries and all(map(_switched_off, entries)):
        return []  # somebody switched it off, and what follows with it
    return [n for n in island if not _switched_off(n)]


def _switched_off(node: ModelNode) -> bool:
    """Whether the source says that an element is disabled, in the words of its own language."""
    return any(
        name.rpartition("}")[2] == "disabled" and value == "true" for name, value in node.extra
    )


def _name_process(process: Process, ctx: PassContext) -> str:
    named = ctx.name(process)
    return f"the process {named}" if named.startswith("`") else named


def _list_names(names: list[str]) -> str:
    shown = names[:4]
    more = len(names) - len(shown)
    return " and ".join(filter(None, (", ".join(shown), f"{more} more" if more else "")))


def _stands_apart(node: ModelNode, graph: ControlFlow) -> bool:
    """Whether it is no surprise that no flow leads to a node."""
    match node:
        case Opaque():
            return not (graph.out[node.id] or graph.into[node.id])
        case Event():
            if node.position != "boundary":
                return False
            host = graph.nodes.get(node.attached_to or "")
            undoing = node.trigger == "compensation"  # by an association, not by a flow
            return host is None or is_handler(host) or undoing
        case Task() | CallActivity() | SubProcess() | Gateway():
            return is_handler(node)
        case _:
            assert_never(node)


def _list_islands(dead: list[ModelNode], graph: ControlFlow) -> list[list[ModelNode]]:
    """Connected parts of the dead nodes, in model order."""
    left = {n.id for n in dead}
    place = {n.id: i for i, n in enumerate(dead)}
    islands: list[list[ModelNode]] = []
    for node in dead:
        if node.id not in left:
            continue
        left.discard(node.id)
        members, stack = {node.id}, [node.id]
        while stack:
            here = stack.pop()
            near = [a.target for a in graph.out[here]] + [a.source for a in graph.into[here]]
            for other in near:
                if other in left:
                    left.discard(other)
                    members.add(other)
                    stack.append(other)
        islands.append([dead[i] for i in sorted(place[m] for m in members)])
    return islands
