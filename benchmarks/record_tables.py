"""Record what a real n8n server does with Data Tables, for the tests of the world model.

`python benchmarks/record_tables.py URL [--count N] [--file FILE]` runs random chains of Data Table
nodes one after the other, each with a table of its own, and writes a JSON line for each: the rows
before, the items, the workflow, the rows after, and the number of items that each node returned.
The key of the server's API is in the variable N8N_API_KEY. Everything it creates is deleted again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from table_scripts import (  # noqa: E402
    COLUMNS,
    Fields,
    plain_node,
    random_row,
    random_script,
    table_workflow,
)

FILE = ROOT / "tests" / "backends" / "n8n" / "engine_model" / "recorded" / "tables.jsonl"

# Conditions that the random scripts do not draw, with constants.
MORE_TESTS: tuple[tuple[str, str, Any], ...] = (
    ("key", "like", "a%"),
    ("state", "like", "%en"),
    ("state", "like", "o_e"),
    ("state", "like", "*"),
    ("state", "like", "OPEN"),
    ("state", "ilike", "OPEN"),
    ("run", "gt", "1"),
    ("run", "lte", "1"),
    ("state", "gte", "done"),
    ("run", "eq", ""),
    ("id", "neq", 2),
    ("id", "lt", 3),
)


def main() -> int:
    """Record the cases."""
    parser = argparse.ArgumentParser(description="Record Data Tables on a server.")
    parser.add_argument("url")
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--file", type=Path, default=FILE)
    args = parser.parse_args()
    headers = {"X-N8N-API-KEY": os.environ["N8N_API_KEY"]}
    with httpx.Client(base_url=args.url, headers=headers, timeout=30) as client:
        rows = [recorded_case(client, seed) for seed in range(args.count)]
    text = "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows)
    args.file.write_text(text, encoding="utf-8")
    return 0


def recorded_case(client: httpx.Client, seed: int) -> Fields:
    """One chain of nodes on the server."""
    rnd = random.Random(seed)
    script = random_script(rnd, 3)
    for operation in script:
        if operation.tests and rnd.random() < 0.5:
            operation.tests[rnd.randrange(len(operation.tests))] = rnd.choice(MORE_TESTS)
    items = [random_row(rnd) for _ in range(rnd.choice((1, 1, 2)))]
    rows = [random_row(rnd) for _ in range(rnd.randint(0, 3))]
    workflow = table_workflow(script)
    table = create_table(client, f"recorded {seed} {time.time_ns()}", rows)
    try:
        number, counts = run_workflow(client, workflow, items, table)
        after = sorted(rows_of(client, table), key=lambda row: row["id"])
    finally:
        answer_of(client, "DELETE", f"/api/v1/data-tables/{table}")
    for row in after:  # the number of the execution is another one each time
        row["run"] = "me" if row["run"] == number else row["run"]
    return {
        "seed": seed,
        "rows": rows,
        "items": items,
        "nodes": workflow["nodes"][1:-1],
        "after": after,
        "counts": counts,
    }


def create_table(client: httpx.Client, name: str, rows: list[Fields]) -> str:
    """A table of texts with some rows; its id."""
    columns = [{"name": column, "type": "string"} for column in COLUMNS]
    body = {"name": name, "columns": columns}
    table = str(answer_of(client, "POST", "/api/v1/data-tables", body)["id"])
    if rows:
        added = {"data": rows, "returnType": "count"}
        answer_of(client, "POST", f"/api/v1/data-tables/{table}/rows", added)
    return table


def rows_of(client: httpx.Client, table: str) -> list[Fields]:
    """The rows of a table without their times."""
    found = answer_of(client, "GET", f"/api/v1/data-tables/{table}/rows?limit=250")["data"]
    return [{name: row[name] for name in ("id", *COLUMNS)} for row in found]


def run_workflow(
    client: httpx.Client, workflow: Fields, items: list[Fields], table: str
) -> tuple[str, dict[str, int]]:
    """Run a workflow with these items; the number of the execution, and the items by node."""
    deployed: Fields = json.loads(json.dumps(workflow))
    path = f"recorded-{time.time_ns()}"
    listed = json.dumps([{"json": item} for item in items])
    first = deployed["nodes"][1]["name"]
    deployed["nodes"][0] |= {
        "typeVersion": 2.1,
        "webhookId": path,
        "parameters": {"httpMethod": "POST", "path": path, "responseMode": "onReceived"},
    }
    code = {**plain_node("Items", "code", {"jsCode": f"return {listed};"}), "typeVersion": 2}
    deployed["nodes"].insert(1, code)
    deployed["connections"]["T"] = _wire_to("Items")
    deployed["connections"]["Items"] = _wire_to(first)
    deployed["name"] = path
    for number, node in enumerate(deployed["nodes"]):
        node["id"] = f"{path}-{number}"
        if node["type"].endswith("dataTable"):
            node["parameters"]["dataTableId"]["value"] = table
    workflow_id = answer_of(client, "POST", "/api/v1/workflows", deployed)["id"]
    try:
        answer_of(client, "POST", f"/api/v1/workflows/{workflow_id}/activate")
        _until(lambda: client.post(f"/webhook/{path}", json={}).status_code == 200)
        query = f"/api/v1/executions?workflowId={workflow_id}&includeData=true"
        _until(lambda: _ended(answer_of(client, "GET", query)))
        (execution,) = answer_of(client, "GET", query)["data"]
    finally:
        answer_of(client, "POST", f"/api/v1/workflows/{workflow_id}/deactivate")
        # n8n answers 409 for a moment.
        _until(lambda: client.delete(f"/api/v1/workflows/{workflow_id}").is_success)
    assert execution["status"] == "success", execution
    runs = execution["data"]["resultData"]["runData"]
    counts = {
        name: len(runs[name][0]["data"]["main"][0] or [])
        for name in (node["name"] for node in workflow["nodes"][1:-1])
        if name in runs
    }
    return str(execution["id"]), counts


def answer_of(client: httpx.Client, method: str, path: str, body: Any = None) -> Fields:
    """The answer of the server's API."""
    found = client.request(method, path, json=body)
    found.raise_for_status()
    answer = found.json() if found.content else {}
    return answer if isinstance(answer, dict) else {}


def _wire_to(node: str) -> Fields:
    return {"main": [[{"node": node, "type": "main", "index": 0}]]}


def _ended(answer: Fields) -> bool:
    return any(row["status"] in ("success", "error") for row in answer["data"])


def _until(happens: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > deadline:
            raise TimeoutError("the server does not do what is expected")
        time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
