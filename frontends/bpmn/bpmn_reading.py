"""The shared part of the BPMN reader: ids, references, places, values, kept extension data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orgflow.backends.bpmn.format import DIALECT, EVIDENCE, NO_DIALECT, ORGFLOW, in_order
from orgflow.frontends.bpmn.dialect import Dialects
from orgflow.frontends.bpmn.own import (
    is_placeholder,
    kept_extensions,
    own_attributes,
    own_extensions,
    read_evidence,
    redirect_references,
    restore_ids,
)
from orgflow.frontends.bpmn.reading_rules import (
    DuplicateId,
    InvalidValue,
    MisplacedElement,
    MissingId,
    StrayText,
    UnknownAttribute,
    UnknownElement,
    UnknownReference,
)
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN, ELEMENTS, FLOW_NODES, XSI
from orgflow.frontends.bpmn.xml.document import BpmnDocument
from orgflow.frontends.xml.tree import XmlElement, element_label
from orgflow.frontends.xml.tree import describe_element as describe_element

from orgflow_ir.diagnostics import Related, Rule, Severity
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Evidence, Expression
from orgflow_ir.model.dialect import ENGINE_NAMES, Dialect
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.model.value import Extra
from orgflow_ir.pipeline import PassContext

if TYPE_CHECKING:
    from orgflow.frontends.bpmn import schema_disposition
else:  # content that is not of the schema only
    schema_disposition = LazyModule("orgflow.frontends.bpmn.schema_disposition")

NAMED = frozenset(("id", "name"))
NOTHING: frozenset[str] = frozenset()
SUPPRESS = "suppress"  # what people write: see orgflow_ir.reporting.suppression
_ECHOES = frozenset({"incoming", "outgoing", "documentation", "text"})
"""Elements whose text is an id that another element also states, or no id."""

_INTEGER = re.compile(r"[+-]?\d{1,18}")

_OF_ROOTS = frozenset(
    ("targetNamespace", "exporter", "exporterVersion", "expressionLanguage", "typeLanguage")
)
"""Attributes that BPMN defines for `definitions`, besides the common ones."""


class Reading:
    """State of one read: the document, its ids and flows, and the receiver of findings."""

    def __init__(self, document: BpmnDocument, file: str, ctx: PassContext) -> None:
        self.document = document
        self.file = file
        self.ctx = ctx
        self.ids: dict[str, XmlElement] = {}
        self.shared: set[str] = set()
        """Ids that several elements have: a shape of such an id may be of any of them."""
        self.flows: dict[str, tuple[str, str]] = {}
        self.sources: dict[str, int] = {}
        self.targets: dict[str, int] = {}
        self.event_definitions: dict[str, XmlElement] = {}
        self.used_definitions: set[str] = set()
        self.elsewhere: set[XmlElement] = set()
        self.refused = False
        self.dialect: Dialect | None = None
        self.language: str | None = document.root.attrs.get("expressionLanguage")
        self._renamed: dict[XmlElement, str] = {}
        self._counts: dict[str, int] = {}
        self._copies: dict[str, int] = {}  # the next number to try for an id given again
        self.ours = ORGFLOW in document.root.scope.prefixes.values()
        if self.ours:
            restore_ids(document.elements)
        self._index_document()

    def _index_document(self) -> None:
        """Ids and sequence flows of the whole document, before anything is read."""
        again: dict[str, list[XmlElement]] = {}
        ids = self.ids
        flows = []
        for node in self.document.elements:
            if node.ns != BPMN:
                continue
            if raw := node.attrs.get("id"):
                raw = raw.strip()
                if ids.setdefault(raw, node) is not node:
                    again.setdefault(raw, [ids[raw]]).append(node)
            if node.local == "sequenceFlow":
                flows.append(node)
        ids.pop("", None)
        again.pop("", None)
        for node in self.document.root.children:
            if node.local.endswith("EventDefinition") and node.ns == BPMN:
                self.event_definitions[node.attrs.get("id", "").strip()] = node
        for raw, nodes in again.items():
            self._resolve_duplicates(raw, nodes)
        for node in flows:
            source, target = self.ref(node, "sourceRef") or "", self.ref(node, "targetRef") or ""
            self.flows[self.claim(node)] = (source, target)
            self.sources[source] = self.sources.get(source, 0) + 1
            self.targets[target] = self.targets.get(target, 0) + 1

    def _resolve_duplicates(self, raw: str, all_nodes: list[XmlElement]) -> None:
        nodes = [n for n in all_nodes if n.local in ELEMENTS]
        if not nodes:
            return
        self.ids[raw] = nodes[0]
        homes = [self._process_of(node) for node in all_nodes]
        apart = None not in homes and len(set(homes)) == len(homes)
        around = [home for home in homes if home is not None]
        clear = apart and not self._is_named_outside(raw, around)
        for node in nodes[1:]:
            self.shared.add(raw)
            new = self._rename_element(node, raw, nodes[0], clear=clear)
            home = self._process_of(node)
            if apart and home is not None:
                redirect_references(home, raw, new)

    def _process_of(self, node: XmlElement) -> XmlElement | None:
        """The process that an element is in; `None` for a process, and what is in none."""
        inside = (p for p in self._list_processes if p.start < node.start and node.end <= p.end)
        return next(inside, None)

    @cached_property
    def _list_processes(self) -> list[XmlElement]:
        return [n for n in self.document.elements if n.local == "process" and n.ns == BPMN]

    def _is_named_outside(self, raw: str, processes: list[XmlElement]) -> bool:
        """Whether anything outside of some processes may name an id."""
        inside = {node for process in processes for node in process.descendants()}
        return raw in _list_words(node for node in self.document.elements if node not in inside)

    def _rename_element(
        self, node: XmlElement, raw: str, first: XmlElement, *, clear: bool = False
    ) -> str:
        """Read an element by another id than `raw`, which `first` has. `clear`: all references to
        the id are in the processes of those that share it, and mean the one in their own."""
        number = self._copies.get(raw, 2)
        while f"{raw}__{number}" in self.ids:
            number += 1
        self._copies[raw] = number + 1
        new = f"{raw}__{number}"
        self.ids[new] = node
        self._renamed[node] = new
        # Without a name, an element would be called by the id that the message is about.
        this = describe_element(node) if element_label(node) else f"a `<{node.qname}>`"
        that = describe_element(first) if element_label(first) else f"another `<{first.qname}>`"
        referenced = raw in self._referring_words
        where = " in another process" if clear else ""
        meant = "; references mean the one in their own process" if clear and referenced else ""
        self.report(
            DuplicateId,
            f"{this} has the id `{raw}`, which {that}{where} already has",
            node,
            help=f"give one of them another id; this one is read as `{new}`{meant}",
            severity=None if referenced and not clear else Severity.WARNING,
            related=(Related(message="the first one", loc=self.loc(first, raw)),),
        )
        return new

    @cached_property
    def _read_dialects(self) -> Dialects:
        return Dialects(self.document, self.file)

    def enter_process(self, node: XmlElement) -> None:
        """Set `dialect`, the engine of a process, before it is read."""
        stated = self.own(node).get(DIALECT)
        try:
            self.dialect = self._read_dialects.of(node, stated)
        except ValueError:
            self.dialect = dialect = self._read_dialects.of(node, None)
            wanted = ", ".join(f"`{engine}`" for engine in (*ENGINE_NAMES, NO_DIALECT))
            used = NO_DIALECT if dialect is None else dialect.engine
            self.invalid(node, f"orgflow:{DIALECT}", str(stated), f"one of {wanted}", used)

    @cached_property
    def _referring_words(self) -> frozenset[str]:
        """The words of the document that may name an id, so that one which two elements share
        could mean either. The lists of flows in their steps and the shapes of the diagram say
        nothing that is not known elsewhere."""
        return frozenset(_list_words(self.document.elements))

    def describe_part(self, node: XmlElement) -> str:
        """Like `describe_element`; a part without a name, such as the definition of an event, with
        the name of its element."""
        if element_label(node):
            return describe_element(node)
        owner = self._map_owners.get(node)
        return (
            describe_element(node)
            if owner is None
            else f"`<{node.qname}>` of {describe_element(owner)}"
        )

    @cached_property
    def _map_owners(self) -> dict[XmlElement, XmlElement]:
        """For each element the innermost flow node with a name around it."""
        owners: dict[XmlElement, XmlElement] = {}
        around: list[XmlElement] = []
        for element in self.document.elements:  # outer ones come first
            while around and around[-1].end < element.end:
                around.pop()
            if around:
                owners[element] = around[-1]
            if element.local in FLOW_NODES and element_label(element):
                around.append(element)
        return owners

    def claim(self, node: XmlElement) -> str:
        """The id of an element of the IR: its own, or a generated one. Idempotent."""
        raw = node.attrs.get("id", "")
        if raw and self.ids.get(raw) is node:
            return raw
        raw = raw.strip()
        renamed = self._renamed.get(node)
        if renamed is not None:
            return renamed
        if raw:
            first = self.ids.setdefault(raw, node)
            return raw if first is node else self._rename_element(node, raw, first)
        new = self.fresh(node.local)
        self.ids[new] = node
        self._renamed[node] = new
        if node.local in FLOW_NODES or node.local in ("process", "participant"):
            label = node.attrs.get("name", "").strip()
            self.ctx.emit(
                MissingId,
                f"`<{node.qname}>`{f' `{label}`' if label else ''} has no id",
                element=new,
                loc=self.loc(node, new),
                help=f"give it one; it is read as `{new}`",
            )
        return new

    def fresh(self, tag: str) -> str:
        """An unused id `tag_N`; the same for the same file."""
        number = self._counts.get(tag, 0) + 1
        while f"{tag}_{number}" in self.ids:
            number += 1
        self._counts[tag] = number
        return f"{tag}_{number}"

    def loc(self, node: XmlElement, name: str | None = None) -> SourceLocation:
        """The place of an element; `name` is its name in the format."""
        return SourceLocation(
            file=self.file,
            line=node.line,
            column=node.column,
            element=name or node.qname,
            span=(node.start, node.end),
        )

    def report(
        self,
        rule: type[Rule],
        message: str,
        node: XmlElement,
        *,
        help: str | None = None,
        related: Iterable[Related] = (),
        of: XmlElement | None = None,
        severity: Severity | None = None,
    ) -> None:
        """A finding at an element of the file, about that element or about `of`."""
        about = of or node
        name = self._renamed.get(about) or about.attrs.get("id", "").strip() or None
        self.ctx.emit(
            rule,
            message,
            element=name,
            loc=self.loc(node, name),
            help=help,
            related=related,
            severity=severity,
        )

    def base(
        self,
        node: XmlElement,
        attributes: frozenset[str] = NAMED,
        children: frozenset[str] = NOTHING,
    ) -> dict[str, Any]:
        """Common arguments of elements; the caller reads `attributes` and `children`."""
        name = self.claim(node)
        attrs = node.attrs
        doc, extra = (
            ("", ())
            if not node.children and attrs.keys() <= attributes
            else self.kept(node, attributes, children)
        )
        args: dict[str, Any] = {
            "id": name,
            "name": attrs.get("name") or self.own(node).get("name", ""),
            "doc": doc,
            "loc": self.loc(node, name),
            "extra": extra,
        }
        if self.ours and node.children and (evidence := self.evidence(node)):
            args["evidence"] = evidence
        return args

    def root_evidence(self, root: XmlElement) -> tuple[Evidence, ...]:
        """The passages that orgflow's writer put into an attribute of the root."""
        text = self.own(root).get(EVIDENCE)
        if text is None:
            return ()

        try:
            return tuple(Evidence.validate(item) for item in json.loads(text))
        except (TypeError, ValueError) as error:
            self._unreadable_evidence(root, root, error)
            return ()

    def evidence(self, node: XmlElement) -> tuple[Evidence, ...]:
        """The passages that orgflow's writer put into the extensions of an element."""
        passages = []
        for child in own_extensions(node, EVIDENCE):
            try:
                passages.append(read_evidence(child))
            except ValueError as error:
                self._unreadable_evidence(node, child, error)
        return tuple(passages)

    def _unreadable_evidence(self, node: XmlElement, at: XmlElement, error: Exception) -> None:
        self.report(
            InvalidValue,
            f"the evidence of {describe_element(node)} cannot be read: "
            f"{str(error).splitlines()[0]}",
            at,
            help="use the form that orgflow writes, or remove it",
            of=node,
        )

    def kept(
        self, node: XmlElement, attributes: frozenset[str], children: frozenset[str]
    ) -> tuple[str, Extra]:
        """Documentation, and all unmodelled content, verbatim.

        The first documentation is the text; it is also kept as an element if it has attributes or
        markup. Further ones are kept as elements.
        """
        doc: str | None = None
        extra: list[tuple[str, str]] = []
        if not node.attrs.keys() <= attributes:
            for key, value in node.attrs.items():
                if key not in attributes:
                    self._keep_attribute(node, key, value, extra)
        for child in node.children:
            if child.ns == BPMN:
                local = child.local
                if local in children:
                    continue
                if local == "documentation":
                    if doc is None:
                        doc = self.text(child)
                        if not child.attrs and not child.children:
                            continue
                elif local == "extensionElements":
                    extra.extend(kept_extensions(self.document, child))
                    continue
                elif local == "property" and is_placeholder(child):
                    continue
                else:
                    self._check_place(node, child)
            elif child in self.elsewhere:
                continue
            else:
                self._check_place(node, child)
            extra.append((child.tag, self.document.standalone(child)))
        if len(extra) > 1:
            extra = in_order(node.local, extra)
        return doc or "", tuple(extra)

    def own(self, node: XmlElement) -> dict[str, str]:
        """Attributes that orgflow's writer added, by name."""
        return own_attributes(node) if self.ours else {}

    def _keep_attribute(
        self, node: XmlElement, key: str, value: str, extra: list[tuple[str, str]]
    ) -> None:
        if key == "xmlns" or key.startswith("xmlns:"):
            return
        if ":" in key:
            ns, local = node.scope.attribute_name(key)
            if ns == ORGFLOW and local != SUPPRESS:  # our writer's, read elsewhere
                return
            extra.append((f"@{{{ns}}}{local}", value))
            return
        extra.append((f"@{{{BPMN}}}{key}", value))
        if node.local == "definitions" and key in _OF_ROOTS:
            return  # nearly every file has them: the table of the schema need not be read

        if key not in schema_disposition.attributes_of(node.local):
            self.report(
                UnknownAttribute,
                f"{describe_element(node)} has the attribute `{key}`, which BPMN does not "
                "define there",
                node,
                help="check its spelling; a tool's own attribute needs its own namespace",
            )

    def _check_place(self, parent: XmlElement, child: XmlElement) -> None:
        if parent.local in _ANY_CONTENT or (
            child.ns == BPMN and child.local in schema_disposition.children_of(parent.local)
        ):
            return
        if child.ns == BPMN and child.local in schema_disposition.KNOWN_TAGS:
            self.report(
                MisplacedElement,
                f"`<{child.qname}>` has no place in {describe_element(parent)}",
                child,
                help="it is kept but has no effect; move it to a place where BPMN allows it",
            )
            return
        self.report(
            UnknownElement,
            f"`<{child.qname}>` in {describe_element(parent)} is not an element of BPMN",
            child,
            help="put a tool's own data into `extensionElements`",
        )

    def stray(self, node: XmlElement) -> None:
        """Report text in an element that permits only elements."""
        text = node.text.strip()
        if text:
            self.report(
                StrayText,
                f"text between the elements of {describe_element(node)}: `{text[:40]}`",
                node,
                help="remove it, or make it a `documentation`",
            )

    def text(self, node: XmlElement) -> str:
        """All text in an element, stripped."""
        if not node.children:
            return node.text.strip()
        parts = (part.text.strip() for part in node.descendants())
        return "\n".join(filter(None, parts))

    def ref(self, node: XmlElement, attribute: str) -> str | None:
        """The id in an attribute, or `None`."""
        value = node.attrs.get(attribute)
        if value is None:
            return self.own(node).get(attribute)
        return self.resolve(value)

    def resolve(self, value: str) -> str | None:
        """The id in the text of a reference: a QName in the document's own namespace is its local
        name; one of another document is unchanged."""
        value = value.strip()
        if ":" in value and value not in self.ids:
            prefix, _, local = value.partition(":")
            if local in self.ids or prefix in self.document.target_prefixes:
                return local
        return value or None

    def known(
        self, node: XmlElement, value: str | None, table: Iterable[str] | None, what: str
    ) -> None:
        """Report a reference to a missing element; `table` (default: all ids) contains the existing
        ones."""
        if value is None or value in (self.ids if table is None else table):
            return
        if ":" in value:  # in another document
            return
        self.report(
            UnknownReference,
            f"{self.describe_part(node)} refers to the {what} `{value}`, which is not in the file",
            node,
            help="reference an element of this file, or remove the reference",
        )

    def boolean(self, node: XmlElement, attribute: str, default: bool) -> bool:
        """An `xsd:boolean`; an invalid value is reported."""
        value = node.attrs.get(attribute)
        if value is None:
            return default
        value = value.strip()
        if value in ("true", "1"):
            return True
        if value in ("false", "0"):
            return False
        meant = {"true": True, "false": False}.get(value.lower(), default)
        self.invalid(node, attribute, value, "`true` or `false`", str(meant).lower())
        return meant

    def integer(self, node: XmlElement, attribute: str, default: int | None) -> int | None:
        """An `xsd:integer` of at most 18 digits; an invalid value is reported."""
        value = node.attrs.get(attribute)
        if value is None:
            return default
        value = value.strip()
        if _INTEGER.fullmatch(value) and value.isascii():
            return int(value)
        self.invalid(node, attribute, value, "a whole number", str(default) if default else "none")
        return default

    def choice(
        self, node: XmlElement, attribute: str, values: tuple[str, ...], default: str
    ) -> str:
        """One of the given words; any other value is reported."""
        value = node.attrs.get(attribute, default).strip()
        if value in values:
            return value
        self.invalid(node, attribute, value, " or ".join(f"`{v}`" for v in values), default)
        return default

    def quantity(self, node: XmlElement, attribute: str) -> None:
        """Report a quantity that is not a whole number (values below 1 are reported by the rules of
        the specification); it is kept and counts as 1."""
        value = node.attrs[attribute].strip()
        if not (_INTEGER.fullmatch(value) and value.isascii()):
            self.invalid(node, attribute, value, "a whole number", "1")

    def invalid(self, node: XmlElement, attribute: str, value: str, wanted: str, used: str) -> None:
        """Report an attribute value of the wrong type."""
        self.report(
            InvalidValue,
            f"{self.describe_part(node)}: `{attribute}` is `{value}`, which is not {wanted}",
            node,
            help=f"write {wanted}; `{used}` is assumed",
        )

    def expression(self, node: XmlElement, *, blank: bool = False) -> Expression | None:
        """An expression with its language: its own, or the document's.

        `None` if there is neither text nor tool data in it (such as a script in a file) unless
        `blank`; the caller keeps such an element verbatim.
        """
        _, extra = self.kept(node, _EXPRESSION, NOTHING)
        extra = tuple(
            (key, value)
            for key, value in extra
            if key != f"@{{{XSI}}}type" or not value.endswith(("tFormalExpression", "tExpression"))
        )
        documented = tuple(
            (child.tag, self.document.standalone(child))
            for child in node.children
            if child.local == "documentation" and not child.attrs and not child.children
        )
        language = node.attrs.get("language", "").strip() or self.language
        text = node.text.strip()
        if not text and not blank and not any(BPMN not in key for key, _ in extra):
            return None
        return Expression(text=text, language=language, extra=extra + documented[:1])


_EXPRESSION = frozenset(("language",))
_ANY_CONTENT = frozenset(("documentation", "text", "script"))


def _list_words(elements: Iterable[XmlElement]) -> set[str]:
    """The words of elements that may name an id."""
    words: set[str] = set()
    for element in elements:
        if element.local not in _ECHOES:
            words.add(element.text.strip().rpartition(":")[2])
        for key, value in element.attrs.items():
            if key not in ("id", "name", "bpmnElement"):
                words.update(value.split())
    return words
