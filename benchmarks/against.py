"""Speed of this checkout compared with another one: `make bench AGAINST=FOLDER`.

Two measures, each for whole commands and for compiling in a process that is warm:

- processor time (user and system): the two checkouts in turn, the median of the ratios of pairs, so
  that a busy machine slows both;
- instructions, counted by valgrind where it is installed: they repeat to a thousandth, whatever
  else the machine does.

The limits apply to instructions where they are counted, and to processor time elsewhere.
"""

from __future__ import annotations

import re
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

MOST_COMMAND = 1.1
"""So many times the other checkout a whole command may take."""

MOST_IN_PROCESS = 1.0
"""So many times the other checkout reading and compiling may take, imports done."""

COMMANDS = {
    "compile": ("-m", "orgflow.cli", "compile", "{model}", "--target", "n8n"),
    "check": ("-m", "orgflow.cli", "check", "{model}"),
}

_REPEATED = """
import sys, time
try:
    from orgflow import compiler
    from orgflow_ir.pipeline import PassContext
except ImportError:  # version 0.1
    from orgflow.commands import driver as compiler
    from orgflow_ir.pass_manager import PassContext
from orgflow_ir.plugins import Registry
registry = Registry(outside=False)
backend = registry.backends["n8n"]
def compile_file(path):
    ctx = PassContext(registry=registry)
    model = compiler.load(compiler.read_source(path), registry, ctx, diagram=True)
    if model is not None:
        compiler.compile_model(model, backend, ctx)
rounds, paths = int(sys.argv[1]), sys.argv[2:]
for path in paths * 2:
    compile_file(path)
started = time.process_time()
for _ in range(rounds):
    for path in paths:
        compile_file(path)
print(time.process_time() - started)
"""
"""Compiles every model so many times, after twice for warming up; prints the processor time."""


class Plan(NamedTuple):
    """How often things are measured."""

    pairs: int
    """Whole commands, pair by pair."""
    process_pairs: int
    """Warm processes, pair by pair."""
    rounds: int
    """How often a warm process compiles every model."""
    counted_rounds: int
    """The same where instructions are counted."""


FULL = Plan(pairs=15, process_pairs=5, rounds=8, counted_rounds=1)
QUICK = Plan(pairs=7, process_pairs=3, rounds=5, counted_rounds=1)


class Ratio(NamedTuple):
    """What one subject takes here, compared with there."""

    subject: str
    measure: str
    there: float
    here: float
    ratio: float
    unit: str
    limit: float | None
    """`None`: for information, since a better measure of the same is there."""

    @property
    def is_over(self) -> bool:
        """Whether it breaks its limit."""
        return self.limit is not None and self.ratio > self.limit


Environment = Mapping[str, str]


def compare(
    there: Environment, here: Environment, model: Path, models: Sequence[Path], plan: Plan
) -> list[Ratio]:
    """All ratios. `there` and `here` are environments whose PYTHONPATH leads to one checkout each;
    `model` is for whole commands, `models` for warm processes."""
    counts = shutil.which("valgrind") is not None
    found: list[Ratio] = []
    for name, args in COMMANDS.items():
        words = [word.format(model=model) for word in args]
        pairs = [
            (processor_time(there, words), processor_time(here, words))
            for _ in range(plan.pairs + 1)
        ][1:]  # the first is for warming up
        found.append(_timed(name, pairs, None if counts else MOST_COMMAND))
        if counts:
            found.append(_counted(name, instructions, there, here, words, MOST_COMMAND))
    subject = f"compile in process, {len(models)} models"
    paths = [str(path) for path in models]
    words = ["-c", _REPEATED, str(plan.rounds), *paths]
    pairs = [
        (float(output(there, words)), float(output(here, words))) for _ in range(plan.process_pairs)
    ]
    found.append(_timed(subject, pairs, None if counts else MOST_IN_PROCESS))
    if counts:

        def of_rounds(env: Environment, paths: Sequence[str]) -> int:
            """Instructions of the rounds alone: with them, less the same process without."""
            with_rounds = ["-c", _REPEATED, str(plan.counted_rounds), *paths]
            return instructions(env, with_rounds) - instructions(
                env, ["-c", _REPEATED, "0", *paths]
            )

        found.append(_counted(subject, of_rounds, there, here, paths, MOST_IN_PROCESS))
    return found


def _timed(subject: str, pairs: Sequence[tuple[float, float]], limit: float | None) -> Ratio:
    before, after = (statistics.median(column) * 1000 for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    return Ratio(subject, "processor time", before, after, ratio, "ms", limit)


def _counted(
    subject: str,
    count: Callable[[Environment, Sequence[str]], int],
    there: Environment,
    here: Environment,
    words: Sequence[str],
    limit: float,
) -> Ratio:
    before, after = count(there, words), count(here, words)
    return Ratio(subject, "instructions", before / 1e6, after / 1e6, after / before, "M", limit)


def python(env: Environment, words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """A command of Python and its environment: without site, whose `.pth` files would load what
    makes a checkout importable, and hashing the same every time."""
    path = f"{env['PYTHONPATH']}:{sysconfig.get_paths()['purelib']}"
    return [sys.executable, "-S", *words], {**env, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}


def run(command: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command that has to succeed. Raises `SystemExit` with what it said."""
    done = subprocess.run(command, env=env, cwd="/", capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed with {done.returncode}\n{done.stderr}")
    return done


def output(env: Environment, words: Sequence[str]) -> str:
    """What a command of Python prints."""
    return run(*python(env, words)).stdout


def processor_time(env: Environment, words: Sequence[str]) -> float:
    """Seconds of user and system time of one command of Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output(env, words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def instructions(env: Environment, words: Sequence[str]) -> int:
    """Instructions that one command of Python takes."""
    command, env = python(env, words)
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no"]
    done = run([*valgrind, "--cachegrind-out-file=/dev/null", *command], env)
    return counted(done.stderr)


def counted(said: str) -> int:
    """The number of instructions in what valgrind says. Raises `ValueError` where there is none."""
    found = re.search(r"I\s+refs:\s+([\d,]+)", said)
    if found is None:
        raise ValueError(f"valgrind counted nothing: {said[-500:]}")
    return int(found[1].replace(",", ""))


def table(ratios: Sequence[Ratio]) -> str:
    """The ratios as aligned text."""
    wide = max(len(r.subject) for r in ratios)
    lines = [f"{'':{wide}}  {'':14}  {'there':>10}  {'here':>10}     {'ratio':>6}  {'limit':>5}"]
    for r in ratios:
        limit = "" if r.limit is None else f"  {r.limit:>5g}  {'over' if r.is_over else 'ok'}"
        lines.append(
            f"{r.subject:{wide}}  {r.measure:14}  {r.there:>10,.1f}  {r.here:>10,.1f} {r.unit:2}"
            f"  {r.ratio:>6.3f}{limit}"
        )
    return "\n".join(lines)
