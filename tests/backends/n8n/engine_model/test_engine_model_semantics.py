"""What the machine says of small workflows, one rule of n8n's engine each."""

from __future__ import annotations

from typing import Any

import pytest
from engine_fixture import CALLED, START, call, flow, if_node, node, noop
from model_simulation import simulate
from orgflow.backends.n8n.engine_model import (
    ANSWERED,
    FAILS,
    RUNS,
    TIMED_OUT,
    Config,
    Emits,
    EngineModel,
    Opens,
    Outcome,
    Phase,
    Place,
    Stays,
)

Json = dict[str, Any]


def at(row: Json, x: int, y: int) -> Json:
    return {**row, "position": [x, y]}


def merge(name: str, inputs: int = 2, mode: str = "position", **more: Any) -> Json:
    parameters: Json = {"mode": mode, "numberInputs": inputs}
    if mode in ("position", "unpaired"):
        options = {"includeUnpaired": True} if mode == "unpaired" else {}
        parameters |= {"mode": "combine", "combineBy": "combineByPosition", "options": options}
    return node(name, "merge", 3.2, parameters, **more)


def into(workflow: Json, source: str, target: str, slot: int, output: int = 0) -> None:
    outputs = workflow["connections"].setdefault(source, {"main": [[], []]})["main"]
    outputs[output].append({"node": target, "type": "main", "index": slot})


def first(
    machine: EngineModel, items: int = 1, limit: int = 100
) -> list[tuple[str, tuple[int, ...]]]:
    """Run with the first possible outcome each time."""

    def decide(place: Place, run: int) -> Outcome:
        return machine.outcomes(config[-1])[0]

    config = [machine.initial("T", items)]
    order = []
    while not config[-1].ended and len(order) < limit:
        place = machine.at(config[-1])
        assert place is not None
        after, events = machine.advance(config[-1], decide(place, 0))
        order += [(event.node, event.outputs) for event in events if event.action == "run"]
        config.append(after)
    return order


def names(machine: EngineModel) -> list[str]:
    return [name for name, _ in first(machine)]


def reachable(machine: EngineModel, start: Config) -> set[Config]:
    seen, todo = {start}, [start]
    while todo:
        config = todo.pop()
        for outcome in machine.outcomes(config):
            after = machine.step(config, outcome)
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return seen


def test_targets_run_by_y_then_x_then_from_the_last_wire() -> None:
    rows = [
        START,
        at(noop("A"), 0, 9),
        at(noop("B"), 5, 3),
        at(noop("C"), 1, 3),
        at(noop("D"), 1, 3),
    ]
    wired = flow(rows, "T>A", "T>B", "T>C", "T>D")
    assert names(EngineModel(wired)) == ["T", "D", "C", "B", "A"]


def test_goes_depth_first() -> None:
    rows = [START, at(noop("A"), 0, 0), at(noop("B"), 0, 5), noop("A2"), noop("B2")]
    assert names(EngineModel(flow(rows, "T>A", "T>B", "A>A2", "B>B2"))) == [
        "T",
        "A",
        "A2",
        "B",
        "B2",
    ]


@pytest.mark.parametrize(
    ("mode", "whole", "part"),
    [
        ("position", (1,), (0,)),
        ("unpaired", (1,), (1,)),
        ("append", (2,), (1,)),
        ("chooseBranch", (1,), None),
    ],
)
def test_a_merge_fires_whole_or_in_part(
    mode: str, whole: tuple[int, ...], part: tuple[int, ...] | None
) -> None:
    wired = flow([START, noop("A"), noop("B"), merge("M", 2, mode)], "T>A", "A>M")
    into(wired, "B", "M", 1)
    assert dict(first(EngineModel(wired))).get("M") == part
    into(wired, "T", "B", 0)
    assert dict(first(EngineModel(wired)))["M"] == whole


def test_merges_that_are_each_others_ancestors_never_fire_in_part() -> None:
    wired = flow([START, merge("M"), merge("N")], "T>M", "M>N")
    into(wired, "T", "N", 1)
    assert names(EngineModel(wired)) == ["T", "M", "N"]  # M is empty and first: N waits for it
    into(wired, "N", "M", 1)
    assert names(EngineModel(wired)) == ["T"]


def test_arrivals_are_paired_by_count_and_overwrite() -> None:
    # A1 A2 B1 A3 B2 B3 pair as (A1,B1) (A3,B2) (B3): A2 is lost (N8N.md, "Token loss").
    rows = [START] + [at(noop(name), 0, y) for y, name in enumerate(("a1", "a2", "b1", "a3"))]
    rows += [at(noop(name), 0, 4 + y) for y, name in enumerate(("b2", "b3"))]
    wired = flow(
        [*rows, merge("M", 2, "append"), noop("E")], *(f"T>{row['name']}" for row in rows[1:])
    )
    for row in rows[1:]:
        into(wired, row["name"], "M", 0 if row["name"].startswith("a") else 1)
    assert [out for name, out in first(EngineModel(wired)) if name == "M"] == [(2,), (2,), (1,)]


def test_a_loop_has_finitely_many_configurations() -> None:
    wired = flow([START, noop("A"), if_node("G", "x"), noop("E")], "T>A", "A>G", "G>A", "G.1>E")
    machine = EngineModel(wired)
    configs = reachable(machine, machine.initial("T"))
    assert len(configs) == 5  # one before each of the four nodes, and the end
    assert sum(config.ended for config in configs) == 1


def test_configurations_are_values() -> None:
    machine = EngineModel(flow([START, noop("A")], "T>A"))
    before = machine.initial("T")
    assert machine.step(before, RUNS) == machine.step(before, RUNS) != before
    assert before == machine.initial("T")
    with pytest.raises(ValueError, match="cannot do this"):
        machine.step(before, ANSWERED)


def test_choices_cover_what_items_can_do() -> None:
    rule = {"conditions": {}}
    options = {"allMatchingOutputs": True, "fallbackOutput": "extra"}
    wide = {"rules": {"values": [rule, rule]}, "options": options}
    rows = [START, if_node("G", "x"), node("S", "switch", 3.4, wide)]
    machine = EngineModel(flow(rows, "T>G", "T>S"))
    config = machine.step(machine.initial("T", 2), RUNS)
    assert set(machine.outcomes(config)) >= {Emits((2, 2, 0)), Emits((1, 0, 1)), Emits((0, 0, 2))}
    assert Emits((0, 0, 0)) not in machine.outcomes(config)
    config = machine.step(config, Emits((0, 0, 2)))
    assert set(machine.outcomes(config)) == {Emits((2, 0)), Emits((1, 1)), Emits((0, 2))}
    assert FAILS in machine.outcomes(config, errors=True)


def wait(**more: Any) -> Json:
    return node("W", "wait", 1.1, {"resume": "timeInterval", "amount": 5, "unit": "hours"}, **more)


def test_a_wait_is_two_steps() -> None:
    machine = EngineModel(flow([START, wait(), noop("E")], "T>W", "W>E"))
    config = machine.step(machine.initial("T"), RUNS)
    assert machine.outcomes(config) == (Opens(False),)
    parked = machine.step(config, Opens(False))
    place = machine.at(parked)
    assert place is not None
    assert (place.node, place.phase) == ("W", Phase.PARKED)
    assert machine.outcomes(parked) == (TIMED_OUT,)
    place = machine.at(machine.step(parked, TIMED_OUT))
    assert place is not None
    assert (place.node, place.inputs) == ("E", (1,))
    assert machine.step(parked, Stays()).status == "waiting"


def test_a_parked_wait_with_an_error_output_loses_its_items() -> None:
    wired = flow([START, wait(onError="continueErrorOutput"), noop("E")], "T>W", "W>E")
    machine = EngineModel(wired)
    parked = machine.step(machine.step(machine.initial("T"), RUNS), Opens(False))
    assert machine.step(parked, TIMED_OUT).ended
    assert not machine.step(parked, ANSWERED).ended


def test_a_run_ends_as_its_last_node_did() -> None:
    stop = node("X", "stopAndError", 1, {"errorMessage": "x"}, onError="continueRegularOutput")
    last = EngineModel(flow([START, stop], "T>X"))
    then = EngineModel(flow([START, stop, noop("E")], "T>X", "X>E"))
    assert simulate(last, "T", lambda place, run: RUNS).status == "error"
    assert simulate(then, "T", lambda place, run: RUNS).status == "success"


def test_what_is_thrown_leaves_by_output_0() -> None:
    wired = flow([START, noop("A"), noop("B")], "T>A", "A>B")
    wired["nodes"][1]["onError"] = "continueErrorOutput"
    machine = EngineModel(wired)
    config = machine.step(machine.initial("T", 2), RUNS)
    assert machine.outcomes(config, errors=True) == (RUNS, Emits((0, 2)), FAILS)
    place = machine.at(machine.step(config, FAILS))
    assert place is not None
    assert (place.node, place.inputs) == ("B", (2,))
    assert machine.step(config, Emits((0, 2))).ended


def test_options_of_nodes() -> None:
    once = {**noop("A"), "executeOnce": True}
    off = {**noop("B"), "disabled": True, "executeOnce": True}
    code = node("C", "code", 2, {"jsCode": "return []"}, alwaysOutputData=True)
    rows = [START, once, at(off, 0, 5), code, noop("D")]
    machine = EngineModel(flow(rows, "T>A", "T>B", "B>C", "C>D"))
    order = first(machine, items=3)
    assert order[:3] == [("T", (3,)), ("A", (1,)), ("B", (3,))]
    assert order[3:] == [("C", (1,)), ("D", (1,))]


SUB = flow([CALLED, if_node("G", "x"), noop("Z")], "S>G", "G>Z")


def test_a_call_returns_what_its_last_node_handed_on() -> None:
    machine = EngineModel(flow([START, call("X", "sub"), noop("E")], "T>X", "X>E"), {"sub": SUB})
    config = machine.step(machine.step(machine.initial("T", 2), RUNS), RUNS)
    place = machine.at(config)
    assert place is not None
    assert (place.workflow, place.node, place.depth) == ("sub", "S", 1)
    config = machine.step(config, RUNS)
    # Nothing goes on from the second output, so the If is the last node: two outputs return.
    after, events = machine.advance(config, Emits((0, 2)))
    assert [event.action for event in events] == ["run", "end", "return", "end"]
    assert events[2].outputs == (0, 2)
    assert after.ended


def test_a_call_that_fails_goes_by_onError() -> None:
    stop = flow([CALLED, node("X", "stopAndError", 1, {"errorMessage": "x"})], "S>X")
    for more, status, reached in (
        ({}, "error", []),
        ({"onError": "continueRegularOutput"}, "success", ["E"]),
        ({"onError": "continueErrorOutput"}, "success", ["F"]),
    ):
        rows = [START, call("X", "sub", **more), noop("E"), noop("F")]
        machine = EngineModel(flow(rows, "T>X", "X>E", "X.1>F"), {"sub": stop})
        run = simulate(machine, "T", lambda place, run: RUNS)
        assert run.status == status
        assert [visit.node for visit in run.order if visit.node in "EF"] == reached


def test_calls_that_nobody_waits_for() -> None:
    wired = flow([START, call("X", "sub", wait=False), noop("E")], "T>X", "X>E")
    queued = EngineModel(wired, {"sub": SUB})
    order = simulate(queued, "T", lambda p, r: Emits((1, 0)) if p.node == "G" else RUNS).order
    assert [visit.node for visit in order] == ["T", "X", "E", "S", "G", "Z"]
    apart = EngineModel(wired, {"sub": SUB}, detached="apart")
    config, events = apart.advance(apart.step(apart.initial("T"), RUNS), RUNS)
    assert [event.action for event in events] == ["run", "detach"]
    assert apart.step(config, RUNS).ended
    place = apart.at(apart.called("sub"))
    assert place is not None
    assert place.node == "S"


def test_refuses_what_it_does_not_model() -> None:
    with pytest.raises(ValueError, match="execution order v1"):
        EngineModel({"nodes": [START], "connections": {}, "settings": {}})
    with pytest.raises(ValueError, match="not one of its nodes"):
        EngineModel(flow([START], "T>A"))
