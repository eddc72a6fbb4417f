"""Processes and sub-processes as BPMN: nodes, flows, lanes, data, artifacts, at any depth."""

from __future__ import annotations

from typing import assert_never

from orgflow.backends.bpmn import nodes as write
from orgflow.backends.bpmn.data import (
    association_instead,
    data_associations,
    data_object,
    input_output,
    write_artifact,
)
from orgflow.backends.bpmn.format import BPMN, child_rank
from orgflow.backends.bpmn.kept import fill_shell, find_kept, kept_attribute, parse_shell
from orgflow.backends.bpmn.writer import Writer, sequence_flow
from orgflow.backends.bpmn.xml_text import Child, ranked_child, write_element

from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Lane,
    Node,
    Opaque,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.lanes import outermost_first

_SUB_TAGS = {
    "plain": "subProcess", "event": "subProcess", "transaction": "transaction",
    "ad-hoc": "adHocSubProcess",
}  # fmt: skip


def write_process(w: Writer, value: Process, depth: int) -> str:
    """A process with its content."""
    executable = None if value.executable is None else str(value.executable).lower()
    w.engine = None if value.dialect is None else value.dialect.engine
    children, but = _write_content(w, value, "process", depth + 1)
    attributes = [("isExecutable", executable), *w.dialects.attribute(value)]
    return w.thing(depth, "process", value, attributes, children, but=but)


def _sub_process(w: Writer, value: SubProcess, depth: int, data: list[Child]) -> str:
    tag = _SUB_TAGS[value.flavour]
    attributes, inside = write.activity_parts(w, value, tag, depth)
    if value.flavour == "event":
        attributes.append(("triggeredByEvent", "true"))
    elif value.flavour == "ad-hoc":
        attributes.append(("ordering", "Sequential" if value.sequential else None))
        stays = None if value.cancel_remaining else "false"
        attributes.append(("cancelRemainingInstances", stays))
        inside += w.expression(tag, "completionCondition", value.completion, depth + 1)
    children, but = _write_content(w, value, tag, depth + 1)
    return w.thing(depth, tag, value, attributes, [*inside, *data, *children], but=but)


def _write_content(w: Writer, scope: Scope, tag: str, depth: int) -> tuple[list[Child], list[int]]:
    """What is in a scope, and the positions of kept data that are in it already."""
    flow_rank, artifact_rank = (
        child_rank(tag, BPMN, "flowElements"),
        child_rank(tag, BPMN, "artifacts"),
    )
    data = data_associations(w, scope, depth + 1)
    lanes, but = _lane_sets(w, scope, tag, depth)
    children = [*lanes, *input_output(w, scope, tag, depth)]
    takes: dict[str, bool] = {}
    for node in scope.nodes:
        takes[node.id] = write.takes_default(node) and kept_attribute(node.extra, "default") is None
        children.append(Child(flow_rank, _write_node(w, node, depth, data.of.pop(node.id, []))))
    for value in scope.data_objects:
        if value.data_kind not in ("input", "output"):
            children.append(Child(flow_rank, data_object(w, value, depth)))
    for flow in scope.flows:
        text = sequence_flow(w, flow, depth, stated=takes.get(flow.source, False))
        children.append(Child(flow_rank, text))
    for thing in scope.artifacts:
        children.append(Child(artifact_rank, write_artifact(w, thing, depth)))
    for link in data.elsewhere:
        children.append(Child(artifact_rank, association_instead(w, link, depth)))
    return children, but


def _write_node(w: Writer, node: Node, depth: int, data: list[Child]) -> str:
    match node:
        case Task():
            return write.write_task(w, node, depth, data)
        case Gateway():
            return write.write_gateway(w, node, depth)
        case Event():
            return write.write_event(w, node, depth, data)
        case CallActivity():
            return write.write_call(w, node, depth, data)
        case SubProcess():
            return _sub_process(w, node, depth, data)
        case Opaque():
            return write.opaque_node(w, node, depth)
        case _:
            assert_never(node)


def _lane_sets(w: Writer, scope: Scope, tag: str, depth: int) -> tuple[list[Child], list[int]]:
    """The sets of lanes of a scope, each with what is kept of it."""
    shells: dict[str, str] = {}
    positions: list[int] = []
    nested: list[str] = []
    for local in ("laneSet", "childLaneSet"):
        for at, xml in find_kept(scope.extra, local):
            kept = parse_shell(xml)
            if kept is not None:
                positions.append(at)
                name = kept.fragment.attrs.get("id", "")
                shells[name] = xml
                if local == "childLaneSet":
                    nested.append(name)
    sets: dict[tuple[str | None, str], list[Lane]] = {}
    for lane in outermost_first(scope.lanes):
        name = lane.lane_set or f"{scope.id}__lanes"
        if lane.lane_set is None and lane.parent is not None:
            name = f"{lane.parent}__lanes"
        sets.setdefault((lane.parent, name), []).append(lane)
    named = {name for _, name in sets}
    for name in shells:  # sets without lanes
        if name not in named and name not in nested:
            sets[(None, name)] = []
    lane_sets = []
    for (parent, name), lanes in sets.items():
        if parent is None:
            lane_sets.append(
                ranked_child(tag, "laneSet", _lane_set(w, name, lanes, sets, shells, depth))
            )
    return lane_sets, positions


def _lane_set(
    w: Writer,
    name: str,
    lanes: list[Lane],
    sets: dict[tuple[str | None, str], list[Lane]],
    shells: dict[str, str],
    depth: int,
    tag: str = "laneSet",
) -> str:
    inside = []
    for lane in lanes:
        children = [w.leaf("lane", "flowNodeRef", w.id(m), depth + 2) for m in lane.members]
        for (parent, other), inner in sets.items():
            if parent == lane.id:
                text = _lane_set(w, other, inner, sets, shells, depth + 2, "childLaneSet")
                children.append(ranked_child("lane", "childLaneSet", text))
        performer = [w.pointer("partitionElementRef", lane.performer)]
        inside.append(Child(10, w.thing(depth + 1, "lane", lane, performer, children)))
    kept = parse_shell(shells[name]) if name in shells else None
    if kept is not None:
        return fill_shell(w.keep, kept, "laneSet", depth, inside)
    return write_element(depth, w.names.bpmn(tag), [("id", w.id(name))], inside)
