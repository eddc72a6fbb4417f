"""Reads of an evaluation with their guards: the truth values of operands that lead to each.

`and` and `or` short-circuit, and a conditional expression evaluates one of its branches.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program import methods
from orgflow_ir.program.syntax import (
    Call,
    Comparison,
    Conditional,
    Constant,
    Empty,
    Exact,
    Logical,
    Not,
    Path,
    Tree,
    Variable,
    children,
    nodes,
    variables,
)


def null_tested(trees: Iterable[Tree]) -> frozenset[Path]:
    """Paths that some tree tests for null or empty."""
    paths: set[Path] = set()
    for tree in trees:
        for node in nodes(tree):
            if isinstance(node, Empty):
                paths.update(variables(node))
            if isinstance(node, Comparison) and Constant(None) in (node.left, node.right):
                paths.update(variables(node))
            if isinstance(node, Exact):
                paths.update(path for path in node.paths if path[0] in node.tested)
    return frozenset(paths)


Guards = tuple[tuple[Tree, bool], ...]
"""Trees with their required truth values."""


class Need(NamedTuple):
    """Variables that an evaluation reads if every tree of `guards` has its required truth value;
    the variables of a guard are needed earlier."""

    guards: Guards
    names: tuple[str, ...]


def list_needs(
    trees: Iterable[Tree], exempt: frozenset[Path] = frozenset(), *, in_turn: bool
) -> tuple[Need, ...]:
    """The variables that an engine reads when it evaluates conditions, in this order: `and` and
    `or` short-circuit, and with `in_turn` evaluation stops at the first condition that holds. An
    instance ends with an error only when it reads an unset variable.

    Paths in `exempt`, and needs implied by earlier ones, are omitted. A missing property of an
    existing variable is null (Jakarta Expression Language 3.0, 1.6).
    """
    needs: list[Need] = []
    before: Guards = ()
    known: dict[str, list[Guards]] = {}

    def add(guards: Guards, path: Path) -> None:
        earlier = known.setdefault(path[0], [])
        if path in exempt or is_implied(guards, earlier):
            return
        earlier.append(guards)
        if needs and needs[-1].guards == guards:
            needs[-1] = Need(guards, (*needs[-1].names, path[0]))
        else:
            needs.append(Need(guards, (path[0],)))

    for tree in trees:
        for guards, path in _list_reads(tree, before):
            add(guards, path)
        if in_turn:
            before = (*before, (tree, False))
    first = [n for n in needs if not n.guards]
    always = tuple(name for need in first for name in need.names)
    rest = tuple(n for n in needs if n.guards)
    return (Need((), always), *rest) if always else rest


def list_method_calls(trees: Iterable[Tree], *, in_turn: bool) -> tuple[tuple[Guards, Call], ...]:
    """Methods that conditions call on variables or with them, in evaluation order (`list_needs`),
    each with its guards: an engine may end with an error there."""
    calls: dict[tuple[Guards, Call], None] = {}
    before: Guards = ()
    for tree in trees:
        for guards, node in walk_guarded(tree, before):
            if not isinstance(node, Call) or node.method.checked == "nothing":
                continue
            checked = node.operands[:1] if node.method.checked == "receiver" else node.operands
            if any(isinstance(operand, Variable) for operand in checked):
                calls[guards, node] = None
        if in_turn:
            before = (*before, (tree, False))
    return tuple(calls)


_MOST_ATOMS = 8


def is_implied(guards: Guards, earlier: Iterable[Guards]) -> bool:
    """Whether, where all of `guards` hold, all of some list in `earlier` do, by logic alone."""
    lists = list(earlier)
    if () in lists or guards in lists:
        return True
    atoms = list(
        dict.fromkeys(a for some in (guards, *lists) for tree, _ in some for a in _list_atoms(tree))
    )
    if not lists or len(atoms) > _MOST_ATOMS:
        return False
    for values in itertools.product((True, False), repeat=len(atoms)):
        truth = dict(zip(atoms, values, strict=True))

        def hold(some: Guards, truth: Mapping[Tree, bool] = truth) -> bool:
            return all(_evaluate_logic(tree, truth) is wanted for tree, wanted in some)

        if hold(guards) and not any(map(hold, lists)):
            return False
    return True


def _list_atoms(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree, Not | Logical):
        for child in children(tree):
            yield from _list_atoms(child)
    else:
        yield _strip_truth_test(tree)


def _strip_truth_test(tree: Tree) -> Tree:
    """The variable whose truth value in JUEL a tree is; any other tree is itself."""
    is_true = isinstance(tree, Call) and tree.operation is methods.IS_TRUE
    return children(tree)[0] if is_true else tree


def _evaluate_logic(tree: Tree, truth: Mapping[Tree, bool]) -> bool:
    if isinstance(tree, Not):
        return not _evaluate_logic(tree.operand, truth)
    if isinstance(tree, Logical):
        left, right = _evaluate_logic(tree.left, truth), _evaluate_logic(tree.right, truth)
        return (left and right) if tree.operator == "and" else (left or right)
    return truth[_strip_truth_test(tree)]


def _list_reads(tree: Tree, guards: Guards) -> Iterator[tuple[Guards, Path]]:
    """Paths in the order in which an evaluation reads them, each with what has to hold for it."""
    for before, node in walk_guarded(tree, guards):
        if isinstance(node, Variable):
            yield before, node.path
        elif isinstance(node, Exact):
            yield from ((before, path) for path in node.paths)


def walk_guarded(tree: Tree, guards: Guards) -> Iterator[tuple[Guards, Tree]]:
    """The nodes in evaluation order, each with its guards."""
    yield guards, tree
    if isinstance(tree, Logical):
        yield from walk_guarded(tree.left, guards)
        yield from walk_guarded(tree.right, (*guards, right_guard(tree)))
    elif isinstance(tree, Conditional):
        yield from walk_guarded(tree.condition, guards)
        condition = tree.operation.guard(tree.condition)
        yield from walk_guarded(tree.then, (*guards, (condition, True)))
        yield from walk_guarded(tree.otherwise, (*guards, (condition, False)))
    else:
        for child in children(tree):
            yield from walk_guarded(child, guards)


def right_guard(tree: Logical) -> tuple[Tree, bool]:
    """What has to hold for the right operand to be evaluated."""
    return tree.operation.guard(tree.left), tree.operator == "and"
