"""What a scope's control flow is in blocks: machines of steps with free jumps, forks that nest.

A *machine* holds one token that moves over its steps; jumps between them are free, loops of any
shape included. A *fork* is one step of a machine: its branches are machines of their own, entered
only by it and left only by ending or by reaching its join. That is what Amazon States Language can
say (`Parallel`, and `Next` inside one branch).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from orgflow_ir.model import Flow

START = "\x00start"
"""Key of the step that begins a scope that does not begin at exactly one node."""


class Jump(NamedTuple):
    """Where a token goes: to a step of the same machine, or away: it has reached the join its
    branch leads to (`leave`), or it is gone (`end`)."""

    kind: Literal["step", "leave", "end"]
    step: str = ""
    flow: str = ""


END = Jump("end")


class Way(NamedTuple):
    """A way out of a step, by a flow of the model."""

    flow: Flow
    to: Jump


class Arrival(NamedTuple):
    """How the tokens of a part arrive at the join around it.

    `flows` are flows into the join that may get a token; `exact`: each gets exactly one on every
    run; `always`: at least one of them does. `None` in its place: nothing ever arrives or ends,
    since the part only aborts or goes round indefinitely.
    """

    flows: frozenset[str]
    exact: bool
    always: bool


@dataclass(frozen=True)
class Branch:
    """A branch of a fork: the flows it begins with (several where these meet again inside it), and
    its machine; `None` where it leads straight to the join."""

    flows: tuple[Flow, ...]
    machine: Machine | None


@dataclass(frozen=True)
class Fork:
    """Parallel work. `split` is the node that forks (empty: the beginning of the scope), `join`
    the gateway where the branches meet (`None`: they only end, or lead to the join around)."""

    split: str
    branches: tuple[Branch, ...]
    join: str | None
    after: Jump
    arrival: Arrival | None


@dataclass(frozen=True)
class Step:
    """A step of a machine: a node of the model, or a fork.

    `ways` are its ways out, one but for a node that decides; `caught` the boundary events that
    may end it, each a step of the same machine.
    """

    key: str
    node: str | None
    ways: tuple[Way, ...] = ()
    fork: Fork | None = None
    caught: tuple[str, ...] = ()


@dataclass(frozen=True)
class Machine:
    """Steps by key, in the order they are reached, and where the token begins."""

    entry: Jump
    steps: dict[str, Step]
    arrival: Arrival | None

    def machines(self) -> Iterator[Machine]:
        """This machine and all in its forks, outermost first."""
        stack = [self]
        while stack:
            machine = stack.pop()
            yield machine
            for step in reversed(machine.steps.values()):
                for branch in reversed(step.fork.branches if step.fork else ()):
                    if branch.machine is not None:
                        stack.append(branch.machine)


class Fault(NamedTuple):
    """Why a scope is not blocks: the node where it shows, and a reason that completes "cannot run
    `X` (parallel.unstructured): …"."""

    node: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """The machine of a scope; not to be emitted where there are faults."""

    machine: Machine
    faults: tuple[Fault, ...] = field(default=())
