"""The soundness analysis on random nested processes, beside an oracle that shares no code with it.

`python benchmarks/soundness_fuzz.py [--count N] [--seed N] [--limit STATES]` prints what the
processes were like, every disagreement and the share of `unknown`, and ends with exit code 1 where
there is a disagreement or more than one `unknown` in a hundred. A process of which the oracle
cannot see all states within the limit is left out of the comparison (its runs are replayed all the
same) and counted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from soundness_fuzzing import compare
from soundness_random import process

SHARES = ("irreducible cycle", "inclusive join", "boundary event or sub-process")
"""What is told as a share of all processes."""


def main() -> int:
    """Compare, print, say whether all is well."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--count", type=int, default=20_000, help="processes to judge")
    options.add_argument("--seed", type=int, default=0, help="the first seed")
    options.add_argument("--limit", type=int, default=2_000, help="most states of the oracle")
    chosen = options.parse_args()
    total: Counter[str] = Counter()
    wrong = 0
    seed = chosen.seed
    started = time.monotonic()
    while total["judged"] < chosen.count:
        found, like = compare(process(seed), chosen.limit)
        total += like
        for what in found:
            wrong += 1
            print(f"seed {seed}: {what}")
        seed += 1
        if sys.stderr.isatty() and seed % 100 == 0:
            print(f"\r{total['judged']} of {chosen.count}", end="", file=sys.stderr)
    print(report(total, wrong, time.monotonic() - started))
    return int(wrong > 0 or total["unknown"] * 100 > total["judged"])


def report(total: Counter[str], wrong: int, seconds: float) -> str:
    """The distribution and the result, as aligned text."""
    everyone, judged = total["processes"], max(1, total["judged"])
    lines = [f"{everyone} processes, {total['nodes']} nodes, {seconds:.0f} s"]
    lines += [f"  {name}: {total[name]}" for name in sorted(total) if name.startswith("size ")]
    lines += [f"  {name}: {total[name] / everyone:.1%}" for name in SHARES]
    lines += [
        f"  {name}: {total[name] / everyone:.1%}"
        for name in ("boundary event", "sub-process", "terminate or error end")
    ]
    gave_up = total["oracle gave up"]
    lines.append(f"judged by both: {total['judged']} (the oracle gave up {gave_up})")
    lines.append(f"  unsound: {total['unsound'] / judged:.1%}")
    lines.append(f"  unknown: {total['unknown']} ({total['unknown'] / judged:.2%})")
    lines += [
        f"  {name}: {total[name]}"
        for name in sorted(total)
        if name.startswith(("unknown:", "not applicable:"))
    ]
    lines.append(f"disagreements: {wrong}")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
