"""The support matrix of the documentation, cell by cell: what it calls supported or lowered runs on
n8n's engine as the token game does, in the format of n8n 2 and of the last n8n 1; what it calls
refused is refused with a reason. ASL's cells are compiled or refused, never left out."""

from __future__ import annotations

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.runner import LocalRunner
from orgflow.commands.list import matrix
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model

from orgflow_ir.model import (
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Model,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.testing.conformance.shapes import shape
from orgflow_ir.testing.minimal import minimal_models

RUNS = frozenset({"Supported", "Supported*", "Lowered"})
VERSIONS = ("2.41", "1.123")


def only_inside(name: str) -> bool:
    """Whether only event sub-processes have such a start: these are refused, and the cell is about
    the start."""
    return name.startswith("event.start.") and name.endswith(".non-interrupting")


def _mixed() -> Model:
    nodes = (
        Event(id="s", position="start"),
        Gateway(id="x", gateway_kind="exclusive"),
        Gateway(id="g", gateway_kind="exclusive", name="Which?"),
        *(Task(id=t, name=t.upper()) for t in "abcd"),
        *(Event(id=f"e{t}", position="end") for t in "cd"),
    )
    wires = ("s>x", "x>a", "x>b", "a>g", "b>g", "g>c", "g>d", "c>ec", "d>ed")
    flows = [
        Flow(id=f"f{n}", source=w.split(">")[0], target=w.split(">")[1], name=w.split(">")[1])
        for n, w in enumerate(wires)
    ]
    return Model(id="m", processes=(Process(id="p", nodes=nodes, flows=tuple(flows)),))


def _conditional() -> Model:
    """A task that chooses among its own flows."""
    model = shape("s>A A>B:One A>C:Two B>e C>f")
    (process,) = model.processes
    choosing = [f for f in process.flows if f.source == "A"]
    flows = tuple(
        f.replace(condition=Expression(text=f"${{n == {choosing.index(f)}}}")) if f in choosing
        else f
        for f in process.flows
    )  # fmt: skip
    return model.replace(processes=(process.replace(flows=flows),))


def _listened() -> Model:
    script = "<script scriptFormat='groovy'>execution.setVariable('x', 1)</script>"
    xml = f"<executionListener xmlns='{CAMUNDA}' event='start'>{script}</executionListener>"
    return Model(
        id="m",
        processes=(
            Process(
                id="p",
                nodes=(
                    Event(id="s", position="start"),
                    Event(
                        id="e", position="end", extra=((f"{{{CAMUNDA}}}executionListener", xml),)
                    ),
                ),
                flows=(Flow(id="f", source="s", target="e"),),
            ),
        ),
    )


def _signalled(*, done_at_once: bool) -> Model:
    thrown = (EventDefinition(kind="signal", name="Alarm"),)
    inside = SubProcess(
        id="sub",
        nodes=(
            Event(id="i", position="start"),
            Event(id="a", position="throw") if done_at_once else Task(id="a"),
            Event(id="t", position="end", definitions=thrown),
        ),
        flows=(Flow(id="g", source="i", target="a"), Flow(id="h", source="a", target="t")),
    )
    return Model(
        id="m",
        processes=(
            Process(
                id="p",
                nodes=(
                    Event(id="s", position="start"),
                    inside,
                    Event(id="b", position="boundary", attached_to="sub", definitions=thrown),
                    Event(id="e", position="end"),
                    Event(id="f", position="end"),
                ),
                flows=(
                    Flow(id="1", source="s", target="sub"),
                    Flow(id="2", source="sub", target="e"),
                    Flow(id="3", source="b", target="f"),
                ),
            ),
        ),
    )


CAMUNDA = "http://camunda.org/schema/1.0/bpmn"
DERIVED = {
    "gateway.mixed": _mixed(),
    "split.conditional": _conditional(),
    "listener": _listened(),
    "signal.around": _signalled(done_at_once=True),
    "signal.lasting": _signalled(done_at_once=False),
    "timer.unsupported": Model(
        id="m",
        processes=(
            Process(
                id="p",
                nodes=(
                    Event(
                        id="s",
                        position="start",
                        definitions=(
                            EventDefinition(
                                kind="timer", timer="duration", expression=Expression(text="PT5M")
                            ),
                        ),
                    ),
                    Event(id="e", position="end"),
                ),
                flows=(Flow(id="f", source="s", target="e"),),
            ),
        ),
    ),
}
"""Models of constructs that analyses derive, which have no minimal one."""


def cells(registry: Registry, target: str) -> dict[str, str]:
    head, *rows = matrix(registry)
    column = head.index(target)
    return {row[0]: row[column] for row in rows}


def cases() -> dict[str, Model]:
    return {**dict(minimal_models()), **DERIVED}


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
        if cell == "Refused" or only_inside(name):
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
    """A state machine has no listeners and starts at no time of its own: both are reported, and the
    listener stays in the comment of its state. A catch event without a usable time is refused."""
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
    assert found == {
        "gateway.mixed": "compiled",
        "split.conditional": "compiled",
        "listener": "reported",
        "signal.around": "refused",
        "signal.lasting": "refused",
        "timer.unsupported": "refused",
    }
