"""What it costs that n8n saves the progress of executions: processor time of the server.

`python benchmarks/saved_progress.py` boots n8n's server (`orgflowc engine install --server`) with a
data folder of its own, deploys a process with four requests, one of whose halves is a called
process, and runs it with the setting `saveExecutionProgress` and without it, in turn.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from crash_runs import CrashingServer, EffectServer, crash_model  # noqa: E402

RUNS, ROUNDS, WARM = 25, 4, 10
_SETTLE_SECONDS = 1.0


def processor_seconds(group: int) -> float:
    """Processor time of all processes of a group, which is the server with its task runner."""
    ticks = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended
        if int(fields[2]) == group:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def set_progress(server: CrashingServer, saved: bool) -> None:
    """Switch the setting on or off in all workflows."""
    for row in server.call("GET", "/api/v1/workflows").json()["data"]:
        settings = {"executionOrder": "v1", "saveExecutionProgress": saved}
        body = {key: row[key] for key in ("name", "nodes", "connections")}
        id = row["id"]
        answer = server.call("PUT", f"/api/v1/workflows/{id}", json=body | {"settings": settings})
        assert answer.status_code == 200, answer.text
        assert server.call("POST", f"/api/v1/workflows/{id}/activate").status_code == 200
    time.sleep(_SETTLE_SECONDS)


def measure_runs(server: CrashingServer, address: str, count: int) -> float:
    """Milliseconds of processor time of one run of the process."""
    pid = server.server.pid
    assert pid is not None
    before = processor_seconds(pid)
    for number in range(count):
        answer = server.call("POST", f"/webhook/{address}", json={"order": str(number)})
        assert answer.status_code == 200, answer.text
    while server.executions("running"):
        time.sleep(0.2)
    time.sleep(_SETTLE_SECONDS)
    return (processor_seconds(pid) - before) / count * 1000


def deploy_model(server: CrashingServer, folder: Path, place: str) -> str:
    """Deploy the process; returns the path of its webhook."""
    model = folder / "crash.bpmn"
    model.write_text(crash_model(place), encoding="utf-8")
    command = [sys.executable, "-m", "orgflow", "deploy", "--url", server.server.url, str(model)]
    environment: dict[str, Any] = {**os.environ, "N8N_API_KEY": server.key}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    word = next(word for word in done.stdout.split() if "/webhook/" in word)
    return word.rpartition("/webhook/")[2]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each measurement")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="measurements of each setting")
    options = parser.parse_args()
    spent: dict[bool, list[float]] = {True: [], False: []}
    with tempfile.TemporaryDirectory() as folder:
        outside = EffectServer((0.0, 0.0))
        server = CrashingServer(Path(folder) / "n8n")
        try:
            address = deploy_model(server, Path(folder), outside.place)
            for saved in (True, False):
                set_progress(server, saved)
                measure_runs(server, address, WARM)
            for number in range(options.rounds):
                for saved in (True, False) if number % 2 else (False, True):
                    set_progress(server, saved)
                    spent[saved].append(measure_runs(server, address, options.runs))
        finally:
            server.close()
            outside.close()
    saved, plain = (statistics.median(spent[key]) for key in (True, False))
    print(
        f"processor time of a run with four requests in two workflows, {options.rounds} rounds of"
    )
    print(f"{options.runs} runs: {plain:.0f} ms without saved progress, {saved:.0f} ms with it,")
    print(f"{saved / plain:.2f} times")


if __name__ == "__main__":
    main()
