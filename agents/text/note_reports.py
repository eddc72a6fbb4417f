"""Reports what a draft by rules does not model: a warning for each clause with its place, and the
share of clauses that are modelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orgflow.agents.language.sentences import Sentence, is_table_row
from orgflow.agents.text.citations import evidence_of_sentences, place_of_sentence
from orgflow.agents.text.clause_notes import ENOUGH, ClauseNote, NoteKind, count_modelled
from orgflow.agents.text.drafts import report_unused
from orgflow.agents.text.text_rules import DoubtfulDraft, DraftedClauses, FewClauses

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model import Event, Model
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.agents import Document

_MESSAGES: Mapping[NoteKind, tuple[str, str]] = {
    "action": ("no step models", "add the step, or reword the sentence"),
    "condition": ("no gateway models the condition", "add a gateway, or write `if …, …`"),
    "time": ("no event models the time", "add a timer, or write `within …` or `after …`"),
    "end": ("the draft goes on behind", "add an end event"),
    "number": ("fewer steps than announced follow", "describe each in a sentence"),
}
"""The message and the remedy for each kind of clause."""


def place_in_sentence(sentence: Sentence, at: int, document: Document) -> SourceLocation:
    """Line and column of a place in a sentence, which may have several lines."""
    begin = sentence.span[0] + at
    return place_of_sentence(sentence._replace(span=(begin, sentence.span[1])), document)


def report_notes(
    notes: Sequence[ClauseNote],
    model: Model,
    sentences: Sequence[Sentence],
    document: Document,
    ctx: PassContext,
) -> None:
    """Report each clause that no element models; a sentence without a clause that no element cites
    is only information, since it states no work."""
    by_number = {sentence.number: sentence for sentence in sentences}
    for note in notes:
        if note.modelled:
            continue
        sentence = by_number[note.sentence]
        message, remedy = _MESSAGES[note.kind]
        ctx.emit(
            DoubtfulDraft, f'{message}: "{one_line(note.text)}"',
            loc=place_in_sentence(sentence, note.at, document), help=remedy,
        )  # fmt: skip
    noted = {note.sentence for note in notes}
    scopes = [node for scope in model.scopes() for node in scope.nodes]
    cited = {e.span for node in scopes for e in node.evidence}
    silent = [
        s for s in sentences if not s.heading and s.number not in noted and s.span not in cited
    ]
    report_unused([s for s in silent if is_table_row(s.text)], document, ctx)
    for sentence in (s for s in silent if not is_table_row(s.text)):
        ctx.emit(
            DoubtfulDraft, f'no element of the draft cites "{one_line(sentence.text)}"',
            loc=place_of_sentence(sentence, document), severity=Severity.INFO,
            help="check whether a step is missing",
        )  # fmt: skip


def report_share(
    notes: Sequence[ClauseNote], document: Document, ctx: PassContext, *, forced: bool
) -> bool:
    """Report how many clauses are modelled. Returns whether they suffice for a draft."""
    modelled, clauses = count_modelled(notes)
    warnings = sum(not note.modelled for note in notes)
    shown = f"{warnings} warning{'s'[: warnings != 1]}"
    counted = f"modelled {modelled} of {clauses} clause{'s'[: clauses != 1]}, {shown}"
    place = SourceLocation(file=document.name)
    if modelled >= ENOUGH * clauses:
        ctx.emit(DraftedClauses, counted, loc=place)
        return True
    ctx.emit(
        FewClauses, counted, loc=place,
        severity=Severity.WARNING if forced else Severity.ERROR,
        help="reword the text in plain sentences, configure a language model, or write the draft "
        "with --force",
    )  # fmt: skip
    return forced


def cite_limits(
    model: Model,
    limits: Sequence[tuple[str, int]],
    sentences: tuple[Sentence, ...],
    document: Document,
    agent: str,
) -> Model:
    """The model whose deadlines cite the sentences that state them."""
    if not limits:
        return model
    left = list(limits)
    processes = []
    for process in model.processes:
        nodes = []
        for node in process.nodes:
            if isinstance(node, Event) and node.position == "boundary" and not node.evidence:
                number = next((n for text, n in left if text == node.name), None)
                if number is not None:
                    left.remove((node.name, number))
                    evidence = evidence_of_sentences([number], sentences, document, agent)
                    place = place_of_sentence(sentences[number - 1], document)
                    node = node.replace(evidence=evidence, loc=place)
            nodes.append(node)
        processes.append(process.replace(nodes=tuple(nodes)))
    return model.replace(processes=tuple(processes))
