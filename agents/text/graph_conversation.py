"""The conversation of version 0.2, which drafts graph lines: recorded answers stay readable. One
repair where there are errors, and one review of what only draft or text have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgflow.agents.language.sentences import Sentence
from orgflow.agents.model_client.answer_reading import fenced_text
from orgflow.agents.prompting import render_prompt, visible_text
from orgflow.agents.text.coverage import measure_coverage
from orgflow.agents.text.draft_reading import (
    ELEMENT_LIMIT,
    Candidate,
    describe_error,
)
from orgflow.agents.text.drafts import draft_errors, read_draft

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Task
from orgflow_ir.model.element_names import one_line
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.agents import Document

_MAX_FINDINGS = 8


def request_graph(document: str) -> list[dict[str, Any]]:
    """The request for a draft of a document, fenced as data."""
    return [
        {"role": "system", "content": render_prompt("text_draft")},
        {"role": "user", "content": document},
    ]


def read_graph_lines(
    answer: str, document: Document, sentences: tuple[Sentence, ...], agent: str, ctx: PassContext
) -> Candidate:
    """The draft in an answer."""
    text = "\n".join(visible_text(fenced_text(answer)).splitlines()[: ELEMENT_LIMIT * 4])
    lines = tuple(text.splitlines())
    model, findings = read_draft(text, document, sentences, agent, ctx)
    if model is None:
        return Candidate(lines, None, ("there is no line such as `T1 -> T2`",))
    steps = sum(isinstance(n, Task) for p in model.processes for n in p.nodes)
    most = min(ELEMENT_LIMIT, 3 * len(sentences) + 10)
    if steps > most:
        return Candidate(lines, None, (f"there are {steps} steps; at most {most}",))
    unread = [_describe_finding(d) for d in findings]
    errors = draft_errors(model, ctx)
    faults = (*(describe_error(error, {}) for error in errors), *unread)
    return Candidate(lines, model, faults, measure_coverage(model, sentences), errors)


class GraphFollowUps:
    """One repair where there are errors, and one review of what only draft or text have."""

    def __init__(self) -> None:
        self._left = ["repair", "review"]

    def next_prompt(self, best: Candidate) -> str | None:
        """The next request, `None` if nothing is left to ask."""
        while self._left:
            asked = _follow_up(self._left.pop(0), best)
            if asked is not None:
                return asked
        return None


def compare_graphs(candidate: Candidate) -> tuple[int, int]:
    """Errors first, then what a reviewer would ask about; smaller is better."""
    if candidate.model is None or candidate.covered is None:
        return (1_000_000, 0)
    return (len(candidate.faults), candidate.covered.faults)


def _follow_up(prompt: str, best: Candidate) -> str | None:
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


def _describe_finding(diagnostic: Diagnostic) -> str:
    line = diagnostic.loc.line if diagnostic.loc is not None else None
    return f"line {line}: {one_line(diagnostic.message)}" if line else one_line(diagnostic.message)
