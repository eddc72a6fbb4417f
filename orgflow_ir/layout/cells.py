"""Sizes of nodes and of the parts drawn with them: labels, boundary events, data, annotations."""

from __future__ import annotations

from typing import assert_never

from orgflow_ir.layout.grid import Cell, Kind, Part
from orgflow_ir.layout.text import Block, wrap_text
from orgflow_ir.model import (
    Artifact,
    CallActivity,
    DataObject,
    Event,
    Gateway,
    Node,
    Opaque,
    SubProcess,
    Task,
)

EVENT = 36.0
GATEWAY = 50.0
TASK = (100.0, 80.0)
DATA = (36.0, 50.0)
STORE = (50.0, 50.0)
_NOTE = 130.0
_LABEL = 100.0
_PITCH = 92.0
"""Distance between two boundary events with labels."""
_TALLEST = 300.0
"""Maximum height at which the text of a task is shown."""
Size = tuple[float, float]


def fold_spaces(name: str) -> str:
    """A name as shown in a diagram, with white space folded."""
    return " ".join(name.split())


def task_size(name: str, lines: int = 4) -> Size:
    """A size that fits the name in `lines` lines; wider and higher for very long names."""
    text = fold_spaces(name)
    for wide in (100.0, 120.0, 140.0, 160.0):
        block = wrap_text(text, wide - 14)
        if len(block.lines) <= lines:
            return wide, 80.0
    return 160.0, max(80.0, min(block.height, _TALLEST) + 24)


def node_size(node: Node, *, host: bool = False) -> Size:
    """Size of a node whose content is not drawn; a `host` has boundary events on its border."""
    match node:
        case Event():
            return EVENT, EVENT
        case Gateway():
            return GATEWAY, GATEWAY
        case Task():
            icon = node.task_type != "abstract"
        case CallActivity() | SubProcess() | Opaque():
            icon = False
        case _:
            assert_never(node)
    return task_size(node.name, 2 if host else 3 if icon else 4)


def kind_of(node: Node) -> Kind:
    """The properties of a node that the layout uses."""
    match node:
        case Event():
            return "event"
        case Gateway():
            return "gateway"
        case Task() | CallActivity() | SubProcess() | Opaque():
            return "task"
        case _:
            assert_never(node)


def outer_label(node: Node) -> Block | None:
    """The label beside an event or a gateway."""
    text = fold_spaces(node.name)
    if not text or not isinstance(node, Event | Gateway):
        return None
    return wrap_text(text, _LABEL, 6)


def data_size(value: DataObject) -> Size:
    """Size of the shape of a data object or store."""
    return STORE if value.data_kind.startswith("store") else DATA


def note_size(value: Artifact) -> Size:
    """Size of a text annotation or a group."""
    if value.artifact_kind == "group":
        return TASK
    block = wrap_text(fold_spaces(value.text), _NOTE - 12, 12)
    return _NOTE, max(30.0, block.height + 10)


def attach_events(cell: Cell, events: list[Event]) -> dict[str, float]:
    """Put boundary events on the lower border, the first one at the right; returns their distances
    from the middle. The node is widened if their labels need it."""
    if not events:
        return {}
    labelled = sum(1 for e in events if fold_spaces(e.name))
    count = len(events)
    pitch = _PITCH if labelled > 1 or (labelled and count > 2) else 46.0
    need = (count - 1) * pitch + 60
    if count > 2 and need > cell.width:
        cell.width = need
        cell.reach((-need / 2, -1, need, 2))
    first = cell.width / 2 - 26
    if count > 1:
        pitch = min(pitch, (cell.width - 48) / (count - 1))
    offsets = {}
    for number, event in enumerate(events):
        x = first - number * pitch
        offsets[event.id] = x
        half = EVENT / 2
        box = (x - half, cell.height / 2 - half, EVENT, EVENT)
        cell.parts.append(Part(event.id, box))
        cell.reach(box)
        block = outer_label_of_boundary(event, right=number == 0 or count > 2)
        if block is not None:
            left = x + 6 if number == 0 or count > 2 else x - 6 - block.width
            label = (left, cell.height / 2 + half + 3, block.width, block.height)
            cell.parts.append(Part(event.id, label, label=True))
            cell.reach((label[0], label[1], label[2], label[3] + 6))
    return offsets


def outer_label_of_boundary(event: Event, *, right: bool) -> Block | None:
    """The label beside a boundary event, which is narrow because the event's line runs down next to
    it."""
    text = fold_spaces(event.name)
    return wrap_text(text, _PITCH - 14, 5) if text else None


def put_label(cell: Cell) -> None:
    """Place the label of an event or gateway on a side without lines: below an event, above a
    gateway, otherwise on the opposite side or in a corner."""
    block = cell.label
    if block is None:
        return
    half = cell.height / 2
    above = (-block.width / 2, -half - 4 - block.height, block.width, block.height)
    below = (-block.width / 2, half + 4, block.width, block.height)
    sides = [("bottom", below), ("top", above)]
    if cell.kind == "gateway":
        sides.reverse()
    box = next((place for side, place in sides if not cell.uses(side)), None)  # type: ignore[arg-type]
    if box is None:
        box = (-block.width - 8, -half - 1 - block.height, block.width, block.height)
        if cell.kind == "gateway":
            box = (8.0, *box[1:])
    cell.parts.append(Part(cell.id, box, label=True))
    cell.reach(box)
