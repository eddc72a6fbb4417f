"""The layout: nothing on top of each other, branches in order, back to the row of the split."""

from __future__ import annotations

import pytest
from model_gen import random_model
from n8n_compiled import workflows
from orgflow.backends.n8n.emit.layout import banded, grid
from seeds import seeds


def test_a_chain_is_a_row() -> None:
    assert grid(["a", "b", "c"], [("a", "b"), ("b", "c")]) == {
        "a": (0, 0),
        "b": (1, 0),
        "c": (2, 0),
    }


def test_branches_below_each_other_and_back_to_the_row_of_the_split() -> None:
    cells = grid(
        ["s", "g", "a", "b", "c", "j", "e"],
        [("s", "g"), ("g", "a"), ("g", "b"), ("g", "c"), ("a", "j"), ("b", "j"), ("c", "j"),
         ("j", "e")],
    )  # fmt: skip
    assert [cells[n][1] for n in "abc"] == [0, 1, 2]
    assert cells["j"] == (3, 0)
    assert cells["e"] == (4, 0)


def test_a_wire_that_skips_a_column_keeps_its_row_free() -> None:
    cells = grid(["s", "g", "a", "j"], [("s", "g"), ("g", "j"), ("g", "a"), ("a", "j")])
    assert cells["a"][1] == 1, "the wire from g to j runs along row 0"
    assert cells["j"][1] == 0


def test_loops_do_not_pull_nodes_back() -> None:
    cells = grid(["s", "a", "g", "e"], [("s", "a"), ("a", "g"), ("g", "e"), ("g", "a")])
    assert [cells[n][0] for n in ("s", "a", "g", "e")] == [0, 1, 2, 3]


def test_nodes_nothing_leads_to_are_placed_too() -> None:
    cells = grid(["s", "x", "y"], [("x", "y"), ("y", "x")])
    assert len(set(cells.values())) == 3


def test_lanes_are_bands() -> None:
    cells = {"a": (0, 0), "b": (1, 0), "c": (2, 0), "d": (1, 1)}
    lane = {"a": "one", "b": "two", "c": "one", "d": "two"}
    new, bands = banded(cells, lane, ["one", "two", "three"])
    assert bands == {"one": (0, 0), "two": (1, 2)}
    assert new == {"a": (0, 0), "b": (1, 1), "c": (2, 0), "d": (1, 2)}


@pytest.mark.parametrize("seed", seeds(40))
def test_random_models_have_no_overlaps(seed: int) -> None:
    model = random_model(seed, 10 + seed * 3)
    for workflow in workflows(model):
        spots = [tuple(n["position"]) for n in workflow["nodes"] if "sticky" not in n["type"]]
        assert len(set(spots)) == len(spots)
        names = {n["name"]: n["position"] for n in workflow["nodes"]}
        for ports in workflow["connections"].values():
            for targets in ports["main"]:
                heights = [names[t["node"]][1] for t in targets]
                assert heights == sorted(heights), "n8n runs targets from top to bottom"
