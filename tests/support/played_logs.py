"""Logs with a known truth: models played by the token game, with and without noise."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from orgflow_ir.flow.token_game.net import Policy
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.trace_alignment import (
    BehaviourMachine,
    measure_conformance,
    name_activities,
)
from orgflow_ir.model import Model, Process

MOST_EVENTS = 200
NOISE = ("skip", "swap", "double", "move", "alien", "cut")


class StuckRun(Exception):
    """A run that does not end."""


def play_case(
    game: Game, process: Process, names: dict[str, str], draw: random.Random
) -> list[str]:
    """The activities of one random run. Raises `StuckRun`."""
    starts = game.starts(process.id)
    state = game.initial(process.id, draw.choice(starts))
    done: list[str] = []
    for _ in range(20 * MOST_EVENTS):
        steps = game.enabled(state)
        if not steps:
            break
        # elements are equally likely, whatever number of ways each has
        element = draw.choice(sorted({step.element for step in steps}))
        step = draw.choice([step for step in steps if step.element == element])
        if step.action != "open" and step.element in names:
            done.append(names[step.element])
        state = game.fire(state, step)
    if game.outcome(state) not in ("completed", "terminated"):
        raise StuckRun(game.outcome(state))
    return done


def play_log(model: Model, process: Process, cases: int, seed: int) -> list[list[str]]:
    """The activities of random runs that end; raises `StuckRun` if most do not."""
    game = Game(model, Policy(once=True))
    names = name_activities(process)
    draw = random.Random(seed)
    log: list[list[str]] = []
    for attempt in range(2 * cases):
        try:
            case = play_case(game, process, names, draw)
        except StuckRun:
            if attempt > cases and len(log) < attempt / 4:
                raise
            continue
        if case and len(case) <= MOST_EVENTS:
            log.append(case)
        if len(log) == cases:
            break
    return log


def add_noise(log: Sequence[Sequence[str]], share: float, seed: int) -> list[list[str]]:
    """The cases, of which a share has one fault: an event less, twice, elsewhere, of another
    process, two neighbours exchanged, or the end cut off."""
    draw = random.Random(seed)
    noisy = []
    for case in log:
        events = list(case)
        if draw.random() < share and len(events) > 1:
            kind, at = draw.choice(NOISE), draw.randrange(len(events))
            match kind:
                case "skip":
                    del events[at]
                case "swap":
                    at = min(at, len(events) - 2)
                    events[at], events[at + 1] = events[at + 1], events[at]
                case "double":
                    events.insert(at, events[at])
                case "move":
                    events.insert(draw.randrange(len(events)), events.pop(at))
                case "alien":
                    events.insert(at, f"Alien {draw.randrange(3)}")
                case "cut":
                    del events[max(1, at) :]
        noisy.append(events)
    return noisy


def count_sequences(log: Sequence[Sequence[str]]) -> Counter[tuple[str, ...]]:
    """The number of cases of each sequence."""
    return Counter(tuple(case) for case in log)


def measure_agreement(
    true: tuple[Model, Process], mined: tuple[Model, Process], cases: int, seed: int = 99
) -> float:
    """The behavioural agreement of two processes: the harmonic mean of the fitness of random runs
    of each in the other, by optimal alignments."""
    fitness = []
    for played, other in ((true, mined), (mined, true)):
        runs = count_sequences(play_log(*played, cases, seed))
        fitness.append(measure_conformance(runs.items(), BehaviourMachine(*other)).fitness)
    first, second = fitness
    return 2 * first * second / (first + second) if first + second else 0.0
