"""Nodes, data, annotations, pools and lanes as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from orgflow.backends.svg.marks import (
    circle,
    event_mark,
    gateway_mark,
    loop_marker,
    markers,
    num,
    path,
    task_icon,
)
from orgflow.backends.svg.words import centred, lines_of, plain

from orgflow_ir.layout.text import LINE, wrap_text
from orgflow_ir.model import (
    Artifact,
    CallActivity,
    DataObject,
    Event,
    Gateway,
    Opaque,
    SubProcess,
    Task,
)

Box = tuple[float, float, float, float]
HEADER = 30.0


def rect(box: Box, kind: str, radius: float = 0.0) -> str:
    """A rectangle."""
    x, y, w, h = (num(v) for v in box)
    round_ = f' rx="{num(radius)}"' if radius else ""
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{w}" height="{h}"{round_}/>'


def activity(node: Task | CallActivity | SubProcess, box: Box, *, expanded: bool) -> list[str]:
    """A task, a call or a sub-process with its icon, markers and name."""
    x, y, w, h = box
    kind = "of-node"
    if isinstance(node, CallActivity):
        kind += " of-call"
    if isinstance(node, SubProcess) and node.flavour == "event":
        kind += " of-event-sub"
    found = [rect(box, kind, 10)]
    shown = loop_marker(node.loop)
    if node.for_compensation:
        shown.append("compensation")
    match node:
        case SubProcess():
            if node.flavour == "transaction":
                found.append(rect((x + 3, y + 3, w - 6, h - 6), "of-node of-none", 8))
            if node.flavour == "ad-hoc":
                shown.append("ad-hoc")
            if not expanded:
                shown.append("collapsed")
        case Task():
            found += task_icon(node.task_type, x + 5, y + 5)
        case CallActivity():
            pass  # its thick border is a class of the rectangle
        case _:
            assert_never(node)
    found += markers(shown, x + w / 2, y + h - 11)
    text = " ".join(node.name.split())
    if expanded:
        block = wrap_text(text, max(120.0, w - 20), 3)
        found += lines_of(block.lines, x + 12, y + 10 + LINE * 0.8, "start")
        return found
    room = h - 8 - (16 if shown else 0)
    block = wrap_text(text, w - 14, max(1, int(room // LINE)))
    sink = 6 if len(found) > 1 and len(block.lines) > 2 else 0  # below the icon
    found += centred(block.lines, x + w / 2, y + (h - (14 if shown else 0)) / 2 + sink)
    return found


def event(node: Event, box: Box) -> list[str]:
    """An event: a thin, double or thick circle."""
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    r = min(box[2], box[3]) / 2
    dash = "" if node.interrupting else " of-dash"
    if node.position == "end":
        found = [circle(x, y, r - 1, "of-node of-thick")]
    else:
        found = [circle(x, y, r, "of-node" + dash)]
        if node.position != "start":
            found.append(circle(x, y, r - 3.2, "of-mark" + dash))
    return found + event_mark(node, x, y)


def gateway(node: Gateway, box: Box) -> list[str]:
    """A gateway: a diamond with its mark."""
    x, y, w, h = box
    d = (
        f"M{num(x + w / 2)} {num(y)} {num(x + w)} {num(y + h / 2)} "
        f"{num(x + w / 2)} {num(y + h)} {num(x)} {num(y + h / 2)}Z"
    )
    return [path(d, "of-node"), *gateway_mark(node, x + w / 2, y + h / 2)]


def opaque(node: Opaque, box: Box) -> list[str]:
    """An element outside of BPMN: a dashed box with its name."""
    x, y, w, h = box
    block = wrap_text(node.caption, w - 14, 4)
    return [rect(box, "of-node of-dash", 4), *centred(block.lines, x + w / 2, y + h / 2)]


def data(value: DataObject, box: Box) -> list[str]:
    """A data object (a sheet with a folded corner) or a data store (a drum)."""
    x, y, w, h = box
    if value.data_kind.startswith("store"):
        lip = min(8.0, h / 5)
        a, b = num(w / 2), num(lip)
        d = (
            f"M{num(x)} {num(y + lip)}A{a} {b} 0 0 1 {num(x + w)} {num(y + lip)}"
            f"V{num(y + h - lip)}A{a} {b} 0 0 1 {num(x)} {num(y + h - lip)}Z"
        )
        rim = (
            f"M{num(x)} {num(y + lip)}A{a} {b} 0 0 0 {num(x + w)} {num(y + lip)}"
            f"M{num(x)} {num(y + lip + 5)}A{a} {b} 0 0 0 {num(x + w)} {num(y + lip + 5)}"
        )
        return [path(d, "of-node"), path(rim, "of-mark")]
    fold = min(12.0, w / 3)
    d = (
        f"M{num(x)} {num(y)}H{num(x + w - fold)}L{num(x + w)} {num(y + fold)}V{num(y + h)}"
        f"H{num(x)}ZM{num(x + w - fold)} {num(y)}V{num(y + fold)}H{num(x + w)}"
    )
    found = [path(d, "of-node")]
    if value.collection:
        found += markers(["parallel"], x + w / 2, y + h - 9)
    if value.data_kind in ("input", "output"):
        kind = "of-mark" + (" of-solid" if value.data_kind == "output" else "")
        found.append(path("M0 3H8V0L14 5.5 8 11V8H0Z", kind, x + 4, y + 4))
    return found


def _room(box: Box, others: Iterable[tuple[float, ...]]) -> tuple[float, float]:
    """Top and bottom of the highest part of a note that nothing is drawn on: those of n8n lie
    behind nodes."""
    x, y, w, h = box
    taken = sorted(
        (b[1], b[1] + b[3])
        for b in others
        if b[0] < x + w and x < b[0] + b[2] and b[1] < y + h and y < b[1] + b[3]
        and not (b[0] <= x and b[1] <= y and x + w <= b[0] + b[2] and y + h <= b[1] + b[3])
    )  # fmt: skip
    best = (y, y)
    low = y
    for top, bottom in (*taken, (y + h, y + h)):
        if top - low > best[1] - best[0]:
            best = (low, top)
        low = max(low, bottom + 4)
    return best


def artifact(value: Artifact, box: Box, others: Iterable[tuple[float, ...]] = ()) -> list[str]:
    """A text annotation (an open bracket) or a group; the text of an annotation avoids the boxes
    `others`."""
    x, y, w, h = box
    if value.artifact_kind == "group":
        found = [rect(box, "of-line of-group", 10)]
        name = " ".join((value.text or value.name).split())
        block = wrap_text(name, w - 14, 3)
        return found + centred(block.lines, x + w / 2, y + 8 + LINE * len(block.lines) / 2)
    d = f"M{num(x + 12)} {num(y)}H{num(x)}V{num(y + h)}H{num(x + 12)}"
    top, bottom = _room(box, others)
    drawn = [path(d, "of-line of-soft")]
    most = max(int(bottom == y + h and top == y), int((bottom - top) // LINE))
    if most:
        block = wrap_text(plain(value.text or value.name), w - 12, most)
        first = top + (bottom - top - block.height) / 2 if bottom - top == h else top
        drawn += lines_of(block.lines, x + 7, first + LINE * 0.8, "start")
    return drawn


def pool(label: str, box: Box, *, empty: bool) -> list[str]:
    """A pool: its name upright at the left, or horizontal if it is a closed box."""
    x, y, w, h = box
    found = [rect(box, "of-frame")]
    if empty:
        block = wrap_text(label, w - 20, max(1, int(h // LINE)))
        return found + centred(block.lines, x + w / 2, y + h / 2, "of-bold")
    found.append(rect((x, y, HEADER, h), "of-frame of-header"))
    return found + _upright(label, x + HEADER / 2, y + h / 2, h)


def lane(label: str, box: Box) -> list[str]:
    """A lane: its name upright at the left."""
    x, y, _, h = box
    d = f"M{num(x + HEADER)} {num(y)}V{num(y + h)}"
    return [
        rect(box, "of-lane"),
        path(d, "of-lane"),
        *_upright(label, x + HEADER / 2, y + h / 2, h),
    ]


def _upright(label: str, x: float, y: float, height: float) -> list[str]:
    block = wrap_text(label, height - 12, 2)
    inner = "".join(centred(block.lines, 0, 0))
    return [f'<g transform="translate({num(x)} {num(y)}) rotate(-90)">{inner}</g>']
