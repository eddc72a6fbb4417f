"""Kinds of values in code: which of them a class is, and exceptions to the rules of kinds.

A class of values is one of these:

- `Value`: content of a model, which is read and written as JSON.
- `NamedTuple`: any other value.
- a frozen `dataclass`: a value that is compared by its class too, because it has a base, is a base
  or is one of several kinds (`A | B`); and a leaf whose fields are its options.
- a `dataclass` with `eq=False`: an object with state, compared by identity.

`NamedTuple` and `dataclass` are those of `orgflow_ir.model.records`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

MAKERS = frozenset({"orgflow_ir/model/records.py", "orgflow_ir/model/value.py"})
"""Files that use those of the standard library, to make ours."""

SLOW = {"typing": "NamedTuple", "dataclasses": "dataclass"}
LEFT_TO_ORIGINAL = frozenset({"slots", "order", "kw_only"})
"""Arguments for which `orgflow_ir.model.records.dataclass` calls that of the standard library."""

NO_TUPLE = frozenset({"__post_init__", "__iter__", "__len__", "__bool__", "__getitem__", "__eq__"})
"""Methods of classes that a named tuple cannot replace."""


def list_classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    """All classes, those in functions included."""
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def last_name(node: ast.expr) -> str:
    """The name of a class that an expression names: `A` for `a.A` and for `A[int]`."""
    return ast.unparse(node).partition("[")[0].rpartition(".")[2]


def dataclass_arguments(node: ast.ClassDef) -> dict[str, bool] | None:
    """The arguments of a class's `dataclass` decorator that are on; `None` without a decorator."""
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        if last_name(call.func if call is not None else decorator) == "dataclass":
            keywords = call.keywords if call is not None else []
            return {word.arg or "": ast.unparse(word.value) == "True" for word in keywords}
    return None


def list_alternatives(node: ast.BinOp) -> list[ast.expr]:
    """The parts of `A | B | …`, without `None`."""
    parts: list[ast.expr] = []
    todo: list[ast.expr] = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
            todo += (part.left, part.right)
        elif not (isinstance(part, ast.Constant) and part.value is None):
            parts.append(part)
    return parts


def list_compared_by_class(trees: Collection[ast.AST]) -> frozenset[str]:
    """Names of classes that are bases of others, or one of several kinds."""
    names: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                names.update(map(last_name, node.bases))
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
                parts = list_alternatives(node)
                names.update(map(last_name, parts) if len(parts) > 1 else ())
    return frozenset(names)


def could_be_tuple(node: ast.ClassDef, compared_by_class: Collection[str]) -> bool:
    """Whether a frozen dataclass is a plain value that a named tuple can be."""
    if node.bases or node.name in compared_by_class:
        return False
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    cached = any("cached_property" in map(ast.unparse, m.decorator_list) for m in methods)
    calls = {ast.unparse(c.func) for c in ast.walk(node) if isinstance(c, ast.Call)}
    return not cached and "field" not in calls and NO_TUPLE.isdisjoint(m.name for m in methods)


def count_file(path: str, tree: ast.AST, compared_by_class: Collection[str]) -> Counter[str]:
    """Exceptions of one file to the rules of kinds, by rule."""
    counts: Counter[str] = Counter()
    if path not in MAKERS:
        counts["kinds of the standard library"] = sum(
            SLOW.get(node.module or "") == alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ) + sum(
            f"{node.value.id}.{node.attr}" in ("typing.NamedTuple", "dataclasses.dataclass")
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        )
    for node in list_classes(tree):
        arguments = dataclass_arguments(node)
        if arguments is None:
            continue
        counts["dataclasses with rare arguments"] += not LEFT_TO_ORIGINAL.isdisjoint(arguments)
        if not arguments.get("frozen"):
            counts["objects with state that are compared by content"] += "eq" not in arguments
        elif "eq" not in arguments:
            counts["frozen dataclasses that a named tuple can be"] += could_be_tuple(
                node, compared_by_class
            )
    return counts


def count_values(trees: Mapping[str, ast.AST]) -> dict[str, dict[str, int]]:
    """Exceptions by file and rule; files without any are left out. `trees`: code by path."""
    compared_by_class = list_compared_by_class(list(trees.values()))
    counts = {path: count_file(path, tree, compared_by_class) for path, tree in trees.items()}
    return {
        path: {rule: number for rule, number in rules.items() if number}
        for path, rules in counts.items()
        if any(rules.values())
    }
