"""What kinds of values cost: `python benchmarks/value_kinds.py [--write]`.

For a class of six fields: the microseconds of defining it, of creating a value by keywords, of
comparing two equal ones, and of a hash; the fastest of several measurements. `--write` puts the
table into the docstring of `orgflow_ir/model/records.py`.
"""

from __future__ import annotations

import argparse
import dataclasses
import timeit
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orgflow_ir.model import records
from orgflow_ir.model.value import Value

PAGE = Path(__file__).resolve().parent.parent / "orgflow_ir" / "model" / "records.py"
BEGIN, END = "<!-- benchmarks/value_kinds.py -->\n", "<!-- end -->\n"
FIELDS = {"a": "int", "b": "str", "c": "int", "d": "str", "e": "int", "f": "tuple[str, ...]"}
CONTENT: dict[str, Any] = {"a": 1, "b": "b", "c": 2, "d": "d", "e": 3}
COLUMNS = ("define", "create", "equal", "hash")


def define_tuple(base: Any) -> Any:
    """A class of the fields below a base."""

    class Sample(base):  # type: ignore[misc]
        """A sample."""

        a: int
        b: str
        c: int
        d: str
        e: int
        f: tuple[str, ...] = ()

    return Sample


def define_dataclass(decorate: Callable[[Any], Any]) -> Any:
    """A dataclass of the fields."""
    namespace = {"__annotations__": dict(FIELDS), "__doc__": "A sample.", "f": ()}
    return decorate(type("Sample", (), namespace))


KINDS: dict[str, Callable[[], Any]] = {
    "`Value`": lambda: define_tuple(Value),
    "`NamedTuple`": lambda: define_tuple(records.NamedTuple),
    "`typing.NamedTuple`": lambda: define_tuple(typing.NamedTuple),
    "frozen `dataclass`": lambda: define_dataclass(records.dataclass(frozen=True)),
    "frozen `dataclasses.dataclass`": lambda: define_dataclass(dataclasses.dataclass(frozen=True)),
    "`dataclass(eq=False)`": lambda: define_dataclass(records.dataclass(eq=False)),
    "`dataclasses.dataclass(eq=False)`": lambda: define_dataclass(dataclasses.dataclass(eq=False)),
}


def measure_seconds(action: Callable[[], object], number: int) -> float:
    """Seconds of an action: the fastest of seven measurements of so many."""
    return min(timeit.repeat(action, number=number, repeat=7)) / number


def measure_kind(define: Callable[[], Any]) -> tuple[float, ...]:
    """Microseconds in the order of `COLUMNS`."""
    kind = define()
    one_value, equal_value = kind(**CONTENT), kind(**CONTENT)
    seconds = (
        measure_seconds(define, 100),
        measure_seconds(lambda: kind(**CONTENT), 10_000),
        measure_seconds(lambda: one_value == equal_value, 10_000),
        measure_seconds(lambda: hash(one_value), 10_000),
    )
    return tuple(value * 1e6 for value in seconds)


def format_table() -> str:
    """The figures of each kind as Markdown."""
    lines = [f"| microseconds | {' | '.join(COLUMNS)} |", "| --- " * (len(COLUMNS) + 1) + "|"]
    for name, define in KINDS.items():
        cells = [
            f"{value:.0f}" if value >= 10 else f"{value:.2f}" for value in measure_kind(define)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description="Measure kinds of values.")
    parser.add_argument("--write", action="store_true", help="put the table into the module")
    table = format_table()
    if parser.parse_args().write:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        PAGE.write_text(before + BEGIN + table + END + rest.partition(END)[2], "utf-8")
    print(table, end="")


if __name__ == "__main__":
    main()
