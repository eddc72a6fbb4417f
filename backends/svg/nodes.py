"""Nodes, data, annotations, pools and lanes as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from orgflow.backends.svg.marks import (
    draw_circle,
    draw_markers,
    draw_path,
    event_mark,
    gateway_mark,
    loop_marker,
    num_text,
    task_icon,
)
from orgflow.backends.svg.words import draw_centred, lines_of, strip_markdown

from orgflow_ir.layout.text import LINE, wrap_text
from orgflow_ir.model import (
    Artifact,
    CallActivity,
    DataObject,
    Element,
    Event,
    Gateway,
    Opaque,
    SubProcess,
    Task,
)
from orgflow_ir.model.evidence import DOUBT

Box = tuple[float, float, float, float]
HEADER = 30.0


def draw_rect(box: Box, kind: str, radius: float = 0.0) -> str:
    """A rectangle."""
    x, y, w, h = (num_text(v) for v in box)
    round_ = f' rx="{num_text(radius)}"' if radius else ""
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{w}" height="{h}"{round_}/>'


def has_doubt(element: Element) -> bool:
    """Whether the author was unsure about an element, which is dashed then."""
    return any(key == DOUBT for key, _ in element.extra)


def draw_activity(node: Task | CallActivity | SubProcess, box: Box, *, expanded: bool) -> list[str]:
    """A task, a call or a sub-process with its icon, markers and name."""
    x, y, w, h = box
    kind = "of-node"
    if isinstance(node, CallActivity):
        kind += " of-call"
    if isinstance(node, SubProcess) and node.flavour == "event":
        kind += " of-event-sub"
    elif has_doubt(node):
        kind += " of-dash"
    parts = [draw_rect(box, kind, 10)]
    shown = loop_marker(node.loop)
    if node.for_compensation:
        shown.append("compensation")
    match node:
        case SubProcess():
            if node.flavour == "transaction":
                parts.append(draw_rect((x + 3, y + 3, w - 6, h - 6), "of-node of-none", 8))
            if node.flavour == "ad-hoc":
                shown.append("ad-hoc")
            if not expanded:
                shown.append("collapsed")
        case Task():
            parts += task_icon(node.task_type, x + 5, y + 5)
        case CallActivity():
            pass  # its thick border is a class of the rectangle
        case _:
            assert_never(node)
    parts += draw_markers(shown, x + w / 2, y + h - 11)
    text = " ".join(node.name.split())
    if expanded:
        block = wrap_text(text, max(120.0, w - 20), 3)
        parts += lines_of(block.lines, x + 12, y + 10 + LINE * 0.8, "start")
        return parts
    room = h - 8 - (16 if shown else 0)
    block = wrap_text(text, w - 14, max(1, int(room // LINE)))
    sink = 6 if len(parts) > 1 and len(block.lines) > 2 else 0  # below the icon
    parts += draw_centred(block.lines, x + w / 2, y + (h - (14 if shown else 0)) / 2 + sink)
    return parts


def draw_event(node: Event, box: Box) -> list[str]:
    """An event: a thin, double or thick circle."""
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    r = min(box[2], box[3]) / 2
    dash = " of-dash" if not node.interrupting or has_doubt(node) else ""
    if node.position == "end":
        parts = [draw_circle(x, y, r - 1, "of-node of-thick")]
    else:
        parts = [draw_circle(x, y, r, "of-node" + dash)]
        if node.position != "start":
            parts.append(draw_circle(x, y, r - 3.2, "of-mark" + dash))
    return parts + event_mark(node, x, y)


def draw_gateway(node: Gateway, box: Box) -> list[str]:
    """A gateway: a diamond with its mark."""
    x, y, w, h = box
    d = (
        f"M{num_text(x + w / 2)} {num_text(y)} {num_text(x + w)} {num_text(y + h / 2)} "
        f"{num_text(x + w / 2)} {num_text(y + h)} {num_text(x)} {num_text(y + h / 2)}Z"
    )
    return [draw_path(d, "of-node"), *gateway_mark(node, x + w / 2, y + h / 2)]


def draw_opaque(node: Opaque, box: Box) -> list[str]:
    """An element outside of BPMN: a dashed box with its name."""
    x, y, w, h = box
    block = wrap_text(node.caption, w - 14, 4)
    return [
        draw_rect(box, "of-node of-dash", 4),
        *draw_centred(block.lines, x + w / 2, y + h / 2),
    ]


def draw_data(value: DataObject, box: Box) -> list[str]:
    """A data object (a sheet with a folded corner) or a data store (a drum)."""
    x, y, w, h = box
    if value.data_kind.startswith("store"):
        lip = min(8.0, h / 5)
        a, b = num_text(w / 2), num_text(lip)
        d = (
            f"M{num_text(x)} {num_text(y + lip)}A{a} {b} 0 0 1 "
            f"{num_text(x + w)} {num_text(y + lip)}"
            f"V{num_text(y + h - lip)}A{a} {b} 0 0 1 {num_text(x)} "
            f"{num_text(y + h - lip)}Z"
        )
        rim = (
            f"M{num_text(x)} {num_text(y + lip)}A{a} {b} 0 0 0 "
            f"{num_text(x + w)} {num_text(y + lip)}"
            f"M{num_text(x)} {num_text(y + lip + 5)}A{a} {b} 0 0 0 "
            f"{num_text(x + w)} {num_text(y + lip + 5)}"
        )
        return [draw_path(d, "of-node"), draw_path(rim, "of-mark")]
    fold = min(12.0, w / 3)
    d = (
        f"M{num_text(x)} {num_text(y)}H{num_text(x + w - fold)}"
        f"L{num_text(x + w)} {num_text(y + fold)}V{num_text(y + h)}H{num_text(x)}Z"
        f"M{num_text(x + w - fold)} {num_text(y)}V{num_text(y + fold)}H{num_text(x + w)}"
    )
    parts = [draw_path(d, "of-node")]
    if value.collection:
        parts += draw_markers(["parallel"], x + w / 2, y + h - 9)
    if value.data_kind in ("input", "output"):
        kind = "of-mark" + (" of-solid" if value.data_kind == "output" else "")
        parts.append(draw_path("M0 3H8V0L14 5.5 8 11V8H0Z", kind, x + 4, y + 4))
    return parts


def _find_room(box: Box, others: Iterable[tuple[float, ...]]) -> tuple[float, float]:
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


def draw_artifact(value: Artifact, box: Box, others: Iterable[tuple[float, ...]] = ()) -> list[str]:
    """A text annotation (an open bracket) or a group; the text of an annotation avoids the boxes
    `others`."""
    x, y, w, h = box
    if value.artifact_kind == "group":
        parts = [draw_rect(box, "of-line of-group", 10)]
        name = " ".join((value.text or value.name).split())
        block = wrap_text(name, w - 14, 3)
        return parts + draw_centred(block.lines, x + w / 2, y + 8 + LINE * len(block.lines) / 2)
    d = f"M{num_text(x + 12)} {num_text(y)}H{num_text(x)}V{num_text(y + h)}H{num_text(x + 12)}"
    top, bottom = _find_room(box, others)
    drawn = [draw_path(d, "of-line of-soft")]
    most = max(int(bottom == y + h and top == y), int((bottom - top) // LINE))
    if most:
        block = wrap_text(strip_markdown(value.text or value.name), w - 12, most)
        first = top + (bottom - top - block.height) / 2 if bottom - top == h else top
        drawn += lines_of(block.lines, x + 7, first + LINE * 0.8, "start")
    return drawn


def draw_pool(label: str, box: Box, *, empty: bool) -> list[str]:
    """A pool: its name upright at the left, or horizontal if it is a closed box."""
    x, y, w, h = box
    parts = [draw_rect(box, "of-frame")]
    if empty:
        block = wrap_text(label, w - 20, max(1, int(h // LINE)))
        return parts + draw_centred(block.lines, x + w / 2, y + h / 2, "of-bold")
    parts.append(draw_rect((x, y, HEADER, h), "of-frame of-header"))
    return parts + _draw_upright(label, x + HEADER / 2, y + h / 2, h)


def draw_lane(label: str, box: Box) -> list[str]:
    """A lane: its name upright at the left."""
    x, y, _, h = box
    d = f"M{num_text(x + HEADER)} {num_text(y)}V{num_text(y + h)}"
    return [
        draw_rect(box, "of-lane"),
        draw_path(d, "of-lane"),
        *_draw_upright(label, x + HEADER / 2, y + h / 2, h),
    ]


def _draw_upright(label: str, x: float, y: float, height: float) -> list[str]:
    block = wrap_text(label, height - 12, 2)
    inner = "".join(draw_centred(block.lines, 0, 0))
    return [f'<g transform="translate({num_text(x)} {num_text(y)}) rotate(-90)">{inner}</g>']
