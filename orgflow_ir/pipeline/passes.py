"""The contract of a pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import ClassVar

from orgflow_ir.diagnostics import RetiredRule, Rule
from orgflow_ir.model import Model
from orgflow_ir.model.records import dataclass
from orgflow_ir.pipeline.context import PassContext


class Stage(IntEnum):
    """When a pass runs; external passes run at the end of their stage, sorted by name."""

    VERIFY = 0
    ANALYSE = 1
    NORMALISE = 2
    LOWER = 3


@dataclass(frozen=True)
class Pass(ABC):
    """A step of a pipeline: a frozen dataclass whose fields are its options; it has no state. A
    subclass without options need not be decorated.

    A valid model remains valid; a pass that only analyses returns its input object. A pass with
    `looks_at_diagram` receives models with their diagram, which is omitted otherwise.
    """

    name: ClassVar[str]
    stage: ClassVar[Stage]
    rules: ClassVar[tuple[type[Rule], ...]] = ()
    retired: ClassVar[tuple[RetiredRule, ...]] = ()
    looks_at_diagram: ClassVar[bool] = False

    @abstractmethod
    def run(self, model: Model, ctx: PassContext) -> Model:
        """Analyse or rewrite `model`; report through `ctx.emit`."""
