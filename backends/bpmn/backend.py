"""The BPMN backend: everything in the IR, with a diagram."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow_ir.model import Model
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.model.provenance import all_elements, source_ids
from orgflow_ir.model.source import file_stem
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Legal, TargetSpec
from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap

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
        from orgflow.backends.bpmn.document import write_document
        from orgflow.backends.bpmn.edited_bindings import without_outdated

        from orgflow_ir.layout.keep import draw_model

        stem = file_stem(model.source)
        drawing = None if ctx.options.get("diagram") == "no" else draw_model(model)
        path = f"{stem}.bpmn"
        text = write_document(model, drawing)
        current = without_outdated(model, text, ctx)
        if current is not model:
            text = write_document(current, drawing)
        return Emitted(
            (Artifact(path, text),),
            SourceMap(model, lambda: _list_parts(model, path)),
        )


def _list_parts(model: Model, path: str) -> Iterator[Part]:
    """Every element by the XML id it is written with."""
    from orgflow.backends.bpmn.writer import Writer

    written = Writer(model)
    for element in all_elements(model):
        place = written.id(element.id)
        yield Part(path, place, "shape", source_ids(element), element.caption, element.construct)
