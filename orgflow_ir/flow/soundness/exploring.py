"""Explores the residue of a reduction."""

from __future__ import annotations

from orgflow_ir.flow.nets.net import TERM
from orgflow_ir.flow.nets.reduction import Reduction
from orgflow_ir.flow.soundness.space import Exploration, Space, Way


def explore_residue(reduction: Reduction, max_states: int) -> tuple[Space, Exploration]:
    """The states of the residue of a reduction, at most `max_states`."""
    aside = reduction.net.aside if reduction.trap >= 0 else ()
    acting, straight = reduction.net.acting, reduction.net.straight_to_term()
    space_ways = [
        Way(
            e.src,
            e.dst,
            e.event,
            (e.first == e.last and e.src not in acting) or e.first in straight,
            e.dst in aside,
            e.first in reduction.net.ghosts,
            e.dst == TERM and e.first == e.last and reduction.net.flow[e.first] is None,
        )
        for e in reduction.edges
    ]
    never = frozenset(reduction.net.never) if reduction.trap >= 0 else frozenset()
    space = Space(reduction.kinds, space_ways, never, reduction.trap)
    return space, space.explore(max_states)
