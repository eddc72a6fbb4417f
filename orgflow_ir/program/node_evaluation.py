"""What every evaluation of a program has in common: one case for each kind of node."""

from __future__ import annotations

from typing import Any, assert_never

from orgflow_ir.program.syntax import Apply, Constant, Exact, Structure, Tree, Variable


class Evaluation:
    """One evaluation of a tree; a kind of evaluation has the meaning of names."""

    __slots__ = ()

    def value(self, tree: Tree) -> Any:
        """The value of a node. Raises `NoAnswer` for an error of the language."""
        match tree:
            case Constant(value):
                return value
            case Variable():
                return self.read(tree)
            case Apply():
                return self.compute(tree)
            case Exact():
                return self.compute_exact(tree)
            case Structure():
                return self.compute_structure(tree)
            case _:
                assert_never(tree)

    def compute(self, tree: Apply) -> Any:
        """The value of an operation."""
        return tree.operation.compute(tree, self.value)

    def read(self, variable: Variable) -> Any:
        """The value of a variable."""
        raise NotImplementedError

    def compute_exact(self, tree: Exact) -> Any:
        """The value of a program over exact values."""
        raise NotImplementedError

    def compute_structure(self, tree: Structure) -> Any:
        """The value of a node that binds names or makes a structure."""
        raise NotImplementedError
