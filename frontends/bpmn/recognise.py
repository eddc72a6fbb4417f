"""The actual format of a file that is not BPMN 2.0, for a helpful message."""

from __future__ import annotations

import json
import re

from orgflow.frontends.bpmn.xml.bpmn_names import BPMN
from orgflow.frontends.xml.tree import XmlElement

_ARCHIVED = (
    (b"visio/document.xml", "a Visio drawing"),
    (b"word/document.xml", "a Word document"),
    (b"xl/workbook.xml", "an Excel workbook"),
    (b"ppt/presentation.xml", "a PowerPoint presentation"),
)
"""Names of files in archives, and the kinds of documents that have them."""
_MAGIC = (
    (b"PK\x03\x04", "a ZIP archive (an office document, a Visio drawing?)"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
)
_NAMESPACES = (
    ("/xpdl", "XPDL"),
    ("/dmn", "DMN, a decision model"),
    ("/cmmn", "CMMN, a case model"),
    ("www.w3.org/2000/svg", "an SVG picture"),
    ("www.w3.org/1999/xhtml", "a web page"),
    ("schemas.xmlsoap.org/wsdl", "WSDL, a service description"),
    ("www.w3.org/ns/wsdl", "WSDL, a service description"),
    ("/wsbpel", "BPEL"),
    ("schemas.microsoft.com/visio", "a Visio drawing"),
    ("schemas.microsoft.com/office/visio", "a Visio drawing"),
    ("schemas.microsoft.com/netfx", "a workflow of UiPath or Windows (XAML)"),
    ("business-process/", "BPEL"),
    ("www.w3.org/2001/xmlschema", "an XML schema"),
    ("jpdl", "jPDL"),
    ("pnml", "PNML, a Petri net"),
    ("purl.org/rss", "a news feed"),
    ("www.w3.org/2005/atom", "a news feed"),
)
_ROOTS = {
    "svg": "an SVG picture",
    "html": "a web page",
    "Package": "XPDL",
    "mxfile": "a draw.io drawing",
    "mxGraphModel": "a draw.io drawing",
    "VisioDocument": "a Visio drawing",
    "pnml": "PNML, a Petri net",
    "epml": "EPML, an event-driven process chain",
    "AML": "an ARIS export",
    "log": "XES, an event log",
    "plist": "a property list",
    "rss": "a news feed",
    "BusinessProcessDiagram": "BPMN 1.x in a tool's own format",
}


_BOMS = (b"\xff\xfe", b"\xfe\xff")
_DEFINITIONS = r"(?i)<([\w.-]+:)?definitions\b[^>]*bpmn"


def looks_like_bpmn(data: bytes) -> bool:
    """Whether the first bytes contain the namespace of BPMN or a root element that mentions it."""
    head = data[:8192]
    wide = b"\x00" in head[:4] or head[:2] in _BOMS
    text = head.decode("utf-16" if wide else "utf-8", "replace")
    return BPMN in text or re.search(_DEFINITIONS, text) is not None


def is_explained(data: bytes) -> bool:
    """Whether bytes that are not recognised are XML, or in a format that `binary_kind` names."""
    wide = data[:2] in _BOMS or data[:2] in (b"<\x00", b"\x00<")
    if wide or data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        return True
    return binary_kind(data) not in (None, "JSON")


def binary_kind(data: bytes) -> str | None:
    """The format of bytes that are clearly not XML; `None` if they may be XML."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            inside = (of for name, of in _ARCHIVED if magic[:2] == b"PK" and name in data)
            return next(inside, kind)
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:1] in (b"{", b"["):
        return _json_kind(data)
    if re.match(rb"<html\b|<!doctype html", head, re.I):
        return "a web page (the login page of a server?)"
    return None


def _json_kind(data: bytes) -> str:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return "JSON"
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, dict):
        if "stencilset" in first or ("stencil" in first and "childShapes" in first):
            return "a diagram of Signavio or Oryx (JSON)"
        if "StartAt" in first and "States" in first:
            return "a state machine in Amazon States Language"
        if "nodes" in first and "connections" in first:
            return "JSON, an n8n workflow"
        if "sequenceFlows" in first:
            return "PME JSON (--from pme)"
        if "processes" in first:
            return "the IR as JSON (--from ir)"
    return "JSON"


def doctype_kind(root: str) -> str | None:
    """The format of a document by the root element in its document type."""
    return _ROOTS.get(root) or _ROOTS.get(root.lower())


def xml_kind(root: XmlElement) -> str:
    """The format of an XML document by its root element."""
    space = root.ns.lower()
    for part, kind in _NAMESPACES:
        if part in space:
            return kind
    return _ROOTS.get(root.local) or f"XML with the root element `<{root.qname}>`"


_BPMN_ROOTS = frozenset(("definitions", "process", "collaboration"))
_INSIDE = frozenset(
    ("process", "collaboration", "choreography", "startEvent", "sequenceFlow", "task", "laneSet",
     "participant", "message")
)  # fmt: skip


def foreign_namespace(root: XmlElement) -> str | None:
    """The namespace of a document that is clearly BPMN except for its namespace (`""`: none)."""
    if root.ns == BPMN or root.local not in _BPMN_ROOTS:
        return None
    if "bpmn" in root.ns.lower() or root.ns == "":
        inside = any(c.local in _INSIDE and c.ns in (root.ns, BPMN) for c in root.children)
        named = "bpmn" in root.ns.lower()
        if inside or (named and root.local == "definitions"):
            return root.ns
    return None
