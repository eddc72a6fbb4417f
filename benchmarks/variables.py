"""How often process variables are right on n8n: scenarios and random models, with tasks filled in
several ways, on n8n's engine against an oracle of BPMN's variables.

python benchmarks/variables.py [--random 200]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from orgflow.backends.n8n.engine.local import LocalEngine
from variable_random import random_scenario
from variable_runs import FILLINGS, Verdict, verdicts
from variable_scenarios import scenarios


def main() -> int:
    """Print runs and right ones by scenario and filling; 1 where one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=100, help="random models")
    parser.add_argument("--seed", type=int, default=0, help="the first of their seeds")
    arguments = parser.parse_args()
    with LocalEngine() as engine:
        found = list(verdicts(engine, scenarios()))
        print_table("scenario", found)
        seeds = range(arguments.seed, arguments.seed + arguments.random)
        made = [random_scenario(seed) for seed in seeds]
        more = [v._replace(scenario="random") for v in verdicts(engine, made)]
        print_table("models", more)
    every = [*found, *more]
    print(f"{len(every)} runs, {sum(not v.fault for v in every)} right")
    return int(any(v.fault for v in every))


def print_table(title: str, found: Iterable[Verdict]) -> None:
    """Right runs of all runs, a line a scenario and a column a filling, then what is wrong."""
    found = list(found)
    runs = Counter((v.scenario, v.filling) for v in found)
    right = Counter((v.scenario, v.filling) for v in found if not v.fault)
    print(f"{title:24}", *(f"{f:>12}" for f in FILLINGS))
    for scenario in dict.fromkeys(v.scenario for v in found):
        cells = (f"{right[scenario, f]}/{runs[scenario, f]}" for f in FILLINGS)
        print(f"{scenario:24}", *(f"{c:>12}" for c in cells))
    for verdict in found:
        if verdict.fault:
            print(f"wrong: {verdict.scenario}, {verdict.filling}: {verdict.fault}")
    print()


if __name__ == "__main__":
    sys.exit(main())
