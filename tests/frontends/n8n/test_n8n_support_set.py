"""Workflows that call the support set of processes that wait in several places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_cases import orgflowc
from orgflow.backends.n8n.format.support_ids import part_id


@pytest.mark.parametrize(("called", "is_known"), [(part_id("claim"), True), ("another7", False)])
def test_calls_of_the_support_set_are_known(called: str, is_known: bool, tmp_path: Path) -> None:
    node = "n8n-nodes-base."
    value = {"__rl": True, "mode": "id", "value": called}
    nodes = [
        {"id": "1", "name": "Go", "type": f"{node}manualTrigger", "typeVersion": 1,
         "position": [0, 0], "parameters": {}},
        {"id": "2", "name": "Claim", "type": f"{node}executeWorkflow", "typeVersion": 1.2,
         "position": [200, 0], "parameters": {"workflowId": value}},
    ]  # fmt: skip
    wires = {"Go": {"main": [[{"node": "Claim", "type": "main", "index": 0}]]}}
    path = tmp_path / "two.json"
    path.write_text(json.dumps({"name": "Two", "nodes": nodes, "connections": wires}))
    assert ("OF120" in orgflowc("check", path).out) is not is_known
