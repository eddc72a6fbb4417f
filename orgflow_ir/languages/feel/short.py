"""FEEL expressions over variables of known types, as trees of the shared grammar."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from orgflow_ir.languages.feel.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Literal,
    Logical,
    Name,
    Path,
    Tree,
)
from orgflow_ir.program import syntax
from orgflow_ir.program.exact import is_decided_by_doubles, terms
from orgflow_ir.program.feel_operators import FEEL
from orgflow_ir.program.syntax import Feel, KnownType, Variable

_MOST_DIGITS = 15


def shared_tree(feel: Feel, types: Callable[[syntax.Path], KnownType | None]) -> syntax.Tree | None:
    """The expression as a tree of the shared grammar; `None` if it may have another value there.

    Args:
        feel: an expression.
        types: the known types of variables.
    """
    try:
        return _logical(feel.tree, types)
    except _Other:
        return None


class _Other(Exception):
    """The expression is not in the shared grammar, or its variables are not known."""


_Types = Callable[[syntax.Path], KnownType | None]


def _logical(tree: Tree, types: _Types) -> syntax.Tree:
    match tree:
        case Logical(word, left, right):
            return FEEL.logic[word](_logical(left, types), _logical(right, types))
        case Call(Name("not"), (operand,), None):
            return FEEL.negation(_logical(operand, types))
        case Comparison(sign, left, right):
            operator: syntax.ComparisonOperator = "==" if sign == "=" else sign
            one, two = _number(left, types), _number(right, types)
            compared = FEEL.comparison[operator](one, two)
            if not is_decided_by_doubles(compared) and terms(compared) is None:
                raise _Other
            return compared
        case Name() | Path():
            variable = _variable(tree, types)
            if variable.type == "truth":
                return variable
    raise _Other


def _number(tree: Tree, types: _Types) -> syntax.Tree:
    """A number, or what is computed of numbers."""
    match tree:
        case Arithmetic(("+" | "-" | "*") as operator, left, right):
            one, two = _number(left, types), _number(right, types)
            return FEEL.arithmetic[operator](one, two)
        case Literal(Decimal() as value) if len(value.as_tuple().digits) <= _MOST_DIGITS:
            whole = value == value.to_integral_value()
            return syntax.Constant(int(value) if whole else float(value))
        case Name() | Path():
            found = _variable(tree, types)
            if found.type in ("number", "whole"):
                return found
    raise _Other


def _variable(tree: Tree, types: _Types) -> Variable:
    path: list[str] = []
    while isinstance(tree, Path):
        path.insert(0, tree.name)
        tree = tree.base
    if not isinstance(tree, Name):
        raise _Other
    known = types((tree.name, *path))
    if known is None:
        raise _Other
    return Variable((tree.name, *path), type=known)
