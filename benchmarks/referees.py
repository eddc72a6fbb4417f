"""`make referee`: the independent harnesses, each with a small count, in one table.

`python benchmarks/referees.py [--only WORD] [--times N] [--list]` plays each harness of `HARNESSES`
in a process of its own and prints how many cases it judged and how many faults it found. `--times`
multiplies the counts. The lines of a harness with faults follow the table.

Exit code 1 after a fault, 2 if a harness failed without totals: a harness that prints none has
judged nothing. A harness whose file is not in this checkout is shown as absent.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIMIT_SECONDS = 1_500
SHOWN_LINES = 12


class Harness(NamedTuple):
    """A harness.

    Attributes:
        name: of what it judges.
        truth: where its truth comes from.
        command: a file of `benchmarks/` and its arguments; `{N}` in an argument is a count, as
            `{80}`, which `--times` multiplies.
        cases: the pattern of the number of judged cases, in its last match.
        faults: the patterns of numbers of faults, which are added up; each has to match.
    """

    name: str
    truth: str
    command: tuple[str, ...]
    cases: str
    faults: tuple[str, ...]


HARNESSES: tuple[Harness, ...] = (
    Harness(
        "edits of workflows", "n8n's engine",
        ("data_edits.py", "--edits", "{80}", "--models", "{26}"),
        r"(\d+) edits of \d+ models",
        (r"(\d+) false proofs", r"(\d+) crashes", r"(\d+) false differences"),
    ),
    Harness(
        "odd model files", "no internal error",
        ("mutated_models.py", "--count", "{300}"),
        r"^ *(\d+) files$", (r"^ *(\d+) OF9xx$", r"^ *(\d+) exceptions"),
    ),
    Harness(
        "decisions", "the DMN compatibility kit",
        ("dmn_tck.py",),
        r"^\d+ suites?\S*(?: \d+ not read)? +(\d+) ",
        (r"^\d+ suites?.* (\d+)$",),
    ),
    Harness(
        "process variables", "an oracle of BPMN's variables",
        ("variables.py", "--random", "{20}"),
        r"^(\d+) runs, \d+ right$", (r"^(\d+) runs, (\d+) right$",),
    ),
    Harness(
        "model of the engine", "n8n's engine",
        ("engine_model_fuzz.py", "--count", "{60}"),
        r"(\d+) workflows, \d+ disagreements$", (r"(\d+) disagreements$",),
    ),
    Harness(
        "merges", "verify, and n8n's engine",
        ("merge.py", "--each", "{1}", "--engine", "20"),
        r"^ *(\d+) cases$",
        tuple(rf"^ *(\d+) {name}$" for name in (
            "lost facts", "wrong refusal", "conflict not seen", "different", "wrong on the engine",
        )),
    ),
    Harness(
        "soundness", "an oracle that shares no code",
        ("soundness_fuzz.py", "--count", "{150}"),
        r"judged by both: (\d+)", (r"^disagreements: (\d+)$",),
    ),
)  # fmt: skip


class Totals(NamedTuple):
    """The result of a harness; `error` states why there is none."""

    cases: int
    faults: int
    seconds: float
    error: str
    lines: tuple[str, ...]


def scaled_command(harness: Harness, times: int) -> list[str]:
    """The arguments of a harness with its counts multiplied."""
    return [
        re.sub(r"\{(\d+)\}", lambda match: str(int(match[1]) * times), argument)
        for argument in harness.command
    ]


def read_totals(harness: Harness, output: str) -> tuple[int, int] | None:
    """Cases and faults that a harness printed; `None` if a total is missing. A pattern of two
    numbers counts their difference."""
    numbers = []
    for pattern in (harness.cases, *harness.faults):
        matches = list(re.finditer(pattern, output, re.MULTILINE))
        if not matches:
            return None
        first, *more = map(int, matches[-1].groups())
        numbers.append(first - sum(more))
    return numbers[0], sum(numbers[1:])


def play_harness(harness: Harness, times: int) -> Totals:
    """Run a harness and read its totals."""
    script, *arguments = scaled_command(harness, times)
    begun = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, str(ROOT / "benchmarks" / script), *arguments],
            capture_output=True, text=True, encoding="utf-8", cwd=ROOT, timeout=LIMIT_SECONDS,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Totals(0, 0, LIMIT_SECONDS, f"no totals after {LIMIT_SECONDS} s", ())
    seconds = time.monotonic() - begun
    totals = read_totals(harness, done.stdout)
    last = tuple((done.stderr if totals is None else done.stdout).strip().split("\n"))
    if totals is None:
        return Totals(0, 0, seconds, f"no totals (exit code {done.returncode})", last)
    error = ""
    if totals[0] == 0:
        error = "no cases"
    elif done.returncode != 0 and totals[1] == 0:
        error = f"exit code {done.returncode} without a fault"
    return Totals(*totals, seconds, error, last)


def table_line(harness: Harness, totals: Totals) -> str:
    """The row of a harness."""
    figures = f"{totals.cases:8}{totals.faults:8}{totals.seconds:8.0f} s"
    return f"{harness.name:22}{harness.truth:32}{figures}  {totals.error}".rstrip()


def explain_lines(harness: Harness, totals: Totals) -> Iterator[str]:
    """The last lines that a harness with faults printed."""
    if totals.faults or totals.error:
        yield f"\n{harness.name}: python benchmarks/{' '.join(scaled_command(harness, 1))}"
        yield from totals.lines[-SHOWN_LINES:]


def judge_harnesses(harnesses: Sequence[Harness], times: int) -> int:
    """Play harnesses, print the table, and return the exit code."""
    print(f"{'harness':22}{'truth':32}{'cases':>8}{'faults':>8}{'time':>10}", flush=True)
    results = []
    absent = [h for h in harnesses if not (ROOT / "benchmarks" / h.command[0]).is_file()]
    for harness in harnesses:
        if harness in absent:
            print(f"{harness.name:22}{harness.truth:32}{'absent':>8}", flush=True)
            continue
        totals = play_harness(harness, times)
        results.append((harness, totals))
        print(table_line(harness, totals), flush=True)
    cases = sum(totals.cases for _, totals in results)
    faults = sum(totals.faults for _, totals in results)
    errors = sum(bool(totals.error) for _, totals in results)
    for harness, totals in results:
        print("\n".join(explain_lines(harness, totals)), end="")
    print(
        f"\n{len(results)} harnesses, {cases} cases, {faults} faults, {errors} without totals"
        + (f", {len(absent)} absent" if absent else "")
    )
    return 2 if errors or not results else int(faults > 0)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="a part of the names of harnesses")
    parser.add_argument("--times", type=int, default=1, help="multiplies all counts")
    parser.add_argument("--list", action="store_true", help="print the commands, play nothing")
    args = parser.parse_args()
    harnesses = [harness for harness in HARNESSES if args.only in harness.name]
    if args.list:
        for harness in harnesses:
            print(f"{harness.name}: {' '.join(scaled_command(harness, args.times))}")
        return 0
    return judge_harnesses(harnesses, args.times)


if __name__ == "__main__":
    sys.exit(main())
