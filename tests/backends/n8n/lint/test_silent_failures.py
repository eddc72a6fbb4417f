"""Each silent failure of N8N.md: n8n's own engine shows the damage, and `check` says it before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from n8n_linted import Json, T, codes, flow, if_, linted, node
from n8n_silent_cases import CASES, Case
from orgflow.backends.n8n.engine.local import EngineRun, LocalEngine


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[str(request.param)]


def run(engine: LocalEngine, workflow: Json, options: dict[str, Any]) -> EngineRun:
    return engine.run(workflow, "T", data=True, **options)


def ran(found: EngineRun) -> str:
    return " ".join(entry.node for entry in found.order)


def test_the_engine_shows_the_damage(engine: LocalEngine, case: Case) -> None:
    found = run(engine, case.bad, case.options)
    assert (ran(found), found.status) == (case.ran, case.status)
    if case.look is not None:
        assert case.look(found)


def test_check_says_it(case: Case) -> None:
    said = linted(case.file or case.bad)
    assert [(d.code, d.severity.value) for d in said if d.code == case.code] == [
        (case.code, case.severity)
    ]
    (told,) = [d for d in said if d.code == case.code]
    assert told.loc is not None
    assert told.loc.line is not None
    assert told.loc.column is not None
    assert told.help


def test_one_fault_is_one_diagnostic(case: Case) -> None:
    """Nothing else that is loud is said of a workflow with one fault."""
    loud = {d.code for d in linted(case.file or case.bad) if d.severity.value != "info"}
    assert loud <= {case.code, *ALSO.get(case.code, ())}


# What really is wrong besides: what reaches a Merge several times ran several times; where neither
# branch is taken the outer Merge has a part only; conditions of version 2 come with its options.
ALSO = {"OF454": ("OF452",), "OF451": ("OF450", "OF457"), "OF439": ("OF434",)}


def test_repaired_it_runs_right(engine: LocalEngine, case: Case) -> None:
    found = run(engine, case.good, case.options)
    assert (ran(found), found.status) == (case.right, case.well)
    if case.better is not None:
        assert case.better(found)


def test_repaired_nothing_is_said(case: Case) -> None:
    corrected = case.corrected or case.good
    assert case.code not in codes(corrected)
    assert [d.message for d in linted(corrected) if d.severity.value == "error"] == []


def test_the_sentences_are_n8n_mds(shared: Path) -> None:
    documents = [shared / "docs" / name for name in ("N8N.md", "N8N_PATTERNS.md")]
    plain = " ".join(" ".join(d.read_text("utf-8") for d in documents).replace("*", "").split())
    assert [c.says for c in CASES.values() if c.says.replace("*", "") not in plain] == []


# What only a server shows: recorded in N8N.md ("Refused at publish", "400 at create"), not run.
MERGES: tuple[tuple[float, Json], ...] = (
    (3.2, {"mode": "append"}),
    (3.2, {"mode": "chooseBranch"}),
    (3.2, {"mode": "combine", "fieldsToMatchString": "a"}),
    (3.2, {"mode": "combine", "combineBy": "combineAll"}),
    (3.2, {"mode": "combine", "combineBy": "combineByPosition"}),
    (3.2, {"mode": "combine", "combineBy": "combineByPosition",
           "options": {"includeUnpaired": True}}),
    (3.2, {"mode": "combine", "fieldsToMatchString": "a", "joinMode": "keepEverything"}),
    (2.1, {"mode": "append"}),
    (2.1, {"mode": "chooseBranch"}),
    (2.1, {"mode": "combine", "mergeByFields": {"values": [{"field1": "a", "field2": "a"}]}}),
    (2.1, {"mode": "combine", "combinationMode": "mergeByPosition"}),
    (2.1, {"mode": "combine", "combinationMode": "multiplex"}),
    (1, {"mode": "append"}),
    (1, {"mode": "wait"}),
    (1, {"mode": "mergeByIndex"}),
    (1, {"mode": "passThrough"}),
)  # fmt: skip


@pytest.mark.parametrize(("version", "parameters"), MERGES)
@pytest.mark.parametrize("always", [False, True])
def test_every_mode_of_a_merge_with_a_dead_branch(
    engine: LocalEngine, version: float, parameters: Json, always: bool
) -> None:
    """A Merge behind a choice is told exactly where on one of the ways nothing after it runs."""
    more = {"alwaysOutputData": True} if always else {}
    joined = node("M", "merge", {"options": {}, **parameters}, typeVersion=version, **more)
    reached = []
    for way in ("={{ true }}", "={{ false }}"):
        made = flow(
            [T, if_("I", way), "A", "B", joined, "X"],
            "T > I, I > A, I:1 > B, A > M, B > M:1, M > X",
        )
        reached.append("X" in ran(run(engine, made, {"items": [{"json": {"a": 1}}]})))
    told = {"OF449", "OF450"} & set(codes(made))
    assert bool(told) is not all(reached)
