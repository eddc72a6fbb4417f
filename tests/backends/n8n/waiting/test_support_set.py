"""The support set as workflows: what they read and write, and that nothing changes unnoticed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from orgflow.backends.n8n.format.document import Workflow, short_type
from orgflow.backends.n8n.format.support_ids import SUPPORT_PARTS
from orgflow.backends.n8n.node_types.data_table import read_request
from orgflow.backends.n8n.waiting.rows import (
    COLUMN_NAMES,
    KINDS,
    STATES,
    STATES_OF_LIVE_ROWS,
    TABLE_NAME,
    TRANSITIONS,
)
from orgflow.backends.n8n.waiting.support_set import (
    GENERATION,
    PARTS,
    SupportOptions,
    build_support_set,
    import_references,
    read_version,
    server_references,
    set_digest,
)
from orgflow.cli import run

IMPORTED = build_support_set(import_references())
SET = build_support_set(
    server_references("T", {part: f"id of {part}" for part in PARTS}, {"id": "c", "name": "n"})
)
COUNTS = {
    "report": 3, "admit": 11, "fold": 10, "claim": 21, "join": 14, "end_scope": 15, "match": 20,
    "complete": 24, "start": 13, "message": 14, "page": 7, "sweep": 37,
}  # fmt: skip
"""Nodes of each workflow, its note included."""


def nodes_of(workflow: Workflow, short: str) -> list[Any]:
    return [node for node in workflow["nodes"] if short_type(node) == short]


def test_sizes() -> None:
    assert {part: len(workflow["nodes"]) for part, workflow in SET.items()} == COUNTS


@pytest.mark.parametrize("part", PARTS)
def test_table_operations_are_known_and_limited(part: str) -> None:
    for node in nodes_of(SET[part], "dataTable"):
        request = read_request(node["parameters"])
        assert not isinstance(request, str), (node["name"], request)
        assert request.table == "T"
        assert {test.column for test in request.tests} <= {*COLUMN_NAMES, "id"}
        assert {column for column, _ in request.values} <= set(COLUMN_NAMES)
        if request.operation == "get":
            assert request.limit is not None
            assert request.limit <= 1_000
        if request.operation in ("update", "delete"):
            assert request.tests


@pytest.mark.parametrize("part", PARTS)
def test_a_change_of_state_moves_the_next_look(part: str) -> None:
    """Whatever leaves the state `open` or enters it by itself sets `check_at`, or the sweep would
    look at a row for what it was before."""
    for node in nodes_of(SET[part], "dataTable"):
        request = read_request(node["parameters"])
        assert not isinstance(request, str)
        columns = dict(request.values)
        if request.operation != "update" or "state" not in columns:
            continue
        opens = node["name"] in ("Open rows", "Open the rows")  # `check_at` is set when staged
        assert opens or "check_at" in columns, node["name"]


@pytest.mark.parametrize("part", PARTS)
def test_states_and_kinds_are_those_of_the_table(part: str) -> None:
    text = json.dumps(SET[part])
    for name in re.findall(r"\.state===?'(\w+)'", text):
        assert name in STATES
    for name in re.findall(r"\.kind===?'(\w+)'", text):
        assert name in KINDS


def test_transitions_name_operations_of_the_set() -> None:
    assert {transition.operation for transition in TRANSITIONS} <= {*PARTS, "cancel", "heal"}
    assert len(set(TRANSITIONS)) == len(TRANSITIONS)
    assert set(STATES) >= STATES_OF_LIVE_ROWS


def test_keys_are_random_and_addresses_protected() -> None:
    text = json.dumps(SET)
    assert "Math.random" not in text
    webhooks = [node for workflow in SET.values() for node in nodes_of(workflow, "webhook")]
    assert len(webhooks) == 3
    for node in webhooks:
        if node["name"] == "Task page":
            continue  # the key of a task in its address is the protection
        assert node["parameters"]["authentication"] == "headerAuth"
        assert node["credentials"] == {"httpHeaderAuth": {"id": "c", "name": "n"}}
    assert sum(len(nodes_of(workflow, "crypto")) for workflow in SET.values()) == 4


@pytest.mark.parametrize("part", PARTS)
def test_wires_and_names_are_whole(part: str) -> None:
    workflow = SET[part]
    names = [node["name"] for node in workflow["nodes"]]
    assert len(set(names)) == len(names)
    places = [tuple(node["position"]) for node in workflow["nodes"]]
    assert len(set(places)) == len(places)
    reached = {
        end["node"]
        for ends in workflow["connections"].values()
        for wires in ends["main"]
        for end in wires
    }
    assert reached | set(workflow["connections"]) <= set(names)
    for node in workflow["nodes"]:
        triggers = ("executeWorkflowTrigger", "webhook", "scheduleTrigger", "stickyNote")
        assert node["name"] in reached or short_type(node) in triggers, node["name"]
    for name in re.findall(r"\$\('([^']+)'\)", json.dumps(workflow["nodes"])):
        assert name in names, name


@pytest.mark.parametrize("part", PARTS)
def test_each_workflow_calls_only_itself_and_earlier_ones(part: str) -> None:
    order = list(PARTS)
    for node in SET[part]["nodes"]:
        called = (node["parameters"].get("workflowId") or {}).get("value", "=")
        if not called.startswith("="):
            other = called.removeprefix("id of ")
            assert other in PARTS[part].calls
            assert order.index(other) <= order.index(part)


def test_versions_are_in_the_notes() -> None:
    digest = set_digest()
    assert re.fullmatch("[0-9a-f]{12}", digest)
    for part, workflow in SET.items():
        version = read_version(workflow)
        assert version == (part, digest, GENERATION, SupportOptions())
        (note,) = nodes_of(workflow, "stickyNote")
        shown = [
            line
            for line in note["parameters"]["content"].splitlines()
            if not line.startswith("[orgflow]:")
        ]
        assert digest not in "\n".join(shown)
        assert "need not be edited" in "\n".join(shown)
    assert set_digest(SupportOptions(retention_days=1)) != digest


def test_import_by_hand_needs_no_server() -> None:
    again = build_support_set(import_references())
    assert json.dumps(again) == json.dumps(IMPORTED)
    ids = {workflow["id"] for workflow in IMPORTED.values()}
    assert len(ids) == len(PARTS)
    for workflow in IMPORTED.values():
        for node in workflow["nodes"]:
            called = (node["parameters"].get("workflowId") or {}).get("value", "=")
            assert called.startswith("=") or called in ids
            if "dataTableId" in node["parameters"]:
                assert node["parameters"]["dataTableId"]["mode"] == "name"
                assert node["parameters"]["dataTableId"]["value"] == TABLE_NAME
    assert [node["id"] for node in IMPORTED["claim"]["nodes"]] == [
        node["id"] for node in SET["claim"]["nodes"]
    ]


def test_no_expression_ends_early() -> None:
    for value in re.findall(r'"=\{\{ (.*?) \}\}"', json.dumps(SET)):
        assert "}}" not in value


def test_files_of_a_manual_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "set"
    assert run(["engine", "export", str(folder)]) == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(written) == written == sorted(folder.iterdir())
    table, *parts = (json.loads(path.read_text("utf-8")) for path in written)
    assert parts == [*IMPORTED.values()]
    (create,) = nodes_of(table, "dataTable")
    columns = create["parameters"]["columns"]["column"]
    assert [column["name"] for column in columns] == list(COLUMN_NAMES)
    assert run(["engine", "export", str(folder), "--target", "svg"]) == 2


def test_ids_are_those_of_the_parts_in_their_order() -> None:
    assert tuple(PARTS) == SUPPORT_PARTS
