"""The cause of a flow fault, if the structure of the model shows it: a non-interrupting event, an
interrupting event, a flow into another branch, or joins that wait for each other."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.flow.nets.net import SOURCE
from orgflow_ir.flow.soundness import Fault
from orgflow_ir.model import Event, Flow, Gateway
from orgflow_ir.model.records import NamedTuple

_CHOICES = ("exclusive", "inclusive", "event")


class Beside(NamedTuple):
    """A boundary event that starts a branch parallel to its activity, and the element where both
    meet."""

    event: Event
    host: str
    flows: tuple[Flow, ...]
    """The elements that lead from the event's branch to the element of the fault."""


class Jump(NamedTuple):
    """An outgoing flow of a choice that leads into a parallel branch.

    `last` is its last flow (`way` itself, or one after consecutive steps); `first` is the first
    step of its own branch, `fork` the split where the branch begins.
    """

    choice: str
    way: Flow
    last: Flow
    first: str
    fork: str


def event_beside(fault: Fault, graph: ControlFlow) -> Beside | None:
    """The non-interrupting event whose branch and whose activity both lead to a fault."""
    seen = {s.element for s in fault.trace}
    for node in graph.nodes.values():
        if not isinstance(node, Event) or node.interrupting or node.attached_to not in graph.nodes:
            continue
        if node.position != "boundary" or (seen and node.id not in seen):
            continue
        apart = frozenset({fault.element})
        by_event = list_reachable([node.id], graph.successors, apart)
        normal = [f.target for f in graph.flows_out(node.attached_to)]
        by_host = list_reachable(normal, graph.successors, apart)
        into = graph.flows_in(fault.element)
        if not any(f.source in by_host or f.source == node.attached_to for f in into):
            continue
        came = arriving_flows(fault, graph)
        flows = tuple(f for f in came if f.source in by_event and f.source not in by_host)
        if flows and len(flows) < len(came):
            return Beside(node, node.attached_to, flows)
    return None


class BrokenOff(NamedTuple):
    """An activity and its boundary event, if a join waits in vain for a branch of one of them.

    `branches` are the two alternatives, of which a run takes only one: two events, or the event and
    the activity.
    """

    host: str
    event: str
    branches: tuple[str, str]


def broken_off(fault: Fault) -> BrokenOff | None:
    """The activity and the event if a join waits for one of their branches."""
    net = fault.net
    if net is None or not fault.split or net.element[net.src[_first_arc(fault)]] != fault.split:
        return None

    def list_events(arcs: Iterable[int]) -> list[str]:
        return [net.element[net.dst[a]] for a in arcs if a in net.by_event]

    came, missing = list_events(fault.taken_arcs), list_events(fault.missing_arcs)
    some = came or missing or list_events(net.outs[net.src[_first_arc(fault)]])
    if not some:
        return None
    other = missing[0] if came and missing else fault.split
    return BrokenOff(fault.split, some[0], (some[0], other))


def own_loop(fault: Fault, graph: ControlFlow) -> tuple[str, ...]:
    """The flow that a join waits for although it comes after the join: the backward flow of a loop
    that is entered through the join."""
    net = fault.net
    if net is None or fault.split or not fault.missing_arcs:
        return ()
    first = [n for n in graph.nodes if not graph.into[n]]
    before = {*first, *list_reachable(first, graph.successors, frozenset({fault.element}))}
    waits = [f.source for a in fault.missing_arcs if (f := net.flow[a]) is not None]
    back = [s for s in waits if s not in before and s in graph.nodes]
    return tuple(dict.fromkeys(back)) if len(back) == len(fault.missing_arcs) else ()


def _first_arc(fault: Fault) -> int:
    return next(iter((*fault.taken_arcs, *fault.missing_arcs)), 0)


def unused_starts(fault: Fault) -> tuple[str, ...]:
    """The starts, if a join waits for one at which this run did not begin."""
    net = fault.net
    if net is None or fault.split or fault.kind != "deadlock":
        return ()
    if not any(net.src[a] == SOURCE for a in fault.taken_arcs):
        return ()
    return tuple(dict.fromkeys(net.element[net.dst[a]] for a in net.outs[SOURCE]))


def arriving_flows(fault: Fault, graph: ControlFlow) -> tuple[Flow, ...]:
    """The flows by which tokens reach the element of a fault in the run that shows it; all its
    incoming flows if no run shows it."""
    into = {f.id: f for f in graph.flows_in(fault.element)}
    came = dict.fromkeys(f for s in fault.trace for f in s.taken if f in into)
    return tuple(into[f] for f in came) if came else tuple(into.values())


def find_jump(fault: Fault, graph: ControlFlow) -> Jump | None:
    """The flow that leads from one of several parallel branches into another."""
    net = fault.net
    if fault.kind == "unsync":
        ends: Iterable[Flow] = arriving_flows(fault, graph)
    elif net is not None and fault.split in graph.nodes:
        ends = [f for a in fault.taken_arcs if (f := net.flow[a]) is not None]
    else:
        return None
    for last in ends:
        found_jump = _jump_from(last, graph)
        if found_jump is not None:
            return found_jump
    return None


def _jump_from(last: Flow, graph: ControlFlow) -> Jump | None:
    way = last
    for _ in graph.nodes:
        if _is_choice(way.source, graph):
            break
        into = graph.flows_in(way.source)
        if len(into) != 1 or len(graph.out[way.source]) != 1:
            return None
        way = into[0]
    else:
        return None
    first = way.source
    for _ in graph.nodes:
        into = graph.flows_in(first)
        if len(into) != 1 or len(graph.into[first]) != 1:
            return None
        before = into[0].source
        if _is_fork(before, graph):
            if first == way.source or last.target == first:
                return None
            return Jump(way.source, way, last, first, before)
        first = before
    return None


def _is_choice(node: str, graph: ControlFlow) -> bool:
    node_there = graph.nodes[node]
    return (
        isinstance(node_there, Gateway)
        and node_there.gateway_kind in _CHOICES
        and len(graph.flows_out(node)) > 1
    )


def _is_fork(node: str, graph: ControlFlow) -> bool:
    node_there, out = graph.nodes[node], graph.flows_out(node)
    kind = node_there.gateway_kind if isinstance(node_there, Gateway) else "parallel"
    return len(out) > 1 and kind in ("parallel", "inclusive")
