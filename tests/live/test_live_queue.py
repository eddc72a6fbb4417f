"""The support set in n8n's queue mode: PostgreSQL, Redis, a main process and two workers.

A small sample of `make bench-waiting`, with a worker killed in between.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.waiting.installation import install_support_set
from waiting_trials import OutsideServer, TrialRunner, run_trial

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import waiting


@pytest.fixture(scope="module")
def queue() -> Iterator[Any]:
    """A runner, and a function that kills a worker and starts it again."""
    outside = OutsideServer()
    with (
        waiting.queue_servers(waiting.BOOT) as (url, key, kill),
        TableClient(url, key, seconds=120) as client,
    ):
        installed = install_support_set(client, "live", waiting.OPTIONS)
        yield TrialRunner(client, installed, outside), kill
    outside.close()


@pytest.mark.parametrize("count", [2, 5])
def test_people_in_parallel_join_once(queue: Any, count: int) -> None:
    runner, _ = queue
    trial = run_trial(runner, count, random.Random(count))
    assert trial.failures == []
    assert len(trial.accepted) == count


def test_a_killed_worker_loses_no_answer(queue: Any) -> None:
    """Its steps are taken over at the end of their lease."""
    runner, kill = queue
    rnd = random.Random(7)
    kills = iter([lambda: kill(rnd)])

    def kill_once() -> None:
        next(kills, lambda: None)()

    trial = run_trial(runner, 3, rnd, seconds=600, between=kill_once)
    assert trial.failures == []
    assert len(trial.accepted) == 3
