"""Findings on one net: faults by nodes and arcs, and how much is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orgflow_ir.analysis.soundness.net import Net
from orgflow_ir.analysis.soundness.verdicts import Kind

if TYPE_CHECKING:
    from orgflow_ir.analysis.soundness.witness_search import Firing

MAX_STATES = 10_000


@dataclass(slots=True, eq=False, repr=False)
class NetFault:
    """A fault by net nodes and arcs (see `verdicts.Fault`). `logs` are runs that show it, the one
    to prefer first; none: it is masked. `mutual` are joins that wait for it as it does for them,
    `behind` joins that wait only because it does."""

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


@dataclass(slots=True, eq=False, repr=False)
class ScopeVerdict:
    """The knowledge of one scope.

    `hints` are kinds of faults that some state shows, whether a run could be made of it or not.
    `awaits_itself`: inclusive joins wait for what boundary events after them may bring back.
    `decided`: every state was seen, so what is not in `faults` does not exist; else `reason` says
    why not. `growing`: work piles up without limit (then the rest is not decided). `used` are the
    elements that some run comes to, `done` whether some run comes to an end (`None`: that is not
    known), `hangs` whether some run comes to rest before.
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
        """Whether nothing is wrong, and that is proved."""
        return self.decided and not self.faults and not self.masked
