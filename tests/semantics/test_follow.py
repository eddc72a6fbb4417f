"""Following what an engine executed: accepted where it is a run, refused at the right place."""

from __future__ import annotations

import pytest
from game_models import model, node, read_bpmn, sub
from shared_data import shared_cases, shared_data

from orgflow_ir.flow.token_game.replay import FollowResult, follow_execution
from orgflow_ir.flow.token_game.runs import Run, enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.model import Event, Model, Task


def tasks_of(made: Model) -> set[str]:
    return {n.id for s in made.scopes() for n in s.nodes if isinstance(n, Task)}


def seen(run: Run, visible: set[str]) -> list[str]:
    """What an engine would show of a run: every visible element once a visit."""
    return [s.element for s in run.steps if s.element in visible and s.action != "open"]


def check(made: Model, observed: list[str], script=None, visible=None, start=None) -> FollowResult:
    game = Game(made, Policy(once=True))
    start = start or game.starts("P")[0]
    return follow_execution(game, "P", start, observed, script or {}, visible or tasks_of(made))


FORK = model(
    "start s; and p; task a; user b; task c; and j; task d; end e",
    "s p, p a, p b, a c, c j, b j, j d, d e",
)


@pytest.mark.parametrize("order", ["a c b d", "a b c d", "b a c d"])
def test_any_order_of_parallel_branches_is_a_run(order: str):
    result = check(FORK, order.split())
    assert result.ok
    assert result.outcome == "completed"
    assert result.flows == {f.id for f in FORK.processes[0].flows}


@pytest.mark.parametrize(
    ("order", "index", "expected"),
    [
        ("a d c b", 1, {"b", "c"}),
        ("c a b d", 0, {"a", "b"}),
        ("a a c b d", 1, {"b", "c"}),
        ("a c b d d", 4, set()),
        ("a zzz", 1, {"b", "c"}),
    ],
)
def test_divergence_is_named(order: str, index: int, expected: set[str]):
    result = check(FORK, order.split())
    assert not result.ok
    assert result.index == index
    assert set(result.expected) == expected
    assert result.reason


def test_an_execution_that_stops_early_is_no_run():
    result = check(FORK, ["a", "c", "b"])
    assert (result.ok, result.index, result.outcome) == (False, None, "running")
    assert result.expected == ("d",)


def test_the_script_decides_silent_gateways_visit_by_visit():
    looped = model("start s; xor m; task a; xor x; task b; end e", "s m, m a, a x, x m, x b, b e")
    script = {"x": (("x-m",), ("x-m",), ("x-b",))}
    assert check(looped, ["a", "a", "a", "b"], script).ok
    short = check(looped, ["a", "a", "b"], script)
    assert (short.index, short.expected) == (2, ("a",))
    silent = check(looped, ["a", "b"])
    assert silent.index == 1
    assert "script does not define" in silent.reason
    wrong = check(looped, ["a"], {"x": (("m-a",),)})
    assert wrong.index == 1
    assert "not available here" in wrong.reason


def test_a_stuck_execution_of_a_stuck_run_is_a_run():
    stuck = model("start s; xor x; task a; and j; end e", "s x, x a, x j, a j, j e")
    result = check(stuck, ["a"], {"x": (("x-a",),)})
    assert result.ok
    assert result.outcome == "stuck"
    assert [item.element for item in result.left] == ["a-j"]


BOUNDED = model("start s; user a; on a b timer; task t; task u; end e", "s a, a t, b u, t e, u e")


def test_script_says_how_an_activity_ends():
    assert check(BOUNDED, ["a", "u"], {"a": (("b-u",),)}).ok
    assert check(BOUNDED, ["a", "t"], {"a": (("a-t",),)}).ok
    assert check(BOUNDED, ["a", "t"]).ok
    assert check(BOUNDED, ["a", "t"], {"a": (("b-u",),)}).index == 1
    visible = {"a", "b", "t", "u"}
    assert check(BOUNDED, ["a", "b", "u"], {"a": (("b-u",),)}, visible).ok
    assert check(BOUNDED, ["a", "u"], {"a": (("b-u",),)}, visible).index == 1


def test_non_interrupting_event():
    made = model("start s; user a; on! a n timer; task t; task u; end e", "s a, a t, n u, t e, u e")
    script = {"n": (("n-u",),), "a": (("a-t",),)}
    assert check(made, ["a", "u", "t"], script).ok
    assert check(made, ["a", "t", "u"], script).ok
    visible = {"a", "n", "t", "u"}
    assert check(made, ["a", "n", "u", "t"], script, visible).ok
    assert check(made, ["a", "t"]).ok


def test_event_gateway_is_decided_by_what_is_seen_or_by_the_script():
    made = model(
        "start s; race g; catch m message; catch t timer; task a; task b; end e",
        "s g, g m, g t, m a, t b, a e, b e",
    )
    visible = {"m", "t", "a", "b"}
    assert check(made, ["t", "b"], {}, visible).ok
    assert check(made, ["t", "a"], {}, visible).index == 1
    assert check(made, ["m", "a"], {"g": (("g-m",),)}, visible).ok
    assert check(made, ["b"], {"g": (("g-t",),)}).ok


def test_sub_process_left_by_its_event_and_ad_hoc():
    inner = sub("sp", "start i; task a; task b; end x", "i a, a b, b x")
    made = model(
        "start s; on sp q timer; task t; task u; end e", "s sp, sp t, q u, t e, u e", inner
    )
    assert check(made, ["a", "b", "t"]).ok
    assert check(made, ["a", "u"], {"sp": (("q-u",),)}).ok
    assert check(made, ["sp", "a", "b", "t"], {}, tasks_of(made) | {"sp"}).ok
    hoc = sub("ah", "task k; task l", "", flavour="ad-hoc")
    made = model("start s; task t; end e", "s ah, ah t, t e", hoc)
    for order in ("k l t", "l k t", "k t", "t"):
        assert check(made, order.split()).ok, order
    assert not check(made, ["t", "k"]).ok


def test_event_sub_process_starts_when_what_is_in_it_is_seen():
    handler = sub("h", "task c; end y", "z c, c y", node("start z timer"), flavour="event")
    made = model("start s; task a; task b; end e", "s a, a b, b e", handler)
    assert check(made, ["a", "c"]).ok
    assert check(made, ["a", "b"]).ok
    assert not check(made, ["a", "c", "b"]).ok


def test_thrown_errors_happen_by_themselves():
    inner = sub("sp", "start i; xor g; task k; end y; end z error=E", "i g, g k, g z, k y")
    made = model(
        "start s; on sp b error=E; task t; task u; end e", "s sp, sp t, b u, t e, u e", inner
    )
    assert check(made, ["u"], {"g": (("g-z",),)}).ok
    assert check(made, ["k", "t"], {"g": (("g-k",),)}).ok
    assert not check(made, ["k", "u"], {"g": (("g-k",),)}).ok


@pytest.mark.parametrize(
    "name",
    shared_cases(["02", "07", "17", "18", "22", "25", "26", "29", "52"], "pmo"),
)
def test_enumerated_runs_of_real_models_are_followed_and_mutants_are_not(name: str):
    made = read_bpmn(shared_data("pmo", "bpmn", f"{name}.bpmn"))
    game = Game(made, Policy(once=True))
    steps = 0
    for process in made.processes:
        visible = {
            n.id
            for n in process.nodes
            if isinstance(n, Task) or (isinstance(n, Event) and n.position == "catch")
        }
        for run in enumerate_runs(made, process.id, game=game).runs:
            observed = seen(run, visible)
            steps += len(observed)
            result = follow_execution(game, process.id, run.start, observed, run.script, visible)
            assert result.ok, result.reason
            assert result.outcome == run.outcome
            assert result.flows == run.flows
            for i in range(len(observed)):
                less = [*observed[:i], *observed[i + 1 :]]
                if less != observed:
                    cut = follow_execution(game, process.id, run.start, less, run.script, visible)
                    assert not cut.ok
            more = [*observed, observed[0]] if observed else ["no such element"]
            assert not follow_execution(game, process.id, run.start, more, run.script, visible).ok
    assert steps > 5
