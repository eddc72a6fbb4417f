"""Trees of traces: each cut and rule by an example, and runs by the token game as the referee."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orgflow_ir.flow.soundness.analysis import analyse
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.mining.detail_levels import find_detail_levels
from orgflow_ir.mining.drawn_tree import StepLabel, draw_process
from orgflow_ir.mining.event_rows import EventRow, Trace, group_traces
from orgflow_ir.mining.inductive_miner import mine_row, mine_tree
from orgflow_ir.mining.process_tree import (
    EMPTY,
    Choice,
    Leaf,
    Loop,
    Parallel,
    Tree,
    join_ways,
    list_leaves,
)
from orgflow_ir.mining.process_tree import Sequence as Parts
from orgflow_ir.mining.tree_replay import measure_fitness, replays_steps
from orgflow_ir.model import Gateway, Model, Process, Task
from orgflow_ir.model.evidence import Evidence

LETTERS = "abcdefgh"


def _traces(*rows: str) -> tuple[Trace, ...]:
    return tuple(Trace(n, tuple(map(LETTERS.index, row))) for n, row in enumerate(rows))


def _show(tree: Tree) -> str:
    """A tree as text: `(b | c)` is a choice, `(a & b)` parallel, `(a * b)` a loop, `-` nothing."""
    match tree:
        case Leaf():
            return LETTERS[tree.step]
        case Choice():
            return f"({' | '.join(map(_show, tree.options))})"
        case Parallel():
            return f"({' & '.join(map(_show, tree.parts))})"
        case Loop():
            return f"({_show(tree.body)} * {_show(tree.again)})"
    return " ".join(map(_show, tree.parts)) or "-"


def _mine(*rows: str) -> str:
    return _show(mine_tree(_traces(*rows)))


# -- cuts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "tree"),
    [
        ([], "-"),
        (["a"], "a"),
        (["abc"], "a b c"),
        (["abd", "acd"], "a (b | c) d"),
        (["ab", "cd"], "(a b | c d)"),
        (["abc", "ac"], "a (b | -) c"),
        (["abc", "ac", "adc"], "a (b | d | -) c"),
        (["abc", "acb", "abc"], "a (b & c)"),
        (["abac"], "(a * b) c"),
        (["abcabc"], "a b c"),
        (["abcdbce", "abce"], "a (b c * d) e"),
        (["abcbd", "acbd"], "a b c d"),
        (["abcd", "acbd", "acbd", "d"], "(a (b & c) | -) d"),
    ],
)
def test_cuts(rows: Sequence[str], tree: str) -> None:
    assert _mine(*rows) == tree


# -- rules -------------------------------------------------------------------------------------


def test_neighbours_that_the_same_cases_lack_are_one_option() -> None:
    assert _mine("abcd", "ad") == "a (b c | -) d"
    assert _mine("abcd", "abd", "ad") == "a (b | -) (c | -) d"


def test_a_second_message_is_no_second_time() -> None:
    rows = [EventRow(0, 0, 1.0), EventRow(0, 1, 2.0), EventRow(0, 1, 3.0), EventRow(0, 2, 4.0)]
    assert group_traces(rows) == (Trace(0, (0, 1, 2)),)
    assert _mine("aa") == "a"


def test_events_are_in_the_order_of_time_and_ties_in_that_of_rows() -> None:
    rows = [EventRow(1, 0, 5.0), EventRow(0, 1, 5.0), EventRow(0, 0, 5.0), EventRow(0, 2, 1.0)]
    assert group_traces(rows) == (Trace(0, (2, 1, 0)), Trace(1, (0,)))


def test_a_choice_in_a_choice_is_one_with_one_empty_way() -> None:
    inner = Choice((Leaf(1), EMPTY), (frozenset((0,)), frozenset((1,))))
    tree = join_ways((EMPTY, inner, Leaf(2)), (frozenset((3,)), frozenset((0, 1)), frozenset((2,))))
    assert _show(tree) == "(b | c | -)"
    assert isinstance(tree, Choice)
    assert tree.cases == (frozenset((0,)), frozenset((2,)), frozenset((1, 3)))


def test_own_steps_in_place_of_an_option_are_the_other_way() -> None:
    # b and c were never in one case, and others change places: the rest is a row by mean place
    assert _show(mine_row(_traces("abd", "acd"))) == "a (b | c) d"
    assert _show(mine_row(_traces("abd", "acd", "ad"))) == "a (b | -) (c | -) d"


def test_a_changed_order_is_parallel_in_three_cases_only() -> None:
    assert _mine("ab", "ba") == "a b"
    assert _mine("ab", "ba", "ab") == "(a & b)"


def test_cases_of_ways() -> None:
    tree = mine_tree(_traces("abd", "acd", "ad", "abd"))
    assert isinstance(tree, Parts)
    choice = tree.parts[1]
    assert isinstance(choice, Choice)
    assert choice.cases == (frozenset((0, 3)), frozenset((1,)), frozenset((2,)))


def test_there_is_no_flower() -> None:
    tree = mine_tree(_traces("abcd", "dbca", "cadb", "b"))
    assert sorted(list_leaves(tree)) == [0, 1, 2, 3]
    assert not replays_steps(tree, (0, 0, 1, 2))


def test_a_row_is_in_the_order_of_most_cases() -> None:
    # by mean place alone, the case of a single step would put `d` before `c`
    assert _show(mine_row(_traces("abcd", "d"))) == "(a b c | -) d"
    assert _show(mine_row(_traces("ab", "ba", "ab"))) == "a b"


def test_steps_of_one_verb_in_place_of_each_other_may_be_one_step() -> None:
    verbs = {0: "open", 1: "check", 2: "check", 3: "check", 4: "close"}
    doors_windows = mine_tree(_traces("abce", "ade"))
    assert _show(doors_windows) == "a (b c | d) e"
    assert find_detail_levels(doors_windows, verbs) == (frozenset((1, 2, 3)),)
    assert find_detail_levels(doors_windows, verbs | {3: "skip"}) == ()
    assert find_detail_levels(mine_tree(_traces("abce", "ae")), verbs) == ()


# -- the referee: the token game plays the drawn process ---------------------------------------


def _label(step: int) -> StepLabel:
    quote = Evidence(document=f"message {LETTERS[step]}", quote="done", agent="test")
    return StepLabel(LETTERS[step], "clerk" if step % 2 else "", (quote,))


def _draw(tree: Tree) -> Process:
    labels = {step: _label(step) for step in list_leaves(tree)}
    return draw_process(tree, labels, prefix="p", name="Process", origin="test")


def _plays(process: Process, names: Sequence[str]) -> bool:
    """Whether the process has a complete run with tasks of these names, in this order: a search
    over the states of the token game, in which everything else than a task is silent."""
    game = Game(Model(id="m", processes=(process,)))
    tasks = {node.id: node.name for node in process.nodes if isinstance(node, Task)}
    todo = [(game.initial(process.id), 0)]
    seen = set(todo)
    while todo:
        state, at = todo.pop()
        if at == len(names) and game.outcome(state) == "completed":
            return True
        for step in game.enabled(state):
            place = at
            if step.element in tasks and step.action == "done":
                if at == len(names) or tasks[step.element] != names[at]:
                    continue
                place += 1
            following = (game.fire(state, step), place)
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return False


def _check_drawing(tree: Tree, process: Process) -> None:
    """A drawn process is sound, has each step once, and cites a message with each element."""
    leaves = list(list_leaves(tree))
    tasks = [node.name for node in process.nodes if isinstance(node, Task)]
    assert sorted(tasks) == sorted(LETTERS[step] for step in set(leaves))
    assert len(leaves) == len(set(leaves))
    if leaves:
        assert all(element.evidence for element in (*process.nodes, *process.flows))
    report = analyse(process)
    assert report.sound == "proved", report
    gateways = [node for node in process.nodes if isinstance(node, Gateway)]
    for gateway in gateways:
        before = sum(flow.target == gateway.id for flow in process.flows)
        after = sum(flow.source == gateway.id for flow in process.flows)
        assert (before == 1) != (after == 1), "a gateway either splits or joins"


ROWS = st.lists(st.text("abcdef", max_size=7), min_size=1, max_size=5)


@given(ROWS)
def test_any_rows_become_a_sound_process_with_each_step_once(rows: list[str]) -> None:
    log = _traces(*rows)
    for tree in (mine_tree(log), mine_row(log)):
        assert set(list_leaves(tree)) == {step for trace in log for step in trace.steps}
        _check_drawing(tree, _draw(tree))


@given(st.lists(st.sets(st.sampled_from("abcdef")), min_size=1, max_size=5))
def test_cases_that_agree_on_the_order_are_all_replayed(cases: list[set[str]]) -> None:
    rows = ["".join(sorted(case)) for case in cases]
    for tree in (mine_tree(_traces(*rows)), mine_row(_traces(*rows))):
        process = _draw(tree)
        assert all(_plays(process, row) for row in rows)
        assert measure_fitness(tree, _traces(*rows)) == 1


@given(ROWS)
@example(["c", "aca", "abba"])
def test_the_replay_agrees_with_the_token_game(rows: list[str]) -> None:
    log = _traces(*rows)
    tree = mine_tree(log)
    process = _draw(tree)
    others = [row[::-1] for row in rows] + [row[:-1] for row in rows] + [row * 2 for row in rows]
    for row in (*rows, *others):
        steps = tuple(map(LETTERS.index, row))
        assert replays_steps(tree, steps) == _plays(process, row), (row, _show(tree))


def _trees(steps: str) -> st.SearchStrategy[str]:
    """Trees over steps as regular expressions of single letters."""
    if len(steps) == 1:
        return st.just(steps)
    return st.integers(1, len(steps) - 1).flatmap(
        lambda cut: st.tuples(
            st.sampled_from("sco"), _trees(steps[:cut]), _trees(steps[cut:])
        ).map(lambda parts: f"[{parts[0]}{parts[1]}{parts[2]}]")
    )  # fmt: skip


def _parse(text: Iterator[str]) -> Tree:
    letter = next(text)
    if letter != "[":
        return Leaf(LETTERS.index(letter))
    kind, first, second = next(text), _parse(text), _parse(text)
    assert next(text) == "]"
    if kind == "s":
        return Parts((first, second))
    return (
        Choice((first, second), (frozenset(), frozenset())) if kind == "c" else Loop(first, second)
    )


def _runs(tree: Tree) -> list[tuple[int, ...]]:
    """Runs of a tree that together show everything it does: a loop once and twice."""
    match tree:
        case Leaf():
            return [(tree.step,)]
        case Choice():
            return [run for way in tree.options for run in _runs(way)]
        case Loop():
            bodies, others = _runs(tree.body), _runs(tree.again)
            return [*bodies, *(a + b + c for a in bodies for b in others for c in bodies)]
        case Parallel():
            raise NotImplementedError
    first, second = tree.parts
    return [a + b for a in _runs(first) for b in _runs(second)]


@given(_trees("abcde"))
def test_trees_are_mined_back_from_their_runs(text: str) -> None:
    tree = _parse(iter(text))
    runs = _runs(tree)
    mined = mine_tree(Trace(n, run) for n, run in enumerate(runs))
    assert sorted(list_leaves(mined)) == list(range(5))
    process = _draw(mined)
    if all(first != second for run in runs for first, second in pairwise(run)):
        assert all(_plays(process, [LETTERS[step] for step in run]) for run in runs[:40])


def test_a_step_without_a_label_is_an_error() -> None:
    with pytest.raises(KeyError):
        draw_process(Leaf(0), {}, prefix="p", name="", origin="test")


def test_labels_and_performers_are_drawn() -> None:
    process = _draw(mine_tree(_traces("abd", "acd")))
    (lane,) = process.lanes
    assert lane.name == "clerk"
    assert set(lane.members) == {node.id for node in process.nodes}
