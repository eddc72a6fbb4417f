"""Who sends what to whom: the message flows of a model as words of its lines."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.elements import Event, MessageFlow, Model, Node, Task
from orgflow_ir.model.event_words import plain_label
from orgflow_ir.model.records import NamedTuple


class Message(NamedTuple):
    """What one node sends or receives: the message and the other participant."""

    what: str
    who: str


class MessageWords:
    """The words for the messages of each node, by the participants and the flows between them.

    Attributes:
        sent, received: by node.
        problems: nodes whose flows no line can state, with the reason.
        changed: the number of messages that got another name, because two have the same.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.sent: dict[str, Message] = {}
        self.received: dict[str, Message] = {}
        self.problems: dict[str, str] = {}
        self.changed = 0
        self._nodes: dict[str, Node] = {}
        self._owners: dict[str, str] = {}
        names = {pool.process: pool.name or pool.id for pool in model.pools if pool.process}
        for process in model.processes:
            self._owners[process.id] = names.get(process.id) or process.name or process.id
            for scope in process.scopes():
                for node in scope.nodes:
                    self._nodes[node.id] = node
                    self._owners[node.id] = self._owners[process.id]
        for pool in model.pools:
            self._owners[pool.id] = pool.name or pool.id
        self._messages = {entry.id: entry.name or entry.id for entry in model.catalog.messages}
        self._name_flows()

    def owner(self, process: str) -> str:
        """The name of the participant of a process."""
        return self._owners[process]

    def unmatched(self, node: Node) -> str:
        """The name of the message of a node without message flows."""
        ref = node.message if isinstance(node, Task) else None
        if isinstance(node, Event):
            ref = next((d.ref for d in node.definitions if d.kind == "message"), None)
        return plain_label(self._messages.get(ref or "", "")) or plain_label(node.name)

    def _name_flows(self) -> None:
        taken: dict[tuple[str, str, str], str] = {}
        for flows in self._group_flows():
            first = flows[0]
            ends = {(self._owner_of(f.source), self._owner_of(f.target)) for f in flows}
            sources = {f.source for f in flows if f.source in self._nodes}
            targets = {f.target for f in flows if f.target in self._nodes}
            nodes = [*sources, *targets]
            if len(ends) > 1:
                self._refuse_nodes(nodes, "it exchanges messages with several participants")
                continue
            if sources and targets and len(flows) != len(sources) * len(targets):
                self._refuse_nodes(nodes, "its messages go to different receivers")
                continue
            sender, receiver = next(iter(ends))
            what = self._free_name(taken, sender, receiver, self._name_of(first), first.id)
            self.sent.update((id, Message(what, receiver)) for id in sources)
            self.received.update((id, Message(what, sender)) for id in targets)

    def _owner_of(self, end: str) -> str:
        return plain_label(self._owners.get(end, ""))

    def _refuse_nodes(self, nodes: list[str], reason: str) -> None:
        for id in nodes:
            self.problems.setdefault(id, reason)

    def _free_name(
        self, taken: dict[tuple[str, str, str], str], sender: str, receiver: str, what: str, id: str
    ) -> str:
        """The name of a message, another one if two participants have it already."""
        wanted, number = what, 2
        while (sender.casefold(), receiver.casefold(), wanted.casefold()) in taken:
            wanted, number = f"{what or 'message'} {number}", number + 1
        self.changed += wanted != what
        taken[(sender.casefold(), receiver.casefold(), wanted.casefold())] = id
        return wanted

    def _name_of(self, flow: MessageFlow) -> str:
        """What a flow carries: its own label, its message, the label of an end."""
        named = flow.name or self._messages.get(flow.message or "", "")
        for id in (flow.source, flow.target):
            if not named.strip() and id in self._nodes:
                named = self.unmatched(self._nodes[id])
        return plain_label(named)

    def _group_flows(self) -> Iterator[list[MessageFlow]]:
        """Flows that share an end which sends or receives, together."""
        groups: list[list[MessageFlow]] = []
        by_end: dict[tuple[str, str], list[MessageFlow]] = {}
        for flow in self._model.message_flows:
            keys = [("from", flow.source)] if flow.source in self._nodes else []
            keys += [("to", flow.target)] if flow.target in self._nodes else []
            near = list({id(by_end[key]): by_end[key] for key in keys if key in by_end}.values())
            group = near[0] if near else []
            if not near:
                groups.append(group)
            for other in near[1:]:
                group += other
                groups = [g for g in groups if g is not other]
                by_end = {k: group if g is other else g for k, g in by_end.items()}
            group.append(flow)
            by_end.update(dict.fromkeys(keys, group))
        yield from (group for group in groups if group)


def find_unclear_messages(model: Model, words: MessageWords) -> Iterator[ConstructUse]:
    """`message.unclear`: nodes whose messages one line cannot state."""
    for scope in model.scopes():
        for node in scope.nodes:
            reason = words.problems.get(node.id, "")
            if node.id in words.sent and node.id in words.received:
                reason = "it sends and receives messages"
            elif node.id in words.sent or node.id in words.received:
                reason = reason or _kind_problem(node, words)
            if reason:
                yield ConstructUse("message.unclear", node, scope, reason)


def _kind_problem(node: Node, words: MessageWords) -> str:
    """Why a node with messages is no line that sends or receives."""
    if isinstance(node, Task):
        return ""
    if isinstance(node, Event) and node.trigger == "message":
        sends = node.position in ("throw", "end")
        return "" if sends == (node.id in words.sent) else "its messages go the other way"
    return "it is no event or task, but has message flows"
