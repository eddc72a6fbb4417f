"""Figures of one checkout's code, each file read once: rooms, imports, names, branches, concepts.

Definitions:

- A *room* is a folder with an `__init__.py`; a module at the root of `orgflow` or `orgflow_ir` is a
  room of its own. A *circle* is a set of rooms or files that import each other directly or
  indirectly. All imports count: at the top of a module, inside functions, and those for types
  alone.
- A *name of one word* has no underscore inside after its leading ones are stripped. Dunder methods
  (`__len__`) and functions named `command` (click's) are not counted. Lengths include leading
  underscores.
- A *local name* is counted once for each place that assigns it (assignments, loops, `with`, `:=`).
- The *branches* of a function: `if` and `elif`, conditional expressions, `for`, `while`, `except`,
  `case`, each operand of `and` and `or` after the first, each `if` of a comprehension; those of
  functions inside it belong to the inner function.
- A file *knows a comparison of a language* if one of its definitions (a function, a method, an
  assignment, a class's field) names both: the language as a word of an identifier or of a string of
  at most 40 characters, or in the file's path; the comparison as the string of its sign or as one
  of its words (`COMPARISONS`). A file *knows timers* if a word of its identifiers or of such a
  string is `timer` or `timers`. Docstrings, comments and imports do not count.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import code_names
import import_graph

BRANCHES = (
    ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case,
)  # fmt: skip
MOST_BRANCHES = 15
LONGEST_STRING = 40
COMPARISONS = {
    "files that know FEEL's <": ("feel", {"<", "less", "ordered"}),
    "files that know JUEL's ==": ("juel", {"==", "equal", "equals"}),
}
"""For each figure: the word of a language, and the signs and words of a comparison."""

_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])")


def count_branches(function: ast.AST) -> int:
    """The branches of a function, without those of functions and classes inside it."""
    count = 0
    todo = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        count += isinstance(node, BRANCHES)
        if isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += len(node.ifs)
        todo += ast.iter_child_nodes(node)
    return count


def count_late_imports(tree: ast.AST) -> int:
    """Import statements inside functions."""
    late = {
        id(node)
        for function in code_names.list_functions(tree)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return len(late)


def list_definitions(tree: ast.Module) -> Iterator[ast.stmt]:
    """Functions, assignments and other statements of a module and of its classes, not imports."""
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            yield from statement.body
        elif not isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement


def list_words(definition: ast.AST) -> Iterator[str]:
    """Words of identifiers and short strings in lower case, and each such string as a whole."""
    docstrings = {
        id(node.value)
        for node in ast.walk(definition)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(definition):
        match node:
            case ast.Name(id=str() as text) | ast.Attribute(attr=text) | ast.arg(arg=text):
                pass
            case ast.FunctionDef(name=str() as text) | ast.ClassDef(name=str() as text):
                pass
            case ast.Constant(value=str() as text) if len(text) <= LONGEST_STRING:
                if id(node) in docstrings:
                    continue
                yield text.strip()
            case _:
                continue
        yield from (word.lower() for word in _WORD.findall(text))


def list_concepts(tree: ast.Module, path: Path) -> Iterator[str]:
    """The figures of concepts for which a file counts, each once.

    Args:
        tree: the file's code.
        path: its path, relative to the checkout.
    """
    in_path = {word.lower() for word in _WORD.findall(str(path))}
    concepts: set[str] = set()
    for definition in list_definitions(tree):
        words = set(list_words(definition))
        if not words.isdisjoint({"timer", "timers"}):
            concepts.add("files that know timers")
        for figure, (language, comparison) in COMPARISONS.items():
            if language in in_path | words and not words.isdisjoint(comparison):
                concepts.add(figure)
    yield from sorted(concepts)


def count_file(tree: ast.Module, path: Path) -> Counter[str]:
    """The figures of one file, which add up over a checkout."""
    counts: Counter[str] = Counter(list_concepts(tree, path))
    for kind, functions in (
        ("module-level functions", code_names.list_module_functions(tree)),
        ("functions", code_names.list_functions(tree)),
    ):
        names = [f.name for f in functions if code_names.is_counted(f.name)]
        counts[kind] += len(names)
        counts[f"{kind} of one word"] += sum(map(code_names.is_one_word, names))
        counts[f"letters of {kind}"] += sum(map(len, names))
    counts[f"functions with more than {MOST_BRANCHES} branches"] += sum(
        count_branches(function) > MOST_BRANCHES for function in code_names.list_functions(tree)
    )
    counts["imports inside functions"] += count_late_imports(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts[f"local name {node.id}"] += node.id in code_names.UNCLEAR
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            counts[node.func.id] += node.func.id in ("isinstance", "assert_never")
    return counts


def count_circles(root: Path) -> dict[str, str]:
    """The circles of rooms and of files: how many, and the size of the largest."""
    edges = import_graph.read_edges(root)
    pairs = import_graph.room_edges(edges, import_graph.read_packages(root))
    figures = {}
    for name, graph in (("rooms", import_graph.join_pairs(pairs)), ("files", edges)):
        circles = import_graph.find_circles(graph)
        figures[f"circles of {name}"] = f"{len(circles):,}"
        figures[f"{name} in circles"] = f"{sum(map(len, circles)):,}"
        figures[f"{name} in the largest circle"] = f"{max(map(len, circles), default=0):,}"
    return figures


def measure_code(root: Path) -> dict[str, str]:
    """All figures of a checkout, in the order in which they are printed."""
    counts: Counter[str] = Counter()
    for path in import_graph.list_sources(root):
        counts += count_file(ast.parse(path.read_text("utf-8")), path.relative_to(root))
    figures = count_circles(root)
    figures["imports inside functions"] = f"{counts['imports inside functions']:,}"
    for kind in ("module-level functions", "functions"):
        total = counts[kind] or 1
        figures[f"{kind}: names of one word"] = f"{counts[f'{kind} of one word'] / total:.1%}"
        figures[f"{kind}: mean length"] = f"{counts[f'letters of {kind}'] / total:.1f}"
    for name in (
        *(f"local name {name}" for name in code_names.UNCLEAR),
        f"functions with more than {MOST_BRANCHES} branches",
        *COMPARISONS,
        "files that know timers",
        "isinstance",
        "assert_never",
    ):
        figures[name] = f"{counts[name]:,}"
    return figures


def count_room_lines(root: Path) -> Counter[str]:
    """Lines of Python by room, blank ones and comments included."""
    packages = import_graph.read_packages(root)
    lines: Counter[str] = Counter()
    for path in import_graph.list_sources(root):
        room = import_graph.room_name(import_graph.module_name(path, root), packages)
        lines[room] += len(path.read_text("utf-8").splitlines())
    return lines
