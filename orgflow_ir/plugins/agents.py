"""The contracts of agents that answer gaps, and of agents that produce a model with evidence.

An agent never changes a model. It returns data that orgflow validates: an answer becomes edits of
the element with the gap, and a model is validated and compared with its documents.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from orgflow_ir.diagnostics import RetiredRule, Rule
from orgflow_ir.model import Evidence, Model
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext

if TYPE_CHECKING:
    from orgflow_ir.gaps.gap import Gap, GapKind

GAP_KINDS: frozenset[str] = frozenset(
    ("task", "decision", "branch", "time", "message", "condition", "list")
)
"""The kinds of gaps that have an answer; only a person can close the others, in the model."""

MAX_ATTEMPTS = 10
"""Maximum number of questions to one agent about one gap."""


class Agent(ABC):
    """Common base of both kinds of agents; subclass `GapAgent` or `ModelAgent`, or both.

    An agent takes the services that it needs from `ctx.services`: a language model, a store, an
    embedder, a budget. `required` raises `MissingService` for a missing service, which ends the
    agent's work and is reported. A slow agent calls `ctx.services.cancellation.check()` regularly,
    and starts no more work once it raises.
    """

    name: ClassVar[str]
    rules: ClassVar[tuple[type[Rule], ...]] = ()
    retired: ClassVar[tuple[RetiredRule, ...]] = ()
    summary: ClassVar[str] = ""


class Answer(NamedTuple):
    """An answer to a gap.

    Attributes:
        value: data that matches the gap's `schema`, such as `{"kind": "duration", "value":
            "PT2H"}`.
        evidence: the passages that support it; the changed elements keep them.
    """

    value: Any
    evidence: tuple[Evidence, ...] = ()


class Refusal(NamedTuple):
    """A rejected answer: the agent, the answer, and the reason as the end of a sentence."""

    agent: str
    value: Any
    reason: str


class GapAgent(Agent):
    """Answers gaps, that is, information that the source of a model does not contain."""

    kinds: ClassVar[frozenset[GapKind] | None] = None
    """The kinds of gaps that it is asked about; `None` for all."""
    attempts: ClassVar[int] = 1
    """The number of times that it is asked about one gap while its answers are rejected."""

    @abstractmethod
    def answer(
        self, gap: Gap, model: Model, ctx: PassContext, refused: tuple[Refusal, ...]
    ) -> Answer | None:
        """The answer to a gap; `None` if it has none.

        Args:
            gap: the gap; an answer matches its `schema`.
            model: the model with all answers that were accepted so far.
            ctx: its own context, with services, options, and `emit` for reports.
            refused: rejected answers to this gap, by the agent itself and by agents asked before
                it.
        """


class Document(NamedTuple):
    """A source text of a model; evidence cites it by `name`."""

    name: str
    text: str


class ModelAgent(Agent):
    """Produces a model from documents."""

    @abstractmethod
    def produce(self, documents: Sequence[Document], ctx: PassContext) -> Model | None:
        """A model of the described process, every node with its evidence; `None` after reporting an
        error with the reason.

        Information that no document contains is left open and becomes a gap. `documents` may be
        empty if the agent reads `ctx.services.store`; evidence then cites documents of the store.
        """
