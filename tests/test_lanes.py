"""Lanes that stand in themselves, or in nothing, and boundary events of nothing are drawn."""

from __future__ import annotations

import random

import pytest
from orgflow import compiler
from orgflow.backends.mermaid.flowchart import write_flowchart

from orgflow_ir.layout.compose import model_group
from orgflow_ir.model import Event, EventDefinition, Flow, Lane, Model, Process, Task
from orgflow_ir.model.lanes import in_circles, outermost_first
from orgflow_ir.model.verifier import list_violations
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def model(lanes: tuple[Lane, ...], members: int = 3) -> Model:
    tasks = tuple(Task(id=f"t{i}", name=f"T{i}") for i in range(members))
    flows = tuple(Flow(id=f"f{i}", source=f"t{i}", target=f"t{i + 1}") for i in range(members - 1))
    return Model(id="m", processes=(Process(id="p", nodes=tasks, flows=flows, lanes=lanes),))


CIRCLE = (
    Lane(id="a", name="A", parent="b", members=("t0",)),
    Lane(id="b", name="B", parent="a", members=("t1",)),
)


@pytest.mark.parametrize(
    "lanes",
    [CIRCLE, (CIRCLE[0].replace(parent="a"),), (CIRCLE[0].replace(parent="gone"),), CIRCLE[::-1]],
    ids=["circle", "itself", "unknown", "other order"],
)
def test_odd_lanes_are_drawn_with_what_is_in_them(lanes: tuple[Lane, ...]) -> None:
    drawn = {shape.element for shape in model_group(model(lanes)).shapes}
    assert drawn >= {"t0", "t1", "t2"}
    assert lanes[0].id in drawn
    text = write_flowchart(model(lanes))
    assert all(f'"T{i}"' in text for i in range(3))
    assert '["A"]' in text


def test_a_circle_begins_at_its_first_lane() -> None:
    found = outermost_first((*CIRCLE, Lane(id="c", parent="b"), Lane(id="d")))
    assert [(lane.id, lane.parent) for lane in found] == [
        ("d", None), ("a", None), ("b", "a"), ("c", "b"),
    ]  # fmt: skip


def test_a_pass_must_not_put_lanes_into_themselves() -> None:
    assert in_circles((*CIRCLE, Lane(id="c", parent="b"))) == ("a", "b")
    assert any("inside itself" in text for text in list_violations(model(CIRCLE)))
    assert not list_violations(model((Lane(id="a"), Lane(id="b", parent="a"))))


@pytest.mark.parametrize("host", ["gone", "self", "other"])
def test_a_boundary_event_of_nothing_is_drawn(host: str) -> None:
    timer = (EventDefinition(kind="timer"),)
    events = tuple(
        Event(id=id, position="boundary", attached_to=to, definitions=timer)
        for id, to in (("e", host.replace("self", "e").replace("other", "o")), ("o", "t"))
    )
    nodes = (Task(id="t"), Task(id="u"), *events)
    flows = (Flow(id="f", source="e", target="u"), Flow(id="g", source="o", target="e"))
    process = Process(id="p", nodes=nodes, flows=flows)
    drawn = {shape.element for shape in model_group(Model(id="m", processes=(process,))).shapes}
    assert drawn >= {"t", "u", "e", "o"}


def test_random_lanes_reach_every_target_that_draws() -> None:
    registry = Registry(outside=False)
    rng = random.Random(5)
    for _ in range(60):
        ids = [f"l{i}" for i in range(rng.randint(1, 5))]
        lanes = tuple(
            Lane(id=id, parent=rng.choice([*ids, None, "gone"]),
                 members=tuple(rng.sample(["t0", "t1", "t2"], rng.randint(0, 2))))
            for id in ids
        )  # fmt: skip
        made = model(lanes)
        assert {s.element for s in model_group(made).shapes} >= {"t0", "t1", "t2"}
        for target in ("bpmn", "n8n", "mermaid"):
            ctx = PassContext(registry=registry)
            emitted = compiler.compile_model(made, registry.backends[target], ctx, force=True)
            assert emitted is not None, [d.message for d in ctx.diagnostics]
