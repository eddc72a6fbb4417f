"""The tables of what n8n knows, against an installed n8n; and damage on random workflows."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from engine_fixture import missing
from n8n_linted import linted, text
from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.engine.engine_folder import engine_dir
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.node import find_node
from orgflow.backends.n8n.lint.linted_workflow import read_workflows
from orgflow.backends.n8n.lint.triggers import unreadable_cron
from seeds import at_least, seeds

from orgflow_ir.model.json_source_map import parse_json

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
TABLE = ROOT / "backends/n8n/node_types/schema/known-nodes.json"


@pytest.fixture(scope="module")
def described() -> list[dict[str, Any]]:
    """n8n's own descriptions of the nodes of n8n-nodes-base."""
    found = engine_status()
    if not found.installed:
        missing("n8n's engine is not installed: " + "; ".join(found.problems))
    path = engine_dir() / "node_modules/n8n-nodes-base/dist/types/nodes.json"
    read: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return read


def test_the_table_is_what_n8n_has(described: list[dict[str, Any]]) -> None:
    spec = importlib.util.spec_from_file_location(
        "write_known_nodes", HERE / "write_known_nodes.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    wanted = json.loads(json.dumps(module.table({"n8n-nodes-base": described})))
    stored = json.loads(TABLE.read_text("utf-8"))
    assert stored["types"]["n8n-nodes-base"] == wanted["types"]["n8n-nodes-base"]
    assert stored["versioned"]["n8n-nodes-base"] == wanted["versioned"]["n8n-nodes-base"]
    assert stored["parameters"] == wanted["parameters"]
    assert stored["options"] == wanted["options"]
    assert stored["defaults"] == wanted["defaults"]
    assert len(stored["types"]["@n8n/n8n-nodes-langchain"]) > 100
    operations = TABLE.with_name("known-operations.json").read_text("utf-8")
    assert operations == module.operations_text(module.operations({"n8n-nodes-base": described}))


def test_the_required_parameters_are_n8ns(described: list[dict[str, Any]]) -> None:
    required = {
        (one["name"], prop["name"])
        for one in described
        for prop in one["properties"]
        if prop.get("required") and prop.get("default") == ""
    }
    ours = {(kind.name, name) for kind in node_types.all_types() for name, _ in kind.required}
    assert len(ours) > 10
    assert ours <= required


EXPRESSIONS = (
    "0 9 * * 1-5", "*/5 * * * *", "0 0 9 * * MON", "0 0 1 JAN *", "@daily", "@hourly", "0 0 * * 7",
    "0 0-23/2 * * *", "0 12 ? * MON", "0 0 12 ? * MON", "0 0 12 * * ?", "0 0 L * *", "0 0 15W * *",
    "0 0 * * 5#3", "0 0 * * 5L", "61 * * * *", "abc", "", "0 0 12 * * MON 2026", "* * * *",
    "0 0 32 * *", "0 0 * 13 *", "0 0 * * MON-FRI", "0 24 * * *", "1,2,3 4 * * *", "60 * * * * *",
    "0 0 * * 8", "0 0 0 * *", "5/15 * * * *", "0 0 * * sun,sat",
    "0 0 */0 2 *", "*/00 * * * *", "0 0 20-5 * *", "0 0 1 NOV-FEB *", "0 0 * * FRI-MON",
    "0 0 5-5 * *",
)  # fmt: skip


def test_schedules_are_read_as_n8ns_scheduler_reads_them(described: list[dict[str, Any]]) -> None:
    script = (
        "const { CronTime } = require('cron');"
        f"for (const e of {json.dumps(EXPRESSIONS)})"
        "{ try { new CronTime(e); console.log(1) } catch { console.log(0) } }"
    )
    done = subprocess.run(
        [str(find_node().path), "-e", script],
        capture_output=True, text=True, check=True, cwd=engine_dir(), timeout=120,
    )  # fmt: skip
    real = dict(zip(EXPRESSIONS, (line == "1" for line in done.stdout.split()), strict=True))
    assert {e: unreadable_cron(e) == "" for e in EXPRESSIONS} == real


# Among them 30049 (a wire there twice: the frontend's OF058) and 30118 (a loop with a branch that
# leaves it in every pass), which run nodes twice by what is drawn.
SEEDS = (30_049, 30_118, *seeds(30_000, 30_045))


def test_damage_of_random_workflows_is_told(
    engine: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On n8n's engine: work done twice outside of loops, Merges that never run although items came;
    and what is said to be certain (errors of the flow) is so."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    fuzz = pytest.importorskip("engine_model_fuzz", reason="benchmarks/ is not there")
    seen: Counter[str] = Counter()
    untold: list[tuple[int, str]] = []
    for drawn, run in fuzz.runs(engine, SEEDS):
        workflow = drawn.case.workflow
        (made,) = read_workflows(parse_json("w", text(workflow)))
        found = linted(workflow)
        said = {d.code for d in found}
        order = [entry for entry in run.order if entry.workflow is None]
        ran = Counter(entry.node for entry in order)
        for d in found:
            if d.severity.value == "error" and d.code == "OF456":
                assert run.status != "success", drawn.case.seed
            if d.severity.value == "error" and d.code == "OF449":
                assert ran[d.message.split("`")[1]] == 0, drawn.case.seed
        failed = any(entry.status == "error" for entry in order)
        if run.status != "success" or failed or drawn.case.items != 1 or "OF469" in said:
            continue  # more than one item, failures: not what is looked at
        if any(k > 1 and made.by_name[n].index not in made.cyclic for n, k in ran.items()):
            seen["twice"] += 1
            if not said & {"OF452", "OF453", "OF454", "OF455"}:
                untold.append((drawn.case.seed, "twice"))
        gave = {(e.node, o) for e in order for o, items in enumerate(e.outputs) if items}
        dead = [
            n.name
            for n in made.nodes
            if n.short == "merge" and not ran[n.name]
            and any((made.nodes[w.source].name, w.output) in gave for w in made.into[n.index])
        ]  # fmt: skip
        if dead:
            seen["dead"] += 1
            if not said & {"OF449", "OF450", "OF451"}:
                untold.append((drawn.case.seed, "dead"))
    print(dict(seen), untold)
    assert min(seen["twice"], seen["dead"]) >= at_least(4)
    assert {seed for seed, _ in untold} <= {30_049, 30_118}
