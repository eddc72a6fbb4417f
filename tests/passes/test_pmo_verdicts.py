"""The flow of the 55 PMo models, with the reasons where another tool says something else."""

from __future__ import annotations

import csv

import pytest
from orgflow.passes.pipelines import CHECK
from shared_data import shared_data

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext, PassManager
from orgflow_ir.plugins import Registry

PMO = shared_data("pmo")
MODELS = [f"{n:02d}" for n in range(1, 56)]

FINDINGS = {
    # Two ways lead from the parallel gateway "Ship goods" side by side to "Prepare for picking
    # up goods": packaging, and the choice of shipment. See DISAGREEMENTS.
    "21": [("OF203", "error")],
    # A process that is not drawn: the pool is there, its content is not.
    "23": [("OF107", "warning")],
    # A complex gateway: when it goes on is not in the drawing.
    "37": [("OF205", "info")],
}
"""What `check` says about each model (nothing about the others): proved free of deadlock,
livelock, doubled work, within the policies of the analysis."""

NOT_CHECKED = "no verdict there (it takes no collaborations); each process by itself is sound: "
DISAGREEMENTS: dict[str, str] = {
    "21": "no verdict there. The parallel gateway after `Ship goods` starts packaging beside the "
    "choice of a carrier, and an exclusive gateway joins the two: `Prepare for picking up goods` "
    "runs as soon as one is done and again after the other. The description says `if everything "
    "is ready`, so a parallel join was meant: unsound as drawn",
    "22": NOT_CHECKED + "exclusive splits, exclusive and implicit joins, no parallel branch",
    "23": NOT_CHECKED + "the same, with an event-based choice; Process_1 has no content",
    "24": NOT_CHECKED + "the only loop, calling the guest again, is left by `Guest appears`",
    "29": "its net conversion failed. Nine branches leave ParallelGateway_1 and meet in "
    "ParallelGateway_2, with closed exclusive blocks and loops inside; both loops around have a "
    "way on: sound",
    "30": "it says unsound, and is wrong. `Appoint a date` and `Download the missing games` have "
    "two incoming flows each, one of them the way back of a loop inside a branch of the parallel "
    "block. An activity passes each token by itself (BPMN 2.0.2, 13.3.1), so it does not wait for "
    "the way back; both loops are left into ParallelGateway_2, which gets one token a branch",
    "32": NOT_CHECKED + "parallel blocks joined by parallel gateways, one inclusive block by an "
    "inclusive gateway, loops left by exclusive gateways",
    "38": NOT_CHECKED + "the drafts go round until `Draft sufficient?` says yes",
    "44": "it says unsound, and is wrong. ParallelGateway_1 closes in ParallelGateway_2 with one "
    "task a branch. ParallelGateway_3 closes in ParallelGateway_4: one branch is `Prepare burger`, "
    "the other the loop of ExclusiveGateway_5 and `Is burger ready ?`, wholly inside the branch "
    "and left by `Yes` alone. All else is closed exclusive blocks: sound",
}
"""Model → who is right and why, wherever our verdict is not the one in `woflan.csv`."""


def verdict(number: str) -> list[tuple[str, str]]:
    path = PMO / "bpmn" / f"{number}.bpmn"
    ctx = PassContext()
    model = (
        Registry(outside=False)
        .frontends["bpmn"]
        .parse(SourceFile(path.name, path.read_bytes()), ctx)
    )
    assert model is not None
    PassManager(CHECK).run(model, ctx)
    return [(d.code, d.severity.value) for d in ctx.diagnostics]


@pytest.mark.parametrize("number", MODELS)
def test_verdict(number: str) -> None:
    assert verdict(number) == FINDINGS.get(number, [])


def ours(number: str) -> str:
    codes = {code for code, _ in FINDINGS.get(number, [])}
    if codes & {"OF201", "OF202", "OF203", "OF204"}:
        return "unsound"
    return "unknown" if "OF205" in codes else "sound"


def test_every_disagreement_is_argued() -> None:
    with (PMO / "woflan.csv").open(newline="") as file:
        theirs = {row["model"]: row["verdict"] for row in csv.DictReader(file)}
    assert set(theirs) == set(MODELS)
    differ = {n for n in MODELS if theirs[n].split("(")[0] != ours(n)}
    assert differ == set(DISAGREEMENTS)
