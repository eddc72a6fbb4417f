"""Data objects, data associations and artifacts (BPMN 2.0.2, 8.3.1 and 10.4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orgflow.backends.bpmn.format import child_rank
from orgflow.frontends.bpmn.bpmn_reading import NAMED, NOTHING, Reading
from orgflow.frontends.bpmn.own import is_placeholder
from orgflow.frontends.bpmn.xml.bpmn_names import ARTIFACTS, BPMN, DATA, DATA_ASSOCIATIONS
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.model import Artifact, DataFlow, DataObject

_DATA_ATTRIBUTES: dict[str, frozenset[str]] = {
    "dataObject": NAMED | {"itemSubjectRef", "isCollection"},
    "dataObjectReference": NAMED | {"itemSubjectRef", "dataObjectRef"},
    "dataStoreReference": NAMED | {"itemSubjectRef", "dataStoreRef"},
    "dataInput": NAMED | {"itemSubjectRef", "isCollection"},
    "dataOutput": NAMED | {"itemSubjectRef", "isCollection"},
}
_REFERENCES = {"dataObjectReference": "dataObjectRef", "dataStoreReference": "dataStoreRef"}
_DATA_CHILDREN = frozenset(("dataState",))


def read_data_object(r: Reading, node: XmlElement, kind: str | None = None) -> DataObject:
    """A data object, a reference to an object or a store, an input or output of a process."""
    local = node.local
    args = r.base(node, _DATA_ATTRIBUTES[local], _DATA_CHILDREN)
    own = r.own(node)
    reference = _REFERENCES.get(local)
    if reference:
        args["ref"] = r.ref(node, reference)
        r.known(node, args["ref"], None, "data store" if "Store" in local else "data object")
        args["collection"] = own.get("collection") == "true"
    else:
        args["collection"] = r.boolean(node, "isCollection", False)
    states = [c for c in node.children if c.local == "dataState" and c.ns == BPMN]
    if states:
        args["state"] = states[0].attrs.get("name")
        for number, state in enumerate(states):
            if number or state.children or set(state.attrs) - {"name"}:
                args["extra"] += ((state.tag, r.document.standalone(state)),)
    return DataObject(
        data_kind=kind or own.get("kind") or DATA[local],  # type: ignore[arg-type]  # known kinds
        type=r.ref(node, "itemSubjectRef"),
        **args,
    )


def read_io_specification(r: Reading, process: XmlElement, into: list[DataObject]) -> None:
    """Inputs and outputs of a process; its `ioSpecification` also stays in `extra`, since it
    defines which of them belong together."""
    for spec in process.children:
        if spec.local != "ioSpecification" or spec.ns != BPMN:
            continue
        for node in spec.children:
            if node.ns == BPMN and node.local in ("dataInput", "dataOutput"):
                into.append(read_data_object(r, node, node.local[4:].lower()))


_ASSOCIATION_CHILDREN = frozenset(("sourceRef", "targetRef", "transformation", "assignment"))


def read_data_associations(r: Reading, owner: XmlElement, name: str) -> list[DataFlow]:
    """Data flows into and out of the activity or event `owner`, whose id is `name`.

    The owner's own data inputs and outputs are kept as elements; the flow is between the node
    itself and the data object. Further sources of one association are kept as elements.
    """
    association_nodes = [n for n in owner.children if n.local in DATA_ASSOCIATIONS and n.ns == BPMN]
    if not association_nodes:
        return []
    association_nodes.sort(key=lambda n: n.local)  # inputs first, as the schema has them
    return [_read_association(r, node, name) for node in association_nodes]


def _is_plain_assignment(assignment: XmlElement, ends: Mapping[str, XmlElement]) -> bool:
    """Whether an assignment has nothing but the texts of its two ends."""
    return (
        not assignment.attrs
        and len(assignment.children) == len(ends) == 2
        and all(not end.attrs and not end.children for end in ends.values())
    )


def _is_empty_end(elements: list[XmlElement], r: Reading) -> bool:
    """Whether an input ends at a placeholder: it ends at nothing, but the schema wants an end."""
    if len(elements) != 1:
        return False
    end = r.ids.get(elements[0].text.strip())
    return end is not None and end.local == "property" and is_placeholder(end)


def _read_association(r: Reading, node: XmlElement, owner: str) -> DataFlow:
    args = r.base(node, frozenset(("id",)), _ASSOCIATION_CHILDREN)
    parts: dict[str, list[XmlElement]] = {local: [] for local in _ASSOCIATION_CHILDREN}
    for child in node.children:
        if child.ns == BPMN and child.local in parts:
            parts[child.local].append(child)
    inward = node.local == "dataInputAssociation"
    outer = parts["sourceRef"] if inward else parts["targetRef"]
    other = r.resolve(outer[0].text) if outer else None
    if other is not None:
        r.known(node, other, None, "data object")
    kept = [*(parts["targetRef"] if inward else parts["sourceRef"]), *outer[1:]]
    if inward and _is_empty_end(kept, r):
        kept = []
    mapping = []
    for assignment in parts["assignment"]:
        ends = {c.local: c for c in assignment.children if c.ns == BPMN}
        pair = [ends[end].text.strip() if end in ends else "" for end in ("from", "to")]
        mapping.append((pair[0], pair[1]))
        if not _is_plain_assignment(assignment, ends):
            kept.append(assignment)
    transformations = parts["transformation"]
    if transformations:
        args["transformation"] = r.expression(transformations[0])
        kept.extend(transformations if args["transformation"] is None else transformations[1:])
    kept.sort(key=lambda c: child_rank(node.local, c.ns, c.local))
    args["extra"] += tuple((c.tag, r.document.standalone(c)) for c in kept)
    return DataFlow(
        source=(other or "") if inward else owner,
        target=owner if inward else (other or ""),
        mapping=tuple(mapping),
        **args,
    )


def read_data_flow(r: Reading, node: XmlElement) -> DataFlow:
    """A data flow that is written as an association, since BPMN gives nodes no data associations
    there."""
    mapping = json.loads(r.own(node).get("mapping", "[]"))
    args = r.base(node, NAMED | _ENDS, NOTHING)
    return DataFlow(
        source=r.ref(node, "sourceRef") or "",
        target=r.ref(node, "targetRef") or "",
        mapping=tuple((str(a), str(b)) for a, b in mapping),
        **args,
    )


_ENDS = frozenset(("sourceRef", "targetRef", "associationDirection"))
_ARTIFACT_ATTRIBUTES: dict[str, frozenset[str]] = {
    "textAnnotation": NAMED,
    "group": NAMED,
    "association": NAMED | _ENDS,
}
_ARTIFACT_CHILDREN = {"textAnnotation": frozenset(("text",))}


def read_artifact(r: Reading, node: XmlElement) -> Artifact:
    """A text annotation, group or association. A group's text is that of its category value."""
    local = node.local
    args: dict[str, Any] = r.base(
        node, _ARTIFACT_ATTRIBUTES[local], _ARTIFACT_CHILDREN.get(local, NOTHING)
    )
    if local == "textAnnotation":
        texts = [c for c in node.children if c.local == "text" and c.ns == BPMN]
        if texts:
            args["text"] = r.text(texts[0])
        for number, text in enumerate(texts):
            if number or text.attrs or text.children:
                args["extra"] += ((text.tag, r.document.standalone(text)),)
    elif local == "group":
        args["text"] = r.own(node).get("text", "")
        value = r.ids.get(r.ref(node, "categoryValueRef") or "")
        if value is not None and value.local == "categoryValue":
            args["text"] = value.attrs.get("value", "")
    else:
        args["source"] = r.ref(node, "sourceRef")
        args["target"] = r.ref(node, "targetRef")
        for end in ("source", "target"):
            r.known(node, args[end], None, "element")
        way = r.choice(node, "associationDirection", ("None", "One", "Both"), "None")
        args["direction"] = way.lower()
    return Artifact(artifact_kind=ARTIFACTS[local], **args)
