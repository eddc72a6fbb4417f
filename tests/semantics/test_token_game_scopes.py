"""The token game on scopes: boundary events, sub-processes, throwing, compensation, loops."""

from __future__ import annotations

import pytest
from game_models import can, explore, model, node, play, process, sub, traces

from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.flow.token_game.state import Left
from orgflow_ir.model import Artifact, Loop, Model, Task


def game_of(nodes: str, arcs: str, *more, policy: Policy | None = None, **kwargs) -> Game:
    return Game(model(nodes, arcs, *more, **kwargs), policy)


def ends(game: Game, start: str | None = None) -> set[str]:
    return explore(game, game.initial("P", start))[1]


# -- boundary events ------------------------------------------------------------------------------


def test_interrupting_boundary_event_ends_the_activity():
    game = game_of("start s; task a; on a b timer; end e; end f", "s a, a e, b f")
    state = play(game, game.initial("P"), "start s", "open a")
    assert can(game, state) == ["done a: a-e", "fire b: b-f"]
    assert game.open_elements(play(game, state, "fire b")) == ()


def test_non_interrupting_boundary_event_may_fire_again():
    arcs = "s a, a e, b f"
    nodes = "start s; user a; on! a b timer; end e; end f"
    game = game_of(nodes, arcs)
    state = play(game, game.initial("P"), "start s", "open a", "fire b", "fire b")
    assert game.left(state) == (Left("flow", "b-f", 2), Left("open", "a"))
    once = game_of(nodes, arcs, policy=Policy(once=True))
    state = play(once, once.initial("P"), "start s", "open a", "fire b")
    assert can(once, state) == ["fire f", "done a: a-e"] or can(once, state) == [
        "done a: a-e",
        "fire f",
    ]


def test_once_is_once_an_activation():
    game = game_of(
        "start s; user a; on! a b timer; xor x; end e; end f",
        "s a, a x, x a, x e, b f",
        policy=Policy(once=True),
    )
    state = play(game, game.initial("P"), "start s", "open a", "fire b", "fire f", "done a")
    state = play(game, state, "fire x: x-a", "open a")
    assert "fire b: b-f" in can(game, state)


# -- sub-processes --------------------------------------------------------------------------------


def test_sub_process_is_done_when_no_token_is_left_in_it():
    inner = sub("sp", "start i; and p; task a; user b; end x; end y", "i p, p a, p b, a x, b y")
    game = game_of("start s; task t; end e", "s sp, sp t, t e", inner)
    state = play(game, game.initial("P"), "start s", "open sp", "start i", "fire p", "fire a")
    state = play(game, state, "fire x")
    assert can(game, state) == ["open b"]
    state = play(game, state, "open b")
    assert game.open_elements(state) == ("b", "sp")
    state = play(game, state, "done b", "fire y")
    assert can(game, state) == ["done sp: sp-t"]


def test_a_deadlock_inside_holds_the_sub_process():
    inner = sub("sp", "start i; xor x; and j; end y", "i x, x j, x j, j y")
    game = game_of("start s; end e", "s sp, sp e", inner)
    assert ends(game) == {"stuck"}


def test_two_instances_of_a_sub_process_have_numbers():
    inner = sub("sp", "start i; user a; end x", "i a, a x")
    game = game_of("start s; and p; xor m; end e", "s p, p m, p m, m sp, sp e", inner)
    state = play(game, game.initial("P"), "start s", "fire p", "fire m", "fire m")
    state = play(
        game, state, "open sp", "open sp (1)", "start i: i-a", "open a", "start i: i-a (1)"
    )
    assert can(game, state) == ["done a: a-x", "open a (1)"]
    assert ends(game) == {"completed"}


def test_several_starts_of_a_sub_process_are_alternatives():
    inner = sub("sp", "start i; start k; task a; task b", "i a, k b")
    game = game_of("start s; end e", "s sp, sp e", inner)
    assert traces(game, game.initial("P"), {"a", "b"}) == {("a",), ("b",)}


def test_terminate_ends_its_own_scope_only():
    inner = sub("sp", "start i; and p; user a; end x terminate", "i p, p a, p x")
    game = game_of("start s; task t; end e", "s sp, sp t, t e", inner)
    state = play(game, game.initial("P"), "start s", "open sp", "start i", "fire p", "open a")
    state = play(game, state, "fire x")
    assert can(game, state) == ["done sp: sp-t"]
    outer = game_of("start s; and p; user a; end x terminate", "s p, p a, p x")
    state = play(outer, outer.initial("P"), "start s", "fire p", "open a", "fire x")
    assert outer.outcome(state) == "terminated"
    assert outer.finished(state)


def test_call_of_a_process_of_the_model_is_a_scope_of_its_own():
    called = process("start i; user a; end x", "i a, a x", name="Q")
    caller = process("start s; call c Q; end e", "s c, c e")
    game = Game(Model(id="M", processes=(caller, called)))
    state = play(game, game.initial("P"), "start s", "open c", "start i", "open a")
    assert game.open_elements(state) == ("a", "c")
    unknown = game_of("start s; call c Elsewhere; end e", "s c, c e")
    assert can(unknown, play(unknown, unknown.initial("P"), "start s")) == ["fire c: c-e"]


# -- errors and escalations -----------------------------------------------------------------------


def test_error_is_caught_by_the_nearest_matching_boundary_event():
    inner = sub("in", "start k; xor g; end w error=E1; end x error=E2", "k g, g w, g x")
    middle = sub("mid", "start i; end y", "i in, in y, b1 y", inner, node("on in b1 error=E1"))
    game = game_of(
        "start s; on mid b2 error=E2; task a; task b; end e", "s mid, mid a, b2 b, a e, b e", middle
    )
    assert traces(game, game.initial("P"), {"a", "b", "w", "x"}) == {("w", "a"), ("x", "b")}


def test_uncaught_error_ends_the_instance():
    inner = sub("sp", "start i; end x error=E1", "i x")
    game = game_of("start s; user u; end e; and p", "s p, p u, p sp, sp e", inner)
    assert "error" in ends(game)
    state = play(game, game.initial("P"), "start s", "fire p", "open sp", "start i", "fire x")
    assert (game.outcome(state), game.left(state)) == ("error", ())


def test_error_of_a_task_may_come_at_any_time_but_a_thrown_one_only_when_thrown():
    free = game_of("start s; service a; on a b error; end e", "s a, a e, b e")
    state = play(free, free.initial("P"), "start s", "open a")
    assert can(free, state) == ["done a: a-e", "fire b: b-e"]
    inner = sub("sp", "start i; xor x; end y; end z error=E", "i x, x y, x z")
    thrown = game_of("start s; on sp b error=E; end e", "s sp, sp e, b e", inner)
    state = play(thrown, thrown.initial("P"), "start s", "open sp", "start i")
    assert can(thrown, state) == ["fire x: x-y", "fire x: x-z"]


def test_escalation_goes_on_where_its_catch_does_not_interrupt():
    inner = sub("sp", "start i; throw x escalation=E; task a; end y", "i x, x a, a y")
    game = game_of(
        "start s; on! sp b escalation=E; task t; end e; end f", "s sp, sp e, b t, t f", inner
    )
    found = traces(game, game.initial("P"), {"a", "t"})
    assert found == {("a", "t"), ("t", "a")}


def test_a_throw_caught_by_an_event_sub_process_of_its_own_scope_does_not_go_on():
    """The interrupting escalation ends everything in the scope, the thrower with it (10.5.7);
    the handler runs alone. One that does not interrupt runs beside what follows the throw."""
    for interrupting, seen in ((True, {("c",)}), (False, {("a", "c"), ("c", "a")})):
        start = node("start z escalation=E", interrupting=interrupting)
        handler = sub("h", "task c; end y", "z c, c y", start, flavour="event")
        game = game_of("start s; throw x escalation=E; task a; end e", "s x, x a, a e", handler)
        assert traces(game, game.initial("P"), {"a", "c"}) == seen
        inside = sub("sp", "start i; throw x escalation=E; task a; end e", "i x, x a, a e", handler)
        outer = game_of("start s; task t; end f", "s sp, sp t, t f", inside)
        assert traces(outer, outer.initial("P"), {"a", "c", "t"}) == {(*way, "t") for way in seen}


def test_an_end_event_that_its_escalation_interrupted_does_nothing_more():
    handler = sub("h", "task c; end y", "z c, c y", node("start z escalation=E"), flavour="event")
    game = game_of("start s; end x escalation=E terminate", "s x", handler)
    assert traces(game, game.initial("P"), {"c"}) == {("c",)}


def test_interrupting_event_sub_process_takes_over_its_scope():
    handler = sub("h", "start z timer; task c; end y", "z c, c y", flavour="event")
    game = game_of("start s; user a; task b; end e", "s a, a b, b e", handler)
    found = traces(game, game.initial("P"), {"a", "b", "c"})
    assert found == {("a", "b"), ("c",), ("a", "c"), ("a", "b", "c")}


def test_non_interrupting_event_sub_process_runs_beside_its_scope():
    start = node("start z timer", interrupting=False)
    handler = sub("h", "task c; end y", "z c, c y", start, flavour="event")
    game = game_of("start s; user a; end e", "s a, a e", handler, policy=Policy(once=True))
    assert traces(game, game.initial("P"), {"a", "c"}) == {("a",), ("a", "c"), ("c", "a")}
    again = game_of("start s; user a; end e", "s a, a e", handler)
    state = play(again, again.initial("P"), "start s", "start z", "start z: z-c (1)")
    assert again.left(state)[-1] == Left("flow", "z-c", 1, 1)


# -- transactions and compensation ----------------------------------------------------------------


def compensated(throw: str) -> tuple:
    """A transaction in which a (undone by h) is followed by an end event."""
    link = Artifact(id="as", artifact_kind="association", source="cb", target="h")
    inner = sub(
        "tx",
        f"start i; task a; on a cb compensation; end x {throw}",
        "i a, a x",
        Task(id="h", for_compensation=True),
        flavour="transaction",
    )
    return inner, link


def test_cancelled_transaction_compensates_and_leaves_by_its_cancel_event():
    inner, link = compensated("cancel")
    game = game_of(
        "start s; on tx b cancel; task t; task u; end e",
        "s tx, tx t, b u, t e, u e",
        inner,
        artifacts=(link,),
    )
    assert traces(game, game.initial("P"), {"a", "h", "t", "u"}) == {("a", "h", "u")}


def test_compensation_end_event_runs_the_handler_of_what_was_done():
    inner, link = compensated("compensation")
    game = game_of("start s; end e", "s tx, tx e", inner, artifacts=(link,))
    assert traces(game, game.initial("P"), {"a", "h"}) == {("a", "h")}


def test_compensation_reaches_into_completed_sub_processes_and_only_what_was_done():
    inner = sub(
        "sp",
        "start i; xor g; task a; task b; on a ca compensation; on b cb compensation; end x",
        "i g, g a, g b, a x, b x",
        Task(id="ha", for_compensation=True),
        Task(id="hb", for_compensation=True),
    )
    links = (
        Artifact(id="l1", artifact_kind="association", source="ca", target="ha"),
        Artifact(id="l2", artifact_kind="association", source="cb", target="hb"),
    )
    game = game_of(
        "start s; throw c compensation; task t; end e",
        "s sp, sp c, c t, t e",
        inner,
        artifacts=links,
    )
    only = {"a", "b", "ha", "hb", "t"}
    assert traces(game, game.initial("P"), only) == {("a", "ha", "t"), ("b", "hb", "t")}


# -- loops ----------------------------------------------------------------------------------------


def test_a_loop_body_counts_once_unless_instances_are_asked_for():
    looped = node("task a", loop=Loop(kind="multi-instance"))
    once = game_of("start s; end e", "s a, a e", looped)
    assert traces(once, once.initial("P"), {"a"}) == {("a",)}


@pytest.mark.parametrize(
    ("loop", "bodies"),
    [
        (Loop(kind="standard"), {1, 2, 3}),
        (Loop(kind="standard", test_before=True), {0, 1, 2, 3}),
        (Loop(kind="standard", maximum=2), {1, 2}),
        (Loop(kind="multi-instance"), {0, 1, 2, 3}),
        (Loop(kind="multi-instance", sequential=True), {0, 1, 2, 3}),
        (Loop.validate({"kind": "multi-instance", "cardinality": {"text": "2"}}), {2}),
    ],
)
def test_number_of_bodies(loop: Loop, bodies: set[int]):
    game = game_of(
        "start s; end e", "s a, a e", node("task a", loop=loop), policy=Policy(instances=3)
    )
    found = traces(game, game.initial("P"), {"a"})
    # the activity itself is done once after its bodies
    assert {len(t) - 1 for t in found} == bodies


def test_parallel_bodies_are_open_together_and_sequential_ones_are_not():
    def most_open(sequential: bool) -> int:
        loop = Loop(kind="multi-instance", sequential=sequential)
        game = game_of(
            "start s; end e", "s a, a e", node("user a", loop=loop), policy=Policy(instances=3)
        )
        most, stack = 0, [game.initial("P")]
        seen = set(stack)
        while stack:
            state = stack.pop()
            most = max(most, game.open_elements(state).count("a"))
            for step in game.enabled(state):
                after = game.fire(state, step)
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
        return most

    # one for the activity itself
    assert (most_open(False), most_open(True)) == (4, 2)


def test_ad_hoc_sub_process_runs_anything_any_number_of_times():
    inner = sub("ah", "task a; task b; task c", "b c", flavour="ad-hoc")
    game = game_of("start s; end e", "s ah, ah e", inner, policy=Policy(once=True))
    found = traces(game, game.initial("P"), {"a", "b", "c"})
    assert {(), ("a",), ("b", "c"), ("a", "b", "c"), ("b", "a", "c")} <= found
    assert ("c",) not in found
    assert ("b",) not in found
    free = game_of("start s; end e", "s ah, ah e", inner)
    play(free, free.initial("P"), "start s", "open ah", "fire a", "fire a", "fire a")
