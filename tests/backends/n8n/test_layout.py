"""The layout: nothing on top of each other, branches in order, back to the row of the split."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from canvas_metrics import boxes, measure, wires
from game_models import read_bpmn
from model_gen import random_model
from n8n_compiled import workflows
from orgflow.backends.n8n.emit.layout import assign_cells, group_rows_by_lane
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from played_models import ONE_EXECUTION
from seeds import seeds
from shared_data import shared_cases, shared_data
from variable_runs import compiled
from variable_scenarios import scenarios

from orgflow_ir.model import Event, Flow, Gateway, Lane, Model, Process, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_a_chain_is_a_row() -> None:
    assert assign_cells(["a", "b", "c"], [("a", "b"), ("b", "c")]) == {
        "a": (0, 0),
        "b": (1, 0),
        "c": (2, 0),
    }


def test_branches_below_each_other_and_back_to_the_row_of_the_split() -> None:
    cells = assign_cells(
        ["s", "g", "a", "b", "c", "j", "e"],
        [("s", "g"), ("g", "a"), ("g", "b"), ("g", "c"), ("a", "j"), ("b", "j"), ("c", "j"),
         ("j", "e")],
    )  # fmt: skip
    assert [cells[n][1] for n in "abc"] == [0, 1, 2]
    assert cells["j"] == (3, 0)
    assert cells["e"] == (4, 0)


def test_a_wire_that_skips_a_column_keeps_its_row_free() -> None:
    cells = assign_cells(["s", "g", "a", "j"], [("s", "g"), ("g", "j"), ("g", "a"), ("a", "j")])
    assert cells["a"][1] == 1, "the wire from g to j runs along row 0"
    assert cells["j"][1] == 0


def test_loops_do_not_pull_nodes_back() -> None:
    cells = assign_cells(["s", "a", "g", "e"], [("s", "a"), ("a", "g"), ("g", "e"), ("g", "a")])
    assert [cells[n][0] for n in ("s", "a", "g", "e")] == [0, 1, 2, 3]


def test_nodes_nothing_leads_to_are_placed_too() -> None:
    cells = assign_cells(["s", "x", "y"], [("x", "y"), ("y", "x")])
    assert len(set(cells.values())) == 3


def test_lanes_are_bands() -> None:
    cells = {"a": (0, 0), "b": (1, 0), "c": (2, 0), "d": (1, 1)}
    lane = {"a": "one", "b": "two", "c": "one", "d": "two"}
    new, bands = group_rows_by_lane(cells, lane, ["one", "two", "three"])
    assert bands == {"one": (0, 0), "two": (1, 2)}
    assert new == {"a": (0, 0), "b": (1, 1), "c": (2, 0), "d": (1, 2)}


@pytest.mark.parametrize("seed", seeds(40))
def test_random_models_have_no_overlaps(seed: int) -> None:
    model = random_model(seed, 10 + seed * 3)
    made = workflows(model)
    assert made
    for workflow in made:
        spots = [tuple(n["position"]) for n in workflow["nodes"] if "sticky" not in n["type"]]
        assert len(set(spots)) == len(spots)
        names = {n["name"]: n["position"] for n in workflow["nodes"]}
        for ports in workflow["connections"].values():
            for targets in ports["main"]:
                heights = [names[t["node"]][1] for t in targets]
                assert heights == sorted(heights), "n8n runs targets from top to bottom"


def test_of_branches_past_the_others_the_shortest_is_on_top() -> None:
    main = [f"m{number}" for number in range(8)]
    wires = [("s", "g"), ("g", "m0"), *pairwise(main), ("m7", "e"), ("g", "x"), ("x", "e")]
    cells = assign_cells(["s", "g", *main, "x", "e"], wires, choices=["g"])
    assert cells["x"][1] == cells["e"][1] == 0, "the long wire is straight"
    assert {cells[name][1] for name in main} == {1}
    parallel = assign_cells(["s", "g", *main, "x", "e"], wires)
    assert parallel["m0"][1] < parallel["x"][1], "n8n runs them in this order"


def test_rows_that_share_no_column_are_one_row_of_a_lane() -> None:
    cells = {"a": (0, 0), "b": (1, 1), "c": (2, 2), "d": (2, 1)}
    new, bands = group_rows_by_lane(cells, dict.fromkeys("abcd", "one"), ["one"])
    assert new == {"a": (0, 0), "b": (1, 0), "c": (2, 1), "d": (2, 0)}
    new, bands = group_rows_by_lane({"a": (0, 0), "b": (1, 3)}, dict.fromkeys("ab", "one"), ["one"])
    assert new == {"a": (0, 0), "b": (1, 0)}
    assert bands == {"one": (0, 0)}


def _wide(branches: int) -> Model:
    """A decision with so many branches of one task, below each other, in a lane."""
    names = [f"Way {number}" for number in range(branches)]
    nodes = (
        Event(id="s", position="start"),
        Gateway(id="g", name="Which?", gateway_kind="exclusive"),
        *(Task(id=f"t{n}", name=name) for n, name in enumerate(names)),
        Gateway(id="j", gateway_kind="exclusive"),
        Event(id="e", position="end"),
    )
    flows = (
        Flow(id="f", source="s", target="g"),
        *(Flow(id=f"a{n}", name=name, source="g", target=f"t{n}") for n, name in enumerate(names)),
        *(Flow(id=f"b{n}", source=f"t{n}", target="j") for n in range(branches)),
        Flow(id="z", source="j", target="e"),
    )
    lanes = (Lane(id="l", name="All", members=tuple(n.id for n in nodes)),)
    return Model(id="m", processes=(Process(id="p", nodes=nodes, flows=flows, lanes=lanes),))


@pytest.mark.parametrize("branches", [2, 5, 6, 12])
def test_high_nodes_cover_nothing_and_are_entered_straight(branches: int) -> None:
    (workflow,) = workflows(_wide(branches))
    found = measure(workflow)
    assert (found.overlaps, found.labels, found.through, found.strays) == (0, 0, 0, 0)
    (into,) = (wire for wire in wires(workflow) if wire.target == "Which?")
    assert branches > 4 or into.line[0][1] == into.line[-1][1]


@pytest.mark.parametrize("seed", seeds(40))
def test_outputs_stand_in_the_order_of_their_targets(seed: int) -> None:
    model = random_model(seed, 12 + seed * 2)
    for workflow in workflows(model):
        body = boxes(workflow)
        for name, ports in workflow["connections"].items():
            node = next(n for n in workflow["nodes"] if n["name"] == name)
            rules = node["parameters"].get("rules", {}).get("values", ())
            if any("===" in json.dumps(rule) for rule in rules):
                continue  # coded conditions: the first that holds counts
            ahead = [
                [body[end["node"]][1] for end in ends if body[end["node"]][0] > body[name][0]]
                for ends in ports["main"][: len(rules)]
            ]
            tops = [min(one) for one in ahead if one]
            assert tops == sorted(tops), name


@pytest.mark.parametrize(
    ("name", "decision", "first"),
    shared_cases([("25", "Is any job offer received?", "Yes"), ("47", "free spots?", "no")], "pmo"),
)
def test_outputs_that_variables_are_read_from_are_ordered_too(
    name: str, decision: str, first: str
) -> None:
    """What reads an output by its number reads the one that leads to it."""
    model = read_bpmn(shared_data("pmo", "bpmn", f"{name}.bpmn"))
    (workflow,) = workflows(model, PassContext(options=dict(ONE_EXECUTION)))
    nodes = {node["name"]: node for node in workflow["nodes"]}
    rules = nodes[decision]["parameters"]["rules"]["values"]
    assert rules[0]["outputKey"] == first
    read = re.compile(re.escape(f"$('{decision}').first(") + r"(\d+)\)")
    outputs = workflow["connections"][decision]["main"]
    found = [
        (node["name"].removesuffix(" data"), int(number))
        for node in workflow["nodes"]
        for number in read.findall(json.dumps(node["parameters"]))
    ]
    assert found
    for reader, number in found:
        (end,) = outputs[number]
        assert end["node"].startswith(reader), (end, reader)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/model.*")), ids=lambda p: p.parent.name)
def test_examples_are_readable(path: Path, registry: Registry) -> None:
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx, diagram=True)
    assert model is not None
    made = compile_model(model, registry.backends["n8n"], ctx)
    assert made is not None
    for artifact in made.artifacts:
        workflow = json.loads(artifact.text)
        found = measure(workflow)
        assert (found.overlaps, found.labels, found.strays) == (0, 0, 0)
        lanes = [n for n in workflow["nodes"] if n["name"].startswith("Lane ")]
        assert found.notes == len(lanes) + 1, "one note beside the lanes"


@pytest.mark.parametrize(
    "name", ["c6", "and in a loop in and", "waits, set inside", "inclusive loop", "bridge a"]
)
def test_nodes_that_keep_variables_are_in_nobodys_way(name: str) -> None:
    """They stand right before what they lead to: else wires from short branches to a join run
    through nodes of the longer ones."""
    found = measure(compiled({s.name: s for s in scenarios()}[name]).root.workflow)
    assert (found.overlaps, found.labels, found.through) == (0, 0, 0)
