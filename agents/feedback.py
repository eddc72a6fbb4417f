"""What went wrong when an earlier answer ran, for agents that answer again."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow.agents.prompting import visible

from orgflow_ir.pipeline import PassContext

FEEDBACK = "feedback"
"""The option of a run: by the id of an element, or `""` for what is about none, sentences that say
what went wrong and what to do."""

_MOST, _LONGEST = 8, 400


def feedback_about(ctx: PassContext, element: str) -> tuple[str, ...]:
    """What is known of an element, in lines that nobody has to trust."""
    given = ctx.options.get(FEEDBACK)
    return _lines(given.get(element, ())) if isinstance(given, Mapping) else ()


def all_feedback(ctx: PassContext) -> tuple[str, ...]:
    """What is known of all elements."""
    given = ctx.options.get(FEEDBACK)
    if not isinstance(given, Mapping):
        return ()
    return _lines(tuple(line for lines in given.values() for line in lines))


def _lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(" ".join(visible(line).split())[:_LONGEST] for line in lines[:_MOST])
