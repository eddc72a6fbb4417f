"""The token game, construct by construct; expectations come from BPMN 2.0.2, chapter 13."""

from __future__ import annotations

import pytest
from game_models import can, explore, model, node, play, sub, tell, traces

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.semantics import Game, NotEnabled, Policy
from orgflow_ir.flow.token_game.state import Left
from orgflow_ir.model import Task


def game_of(nodes: str, arcs: str, *more, policy: Policy | None = None, **kwargs) -> Game:
    return Game(model(nodes, arcs, *more, **kwargs), policy)


def ends(game: Game, start: str | None = None) -> set[str]:
    return explore(game, game.initial("P", start))[1]


# -- splits and joins -----------------------------------------------------------------------------


def test_exclusive_split_offers_one_step_a_flow():
    game = game_of("start s; xor x; task a; task b; end e", "s x, x a, x b *, a e, b e")
    state = play(game, game.initial("P"), "start s")
    assert can(game, state) == ["fire x: x-a", "fire x: x-b"]


def test_inclusive_split_offers_every_set_and_the_default_only_alone():
    game = game_of("start s; or x; task a; task b; task c", "s x, x a, x b, x c *")
    state = play(game, game.initial("P"), "start s")
    assert can(game, state) == [
        "fire x: x-a",
        "fire x: x-b",
        "fire x: x-a x-b",
        "fire x: x-c",
    ]


@pytest.mark.parametrize(
    ("arcs", "expected"),
    [
        ("t a, t b", ["t-a t-b"]),
        ("t a ?, t b ?", ["t-a", "t-b", "t-a t-b"]),
        ("t a ?, t b *", ["t-a", "t-b"]),
        ("t a ?, t b ?, t c *", ["t-a", "t-b", "t-a t-b", "t-c"]),
        ("t a, t b ?", ["t-a t-b", "t-a"]),
        ("t a, t b ?, t c *", ["t-a t-b", "t-a t-c"]),
    ],
)
def test_flows_out_of_an_activity(arcs: str, expected: list[str]):
    """13.3.2: each flow whose condition holds gets a token, the default if none does."""
    game = game_of("start s; task t; task a; task b; task c", "s t, " + arcs)
    state = play(game, game.initial("P"), "start s")
    assert can(game, state) == [f"fire t: {taken}" for taken in expected]


def test_wide_inclusive_split_is_capped_but_every_set_can_be_fired():
    names = [f"t{i}" for i in range(20)]
    arcs = ", ".join(f"x {n}" for n in names)
    game = game_of("start s; or x; " + "; ".join(f"task {n}" for n in names), "s x, " + arcs)
    state = play(game, game.initial("P"), "start s")
    assert game.wide == {"x"}
    assert len(game.enabled(state)) == game.policy.subsets
    half = tuple(f"x-{n}" for n in names[:10])
    assert len(game.enabled(game.fire(state, Step("fire", "x", half)))) == 10
    with pytest.raises(NotEnabled):
        game.fire(state, Step("fire", "x", ("x-t0", "x-t0")))


def test_parallel_join_takes_one_token_from_every_flow():
    game = game_of("start s; task t; and j; end e", "s t, t j, t j, j e")
    state = play(game, game.initial("P"), "start s", "fire t")
    assert game.left(state) == (Left("flow", "t-j"), Left("flow", "t-j/2"))
    assert can(game, state) == ["fire j: j-e"]
    assert ends(game) == {"completed"}


def test_exclusive_join_passes_each_token():
    game = game_of("start s; and p; xor m; task t; end e", "s p, p m, p m, m t, t e")
    assert traces(game, game.initial("P"), {"t"}) == {("t", "t")}


def test_a_token_on_one_side_of_a_parallel_join_is_stuck_and_named():
    game = game_of("start s; xor x; task a; task b; and j; end e", "s x, x a, x b, a j, b j, j e")
    state = play(game, game.initial("P"), "start s", "fire x: x-a", "fire a")
    assert game.outcome(state) == "stuck"
    assert game.left(state) == (Left("flow", "a-j"),)
    assert ends(game) == {"stuck"}


def test_gateway_that_joins_and_splits():
    game = game_of("start s; and p; and g; task a; task b", "s p, p g, p g, g a, g b")
    state = play(game, game.initial("P"), "start s", "fire p")
    assert can(game, state) == ["fire g: g-a g-b"]


def test_two_flows_between_the_same_pair_are_two_places():
    game = game_of("start s; and p; task t; end e", "s p, p t, p t, t e")
    state = play(game, game.initial("P"), "start s", "fire p")
    assert game.left(state) == (Left("flow", "p-t"), Left("flow", "p-t/2"))


# -- the inclusive join's rule (13.4.3) -----------------------------------------------------------


def test_inclusive_join_waits_for_what_can_still_come():
    game = game_of("start s; or x; task a; task b; or j; end e", "s x, x a, x b, a j, b j, j e")
    both = play(game, game.initial("P"), "start s", "fire x: x-a x-b", "fire a")
    assert can(game, both) == ["fire b: b-j"]
    one = play(game, game.initial("P"), "start s", "fire x: x-a", "fire a")
    assert can(game, one) == ["fire j: j-e"]
    assert ends(game) == {"completed"}


def test_inclusive_join_ignores_a_token_that_can_also_reach_a_marked_flow():
    """The second half of the rule: from b there is a way to the empty flow y-j, but also one to
    x-j, which has a token, so b is not waited for."""
    game = game_of(
        "start s; and p; task a; task b; xor y; xor x; or j; end e",
        "s p, p a, p b, a x, b y, y x, y j, x j, j e",
    )
    state = play(game, game.initial("P"), "start s", "fire p", "fire a", "fire x")
    assert "fire j: j-e" in can(game, state)


def test_inclusive_join_does_not_wait_for_paths_through_itself():
    """In a loop the way back to the join leads through the join."""
    game = game_of("start s; or j; xor x; end e", "s j, j x, x j, x e")
    state = play(game, game.initial("P"), "start s")
    assert can(game, state) == ["fire j: j-x"]


def test_two_inclusive_joins_in_a_cycle_wait_for_each_other():
    """By the letter of the rule: each sees a path from the other's token to its empty flow."""
    game = game_of(
        "start s; and p; or j; or k; xor x; xor y; end e; end f",
        "s p, p j, p k, j x, x k, x e, k y, y j, y f",
    )
    state = play(game, game.initial("P"), "start s", "fire p")
    assert game.outcome(state) == "stuck"


def test_a_token_in_an_open_task_or_behind_its_boundary_event_counts():
    game = game_of(
        "start s; and p; task a; user u; on u b timer; or j; end e; end f",
        "s p, p a, p u, a j, u f, b j, j e",
    )
    state = play(game, game.initial("P"), "start s", "fire p", "fire a", "open u")
    assert can(game, state) == ["done u: u-f", "fire b: b-j"]


def test_inclusive_join_waits_for_an_activity_whose_boundary_event_came_first():
    """From the open u there is a way by n to the marked flow n-j, but that is no flow of u's own:
    the join waits until u is done (fbpmn's e022MBE)."""
    game = game_of("start s; user u; on! u n timer; or j; end e", "s u, u j, n j, j e")
    state = play(game, game.initial("P"), "start s", "open u", "fire n")
    assert can(game, state) == ["done u: u-j", "fire n: n-j"]


def test_complex_gateway_joins_like_an_inclusive_one():
    game = game_of("start s; cpx x; task a; task b; cpx j; end e", "s x, x a, x b, a j, b j, j e")
    assert ends(game) == {"completed"}


# -- waiting --------------------------------------------------------------------------------------


def test_waiting_elements_open_and_are_done():
    game = game_of("start s; user a; end e", "s a, a e")
    state = play(game, game.initial("P"), "start s")
    assert can(game, state) == ["open a"]
    state = play(game, state, "open a")
    assert game.open_elements(state) == ("a",)
    assert can(game, state) == ["done a: a-e"]
    assert game.outcome(play(game, state, "done a", "fire e")) == "completed"


@pytest.mark.parametrize(
    ("kind", "waits"),
    [
        ("task", False),
        ("service", False),
        ("send", False),
        ("user", True),
        ("manual", True),
        ("receive", True),
        ("throw", False),
    ],
)
def test_which_tasks_wait(kind: str, waits: bool):
    game = game_of(f"start s; {kind} a", "s a")
    state = play(game, game.initial("P"), "start s")
    assert can(game, state) == ["open a" if waits else "fire a"]


@pytest.mark.parametrize("kind", ["message", "timer", "signal", "conditional"])
def test_catch_events_wait(kind: str):
    game = game_of(f"start s; catch c {kind}", "s c")
    assert can(game, play(game, game.initial("P"), "start s", "open c")) == ["done c"]


def test_event_gateway_opens_its_targets_and_the_first_withdraws_the_others():
    game = game_of(
        "start s; race g; catch m message; catch t timer; receive r; end e",
        "s g, g m, g t, g r, m e, t e, r e",
    )
    state = play(game, game.initial("P"), "start s", "open g")
    assert game.open_elements(state) == ("m", "r", "t")
    assert can(game, state) == ["done m: g-m m-e", "done t: g-t t-e", "done r: g-r r-e"]
    state = play(game, state, "done t")
    assert game.open_elements(state) == ()
    assert game.left(state) == (Left("flow", "t-e"),)


def test_event_gateway_that_starts_a_process_and_one_that_awaits_all():
    more = (node("race g", instantiate=True, await_all=True),)
    game = game_of("catch m message; catch t timer; and j; end e", "g m, g t, m j, t j, j e", *more)
    assert game.starts("P") == ("g",)
    state = play(game, game.initial("P"), "fire g", "open m", "open t")
    assert game.open_elements(state) == ("m", "t")
    assert ends(game) == {"completed"}


def test_links_jump_within_their_scope():
    game = game_of("start s; throw t link=A; catch c link=A; task a; end e", "s t, c a, a e")
    assert traces(game, game.initial("P"), {"t", "c", "a"}) == {("t", "c", "a")}
    broken = game_of("start s; throw t link=A; catch c link=B; end e", "s t, c e")
    assert ends(broken) == {"stuck"}


# -- starts ---------------------------------------------------------------------------------------


def test_each_start_event_is_a_scenario():
    game = game_of("start s; start m message; xor x; end e", "s x, m x, x e")
    assert game.starts("P") == ("s", "m")
    assert can(game, game.initial("P", "m")) == ["start m: m-x"]
    with pytest.raises(KeyError):
        game.initial("P", "x")


def test_without_a_start_event_everything_nothing_leads_to_begins():
    more = (Task(id="h", for_compensation=True), sub("v", "start z timer", "", flavour="event"))
    game = game_of("task a; task b; and j", "a j, b j", *more)
    assert game.starts("P") == (None,)
    state = game.initial("P")
    assert game.left(state) == (Left("pending", "a"), Left("pending", "b"))
    assert "fire j" in can(game, play(game, state, "fire a", "fire b"))


# -- states and errors ----------------------------------------------------------------------------


def test_states_are_canonical_and_hashable():
    """Two orders of independent steps give equal states."""
    game = game_of("start s; and p; task a; task b; and j", "s p, p a, p b, a j, b j")
    forked = play(game, game.initial("P"), "start s", "fire p")
    one = play(game, forked, "fire a", "fire b")
    other = play(game, forked, "fire b", "fire a")
    assert one == other
    assert hash(one) == hash(other)


def test_a_step_that_is_not_possible_says_what_is():
    game = game_of("start s; xor x; task a; task b", "s x, x a, x b")
    state = play(game, game.initial("P"), "start s")
    with pytest.raises(NotEnabled, match=r"it can: fire \['x-a'\]"):
        game.fire(state, Step("fire", "x", ("x-a", "x-b")))
    with pytest.raises(NotEnabled, match="nothing"):
        game.fire(state, Step("fire", "a", ()))
    with pytest.raises(NotEnabled):
        game.fire(state, Step("fire", "unknown", ()))


def test_steps_are_in_a_fixed_order():
    game = game_of("start s; and p; user b; task a", "s p, p a, p b")
    state = play(game, game.initial("P"), "start s", "fire p")
    assert [tell(s) for s in game.enabled(state)] == ["open b", "fire a"]
