"""What operands of conditions and scripts have to be at run time, in the order of evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program import requirements
from orgflow_ir.program.evaluation_guards import Guards, is_implied, right_guard, walk_guarded
from orgflow_ir.program.syntax import (
    Apply,
    Found,
    KnownType,
    Logical,
    Path,
    Requirement,
    Tree,
    Variable,
    kind_of,
    variables,
)


class Demand(NamedTuple):
    """What one or two operands have to be if every tree of `guards` has its truth value."""

    guards: Guards
    requirement: Requirement
    operands: tuple[Tree, ...]


def demands(
    trees: Iterable[Tree],
    types: Callable[[Path], KnownType | None] = lambda _: None,
    *,
    in_turn: bool,
) -> tuple[Demand, ...]:
    """The demands of trees in evaluation order (`needed`), without those that the known types of
    variables meet and those that earlier ones imply."""
    collected: dict[Demand, None] = {}
    known: dict[Found, list[Guards]] = {}
    before: Guards = ()
    for tree in trees:
        for guards, node in walk_guarded(tree, before):
            for requirement, operands in find_requirements(node):
                inner = guards
                if isinstance(node, Logical) and operands[0] is node.right:
                    inner = (*guards, right_guard(node))
                if _is_met(requirement, operands, types):
                    continue
                earlier = known.setdefault((requirement, operands), [])
                if not is_implied(inner, earlier):
                    earlier.append(inner)
                    collected[Demand(inner, requirement, operands)] = None
        if in_turn:
            before = (*before, (tree, False))
    return tuple(collected)


def find_requirements(node: Tree) -> Iterable[Found]:
    """The requirements of a node for its operands, or of a variable for its parts."""
    if isinstance(node, Apply):
        return node.operation.requirements(node)
    if isinstance(node, Variable) and node.reading is not None:
        return node.reading.requirements(node)
    return ()


def _is_met(
    requirement: Requirement,
    operands: tuple[Tree, ...],
    types: Callable[[Path], KnownType | None],
) -> bool:
    """Whether operands of known types meet a requirement, whatever their values are."""
    known = [
        types(operand.path) if isinstance(operand, Variable) else kind_of(operand)
        for operand in operands
    ]
    if requirement in requirements.MET_BY_ONE_TYPE:
        kinds = {"number" if kind == "whole" else kind for kind in known}
        return None not in kinds and len(kinds) == 1
    return all(
        kind is not None
        and (
            kind in requirement.met_by
            or (not isinstance(operand, Variable) and kind in requirement.met_by_computed)
        )
        for operand, kind in zip(operands, known, strict=True)
    )


def name_operand(tree: Tree) -> str:
    """The name of an operand: a variable, or what is computed from variables."""
    if isinstance(tree, Variable):
        return f"“{'.'.join(tree.path)}”"
    names = [f"“{'.'.join(path)}”" for path in dict.fromkeys(variables(tree))]
    return f"a value computed from {join_listed(names)}" if names else "a constant"
