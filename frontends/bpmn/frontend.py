"""The BPMN 2.0 frontend. The reader is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow.frontends.bpmn.input_rules import INPUT_RULES
from orgflow.frontends.bpmn.reading_rules import READING_RULES
from orgflow.frontends.bpmn.specification_rules import SPECIFICATION_RULES

from orgflow_ir.diagnostics import Fix
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.collector import paused_collector
from orgflow_ir.plugins.contracts import Frontend

if TYPE_CHECKING:
    from orgflow.frontends.bpmn import definitions, missing_ids, opening, recognise
    from orgflow.frontends.bpmn import patch as file_patch
else:  # a frontend is loaded to recognise its files; the rest when it reads one
    definitions = LazyModule("orgflow.frontends.bpmn.definitions")
    missing_ids = LazyModule("orgflow.frontends.bpmn.missing_ids")
    opening = LazyModule("orgflow.frontends.bpmn.opening")
    file_patch = LazyModule("orgflow.frontends.bpmn.patch")
    recognise = LazyModule("orgflow.frontends.bpmn.recognise")


def leads_nowhere(model: Model) -> bool:
    """Whether a flow begins or ends at something other than a node of its scope."""
    for scope in model.scopes():
        nodes = {node.id for node in scope.nodes}
        ends = {f.source for f in scope.flows}.union([f.target for f in scope.flows])
        if not nodes.issuperset(ends):
            return True
    return False


class BpmnFrontend(Frontend):
    """Reads BPMN 2.0 XML, in any encoding, with any prefix.

    Options (`ctx.options`): `diagram` (keep the diagram), `max_bytes`, `max_depth`, `max_elements`
    (limits for hostile input).
    """

    name = "bpmn"
    suffixes = (".bpmn", ".bpmn20.xml", ".bpmn2", ".xml")
    rules = (*INPUT_RULES, *READING_RULES, *SPECIFICATION_RULES)
    summary = "BPMN 2.0 XML of any modelling tool"

    def sniff(self, source: SourceFile) -> bool:
        """By content; every file named `.bpmn` is accepted, so that faults are reported."""
        if source.suffix in (".bpmn", ".bpmn2") or source.path.lower().endswith(".bpmn20.xml"):
            return True

        return recognise.looks_like_bpmn(source.data)

    def explains(self, source: SourceFile) -> bool:
        """XML, and the formats of other modelling tools and of documents."""
        return recognise.is_explained(source.data)

    def may_hold(self, data: bytes, process: str) -> bool:
        """See `ProcessReader`: the literal id occurs in the bytes, except in two-byte encodings."""
        return process.encode() in data or b"\0" in data[:1024]

    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        """The model, or `None` if the file is not well-formed, not BPMN, or hostile."""

        def read_source() -> Model | None:
            document = opening.open_document(source, ctx)
            model = (
                definitions.read_model(document, source.path, ctx) if document is not None else None
            )
            if model is None:
                return None
            missing_ids.offer_ids(model, source.path, ctx)
            if model.diagram is None and leads_nowhere(model):
                model = with_drawing(model, source, ctx)
            return model

        def with_drawing(model: Model, source: SourceFile, ctx: PassContext) -> Model:
            """The diagram shows the intended ends of flows."""
            quiet = PassContext(registry=ctx.registry, options={**ctx.options, "diagram": True})
            document = opening.open_document(source, quiet)
            drawn = (
                definitions.read_model(document, source.path, quiet)
                if document is not None
                else None
            )
            return model.replace(diagram=drawn.diagram) if drawn is not None else model

        with paused_collector():  # `read` returns inside: the tree is gone when it comes back on
            return read_source()

    def patched(self, source: SourceFile, model: Model, fix: Fix) -> bytes:
        """See `Frontend`: only the affected elements and their shapes change."""
        return file_patch.apply_patch(source, model, fix)
