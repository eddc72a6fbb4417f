"""Ratchets: rules of the structure that the code does not meet everywhere yet.

`tests/ratchets/*.json` lists today's exceptions. A new exception fails the tests, and so does a
listed one that no longer exists. `make ratchets` removes the latter; it adds none. After modules
were moved or divided, `python tests/support/ratchets.py --moved` lists names under their new files,
if there are no more of them.

- `rooms.json`: imports against the order of the rooms (importing and imported room, and how many
  pairs of modules), and circles of more than `LARGEST_CIRCLE` files, with their modules.
- `names.json`: for each file, how many functions of the module have a name of one word, and how
  often a name of `code_names.UNCLEAR` is bound.
- `values.json`: for each file, how many classes of values are not of the kind that `code_values`
  names for them.
"""

from __future__ import annotations

import ast
import functools
import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import code_names
import code_values
import import_graph
import room_order

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "ratchets"
LARGEST_CIRCLE = 3

Circle = tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """Exceptions of the code, compared with the listed ones."""

    new: tuple[str, ...]
    """A line for each exception that is not listed: it has to be removed from the code."""
    gone: tuple[str, ...]
    """A line for each listed exception that the code no longer needs."""

    def __add__(self, other: Difference) -> Difference:
        return Difference(self.new + other.new, self.gone + other.gone)


def compare_counts(listed: Mapping[str, int], counted: Mapping[str, int]) -> Difference:
    """Counts by name, which may only fall."""
    lines = {
        name: f"{name}: {counted.get(name, 0)}, listed: {listed.get(name, 0)}"
        for name in sorted({*listed, *counted})
    }
    return Difference(
        new=tuple(lines[n] for n in lines if counted.get(n, 0) > listed.get(n, 0)),
        gone=tuple(lines[n] for n in lines if counted.get(n, 0) < listed.get(n, 0)),
    )


def compare_circles(listed: Collection[Circle], present: Collection[Circle]) -> Difference:
    """Circles of modules, each of which may only lose modules or fall apart."""

    def is_part(circle: Circle) -> bool:
        return any(set(circle) <= set(other) for other in listed)

    return Difference(
        new=tuple(" ".join(circle) for circle in present if not is_part(circle)),
        gone=tuple(" ".join(circle) for circle in listed if circle not in present),
    )


def find_wrong_imports(root: Path) -> dict[str, int]:
    """How many pairs of modules import against the order of their rooms, by `room > room`."""
    edges = import_graph.read_edges(root)
    between = import_graph.room_edges(edges, import_graph.read_packages(root))
    return {
        f"{importing} > {imported}": len(pairs)
        for (importing, imported), pairs in sorted(between.items())
        if room_order.goes_back(importing, imported)
    }


def find_large_circles(root: Path) -> list[Circle]:
    """Circles of more than `LARGEST_CIRCLE` modules, over all imports."""
    circles = import_graph.find_circles(import_graph.read_edges(root))
    return [circle for circle in circles if len(circle) > LARGEST_CIRCLE]


def count_names(root: Path) -> dict[str, dict[str, int]]:
    """Exceptions to the rules of names, by file and rule; files without any are left out."""
    counts: dict[str, dict[str, int]] = {}
    for path in import_graph.list_sources(root):
        tree = ast.parse(path.read_text("utf-8"))
        rules = {
            "functions of one word": code_names.count_one_word_functions(tree),
            "unclear names": code_names.count_unclear_names(tree),
        }
        if any(rules.values()):
            counts[path.relative_to(root).as_posix()] = {k: n for k, n in rules.items() if n}
    return counts


def count_values(root: Path) -> dict[str, dict[str, int]]:
    """Exceptions to the rules of values, by file and rule; files without any are left out."""
    paths = import_graph.list_sources(root)
    return code_values.count_values(
        {path.relative_to(root).as_posix(): ast.parse(path.read_text("utf-8")) for path in paths}
    )


def measure_rooms(root: Path = ROOT) -> dict[str, Any]:
    """The content of `rooms.json` for the code as it is."""
    return {
        "imports against the order": find_wrong_imports(root),
        "circles of files": [list(circle) for circle in find_large_circles(root)],
    }


def compare_rooms(listed: Mapping[str, Any], measured: Mapping[str, Any]) -> Difference:
    """Two contents of `rooms.json`."""
    circles, order = "circles of files", "imports against the order"
    return compare_counts(listed[order], measured[order]) + compare_circles(
        [tuple(circle) for circle in listed[circles]],
        [tuple(circle) for circle in measured[circles]],
    )


def compare_names(
    listed: Mapping[str, Mapping[str, int]], measured: Mapping[str, Mapping[str, int]]
) -> Difference:
    """Two contents of `names.json`, or of `values.json`."""

    def join_keys(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
        return {f"{file}: {rule}": n for file, rules in counts.items() for rule, n in rules.items()}

    return compare_counts(join_keys(listed), join_keys(measured))


RATCHETS = {
    "rooms.json": (measure_rooms, compare_rooms, 3),
    "names.json": (count_names, compare_names, 1),
    "values.json": (count_values, compare_names, 1),
}
"""For each file: what measures the code, what compares the listed content with it, and down to
which depth each entry has a line of its own."""


def format_json(value: Any, depth: int, indent: str = "") -> str:
    """JSON with sorted keys and a line for each entry down to `depth`."""
    if not depth or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    inner = f"{indent} "
    if isinstance(value, dict):
        lines = [
            f"{inner}{json.dumps(key)}: {format_json(value[key], depth - 1, inner)}"
            for key in sorted(value)
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    lines = [f"{inner}{format_json(entry, depth - 1, inner)}" for entry in value]
    return "[\n" + ",\n".join(lines) + f"\n{indent}]"


def read_listed(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """The listed exceptions of a file."""
    content: dict[str, Any] = json.loads((folder / name).read_text("utf-8"))
    return content


@functools.cache
def find_difference(name: str) -> Difference:
    """The code compared with the exceptions that a file of `tests/ratchets` lists."""
    measure, compare, _ = RATCHETS[name]
    return compare(read_listed(name), measure(ROOT))


def sum_names(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """How often each rule of names has an exception, over all files."""
    total: dict[str, int] = {}
    for rules in counts.values():
        for rule, number in rules.items():
            total[rule] = total.get(rule, 0) + number
    return total


def are_only_moved(name: str, measured: Mapping[str, Any]) -> bool:
    """Whether exceptions are in other files now, and no rule has more of them."""
    if name == "rooms.json":
        return False
    before, after = sum_names(read_listed(name)), sum_names(measured)
    return all(number <= before.get(rule, 0) for rule, number in after.items())


def lower_ratchets(*, moved: bool = False) -> int:
    """Remove exceptions that no longer exist from all files; 1 if the code has new ones. With
    `moved`, names may be in other files than listed, since modules were moved or divided."""
    status = 0
    for name, (measure, compare, depth) in RATCHETS.items():
        measured = measure(ROOT)
        difference = compare(read_listed(name), measured)
        if difference.new and not (moved and are_only_moved(name, measured)):
            print(f"{name} does not list:", *difference.new, sep="\n  ")
            status = 1
            continue
        text = format_json(measured, depth) + "\n"
        if text != (FOLDER / name).read_text("utf-8"):
            (FOLDER / name).write_text(text, "utf-8")
            print(f"{name}: {len(difference.gone)} lowered")
    return status


if __name__ == "__main__":
    sys.exit(lower_ratchets(moved="--moved" in sys.argv))
