"""Data objects, data associations and artifacts as BPMN."""

from __future__ import annotations

import json
from typing import assert_never

from orgflow.backends.bpmn.format import ORGFLOW, PLACEHOLDER, PLACEHOLDER_END
from orgflow.backends.bpmn.kept import find_kept, kept_attribute, parse_fragment
from orgflow.backends.bpmn.writer import Writer
from orgflow.backends.bpmn.xml_text import Child, ranked_child, write_element

from orgflow_ir.model import (
    Artifact,
    CallActivity,
    DataFlow,
    DataObject,
    Event,
    Gateway,
    Node,
    Opaque,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.records import NamedTuple

_TAGS = {
    "object": ("dataObject", ""),
    "reference": ("dataObjectReference", "dataObjectRef"),
    "store": ("dataStoreReference", "dataStoreRef"),
    "store-reference": ("dataStoreReference", "dataStoreRef"),
    "input": ("dataInput", ""),
    "output": ("dataOutput", ""),
}
_ARTIFACT_TAGS = {"annotation": "textAnnotation", "group": "group", "association": "association"}


class Associations(NamedTuple):
    """Data flows by the node in which they are written, and those that no node can have."""

    of: dict[str, list[Child]]
    elsewhere: list[DataFlow]


def data_object(w: Writer, value: DataObject, depth: int) -> str:
    """A data object, a reference to one or to a store, an input or output."""
    tag, reference = _TAGS[value.data_kind]
    attributes: list[tuple[str, str | None]] = [w.pointer("itemSubjectRef", value.type)]
    if reference:
        attributes.append(w.pointer(reference, value.ref))
    if value.data_kind == "store":
        attributes.append((w.names.of(ORGFLOW, "kind"), "store"))
    if value.collection:
        name = w.names.of(ORGFLOW, "collection") if reference else "isCollection"
        attributes.append((name, "true"))
    children = []
    if value.state is not None and not _state_is_kept(value):
        text = write_element(depth + 1, w.names.bpmn("dataState"), [("name", value.state)])
        children.append(ranked_child(tag, "dataState", text))
    return w.thing(depth, tag, value, attributes, children)


def _state_is_kept(value: DataObject) -> bool:
    kept = find_kept(value.extra, "dataState")
    first = parse_fragment(kept[0][1]) if kept else None
    if first is None or first.attrs.get("name") != value.state:
        return False
    more = {k for k in first.attrs if k != "name" and not k.startswith("xmlns")}
    return bool(more or first.parts)


def input_output(w: Writer, scope: Scope, tag: str, depth: int) -> list[Child]:
    """Inputs and outputs of a process that no kept specification contains."""
    ends = [d for d in scope.data_objects if d.data_kind in ("input", "output")]
    if not ends or find_kept(scope.extra, "ioSpecification"):
        return []
    children = []
    refs: dict[str, list[Child]] = {"input": [], "output": []}
    for value in sorted(ends, key=lambda d: d.data_kind):
        kind: str = value.data_kind
        children.append(Child(0 if kind == "input" else 1, data_object(w, value, depth + 1)))
        local = w.names.bpmn(f"data{kind.capitalize()}Refs")
        refs[kind].append(Child(0, write_element(depth + 2, local, text=w.id(value.id))))
    for at, way in enumerate(("input", "output")):
        name = w.names.bpmn(f"{way}Set")
        children.append(Child(2 + at, write_element(depth + 1, name, (), refs[way])))
    text = write_element(depth, w.names.bpmn("ioSpecification"), (), children)
    return [ranked_child(tag, "ioSpecification", text)]


def data_associations(w: Writer, scope: Scope, depth: int) -> Associations:
    """The data flows of a scope as children of its nodes, at `depth`."""
    nodes = {node.id: node for node in scope.nodes}
    associations = Associations({}, [])
    for flow in scope.data_flows:
        source, target = nodes.get(flow.source), nodes.get(flow.target)
        if target is not None and _may_read(target) and not (source and _may_write(source)):
            owner, local = target, "dataInputAssociation"
        elif source is not None and _may_write(source):
            owner, local = source, "dataOutputAssociation"
        else:
            associations.elsewhere.append(flow)
            continue
        text = _write_association(w, flow, local, depth)
        children = associations.of.setdefault(owner.id, [])
        children.append(ranked_child("task", local, text))
        if local == "dataInputAssociation" and not find_kept(flow.extra, "targetRef"):
            named = [("id", _placeholder_id(w, flow)), ("name", PLACEHOLDER)]
            text = write_element(depth, w.names.bpmn("property"), named)
            children.append(ranked_child("task", "property", text))
    return associations


def _may_read(node: Node) -> bool:
    match node:
        case Event():
            return node.position in ("throw", "end")
        case Task() | CallActivity() | SubProcess():
            return True
        case Gateway() | Opaque():
            return False
        case _:
            assert_never(node)


def _may_write(node: Node) -> bool:
    match node:
        case Event():
            return node.position in ("start", "catch", "boundary")
        case Task() | CallActivity() | SubProcess():
            return True
        case Gateway() | Opaque():
            return False
        case _:
            assert_never(node)


def _placeholder_id(w: Writer, flow: DataFlow) -> str:
    return f"{w.id(flow.id)}{PLACEHOLDER_END}"


def _write_association(w: Writer, flow: DataFlow, local: str, depth: int) -> str:
    inward = local == "dataInputAssociation"
    outer = flow.source if inward else flow.target
    children = []
    if outer or not inward:
        end = "sourceRef" if inward else "targetRef"
        children.append(w.leaf(local, end, w.id(outer), depth + 1))
    if inward and not find_kept(flow.extra, "targetRef"):
        children.append(w.leaf(local, "targetRef", _placeholder_id(w, flow), depth + 1))
    children += w.expression(local, "transformation", flow.transformation, depth + 1, formal=False)
    kept = find_kept(flow.extra, "assignment")
    for source, target in flow.mapping:
        if kept and _read_ends(kept[0][1]) == (source, target):
            text = w.keep.verbatim(kept.pop(0)[1], depth + 1)
        else:
            pair = [
                Child(at, write_element(depth + 2, w.names.bpmn(end), text=value))
                for at, (end, value) in enumerate((("from", source), ("to", target)))
            ]
            text = write_element(depth + 1, w.names.bpmn("assignment"), (), pair)
        children.append(ranked_child(local, "assignment", text))
    unused = {at for at, _ in kept}
    but = [at for at, _ in find_kept(flow.extra, "assignment") if at not in unused]
    return w.thing(depth, local, flow, (), children, named=False, but=but)


def _read_ends(xml: str) -> tuple[str, str] | None:
    fragment = parse_fragment(xml)
    if fragment is None:
        return None
    ends = {p.local: p.text.strip() for p in fragment.parts}
    return ends.get("from", ""), ends.get("to", "")


def association_instead(w: Writer, flow: DataFlow, depth: int) -> str:
    """A data flow that BPMN does not permit in a node, as an association that names its kind."""
    attributes = [
        ("sourceRef", w.id(flow.source)), ("targetRef", w.id(flow.target)),
        ("associationDirection", "One"), (w.names.of(ORGFLOW, "kind"), "data-flow"),
    ]  # fmt: skip
    if flow.mapping:
        attributes.append((w.names.of(ORGFLOW, "mapping"), json.dumps(flow.mapping)))
    return w.thing(depth, "association", flow, attributes, named=False)


def write_artifact(w: Writer, value: Artifact, depth: int) -> str:
    """A text annotation, a group or an association."""
    tag = _ARTIFACT_TAGS[value.artifact_kind]
    attributes: list[tuple[str, str | None]] = []
    children = []
    if tag == "textAnnotation":
        if value.text and not _text_is_kept(value):
            children.append(w.leaf(tag, "text", value.text, depth + 1))
    elif tag == "group":
        if value.text and kept_attribute(value.extra, "categoryValueRef") is None:
            attributes.append((w.names.of(ORGFLOW, "text"), value.text))
    else:
        attributes += [("sourceRef", w.id(value.source or "")),
                       ("targetRef", w.id(value.target or ""))]  # fmt: skip
        way = None if value.direction == "none" else value.direction.capitalize()
        attributes.append(("associationDirection", way))
    return w.thing(depth, tag, value, attributes, children, named=False)


def _text_is_kept(value: Artifact) -> bool:
    kept = find_kept(value.extra, "text")
    first = parse_fragment(kept[0][1]) if kept else None
    if first is None or first.all_text != value.text:
        return False
    return bool(first.parts) or any(not k.startswith("xmlns") for k in first.attrs)
