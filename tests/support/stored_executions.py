"""Executions as n8n's public API gives them, made from what some engine did."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cli_cases import orgflowc
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import Emitted

Json = dict[str, Any]
BEGAN = 1_790_000_000_000

NodeRun = tuple[str, Sequence[int], str, str | None]
"""Name, items on each output, status, error."""


def stored(
    identity: int,
    workflow: Json,
    order: Iterable[NodeRun],
    status: str = "success",
    error: str | None = None,
    **more: Any,
) -> Json:
    """One execution of `workflow`: its node runs in order, as n8n stores them."""
    data: dict[str, list[Json]] = {}
    last = None
    for index, (name, outputs, state, said) in enumerate(order):
        row: Json = {
            "startTime": BEGAN + 1000 * identity + index,
            "executionTime": 1,
            "executionIndex": index,
            "executionStatus": state,
            "source": [],
        }
        if said is not None:
            row["error"] = {"message": said}
        else:
            row["data"] = {"main": [[{"json": {}}] * items for items in outputs]}
        data.setdefault(name, []).append(row)
        last = name
    result: Json = {"runData": data, "lastNodeExecuted": last}
    if error is not None:
        result["error"] = {"message": error}
    day, hour = divmod(identity, 24)
    return {
        "id": str(identity),
        "finished": status == "success",
        "mode": "webhook",
        "status": status,
        "startedAt": f"2026-03-{day % 28 + 1:02d}T{hour:02d}:00:00.000Z",
        "stoppedAt": f"2026-03-{day % 28 + 1:02d}T{hour:02d}:00:01.000Z",
        "workflowId": "w1",
        "workflowData": workflow,
        "data": {"resultData": result, "startData": {}, "executionData": {}},
        **more,
    }


def plain(names: Iterable[str]) -> list[NodeRun]:
    """Node runs that each hand on one item by the first output."""
    return [(name, (1,), "success", None) for name in names]


def production(
    model: Model,
    emitted: Emitted,
    ctx: PassContext,
    engine: LocalEngine,
    count: int,
    seed: int = 1,
    edit: Any = None,
) -> list[Json]:
    """Executions of the workflow of the first process on n8n's own engine, each by a random run of
    the model; `edit` changes the workflow first."""
    rng = random.Random(seed)
    runner = LocalRunner(engine)
    process = next(iter(emitted.compiled))
    runner.load(emitted, process, ctx)
    if edit is not None:
        edit(runner.workflow)
    runs = enumerate_runs(model, process).runs
    chosen = [rng.choice(runs) for _ in range(count)]
    requests = [runner._run_request(run) for run in chosen]
    found = []
    for identity, run in enumerate(engine.run_many(requests), 1):
        order = [(n.node, n.outputs, n.status, n.error) for n in run.order]
        workflow: Any = runner.workflow
        status = "error" if run.status == "limit" else run.status
        found.append(stored(identity, workflow, order, status, run.error))
    return found


def unexplained_failures(folder: Path) -> tuple[Path, Path]:
    """A model and two executions of its workflow that failed for reasons without a rule."""
    model, runs = folder / "order.triples", folder / "executions.json"
    model.write_text("T1 check order\nT2 ship order\nStart -> T1 -> T2 -> End\n")
    workflow = json.loads(orgflowc("compile", model, "--target", "n8n").out)
    names = [node["name"] for node in workflow["nodes"]]
    start = next(name for name in names if name not in ("check order", "ship order", "End"))
    moon, tide = "the moon is in the wrong house", "the tide is out today"
    late = [*plain([start, "check order"]), ("ship order", (), "error", moon)]
    soon = [*plain([start]), ("check order", (), "error", tide)]
    failed = [stored(1, workflow, late, "error", moon), stored(2, workflow, soon, "error", tide)]
    runs.write_text(json.dumps({"data": failed}))
    return model, runs
