"""The invariants that every pass has to preserve: unique ids and valid references.

The input model may be malformed (rules OF1xx report that), but a pass must not add violations.
Therefore the violations before a pass are compared with those after it.

Not checked are `CallActivity.called` (another file may define it), `derived_from` (ids of the
source, some of which lowerings remove), the properties of correlation keys (names of data), and the
content of expressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgflow_ir.model.elements import (
    CallActivity,
    Catalog,
    DataFlow,
    Event,
    Model,
    Node,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.lanes import in_circles
from orgflow_ir.model.provenance import all_elements

_CATALOG = {
    "message": "messages",
    "signal": "signals",
    "error": "errors",
    "escalation": "escalations",
}
"""The list in the catalog that an event definition of a kind refers to."""


def list_violations(model: Model) -> frozenset[str]:
    """Violations of the IR's rules, each as a sentence that names the element by its id.

    Example:
        violations(after) - violations(before)
    """
    sentences: set[str] = set()
    ids: set[str] = set()
    for element in (model, *all_elements(model)):
        if element.id in ids:
            sentences.add(f"the id `{element.id}` occurs more than once")
        ids.add(element.id)
    for process in model.processes:
        inside = {n.id for scope in process.scopes() for n in scope.nodes}
        for scope in process.scopes():
            sentences.update(_scope_violations(scope, inside, ids, model.catalog))
    sentences.update(_collaboration_violations(model, ids))
    if model.diagram is not None:
        drawn = [s.element for s in model.diagram.shapes] + [e.element for e in model.diagram.edges]
        sentences.update(_missing_references("the diagram shows", drawn, ids))
    return frozenset(sentences)


def _scope_violations(
    scope: Scope, inside: set[str], ids: set[str], catalog: Catalog
) -> Iterator[str]:
    """Violations of one process or sub-process; `inside` holds all nodes of its process."""
    nodes = {n.id: n for n in scope.nodes}
    for node in scope.nodes:
        yield from _node_violations(node, nodes, inside, catalog)
    for flow in scope.flows:
        for end in (flow.source, flow.target):
            if end not in nodes:
                yield f"the flow `{flow.id}` has an end `{end}` that is not in its scope"
    defaults = [f.source for f in scope.flows if f.default]
    for source in {s for s in defaults if defaults.count(s) > 1}:
        yield f"`{source}` has several default flows"
    lanes = {lane.id for lane in scope.lanes}
    for lane in scope.lanes:
        yield from _missing_references(f"the lane `{lane.id}` contains", lane.members, inside)
        yield from _missing_references(f"the lane `{lane.id}` is inside", (lane.parent,), lanes)
    yield from (f"the lane `{lane}` is inside itself" for lane in in_circles(scope.lanes))
    for item in scope.data_objects:
        yield from _missing_references(f"the data object `{item.id}` refers to", (item.ref,), ids)
    for data in scope.data_flows:
        yield from _end_violations(data, ids)
    for artifact in scope.artifacts:
        ends = (artifact.source, artifact.target)
        yield from _missing_references(f"the association `{artifact.id}` ends at", ends, ids)


def _node_violations(
    node: Node, nodes: dict[str, Node], inside: set[str], catalog: Catalog
) -> Iterator[str]:
    """Violations of a node's own references."""
    if isinstance(node, Task):
        messages = {m.id for m in catalog.messages}
        yield from _missing_references(f"`{node.id}` has the message", (node.message,), messages)
    if not isinstance(node, Event):
        return
    if node.attached_to is not None:
        host = nodes.get(node.attached_to)
        if host is None:
            yield f"`{node.id}` is attached to `{node.attached_to}`, which is not in its scope"
        elif not isinstance(host, Task | CallActivity | SubProcess):
            yield f"`{node.id}` is attached to `{node.attached_to}`, which is not an activity"
    for definition in node.definitions:
        if definition.kind == "compensation":
            known = inside
        elif definition.kind in _CATALOG:
            known = {e.id for e in getattr(catalog, _CATALOG[definition.kind])}
        else:
            continue
        yield from _missing_references(
            f"`{node.id}` refers to the {definition.kind}", (definition.ref,), known
        )


def _collaboration_violations(model: Model, ids: set[str]) -> Iterator[str]:
    """Violations around the processes."""
    processes = {p.id for p in model.processes}
    for pool in model.pools:
        yield from _missing_references(
            f"the pool `{pool.id}` shows the process", (pool.process,), processes
        )
    ends = {n.id for scope in model.scopes() for n in scope.nodes} | {p.id for p in model.pools}
    messages = {m.id for m in model.catalog.messages}
    for flow in model.message_flows:
        name = f"the message flow `{flow.id}`"
        yield from _missing_references(f"{name} ends at", (flow.source, flow.target), ends)
        yield from _missing_references(f"{name} carries the message", (flow.message,), messages)
    for artifact in model.artifacts:
        both = (artifact.source, artifact.target)
        yield from _missing_references(f"the association `{artifact.id}` ends at", both, ids)


def _end_violations(flow: DataFlow, ids: set[str]) -> Iterator[str]:
    yield from _missing_references(
        f"the data flow `{flow.id}` ends at", (flow.source, flow.target), ids
    )


def _missing_references(what: str, refs: Iterable[str | None], known: set[str]) -> Iterator[str]:
    """A sentence for each reference to something that is not known; None refers to nothing."""
    for ref in refs:
        if ref is not None and ref not in known:
            yield f"{what} `{ref}`, which does not exist"
