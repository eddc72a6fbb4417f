"""Messages that one process of a model sends to the start event of another one."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow_ir.flow.control_flow.calls import called_from
from orgflow_ir.model import Event, Model, Node, Process, Task
from orgflow_ir.model.records import NamedTuple


class Delivery(NamedTuple):
    """A message that begins a process.

    Attributes:
        sender: the process that sends it.
        receiver: the process that it begins.
        start: the only start event of the receiver.
        flow: the id of its message flow; empty if both ends name the same message.
    """

    sender: Process
    receiver: Process
    start: Event
    flow: str = ""


def find_deliveries(model: Model) -> Mapping[str, Delivery]:
    """The messages that begin processes of the model, by the ids of the steps that send them.

    A step sends a message if it is a send task or a message event without an implementation. Its
    message flow leads to the start event, or both name the same message of the file (BPMN 2.0.2,
    8.4.2 and 10.5.2). Not included are starts that others may trigger as well (a pool without
    steps), starts beside others, and messages that would begin each other's senders again.
    """
    starts = {
        start.id: (start, process)
        for process in model.processes
        if (start := _only_message_start(process)) is not None
    }
    if not starts or len(model.processes) < 2:
        return {}
    senders = {
        node.id: (node, process)
        for process in model.processes
        for scope in process.scopes()
        for node in scope.nodes
        if _sends_message(node)
    }
    deliveries = {**_by_flow(model, senders, starts), **_by_name(model, senders, starts)}
    return {
        id: delivery
        for id, delivery in deliveries.items()
        if delivery.sender.id not in _begun_by(delivery.receiver, deliveries, model)
    }


def _by_flow(
    model: Model,
    senders: Mapping[str, tuple[Node, Process]],
    starts: Mapping[str, tuple[Event, Process]],
) -> dict[str, Delivery]:
    """Deliveries along message flows, one for each sender."""
    deliveries: dict[str, Delivery] = {}
    others = {f.target for f in model.message_flows if f.source not in senders}
    several = [f.source for f in model.message_flows if f.target in starts]
    for flow in model.message_flows:
        if flow.source not in senders or flow.target not in starts:
            continue
        (_, sender), (start, receiver) = senders[flow.source], starts[flow.target]
        alone = flow.target not in others and several.count(flow.source) == 1
        if alone and sender is not receiver:
            deliveries[flow.source] = Delivery(sender, receiver, start, flow.id)
    return deliveries


def _by_name(
    model: Model,
    senders: Mapping[str, tuple[Node, Process]],
    starts: Mapping[str, tuple[Event, Process]],
) -> dict[str, Delivery]:
    """Deliveries between steps without message flows that name the same message."""
    drawn = {end for flow in model.message_flows for end in (flow.source, flow.target)}
    waiting: dict[str, list[str]] = {}
    for id, (start, _) in starts.items():
        if (ref := start.definitions[0].ref) and id not in drawn:
            waiting.setdefault(ref, []).append(id)
    deliveries: dict[str, Delivery] = {}
    for id, (node, sender) in senders.items():
        ref = node.message if isinstance(node, Task) else _event_message(node)
        heard = waiting.get(ref or "", [])
        if id in drawn or len(heard) != 1:
            continue
        start, receiver = starts[heard[0]]
        if sender is not receiver:
            deliveries[id] = Delivery(sender, receiver, start)
    return deliveries


def _only_message_start(process: Process) -> Event | None:
    starts = [n for n in process.nodes if isinstance(n, Event) and n.position == "start"]
    if len(starts) != 1 or len(starts[0].definitions) != 1 or starts[0].trigger != "message":
        return None
    return starts[0]


def _sends_message(node: Node) -> bool:
    if isinstance(node, Task):
        return node.task_type == "send" and node.binding is None and node.loop is None
    if not isinstance(node, Event) or node.position not in ("throw", "end"):
        return False
    kinds = [definition.kind for definition in node.definitions]
    return kinds == ["message"] and node.binding is None


def _event_message(node: Node) -> str | None:
    return node.definitions[0].ref if isinstance(node, Event) else None


def _begun_by(process: Process, deliveries: Mapping[str, Delivery], model: Model) -> set[str]:
    """The ids of the processes that one begins by calls and messages, itself included."""
    begun, todo = {process.id}, [process]
    while todo:
        here = todo.pop()
        after = [*called_from(here, model)]
        after += [d.receiver for d in deliveries.values() if d.sender.id == here.id]
        for other in after:
            if other.id not in begun:
                begun.add(other.id)
                todo.append(other)
    return begun
