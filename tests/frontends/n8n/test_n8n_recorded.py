"""Runs recorded on a real server are runs of what the frontend reads, or beginnings of one.

A beginning: n8n ends a run quietly where a Merge never fires or gives no item; the model says that
its tokens are left over. Gateways are not looked at: n8n runs a Merge also to give nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from n8n_language import Enough, Seen, Visible
from n8n_workflows import read

from orgflow_ir.model import Gateway


def verdict(run: dict[str, object], steps: int = 30_000) -> str:
    """`run`, `beginning`, `no run` or `bounded`."""
    model, _ = read(run["wf"])
    assert model is not None
    process = model.processes[0]
    ids = {n.name: n.id for n in process.nodes if n.name and not isinstance(n, Gateway)}
    seen = Seen(model, process, Visible(frozenset(ids.values()), frozenset()), steps)
    order = run["order"]
    assert isinstance(order, list)
    try:
        states = seen.start()
        for name in (n for n, _ in order if n in ids):
            states = seen.after(states).get(ids[name], frozenset())
            if not states:
                return "no run"
        return "run" if any(seen.game.finished(s) for s in states) else "beginning"
    except Enough:
        return "bounded"


STARVING = ("chooseBranch", "combineByPosition", "mergeByIndex", "passThrough", "E8")
"""Words in the names of recorded workflows with a Merge that does not go on without an input; E8
has two Merges in a loop that wait for each other."""


def test_recorded_runs(shared: Path) -> None:
    text = (shared / "data" / "n8n-runs.jsonl").read_text("utf-8")
    runs = [json.loads(line) for line in text.splitlines()]
    found = [(run["name"], verdict(run)) for run in runs]
    counts = Counter(said for _, said in found)
    print(dict(counts))
    assert [name for name, said in found if said in ("no run", "bounded")] == []
    beginnings = [name for name, said in found if said == "beginning"]
    assert [name for name in beginnings if not any(word in name for word in STARVING)] == []
    assert counts["run"] >= 105


def test_the_check_can_fail(shared: Path) -> None:
    text = (shared / "data" / "n8n-runs.jsonl").read_text("utf-8")
    run = next(r for r in map(json.loads, text.splitlines()) if len(r["order"]) > 4)
    assert verdict(run) != "no run"
    swapped = {**run, "order": [*run["order"][:1], *reversed(run["order"][1:])]}
    assert verdict(swapped) == "no run"
