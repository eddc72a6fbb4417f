"""Whether the cases of a process are runs of its model: a replay on the token game.

Each case is aligned with the run that differs least from it (Adriansyah 2014): an event that the
run does not have there is *out of place*, a step of the run that no message mentions is passed
over. Messages are often sent late, and people leave out what everybody knows, so that neither
changes the model.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from orgflow_ir.flow.token_game.semantics import Game, Policy, State
from orgflow_ir.model import Model
from orgflow_ir.model.records import NamedTuple

MOST_STATES = 4_000
"""Maximum number of states of the search for the nearest run of one case."""


OUT_OF_PLACE, PASSED = 3, 2
"""The costs of an event that the run does not have, and of a step that no message mentions: people
leave out more than they tell in the wrong order."""


class CaseEvent(NamedTuple):
    """An event of a case: the id of its element, and the place of its message."""

    element: str
    place: int


class CaseFit(NamedTuple):
    """How a case fits the model.

    Attributes:
        events: number of its events.
        out_of_place: the events that the nearest run does not have where they are.
        unmentioned: the elements of the nearest run that no message of the case shows, in order.
        decided: false if the search for the nearest run was too long; nothing is known then.
    """

    events: int
    out_of_place: tuple[CaseEvent, ...] = ()
    unmentioned: tuple[str, ...] = ()
    decided: bool = True

    @property
    def fits(self) -> bool:
        """Whether all of its events are where a run has them."""
        return self.decided and not self.out_of_place


def replay_cases(
    model: Model, process: str, cases: Mapping[int, Sequence[CaseEvent]]
) -> dict[int, CaseFit]:
    """How each case fits a process of a model; events are in the order of time."""
    game = Game(model, Policy(once=True))
    shown = frozenset(event.element for events in cases.values() for event in events)
    return {number: align_case(game, process, events, shown) for number, events in cases.items()}


def share_in_place(fits: Mapping[int, CaseFit]) -> float:
    """The share of all events that are in place, from 0 to 1; those of a case about which nothing
    is known are not counted. 1 without events."""
    known = [fit for fit in fits.values() if fit.decided]
    events = sum(fit.events for fit in known)
    return 1 - sum(len(fit.out_of_place) for fit in known) / events if events else 1.0


class _Node(NamedTuple):
    """A state of the search: how many events were placed, and the moves that led there."""

    done: int
    state: State
    out: tuple[int, ...]
    passed: tuple[str, ...]


def align_case(
    game: Game, process: str, events: Sequence[CaseEvent], shown: frozenset[str]
) -> CaseFit:
    """The run that is nearest to a case. The case may end before the run does.

    Args:
        game: the token game of the model.
        process: the id of the process.
        events: the events of the case, in the order of time.
        shown: all elements that events of any case show; others happen unseen.
    """
    order = count()
    heap: list[tuple[int, int, int, _Node]] = []
    for start in game.starts(process):
        node = _Node(0, game.initial(process, start), (), ())
        heapq.heappush(heap, (0, 0, next(order), node))
    reached: set[tuple[int, State]] = set()
    while heap and len(reached) < MOST_STATES:
        cost, _, _, node = heapq.heappop(heap)
        if node.done == len(events):
            out = tuple(events[number] for number in node.out)
            return CaseFit(len(events), out, node.passed)
        if (node.done, node.state) in reached:
            continue
        reached.add((node.done, node.state))
        for added, following in _list_moves(game, node, events, shown):
            # of equal costs, the case that is further comes first
            entry = (cost + added, -following.done, next(order), following)
            heapq.heappush(heap, entry)
    return CaseFit(len(events), decided=False)


def _list_moves(
    game: Game, node: _Node, events: Sequence[CaseEvent], shown: frozenset[str]
) -> Iterator[tuple[int, _Node]]:
    """The moves from a state of the search, each with its cost."""
    wanted = events[node.done].element
    # 1. the event is out of place
    yield OUT_OF_PLACE, node._replace(done=node.done + 1, out=(*node.out, node.done))
    for step in game.enabled(node.state):
        after = game.fire(node.state, step)
        if step.action == "open" or step.element not in shown:
            yield 0, node._replace(state=after)
        elif step.element == wanted:
            yield 0, node._replace(done=node.done + 1, state=after)
        else:
            passed = (*node.passed, step.element)
            yield PASSED, node._replace(state=after, passed=passed)
