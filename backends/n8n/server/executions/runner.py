"""A runner that executes the runs of a model on a real n8n server, with only an API key."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal

from orgflow.backends.n8n.engine.runs import EngineRun, RunRequest
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.server.client.backoff import Backoff
from orgflow.backends.n8n.server.client.client import FINISHED
from orgflow.backends.n8n.server.client.errors import RefusedError, ServerError
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.deployment_marker import RUN_MARK, with_marker
from orgflow.backends.n8n.server.executions.execution import read_execution
from orgflow.backends.n8n.server.executions.harness import Harness
from orgflow.backends.n8n.server.stale_runs import process_identity

from orgflow_ir.flow.token_game.stub_data import Unplayable
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.plugins.runners import WorkflowReport

if TYPE_CHECKING:
    from orgflow_ir.flow.token_game.runs import Run
    from orgflow_ir.flow.token_game.stimulus import Stimulus

Json = dict[str, Any]

RUN_SECONDS = 30.0
"""Maximum elapsed time of one run."""

_CALL_AGAIN = Backoff(3.0)
_LOOK_SECONDS = (0.02, 0.16)
_SETTLE_SECONDS = 0.15
_SETTLE_LOOKS = 20


class ServerRunner(LocalRunner):
    """Workflow, stubs and results as in `LocalRunner`; the runs are executed on a server.

    A workflow is created once for all runs of a process (first in its deliverable form, so that
    n8n's acceptance is also tested), and deleted afterwards. `clear_stale_runs` finds the leftovers
    of killed runs.

    Args:
        client: with a key, and the version of the server.
        undo: the same server with shorter backoff, for deleting.
        seconds: maximum elapsed time of one run.
    """

    def __init__(
        self, client: WorkflowClient, undo: WorkflowClient, seconds: float = RUN_SECONDS
    ) -> None:
        super().__init__()
        self._client = client
        self._undo = undo
        self._seconds = seconds
        self._made: set[str] = set()
        self._stopped = False

    @property
    def changed(self) -> tuple[str, ...]:
        """As on the local engine, with a webhook before the trigger."""
        return (*super().changed, "every run starts at its own webhook")

    def data_of(self, run: Run) -> tuple[Stimulus, ...]:
        """See `LocalRunner`. Raises `Unplayable`, also for runs of several workflows."""
        if self.compiled.called:
            names = join_listed(f"`{scope.plan.scope.title}`" for scope in self.compiled.called)
            raise Unplayable(
                f"it calls {names}; runs of several workflows are executed only on the local engine"
            )
        return super().data_of(run)

    def run_workflow(self, text: str) -> WorkflowReport | None:
        """See `Runner`: only the local engine runs a workflow as it is."""
        del text
        return None

    def play_requests(self, requests: Sequence[RunRequest]) -> list[EngineRun]:
        """Execute requests on copies of their workflows, one per trigger. Raises `ServerError`;
        nothing is left on the server in that case either."""
        self._stopped = False
        if not requests:
            return []
        harnesses: dict[str, Harness] = {}
        try:
            for request in requests:
                if request.trigger not in harnesses:
                    harnesses[request.trigger] = self._deploy_harness(request)
            with ThreadPoolExecutor(self._client.at_once) as pool, _at_stage("execution"):
                return list(pool.map(lambda r: self._play_run(harnesses[r.trigger], r), requests))
        finally:
            self._remove_deployed()

    def _deploy_harness(self, request: RunRequest) -> Harness:
        path = f"{RUN_MARK}{secrets.token_hex(12)}"
        harness = Harness(request, path, self._client.version)
        body = self._client.body_of(harness.workflow)
        delivered = self._client.body_of(request.workflow) | {"name": body["name"]}
        # Both have a note, so that what is left of a killed run is known as such.
        row = self._client.create_body(with_marker(delivered, path, origin=process_identity()))
        workflow_id = str(row["id"])
        self._made.add(workflow_id)
        row = self._client.update(workflow_id, with_marker(body, path, origin=process_identity()))
        with _at_stage("activation"):
            self._client.announce(workflow_id)
            self._client.await_live(row)
        return harness

    def _play_run(self, harness: Harness, request: RunRequest) -> EngineRun:
        """Play one run. Raises `ServerError`."""
        response = self._call_webhook(harness, request)
        execution = response["text"].strip().strip('"')
        if response["status"] != 200 or not execution.isdigit():
            raise RefusedError(
                f"the webhook of a run returned {response['status']}: {response['text'][:200]}",
                response["status"],
                response["text"][:200],
            )
        deadline = time.monotonic() + self._seconds
        answered: set[tuple[str, int]] = set()
        pause, longest = _LOOK_SECONDS
        while True:
            answer = self._read_execution(execution)
            status = str(answer.get("status"))
            if status in FINISHED:
                if answered or self._client.version.major < 2 or not read_execution(answer).order:
                    answer = self._settled_execution(answer)
                return harness.engine_run(read_execution(answer), answer)
            if self._stopped:
                return EngineRun("limit", "stopped", None)
            if time.monotonic() > deadline:
                self._client.stop_execution(execution)
                return EngineRun("limit", f"not finished after {self._seconds:.0f} s", None)
            if status == "waiting":
                self._answer_wait(answer, request.answers or {}, answered)
            self._client.sleep(pause)
            pause = min(2 * pause, longest)  # looking costs the server as much as a short run

    def _call_webhook(self, harness: Harness, request: RunRequest) -> Json:
        """Call the webhook of a run; again where nobody answers at it yet, as behind a gateway."""
        pauses = _CALL_AGAIN.pauses()
        while True:
            response = self._client.call(f"/webhook/{harness.path}", harness.body(request))
            pause = next(pauses, None) if response["status"] in (404, 429, 503) else None
            if pause is None:
                return response
            self._client.sleep(pause)

    def _read_execution(self, execution: str) -> Json:
        try:
            return self._client.execution(execution)
        except RefusedError as error:
            if error.status != 404:  # not written yet
                raise
            return {}

    def _settled_execution(self, answer: Json) -> Json:
        """The execution with all its data: n8n 1 writes the state of one first, and its data some
        milliseconds later (measured, also without a wait)."""
        for _ in range(_SETTLE_LOOKS):
            self._client.sleep(_SETTLE_SECONDS)
            before, answer = answer, self._read_execution(str(answer["id"])) or answer
            order = read_execution(answer).order
            if order and len(order) == len(read_execution(before).order):
                break
        return answer

    def _answer_wait(
        self,
        answer: Json,
        bodies: Mapping[str, Sequence[Any]],
        answered: set[tuple[str, int]],
    ) -> None:
        """Answer the webhook wait that an execution is parked at, once: with the body of the visit
        that the node of this name has, if there is one."""
        data = (answer.get("data") or {}).get("resultData") or {}
        name = str(data.get("lastNodeExecuted"))
        rows: list[Mapping[str, Any]] = (answer.get("workflowData") or {}).get("nodes") or []
        row = next((row for row in rows if row.get("name") == name), {})
        parameters = row.get("parameters") or {}
        visit = len((data.get("runData") or {}).get(name) or ())
        if short_type(row) != "wait" or parameters.get("resume") != "webhook":
            return
        if (name, visit) in answered:
            return
        suffix = str((parameters.get("options") or {}).get("webhookSuffix", ""))
        method = str(parameters.get("httpMethod", "GET"))
        times = sum(1 for other, _ in answered if other == name)
        body: Any = next(iter(bodies.get(name, ())[times:]), {})
        response = self._client.resume(answer, body, suffix=suffix, method=method)
        if response["status"] == 200:
            answered.add((name, visit))

    def _remove_deployed(self) -> None:
        """Delete what was made; also from `close`, should that have failed."""
        for workflow_id in sorted(self._made):
            try:
                self._undo.delete(workflow_id)
            except ServerError:
                continue  # a later command takes it away
            self._made.discard(workflow_id)

    def close(self) -> None:
        """Delete the remaining copies; the clients stay open."""
        self._remove_deployed()
        super().close()


@contextlib.contextmanager
def _at_stage(stage: Literal["activation", "execution"]) -> Iterator[None]:
    """Errors of the server in here are of this stage."""
    try:
        yield
    except ServerError as error:
        error.stage = stage
        raise
