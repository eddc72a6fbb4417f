"""Message flows between processes of a model whose receiver waits for the message: they are matched
by the support set, by the name of the message and the business key that both instances share."""

from __future__ import annotations

from orgflow.backends.n8n.plan.names import message_name

from orgflow_ir.flow.concurrency.waits import comes_from_outside
from orgflow_ir.flow.control_flow.deliveries import find_deliveries
from orgflow_ir.model import CallActivity, Event, Model, Node, Process, Task
from orgflow_ir.model.records import NamedTuple


class MessageLink(NamedTuple):
    """A message flow between two processes.

    Attributes:
        flow: its id.
        sender: the element that sends the message when it is done; its process is `source`.
        receiver: the element that waits for it; its process is `target`.
        name: the name by which the message is matched.
    """

    flow: str
    sender: Node
    source: Process
    receiver: Node
    target: Process
    name: str

    @property
    def begins(self) -> bool:
        """Whether the message begins an instance of its process."""
        return isinstance(self.receiver, Event) and self.receiver.position == "start"


def message_links(model: Model) -> tuple[MessageLink, ...]:
    """The message flows of a model whose receiver waits, or is begun by an element that no delivery
    is known of (`find_deliveries`), in their order."""
    if not model.message_flows:
        return ()
    owners = {node.id: (node, process) for process in model.processes for node in process.nodes}
    deliveries = find_deliveries(model)
    links = []
    for flow in model.message_flows:
        if flow.source not in owners or flow.target not in owners:
            continue
        (sender, source), (receiver, target) = owners[flow.source], owners[flow.target]
        if source is target or not may_send(sender) or flow.source in deliveries:
            continue
        if not (may_receive(receiver) or _is_only_start(receiver, target)):
            continue
        name = _find_name(receiver, flow.name or flow.id, model)
        links.append(MessageLink(flow.id, sender, source, receiver, target, name))
    return tuple(links)


def may_send(node: Node) -> bool:
    """Whether an element can send a message when it is done."""
    if isinstance(node, Event):
        if node.binding is not None:
            return False
        thrown = node.position == "throw" or node.position == "end"
        return thrown and node.trigger in ("none", "message")
    return isinstance(node, Task | CallActivity) and node.loop is None


def may_receive(node: Node) -> bool:
    """Whether an element can wait for a message before it goes on."""
    if isinstance(node, Event):
        if node.position == "boundary":
            return node.trigger == "message" and comes_from_outside(node)
        return node.position == "catch" and node.trigger == "message"
    return isinstance(node, Task) and node.loop is None and not node.instantiate


def _is_only_start(node: Node, process: Process) -> bool:
    starts = [n for n in process.nodes if isinstance(n, Event) and n.position == "start"]
    return starts == [node] and starts[0].trigger == "message"


def waits_for_it(node: Node) -> bool:
    """Whether an element waits for a message by itself; other activities do before they begin."""
    return isinstance(node, Event) or (isinstance(node, Task) and node.task_type == "receive")


def _find_name(receiver: Node, flow: str, model: Model) -> str:
    if isinstance(receiver, Event) or (isinstance(receiver, Task) and waits_for_it(receiver)):
        return message_name(receiver, model)
    return flow
