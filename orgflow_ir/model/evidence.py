"""Evidence: the passage of a document that supports an element."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from orgflow_ir.model.value import Value, Within

SENTENCES = "@{urn:orgflow:graph}sentences"
"""The key of extension data with the numbers of the sentences that support an element of a draft,
until they become evidence."""

DOUBT = "@{urn:orgflow:graph}doubt"
"""The key of extension data of an element whose author is unsure about it."""


class Evidence(Value):
    """A passage of a document that supports an element.

    Attributes:
        document: the name or the URI of the document.
        quote: the passage, word for word.
        span: its beginning and end, in characters of the document's text.
        lines: the first and the last line, counted from 1.
        confidence: the agent's confidence, from 0 to 1; `None` if it states none.
        agent: the name of the agent that found it; empty if a person did.

    Example:
        Evidence(document="mail-7", quote="Then we pack the order", span=(40, 62), agent="miner")
    """

    document: str
    quote: str
    span: tuple[int, int] | None = None
    lines: tuple[int, int] | None = None
    confidence: Annotated[float, Within(0, 1)] | None = None
    agent: str = ""


def place_fault(evidence: Evidence) -> str | None:
    """The fault of evidence independent of its document, as the end of a sentence, or `None`: an
    empty quote, or a place that ends before it begins."""
    if not _fold_spaces(evidence.quote):
        return "has an empty quote"
    if evidence.span is not None and not 0 <= evidence.span[0] < evidence.span[1]:
        return f"names characters {evidence.span[0]} to {evidence.span[1]}"
    if evidence.lines is not None and not 1 <= evidence.lines[0] <= evidence.lines[1]:
        return f"names lines {evidence.lines[0]} to {evidence.lines[1]}"
    return None


def evidence_fault(evidence: Evidence, text: str) -> str | None:
    """The fault of evidence, given the text of its document, as the end of a sentence, or `None`.
    White space may differ, because documents wrap lines differently from quotes."""
    if (wrong := place_fault(evidence)) is not None:
        return wrong
    quote, passage = _fold_spaces(evidence.quote), text
    if evidence.lines is not None:
        first, last = evidence.lines
        lines = text.splitlines()
        if last > len(lines):
            return f"names lines {first} to {last} of {len(lines)}"
        passage = "\n".join(lines[first - 1 : last])
    if evidence.span is not None:
        start, end = evidence.span
        if end > len(text):
            return f"names characters {start} to {end} of {len(text)}"
        if _fold_spaces(text[start:end]) != quote:
            return f"names characters {start} to {end}, where the text is different"
    if quote not in _fold_spaces(passage):
        return "quotes words that do not exist"
    return None


def joint_evidence(*groups: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The evidence of several elements, each once, in order."""
    return tuple(dict.fromkeys(evidence for group in groups for evidence in group))


def _fold_spaces(text: str) -> str:
    return " ".join(text.split())
