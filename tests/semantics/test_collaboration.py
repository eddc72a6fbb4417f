"""Collaborations: messages, correlation, several instances, signals."""

from __future__ import annotations

from game_models import can, explore, play, process, sub, traces

from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.flow.token_game.state import Left
from orgflow_ir.model import MessageFlow, Model, Pool

FLOWS = Policy(messages="flows", once=True)


def collaboration(*processes, messages: str, pools: tuple[Pool, ...] = ()) -> Model:
    pairs = [item.split() for item in messages.split(",") if item.strip()]
    flows = tuple(MessageFlow(id=f"{a}~{b}", source=a, target=b) for a, b in pairs)
    return Model(id="M", processes=processes, message_flows=flows, pools=pools)


CLIENT = process("start s; send ask; receive get; end e", "s ask, ask get, get e", name="C")
SERVER = process("start q message; task work; end r message", "q work, work r", name="S")
TALK = collaboration(CLIENT, SERVER, messages="ask q, r get")


def test_a_message_starts_an_instance_and_the_answer_comes_back():
    game = Game(TALK, FLOWS)
    state = game.initial_all()
    assert len(state.frames) == 1
    state = play(game, state, "start s", "fire ask", "open get")
    assert game.left(state)[-1] == Left("message", "ask~q", 1, 0)
    assert can(game, state) == ["start q: q-work (1)"]
    state = play(game, state, "start q: q-work (1)", "fire work: work-r (1)", "fire r (1)")
    state = play(game, state, "done get", "fire e")
    assert game.outcome(state) == "completed"
    assert game.left(state) == ()


def test_free_messages_need_no_partner():
    game = Game(TALK)
    assert traces(game, game.initial("C"), {"ask", "get"}) == {("ask", "get")}
    assert game.outcome(play(game, game.initial("S"), "start q", "fire work", "fire r")) == (
        "completed"
    )


def test_a_message_nobody_takes_is_left_over():
    deaf = process("start a; end b", "a b", name="D")
    talk = collaboration(
        process("start s; send ask; end e", "s ask, ask e", name="C"),
        process("start q; receive get; end r", "q get, get r", name="S"),
        deaf,
        messages="ask get",
    )
    game = Game(talk, FLOWS)
    state = play(game, game.initial("C"), "start s", "fire ask", "fire e")
    assert game.outcome(state) == "completed"
    assert game.left(state) == (Left("message", "ask~get", 1, 0),)
    alone = play(game, game.initial("S"), "start q", "open get")
    assert game.outcome(alone) == "stuck"


def test_a_message_from_a_black_box_always_comes():
    talk = collaboration(
        process("start q; receive get; end r", "q get, get r", name="S"),
        messages="box get",
        pools=(Pool(id="box"),),
    )
    game = Game(talk, FLOWS)
    assert explore(game, game.initial("S"))[1] == {"completed"}


def test_answers_go_to_the_instance_that_asked():
    """Two clients, one server instance each: the answer to 0 cannot be taken by 1."""
    twice = process(
        "start s; and p; send ask; xor m; end e", "s p, p m, p m, m ask, ask e", name="T"
    )
    game = Game(collaboration(twice, SERVER, CLIENT, messages="ask q, r get"), FLOWS)
    assert game.starts("T") == ("s",)
    two = Game(TALK, FLOWS)
    state = two.initial_all()
    other = two.initial("C")
    frames = (state.frames[0], other.frames[0]._replace(key=1, root=1))
    state = state._replace(frames=frames)
    state = play(two, state, "start s: s-ask", "start s: s-ask (1)", "fire ask: ask-get")
    state = play(two, state, "fire ask: ask-get (1)", "open get", "open get (1)")
    # the oldest message first: instance 2 talks to client 0
    state = play(two, state, "start q: q-work (2)", "fire work: work-r (2)", "fire r (2)")
    assert can(two, state) == ["done get: get-e", "start q: q-work (2)"] or can(two, state) == [
        "done get: get-e",
        "start q: q-work (3)",
    ]


def test_every_order_of_the_conversation_ends():
    game = Game(TALK, FLOWS)
    states, ends = explore(game, game.initial_all())
    assert ends == {"completed"}
    # before and after the start, (sent, opened) × (sent, begun, worked, answered), done, ended
    assert states == 2 + 2 * 4 + 2


def test_a_cycle_of_waiting_is_stuck():
    one = process("start s; receive a; send b; end e", "s a, a b, b e", name="A")
    two = process("start t; receive c; send d; end f", "t c, c d, d f", name="B")
    game = Game(collaboration(one, two, messages="b c, d a"), FLOWS)
    assert explore(game, game.initial_all())[1] == {"stuck"}


def test_event_gateway_takes_the_message_that_comes():
    asker = process(
        "start s; xor x; send yes; send no; end e", "s x, x yes, x no, yes e, no e", name="A"
    )
    other = process(
        "start t; race g; catch y message; catch n message; task a; task b; end f",
        "t g, g y, g n, y a, n b, a f, b f",
        name="B",
    )
    game = Game(collaboration(asker, other, messages="yes y, no n"), FLOWS)
    found = traces(game, game.initial_all(), {"yes", "no", "a", "b"})
    assert found == {("yes", "a"), ("no", "b")}


def test_a_signal_reaches_all_that_wait_and_is_not_kept():
    thrower = process("start s; throw t signal=S; end e", "s t, t e", name="A")
    catcher = process("start q; catch c signal=S; end f", "q c, c f", name="B")
    game = Game(Model(id="M", processes=(thrower, catcher)), FLOWS)
    state = play(game, game.initial_all(), "start s: s-t", "start q: q-c (1)")
    early = play(game, state, "open c (1)", "fire t: t-e", "fire e")
    assert can(game, early) == ["done c: c-f (1)"]
    late = play(game, state, "fire t: t-e", "fire e", "open c (1)")
    assert game.outcome(late) == "stuck"


def test_a_signal_starts_a_process_and_a_boundary_event():
    thrower = process("start s; throw t signal=S; end e", "s t, t e", name="A")
    begun = process("start q signal=S; end f", "q f", name="B")
    guarded = process("start g; user u; on u b signal=S; end h; end i", "g u, u h, b i", name="D")
    game = Game(Model(id="M", processes=(thrower, begun, guarded)), FLOWS)
    state = game.initial_all({"B": ""})
    state = play(game, state, "start s: s-t", "start g: g-u (1)", "open u (1)")
    assert "fire b: b-i (1)" not in can(game, state)
    state = play(game, state, "fire t: t-e")
    assert {"fire b: b-i (1)", "start q: q-f (2)"} <= set(can(game, state))


def test_message_boundary_and_event_sub_process_need_their_message():
    asker = process("start s; send m; end e", "s m, m e", name="A")
    inner = sub("h", "start z message; end y", "z y", flavour="event")
    held = process("start t; user u; end f", "t u, u f", inner, name="B")
    game = Game(collaboration(asker, held, messages="m z"), FLOWS)
    state = play(game, game.initial_all(), "start t: t-u (1)", "open u (1)")
    assert can(game, state) == ["start s: s-m", "done u: u-f (1)"]
    state = play(game, state, "start s: s-m", "fire m: m-e")
    assert "start z: z-y (1)" in can(game, state)
