"""New rows as JavaScript computes them: every column, and the states in which they begin."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from orgflow.backends.n8n.engine.node import find_node
from orgflow.backends.n8n.waiting import complete, message, start
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES

Json = dict[str, Any]

TOKEN = {"key": "k", "execution": "7", "instance": "i", "scope": "i/", "workflow": "w"}


def compute(code: str, item: Json, called: Json | None = None) -> Any:
    """The value of code in an expression of a node, with one item and that of the trigger."""
    script = (
        f"const $json={json.dumps(item)},$=()=>({{first:()=>({{json:{json.dumps(called)}}})}});"
        f"console.log(JSON.stringify({code}))"
    )
    ran = subprocess.run(
        [find_node().path, "-e", script], check=True, capture_output=True, timeout=120
    )
    return json.loads(ran.stdout)


def message_row(**body: Any) -> Json:
    row: Json = compute(message._row_code(7), {"body": {"name": "n", **body}, "random": "r"})
    return row


def test_rows_have_all_columns() -> None:
    item = {"element": "s", "workflow": "w", "execution": 7, "random": "0" * 64}
    called = {"token": TOKEN, "rows": [{"kind": "task", "element": "A"}]}
    rows = [
        message_row(),
        *compute(start._rows_code(), item)["rows"],
        *compute(f"({complete._rows_code()})", {"random": "0" * 32}, called)["rows"],
    ]
    for row in rows:
        assert set(row) == set(COLUMN_NAMES)


@pytest.mark.parametrize("given", ["", "order 1"])
def test_an_instance_with_an_id_waits_for_admission(given: str) -> None:
    item = {"element": "s", "workflow": "w", "execution": 7, "random": "0" * 64}
    instance, first = compute(start._rows_code(), {**item, "instance": given})["rows"]
    states = ("staged", "staged") if given else ("open", "running")
    assert (instance["state"], first["state"]) == states
    assert instance["idempotency_key"] == ("w|order 1" if given else "")
    assert first["created_by"] == instance["key"]


def test_a_zero_is_a_key_and_an_id() -> None:
    row = message_row(key=0, id=0)
    assert row["message_key"] == "n|0"
    assert row["idempotency_key"] == "message|0"
    assert row["state"] == "staged"
    row = message_row(key=None)
    assert (row["message_key"], row["idempotency_key"], row["state"]) == ("n|", "", "open")
