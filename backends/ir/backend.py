"""The IR as JSON: everything is legal, nothing is dropped."""

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
    name="ir",
    constructs={name.partition(".")[0]: Legal() for name in CONSTRUCTS},
    wants_diagram=True,
)


class IrBackend(Backend):
    """Writes a model as `Model.to_json` does; the `ir` frontend reads exactly it back."""

    name = "ir"
    summary = "the process IR as JSON, for other programs and for tests"

    @property
    def target(self) -> TargetSpec:
        """Every construct is legal."""
        return _TARGET

    def emit(self, model: Model, ctx: PassContext) -> tuple[Artifact, ...]:
        """One file, named after the model's source."""
        stem = SourceFile(model.source, b"").stem if model.source else ""
        stem = stem.strip("<>") or "model"
        return (Artifact(f"{stem}.ir.json", model.to_json()),)
