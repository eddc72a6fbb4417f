"""Configurations of the machine: immutable, hashable, and without unbounded counters."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

from orgflow.backends.n8n.node_types.behaviour import Counts

from orgflow_ir.model.records import NamedTuple


def trimmed_counts(outputs: Counts) -> Counts:
    """Outputs without empty ones at the end, which n8n lists inconsistently."""
    size = len(outputs)
    while size and not outputs[size - 1]:
        size -= 1
    return tuple(outputs[:size])


Pending = tuple[int, Counts]
"""A node to run (its index in the flow) and its items on each input."""

Entries = tuple[tuple[int, Counts], ...]
"""The waiting entries of one node: n8n's index of the entry and its items per input, 0 if none
arrived.

A delivery is never empty, so 0 is unambiguous.
"""

Waiting = tuple[tuple[int, Entries], ...]
"""Nodes with incomplete inputs in the order in which n8n examines them."""

Status = Literal["running", "success", "error", "waiting"]

State = Literal["running", "form", "webhook", "time", "unknown", "ended", "failed"]
"""The state of an execution: running; waiting for a form, a call, a time, or an event that an
expression computes; over."""


class Role(IntEnum):
    """The reason why an execution runs, which determines its end."""

    MAIN = 0
    CALLED = 1
    DETACHED = 2


class Phase(IntEnum):
    """The state of the node on top of the stack."""

    READY = 0
    PARKED = 1
    SLEEPING = 2
    CALLING = 3


class Call(NamedTuple):
    """An active sub-workflow call.

    Attributes:
        left: items whose own call has not begun (mode "each"); 0 in mode "once".
        total: items per output of the calls that returned (mode "each").
        failed: items for the error output.
        error_first: whether the first item of output 0 is an error; it determines another try.
        tries: remaining tries.
    """

    left: int
    total: Counts
    failed: int
    error_first: bool
    tries: int


class Frame(NamedTuple):
    """One execution of one workflow.

    Attributes:
        flow: index of the workflow in the machine.
        role: the reason why it runs.
        phase: the state of the node on top of the stack.
        stack: nodes to run, the next one last.
        waiting: incomplete inputs.
        batches: Loop Over Items nodes that were reached: node, remaining items, returned items.
        last: the result of a called workflow if it ends now: the output of the node that ran last,
            in all its runs together, or only in its last run if n8n returns that.
        call: the call by the node on top of the stack.
        totals: the output so far of nodes that may be the last ones of a called workflow. Only this
            counter is unbounded: such a workflow has as many configurations as results.
        parked: whether the execution of a called workflow was stored once while waiting.
        passing: positions in the stack whose nodes pass their input on as if they were disabled.
            When n8n resumes a node, it marks it as disabled, including the stack entries of the
            same node that were added since the execution was last stored.
        cuts: stack heights at which it was stored, while they are still relevant.
    """

    flow: int
    role: Role
    phase: Phase
    stack: tuple[Pending, ...]
    waiting: Waiting = ()
    batches: tuple[tuple[int, int, int], ...] = ()
    last: Counts = ()
    call: Call | None = None
    totals: tuple[tuple[int, Counts], ...] = ()
    parked: bool = False
    passing: tuple[int, ...] = ()
    cuts: tuple[int, ...] = ()


class Config(NamedTuple):
    """The state of a run.

    Attributes:
        frames: executions, the running one last; an execution waits for those above it.
        queue: pending calls that are not waited for: flow, node, items.
        status: of the main workflow; calls that are not waited for may outlive it.
    """

    frames: tuple[Frame, ...]
    queue: tuple[tuple[int, int, int], ...] = ()
    status: Status = "running"

    @property
    def ended(self) -> bool:
        """Nothing remains to run."""
        return not self.frames


class Event(NamedTuple):
    """One effect of a step, in order.

    Attributes:
        action: "run" (a node ran), "open" and "done" (of a wait), "call" and "return" (of a
            sub-workflow that is waited for), "detach" (one that is not), "skip" (a node without any
            input, of which n8n keeps no record), "begin" and "end" (of an execution).
        workflow: id of the workflow, None for the main one.
        node: name of the node; of the trigger for "begin", empty for "end".
        outputs: items on each output; for "detach" and "begin", the passed items.
        status: "success", "error" or "waiting".
        depth: number of executions below it in `Config.frames`.
    """

    action: Literal["run", "open", "done", "call", "return", "detach", "skip", "begin", "end"]
    workflow: str | None
    node: str
    outputs: Counts
    status: Literal["success", "error", "waiting"]
    depth: int


class Place(NamedTuple):
    """The node that runs next.

    Attributes:
        workflow: id of its workflow, None for the main one.
        node: its name.
        kind: the category of the node for the machine (see `behaviour.Kind`).
        phase: READY to run, or PARKED or SLEEPING in a wait.
        inputs: items on each input, after `executeOnce`.
        depth: as in `Event`.
    """

    workflow: str | None
    node: str
    kind: str
    phase: Phase
    inputs: Counts
    depth: int
