"""Conditions read what the step that set a variable last has left, on a real server: scenarios of
process variables with their placeholders filled as people fill them, judged as on the local engine.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from orgflow.backends.n8n.engine.runs import EngineRun
from orgflow.backends.n8n.server.client.client import Client
from server_recording import record
from server_runner import AT_ONCE, engine_run, scenario
from variable_oracle import play
from variable_runs import FILLINGS, compiled, fault, request
from variable_scenarios import scenarios

SCENARIOS = {s.name: s for s in scenarios()}
SMALL = [name for name in SCENARIOS if name[0] == "c" and name[1].isdigit()]
"""c1 to c6, each filled in every way."""

MORE = (
    "nested loops", "and in a loop in and", "inclusive True False", "inclusive loop",
    "parallel equal", "parallel different", "three replacing", "message", "visible", "bridge c",
    "waits, set inside",
    "value null", "value list", "value object",
)  # fmt: skip
SECONDS = 120.0


def wrong(client: Client, name: str, filling: str) -> str:
    """In what the run of a scenario is not what the oracle says."""
    given = SCENARIOS[name]
    process = compiled(given)
    line = record(client, scenario(request(given, process, filling)), SECONDS)
    run: EngineRun = engine_run(line)
    wanted = play(given.model.processes[0], given.sets, given.start)
    if given.differ or wanted.never_set is not None:
        return "" if run.status == "error" else f"it ends {run.status}, and has to stop"
    return fault(given, process, run, wanted)


@pytest.mark.parametrize("name", [*SMALL, *MORE])
def test_a_condition_sees_what_was_set_last(client: Client, name: str) -> None:
    fillings = FILLINGS if name in SMALL else ("replace", "alternating")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(lambda filling: wrong(client, name, filling), fillings))
    assert [f"{f}: {w}" for f, w in zip(fillings, found, strict=True) if w] == []
