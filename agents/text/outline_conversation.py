"""The conversation that drafts an outline: one request, continued where the answer is cut off, and
changed lines where a program proves a fault. Servers marked as weak, and drafts that use little of
the text, get one review."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from orgflow.agents.language.sentences import Sentence
from orgflow.agents.prompting import render_prompt
from orgflow.agents.text.draft_reading import Candidate, split_answer
from orgflow.agents.text.draft_review import cited_share, list_statements
from orgflow.agents.text.line_changes import (
    apply_changes,
    is_unchanged,
    number_lines,
    read_changes,
)
from orgflow.agents.text.outline_policy import render_outline_prompt

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.agent_services import Reply
from orgflow_ir.pipeline.services import OverBudget

MOST_CONTINUED = 2
"""Maximum number of requests that continue an answer that was cut off."""

REVIEWED_BELOW = 0.8
"""A draft that cites a smaller share of the sentences is reviewed once."""

MOST_FINDINGS = 8
"""Maximum number of points in a request."""

REPAIR = "A program read your outline and found:"
REVIEW = "A program compared your outline with the text. Some points may be right as they are:"
ROUND = "Your outline was checked. These points matter most:"

Messages = Sequence[Mapping[str, Any]]


class FollowUp(NamedTuple):
    """A request about a draft.

    Attributes:
        messages: what follows the request for the draft.
        review: whether the answer replaces the draft also if it has as many faults.
    """

    messages: tuple[Mapping[str, Any], ...]
    review: bool = False


def ask_for_draft(
    ask: Callable[[Messages, int], Reply], messages: Messages
) -> tuple[tuple[str, ...], bool]:
    """The lines of the first draft, and whether their end is missing.

    An answer that was cut off is continued behind its last complete line.

    Args:
        ask: asks for the reply to a conversation, the number of the request from 0.
    """
    lines: tuple[str, ...] = ()
    for number in range(MOST_CONTINUED + 1):
        asked = messages if not lines else [
            *messages,
            {"role": "assistant", "content": "\n".join(lines)},
            {"role": "user", "content": render_prompt("text_continue")},
        ]  # fmt: skip
        try:
            reply = ask(asked, number)
        except OverBudget:
            if not lines:
                raise
            return lines, True
        text = reply.text
        if reply.truncated:  # the last line is a part of one
            text = text[: text.rfind("\n") + 1]
        lines = join_continued(lines, split_answer(text))
        if not reply.truncated or not lines:
            return lines, reply.truncated
    return lines, True


def join_continued(lines: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """The lines with those that continue them; lines that were repeated stand once, and an answer
    that begins again replaces them."""
    if not more:
        return lines
    if lines and more[0] == lines[0] and len(more) > 1 and more[1:2] == lines[1:2]:
        return more
    for size in range(min(len(lines), len(more)), 0, -1):
        if lines[-size:] == more[:size]:
            return (*lines, *more[size:])
    return (*lines, *more)


def request_outline(document: str, omitted: Collection[str] = ()) -> list[dict[str, Any]]:
    """The request for a draft of a document, fenced as data."""
    return [
        {"role": "system", "content": render_outline_prompt(omitted)},
        {"role": "user", "content": document},
    ]


def ask_for_changes(
    candidate: Candidate, intro: str, findings: Sequence[str], *, review: bool = False
) -> FollowUp:
    """The request for changed lines."""
    shown = findings[:MOST_FINDINGS]
    return FollowUp(
        (
            {"role": "assistant", "content": number_lines(candidate.lines)},
            {"role": "user", "content": render_prompt("text_changes", intro=intro, findings=shown)},
        ),
        review,
    )  # fmt: skip


def ask_again(candidate: Candidate) -> FollowUp:
    """The request for another answer, after one that is not an outline."""
    fault = candidate.faults[0]
    finding = f"Your answer is not an outline: {fault}."
    return FollowUp(
        (
            {"role": "assistant", "content": candidate.text or "(empty)"},
            {"role": "user", "content": render_prompt("text_again", finding=finding)},
        )
    )  # fmt: skip


class OutlineFollowUps:
    """One repair of what is proved, and one review where it is due.

    Args:
        weak: whether the server is marked as weak.
    """

    def __init__(self, sentences: tuple[Sentence, ...], language: str, *, weak: bool) -> None:
        self._sentences, self._language, self._weak = sentences, language, weak
        self._left = ["repair", "review"]

    def next_request(self, best: Candidate) -> FollowUp | None:
        """The next request; `None` if there is nothing to send."""
        while self._left:
            kind = self._left.pop(0)
            if kind == "repair" and best.model is None:
                return ask_again(best)
            if kind == "repair" and best.faults:
                return ask_for_changes(best, REPAIR, best.faults)
            if kind == "review" and best.model is not None and best.covered is not None:
                little = cited_share(best.covered, self._sentences) < REVIEWED_BELOW
                statements = list_statements(
                    best.model, best.numbers, self._sentences, self._language,
                    best.covered.unused if little else (),
                ) if little or self._weak else ()  # fmt: skip
                if statements:
                    return ask_for_changes(best, REVIEW, statements, review=True)
        return None


def read_changed(best: Candidate, answer: str) -> tuple[tuple[str, ...], ...]:
    """The drafts that an answer may mean: the changed lines, otherwise a whole outline; none if it
    changes nothing."""
    lines = split_answer(answer)
    if is_unchanged(answer.strip()):
        return ()
    changes = read_changes("\n".join(lines))
    if changes is not None and best.model is not None:
        return apply_changes(best.lines, changes)
    return (lines,) if lines else ()
