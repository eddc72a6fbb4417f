"""The npm package `jsonata`, in the version of Step Functions, as the referee of translations."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from node_tools import NodeChild, tool

from orgflow_ir.model.records import NamedTuple

PACKAGES = {"jsonata": "2.0.6"}
SCRIPT = Path(__file__).resolve().parents[1] / "backends" / "asl" / "jsonata_referee.cjs"
ROWS = Path(__file__).resolve().parents[1] / "backends" / "n8n"
"""The folder of the rows with expected values, which all targets share."""

RAISED = "D3137"
"""The code of an error that an expression raises itself."""


class Case(NamedTuple):
    """An expression and its `$states`."""

    code: str
    states: dict[str, Any]


class Referee:
    """jsonata in a Node process."""

    def __init__(self, child: NodeChild) -> None:
        self._child = child
        self._lock = threading.Lock()  # iterations of a Map state ask at the same time

    def answers(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """The value, or the error, of each expression."""
        asked = [{"code": case.code, "input": case.states} for case in cases]
        with self._lock:
            answers: list[dict[str, Any]] = self._child.ask({"cases": asked})["answers"]
        return answers


@contextmanager
def jsonata_referee() -> Iterator[Referee]:
    """jsonata; the test is skipped (under CI=true failed) where it cannot be had."""
    folder = tool("jsonata", PACKAGES)
    with NodeChild(SCRIPT, str(folder)) as child:
        yield Referee(child)


def read_rows(name: str) -> list[list[str]]:
    """The rows of a file with expected values."""
    lines = (ROWS / name).read_text("utf-8").split("\n")
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON, where 5.0 is 5."""
    if type(one) in (int, float) and type(other) in (int, float):
        return float(one) == float(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return type(one) is type(other) and bool(one == other)
