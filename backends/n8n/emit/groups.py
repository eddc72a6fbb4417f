"""Sub-processes whose steps are part of the surrounding workflow: their positions on the canvas.

The notes of their nodes name the sub-process. A sticky note with the name lies behind them if no
other node is among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from orgflow.backends.n8n.emit.graph import NodeKey, WorkflowGraph
from orgflow.backends.n8n.emit.layout import NODE
from orgflow.backends.n8n.emit.names import plain
from orgflow.backends.n8n.emit.scopes import WorkflowScope

from orgflow_ir.model import SubProcess
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.pipeline import PassContext

COLOUR = 6
_BESIDE, _ABOVE, _BELOW, _LEVEL = 40, 56, 72, 24
"""Space between the nodes and the edges of the note, for its heading and the names under nodes, and
for each nested sub-process."""


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


def groups(scope: WorkflowScope, ctx: PassContext) -> tuple[Group, ...]:
    """The sub-processes that were moved into a scope, outer ones first."""
    processes = ctx.source.processes if ctx.source is not None else ()
    scopes = (s for p in processes if p.id == scope.process.id for s in p.scopes())
    body = next((s for s in scopes if s.id == scope.body.id), None)
    if body is None or not any(isinstance(n, SubProcess) for n in body.nodes):
        return ()
    here = {node.id for node in scope.body.nodes}
    found = []
    for sub in body.scopes():
        if not isinstance(sub, SubProcess) or sub is body or sub.id in here:
            continue
        inside = {node.id for part in sub.scopes() for node in part.nodes}
        elements = {n.id for n in scope.body.nodes if source_ids(n)[0] in inside}
        if elements:
            found.append(Group(sub, frozenset(elements), _levels(sub)))
    return tuple(found)


def _levels(sub: SubProcess) -> int:
    return max((1 + _levels(n) for n in sub.nodes if isinstance(n, SubProcess)), default=0)


def place(
    group: Group, graph: WorkflowGraph, positions: Mapping[NodeKey, tuple[int, int]]
) -> tuple[int, int, int, int] | None:
    """Left, top, width and height of its note; `None` if another node would lie on it."""
    own = {key for key, node in graph.nodes.items() if node.element in group.elements}
    mine = [key for key in own if graph.nodes[key].role != "stop"]  # those are far below
    if not mine:
        return None
    more = _LEVEL * group.levels
    xs, ys = zip(*(positions[key] for key in mine), strict=True)
    left, right = min(xs) - _BESIDE - more, max(xs) + NODE + _BESIDE + more
    top, bottom = min(ys) - _ABOVE - 2 * more, max(ys) + NODE + _BELOW + more
    for key in graph.nodes.keys() - own:
        x, y = positions[key]
        if left < x + NODE and x < right and top < y + NODE and y < bottom:
            return None
    return left, top, right - left, bottom - top
