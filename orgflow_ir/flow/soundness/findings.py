"""Findings on one net: faults by nodes and arcs, and the limits of the analysis."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from orgflow_ir.flow.nets.net import Net
from orgflow_ir.flow.soundness.verdicts import Kind
from orgflow_ir.model.records import dataclass

if TYPE_CHECKING:
    from orgflow_ir.flow.soundness.witness_search import Firing

MAX_STATES = 10_000


@dataclass(eq=False, repr=False)
class NetFault:
    """A fault by net nodes and arcs (see `verdicts.Fault`). `logs` are runs that show it, the
    preferred one first; none: it is masked. `mutual` are joins in a circular wait with it, `behind`
    joins that wait only for it."""

    kind: Kind
    join: int
    split: int = -1
    taken: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    around: tuple[int, ...] = ()
    logs: list[list[Firing]] = field(default_factory=list)
    unbounded: bool = False
    mutual: tuple[int, ...] = ()
    behind: tuple[int, ...] = ()


@dataclass(eq=False, repr=False)
class ScopeVerdict:
    """The results for one scope.

    `hints` are kinds of faults that some state shows, whether or not a run demonstrates them.
    `awaits_itself`: inclusive joins that wait for tokens that later boundary events may send back.
    `decided`: every state was explored, so faults not in `faults` do not exist; otherwise `reason`
    explains why not. `growing`: tokens accumulate without limit (then the rest is undecided).
    `used` are the elements that some run reaches, `done` whether some run completes (`None`:
    unknown), `hangs` whether some run gets stuck first.
    """

    net: Net
    faults: list[NetFault] = field(default_factory=list)
    masked: list[NetFault] = field(default_factory=list)
    decided: bool = True
    growing: bool = False
    done: bool | None = None
    hangs: bool = False
    improper_log: list[Firing] = field(default_factory=list)
    improper_at: int = -1
    improper: bool = False
    livelock: bool = False
    reason: str = ""
    named: tuple[str, ...] = ()
    used: set[str] = field(default_factory=set)
    states: int = 0
    awaits_itself: bool = False
    hints: set[Kind] = field(default_factory=set)

    @property
    def clean(self) -> bool:
        """Whether the net is proved to be free of faults."""
        return self.decided and not self.faults and not self.masked
