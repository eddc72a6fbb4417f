"""Runs of a process with effects, whose n8n server is killed and whose executions are retried.

The effects are recorded by a server of this machine, which is not killed, and judged by the order
and the step that they are for, not by anything that the compiler wrote.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.process import N8nServer, Owner

Json = dict[str, Any]

STEPS = ("reserve", "pick", "send", "pay")
"""The effects of an order; two of them are in a process that the first one calls."""

_BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
_SETTLE_SECONDS = 120.0


class Effect(NamedTuple):
    """A request as it came in: what for, and its key."""

    order: str
    step: str
    key: str


class EffectServer:
    """Keeps every request, and answers each after a moment."""

    def __init__(self, seconds: tuple[float, float] = (0.02, 0.2)) -> None:
        self.effects: list[Effect] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                order = json.loads(self.rfile.read(length))["order"]
                key = self.headers.get("idempotency-key") or ""
                outer.effects.append(Effect(order, self.path.strip("/"), key))
                time.sleep(random.uniform(*seconds))
                try:
                    self.send_response(200)
                    self.send_header("content-length", "2")
                    self.end_headers()
                    self.wfile.write(b"ok")
                except OSError:
                    pass  # the caller was killed

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.place = f"127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def crash_model(place: str) -> str:
    """The model: an order is reserved, shipped by another process, and paid."""
    steps = {id: _request(id, place) for id in STEPS}
    call = (
        '<callActivity id="ship" name="Ship" calledElement="shipping"><extensionElements>'
        '<camunda:in variables="all"/></extensionElements></callActivity>'
    )
    message = '<messageEventDefinition messageRef="m"/>'
    start = f'<startEvent id="s" name="Order came">{message}</startEvent>'
    order = _process("order", "Crash order", start, [steps["reserve"], call, steps["pay"]],
                     ["s", "reserve", "ship", "pay", "e"])  # fmt: skip
    shipping = _process("shipping", "Crash shipping", '<startEvent id="s2"/>',
                        [steps["pick"], steps["send"]], ["s2", "pick", "send", "e2"])  # fmt: skip
    return _definitions(f"{order}{shipping}")


def delivery_model(place: str) -> str:
    """A process calls one that only sends the same message twice; it begins one with an effect."""
    call = (
        '<callActivity id="call" calledElement="middle"><extensionElements>'
        '<camunda:in variables="all"/></extensionElements></callActivity>'
    )
    message = '<messageEventDefinition messageRef="m"/>'
    sends = [f'<sendTask id="{id}" messageRef="m"/>' for id in ("first", "second")]
    start = f'<startEvent id="s3">{message}</startEvent>'
    outer = _process("outer", "Outer", '<startEvent id="s1"/>', [call], ["s1", "call", "e1"])
    middle = _process("middle", "Middle", '<startEvent id="s2"/>', sends,
                      ["s2", "first", "second", "e2"])  # fmt: skip
    last = _process("last", "Last", start, [_request("pick", place)], ["s3", "pick", "e3"])
    return _definitions(f"{outer}{middle}{last}")


def _request(id: str, place: str) -> str:
    parameters = {
        "url": f"http://{place}/{id}", "method": "POST", "payload": '{"order": "${order}"}',
    }  # fmt: skip
    inputs = "".join(
        f'<camunda:inputParameter name="{name}">{value}</camunda:inputParameter>'
        for name, value in parameters.items()
    )
    return (
        f'<serviceTask id="{id}" name="{id.title()}"><extensionElements><camunda:connector>'
        f"<camunda:inputOutput>{inputs}</camunda:inputOutput><camunda:connectorId>http-connector"
        "</camunda:connectorId></camunda:connector></extensionElements></serviceTask>"
    )


def _definitions(processes: str) -> str:
    return (
        f'<definitions xmlns="{_BPMN}" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d">'
        f'<message id="m" name="Order"/>{processes}</definitions>'
    )


def _process(id: str, name: str, start: str, steps: Sequence[str], chain: Sequence[str]) -> str:
    flows = "".join(
        f'<sequenceFlow id="f_{a}_{b}" sourceRef="{a}" targetRef="{b}"/>'
        for a, b in itertools.pairwise(chain)
    )
    end = f'<endEvent id="{chain[-1]}"/>'
    return (
        f'<process id="{id}" name="{name}" isExecutable="true">{start}{"".join(steps)}{end}{flows}'
        "</process>"
    )


class CrashingServer:
    """An n8n server that is killed and started again with its data.

    Args:
        data: its data folder.
    """

    def __init__(self, data: Path) -> None:
        self.server = N8nServer(data=data)
        self.server.start()
        owner = Owner()
        with Client(self.server.url) as client:
            client.set_up_owner(owner.email, owner.password)
            self.key = client.key
        self.retried: Counter[str] = Counter()

    def kill(self) -> None:
        """Kill -9 of the server with its task runner, and a new start."""
        pid = self.server.pid
        assert pid is not None
        os.killpg(pid, signal.SIGKILL)
        self.server.stop()
        self.server.start()

    def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"X-N8N-API-KEY": self.key}
        url = f"{self.server.url}{path}"
        return httpx.request(method, url, headers=headers, timeout=120, **more)

    def executions(self, status: str) -> list[Json]:
        answer = self.call("GET", "/api/v1/executions", params={"status": status, "limit": 250})
        rows: list[Json] = answer.json()["data"]
        return rows

    def retry_crashed(self, times: int = 1) -> int:
        """Retry every crashed execution once, in any order, also those of called workflows, whose
        callers are retried as well. Returns how many there were."""
        count = 0
        deadline = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < deadline:
            fresh = [e for e in self.executions("crashed") if not self.retried[e["id"]]]
            random.shuffle(fresh)
            for execution in fresh:
                for _ in range(times):
                    self.retried[execution["id"]] += 1
                    self.call("POST", f"/api/v1/executions/{execution['id']}/retry", json={})
            count += len(fresh)
            if not fresh and not self.executions("running"):
                return count
            time.sleep(0.5)
        raise AssertionError("executions did not end")

    def close(self) -> None:
        self.server.stop()


class Judged(NamedTuple):
    """The effects of some orders.

    Attributes:
        orders: how many orders were taken.
        whole: those of which every step was done, and none twice.
        missing: orders and steps that were not done.
        doubled: orders and steps that were done under several keys.
        repeated: requests that were sent again under the same key.
    """

    orders: int
    whole: int
    missing: tuple[str, ...]
    doubled: tuple[str, ...]
    repeated: int


def judge_effects(orders: Sequence[str], effects: Sequence[Effect]) -> Judged:
    """Whether each step of each order was done, and by how many keys."""
    keys: dict[tuple[str, str], list[str]] = defaultdict(list)
    for effect in effects:
        keys[effect.order, effect.step].append(effect.key)
    missing = [f"{o} {s}" for o in orders for s in STEPS if not keys[o, s]]
    doubled = [f"{o} {s}: {sorted(set(k))}" for (o, s), k in keys.items() if len(set(k)) > 1]
    faulty = {text.split()[0] for text in (*missing, *doubled)}
    repeated = sum(len(k) - len(set(k)) for k in keys.values())
    whole = sum(order not in faulty for order in orders)
    return Judged(len(orders), whole, tuple(missing), tuple(doubled), repeated)


def play_crashes(
    crashing: CrashingServer, address: str, kills: int, orders: int
) -> tuple[list[str], int]:
    """Take orders, kill the server at a random moment, and retry what crashed; after the last kill
    twice, as two people would. Returns the orders and how many executions crashed."""
    taken: list[str] = []
    crashed = 0
    for kill in range(kills):
        for number in range(orders):
            name = f"order-{kill}-{number}"
            answer = crashing.call("POST", f"/webhook/{address}", json={"order": name})
            assert answer.status_code == 200, answer.text
            taken.append(name)
        time.sleep(random.uniform(0.05, 1.5))
        crashing.kill()
        crashed += crashing.retry_crashed(2 if kill == kills - 1 else 1)
    return taken, crashed
