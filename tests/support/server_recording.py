"""Run a workflow with all it calls on a server, answer its waits, and write down what happened."""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.server.client.client import (
    FINISHED,
    Client,
    ServerError,
    TookTooLongError,
)
from orgflow.backends.n8n.server.executions.execution import (
    StoredExecution,
    StoredRun,
    nest_runs,
    read_execution,
)

Json = dict[str, Any]

SERVER = "SERVER"
"""Stands in bodies for the address of the server, which is another one each time."""

_POLL_SECONDS = 0.1
_SETTLED_SECONDS = 0.25
_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Scenario:
    """A run to be made.

    Attributes:
        name: what it shows.
        workflow: the main workflow; its trigger is a webhook, or a manual one with `pinData`.
        trigger: the node to start at.
        body: what a webhook is called with.
        workflows: those it calls, by the id that Execute Workflow nodes have; who is called comes
            before who calls.
        answers: what each visit of a webhook wait is answered with, by `NODE` or `ID/NODE`: a body,
            None for no answer, {} past the end.
        kinds: what it is an example of.
    """

    name: str
    workflow: Mapping[str, Any]
    trigger: str = "T"
    body: Any = None
    workflows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    answers: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()


def record(client: Client, scenario: Scenario, seconds: float = 120.0) -> Json:
    """Make the run and leave nothing behind; the line of the recording.

    `order` has a list a node run: its name, the items on each output, and where there is more to
    say a dictionary: `workflow` (id of the called workflow it is in), `error`, `stays` where it
    waited to the end, and `wait`: how a wait ended: `slept`, `timer`, `answer`, `timeout`,
    `stays`, or `passed` where n8n did not wait. `detached` has the executions that nobody waited
    for.

    Raises:
        ServerError: the server refused something, or the run was not over in time.
        ValueError: what the server stored fits no run of this scenario.
    """
    session = _Session(client, scenario, seconds)
    try:
        session.deploy()
        main = session.play(session.start())
        return session.line(main)
    finally:
        session.remove()


class _Session:
    def __init__(self, client: Client, scenario: Scenario, seconds: float) -> None:
        self.client = client
        self.scenario = scenario
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        self.ids: dict[str, str] = {}  # of the scenario → of the server
        self.main = ""
        # How each run of each parked wait ended, by execution and node.
        self.ends: dict[tuple[str, str], dict[int, str]] = {}
        self.visits: dict[str, int] = {}
        self.stored: dict[str, StoredExecution] = {}

    def deploy(self) -> None:
        for name, workflow in self.scenario.workflows.items():
            created = self.client.create(self._rewritten(workflow, name))
            self.ids[name] = created
            self.client.publish(created)
        self.main = self.client.create(self._rewritten(self.scenario.workflow, "main"))

    def remove(self) -> None:
        called = list(reversed(self.ids.values()))
        for workflow in ([self.main] if self.main else []) + called:
            for execution in self._stuck(workflow):
                self.client.stop(execution)
            self.client.delete(workflow)

    def _stuck(self, workflow: str) -> list[str]:
        return [
            execution
            for execution in self.client.executions(workflow)
            if execution not in self.stored or self.stored[execution].status not in FINISHED
        ]

    def start(self) -> str:
        trigger = _row(self.scenario.workflow, self.scenario.trigger)
        if short_type(trigger) != "webhook":
            return self.client.run(self.main, self.scenario.trigger)
        self.client.publish(self.main)
        answer = self.client.call(f"/webhook/{self.path}", _put_url(self.body, self.client.url))
        if answer["status"] != 200:
            raise ServerError(f"the webhook of {self.scenario.name} answered {answer}")
        while not (found := self.client.executions(self.main)):
            self._pause("to start")
        return found[0]

    @property
    def body(self) -> Any:
        return self.scenario.body if self.scenario.body is not None else {}

    def play(self, main: str) -> StoredExecution:
        """Answer waits until the main execution and all it called are over or wait for good."""
        while True:
            busy = False
            parked: list[Json] = []
            for execution in self._all(main):
                known = self.stored.get(execution)
                if known is not None and known.status in FINISHED:
                    continue
                answer = self.client.execution(execution)
                if answer["status"] in FINISHED:
                    self.stored[execution] = read_execution(answer)
                elif answer["status"] == "waiting":
                    self.stored[execution] = read_execution(answer)
                    parked.append(answer)
                else:
                    busy = True
            over = main in self.stored and not busy
            if over and not parked and self._settled(main):
                return self.stored[main]
            if over and parked and not self._attend(parked):
                return self.stored[main]
            self._pause("to be over")

    def _all(self, main: str) -> list[str]:
        found = [main]
        for workflow in self.ids.values():
            found += self.client.executions(workflow)
        return found

    def _settled(self, main: str) -> bool:
        """Whether no execution came up since the last look, or was missed as it ended."""
        if not all(waits for *_, waits in self._callers()):
            time.sleep(_SETTLED_SECONDS)  # one that nobody waits for may begin late
        return all(execution in self.stored for execution in self._all(main))

    def _attend(self, parked: Sequence[Json]) -> bool:
        """Answer what can be answered; False if nothing will ever happen again."""
        time.sleep(_SETTLED_SECONDS)  # the caller of a parked execution is parked a moment later
        stuck: set[str] = set()
        for answer in parked:
            name = str(answer["data"]["resultData"]["lastNodeExecuted"])
            row = _row(answer["workflowData"], name)
            # A node that calls waits for an execution that is parked itself, or was just now.
            if short_type(row) == "wait" and not self._attend_wait(answer, row):
                stuck.add(str(answer["id"]))
        for execution in list(stuck):
            parent = self.stored[execution].parent
            while parent is not None and parent in self.stored:
                stuck.add(parent)
                parent = self.stored[parent].parent
        return not {str(answer["id"]) for answer in parked} <= stuck

    def _attend_wait(self, answer: Json, row: Mapping[str, Any]) -> bool:
        execution, name, parameters = str(answer["id"]), row["name"], row["parameters"]
        rows = answer["data"]["resultData"]["runData"].get(name) or [{}]
        ends = self.ends.setdefault((execution, name), {})
        run = len(rows) - 1
        if run in ends:  # seen before
            return ends[run] != "stays"
        if parameters.get("resume", "timeInterval") != "webhook":
            ends[run] = "timer"
            return True
        workflow = self._name_of(str(answer["workflowId"]))
        place = name if workflow is None else f"{workflow}/{name}"
        visit = self.visits.get(place, 0)
        self.visits[place] = visit + 1
        answers = self.scenario.answers.get(place, ())
        given = answers[visit] if visit < len(answers) else {}
        if given is None:
            limited = bool(parameters.get("limitWaitTime"))
            ends[run] = "timeout" if limited else "stays"
            return limited
        options = parameters.get("options") or {}
        suffix = str(options.get("webhookSuffix", ""))
        method = str(parameters.get("httpMethod", "GET"))
        said = self.client.resume(answer, given, suffix=suffix, method=method)
        if said["status"] != 200:
            raise ServerError(f"the wait `{place}` answered {said}")
        ends[run] = "answer"
        return True

    def _callers(self) -> Iterator[tuple[str, str, bool]]:
        """Nodes that call: the server's id of their workflow, their name, whether they wait."""
        flows = {self.main: self.scenario.workflow} | {
            self.ids[name]: flow for name, flow in self.scenario.workflows.items()
        }
        for identity, flow in flows.items():
            for row in flow["nodes"]:
                if short_type(row) == "executeWorkflow":
                    options = row["parameters"].get("options") or {}
                    yield identity, row["name"], bool(options.get("waitForSubWorkflow", True))

    def line(self, main: StoredExecution) -> Json:
        called = [one for one in self.stored.values() if one.id != main.id]
        lost = [one.id for one in called if one.parent not in self.stored]
        if lost:
            raise ValueError(f"nothing of this scenario called execution {lost[0]}")
        waited = [one for one in called if one.waited]
        detached = sorted((one for one in called if not one.waited), key=lambda one: int(one.id))
        callers = [(flow, name) for flow, name, waits in self._callers() if waits]
        line: Json = {
            "name": self.scenario.name,
            "kinds": list(self.scenario.kinds),
            "wf": _plain(self.scenario.workflow),
            "trigger": self.scenario.trigger,
            "body": self.scenario.body,
            "status": main.status,
            "order": [self._entry(run) for run in nest_runs(main, waited, callers)],
        }
        if self.scenario.workflows:
            flows = self.scenario.workflows.items()
            line["workflows"] = {name: _plain(flow) for name, flow in flows}
        if self.scenario.answers:
            line["answers"] = {place: list(one) for place, one in self.scenario.answers.items()}
        if detached:
            line["detached"] = [
                {
                    "workflow": self._name_of(one.workflow),
                    "items": one.items,
                    "status": one.status,
                    "order": [self._entry(run) for run in nest_runs(one, waited, callers)],
                }
                for one in detached
            ]
        return line

    def _name_of(self, identity: str) -> str | None:
        return next((name for name, one in self.ids.items() if one == identity), None)

    def _entry(self, run: StoredRun) -> list[Any]:
        more: Json = {}
        name = self._name_of(run.workflow)
        if name is not None:
            more["workflow"] = name
        if run.status == "error":
            more["error"] = True
        if run.status == "waiting":
            more["stays"] = True
        flow = self.scenario.workflow if name is None else self.scenario.workflows[name]
        row = _row(flow, run.node)
        if short_type(row) == "wait" and not row.get("disabled") and run.status != "error":
            timed = row["parameters"].get("resume", "timeInterval") not in ("webhook", "form")
            ended = self.ends.get((run.execution, run.node), {}).get(run.run)
            more["wait"] = ended or ("slept" if timed else "passed")
        entry: list[Any] = [run.node, list(run.outputs)]
        return [*entry, more] if more else entry

    def _rewritten(self, workflow: Mapping[str, Any], name: str) -> Json:
        """A copy with the server's ids of what it calls and with a webhook path of its own."""
        flow = copy.deepcopy(dict(workflow))
        flow["name"] = f"{self.scenario.name[:100]} / {name}"
        for row in flow["nodes"]:
            kind = short_type(row)
            if kind == "webhook":
                self.path = f"recorded-{next(_NUMBERS)}"
                row["parameters"]["path"] = row["webhookId"] = self.path
            elif kind == "wait":
                row["webhookId"] = f"wait-{next(_NUMBERS)}"
            elif kind == "executeWorkflow":
                called = row["parameters"]["workflowId"]
                called["value"] = self.ids[called["value"]]
        return flow

    def _pause(self, what: str) -> None:
        if time.monotonic() > self.deadline:
            raise TookTooLongError(
                f"waited over {self.seconds:.0f} s for {self.scenario.name} {what}"
            )
        time.sleep(_POLL_SECONDS)


def _row(workflow: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(row for row in workflow["nodes"] if row["name"] == name)
    return found


def _plain(workflow: Mapping[str, Any]) -> Json:
    kept = ("nodes", "connections", "settings", "pinData")
    return {key: workflow[key] for key in kept if key in workflow}


def _put_url(value: Any, url: str) -> Any:
    if isinstance(value, str):
        return value.replace(SERVER, url)
    if isinstance(value, dict):
        return {key: _put_url(one, url) for key, one in value.items()}
    return [_put_url(one, url) for one in value] if isinstance(value, list) else value
