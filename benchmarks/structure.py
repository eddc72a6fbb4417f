"""Figures about the structure of the code: `python benchmarks/structure.py [CHECKOUT …]`.

One column a checkout (this one by default), so that an older checkout can be the first one: lines
of code, imports and their circles, names, branches, and how many files know a concept
(`code_figures.py` defines each figure), then the lines of each room. Files are read, none is run,
so that any revision can be counted.

- `--node-kind` also counts the places that mypy names when a seventh kind of node is added to a
  copy of each checkout;
- `--to-add` prints instead what it takes to add something: the lines of each patch in
  `benchmarks/to_add`, which has to apply to this checkout (exit code 1 where one does not); with
  `--write` it also puts them into `docs/architecture.md`;
- `--tests [N]` prints instead the minutes of `make test` and `make test-live` as their last runs
  reported them, and the N slowest files and tests.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from code_figures import count_room_lines, measure_code
from import_graph import list_sources
from suite_times import suites_table

ROOT = Path(__file__).resolve().parent.parent
NODE_KINDS = frozenset({"Task", "CallActivity", "SubProcess", "Event", "Gateway", "Opaque"})


def tests(root: Path) -> Iterator[Path]:
    """The Python files of the tests."""
    yield from sorted((root / "tests").rglob("*.py"))


def lines(paths: Iterator[Path]) -> int:
    """Lines of the files, blank ones and comments included."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in paths)


def calls(root: Path, name: str) -> Iterator[ast.Call]:
    """Calls of a plain name in the product."""
    for path in list_sources(root):
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
    return sum(1 for path in list_sources(root) if wanted.search(path.read_text("utf-8")))


def n8n_in_commands(root: Path) -> int:
    """Imports of the n8n backend in the layers that serve every target."""
    folders = (root / "commands", root / "evaluation")
    found = [path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py")]
    return sum(len(re.findall(r"from orgflow\.backends\.n8n", text)) for text in found)


FIGURES: dict[str, Callable[[Path], int]] = {
    "lines, product": lambda root: lines(list_sources(root)),
    "lines, tests": lambda root: lines(tests(root)),
    "files, product": lambda root: sum(1 for _ in list_sources(root)),
    "isinstance on node kinds": lambda root: sum(
        tells_node_kinds(call) for call in calls(root, "isinstance")
    ),
    "files that name SubProcess": lambda root: files_naming(root, r"\bSubProcess\b"),
    "files that name executeWorkflow": lambda root: files_naming(root, r"executeWorkflow\b"),
    "imports of n8n in commands and evaluation": n8n_in_commands,
}


_NODE = re.compile(r"^(Node = Annotated\[\s*[\w |\n]*?)(,|\])", re.MULTILINE)
_SEVENTH = """class Seventh(Element):
    kind: Literal["seventh"] = "seventh"

    @property
    def construct(self) -> str:
        return self.kind


"""


def places_for_a_node_kind(root: Path) -> int:
    """How many errors mypy reports in a copy of a checkout that has a seventh kind of node: places
    that would have to say what it means. Without it there has to be none."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "checkout"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "build"))
        (copy / ".types").mkdir()
        (copy / ".types" / "orgflow").symlink_to("..")
        add_node_kind(copy)
        return mypy_errors(copy)


def add_node_kind(root: Path) -> None:
    """Define a seventh kind of node beside the others. Raises `SystemExit` where they are not."""
    for path in sorted((root / "orgflow_ir").rglob("*.py")):
        text = path.read_text("utf-8")
        if (found := _NODE.search(text)) is not None:
            union = f"{_SEVENTH}{found[1]} | Seventh{found[2]}"
            path.write_text(text[: found.start()] + union + text[found.end() :], encoding="utf-8")
            return
    raise SystemExit(f"{root} defines no kinds of nodes")


def mypy_errors(root: Path) -> int:
    """How many errors mypy reports in a checkout."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context"]
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}  # mypy would look there
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    return sum(1 for line in done.stdout.splitlines() if ": error: " in line)


class Addition(NamedTuple):
    """What a patch adds."""

    name: str
    product: int
    tests: int
    files: int
    """Files of the product that it changes or adds."""
    applies: bool


TO_ADD = ROOT / "benchmarks" / "to_add"


def additions(folder: Path = TO_ADD) -> Iterator[Addition]:
    """The patches of a folder, by name."""
    for patch in sorted(folder.glob("*.patch")):
        product_lines, test_lines, files = 0, 0, 0
        path = ""
        for line in patch.read_text("utf-8").splitlines():
            if line.startswith("+++ "):
                path = line.removeprefix("+++ ").removeprefix("b/")
                files += not path.startswith("tests/")
            elif line.startswith("+"):
                product_lines += not path.startswith("tests/")
                test_lines += path.startswith("tests/")
        done = subprocess.run(
            ["git", "apply", "--check", "-C1", str(patch)],
            cwd=ROOT,
            capture_output=True,
            check=False,
        )
        yield Addition(patch.stem, product_lines, test_lines, files, done.returncode == 0)


WHAT = {
    "backend": "a backend (Graphviz graphs of every construct; passes `check_backend`)",
    "construct": "a construct that n8n does not support today (conditional starts)",
    "javascript-target": "a second JavaScript target (conditions and scripts as a module)",
    "language": "a language of conditions (half of SpEL, for every target)",
    "lint-rule": "a lint rule for n8n workflows (credentials sent unencrypted)",
    "lowering": "a lowering (event-based gateways that wait for one event only)",
    "node-type": "a node type of n8n (Sort)",
    "operation": "an operation (Python's `ord`)",
}
"""What each patch adds."""

PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- structure.py --to-add --write -->\n", "<!-- end -->\n"


def additions_table(found: Iterable[Addition]) -> str:
    """As Markdown."""
    rows = [
        f"| {WHAT.get(item.name, item.name)} | {item.files} | {item.product} | {item.tests} |\n"
        for item in found
    ]
    head = "| to add | files | lines of the product | lines of tests |\n| --- | --- | --- | --- |\n"
    return head + "".join(rows)


def with_additions(page: str, found: Iterable[Addition]) -> str:
    """The text of the page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + additions_table(found) + END + rest.partition(END)[2]


def print_additions(*, write: bool = False) -> int:
    """Print them; 1 where one no longer applies."""
    found = list(additions())
    wide = max(len(item.name) for item in found)
    print(f"{'to add':{wide}}  {'product':>8} {'tests':>6} {'files':>6}")
    for item in found:
        stale = "" if item.applies else "  no longer applies"
        print(f"{item.name:{wide}}  {item.product:>8} {item.tests:>6} {item.files:>6}{stale}")
    if write:
        page = PAGE.read_text("utf-8")
        PAGE.write_text(with_additions(page, found), encoding="utf-8")
    return int(not all(item.applies for item in found))


def print_table(roots: list[Path], *, node_kind: bool) -> None:
    """Print a column of figures a checkout, then one of the lines of its rooms."""
    counts = dict(FIGURES)
    if node_kind:
        counts["errors of types with a seventh node kind"] = places_for_a_node_kind
    columns = [
        {name: f"{count(root):,}" for name, count in counts.items()} | measure_code(root)
        for root in roots
    ]
    rooms = [count_room_lines(root) for root in roots]
    rows = {name: [column[name] for column in columns] for name in columns[0]}
    for room in sorted(set().union(*rooms)):
        rows[f"lines, {room}"] = [f"{lines[room]:,}" if lines[room] else "" for lines in rooms]
    wide = max(map(len, rows))
    print(" " * wide, *(f"{root.name[:12]:>12}" for root in roots))
    for name, cells in rows.items():
        print(f"{name:<{wide}}", *(f"{cell:>12}" for cell in cells))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Count what the structure of the code is about.")
    parser.add_argument("checkouts", type=Path, nargs="*", default=[ROOT], metavar="CHECKOUT")
    parser.add_argument("--node-kind", action="store_true", help="add a seventh kind of node")
    parser.add_argument("--to-add", action="store_true", help="count the lines of additions")
    parser.add_argument("--write", action="store_true", help="put the additions into the docs")
    parser.add_argument(
        "--tests", type=int, nargs="?", const=0, metavar="N", help="the minutes of the test suites"
    )
    args = parser.parse_args()
    if args.to_add:
        return print_additions(write=args.write)
    roots = [path.resolve() for path in args.checkouts]
    if args.tests is not None:
        print(suites_table(roots, args.tests))
        return 0
    print_table(roots, node_kind=args.node_kind)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
