"""Executions of emitted state machines as they are delivered: moto runs the states, npm's jsonata
evaluates their expressions (moto has no evaluator), and a test answers functions and callbacks."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from jsonata_tools import Case, Referee
from orgflow.backends.asl.engine import MotoEngine, Played
from orgflow.backends.asl.format import Definition

_JSONATA = "moto.stepfunctions.parser.asl.jsonata.jsonata"
_SECONDS = 20.0

Answer = Callable[[dict[str, Any]], Any]
"""The answer to the payload of a function, or to the detail of an event."""


class _Engine(MotoEngine):
    """Asks jsonata for values, and a test for answers."""

    def __init__(self, referee: Referee, answer: Answer) -> None:
        super().__init__()
        self._answer = answer
        self._referee = referee
        self._patch(importlib.import_module(_JSONATA), "_eval_jsonata", self._evaluate)

    def _evaluate(self, expression: str) -> Any:
        errors = importlib.import_module(_JSONATA)
        (answer,) = self._referee.answers([Case(expression, {})])
        if "value" not in answer:
            raise errors.JSONataException("UNKNOWN", str(answer.get("error", "undefined")))
        return answer["value"]

    def invoke(self, **call: Any) -> dict[str, Any]:
        """A function is called with a payload."""
        assert call["FunctionName"].startswith("placeholder-"), call
        payload = call["Payload"]
        text = payload.decode() if isinstance(payload, bytes) else payload
        body = json.dumps(self._answer(json.loads(text))).encode()
        return {"StatusCode": 200, "Payload": BytesIO(body)}

    def put_events(self, **call: Any) -> dict[str, Any]:
        """Events with a task token, answered at once."""
        for entry in call["Entries"]:
            detail = json.loads(entry["Detail"])
            self._backend.send_task_success(detail["taskToken"], json.dumps(self._answer(detail)))
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "1"} for _ in call["Entries"]]}


def play_machine(
    definition: Definition,
    given: Mapping[str, Any],
    referee: Referee,
    answer: Answer = lambda detail: {},
) -> Played:
    """One execution of a machine with this input."""
    engine = _Engine(referee, answer)
    try:
        engine.load(definition)
        return engine.run(given, lambda name: None, _SECONDS)  # type: ignore[arg-type,return-value]
    finally:
        engine.close()
