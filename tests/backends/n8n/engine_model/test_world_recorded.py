"""The world model repeats what a server did with Data Tables (`benchmarks/record_tables.py`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from orgflow.backends.n8n.engine_model.tables import UnknownOperation, make_table, row_fields
from orgflow.backends.n8n.engine_model.world import Item, World, make_item
from orgflow.backends.n8n.engine_model.world_model import WorldModel
from orgflow.backends.n8n.node_types.data_table import Scalar
from table_scripts import COLUMNS, chained, plain_node

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "recorded" / "tables.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


class Named(WorldModel):
    """The recordings call the execution `me`."""

    def read_code(self, world: World, place: int, item: Item, code: str) -> Scalar:
        return "me" if code == "$execution.id" else super().read_code(world, place, item, code)


def run_case(case: dict[str, Any]) -> tuple[list[dict[str, Scalar]], dict[str, int]]:
    """The rows after a case, and the items by node. The server was one on SQLite."""
    model = Named({"w": chained([plain_node("T", "webhook", {}), *case["nodes"]])})
    table = make_table("t", COLUMNS, case["rows"], reuses_ids=True)
    items = tuple(make_item(item) for item in case["items"])
    world = model.started(model.initial(tables=[table]), "w", "T", items)
    counts: dict[str, int] = {}
    while moves := model.moves(world):
        (move,) = moves
        world, _, events = model.advance(world, move)
        for event in events:
            if event.action == "run" and event.node != "T":
                counts[event.node] = event.outputs[0]
    table = world.table("t")
    return [row_fields(table, row) for row in table.rows], counts


def is_unknown(case: dict[str, Any]) -> bool:
    """Whether the model does not determine an operation of a case."""
    try:
        run_case(case)
    except UnknownOperation:
        return True
    return False


KNOWN = [case for case in CASES if not is_unknown(case)]


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: str(case["seed"]))
def test_the_model_repeats_a_recording(case: dict[str, Any]) -> None:
    assert run_case(case) == (case["after"], case["counts"])


def test_most_recordings_are_known() -> None:
    assert len(KNOWN) > 0.8 * len(CASES)


def test_every_operation_is_recorded() -> None:
    nodes = [node["parameters"] for case in KNOWN for node in case["nodes"]]
    assert {node["operation"] for node in nodes} == {
        "insert", "get", "update", "upsert", "deleteRows",
    }  # fmt: skip
    listed = [c for node in nodes for c in node.get("filters", {}).get("conditions", ())]
    assert {condition["condition"] for condition in listed} == {
        "eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "isEmpty", "isNotEmpty",
    }  # fmt: skip
