"""The first step: the operation that performs a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orgflow.agents.filling.context import TaskContext
from orgflow.agents.filling.search import Candidate, index_of, list_candidates
from orgflow.agents.prompting import render_prompt

from orgflow_ir.pipeline.operation_catalogue import Catalogue, Operation

NONE = "none"
CANDIDATES = 12
"""Number of operations that are shown: more cost tokens and rarely include the right one."""


class Unusable(ValueError):
    """An answer that cannot be used; the message gives the reason, as the end of a sentence."""


def find_candidates(context: TaskContext, catalogue: Catalogue) -> list[Candidate]:
    """The operations whose words match a task best."""
    return index_of(catalogue).search(context.label, CANDIDATES, more=context.text)


def choose_prompt(context: TaskContext, candidates: Sequence[Candidate], fault: str = "") -> str:
    """The question for the model."""
    return render_prompt(
        "fill_choose",
        task=describe_task(context),
        candidates=list_candidates(candidates),
        fault=fault,
    )


def choose_schema(candidates: Sequence[Candidate]) -> dict[str, Any]:
    """The form of the answer."""
    return {
        "type": "object",
        "properties": {"operation": {"enum": [*(c.operation.id for c in candidates), NONE]}},
        "required": ["operation"],
        "additionalProperties": False,
    }


def read_choice(answer: Any, candidates: Sequence[Candidate]) -> Operation | None:
    """The chosen operation, `None` for none. Raises `Unusable`."""
    chosen = answer.get("operation") if isinstance(answer, dict) else answer
    if not isinstance(chosen, str):
        raise Unusable('it is not an object with a text under "operation"')
    if chosen.strip().lower() == NONE:
        return None
    by_id = {c.operation.id: c.operation for c in candidates}
    if chosen.strip() not in by_id:
        raise Unusable(f"the operation `{chosen[:80]}` is not in the list")
    return by_id[chosen.strip()]


def describe_task(context: TaskContext) -> str:
    """A task in the form for prompts."""
    lines = [f"step: {context.label}", f"process: {context.process}"]
    lines += [f"done by: {context.actor}"] if context.actor else []
    lines += [f"before it: {', '.join(context.before)}"] if context.before else []
    lines += [f"after it: {', '.join(context.after)}"] if context.after else []
    lines += [f"said of it: {context.text}"] if context.text else []
    lines += [f"was wrong with an earlier answer: {line}" for line in context.failed]
    return "\n".join(lines)
