"""Errors that the code of a step throws."""

from __future__ import annotations

from collections.abc import Callable

from orgflow_ir.model import CallActivity, EventDefinition, Model, Task
from orgflow_ir.work.statements import handles, thrown_codes
from orgflow_ir.work.tasks import work_by


def throws_by_code(
    step: Task | CallActivity,
    caught: EventDefinition,
    model: Model,
    matches: Callable[[EventDefinition, EventDefinition], bool],
) -> bool:
    """Whether the code of a step throws an error that an error event catches; `matches` as in
    `failing_steps`."""
    if not isinstance(step, Task) or step.binding is None:
        return False
    statements = work_by(step.binding, None).statements
    ids = {entry.code: entry.id for entry in model.catalog.errors if entry.code}
    return handles(statements) or any(
        matches(caught, EventDefinition(kind="error", ref=ids.get(code, code)))
        for code in thrown_codes(statements)
    )
