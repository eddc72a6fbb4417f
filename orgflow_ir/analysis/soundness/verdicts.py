"""Verdicts on a process, one for every property, and the faults after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

from orgflow_ir.diagnostics import Step
from orgflow_ir.model import Event, Flow, Process, Scope

if TYPE_CHECKING:
    from orgflow_ir.analysis.soundness.net import Net


class Property(StrEnum):
    """Properties decided for a process. Choices are fair: a loop with a outgoing flow is left."""

    DEADLOCK = "deadlock"
    """A join waits for a branch that cannot come."""
    DOUBLE = "lack of synchronisation"
    """Two tokens at one place: work is done twice."""
    UNBOUNDED = "unbounded work"
    """Tokens pile up without limit."""
    LIVELOCK = "livelock"
    """A cycle that nothing leads out of."""
    DEAD = "dead element"
    """An element that no run comes to."""
    IMPROPER = "improper completion"
    """An end is reached and a token stays behind indefinitely."""
    STUCK = "no option to complete"
    """From some state no run comes to an end."""


Outcome = Literal["proved", "violated", "unknown", "not applicable"]
Kind = Literal["deadlock", "livelock", "unsync", "leftover", "dead"]


class Way(NamedTuple):
    """A way between two elements (empty: the start, the end); `flow` is the sequence flow, `None`
    for what is not drawn as one."""

    source: str
    target: str
    flow: Flow | None = None


@dataclass(slots=True, eq=False, repr=False)
class Fault:
    """One fault of a scope, with the run that shows it.

    deadlock, leftover: `element` waits indefinitely; `split` took `taken` and not what leads to
    `missing` (`split` empty: they come from nodes that never run); `mutual` are other joins that
    wait for it as it does for them, `behind` joins that wait only because it does. unsync:
    `element` passes several tokens that `split` made by taking all of `taken`; `unbounded`: more
    every time round a loop. livelock: `cycle` are the elements it goes round. dead: no run comes
    to `element`.

    `trace` has been replayed on the token game. It is empty where the fault is `masked`: it shows
    only once the faults before it are repaired; and for dead elements, whose absence from all runs
    no run can show. `ended_by` is an event that takes every token out of the scope: the fault
    lasts until then.
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
    """The verdict on one property; `reason` says why it is not known or not applicable (and for
    a proof under conditions, which); `elements` are those the reason is about."""

    outcome: Outcome
    reason: str = ""
    elements: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


class Doubt(NamedTuple):
    """Something the analysis cannot decide: the element it is about and the reason."""

    element: str
    reason: str


class Verdicts(Mapping[Property, Verdict]):
    """The verdict on every property, each decided when it is asked for first."""

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
    """All that is found of one process. `faults` are shown by a run, `masked` ones stand behind
    others; `doubts` are what could not be decided, by scope; `states` is how many were looked at;
    `growing` are the ids of scopes in which work piles up, so not all of their runs were.
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
        found = {v.outcome for v in self.verdicts.values()}
        for outcome in ("violated", "unknown", "not applicable"):
            if outcome in found:
                return outcome
        return "proved"
