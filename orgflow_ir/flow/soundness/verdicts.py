"""Verdicts on a process, one per property, and the faults that explain them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from orgflow_ir.diagnostics import Step
from orgflow_ir.model import Event, Flow, Process, Scope
from orgflow_ir.model.records import NamedTuple, dataclass

if TYPE_CHECKING:
    from orgflow_ir.flow.nets.net import Net


class Property(StrEnum):
    """Properties decided for a process. Choices are fair: every loop with an outgoing flow is
    eventually left."""

    DEADLOCK = "deadlock"
    """A join waits for a token that cannot arrive."""
    DOUBLE = "lack of synchronisation"
    """Two tokens at the same place: steps are executed twice."""
    UNBOUNDED = "unbounded work"
    """Tokens accumulate without limit."""
    LIVELOCK = "livelock"
    """A cycle without an exit."""
    DEAD = "dead element"
    """An element that no run reaches."""
    IMPROPER = "improper completion"
    """An end is reached while a token remains indefinitely."""
    STUCK = "no option to complete"
    """From some state no run completes."""


Outcome = Literal["proved", "violated", "unknown", "not applicable"]
Kind = Literal["deadlock", "livelock", "unsync", "leftover", "dead"]


class Way(NamedTuple):
    """A connection between two elements (empty: the start, the end); `flow` is the sequence flow,
    `None` for implicit connections."""

    source: str
    target: str
    flow: Flow | None = None


@dataclass(eq=False, repr=False)
class Fault:
    """One fault of a scope, with the run that shows it.

    deadlock, leftover: `element` waits indefinitely; `split` took `taken` and not the flows that
    lead to `missing` (if `split` is empty, these come from nodes that never run); `mutual` are
    other joins in a circular wait with it, `behind` are joins that wait only because it does.
    unsync: `element` passes several tokens that `split` created by taking all of `taken`;
    `unbounded`: each iteration of a loop adds more. livelock: `cycle` contains the elements of the
    cycle. dead: no run reaches `element`.

    `trace` has been replayed on the token game. It is empty if the fault is `masked`, that is,
    appears only after earlier faults are repaired, and for dead elements, because no run can show
    that an element is never reached. `ended_by` is an event that removes every token from the
    scope; the fault lasts until then.
    """

    kind: Kind
    scope: Scope
    element: str
    split: str = ""
    taken: tuple[Way, ...] = ()
    missing: tuple[Way, ...] = ()
    cycle: tuple[str, ...] = ()
    trace: tuple[Step, ...] = ()
    masked: bool = False
    unbounded: bool = False
    mutual: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    ended_by: Event | None = None
    net: Net | None = None
    join: int = -1
    taken_arcs: tuple[int, ...] = ()
    missing_arcs: tuple[int, ...] = ()

    def __repr__(self) -> str:
        mark = " masked" if self.masked else ""
        return f"<{self.kind} at {self.element} in {self.scope.id}{mark}>"


class Verdict(NamedTuple):
    """The verdict on one property; `reason` explains why it is unknown or not applicable (and for a
    conditional proof, the condition); `elements` are the elements in question."""

    outcome: Outcome
    reason: str = ""
    elements: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


class Doubt(NamedTuple):
    """A limit of the analysis: the element concerned and the reason."""

    element: str
    reason: str


class Verdicts(Mapping[Property, Verdict]):
    """The verdict on every property, computed on first access."""

    def __init__(self, decide: Callable[[Property], Verdict]) -> None:
        self._decide = decide
        self._known: dict[Property, Verdict] = {}

    def __getitem__(self, wanted: Property) -> Verdict:
        if wanted not in self._known:
            self._known[wanted] = self._decide(wanted)
        return self._known[wanted]

    def __iter__(self) -> Iterator[Property]:
        return iter(Property)

    def __len__(self) -> int:
        return len(Property)


@dataclass(eq=False)
class Analysis:
    """The result of the analysis of one process. `faults` are demonstrated by a run, `masked` ones
    are hidden by others; `doubts` are undecided questions by scope; `states` is the number of
    explored states; `growing` are the ids of scopes in which tokens accumulate, so not all of their
    runs were explored.
    """

    process: Process
    verdicts: Mapping[Property, Verdict]
    faults: tuple[Fault, ...] = ()
    masked: tuple[Fault, ...] = ()
    doubts: tuple[tuple[Scope, Doubt], ...] = ()
    states: int = 0
    growing: frozenset[str] = frozenset()

    def __getitem__(self, wanted: Property) -> Verdict:
        return self.verdicts[wanted]

    @property
    def sound(self) -> Outcome:
        """`proved` when all properties are, `violated` when one is."""
        outcomes = {v.outcome for v in self.verdicts.values()}
        for outcome in ("violated", "unknown", "not applicable"):
            if outcome in outcomes:
                return outcome
        return "proved"
