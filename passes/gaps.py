"""Reports gaps: tasks without implementation, decisions without conditions, open times …"""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.diagnostics import Rule
from orgflow_ir.gaps import GAP_RULES, report_gaps
from orgflow_ir.model import Model
from orgflow_ir.pipeline import Pass, PassContext, Stage


class Gaps(Pass):
    """Reports information that the source does not contain."""

    name: ClassVar[str] = "gaps"
    stage: ClassVar[Stage] = Stage.ANALYSE
    rules: ClassVar[tuple[type[Rule], ...]] = GAP_RULES

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        report_gaps(model, ctx)
        return model
