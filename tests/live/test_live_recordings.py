"""The recorded runs again, on a server of today: recordings are not a matter of faith."""

from __future__ import annotations

import random
from typing import Any

import pytest
from orgflow.backends.n8n.server.client.client import Client
from recorded_runs import recorded
from server_recording import Scenario, record

SEED = 3
SAMPLE = 15
SLOW = {"timeout", "stored"}
KINDS = ("call waited", "call detached", "nested", "call fails", "error", "wait answered",
         "partial merge", "loop", "executeOnce", "random")  # fmt: skip


def sample() -> list[dict[str, Any]]:
    """One run of each kind, the rest at random; not those that take a minute."""
    rng = random.Random(SEED)
    lines = [line for line in recorded() if not SLOW & set(line["kinds"])]
    rng.shuffle(lines)
    chosen = []
    for kind in KINDS:
        line = next(line for line in lines if kind in line["kinds"] and line not in chosen)
        chosen.append(line)
    rest = [line for line in lines if line not in chosen]
    return chosen + rest[: SAMPLE - len(chosen)]


@pytest.mark.parametrize("line", sample(), ids=lambda line: line["name"])
def test_a_recorded_run_happens_again(client: Client, line: dict[str, Any]) -> None:
    scenario = Scenario(
        line["name"], line["wf"], line["trigger"], line["body"], line.get("workflows", {}),
        line.get("answers", {}), tuple(line["kinds"]),
    )  # fmt: skip
    assert record(client, scenario) == line
    assert client.workflows() == ()
