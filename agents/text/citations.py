"""Citations of sentences: evidence of elements, and places for messages."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow.agents.language.sentences import Sentence

from orgflow_ir.model import Evidence
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.plugins.agents import Document


def evidence_of_sentences(
    numbers: Iterable[int], sentences: tuple[Sentence, ...], document: Document, agent: str
) -> tuple[Evidence, ...]:
    """Evidence for the sentences with these numbers; unknown numbers are omitted."""
    evidence = []
    for number in dict.fromkeys(numbers):
        if 1 <= number <= len(sentences):
            sentence = sentences[number - 1]
            first = document.text.count("\n", 0, sentence.span[0]) + 1
            last = first + document.text.count("\n", *sentence.span)
            evidence.append(
                Evidence(
                    document=document.name, quote=sentence.text, span=sentence.span,
                    lines=(first, last), agent=agent,
                )
            )  # fmt: skip
    return tuple(evidence)


def place_of_sentence(sentence: Sentence, document: Document) -> SourceLocation:
    """Line and column at which a sentence begins."""
    start = sentence.span[0]
    line_start = document.text.rfind("\n", 0, start) + 1
    line = document.text.count("\n", 0, start) + 1
    return SourceLocation(file=document.name, line=line, column=start - line_start + 1)
