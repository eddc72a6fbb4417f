"""The pass `vague-label`: steps whose label does not say what is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import Model, Task
from orgflow_ir.pipeline import Pass, PassContext, Stage


class VagueStep(Rule):
    """
    What it finds
        A task whose label begins with a verb that fits everything.
    Why it is wrong
        Nobody can tell when the step is done, and no node can be chosen for it.
    Example
        Handle request
    Instead
        Check that the request is complete
    """

    code = "BOARD501"
    name = "vague-step"
    severity = Severity.INFO
    category = Category.GAP


@dataclass(frozen=True)
class VagueLabel(Pass):
    """Reports labels that begin with `handle`, `manage`, `process`, `deal with` …"""

    name: ClassVar[str] = "vague-label"
    stage: ClassVar[Stage] = Stage.ANALYSE
    rules: ClassVar[tuple[type[Rule], ...]] = (VagueStep,)
    verbs: str = "handle/manage/process/deal/do/perform"
    """The verbs, with `/` between them: `vague-label{verbs=handle/manage}`."""

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report; the model is given back as it is."""
        verbs = self.verbs.lower().split("/")
        for scope in model.scopes():
            for node in scope.nodes:
                words = node.name.lower().split()
                if isinstance(node, Task) and words and words[0] in verbs:
                    message = f"`{node.label}` does not say what is done: `{words[0]}` fits all"
                    help_text = "name the result, or the thing that somebody does"
                    ctx.emit(VagueStep, message, element=node, help=help_text)
        return model
