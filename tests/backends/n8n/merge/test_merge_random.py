"""Random person-edits and model changes merged: nothing lost, refused only where it must be."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from merge_cases import (
    Case,
    Json,
    arguable_conflicts,
    case,
    lost_facts,
    node,
    true_conflicts,
    wires,
)
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.merge.three_way_merge import _Merge, merge_workflows
from orgflow.backends.n8n.verify.reference import compile_references
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compilation.reading import load_model
from seeds import seeds

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.artifact import Emitted

ROOT = Path(__file__).resolve().parents[4]
NAMES = ("employee-onboarding", "insurance-claim", "leave-request", "order-to-cash",
         "purchase-requisition", "invoice-approval")  # fmt: skip


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry()


def _model(name: str, registry: Registry) -> Model:
    path = next((ROOT / "examples" / name).glob("model.*"))
    model = load_model(str(path), registry, PassContext(registry=registry), diagram=True)
    assert model is not None
    return model


def _is_different(
    model: Model, emitted: Emitted, process: str, workflow: Json, registry: Registry
) -> bool:
    ctx = PassContext(registry=registry)
    against = compile_references(model, ctx, emitted)[process]
    found = verify_process(model, against.process, workflow, ctx, against=against, most=20_000)
    return found.verdict.value == "different"


def _outcome(case: Case, registry: Registry) -> str:
    merged = merge_workflows(case.base, case.theirs, case.ours)
    wanted = true_conflicts(case)
    if merged.conflicts:
        assert wanted or arguable_conflicts(case), merged.conflicts
        return "refused"
    assert not wanted, "a conflict was not seen"
    assert not lost_facts(case, merged.workflow)
    again = _Merge(*map(WorkflowDocument, (case.ours, merged.workflow, case.ours))).run()
    assert not again.conflicts
    # Where the model is as it was, the edited workflow is handed back with what overlaps in it.
    same = _nodes(case.base, places=True) == _nodes(case.ours, places=True)
    assert _nodes(again.workflow, places=not same) == _nodes(merged.workflow, places=not same)
    assert _ends(again.workflow) == _ends(merged.workflow)
    if not _is_different(case.model, case.emitted, case.process, merged.workflow, registry):
        return "merged"
    if _is_different(case.old, case.old_emitted, case.process, case.theirs, registry):
        return "different before"
    assert _is_different(case.model, case.emitted, case.process, case.ours, registry)
    return "different as compiled"


def _nodes(workflow: Json, *, places: bool) -> list[Json]:
    """The nodes of a workflow but for its map, with their positions or without."""
    rows = (row for row in workflow["nodes"] if not _is_map(row))
    return [{k: v for k, v in row.items() if places or k != "position"} for row in rows]


def _ends(workflow: Json) -> list[tuple[Any, ...]]:
    """The connections; n8n runs what an output leads to by places, whatever their order is here."""
    return sorted(wires(workflow))


def _is_map(row: Json) -> bool:
    return str(row["name"]).startswith("About this workflow")


@pytest.mark.parametrize("name", NAMES)
def test_random(name: str, registry: Registry) -> None:
    model = _model(name, registry)
    found: Counter[str] = Counter()
    for seed in seeds(150):
        made = case(name, model, registry, seed)
        if made is None:
            continue
        try:
            found[_outcome(made, registry)] += 1
        except AssertionError as error:
            done = [[one.kind for one in side] for side in (made.edits, made.changes)]
            raise AssertionError(f"{made.name}: {done}: {error}") from error
    assert found["merged"] > found["refused"]


@pytest.mark.parametrize("name", NAMES)
def test_one_side_alone(name: str, registry: Registry) -> None:
    """Without edits the result is the new compile, but for the address that callers know; without
    a change of the model it is the edited workflow."""
    model = _model(name, registry)
    for seed in seeds(40):
        made = case(name, model, registry, seed)
        if made is None:
            continue
        alone = merge_workflows(made.base, made.base, made.ours)
        assert not alone.conflicts
        assert alone.workflow == _at_old_address(made.base, made.ours), made.name
        assert merge_workflows(made.base, made.theirs, made.base).workflow == made.theirs


def _at_old_address(base: Json, ours: Json) -> Json:
    paths: dict[str, Any] = {
        row["id"]: row["parameters"]["path"] for row in base["nodes"] if "path" in row["parameters"]
    }
    for row in ours["nodes"]:
        if row["id"] in paths and "path" in row["parameters"]:
            row["parameters"]["path"] = paths[row["id"]]
    return ours


def test_the_generator_finds_work(registry: Registry) -> None:
    """Edits are there to be found again: the facts hold in the edited workflow itself."""
    model = _model("order-to-cash", registry)
    kinds: Counter[str] = Counter()
    for seed in range(40):
        made = case("order-to-cash", model, registry, seed)
        assert made is not None
        kinds.update(one.kind for one in made.edits)
        assert all(f.holds(made.theirs) for one in made.edits for f in one.facts), made.name
        assert node(made.base, "Check stock") is not None
    assert len(kinds) > 12, kinds


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("leave-request", 3),  # what reads a renamed node is removed
        ("employee-onboarding", 101),  # the node that was renamed is removed
        ("employee-onboarding", 64),  # put in behind the last step before an input of a join
    ],
)
def test_once_refused(name: str, seed: int, registry: Registry) -> None:
    made = case(name, _model(name, registry), registry, seed)
    assert made is not None
    assert _outcome(made, registry) == "merged"
