"""Collaborations against the published verdicts of fbpmn (TLC model checking)."""

from __future__ import annotations

import csv

from game_models import read_bpmn
from shared_data import shared_data

from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.model import Model

LIMIT = 700
"""States looked at for each model."""


def examine(model: Model) -> tuple[bool, bool, bool]:
    """Whether every state was seen, none has two tokens at one place, none is stuck; up to the
    first place with two tokens."""
    game = Game(model, Policy(messages="flows"))
    first = game.initial_all()
    seen, queue, stuck = {first}, [first], False
    for state in queue:
        if any(n > 1 for frame in state.frames for _, n in frame.tokens):
            return True, False, not stuck
        steps = game.enabled(state)
        stuck |= not steps and bool(state.frames)
        for step in steps:
            after = game.fire(state, step)
            if after not in seen:
                seen.add(after)
                queue.append(after)
        if len(queue) > LIMIT:
            return False, True, not stuck
    return True, True, not stuck


def test_safety_and_soundness_agree_with_fbpmn():
    """Safe: never two tokens at one place. Sound, in fbpmn: always able to complete, nothing left,
    no message left; so a sound model is never stuck here. Instances here are not bounded to one a
    process, so that models whose partner is started again and again are not seen in full."""
    root = shared_data("soundness")
    compared = []
    with (root / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["file"].startswith(("fbpmn/", "rust/"))]
    for row in rows:
        if row["process"] or not row["safe"]:
            continue
        complete, safe, live = examine(read_bpmn(root / row["file"]))
        if not complete:
            continue
        compared.append(row["file"])
        assert str(safe) == row["safe"], row["file"]
        if row["sound"] == "True" and safe:
            assert live, row["file"]
        if row["deadlock_free"] == "False":
            assert not live, row["file"]
    assert len(compared) >= 35
