"""What process variables should have been in a run that was played: the order of its tasks is
taken as it was, and a tiny interpreter of the source model says after each what may come next.

A referee for targets whose branches really run at the same time. It reads the model, keeps one
store that the task done last has written to, and shares no code with any lowering. Tokens pass
gateways and events at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from variable_oracle import holds

from orgflow_ir.model import Event, Gateway, Process, SubProcess, Task

MOST_MOVES = 20_000


@dataclass
class _Place:
    """An instance of a process or sub-process: tokens at tasks, tokens that wait at joins."""

    scope: Process | SubProcess
    parent: _Place | None = None
    at: Counter[str] = field(default_factory=Counter)
    waiting: dict[str, Counter[str]] = field(default_factory=dict)
    inner: list[_Place] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nodes = {n.id: n for n in self.scope.nodes}
        self.out: dict[str, list[Any]] = {n: [] for n in self.nodes}
        self.into: dict[str, list[Any]] = {n: [] for n in self.nodes}
        for flow in self.scope.flows:
            self.out[flow.source].append(flow)
            self.into[flow.target].append(flow)

    def reaches(self, source: str, target: str) -> bool:
        seen, todo = {source}, [source]
        while todo:
            for flow in self.out[todo.pop()]:
                if flow.target == target:
                    return True
                if flow.target not in seen:
                    seen.add(flow.target)
                    todo.append(flow.target)
        return False


class Replay:
    """A run of a model that follows tasks in the order in which they were done.

    Attributes:
        never_set: the variable that a condition read and nobody had set.
        stuck: why no token can move although some are left.
    """

    def __init__(self, process: Process, start: Mapping[str, Any]) -> None:
        self.store = dict(start)
        self.never_set: str | None = None
        self.stuck: str | None = None
        self.moves = 0
        self.root = _Place(process)
        self._safely(self._begin, self.root)

    def _safely(self, do: Any, *given: Any) -> None:
        try:
            do(*given)
        except NameError as error:  # tasks in other branches may still be done
            self.never_set = self.never_set or error.name

    def done(self, task: str, sets: Mapping[str, Any], error: str | None = None) -> bool:
        """A task is done, or left by the boundary event of an error; whether it could be."""
        place = self._find(self.root, task)
        if place is None or self.stuck is not None:
            return False
        place.at[task] -= 1
        if error is None:
            self.store.update(sets)
            self._safely(self._leave, place, task)
            return True
        events = [n for n in place.scope.nodes if isinstance(n, Event) and n.attached_to == task]
        if not events:
            return False
        self._safely(self._leave, place, events[0].id)
        return True

    @property
    def over(self) -> bool:
        """Whether no token is left."""
        return self._empty(self.root)

    def _find(self, place: _Place, task: str) -> _Place | None:
        if place.at[task] > 0:
            return place
        return next((p for i in place.inner if (p := self._find(i, task))), None)

    def _empty(self, place: _Place) -> bool:
        waits = any(n for have in place.waiting.values() for n in have.values())
        return not waits and not +place.at and not place.inner

    def _begin(self, place: _Place) -> None:
        for node in place.scope.nodes:
            attached = isinstance(node, Event) and node.attached_to is not None
            if not place.into[node.id] and not attached:
                self._arrive(place, node.id, "")
        self._settle(place)

    def _leave(self, place: _Place, at: str) -> None:
        for target, by in self._chosen(place, at):
            self._arrive(place, target, by)
        self._settle(place)

    def _chosen(self, place: _Place, at: str) -> list[tuple[str, str]]:
        node, flows = place.nodes[at], place.out[at]
        kind = node.gateway_kind if isinstance(node, Gateway) else "parallel"
        if kind in ("exclusive", "inclusive") and len(flows) > 1:
            found = []
            for flow in flows:
                test = None if flow.default else flow.condition
                if test is not None and holds(test.text, self.store):
                    found.append(flow)
                    if kind == "exclusive":
                        break
            flows = found or [f for f in flows if f.default]
            if not flows:
                self.stuck = f"no branch fits at {at}"
        return [(f.target, f.id) for f in flows]

    def _arrive(self, place: _Place, at: str, by: str) -> None:
        self.moves += 1
        assert self.moves < MOST_MOVES
        node = place.nodes[at]
        if isinstance(node, Task):
            place.at[at] += 1
        elif isinstance(node, SubProcess):
            inside = _Place(node, place)
            place.inner.append(inside)
            self._begin(inside)
        elif isinstance(node, Gateway) and node.gateway_kind in ("parallel", "inclusive"):
            if len(place.into[at]) < 2:
                self._pass(place, at)
                return
            have = place.waiting.setdefault(at, Counter())
            have[by] += 1
            if node.gateway_kind == "parallel" and all(have[f.id] for f in place.into[at]):
                have.subtract({f.id: 1 for f in place.into[at]})
                self._pass(place, at)
        elif not (isinstance(node, Event) and node.position == "end"):
            self._pass(place, at)

    def _pass(self, place: _Place, at: str) -> None:
        for target, by in self._chosen(place, at):
            self._arrive(place, target, by)

    def _settle(self, place: _Place) -> None:
        """Inclusive joins that nothing more can come to go on; a scope without tokens is over."""
        again = True
        while again:
            again = False
            for join, have in place.waiting.items():
                inclusive = place.nodes[join].gateway_kind == "inclusive"  # type: ignore[union-attr]
                busy = [*(+place.at), *(i.scope.id for i in place.inner)]
                busy += [j for j, h in place.waiting.items() if j != join and any(h.values())]
                more = any(place.reaches(b, join) for b in busy)
                if inclusive and any(have.values()) and not more:
                    have.subtract({f: 1 for f, n in have.items() if n})
                    self._pass(place, join)
                    again = True
                    break
        if place.parent is not None and self._empty(place) and place in place.parent.inner:
            place.parent.inner.remove(place)
            self._leave(place.parent, place.scope.id)


def explain(
    process: Process,
    sets: Mapping[str, Sequence[Mapping[str, Any]]],
    start: Mapping[str, Any],
    order: Sequence[tuple[str, str | None]],
) -> tuple[Replay, str]:
    """The run in which tasks were done in an order, each maybe with an error, and why it cannot
    have been that way; nothing where it can."""
    replay = Replay(process, start)
    visits: Counter[str] = Counter()
    for number, (task, error) in enumerate(order):
        rows = sets.get(task, ())
        row = rows[visits[task]] if visits[task] < len(rows) else {}
        visits[task] += 1
        if not replay.done(task, row, error):
            return replay, f"{task} cannot come after {[t for t, _ in order[:number]]}"
    return replay, ""
