"""From an XML tree to a model: the root element and its direct children."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow.backends.bpmn.format import NAMESPACE, ORGFLOW, XMLNS
from orgflow.frontends.bpmn.bpmn_reading import NAMED, NOTHING, Reading, describe_element
from orgflow.frontends.bpmn.collaboration import Collaborations
from orgflow.frontends.bpmn.diagram import read_diagrams
from orgflow.frontends.bpmn.input_rules import UnboundPrefix
from orgflow.frontends.bpmn.reading_rules import (
    DuplicateId,
    MisplacedElement,
    UnknownElement,
    UnmodelledBehaviour,
)
from orgflow.frontends.bpmn.scope import read_opaque, read_process
from orgflow.frontends.bpmn.specification import check_specification
from orgflow.frontends.bpmn.xml.bpmn_names import (
    ARTIFACTS,
    BPMN,
    BPMNDI,
    CATALOG,
    DATA,
    EVENT_DEFINITIONS,
    FLOW_NODES,
    HARMLESS_ROOTS,
    ILLEGAL_ROOTS,
)
from orgflow.frontends.bpmn.xml.document import BpmnDocument
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Catalog, CatalogEntry, Model, Opaque, Process
from orgflow_ir.model.diagram import Diagram
from orgflow_ir.model.value import Extra
from orgflow_ir.pipeline import PassContext

if TYPE_CHECKING:
    from orgflow.frontends.bpmn import schema_disposition
else:  # content that is not of the schema only
    schema_disposition = LazyModule("orgflow.frontends.bpmn.schema_disposition")

_CATALOG_ATTRIBUTES = {
    "message": NAMED | {"itemRef"},
    "signal": NAMED | {"structureRef"},
    "error": NAMED | {"errorCode", "structureRef"},
    "escalation": NAMED | {"escalationCode", "structureRef"},
}
_STRUCTURES = {"message": "itemRef"}
_CODES = {"error": "errorCode", "escalation": "escalationCode"}
_KEPT_ROOTS = frozenset(("documentation", "extensionElements", "import", "relationship"))


def read_model(document: BpmnDocument, file: str, ctx: PassContext) -> Model | None:
    """The model in a BPMN document, even an irregular one; findings are reported to `ctx`.

    `None` only for sub-processes nested deeper than a model allows.
    """
    return _Definitions(Reading(document, file, ctx)).read()


class _Definitions:
    def __init__(self, r: Reading) -> None:
        self.r = r
        self.processes: list[Process] = []
        self.catalog: dict[str, list[CatalogEntry]] = {name: [] for name in CATALOG.values()}
        self.collaborations = Collaborations()
        self.opaque: list[Opaque] = []
        self.definitions: list[XmlElement] = []
        self.diagrams: list[XmlElement] = []

    def read(self) -> Model | None:
        r, root = self.r, self.r.document.root
        content = [root] if root.local in ("process", "collaboration") else root.children
        if root.local == "definitions":
            r.stray(root)
        for node in content:
            self._root_element(node)
        if r.refused:
            return None
        diagram, shells = self._read_diagram()
        doc, extra = self._root_data(root)
        extra += tuple(self.collaborations.shells) + self._unused_definitions() + shells
        collaborations = self.collaborations
        model = Model(
            id=self._choose_identity(root),
            name=root.attrs.get("name", ""),
            doc=doc,
            loc=r.loc(root),
            evidence=r.root_evidence(root),
            extra=extra,
            source=r.file,
            processes=tuple(self.processes),
            pools=tuple(collaborations.pools),
            message_flows=tuple(collaborations.message_flows),
            catalog=Catalog(**{k: tuple(v) for k, v in self.catalog.items()}),
            correlation_keys=tuple(collaborations.keys),
            artifacts=tuple(collaborations.artifacts),
            opaque=tuple(self.opaque),
            diagram=diagram,
        )
        self._report_unbound()
        check_specification(r)
        return model

    def _root_element(self, node: XmlElement) -> None:
        r, local = self.r, node.local
        if node.ns != BPMN:
            if node.ns == BPMNDI and local == "BPMNDiagram":
                self.diagrams.append(node)
                r.elsewhere.add(node)
            return
        if local == "process":
            self._read_process(node)
        elif local == "collaboration":
            self.collaborations.read(r, node)
        elif local in CATALOG:
            self.catalog[CATALOG[local]].append(self._read_entry(node))
        elif local in EVENT_DEFINITIONS:
            self.definitions.append(node)
        elif local in HARMLESS_ROOTS or local in ILLEGAL_ROOTS:
            self.opaque.append(read_opaque(r, node, harmless=local in HARMLESS_ROOTS))
        elif local == "extension":
            if r.boolean(node, "mustUnderstand", False):
                r.report(
                    UnmodelledBehaviour,
                    f"the file marks its extension `{node.attrs.get('definition', '')}` as "
                    "must-understand; its data is kept, but its meaning is unknown",
                    node,
                    help="check that the process does not depend on it",
                )
        elif local not in _KEPT_ROOTS:
            self._report_unknown(node)

    def _report_unknown(self, node: XmlElement) -> None:
        r = self.r
        if node.local in schema_disposition.KNOWN_TAGS:
            harmless = node.local not in FLOW_NODES and node.local != "sequenceFlow"
            if harmless and node.local not in ARTIFACTS and node.local not in DATA:
                return  # `kept` reports and keeps it
            r.report(
                MisplacedElement,
                f"{describe_element(node)} is outside of every process",
                node,
                help="move it into a process",
            )
            self.opaque.append(read_opaque(r, node, harmless=harmless))
            return
        r.report(
            UnknownElement,
            f"`<{node.qname}>` is not an element of BPMN",
            node,
            help="remove it, or put it into `extensionElements`",
        )
        self.opaque.append(read_opaque(r, node, harmless=False))

    def _read_process(self, node: XmlElement) -> None:
        """Read a process and those nested in it, outer first."""
        waiting = [node]
        while waiting:
            current = waiting.pop(0)
            if current.local == "collaboration":
                self.collaborations.read(self.r, current)
                continue
            nested: list[XmlElement] = []
            self.processes.append(read_process(self.r, current, nested))
            waiting = nested + waiting

    def _read_entry(self, node: XmlElement) -> CatalogEntry:
        r, local = self.r, node.local
        return CatalogEntry(
            code=node.attrs.get(_CODES[local]) if local in _CODES else None,
            structure=r.ref(node, _STRUCTURES.get(local, "structureRef")),
            **r.base(node, _CATALOG_ATTRIBUTES[local], NOTHING),
        )

    def _root_data(self, root: XmlElement) -> tuple[str, Extra]:
        """Declared prefixes (but for those that were made by the writer), attributes, elements."""
        r = self.r
        made_prefixes = r.document.made_prefixes
        declared = tuple(
            (f"@{{{XMLNS}}}{key[6:] or key}", value)
            for key, value in root.attrs.items()
            if (key == "xmlns" or key.startswith("xmlns:"))
            and key[6:] not in made_prefixes
            and not value.startswith(ORGFLOW)
        )
        if root.local != "definitions":
            return "", declared
        modelled = frozenset(
            c.local
            for c in root.children
            if c.ns == BPMN and (c.local in CATALOG or c.local in EVENT_DEFINITIONS)
        )
        taken = modelled | HARMLESS_ROOTS | ILLEGAL_ROOTS | {"process", "collaboration"}
        misplaced = {
            o.tag.rpartition("}")[2] for o in self.opaque if o.tag.startswith(f"{{{BPMN}}}")
        }
        attributes = NAMED
        if root.attrs.get("targetNamespace") == NAMESPACE:
            attributes |= {"targetNamespace"}
        doc, extra = r.kept(root, attributes, taken | misplaced)
        return doc, declared + extra

    def _unused_definitions(self) -> Extra:
        """Event definitions of the root that no event refers to; the others are in their events."""
        r = self.r
        return tuple(
            (node.tag, r.document.standalone(node))
            for node in self.definitions
            if node.attrs.get("id", "").strip() not in r.used_definitions
        )

    def _read_diagram(self) -> tuple[Diagram | None, Extra]:
        if not self.r.ctx.options.get("diagram"):
            return None, ()
        return read_diagrams(self.r, self.diagrams)

    def _choose_identity(self, root: XmlElement) -> str:
        """The id of the definitions; a process or node of the same id keeps it."""
        r = self.r
        raw = root.attrs.get("id", "").strip() if root.local == "definitions" else ""
        if not raw:
            return r.fresh("definitions")
        if r.ids.get(raw) in (None, root):
            return raw
        number = 2
        while f"{raw}__{number}" in r.ids:
            number += 1
        r.report(
            DuplicateId,
            f"the root element has the id `{raw}`, which {describe_element(r.ids[raw])} has too",
            root,
            help="give one of them another id",
        )
        return f"{raw}__{number}"

    def _report_unbound(self) -> None:
        for prefix in self.r.document.unbound:
            start = prefix + ":"
            for node in self.r.document.elements:
                if node.qname.startswith(start) or any(k.startswith(start) for k in node.attrs):
                    self.r.report(
                        UnboundPrefix,
                        f"the prefix `{prefix}` is not declared",
                        node,
                        help=f'declare it on the root element: xmlns:{prefix}="…"',
                    )
                    break
