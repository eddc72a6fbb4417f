"""Additions of orgflow's BPMN writer to a file, and elements that it writes only because the schema
requires them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orgflow.backends.bpmn.format import (
    KEPT,
    ORGFLOW,
    PLACEHOLDER,
    PLACEHOLDER_END,
    is_our_text,
)
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN
from orgflow.frontends.bpmn.xml.document import BpmnDocument
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.model import Evidence
from orgflow_ir.model.value import Extra

_POINTERS = ("Ref", "Refs", "incoming", "outgoing")


def own_attributes(node: XmlElement) -> dict[str, str]:
    """Data without a BPMN equivalent that the writer put into attributes of orgflow's namespace, by
    name."""
    own = {}
    for key, value in node.attrs.items():
        if ":" in key and not key.startswith("xmlns:"):
            ns, local = node.scope.attribute_name(key)
            if ns == ORGFLOW:
                own[local] = value
    return own


def own_extensions(node: XmlElement, local: str) -> Iterator[XmlElement]:
    """The elements of orgflow's namespace with this name in the `extensionElements` of an
    element."""
    for extensions in node.children:
        if extensions.local == "extensionElements" and extensions.ns == BPMN:
            for child in extensions.children:
                if child.ns == ORGFLOW and child.local == local:
                    yield child


def read_evidence(child: XmlElement) -> Evidence:
    """Evidence in the form of the writer. Raises `ValueError` if a place or a number is invalid."""
    attrs = child.attrs
    confidence = float(attrs["confidence"]) if "confidence" in attrs else None
    if confidence is not None and not 0 <= confidence <= 1:
        raise ValueError(f"the confidence {attrs['confidence']} is not between 0 and 1")
    return Evidence(
        document=attrs.get("document", ""),
        quote=child.text,
        span=_read_pair(attrs, "span"),
        lines=_read_pair(attrs, "lines"),
        confidence=confidence,
        agent=attrs.get("agent", ""),
    )


def _read_pair(attrs: Mapping[str, str], name: str) -> tuple[int, int] | None:
    if name not in attrs:
        return None
    first, last = map(int, attrs[name].split())
    return first, last


def kept_extensions(document: BpmnDocument, node: XmlElement) -> Extra:
    """The content of `extensionElements`, verbatim; data of orgflow's other frontends as text."""
    if node.text.strip() or any(not k.startswith("xmlns") for k in node.attrs):
        return ((node.tag, document.standalone(node)),)
    return tuple(
        _read_kept(document, child)
        for child in node.children
        if child.ns != ORGFLOW or child.local == KEPT
    )


def _read_kept(document: BpmnDocument, child: XmlElement) -> tuple[str, str]:
    if child.ns == ORGFLOW:
        return child.attrs.get("key", ""), child.text
    return child.tag, child.text if is_our_text(child.ns) else document.standalone(child)


def restore_ids(elements: Sequence[XmlElement]) -> None:
    """Ids that XML does not permit were replaced, and the original id was added."""
    own: dict[str, str] = {}
    for node in elements:
        if len(node.attrs) > 1 and "id" in node.attrs:
            name = own_attributes(node).get("id")
            if name is not None:
                own[node.attrs["id"]] = name
    if not own:
        return
    own.update([(f"{written}_di", f"{name}_di") for written, name in own.items()])
    for node in elements:
        for key, value in node.attrs.items():
            if value in own and key != "name" and ":" not in key:
                node.attrs[key] = own[value]
        if node.text in own and node.ns == BPMN and node.local.endswith(_POINTERS):
            node.text = own[node.text]


def redirect_references(process: XmlElement, old: str, new: str) -> None:
    """Let the references in a process to one id name another one."""
    for node in process.descendants():
        if node.ns != BPMN:
            continue
        for key, value in node.attrs.items():
            if key == "default" or key.endswith(_POINTERS):
                words = value.split()
                if old in words:
                    node.attrs[key] = " ".join(new if word == old else word for word in words)
        if node.local.endswith(_POINTERS) and node.text.strip() == old:
            node.text = new


def is_empty(node: XmlElement) -> bool:
    """Whether an expression is empty and exists only because the schema requires one."""
    return not node.text.strip() and not node.children and not node.attrs.keys() - {"xsi:type"}


def is_placeholder(node: XmlElement) -> bool:
    """Whether a property exists only as the end of a data association."""
    is_generated = node.attrs.get("id", "").endswith(PLACEHOLDER_END) and not node.children
    return is_generated and node.attrs.get("name") == PLACEHOLDER
