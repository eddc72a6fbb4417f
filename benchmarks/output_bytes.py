"""Emitted bytes of two checkouts compared: `python benchmarks/output_bytes.py OLD NEW [--list]`.

With `--named` the differences are attributed to the improvements in `improvements.py`, one after
the other; the table says in how many outputs each is, and what no improvement explains. Exit code 1
where something is not explained. What is an option of a target is not undone but switched off:
`--with n8n:people=placeholder` compiles so with the checkouts that have the option.

Compiles every model of the examples, the tests and the shared data (or of `--models`) for every
target with both checkouts, but for examples and tests that only NEW has, and prints how many
outputs are equal and how the others differ: by target, and by the parts of the files that differ.
Exit code 1 where any output differs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from against import python
from bench import installed_copy
from improvements import IMPROVEMENTS, attribute

TARGETS = ("n8n", "asl", "bpmn", "mermaid", "svg", "ir")
MOST_BYTES = 2_000_000
"""Larger files are left out."""

_COMPILE = """
import json, sys
try:
    from orgflow import compiler
    from orgflow_ir.pipeline import PassContext
except ImportError:  # version 0.1
    from orgflow.commands import driver as compiler
    from orgflow_ir.pass_manager import PassContext
try:
    from orgflow.compilation.input_sources import read_source
    from orgflow.compilation.reading import load_model
except ImportError:  # version 0.2
    read_source, load_model = compiler.read_source, compiler.load
from orgflow_ir.plugins import Registry
registry = Registry(outside=False)
targets = sys.argv[1].split(",")
given = [option.partition(":")[::2] for option in sys.argv[2:]]
for path in sys.stdin.read().splitlines():
    for target in targets:
        ctx, found = PassContext(registry=registry), {}
        backend = registry.backends[target]
        try:
            source = read_source(path)
            model = load_model(source, registry, ctx, diagram=backend.target.wants_diagram)
            known = getattr(backend.target, "options", {})
            for name, option in given:
                key, _, value = option.partition("=")
                if name == target and key in known:
                    ctx.options = {**ctx.options, key: value}
            emitted = None if model is None else compiler.compile_model(model, backend, ctx)
            emitted = getattr(emitted, "artifacts", emitted)
            if emitted is not None:
                found["files"] = {a.path: a.text for a in emitted}
        except (Exception, RecursionError) as error:
            found["crash"] = type(error).__name__
        found["errors"] = sorted({d.code for d in ctx.diagnostics if d.severity.value == "error"})
        print(json.dumps(found), flush=True)
"""
"""Reads paths on standard input; prints a line for each and each target, in this order."""


class Output(NamedTuple):
    """What a checkout makes of a model for a target: files, or why there are none."""

    files: Mapping[str, str] | None
    crash: str | None
    errors: tuple[str, ...]

    @classmethod
    def read(cls, line: str) -> Output:
        """From a line of the compiling process."""
        found = json.loads(line)
        return cls(found.get("files"), found.get("crash"), tuple(found["errors"]))

    @property
    def state(self) -> str:
        """In words."""
        if self.crash is not None:
            return f"crashes ({self.crash})"
        if self.files is not None:
            return "compiled"
        return f"refused ({' '.join(self.errors) or 'no error'})"


COMPILED = "refused before, compiled now"
"""An improvement that has no output to undo it in."""


class Compared(NamedTuple):
    """A model and a target, and how the outputs differ; `None` where they are equal.

    `improvements` are the named ones among the differences; `explained` where there are no others.
    """

    model: str
    target: str
    difference: str | None
    improvements: tuple[str, ...] = ()
    explained: bool = True


def main() -> int:
    """Compile, compare, print."""
    parser = argparse.ArgumentParser(description="Compare emitted bytes of two checkouts.")
    parser.add_argument("old", type=Path, metavar="OLD", help="a checkout")
    parser.add_argument("new", type=Path, metavar="NEW", help="another checkout")
    parser.add_argument("--list", action="store_true", help="print every output that differs")
    parser.add_argument(
        "--models", type=Path, nargs="+", metavar="PATH",
        help="files and folders (default: NEW's examples and tests, and ../shared/data beside it)",
    )  # fmt: skip
    parser.add_argument("--targets", nargs="+", default=TARGETS, metavar="T", help="only these")
    parser.add_argument(
        "--named", action="store_true", help="attribute the differences to named improvements"
    )
    parser.add_argument(
        "--with", nargs="+", default=(), metavar="TARGET:KEY=VALUE", dest="options",
        help="options of targets, for the checkouts that have them",
    )  # fmt: skip
    args = parser.parse_args()
    new = args.new.resolve()
    folders = args.models or [new / "examples", new / "tests", new.parent / "shared" / "data"]
    old = args.old.resolve()
    paths = [path for path in models(folders) if _is_in_both(path, old, new)]
    found = compare(old, new, paths, args.targets, args.options)
    if args.named:
        print(named_report(found, every=args.list))
        return int(not all(item.explained for item in found))
    print(report(found, every=args.list))
    return int(any(item.difference is not None for item in found))


def models(paths: Iterable[Path]) -> Iterator[Path]:
    """Files that may be models, folder by folder, sorted."""
    for path in paths:
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in files:
            # golden files are what a version emitted, not what was drawn
            if "golden" in file.relative_to(path if path.is_dir() else path.parent).parts:
                continue
            if file.suffix in (".bpmn", ".json") and file.stat().st_size <= MOST_BYTES:
                yield file.resolve()


def _is_in_both(path: Path, old: Path, new: Path) -> bool:
    """Whether a model is no file of the one checkout that the other one does not have: nobody who
    used the other has output of it."""
    return not path.is_relative_to(new) or (old / path.relative_to(new)).exists()


def compare(
    old: Path,
    new: Path,
    paths: Sequence[Path],
    targets: Sequence[str],
    options: Sequence[str] = (),
) -> list[Compared]:
    """Every model for every target, compiled by both checkouts side by side."""
    with tempfile.TemporaryDirectory() as place:
        streams = []
        for name, checkout in (("old", old), ("new", new)):
            env = installed_copy(checkout, Path(place) / name)
            listing = Path(place) / f"{name}.txt"
            streams.append(compiled(env, paths, targets, listing, options))
        work = itertools.product(paths, targets)
        return [
            compared(str(path), target, Output.read(before), Output.read(after))
            for (path, target), before, after in zip(work, *streams, strict=True)
        ]


def compared(model: str, target: str, old: Output, new: Output) -> Compared:
    """One model and target."""
    cause = difference(old, new)
    if cause is None:
        return Compared(model, target, None)
    if old.files is None and old.crash is None and new.files is not None:
        return Compared(model, target, cause, (COMPILED,))
    if old.files is None or new.files is None:
        return Compared(model, target, cause, (), False)
    names, explained = attribute(old.files, new.files)
    return Compared(model, target, cause, names, explained)


def compiled(
    env: Mapping[str, str],
    paths: Sequence[Path],
    targets: Sequence[str],
    listing: Path,
    options: Sequence[str] = (),
) -> Iterator[str]:
    """The lines of a process that compiles everything; it works while nobody reads them."""
    listing.write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    command, env = python(env, ["-c", _COMPILE, ",".join(targets), *options])
    with listing.open("rb") as stdin:
        process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, env=env, cwd="/", text=True
        )
    return _lines(process)


def _lines(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    with process:
        yield from process.stdout
    if process.returncode != 0:
        raise SystemExit(f"a compiling process failed with {process.returncode}")


def difference(old: Output, new: Output) -> str | None:
    """How two outputs differ, as a class that many may share; `None` where they are equal."""
    if old.files is None or new.files is None or old.crash or new.crash:
        if old.files == new.files and old.crash == new.crash:
            return None
        return f"{old.state} → {new.state}"
    if old.files == new.files:
        return None
    if old.files.keys() != new.files.keys():
        return "names or number of files"
    parts: Counter[str] = Counter()
    for path, text in old.files.items():
        parts.update(text_difference(text, new.files[path]))
    return ", ".join(sorted(parts))


def text_difference(old: str, new: str) -> set[str]:
    """The parts in which two texts differ: paths in JSON, else a word for the kind."""
    if old == new:
        return set()
    try:
        found = set(json_difference(json.loads(old), json.loads(new)))
    except ValueError:
        numbers = re.compile(r"-?\d+(?:\.\d+)?")
        return {"numbers" if numbers.sub("0", old) == numbers.sub("0", new) else "text"}
    return found or {"formatting or order of keys"}


MOST_DEPTH = 3
"""Paths in JSON are cut after so many names."""

BY_NAME = frozenset({"connections", "States"})
"""Objects whose keys are names that the author gave: their entries are one part."""


def json_difference(old: Any, new: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The paths of what differs, positions in lists left out."""
    here = "/".join(path[:MOST_DEPTH]) or "the whole"
    if isinstance(old, dict) and isinstance(new, dict):
        if path and path[-1] in BY_NAME:
            old, new = dict(enumerate(old.values())), dict(enumerate(new.values()))
        for key in old.keys() | new.keys():
            place = (*path, key if isinstance(key, str) else "*")
            if key not in old or key not in new:
                yield f"{'/'.join(place[:MOST_DEPTH])} {'added' if key in new else 'removed'}"
            else:
                yield from json_difference(old[key], new[key], place)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"number of {here}"
        else:
            for one, two in zip(old, new, strict=True):
                yield from json_difference(one, two, path)
    elif old != new or type(old) is not type(new):
        yield here


def report(found: Sequence[Compared], *, every: bool = False) -> str:
    """The numbers by target, the classes of differences, and with `every` each output."""
    targets = list(dict.fromkeys(item.target for item in found))
    lines = [f"{'target':10} {'outputs':>8} {'equal':>8} {'different':>10}"]
    for target in (*targets, None):
        mine = [item for item in found if target in (item.target, None)]
        same = sum(item.difference is None for item in mine)
        lines.append(f"{target or 'all':10} {len(mine):>8,} {same:>8,} {len(mine) - same:>10,}")
    causes = Counter((item.target, item.difference) for item in found if item.difference)
    if causes:
        lines.append("")
    for (target, cause), number in sorted(causes.items(), key=lambda c: (-c[1], c[0])):
        lines.append(f"{number:>6,} {target:8} {cause}")
        if every:
            lines += [
                f"         {item.model}"
                for item in found
                if (item.target, item.difference) == (target, cause)
            ]
    return "\n".join(lines)


def named_report(found: Sequence[Compared], *, every: bool = False) -> str:
    """In how many outputs of a target each improvement is, and what none explains."""
    different = [item for item in found if item.difference is not None]
    names = [COMPILED, *(item.name for item in IMPROVEMENTS)]
    targets = list(dict.fromkeys(item.target for item in found))
    width = max(map(len, names)) + 2
    lines = [f"{'improvement':{width}}" + "".join(f"{t:>9}" for t in targets)]
    for name in names:
        counts = [sum(i.target == t and name in i.improvements for i in different) for t in targets]
        if any(counts):
            lines.append(f"{name:{width}}" + "".join(f"{n:>9,}" for n in counts))
    left = [item for item in different if not item.explained]
    for name, some in (("not explained", left), ("different", different), ("outputs", found)):
        counts = [sum(item.target == t for item in some) for t in targets]
        lines.append(f"{name:{width}}" + "".join(f"{n:>9,}" for n in counts))
    for item in left if every else ():
        lines += [f"{item.target} {item.model}", f"    {item.difference}"]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
