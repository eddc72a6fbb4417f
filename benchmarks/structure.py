"""Figures about the structure of the code: `python benchmarks/structure.py [CHECKOUT …]`.

One column a checkout (this one by default): lines of code, how often node kinds are told apart by
`isinstance` and by exhaustive matches, how many files know a concept of n8n. Files are read, none
is run, so that any revision can be counted.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = (
    "orgflow_ir", "frontends", "backends", "passes", "agents", "store", "evaluation", "commands",
)  # fmt: skip
NODE_KINDS = frozenset({"Task", "CallActivity", "SubProcess", "Event", "Gateway", "Opaque"})


def product(root: Path) -> Iterator[Path]:
    """The Python files that are shipped."""
    yield from sorted(root.glob("*.py"))
    for folder in PRODUCT:
        yield from sorted((root / folder).rglob("*.py"))


def tests(root: Path) -> Iterator[Path]:
    """The Python files of the tests."""
    yield from sorted((root / "tests").rglob("*.py"))


def lines(paths: Iterator[Path]) -> int:
    """Lines of the files, blank ones and comments included."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def calls(root: Path, name: str) -> Iterator[ast.Call]:
    """Calls of a plain name in the product."""
    for path in product(root):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == name:
                yield node


def tells_node_kinds(call: ast.Call) -> bool:
    """Whether an `isinstance` asks for a kind of node."""
    named = {n.id for n in ast.walk(call.args[1]) if isinstance(n, ast.Name)}
    return not named.isdisjoint(NODE_KINDS)


def files_naming(root: Path, pattern: str) -> int:
    """How many files of the product have a match of `pattern`."""
    wanted = re.compile(pattern)
    return sum(1 for path in product(root) if wanted.search(path.read_text("utf-8")))


def n8n_in_commands(root: Path) -> int:
    """Imports of the n8n backend in the layers that serve every target."""
    folders = (root / "commands", root / "evaluation")
    found = [path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py")]
    return sum(len(re.findall(r"from orgflow\.backends\.n8n", text)) for text in found)


FIGURES: dict[str, Callable[[Path], int]] = {
    "lines, product": lambda root: lines(product(root)),
    "lines, tests": lambda root: lines(tests(root)),
    "files, product": lambda root: sum(1 for _ in product(root)),
    "isinstance": lambda root: sum(1 for _ in calls(root, "isinstance")),
    "isinstance on node kinds": lambda root: sum(
        tells_node_kinds(call) for call in calls(root, "isinstance")
    ),
    "assert_never": lambda root: sum(1 for _ in calls(root, "assert_never")),
    "files that name SubProcess": lambda root: files_naming(root, r"\bSubProcess\b"),
    "files that name executeWorkflow": lambda root: files_naming(root, r"executeWorkflow\b"),
    "imports of n8n in commands and evaluation": n8n_in_commands,
}


def main(roots: list[Path]) -> None:
    """Print the table."""
    rows = [(name, *(f"{figure(root):,}" for root in roots)) for name, figure in FIGURES.items()]
    wide = max(len(name) for name in FIGURES)
    print(" " * wide, *(f"{root.name[:12]:>12}" for root in roots))
    for name, *values in rows:
        print(f"{name:<{wide}}", *(f"{value:>12}" for value in values))


if __name__ == "__main__":
    main([Path(arg).resolve() for arg in sys.argv[1:]] or [ROOT])
