"""Random mutants of what the benchmark compiles to, held to random runs of both machines.

The referee shares no code with the walk: it runs each version to its end with decisions drawn by
node and visit, and looks at nodes and items.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from pathlib import Path
from typing import Any

import diff_edits as edits
from model_simulation import simulate
from orgflow.backends.n8n.diff.file_comparison import diff_workflows
from orgflow.backends.n8n.engine_model import (
    RUNS,
    Emits,
    EngineModel,
    Opens,
    Outcome,
    Phase,
    Place,
    Resumes,
)
from seeds import EVERY

from orgflow_ir.plugins import Registry

Json = dict[str, Any]

MUTANTS, RUNS_EACH, MORE_RUNS = (80 if EVERY else 20), 40, 3_000


def is_start(node: Json) -> bool:
    return str(node["type"]).endswith(("Trigger", "webhook"))


def branches(node: Json) -> tuple[int, bool]:
    """How many outputs a node has, and whether an item may leave by several."""
    kind = node["type"].rsplit(".")[-1]
    if kind != "switch":
        return (2 if kind in ("if", "filter") else 1), False
    parameters = node["parameters"]
    options = parameters.get("options", {})
    count = len(parameters.get("rules", {}).get("values", []))
    extra = options.get("fallbackOutput") == "extra"
    return count + extra, options.get("allMatchingOutputs") is True


def trace(workflow: Json, seed: int) -> tuple[list[tuple[str, int]], str]:
    """Nodes run with the items they hand on, and how the run ended. How many items a Merge hands on
    to nodes that run once and read the first shows nowhere."""
    outputs = {n["name"]: branches(n) for n in workflow["nodes"]}
    visits: Counter[str] = Counter()

    def decide(place: Place, _: int) -> Outcome:
        if place.phase is not Phase.READY:
            return Resumes(None)
        if place.kind == "wait":
            return Opens(False)
        if place.kind != "choice":
            return RUNS
        rng = random.Random(f"{seed}/{place.node}/{visits[place.node]}")
        visits[place.node] += 1
        count, several = outputs[place.node]
        items = place.inputs[0]
        counts = [0] * count
        if several and rng.random() < 0.7:
            counts = [items * (rng.random() < 0.5) for _ in range(count - 1)] + [0]
        if not any(counts):
            for _ in range(items):
                counts[rng.randrange(count)] += 1
        return Emits(tuple(counts))

    machine = EngineModel({k: v for k, v in workflow.items() if k != "id"})
    start = next(n["name"] for n in workflow["nodes"] if is_start(n))
    run = simulate(machine, start, decide, limit=150)
    unseen = unseen_counts(workflow)
    order = [(visit.node, sum(visit.outputs)) for visit in run.order]
    return [(n, min(items, 1) if n in unseen else items) for n, items in order], run.status


def unseen_counts(workflow: Json) -> set[str]:
    """Merges behind which every node runs once, whatever number of items it is given."""
    once = {n["name"] for n in workflow["nodes"] if n.get("executeOnce") is True}
    return {
        n["name"]
        for n in workflow["nodes"]
        if n["type"].endswith("merge")
        and all(
            end["node"] in once
            for ends in workflow["connections"].get(n["name"], {}).get("main", ())
            for end in ends or ()
        )
    }


def mutant(workflow: Json, rng: random.Random) -> Json:
    """One or two wires, a Merge or a position changed."""
    found = copy.deepcopy(workflow)
    steps = [n["name"] for n in edits.steps(found) if not is_start(n)]
    for _ in range(rng.choice((1, 1, 2))):
        main = edits.outputs(found, rng.choice(list(found["connections"])))
        wired = [ends for ends in main if ends]
        ends = rng.choice(wired) if wired else []
        target = {"node": rng.choice(steps), "type": "main", "index": 0}
        match rng.choice(("move", "drop", "add", "swap", "merge", "place")):
            case "move" if ends:
                ends[0] = target
            case "drop" if ends:
                ends.pop()
            case "add":
                ends.append(target)
            case "swap" if len(main) > 1:
                one, two = rng.sample(range(len(main)), 2)
                main[one], main[two] = main[two], main[one]
            case "merge":
                merges = [n for n in found["nodes"] if n["type"].endswith("merge")]
                if merges:
                    position = {"mode": "combine", "combineBy": "combineByPosition"}
                    rng.choice(merges)["parameters"] = rng.choice(
                        ({"mode": "append"}, {"mode": "chooseBranch"}, position)
                    )
            case "place":
                node = rng.choice(edits.steps(found))
                x, y = node["position"]
                node["position"] = [x, y + rng.choice((-600, 600))]
    return found


def test_verdicts_are_those_of_random_runs(shared: Path, registry: Registry) -> None:
    rng = random.Random(23)
    workflows = [
        w for path in list(edits.models(shared))[::3] for w in edits.compiled(path, registry)
    ]
    counts: Counter[tuple[str, bool]] = Counter()
    for _ in range(MUTANTS):
        old = rng.choice(workflows)
        new = mutant(old, rng)
        behaviour = diff_workflows(old, new).behaviour
        assert behaviour is not None
        runs = MORE_RUNS if behaviour.verdict == "different" else RUNS_EACH
        differs = any(trace(old, seed) != trace(new, seed) for seed in range(runs))
        counts[behaviour.verdict, differs] += 1
        assert (behaviour.verdict == "different") is differs, (old["name"], behaviour)
    print(dict(counts))
    assert counts["different", True] > MUTANTS // 3
    assert counts["same", False] > MUTANTS // 8
