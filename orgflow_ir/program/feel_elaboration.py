"""Programs of FEEL over values of JSON, where these have the same value as exact ones.

A condition such as `amount > 100 and not(order.urgent)` reads variables of any type. Every target
computes its operations with the numbers of JSON; the whole language computes with decimals, dates
and functions (`structures`). An expression becomes a program over values of JSON if no value of its
variables makes a difference:

- Numbers: a comparison with arithmetic is shared if doubles decide it as decimals do (`exact`).
- Lists: `a[1].b` counts from 1 and reads an entry of each element, so it becomes the methods `item`
  and `part`, which are compared with constants only.
- Texts have another order in UTF-16 beyond U+D7FF.
- Two parts of contexts may be lists, which have no equality in JavaScript.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeGuard

from orgflow_ir.program import feel_operators, structures
from orgflow_ir.program.exact import is_decided_by_doubles, list_terms
from orgflow_ir.program.feel_operators import FEEL, POWER, exact_comparison, is_feel_comparison
from orgflow_ir.program.java_operators import EQUALS_METHOD, JAVA
from orgflow_ir.program.methods import COMMON_METHODS
from orgflow_ir.program.readings import ENGINE_OBJECTS, OBJECT_NAMES
from orgflow_ir.program.syntax import (
    OPPOSITE,
    Arithmetic,
    Call,
    Comparison,
    ConditionError,
    Constant,
    Empty,
    KnownType,
    Logical,
    Negative,
    Not,
    Path,
    Span,
    Tree,
    Variable,
    children,
    nodes,
    with_operands,
)

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_BEYOND_UTF16 = "\ud800"
_MOST_DIGITS = 15
"""Digits of a constant that is compared with variables of known types."""


class _Beyond(ConditionError):
    """The expression has no form in shared operations."""

    def __init__(self, reason: str = "only variables and constants can be compared here") -> None:
        super().__init__(reason)


def elaborate_expression(tree: Tree, start: int) -> Tree | None:
    """The expression in shared operations; `None` if these may have another value.

    Args:
        tree: an expression.
        start: the position of its text, to which spans are relative.
    """
    try:
        shared = translate_operators(tree, start)
    except _Beyond:
        return None
    return None if _needs_feel(shared) else _share_parts(shared)


def elaborate_typed(tree: Tree, types: Callable[[Path], KnownType | None]) -> Tree | None:
    """The expression in shared operations for variables of these types; `None` if these may have
    another value, or if the type of a variable is not known."""
    try:
        return _share_truth(translate_operators(tree, 0), types)
    except _Beyond:
        return None


def translate_operators(tree: Tree, start: int) -> Tree:
    """The expression with each operator as the shared one of the same sign, whatever the values
    are. Arguments are those of `elaborate_expression`. Raises `ConditionError` if it has other
    constructs."""
    return _Translation(start).tree(tree)


class _Translation:
    """One translation of signs. Raises `_Beyond` for constructs without a sign."""

    def __init__(self, start: int) -> None:
        self.start = start

    def tree(self, tree: Tree) -> Tree:
        span = self.span(tree)
        match tree:
            case Constant(Decimal() as value):
                return Constant(_as_double(value), span)
            case Constant(value):
                return Constant(value, span)
            case Variable() | structures.Path() | structures.Filter():
                return Variable(self.path(tree), span)
            case structures.FunctionCall(_, (Constant(str()),)) if _reads_by_call(tree.function):
                return Variable(self.path(tree), span)
            case structures.FunctionCall(structures.Path(receiver, "equals"), (other,), None):
                rows = JAVA.comparison if isinstance(receiver, Constant) else EQUALS_METHOD
                return rows["=="](self.tree(receiver), self.tree(other), span=span)
            case Negative(operation, (operand,)) | Empty(operation, (operand,)):
                inner = self.tree(operand)
                return operation(inner, span=Span(span.start, inner.span.end))
            case Comparison() if _is_chained(tree):
                raise _Beyond
            case Comparison() | Logical() | Arithmetic() if tree.operation is not POWER:
                left, right = map(self.tree, tree.operands)
                return tree.operation(left, right, span=Span(left.span.start, right.span.end))
            case structures.FunctionCall(Variable(("not",)), (operand,), None):
                inner = self.tree(operand)
                return FEEL.negation(inner, span=Span(span.start, inner.span.end))
            case structures.FunctionCall(structures.Path(receiver, name), arguments, None) if (
                name in COMMON_METHODS
            ):
                method, count = COMMON_METHODS[name]
                if len(arguments) == count:
                    return method(*map(self.tree, (receiver, *arguments)), span=span)
            case structures.FunctionCall(Variable((name,)) | structures.Path(_, name)):
                raise _Beyond(f"calls of `{name}` are not supported")
        raise _Beyond

    def span(self, tree: Tree) -> Span:
        return Span(tree.span.start + self.start, tree.span.end + self.start)

    def path(self, tree: Tree) -> Path:
        """The names and constant numbers of a path."""
        match tree:
            case Variable((name,)) if name not in ENGINE_OBJECTS:
                steps: Path = ()
            case structures.Path(base, name):
                steps = self.path(base)
            case structures.Filter(base, Constant(Decimal() as place)):
                if place.as_tuple().exponent != 0:
                    raise _Beyond
                return (*self.path(base), str(place))
            case structures.Filter(base, Constant(str() as name)):
                return (*self.path(base), name)
            case structures.FunctionCall(function, (Constant(str() as name),), None) if (
                _reads_by_call(function)
            ):
                return (*(self.path(function.base) if _is_path(function) else ()), name)
            case _:
                raise _Beyond
        if name in OBJECT_NAMES or not _IDENTIFIER.fullmatch(name):
            raise _Beyond
        return (*steps, name)


def _is_path(function: Tree) -> TypeGuard[structures.Path]:
    return isinstance(function, structures.Path)


def _reads_by_call(function: Tree) -> bool:
    """Whether a function reads a variable or an entry: `getVariable("a")`, `order.get("a")`."""
    return function == Variable(("getVariable",)) or (_is_path(function) and function.name == "get")


def _is_chained(tree: Comparison) -> bool:
    """Whether a comparison is compared, as in `a < b < c`, without brackets."""
    left = tree.left
    return isinstance(left, Comparison) and left.span.start == tree.span.start


def _as_double(value: Decimal) -> int | float:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent > 0:
        raise _Beyond
    return int(value) if exponent == 0 else float(value)


# Variables of any type.


def _needs_feel(tree: Tree, negated: bool = False) -> bool:
    """Whether a tree has another value in FEEL: numbers that are no doubles, entries that are
    counted from 1, comparisons of what is not a variable or constant, and texts whose order is
    another one in UTF-16. `negated`: whether a `not` is around it."""
    match tree:
        case Comparison() if is_feel_comparison(tree):
            return _needs_feel_comparison(tree, negated)
        case Arithmetic() | Negative():
            return not isinstance(tree, Negative) or not isinstance(tree.operand, Constant)
        case Variable(path):
            return any(step.lstrip("-").isdigit() or step == "length" for step in path[1:])
        case Not():
            return _needs_feel(tree.operand, not negated)
    return any(_needs_feel(child, negated) for child in children(tree))


def _needs_feel_comparison(tree: Comparison, negated: bool) -> bool:
    left, right = sides = tree.operands
    operator = tree.operator
    if any(_is_out_of_order(s.value, operator) for s in sides if isinstance(s, Constant)):
        return True
    if isinstance(left, Arithmetic) or isinstance(right, Arithmetic):
        return _find_exact(tree, negated) is None
    paths = [side.path for side in sides if isinstance(side, Variable)]
    if len(paths) == 2 and operator in ("==", "!=") and max(map(len, paths)) > 1:
        return True  # parts of lists are lists, which may be equal
    sign = "!=" if negated and operator == "==" else operator
    return not all(_is_operand(s, other, sign) for s, other in ((left, right), (right, left)))


def _is_out_of_order(value: object, operator: str) -> bool:
    ordered = operator not in ("==", "!=")
    return ordered and isinstance(value, str) and any(c >= _BEYOND_UTF16 for c in value)


def _is_operand(side: Tree, other: Tree, operator: str) -> bool:
    """Whether a side of a comparison has the same meaning in shared operations, in which
    `_share_parts` distinguishes entries of lists from parts of contexts."""
    if isinstance(side, Negative):
        return isinstance(side.operand, Constant)
    if isinstance(side, Variable) and any(step.isdigit() for step in side.path):
        at = [n for n, step in enumerate(side.path) if step.isdigit()]
        parts = side.path[at[0] + 1 :]
        alone = len(at) == 1 and side.path[at[0]] != "0" and "length" not in parts
        # The same part of each entry of a list differs from a constant, in JavaScript too.
        fits = not parts or operator != "!="
        constant = isinstance(other, Constant | Negative) and other != Constant(None)
        return alone and fits and constant and not any(s.startswith("-") for s in side.path)
    return isinstance(side, Constant) or (isinstance(side, Variable) and not _needs_feel(side))


def _find_exact(tree: Comparison, negated: bool = False) -> Comparison | None:
    """A comparison with arithmetic that targets decide as the decimal numbers of FEEL do; `None` if
    there is none."""
    if any(_needs_feel(v) for v in nodes(tree) if isinstance(v, Variable)):
        return None
    exact = exact_comparison(tree)
    opposite = FEEL.comparison[OPPOSITE[tree.operator]](*tree.operands, span=tree.span)
    if exact is not None and exact_comparison(opposite) is not None:  # `not` may be around it
        return exact
    tried = opposite if negated and tree.operator == "==" else tree
    return tree if list_terms(tried) is not None else None


def _share_parts(tree: Tree) -> Tree:
    """The tree with entries of lists distinguished from parts of contexts, and with comparisons
    that doubles decide as decimal numbers do."""
    match tree:
        case Comparison(_, sides) if any(isinstance(side, Arithmetic) for side in sides):
            return _find_exact(tree) or tree
        case Comparison() | Logical() | Not():
            return with_operands(tree, _share_parts)
        case Variable(path, span):
            at = next((n for n, step in enumerate(path) if step.isdigit()), None)
            if at is not None:
                place = Constant(int(path[at]))
                entry = Call(feel_operators.ITEM, (Variable(path[:at], span), place), span)
                for step in path[at + 1 :]:
                    entry = Call(feel_operators.PART, (entry, Constant(step)), span)
                return entry
    return tree


# Variables of known types.


def _share_truth(tree: Tree, types: Callable[[Path], KnownType | None]) -> Tree:
    """A truth value, in terms of variables with their types."""
    match tree:
        case Logical() | Not():
            return with_operands(tree, lambda operand: _share_truth(operand, types))
        case Comparison() if is_feel_comparison(tree):
            compared = with_operands(tree, lambda side: _share_number(side, types))
            assert isinstance(compared, Comparison)
            if is_decided_by_doubles(compared) or list_terms(compared) is not None:
                return compared
        case Variable() if (typed := _type_variable(tree, types)).type == "truth":
            return typed
    raise _Beyond


def _share_number(tree: Tree, types: Callable[[Path], KnownType | None]) -> Tree:
    """A number, or what is computed of numbers."""
    match tree:
        case Arithmetic() if tree.operator in ("+", "-", "*"):
            return with_operands(tree, lambda side: _share_number(side, types))
        case Constant(int() | float() as value) if not isinstance(value, bool):
            number = Decimal(str(value))
            if len(number.as_tuple().digits) <= _MOST_DIGITS:
                return Constant(int(value) if value == int(value) else value, tree.span)
        case Variable() if (typed := _type_variable(tree, types)).type in ("number", "whole"):
            return typed
    raise _Beyond


def _type_variable(tree: Variable, types: Callable[[Path], KnownType | None]) -> Variable:
    known = types(tree.path)
    if known is None or any(step.isdigit() for step in tree.path):
        raise _Beyond
    return Variable(tree.path, tree.span, type=known)
