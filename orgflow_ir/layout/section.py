"""The parts of the diagram of one process or sub-process: cells for nodes, arcs and links for
flows, and the data and text attached to nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import TypeGuard

from orgflow_ir.layout.cells import (
    attach_events,
    data_size,
    fold_spaces,
    kind_of,
    node_size,
    note_size,
    outer_label,
)
from orgflow_ir.layout.grid import Cell, Link, Part
from orgflow_ir.layout.group import Group
from orgflow_ir.layout.layers import Arc
from orgflow_ir.layout.text import Block, wrap_text
from orgflow_ir.model import Artifact, DataObject, Event, Lane, Node, Scope, SubProcess
from orgflow_ir.model.lanes import outermost_first
from orgflow_ir.model.records import dataclass

_FLOW_LABEL = 96.0
_STRIP = 190.0
"""Unconnected boxes wider than this are placed in a separate strip, outside of all columns."""


@dataclass(eq=False)
class Spot:
    """Where a line may end: a cell and, for an element inside it, the distance from its middle and
    half its height."""

    cell: str
    dx: float | None = None
    dy: float = 0.0
    half: float | None = None


@dataclass(eq=False)
class Section:
    """One scope, ready for placement in a grid."""

    scope: Scope
    cells: dict[str, Cell] = field(default_factory=dict)
    arcs: list[Arc] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    spots: dict[str, Spot] = field(default_factory=dict)
    inner: dict[str, Group] = field(default_factory=dict)
    strip: list[str] = field(default_factory=list)
    tied: list[tuple[str, str, str]] = field(default_factory=list)
    """Straight links of data and text: the id, the data or text, and the node or flow."""
    reversed: set[str] = field(default_factory=set)
    """Links whose line is drawn from the target to the source."""
    lanes: tuple[Lane, ...] = ()
    lane_of: dict[str, str] = field(default_factory=dict)


def flow_label(name: str) -> Block | None:
    """The label beside a flow."""
    text = fold_spaces(name)
    return wrap_text(text, _FLOW_LABEL, 6) if text else None


def build_section(scope: Scope, inner: dict[str, Group]) -> Section:
    """A scope whose sub-processes are laid out already (`inner`)."""
    section = Section(scope, inner=inner)
    hosts = {n.id for n in scope.nodes if not _is_boundary(n)}
    # A boundary event of nothing that is here stands by itself.
    hosts |= {n.id for n in scope.nodes if _is_boundary(n) and n.attached_to not in hosts}
    events = _attached_events(scope, hosts)
    # 1. Cells for nodes, then the boundary events on their borders.
    for node in scope.nodes:
        if node.id in hosts:
            section.cells[node.id] = _node_cell(node, inner.get(node.id), host=node.id in events)
            section.spots[node.id] = Spot(node.id)
    for name, attached in events.items():
        cell = section.cells[name]
        wide = cell.width
        for event_id, dx in attach_events(cell, attached).items():
            section.spots[event_id] = Spot(name, dx, cell.height / 2, 18.0)
        if name in inner and cell.width > wide:
            inner[name].width = cell.width
    # 2. Flows, and what stands beside nodes; nodes that nothing touches go into a strip.
    _inner_spots(section)
    _add_flows(section)
    _place_beside(section)
    touched = {end for arc in section.arcs for end in (arc.source, arc.target)}
    for name, cell in section.cells.items():
        if name not in touched and cell.width > _STRIP:
            section.strip.append(name)
    _assign_lanes(section)
    return section


def _attached_events(scope: Scope, hosts: Collection[str]) -> dict[str, list[Event]]:
    """The boundary events by the node that they are attached to: right ones lead to upper rows, so
    that no lines cross."""
    begins = [f.source for f in scope.flows] + [a.source for a in scope.artifacts if a.source]
    events: dict[str, list[Event]] = {}
    for node in scope.nodes:
        if _is_boundary(node) and node.id not in hosts:
            events.setdefault(node.attached_to or "", []).append(node)
    for attached in events.values():
        attached.sort(key=lambda e: begins.index(e.id) if e.id in begins else len(begins))
    return events


def _node_cell(node: Node, group: Group | None, *, host: bool) -> Cell:
    """The cell of a node; `group` is the content of an open sub-process."""
    if group is not None:
        return Cell(node.id, "box", group.width, group.height)
    return Cell(node.id, kind_of(node), *node_size(node, host=host), label=outer_label(node))


def _is_boundary(node: Node) -> TypeGuard[Event]:
    return isinstance(node, Event) and node.position == "boundary"


def _inner_spots(section: Section) -> None:
    for name, group in section.inner.items():
        cell = section.cells[name]
        for shape in group.shapes:
            if shape.element != name:
                x, y, w, h = shape.box
                dx, dy = x + w / 2 - cell.width / 2, y + h / 2 - cell.height / 2
                section.spots[shape.element] = Spot(name, dx, dy, h / 2)


def _add_flows(section: Section) -> None:
    scope = section.scope
    spots = section.spots
    direct = {n.id for n in scope.nodes}
    for flow in scope.flows:
        if flow.source in direct and flow.target in direct:
            _add_arc(section, flow.id, flow.source, flow.target, flow_label(flow.name))
            if section.links and section.links[-1].id == flow.id:
                section.links[-1].marked = flow.default
    for artifact in scope.artifacts:  # an event's compensation handler stands as if it followed
        source = spots.get(artifact.source or "")
        if source is None or source.dx is None or artifact.source not in direct:
            continue
        if artifact.target in section.cells:
            _add_arc(section, artifact.id, artifact.source or "", artifact.target, None)


def _add_arc(section: Section, name: str, source: str, target: str, label: Block | None) -> None:
    start, end = section.spots[source], section.spots[target]
    section.arcs.append(Arc(name, start.cell, end.cell, start.dx is not None))
    link = Link(name, start.cell, end.cell, label, start.dx)
    if start.dx is not None:
        link.reach = start.dy + 18.0
    section.links.append(link)


# -- data and text -------------------------------------------------------------------------------


def _place_beside(section: Section) -> None:
    """Data objects and annotations above the first node they belong to, others loose."""
    things = _list_things(section.scope)
    ties = _list_ties(section, things)
    flows = {f.id: f for f in section.scope.flows}
    homes: dict[str, str] = {}
    for _, thing, target in ties:
        end = flows[target].source if target in flows else target
        if end in section.spots:
            homes.setdefault(thing, section.spots[end].cell)
    shelves: dict[str, float] = {}
    back = {link.target for link in section.links} & {link.source for link in section.links}
    for name, value in things.items():
        if name in homes:
            _put_above(section, value, section.cells[homes[name]], shelves, homes[name] in back)
        else:
            section.cells[name] = _thing_cell(value)
            section.spots[name] = Spot(name)
    _add_ties(section, ties, homes)


def _list_things(scope: Scope) -> dict[str, DataObject | Artifact]:
    """The data and annotations of a scope that are drawn: data objects by their references."""
    referred = {d.ref for d in scope.data_objects if d.ref is not None}
    things: dict[str, DataObject | Artifact] = {
        data.id: data
        for data in scope.data_objects
        if not (data.data_kind == "object" and data.id in referred)
    }
    notes = [a for a in scope.artifacts if a.artifact_kind != "association"]
    return things | {a.id: a for a in notes}


def _list_ties(
    section: Section, things: Mapping[str, DataObject | Artifact]
) -> list[tuple[str, str, str]]:
    """The lines from things to nodes or flows: id, thing, end. Notes in the section which of them
    lead the other way."""
    scope = section.scope
    flows = {f.id for f in scope.flows}
    drawn = {link.id for link in section.links}
    pairs = [(d.id, d.source, d.target) for d in scope.data_flows]
    pairs += [
        (a.id, a.source or "", a.target or "")
        for a in scope.artifacts
        if a.artifact_kind == "association" and a.id not in drawn
    ]
    ties = []
    for name, source, target in pairs:
        if target in things and source not in things:
            source, target = target, source
            section.reversed.add(name)
        if source in things and (target in section.spots or target in flows):
            ties.append((name, source, target))
    return ties


def _thing_cell(value: DataObject | Artifact) -> Cell:
    """The cell of a thing that belongs to no node, with its label below."""
    width, height = _measure_size(value)
    cell = Cell(value.id, "box", width, height)
    block = _thing_label(value)
    if block is not None:
        box = (-block.width / 2, height / 2 + 3, block.width, block.height)
        cell.parts.append(Part(value.id, box, label=True))
        cell.reach(box)
    return cell


def _measure_size(value: DataObject | Artifact) -> tuple[float, float]:
    return data_size(value) if isinstance(value, DataObject) else note_size(value)


def _thing_label(value: DataObject | Artifact) -> Block | None:
    text = fold_spaces(value.name) if isinstance(value, DataObject) else ""
    return wrap_text(text, 90.0, 4) if text else None


def _put_above(
    section: Section, value: DataObject | Artifact, cell: Cell, shelves: dict[str, float], _: bool
) -> None:
    """Put a thing above a node, right of those that stand there."""
    width, height = _measure_size(value)
    block = _thing_label(value)
    wide = max(width, block.width if block else 0.0)
    x = shelves.get(cell.id, 14.0 if cell.kind != "box" else 20.0)
    shelves[cell.id] = x + wide + 14
    bottom = -cell.height / 2 - 22
    if cell.label is not None and cell.kind == "gateway":
        bottom -= cell.label.height + 4
    middle = x + wide / 2
    box = (middle - width / 2, bottom - height, width, height)
    cell.parts.append(Part(value.id, box))
    cell.reach(box)
    if block is not None:
        label = (middle - block.width / 2, box[1] - 3 - block.height, block.width, block.height)
        cell.parts.append(Part(value.id, label, label=True))
        cell.reach(label)
    section.spots[value.id] = Spot(cell.id, middle, box[1] + height / 2, height / 2)


def _add_ties(section: Section, ties: list[tuple[str, str, str]], homes: dict[str, str]) -> None:
    for name, thing, target in ties:
        end = section.spots.get(target)
        if end is None or homes.get(thing) == end.cell:
            section.tied.append((name, thing, target))
            continue
        spot = section.spots[thing]
        cell = section.cells[spot.cell]
        label = [p for p in cell.parts if p.label and p.id == thing]
        top = label[0].box[1] if label else spot.dy - (spot.half or 0)
        section.links.append(
            Link(
                name,
                spot.cell,
                end.cell,
                None,
                spot.dx,
                end_offset=end.dx,
                vertical=True,
                reach=-top if spot.dx is not None else 0.0,
                side="top",
            )
        )


# -- lanes ---------------------------------------------------------------------------------------


def _assign_lanes(section: Section) -> None:
    """The lanes to be drawn (of the first set) and the innermost lane of each cell."""
    lanes = outermost_first(section.scope.lanes)
    if not lanes:
        return
    first = next((lane.lane_set for lane in lanes if lane.parent is None), None)
    top = {lane.id for lane in lanes if lane.parent is None and lane.lane_set == first}
    kept: list[Lane] = []
    inside = set(top)
    for lane in lanes:
        if lane.id in top or lane.parent in inside:
            inside.add(lane.id)
            kept.append(lane)
    parents = {lane.parent for lane in kept}
    section.lanes = tuple(kept)
    depth: dict[str, int] = {}
    best: dict[str, int] = {}
    for lane in kept:
        depth[lane.id] = depth.get(lane.parent or "", 0) + 1
        for member in lane.members:
            if depth[lane.id] >= best.get(member, 0) and member in section.cells:
                best[member] = depth[lane.id]
                section.lane_of[member] = lane.id
    for name, lane_id in section.lane_of.items():  # a member of an outer lane: its first inner one
        while lane_id in parents:
            lane_id = next(x.id for x in kept if x.parent == lane_id)
        section.lane_of[name] = lane_id
    _assign_remaining(section)


def _assign_remaining(section: Section) -> None:
    """What no lane names stands with a neighbour, or in the first lane."""
    parents = {lane.parent for lane in section.lanes}
    leaves = [lane.id for lane in section.lanes if lane.id not in parents]
    for _ in range(2):
        for arc in (*section.arcs, *reversed(section.arcs)):
            for member, other in ((arc.source, arc.target), (arc.target, arc.source)):
                if member not in section.lane_of and other in section.lane_of:
                    section.lane_of[member] = section.lane_of[other]
    for name in section.cells:
        section.lane_of.setdefault(name, leaves[0])


def is_open(node: object) -> bool:
    """Whether a node is drawn with its content."""
    return isinstance(node, SubProcess) and bool(node.nodes or node.data_objects)
