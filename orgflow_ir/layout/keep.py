"""The diagram of a model: usable parts of the source's diagram unchanged, the rest laid out.

Readers know the process by this diagram, so nothing in it is moved. Missing shapes are
added, and shapes that contradict the model (a flow whose line ends elsewhere, a shape without a
size) are replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgflow_ir.layout.cells import EVENT, data_size, node_size, note_size
from orgflow_ir.layout.compose import model_group
from orgflow_ir.layout.connect import connect_boxes
from orgflow_ir.layout.group import Box, Group
from orgflow_ir.layout.labels import boxes_overlap
from orgflow_ir.layout.planes import in_plane, plane_of
from orgflow_ir.model import Artifact, Event, Model, Node, Process, Scope, SubProcess
from orgflow_ir.model.diagram import Diagram, Edge, Shape

_FAR = 40.0
"""Maximum distance of the end of a line from its node; tools draw to the outline, the middle, or a
label."""
_MARGIN = (160.0, 80.0)
_WIDE = 2000.0
_LOOSE = 4.0
"""A diagram without lines (a canvas of nodes) that is wider or higher than `_WIDE` and takes this
many times the area of a layout is replaced by the layout."""


def draw_model(model: Model) -> Diagram:
    """The complete diagram of `model`."""
    kept = model.diagram
    if kept is None or not _shows_model(model, kept):
        return _laid_out(model, model_group(model))
    if _far_apart(kept):
        group = model_group(model)
        width, height = _measure_extent(kept)
        if width * height > _LOOSE * group.width * group.height:
            return _laid_out(model, group)
    return _Completion(model, kept).run()


def _laid_out(model: Model, group: Group) -> Diagram:
    diagram = as_diagram(group, *_MARGIN)
    return _Completion(model, diagram).around() if model.artifacts else diagram


def _far_apart(diagram: Diagram) -> bool:
    return not diagram.edges and max(_measure_extent(diagram)) > _WIDE


def _measure_extent(diagram: Diagram) -> tuple[float, float]:
    boxes = [s.bounds for s in diagram.shapes]
    return (
        max(x + w for x, _, w, _ in boxes) - min(x for x, _, _, _ in boxes),
        max(y + h for _, y, _, h in boxes) - min(y for _, y, _, _ in boxes),
    )


def as_diagram(group: Group, dx: float = 0.0, dy: float = 0.0) -> Diagram:
    """A diagram as values of the IR, shifted."""
    out = Group()
    out.add(group, dx, dy)
    shapes = [
        Shape(
            element=s.element, bounds=s.box, label=s.label, horizontal=s.horizontal,
            expanded=s.expanded,
        )
        for s in out.shapes
    ]  # fmt: skip
    edges = [Edge(element=t.element, waypoints=t.points, label=t.label) for t in out.strokes]
    return Diagram(shapes=tuple(shapes), edges=tuple(edges))


def _shows_model(model: Model, diagram: Diagram) -> bool:
    """Whether the diagram draws any node or pool of the model."""
    known = {s.element for s in diagram.shapes}
    nodes = (n.id for scope in model.scopes() for n in scope.nodes)
    return any(p.id in known for p in model.pools) or any(n in known for n in nodes)


class _Completion:
    def __init__(self, model: Model, diagram: Diagram) -> None:
        self.model = model
        nodes = {n.id for scope in model.scopes() for n in scope.nodes}
        self.shapes = [
            s
            for s in diagram.shapes
            if s.element not in nodes or (s.bounds[2] > 0 and s.bounds[3] > 0)
        ]
        self.edges = list(diagram.edges)
        self.boxes: dict[str, Box] = {}
        self.planes: dict[str, int] = {}
        for shape in self.shapes:
            if shape.element not in self.boxes:
                self.boxes[shape.element] = shape.bounds
                self.planes[shape.element] = plane_of(shape)
        self.plane = 0  # where what is added stands
        self.frames = {p.id for p in model.pools}
        self.frames |= {lane.id for scope in model.scopes() for lane in scope.lanes}
        self.added: list[Shape] = []

    def run(self) -> Diagram:
        self._whole_processes()
        for process in self.model.processes:
            self._complete_scope(process)
        self._add_pools()
        self._add_lines()
        return self.around()

    def around(self) -> Diagram:
        """With the artifacts of the collaboration: notes right of everything, and their lines."""
        for thing in self.model.artifacts:
            if thing.artifact_kind != "association" and thing.id not in self.boxes:
                self._add_note(thing)
        self._draw_lines(
            [t for thing in self.model.artifacts for t in _list_ends(thing)], flow=False
        )
        return Diagram(shapes=(*self.shapes, *self.added), edges=tuple(self.edges))

    def _add_note(self, thing: Artifact) -> None:
        boxes = self.boxes.values()
        boxed = [b for n, b in self.boxes.items() if n in self.frames] or list(boxes)
        x = max((b[0] + b[2] for b in boxed), default=0.0)
        size = note_size(thing)
        ends = [
            a.target if a.source == thing.id else a.source
            for a in self.model.artifacts
            if thing.id in (a.source, a.target)
        ]
        near = next((b for e in ends if (b := self._find_box(e or "")) is not None), None)
        y = min((b[1] for b in boxes), default=0.0)
        if near is not None:
            y = near[1] + near[3] / 2 - size[1] / 2
        self._put_shape(thing.id, size, (x + 40, y))

    # -- shapes

    def _whole_processes(self) -> None:
        """Processes that the drawing leaves out, below what it has."""
        left_out = [p for p in self.model.processes if p.nodes and not self._is_drawn(p)]
        absent = {p.id for p in left_out}
        pools = [
            p
            for p in self.model.pools
            if p.id not in self.boxes and (p.process in absent or p.process is None)
        ]
        inside = [p for p in self.model.pools if p.id in self.boxes and p.process in absent]
        if not left_out and not pools:
            return
        hidden = {p.process for p in inside}  # a pool drawn closed on purpose
        part = Model(
            id=self.model.id,
            processes=tuple(p for p in left_out if p.id not in hidden),
            pools=tuple(pools),
        )
        if not part.processes and not part.pools:
            return
        x, y = self._find_bottom()
        more = as_diagram(model_group(part), x, y)
        for shape in more.shapes:
            self._add_shape(shape)
        self.edges += more.edges

    def _is_drawn(self, process: Process) -> bool:
        return any(n.id in self.boxes for n in process.nodes)

    def _find_bottom(self) -> tuple[float, float]:
        boxes = self.boxes.values()
        return min(b[0] for b in boxes), max(b[1] + b[3] for b in boxes) + 60

    def _add_shape(self, shape: Shape) -> None:
        self.added.append(in_plane(shape, self.plane))
        self.boxes[shape.element] = shape.bounds
        self.planes[shape.element] = self.plane

    def _complete_scope(self, scope: Scope) -> None:
        """Nodes that are missing in a scope that is drawn; a closed sub-process stays closed."""
        home = next((n.id for n in scope.nodes if n.id in self.boxes), None)
        if home is not None:
            self.plane = self.planes[home]
            for node in scope.nodes:
                if node.id not in self.boxes:
                    self._place_node(scope, node)
            for value in scope.data_objects:
                loose = value.data_kind in ("reference", "store-reference")
                if loose and value.id not in self.boxes:
                    self._put_shape(value.id, data_size(value), self._find_bottom())
            for note in scope.artifacts:
                if note.artifact_kind == "annotation" and note.id not in self.boxes:
                    self._put_shape(note.id, note_size(note), self._find_bottom())
            self.plane = 0
        for node in scope.nodes:
            if isinstance(node, SubProcess):
                self._complete_scope(node)

    def _place_node(self, scope: Scope, node: Node) -> None:
        """Right of what leads to it, left of what it leads to, or below everything."""
        width, height = node_size(node)
        if isinstance(node, Event) and node.position == "boundary" and node.attached_to:
            host = self.boxes.get(node.attached_to)
            if host is not None:
                taken = sum(
                    1
                    for n in scope.nodes
                    if isinstance(n, Event)
                    and n.attached_to == node.attached_to
                    and n.id in self.boxes
                )
                x = host[0] + host[2] - 26 - EVENT / 2 - 44 * taken
                box = (max(x, host[0]), host[1] + host[3] - EVENT / 2, EVENT, EVENT)
                self._add_shape(Shape(element=node.id, bounds=box))
                return
        for flow in scope.flows:
            if flow.target == node.id and flow.source in self.boxes:
                x, y, w, h = self.boxes[flow.source]
                self._put_shape(node.id, (width, height), (x + w + 50, y + h / 2 - height / 2))
                return
        for flow in scope.flows:
            if flow.source == node.id and flow.target in self.boxes:
                x, y, w, h = self.boxes[flow.target]
                self._put_shape(node.id, (width, height), (x - 50 - width, y + h / 2 - height / 2))
                return
        self._put_shape(node.id, (width, height), self._find_bottom())

    def _put_shape(self, name: str, size: tuple[float, float], at: tuple[float, float]) -> None:
        """At a place, or as little below it as it takes to lie on nothing."""
        x, y = at
        box: Box = (x, y, *size)
        solid = [
            b
            for n, b in self.boxes.items()
            if n not in self.frames and self.planes[n] == self.plane and not _holds_box(b, box)
        ]
        while any(boxes_overlap(box, other, 10.0) for other in solid):
            y += 20
            box = (x, y, *size)
        self._add_shape(Shape(element=name, bounds=box))

    def _add_pools(self) -> None:
        """A pool that is missing around a process that is drawn."""
        for pool in self.model.pools:
            process = next((p for p in self.model.processes if p.id == pool.process), None)
            if pool.id in self.boxes or process is None:
                continue
            names = [*(n.id for n in process.nodes), *(lane.id for lane in process.lanes)]
            inside = [self.boxes[n] for n in names if n in self.boxes]
            if inside:
                left, top = min(b[0] for b in inside) - 60, min(b[1] for b in inside) - 30
                right = max(b[0] + b[2] for b in inside) + 30
                low = max(b[1] + b[3] for b in inside) + 40
                bounds = (left, top, right - left, low - top)
                self._add_shape(Shape(element=pool.id, bounds=bounds, horizontal=True))

    # -- lines

    def _add_lines(self) -> None:
        """Lines for flows that have none, or one that does not lead from node to node."""
        wanted: list[tuple[str, str, str]] = []
        for scope in self.model.scopes():
            wanted += [(f.id, f.source, f.target) for f in scope.flows]
        wanted += [(f.id, f.source, f.target) for f in self.model.message_flows]
        ends = {name: (source, target) for name, source, target in wanted}
        kept = []
        redraw: set[str] = set()
        for edge in self.edges:
            pair = ends.get(edge.element)
            if len(edge.waypoints) < 2 or (pair is not None and not self._fits_ends(edge, *pair)):
                redraw.add(edge.element)
            else:
                kept.append(edge)
        self.edges = kept
        self._draw_lines(wanted, flow=True)
        ties: list[tuple[str, str, str]] = []
        for scope in self.model.scopes():
            ties += [(f.id, f.source, f.target) for f in scope.data_flows]
            ties += [t for thing in scope.artifacts for t in _list_ends(thing)]
        self._draw_lines(ties, flow=False)

    def _draw_lines(self, wanted: Iterable[tuple[str, str, str]], *, flow: bool) -> None:
        """Lines for those of `wanted` (id, source, target) that have none, where both ends are."""
        have = {e.element for e in self.edges}
        holders = {s.id for s in self.model.scopes() if any(n.id in self.boxes for n in s.nodes)}
        solid = [
            (self.planes[n], b) for n, b in self.boxes.items() if n not in self.frames | holders
        ]
        for name, source, target in wanted:
            source_box, target_box = self._find_box(source), self._find_box(target)
            plane = self.planes.get(source, self.planes.get(target, 0))
            if name in have or source_box is None or target_box is None:
                continue
            if self.planes.get(target, plane) != plane:
                continue
            points = connect_boxes(
                source_box, target_box, [b for p, b in solid if p == plane], flow=flow
            )
            self.edges.append(in_plane(Edge(element=name, waypoints=points), plane))

    def _find_box(self, name: str) -> Box | None:
        """The box of a shape, or the middle of a line as a box without size."""
        if name in self.boxes:
            return self.boxes[name]
        edge = next((e for e in self.edges if e.element == name and len(e.waypoints) > 1), None)
        if edge is None:
            return None
        at = (len(edge.waypoints) - 1) // 2
        (ax, ay), (bx, by) = edge.waypoints[at : at + 2]
        return ((ax + bx) / 2, (ay + by) / 2, 0.0, 0.0)

    def _fits_ends(self, edge: Edge, source: str, target: str) -> bool:
        for name, point in ((source, edge.waypoints[0]), (target, edge.waypoints[-1])):
            box = self.boxes.get(name)
            near = box is None or _measure_distance(box, point) <= _FAR
            if not near and not any(
                _measure_distance(s, point) <= _FAR for s in self._list_boxes(name)
            ):
                return False
        return True

    def _list_boxes(self, name: str) -> Iterable[Box]:
        """All boxes of an element, in whatever plane."""
        return (s.bounds for s in self.shapes if s.element == name)


def _list_ends(thing: Artifact) -> Iterator[tuple[str, str, str]]:
    if thing.artifact_kind == "association" and thing.source and thing.target:
        yield thing.id, thing.source, thing.target


def _holds_box(outer: Box, inner: Box) -> bool:
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and inner[0] + inner[2] <= outer[0] + outer[2]
        and inner[1] + inner[3] <= outer[1] + outer[3]
    )


def _measure_distance(box: Box, point: tuple[float, float]) -> float:
    dx = max(box[0] - point[0], 0.0, point[0] - box[0] - box[2])
    dy = max(box[1] - point[1], 0.0, point[1] - box[1] - box[3])
    return max(dx, dy)
