"""From extended graph lines to a model with events, parts and participants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from orgflow.frontends.triples.build import GraphBuilder
from orgflow.frontends.triples.extended_reader import (
    PROCESS,
    ExtendedNode,
    GraphScope,
    Section,
)
from orgflow.frontends.triples.graph_reader import Graph, GraphNode

from orgflow_ir.model import (
    CallActivity,
    Catalog,
    DataFlow,
    DataObject,
    Event,
    EventDefinition,
    Expression,
    Gateway,
    Loop,
    Model,
    Node,
    Pool,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.element_names import slug
from orgflow_ir.model.event_words import (
    Reader,
    Trigger,
    read_end,
    read_event,
    read_receive,
    read_send,
    read_start,
    read_wait,
)
from orgflow_ir.model.evidence import DOUBT, SENTENCES
from orgflow_ir.model.message_ends import CatalogNames, Endpoint, connect_messages, define_event

_CONDITION = re.compile(r"(?P<label>.*?\S)?\s*\[(?P<text>.*)\]")
_READERS: dict[str, Reader] = {"wait": read_wait, "receive": read_receive, "send": read_send}


class _Shared:
    """What the scopes of a model share."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.used: set[str] = {"model"}
        self.messages = CatalogNames(self.take_id, "message")
        self.errors = CatalogNames(self.take_id, "error")
        self.endpoints: list[Endpoint] = []

    def take_id(self, text: str, default: str) -> str:
        """An id from a text, or from a default."""
        base = slug(text) or default
        base = base if base[0].isalpha() else f"{default}_{base}"
        id, number = base, 2
        while id in self.used:
            id, number = f"{base}_{number}", number + 1
        self.used.add(id)
        return id


def build_sections(sections: Sequence[Section], file: str) -> Model:
    """The model of all participants."""
    shared = _Shared(file)
    processes: list[Process] = []
    pools: list[Pool] = []
    for section in sections:
        id = shared.take_id(section.name, PROCESS)
        objects: dict[str, DataObject] = {}
        builder = _ScopeBuilder(section.scope, shared, section.name, objects)
        content = builder.scope_content()
        named = (*content.pop("data_objects"), *objects.values())
        processes.append(Process(id=id, name=section.name, data_objects=named, **content))
        if section.name:
            pool = shared.take_id(f"{section.name} pool", "pool")
            pools.append(Pool(id=pool, name=section.name, process=id))
    boxes, flows = connect_messages(shared.endpoints, pools, shared.take_id)
    return Model(
        id="model", source=file, processes=tuple(processes), pools=(*pools, *boxes),
        message_flows=flows,
        catalog=Catalog(messages=shared.messages.entries(), errors=shared.errors.entries()),
    )  # fmt: skip


class _ScopeBuilder(GraphBuilder):
    """Builds one scope; `start` is the event that begins it, for an event of the process."""

    def __init__(
        self, scope: GraphScope, shared: _Shared, owner: str, objects: dict[str, DataObject],
        start: ExtendedNode | None = None,
    ) -> None:  # fmt: skip
        handlers, graph = _split_handlers(scope.graph)
        super().__init__(graph, shared.file)
        self.used = shared.used
        self._scope, self._shared, self._owner, self._objects = scope, shared, owner, objects
        self._handlers, self._start = handlers, start
        self._hosts = {n.host for n in graph.nodes.values() if isinstance(n, ExtendedNode)}
        self._data_flows: list[DataFlow] = []
        order = sorted(graph.nodes.values(), key=lambda node: node.kind == "boundary")
        graph.nodes = {node.key: node for node in order}

    def scope_content(self) -> dict[str, Any]:
        """The content of the scope, with the events of the whole process as parts."""
        content = self.content()
        nodes = list(content["nodes"])
        for start, graph in self._handlers:
            inner = _ScopeBuilder(
                GraphScope(graph, self._scope.parts),
                self._shared,
                self._owner,
                self._objects,
                start,
            )
            fields = inner.scope_content()
            id = self._shared.take_id(f"{start.name} event", "event")
            nodes.append(SubProcess(id=id, flavour="event", **fields))
        content["nodes"] = tuple(nodes)
        content["data_flows"] = (*content["data_flows"], *self._data_flows)
        return content

    def has_start(self, steps: list[GraphNode]) -> bool:
        """See `GraphBuilder`; an event of the whole process begins with itself."""
        return self._start is not None or super().has_start(steps)

    # -- nodes --------------------------------------------------------------------------------

    def add_node(self, node: GraphNode) -> None:
        """Add a node of any kind."""
        assert isinstance(node, ExtendedNode)
        id = self.ids[node.key] = self.free_id(node.key)
        extra = []
        if node.sentences:
            extra.append((SENTENCES, ",".join(map(str, node.sentences))))
        if node.doubt:
            extra.append((DOUBT, "true"))
        shared = {"id": id, "loc": self.line_location(node.line), "extra": tuple(extra)}
        self.nodes.append(self._build_node(node, shared))
        self._add_data(node, id)

    def _build_node(self, node: ExtendedNode, shared: dict[str, Any]) -> Node:
        named = node.named if node.named is not None else node.name
        match node.kind:
            case "start" | "end":
                return self._build_terminal(node, shared)
            case "wait" | "receive" | "send":
                return self._build_event(node, shared)
            case "boundary":
                return self._build_boundary(node, shared)
            case "event":
                return Gateway(gateway_kind="event", name=named, **shared)
            case "call":
                called = node.name if _is_id(node.name) else slug(node.name, words=20)
                return CallActivity(
                    name=named, called=called or None, loop=_make_loop(node), **shared
                )
            case "part":
                return self._build_part(node, named, shared)
            case "task":
                return Task(name=named, loop=_make_loop(node), **shared)
            case _:
                return Gateway.validate({"gateway_kind": node.kind, "name": named, **shared})

    def _label(self, node: ExtendedNode, trigger: Trigger) -> str:
        return node.named if node.named is not None else trigger.label

    def _define(self, trigger: Trigger) -> tuple[EventDefinition, ...]:
        return define_event(trigger, self._shared.messages, self._shared.errors)

    def _note_message(self, id: str, trigger: Trigger, *, sends: bool) -> None:
        if trigger.kind == "message":
            message = self._shared.messages.find_id(trigger.text)
            self._shared.endpoints.append(
                Endpoint(id, self._owner, sends, trigger.text, trigger.who, message)
            )

    def _build_terminal(self, node: ExtendedNode, shared: dict[str, Any]) -> Event:
        """A start, or an end: `stop` ends everything, `send` sends a message."""
        word, _, rest = node.name.partition(" ")
        if node.kind == "start":
            trigger = read_start(node.name)
            definitions = self._define(trigger)
        elif word.casefold() == "stop":
            trigger = Trigger("none", label=rest.strip())
            definitions = (EventDefinition(kind="terminate"),)
        else:
            sends = word.casefold() == "send" and bool(rest.strip())
            trigger = read_send(rest.strip()) if sends else read_end(node.name)
            definitions = self._define(trigger)
        self._note_message(shared["id"], trigger, sends=node.kind == "end")
        position = "start" if node.kind == "start" else "end"
        return Event.validate(
            {"position": position, "name": self._label(node, trigger),
             "definitions": definitions, **shared}
        )  # fmt: skip

    def _build_event(self, node: ExtendedNode, shared: dict[str, Any]) -> Node:
        """A time or a message; a message is a task if events are at it, or if it is repeated."""
        trigger = _READERS[node.kind](node.name)
        assert trigger is not None
        name = self._label(node, trigger)
        sends = node.kind == "send"
        self._note_message(shared["id"], trigger, sends=sends)
        if node.kind != "wait" and (node.key in self._hosts or node.each):
            message = self._shared.messages.find_id(trigger.text)
            kind = {"task_type": node.kind, "message": message, "loop": _make_loop(node)}
            return Task.validate({"name": name, **kind, **shared})
        position = "throw" if sends else "catch"
        definitions = self._define(trigger)
        return Event.validate(
            {"position": position, "name": name, "definitions": definitions, **shared}
        )

    def _build_boundary(self, node: ExtendedNode, shared: dict[str, Any]) -> Event:
        """An event at a step, or the start of an event of the whole process."""
        trigger = read_event(node.name) or Trigger("timer", node.name, label=node.name)
        self._note_message(shared["id"], trigger, sends=False)
        fields = {
            "name": self._label(node, trigger), "definitions": self._define(trigger),
            "interrupting": node.stops, **shared,
        }  # fmt: skip
        if node is self._start:
            return Event(position="start", **fields)
        return Event(position="boundary", attached_to=self.ids.get(node.host), **fields)

    def _build_part(self, node: ExtendedNode, named: str, shared: dict[str, Any]) -> SubProcess:
        scope = self._scope.parts[node.key]
        inner = _ScopeBuilder(scope, self._shared, self._owner, self._objects).scope_content()
        return SubProcess(name=named, loop=_make_loop(node), **inner, **shared)

    def _add_data(self, node: ExtendedNode, id: str) -> None:
        for verb, names in (("reads", node.reads), ("writes", node.writes)):
            for name in names:
                data = self._find_data(name)
                ends = (data, id) if verb == "reads" else (id, data)
                link = self._shared.take_id(f"{id} {verb}", verb)
                self._data_flows.append(DataFlow(id=link, source=ends[0], target=ends[1]))

    def _find_data(self, name: str) -> str:
        key = name.casefold()
        if key not in self._objects:
            id = self._shared.take_id(f"data {name}", "data")
            self._objects[key] = DataObject(id=id, name=name, data_kind="object")
        return self._objects[key].id

    # -- flows --------------------------------------------------------------------------------

    def add_flow(self, source: str, target: str, label: str = "", line: int = 0) -> None:
        """Add a flow; a condition in brackets behind its label is one."""
        match = _CONDITION.fullmatch(label)
        plain = (match["label"] or "") if match is not None else label
        super().add_flow(source, target, plain, line)
        if match is not None and match["text"].strip():
            text = match["text"].strip()
            marked = text.startswith(("${", "#{", "="))
            condition = Expression(text=text, language=None if marked else "feel")
            self.flows[-1] = self.flows[-1].replace(condition=condition)


def _split_handlers(graph: Graph) -> tuple[list[tuple[ExtendedNode, Graph]], Graph]:
    """The events of the whole process with what happens after them, and the rest of a graph."""
    starts = [
        node for node in graph.nodes.values()
        if isinstance(node, ExtendedNode) and node.host == PROCESS
    ]  # fmt: skip
    after: dict[str, list[str]] = {}
    for flow in graph.flows:
        after.setdefault(flow.source, []).append(flow.target)
    hosts: dict[str, list[str]] = {}
    for node in graph.nodes.values():
        if isinstance(node, ExtendedNode) and node.host:
            hosts.setdefault(node.host, []).append(node.key)
    handlers = []
    taken: set[str] = set()
    for start in starts:
        inside: dict[str, None] = {}
        work = [start.key]
        while work:
            key = work.pop()
            if key not in inside and key not in taken:
                inside[key] = None
                work += [*after.get(key, ()), *hosts.get(key, ())]
        taken.update(inside)
        handlers.append((start, _part_of_graph(graph, set(inside))))
    for start, _ in handlers:
        start.host = ""
    return handlers, _part_of_graph(graph, graph.nodes.keys() - taken)


def _part_of_graph(graph: Graph, keys: set[str]) -> Graph:
    """The nodes with these keys, and the flows between them."""
    return Graph(
        {key: node for key, node in graph.nodes.items() if key in keys},
        [f for f in graph.flows if f.source in keys and f.target in keys],
    )


def _make_loop(node: ExtendedNode) -> Loop | None:
    if not node.each:
        return None
    return Loop(kind="multi-instance", sequential=not node.at_once, item=node.each)


def _is_id(text: str) -> bool:
    """Whether a text may be the id of a process."""
    return bool(re.fullmatch(r"[A-Za-z_]\S*", text))
