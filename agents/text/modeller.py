"""A process from a text with a language model: one draft in an outline, exact analysis, and one
repair if a program proves a fault; the best one is kept. With the option `rounds`, the draft is
reviewed as in `orgflow.agents.text.rounds`.

The model only writes lines. Its output is read by a tolerant reader and checked by the same passes
as any model; nothing is executed or trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from orgflow.agents.feedback import all_feedback
from orgflow.agents.language.identification import identify_language
from orgflow.agents.language.sentences import Sentence, split_sentences
from orgflow.agents.model_client.usage import Expected, estimate_tokens, message_texts
from orgflow.agents.prompting import render_prompt
from orgflow.agents.text.draft_options import (
    FIRST_DRAFTS,
    OMITTED_RULES,
    PROMPT,
    PROMPTS,
    ROUNDS,
    Prompt,
)
from orgflow.agents.text.draft_reading import (
    Candidate,
    describe_error,
    read_candidate,
    split_answer,
)
from orgflow.agents.text.draft_review import list_foreign
from orgflow.agents.text.draft_rules import CutDraft, UnreadDraftLine, UnsoundDraft
from orgflow.agents.text.drafts import report_unused
from orgflow.agents.text.first_drafts import FirstDrafts
from orgflow.agents.text.graph_conversation import (
    GraphFollowUps,
    compare_graphs,
    read_graph_lines,
    request_graph,
)
from orgflow.agents.text.outline_conversation import (
    MOST_CONTINUED,
    ROUND,
    FollowUp,
    OutlineFollowUps,
    ask_for_changes,
    ask_for_draft,
    read_changed,
    request_outline,
)
from orgflow.agents.text.rounds import (
    MOST_ROUNDS,
    Point,
    expected_questions,
    meaning_points,
    select_points,
    share_of_runs,
)
from orgflow.agents.text.text_rules import DoubtfulDraft, NoSteps

from orgflow_ir.diagnostics import Rule
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import ModelClient, Reply, StatesStrength
from orgflow_ir.pipeline.services import NotRecorded, OverBudget, required
from orgflow_ir.plugins.agents import Document, ModelAgent

MAX_CHARACTERS = 60_000
"""Longer texts are refused, since a draft of one call cannot cover them."""

_MAX_FINDINGS = 8
_SHOWN = 80
"""Maximum number of characters of an answer in a message."""


class TextModeller(ModelAgent):
    """Drafts a process from a text with the language model of the context."""

    name = "text"
    summary = (
        "a process from a text, drafted by a language model, checked and compared with the text"
    )
    rules: ClassVar[tuple[type[Rule], ...]] = (
        NoSteps, DoubtfulDraft, UnreadDraftLine, CutDraft, UnsoundDraft,
    )  # fmt: skip

    def produce(self, documents: Sequence[Document], ctx: PassContext) -> Model | None:
        """The best draft of the requests that a draft needs, or of the requested rounds; raises the
        exceptions of `ModelClient.ask`."""
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
        drafting = _Drafting(client, document, sentences, self.name, ctx)
        prompt = ctx.options.get(PROMPT)
        try:
            best = drafting.draft(prompt or PROMPTS[0])
        except NotRecorded:
            if prompt:
                raise
            best = drafting.draft("triples")  # recorded by version 0.2
        return _finish_model(best, document, sentences, ctx)


class _Drafting:
    """The conversation about one text."""

    def __init__(
        self, client: ModelClient, document: Document, sentences: tuple[Sentence, ...],
        agent: str, ctx: PassContext,
    ) -> None:  # fmt: skip
        self._client, self._ctx, self._agent = client, ctx, agent
        self._document, self._sentences = document, sentences
        self._rounds: int = ctx.options.get(ROUNDS, 0)
        self._shared: FirstDrafts = ctx.options.get(FIRST_DRAFTS) or FirstDrafts()

    def draft(self, prompt: Prompt) -> Candidate:
        """The best draft. Raises as `ModelClient.ask`."""
        match prompt:
            case "outline":
                return self._draft_outline()
            case "triples":
                return self._draft_graph()
            case "plain":
                return self._draft_plainly()
        raise ValueError(f"there is no prompt {prompt!r}")

    def _ask_first(self, messages: Sequence[Mapping[str, Any]], number: int) -> Reply:
        return self._shared.ask_once(self._client, messages, number)

    # -- outlines -----------------------------------------------------------------------------

    def _draft_outline(self) -> Candidate:
        messages = draft_messages(
            self._sentences, all_feedback(self._ctx), self._ctx.options.get(OMITTED_RULES, ())
        )
        lines, cut = ask_for_draft(self._ask_first, messages)
        if cut:
            self._ctx.emit(
                CutDraft, "the answer of the language model was cut off at its maximum length",
                loc=SourceLocation(file=self._document.name),
                help="set `answer-tokens` in [model] of orgflow.toml to more",
            )  # fmt: skip
        best = self._read_outline(lines)
        requests = self._plan_requests()
        while True:
            self._ctx.services.cancellation.check()
            try:
                follow_up = requests(best)
                if follow_up is None:
                    return best
                answer = self._client.ask([*messages, *follow_up.messages]).text
            except OverBudget:  # what there is stands; the draft was paid for
                return best
            others = [self._read_outline(lines) for lines in read_changed(best, answer)]
            other = min(others, key=lambda candidate: candidate.badness, default=best)
            if other.badness < best.badness or (follow_up.review and other.badness == best.badness):
                best = other  # what was said of the meaning shows in no count

    def _plan_requests(self) -> Callable[[Candidate], FollowUp | None]:
        """Gives the next request about the best draft, `None` if there is nothing to ask."""
        weak = isinstance(self._client, StatesStrength) and self._client.weak
        language = identify_language(self._document.text)
        plan = OutlineFollowUps(self._sentences, language, weak=weak)
        if not self._rounds:
            return plan.next_request
        rounds = _Rounds(self._rounds, self._client, self._ctx)

        def next_request(best: Candidate) -> FollowUp | None:
            if best.model is None:
                return plan.next_request(best)
            findings = rounds.next_findings(best)
            return ask_for_changes(best, ROUND, findings, review=True) if findings else None

        return next_request

    def _read_outline(self, lines: Sequence[str]) -> Candidate:
        return read_candidate(lines, self._document, self._sentences, self._agent, self._ctx)

    # -- graph lines --------------------------------------------------------------------------

    def _draft_graph(self) -> Candidate:
        """As in version 0.2."""
        document = _show_document(self._sentences, all_feedback(self._ctx))
        messages = request_graph(document)
        best = self._read_graph(self._ask_first(messages, 0).text)
        rounds = _Rounds(self._rounds, self._client, self._ctx) if self._rounds else None
        reviews = GraphFollowUps()
        while True:
            self._ctx.services.cancellation.check()
            try:
                if rounds is None:
                    asked = reviews.next_prompt(best)
                else:
                    findings = rounds.next_findings(best)
                    asked = render_prompt("round_refine", findings=findings) if findings else None
                if asked is None:
                    return best
                conversation = [
                    *messages,
                    {"role": "assistant", "content": best.text},
                    {"role": "user", "content": asked},
                ]
                other = self._read_graph(self._client.ask(conversation).text)
            except OverBudget:  # what there is stands; the draft was paid for
                return best
            better, before = compare_graphs(other), compare_graphs(best)
            if better < before or (rounds is not None and better == before):
                best = other

    def _read_graph(self, answer: str) -> Candidate:
        return read_graph_lines(answer, self._document, self._sentences, self._agent, self._ctx)

    def _draft_plainly(self) -> Candidate:
        """One request without rules; the answer is taken as it is."""
        text = self._document.text.strip()
        messages = [{"role": "user", "content": render_prompt("text_plain") + "\nText:\n" + text}]
        answer = self._ask_first(messages, 0).text
        return self._read_graph("\n".join(split_answer(answer)))


def _finish_model(
    best: Candidate, document: Document, sentences: tuple[Sentence, ...], ctx: PassContext
) -> Model | None:
    """The model, with what stays doubtful reported."""
    if best.model is None or best.covered is None:
        begins = one_line(best.text)[:_SHOWN]
        answer = f"its answer begins “{begins}”" if begins else "its answer is empty"
        ctx.emit(
            NoSteps, f"the language model returned no process graph: {answer}",
            loc=SourceLocation(file=document.name),
            help="use another model, or draft by rules with --no-model",
        )  # fmt: skip
        return None
    for row in best.unread:
        ctx.emit(
            UnreadDraftLine,
            f"line {row.number} of the draft cannot be read: `{one_line(row.text)[:_SHOWN]}`: "
            f"{row.message}",
            loc=SourceLocation(file=document.name),
            help="draft again, use another model, or describe this part of the text more simply",
        )  # fmt: skip
    report_unused(best.covered.unused, document, ctx)
    language = identify_language(document.text)
    foreign = list(list_foreign(best.model, sentences, language))
    for node, words in foreign[:_MAX_FINDINGS]:
        shown = ", ".join(f"`{word.lower()}`" for word in words[:4])
        ctx.emit(
            DoubtfulDraft,
            f"`{one_line(node.name)}` contains words that do not occur in the text: {shown}",
            help="compare the element with the text",
        )  # fmt: skip
    return best.model


def draft_messages(
    sentences: tuple[Sentence, ...], feedback: tuple[str, ...] = (), omitted: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The conversation that requests a draft: the notation and the rules, the fenced text, and the
    failures of an earlier draft.

    Args:
        omitted: names of rules that are left out.
    """
    return request_outline(_show_document(sentences, feedback), omitted)


def _show_document(sentences: tuple[Sentence, ...], feedback: tuple[str, ...]) -> str:
    """The numbered sentences of a text, fenced as data."""
    numbered = "\n".join(
        f"{'title' if s.heading else f's{s.number}'} {' '.join(s.text.split())}" for s in sentences
    )
    document = render_prompt("text_document", sentences=numbered)
    if feedback:
        document += "\n" + render_prompt("text_feedback", feedback=feedback)
    return document


def expected_drafting(text: str, rounds: int = 0) -> Expected:
    """The approximate usage of drafting a text if the answer is as long as the text: one call, and
    those of the rounds. At most, the answer is continued, repaired and reviewed."""
    sentences = split_sentences(text)
    answer = estimate_tokens([text])
    request = estimate_tokens(message_texts(draft_messages(sentences)))
    first = Expected(1, request, answer, 1 + MOST_CONTINUED)
    if not rounds:
        return first + Expected(most_calls=2)
    again = Expected(1, request + answer, answer, 1)
    return first + (again + expected_questions(sentences)).times(min(rounds, MOST_ROUNDS))


class _Rounds:
    """Rounds of scored feedback; the meaning is asked about where the flow has no errors, since a
    gateway that nothing reaches has none."""

    def __init__(self, rounds: int, client: ModelClient, ctx: PassContext) -> None:
        self._left = min(rounds, MOST_ROUNDS)
        self._client, self._ctx = client, ctx
        self._given: list[str] = []

    def next_findings(self, best: Candidate) -> tuple[str, ...]:
        """The points of the next request; none where there is nothing to ask. Raises as
        `ModelClient.ask`."""
        if self._left == 0:
            return ()
        self._left -= 1
        points: list[Point] = []
        if best.faults:
            share = share_of_runs(best.model) if best.model is not None else {}
            affected = {
                describe_error(d, best.numbers): share.get(d.element or "", 1.0)
                for d in best.errors
            }
            points = [Point(text, affected.get(text, 1.0)) for text in best.faults]
        elif best.model is not None:
            stop = self._ctx.services.cancellation
            points = meaning_points(best.model, self._client, stop)
        chosen = select_points(points, self._given)
        self._given += chosen
        return chosen
