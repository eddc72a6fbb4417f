"""A condition reads what the task that set a variable last has left, on moto's interpreter.

The referee is `variable_replay`: it follows the order in which a run did its tasks, with one store
an instance, and shares no code with the compiler.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from asl_models import boundary, end, gateway, on, start, sub, task
from asl_models import model as drawn
from asl_play import Compiled, Validator, validator
from asl_variable_runs import (
    FillingEngine,
    compiled,
    fault,
    filled,
    play,
    process_of,
    verdicts,
)
from orgflow.backends.asl.engine import FUNCTION, Answer
from orgflow.backends.asl.format import all_states
from orgflow.backends.asl.variables import NOT_TOLD
from seeds import at_least, seeds
from text_model import model
from variable_random import random_scenario
from variable_replay import explain
from variable_scenarios import LOOP, OK, PARALLEL, THREE, VISIBLE, Scenario, _file, scenarios

from orgflow_ir.model import Expression, Loop, Model, Node, Task
from orgflow_ir.model.bindings import Field as FormField
from orgflow_ir.model.bindings import Form
from orgflow_ir.plugins import Registry

SCENARIOS = {s.name: s for s in scenarios()}
UNSTRUCTURED = {"bridge a", "bridge b", "bridge c", "bridge d"}
UNTOLD = {"value empty list"}
"""A Choice state cannot tell an empty list from an object: the execution stops with the reason."""

BESIDE = {"visible"}
"""A gateway in a branch reads what a task in another one sets: OF488 reports it."""


@pytest.fixture(scope="module")
def moto() -> Iterator[FillingEngine]:
    pytest.importorskip("moto")
    engine = FillingEngine()
    try:
        yield engine
    finally:
        engine.close()


@pytest.fixture(scope="module")
def referee() -> Iterator[Validator]:
    with validator() as found:
        yield found


@pytest.mark.parametrize("name", sorted(SCENARIOS.keys() - UNSTRUCTURED - UNTOLD - BESIDE))
def test_a_condition_sees_what_was_set_last(
    name: str, moto: FillingEngine, registry: Registry, referee: Validator
) -> None:
    scenario = SCENARIOS[name]
    for definition in compiled(scenario, registry).definitions:
        assert referee.problems(definition) == []
    tried = ("fields", "keep", "list", "alternating") if name[0] == "c" else ("nothing",)
    found = list(verdicts(moto, [scenario], registry, tried))
    assert [f"{filling}: {wrong}" for _, filling, wrong in found if wrong] == []
    assert len(found) == len(tried)


def test_what_cannot_be_said_is_refused_or_reported(
    moto: FillingEngine, registry: Registry
) -> None:
    for name in UNSTRUCTURED:
        assert [d.code for d in compiled(SCENARIOS[name], registry).told("OF403")]
    for name in UNTOLD:
        played, _ = play(moto, SCENARIOS[name], compiled(SCENARIOS[name], registry), "nothing")
        assert played.error == NOT_TOLD
        assert "“v” is an empty list or an object" in (played.cause or "")
    (beside,) = compiled(SCENARIOS["visible"], registry).told("OF488")
    assert beside.message == (
        "`Right?` does not see `ok` if `A` sets it: branches of a Parallel state do not see each "
        "other's variables"
    )


def test_random_models(moto: FillingEngine, registry: Registry) -> None:
    made = [random_scenario(seed) for seed in seeds(120)]
    assert len(made) >= at_least(12)
    found = verdicts(moto, made, registry, ["alternating"])
    assert [f"{name}: {wrong}" for name, _, wrong in found if wrong] == []


@pytest.mark.parametrize("name", ["c5", "c6", "three replacing", "nested loops"])
def test_the_referee_misses_states_that_are_taken_out(
    name: str, moto: FillingEngine, registry: Registry
) -> None:
    """Machines whose states do not keep variables are distinguished."""
    scenario = SCENARIOS[name]
    made = compiled(scenario, registry)
    whole = process_of(made).definition
    damaged = copy.deepcopy(whole)
    for _, state in all_states(damaged):
        if state["Type"] == "Pass" and state.get("ResultPath", "").startswith("$.vars."):
            state["ResultPath"] = "$.results.nowhere"
    whole.clear()
    whole.update(damaged)
    played, order = play(moto, scenario, made, "fields")
    assert fault(scenario, made, played, order)


def test_what_fails_names_the_variable_and_who_sets_it(
    moto: FillingEngine, registry: Registry
) -> None:
    made = compiled(SCENARIOS["c1 never"], registry)
    played, _ = play(moto, SCENARIOS["c1 never"], made, "fields")
    assert (played.error, played.cause) == (
        "VariableNeverSet",
        "“ok” was never set, and “ok?” reads it. Set it in “Check”, “Rework” or the input of the "
        "execution.",
    )


def test_an_input_is_the_first_value(moto: FillingEngine, registry: Registry) -> None:
    scenario = Scenario(
        "input", SCENARIOS["c1"].model, {"A": [{}], "B": [{"ok": True}]}, {"ok": False}, last="C"
    )
    made = compiled(scenario, registry)
    played, order = play(moto, scenario, made, "keep")
    assert fault(scenario, made, played, order) == ""
    assert [t for t, _ in order] == ["A", "B", "C"]


def test_an_unchanged_value_handed_on_in_a_branch_is_not_set(
    moto: FillingEngine, registry: Registry
) -> None:
    both = {"split": "parallel", "join": "parallel", "g": "exclusive"}
    scenario = Scenario(
        "unchanged", model(PARALLEL, both, OK),
        {"enter": [{"ok": False}], "a": [{"ok": False}], "b": [{"ok": True}]}, last="yes",
    )  # fmt: skip
    made = compiled(scenario, registry)
    played, order = play(moto, scenario, made, "fields")
    assert "yes" in [t for t, _ in order], played


def test_a_label_decision_in_a_loop_asks_again(moto: FillingEngine, registry: Registry) -> None:
    """What the message said once is not an answer to a question that is asked on every pass."""
    made = compiled(Scenario("d2", _file("d2_loop_trigger.bpmn"), {}), registry)
    process = process_of(made)
    (decision,) = process.graph.decisions.values()
    gateway = decision.gateway.id
    assert decision.setter == gateway
    ends = []
    for order in (decision.values, decision.values[::-1]):
        asked: list[str] = []

        def effect(element: str, asked: list[str] = asked, order: Any = order) -> Answer:
            asked.append(element)
            passes = asked.count(gateway)
            return Answer({decision.variable: order[passes - 1]} if element == gateway else {})

        machine = filled(process)
        decide = machine["States"][process.deciders[gateway]]
        decide |= {"Type": "Task", "Resource": FUNCTION + gateway.encode().hex()}
        del decide["Result"]
        moto.load(machine)
        played = moto.run({decision.variable: order[0]}, effect, 30)
        ends.append((played.status, asked.count(gateway)))
    assert ("SUCCEEDED", 2) in ends


def test_label_decisions_carry_no_variables(registry: Registry) -> None:
    made = Compiled(model(LOOP, {"loop": "exclusive", "g": "exclusive State?"}), registry)
    (definition,) = made.definitions
    text = json.dumps(definition)
    assert "$.vars" not in text
    assert '"input.$": "$"' in text
    roles = {info.role for info in process_of(made).graph.states.values()}
    assert "data" not in roles


def test_only_what_is_read_later_is_kept(registry: Registry) -> None:
    graph = process_of(compiled(SCENARIOS["c2"], registry)).graph
    kept = [s.name for s in graph.states.values() if s.name.startswith("Keep ")]
    assert kept == [
        "Keep amount of Enter amount", "Keep amend of Enter amount", "Keep amount of Amend amount",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["größe", "order-id", "日本", "a b", "x.y"])
def test_names_that_are_no_identifiers_stand_in_brackets(
    name: str, moto: FillingEngine, registry: Registry, referee: Validator
) -> None:
    conditions = {"ok": f"${{order['{name}'] == 'x'}}", "not ok": f"${{order['{name}'] != 'x'}}"}
    gateways = {"g0": "exclusive", "j": "exclusive", "g": "exclusive"}
    sizes = {"big": "${größe > 10}", "small": "${größe <= 10}", **conditions}
    scenario = Scenario(
        name, model(THREE, gateways, sizes),
        {"enter": [{"größe": 50}], "b": [{"order": {name: "x"}}]}, last="yes",
    )  # fmt: skip
    made = compiled(scenario, registry)
    assert referee.problems(made.definitions[0]) == []
    played, order = play(moto, scenario, made, "fields")
    assert "yes" in [t for t, _ in order], (played, order)
    assert "b" in [t for t, _ in order]


# -- errors, lists and times ----------------------------------------------------------------------


def conditions(made: Model, texts: dict[str, str]) -> Model:
    """The model with conditions on flows, by `source>target`."""
    (process,) = made.processes
    flows = tuple(
        f.replace(condition=Expression(text=texts[key]))
        if (key := f"{f.source}>{f.target}") in texts
        else f
        for f in process.flows
    )
    return made.replace(processes=(process.replace(flows=flows),))


ASKS = {"g>yes": "${ok}", "g>no": "${!ok}"}


def caught(host: Node) -> Model:
    """`enter`, then `work`, whose error leads to the gateway."""
    nodes = (
        start(), task("enter"), host, boundary("wrong", "work", **on("error")),
        gateway("g", "exclusive"), task("yes"), task("no"), end("e1"), end("e2"), end("e3"),
    )  # fmt: skip
    text = "s>enter enter>work work>e1 wrong>g g>yes g>no yes>e2 no>e3"
    return conditions(drawn(nodes, text), ASKS)


def test_behind_a_caught_error_variables_are_what_they_were(
    moto: FillingEngine, registry: Registry
) -> None:
    scenario = Scenario(
        "caught", caught(task("work")), {"enter": [{"ok": True}], "work": [{"ok": False}]},
        last="yes", errors={("work", 0): "Broken"},
    )  # fmt: skip
    made = compiled(scenario, registry)
    assert not made.told("OF488")
    played, order = play(moto, scenario, made, "fields")
    assert fault(scenario, made, played, order) == ""


def test_an_error_in_a_sub_process_drops_what_was_set_in_it(registry: Registry) -> None:
    nodes = [start("is"), task("set"), task("fail"), end("ie")]
    text = "is>set set>fail fail>ie"
    unknown = Compiled(caught(sub("work", nodes, text)), registry)
    assert [d.message for d in unknown.told("OF488")] == [
        "`Gate g` does not see `ok` if `Task set` and `Task fail` set it: an error drops the "
        "variables that were set before it"
    ]
    nodes[1] = task("set", binding=Form(fields=(FormField(name="ok"),)))
    declared = Compiled(caught(sub("work", nodes, text)), registry)
    assert declared.emitted is None
    (refused,) = declared.told("OF403")
    assert "it cannot read `ok` as `Task set` sets it: an error drops" in refused.message
    nodes[1] = task("set", binding=Form(fields=(FormField(name="other"),)))
    other = Compiled(caught(sub("work", nodes, text)), registry)
    assert other.emitted is not None


def test_a_variable_that_nobody_set_passes_a_catch_of_all_errors(
    moto: FillingEngine, registry: Registry
) -> None:
    inner = [
        start("is"), task("set"), gateway("x", "exclusive"), end("e4"), end("e5"),
    ]  # fmt: skip
    host = sub("work", inner, "is>set set>x x>e4:a x>e5:b")
    flows = tuple(
        f.replace(condition=Expression(text=text))
        for f, text in zip(host.flows[2:], ("${n > 1}", "${n <= 1}"), strict=True)
    )
    host = host.replace(flows=(*host.flows[:2], *flows))
    scenario = Scenario("never", caught(host), {"enter": [{"ok": True}]})
    made = compiled(scenario, registry)
    played, _ = play(moto, scenario, made, "fields")
    assert played.error == "VariableNeverSet"
    assert "“n” was never set, and “Gate x” reads it." in (played.cause or "")


def test_a_sub_process_reads_and_sets_variables_of_the_process(
    moto: FillingEngine, registry: Registry
) -> None:
    inner = [start("is"), task("set"), end("ie")]
    nodes = (
        start(), task("enter"), sub("work", inner, "is>set set>ie"), gateway("g", "exclusive"),
        task("yes"), task("no"), end("e1"), end("e2"),
    )  # fmt: skip
    made = conditions(drawn(nodes, "s>enter enter>work work>g g>yes g>no yes>e1 no>e2"), ASKS)
    for row, last in (({"ok": True}, "yes"), ({}, "no")):
        scenario = Scenario("sub", made, {"enter": [{"ok": False}], "set": [row]}, last=last)
        found = list(verdicts(moto, [scenario], registry, ("fields", "nothing")))
        assert [wrong for _, _, wrong in found if wrong] == []


def test_a_list_is_what_a_task_has_made_it(moto: FillingEngine, registry: Registry) -> None:
    """Each item of the list is a call of the task that is done for each."""
    nodes = (
        start(), task("fetch"),
        task("each", loop=Loop(kind="multi-instance", collection="${items}")), end(),
    )  # fmt: skip
    made = drawn(nodes, "s>fetch fetch>each each>e")
    for row, times in (({"items": [1, 2, 3]}, 3), ({}, 1)):
        scenario = Scenario("list", made, {"fetch": [row]}, {"items": ["given"]})
        played, order = play(moto, scenario, compiled(scenario, registry), "fields")
        assert played.status == "SUCCEEDED", played
        assert [t for t, _ in order].count("each") == times


def test_what_the_input_alone_holds_is_read_from_the_input(registry: Registry) -> None:
    each = task("each", loop=Loop(kind="multi-instance", collection="${items}"))
    made = Compiled(drawn((start(), each, end()), "s>each each>e"), registry)
    assert '"$.input.items"' in json.dumps(made.definitions[0])


def test_a_declared_setter_beside_the_gateway_is_refused(registry: Registry) -> None:
    both = {"split": "parallel", "join": "parallel", "g": "exclusive Right?"}
    made = model(VISIBLE, both, OK)
    (process,) = made.processes
    form = Form(fields=(FormField(name="ok"),))
    nodes = tuple(
        n.replace(binding=form) if isinstance(n, Task) and n.id == "a" else n for n in process.nodes
    )
    found = Compiled(made.replace(processes=(process.replace(nodes=nodes),)), registry)
    assert found.emitted is None
    (refused,) = found.told("OF403")
    assert "variable.unseen" in refused.message


def test_the_referee_of_orders() -> None:
    """It tells a wrong branch, and takes parallel tasks in any order."""
    scenario = SCENARIOS["c6"]
    process = scenario.model.processes[0]

    def wrong(*order: str) -> str:
        return explain(process, scenario.sets, {}, [(t, None) for t in order])[1]

    assert wrong("A", "B1", "B2", "C", "Y") == wrong("A", "B2", "B1", "C", "Y") == ""
    assert wrong("A", "B1", "B2", "C", "N") == "N cannot come after ['A', 'B1', 'B2', 'C']"
    assert wrong("A", "B1", "C")
    assert not explain(process, scenario.sets, {}, [("A", None)])[0].over
