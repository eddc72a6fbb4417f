"""Trees with other variables: values in their place, other paths, readings and types."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orgflow_ir.program import methods, readings
from orgflow_ir.program.syntax import (
    Apply,
    ConditionError,
    Constant,
    Exact,
    KnownType,
    Path,
    Reading,
    Tree,
    Variable,
    with_operands,
)


def replace_variables(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """The tree with values for some variables; a path into one becomes an entry of its value.
    Raises `ConditionError` for a FEEL expression that reads one of them."""
    if isinstance(tree, Variable) and (value := values.get(tree.path[0])) is not None:
        for step in tree.path[1:]:
            key = Constant(int(step) if step.isdigit() else step)
            value = methods.ENTRY(value, key, span=tree.span)
        return value
    if isinstance(tree, Exact) and any(path[0] in values for path in tree.paths):
        raise ConditionError("its variables are not supported here")
    if isinstance(tree, Apply):
        return with_operands(tree, lambda operand: replace_variables(operand, values))
    return tree


def with_reading(tree: Variable, reading: Reading | None) -> Variable:
    """The variable, read in another way."""
    return Variable(tree.path, tree.span, reading, tree.counted, tree.got, tree.type)


def with_paths(tree: Tree, path: Callable[[Path], Path]) -> Tree:
    """The tree with other paths of its variables, except those in FEEL expressions."""
    if isinstance(tree, Variable):
        new = path(tree.path)
        return Variable(new, tree.span, tree.reading, tree.counted, tree.got, tree.type)
    if isinstance(tree, Apply):
        return with_operands(tree, lambda operand: with_paths(operand, path))
    return tree


def with_members(tree: Tree) -> Tree:
    """The tree with paths as members of objects."""
    if isinstance(tree, Variable):
        plain = len(tree.path) == 1 or readings.is_entry(tree)
        return tree if plain else Variable(tree.path, tree.span, readings.MEMBER)
    return with_operands(tree, with_members) if isinstance(tree, Apply) else tree


def with_types(tree: Tree, types: Callable[[Path], KnownType | None]) -> Tree:
    """The tree with variables of known types; FEEL expressions of which all variables are known may
    become trees of the shared grammar."""
    if isinstance(tree, Exact):
        from orgflow_ir.program.feel_elaboration import elaborate_typed  # in few models

        shared = elaborate_typed(tree.body, types)
        return tree if shared is None else shared
    if isinstance(tree, Variable):
        if tree.reading is not None or tree.type is not None:
            return tree
        known = types(tree.path)
        return tree if known is None else Variable(tree.path, tree.span, type=known)
    if isinstance(tree, Apply):
        return with_operands(tree, lambda operand: with_types(operand, types))
    return tree
