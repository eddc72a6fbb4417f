"""Mutated model files read, checked and compiled: `python benchmarks/mutated_models.py`.

Takes every model of `../shared/data` and `examples`, mutates one per file (elements removed, ids
swapped, references emptied, attributes garbled, nodes moved to other scopes, namespaces changed,
events retyped, parts duplicated), and reads, checks and compiles it in this process. The same seed
gives the same files. Prints the files, those that are refused and that compile, OF9xx findings
(faults of orgflow), exceptions, and files that take more than 2 s of processor time. `--work
FOLDER` keeps an input of each fault, made as small as possible. Exit code 1 if there is any fault.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from odd_mutations import mutate_file, smaller_files
from orgflow import compiler
from orgflow.compilation.reading import load_model

from orgflow_ir.diagnostics import Category, Severity
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = (".bpmn", ".xml", ".dmn", ".json")
SLOW = 2.0
"""Seconds of processor time above which a file counts as slow."""
LIMIT = 20
"""Seconds of processor time after which a file is given up."""
LARGEST = 120_000
"""Bytes of the largest file that is mutated."""
WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("n8n", {}),
    ("n8n", {"options": {"unsupported": "stub"}}),
    ("n8n", {"allow_lossy": True}),
    ("n8n", {"options": {"unsupported": "stub"}, "force": True}),
    ("asl", {"allow_lossy": True}),
)
"""Targets and options, of which each file takes one in turn, besides n8n without options."""


class Odd(NamedTuple):
    """A mutated file; `way` is the place in `WAYS` of what else it is compiled to."""

    number: int
    origin: Path
    name: str
    data: bytes
    way: int


class Played(NamedTuple):
    """What became of a file: `fault` names a fault of orgflow, empty where there is none."""

    outcome: str
    fault: str
    seconds: float
    text: str = ""


class TookTooLong(BaseException):
    """More processor time than `LIMIT`."""


def model_files(folders: Sequence[Path]) -> list[Path]:
    """The files of some folders that are models, by suffix and content."""
    paths = sorted(p for folder in folders for p in folder.rglob("*") if p.suffix in SUFFIXES)
    return [path for path in paths if 0 < path.stat().st_size <= LARGEST and _is_model(path)]


def _is_model(path: Path) -> bool:
    head = path.read_bytes()
    if path.suffix == ".json":
        return b'"sequenceFlows"' in head or b'"processes"' in head or b'"nodes"' in head
    return b"<" in head[:200] and (b"definitions" in head[:4_000])


def list_mutants(folders: Sequence[Path], seed: int, count: int, first: int = 0) -> Iterator[Odd]:
    """Mutated files number `first` to `first + count` of a seed."""
    paths = model_files(folders)
    for number in range(first, first + count):
        dice = random.Random(f"{seed}:{number}")
        path, other = dice.choice(paths), dice.choice(paths)
        data = path.read_bytes()
        lent = other.read_bytes() if other.suffix == ".json" else data
        made = mutate_file(data, path.suffix[1:], lent, dice)
        if made is not None:
            name = "".join(path.suffixes[-2:]) if path.suffix == ".json" else path.suffix
            yield Odd(number, path, f"odd{name}", made, number % len(WAYS))


class Player:
    """Reads, checks and compiles files in this process."""

    def __init__(self) -> None:
        self.registry = Registry(outside=False)
        os.environ.setdefault("ORGFLOW_VERIFY", "1")  # check the model after every lowering

    def play_file(self, odd: Odd) -> Played:
        """What becomes of a file, within a limit of processor time."""
        previous = signal.signal(signal.SIGVTALRM, _stop)
        signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
        begun = time.process_time()
        outcome, fault, text = "", "", ""
        try:
            outcome, fault, text = self._compile_all(odd)
        except (Exception, TookTooLong) as error:  # noqa: BLE001  # they are what it looks for
            outcome, fault, text = "exception", _error_name(error), traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, previous)
        return Played(outcome, fault, time.process_time() - begun, text)

    def _compile_all(self, odd: Odd) -> tuple[str, str, str]:
        source = SourceFile(odd.name, odd.data)
        ctx = PassContext(registry=self.registry)
        model = load_model(source, self.registry, ctx, diagram=True)
        if fault := _internal_fault(ctx):
            return "refused", *fault
        if model is None:
            silent = "" if ctx.has_errors else "silent: no model and no error"
            return "unreadable", silent, silent
        compiler.run_stages(compiler.CHECK, compiler.CompileRequest(model, source=source), ctx)
        if fault := _internal_fault(ctx):
            return "refused", *fault
        compiled = False
        for way in dict.fromkeys((0, odd.way)):
            target, more = WAYS[way]
            ctx = PassContext(registry=self.registry)
            model = load_model(source, self.registry, ctx, diagram=True)
            assert model is not None
            made = compiler.compile_model(model, self.registry.backends[target], ctx, **more)
            if fault := _internal_fault(ctx):
                return "refused", *fault
            compiled = compiled or made is not None
            if made is None and not ctx.has_errors:
                return "refused", "silent: no output and no error", ""
        return "compiled" if compiled else "refused", "", ""


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise TookTooLong


def _internal_fault(ctx: PassContext) -> tuple[str, str] | None:
    """The first OF9xx finding, as a name without the texts of the model, and its message."""
    for finding in ctx.diagnostics:
        internal = finding.category is Category.INTERNAL
        if internal and finding.severity is Severity.ERROR:
            message = re.sub(r"`[^`]*`", "`…`", finding.message)
            return f"{finding.code} {message}"[:200], finding.message
    return None


def _error_name(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename.startswith(str(ROOT)) and "odd_" not in f.filename]
    if isinstance(error, TookTooLong):
        return "too long"
    where = f"{Path(own[-1].filename).name} {own[-1].name}" if own else "elsewhere"
    return f"{type(error).__name__} {where}"


def minimise_file(odd: Odd, fault: str, player: Player, *, tries: int = 1_500) -> Odd:
    """A smaller file with the same fault: parts are removed while it stays."""
    suffix = Path(odd.name).suffix[1:]
    again = True
    while again and tries > 0:
        again = False
        for data in smaller_files(odd.data, suffix):
            tries -= 1
            if tries <= 0:
                break
            if player.play_file(odd._replace(data=data)).fault == fault:
                odd, again = odd._replace(data=data), True
                break
    return odd


def keep_fault(folder: Path, odd: Odd, played: Played, player: Player) -> None:
    """Write the smallest input of a fault, and what it gave."""
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]+", "_", played.fault)[:80].strip("_")
    path = folder / f"{name}{Path(odd.name).suffix}"
    if path.exists():
        return
    small = odd if played.fault == "too long" else minimise_file(odd, played.fault, player)
    path.write_bytes(small.data)
    why = f"number {odd.number} from {odd.origin}, way {odd.way}\n{played.fault}\n{played.text}\n"
    path.with_name(path.name + ".why").write_text(why, encoding="utf-8", errors="replace")


class Totals:
    """What became of all files."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.slow: list[tuple[float, Odd]] = []

    def add(self, odd: Odd, played: Played) -> None:
        """Count one file."""
        self.outcomes["files"] += 1
        self.outcomes[played.outcome] += 1
        if played.fault:
            self.faults[played.fault] += 1
        if played.seconds > SLOW:
            self.slow.append((played.seconds, odd))

    def text(self) -> str:
        """The table that is printed."""
        internal = sum(n for name, n in self.faults.items() if re.match(r"OF\d{3} ", name))
        lines = [
            f"{self.outcomes['files']:7} files",
            f"{self.outcomes['unreadable']:7} not read, with an error",
            f"{self.outcomes['refused']:7} refused",
            f"{self.outcomes['compiled']:7} compiled",
            f"{internal:7} OF9xx",
            f"{sum(self.faults.values()) - internal:7} exceptions, or neither output nor error",
            f"{len(self.slow):7} above {SLOW:g} s of processor time",
        ]
        lines += [f"{number:7}   {name}" for name, number in self.faults.most_common()]
        lines += [
            f"{seconds:7.1f} s number {odd.number}, from {odd.origin}"
            for seconds, odd in sorted(self.slow, key=lambda slow: -slow[0])[:10]
        ]
        return "\n".join(lines)


def main() -> int:
    """Play mutated files, and print the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    shared = ROOT.parent / "shared" / "data"
    default = [p for p in (shared, ROOT / "examples") if p.exists()]
    parser.add_argument("folders", nargs="*", type=Path, default=default)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=34)
    parser.add_argument("--work", type=Path, help="folder for the smallest input of each fault")
    options = parser.parse_args()
    player, totals = Player(), Totals()
    for odd in list_mutants(options.folders, options.seed, options.count, options.first):
        played = player.play_file(odd)
        totals.add(odd, played)
        if played.fault and options.work is not None:
            keep_fault(options.work, odd, played, player)
        if totals.outcomes["files"] % 500 == 0:
            print(f"{totals.outcomes['files']} files", file=sys.stderr, flush=True)
    print(totals.text())
    return int(bool(totals.faults))


if __name__ == "__main__":
    raise SystemExit(main())
