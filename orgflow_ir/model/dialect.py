"""The engine that a process is written for, and the evidence in the source."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from orgflow_ir.model.source import SourceLocation
from orgflow_ir.model.value import Value

Engine = Literal["camunda7", "operaton", "flowable", "activiti", "camunda8", "jbpm"]

ENGINE_NAMES: dict[Engine, str] = {
    "camunda7": "Camunda 7", "operaton": "Operaton", "flowable": "Flowable",
    "activiti": "Activiti", "camunda8": "Camunda 8", "jbpm": "jBPM",
}  # fmt: skip
"""The engines as messages name them."""


class Dialect(Value):
    """The engine that runs a process: it decides what an element means where BPMN leaves it open.

    `evidence` is what of the source says so, as it stands there (`camunda:class`,
    `modeler:executionPlatform="Camunda Cloud"`), and `loc` where that is.
    """

    engine: Engine
    evidence: str = field(default="", compare=False)
    loc: SourceLocation | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The engine as messages name it."""
        return ENGINE_NAMES[self.engine]
