"""The whole file: root, catalogue, collaboration, processes, kept data, the diagram."""

from __future__ import annotations

import json

from orgflow.backends.bpmn.data import write_artifact
from orgflow.backends.bpmn.drawing_xml import write_diagrams
from orgflow.backends.bpmn.format import (
    BPMN,
    BPMNDI,
    COLLABORATION,
    EVIDENCE,
    NAMESPACE,
    ORGFLOW,
    child_rank,
)
from orgflow.backends.bpmn.kept import fill_shell, find_kept, kept_attribute, parse_shell
from orgflow.backends.bpmn.nodes import event_definition, write_opaque
from orgflow.backends.bpmn.scope import write_process
from orgflow.backends.bpmn.writer import Writer
from orgflow.backends.bpmn.xml_text import Child, ranked_child, write_element

from orgflow_ir.model import CatalogEntry, Element, MessageFlow, Model, Pool
from orgflow_ir.model.codec import to_data
from orgflow_ir.model.diagram import Diagram

_CODES = {"error": "errorCode", "escalation": "escalationCode"}
_ROOT = "definitions"


def write_document(model: Model, drawing: Diagram | None) -> str:
    """`model` as BPMN 2.0 XML, drawn as `drawing` says."""
    w = Writer(model)
    roots: list[str] = []
    for local, entries in (
        ("message", model.catalog.messages), ("signal", model.catalog.signals),
        ("error", model.catalog.errors), ("escalation", model.catalog.escalations),
    ):  # fmt: skip
        roots += [_write_entry(w, local, entry) for entry in entries]
    collaborations, taken = _write_collaborations(w)
    processes = [write_process(w, value, 1) for value in model.processes]
    definitions = [event_definition(w, d, 1) for d in w.root_definitions.values()]
    kept = [write_opaque(w, value, 1) for value in model.opaque]
    children = [
        Child(_root_rank("roots"), text)
        for text in (*kept, *roots, *definitions, *collaborations, *processes)
    ]
    if drawing is not None:
        drawn, more = write_diagrams(w, drawing, [c.text for c in children])
        children += [Child(child_rank(_ROOT, BPMNDI, "BPMNDiagram"), text) for text in drawn]
        taken += more
    children += w.documentation(_ROOT, model.doc, model.extra, 1)
    children += _kept_roots(w, taken)
    attributes: list[tuple[str, str | None]] = [("id", w.id(model.id))]
    if w.id(model.id) != model.id:
        attributes.append((w.names.of(ORGFLOW, "id"), model.id))
    attributes.append(("name", model.name or None))
    if model.evidence:  # the schema gives the root no extension elements
        passages = [to_data(evidence, exclude_none=True) for evidence in model.evidence]
        text = json.dumps(passages, ensure_ascii=False)
        attributes.append((w.names.of(ORGFLOW, EVIDENCE), text))
    if kept_attribute(model.extra, "targetNamespace") is None:
        attributes.append(("targetNamespace", NAMESPACE))
    if w.names.made_prefixes:
        attributes.append((w.names.of(ORGFLOW, "prefixes"), w.names.made_prefixes))
    more_attributes = w.keep.attributes(model.extra)
    declarations = [(f"xmlns:{p}" if p else "xmlns", uri) for p, uri in w.names.root.items()]
    name = w.names.bpmn(_ROOT)
    text = write_element(0, name, [*declarations, *attributes], children, more=more_attributes)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'


def _root_rank(local: str) -> int:
    return child_rank(_ROOT, BPMN, local)


def _kept_roots(w: Writer, taken: list[int]) -> list[Child]:
    """What is kept of the root, but for the positions in `taken`; event definitions that no event
    refers to are roots."""
    kept_children = w.keep.elements(w.model.extra, _ROOT, 1, taken)
    last = _root_rank("relationship") + 1
    return [c._replace(rank=_root_rank("roots")) if c.rank >= last else c for c in kept_children]


def _write_entry(w: Writer, local: str, entry: CatalogEntry) -> str:
    attributes: list[tuple[str, str | None]] = []
    if local in _CODES:
        attributes.append((_CODES[local], entry.code))
    structure = "itemRef" if local == "message" else "structureRef"
    attributes.append(w.pointer(structure, entry.structure))
    return w.thing(1, local, entry, attributes)


def _write_collaborations(w: Writer) -> tuple[list[str], list[int]]:
    """All collaborations, everything modelled in the first one unless it says where it belongs;
    and their positions in the kept data."""
    model, tag = w.model, "collaboration"
    children: dict[int, list[Child]] = {}

    def add_child(value: Element, local: str, text: str) -> None:
        number = next((v for k, v in value.extra if k == COLLABORATION), "0")
        at = int(number) if number.isdecimal() else 0
        children.setdefault(at, []).append(ranked_child(tag, local, text))

    for pool in model.pools:
        add_child(pool, "participant", _write_pool(w, pool))
    for flow in model.message_flows:
        add_child(flow, "messageFlow", _message_flow(w, flow))
    for thing in model.artifacts:
        add_child(thing, "association", write_artifact(w, thing, 2))
    for key in model.correlation_keys:
        refs = [
            w.leaf("correlationKey", "correlationPropertyRef", w.id(p), 3) for p in key.properties
        ]
        add_child(key, "correlationKey", w.thing(2, "correlationKey", key, (), refs))
    texts: list[str] = []
    taken: list[int] = []
    for at, xml in find_kept(model.extra, tag):
        kept = parse_shell(xml)
        if kept is not None:
            texts.append(fill_shell(w.keep, kept, tag, 1, children.pop(len(taken), [])))
            taken.append(at)
    rest = [c for number in sorted(children) for c in children[number]]
    if rest:
        name = f"{w.id(model.id)}__collaboration"
        texts.append(write_element(1, w.names.bpmn(tag), [("id", name)], rest))
    return texts, taken


def _write_pool(w: Writer, pool: Pool) -> str:
    children = []
    if pool.multiplicity is not None and not find_kept(pool.extra, "participantMultiplicity"):
        least, most = pool.multiplicity
        limits = [("minimum", str(least)), ("maximum", str(most))]
        text = write_element(3, w.names.bpmn("participantMultiplicity"), limits)
        children.append(ranked_child("participant", "participantMultiplicity", text))
    return w.thing(2, "participant", pool, [("processRef", w.ref(pool.process))], children)


def _message_flow(w: Writer, flow: MessageFlow) -> str:
    attributes = [
        ("sourceRef", w.id(flow.source)), ("targetRef", w.id(flow.target)),
        w.pointer("messageRef", flow.message),
    ]  # fmt: skip
    return w.thing(2, "messageFlow", flow, attributes)
