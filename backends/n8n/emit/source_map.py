"""The source elements of the parts of emitted workflows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.emit.compiled import CompiledScope
from orgflow.backends.n8n.format.document import TYPE_PREFIX
from orgflow.backends.n8n.plan.actions import REPLACED, SetDecision
from orgflow.backends.n8n.plan.graph import PlanNode
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.model import Event, Node, Task
from orgflow_ir.model.provenance import joint_source_ids, source_ids
from orgflow_ir.targets.artifact import Part, json_pointer

_DONE_OUTSIDE = ("message", "signal", "conditional")
"""The results or triggers of an event that has no node for them."""


def list_parts(files: Mapping[str, CompiledScope]) -> Iterator[Part]:
    """Nodes, sticky notes and connections of each workflow, by the path of its file.

    Places are JSON Pointers. A silent gateway has no part, nor do its outgoing flows: its tokens
    use the connections of its incoming flows. The source of a workflow for named work are the
    elements that name it.
    """
    callers: dict[str, tuple[str, ...]] = {}
    if any(compiled.plan.scope.only_called for compiled in files.values()):
        from orgflow.backends.n8n.plan.named_work import list_uses

        for work, called in list_uses(compiled.plan for compiled in files.values()).items():
            callers[work.process] = joint_source_ids(use.task for use in called)
    for path, compiled in files.items():
        made_from = callers.get(compiled.plan.process.id)
        for part in (*_list_node_parts(path, compiled), *_list_wire_parts(path, compiled)):
            yield part if made_from is None else part._replace(role="made", elements=made_from)


def _list_node_parts(path: str, compiled: CompiledScope) -> Iterator[Part]:
    plan = compiled.plan
    process = plan.process.id
    by_name = {node.name: node for node in plan.workflow_graph.nodes.values()}
    lanes = {lane.id: lane for lane in plan.scope.lanes}
    for index, row in enumerate(compiled.workflow["nodes"]):
        short = row["type"].removeprefix(TYPE_PREFIX)
        name, place = row["name"], json_pointer("nodes", index)
        node = by_name.get(name)
        if node is None:
            of = compiled.stickies[name]
            role = "lane" if of in lanes else "note"
            elements = source_ids(lanes[of]) if of in lanes else (of,)
            yield Part(path, place, role, elements, name, "Sticky Note", process)
            continue
        element = plan.graph.nodes.get(node.element)
        # a process without a start event gets a trigger of its own
        elements = source_ids(element) if element is not None else (plan.scope.body.id,)
        own = element is not None and elements == (element.id,)
        role = node.role if own or not node.represents else "made"
        if element is None:
            role = node.role
        kind, empty = node_types.type_label(short), _is_empty(node, element, plan)
        yield Part(path, place, role, elements, name, kind, process, empty)


def _is_empty(node: PlanNode, element: Node | None, plan: ScopePlan) -> bool:
    """Whether a node waits for somebody to put in its place what does the work; the one in a
    workflow of named work has a contract instead."""
    if plan.scope.only_called:
        return False
    if isinstance(node.action, SetDecision):
        return True
    if not isinstance(node.action, REPLACED) or node.role != "element":
        return False
    if isinstance(element, Task):
        return True
    return isinstance(element, Event) and any(d.kind in _DONE_OUTSIDE for d in element.definitions)


def _list_wire_parts(path: str, compiled: CompiledScope) -> Iterator[Part]:
    flows = {flow.id: flow for flow in compiled.plan.scope.body.flows}
    for (name, output, position), flow in compiled.wired.items():
        if flow in flows:
            place = json_pointer("connections", name, "main", output, position)
            yield Part(
                path,
                place,
                "flow",
                source_ids(flows[flow]),
                "",
                "connection",
                compiled.plan.process.id,
            )
