"""An agent whose answers are written down: by kind of gap and element, one or several to try."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orgflow_ir.gaps import Gap
from orgflow_ir.model import Evidence, Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Answer, GapAgent, Refusal

Answers = Mapping[tuple[str, str], Any] | Callable[[Gap], Any]


class Scripted(GapAgent):
    """Gives the answer to a gap that is in `answers`; of a list the next one after each refusal."""

    summary = "answers that are written down"

    def __init__(
        self,
        answers: Answers,
        *,
        name: str = "scripted",
        attempts: int = 1,
        kinds: frozenset[Any] | None = None,
        evidence: tuple[Evidence, ...] = (),
    ) -> None:
        self.answers, self.evidence = answers, evidence
        self.name = name  # type: ignore[misc]  # one class, several agents
        self.attempts = attempts  # type: ignore[misc]
        self.kinds = kinds  # type: ignore[misc]
        self.questions: list[tuple[str, str, tuple[Refusal, ...]]] = []

    def answer(
        self, gap: Gap, model: Model, ctx: PassContext, refused: tuple[Refusal, ...]
    ) -> Answer | None:
        """The answer that is written down."""
        del model, ctx
        self.questions.append((gap.kind, gap.element.id, refused))
        if callable(self.answers):
            value = self.answers(gap)
        else:
            value = self.answers.get((gap.kind, gap.element.id))
        if isinstance(value, list):
            mine = sum(r.agent == self.name for r in refused)
            value = value[mine] if mine < len(value) else None
        return None if value is None else Answer(value, self.evidence)
