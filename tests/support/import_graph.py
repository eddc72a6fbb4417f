"""Imports between modules: those that run when a module is imported, and all of them."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator, Mapping


def imported(text: str, *, at_import: bool = False) -> Iterator[str]:
    """Names that a module imports, as `a.b` for `from a import b`; not those for types alone.

    Args:
        text: the module's code.
        at_import: only those that run when the module is imported, not those in functions.
    """
    todo: list[ast.AST] = [ast.parse(text)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
        elif not (at_import and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            todo += ast.iter_child_nodes(node)


def graph(modules: Mapping[str, str]) -> dict[str, set[str]]:
    """The modules that each one imports when it is imported itself, by the text of each."""
    found: dict[str, set[str]] = {}
    for name, text in modules.items():
        found[name] = set()
        for wanted in imported(text, at_import=True):
            while wanted and wanted not in modules:
                wanted = wanted.rpartition(".")[0]
            found[name] |= {wanted} - {"", name}
    return found


def cycle(edges: Mapping[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, the first one again at the end; empty without."""
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []
