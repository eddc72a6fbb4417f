"""A condition reads what the task that set a variable last has left, on n8n's real engine.

The referee is `variable_oracle`: one store an instance, sharing no code with the compiler.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine
from seeds import seeds
from text_model import model
from variable_oracle import play
from variable_random import random_scenario
from variable_runs import FILLINGS, compiled, fault, request, verdicts
from variable_scenarios import BRIDGE, LOOP, OK, PARALLEL, THREE, VISIBLE, Scenario, scenarios

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Expression, Model, Task
from orgflow_ir.model.bindings import Field as FormField
from orgflow_ir.model.bindings import Form, Parameter, Worker
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.evaluation_guards import Need, list_needs, null_tested
from orgflow_ir.work.gateway_decisions import DecisionConventions, read_decisions
from orgflow_ir.work.process_variables import Read, Variables

SCENARIOS = {s.name: s for s in scenarios()}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_condition_sees_what_was_set_last(engine: LocalEngine, name: str) -> None:
    found = list(verdicts(engine, [SCENARIOS[name]]))
    assert len(found) == len(FILLINGS)
    assert [f"{v.filling}: {v.fault}" for v in found if v.fault] == []


def test_random_models(engine: LocalEngine) -> None:
    made = [random_scenario(seed) for seed in seeds(200)]
    wanted = [play(s.model.processes[0], s.sets, s.start) for s in made]
    assert any(w.never_set for w in wanted)
    assert any(sum(w.visits.values()) > 10 for w in wanted)
    found = verdicts(engine, made, ("replace", "alternating"))
    assert [f"{v.scenario}, {v.filling}: {v.fault}" for v in found if v.fault] == []


@pytest.mark.parametrize("name", ["c5", "c6", "three replacing", "loop of 100"])
def test_the_referee_misses_nodes_that_are_taken_out(engine: LocalEngine, name: str) -> None:
    """Without the nodes that keep variables the same runs are wrong."""
    scenario = SCENARIOS[name]
    process = compiled(scenario)
    asked = request(scenario, process, "replace")
    workflow: dict[str, Any] = copy.deepcopy(dict(asked.workflow))
    for row in workflow["nodes"]:
        if row["notes" if "notes" in row else "name"].endswith("(data)"):
            row.update(type="n8n-nodes-base.noOp", typeVersion=1, parameters={})
    run = engine.run(workflow, asked.trigger, items=asked.items, limits=asked.limits)
    wanted = play(scenario.model.processes[0], scenario.sets, scenario.start)
    assert fault(scenario, process, run, wanted)


def test_what_stops_a_run_names_the_variable_and_who_sets_it(engine: LocalEngine) -> None:
    scenario = SCENARIOS["c1 never"]
    asked = request(scenario, compiled(scenario), "replace")
    run = engine.run(asked.workflow, asked.trigger)
    assert run.error == (
        "“ok” was never set, and “ok?” reads it. Set it in “Check”, “Rework” or the input of the "
        "run."
    )


def test_two_nodes_in_place_of_a_task(engine: LocalEngine) -> None:
    """The second one drops the value, which the task itself has handed on."""
    scenario = SCENARIOS["c2"]
    process = compiled(scenario)
    asked = request(scenario, process, "replace")
    workflow = copy.deepcopy(dict(asked.workflow))
    more = {**next(n for n in workflow["nodes"] if n["name"] == "Amend amount")}
    more.update(name="Tell", id="x", notes="", parameters={"jsCode": "return [{json: {sent: 1}}]"})
    workflow["nodes"].append(more)
    workflow["connections"]["Tell"] = workflow["connections"]["Amend amount"]
    workflow["connections"]["Amend amount"] = {
        "main": [[{"node": "Tell", "type": "main", "index": 0}]]
    }
    run = engine.run(workflow, asked.trigger)
    wanted = play(scenario.model.processes[0], scenario.sets, scenario.start)
    assert fault(scenario, process, run, wanted) == ""


def expressions(value: Any) -> Iterator[str]:
    """Parameters that n8n evaluates."""
    if isinstance(value, str) and value.startswith("="):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from expressions(inner)


@pytest.mark.parametrize("name", SCENARIOS)
def test_traps_of_expressions(name: str) -> None:
    """Of expressions: n8n ends them at `}}`, and takes optional chaining with a computed key for
    undefined (Code nodes do neither)."""
    found = [e for n in compiled(SCENARIOS[name]).root.workflow["nodes"] for e in expressions(n)]
    assert found
    for text in found:
        assert text.startswith("={{ ")
        assert text.index("}}") == len(text) - 2
        assert "?.[" not in text


@pytest.mark.parametrize("name", ["größe", "order-id", "日本", "a b", "x.y", "it's", "}}"])
def test_names_that_are_no_identifiers_stand_in_brackets(engine: LocalEngine, name: str) -> None:
    quoted = f'"{name}"' if "'" in name else f"'{name}'"
    conditions = {"ok": f"${{order[{quoted}] == 'x'}}", "not ok": f"${{order[{quoted}] != 'x'}}"}
    gateways = {"g0": "exclusive", "j": "exclusive", "g": "exclusive"}
    sizes = {"big": "${size > 10}", "small": "${size <= 10}", **conditions}
    scenario = Scenario(
        name, model(THREE, gateways, sizes),
        {"enter": [{"size": 50}], "b": [{"order": {name: "x"}}]}, last="yes",
    )  # fmt: skip
    process = compiled(scenario)
    (run,) = engine.run_many([request(scenario, process, "replace")])
    assert run.status == "success", run.error
    assert "Yes" in [n.node for n in run.order]


def test_label_decisions_have_no_more_nodes() -> None:
    made = model(LOOP, {"loop": "exclusive", "g": "exclusive State?"})
    root = compiled(Scenario("labels", made, {})).root
    assert root.plan.carried is None
    assert {n.role for n in root.plan.workflow_graph.nodes.values()} <= {
        "element",
        "trigger",
        "stop",
    }


def test_only_what_a_reader_still_needs_is_kept() -> None:
    root = compiled(SCENARIOS["c2"]).root
    assert root.plan.carried is not None
    kept = {
        root.plan.workflow_graph.nodes[k].name: names
        for k, names in root.plan.carried.after.items()
    }
    assert kept == {"Enter amount data": ("amend", "amount"), "Amend amount data": ("amount",)}


def test_a_label_decision_in_a_loop_asks_again(engine: LocalEngine) -> None:
    """What the message said once is not an answer to a question that is asked on every pass."""
    from variable_scenarios import _file

    scenario = Scenario("d2", _file("d2_loop_trigger.bpmn"), {})
    root = compiled(scenario).root
    (decision,) = root.plan.decisions.values()
    assert decision.setter == decision.gateway.id
    (decide_name,) = (n.name for n in root.plan.workflow_graph.nodes.values() if n.role == "decide")
    trigger = next(n.name for n in root.plan.workflow_graph.nodes.values() if n.role == "trigger")
    visits = [{decision.variable: value} for value in reversed(decision.values)]
    for order in (visits, visits[::-1]):
        run = engine.run(
            root.workflow, trigger, items=[{"json": {"body": {}}}],
            stubs={decide_name: {"visits": order, "mode": "replace"}}, limits={"nodes": 100},
        )  # fmt: skip
        if run.status == "success":
            break
    assert run.status == "success"
    assert [n.node for n in run.order].count("Handle") == 1


# -- the analysis ---------------------------------------------------------------------------------


def variables_of(made: Model) -> Variables:
    scope = made.processes[0]
    graph = ControlFlow(scope)
    return Variables(graph, read_decisions(scope, graph, DecisionConventions()), PassContext())


def test_readers_and_setters() -> None:
    made = model(LOOP, {"loop": "exclusive", "g": "exclusive"}, {"again": "${n < 3}"})
    process = made.processes[0]
    bindings = {
        "work": Form(fields=(FormField(name="n"),)),
        "note": Worker(inputs=(Parameter(name="to", text="${mail}"),)),
    }
    nodes = tuple(
        n.replace(binding=bindings[n.id]) if isinstance(n, Task) and n.id in bindings else n
        for n in process.nodes
    )
    found = variables_of(made.replace(processes=(process.replace(nodes=nodes),)))
    assert [(r.element, r.path, r.by) for r in found.reads] == [
        ("g", ("n",), "condition"),
        ("note", ("mail",), "mapping"),
    ]
    by_condition, by_mapping = found.reads
    assert [tuple(s) for s in found.setters(by_condition)] == [
        ("work", "form"), ("start", "payload"),
    ]  # fmt: skip
    assert {s.by for s in found.setters(by_mapping)} == {"unknown", "payload"}
    assert found.readers_after("note", found.reads) == found.reads, "the loop returns"
    assert found.readers_after("done", found.reads) == ()


def test_what_runs_beside_what() -> None:
    gateways = {"split": "parallel", "join": "parallel", "g": "exclusive"}
    found = variables_of(model(PARALLEL, gateways, OK))
    assert found.concurrent("a", "b")
    assert not any(found.concurrent(x, "a") for x in ("enter", "c", "g", "yes", "a"))
    assert found.parallel("a")
    assert not found.parallel("c")
    visible = variables_of(model(VISIBLE, gateways, OK))
    assert visible.concurrent("a", "g")
    bridge = dict.fromkeys(("s1", "s2", "j1", "j2"), "parallel")
    crossed = variables_of(model(BRIDGE, {**bridge, "g": "exclusive"}, OK))
    assert crossed.concurrent("b", "c")
    assert crossed.setters(Read("g", ("ok",), "condition"))


def _needed(*texts: str, in_turn: bool = True) -> tuple[Need, ...]:
    trees = [read_condition(Expression(text=f"${{{t}}}")) for t in texts]
    known = [t for t in trees if t is not None]
    return list_needs(known, null_tested(known), in_turn=in_turn)


def test_what_an_evaluation_reads() -> None:
    (only,) = _needed("a && b > 1 || a", "!a")[:1]
    assert only == Need((), ("a",))
    both = _needed("a && b", "!a || !b")
    assert [n.names for n in both] == [("a",), ("b",)]
    assert both[1].guards[0][1] is True, "`b` is read where `a` is true"
    later = _needed("a", "b")
    assert [len(n.guards) for n in later] == [0, 1]
    assert _needed("a", "b", in_turn=False) == (Need((), ("a", "b")),)
    assert _needed("a == null || a > 1") == ()
    assert [n.names for n in _needed("empty a", "b")] == [("b",)]
    assert _needed("a.b > 1") == (Need((), ("a",)),)
