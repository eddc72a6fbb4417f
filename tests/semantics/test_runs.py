"""Run enumeration: coverage, bounds, reasons, and what can be said about every run."""

from __future__ import annotations

import json
import time
from importlib.resources import files

import jsonschema
import pytest
from game_models import model, node, process, read_bpmn, sub
from game_random import random_process
from seeds import at_least, seeds
from shared_data import shared_cases, shared_data

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.replay import replay_trace
from orgflow_ir.flow.token_game.run_json import run_to_dict, run_to_json
from orgflow_ir.flow.token_game.runs import coverage_report, enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.model import Event, Model, Process

PMO = [f"{i:02}" for i in range(1, 56)]


def covered(found) -> set[str]:
    return {f for run in found.runs for f in run.flows}


def test_every_branch_of_a_choice():
    found = enumerate_runs(
        model("start s; xor x; task a; task b; end e", "s x, x a, x b, a e, b e"), "P"
    )
    assert [r.choices for r in found.runs] == [(("x", ("x-a",)),), (("x", ("x-b",)),)]
    assert found.flows_covered == found.flows_total == 5
    assert found.runs[0].script == {"x": (("x-a",),)}


def test_all_combinations_as_far_as_the_number_of_runs_goes():
    two = model("start s; xor x; xor m; xor y; end e", "s x, x m, x m, m y, y e, y e")
    assert {r.choices for r in enumerate_runs(two, "P").runs} == {
        (("x", (a,)), ("y", (b,))) for a in ("x-m", "x-m/2") for b in ("y-e", "y-e/2")
    }
    few = enumerate_runs(two, "P", variants=False)
    assert len(few.runs) == 2
    assert few.flows_covered == few.flows_total
    one = enumerate_runs(two, "P", max_runs=1)
    assert len(one.runs) == 1
    assert {reason for _, reason in one.uncovered} == {"not among the first 1 runs"}


def test_a_loop_is_taken_once():
    looped = model("start s; xor m; task a; xor x; end e", "s m, m a, a x, x m, x e")
    found = enumerate_runs(looped, "P")
    assert found.uncovered == ()
    assert max(r.flows.__len__() for r in found.runs) == 5
    assert all(sum("x-m" in s.taken for s in r.steps) <= 2 for r in found.runs)
    assert (("x", ("x-m",)), ("x", ("x-e",))) in {r.choices for r in found.runs}


def test_parallel_branches_have_one_interleaving():
    wide = "; ".join(f"task t{i}" for i in range(64))
    arcs = ", ".join(f"p t{i}, t{i} j" for i in range(64))
    found = enumerate_runs(model(f"start s; and p; {wide}; and j; end e", f"s p, {arcs}, j e"), "P")
    assert len(found.runs) == 1
    assert [s.element for s in found.runs[0].steps[2:5]] == ["t0", "t1", "t2"]


def test_depth_first_in_model_order():
    found = enumerate_runs(
        model(
            "start s; and p; task b; task a; task c; and j; end e",
            "s p, p a, p b, a c, c j, b j, j e",
        ),
        "P",
    )
    assert [s.element for s in found.runs[0].steps] == ["s", "p", "a", "c", "b", "j", "e"]


@pytest.mark.parametrize(
    ("nodes", "arcs", "flow", "reason"),
    [
        ("start s; task a; task z; end e", "s a, a e, z e", "z-e", "unreachable"),
        (
            "start s; xor x; and j; task a; end e; end f",
            "s x, x j, x j, x f, j a, a e",
            "j-a",
            "after a deadlock",
        ),
        (
            "start s; xor x; xor m; task a; end e",
            "s x, x e, x m, m a, a m",
            "a-m",
            "only on runs that do not end",
        ),
        (
            "start s; xor x; task a; and j; end e; end f",
            "s x, x a, x f, a j, x j, j e",
            "x-a",
            "only on runs that get stuck",
        ),
    ],
)
def test_what_is_not_covered_is_named_with_the_reason(nodes, arcs, flow, reason):
    found = enumerate_runs(model(nodes, arcs), "P")
    assert dict(found.uncovered)[flow] == reason
    assert found.flows_covered == found.flows_total - len(found.uncovered)
    assert flow not in covered(found)


def test_a_stuck_first_try_is_repaired():
    """Greedy choices (x to a, y to d) get the join j stuck; other choices complete."""
    found = enumerate_runs(
        model(
            "start s; and p; xor x; xor y; and j; end e; end f; end g",
            "s p, p x, p y, x j, x f, y j, y g, j e",
        ),
        "P",
    )
    assert {"x-j", "y-j", "j-e", "x-f", "y-g"} <= covered(found)


def test_boundary_events_races_and_event_sub_processes_are_choices():
    handler = sub("h", "task c; end y", "z c, c y", node("start z timer"), flavour="event")
    inner = sub("sp", "start i; user k; end x", "i k, k x")
    found = enumerate_runs(
        model(
            "start s; user a; on a b timer; on! a n timer; on sp q timer; race g; "
            "catch m message; catch t timer; end e; end f",
            "s a, a g, b e, n f, g m, g t, m sp, t e, sp e, q e",
            handler,
            inner,
        ),
        "P",
    )
    assert found.uncovered == ()
    choices = {c for r in found.runs for c in r.choices}
    assert {
        ("a", ("a-g",)),
        ("a", ("b-e",)),
        ("n", ("n-f",)),
        ("g", ("g-m",)),
        ("g", ("g-t",)),
        ("sp", ("sp-e",)),
        ("sp", ("q-e",)),
    } <= choices


def test_terminate_may_need_the_other_order():
    found = enumerate_runs(
        model("start s; and p; end t terminate; task a; end e", "s p, p t, p a, a e"), "P"
    )
    assert found.uncovered == ()
    assert {r.outcome for r in found.runs} == {"terminated"}


def test_every_start_is_run():
    found = enumerate_runs(model("start s; start m message; end e", "s e, m e"), "P")
    assert [r.start for r in found.runs] == ["s", "m"]
    empty = enumerate_runs(Model(id="M", processes=(Process(id="P"),)), "P")
    assert empty.runs == ()


def test_a_livelock_costs_little():
    started = time.process_time()
    nodes = "; ".join(f"xor g{i}" for i in range(40))
    arcs = ", ".join(f"g{i} g{(i + 1) % 40}, g{i} g{(i * 7 + 3) % 40}" for i in range(40))
    found = enumerate_runs(model(f"start s; {nodes}", f"s g0, {arcs}"), "P")
    assert found.runs == ()
    assert {reason for _, reason in found.uncovered} == {"only on runs that do not end"}
    assert time.process_time() - started < 10


def test_long_processes_are_no_special_case():
    n = 3_000
    nodes = "; ".join(f"task t{i}" for i in range(n))
    arcs = ", ".join(f"t{i} t{i + 1}" for i in range(n - 1))
    found = enumerate_runs(model(f"start s; {nodes}; end e", f"s t0, {arcs}, t{n - 1} e"), "P")
    assert len(found.runs[0].steps) == n + 2


@pytest.mark.parametrize("block", range(4))
def test_every_run_replays_and_a_changed_one_does_not(block: int):
    """On random graphs, faulty ones too: a run is a run, and is none without one of its steps."""
    replayed = 0
    for seed in seeds(1000 + block * 40, 1000 + block * 40 + 40):
        made = Model(id="M", processes=(random_process(seed),))
        game = Game(made, Policy(once=True))
        found = enumerate_runs(made, "P", max_runs=6, max_trials=60, game=game)
        for run in (*found.runs, *found.stuck):
            result = replay_trace(game, run.steps, "P", run.start)
            assert result.ok, (seed, result.reason)
            assert result.outcome == run.outcome
            replayed += 1
        assert all(r.complete for r in found.runs)
        assert not any(r.complete for r in found.stuck)
        for run in found.runs[:2]:
            _mutations_fail(game, run)
        assert len({(r.start, r.choices) for r in found.runs}) == len(found.runs)
    assert replayed >= at_least(40)


def _mutations_fail(game: Game, run) -> None:
    whole = replay_trace(game, run.steps, "P", run.start)
    flows = {f.id: f for f in game.model.processes[0].flows}
    for i, step in enumerate(run.steps):
        shorter = replay_trace(game, (*run.steps[:i], *run.steps[i + 1 :]), "P", run.start)
        # only a step round a self-loop can be left out
        loops = any(flows[f].target == step.element for f in step.taken)
        assert loops or not shorter.ok or shorter.state != whole.state
        swapped = Step(step.action, step.element, ("no-such-flow",), step.instance)
        failed = replay_trace(game, (*run.steps[:i], swapped), "P", run.start)
        assert (failed.ok, failed.index) == (False, i)
        assert "cannot" in failed.reason


def test_a_swapped_choice_does_not_replay():
    made = model("start s; xor x; task a; task b; end e", "s x, x a, x b, a e, b e")
    game = Game(made)
    run = enumerate_runs(made, "P").runs[0]
    steps = [s._replace(taken=("x-b",)) if s.element == "x" else s for s in run.steps]
    result = replay_trace(game, steps, "P", "s")
    assert (result.ok, result.index) == (False, 2)


def test_fire_keeps_the_count_of_tokens():
    """Conservation: on a flow there is, after any run, what was put there less what was taken."""
    fired = 0
    for seed in seeds(2000, 2060):
        made = Model(id="M", processes=(random_process(seed),))
        game = Game(made)
        for run in enumerate_runs(made, "P", max_runs=4, max_trials=40, game=game).runs:
            state = game.initial("P", run.start)
            for step in run.steps:
                before = {i.element: i.count for i in game.left(state) if i.kind == "flow"}
                state = game.fire(state, step)
                fired += 1
                after = {i.element: i.count for i in game.left(state) if i.kind == "flow"}
                ins = {f.id for f in made.processes[0].flows if f.target == step.element}
                for flow in {*before, *after}:
                    change = after.get(flow, 0) - before.get(flow, 0)
                    gained = 1 if flow in step.taken else 0
                    assert change in ((gained - 1, gained) if flow in ins else (gained,))
                for flow in step.taken:
                    assert flow in after or flow in ins
    assert fired >= at_least(400)


@pytest.mark.parametrize("start", shared_cases(range(0, 55, 11), "pmo"))
def test_pmo_flows_are_all_covered(start: int):
    for name in PMO[start : start + 11]:
        found = coverage_report(read_bpmn(shared_data("pmo", "bpmn", f"{name}.bpmn")))
        assert found, name
        for item in found:
            print(name, item.process, item.runs, f"{item.flows_covered}/{item.flows_total}")
            assert item.full, (name, item.uncovered)
            assert 1 <= item.runs <= 32


def test_real_models_are_covered_but_for_what_cannot_happen():
    """Executable models with every construct: what stays uncovered is known and argued."""
    folder = shared_data("camunda7-executable")
    missing = 0
    for path in sorted(folder.glob("*bpmn*")):
        for item in coverage_report(read_bpmn(path), max_runs=8):
            missing += len(item.uncovered)
            assert item.flows_total == 0 or item.flows_covered or item.uncovered
    # compensation event sub-processes, transactions that always cancel, links to nowhere, a
    # preferred handler, and one true deadlock
    assert missing <= 45


def test_a_run_as_json_follows_its_schema():
    text = files("orgflow_ir").joinpath("schema/run.schema.json").read_text("utf-8")
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    made = model("start s; xor x; user a; and j; end e; end f", "s x, x a, x f, a j, x j, j e")
    found = enumerate_runs(made, "P")
    assert found.stuck
    for number, run in enumerate((*found.runs, *found.stuck), 1):
        line = run_to_json(run, made, number)
        assert "\n" not in line
        jsonschema.validate(json.loads(line), schema)
    first = json.loads(run_to_json(found.runs[0], made))
    assert first["choices"] == [
        {"element": "x", "label": "x", "taken": ["x-f"], "labels": ["x → f"]}
    ]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**first, "outcome": "fine"}, schema)
    assert run_to_dict(found.runs[0], {})["steps"][0]["label"] == "s"


def test_labels_are_those_people_read():
    made = process("", "", Event(id="s", name="Order\n in", position="start"))
    line = run_to_json(
        enumerate_runs(Model(id="M", processes=(made,)), "P").runs[0],
        Model(id="M", processes=(made,)),
    )
    assert json.loads(line)["steps"][0]["label"] == "Order in"


def test_order_alone_may_decide_what_a_run_takes() -> None:
    """Two branches without a choice, one ends in a terminate end: both orders are needed."""
    found = model(
        "start t; and g; user a; user b; end f terminate; end h", "t g, g a, g b, a f, b h"
    )
    runs = enumerate_runs(found, found.processes[0].id)
    assert runs.uncovered == ()
    taken = {flow for run in runs.runs for flow in run.flows}
    assert len(taken) == runs.flows_total == runs.flows_covered
