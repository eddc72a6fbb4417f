"""A scope's control flow in blocks: machines of steps with free jumps, and nested forks.

A *machine* has one token that moves over its steps; jumps between them are free, including any
loops. A *fork* is one step of a machine: its branches are separate machines, entered only by it and
left only by ending or by reaching its join. These are the constructs of Amazon States Language
(`Parallel`, and `Next` in one branch).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Literal

from orgflow_ir.model import Flow
from orgflow_ir.model.records import NamedTuple, dataclass

START = "\x00start"
"""Key of the initial step of a scope without exactly one initial node."""


class Jump(NamedTuple):
    """The target of a token: a step of the same machine, the join of its branch (`leave`), or none
    (`end`)."""

    kind: Literal["step", "leave", "end"]
    step: str = ""
    flow: str = ""


END = Jump("end")


class Way(NamedTuple):
    """An exit of a step, by a flow of the model."""

    flow: Flow
    to: Jump


class Arrival(NamedTuple):
    """How the tokens of a part arrive at the surrounding join.

    `flows` are flows into the join that may receive a token; `exact`: each receives exactly one on
    every run; `always`: at least one of them does. `None` in its place: nothing ever arrives or
    ends, since the part only aborts or loops indefinitely.
    """

    flows: frozenset[str]
    exact: bool
    always: bool


@dataclass(frozen=True)
class Branch:
    """A branch of a fork: its initial flows (several if these join inside it), and its machine;
    `None` if it leads directly to the join."""

    flows: tuple[Flow, ...]
    machine: Machine | None


@dataclass(frozen=True)
class Fork:
    """Parallel work. `split` is the node that forks (empty: the beginning of the scope), `join` the
    gateway of the branches (`None`: they only end, or lead to the surrounding join)."""

    split: str
    branches: tuple[Branch, ...]
    join: str | None
    after: Jump
    arrival: Arrival | None


@dataclass(frozen=True)
class Step:
    """A step of a machine: a node of the model, or a fork.

    `exits` are its flows, one unless the node decides; `caught` are boundary events that may end
    it, each a step of the same machine.
    """

    key: str
    node: str | None
    exits: tuple[Way, ...] = ()
    fork: Fork | None = None
    caught: tuple[str, ...] = ()


@dataclass(frozen=True)
class Machine:
    """Steps by key, in the order they are reached, and the initial step of the token."""

    entry: Jump
    steps: dict[str, Step]
    arrival: Arrival | None

    def machines(self) -> Iterator[Machine]:
        """This machine and all machines of its forks, outermost first."""
        stack = [self]
        while stack:
            machine = stack.pop()
            yield machine
            for step in reversed(machine.steps.values()):
                for branch in reversed(step.fork.branches if step.fork else ()):
                    if branch.machine is not None:
                        stack.append(branch.machine)


class Fault(NamedTuple):
    """The reason why a scope is not block-structured: a node, and a text that completes "cannot run
    `X` (parallel.unstructured): …"."""

    node: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """The machine of a scope, which must not be emitted if there are faults."""

    machine: Machine
    faults: tuple[Fault, ...] = field(default=())
