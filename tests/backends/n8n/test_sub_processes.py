"""Sub-processes that become part of what is around them run as the token game says."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model
from played_models import ONE_EXECUTION, compiled, faults
from seeds import at_least, seeds
from segment_player import SegmentPlay, plan_segments
from sub_process_models import (
    ERROR,
    IN_ROWS,
    MODELS,
    OMITTED,
    REFUSED,
    boundary,
    deep,
    nested,
    within,
)

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


@pytest.fixture
def runner(engine: LocalEngine) -> Iterator[LocalRunner]:
    return LocalRunner(engine)


@pytest.mark.parametrize("name", MODELS)
def test_the_engine_runs_it_as_the_token_game_does(
    runner: LocalRunner, registry: Registry, name: str
) -> None:
    made, errors = compiled(MODELS[name], registry)
    assert made is not None, errors
    assert len(made.artifacts) == 1
    assert faults(MODELS[name], made, runner, registry) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_depends_on_its_border_is_refused(registry: Registry, name: str) -> None:
    model, reason = REFUSED[name]
    made, errors = compiled(model, registry)
    assert made is None
    assert any(e.startswith("OF403") and reason in e for e in errors), errors


@pytest.mark.parametrize("name", IN_ROWS)
def test_what_ends_beside_work_is_a_scope_of_rows(
    runner: LocalRunner, registry: Registry, name: str
) -> None:
    model, reason = IN_ROWS[name]
    alone, errors = compiled(model, registry, ONE_EXECUTION)
    assert alone is None
    assert any(e.startswith("OF403") and reason in e for e in errors), errors
    plan = plan_segments(model)
    assert plan is not None
    for seed in range(10):
        SegmentPlay(model, plan, random.Random(seed)).play()
    made, errors = compiled(model, registry)
    assert made is not None, errors
    report = replay_model(model, made, runner, PassContext(), max_runs=40)
    assert {run.verdict for run in report.runs} <= {"equal", "unplayable"}
    assert "equal" in {run.verdict for run in report.runs}


@pytest.mark.parametrize("name", OMITTED)
def test_an_event_that_never_occurs_is_omitted(
    runner: LocalRunner, registry: Registry, name: str
) -> None:
    model, reason = OMITTED[name]
    ctx = PassContext(registry=registry)
    made = compile_model(model, registry.backends["n8n"], ctx)
    assert made is not None
    (omitted,) = (d for d in ctx.diagnostics if d.code == "OF409")
    assert reason in omitted.message
    assert faults(model, made, runner, registry) == []


@pytest.mark.slow
def test_random_ones(runner: LocalRunner, registry: Registry) -> None:
    played = 0
    for seed in seeds(150):
        model = nested(seed)
        made, errors = compiled(model, registry)
        if made is None:
            # a step in a parallel branch that may fail
            assert all("may be active" in e or "border" in e for e in errors), (seed, errors)
            continue
        assert faults(model, made, runner, registry) == [], seed
        played += 1
    assert played >= at_least(100)


def test_the_canvas_shows_what_belongs_together(registry: Registry) -> None:
    made, _ = compiled(within(deep(), boundary(ERROR)), registry)
    assert made is not None
    nodes = {n["name"]: n for n in json.loads(made.artifacts[0].text)["nodes"]}
    outer, inner = nodes["Part Part sub"], nodes["Part Part inner"]
    assert [n["parameters"]["content"] for n in (outer, inner)] == [
        "### Part sub",
        "### Part inner",
    ]

    def covered(note: dict[str, Any]) -> set[str]:
        left, top = note["position"]
        right, bottom = left + note["parameters"]["width"], top + note["parameters"]["height"]
        return {
            name
            for name, n in nodes.items()
            if left < n["position"][0] < right and top < n["position"][1] < bottom
        }

    assert covered(inner) == {"JX", "Fine?"}
    assert covered(outer) == {"Part Part inner", "Y"} | covered(inner)
    assert "Part of “Part sub”.\n\nPart of “Part inner”." in nodes["JX"]["notes"]
    assert "Part of “Part sub”." in nodes["Y"]["notes"]
    assert "Part of" not in nodes["A"]["notes"]


def test_a_join_that_a_sub_process_became_is_refused_under_its_name(tmp_path: Path) -> None:
    """Two ends of `Assess` meet in an inclusive join, in a loop beside another join."""
    flows = [
        ("s", "m"), ("m", "sub"), ("sub", "fork"), ("fork", "a"), ("fork", "b"), ("a", "join"),
        ("b", "join"), ("join", "again"), ("again", "m"), ("again", "e"),
    ]  # fmt: skip
    inner = [
        ("is", "both"), ("both", "x"), ("both", "more"), ("x", "e2"), ("more", "y"), ("y", "e1"),
        ("more", "pair"), ("pair", "e3"), ("pair", "w"), ("w", "e1"),
    ]  # fmt: skip

    def drawn(pairs: list[tuple[str, str]]) -> str:
        return "".join(
            f'<sequenceFlow id="{a}-{b}" sourceRef="{a}" targetRef="{b}" name="{b}"/>'
            for a, b in pairs
        )

    ends = "".join(f'<endEvent id="e{i}"/>' for i in (1, 2, 3))
    tasks = "".join(f'<task id="{name}"/>' for name in "xyw")
    model = tmp_path / "claim.bpmn"
    model.write_text(
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">'
        '<process id="p"><startEvent id="s"/><exclusiveGateway id="m"/><subProcess id="sub" '
        'name="Assess"><startEvent id="is"/><parallelGateway id="both"/><exclusiveGateway '
        f'id="more"/><parallelGateway id="pair"/>{tasks}{ends}{drawn(inner)}</subProcess>'
        '<parallelGateway id="fork"/><task id="a"/><task id="b"/><parallelGateway id="join"/>'
        f'<exclusiveGateway id="again"/><endEvent id="e"/>{drawn(flows)}</process></definitions>'
    )
    done = orgflowc("compile", model, "--target", "n8n", "-o", tmp_path / "out", "--format", "json")
    (refused,) = [d for d in json.loads(done.err)["diagnostics"] if d["code"] == "OF403"]
    assert refused["element"] == "sub"
    assert refused["message"].startswith("what becomes of the sub-process `Assess` (gateway.incl")
    assert refused["help"].startswith("move the steps of `Assess` into the parent process, and ")
