"""Mutants of the code that no test notices: `python benchmarks/mutation.py [--count N] [--seed N]`.

Small changes (a comparison turned round, a condition dropped, a number one too high) are made one
at a time in a copy of the checkout, as many in each area, and the tests of the area are run until
one fails. Prints for each mutant whether it was killed, timed out (which counts as killed) or
survived, and the survivors again at the end. `--area WORD` takes the areas with that word in it,
`--time N` the seconds a mutant may take. Each mutant takes up to minutes: not part of `make test`.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

AREAS: dict[str, tuple[str, ...]] = {
    "orgflow_ir/flow": ("tests/semantics", "tests/passes"),
    "orgflow_ir/program": ("tests/expressions", "tests/decisions"),
    "orgflow_ir/languages": ("tests/expressions", "tests/decisions"),
    "orgflow_ir/work": ("tests/expressions", "tests/gaps", "tests/passes"),
    "orgflow_ir/gaps": ("tests/gaps",),
    "passes": ("tests/test_diagnostics.py", "tests/passes", "tests/test_fixing.py"),
    "backends/n8n/plan": (
        "tests/test_examples.py", "tests/backends/n8n/test_lowerings.py", "tests/backends/n8n",
    ),
    "backends/n8n/emit": (
        "tests/test_examples.py", "tests/backends/n8n/test_lowerings.py", "tests/backends/n8n",
    ),
}  # fmt: skip
"""Folders of code, and the tests of each; those that fail soonest come first."""

_FLIPPED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
}  # fmt: skip


class Mutant(NamedTuple):
    """A change of one place: bytes `start` to `end` of a file become `text`."""

    path: Path
    line: int
    start: int
    end: int
    old: str
    text: str

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.old, self.text))
        return f"{self.path.relative_to(ROOT)}:{self.line}: `{old}` -> `{new}`"


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file."""
    source = path.read_bytes()
    begins = [0]
    for row in source.splitlines(keepends=True):
        begins.append(begins[-1] + len(row))

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            begins[node.lineno - 1] + node.col_offset,
            begins[node.end_lineno - 1] + node.end_col_offset,
        )

    def made(node: ast.expr, start: int, end: int, text: str) -> Mutant:
        return Mutant(path, node.lineno, start, end, source[start:end].decode(), text)

    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(left, [operator], [right]):
                word, other = _FLIPPED[type(operator)]
                after, before = span(left)[1], span(right)[0]
                at = source.find(word.encode(), after, before)
                if at >= 0:
                    yield made(node, at, at + len(word), other)
            case ast.BoolOp(_, [first, *_]):
                start, end = span(node)
                kept = source[slice(*span(first))].decode()
                if "\n" not in source[start:end].decode():
                    yield made(node, start, end, kept)
            case ast.UnaryOp(ast.Not(), operand):
                yield made(node, *span(node), f"({source[slice(*span(operand))].decode()})")
            case ast.Constant(value) if type(value) is int and 0 <= value < 100:
                yield made(node, *span(node), str(value + 1))


def chosen(area: str, count: int, seed: int) -> list[Mutant]:
    """So many mutants of an area, of different places."""
    found = [m for path in sorted((ROOT / area).rglob("*.py")) for m in mutants(path)]
    return random.Random(f"{area} {seed}").sample(found, min(count, len(found)))


def judge(mutant: Mutant, copy: Path, tests: Sequence[str], seconds: int) -> str:
    """`killed`, `timed out` or `survived`: the tests of the area on a copy with the mutant."""
    path = copy / mutant.path.relative_to(ROOT)
    source = path.read_bytes()
    path.write_bytes(source[: mutant.start] + mutant.text.encode() + source[mutant.end :])
    env = {**os.environ, "PYTHONPATH": f"{copy / '.types'}:{copy}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        ran = subprocess.run(command, cwd=copy, env=env, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "timed out"
    finally:
        path.write_bytes(source)
    return "survived" if ran.returncode == 0 else "killed"


def main(arguments: Sequence[str]) -> int:
    """Print what becomes of each mutant."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", default="")
    parser.add_argument("--time", type=int, default=300)
    options = parser.parse_args(arguments)
    areas = [area for area in AREAS if options.area in area]
    count: Counter[str] = Counter()
    survivors: list[Mutant] = []
    with tempfile.TemporaryDirectory() as folder:
        # Beside the copy the data that tests read, as beside the checkout.
        copy = Path(folder) / "checkout"
        leave = shutil.ignore_patterns(".git", ".mypy_cache", "__pycache__", "build", ".types")
        shutil.copytree(ROOT, copy, ignore=leave, symlinks=True)
        (Path(folder) / "shared").symlink_to(ROOT.parent / "shared")
        (copy / ".types").mkdir()
        (copy / ".types" / "orgflow").symlink_to("..")
        for area in areas:
            for mutant in chosen(area, options.count // len(areas), options.seed):
                result = judge(mutant, copy, AREAS[area], options.time)
                count[result] += 1
                print(f"{result:10} {mutant}", flush=True)
                if result == "survived":
                    survivors.append(mutant)
    print(", ".join(f"{number} {result}" for result, number in count.most_common()))
    for mutant in survivors:
        print(f"survived   {mutant}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
