"""How fast deploying is on a server: one workflow of 30 nodes, and 300 workflows in one command,
compared with plain REST calls that create and publish the same workflows.

`python benchmarks/deploy_speed.py` boots n8n's server (`orgflowc engine install --server`) with a
data folder of its own; `--url URL` uses one that runs, with the key in N8N_API_KEY.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from orgflow.backends.n8n.server.client.backoff import Backoff
from orgflow.backends.n8n.server.client.client import FINISHED
from orgflow.backends.n8n.server.client.errors import RefusedError
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.deploy.carry_out import DeployRun
from orgflow.backends.n8n.server.deploy.deployment_plan import Wanted
from orgflow.backends.n8n.server.process import N8nServer, Owner

NODES = 30
MANY = 300
MOST_RATIO = 2
"""How often the time of plain REST calls `deploy` may take."""
TRIES = 7
GOAL_SECONDS = 1.0

Json = dict[str, Any]


def workflow(number: int, nodes: int = NODES) -> Json:
    """A webhook and a chain of Set nodes; its last one says how many came before."""
    rows: list[Json] = [
        {
            "id": f"{number}-0", "name": "Start", "type": "n8n-nodes-base.webhook",
            "typeVersion": 2.1, "position": [0, 0], "webhookId": f"speed-{number}",
            "parameters": {"httpMethod": "POST", "path": f"speed-{number}",
                           "responseMode": "lastNode", "options": {}},
        }
    ]  # fmt: skip
    for index in range(1, nodes):
        value = {"id": "1", "name": f"v{index}", "value": index, "type": "number"}
        rows.append({
            "id": f"{number}-{index}", "name": f"Step {index}", "type": "n8n-nodes-base.set",
            "typeVersion": 3.4, "position": [index * 200, 0],
            "parameters": {"assignments": {"assignments": [value]}, "includeOtherFields": True,
                           "options": {}},
        })  # fmt: skip
    wires = {
        one["name"]: {"main": [[{"node": other["name"], "type": "main", "index": 0}]]}
        for one, other in itertools.pairwise(rows)
    }
    return {
        "id": f"speed{number}", "name": f"Speed {number}", "nodes": rows, "connections": wires,
        "settings": {"executionOrder": "v1"},
    }  # fmt: skip


def one(client: WorkflowClient, number: int) -> dict[str, float]:
    """Seconds of: deploy and publish until live, one run by its webhook, its execution fetched."""
    started = time.perf_counter()
    deployer = DeployRun(client, client)
    (result,) = deployer.deploy(deployer.plan([Wanted(workflow(number), "file")]))
    assert result.ok, result.error
    deployed = time.perf_counter()
    said = client.call(f"/webhook/speed-{number}", {})
    assert said["status"] == 200, said
    ran = time.perf_counter()
    execution = _finished(client, result.placed[0].id)
    fetched = time.perf_counter()
    done = execution["data"]["resultData"]["runData"]
    assert len(done) == NODES, len(done)
    return {
        "deploy and publish": deployed - started,
        "run": ran - deployed,
        "fetch": fetched - ran,
        "in all": fetched - started,
    }


def _finished(client: WorkflowClient, workflow_id: str) -> Json:
    while True:
        for execution in client.executions(workflow_id):
            try:
                answer = client.execution(execution)
            except RefusedError:
                continue
            if answer["status"] in FINISHED:
                return answer
        time.sleep(0.005)


def many(url: str, key: str, folder: Path) -> tuple[float, float]:
    """Seconds that `orgflowc deploy` takes for many files, and a second time for the same."""
    for number in range(MANY):
        path = folder / f"{number:03d}.json"
        path.write_text(json.dumps(workflow(1000 + number, 10)), encoding="utf-8")
    files = [str(path) for path in sorted(folder.glob("*.json"))]
    times = []
    for _ in range(2):
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "orgflow.cli", "deploy", *files, "--url", url],
            env={**os.environ, "N8N_API_KEY": key}, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip  # its progress bar is on standard error
        times.append(time.perf_counter() - started)
        assert len(done.stdout.splitlines()) == MANY
    return times[0], times[1]


def plain_calls(url: str, key: str) -> float:
    """Seconds of one call that creates and one that publishes each of as many workflows, one after
    the other on one connection, without anything else."""
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=60)
    headers = {"X-N8N-API-KEY": key, "Content-Type": "application/json"}

    def call(path: str, body: Json | None) -> Json:
        text = None if body is None else json.dumps(body)
        connection.request("POST", f"/api/v1/{path}", text, headers)
        answer = connection.getresponse()
        data: Json = json.loads(answer.read())
        assert answer.status in (200, 201), data
        return data

    started = time.perf_counter()
    for number in range(MANY):
        wanted = workflow(5000 + number, 10)
        del wanted["id"]
        call(f"workflows/{call('workflows', wanted)['id']}/activate", {})
    return time.perf_counter() - started


def _server(url: str | None) -> Iterator[tuple[str, str]]:
    if url is not None:
        yield url, os.environ["N8N_API_KEY"]
        return
    owner = Owner()
    with N8nServer() as server, WorkflowClient(server.url) as client:
        yield server.url, client.set_up_owner(owner.email, owner.password)


def main() -> None:
    """Print the figures beside their goals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a server that runs; default: one is booted")
    options = parser.parse_args()
    for url, key in _server(options.url):
        with WorkflowClient(url, key, backoff=Backoff(30)) as client:
            mine: list[str] = []
            try:
                one(client, 0)  # n8n loads code at the first run
                figures = [one(client, number) for number in range(1, TRIES + 1)]
                print(f"a workflow of {NODES} nodes, seconds (median of {TRIES}, worst)")
                for what in figures[0]:
                    values = [figure[what] for figure in figures]
                    goal = f"   goal {GOAL_SECONDS}" if what == "in all" else ""
                    print(f"  {what:20} {statistics.median(values):6.3f} {max(values):6.3f}{goal}")
                with tempfile.TemporaryDirectory() as folder:
                    first, second = many(url, key, Path(folder))
                plain = plain_calls(url, key)
                print(f"{MANY} workflows in one command: {first:.1f} s; again: {second:.1f} s")
                print(f"{MANY} workflows by plain REST calls: {plain:.1f} s")
                over = "" if first <= MOST_RATIO * plain else "  MISSED"
                print(f"deploy / plain calls: {first / plain:.2f} ×, at most {MOST_RATIO} ×{over}")
            finally:
                mine += [str(row["id"]) for row in client.listed()
                         if str(row["name"]).startswith("Speed ")]  # fmt: skip
                for workflow_id in mine:
                    client.delete(workflow_id)


if __name__ == "__main__":
    main()
