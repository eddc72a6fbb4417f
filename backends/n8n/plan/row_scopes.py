"""Sub-processes that an event may end, as scopes of rows on one canvas.

A scope is a row: claiming it cancels everything below it, and it ends when nothing below it is open
(`waiting.end_scope`). For planning, the elements of all scopes of a process are in one graph: an
event in place of the sub-process opens the scope, and another one stands where it is left. An
event sub-process may interrupt what becomes a separate scope, with the start events of the event
sub-processes on its border.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.nets.activity_summaries import Nesting
from orgflow_ir.model import Event, Flow, Model, Node, Process, SubProcess
from orgflow_ir.model.elements import Scope
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from orgflow.backends.n8n.plan.inclusive_joins import InclusiveJoin

BODY: Final = "__body"
"""The end of the id of what the event sub-processes of a scope may interrupt."""


class RowScope(NamedTuple):
    """A scope of a process of segments.

    Attributes:
        id: the element that opens it.
        out: the element at which the process goes on behind it.
        parent: the id of the scope around it; empty for the process.
    """

    id: str
    out: str
    parent: str

    @property
    def is_body(self) -> bool:
        """Whether it was made of what event sub-processes interrupt."""
        return self.id.endswith(BODY)


class FlatProcess(NamedTuple):
    """A process with the elements of all its scopes in one graph.

    Attributes:
        process: the process.
        scopes: its scopes by id, outer ones first.
        owners: the innermost scope of each element; empty for the process.
        catchers: for each error end the boundary event that catches it.
        joins: its inclusive joins, if it has scopes.
    """

    process: Process
    scopes: Mapping[str, RowScope]
    owners: Mapping[str, str]
    catchers: Mapping[str, str]
    joins: Mapping[str, InclusiveJoin] = MappingProxyType({})

    def levels_to(self, element: str, scope: str) -> int:
        """How many scopes a token leaves that goes from an element to behind a scope around it, 1
        for the innermost one; with an empty `scope`, behind the process."""
        here, levels = self.owners.get(element, ""), 1
        while here != scope:
            here, levels = self.scopes[here].parent, levels + 1
        return levels


def flatten_process(process: Process, model: Model) -> FlatProcess:
    """The process with all its scopes in one graph."""
    nesting = Nesting(process, model)
    catchers: dict[str, str] = {}
    for scope in process.scopes():
        for node in scope.nodes:
            if isinstance(node, Event) and node.position == "end" and node.trigger == "error":
                by = nesting.caught(scope, node.definitions[0]).by
                if by is not None:
                    catchers[node.id] = _start_of(by, process)
    scopes: dict[str, RowScope] = {}
    owners: dict[str, str] = {}
    nodes, flows = _flatten_scope(wrap_bodies(process), "", scopes, owners)
    flat = process.replace(nodes=tuple(nodes), flows=tuple(flows))
    return FlatProcess(flat, scopes, owners, catchers)


def _start_of(element: str, process: Process) -> str:
    """The start event of an event sub-process; the id itself for any other element."""
    for scope in process.scopes():
        for node in scope.nodes:
            if node.id == element and isinstance(node, SubProcess):
                return next(handler_start.id for handler_start in starts_in(node))
    return element


def starts_in(scope: Scope) -> Iterator[Event]:
    """The start events of a scope."""
    return (n for n in scope.nodes if isinstance(n, Event) and n.position == "start")


def is_terminating(node: Node) -> bool:
    """Whether an element ends all that is active in its scope. In an event sub-process that is
    nothing else (`row_waits`)."""
    ends = isinstance(node, Event) and node.position in ("end", "throw")
    return ends and isinstance(node, Event) and node.trigger == "terminate"


def wrap_bodies(scope: Scope) -> Scope:
    """A scope in which what event sub-processes interrupt is a sub-process, and their steps follow
    events on its border."""
    nodes: list[Node] = [
        wrap_bodies(n) if isinstance(n, SubProcess) else n  # type: ignore[misc]
        for n in scope.nodes
    ]
    handlers = [n for n in nodes if isinstance(n, SubProcess) and n.flavour == "event"]
    if not handlers:
        return scope.replace(nodes=tuple(nodes))
    body = f"{scope.id}{BODY}"
    starts = list(starts_in(scope))
    inner = [n for n in nodes if n not in handlers and n not in starts]
    origin = source_ids(scope)
    begin = Event(id=f"{body}_start", position="start", derived_from=origin)
    entries = [f for f in scope.flows if f.source in {s.id for s in starts}]
    inside = {n.id for n in inner}
    content = SubProcess(
        id=body,
        name=scope.name,
        derived_from=origin,
        nodes=(begin, *inner),
        flows=(
            *(f.replace(source=begin.id) for f in entries),
            *(f for f in scope.flows if f.source in inside),
        ),
    )
    end = Event(id=f"{body}_end", position="end", derived_from=origin)
    outer: list[Node] = [*starts, content, end]
    flows = [
        Flow(id=f"{s.id}__{body}", source=s.id, target=body, derived_from=origin) for s in starts
    ]
    flows.append(Flow(id=f"{body}__end", source=body, target=end.id, derived_from=origin))
    for handler in handlers:
        for start in starts_in(handler):
            outer.append(start.replace(position="boundary", attached_to=body))
        outer += [
            n.replace(definitions=()) if is_terminating(n) else n
            for n in handler.nodes
            if not (isinstance(n, Event) and n.position == "start")
        ]
        flows += handler.flows
    return scope.replace(nodes=tuple(outer), flows=tuple(flows))


def _flatten_scope(
    scope: Scope, name: str, scopes: dict[str, RowScope], owners: dict[str, str]
) -> tuple[list[Node], list[Flow]]:
    """Nodes and flows of a scope and of all scopes in it; adds these to `scopes`, outer ones
    first, and their elements to `owners`."""
    nodes: list[Node] = []
    flows = list(scope.flows)
    for node in scope.nodes:
        owners[node.id] = name
        if not isinstance(node, SubProcess):
            nodes.append(node)
            continue
        out = f"{node.id}__out"
        owners[out] = name
        scopes[node.id] = RowScope(node.id, out, name)
        nodes.append(
            Event(
                id=node.id,
                name=node.name or node.id,
                doc=node.doc,
                loc=node.loc,
                position="throw",
                derived_from=node.derived_from,
            )
        )
        nodes.append(Event(id=out, position="throw", derived_from=source_ids(node)))
        flows = [f.replace(source=out) if f.source == node.id else f for f in flows]
        inner_nodes, inner_flows = _enter_scope(node, out)
        inner = node.replace(nodes=tuple(inner_nodes), flows=tuple(inner_flows))
        more_nodes, more_flows = _flatten_scope(inner, node.id, scopes, owners)
        nodes += more_nodes
        flows += more_flows
    return nodes, flows


def _enter_scope(sub: SubProcess, out: str) -> tuple[list[Node], list[Flow]]:
    """The content of a sub-process without its start events, with flows from the element that opens
    it, and from its ends to the one behind it."""
    graph = ControlFlow(sub)
    starts = {start.id for start in starts_in(sub)}
    nodes: list[Node] = []
    flows = [f.replace(source=sub.id) if f.source in starts else f for f in sub.flows]
    if not starts:
        flows += [
            Flow(id=f"{sub.id}__{e}", source=sub.id, target=e, derived_from=source_ids(sub))
            for e in graph.entries
        ]
    for node in sub.nodes:
        if node.id in starts:
            continue
        ends = isinstance(node, Event) and node.position == "end"
        plain = not ends and not graph.flows_out(node.id)
        if isinstance(node, Event) and node.position == "end" and node.trigger == "none":
            nodes.append(node.replace(position="throw", name=node.name or "End"))
            plain = True
        elif isinstance(node, Event) and is_terminating(node):
            nodes.append(node.replace(position="throw", name=node.name or "End"))
            plain = True  # what is behind the scope can be reached
        elif isinstance(node, SubProcess) and node.for_compensation:
            continue
        else:
            nodes.append(node)
        if plain and node.id in graph.reachable:
            flows.append(
                Flow(
                    id=f"{node.id}__out_flow",
                    source=node.id,
                    target=out,
                    derived_from=source_ids(node),
                )
            )
    return nodes, flows
