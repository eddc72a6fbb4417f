"""A model as an SVG picture: `render_model`, also for reports that colour a run or mark
findings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, assert_never

from orgflow.backends.svg import nodes as draw
from orgflow.backends.svg.findings import (
    Finding,
    draw_legend,
    highest_severities,
    number_findings,
    run_of,
)
from orgflow.backends.svg.lines import draw_association, draw_message, draw_sequence
from orgflow.backends.svg.look import Look, Spots, build_look, shown_as
from orgflow.backends.svg.marks import num_text
from orgflow.backends.svg.style import style_sheet
from orgflow.backends.svg.words import draw_centred, escape_text, lines_of

from orgflow_ir.layout.keep import draw_model
from orgflow_ir.layout.planes import find_bounds, stack_planes
from orgflow_ir.layout.text import LINE, wrap_text
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
    Node,
    Opaque,
    Pool,
    SubProcess,
    Task,
)
from orgflow_ir.model.diagram import Diagram, Edge, Shape

_Drawn = Node | Pool | Lane | DataObject | Artifact | Flow | MessageFlow | DataFlow

_MARGIN = 20.0
_LONG_LABEL = 96.0


def element_ids(model: Model) -> frozenset[str]:
    """Ids of all drawable elements."""
    return frozenset(element.id for element in _list_elements(model))


def shown_ids(model: Model, drawing: Diagram) -> frozenset[str]:
    """Ids of all elements that a picture shows, directly or by a closed sub-process around them."""
    visible = shown_as(model, drawing)
    shown = {s.element for s in drawing.shapes} | {
        e.element for e in drawing.edges if len(e.waypoints) > 1
    }
    return frozenset(name for name in element_ids(model) if visible(name) in shown)


def _list_elements(model: Model) -> Iterator[_Drawn]:
    yield from model.pools
    yield from model.message_flows
    yield from model.artifacts
    for scope in model.scopes():
        yield from scope.nodes
        yield from scope.flows
        yield from scope.lanes
        yield from scope.data_objects
        yield from scope.data_flows
        yield from scope.artifacts


def render_model(
    model: Model,
    *,
    drawing: Diagram | None = None,
    theme: str = "auto",
    highlights: Mapping[str, Any] | None = None,
    taken: Collection[str] = (),
    marks: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
    findings: Sequence[Finding] = (),
) -> str:
    """`model` as self-contained SVG text; several can be in one HTML page.

    All elements are identified by id: nodes, flows, message flows, data, artifacts, lanes, pools.
    Unknown ids have no effect, but elements in a closed sub-process colour that.

    - `drawing`: positions (default: the model's own diagram, or a layout); pass the one from
      `orgflow_ir.layout.keep.draw_model` to draw several runs of one model with one layout
    - `theme`: `auto` (follows the reader's setting), `light`, `dark`
    - `highlights`: `error`, `warning` or `info` (or a `Severity`) of an element, for findings and
      for the place where a run left the model: coloured, with a badge; takes precedence over
      `taken`
    - `taken`: nodes and flows of a run: coloured, on top of the others
    - `marks`: a short text for a badge, such as the number of times that a node or flow was taken
      (`3`, `2×`)
    - `notes`: additional lines of an element's tooltip, such as a finding's message
    - `findings`: listed below the diagram, with their numbers on the elements and the run of the
      first one that has a run coloured, unless `taken` names another one

    Each element is a group `<g class="of-el …" data-element="ID">` for styles and scripts of the
    page around it. Raises `ValueError` for an unknown theme or severity.
    """
    drawing, headings = stack_planes(model, draw_model(model) if drawing is None else drawing)
    special = build_look(
        model, drawing, {**highest_severities(findings), **(highlights or {})},
        taken or run_of(findings),
        marks or {}, notes or {}, number_findings(findings),
    )  # fmt: skip
    elements = {element.id: element for element in _list_elements(model)}
    gateways = {k for k, e in elements.items() if isinstance(e, Gateway)}
    boxes = {s.element: s.bounds for s in drawing.shapes}
    body: list[str] = []
    for shape in sorted(drawing.shapes, key=lambda s: _element_layer(elements.get(s.element))):
        element = elements.get(shape.element)
        if element is not None and _element_layer(element) < 3:
            body += _draw_shape(element, shape, special, boxes)
    edges = [e for e in drawing.edges if e.element in elements and len(e.waypoints) > 1]
    spots = Spots(drawing, edges)
    for edge in sorted(edges, key=lambda e: special.rank(e.element)):
        body += _draw_edge(elements[edge.element], edge, special, gateways, spots)
    for shape in drawing.shapes:
        element = elements.get(shape.element)
        if element is not None and _element_layer(element) >= 3:
            body += _draw_shape(element, shape, special, boxes)
    body += _draw_labels(drawing, elements)
    for name, (x, y, _, h) in headings:
        body += lines_of([" ".join(name.split())], x, y + h / 2, "start", "of-bold")
    x, y, w, h = _drawing_extent(drawing)
    listed, wide, high = draw_legend(findings, x + _MARGIN, y + h - _MARGIN, w - 2 * _MARGIN)
    w, h = max(w, wide + 2 * _MARGIN if listed else 0), h + high
    body += listed
    title = " ".join(model.name.split()) or _first_name(model)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="of of-{theme}" role="img" '
        f'viewBox="{num_text(x)} {num_text(y)} {num_text(w)} {num_text(h)}" '
        f'width="{num_text(w)}" height="{num_text(h)}" '
        f'aria-label="{escape_text(title)}">'
    )
    return "\n".join(
        [
            head,
            f"<title>{escape_text(title)}</title>",
            f"<desc>{escape_text(_describe_model(model))}</desc>",
            f"<style>{style_sheet(theme)}</style>",
            f'<rect class="of-paper" x="{num_text(x)}" y="{num_text(y)}" width="{num_text(w)}" '
            f'height="{num_text(h)}"/>',
            *body,
            "</svg>\n",
        ]
    )


def _element_layer(element: _Drawn | None) -> int:
    """What lies below what: frames, open sub-processes, flows, nodes, boundary events."""
    match element:
        case Pool():
            return 0
        case Lane():
            return 1
        case SubProcess():
            return 2
        case Event():
            return 4 if element.position == "boundary" else 3
        case Task() | CallActivity() | Gateway() | Opaque() | DataObject() | Artifact():
            return 3
        case Flow() | MessageFlow() | DataFlow() | None:
            return 3
        case _:
            assert_never(element)


def _first_name(model: Model) -> str:
    named = [p.caption for p in model.pools] + [p.caption for p in model.processes]
    return named[0] if named else "process"


def _describe_model(model: Model) -> str:
    nodes = [n for scope in model.scopes() for n in scope.nodes]
    tasks = sum(isinstance(n, Task | CallActivity) for n in nodes)
    events = sum(isinstance(n, Event) for n in nodes)
    gateways = sum(isinstance(n, Gateway) for n in nodes)
    pools = ", ".join(p.caption for p in model.pools)
    text = f"A process diagram with {tasks} tasks, {events} events and {gateways} gateways"
    return f"{text}; pools: {pools}." if pools else f"{text}."


def _drawing_extent(drawing: Diagram) -> tuple[float, float, float, float]:
    left, top, right, bottom = find_bounds(_drawn_items(drawing))
    if (left, top, right, bottom) == (0.0, 0.0, 0.0, 0.0):
        return (0.0, 0.0, 2 * _MARGIN, 2 * _MARGIN)
    x, y = left - _MARGIN, top - _MARGIN
    return (x, y, right + _MARGIN - x, bottom + _MARGIN - y)


def _drawn_items(drawing: Diagram) -> tuple[Shape | Edge, ...]:
    return (*drawing.shapes, *drawing.edges)


def _draw_shape(
    element: _Drawn, shape: Shape, special: Look, boxes: Mapping[str, tuple[float, ...]]
) -> list[str]:
    inside = _draw_inside(element, shape, boxes)
    x, y, w, _ = shape.bounds
    near = 6.0 if isinstance(element, Event | Gateway) else 0.0  # words stand above
    badges = special.badges(element.id, x + w - near / 2, y + near)
    return [special.opening(element) + "".join((*inside, *badges)) + "</g>"]


def _draw_inside(
    element: _Drawn, shape: Shape, boxes: Mapping[str, tuple[float, ...]]
) -> list[str]:
    box = shape.bounds
    match element:
        case Pool():
            return draw.draw_pool(_fold_spaces(element.name), box, empty=element.process is None)
        case Lane():
            return draw.draw_lane(_fold_spaces(element.name), box)
        case SubProcess():
            return draw.draw_activity(element, box, expanded=_is_expanded(element, shape, boxes))
        case Task() | CallActivity():
            return draw.draw_activity(element, box, expanded=False)
        case Event():
            return draw.draw_event(element, box)
        case Gateway():
            return draw.draw_gateway(element, box)
        case DataObject():
            return draw.draw_data(element, box)
        case Artifact():
            return draw.draw_artifact(element, box, list(boxes.values()))
        case Opaque():
            return draw.draw_opaque(element, box)
        case Flow() | MessageFlow() | DataFlow():
            return []  # a shape that names a flow shows nothing
        case _:
            assert_never(element)


def _is_expanded(node: SubProcess, shape: Shape, boxes: Mapping[str, tuple[float, ...]]) -> bool:
    if shape.expanded is not None:
        return shape.expanded
    x, y, w, h = shape.bounds
    return any(
        n.id in boxes and x <= boxes[n.id][0] <= x + w and y <= boxes[n.id][1] <= y + h
        for n in node.nodes
    )


def _fold_spaces(name: str) -> str:
    return " ".join(name.split())


def _draw_edge(
    element: _Drawn, edge: Edge, special: Look, gateways: Collection[str], spots: Spots
) -> list[str]:
    points = edge.waypoints
    match element:
        case Flow():
            asks = element.condition is not None and element.source not in gateways
            inside = draw_sequence(
                points, default=element.default, conditional=asks, dashed=draw.has_doubt(element)
            )
        case MessageFlow():
            inside = draw_message(points)
        case DataFlow():
            inside = draw_association(points, start=False, end=True)
        case Artifact():
            both = element.direction == "both"
            inside = draw_association(points, start=both, end=both or element.direction == "one")
        case (
            Task() | CallActivity() | SubProcess() | Event() | Gateway() | Opaque()
            | Pool() | Lane() | DataObject()
        ):  # fmt: skip
            inside = []  # an edge that names no flow is no line
        case _:
            assert_never(element)
    if element.id in special.marks or element.id in special.highlights:
        x, y = spots.take(edge, special.badge_width(element.id))
        inside += special.badges(element.id, x, y)
    return [special.opening(element) + "".join(inside) + "</g>"]


def _draw_labels(drawing: Diagram, elements: Mapping[str, Element]) -> list[str]:
    """Words beside events, gateways, data and flows, on top of everything."""
    parts: list[str] = []
    for item in _drawn_items(drawing):
        element = elements.get(item.element)
        beside = isinstance(element, Event | Gateway | DataObject | Flow | MessageFlow)
        if element is None or not beside or not _fold_spaces(element.name):
            continue
        text = _fold_spaces(element.name)
        if item.label is not None:
            x, y, w, h = item.label
            block = wrap_text(text, max(w, 60.0), max(6, round(h / LINE)))
            parts += lines_of(block.lines, x + w / 2, y + LINE * 0.8, "middle", "of-halo")
            continue
        block = wrap_text(text, _LONG_LABEL, 6)
        if isinstance(item, Shape):
            x, y, w, h = item.bounds
            parts += lines_of(block.lines, x + w / 2, y + h + LINE, "middle", "of-halo")
        elif len(item.waypoints) > 1:
            (ax, ay), (bx, by) = _longest_piece(item)
            parts += draw_centred(
                block.lines, (ax + bx) / 2, (ay + by) / 2 - block.height / 2 - 3, "of-halo"
            )
    return parts


def _longest_piece(edge: Edge) -> tuple[tuple[float, float], tuple[float, float]]:
    pairs = list(zip(edge.waypoints, edge.waypoints[1:], strict=False))
    return max(pairs, key=lambda p: abs(p[0][0] - p[1][0]) + abs(p[0][1] - p[1][1]))
