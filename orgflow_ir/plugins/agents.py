"""The contracts for agents: those that answer gaps, and those that produce a model with evidence.

An agent never changes a model. What it returns is data that orgflow checks: an answer becomes edits
of the one element that the gap is about, a model is validated and compared with its documents.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from orgflow_ir.diagnostics import RetiredRule, Rule
from orgflow_ir.model import Evidence, Model
from orgflow_ir.pipeline import PassContext

if TYPE_CHECKING:
    from orgflow_ir.analysis.gaps.gap import Gap, GapKind

GAP_KINDS: frozenset[str] = frozenset(
    ("task", "decision", "branch", "time", "message", "condition", "list")
)
"""The kinds of gaps that have an answer; the others only a person closes, in the drawing."""

MAX_ATTEMPTS = 10
"""No agent is asked more often about one gap."""


class Agent(ABC):
    """What both kinds of agents have: subclass `GapAgent` or `ModelAgent`, or both.

    An agent takes what it needs from `ctx.services`: a language model, a store, an embedder, a
    budget. `required` raises `MissingService` for one that does not exist, which ends the agent's
    work and is reported. One that takes long calls `ctx.services.cancellation.check()` now and
    then, and begins nothing new afterwards.
    """

    name: ClassVar[str]
    rules: ClassVar[tuple[type[Rule], ...]] = ()
    retired: ClassVar[tuple[RetiredRule, ...]] = ()
    summary: ClassVar[str] = ""


class Answer(NamedTuple):
    """An answer to a gap.

    Attributes:
        value: data in the form of the gap's `schema`, as `{"kind": "duration", "value": "PT2H"}`.
        evidence: the passages it rests on; the changed elements keep them.
    """

    value: Any
    evidence: tuple[Evidence, ...] = ()


class Refusal(NamedTuple):
    """An answer that was refused: whose it was, the answer, and why, as the end of a sentence."""

    agent: str
    value: Any
    reason: str


class GapAgent(Agent):
    """Answers gaps: what the source of a model does not contain."""

    kinds: ClassVar[frozenset[GapKind] | None] = None
    """The kinds of gaps it is asked about; `None` is all of them."""
    attempts: ClassVar[int] = 1
    """How often it is asked about one gap while its answers are refused."""

    @abstractmethod
    def answer(
        self, gap: Gap, model: Model, ctx: PassContext, refused: tuple[Refusal, ...]
    ) -> Answer | None:
        """The answer to a gap, `None` where it has none.

        Args:
            gap: what is asked; an answer has the form of its `schema`.
            model: the model with all answers that were accepted so far.
            ctx: services, options, and where to report to; its own context.
            refused: answers to this gap that were refused, of agents asked before and its own.
        """


class Document(NamedTuple):
    """A text that a model is made from; evidence cites it by `name`."""

    name: str
    text: str


class ModelAgent(Agent):
    """Produces a model from documents."""

    @abstractmethod
    def produce(self, documents: Sequence[Document], ctx: PassContext) -> Model | None:
        """A model of what the documents describe, every node with its evidence; `None` after it
        reported an error with the reason.

        What no document says is left open, so it becomes a gap. `documents` may be empty where the
        agent reads `ctx.services.store`; evidence then cites documents of the store.
        """
