"""The tasks that may wait for an external event: those without another parallel wait in their
process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orgflow.backends.n8n.emit import emission_rules

from orgflow_ir.flow.concurrency.open_together import OpenTogether
from orgflow_ir.model import Node, Task
from orgflow_ir.model.element_names import listed
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.repetition import begun_at_once

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.emitter import CompiledScope


def is_awaited(node: Node) -> bool:
    """Whether a step waits for a call: a receive task that does not begin the process."""
    return isinstance(node, Task) and node.task_type == "receive" and not node.instantiate


def waiting_alone(
    compiled: CompiledScope, tasks: Sequence[Node], ctx: PassContext
) -> frozenset[str]:
    """The tasks that are never active in parallel with another wait.

    OF423 for the others: an n8n execution waits in one place at a time, so they stay placeholders.
    """
    together = OpenTogether(compiled.process, ctx)
    at_once = begun_at_once(ctx.source) if ctx.source is not None else frozenset()
    beside = [
        task
        for task in tasks
        if not at_once.isdisjoint(source_ids(task)) or together.with_element(task.id)
    ]
    if beside:
        names = [ctx.name(task) for task in beside]
        them = "it remains a placeholder" if len(beside) == 1 else "they stay placeholders"
        ctx.emit(
            emission_rules.WaitsBeside,
            f"{listed(names)} may be open while other work waits, and an n8n execution waits at "
            f"one place at a time: {them}",
            element=beside[0],
            help="put the waiting steps in sequence, or replace them in n8n with a node that "
            "distributes the work and waits until it is done",
        )
    return frozenset(task.id for task in tasks if task not in beside)
