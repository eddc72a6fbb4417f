"""Trials of the support set on a real server: instances with people in parallel, answered in random
order, some answers twice, with or without kills of the server in between.

The referee is a server outside that n8n calls after the join: it counts the calls by their
idempotency keys. The table of rows is read through n8n's public API.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

import httpx
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.waiting.installation import Installation
from waiting_canvas import form_path, parallel_tasks, task_names

Json = dict[str, Any]

_PAUSE = 0.25


class OutsideServer:
    """Counts the calls that processes make, by their idempotency keys."""

    def __init__(self) -> None:
        self.calls: list[Json] = []
        outside = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                outside.calls.append(json.loads(body))
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop it."""
        self.server.shutdown()
        self.server.server_close()

    def keys_of(self, instance: str, step: str) -> Counter[str]:
        """How often each idempotency key was called by a step of an instance."""
        return Counter(
            call["key"]
            for call in self.calls
            if call["instance"] == instance and call["key"].endswith(step)
        )


@dataclass(eq=False)
class Trial:
    """One instance and its result.

    Attributes:
        instance: the caller's id of the instance, and `root` the key of its row.
        accepted: tasks whose answer was accepted, with the accepted text.
        twice: tasks of which more than one answer was accepted.
        repeated: number of answers that were sent again.
        failures: what is wrong, in words.
    """

    count: int
    instance: str = ""
    root: str = ""
    accepted: dict[str, str] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)
    repeated: int = 0
    failures: list[str] = field(default_factory=list)


class TrialRunner:
    """Runs trials against a server that has the support set."""

    def __init__(
        self, client: TableClient, installed: Installation, outside: OutsideServer
    ) -> None:
        self.client = client
        self.installed = installed
        self.outside = outside
        self.paths: dict[tuple[int, float], str] = {}
        self.deployed: list[str] = []
        self._http = httpx.Client(timeout=120, trust_env=False)

    def close(self) -> None:
        """Delete the processes."""
        for workflow_id in self.deployed:
            self.client.delete(workflow_id)
        self._http.close()

    def deploy(self, count: int, timer_seconds: float = 0) -> str:
        """Deploy the process for so many people; returns the path of its address."""
        known = self.paths.get((count, timer_seconds))
        if known is not None:
            return known
        path = f"trial-{count}-{int(timer_seconds)}-{time.time_ns()}"
        workflow = parallel_tasks(
            path, count, self.outside.url, self.installed.workflows, timer_seconds=timer_seconds
        )
        workflow_id = self.client.create(workflow)
        self.deployed.append(workflow_id)
        self.client.publish_version(workflow_id, path)
        self.client.await_live(self.client.workflow(workflow_id))
        self.paths[(count, timer_seconds)] = path
        return path

    def start(self, count: int, instance: str, timer_seconds: float = 0) -> Trial:
        """Start an instance as a caller does who repeats a call without an answer."""
        path = self.deploy(count, timer_seconds)
        body = {"instance": instance, "variables": {"case": instance}}
        self._repeat(lambda: self._post_json(f"/webhook/{path}", body))
        return Trial(count, instance)

    def open_tasks(self, trial: Trial, seconds: float = 120) -> dict[str, str]:
        """Keys of the open tasks by their names, once all of them are there."""
        deadline = time.monotonic() + seconds
        while True:
            rows = self.rows_of(trial)
            tasks = {
                row["element"]: row["key"]
                for row in rows
                if row["kind"] == "task" and row["state"] != "staged"
            }
            if len(tasks) == trial.count:
                return tasks
            if time.monotonic() > deadline:
                trial.failures.append(f"{len(tasks)} of {trial.count} tasks were opened")
                return tasks
            time.sleep(_PAUSE)

    def rows_of(self, trial: Trial) -> list[Json]:
        """The rows of an instance."""
        if not trial.root:
            for row in self._rows({"business_key": trial.instance}):
                if row["state"] not in ("staged", "dropped"):
                    trial.root = row["key"]
        return self._rows({"instance": trial.root}) if trial.root else []

    def answer(self, trial: Trial, task: str, key: str, text: str) -> None:
        """Send a form, again if the server does not answer."""
        path = self.deploy(trial.count, 0) if (trial.count, 0) in self.paths else ""
        path = path or next(p for (count, _), p in self.paths.items() if count == trial.count)
        place = f"/form/{form_path(path, task)}"
        fields = {"field-0": (None, key), "field-1": (None, text)}
        page = self._repeat(lambda: self._post_form(place, fields))
        if "Thank you" in page:
            if task in trial.accepted:
                trial.twice.append(task)
            trial.accepted[task] = text
        elif "already been answered" not in page and "no longer open" not in page:
            trial.failures.append(f"unexpected page: {page[:120]}")

    def answer_all(
        self, trial: Trial, tasks: dict[str, str], rnd: random.Random, between: Callable[[], None]
    ) -> None:
        """Answer all tasks at the same time in random order, every fourth answer twice."""
        names = list(tasks)
        rnd.shuffle(names)
        sent: list[tuple[str, str]] = []
        for number, task in enumerate(names):
            sent.append((task, f"answer {number}"))
            if rnd.random() < 0.25:
                sent.append((task, f"answer {number} again"))
                trial.repeated += 1
        threads = [
            threading.Thread(target=self.answer, args=(trial, task, tasks[task], text))
            for task, text in sent
        ]
        for thread in threads:
            thread.start()
            time.sleep(rnd.random() * 0.2)
            between()
        for thread in threads:
            thread.join()

    def check_end(self, trial: Trial, seconds: float) -> None:
        """Wait for the end of the instance, and note what is wrong."""
        deadline = time.monotonic() + seconds
        rows: list[Json] = []
        while time.monotonic() < deadline:
            rows = self.rows_of(trial)
            root = next((row for row in rows if row["key"] == trial.root), None)
            if root is not None and root["state"] == "done":
                break
            time.sleep(_PAUSE)
        else:
            states = Counter(f"{row['kind']} {row['state']}" for row in rows)
            trial.failures.append(f"did not end: {dict(states)}")
        paid = self.outside.keys_of(trial.root, " Pay")
        if len(paid) != 1:
            trial.failures.append(f"the join fired {len(paid)} times")
        if trial.twice:
            trial.failures.append(f"accepted twice: {trial.twice}")
        joined = [
            row for row in rows if row["kind"] == "branch" and row["execution"] and row["joined_to"]
        ]
        if len(joined) != 1:
            trial.failures.append(f"{len(joined)} branches lead on after the join")
        for call in self.outside.calls:
            if call["instance"] == trial.root and call["key"].endswith(" Pay"):
                for task, text in trial.accepted.items():
                    if call["variables"].get(task) != text:
                        trial.failures.append(f"the answer of {task} is lost: {call['variables']}")
        left = [row for row in rows if row["live"] == "1"]
        if left:
            trial.failures.append(f"{len(left)} rows are still live")

    # -- calls ---------------------------------------------------------------------------------

    def call_outside(self, place: str, body: Json, headers: dict[str, str]) -> httpx.Response:
        """Call an address with headers."""
        return self._http.post(self.client.url + place, json=body, headers=headers)

    def _rows(self, tests: dict[str, str]) -> list[Json]:
        filters = [
            {"columnName": name, "condition": "eq", "value": value} for name, value in tests.items()
        ]
        wanted = quote(json.dumps({"type": "and", "filters": filters}), safe="")
        place = f"/api/v1/data-tables/{self.installed.table}/rows"
        url = f"{self.client.url}{place}?limit=250&sortBy=id%3Aasc&filter={wanted}"
        key = {"X-N8N-API-KEY": self.client.key}
        answer = self._repeat(lambda: self._http.get(url, headers=key))
        rows: list[Json] = json.loads(answer)["data"]
        return rows

    def _post_json(self, place: str, body: Json) -> httpx.Response:
        return self._http.post(self.client.url + place, json=body)

    def _post_form(self, place: str, fields: Any) -> httpx.Response:
        return self._http.post(self.client.url + place, files=fields)

    def _repeat(self, call: Callable[[], httpx.Response], seconds: float = 300) -> str:
        """The text of an answer; a call without one, or refused while the server boots, is
        repeated."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                answer = call()
                if answer.status_code < 400:
                    return answer.text
                problem = f"{answer.status_code} {answer.text[:200]}"
            except httpx.HTTPError as error:
                problem = repr(error)
            if time.monotonic() > deadline or problem.startswith("400"):
                raise TimeoutError(problem)
            time.sleep(_PAUSE)


def run_trial(
    runner: TrialRunner,
    count: int,
    rnd: random.Random,
    *,
    seconds: float = 240,
    between: Callable[[], None] = lambda: None,
    timer_seconds: float = 0,
) -> Trial:
    """One instance from start to end."""
    trial = runner.start(count, f"case-{time.time_ns()}-{rnd.random()}", timer_seconds)
    tasks = runner.open_tasks(trial)
    assert set(tasks) <= set(task_names(count))
    between()
    runner.answer_all(trial, tasks, rnd, between)
    runner.check_end(trial, seconds)
    return trial
