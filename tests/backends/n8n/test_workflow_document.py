"""The one parse of n8n workflows: forms of files, odd nodes and wires, faults with their places."""

from __future__ import annotations

import json
from typing import Any

import pytest
from orgflow.backends.n8n.format.workflow_document import (
    Wire,
    WorkflowDocument,
    workflows_in,
    workflows_of,
)

from orgflow_ir.model.json_source_map import parse_json

Json = dict[str, Any]


def node(name: object, type: object = "n8n-nodes-base.noOp", **more: Any) -> Json:
    return {"name": name, "type": type, **more}


def flow(nodes: list[Any], wires: list[tuple[str, str]] | None = None, **more: Any) -> Json:
    connections: Json = {}
    for source, target in wires or ():
        ends = connections.setdefault(source, {"main": [[]]})["main"][0]
        ends.append({"node": target, "type": "main", "index": 0})
    return {"nodes": nodes, "connections": connections, **more}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (flow([]), ()),
        ([flow([])], (0,)),
        ({"data": [flow([])]}, ("data", 0)),
        ({"workflow": flow([])}, ("workflow",)),
        ({"workflows": [flow([])]}, ("workflows", 0)),
        ([{"id": 7, "workflowData": flow([])}], (0, "workflowData")),
    ],
    ids=["export", "list", "api page", "template", "library", "executions"],
)
def test_workflows_are_found_in_what_is_put_around_them(value: Any, path: Any) -> None:
    (found,) = workflows_in(parse_json("w.json", json.dumps(value).encode()))
    assert found.path == path
    assert len(workflows_of(value)) == 1
    assert not workflows_of({"data": {"resultData": {"nodes_": []}}})


def test_names_are_made_unique_and_wires_mean_the_first() -> None:
    note = node("A", "n8n-nodes-base.stickyNote")
    found = WorkflowDocument(flow([note, node("A"), node("A"), node("")], [("A", "Node 4")]))
    assert list(found.steps) == ["A", "A (2)", "Node 4"]
    assert [n.key for n in found.nodes] == ["A (3)", "A", "A (2)", "Node 4"]
    assert [n.index for n in found.nodes] == [-1, 0, -1, -1]  # n8n runs one of a name
    assert found.wires == [Wire("main", "A", 0, "Node 4", 0)]
    assert [(f.kind, f.path) for f in found.faults] == [
        ("repeated-name", ("nodes", 1)),
        ("missing", ("nodes", 3)),
    ]


def test_what_is_no_connection_is_kept_with_the_reason() -> None:
    ends = [None, [3, {"node": 4}, {"node": "A", "index": -1}, {"node": "B"}, {"node": "A"}], "x"]
    found = WorkflowDocument(
        {"nodes": [node("A")], "connections": {"A": {"main": ends, "odd": 5}, "C": []}}
    )
    assert [(w.output, w.input) for w in found.wires] == [(1, 0)]
    assert found.wires[0].path == ("connections", "A", "main", 1, 4)
    assert found.lost == [
        ["A", "main", 1, 3],
        ["A", "main", 1, {"node": 4}],
        ["A", "main", 1, {"node": "A", "index": -1}],
        ["A", "main", 1, {"node": "B"}],
        ["A", "main", 2, "x"],
        ["A", "odd", None, 5],
        ["C", None, None, []],
    ]
    assert [f.kind for f in found.faults] == ["wrong-type"] * 3 + ["lost-target"] + [
        "wrong-type"
    ] * 3


def test_places_are_those_of_the_file() -> None:
    text = '{\n "nodes": [\n  {"name": "A", "name": "B", "type": 3}\n ]\n}'
    (found,) = workflows_in(parse_json("w.json", text.encode()))
    assert [(f.kind, f.path) for f in found.faults] == [
        ("repeated-key", ("nodes", 0)),
        ("wrong-type", ("nodes", 0, "type")),
    ]
    place = found.loc(("nodes", 0, "type"))
    assert (place.line, place.column, place.element) == (3, 38, "$.nodes[0].type")
    assert place.span is not None
    assert text.encode()[slice(*place.span)] == b"3"


@pytest.mark.parametrize("stated", [None, "2", True, 0, -1, float("inf")])
def test_a_version_that_is_none_is_what_the_caller_assumes(stated: Any) -> None:
    raw = flow([node("A", typeVersion=stated)])
    (assumed,) = WorkflowDocument(raw, unstated=lambda type: 9.0).nodes
    assert assumed.version == 9.0
    assert WorkflowDocument(flow([node("A", typeVersion=2.1)])).nodes[0].version == 2.1
