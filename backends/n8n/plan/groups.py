"""Sub-processes whose steps are part of the surrounding workflow: the notes of their nodes name
them."""

from __future__ import annotations

from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.scopes import WorkflowScope

from orgflow_ir.model import SubProcess
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext


class Group(NamedTuple):
    """A sub-process of the source and its elements in the workflow, including those of nested
    sub-processes; `levels`: the nesting depth in it."""

    sub: SubProcess
    elements: frozenset[str]
    levels: int

    @property
    def title(self) -> str:
        """Its name."""
        return plain(self.sub.caption).lstrip("#") or self.sub.id


def find_groups(scope: WorkflowScope, ctx: PassContext) -> tuple[Group, ...]:
    """The sub-processes that were moved into a scope, outer ones first."""
    processes = ctx.source.processes if ctx.source is not None else ()
    scopes = (s for p in processes if p.id == scope.process.id for s in p.scopes())
    body = next((s for s in scopes if s.id == scope.body.id), None)
    if body is None or not any(isinstance(n, SubProcess) for n in body.nodes):
        return ()
    here = {node.id for node in scope.body.nodes}
    parts = []
    for sub in body.scopes():
        if not isinstance(sub, SubProcess) or sub is body or sub.id in here:
            continue
        inside = {node.id for part in sub.scopes() for node in part.nodes}
        elements = {n.id for n in scope.body.nodes if source_ids(n)[0] in inside}
        if elements:
            parts.append(Group(sub, frozenset(elements), _count_levels(sub)))
    return tuple(parts)


def _count_levels(sub: SubProcess) -> int:
    return max((1 + _count_levels(n) for n in sub.nodes if isinstance(n, SubProcess)), default=0)
