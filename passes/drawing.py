"""Elements without a shape, or with overlapping shapes: rules of style on the diagram."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import Element, Event, Model, Opaque, Pool, Scope, SubProcess
from orgflow_ir.model.diagram import PLANE, Shape
from orgflow_ir.pipeline import Pass, PassContext, Stage

Box = tuple[float, float, float, float]


class MissingShape(Rule):
    """
    What it finds
        An element that is missing from the diagram. A model without any diagram has one finding.
    Why it is wrong
        The element is part of the process but invisible: modelling tools show only elements with a
        shape.
    Example
        <task id="a" name="Pack"/> without a BPMNShape for `a`
    Instead
        Add it to the diagram, or remove it.
    """

    code = "OF189"
    name = "missing-shape"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class OverlappingShapes(Rule):
    """
    What it finds
        Steps, events, gateways or pools that overlap in the diagram, or lie outside their pool or
        sub-process.
    Why it is wrong
        One hides the other; usually the hidden one was forgotten.
    Example
        `Pack` lies on top of `Check`.
    Instead
        Move one of them, or remove the forgotten one.
    """

    code = "OF190"
    name = "overlapping-shapes"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class Drawing(Pass):
    """Reports elements without a shape, or with overlapping shapes."""

    name: ClassVar[str] = "drawing"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (MissingShape, OverlappingShapes)
    looks_at_diagram: ClassVar[bool] = True

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        diagram = model.diagram
        if diagram is None:
            wanted = ctx.options.get("diagram")  # else nobody asked the reader for it
            if wanted and next(_list_visible(model), None) is not None:
                ctx.emit(
                    MissingShape,
                    "the model has no diagram",
                    element=model,
                    help="draw it in a modelling tool, or compile with `--target bpmn`, which "
                    "adds a diagram",
                )
            return model
        shapes = {s.element: s for s in diagram.shapes}
        drawn = shapes.keys() | {e.element for e in diagram.edges}
        for element in _list_visible(model):
            if element.id not in drawn:
                ctx.emit(
                    MissingShape,
                    f"{ctx.full_name(element)} is not drawn",
                    element=element,
                    help="draw the element, or remove it",
                )
        _check_pools(model, shapes, ctx)
        return model


def _list_visible(model: Model) -> Iterator[Element]:
    """What a diagram is to draw: data objects are drawn by their references."""
    yield from model.pools
    yield from model.message_flows
    for scope in model.scopes():
        yield from (n for n in scope.nodes if not isinstance(n, Opaque))
        yield from scope.flows
        yield from scope.lanes
        yield from (
            d for d in scope.data_objects if d.data_kind in ("reference", "store-reference")
        )
        yield from scope.artifacts
    yield from model.artifacts


def _check_pools(model: Model, shapes: dict[str, Shape], ctx: PassContext) -> None:
    _check_overlaps(model.pools, shapes, ctx)
    homes: dict[str, Pool] = {p.process: p for p in model.pools if p.process is not None}
    for process in model.processes:
        around = homes.get(process.id)
        stack: list[tuple[Scope, Element | None]] = [(process, around)]
        while stack:
            scope, outer = stack.pop()
            inside = [n for n in scope.nodes if not isinstance(n, Opaque)]
            _check_overlaps(inside, shapes, ctx)
            if outer is not None:
                _check_outside(inside, outer, shapes, ctx)
            for node in inside:
                if isinstance(node, SubProcess):
                    shape = shapes.get(node.id)
                    expanded = shape is not None and shape.expanded
                    stack.append((node, node if expanded else None))


def _check_overlaps(
    elements: Sequence[Element], shapes: dict[str, Shape], ctx: PassContext
) -> None:
    """Report each element that lies on one to its left; a sweep over the left edges."""
    placed = [(shapes[e.id], e) for e in elements if e.id in shapes]
    placed.sort(key=lambda pair: pair[0].bounds[0])
    for at, (shape, element) in enumerate(placed):
        for other, below in placed[at + 1 :]:
            if other.bounds[0] > shape.bounds[0] + shape.bounds[2]:
                break  # this one and all after it are drawn further to the right
            if _plane_of(shape) != _plane_of(other) or not _boxes_touch(shape.bounds, other.bounds):
                continue
            if _is_on(element, below) or _is_on(below, element):
                continue
            ctx.emit(
                OverlappingShapes,
                f"{ctx.name(element)} and {ctx.name(below)} overlap in the diagram",
                element=below,
                help="move one of them in the diagram in the diagram",
            )


def _check_outside(
    elements: Sequence[Element], outer: Element, shapes: dict[str, Shape], ctx: PassContext
) -> None:
    around = shapes.get(outer.id)
    if around is None:
        return
    left, top, width, height = around.bounds
    for element in elements:
        shape = shapes.get(element.id)
        if shape is None or _plane_of(shape) != _plane_of(around):
            continue
        x, y, w, h = shape.bounds
        if x < left or y < top or x + w > left + width or y + h > top + height:
            ctx.emit(
                OverlappingShapes,
                f"{ctx.name(element)} is drawn outside {ctx.name(outer)}",
                element=element,
                help=f"move it into {ctx.name(outer)}",
            )


def _plane_of(shape: Shape) -> str:
    return next((value for key, value in shape.extra if key == PLANE), "")


def _boxes_touch(first: Box, second: Box) -> bool:
    return (
        first[0] + first[2] >= second[0]
        and second[0] + second[2] >= first[0]
        and first[1] + first[3] >= second[1]
        and second[1] + second[3] >= first[1]
    )


def _is_on(event: Element, host: Element) -> bool:
    return isinstance(event, Event) and event.attached_to == host.id
