"""Speed of this checkout compared with another one: `make bench AGAINST=FOLDER`.

Two measures, each for whole commands and for compiling in a process that is warm:

- processor time (user and system): the two checkouts in turn, each first in every second pair, the
  median of the ratios of pairs, so that a busy machine slows both;
- instructions, counted by valgrind where it is installed: they repeat to a thousandth, whatever
  else the machine does.

The limits of whole commands apply to both, those of a warm process to instructions where they are
counted. They are for the same work: a checkout that emits more by default (forms for the tasks of
people) gets the options with which it emits what the other one does, and in a warm process models
for which it emits more nodes all the same are left out; its defaults, of all models, are measured
beside that.
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
    "compile": ("-m", "orgflow.cli", "compile", "{model}", "--target", "{target}"),
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
try:
    from orgflow.compilation.input_sources import read_source
    from orgflow.compilation.reading import load_model
except ImportError:  # version 0.2
    read_source, load_model = compiler.read_source, compiler.load
from orgflow_ir.plugins import Registry
registry = Registry(outside=False)
backend = registry.backends["n8n"]
options = dict(word.split("=") for word in sys.argv[2].split(",") if word)
def compile_file(path):
    ctx = PassContext(registry=registry)
    if options:
        ctx.options = dict(options)
    model = load_model(read_source(path), registry, ctx, diagram=True)
    if model is not None:
        compiler.compile_model(model, backend, ctx)
rounds, paths = int(sys.argv[1]), sys.argv[3:]
for path in paths * 2:
    compile_file(path)
started = time.process_time()
for _ in range(rounds):
    for path in paths:
        compile_file(path)
print(time.process_time() - started)
"""
"""Compiles every model so many times with options (`name=value`, commas between them), after twice
for warming up; prints the processor time."""

_NODES = """
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
for path in sys.argv[2:]:
    ctx = PassContext(registry=registry)
    ctx.options = dict(word.split("=") for word in sys.argv[1].split(",") if word) or ctx.options
    model = load_model(read_source(path), registry, ctx, diagram=True)
    made = compiler.compile_model(model, registry.backends["n8n"], ctx)
    files = getattr(made, "artifacts", made)
    print(sum(len(json.loads(file.text)["nodes"]) for file in files or ()))
"""
"""Prints for each model how many nodes are emitted for it with options; 0 where it is refused."""

SAME_WORK = {"people": "placeholder"}
"""Options of n8n for emitting what version 0.1 does."""

_OPTIONS = """
from orgflow_ir.plugins import Registry
print(" ".join(Registry(outside=False).backends["n8n"].target.options))
"""
"""Prints the options that a checkout has."""


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


FULL = Plan(pairs=40, process_pairs=5, rounds=8, counted_rounds=1)
QUICK = Plan(pairs=20, process_pairs=3, rounds=5, counted_rounds=1)


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


class Checkout(NamedTuple):
    """One of the two: how it is run, and the options with which it does the same work."""

    env: Environment
    options: str

    @property
    def target(self) -> str:
        """The target for the command line."""
        return f"n8n{{{self.options}}}" if self.options else "n8n"


def compare(
    there: Environment, here: Environment, model: Path, models: Sequence[Path], plan: Plan
) -> list[Ratio]:
    """All ratios. `there` and `here` are environments whose PYTHONPATH leads to one checkout each;
    `model` is for whole commands, `models` for warm processes."""
    same = (Checkout(there, same_work(there)), Checkout(here, same_work(here)))
    found = [_whole_command(name, name, *same, model, plan, MOST_COMMAND) for name in COMMANDS]
    alike = emitted_alike(*same, models)
    found.append(_in_process("compile in process", *same, alike, plan, MOST_IN_PROCESS))
    if any(one.options for one in same):
        plain = (Checkout(there, ""), Checkout(here, ""))
        found.append(_whole_command("compile", "compile, defaults", *plain, model, plan, None))
        found.append(_in_process("compile in process, defaults", *plain, models, plan, None))
    return [ratio for ratios in found for ratio in ratios]


def emitted_alike(there: Checkout, here: Checkout, models: Sequence[Path]) -> list[Path]:
    """The models for which `here` emits no more nodes than `there`: where more of a model is
    translated, such as a message that is waited for, it is not the same work."""
    paths = [str(path) for path in models]
    before, after = (
        [int(number) for number in output(one.env, ["-c", _NODES, one.options, *paths]).split()]
        for one in (there, here)
    )
    return [m for m, b, a in zip(models, before, after, strict=True) if a <= b]


def same_work(env: Environment) -> str:
    """The options with which a checkout emits what version 0.1 does, as `name=value,…`."""
    known = output(env, ["-c", _OPTIONS]).split()
    return ",".join(f"{name}={value}" for name, value in SAME_WORK.items() if name in known)


def _whole_command(
    name: str,
    subject: str,
    there: Checkout,
    here: Checkout,
    model: Path,
    plan: Plan,
    limit: float | None,
) -> list[Ratio]:
    """One command of the command line, in processes of its own."""

    def words(one: Checkout) -> list[str]:
        return [word.format(model=model, target=one.target) for word in COMMANDS[name]]

    pairs = in_turn(
        lambda: processor_time(there.env, words(there)),
        lambda: processor_time(here.env, words(here)),
        plan.pairs,
    )
    if not _counts():
        return [_timed(subject, pairs, limit)]
    before, after = (instructions(one.env, words(one)) for one in (there, here))
    return [_timed(subject, pairs, limit), _counted(subject, before, after, limit)]


def _in_process(
    title: str,
    there: Checkout,
    here: Checkout,
    models: Sequence[Path],
    plan: Plan,
    limit: float | None,
) -> list[Ratio]:
    """Compiling all models in a process that is warm."""
    subject = f"{title}, {len(models)} models"

    def words(one: Checkout, rounds: int) -> list[str]:
        return ["-c", _REPEATED, str(rounds), one.options, *(str(path) for path in models)]

    def of_rounds(one: Checkout) -> int:
        """Instructions of the rounds alone: with them, less the same process without."""
        whole = instructions(one.env, words(one, plan.counted_rounds))
        return whole - instructions(one.env, words(one, 0))

    pairs = [
        (
            float(output(there.env, words(there, plan.rounds))),
            float(output(here.env, words(here, plan.rounds))),
        )
        for _ in range(plan.process_pairs)
    ]
    if not _counts():
        return [_timed(subject, pairs, limit)]
    counted_ratio = _counted(subject, of_rounds(there), of_rounds(here), limit)
    return [_timed(subject, pairs, None), counted_ratio]


def in_turn(
    one: Callable[[], float], other: Callable[[], float], pairs: int
) -> list[tuple[float, float]]:
    """Pairs of measurements of two things, after one pair for warming up. Either is the first in
    every second pair, since what else the machine does often changes between two measurements."""
    found: list[tuple[float, float]] = []
    for number in range(pairs + 1):
        if number % 2:
            second = other()
            found.append((one(), second))
        else:
            first = one()
            found.append((first, other()))
    return found[1:]


def _counts() -> bool:
    """Whether instructions can be counted here."""
    return shutil.which("valgrind") is not None


def _timed(subject: str, pairs: Sequence[tuple[float, float]], limit: float | None) -> Ratio:
    before, after = (statistics.median(column) * 1000 for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    return Ratio(subject, "processor time", before, after, ratio, "ms", limit)


def _counted(subject: str, before: int, after: int, limit: float | None) -> Ratio:
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
