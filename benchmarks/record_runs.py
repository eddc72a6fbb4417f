"""Record runs on a real n8n server, to hold the model of n8n's engine to them.

`python benchmarks/record_runs.py [--out FILE] [--only TEXT] [--seed N] [--random N]` boots the
server of `orgflowc engine install --server`, makes every run once, and writes one JSON line a run,
in a fixed order. Exit code 1 where a run could not be made.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from orgflow.backends.n8n.server.client.client import Client, ServerError
from orgflow.backends.n8n.server.process import N8nServer, Owner, ServerStartError
from record_calls import calls, failing_nodes
from record_joins import merges, switched, waits
from record_random import random_runs
from server_recording import Scenario, record

OUT = Path(__file__).resolve().parents[1] / "tests/backends/n8n/engine_model/recorded/runs.jsonl"
SEED = 1
RANDOM = 30
SECONDS = 200.0
AT_ONCE = 4
SLOW = frozenset({"timeout", "stored"})
"""Kinds that take a minute, since n8n looks for what is due once a minute."""


def scenarios(seed: int = SEED, count: int = RANDOM) -> Iterator[Scenario]:
    """Every run that is recorded."""
    for part in (calls(), failing_nodes(), waits(), merges(), switched()):
        yield from part
    yield from random_runs(count, seed)


def record_all(client: Client, wanted: Iterable[Scenario]) -> Iterator[dict[str, Any] | str]:
    """The line of each run, or why there is none; slow ones go on beside the others."""

    def one(scenario: Scenario) -> dict[str, Any] | str:
        try:
            return record(client, scenario, SECONDS)
        except (ServerError, ValueError) as error:
            return f"{scenario.name}: {error}"

    listed = list(wanted)
    slow = [scenario for scenario in listed if SLOW & set(scenario.kinds)]
    with ThreadPoolExecutor(len(slow) or 1) as beside, ThreadPoolExecutor(AT_ONCE) as pool:
        made = {one_of.name: beside.submit(one, one_of) for one_of in slow}
        made |= {
            scenario.name: pool.submit(one, scenario)
            for scenario in listed
            if scenario.name not in made
        }
        try:
            for scenario in listed:
                yield made[scenario.name].result()
        finally:
            for future in made.values():
                future.cancel()


def main() -> int:
    """Record, write, say what there is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--only", default="", help="runs whose name holds this text")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--random", type=int, default=RANDOM)
    options = parser.parse_args()
    wanted = [one for one in scenarios(options.seed, options.random) if options.only in one.name]
    names = Counter(one.name for one in wanted)
    doubled = sorted(name for name, number in names.items() if number > 1)
    if doubled:
        print(f"two runs have one name: {', '.join(doubled)}", file=sys.stderr)
        return 2
    lines: list[str] = []
    failed = done = 0
    try:
        with N8nServer() as server, Client(server.url) as client:
            owner = Owner()
            client.set_up_owner(owner.email, owner.password)
            for found in record_all(client, wanted):
                done += 1
                if sys.stderr.isatty():
                    print(f"\r{done} of {len(wanted)}", end="", file=sys.stderr, flush=True)
                if isinstance(found, str):
                    failed += 1
                    print(found, file=sys.stderr, flush=True)
                else:
                    lines.append(json.dumps(found, separators=(",", ":"), ensure_ascii=False))
    except (ServerStartError, ServerError) as error:
        print(error, file=sys.stderr)
        return 2
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    size = options.out.stat().st_size
    print(f"{len(lines)} runs, {size / 1e6:.2f} MB; {failed} could not be made")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
