"""Drawings as a process modeller draws them: loops, branches, bypasses, and the examples' own."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest
from bpmn_trips import read_file
from drawing_metrics import measure

from orgflow_ir.layout.keep import draw_model
from orgflow_ir.layout.text import wrap_text
from orgflow_ir.model import (
    Event,
    EventDefinition,
    Flow,
    Gateway,
    Lane,
    Model,
    Node,
    Pool,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.diagram import Diagram

EXAMPLES = Path(__file__).parents[3] / "examples"
Box = tuple[float, float, float, float]


def gate(name: str) -> Gateway:
    return Gateway(id=name, gateway_kind="exclusive")


def model(nodes: list[Node], *pairs: str, lanes: tuple[Lane, ...] = ()) -> Model:
    flows = tuple(Flow(id=p, source=p.split()[0], target=p.split()[1]) for p in pairs)
    return Model(id="M", processes=(Process(id="P", nodes=tuple(nodes), flows=flows, lanes=lanes),))


def boxes(drawing: Diagram) -> dict[str, Box]:
    return {s.element: s.bounds for s in drawing.shapes}


def lines(drawing: Diagram) -> dict[str, tuple[tuple[float, float], ...]]:
    return {e.element: e.waypoints for e in drawing.edges}


def middle(box: Box) -> tuple[float, float]:
    return box[0] + box[2] / 2, box[1] + box[3] / 2


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/model.bpmn")), ids=lambda p: p.parent.name)
def test_the_examples_are_well_drawn(path: Path) -> None:
    example = read_file(path, diagram=True)
    assert example.diagram is not None
    for drawing in (example.diagram, draw_model(example.replace(diagram=None))):
        found = measure(example, drawing)._asdict()
        for key in ("nodes", "edges", "bends", "crossings"):
            del found[key]
        assert set(found.values()) == {0}, found
    assert measure(example, example.diagram).crossings == 0


def test_an_end_is_the_last_column_of_a_loop_with_two_ways_in() -> None:
    start, end = Event(id="s", position="start"), Event(id="e", position="end")
    nodes: list[Node] = [start, gate("known"), gate("fix"), Task(id="apply"), gate("solved"), end,
                         gate("search"), Task(id="find")]  # fmt: skip
    drawing = draw_model(model(
        nodes, "s known", "known fix", "known search", "search find", "find fix", "fix apply",
        "apply solved", "solved e", "solved search",
    ))  # fmt: skip
    at = boxes(drawing)
    assert at["e"][0] == max(b[0] for b in at.values())
    assert at["find"][0] < at["fix"][0]


def test_the_rows_of_bypasses_that_run_above_are_given_back() -> None:
    """A split with a bypass in its first branch: the second branch stands right below."""
    nodes: list[Node] = [gate("split"), gate("maybe"), Task(id="extra"), gate("done"),
                         Task(id="other"), gate("join")]  # fmt: skip
    drawing = draw_model(model(
        nodes, "split maybe", "maybe extra", "extra done", "maybe done", "done join",
        "split other", "other join",
    ))  # fmt: skip
    at = boxes(drawing)
    assert min(y for _, y in lines(drawing)["maybe done"]) < at["extra"][1]
    assert 0 < at["other"][1] - at["extra"][1] - at["extra"][3] < 60


@pytest.mark.parametrize("lanes", [(), (Lane(id="l", members=tuple("agbcjxe")),)])
def test_branches_leave_a_gateway_at_its_bottom(lanes: tuple[Lane, ...]) -> None:
    """Nothing of another branch stands below a split or a join, where lines run down."""
    tasks: list[Node] = [Task(id=name) for name in "bcxy"]
    nodes = [gate("a"), gate("g"), gate("j"), *tasks, Event(id="e", position="end")]
    drawing = draw_model(
        model(nodes, "a g", "a x", "x y", "g b", "g c", "b j", "c j", "j e", lanes=lanes)
    )
    at, drawn_lines = boxes(drawing), lines(drawing)
    assert drawn_lines["g c"][0] == (middle(at["g"])[0], at["g"][1] + at["g"][3])
    assert drawn_lines["c j"][-1] == (middle(at["j"])[0], at["j"][1] + at["j"][3])


def test_a_loop_back_from_below_runs_below() -> None:
    nodes: list[Node] = [Task(id="a"), gate("g"), Task(id="b"), Event(id="e", position="end"),
                         Task(id="again")]  # fmt: skip
    drawing = draw_model(model(nodes, "a g", "g b", "b e", "g again", "again g"))
    assert measure(model(nodes), drawing).crossings == 0
    assert max(y for _, y in lines(drawing)["again g"]) > boxes(drawing)["again"][1] + 80


def test_flows_between_the_same_two_nodes_are_lines_of_their_own() -> None:
    for first in (gate("g"), Task(id="g"), Event(id="g", position="start")):
        process = model([first, Task(id="t")], "g t").processes[0]
        more = tuple(Flow(id=f"f{n}", source="g", target="t", name=f"n {n}") for n in range(2))
        drawing = draw_model(
            Model(id="M", processes=(process.replace(flows=process.flows + more),))
        )
        assert len(set(lines(drawing).values())) == 3


def test_a_boundary_event_that_leads_back_to_its_host() -> None:
    event = Event(
        id="b", position="boundary", attached_to="t", definitions=(EventDefinition(kind="timer"),)
    )
    found = model([Task(id="s"), Task(id="t"), event], "s t", "b t")
    drawing = draw_model(found)
    assert measure(found, drawing).missing == 0
    at, line = boxes(drawing), lines(drawing)["b t"]
    assert line[0] == (middle(at["b"])[0], at["b"][1] + at["b"][3])
    assert line[-1] == (at["t"][0], middle(at["t"])[1])
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(line))


def test_open_sub_processes_in_each_other_take_no_longer_each() -> None:
    def nested(depth: int) -> SubProcess:
        inner: list[Node] = [Task(id=f"t{depth}"), gate(f"g{depth}"), Task(id=f"u{depth}"),
                             gate(f"j{depth}")]  # fmt: skip
        if depth:
            inner.append(nested(depth - 1))
        names = [f"t{depth} g{depth}", f"g{depth} u{depth}", f"u{depth} j{depth}",
                 f"g{depth} j{depth}"]  # fmt: skip
        flows = tuple(Flow(id=n, source=n.split()[0], target=n.split()[1]) for n in names)
        return SubProcess(id=f"s{depth}", nodes=tuple(inner), flows=flows)

    begin = time.process_time()
    draw_model(Model(id="M", processes=(Process(id="P", nodes=(nested(18),)),)))
    assert time.process_time() - begin < 5


def test_a_split_into_thousands() -> None:
    tasks: list[Node] = [Task(id=f"t{n}", name="x") for n in range(1_500)]
    pairs = [f"g t{n}" for n in range(1_500)] + [f"t{n} j" for n in range(1_500)]
    begin = time.process_time()
    draw_model(model([gate("g"), gate("j"), *tasks], *pairs))
    assert time.process_time() - begin < 10


def test_long_words_are_cut_in_linear_time() -> None:
    begin = time.process_time()
    block = wrap_text("x" * 200_000, 90.0, 100_000)
    assert time.process_time() - begin < 2
    assert "".join(block.lines) == "x" * 200_000


def test_a_task_with_a_long_name_stays_a_box() -> None:
    drawing = draw_model(model([Task(id="t", name="word " * 1_000)]))
    assert boxes(drawing)["t"][3] < 400


def test_a_pool_around_lanes_in_lanes() -> None:
    lanes = (Lane(id="a", name="A"), Lane(id="b", name="B", parent="a", members=("t",)),
             Lane(id="c", name="C", parent="a", members=("u",)))  # fmt: skip
    found = model([Task(id="t"), Task(id="u")], "t u", lanes=lanes)
    found = found.replace(pools=(Pool(id="p", name="Pool", process="P"),))
    at = boxes(draw_model(found))
    for outer, inner in (("p", "a"), ("a", "b"), ("a", "c"), ("b", "t"), ("c", "u")):
        assert at[outer][0] < at[inner][0]
        assert at[outer][1] <= at[inner][1]
        assert at[inner][1] + at[inner][3] <= at[outer][1] + at[outer][3]
    assert at["b"][1] + at["b"][3] == at["c"][1]
