"""The reduction of a scope for structured targets: pairs of splits and joins, and the region tree.
The soundness analysis uses the same reduction."""

from __future__ import annotations

from functools import cached_property

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.nets.build_net import lower_scope
from orgflow_ir.flow.nets.net import Net
from orgflow_ir.flow.nets.reducing import reduce_net
from orgflow_ir.flow.nets.reduction import MatchedPair, Reduction
from orgflow_ir.model import Scope

__all__ = ["MatchedPair", "Reduction", "ScopeReduction", "reduce_scope"]


def reduce_scope(scope: Scope) -> Reduction:
    """Reduce one scope, without its sub-processes."""
    return reduce_net(lower_scope(scope), careful=False)


class ScopeReduction:
    """The net of a scope and its reduction, computed once and shared."""

    def __init__(self, graph: ControlFlow) -> None:
        self.scope = graph.scope

    @cached_property
    def net(self) -> Net:
        """The scope lowered to exclusive, parallel and inclusive nodes."""
        return lower_scope(self.scope)

    @cached_property
    def reduction(self) -> Reduction:
        """What `reduce_scope` finds."""
        return reduce_net(self.net, careful=False)
