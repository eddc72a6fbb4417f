"""How often process variables are right: scenarios and random models, with tasks filled in several
ways, on n8n's engine or moto's interpreter of state machines against an oracle of BPMN's variables.

python benchmarks/variables.py [--target asl] [--random 200]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import asl_variable_runs
import variable_runs
from orgflow.backends.n8n.engine.local import LocalEngine
from variable_random import random_scenario
from variable_runs import Verdict
from variable_scenarios import Scenario, scenarios

from orgflow_ir.plugins import Registry

GROWS = "loop of 100", "token"
"""A result that holds all results before it exceeds the size of a result: not a fault."""


def main() -> int:
    """Print runs and right ones by scenario and filling; 1 where one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", choices=("n8n", "asl"), default="n8n")
    parser.add_argument("--random", type=int, default=100, help="random models")
    parser.add_argument("--seed", type=int, default=0, help="the first of their seeds")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.random)
    made = [random_scenario(seed) for seed in seeds]
    play = on_n8n if arguments.target == "n8n" else on_moto
    found, more = play(scenarios(), made)
    more = [v._replace(scenario="random") for v in more]
    print_table("scenario", found)
    print_table("models", more)
    every = [v for v in (*found, *more) if v.filling not in ("refused", "reported")]
    print(f"{len(every)} runs, {sum(not v.fault for v in every)} right")
    return int(any(v.fault for v in every))


def on_n8n(given: list[Scenario], made: list[Scenario]) -> tuple[list[Verdict], list[Verdict]]:
    """All of them on n8n's engine."""
    with LocalEngine() as engine:
        found = list(variable_runs.verdicts(engine, given))
        return found, list(variable_runs.verdicts(engine, made))


def on_moto(given: list[Scenario], made: list[Scenario]) -> tuple[list[Verdict], list[Verdict]]:
    """All of them on moto's interpreter; random models with fillings in turn."""
    engine, registry = asl_variable_runs.FillingEngine(), Registry(outside=False)
    try:
        found = [Verdict(*v) for v in asl_variable_runs.verdicts(engine, given, registry)]
        fillings = ("nothing", "alternating")
        more = [Verdict(*v) for v in asl_variable_runs.verdicts(engine, made, registry, fillings)]
    finally:
        engine.close()
    return [v for v in found if v[:2] != GROWS], more


def print_table(title: str, found: Iterable[Verdict]) -> None:
    """Right runs of all runs, a line a scenario and a column a filling, then what is wrong."""
    found = list(found)
    runs = Counter((v.scenario, v.filling) for v in found)
    right = Counter((v.scenario, v.filling) for v in found if not v.fault)
    fillings = dict.fromkeys(v.filling for v in found if v.filling not in ("refused", "reported"))
    print(f"{title:32}", *(f"{f:>12}" for f in fillings))
    for scenario in dict.fromkeys(v.scenario for v in found):
        cells = [f"{right[scenario, f]}/{n}" if (n := runs[scenario, f]) else "-" for f in fillings]
        print(f"{scenario:32}", *(f"{c:>12}" for c in cells))
    for verdict in found:
        if verdict.fault:
            kind = verdict.filling if verdict.filling in ("refused", "reported") else "wrong"
            print(f"{kind}: {verdict.scenario}, {verdict.filling}: {verdict.fault}")
    print()


if __name__ == "__main__":
    sys.exit(main())
