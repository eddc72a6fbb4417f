"""How many sound random processes n8n takes, and what their inclusive joins without a split become.

    python benchmarks/inclusive_joins.py [--seeds 3000] [--play]

Counts random processes (tests/support/random_processes.py) in which no place is passed by two
tokens and none stays: how many compile, how many have an inclusive join that closes no split, and
how many are refused for one. `--play` proves those that compile and plays their runs on n8n.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from orgflow.backends.n8n.plan import inclusive_joins as inclusive  # noqa: E402
from orgflow.compiler import compile_model  # noqa: E402
from random_processes import process as random_process  # noqa: E402

from orgflow_ir.flow.control_flow.graph import ControlFlow  # noqa: E402
from orgflow_ir.flow.soundness import analyse  # noqa: E402
from orgflow_ir.model import Model, Process  # noqa: E402
from orgflow_ir.pipeline import PassContext  # noqa: E402
from orgflow_ir.plugins import Registry  # noqa: E402


def sound(seeds: int) -> Iterator[tuple[int, Process]]:
    """Random processes of which every property is proved."""
    for seed in range(seeds):
        process = random_process(seed)
        verdicts = analyse(process, show=False).verdicts
        if all(v.outcome == "proved" for v in verdicts.values()):
            yield seed, process


def unstructured(process: Process, ctx: PassContext) -> list[str]:
    """`acyclic` or `cyclic` for each inclusive join that closes no split."""
    graph = ctx.analysis(ControlFlow, process)
    joins = inclusive.inclusive_joins(process, graph, ctx).values()
    return [
        "cyclic" if join.gateway in graph.cyclic else "acyclic"
        for join in joins
        if join.split is None or join.kind == "unstructured"
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3_000)
    parser.add_argument("--play", action="store_true")
    args = parser.parse_args()
    registry = Registry()
    backend = registry.backends["n8n"]
    count: Counter[str] = Counter()
    compiled = []
    for seed, process in sound(args.seeds):
        count["sound"] += 1
        ctx = PassContext(registry=registry)
        model = Model(id="m", processes=(process,))
        made = compile_model(model, backend, ctx)
        kinds = sorted(set(unstructured(process, ctx)))
        for kind in kinds:
            count[f"with a join without a split, {kind}"] += 1
        if made is not None:
            count["compile"] += 1
            if kinds:
                compiled.append((seed, model, made))
        elif any("inclusive join" in d.message for d in ctx.diagnostics):
            count["refused for such a join"] += 1
        else:
            count["refused otherwise"] += 1
    if args.play:
        from orgflow.backends.n8n.engine.local import LocalEngine
        from orgflow.backends.n8n.replay.local_runner import LocalRunner
        from played_models import faults

        runner = LocalRunner(LocalEngine())
        for seed, model, made in compiled:
            wrong = faults(model, made, runner, registry)
            count["played and proved" if not wrong else "wrong"] += 1
            if wrong:
                print(f"seed {seed}: {wrong[0]}")
    for name, number in count.most_common():
        print(f"{number:6}  {name}")


if __name__ == "__main__":
    main()
