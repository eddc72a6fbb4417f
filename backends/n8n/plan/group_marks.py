"""The sub-processes that nodes were part of, in their notes."""

from __future__ import annotations

from orgflow.backends.n8n.plan.groups import find_groups
from orgflow.backends.n8n.plan.scope_plan import ScopePlan


def mark_groups(plan: ScopePlan) -> None:
    """Find the sub-processes that became part of a scope, and name them in the notes of nodes."""
    plan.groups = find_groups(plan.scope, plan.ctx)
    for group in plan.groups:
        for node in plan.workflow_graph.nodes.values():
            if node.element in group.elements and node.represents:
                node.notes.append(f"Part of “{group.title}”.")
