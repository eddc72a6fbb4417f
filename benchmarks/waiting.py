"""Trials of processes that wait in several places, on a server that this program boots.

`python benchmarks/waiting.py [--trials N] [--mode single|queue] [--kills N] [--seed N]` deploys the
support set and processes with 2, 3 and 5 people in parallel. Each trial is one instance: answers in
random order, a quarter of them twice, and kills (`kill -9`) of the server, or of a worker in queue
mode, at random moments of some trials. The join has to fire exactly once, and nothing that was
accepted may be lost. It prints counts and every failure; exit code 1 if there is one.

`--timers N` instead lets N timers of N instances become due at once: each has to fire exactly once.

Queue mode needs PostgreSQL and Redis, and a script that boots n8n with them: `--boot FILE`, with
the commands `fresh`, `kill NAME`, `up NAME` and `stop`, as `tests/support/boot_queue.sh`.
"""

from __future__ import annotations

import argparse
import datetime
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from orgflow.backends.n8n.server.client.client import Client  # noqa: E402
from orgflow.backends.n8n.server.client.data_tables import TableClient  # noqa: E402
from orgflow.backends.n8n.server.install import server_status  # noqa: E402
from orgflow.backends.n8n.server.process import N8nServer, Owner  # noqa: E402
from orgflow.backends.n8n.waiting.installation import install_support_set  # noqa: E402
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES, NEVER  # noqa: E402
from orgflow.backends.n8n.waiting.support_set import SupportOptions  # noqa: E402
from waiting_trials import OutsideServer, TrialRunner, run_trial  # noqa: E402

BOOT = ROOT / "tests" / "support" / "boot_queue.sh"
SIZES = (2, 3, 5)
ROWS_AT_ONCE = 50
MOST_SECONDS = 1_800
OPTIONS = SupportOptions(lease_minutes=2)
"""A segment that a kill interrupts is taken over after its lease: 10 minutes would be most of the
time of the trials."""

Kill = Callable[[random.Random], None]


@contextmanager
def single_server() -> Iterator[tuple[str, str, Kill]]:
    """One process with SQLite: address, key, and a function that kills and boots it again."""
    with tempfile.TemporaryDirectory(prefix="orgflow-waiting-") as folder:
        server = N8nServer(Path(folder))
        server.start(600)
        owner = Owner()
        with Client(server.url, seconds=120) as client:
            key = client.set_up_owner(owner.email, owner.password)
        current = [server]

        def kill(rnd: random.Random) -> None:
            del rnd
            running = current[0]
            assert running.pid is not None
            os.killpg(running.pid, 9)
            running.stop()
            current[0] = N8nServer(Path(folder), port=running.port)
            current[0].start(600)

        try:
            yield server.url, key, kill
        finally:
            current[0].stop()


@contextmanager
def queue_servers(script: Path) -> Iterator[tuple[str, str, Kill]]:
    """A main process and two workers with PostgreSQL and Redis; a kill is that of a worker."""
    status = server_status()
    assert status.files is not None, status.problem
    with tempfile.TemporaryDirectory(prefix="orgflow-queue-") as folder:
        Path(folder).chmod(0o755)
        place = {**os.environ, "Q": folder, "N8N_ROOT": str(status.path), "PORT_BASE": "24300"}

        def control(*words: str) -> None:
            subprocess.run(
                ["bash", str(script), *words], env=place, check=True, stdout=subprocess.DEVNULL,
                timeout=600,
            )  # fmt: skip

        def kill(rnd: random.Random) -> None:
            worker = rnd.choice(("w1", "w2"))
            control("kill", worker)
            control("up", worker)

        try:
            control("fresh")
            key = (Path(folder) / "apikey").read_text("utf-8").strip()
            yield "http://127.0.0.1:24300", key, kill
        finally:
            control("stop")


def main() -> int:
    """Run the trials."""
    parser = argparse.ArgumentParser(description="Trials of processes that wait in several places.")
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--mode", choices=("single", "queue"), default="single")
    parser.add_argument("--kills", type=int, default=1, help="trials with a kill")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--boot", type=Path, default=BOOT)
    parser.add_argument("--timers", type=int, default=0, help="timers that are due at once")
    args = parser.parse_args()
    servers = single_server() if args.mode == "single" else queue_servers(args.boot)
    rnd = random.Random(args.seed)
    counts: Counter[str] = Counter()
    outside = OutsideServer()
    with servers as (url, key, kill), TableClient(url, key, seconds=120) as client:
        installed = install_support_set(client, "benchmark", OPTIONS)
        runner = TrialRunner(client, installed, outside)
        if args.timers:
            counts.update(fire_timers(runner, args.timers))
            args.trials = 0
        killed = set(rnd.sample(range(args.trials), min(args.kills, args.trials)))
        for number in range(args.trials):
            counts.update(one_trial(runner, number, rnd, kill if number in killed else None))
    outside.close()
    for what in ("trials", "kills", "answers accepted", "repeated answers", "timers", "failures"):
        print(f"{what:18} {counts[what]:5}")
    return 1 if counts["failures"] else 0


def fire_timers(runner: TrialRunner, count: int) -> Counter[str]:
    """Timers of so many instances that are due at once; prints how long they took. Their rows are
    written directly, as `start` and `complete` would have written them."""
    runner.deploy(1, 1)
    moment = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    moment = moment.replace("+00:00", "Z")
    table, workflow = runner.installed.table, runner.deployed[-1]
    for first in range(0, count, ROWS_AT_ONCE):
        rows = []
        for number in range(first, min(first + ROWS_AT_ONCE, count)):
            key = f"instance-{number}"
            common = {
                "instance": key, "state": "open", "live": "1", "workflow": workflow,
                "variables": "{}", "local_variables": "{}", "attempts": "0",
                "changed_at": moment,
            }  # fmt: skip
            empty = dict.fromkeys(COLUMN_NAMES, "")
            rows.append(
                {**empty, **common, "key": key, "kind": "scope", "element": "process",
                 "check_at": NEVER}
            )  # fmt: skip
            rows.append(
                {**empty, **common, "key": f"timer-{number}", "kind": "timer",
                 "element": "Reminder", "scope": f"{key}/", "created_by": key, "due": moment,
                 "check_at": moment}
            )  # fmt: skip
        runner.client.insert_rows(table, rows)
    begun = time.monotonic()
    left = count
    while left and time.monotonic() - begun < MOST_SECONDS:
        time.sleep(5)
        left = len(runner.client.chosen_rows(table, [("kind", "eq", "scope"), ("live", "eq", "1")]))
        print(f"{time.monotonic() - begun:6.0f} s: {left} instances open", flush=True)
    seconds = time.monotonic() - begun
    fired = Counter(call["key"] for call in runner.outside.calls)
    wrong = left + abs(len(fired) - count) + sum(number != 1 for number in fired.values())
    print(f"{count} timers in {seconds:.0f} s, {count / seconds:.1f} a second")
    return Counter(timers=len(fired), failures=wrong)


def one_trial(
    runner: TrialRunner, number: int, rnd: random.Random, kill: Kill | None
) -> Counter[str]:
    """One instance; prints its result and returns its counts."""
    size = SIZES[number % len(SIZES)]
    counts: Counter[str] = Counter(trials=1)
    killing: list[threading.Thread] = []

    def kill_at_random() -> None:
        if kill is not None and not killing and rnd.random() < 0.4:
            killing.append(threading.Thread(target=kill, args=(rnd,)))
            killing[0].start()

    begun = time.monotonic()
    trial = run_trial(runner, size, rnd, seconds=1_500, between=kill_at_random)
    for thread in killing:
        thread.join()
    counts["kills"] = len(killing)
    counts["answers accepted"] = len(trial.accepted)
    counts["repeated answers"] = trial.repeated
    counts["failures"] = len(trial.failures)
    print(
        f"{size} people{', killed' if killing else ''}: {time.monotonic() - begun:.1f} s"
        f"{''.join(f', FAILED: {failure}' for failure in trial.failures)}",
        flush=True,
    )
    return counts


if __name__ == "__main__":
    sys.exit(main())
