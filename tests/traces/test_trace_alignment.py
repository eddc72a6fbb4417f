"""Alignments, compared with all runs of small models, and processes mined of played models."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from orgflow.compilation.reading import load_model
from played_logs import add_noise, count_sequences, measure_agreement, play_log
from shared_data import shared_data

from orgflow_ir.flow.soundness.analysis import analyse
from orgflow_ir.flow.token_game.net import Policy
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.flow.token_game.trace_alignment import (
    AlignmentMove,
    BehaviourMachine,
    Deviation,
    align_case,
    list_deviations,
    measure_conformance,
    name_activities,
)
from orgflow_ir.flow.token_game.trace_equivalence import StepsExceeded
from orgflow_ir.mining.drawn_tree import StepLabel, draw_process
from orgflow_ir.mining.infrequent_miner import mine_variants
from orgflow_ir.mining.process_tree import (
    EMPTY,
    Choice,
    Leaf,
    Loop,
    Parallel,
    Tree,
    list_leaves,
)
from orgflow_ir.mining.process_tree import Sequence as Parts
from orgflow_ir.model import Model, Process
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

LONGEST = 8


def draw_tree(tree: Tree) -> tuple[Model, Process]:
    labels = {step: StepLabel("abcdefghij"[step], "", ()) for step in list_leaves(tree)}
    process = draw_process(tree, labels, prefix="P", name="p", origin="test")
    return Model(id="m", processes=(process,)), process


def make_tree(draw: random.Random, steps: list[int]) -> Tree:
    """A random tree with these steps."""
    if len(steps) == 1:
        return Leaf(steps[0])
    cut = draw.randrange(1, len(steps))
    first, second = make_tree(draw, steps[:cut]), make_tree(draw, steps[cut:])
    kind = draw.choice(("sequence", "choice", "parallel", "loop", "option"))
    none = frozenset[int]()
    match kind:
        case "sequence":
            return Parts((first, second))
        case "choice":
            return Choice((first, second), (none, none))
        case "parallel":
            return Parallel((first, second))
        case "loop":
            return Loop(first, second)
    return Parts((first, Choice((second, EMPTY), (none, none))))


def list_runs(model: Model, process: Process, longest: int) -> set[tuple[str, ...]]:
    """The activities of all complete runs with at most `longest`, by every step of the game."""
    game = Game(model, Policy(once=True))
    names = name_activities(process)
    runs: set[tuple[str, ...]] = set()
    seen: set[tuple[State, tuple[str, ...]]] = set()
    todo: list[tuple[State, tuple[str, ...]]] = [(game.initial(process.id), ())]
    while todo:
        state, done = todo.pop()
        if (state, done) in seen or len(done) > longest:
            continue
        seen.add((state, done))
        if game.outcome(state) == "completed":
            runs.add(done)
        for step in game.enabled(state):
            shown = step.action != "open" and step.element in names
            after = (*done, names[step.element]) if shown else done
            todo.append((game.fire(state, step), after))
    return runs


def count_edits(first: Sequence[str], second: Sequence[str]) -> int:
    """The least number of insertions and deletions between two sequences."""

    @cache
    def count(n: int, m: int) -> int:
        if n == 0 or m == 0:
            return n + m
        least = min(count(n - 1, m), count(n, m - 1)) + 1
        return min(least, count(n - 1, m - 1)) if first[n - 1] == second[m - 1] else least

    return count(len(first), len(second))


@pytest.mark.parametrize("seed", range(25))
def test_alignments_are_optimal(seed: int) -> None:
    draw = random.Random(seed)
    model, process = draw_tree(make_tree(draw, list(range(4))))
    machine = BehaviourMachine(model, process)
    runs = list_runs(model, process, LONGEST)
    assert runs
    for run in sorted(runs)[:20]:
        assert machine.accepts(run)
    for _ in range(12):
        case = [draw.choice("abcde") for _ in range(draw.randrange(5))]
        alignment = align_case(case, machine)
        assert alignment is not None
        # a run that is longer than the case by more than the cost is no better
        assert len(case) + alignment.cost <= LONGEST + 4
        assert alignment.cost == min(count_edits(case, run) for run in runs)
        assert [m.activity for m in alignment.moves if m.kind != "model"] == case
        aligned = tuple(m.activity for m in alignment.moves if m.kind != "log")
        assert aligned in runs or len(aligned) > LONGEST
        assert machine.accepts(case) == (alignment.cost == 0)


SEQUENCE = Parts((Leaf(0), Leaf(1), Leaf(2)))


def test_moves_and_deviations() -> None:
    machine = BehaviourMachine(*draw_tree(SEQUENCE))
    alignment = align_case("axc", machine)
    assert alignment is not None
    assert alignment.cost == 2
    assert set(list_deviations(alignment)) == {
        Deviation("log", "x", "a"), Deviation("model", "b", "a"),
    } or Deviation("log", "x", "b") in list_deviations(alignment)  # fmt: skip
    assert AlignmentMove("both", "a") in alignment.moves


def test_figures() -> None:
    none = frozenset[int]()
    tree = Parts((Leaf(0), Choice((Leaf(1), Leaf(2)), (none, none))))
    machine = BehaviourMachine(*draw_tree(tree))
    full = measure_conformance([("ab", 3), ("ac", 1)], machine)
    assert (full.fitness, full.precision, full.fitting, full.cases) == (1.0, 1.0, 4, 4)
    half = measure_conformance([("ab", 4)], machine)
    # 4 visits of a state with one way, 4 of one with two of which one is used
    assert half.precision == pytest.approx((4 + 4) / (4 + 8))
    less = measure_conformance([("b", 2), ("ab", 2)], machine)
    # two moves of the model of 2 x (1 + 2) + 2 x (2 + 2)
    assert less.fitness == pytest.approx(1 - 2 / 14)
    assert less.deviations == {Deviation("model", "a", ""): 2}
    assert less.counts == {"a": 2, "b": 4}


def test_limits_are_kept() -> None:
    model, process = draw_tree(Parallel(tuple(Leaf(n) for n in range(8))))
    with pytest.raises(StepsExceeded):
        align_case("", BehaviourMachine(model, process, most_steps=50))
    assert align_case("hgfedcba" * 3, BehaviourMachine(model, process), 10) is None
    conformance = measure_conformance(
        [("abcdefgh", 1), ("hgfedcba" * 3, 2)], BehaviourMachine(model, process), 10
    )
    assert (conformance.cases, conformance.unaligned) == (1, 2)


# -- mining ------------------------------------------------------------------------------------


def mine_log(log: Sequence[Sequence[str]], noise: float) -> tuple[Model, Process]:
    activities: dict[str, int] = {}
    variants = {
        tuple(activities.setdefault(name, len(activities)) for name in names): number
        for names, number in count_sequences(log).items()
    }
    tree = mine_variants(variants, noise)
    labels = {n: StepLabel(name, "", ()) for name, n in activities.items()}
    process = draw_process(tree, labels, prefix="P", name="p", origin="test")
    return Model(id="mined", processes=(process,)), process


@pytest.mark.parametrize("seed", range(25))
def test_a_log_without_noise_fits(seed: int) -> None:
    """With the threshold 0, the process allows every case, whatever the cases are."""
    draw = random.Random(seed)
    log = [[draw.choice("abcde") for _ in range(draw.randrange(1, 7))] for _ in range(6)]
    model, process = mine_log(log, 0)
    machine = BehaviourMachine(model, process)
    assert [case for case in log if not machine.accepts(case)] == []
    assert analyse(process, model).sound == "proved"


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_trees_are_found_again(share: float) -> None:
    figures = []
    for seed in range(10):
        draw = random.Random(seed)
        model, process = draw_tree(Parts((Leaf(8), make_tree(draw, list(range(5))), Leaf(9))))
        found, mined = mine_log(add_noise(play_log(model, process, 400, seed), share, seed), 0.2)
        figures.append(measure_agreement((model, process), (found, mined), 60))
    assert sum(figures) / len(figures) > 0.95
    assert min(figures) > 0.8


def test_a_model_of_pmo(tmp_path: Path) -> None:
    registry = Registry()
    model = load_model(
        str(shared_data("pmo", "bpmn", "06.bpmn")), registry, PassContext(registry=registry)
    )
    assert model is not None
    (process,) = model.processes
    found, mined = mine_log(play_log(model, process, 300, 1), 0.2)
    runs = count_sequences(play_log(model, process, 100, 2))
    assert measure_conformance(runs.items(), BehaviourMachine(found, mined)).fitness == 1
