"""The location of every element of a model, in one table built once per model.

Example:
    index = ctx.analysis(ModelIndex, model)
    index.label("Task_1"), index.pool("Task_1")
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orgflow_ir.model.elements import Flow, Model, Node, Pool, Process, Scope


class ModelIndex:
    """Nodes, flows and scopes by id, and the scopes that enclose them.

    If two elements of a malformed model have the same id, the last one wins. Methods for one
    element return `None` (or nothing) for an id that is not in the model.

    Attributes:
        nodes: every node of every scope, outer scopes first.
        flows: every sequence flow.
        scopes: every process and sub-process.
        pools: every pool.
    """

    def __init__(self, model: Model) -> None:
        self.pools: dict[str, Pool] = {pool.id: pool for pool in model.pools}
        self.nodes: dict[str, Node] = {}
        self.flows: dict[str, Flow] = {}
        self.scopes: dict[str, Scope] = {}
        self._home: dict[str, Scope] = {}
        self._process: dict[str, Process] = {}
        for process in model.processes:
            for scope in process.scopes():
                self.scopes[scope.id] = scope
                self._process[scope.id] = process
                for node in scope.nodes:
                    self.nodes[node.id] = node
                    self._home[node.id] = scope
                for flow in scope.flows:
                    self.flows[flow.id] = flow
                    self._home[flow.id] = scope

    def parent(self, id: str) -> Scope | None:
        """The process or sub-process that directly contains a node or flow; None for a process."""
        return self._home.get(id)

    def process(self, id: str) -> Process | None:
        """The process around a node, flow or scope; for a process, the process itself."""
        scope = self._home.get(id)
        return self._process.get(scope.id if scope is not None else id)

    def label(self, id: str) -> str:
        """The name of an element for people: the label of a node, flow, scope or pool, otherwise
        the id."""
        for table in (self.nodes, self.flows, self.scopes, self.pools):
            if id in table:
                return table[id].label
        return id

    def pool(self, id: str) -> Pool | None:
        """The pool around a node, flow or scope."""
        process = self.process(id)
        return self._pools_by_process.get(process.id) if process is not None else None

    def flows_in(self, id: str) -> tuple[Flow, ...]:
        """Sequence flows into a node, in the order of its scope."""
        return self._flows_by_end[0].get(id, ())

    def flows_out(self, id: str) -> tuple[Flow, ...]:
        """Sequence flows out of a node, in the order of its scope."""
        return self._flows_by_end[1].get(id, ())

    @cached_property
    def _pools_by_process(self) -> dict[str, Pool]:
        pools: dict[str, Pool] = {}
        for pool in self.pools.values():
            if pool.process is not None:
                pools.setdefault(pool.process, pool)
        return pools

    @cached_property
    def _flows_by_end(self) -> tuple[dict[str, tuple[Flow, ...]], dict[str, tuple[Flow, ...]]]:
        """Flows by target, and by source."""
        into: dict[str, list[Flow]] = {}
        out: dict[str, list[Flow]] = {}
        for scope in self.scopes.values():
            for flow in scope.flows:
                into.setdefault(flow.target, []).append(flow)
                out.setdefault(flow.source, []).append(flow)
        return {n: tuple(f) for n, f in into.items()}, {n: tuple(f) for n, f in out.items()}
