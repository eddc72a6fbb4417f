"""The support matrix of the documentation, cell by cell: what it calls supported or lowered runs on
n8n's engine as the token game does, in the format of n8n 2 and of the last n8n 1; what it calls
refused is refused with a reason. ASL's cells are compiled or refused, never left out."""

from __future__ import annotations

import pytest
from matrix_models import DERIVED, ONLY_ROWS, RUNS, cases, cells, only_inside
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model

from orgflow_ir.model import Event, EventDefinition, Expression, Flow, Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.testing.conformance.minimal_models import minimal_models

VERSIONS = ("2.41", "1.123")


def test_every_cell_that_runs_has_a_case(registry: Registry) -> None:
    known = cases()
    for target in ("n8n", "asl"):
        runs = {name for name, cell in cells(registry, target).items() if cell in RUNS}
        assert runs - set(known) == set()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_cell_of_n8n(engine: LocalEngine, registry: Registry, version: str) -> None:
    table = cells(registry, "n8n")
    runner = LocalRunner(engine)
    wrong: list[str] = []
    executed = 0
    for name, model in cases().items():
        ctx = PassContext(registry=registry)
        cell = table[name]
        lossy = cell == "Degraded"
        made = compile_model(
            model, registry.backends["n8n"], ctx, options={"version": version}, allow_lossy=lossy
        )
        errors = [d for d in ctx.diagnostics if d.severity == "error"]
        older = version.startswith("1") and name in ONLY_ROWS
        if only_inside(name) and made is not None:
            continue  # an event sub-process, which is a scope of rows
        if cell == "Refused" or only_inside(name) or older:
            if any(d.code == "OF409" for d in ctx.diagnostics):
                continue  # nothing in the small model throws it
            if made is not None or not all(d.message and d.help for d in errors):
                wrong.append(f"{name} is {cell}: {[d.message for d in errors]}")
            continue
        if made is None:
            wrong.append(f"{name} is {cell}, and refused: {[d.message for d in errors]}")
            continue
        if lossy:  # of the orders that the model allows there is one
            assert any(d.code == "OF402" for d in ctx.diagnostics)
            continue
        report = replay_model(model, made, runner, PassContext(), max_runs=8)
        # no data makes both of two conditions hold that exclude each other
        verdicts = {run.verdict for run in report.runs} - {"unplayable"}
        if verdicts != {"stub" if name == "stub" else "equal"}:
            wrong.append(f"{name} is {cell}: {verdicts or report.unfinished}")
        executed += 1
    assert wrong == []
    assert executed >= 55


def test_every_cell_of_asl_is_compiled_or_refused(registry: Registry) -> None:
    table = cells(registry, "asl")
    wrong = []
    for name, model in minimal_models():
        ctx = PassContext(registry=registry)
        made = compile_model(model, registry.backends["asl"], ctx)
        errors = [d for d in ctx.diagnostics if d.severity == "error"]
        runs = table[name] in RUNS
        if (made is None) is runs and not only_inside(name):
            wrong.append(f"{name} is {table[name]}: {[d.message for d in errors]}")
        if made is None and not all(d.help for d in errors):
            wrong.append(f"{name} is refused without a remedy")
    assert wrong == []


def test_derived_constructs_of_asl_are_refused_or_reported(registry: Registry) -> None:
    """A listener beside a task is a state. A catch event without a usable time is refused."""
    (process,) = DERIVED["timer.unsupported"].processes
    start, end = process.nodes
    assert isinstance(start, Event)
    waiting = process.replace(
        nodes=(
            Event(id="s", position="start"),
            Event(
                id="w",
                position="catch",
                definitions=(
                    EventDefinition(
                        kind="timer", timer="cycle", expression=Expression(text="0 0 9 * * ?")
                    ),
                ),
            ),
            end,
        ),
        flows=(Flow(id="f", source="s", target="w"), Flow(id="g", source="w", target="e")),
    )
    models = {**DERIVED, "timer.unsupported": Model(id="m", processes=(waiting,))}
    found = {}
    for name, model in models.items():
        ctx = PassContext(registry=registry)
        made = compile_model(model, registry.backends["asl"], ctx)
        errors = [d for d in ctx.diagnostics if d.severity == "error"]
        if made is None:
            assert errors, name
            assert all(d.help for d in errors), name
            found[name] = "refused"
            continue
        found[name] = "reported" if any(d.code == "OF404" for d in ctx.diagnostics) else "compiled"
        if name == "listener":
            assert "execution.setVariable('x', 1)" in made.artifacts[0].text
        if name == "mapping":  # reported as kept in the comment
            assert "x = 1; y = ${x}" in made.artifacts[0].text
            assert "OF408" in {d.code for d in ctx.diagnostics}
    assert found == {
        "gateway.mixed": "compiled",
        "split.conditional": "compiled",
        "listener": "compiled",
        "mapping": "compiled",
        "signal.around": "refused",
        "signal.lasting": "refused",
        "wait.parallel": "compiled",
        "wait.race": "refused",
        "wait.interrupted": "refused",
        "task.awaited": "refused",
        "timer.unsupported": "refused",
    }
