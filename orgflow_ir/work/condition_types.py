"""The type of a variable, inferred from the conditions that read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgflow_ir.program import methods
from orgflow_ir.program.evaluation_guards import null_tested
from orgflow_ir.program.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Constant,
    Exact,
    Logical,
    Negative,
    Not,
    Tree,
    Variable,
    children,
    nodes,
    variables,
)
from orgflow_ir.work.asked_fields import AskedField, AskedType, Option


def typed_variables(trees: Iterable[Tree]) -> tuple[AskedField, ...]:
    """The variables that trees read, each with the type that its use implies: a truth value if it
    is used alone, a number if it is compared or combined with one, one of several texts if it is
    only compared with texts. A variable may be left blank if a tree tests for that. A path such as
    `order.amount` is not a field."""
    types: dict[str, list[AskedType | None]] = {}
    texts: dict[str, dict[str, None]] = {}
    given = tuple(trees)
    unknown: set[str] = set()
    blank = null_tested(given)
    for tree in given:
        unknown |= set(_list_untyped(tree))
        for name, type, text in _list_uses(tree, as_truth=True):
            types.setdefault(name, []).append(type)
            if text is not None:
                texts.setdefault(name, {})[text] = None
    return tuple(
        _typed_field(name, types[name], tuple(texts.get(name, ())), (name,) not in blank)
        for name in types
        if name not in unknown
    )


_OF_LISTS = (
    methods.SIZE, methods.COUNT, methods.IS_EMPTY, methods.CONTAINS, methods.HAS,
)  # fmt: skip


def _list_untyped(tree: Tree) -> Iterator[str]:
    """Variables of which the use does not tell what is entered: parts of whole FEEL expressions,
    and what may be a list."""
    for node in nodes(tree):
        if isinstance(node, Exact):
            yield from (path[0] for path in node.paths)
        elif isinstance(node, Call) and node.operation in _OF_LISTS:
            yield from (path[0] for path in variables(node))


def _typed_field(
    name: str, types: list[AskedType | None], texts: tuple[str, ...], required: bool
) -> AskedField:
    kinds = {t for t in types if t is not None}
    label = name.replace("_", " ").strip() or name
    type: AskedType = kinds.pop() if len(kinds) == 1 else "text"
    if type == "choice":
        options = tuple(Option(text, text or "(blank)") for text in texts)
        return AskedField(
            name, label, type, options, open=True, required=required, source="condition"
        )
    return AskedField(name, label, type, required=required, source="condition")


def _list_uses(tree: Tree, *, as_truth: bool) -> Iterator[tuple[str, AskedType | None, str | None]]:
    """Each variable read in a tree with the type of this use and the text it is compared with."""
    match tree:
        case Variable(path):
            if len(path) == 1:
                yield path[0], "boolean" if as_truth else None, None
        case Comparison():
            for side, other in ((tree.left, tree.right), (tree.right, tree.left)):
                if not isinstance(side, Variable):
                    yield from _list_uses(side, as_truth=False)
                elif len(side.path) == 1:
                    yield side.path[0], *_compared_type(tree.operator, other)
        case Not() | Logical():
            for child in children(tree):
                yield from _list_uses(child, as_truth=True)
        case Arithmetic() | Negative():
            for child in children(tree):
                for name, type, text in _list_uses(child, as_truth=False):
                    yield name, type or "number", text
        case Call():
            for child in children(tree):
                for name, type, text in _list_uses(child, as_truth=False):
                    yield name, type or "text", text
        case _:
            for child in children(tree):
                yield from _list_uses(child, as_truth=False)


def _compared_type(operator: str, other: Tree) -> tuple[AskedType | None, str | None]:
    if isinstance(other, Arithmetic | Negative):
        return "number", None
    if not isinstance(other, Constant) or other.value is None:
        return None, None
    if isinstance(other.value, bool):
        return "boolean", None
    if isinstance(other.value, str):
        return ("choice", other.value) if operator in ("==", "!=") else ("text", None)
    return "number", None
