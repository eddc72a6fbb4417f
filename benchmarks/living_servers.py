"""Random series of edits, deployments and moves on two n8n servers, and what was lost in them.

`python benchmarks/living_servers.py` boots two servers (`orgflowc engine install --server`) with
data folders of their own. `--stand-in` plays before stand-ins of the tests, which takes a tenth of
the time. The last lines are edits lost silently and foreign workflows changed; the exit code is 1
if there are any.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from living_series import LivingSeries, ServerAddress, describe_series  # noqa: E402
from n8n_stand_in import KEY, StandIn  # noqa: E402
from orgflow.backends.n8n.server.client.client import Client  # noqa: E402
from orgflow.backends.n8n.server.process import N8nServer, Owner  # noqa: E402


@contextlib.contextmanager
def open_server(*, stand_in: bool) -> Iterator[ServerAddress]:
    """An empty server."""
    if stand_in:
        server = StandIn()
        try:
            yield ServerAddress(server.url, KEY)
        finally:
            server.close()
        return
    with N8nServer() as booted, Client(booted.url) as client:
        owner = Owner()
        client.set_up_owner(owner.email, owner.password)
        yield ServerAddress(booted.url, client.key)


def main() -> int:
    """Play the series and print the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=10)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0, help="of the first series")
    parser.add_argument("--stand-in", action="store_true")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    faults: list[str] = []
    with (
        open_server(stand_in=options.stand_in) as first,
        open_server(stand_in=options.stand_in) as second,
        tempfile.TemporaryDirectory() as folder,
    ):
        servers = {"test": first, "production": second}
        for seed in range(options.seed, options.seed + options.series):
            series = LivingSeries(servers, Path(folder) / str(seed), seed)
            series.play(options.steps)
            counts += series.counts
            faults += [f"series {seed}: {fault}" for fault in series.faults]
            for server in servers.values():
                for id in server.rows():
                    server.delete(id)
    print(f"{options.series} series of {options.steps} steps on two servers")
    print(describe_series(counts, faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
