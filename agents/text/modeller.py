"""A process from a text with a language model: one draft, exact analysis, one repair if there are
errors, and at most one review of omissions and inventions; the best one is kept. With the option
`rounds`, the reviews are those of `orgflow.agents.text.rounds`.

The model only writes graph lines. Its output is read by a tolerant reader, checked by the same
passes as any model, and compared with the text; nothing is executed or trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from orgflow.agents.feedback import all_feedback
from orgflow.agents.language.sentences import Sentence, split_sentences
from orgflow.agents.model_client.answer_reading import fenced_text
from orgflow.agents.model_client.usage import Expected, estimate_tokens, message_texts
from orgflow.agents.prompting import render_prompt, visible_text
from orgflow.agents.text.coverage import Coverage, measure_coverage
from orgflow.agents.text.drafts import draft_errors, read_draft, report_unused
from orgflow.agents.text.rounds import (
    MOST_ROUNDS,
    ROUNDS,
    Point,
    expected_questions,
    meaning_points,
    select_points,
    share_of_runs,
)
from orgflow.agents.text.text_rules import DoubtfulDraft, NoSteps

from orgflow_ir.diagnostics import Diagnostic, Rule
from orgflow_ir.model import Model, Task
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import ModelClient
from orgflow_ir.pipeline.services import OverBudget, required
from orgflow_ir.plugins.agents import Document, ModelAgent

MAX_CHARACTERS = 60_000
"""Longer texts are refused, since a draft of one call cannot cover them."""

_MAX_FINDINGS = 8
_SHOWN = 80
"""Maximum number of characters of an answer in a message."""
_ELEMENT_LIMIT = 400
"""A draft with more steps, or with more than three per sentence, is not a draft of the text."""


class _Candidate(NamedTuple):
    """A draft that was read, with what is wrong about it."""

    lines: str
    model: Model | None
    faults: tuple[str, ...]
    covered: Coverage | None
    errors: tuple[Diagnostic, ...] = ()

    @property
    def badness(self) -> tuple[int, int]:
        """Errors first, then what a reviewer would ask about."""
        if self.model is None or self.covered is None:
            return (1_000_000, 0)
        return (len(self.faults), self.covered.faults)


class TextModeller(ModelAgent):
    """Drafts a process from a text with the language model of the context."""

    name = "text"
    summary = (
        "a process from a text, drafted by a language model, checked and compared with the text"
    )
    rules: ClassVar[tuple[type[Rule], ...]] = (NoSteps, DoubtfulDraft)

    def produce(self, documents: Sequence[Document], ctx: PassContext) -> Model | None:
        """The best draft of at most three calls, or of the requested rounds; raises the exceptions
        of `ModelClient.ask`."""
        client = required(ctx.services.model, "language model")
        text = "\n\n".join(document.text for document in documents)
        document = documents[0] if len(documents) == 1 else Document("texts", text)
        sentences = split_sentences(document.text)
        if not sentences or len(document.text) > MAX_CHARACTERS:
            long = f"has more than {MAX_CHARACTERS:,} characters"
            ctx.emit(
                NoSteps, f"the text {long if sentences else 'is empty'}",
                loc=SourceLocation(file=document.name), help="describe only one process in it",
            )  # fmt: skip
            return None
        messages = draft_messages(sentences, all_feedback(ctx))
        best = self._build_candidate(client.ask(messages).text, document, sentences, ctx)
        rounds = ctx.options.get(ROUNDS, 0)
        plan = _Rounds(rounds, client, ctx) if rounds else _Reviews()
        while True:
            ctx.services.cancellation.check()
            try:
                asked = plan.next_prompt(best)
                if asked is None:
                    break
                conversation = [
                    *messages,
                    {"role": "assistant", "content": best.lines},
                    {"role": "user", "content": asked},
                ]
                again = client.ask(conversation).text
            except OverBudget:  # what there is stands; the draft was paid for
                break
            other = self._build_candidate(again, document, sentences, ctx)
            if other.badness < best.badness or (rounds and other.badness == best.badness):
                best = other  # what was said of the meaning shows in no count
        return self._finish_model(best, document, ctx)

    def _build_candidate(
        self, answer: str, document: Document, sentences: tuple[Sentence, ...], ctx: PassContext
    ) -> _Candidate:
        lines = "\n".join(visible_text(fenced_text(answer)).splitlines()[: _ELEMENT_LIMIT * 4])
        model, findings = read_draft(lines, document, sentences, self.name, ctx)
        if model is None:
            return _Candidate(lines, None, ("there is no line such as `T1 -> T2`",), None)
        steps = sum(isinstance(n, Task) for p in model.processes for n in p.nodes)
        most = min(_ELEMENT_LIMIT, 3 * len(sentences) + 10)
        if steps > most:
            return _Candidate(lines, None, (f"there are {steps} steps; at most {most}",), None)
        unread = [_describe_finding(d) for d in findings]
        errors = draft_errors(model, ctx)
        faults = (*map(_describe_error, errors), *unread)
        return _Candidate(lines, model, faults, measure_coverage(model, sentences), errors)

    def _finish_model(self, best: _Candidate, document: Document, ctx: PassContext) -> Model | None:
        """The model, with what stays doubtful reported."""
        if best.model is None or best.covered is None:
            begins = one_line(best.lines)[:_SHOWN]
            answer = f"its answer begins “{begins}”" if begins else "its answer is empty"
            ctx.emit(
                NoSteps, f"the language model returned no process graph: {answer}",
                loc=SourceLocation(file=document.name),
                help="use another model, or draft by rules with --no-model",
            )  # fmt: skip
            return None
        report_unused(best.covered.unused, document, ctx)
        for label, words in best.covered.foreign[:_MAX_FINDINGS]:
            shown = ", ".join(f"`{word}`" for word in words[:4])
            ctx.emit(
                DoubtfulDraft, f"`{label}` contains words that do not occur in the text: {shown}",
                help="compare the element with the text",
            )  # fmt: skip
        return best.model


def draft_messages(
    sentences: tuple[Sentence, ...], feedback: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """The conversation that requests a draft: the rules, the fenced text, and the failures of an
    earlier draft."""
    numbered = "\n".join(
        f"{'title' if s.heading else f's{s.number}'} {' '.join(s.text.split())}" for s in sentences
    )
    document = render_prompt("text_document", sentences=numbered)
    if feedback:
        document += "\n" + render_prompt("text_feedback", feedback=feedback)
    return [
        {"role": "system", "content": render_prompt("text_draft")},
        {"role": "user", "content": document},
    ]


def expected_drafting(text: str, rounds: int = 0) -> Expected:
    """The approximate usage of drafting a text if every answer is as long as the text: three calls,
    or those of the rounds."""
    sentences = split_sentences(text)
    answer = estimate_tokens([text])
    first = Expected(1, estimate_tokens(message_texts(draft_messages(sentences))), answer, 1)
    review = first + Expected(0, answer)  # the draft goes back
    if not rounds:
        return first + review.times(2)
    return first + (review + expected_questions(sentences)).times(min(rounds, MOST_ROUNDS))


class _Reviews:
    """One repair where there are errors, and one review of what only draft or text have."""

    def __init__(self) -> None:
        self._left = ["repair", "review"]

    def next_prompt(self, best: _Candidate) -> str | None:
        """What is asked next, `None` where there is nothing to ask."""
        while self._left:
            asked = _follow_up(self._left.pop(0), best)
            if asked is not None:
                return asked
        return None


class _Rounds:
    """Rounds of scored feedback; the meaning is asked about where the flow has no errors, since a
    gateway that nothing reaches has none."""

    def __init__(self, rounds: int, client: ModelClient, ctx: PassContext) -> None:
        self._left = min(rounds, MOST_ROUNDS)
        self._client, self._ctx = client, ctx
        self._given: list[str] = []

    def next_prompt(self, best: _Candidate) -> str | None:
        """What is asked next, `None` where there is nothing to ask. Raises as `ModelClient.ask`."""
        if self._left == 0:
            return None
        self._left -= 1
        points: list[Point] = []
        if best.faults:
            share = share_of_runs(best.model) if best.model is not None else {}
            affected = [share.get(d.element or "", 1.0) for d in best.errors]
            affected += [1.0] * (len(best.faults) - len(affected))
            points = [Point(text, u) for text, u in zip(best.faults, affected, strict=True)]
        elif best.model is not None:
            stop = self._ctx.services.cancellation
            points = meaning_points(best.model, self._client, stop)
        chosen = select_points(points, self._given)
        self._given += chosen
        return render_prompt("round_refine", findings=chosen) if chosen else None


def _follow_up(prompt: str, best: _Candidate) -> str | None:
    """What is asked next, or `None` where there is nothing to ask."""
    if prompt == "repair":
        if not best.faults:
            return None
        return render_prompt("text_repair", findings=best.faults[:_MAX_FINDINGS])
    if best.model is None or best.covered is None or not best.covered.faults:
        return None
    parts: Mapping[str, Any] = {
        name: value[:_MAX_FINDINGS] for name, value in best.covered._asdict().items()
    }
    return render_prompt("text_review", **parts)


def _describe_error(diagnostic: Diagnostic) -> str:
    """An error with its run, in a line."""
    run = " → ".join(one_line(str(step.element)) for step in diagnostic.trace[:12])
    shown = f"; a run: {run}" if run else ""
    return f"{one_line(diagnostic.message)}{shown}"


def _describe_finding(diagnostic: Diagnostic) -> str:
    line = diagnostic.loc.line if diagnostic.loc is not None else None
    return f"line {line}: {one_line(diagnostic.message)}" if line else one_line(diagnostic.message)
