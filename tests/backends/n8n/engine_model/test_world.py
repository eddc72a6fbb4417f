"""Several executions on one server: starts, waits, messages, timers, and calls."""

from __future__ import annotations

from typing import Any

import pytest
from orgflow.backends.n8n.engine_model import RUNS, EngineModel, Opens
from orgflow.backends.n8n.engine_model.exploration import explore_worlds
from orgflow.backends.n8n.engine_model.tables import make_table
from orgflow.backends.n8n.engine_model.world import (
    Message,
    Timer,
    World,
    make_item,
)
from orgflow.backends.n8n.engine_model.world_model import (
    Consume,
    Operate,
    Step,
    Tick,
    WorldModel,
)
from table_scripts import COLUMNS, Field, Me, Operation, chained, plain_node, table_parameters

FORM = {"resume": "form", "formTitle": "t"}
HOOK = {"resume": "webhook"}
CLAIM = Operation(
    "update", [("key", "eq", Field("key")), ("state", "eq", "open")], {"state": "done", "run": Me()}
)
OPEN_ROW = {"key": "a", "state": "open", "run": ""}


def waiting(parameters: dict[str, Any]) -> dict[str, Any]:
    """A workflow that waits once."""
    nodes = [plain_node("T", "webhook", {}), plain_node("W", "wait", parameters, 1)]
    return chained([*nodes, plain_node("End", "noOp", {}, 2)])


def lasting(seconds: int) -> dict[str, Any]:
    """The parameters of a Wait for a time."""
    return {"resume": "timeInterval", "amount": seconds, "unit": "seconds"}


def after_steps(model: WorldModel, world: World) -> World:
    """The world when no execution can go on by itself, each with its first outcome."""
    while True:
        moves = [move for move in model.moves(world) if isinstance(move, Step | Operate)]
        if not moves:
            return world
        world = model.advance(world, moves[0]).world


def states(world: World) -> list[str]:
    """The state of each execution."""
    return [execution.state for execution in world.executions]


@pytest.mark.parametrize(
    ("parameters", "state", "timers"),
    [
        (FORM, "form", ()),
        (HOOK, "webhook", ()),
        (
            {**HOOK, "limitWaitTime": True, "resumeAmount": 2, "resumeUnit": "days"},
            "webhook",
            (Timer(172_800, 1),),
        ),
        (lasting(70), "time", (Timer(70, 1),)),
        (lasting(5), "time", (Timer(5, 1),)),
        ({"resume": "specificTime", "dateTime": "={{ $json.d }}"}, "time", (Timer(None, 1),)),
    ],
)
def test_a_wait_is_visible(
    parameters: dict[str, Any], state: str, timers: tuple[Timer, ...]
) -> None:
    model = WorldModel({"w": waiting(parameters)})
    world = after_steps(model, model.started(model.initial(), "w", "T"))
    assert states(world) == [state]
    assert world.clock == timers


def test_a_wait_for_an_event_that_is_computed_is_unknown() -> None:
    model = WorldModel({"w": waiting({"resume": "={{ $json.by }}"})})
    world = model.started(model.initial(inbox=[Message("w", "W")]), "w", "T")
    world = model.advance(world, Step(0, RUNS)).world
    stored = model.advance(world, Step(0, Opens())).world
    assert states(stored) == ["unknown"]
    assert model.moves(stored, ticks="any") == (Consume(0, 0), Tick(0))


def test_an_answer_resumes_the_execution_that_waits_for_it() -> None:
    model = WorldModel({"w": waiting(FORM)})
    world = model.initial(inbox=[Message("w", "W", execution=2)])
    world = model.started(model.started(world, "w", "T"), "w", "T")
    world = after_steps(model, world)
    assert states(world) == ["form", "form"]
    assert model.moves(world) == (Consume(0, 1),)
    world = after_steps(model, model.advance(world, Consume(0, 1)).world)
    assert states(world) == ["form", "ended"]
    assert not world.inbox


def test_an_answer_stays_in_the_inbox_until_an_execution_waits() -> None:
    model = WorldModel({"w": waiting(HOOK)})
    world = model.started(model.initial(inbox=[Message("w", "W")]), "w", "T")
    with pytest.raises(ValueError, match="cannot be consumed"):
        model.advance(world, Consume(0, 0))
    found = explore_worlds(model, world)
    assert [states(final) for final in found.final_worlds] == [["ended"]]


def test_an_answer_or_the_limit_ends_a_wait() -> None:
    limited = {**HOOK, "limitWaitTime": True, "resumeAmount": 2, "resumeUnit": "hours"}
    model = WorldModel({"w": waiting(limited)})
    world = model.started(model.initial(inbox=[Message("w", "W")]), "w", "T")
    idle = explore_worlds(model, world)
    assert [len(final.inbox) for final in idle.final_worlds] == [0]
    anytime = explore_worlds(model, world, ticks="any")
    assert sorted(len(final.inbox) for final in anytime.final_worlds) == [0, 1]
    assert all(final.clock == () for final in anytime.final_worlds)


def test_timers_fire_in_order() -> None:
    model = WorldModel({"long": waiting(lasting(200)), "short": waiting(lasting(90))})
    world = model.started(model.started(model.initial(), "long", "T"), "short", "T")
    world = after_steps(model, world)
    assert world.clock == (Timer(200, 1), Timer(90, 2))
    assert model.moves(world) == (Tick(1),)
    with pytest.raises(ValueError, match="another timer"):
        model.advance(world, Tick(0))
    world = after_steps(model, model.advance(world, Tick(1)).world)
    assert states(world) == ["time", "ended"]
    assert world.clock == (Timer(110, 1),)


def test_a_timer_without_a_fixed_time_fires_before_or_after_others() -> None:
    unfixed = {"resume": "specificTime", "dateTime": "={{ $json.d }}"}
    model = WorldModel({"some": waiting(unfixed), "long": waiting(lasting(200))})
    world = model.started(model.started(model.initial(), "some", "T"), "long", "T")
    world = after_steps(model, world)
    assert model.moves(world) == (Tick(0), Tick(1))
    assert model.advance(world, Tick(0)).world.clock == (Timer(None, 2),)


def test_a_schedule_starts_executions_again_and_again() -> None:
    model = WorldModel({"sweep": chained([plain_node("T", "scheduleTrigger", {})])})
    world = model.initial(schedules=[Timer(10, workflow="sweep", node="T", every=10)])
    for count in (1, 2, 3):
        world = after_steps(model, model.advance(world, Tick(0)).world)
        assert states(world) == ["ended"] * count
        assert world.clock == (Timer(10, workflow="sweep", node="T", every=10),)


def called(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """A workflow that others call."""
    trigger = plain_node("C", "executeWorkflowTrigger", {"inputSource": "passthrough"})
    return chained([{**trigger, "typeVersion": 1.1}, *steps])


def calling(workflow: str, waits: bool) -> dict[str, Any]:
    """A node that calls a workflow with its own items."""
    parameters = {
        "workflowId": {"__rl": True, "mode": "id", "value": workflow},
        "options": {"waitForSubWorkflow": waits},
    }
    return plain_node("X", "executeWorkflow", parameters, 1)


def test_a_call_that_is_not_waited_for_is_an_execution_of_its_own() -> None:
    flow = chained([plain_node("T", "webhook", {}), calling("w", waits=False)])
    model = WorldModel({"p": flow, "w": called([plain_node("W", "wait", HOOK, 1)])})
    world = after_steps(model, model.started(model.initial(), "p", "T"))
    assert [execution.workflow for execution in world.executions] == ["p", "w"]
    assert states(world) == ["ended", "webhook"]


def test_a_claim_in_a_called_workflow_has_one_winner() -> None:
    """The item goes through the call; what the call returns leads to the last node or not."""
    claim = plain_node("Claim", "dataTable", table_parameters(CLAIM), 1)
    flow = chained(
        [plain_node("T", "webhook", {}), calling("claim", True), plain_node("W", "wait", FORM, 2)]
    )
    model = WorldModel({"p": flow, "claim": called([claim])})
    world = model.initial(
        tables=[make_table("t", COLUMNS, [OPEN_ROW])],
        inbox=[Message("p", "T", (make_item({"key": "a"}),)) for _ in range(2)],
    )
    found = explore_worlds(model, world)
    assert found.is_complete, found.unknown
    assert {tuple(sorted(states(final))) for final in found.final_worlds} == {("ended", "form")}


def test_items_that_a_node_may_change_are_unknown() -> None:
    claim = plain_node("Claim", "dataTable", table_parameters(CLAIM), 2)
    tables = [make_table("t", COLUMNS, [OPEN_ROW])]
    for short, known in (("noOp", True), ("filter", True), ("set", False), ("code", False)):
        steps = [plain_node("T", "webhook", {}), plain_node("N", short, {}, 1), claim]
        model = WorldModel({"p": chained(steps)})
        world = model.started(model.initial(tables=tables), "p", "T", (make_item({"key": "a"}),))
        assert explore_worlds(model, world).is_complete is known, short


def test_a_failed_operation_changes_nothing() -> None:
    steps = [plain_node("T", "webhook", {}), plain_node("N", "dataTable", table_parameters(CLAIM))]
    model = WorldModel({"p": chained(steps)})
    tables = [make_table("t", COLUMNS, [OPEN_ROW])]
    world = model.started(model.initial(tables=tables), "p", "T", (make_item({"key": "a"}),))
    found = explore_worlds(model, world, errors=True)
    ends = {(states(w)[0], w.table("t").rows[0].cells[1]) for w in found.final_worlds}
    assert ends == {("ended", "done"), ("failed", "open")}


def test_a_loop_of_unobserved_steps_does_not_hide_others() -> None:
    loop = chained([plain_node("T", "webhook", {}), plain_node("A", "noOp", {}, 1)])
    loop["connections"]["A"] = {"main": [[{"node": "A", "type": "main", "index": 0}]]}
    model = WorldModel({"loop": loop, "w": waiting(HOOK)})
    world = model.started(model.started(model.initial(), "loop", "T"), "w", "T")
    found = explore_worlds(model, world, reduce=True)
    assert any(states(one) == ["running", "webhook"] for one in found.worlds)


def test_a_configuration_is_a_world() -> None:
    workflow = waiting(FORM)
    engine = EngineModel(workflow)
    config = engine.step(engine.initial("T"), RUNS)
    world = engine.world_of(config)
    assert world.config == config
    assert (world.tables, world.inbox, world.clock) == ((), (), ())
    assert hash(world) == hash(engine.world_of(config))
    opened = engine.world_of(engine.step(config, Opens()))
    assert opened != world
    assert states(world) + states(opened) == ["running", "form"]


def test_unknown_names_are_errors() -> None:
    model = WorldModel({"w": waiting(FORM)})
    for inbox, schedules in (
        ([Message("x", "T")], []),
        ([Message("w", "X")], []),
        ([], [Timer(1, workflow="w", node="X")]),
    ):
        with pytest.raises(KeyError):
            model.initial(inbox=inbox, schedules=schedules)
