"""BPMN DI: the diagram as XML (BPMN 2.0.2, 12), one plane for the pools and one for each separate
process; the source's own diagrams and planes are kept."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orgflow.backends.bpmn.collaboration import collaboration_id
from orgflow.backends.bpmn.format import BPMNDI, CONVENTIONAL, DC, DI, PLANE
from orgflow.backends.bpmn.kept import Shell, fill_shell, is_writable, parse_shell
from orgflow.backends.bpmn.writer import Writer
from orgflow.backends.bpmn.xml_text import INDENT, Child, start_tag, write_element

from orgflow_ir.model import Gateway, Process
from orgflow_ir.model.diagram import Diagram, Edge, Shape
from orgflow_ir.model.value import Extra

Box = tuple[float, float, float, float]
_ID = re.compile(r"""\sid\s*=\s*(?:"([^"]*)"|'([^']*)')""")


_DI_ID = f"@{{{BPMNDI}}}id"


def _shape_id(w: Writer, raw: str) -> str:
    """The id of a shape or edge as it is written: the one we made of an element's follows that."""
    return f"{w.id(raw[:-3])}_di" if raw.endswith("_di") else raw


class _Ids:
    """Ids that are free: XML has one set of ids for the model and its drawing."""

    def __init__(self, w: Writer, drawing: Diagram, written: Iterable[str]) -> None:
        self._taken = {w.id(w.model.id)}
        for text in (*written, *(value for _, value in w.model.extra)):
            self._taken.update(a or b for a, b in _ID.findall(text))
        items: tuple[Shape | Edge, ...] = (*drawing.shapes, *drawing.edges)
        for item in items:
            self._taken.update(_shape_id(w, v) for k, v in item.extra if k == _DI_ID)

    def free(self, wanted: str) -> str:
        """`wanted`, or with a number behind it; it is taken then."""
        free_id, number = wanted, 1
        while free_id in self._taken:
            number += 1
            free_id = f"{wanted}_{number}"
        self._taken.add(free_id)
        return free_id


def write_diagrams(
    w: Writer, drawing: Diagram, written: Iterable[str]
) -> tuple[list[str], list[int]]:
    """Every diagram, and the positions of kept ones in the model's kept data; `written` is the rest
    of the file, whose ids are taken."""
    ids = _Ids(w, drawing, written)
    key = f"{{{BPMNDI}}}BPMNDiagram"
    kept = [(at, xml) for at, (k, xml) in enumerate(w.model.extra) if k == key]
    by_plane = _by_plane(drawing if w.model.diagram is drawing else _mark_own(w, drawing, ids))
    texts: list[str] = []
    taken: list[int] = []
    plane = 0
    for at, xml in kept:
        outer = parse_shell(xml)
        if outer is None:
            continue
        taken.append(at)
        text, plane = _kept_diagram(w, outer, by_plane, plane)
        texts.append(text)
    for number, (name, items) in enumerate(_own_planes(w, by_plane, plane)):
        texts.append(_write_diagram(w, name, items, number + len(taken), ids))
    return texts, taken


def _kept_diagram(
    w: Writer, outer: Shell, by_plane: dict[int, list[Shape | Edge]], plane: int
) -> tuple[str, int]:
    children = []
    parts = []
    for part in outer.fragment.parts:
        ns = CONVENTIONAL.get(part.ns, part.ns)  # a prefix that we made is not declared in kept XML
        inner = parse_shell(part.raw) if (ns, part.local) == (BPMNDI, "BPMNPlane") else None
        if inner is None:
            parts.append(part)
            continue
        drawn = [Child(0, _write_item(w, item, 3)) for item in by_plane.pop(plane, [])]
        children.append(Child(0, fill_shell(w.keep, inner, "BPMNPlane", 2, drawn)))
        plane += 1
    rest = outer._replace(fragment=outer.fragment._replace(parts=tuple(parts)))
    return fill_shell(w.keep, rest, "BPMNDiagram", 1, children), plane


def _mark_own(w: Writer, drawing: Diagram, ids: _Ids) -> Diagram:
    """What the source did not draw itself gets an id, an exclusive gateway shows its cross."""
    source = w.model.diagram or Diagram()
    theirs = {*source.shapes, *source.edges}
    crossed = {
        n.id
        for scope in w.model.scopes()
        for n in scope.nodes
        if isinstance(n, Gateway) and n.gateway_kind == "exclusive"
    }
    cross = (f"@{{{BPMNDI}}}isMarkerVisible", "true")

    def mark_extra(item: Shape | Edge) -> Extra:
        named = (_DI_ID, ids.free(f"{w.id(item.element)}_di"))
        plane = tuple(pair for pair in item.extra if pair[0] == PLANE)
        return (*plane, named, cross) if item.element in crossed else (*plane, named)

    return Diagram(
        shapes=tuple(s if s in theirs else s.replace(extra=mark_extra(s)) for s in drawing.shapes),
        edges=tuple(e if e in theirs else e.replace(extra=mark_extra(e)) for e in drawing.edges),
    )


def _by_plane(drawing: Diagram) -> dict[int, list[Shape | Edge]]:
    items_by_plane: dict[int, list[Shape | Edge]] = {}
    items: tuple[Shape | Edge, ...] = (*drawing.shapes, *drawing.edges)
    for item in items:
        number = next((v for k, v in item.extra if k == PLANE), "0")
        items_by_plane.setdefault(int(number) if number.isdecimal() else 0, []).append(item)
    return items_by_plane


def _own_planes(
    w: Writer, by_plane: dict[int, list[Shape | Edge]], first: int
) -> list[tuple[str, list[Shape | Edge]]]:
    """What no kept plane holds, by the element whose plane it is drawn in."""
    model = w.model
    rest = [item for number in sorted(by_plane) for item in by_plane[number]]
    together = collaboration_id(w)
    in_pools = {pool.process for pool in model.pools}
    home: dict[str, str] = {}
    planes: dict[str, list[Shape | Edge]] = {}
    if together is not None:
        planes[together] = []
    for process in model.processes:
        if together is not None and process.id in in_pools:
            continue
        name = w.id(process.id)
        planes[name] = []
        for element_id in _ids_inside(process):
            home[element_id] = name
    if not planes:
        planes[w.id(model.id)] = []
    for item in rest:
        planes[home.get(item.element, next(iter(planes)))].append(item)
    if first:
        return [(name, items) for name, items in planes.items() if items]
    return list(planes.items())


def _ids_inside(process: Process) -> list[str]:
    ids = []
    for scope in process.scopes():
        for part in (scope.nodes, scope.flows, scope.lanes, scope.data_objects,
                     scope.data_flows, scope.artifacts):  # fmt: skip
            ids += [e.id for e in part]
    return ids


def _write_diagram(w: Writer, name: str, items: list[Shape | Edge], number: int, ids: _Ids) -> str:
    of = w.names.of
    base = ids.free(f"{w.id(w.model.id)}__diagram{'' if number == 0 else f'_{number + 1}'}")
    drawn = [Child(0, _write_item(w, item, 3)) for item in items]
    attributes = [("id", ids.free(f"{base}_plane")), ("bpmnElement", name)]
    plane = write_element(2, of(BPMNDI, "BPMNPlane"), attributes, drawn)
    return write_element(1, of(BPMNDI, "BPMNDiagram"), [("id", base)], [Child(0, plane)])


def _write_item(w: Writer, item: Shape | Edge, depth: int) -> str:
    of = w.names.of
    attributes: list[tuple[str, str | None]] = []
    children: list[Child] = []
    attributes.append(("bpmnElement", w.id(item.element)))
    if isinstance(item, Shape):
        tag = "BPMNShape"
        attributes += [("isHorizontal", _flag_text(item.horizontal)),
                       ("isExpanded", _flag_text(item.expanded))]  # fmt: skip
        children.append(
            Child(1, write_element(depth + 1, of(DC, "Bounds"), _box_attributes(item.bounds)))
        )
    else:
        tag = "BPMNEdge"
        for x, y in item.waypoints:
            point = [("x", number_text(x)), ("y", number_text(y))]
            children.append(Child(1, write_element(depth + 1, of(DI, "waypoint"), point)))
    if item.label is not None and not any(k == f"{{{BPMNDI}}}BPMNLabel" for k, _ in item.extra):
        bounds = write_element(depth + 2, of(DC, "Bounds"), _box_attributes(item.label))
        label = write_element(depth + 1, of(BPMNDI, "BPMNLabel"), (), [Child(0, bounds)])
        children.append(Child(2, label))
    more, kept = _write_kept(w, item.extra, depth)
    return write_element(depth, of(BPMNDI, tag), attributes, [*children, *kept], more=more)


def _write_kept(w: Writer, extra: Extra, depth: int) -> tuple[str, list[Child]]:
    """Kept attributes (those of the drawing's own namespace have no prefix) and elements."""
    more = ""
    children = []
    for key, value in extra:
        if key == PLANE or not is_writable(key, value):
            continue
        if key == _DI_ID:
            more += start_tag("", [("id", _shape_id(w, value))])[1:]
        elif key.startswith(f"@{{{BPMNDI}}}"):
            more += start_tag("", [(key.rpartition("}")[2], value)])[1:]
        elif key.startswith("@"):
            more += w.keep.attributes(((key, value),))
        else:
            ns, local = key[1:].split("}")
            first = 0 if local == "extension" else 2
            at = first if (ns, local) != (BPMNDI, "BPMNLabel") else 2
            children.append(Child(at, f"{INDENT * (depth + 1)}{w.keep.stripped(value)}\n"))
    return more, children


def _flag_text(value: bool | None) -> str | None:
    return None if value is None else str(value).lower()


def _box_attributes(box: Box) -> list[tuple[str, str]]:
    return [
        (name, number_text(v)) for name, v in zip(("x", "y", "width", "height"), box, strict=True)
    ]


def number_text(value: float) -> str:
    """A number without `.0` and without loss."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
