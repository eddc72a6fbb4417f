"""The BPMN backend: everything in the IR, with a diagram."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.model.provenance import all_elements, source_ids
from orgflow_ir.model.source import file_stem
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Legal, TargetSpec
from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap

if TYPE_CHECKING:
    from orgflow.backends.bpmn import document as bpmn_document
    from orgflow.backends.bpmn import edited_bindings, writer

    from orgflow_ir.layout import keep
else:  # a target is loaded for its name and options; the rest when it emits
    bpmn_document = LazyModule("orgflow.backends.bpmn.document")
    edited_bindings = LazyModule("orgflow.backends.bpmn.edited_bindings")
    writer = LazyModule("orgflow.backends.bpmn.writer")
    keep = LazyModule("orgflow_ir.layout.keep")

_TARGET = TargetSpec(
    executes=False,
    name="bpmn",
    constructs={name.partition(".")[0]: Legal() for name in CONSTRUCTS},
    options={"diagram": ("yes", "no")},
    wants_diagram=True,
)


class BpmnBackend(Backend):
    """Writes BPMN 2.0 XML that the `bpmn` frontend reads back as the same model.

    Extensions of an engine are written verbatim unless the binding was edited: then they are
    removed, and the binding is in BPMN's own attributes or in an element of orgflow's
    namespace.

    The source's diagram is kept; elements without shapes are laid out. `diagram=no` leaves drawings
    out.
    """

    name = "bpmn"
    summary = "BPMN 2.0 XML with a diagram, for modelling tools and engines"

    @property
    def target(self) -> TargetSpec:
        """Every construct is legal."""
        return _TARGET

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """One file, named after the model's source."""
        stem = file_stem(model.source)
        drawing = None if ctx.options.get("diagram") == "no" else keep.draw_model(model)
        path = f"{stem}.bpmn"
        text = bpmn_document.write_document(model, drawing)
        current = edited_bindings.without_outdated(model, text, ctx)
        if current is not model:
            text = bpmn_document.write_document(current, drawing)
        return Emitted(
            (Artifact(path, text),),
            SourceMap(model, lambda: _list_parts(model, path)),
        )


def _list_parts(model: Model, path: str) -> Iterator[Part]:
    """Every element by the XML id it is written with."""
    written = writer.Writer(model)
    for element in all_elements(model):
        place = written.id(element.id)
        yield Part(path, place, "shape", source_ids(element), element.caption, element.construct)
