"""The request for a run of n8n's engine, and its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from orgflow_ir.model.records import NamedTuple

RunStatus = Literal["success", "error", "limit", "waiting"]
WaitKind = Literal["time", "webhook", "form"]
Resumed = Literal["timer", "answer", "timeout"]


class RunRequest(NamedTuple):
    """One run.

    In `stubs` and `answers`, a node of the main workflow is identified by its name; one of a
    sub-workflow by `ID/NAME`, with its id in `workflows`.

    Attributes:
        workflow: an n8n workflow: nodes, connections, settings.
        trigger: the name of the node to start at.
        items: the output of the trigger, each `{"json": …}`; one empty item by default.
        workflows: sub-workflows by the id that Execute Workflow nodes use.
        stubs: nodes whose body is replaced: `{"visits": [{field: value, …}, …], "mode": "merge" |
            "replace", "errors": [message or None, …]}`. The k-th visit of the run gets `visits[k]`,
            merged into each input item or in its place, and fails with `errors[k]` if that is set.
            Each try of a node that n8n retries is a visit; with `"tries": "one visit"`, all tries
            of one execution of the node are.
        answers: the answer to each visit of a webhook or form wait: a body (a query if the wait
            accepts GET, values by field for a form), {} past the end of the list, None for no
            answer: a limited wait times out, an unlimited one leaves the run "waiting".
        limits: `nodes`, the maximum number of node executions (20,000), and `ms`, the elapsed time
            (30,000).
        data: whether each node run carries its output items.
    """

    workflow: Mapping[str, Any]
    trigger: str
    items: Sequence[Mapping[str, Any]] | None = None
    workflows: Mapping[str, Mapping[str, Any]] | None = None
    stubs: Mapping[str, Mapping[str, Any]] | None = None
    answers: Mapping[str, Sequence[Any]] | None = None
    limits: Mapping[str, int] | None = None
    data: bool = False

    def message(self) -> dict[str, Any]:
        """The fields of a `run` request, without default values."""
        fields = {
            "workflow": self.workflow,
            "trigger": self.trigger,
            "items": self.items,
            "workflows": self.workflows,
            "stubs": self.stubs,
            "answers": self.answers,
            "limits": self.limits,
            "data": self.data or None,
        }
        return {name: value for name, value in fields.items() if value is not None}


class NodeRun(NamedTuple):
    """One execution of one node, in the order in which n8n started them.

    Attributes:
        node: its name.
        workflow: the id of its sub-workflow, None in the main workflow.
        run: n8n's run index; it starts at 0 in every sub-workflow call.
        outputs: the number of items on each output.
        status: success, error, or waiting for a wait that was not resumed.
        error: n8n's message, also if the node continues after its error.
        caller: the index in `EngineRun.order` of the node run that called this sub-workflow.
        items: the JSON of the items on each output, if the request asked for data.
        unfed: whether its first input received nothing: a node with one input then did no work,
            even if `alwaysOutputData` made it output something. This is possible for a Merge.
    """

    node: str
    workflow: str | None
    run: int
    outputs: tuple[int, ...]
    status: str
    error: str | None
    caller: int | None
    items: tuple[tuple[Mapping[str, Any], ...], ...] | None = None
    unfed: bool = False


class WaitEvent(NamedTuple):
    """One wait.

    Attributes:
        node: the waiting node.
        workflow: as in `NodeRun`.
        kind: the awaited event; a limited webhook or form wait has its own kind.
        opened_at: the index in `EngineRun.order` of the waiting node run.
        wait_till: ISO time of the end of the wait, None without a limit.
        in_process: whether n8n would sleep instead of storing the execution (under 65 s).
        resumed: how it ended; None if it did not.
    """

    node: str
    workflow: str | None
    kind: WaitKind
    opened_at: int
    wait_till: str | None
    in_process: bool
    resumed: Resumed | None


class DetachedRun(NamedTuple):
    """A sub-workflow call that was not waited for; it runs when its caller is stored or ends.

    Attributes:
        workflow: its id.
        caller: as in `NodeRun`.
        status: success, error, or waiting.
        error: n8n's message.
    """

    workflow: str
    caller: int | None
    status: str
    error: str | None


class EngineRun(NamedTuple):
    """The result of one run.

    Attributes:
        status: of the main workflow; "limit" after a limit ended the run, "waiting" if a wait was
            never answered.
        error: the final error message of the run.
        error_node: the node of the main workflow with that error.
        order: every node run, including sub-workflows.
        waits: every wait in the order of opening.
        detached: sub-workflow calls that were not waited for.
        output: the JSON of the last node's items on each output.
        ms: elapsed time in milliseconds.
    """

    status: RunStatus
    error: str | None
    error_node: str | None
    order: tuple[NodeRun, ...] = ()
    waits: tuple[WaitEvent, ...] = ()
    detached: tuple[DetachedRun, ...] = ()
    output: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    ms: int = 0


def run_from_response(response: Mapping[str, Any]) -> EngineRun:
    """Read an answer of engine.cjs to a `run` request."""
    error = response["error"]
    return EngineRun(
        status=response["status"],
        error=error["message"] if error else None,
        error_node=error["node"] if error else None,
        order=tuple(_node_run(entry) for entry in response["order"]),
        waits=tuple(WaitEvent(**event) for event in response["waits"]),
        detached=tuple(DetachedRun(**child) for child in response["detached"]),
        output=_output_items(response["output"]),
        ms=response["ms"],
    )


def _node_run(entry: Mapping[str, Any]) -> NodeRun:
    items = entry.get("items")
    return NodeRun(
        node=entry["node"],
        workflow=entry["workflow"],
        run=entry["run"],
        outputs=tuple(entry["outputs"]),
        status=entry["status"],
        error=entry["error"],
        caller=entry["caller"],
        items=_output_items(items) if items is not None else None,
        unfed=entry.get("unfed", False),
    )


def _output_items(outputs: Sequence[Sequence[Mapping[str, Any]]]) -> tuple[Any, ...]:
    return tuple(tuple(output) for output in outputs)
