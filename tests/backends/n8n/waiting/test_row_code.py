"""New rows as JavaScript computes them: every column, and the states in which they begin."""

from __future__ import annotations

import datetime
import json
import subprocess
from typing import Any

import pytest
from orgflow.backends.n8n.engine.node import find_node
from orgflow.backends.n8n.waiting import complete, fold, message, start
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES
from orgflow.backends.n8n.waiting.rows_code import message_key_code

Json = dict[str, Any]

TOKEN = {"key": "k", "execution": "7", "instance": "i", "scope": "i/", "workflow": "w"}


def compute(
    code: str, item: Json, called: Json | None = None, items: list[Json] | None = None
) -> Any:
    """The value of code in an expression of a node, with one item, that of the trigger, and the
    items of any other node."""
    others = json.dumps([{"json": other} for other in items or ()])
    script = (
        f"const $json={json.dumps(item)},$=()=>({{first:()=>({{json:{json.dumps(called)}}}),"
        f"all:()=>({others})}});"
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
        *compute(start._rows_code(10), item)["rows"],
        *compute(f"({complete._rows_code()})", {"random": "0" * 32}, called)["rows"],
    ]
    for row in rows:
        assert set(row) == set(COLUMN_NAMES)
    changes = [
        {"id": 1, "instance": "i", "workflow": "w", "changed_at": "b", "variables": '{"x":2}'},
        {
            "id": 2,
            "instance": "i",
            "workflow": "w",
            "changed_at": "a",
            "variables": '{"x":1,"y":1}',
        },
    ]
    snapshot = compute(fold._row_code(), {"random": "r"}, items=changes)
    assert set(snapshot) == set(COLUMN_NAMES)
    assert json.loads(snapshot["variables"]) == {"x": 2, "y": 1}
    assert snapshot["changed_at"] == "b"


@pytest.mark.parametrize("given", ["", "order 1"])
def test_an_instance_with_an_id_waits_for_admission(given: str) -> None:
    item = {"element": "s", "workflow": "w", "execution": 7, "random": "0" * 64}
    instance, first = compute(start._rows_code(10), {**item, "instance": given})["rows"]
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


def moment(text: str) -> float:
    return datetime.datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("given", "seconds"),
    [(None, 7 * 86_400), (0, 20), ("0", 20), (5, 20), (60, 60), ("3600", 3600)],
)
def test_the_time_to_live_is_that_of_the_sender(given: Any, seconds: int) -> None:
    """A match that a crash interrupts is completed after 20 seconds: no message lives shorter."""
    row = message_row(ttl=given)
    assert abs(moment(row["due"]) - moment(row["changed_at"]) - seconds) < 2


def test_no_two_pairs_have_one_message_key() -> None:
    names = ["a", "a|b", "a\\", "a\\|b", "|", "\\|", "", "a\\\\"]
    keys = ["", "b", "|b", "b|c", "\\|"]
    computed = {
        compute(message_key_code(json.dumps(name), json.dumps(key)), {})
        for name in names
        for key in keys
    }
    assert len(computed) == len(names) * len(keys)
    assert message_row(name="plain name", key="k|1")["message_key"] == "plain name|k|1"


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"name": "n"}, ""),
        ({"name": 0, "key": 0, "id": 0, "ttl": 0, "data": {}}, ""),
        ({"name": "n", "key": None, "id": None, "ttl": None, "data": None}, ""),
        (None, "name is missing"),
        ("n", "name is missing"),
        ([{"name": "n"}], "name is missing"),
        ({"name": ""}, "name is missing"),
        ({"name": {}}, "name is missing"),
        ({"name": "n", "key": {}}, "key is no text"),
        ({"name": "n", "id": []}, "id is no text"),
        ({"name": "n", "data": "text"}, "data is no object of variables"),
        ({"name": "n", "data": [1]}, "data is no object of variables"),
        ({"name": "n", "data": 0}, "data is no object of variables"),
        ({"name": "n", "ttl": "soon"}, "ttl is no number of seconds"),
        ({"name": "n", "ttl": -1}, "ttl is no number of seconds"),
        ({"name": "n", "ttl": ""}, "ttl is no number of seconds"),
        ({"name": "n", "ttl": 1e12}, "ttl is no number of seconds"),
    ],
)
def test_calls_that_are_no_message_are_refused(body: Any, fault: str) -> None:
    assert compute(message._FAULT, {"body": body}) == fault
