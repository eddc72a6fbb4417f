"""Faults that another fault hides: they are still told, with runs of the token game as proof."""

from __future__ import annotations

from orgflow.passes.pipelines import CHECK
from text_model import model

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.flow.token_game.replay import replay_trace
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.pipeline import PassContext, PassManager


def check(text: str, gateways: dict[str, str]) -> list[Diagnostic]:
    ctx = PassContext()
    PassManager(CHECK).run(model(text, gateways), ctx)
    return [d for d in ctx.diagnostics if d.code.startswith("OF2")]


def test_a_loop_that_forks_each_time_round_never_ends() -> None:
    itself = check("start -> a\na -> a\na -> end", {})
    assert [(d.code, d.element) for d in itself] == [("OF206", "a")]
    gateway = check(
        "start -> m\nm -> a\na -> p\np -> m\np -> end", {"m": "exclusive", "p": "parallel"}
    )
    assert [(d.code, d.element) for d in gateway] == [("OF206", "p")]


def test_a_loop_with_a_choice_that_leads_out_is_none_of_those() -> None:
    fine = check(
        "start -> m\nm -> a\na -> g\ng -> m: again\ng -> end: done",
        {"m": "exclusive", "g": "exclusive More?"},
    )
    assert fine == []


DEADLOCK = """
start -> t
t -> g
g -> a
g -> q
a -> j
a -> d
q -> b: b
q -> c: c
b -> j
c -> d
j -> end1
d -> end2
"""


def test_a_deadlock_beside_work_done_twice_is_told() -> None:
    gateways = {"g": "parallel", "q": "exclusive Which?", "j": "parallel"}
    found = check(DEADLOCK, gateways)
    assert {d.code for d in found} == {"OF201", "OF203"}
    (deadlock,) = (d for d in found if d.code == "OF201")
    assert deadlock.element == "j"
    assert "waits for `B`, which a run that takes `c` at `Which?` never does" in deadlock.message
    game = Game(model(DEADLOCK, gateways), Policy(once=True))
    assert replay_trace(game, deadlock.trace, "P", "start").ok
