"""What is wrong with the flow of one scope: the analysis behind OF201 to OF205.

The reduction finds the independent faults; what it cannot reduce is explored within a budget; each
finding gets a run that is checked by the rules of the game. A finding that no run shows because
another fault stands before it is `masked`: it is told without a run, and only beside one that has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from orgflow_ir.control_net import Net
from orgflow_ir.graph import ControlFlow
from orgflow_ir.model import Scope, SubProcess
from orgflow_ir.regions import Lowered

if TYPE_CHECKING:
    from orgflow.passes.counterexample import Firing

MAX_STATES = 10_000
Kind = Literal["deadlock", "livelock", "unsync", "leftover"]


@dataclass(slots=True, eq=False, repr=False)
class Fault:
    """A finding about net nodes and arcs of one scope.

    deadlock, leftover: `join` waits for ever; `split` took `taken` arcs and not `missing` ones
    (`split` -1: they come from nodes that never run). unsync: `join` passes several tokens on that
    `split` made; `unbounded`: more every time round a loop, without end. livelock: `around` are the
    nodes of the cycle. `log` is empty when `masked`.
    """

    kind: Kind
    join: int
    split: int = -1
    taken: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    around: tuple[int, ...] = ()
    log: list[Firing] = field(default_factory=list)
    masked: bool = False
    unbounded: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Doubt:
    """Something the analysis cannot decide: the element it is about and the reason."""

    element: str
    reason: str


@dataclass(slots=True, eq=False, repr=False)
class ScopeFaults:
    """All findings of one scope."""

    scope: Scope
    net: Net
    faults: list[Fault] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


@lru_cache(maxsize=16)
def analysis(max_states: int = MAX_STATES) -> Callable[[Lowered], ScopeFaults]:
    """The analysis with a budget, as a function that `PassContext.analysis` can cache by."""

    def faults_of(lowered: Lowered) -> ScopeFaults:
        return _analyse(lowered, max_states)

    return faults_of


def analyse(scope: Scope, max_states: int = MAX_STATES) -> ScopeFaults:
    """Faults and doubts of `scope` itself; sub-processes in it are scopes of their own."""
    return _analyse(Lowered(ControlFlow(scope)), max_states)


def _analyse(lowered: Lowered, max_states: int) -> ScopeFaults:
    scope, net = lowered.scope, lowered.net
    found = ScopeFaults(scope, net)
    if isinstance(scope, SubProcess) and scope.flavour == "ad-hoc":
        found.doubts.append(Doubt(scope.id, "its activities run in any order and number"))
        return found
    compensated = False
    for node in scope.nodes:
        if isinstance(node, SubProcess) and node.flavour == "event":
            found.doubts.append(Doubt(node.id, "an event sub-process may start at any time"))
        elif getattr(node, "for_compensation", False) and not compensated:
            compensated = True
            found.doubts.append(Doubt(node.id, "compensation runs outside the flow"))
    found.doubts += [Doubt(node.id, reason) for node, reason in net.doubtful]
    if net.doubtful or not net.outs[0]:
        return found
    reduction = lowered.reduction
    if not reduction.clashes and not reduction.edges:
        return found
    from orgflow.passes.flow_judgement import judge

    judge(found, reduction, max_states)
    return found
