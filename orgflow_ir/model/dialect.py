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
"""The names of engines in messages."""


class Dialect(Value):
    """The engine that runs a process; it determines the meaning of an element where BPMN leaves it
    open.

    `evidence` is the part of the source that identifies the engine, verbatim (`camunda:class`,
    `modeler:executionPlatform="Camunda Cloud"`), and `loc` is its place.
    """

    engine: Engine
    evidence: str = field(default="", compare=False)
    loc: SourceLocation | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The name of the engine in messages."""
        return ENGINE_NAMES[self.engine]
