"""Imports between the modules of the product, and the circles that they form.

A room is a folder with an `__init__.py`; a module at the root of `orgflow` or `orgflow_ir` is a
room of its own.

An import of `a.b.c` is an edge to the longest module that it names: to `a.b.c` if `c` is a module,
to the package `a.b` if `c` is a name in `a/b/__init__.py`. Python also runs `a/__init__.py`, which
is no edge: a package that re-exports names would otherwise form a circle with its own modules.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeGuard

FOLDERS = (
    "orgflow_ir", "frontends", "backends", "passes", "agents", "store", "compilation", "evaluation",
    "commands",
)  # fmt: skip
"""The folders of a checkout that are shipped, in addition to the modules at its root."""

Edges = Mapping[str, set[str]]
"""Names of modules or rooms, and those that each of them imports."""


def list_sources(root: Path) -> Iterator[Path]:
    """The shipped Python files of a checkout, in a fixed order."""
    yield from sorted(root.glob("*.py"))
    for folder in FOLDERS:
        yield from sorted((root / folder).rglob("*.py"))


def module_name(path: Path, root: Path) -> str:
    """The dotted name by which a file of a checkout is imported."""
    parts = path.relative_to(root).with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts if parts[:1] == ("orgflow_ir",) else ("orgflow", *parts))


def room_name(module: str, packages: Collection[str]) -> str:
    """The room of a module: the module itself if it is one of `packages` or lies at the root."""
    parent = module.rpartition(".")[0]
    return module if module in packages or parent in ("", "orgflow", "orgflow_ir") else parent


def list_imports(text: str, *, runs_at_import: bool = False) -> Iterator[str]:
    """Names that a module imports, as `a.b` for `from a import b`; lazy modules are imported too.

    Args:
        text: the module's code.
        runs_at_import: only imports that run when the module is imported: not those in functions
            and not those for types alone (`if TYPE_CHECKING:`).

    Raises:
        ValueError: an import is relative.
    """
    todo: list[ast.AST] = [ast.parse(text)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"line {node.lineno}: a relative import")
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif not runs_at_import and (lazy := lazy_module_name(node)) is not None:
            yield lazy
        elif runs_at_import and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        elif runs_at_import and _is_for_types(node):
            todo += node.orelse
        else:
            todo += ast.iter_child_nodes(node)


def lazy_module_name(node: ast.AST) -> str | None:
    """The module for which a call of `LazyModule` stands, `None` for anything else."""
    match node:
        case ast.Call(func=ast.Name(id="LazyModule"), args=[ast.Constant(value=str() as name)]):
            return name
        case _:
            return None


def list_lazy_modules(text: str) -> Iterator[tuple[str, str]]:
    """The lazy modules of a module: the name that each is assigned to, and the module.

    Raises:
        ValueError: one is not assigned to a name, or its module is not a literal.
    """
    for node in ast.walk(tree := ast.parse(text)):
        if isinstance(node, ast.Assign) and (module := lazy_module_name(node.value)) is not None:
            yield ast.unparse(node.targets[0]), module
    assigned = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Assign)}
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and ast.unparse(node.func) == "LazyModule"
        if is_call and (lazy_module_name(node) is None or id(node) not in assigned):
            raise ValueError("a lazy module that is no assignment of a literal name")


def list_type_imports(text: str) -> Iterator[tuple[str, str]]:
    """Imports for types alone: the name that each binds, and what it names, as `a.b`."""
    for block in filter(_is_for_types, ast.parse(text).body):
        for node in block.body:
            if isinstance(node, ast.Import):
                yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _is_for_types(node: ast.AST) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def import_edges(
    modules: Mapping[str, str], *, runs_at_import: bool = False
) -> dict[str, set[str]]:
    """The modules that each module imports.

    Args:
        modules: the code of each module by its name.
        runs_at_import: see `list_imports`.
    """
    edges: dict[str, set[str]] = {}
    for name, text in modules.items():
        edges[name] = set()
        for imported in list_imports(text, runs_at_import=runs_at_import):
            while imported and imported not in modules:
                imported = imported.rpartition(".")[0]
            edges[name] |= {imported} - {"", name}
    return edges


@functools.cache
def read_modules(root: Path) -> dict[str, str]:
    """The code of each module of a checkout by its name."""
    return {module_name(path, root): path.read_text("utf-8") for path in list_sources(root)}


@functools.cache
def read_edges(root: Path) -> Edges:
    """The modules that each module of a checkout imports, over all imports."""
    return import_edges(read_modules(root))


def read_packages(root: Path) -> frozenset[str]:
    """Names of the packages of a checkout."""
    files = (path for path in list_sources(root) if path.name == "__init__.py")
    return frozenset(module_name(path, root) for path in files)


def room_edges(edges: Edges, packages: Collection[str]) -> dict[tuple[str, str], set[str]]:
    """Imports between rooms: importing and imported room, and the modules of both, as `a > b`."""
    between: dict[tuple[str, str], set[str]] = {}
    for module, imported in edges.items():
        for other in imported:
            pair = (room_name(module, packages), room_name(other, packages))
            if pair[0] != pair[1]:
                between.setdefault(pair, set()).add(f"{module} > {other}")
    return between


def join_pairs(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Pairs as edges."""
    edges: dict[str, set[str]] = {}
    for source, target in pairs:
        edges.setdefault(source, set()).add(target)
        edges.setdefault(target, set())
    return edges


def find_circles(edges: Edges) -> list[tuple[str, ...]]:
    """The strongly connected components of more than one name, each sorted, the largest first.

    Tarjan's algorithm (1972), without recursion: `order` is the number of a name's first visit,
    `lowest` the smallest such number that is reachable within the open component.
    """
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_names: list[str] = []
    is_open: set[str] = set()
    circles: list[tuple[str, ...]] = []

    def enter(name: str) -> tuple[str, Iterator[str]]:
        order[name] = lowest[name] = len(order)
        open_names.append(name)
        is_open.add(name)
        return name, iter(sorted(edges.get(name, ())))

    for start in sorted(edges):
        path = [] if start in order else [enter(start)]
        while path:
            name, followers = path[-1]
            for follower in followers:
                if follower not in order:
                    path.append(enter(follower))
                    break
                if follower in is_open:
                    lowest[name] = min(lowest[name], order[follower])
            else:
                # All followers are visited: pass the number on, and close a finished component.
                path.pop()
                if path:
                    before = path[-1][0]
                    lowest[before] = min(lowest[before], lowest[name])
                if lowest[name] == order[name]:
                    at = open_names.index(name)
                    component = open_names[at:]
                    del open_names[at:]
                    is_open.difference_update(component)
                    if len(component) > 1:
                        circles.append(tuple(sorted(component)))
    return sorted(circles, key=lambda circle: (-len(circle), circle))
