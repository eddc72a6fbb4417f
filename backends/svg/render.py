"""A model as an SVG picture: `render`, also for reports that colour a run or mark findings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from orgflow.backends.svg import nodes as draw
from orgflow.backends.svg.lines import association, message, sequence
from orgflow.backends.svg.marks import circle, num
from orgflow.backends.svg.style import style
from orgflow.backends.svg.words import centred, escaped, lines_of

from orgflow_ir.diagram import Diagram, Edge, Shape
from orgflow_ir.drawing import drawn
from orgflow_ir.drawing.text import LINE, width, wrap
from orgflow_ir.model import (
    Artifact,
    CallActivity,
    DataFlow,
    DataObject,
    Element,
    Event,
    Flow,
    Gateway,
    Lane,
    MessageFlow,
    Model,
    Opaque,
    Pool,
    SubProcess,
    Task,
)

_MARGIN = 20.0
_SIGNS = {"error": "!", "warning": "!", "info": "i"}
_LONG_LABEL = 96.0


class _Look(NamedTuple):
    """What is special about the elements of one picture."""

    highlights: Mapping[str, str]
    taken: Collection[str]
    marks: Mapping[str, str]


def element_ids(model: Model) -> frozenset[str]:
    """Ids of everything that can be drawn."""
    return frozenset(element.id for element in _elements(model))


def _elements(model: Model) -> Iterator[Element]:
    yield from (*model.pools, *model.message_flows, *model.artifacts)
    for scope in model.scopes():
        for part in (scope.nodes, scope.flows, scope.lanes, scope.data_objects, scope.data_flows,
                     scope.artifacts):  # fmt: skip
            yield from part


def render(
    model: Model,
    *,
    drawing: Diagram | None = None,
    theme: str = "auto",
    highlights: Mapping[str, Any] | None = None,
    taken: Collection[str] = (),
    marks: Mapping[str, str] | None = None,
) -> str:
    """`model` as SVG text that needs nothing else.

    `drawing` says where things are (default: the model's own drawing, or a layout). `highlights`
    maps elements to `error`, `warning` or `info` (or a `Severity`), `taken` are those of a run,
    `marks` maps elements to a few letters for a badge. Raises `ValueError` for a theme that is
    not `auto`, `light` or `dark`.
    """
    drawing = drawn(model) if drawing is None else drawing
    wanted = {k: str(getattr(v, "value", v)) for k, v in (highlights or {}).items()}
    look = _Look(wanted, frozenset(taken), marks or {})
    elements = {element.id: element for element in _elements(model)}
    gateways = {k for k, e in elements.items() if isinstance(e, Gateway)}
    boxes = {s.element: s.bounds for s in drawing.shapes}
    body: list[str] = []
    for shape in sorted(drawing.shapes, key=lambda s: _layer(elements.get(s.element))):
        element = elements.get(shape.element)
        if element is not None and _layer(element) < 3:
            body += _shape(element, shape, look, boxes)
    for edge in drawing.edges:
        element = elements.get(edge.element)
        if element is not None and len(edge.waypoints) > 1:
            body += _edge(element, edge, look, gateways)
    for shape in drawing.shapes:
        element = elements.get(shape.element)
        if element is not None and _layer(element) >= 3:
            body += _shape(element, shape, look, boxes)
    body += _labels(drawing, elements)
    x, y, w, h = _extent(drawing)
    title = " ".join(model.name.split()) or _first_name(model)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="of of-{theme}" role="img" '
        f'viewBox="{num(x)} {num(y)} {num(w)} {num(h)}" width="{num(w)}" height="{num(h)}" '
        f'aria-label="{escaped(title)}">'
    )
    return "\n".join(
        [
            head,
            f"<title>{escaped(title)}</title>",
            f"<desc>{escaped(_description(model))}</desc>",
            f"<style>{style(theme)}</style>",
            f'<rect class="of-paper" x="{num(x)}" y="{num(y)}" width="{num(w)}" '
            f'height="{num(h)}"/>',
            *body,
            "</svg>\n",
        ]
    )


def _layer(element: Element | None) -> int:
    """What lies below what: frames, open sub-processes, flows, nodes, boundary events."""
    if isinstance(element, Pool):
        return 0
    if isinstance(element, Lane):
        return 1
    if isinstance(element, SubProcess):
        return 2
    return 4 if isinstance(element, Event) and element.position == "boundary" else 3


def _first_name(model: Model) -> str:
    named = [p.label for p in model.pools] + [p.label for p in model.processes]
    return named[0] if named else "process"


def _description(model: Model) -> str:
    nodes = [n for scope in model.scopes() for n in scope.nodes]
    tasks = sum(isinstance(n, Task | CallActivity) for n in nodes)
    events = sum(isinstance(n, Event) for n in nodes)
    gateways = sum(isinstance(n, Gateway) for n in nodes)
    pools = ", ".join(p.label for p in model.pools)
    text = f"A process drawing with {tasks} tasks, {events} events and {gateways} gateways"
    return f"{text}; pools: {pools}." if pools else f"{text}."


def _extent(drawing: Diagram) -> tuple[float, float, float, float]:
    xs: list[float] = []
    ys: list[float] = []
    for item in _items(drawing):
        boxes = [item.label] if item.label is not None else []
        if isinstance(item, Shape):
            boxes.append(item.bounds)
            if item.label is None and item.bounds[2] <= 50:
                x, y, w, h = item.bounds
                boxes.append((x - 30, y - 20, w + 60, h + 50))
        else:
            xs += [x for x, _ in item.waypoints]
            ys += [y for _, y in item.waypoints]
        for x, y, w, h in boxes:
            xs += [x, x + w]
            ys += [y, y + h]
    if not xs:
        return (0.0, 0.0, 2 * _MARGIN, 2 * _MARGIN)
    x, y = min(xs) - _MARGIN, min(ys) - _MARGIN
    return (x, y, max(xs) + _MARGIN - x, max(ys) + _MARGIN - y)


def _items(drawing: Diagram) -> tuple[Shape | Edge, ...]:
    return (*drawing.shapes, *drawing.edges)


def _open(element: Element, look: _Look) -> str:
    kinds = ["of-el"]
    if element.id in look.taken:
        kinds.append("of-taken")
    if element.id in look.highlights:
        kinds.append(f"of-{look.highlights[element.id]}")
    said = f"{element.label} ({element.construct})"
    return (
        f'<g class="{" ".join(kinds)}" data-element="{escaped(element.id)}">'
        f"<title>{escaped(said)}</title>"
    )


def _shape(
    element: Element, shape: Shape, look: _Look, boxes: Mapping[str, tuple[float, ...]]
) -> list[str]:
    inside = _inside(element, shape, boxes)
    badges = _badges(element, shape.bounds, look)
    return [_open(element, look) + "".join((*inside, *badges)) + "</g>"]


def _inside(element: Element, shape: Shape, boxes: Mapping[str, tuple[float, ...]]) -> list[str]:
    box = shape.bounds
    match element:
        case Pool():
            return draw.pool(_words(element.name), box, empty=element.process is None)
        case Lane():
            return draw.lane(_words(element.name), box)
        case SubProcess():
            return draw.activity(element, box, expanded=_expanded(element, shape, boxes))
        case Task() | CallActivity():
            return draw.activity(element, box, expanded=False)
        case Event():
            return draw.event(element, box)
        case Gateway():
            return draw.gateway(element, box)
        case DataObject():
            return draw.data(element, box)
        case Artifact():
            return draw.artifact(element, box)
        case Opaque():
            return draw.opaque(element, box)
    return []


def _expanded(node: SubProcess, shape: Shape, boxes: Mapping[str, tuple[float, ...]]) -> bool:
    if shape.expanded is not None:
        return shape.expanded
    x, y, w, h = shape.bounds
    return any(
        n.id in boxes and x <= boxes[n.id][0] <= x + w and y <= boxes[n.id][1] <= y + h
        for n in node.nodes
    )


def _words(name: str) -> str:
    return " ".join(name.split())


def _badges(element: Element, box: tuple[float, ...], look: _Look) -> list[str]:
    """At the upper right corner: how severe, and the letters asked for."""
    found: list[str] = []
    x, y = box[0] + box[2], box[1]
    severity = look.highlights.get(element.id)
    if severity in _SIGNS:
        found.append(circle(x, y, 8, f"of-badge-{severity}"))
        found += centred([_SIGNS[severity]], x, y, "of-badge-text")
        x -= 20
    mark = look.marks.get(element.id)
    if mark:
        wide = max(16.0, width(mark) + 8)
        left = x - wide / 2
        found.append(draw.rect((left, y - 8, wide, 16), "of-badge-taken", 8))
        found += centred([mark], x, y, "of-badge-text")
    return found


def _edge(element: Element, edge: Edge, look: _Look, gateways: Collection[str]) -> list[str]:
    points = edge.waypoints
    match element:
        case Flow():
            asks = element.condition is not None and element.source not in gateways
            inside = sequence(points, default=element.default, conditional=asks)
        case MessageFlow():
            inside = message(points)
        case DataFlow():
            inside = association(points, start=False, end=True)
        case Artifact():
            both = element.direction == "both"
            inside = association(points, start=both, end=both or element.direction == "one")
        case _:
            inside = []
    mark = look.marks.get(element.id)
    if mark:
        (ax, ay), (bx, by) = points[0], points[1]
        middle = ((ax + bx) / 2, (ay + by) / 2)
        inside += _badges(element, (*middle, 0, 0), _Look({}, (), {element.id: mark}))
    return [_open(element, look) + "".join(inside) + "</g>"]


def _labels(drawing: Diagram, elements: Mapping[str, Element]) -> list[str]:
    """Words beside events, gateways, data and flows, on top of everything."""
    found: list[str] = []
    for item in _items(drawing):
        element = elements.get(item.element)
        beside = isinstance(element, Event | Gateway | DataObject | Flow | MessageFlow)
        if element is None or not beside or not _words(element.name):
            continue
        text = _words(element.name)
        if item.label is not None:
            x, y, w, _ = item.label
            block = wrap(text, max(w, 60.0))
            found += lines_of(block.lines, x + w / 2, y + LINE * 0.8, "middle", "of-halo")
            continue
        block = wrap(text, _LONG_LABEL, 6)
        if isinstance(item, Shape):
            x, y, w, h = item.bounds
            found += lines_of(block.lines, x + w / 2, y + h + LINE, "middle", "of-halo")
        elif len(item.waypoints) > 1:
            (ax, ay), (bx, by) = _longest(item)
            found += centred(
                block.lines, (ax + bx) / 2, (ay + by) / 2 - block.height / 2 - 3, "of-halo"
            )
    return found


def _longest(edge: Edge) -> tuple[tuple[float, float], tuple[float, float]]:
    pairs = list(zip(edge.waypoints, edge.waypoints[1:], strict=False))
    return max(pairs, key=lambda p: abs(p[0][0] - p[1][0]) + abs(p[0][1] - p[1][1]))
