"""The BPMN backend: everything the IR can say, with a drawing."""

from __future__ import annotations

from orgflow_ir.model import Model
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import Legal, TargetSpec
from orgflow_ir.targets.artifact import Artifact

_TARGET = TargetSpec(
    executes=False,
    name="bpmn",
    constructs={name.partition(".")[0]: Legal() for name in CONSTRUCTS},
    options={"diagram": ("yes", "no")},
    wants_diagram=True,
)


class BpmnBackend(Backend):
    """Writes BPMN 2.0 XML that the `bpmn` frontend reads back as the same model.

    The source's drawing is kept; what has none is laid out. `diagram=no` leaves drawings out.
    """

    name = "bpmn"
    summary = "BPMN 2.0 XML with a diagram, for modelling tools and engines"

    @property
    def target(self) -> TargetSpec:
        """Every construct is legal."""
        return _TARGET

    def emit(self, model: Model, ctx: PassContext) -> tuple[Artifact, ...]:
        """One file, named after the model's source."""
        from orgflow.backends.bpmn.document import document

        from orgflow_ir.layout import drawn

        stem = SourceFile(model.source, b"").stem if model.source else ""
        stem = stem.strip("<>") or "model"
        drawing = None if ctx.options.get("diagram") == "no" else drawn(model)
        return (Artifact(f"{stem}.bpmn", document(model, drawing)),)
