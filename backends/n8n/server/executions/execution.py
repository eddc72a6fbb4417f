"""Read the stored data of a run: the node runs of an execution and of those it called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orgflow_ir.model.records import NamedTuple

Json = Mapping[str, Any]


class StoredRun(NamedTuple):
    """One stored node run.

    Attributes:
        node: its name.
        workflow: the server's id of its workflow.
        execution: the id of its execution.
        run: n8n's run index within that execution.
        outputs: items on each output.
        status: success, error or waiting.
        error: n8n's message, also if the run continued.
        began: start time in ms; `ended` likewise. After a wait, both are those of its end.
    """

    node: str
    workflow: str
    execution: str
    run: int
    outputs: tuple[int, ...]
    status: str
    error: str | None
    began: int
    ended: int


class StoredExecution(NamedTuple):
    """One execution.

    Attributes:
        id: the server's id; ids are ascending.
        workflow: the id of its workflow.
        status: the server's name of the status.
        parent: the id of the execution that called it, None without one.
        waited: whether the parent waited for it.
        order: its own node runs in starting order.
        items: the output of its first node.
    """

    id: str
    workflow: str
    status: str
    parent: str | None
    waited: bool
    order: tuple[StoredRun, ...]

    @property
    def items(self) -> int:
        return self.order[0].outputs[0] if self.order and self.order[0].outputs else 0


def read_execution(answer: Json) -> StoredExecution:
    """Read an execution with its data, in the form of the public API."""
    data = answer.get("data") or {}
    by_node: Mapping[str, Sequence[Json]] = (data.get("resultData") or {}).get("runData") or {}
    parent = _find_parent(data, by_node)
    identity = str(answer["id"])
    workflow = str(answer["workflowId"])
    runs = [
        (row.get("startTime", 0), row.get("executionIndex", 0), place, name, run, row)
        for place, (name, rows) in enumerate(by_node.items())
        for run, row in enumerate(rows)
    ]
    # The index starts again when a wait is over, the time does not.
    runs.sort(key=lambda entry: entry[:3])
    return StoredExecution(
        identity,
        workflow,
        str(answer["status"]),
        str(parent["executionId"]) if parent else None,
        bool(parent.get("shouldResume")),
        tuple(_node_run(name, workflow, identity, run, row) for *_, name, run, row in runs),
    )


def _node_run(name: str, workflow: str, execution: str, run: int, row: Json) -> StoredRun:
    began = int(row.get("startTime", 0))
    error = row.get("error")
    status = str(row.get("executionStatus") or ("error" if error else "success"))
    outputs = (row.get("data") or {}).get("main") or ()
    return StoredRun(
        name,
        workflow,
        execution,
        run,
        tuple(len(items or ()) for items in outputs),
        status,
        str(error.get("message", "error")) if isinstance(error, Mapping) else None,
        began,
        began + int(row.get("executionTime", 0)),
    )


def _find_parent(data: Json, by_node: Mapping[str, Sequence[Json]]) -> Json:
    """Who called, as the execution itself or the run of its trigger has it."""
    parent = data.get("parentExecution")
    for rows in by_node.values():
        for row in rows:
            parent = parent or (row.get("metadata") or {}).get("parentExecution")
    return parent or {}


def nest_runs(
    root: StoredExecution, called: Iterable[StoredExecution], callers: Iterable[tuple[str, str]]
) -> tuple[StoredRun, ...]:
    """The node runs of an execution, with those of called executions at their position.

    Args:
        root: the execution.
        called: the executions that it and they called and waited for.
        callers: workflow and name of the nodes that call and wait.

    Raises:
        ValueError: a called execution matches no run of a calling node.
    """
    children: dict[str, list[StoredExecution]] = {}
    for execution in sorted(called, key=lambda child: int(child.id)):
        children.setdefault(execution.parent or "", []).append(execution)
    return tuple(_flatten_runs(root, children, frozenset(callers)))


def _flatten_runs(
    execution: StoredExecution,
    children: Mapping[str, list[StoredExecution]],
    callers: frozenset[tuple[str, str]],
) -> list[StoredRun]:
    waiting = list(children.get(execution.id, ()))
    runs: list[StoredRun] = []
    for run in execution.order:
        runs.append(run)
        if (run.workflow, run.node) not in callers:
            continue
        # Calls are made one after the other, and one takes longer than a millisecond. Where the
        # call was stored, its times are those of its end, which is after the start all the same.
        while waiting and _start_time(waiting[0]) <= run.ended:
            runs += _flatten_runs(waiting.pop(0), children, callers)
    if waiting:
        raise ValueError(f"execution {waiting[0].id} matches no call of {execution.id}")
    return runs


def _start_time(execution: StoredExecution) -> int:
    return execution.order[0].began if execution.order else 0
