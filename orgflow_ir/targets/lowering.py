"""The contract of a lowering."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext

if TYPE_CHECKING:
    pass


class Lowering(ABC):
    """Rewrites what a target cannot say into what it can.

    `consumes` are constructs (prefixes) it removes, `produces` those it may introduce; a lossy
    one names what it loses. `measure` is a natural number that every `apply` strictly lowers.
    """

    name: ClassVar[str]
    consumes: ClassVar[tuple[str, ...]]
    produces: ClassVar[tuple[str, ...]] = ()
    loses: ClassVar[str | None] = None

    @abstractmethod
    def measure(self, model: Model, ctx: PassContext) -> int:
        """How much is left to rewrite; 0 when nothing is."""

    @abstractmethod
    def apply(self, model: Model, ctx: PassContext) -> tuple[Model, tuple[str, ...]]:
        """The rewritten model and a line for each element rewritten (what became of it)."""


class AddedLowering(NamedTuple):
    """A lowering that a plugin adds to a target that is there already, by the target's name. It
    comes after the target's own lowerings, and never in place of what the target says itself."""

    target: str
    lowering: Lowering
