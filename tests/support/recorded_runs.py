"""The runs that `benchmarks/record_runs.py` made on a real server, and what the model says of them.

A line has `name`, `kinds`, `wf`, `trigger`, `body`, `status` and `order` as the older recordings
have, and besides what `record` says: `workflows`, `answers`, `detached`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from model_replay import Disagreement, Recorded, replay
from orgflow.backends.n8n.engine_model import EngineModel

RUNS = Path(__file__).resolve().parents[1] / "backends/n8n/engine_model/recorded/runs.jsonl"

Json = dict[str, Any]


class Part(NamedTuple):
    """An execution of a line that nobody outside it waits for: the main one, or a detached one.

    Attributes:
        workflow: its id, None for the main one.
        trigger: where it started, with so many `items`.
        order: its node runs and those it waited for.
        status: how it ended.
    """

    workflow: str | None
    trigger: str
    items: int
    order: Sequence[Any]
    status: str


def recorded() -> tuple[Json, ...]:
    """Every line."""
    with RUNS.open(encoding="utf-8") as file:
        return tuple(json.loads(line) for line in file)


def parts(line: Mapping[str, Any]) -> Iterator[Part]:
    """The main execution, then those it did not wait for."""
    pinned = (line["wf"].get("pinData") or {}).get(line["trigger"])
    items = len(pinned) if pinned is not None else 1
    yield Part(None, line["trigger"], items, line["order"], line["status"])
    for one in line.get("detached", ()):
        yield Part(one["workflow"], one["order"][0][0], one["items"], one["order"], one["status"])


def records(part: Part) -> list[Recorded]:
    """What `replay` takes. A detached workflow is replayed as a main one: it waits for nobody."""
    found = []
    for entry in part.order:
        more = entry[2] if len(entry) > 2 else {}
        workflow = more.get("workflow")
        wait = more.get("wait")
        found.append(
            Recorded(
                None if workflow == part.workflow else workflow,
                entry[0],
                tuple(entry[1]),
                failed=bool(more.get("error")),
                stayed=bool(more.get("stays")),
                in_process=None if wait is None else wait == "slept",
                answered=None if wait is None else wait == "answer",
            )
        )
    return found


def disagreement(line: Mapping[str, Any]) -> Disagreement | str | None:
    """The first difference between the model and a line; None where they agree."""
    workflows: Mapping[str, Json] = line.get("workflows") or {}
    begun: list[tuple[str, int]] = []
    for part in parts(line):
        flow = line["wf"] if part.workflow is None else workflows[part.workflow]
        machine = EngineModel(flow, workflows, detached="apart")
        different = replay(
            machine, part.trigger, records(part), part.status, items=part.items, detached=begun
        )
        if different is not None:
            return different
    seen = sorted((one["workflow"], one["items"]) for one in line.get("detached", ()))
    if sorted(begun) != seen:
        return f"calls that nobody waits for: recorded {seen}, predicted {sorted(begun)}"
    return None
