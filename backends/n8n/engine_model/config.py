"""Configurations of the machine: immutable, hashable, and without anything that only counts up."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, NamedTuple

from orgflow.backends.n8n.node_types.behaviour import Counts


def trimmed(outputs: Counts) -> Counts:
    """Outputs without the empty ones at the end, which n8n lists or not as it happens."""
    size = len(outputs)
    while size and not outputs[size - 1]:
        size -= 1
    return tuple(outputs[:size])


Pending = tuple[int, Counts]
"""A node to run (its index in the flow) and what it got on each input."""

Entries = tuple[tuple[int, Counts], ...]
"""What waits at one node: n8n's index of the entry and its items per input, 0 where none came.

A delivery is never empty, so 0 and "nothing came yet" cannot be confused.
"""

Waiting = tuple[tuple[int, Entries], ...]
"""Nodes with incomplete inputs in the order in which n8n looks at them."""

Status = Literal["running", "success", "error", "waiting"]


class Role(IntEnum):
    """Why an execution runs, and so what happens when it ends."""

    MAIN = 0
    CALLED = 1
    DETACHED = 2


class Phase(IntEnum):
    """What the node on top of the stack is doing."""

    READY = 0
    PARKED = 1
    SLEEPING = 2
    CALLING = 3


class Call(NamedTuple):
    """A sub-workflow call under way.

    Attributes:
        left: items whose own call has not begun (mode "each"); 0 in mode "once".
        total: items per output of the calls that returned (mode "each").
        failed: items for the error output.
        error_first: whether the first item of output 0 is an error; it decides on another try.
        tries: further tries n8n would make.
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
        role: why it runs.
        phase: what the node on top of the stack is doing.
        stack: nodes to run, the next one last.
        waiting: incomplete inputs.
        batches: Loop Over Items nodes that were reached: node, items left, items handed back.
        last: what a called workflow returns if it ends now: what the node that ran last handed on,
            in all its runs together, or in its last run only where that is what n8n returns.
        call: the call that the node on top of the stack makes.
        totals: what nodes of a called workflow that may be its last have handed on so far. This
            alone counts up: such a workflow has as many configurations as it has results.
        parked: the execution of a called workflow was stored once, waiting.
        passing: places in the stack whose nodes hand on what they got as if they were disabled.
            When n8n resumes a node it marks it as disabled, and with it what the stack holds of the
            same node, if it was put there since the execution was last stored.
        cuts: stack heights at which it was stored, as far as that still matters.
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
    """Where a run is.

    Attributes:
        frames: executions, the one that runs last; an execution below waits for the ones above.
        queue: calls that nobody waits for and that have not begun: flow, node, items.
        status: of the main workflow; calls that nobody waits for may outlive it.
    """

    frames: tuple[Frame, ...]
    queue: tuple[tuple[int, int, int], ...] = ()
    status: Status = "running"

    @property
    def ended(self) -> bool:
        """Nothing is left to run."""
        return not self.frames


class Event(NamedTuple):
    """Something a step did, in the order in which it happened.

    Attributes:
        action: "run" (a node ran), "open" and "done" (of a wait), "call" and "return" (of a
            sub-workflow that is waited for), "detach" (one that is not), "skip" (a node without
            any input; n8n keeps no trace of it), "begin" and "end" (of an execution).
        workflow: id of the workflow, None for the main one.
        node: name of the node; of the trigger for "begin", empty for "end".
        outputs: items on each output; for "detach" and "begin" the items handed over.
        status: "success", "error" or "waiting".
        depth: how many executions lie below in `Config.frames`.
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
        kind: what sort of node it is for the machine (see `behaviour.Kind`).
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
