"""What no drawing says by itself; that each model has its golden file is tested without a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


def test_for_the_n8n_of_the_branch_office(orgflow_golden: Callable[..., None]) -> None:
    """The branch office still runs n8n 1.123."""
    orgflow_golden(
        "models/leave-request.bpmn",
        "golden/n8n-1.123/leave-request.json",
        target="n8n{version=1.123}",
    )


def test_every_workflow_says_where_it_is_from() -> None:
    for path in sorted(GOLDEN.glob("*.json")):
        nodes = json.loads(path.read_text("utf-8"))["nodes"]
        assert any(node["name"] == "About this workflow" for node in nodes), path.name
