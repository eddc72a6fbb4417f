"""The verdict on one scope: reduction first, then exploration of the residue, then of every
state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow_ir.flow.control_flow.graph import strong_components
from orgflow_ir.flow.nets.net import FIRST, SINK, SOURCE, TERM, Net
from orgflow_ir.flow.nets.reducing import reduce_net
from orgflow_ir.flow.soundness.findings import MAX_STATES, ScopeVerdict
from orgflow_ir.lazy_modules import LazyModule

if TYPE_CHECKING:
    from orgflow_ir.flow.soundness import classify, exploring
else:  # nets that do not reduce to one step
    classify = LazyModule("orgflow_ir.flow.soundness.classify")
    exploring = LazyModule("orgflow_ir.flow.soundness.exploring")

__all__ = ["MAX_STATES", "judge_net", "may_complete", "may_hang"]


def judge_net(net: Net, max_states: int = MAX_STATES) -> ScopeVerdict:
    """The full verdict on one net."""
    verdict = ScopeVerdict(net)
    verdict.used = net.live
    if not net.outs[SOURCE]:
        return verdict
    reduction = reduce_net(net, repair=not net.ghosts)
    verdict.awaits_itself = _awaits_itself(net)
    plain = not net.never and not net.ghosts and not verdict.awaits_itself
    if plain and not reduction.clashes:
        if reduction.structured:
            return verdict

        _, seen = exploring.explore_residue(reduction, max_states)
        verdict.states = len(seen.reached)
        if seen.complete and not (seen.double or seen.stuck or seen.endless):
            return verdict

    classify.Classifier(verdict, reduction, max_states).run()
    return verdict


def may_complete(net: Net, max_states: int = MAX_STATES) -> bool:
    """Whether some run completes; true if unknown."""
    reduction = reduce_net(net, repair=False, collapse_or=not _awaits_itself(net))
    space, seen = exploring.explore_residue(reduction, max_states)
    if any(map(space.done, seen.reached)):
        return True
    if seen.complete:
        return False
    reached, stack = {SOURCE}, [SOURCE]
    while stack:
        for arc in net.outs[stack.pop()]:
            node = net.dst[arc]
            if node not in reached and node not in net.never and arc not in net.ghosts:
                reached.add(node)
                stack.append(node)
    return SINK in reached or TERM in reached


def _awaits_itself(net: Net) -> bool:
    """Whether an inclusive join lies on a cycle through a boundary event: it waits for what may
    come that way, which is no excuse to go on, so its block is not like one edge."""
    joins = [n for n in range(FIRST, len(net.kind)) if net.kind[n] == "O" and len(net.ins[n]) > 1]
    if not joins or not net.by_event:
        return False
    number = strong_components({n: [net.dst[a] for a in outs] for n, outs in enumerate(net.outs)})
    inside = {number[n] for n in joins}
    return any(
        number[net.src[a]] == number[net.dst[a]] and number[net.src[a]] in inside
        for a in net.by_event
    )


def may_hang(net: Net, max_states: int = MAX_STATES) -> bool | None:
    """Whether some run stops with a token in an activity that is never left; `None` if unknown."""
    space, seen = exploring.explore_residue(reduce_net(net, repair=False), max_states)
    if any(net.held.intersection(space.waiting(s)) for s in seen.stuck):
        return True
    return False if seen.complete else None
