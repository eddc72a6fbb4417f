"""Listeners of events, flows, gateways, sub-processes, calls and processes: code that an engine
calls when an instance begins or leaves one. Those of tasks are part of their work (`tasks`).

The order is that of Camunda 7 and Flowable: an exclusive gateway calls its listeners at the end
when it has chosen a flow, a start event all of its listeners before the first flow is taken.
Engines also call listeners at the end when an event interrupts an activity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from orgflow_ir.analysis.control_flow.graph import ControlFlow
from orgflow_ir.analysis.control_flow.outgoing import outgoing
from orgflow_ir.analysis.expressions.syntax import ConditionError
from orgflow_ir.model import (
    CallActivity,
    Element,
    Event,
    Flow,
    Gateway,
    Node,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import Listener, is_listener
from orgflow_ir.model.listener_data import listeners_in

_BY_CODE = ("script", "expression")
_NOT_HERE = "its code is not in the model"


def listeners_of(element: Element) -> tuple[Listener, ...]:
    """The listeners of an element other than a task. The listeners of an event that sends by an
    implementation are in its binding and belong to the sending."""
    if isinstance(element, Task) or not any(is_listener(key) for key, _ in element.extra):
        return ()
    if isinstance(element, Event) and element.binding is not None and element.binding.listeners:
        return ()
    return listeners_in(element.extra)


def why_not_read(listener: Listener) -> str:
    """Why the code of a listener is not supported; empty if it is."""
    from orgflow_ir.analysis.work.scripts import read_call, read_script

    if listener.by not in _BY_CODE:
        return _NOT_HERE
    try:
        if listener.by == "script":
            read_script(listener.target, listener.language)
        else:
            read_call(listener.target)
    except ConditionError as error:
        return str(error)
    return ""


def sets(listeners: Iterable[Listener]) -> Iterator[str]:
    """Variables that the supported code of listeners sets."""
    from orgflow_ir.analysis.work.scripts import read_call, read_script
    from orgflow_ir.analysis.work.statements import assigned

    for one in listeners:
        if one.by not in _BY_CODE:
            continue
        try:
            if one.by == "script":
                yield from assigned(read_script(one.target, one.language).statements)
            else:
                yield from assigned(read_call(one.target).statements)
        except ConditionError:
            continue


class Left(NamedTuple):
    """A listener that does not become a step, and the reason."""

    listener: Listener
    reason: str


class Placement(NamedTuple):
    """The positions of steps for the listeners of an element: before it, after it, or (for a flow)
    on it; and the listeners that cannot become steps."""

    before: tuple[Listener, ...] = ()
    after: tuple[Listener, ...] = ()
    left: tuple[Left, ...] = ()


def place(element: Element, scope: Scope, graph: ControlFlow) -> Placement:
    """The positions of steps for the listeners of an element of a scope; `element` may be the scope
    itself, a process."""
    before: list[Listener] = []
    after: list[Listener] = []
    left: list[Left] = []
    for one in listeners_of(element):
        reason = why_not_read(one) or _why_no_place(element, one, scope, graph)
        if reason:
            left.append(Left(one, reason))
        elif _is_before(element, one):
            before.append(one)
        else:
            after.append(one)
    return Placement(tuple(before), tuple(after), tuple(left))


def _is_before(element: Element, one: Listener) -> bool:
    """Whether the step comes before its element; of a process, in front of its ends."""
    if isinstance(element, Process):
        return one.event == "end"
    if isinstance(element, Event):
        if element.position == "end":
            return True
        if element.position in ("start", "boundary"):
            return False
    return one.event == "start"


def _why_no_place(element: Element, one: Listener, scope: Scope, graph: ControlFlow) -> str:
    if isinstance(element, Flow):
        if one.event not in ("take", ""):
            return f"flows have no event `{one.event}`"
        source = graph.nodes.get(element.source)
        if isinstance(source, Gateway) and source.gateway_kind == "event":
            return "the event-based gateway before it waits for an event"
        return "" if source is not None and element.target in graph.nodes else "the flow has no end"
    if one.event not in ("start", "end"):
        return f"it has no event `{one.event}`"
    match element:
        case Process():
            return _of_process(element, one, graph)
        case Event():
            return _of_event(element, one, graph)
        case Gateway():
            return _of_gateway(element, one, graph)
        case SubProcess() | CallActivity():
            return _of_activity(element, one, scope, graph)
        case _:
            return "the time of its call is unknown"


def _of_process(process: Process, one: Listener, graph: ControlFlow) -> str:
    nodes = process.nodes
    starts = [n for n in nodes if isinstance(n, Event) and n.position == "start"]
    if one.event == "start":
        plain = starts and set(graph.entries) <= {s.id for s in starts}
        return "" if plain else "the process has no start event"
    last = [n for n in nodes if not graph.flows_out(n.id) and _is_reached(n)]
    if any(not isinstance(n, Event) or n.position != "end" or n.trigger != "none" for n in last):
        return "the process does not end only at plain end events"
    several = len(starts) > 1 or any(
        len(graph.flows_out(n.id)) > 1
        and not (isinstance(n, Gateway) and n.gateway_kind in ("exclusive", "event"))
        for n in nodes
    )
    several = several or any(isinstance(n, Event) and not n.interrupting for n in nodes)
    return "several branches may be active when the process ends" if several else ""


def _is_reached(node: Node) -> bool:
    return not (isinstance(node, SubProcess) and node.flavour == "event")


def _of_event(event: Event, one: Listener, graph: ControlFlow) -> str:
    mapped = event.binding is not None and any(
        p.language != "variable" for p in event.binding.outputs
    )
    match event.position:
        case "end":
            plain = one.event == "start" or event.trigger == "none"
            return "" if plain else "it is called when the event has occurred"
        case "catch" if one.event == "start":
            into = (graph.nodes[f.source] for f in graph.flows_in(event.id))
            waits = any(isinstance(n, Gateway) and n.gateway_kind == "event" for n in into)
            return "the event-based gateway before it waits for the event" if waits else ""
        case _:
            return "it comes before the output mapping of the event" if mapped else ""


def _of_gateway(gateway: Gateway, one: Listener, graph: ControlFlow) -> str:
    joins, splits = len(graph.flows_in(gateway.id)) > 1, len(graph.flows_out(gateway.id)) > 1
    match gateway.gateway_kind:
        case "exclusive":
            return ""
        case "event":
            return "" if one.event == "start" else "its events wait at that point"
        case "parallel" | "inclusive":
            if one.event == "start" or not splits:
                return ""
            if gateway.gateway_kind == "parallel" and not joins:
                return ""
            return "it is called once for all branches"
        case _:
            return "it is unknown when a complex gateway calls it"


def _of_activity(
    activity: SubProcess | CallActivity, one: Listener, scope: Scope, graph: ControlFlow
) -> str:
    if isinstance(activity, SubProcess) and activity.flavour == "event":
        return "the event sub-process is not a step of the flow"
    if activity.loop is not None:
        return "the activity is repeated"
    if activity.for_compensation:
        return "the activity compensates another"
    if isinstance(scope, SubProcess) and scope.flavour == "ad-hoc":
        return "the ad-hoc sub-process around it says when it begins"
    if one.event == "start":
        return ""
    if any(isinstance(n, Event) and n.attached_to == activity.id for n in scope.nodes):
        return "it is also called when an event interrupts the activity"
    if outgoing(graph.flows_out(activity.id)).chosen:
        return "it is called when a flow has been chosen"
    return ""


def unread_listeners(element: Element) -> bool:
    """Whether an element has listeners with unknown code, which may set any variable."""
    return any(why_not_read(one) for one in listeners_of(element))
