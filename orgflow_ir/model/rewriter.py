"""`Editor`: collects one pass's edits of a scope and builds the new value once."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.model.elements import Flow, Model, Node, Process, Scope, SubProcess


class Editor:
    """Edits of a model, made in one copy (one copy per edit would be quadratic).

    Element order is kept: a replaced node stays where it was, new ones come last. `done()` gives
    the model it was made with when nothing was changed.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._nodes: dict[str, dict[str, Node]] = {}
        self._flows: dict[str, dict[str, Flow]] = {}
        self._scopes: dict[str, Scope] = {}
        for scope in model.scopes():
            self._scopes[scope.id] = scope
        self._dirty: set[str] = set()
        self._ids: set[str] | None = None

    def _node_table(self, scope: str) -> dict[str, Node]:
        if scope not in self._nodes:
            self._nodes[scope] = {n.id: n for n in self._scopes[scope].nodes}
        return self._nodes[scope]

    def _flow_table(self, scope: str) -> dict[str, Flow]:
        if scope not in self._flows:
            self._flows[scope] = {f.id: f for f in self._scopes[scope].flows}
        return self._flows[scope]

    def fresh_id(self, origin: str, role: str) -> str:
        """`{origin}__{role}`, with a number behind it where that is taken in the model."""
        if self._ids is None:
            self._ids = set()
            for scope in self._scopes.values():
                self._ids |= {scope.id, *(n.id for n in scope.nodes), *(f.id for f in scope.flows)}
        wanted = candidate = f"{origin}__{role}"
        number = 2
        while candidate in self._ids:
            candidate = f"{wanted}_{number}"
            number += 1
        self._ids.add(candidate)
        return candidate

    def flow(self, scope: str, id: str) -> Flow:
        """A flow as edited so far. Raises `KeyError`."""
        return self._flow_table(scope)[id]

    def put_node(self, scope: str, node: Node) -> None:
        """Add a node, or replace the one with its id."""
        self._node_table(scope)[node.id] = node
        self._dirty.add(scope)

    def put_flow(self, scope: str, flow: Flow) -> None:
        """Add a flow, or replace the one with its id."""
        self._flow_table(scope)[flow.id] = flow
        self._dirty.add(scope)

    def remove(self, scope: str, ids: Iterable[str]) -> None:
        """Remove nodes and flows by id; ids that are not there are an error (`KeyError`)."""
        for item in ids:
            if item in self._flow_table(scope):
                del self._flow_table(scope)[item]
            else:
                del self._node_table(scope)[item]
            self._dirty.add(scope)

    def done(self) -> Model:
        """The edited model."""
        if not self._dirty:
            return self.model
        return self.model.replace(
            processes=tuple(self._built_process(p) for p in self.model.processes)
        )

    def _built_process(self, process: Process) -> Process:
        built = self._built(process)
        assert isinstance(built, Process)
        return built

    def _built(self, scope: Scope) -> Scope:
        nodes = self._node_table(scope.id) if scope.id in self._dirty else None
        items = tuple(nodes.values()) if nodes is not None else scope.nodes
        inner = tuple(self._built(n) if isinstance(n, SubProcess) else n for n in items)
        same = nodes is None and all(a is b for a, b in zip(inner, scope.nodes, strict=True))
        if same and scope.id not in self._dirty:
            return scope
        return scope.replace(nodes=inner, flows=tuple(self._flow_table(scope.id).values()))
