"""Failures of an earlier answer at run time, for agents that answer again."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow.agents.prompting import visible_text

from orgflow_ir.pipeline import PassContext

FEEDBACK = "feedback"
"""The option of a run: by the id of an element, or `""` for none, sentences that describe a failure
and its remedy."""

_MOST, _LONGEST = 8, 400


def feedback_about(ctx: PassContext, element: str) -> tuple[str, ...]:
    """The known failures of an element, in lines that are untrusted."""
    given = ctx.options.get(FEEDBACK)
    return _cut_lines(given.get(element, ())) if isinstance(given, Mapping) else ()


def all_feedback(ctx: PassContext) -> tuple[str, ...]:
    """The known failures of all elements."""
    given = ctx.options.get(FEEDBACK)
    if not isinstance(given, Mapping):
        return ()
    return _cut_lines(tuple(line for lines in given.values() for line in lines))


def _cut_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(" ".join(visible_text(line).split())[:_LONGEST] for line in lines[:_MOST])
