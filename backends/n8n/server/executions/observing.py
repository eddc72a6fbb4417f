"""The behaviour of a workflow's stored executions, in terms of its source model.

An execution contains its workflow, so each is read by its own version. Nodes are matched with the
model as in `verify`, but never by their neighbours: a merely probable match is reported as unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.plan.graph import NodeKey
from orgflow.backends.n8n.server.executions.choices_taken import visits_of
from orgflow.backends.n8n.server.executions.execution import StoredRun, read_execution
from orgflow.backends.n8n.server.executions.matched_version import Tie
from orgflow.backends.n8n.verify.choices import find_readers
from orgflow.backends.n8n.verify.matching import match_reference
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.model import Event
from orgflow_ir.model.records import dataclass
from orgflow_ir.plugins.executions import (
    ExecutionObserver,
    Observed,
    SeenNode,
    UnreadableExecution,
)

Json = Mapping[str, Any]

_SURE, _SAID = 0.5, 0.2
"""Share of a process that must be found in a workflow; lower if its map names the process, by an id
that other processes may share, such as `Process_1`."""


@dataclass
class Observer(ExecutionObserver):
    """Reads executions of the workflows of one model.

    Args:
        references: the compiled form of each process (`verify.reference.compile_references`).
        workflow: the workflow of an execution that does not contain it.
        reports: processes of workflows that report failures, which are no runs of the model.
    """

    references: Mapping[str, Reference]
    workflow: Json | None = None
    reports: frozenset[str] = frozenset()
    ties: dict[str, Tie | None] = field(default_factory=dict)

    def observe(self, execution: Json) -> tuple[Observed, Tie]:
        """The behaviour of one execution. Raises `UnreadableExecution`."""
        identity = str(execution.get("id", "?"))
        workflow = execution.get("workflowData") or self.workflow
        if not isinstance(workflow, Mapping) or not isinstance(workflow.get("nodes"), list):
            raise UnreadableExecution(f"execution {identity} does not state its workflow")
        if WorkflowDocument(workflow).map.process in self.reports:
            raise UnreadableExecution(
                f"execution {identity} of `{workflow.get('name')}` reports a failure: it is not a "
                "run of the process"
            )
        tie = self.tie(workflow)
        if tie is None:
            name = workflow.get("name")
            raise UnreadableExecution(
                f"execution {identity} belongs to the workflow `{name}`, which was not "
                "compiled from this model"
            )
        data = execution.get("data")
        if not isinstance(data, Mapping) or not isinstance(data.get("resultData"), Mapping):
            raise UnreadableExecution(f"n8n kept no data of execution {identity}")
        try:
            stored = read_execution(
                {"workflowId": "", **execution, "id": identity, "data": data,
                 "status": _read_status(execution)}
            )  # fmt: skip
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableExecution(
                f"execution {identity} cannot be read: {type(error).__name__}"
            ) from None
        return _describe_execution(execution, stored.order, stored.status, tie), tie

    def tie(self, workflow: Json) -> Tie | None:
        """A matched version of a workflow; None if it is from another source."""
        parts = [workflow.get("name"), workflow["nodes"], workflow.get("connections")]
        key = json.dumps(parts, sort_keys=True)
        if key not in self.ties:
            self.ties[key] = self._tie_version(workflow)
        return self.ties[key]

    def _tie_version(self, raw: Json) -> Tie | None:
        workflow = WorkflowDocument(raw)
        named = workflow.map.process
        ties: list[tuple[float, Tie]] = []
        for process, reference in self.references.items():
            if named in self.references and named != process:
                continue
            matching = _drop_guesses(match_reference(reference, workflow))
            read, changed = find_readers(reference, matching, workflow)
            workflow_graph = reference.plan.workflow_graph.nodes
            part = len(set(matching.key_of.values())) / max(len(workflow_graph), 1)
            if part >= (_SAID if named == process else _SURE):
                ties.append((part, Tie(reference, workflow, matching, read, tuple(changed))))
        return max(ties, key=lambda entry: entry[0])[1] if ties else None


def _drop_guesses(matching: Matching[NodeKey]) -> Matching[NodeKey]:
    """A matching without what is only likely."""
    kept = {name: key for name, key in matching.key_of.items() if matching.how[name] != "graph"}
    guessed = [name for name in matching.key_of if name not in kept]
    lost = {matching.key_of[name] for name in guessed} - set(kept.values())
    return Matching(
        kept,
        {name: matching.how[name] for name in kept},
        (*matching.added, *guessed),
        (*matching.missing, *sorted(lost, key=str)),
    )


def _read_status(execution: Json) -> str:
    status = execution.get("status")
    if isinstance(status, str) and status:
        return status
    return "success" if execution.get("finished") else "unknown"


def _describe_execution(
    execution: Json, order: Sequence[StoredRun], status: str, tie: Tie
) -> Observed:
    data = execution["data"]
    result = data["resultData"]
    nodes = tuple(
        SeenNode(run.node, tie.element(run.node), tie.stands(run.node), run.status) for run in order
    )
    last = str(result.get("lastNodeExecuted") or (order[-1].node if order else ""))
    error = result.get("error")
    message = _describe_error(error) if isinstance(error, Mapping) else None
    if message is None and status not in ("success", "waiting", "running"):
        message = next((run.error for run in reversed(order) if run.error), None)
    begun = data.get("startData")
    visits, stopped = visits_of(order, tie)
    return Observed(
        id=str(execution.get("id", "?")),
        status=status,
        mode=str(execution.get("mode") or ""),
        began=str(execution.get("startedAt") or ""),
        process=tie.reference.process.id,
        start=_find_start(order, tie),
        nodes=nodes,
        elements=tuple(
            n.element
            for at, n in enumerate(nodes)
            if n.stands and n.element is not None and n.element in tie.visible and at not in stopped
        ),
        visits=visits,
        error=message,
        failed=tie.element(last) if status != "success" else None,
        partial=isinstance(begun, Mapping) and bool(begun.get("destinationNode")),
    )


def _describe_error(error: Mapping[str, Any]) -> str:
    """The message of an error, with the status with which a service answered: nodes may replace
    n8n's words for a status by those of the service."""
    message = str(error.get("message") or "error")
    status = str(error.get("httpCode") or "")
    return f"{message} (HTTP {status})" if status.isdecimal() and status not in message else message


def _find_start(order: Sequence[StoredRun], tie: Tie) -> str | None:
    """The start event of the model behind the first node, else the process's first one."""
    first = tie.element(order[0].node) if order else None
    starts = [
        n.id for n in tie.reference.process.nodes if isinstance(n, Event) and n.position == "start"
    ]
    if first in starts:
        return first
    if order and order[0].node in tie.steps and tie.steps[order[0].node].trigger:
        ahead = _list_targets(tie, order[0].node)
        for name, step in tie.steps.items():
            if step.trigger and tie.element(name) in starts and _list_targets(tie, name) == ahead:
                return tie.element(name)
    return starts[0] if starts else None


def _list_targets(tie: Tie, node: str) -> list[str]:
    return sorted(target for ends in tie.workflow.targets.get(node, {}).values() for target in ends)
