"""The exploration of worlds: every interleaving of the executions of a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Final

from orgflow.backends.n8n.engine_model.config import Phase
from orgflow.backends.n8n.engine_model.explorer import Explorer, Order
from orgflow.backends.n8n.engine_model.tables import UnknownOperation
from orgflow.backends.n8n.engine_model.world import Execution, World
from orgflow.backends.n8n.engine_model.world_model import Move, Ticks, WorldModel

from orgflow_ir.model.records import dataclass

MOST_WORLDS: Final = 100_000
"""Maximum number of explored worlds."""


@dataclass
class Exploration:
    """The explored worlds.

    Attributes:
        explorer: the worlds, and the moves to each.
        finals: the indexes of the worlds in which nothing can happen.
        unknown: operations whose effect is not determined, in words: nothing after them was
            explored.
    """

    explorer: Explorer[World, Move]
    finals: list[int] = field(default_factory=list)
    unknown: dict[str, None] = field(default_factory=dict)

    @property
    def worlds(self) -> list[World]:
        """Every world in the order of discovery."""
        return self.explorer.states

    @property
    def final_worlds(self) -> list[World]:
        """The worlds in which nothing can happen."""
        return [self.worlds[index] for index in self.finals]

    @property
    def is_complete(self) -> bool:
        """Whether every possible world was explored."""
        return not self.explorer.bounded and not self.unknown

    def way_to(self, wanted: Callable[[World], bool]) -> list[Move] | None:
        """The moves to the first world that a condition holds for; None if there is none."""
        for index, world in enumerate(self.worlds):
            if wanted(world):
                return self.explorer.way(index)
        return None


def explore_worlds(
    model: WorldModel,
    start: World,
    *,
    most: int = MOST_WORLDS,
    order: Order = "breadth",
    ticks: Ticks = "idle",
    errors: bool = False,
    reduce: bool = False,
) -> Exploration:
    """Explore all worlds that can follow `start`.

    Args:
        model: the workflows.
        start: the first world.
        most: maximum number of examined worlds.
        order: the order of examination.
        ticks: when the clock may advance.
        errors: whether nodes may fail.
        reduce: whether steps that no other execution can observe are not interleaved. Final worlds
            and their tables stay the same; other worlds are left out.
    """
    explorer = Explorer[World, Move](most, order)
    explorer.start(start)
    exploration = Exploration(explorer)
    for world in explorer.pending():
        if reduce and _take_unobserved(model, exploration, world, errors):
            continue
        moves = model.moves(world, errors=errors, ticks=ticks)
        if not moves:
            exploration.finals.append(explorer.current)
        for move in moves:
            _take_move(model, exploration, world, move)
    return exploration


def _take_move(model: WorldModel, exploration: Exploration, world: World, move: Move) -> int | None:
    """Add the world after a move; returns its index, or None if it is unknown."""
    try:
        return exploration.explorer.reach(model.advance(world, move).world, move)
    except UnknownOperation as reason:
        exploration.unknown[str(reason)] = None
        return None


def _take_unobserved(
    model: WorldModel, exploration: Exploration, world: World, errors: bool
) -> bool:
    """Explore only the steps of one execution if no other one can observe them.

    They commute with every move of another execution, so one order stands for all (a persistent
    set). One of them has to lead to a world that is not yet examined, or a loop of such steps would
    hide what others do.
    """
    for place, execution in enumerate(world.executions):
        if not _is_unobserved(model, execution):
            continue
        moves = model.moves_of(world, place, execution, errors=errors)
        reached = [_take_move(model, exploration, world, move) for move in moves]
        return any(
            index is not None and not exploration.explorer.is_examined(index) for index in reached
        )
    return False


def _is_unobserved(model: WorldModel, execution: Execution) -> bool:
    """Whether the next step of an execution neither reads nor changes what executions share: the
    tables, the clock, the inbox, and the list of executions."""
    if execution.state != "running":
        return False
    place = model.engine.at(execution.config)
    node = model.engine.node_at(execution.config)
    assert place is not None
    assert node is not None
    if place.phase is not Phase.READY or model.request_at(execution) is not None:
        return False
    opens = place.kind == "wait"
    detaches = place.kind == "call" and not node.behaviour.waited
    return not (opens or detaches)
