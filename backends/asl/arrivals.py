"""The arrival of a part's tokens at the surrounding join, computed bottom-up from its pieces."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow.backends.asl.plan import END, Arrival, Branch, Jump, Step

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Event


def join_arrivals(branches: Iterable[Branch], *, inclusive: bool) -> Arrival | None:
    """The arrivals of a fork's branches; of an inclusive one, any non-empty subset may be taken."""
    all_ = tuple(branches)
    arrivals = [a for b in all_ if (a := of_branch(b)) is not None]
    if not arrivals:
        return None
    flows = frozenset[str]().union(*(a.flows for a in arrivals))
    optional = inclusive and len(all_) > 1
    exact = all(a.exact for a in arrivals) and not (optional and flows)
    always = all(a.always for a in arrivals) if optional else any(a.always for a in arrivals)
    return Arrival(flows, exact, always)


def of_branch(branch: Branch) -> Arrival | None:
    """The arrivals of a branch's tokens."""
    if branch.machine is None:
        return Arrival(frozenset(f.id for f in branch.flows), True, True)
    return branch.machine.arrival


def of_machine(entry: Jump, steps: Iterable[Step], graph: ControlFlow) -> Arrival | None:
    """The arrivals of tokens at the machine's exit, over all its paths."""
    points: list[Arrival] = []
    for jump in [entry, *(w.to for s in steps for w in s.exits)]:
        points += _find_point(jump)
    for step in steps:
        if step.fork is not None:
            if step.fork.join is None or step.fork.after.kind != "step":
                points += [step.fork.arrival] if step.fork.arrival is not None else []
        elif not step.exits and not _has_abort(step, graph):
            points += _find_point(END)
    if not points:
        return None
    exact = all(p.exact and p.flows == points[0].flows for p in points)
    flows = frozenset[str]().union(*(p.flows for p in points))
    return Arrival(flows, exact, all(p.always for p in points))


def _find_point(jump: Jump) -> list[Arrival]:
    if jump.kind == "leave":
        return [Arrival(frozenset([jump.flow]), True, True)]
    return [Arrival(frozenset(), True, False)] if jump.kind == "end" else []


def _has_abort(step: Step, graph: ControlFlow) -> bool:
    node = graph.nodes.get(step.node or "")
    return isinstance(node, Event) and node.trigger in ("error", "terminate")
