"""Names in code: those of functions, and those that a function gives to its values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

UNCLEAR = ("found", "one", "said", "made", "told", "ways")
"""Names that state neither what a value is nor where it comes from."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def list_functions(tree: ast.AST) -> Iterator[Function]:
    """All functions: of the module, of classes, and those inside others."""
    yield from (node for node in ast.walk(tree) if isinstance(node, Function))


def list_module_functions(tree: ast.Module) -> Iterator[Function]:
    """Functions of the module itself, those in an `if` or a `try` included."""
    todo: list[ast.AST] = list(reversed(tree.body))
    while todo:
        node = todo.pop()
        if isinstance(node, Function):
            yield node
        elif isinstance(node, ast.If | ast.Try | ast.ExceptHandler | ast.With):
            todo += reversed(list(ast.iter_child_nodes(node)))


def is_counted(name: str) -> bool:
    """Whether a function's name is its author's choice: Python gives `__len__`, click `command`."""
    return name != "command" and not (name.startswith("__") and name.endswith("__"))


def is_one_word(name: str) -> bool:
    """Whether a name has no underscore inside, after its leading ones."""
    return "_" not in name.lstrip("_")


def list_bound_names(tree: ast.AST) -> Iterator[str]:
    """Names that code binds, once a place: targets of assignments, loops, `with`, `except` and
    patterns, parameters and functions. Attributes and imports are not counted."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                yield name
            case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
                yield name


def count_one_word_functions(tree: ast.Module) -> int:
    """Functions of the module itself with a name of one word."""
    names = (function.name for function in list_module_functions(tree))
    return sum(is_counted(name) and is_one_word(name) for name in names)


def count_unclear_names(tree: ast.AST) -> int:
    """Places that bind one of the `UNCLEAR` names."""
    return sum(name in UNCLEAR for name in list_bound_names(tree))
