"""The shared part of the writer: prefixes, kept data, ids, flows by their ends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orgflow.backends.bpmn.dialect import StatedDialects
from orgflow.backends.bpmn.format import BPMN, EVIDENCE, ORGFLOW, XSI, child_rank
from orgflow.backends.bpmn.kept import Keeper, find_kept, parse_fragment
from orgflow.backends.bpmn.xml_text import Attributes, Child, Names, ranked_child, write_element

from orgflow_ir.model import Element, EventDefinition, Expression, Flow, Model
from orgflow_ir.model.dialect import Engine
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.value import Extra

_Q_NAME = re.compile(r"([^\W\d][\w.\-]*:)?[^\W\d][\w.\-]*")
_NC_NAME = re.compile(r"[^\W\d][\w.\-]*")
_BAD = re.compile(r"[^\w.\-]")


class Writer:
    """State of one write; it does not outlive the call."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.names = Names(model.extra)
        self.keep = Keeper(self.names)
        self.dialects = StatedDialects(model, self.names)
        self.from_bpmn = any(k == f"@{{{BPMN}}}targetNamespace" for k, _ in model.extra)
        self.engine: Engine | None = None
        """That of the process which is being written."""
        self.incoming: dict[str, list[str]] = {}
        self.outgoing: dict[str, list[str]] = {}
        self.defaults: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        self._number_ids()
        for scope in model.scopes():
            for flow in scope.flows:
                self.outgoing.setdefault(flow.source, []).append(flow.id)
                self.incoming.setdefault(flow.target, []).append(flow.id)
                if flow.default:
                    self.defaults.setdefault(flow.source, flow.id)
        self.shared = _shared_definitions(model)
        self.root_definitions: dict[str, EventDefinition] = {}
        language = f"@{{{BPMN}}}expressionLanguage"
        self.language = next((v for k, v in model.extra if k == language), None)

    def _number_ids(self) -> None:
        """New ids for those that XML cannot have (`xsd:ID` is a name): escaped, then numbered."""
        held = {e.id for e in self.model.opaque}  # their text keeps the ids it has
        ids = [e.id for e in (self.model, *all_elements(self.model)) if e.id not in held]
        self.known = {*ids, *held}
        bad = [i for i in ids if not _NC_NAME.fullmatch(i)]
        taken = set(ids) if bad else set()
        for raw in dict.fromkeys(bad):
            plain = _BAD.sub(lambda m: f"_{ord(m.group()):x}_", raw)
            plain = wanted = plain if _NC_NAME.fullmatch(plain) else f"_{plain}"
            number = 1
            while plain in taken:
                number += 1
                plain = f"{wanted}_{number}"
            taken.add(plain)
            self._ids[raw] = plain

    def id(self, raw: str) -> str:
        """The written form of an id."""
        return self._ids.get(raw, raw)

    def ref(self, raw: str | None) -> str | None:
        """The written form of a reference."""
        return None if raw is None else self._ids.get(raw, raw)

    def pointer(self, local: str, raw: str | None) -> tuple[str, str | None]:
        """An attribute that refers to something by its qualified name; an invalid name, or one
        without an element in the model, is in an attribute of orgflow's namespace, unless it came
        from a BPMN file. A called process may be elsewhere."""
        if raw is None or self.from_bpmn:
            return local, self.ref(raw)
        if raw in self.known or (local == "calledElement" and _Q_NAME.fullmatch(raw)):
            return local, self.ref(raw)
        return self.names.of(ORGFLOW, local), raw

    def thing(
        self,
        depth: int,
        local: str,
        value: Element,
        attributes: Attributes = (),
        children: Iterable[Child] = (),
        *,
        named: bool = True,
        but: Iterable[int] = (),
        extra: Extra | None = None,
    ) -> str:
        """An element of the IR as the BPMN element `local`: id, name, `attributes`, documentation,
        kept data except the positions `but`, and `children`."""
        inside = list(children)
        kept = (value.extra if extra is None else extra) + self.evidence(value)
        inside += self.documentation(local, value.doc, kept, depth + 1)
        if kept:
            inside += self.keep.elements(kept, local, depth + 1, but)
        first: list[tuple[str, str | None]] = [("id", self.id(value.id))]
        if value.id in self._ids:
            first.append((self.names.of(ORGFLOW, "id"), value.id))
        if value.name:
            first.append(("name" if named else self.names.of(ORGFLOW, "name"), value.name))
        more = self.keep.attributes(kept) if kept else ""
        name = self.names.bpmn(local)
        return write_element(depth, name, [*first, *attributes], inside, more=more)

    def evidence(self, value: Element) -> Extra:
        """The passages that support an element, as extension elements of orgflow's namespace."""
        if not value.evidence:
            return ()
        name = self.names.of(ORGFLOW, EVIDENCE)
        passages = []
        for evidence in value.evidence:
            attributes = [
                ("document", evidence.document),
                (
                    "span",
                    None if evidence.span is None else f"{evidence.span[0]} {evidence.span[1]}",
                ),
                (
                    "lines",
                    None if evidence.lines is None else f"{evidence.lines[0]} {evidence.lines[1]}",
                ),
                ("confidence", None if evidence.confidence is None else repr(evidence.confidence)),
                ("agent", evidence.agent or None),
            ]
            text = write_element(0, name, attributes, text=evidence.quote).strip()
            passages.append((f"{{{ORGFLOW}}}{EVIDENCE}", text))
        return tuple(passages)

    def documentation(self, local: str, doc: str, extra: Extra, depth: int) -> list[Child]:
        """The first documentation, unless it is among the kept elements with its attributes."""
        others = find_kept(extra, "documentation") if extra else []
        if others:
            first = parse_fragment(others[0][1])
            marked = first is not None and (first.parts or _has_marks(first.attrs))
            if first is not None and marked and first.all_text == doc:
                return []
        elif not doc:
            return []
        text = write_element(depth, self.names.bpmn("documentation"), text=doc)
        return [ranked_child(local, "documentation", text)]

    def leaf(self, parent: str, local: str, text: str, depth: int) -> Child:
        """A child that holds only text."""
        return ranked_child(parent, local, write_element(depth, self.names.bpmn(local), text=text))

    def expression(
        self, parent: str, local: str, value: Expression | None, depth: int, *, formal: bool = True
    ) -> list[Child]:
        """An expression as the child `local`, with the type of formal ones."""
        if value is None:
            return []
        attributes: list[tuple[str, str | None]] = []
        if formal and not any(k == f"@{{{XSI}}}type" for k, _ in value.extra):
            kind = self.names.bpmn("tFormalExpression")
            attributes.append((self.names.of(XSI, "type"), kind))
        if value.language is not None and value.language != self.language:
            attributes.append(("language", value.language))
        inside = self.keep.elements(value.extra, "conditionExpression", depth + 1)
        more = self.keep.attributes(value.extra)
        name = self.names.bpmn(local)
        text = write_element(depth, name, attributes, inside, text=value.text, more=more)
        return [Child(child_rank(parent, BPMN, local), text)]


def _has_marks(attrs: dict[str, str]) -> bool:
    return any(not k.startswith("xmlns") for k in attrs)


def _shared_definitions(model: Model) -> frozenset[str]:
    """Ids of event definitions that several events have: they stand in the root."""
    seen: set[str] = set()
    again: set[str] = set()
    for scope in model.scopes():
        for node in scope.nodes:
            if node.kind == "event":
                for definition in node.definitions:
                    if definition.id is not None:
                        (again if definition.id in seen else seen).add(definition.id)
    return frozenset(again)


def flow_lists(w: Writer, parent: str, node: str, depth: int) -> list[Child]:
    """The `incoming` and `outgoing` flows of a node."""
    texts = []
    for local, table in (("incoming", w.incoming), ("outgoing", w.outgoing)):
        for flow in table.get(node, ()):
            texts.append(w.leaf(parent, local, w.id(flow), depth))
    return texts


def default_attribute(w: Writer, node: str) -> tuple[str, str | None]:
    """The `default` attribute of a node that may have one."""
    return "default", w.ref(w.defaults.get(node))


def sequence_flow(w: Writer, flow: Flow, depth: int, *, stated: bool) -> str:
    """A sequence flow; `stated`: its source names the default."""
    attributes: list[tuple[str, str | None]] = [
        ("sourceRef", w.id(flow.source)), ("targetRef", w.id(flow.target)),
    ]  # fmt: skip
    if flow.default and not (stated and w.defaults.get(flow.source) == flow.id):
        attributes.append((w.names.of(ORGFLOW, "default"), "true"))
    condition = w.expression("sequenceFlow", "conditionExpression", flow.condition, depth + 1)
    return w.thing(depth, "sequenceFlow", flow, attributes, condition)
