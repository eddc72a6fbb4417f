"""Opening a file: it is parsed and recognised as BPMN, or refused with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow.frontends.bpmn.input_rules import (
    EmptyInput,
    ForbiddenDoctype,
    NotBpmn,
    NotWellFormed,
    TooDeep,
    TooLarge,
    UnsupportedEncoding,
    WrongNamespace,
)
from orgflow.frontends.bpmn.recognise import (
    binary_kind,
    doctype_kind,
    foreign_namespace,
    xml_kind,
)
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN, BPMNDI
from orgflow.frontends.bpmn.xml.document import BpmnDocument
from orgflow.frontends.xml.parser import Limits, XmlFault

from orgflow_ir.diagnostics import Rule
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext

if TYPE_CHECKING:
    from orgflow.frontends.bpmn import schema_disposition
else:  # content that is not of the schema only
    schema_disposition = LazyModule("orgflow.frontends.bpmn.schema_disposition")

_FAULTS: dict[str, tuple[type[Rule], str]] = {
    "syntax": (NotWellFormed, "correct the file at this position, or export it again"),
    "empty": (EmptyInput, "export the model again"),
    "doctype": (ForbiddenDoctype, "delete the document type declaration; BPMN needs none"),
    "deep": (
        TooDeep,
        (
            "move inner sub-processes into their own processes and call them, or raise the option "
            "`max_depth`"
        ),
    ),
    "large": (TooLarge, "remove embedded documents, or raise `max_bytes` or `max_elements`"),
    "encoding": (UnsupportedEncoding, "save the file as UTF-8"),
}
_DRAWINGS = frozenset(((BPMNDI, "BPMNDiagram"),))


def open_document(source: SourceFile, ctx: PassContext) -> BpmnDocument | None:
    """The XML of a BPMN file; `None` with the reason if it is not well-formed, not BPMN, or
    hostile."""
    kind = binary_kind(source.data)
    if kind is not None:
        _report_not_bpmn(ctx, source, kind, 1, 1)
        return None
    options = ctx.options
    limits = Limits(
        **{k: int(options[k]) for k in ("max_bytes", "max_depth", "max_elements") if k in options}
    )
    try:
        document = BpmnDocument.parse(
            source.data, limits, frozenset() if options.get("diagram") else _DRAWINGS
        )
    except XmlFault as fault:
        picture = doctype_kind(fault.root) if fault.kind == "doctype" else None
        if picture is not None:
            _report_not_bpmn(ctx, source, picture, fault.line, fault.column)
            return None
        rule, help_text = _FAULTS[fault.kind]
        span = None if fault.offset is None else (fault.offset, fault.offset)
        loc = SourceLocation(
            file=source.path, line=fault.line or 1, column=fault.column or 1, span=span
        )
        ctx.emit(rule, fault.message, loc=loc, help=help_text)
        return None
    return document if _is_bpmn(document, source, ctx) else None


def _report_not_bpmn(
    ctx: PassContext, source: SourceFile, kind: str, line: int | None, column: int | None
) -> None:
    ctx.emit(
        NotBpmn,
        f"this is {kind}, not BPMN 2.0",
        loc=SourceLocation(file=source.path, line=line or 1, column=column or 1),
        help="export the model as BPMN 2.0 XML, or name another frontend with --from",
    )


def _is_bpmn(document: BpmnDocument, source: SourceFile, ctx: PassContext) -> bool:
    """Whether to read it as BPMN; elements with a wrong namespace are given the right one."""
    root = document.root
    wrong = foreign_namespace(root)
    if wrong is None:
        if root.ns != BPMN or root.local not in ("definitions", "process", "collaboration"):
            kind = f"a fragment, `<{root.qname}>`" if root.ns == BPMN else xml_kind(root)
            _report_not_bpmn(ctx, source, kind, root.line, root.column)
            return False
        if root.ns == BPMN and not any(c.ns == "" for c in root.children):
            return True
        wrong = ""

    first = None
    for node in document.elements:
        if node.ns == wrong and (wrong or node.local in schema_disposition.TAGS):
            node.ns = BPMN
            first = first or node
    if first is not None:
        _correct_declarations(document, wrong)
        shown = f"in the namespace `{wrong}`" if wrong else "in no namespace"
        ctx.emit(
            WrongNamespace,
            f"`<{first.qname}>` is {shown}, not in that of BPMN 2.0; it is read as BPMN",
            loc=SourceLocation(
                file=source.path,
                line=first.line,
                column=first.column,
                element=first.qname,
                span=(first.start, first.end),
            ),
            help=f"the namespace of BPMN 2.0 is {BPMN}",
        )
    return True


def _correct_declarations(document: BpmnDocument, wrong: str) -> None:
    """Let the right namespace be in force, so that what is kept of the file says it."""
    root = document.root
    for key, uri in root.attrs.items():
        if uri == wrong and (key == "xmlns" or key.startswith("xmlns:")):
            root.attrs[key] = BPMN
    for scope in {id(node.scope): node.scope for node in document.elements}.values():
        prefixes = {p: BPMN if uri == wrong else uri for p, uri in scope.prefixes.items()}
        scope.prefixes = prefixes if wrong else {"": BPMN, **prefixes}
