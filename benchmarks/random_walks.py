"""Runs of the token game in which every choice is made at random, seeded."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.runs import Choice, Run
from orgflow_ir.flow.token_game.semantics import Game, NotEnabled
from orgflow_ir.flow.token_game.state import State


def random_walks(game: Game, process: str, seed: str, tries: int) -> Iterator[Run]:
    """Complete runs in which every choice is made at random."""
    rng = random.Random(zlib.crc32(seed.encode()))
    for _ in range(tries):
        start = rng.choice(game.starts(process))
        walk = _walk(game, process, start, game.initial(process, start), [], rng)
        if walk is not None:
            yield walk


def _walk(
    game: Game,
    process: str,
    start: str | None,
    state: State,
    before: Sequence[Step],
    rng: random.Random,
) -> Run | None:
    """A random way from `state` to an end; `None` where it is long or gets stuck."""
    steps = list(before)
    most = len(steps) + 60 + 6 * len(game.net.nodes)
    while len(steps) < most:
        options = game.enabled(state)
        if not options:
            break
        step = rng.choice(options)
        steps.append(step)
        state = game.fire(state, step)
    outcome = game.outcome(state)
    if outcome in ("running", "stuck"):
        return None
    choices = tuple(c for s in steps for c in game.decisions(s))
    return Run(process, start, tuple(steps), choices, outcome)


def complete(game: Game, process: str, steps: Sequence[Step], count: int) -> list[Run]:
    """Up to `count` whole runs that begin with `steps` (as far as these can be followed) and go on
    at random."""
    starts = game.starts(process)
    start = steps[0].element if steps and steps[0].element in starts else starts[0]
    state = game.initial(process, start)
    done: list[Step] = []
    for step in steps:
        try:
            state = game.fire(state, step)
        except NotEnabled:
            break
        done.append(step)
    runs: dict[tuple[Choice, ...], Run] = {}
    for number in range(4 * count):
        walk = _walk(game, process, start, state, done, random.Random(number))
        if walk is not None and len(runs) < count:
            runs.setdefault(walk.choices, walk)
    return list(runs.values())
