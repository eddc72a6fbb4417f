"""moto's interpreter of Amazon States Language, in process: no account, no network.

moto (PyPI `moto[stepfunctions]`) is not needed for compiling; it is imported when the first machine
is loaded. Calls that leave the machine, of functions and to an event bus, are answered here.
"""

from __future__ import annotations

import importlib
import io
import json
import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from orgflow.backends.asl.element_order import Schedule
from orgflow.backends.asl.format import Definition, all_states

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.plugins.runners import RunnerError

REGION = "us-east-1"
ACCOUNT = "123456789012"
FUNCTION = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:"
"""The prefix of a function's ARN; the interpreter requires one, and it is never called."""

_ROLE = f"arn:aws:iam::{ACCOUNT}:role/orgflow"
_POLL_SECONDS = 0.002
_TOLD_SECONDS = 0.5


class Answer(NamedTuple):
    """The outcome of an external effect: a result, or an error by name."""

    result: Any = None
    error: str | None = None


Effect = Callable[[str], Answer]
"""The answer to an effect: called with the element of a function (its name is the id in hexadecimal
digits, since ids are arbitrary) or of an event on the bus."""


class Played(NamedTuple):
    """One execution: the status in Step Functions' terms, the entered states in order, error,
    cause, and the final output."""

    status: str
    entered: tuple[str, ...]
    error: str | None
    cause: str | None
    output: Any
    milliseconds: float


class MotoEngine:
    """A separate moto account; `close` restores the replaced parts of moto.

    Its backend is used directly: through boto3, a run takes ten times as long, mostly for reading
    and writing XML and JSON. Raises `RunnerError` if moto is missing.
    """

    def __init__(self) -> None:
        models = _import_moto("models")
        functions = _import_moto("asl.component.state.exec.state_task.lambda_eval_utils")
        events = _import_moto(
            "asl.component.state.exec.state_task.service.state_task_service_events"
        )
        parser = _import_moto("asl.parse.asl_parser").AmazonStateLanguageParser
        self._logger = logging.getLogger("moto.stepfunctions")
        self._level = self._logger.level
        self._logger.setLevel(logging.CRITICAL + 1)
        self._backend = models.StepFunctionsParserBackend(REGION, ACCOUNT)
        self._effect: Effect = lambda name: Answer({})
        self._parse = parser.parse
        self._parsed: dict[str, Any] = {}
        self._patched: list[tuple[Any, str, Any]] = []
        self._patch(functions, "boto_client_for", lambda **_: self)
        self._patch(events, "boto_client_for", lambda **_: self)
        self._patch(parser, "parse", staticmethod(self._parse_once))
        self._threads: list[Any] = _import_moto(
            "utils"
        ).TMP_THREADS  # every run's, kept indefinitely
        self._schedule: Schedule | None = None
        state = _import_moto("asl.component.state.state").CommonStateField
        self._patch(state, "eval", self._gate(state.eval))
        self._machine: Any = None
        self._names: dict[str, str] = {}
        self._count = 0

    def _patch(self, owner: Any, name: str, value: Any) -> None:
        self._patched.append((owner, name, vars(owner).get(name)))
        setattr(owner, name, value)

    def _gate(self, begin: Any) -> Any:
        """States begin when a schedule lets them, those of stopped branches never."""

        def gated(state: Any, env: Any) -> None:
            if self._schedule is not None:
                name = str(state.name)
                self._schedule.wait(self._names.get(name, name), env.is_running)
            if env.is_running():
                begin(state, env)

        return gated

    def _parse_once(self, definition: str) -> Any:
        """Parsing takes far longer than running, and moto would do it for every run."""
        if definition not in self._parsed:
            self._parsed.clear()
            self._parsed[definition] = self._parse(definition)
        return self._parsed[definition]

    def load(self, definition: Definition) -> None:
        """Set the machine for subsequent runs. Raises `RunnerError` if the interpreter refuses
        it."""
        refused = _import_moto("api").InvalidDefinition
        self._names = {_as_read(name): name for name, _ in all_states(definition)}
        self._count += 1
        self._backend.state_machines.clear()
        try:
            self._machine = self._backend.create_state_machine(
                f"machine-{self._count}", json.dumps(definition, ensure_ascii=False), _ROLE
            )
        except refused as error:
            raise RunnerError(f"moto rejects the state machine: {error.message}") from error

    def run(
        self,
        data: Mapping[str, Any],
        effect: Effect,
        seconds: float,
        schedule: Schedule | None = None,
    ) -> Played:
        """One execution with `data` as its input, stopped after `seconds`."""
        self._effect, self._schedule = effect, schedule
        started = time.perf_counter()
        self._count += 1
        self._machine.executions.clear()
        execution = self._backend.start_execution(
            self._machine.arn, f"run-{self._count}", json.dumps(dict(data))
        )
        while execution.status == "RUNNING":
            if time.perf_counter() - started > seconds:
                execution.stop(datetime.now(UTC), None, None)
                break
            time.sleep(_POLL_SECONDS)
        status = "TIMED_OUT" if execution.status == "RUNNING" else execution.status
        deadline = time.perf_counter() + _TOLD_SECONDS
        while (
            execution.output is None and execution.error is None and time.perf_counter() < deadline
        ):
            time.sleep(_POLL_SECONDS)  # moto sets the status first
        time.sleep(0 if execution.error is None else _POLL_SECONDS)
        self._threads.clear()
        events = execution.to_history_output()["events"]
        return Played(
            status,
            tuple(
                self._names.get(name := e["stateEnteredEventDetails"]["name"], name)
                for e in events
                if "stateEnteredEventDetails" in e
            ),
            execution.error,
            execution.cause,
            execution.output,
            (time.perf_counter() - started) * 1000,
        )

    # -- effects: this object stands for the clients of the services that states call ----------

    def invoke(self, **call: Any) -> dict[str, Any]:
        """A function is called: its answer, or an error with the requested name."""
        answer = self._effect(bytes.fromhex(call["FunctionName"].removeprefix(FUNCTION)).decode())
        if answer.error is None:
            return {"StatusCode": 200, "Payload": _json_body(answer.result)}
        failure = {"errorType": answer.error, "errorMessage": "as the run requires"}
        return {"StatusCode": 200, "FunctionError": "Unhandled", "Payload": _json_body(failure)}

    def put_events(self, **call: Any) -> dict[str, Any]:
        """Events with a task token on the bus; each is answered immediately."""
        for entry in call["Entries"]:
            detail = json.loads(entry["Detail"])
            answer = self._effect(json.loads(f'"{detail["element"]}"'))
            token = detail["taskToken"]
            if answer.error == "States.Timeout":
                self._time_out(token)
            elif answer.error is None:
                self._backend.send_task_success(token, json.dumps(answer.result))
            else:
                self._backend.send_task_failure(token, answer.error, "")
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "1"} for _ in call["Entries"]]}

    def _time_out(self, token: str) -> None:
        """The time is up, now: nobody waits for it."""
        late = _import_moto("asl.eval.callback.callback").CallbackOutcomeTimedOut
        for execution in self._machine.executions:
            pool = execution.exec_worker.env.callback_pool_manager
            pool.notify(callback_id=token, outcome=late(callback_id=token))

    def close(self) -> None:
        """Restore the replaced parts of moto."""
        for owner, name, value in reversed(self._patched):
            if value is None:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        self._patched.clear()
        self._logger.setLevel(self._level)


def _import_moto(module: str) -> Any:
    """A module of moto's interpreter, which ships without types."""
    try:
        return importlib.import_module(f"moto.stepfunctions.parser.{module}")
    except ImportError as error:
        from orgflow_ir.plugins.packages import install_command

        raise RunnerError(
            f"the interpreter for asl cannot be loaded ({error}): {install_command('moto')}"
        ) from error


def _json_body(value: Any) -> io.BytesIO:
    return io.BytesIO(json.dumps(value).encode())


def _as_read(text: str) -> str:
    """A state's name, or a text in a payload, as moto has it: it keeps the escapes of JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
