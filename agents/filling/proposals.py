"""Without a language model: the operation whose words match an open task is proposed, or used if
the user accepts that."""

from __future__ import annotations

from typing import ClassVar

from orgflow.agents.filling.choose import CANDIDATES
from orgflow.agents.filling.context import TaskContext, task_context
from orgflow.agents.filling.filler import as_json
from orgflow.agents.filling.filling_rules import ProposedOperation
from orgflow.agents.filling.search import Candidate, index_of

from orgflow_ir.diagnostics import Rule
from orgflow_ir.gaps.gap import Gap, GapKind
from orgflow_ir.model import Model, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.operation_catalogue import Catalogue
from orgflow_ir.pipeline.services import required
from orgflow_ir.plugins.agents import Answer, GapAgent, Refusal

ACCEPT = "accept-proposals"
"""The option that accepts proposals."""

THRESHOLD = 0.75
"""Minimum share of a task's words that a proposed operation has."""


class OperationProposer(GapAgent):
    """Proposes operations by words alone; it answers only with the option `accept-proposals`."""

    name = "operations-rules"
    summary = "operations of the target for open tasks, matched by the words of their names"
    rules: ClassVar[tuple[type[Rule], ...]] = (ProposedOperation,)
    kinds: ClassVar[frozenset[GapKind] | None] = frozenset(("task", "message"))

    def answer(
        self, gap: Gap, model: Model, ctx: PassContext, refused: tuple[Refusal, ...]
    ) -> Answer | None:
        """A binding without parameters, so that all required ones have to be filled in."""
        catalogue = required(ctx.services.catalogue, "catalogue of a target")
        context = task_context(gap, model)
        if context is None or refused or _is_personal(gap):
            return None
        proposal = propose_operation(context, catalogue)
        if proposal is None:
            return None
        operation = proposal.operation
        ctx.emit(
            ProposedOperation, f"for `{context.label}` {operation.title} is proposed",
            element=gap.element,
            help=None if ctx.options.get(ACCEPT) else "accept it with `orgflowc fill --accept`",
        )  # fmt: skip
        if not ctx.options.get(ACCEPT):
            return None
        return Answer(as_json(catalogue.binding(operation, {})))


def _is_personal(gap: Gap) -> bool:
    """Whether a person does the task, by what kind of task it is."""
    return isinstance(gap.element, Task) and gap.element.task_type in ("user", "manual", "receive")


def propose_operation(context: TaskContext, catalogue: Catalogue) -> Candidate | None:
    """The best operation for the words of a task, if it has nearly all of them."""
    index = index_of(catalogue)
    for candidate in index.search(context.label, CANDIDATES):
        share = index.coverage(context.label, candidate.operation)
        if share >= THRESHOLD:
            return Candidate(candidate.operation, share)
    return None
