"""The 16 micro-cases of `soundness/probe`, each run worked out by hand.

A run is written as the steps in depth-first order and how it ends; each case names all its runs up
to the order of parallel steps, with the reason. A livelock's runs are cut where a state repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import pytest
from game_models import explore, read_bpmn, tell
from shared_data import shared_cases, shared_data

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game


class Case(NamedTuple):
    why: str
    runs: set[str]
    ends: set[str]
    starts: tuple[str, ...] = ("s",)
    uncovered: Mapping[str, str] = MappingProxyType({})


CASES = {
    "boundary_deadlock": Case(
        "the timer interrupts t, so t-done and b exclude each other and the join gets one of two",
        {
            "start s: f0, open t, done t: f1 | stuck f1",
            "start s: f0, open t, fire b: f2 | stuck f2",
        },
        {"stuck"},
        uncovered={
            "f0": "only on runs that get stuck",
            "f1": "only on runs that get stuck",
            "f2": "only on runs that get stuck",
            "f3": "after a deadlock",
        },
    ),
    "ebg_nested_defs": Case(
        "the first event withdraws the other; the merge passes its one token",
        {
            "start s: f0, open g, done a: f1 f3, fire m: f5, fire e | completed",
            "start s: f0, open g, done b: f2 f4, fire m: f5, fire e | completed",
        },
        {"completed"},
    ),
    "livelock_partly": Case(
        "x may leave at once; once m is reached t and m go round indefinitely, nothing leaves",
        {"start s: f0, fire x: f1, fire e | completed"},
        {"completed"},
        uncovered=dict.fromkeys(("f2", "f3", "f4"), "only on runs that do not end"),
    ),
    "livelock_xor_cycle_no_exit": Case(
        "u and v both lead back to m: no run ends, and none gets stuck",
        set(),
        set(),
        uncovered={f"f{i}": "only on runs that do not end" for i in range(7)},
    ),
    "msg_catch_no_flow": Case(
        "with messages free the message comes",
        {"start s: f0, open t, done t: f1, fire e | completed"},
        {"completed"},
    ),
    "self_closing_events": Case(
        "a self-closing tag says the same as an empty one",
        {"start s: f0, fire t: f1, fire e | completed"},
        {"completed"},
    ),
    "self_closing_gateway": Case(
        "a gateway with one way in and one out passes its token",
        {"start s: f0, fire x: f1, fire t: f2, fire e | completed"},
        {"completed"},
    ),
    "subprocess_inner_deadlock": Case(
        "inside, x feeds one branch of the parallel join j: the token stays there, so the "
        "sub-process is never done and t never runs",
        {
            "start s: g0, open sp, start is: f0, fire x: f1, fire a: f3 | stuck sp f3",
            "start s: g0, open sp, start is: f0, fire x: f2, fire c: f4 | stuck sp f4",
        },
        {"stuck"},
        uncovered={
            "g0": "only on runs that get stuck",
            **{f"f{i}": "only on runs that get stuck" for i in range(5)},
            "f5": "after a deadlock",
            "g1": "after a deadlock",
            "g2": "after a deadlock",
        },
    ),
    "subprocess_sound": Case(
        "the end inside leaves no token, so the sub-process is done",
        {
            "start s: g0, open sp, start is: f0, fire a: f1, fire ie, done sp: g1, fire t: g2, "
            "fire e | completed"
        },
        {"completed"},
    ),
    "task_no_outgoing": Case(
        "a task without an outgoing flow ends its path; the instance ends when no token is left",
        {"start s: f0, fire t | completed"},
        {"completed"},
    ),
    "task_two_out_xor_merge": Case(
        "two flows out of t fork, two flows into c do not join: c runs twice",
        {
            "start s: f0, fire t: f1 f2, fire a: f3, fire c: f5, fire e, fire b: f4, fire c: f5, "
            "fire e | completed"
        },
        {"completed"},
    ),
    "timer_catch_nested": Case(
        "the timer comes",
        {"start s: f0, open t, done t: f1, fire e | completed"},
        {"completed"},
    ),
    "timer_catch_selfclosing": Case(
        "a timer without a time is still a timer: it waits and comes",
        {"start s: f0, open t, done t: f1, fire e | completed"},
        {"completed"},
    ),
    "timer_start_only": Case(
        "a timer start begins the process when it comes",
        {"start s: f0, fire t: f1, fire e | completed"},
        {"completed"},
    ),
    "two_starts_and_join": Case(
        "each start event makes an instance of its own, so the join has one token of two",
        {"start s: f0 | stuck f0", "start s2: f1 | stuck f1"},
        {"stuck"},
        ("s", "s2"),
        {
            "f0": "only on runs that get stuck",
            "f1": "only on runs that get stuck",
            "f2": "after a deadlock",
            "f3": "after a deadlock",
        },
    ),
    "two_starts_xor_merge": Case(
        "either start leads through the merge once",
        {
            "start s: f0, fire m: f2, fire t: f3, fire e | completed",
            "start s2: f1, fire m: f2, fire t: f3, fire e | completed",
        },
        {"completed"},
        ("s", "s2"),
    ),
}


@pytest.mark.parametrize("name", shared_cases(CASES, "soundness", "probe"))
def test_micro_case(name: str):
    case = CASES[name]
    model = read_bpmn(shared_data("soundness", "probe", f"{name}.bpmn"))
    game = Game(model)
    assert game.starts("P") == case.starts, case.why
    ends = {e for s in case.starts for e in explore(game, game.initial("P", s))[1]}
    assert ends == case.ends, case.why
    found = enumerate_runs(model, "P", game=game)
    shown = set()
    for run in (*found.runs, *(r for r in found.stuck if r.outcome == "stuck")):
        left = " ".join(item.element for item in run.left)
        end = f"{run.outcome} {left}".strip()
        shown.add(f"{', '.join(tell(s) for s in run.steps)} | {end}")
    assert shown == case.runs, case.why
    assert dict(found.uncovered) == case.uncovered, case.why


def test_every_micro_case_is_argued():
    folder = shared_data("soundness", "probe")
    assert {p.stem for p in folder.glob("*.bpmn")} == set(CASES)
