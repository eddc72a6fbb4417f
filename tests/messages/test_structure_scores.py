"""Scores of structures: the values are worked out by hand, on processes of two to four tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from orgflow.agents.discovery.discover import Discovery, FoundProcess
from orgflow.evaluation.structure_scores import (
    TrueProcesses,
    format_structures,
    match_processes,
    pair_by_evidence,
    pair_by_name,
    score_structure,
    score_structures,
)
from orgflow.store.embedder import HashedWords

from orgflow_ir.model import Event, Flow, Gateway, Model, Process, Task
from orgflow_ir.model.evidence import Evidence


def _evidence(messages: str) -> tuple[Evidence, ...]:
    return tuple(Evidence(document=message, quote="said", agent="test") for message in messages)


def _model(
    tasks: Mapping[str, tuple[str, str]], flows: Sequence[str], gateways: Sequence[str] = ()
) -> Model:
    """A model: name and messages of each task by its id (`s` and `e` are its ends), flows as
    `a b c`, and the ids of its exclusive gateways."""
    nodes = [
        Event(id="s", position="start"),
        *(Task(id=id_, name=name, evidence=_evidence(m)) for id_, (name, m) in tasks.items()),
        *(Gateway(id=id_, gateway_kind="exclusive") for id_ in gateways),
        Event(id="e", position="end"),
    ]
    pairs = [pair for row in flows for pair in zip(row.split(), row.split()[1:], strict=False)]
    arcs = tuple(Flow(id=f"f{n}", source=a, target=b) for n, (a, b) in enumerate(pairs))
    return Model(id="m", processes=(Process(id="p", nodes=tuple(nodes), flows=arcs),))


TRUE = _model(
    {
        "UserTask_1": ("Taste soup", ""),
        "UserTask_2": ("Add salt", ""),
        "UserTask_3": ("Serve soup", ""),
    },
    ["s UserTask_1 x UserTask_2 y UserTask_3 e", "x y"],
    ["x", "y"],
)
"""Soup is tasted, salted or not, and served: flows s-1, 1-2, 1-3, 2-3, 3-e between tasks."""

SHOWS = {"a": ["User_1"], "b": ["User_2"], "c": ["User_1", "User_3"], "d": ["StartEvent_1"]}


def test_a_step_is_paired_with_the_task_of_its_messages() -> None:
    drawn = _model({"q": ("Ask cook", "a"), "r": ("Call", "bc"), "t": ("Go", "d")}, ["s q r t e"])
    # q: {a} with {a, c} is 1/2. r: {b, c} with {b} is 1/2, with {c} 1/2, with {a, c} 1/3.
    pairs = pair_by_evidence(drawn, TRUE, SHOWS)
    assert pairs in ({"q": "UserTask_1", "r": "UserTask_2"}, {"q": "UserTask_1", "r": "UserTask_3"})
    assert pair_by_evidence(drawn, TRUE, {}) == {}
    assert pair_by_name(drawn, TRUE) == {}


def test_few_common_messages_are_no_pair() -> None:
    seven = _model({"q": ("Taste", "abcdefg")}, ["s q e"])
    six = _model({"q": ("Taste", "abcdef")}, ["s q e"])
    shows = {"a": ["UserTask_1"]}
    assert pair_by_evidence(seven, TRUE, shows) == {}  # 1/7 is less than .15
    assert pair_by_evidence(six, TRUE, shows) == {"q": "UserTask_1"}  # 1/6 is more


def test_all_drawings_of_a_step_are_its_task_and_count_as_drawn() -> None:
    drawn = _model(
        {"q": ("Try soup", "a"), "r": ("Give salt", "b"), "q2": ("Try soup", "c")},
        ["s x r q2 y e", "x q y"],
        ["x", "y"],
    )
    pairs = pair_by_evidence(drawn, TRUE, SHOWS)
    assert pairs == {"q": "UserTask_1", "q2": "UserTask_1", "r": "UserTask_2"}
    scores = score_structure(drawn, TRUE, pairs, [["Taste soup", "Add salt", "Serve soup"]])
    assert (scores.drawn, scores.true) == (3, 3)
    assert scores.task == pytest.approx(2 * 2 / (3 + 3))  # two true tasks are drawn, not three
    assert scores.gateway == 1
    # drawn: s-2, s-1, 2-1, 1-e; true: s-1, 1-2, 1-3, 2-3, 3-e; common: s-1
    assert scores.flow == pytest.approx(2 * 1 / (4 + 5))
    assert scores.overall == pytest.approx((2 / 3 + 1 + 2 / 9) / 3)
    # the best run has two of the three tasks and nothing else: P 1, R 2/3
    assert scores.end_to_end == pytest.approx(0.8)


def test_a_row_without_the_choice_by_hand() -> None:
    drawn = _model(
        {"q": ("Taste the soup", "a"), "r": ("Add some salt", "b"), "t": ("Eat", "c")},
        ["s q r t e"],
    )
    by_name = pair_by_name(drawn, TRUE)
    assert by_name == {"q": "UserTask_1", "r": "UserTask_2"}
    both = [["Taste soup", "Add salt", "Serve soup"], ["Taste soup", "Serve soup"]]
    scores = score_structure(drawn, TRUE, by_name, both)
    assert scores.task == pytest.approx(2 / 3)
    assert scores.gateway == 0
    # drawn: s-1, 1-2, 2-t, t-e; common: s-1 and 1-2
    assert scores.flow == pytest.approx(2 * 2 / (4 + 5))
    # the run 1, 2, t: two of three on both sides, 2/3; and one of three, one of two: 2/5
    assert scores.end_to_end == pytest.approx((2 / 3 + 2 / 5) / 2)
    by_evidence = pair_by_evidence(drawn, TRUE, SHOWS)
    assert by_evidence == {"q": "UserTask_1", "r": "UserTask_2", "t": "UserTask_3"}
    scores = score_structure(drawn, TRUE, by_evidence, both)
    # common: s-1, 1-2, 2-3, 3-e; runs: 1, and P 2/3 with R 1
    assert scores.flow == pytest.approx(2 * 4 / (4 + 5))
    assert scores.end_to_end == pytest.approx((1 + 0.8) / 2)


def test_the_true_model_has_full_marks() -> None:
    pairs = pair_by_name(TRUE, TRUE)
    both = [["Taste soup", "Add salt", "Serve soup"], ["Taste soup", "Serve soup"]]
    scores = score_structure(TRUE, TRUE, pairs, both)
    assert (scores.task, scores.gateway, scores.flow, scores.end_to_end) == (1, 1, 1, 1)


def _found(model: Model, *cases: str) -> FoundProcess:
    return FoundProcess(model.processes[0], "Soup", (), (), tuple(tuple(c) for c in cases))


def test_a_process_that_nobody_found_counts_nothing() -> None:
    drawn = _model(
        {"q": ("Try", "a"), "r": ("Season", "b"), "t": ("Eat", "c")},
        ["s q x r y t e", "x y"],
        ["x", "y"],
    )
    process = dict.fromkeys("abc", "soup") | dict.fromkeys("xyz", "bread")
    discovery = Discovery((_found(drawn, "abcx"), _found(drawn, "ab")), ())
    assert match_processes(discovery, process) == {"soup": discovery.processes[0]}
    truth = TrueProcesses(
        {"soup": TRUE, "bread": TRUE},
        {"soup": [["Taste soup", "Serve soup"]], "bread": [["Taste soup"]]},
        {"soup": SHOWS},
    )
    by_evidence, by_name = score_structures(discovery, truth, process, HashedWords())
    assert [by_evidence.mean(f) for f in ("task", "gateway", "flow", "overall", "end_to_end")] == [
        0.5, 0.5, 0.5, 0.5, 0.5,
    ]  # fmt: skip
    assert by_evidence.drawn_share == pytest.approx(3 / 6)
    assert (by_name.mean("task"), by_name.mean("gateway")) == (0, 0.5)
    table = format_structures([("discovered", by_evidence, by_name)])
    assert [line.split()[:3] for line in table.splitlines()] == [
        ["steps", "by", "evidence"],
        ["discovered", "0.50", "0.500"],
        ["steps", "by", "name"],
        ["discovered", "0.50", "0.000"],
    ]
