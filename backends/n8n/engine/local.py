"""Drive n8n's own engine in one Node process."""

from __future__ import annotations

import collections
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from orgflow.backends.n8n.engine.engine_folder import engine_dir
from orgflow.backends.n8n.engine.node import NodeRuntime, find_node
from orgflow.backends.n8n.engine.process import NodeDied, NodeProcess, NodeSilent
from orgflow.backends.n8n.engine.runs import (
    DetachedRun,
    EngineRun,
    NodeRun,
    RunRequest,
    WaitEvent,
    run_from_response,
)

from orgflow_ir.plugins.runners import RunnerError

__all__ = [
    "DEFAULT_MS",
    "DetachedRun",
    "EngineError",
    "EngineRun",
    "LocalEngine",
    "NodeRun",
    "RunRequest",
    "WaitEvent",
]

DEFAULT_MS = 30_000
"""Default time limit of a run, in milliseconds."""

_START_SECONDS = 60.0
_GRACE_SECONDS = 15.0
_PIPELINED = 16


class EngineError(RunnerError):
    """The engine is not installed, does not start, dies, or refuses a request as malformed."""


class LocalEngine:
    """n8n's engine in a child process that lives until `close()`.

    Use it as a context manager, or call `start()` and `close()`; `run()` starts it if necessary.
    The process ends with this one. It has no network except `reach`, writes only to its own
    temporary folder, and is restarted once after a crash. Not safe for use by several threads at
    once.

    Args:
        directory: an installed engine; the default is `engine_folder.engine_dir()`.
        node: the Node to use; the default is `node.find_node()`.
        reach: addresses that runs may connect to, as `127.0.0.1:8080`: a number and a port.
        credentials: the content of credentials by their type in n8n.
    """

    def __init__(
        self,
        directory: Path | None = None,
        node: NodeRuntime | None = None,
        *,
        reach: Sequence[str] = (),
        credentials: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._more = {"ORGFLOW_N8N_REACH": ",".join(reach)} if reach else {}
        if credentials:
            self._more["ORGFLOW_N8N_CREDENTIALS"] = json.dumps(credentials)
        self._directory = directory
        self._node = node
        self._process: NodeProcess | None = None
        self._ids = itertools.count(1)
        self._busy = False
        self.restarts = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process id of the running Node."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start the process if it is not running.

        Raises:
            EngineError: the engine is not installed or does not start.
            NodeError: there is no usable Node.
        """
        if self._process is not None and self._process.alive:
            return
        self._drop_process()
        directory = self._directory or engine_dir()
        modules = directory / "node_modules"
        if not (modules / "n8n-core").is_dir():
            raise EngineError(
                f"n8n's engine is not installed in {directory}: run `orgflowc engine install`"
            )
        node = self._node or find_node()
        try:
            process = NodeProcess(node, directory, self._more)
        except OSError as error:
            raise EngineError(f"n8n's engine failed to start: {error}") from error
        self._process = process
        try:
            process.send({"id": 0, "cmd": "ping"})
            process.receive(_START_SECONDS)
        except (NodeDied, NodeSilent) as error:
            stderr = process.stderr_text()
            self._drop_process()
            raise EngineError(f"n8n's engine failed to start: {stderr or error}") from error

    def close(self) -> None:
        """End the process and remove its folder; may be called repeatedly."""
        self._drop_process()

    def rss(self) -> int:
        """The memory the Node process holds, in bytes.

        Raises:
            EngineError: it does not start, or a `run_many` is not finished.
        """
        if self._busy:
            raise EngineError("this engine is already executing another run_many")
        self.start()
        process = self._running_process()
        process.send({"id": 0, "cmd": "ping"})
        return int(process.receive(_START_SECONDS)["rss"])

    def run(
        self,
        workflow: Mapping[str, Any],
        trigger: str,
        *,
        items: Sequence[Mapping[str, Any]] | None = None,
        workflows: Mapping[str, Mapping[str, Any]] | None = None,
        stubs: Mapping[str, Mapping[str, Any]] | None = None,
        answers: Mapping[str, Sequence[Any]] | None = None,
        limits: Mapping[str, int] | None = None,
        data: bool = False,
    ) -> EngineRun:
        """Run one workflow from the node `trigger`; the arguments are those of `RunRequest`.

        Raises:
            EngineError: as `run_many`.
        """
        request = RunRequest(
            workflow=workflow,
            trigger=trigger,
            items=items,
            workflows=workflows,
            stubs=stubs,
            answers=answers,
            limits=limits,
            data=data,
        )
        return next(self.run_many((request,)))

    def run_many(self, requests: Iterable[RunRequest]) -> Iterator[EngineRun]:
        """Run requests one after the other, sending ahead; yields their runs in the same order.

        A run that exceeds its limit and cannot be stopped from inside gets the status "limit", and
        the process is replaced.

        Raises:
            EngineError: a request is malformed (an unknown node type, a stub for a missing node, a
                missing sub-workflow …), the process died twice during one request, or another
                `run_many` of this engine is not finished.
        """
        if self._busy:
            raise EngineError("this engine is already executing another run_many")
        self._busy = True
        source = iter(requests)
        waiting: collections.deque[tuple[RunRequest, dict[str, Any]]] = collections.deque()
        deaths = 0
        try:
            while True:
                self._send_ahead(source, waiting)
                if not waiting:
                    return
                request, _ = waiting[0]
                try:
                    response = self._running_process().receive(_limit_seconds(request))
                except NodeSilent:
                    self._start_again(waiting, skip=1)
                    deaths = 0
                    yield _hung_run(request)
                    continue
                except NodeDied as died:
                    deaths += 1
                    if deaths > 1:
                        raise EngineError(
                            f"n8n's engine crashed twice during one run: {died}"
                        ) from died
                    self._start_again(waiting, skip=0)
                    continue
                waiting.popleft()
                deaths = 0
                if not response["ok"]:
                    raise EngineError(f"n8n's engine refused the run: {response['error']}")
                yield run_from_response(response)
        finally:
            self._busy = False
            # Answers to requests nobody waits for any more would be read as those of later ones.
            if waiting:
                self._drop_process()

    def _send_ahead(
        self,
        source: Iterator[RunRequest],
        waiting: collections.deque[tuple[RunRequest, dict[str, Any]]],
    ) -> None:
        while len(waiting) < _PIPELINED:
            request = next(source, None)
            if request is None:
                return
            message = {"id": next(self._ids), "cmd": "run", **request.message()}
            if not waiting:
                self.start()
            waiting.append((request, message))
            self._running_process().send(message)

    def _start_again(
        self, waiting: collections.deque[tuple[RunRequest, dict[str, Any]]], *, skip: int
    ) -> None:
        """Replace the process and send what has no answer yet, but for the first `skip`."""
        for _ in range(skip):
            waiting.popleft()
        self._drop_process()
        self.restarts += 1
        self.start()
        for _, message in waiting:
            self._running_process().send(message)

    def _running_process(self) -> NodeProcess:
        if self._process is None:
            raise EngineError("n8n's engine is not running")
        return self._process

    def _drop_process(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None


def _limit_seconds(request: RunRequest) -> float:
    limits = request.limits or {}
    return limits.get("ms", DEFAULT_MS) / 1000 + _GRACE_SECONDS


def _hung_run(request: RunRequest) -> EngineRun:
    limit = (request.limits or {}).get("ms", DEFAULT_MS)
    text = f"ran longer than {limit} ms without a pause; the engine was restarted"
    return EngineRun(status="limit", error=text, error_node=None, ms=limit)
