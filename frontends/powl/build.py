"""From POWL to a process: sound by construction, since every split has its join, and a partial
order is an acyclic net in which every step runs once."""

from __future__ import annotations

from itertools import count
from typing import assert_never

from orgflow.backends.powl.format import Activity, Choice, Loop, PartialOrder, Powl, Silent

from orgflow_ir.model import (
    Event,
    Flow,
    Gateway,
    GatewayKind,
    Lane,
    Model,
    Node,
    Pool,
    Process,
    Task,
)
from orgflow_ir.model.records import NamedTuple


class _Open(NamedTuple):
    """A flow that has a source and no target yet."""

    source: str
    label: str = ""


def build_model(powl: Powl, name: str, file: str) -> Model:
    """The model of one process. Steps of pools and lanes are in lanes: those of a pool in one lane
    if there are several pools, since a partial order across pools needs one process."""
    return _Builder().model(powl, name, file)


class _Builder:
    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._flows: list[Flow] = []
        self._actors: dict[tuple[str, str], list[str]] = {}
        self._numbers = count(1)

    def model(self, powl: Powl, name: str, file: str) -> Model:
        self._nodes.append(Event(id="start", position="start"))
        last = self._add_part(powl, _Open("start"))
        self._nodes.append(Event(id="end", position="end"))
        self._connect_nodes(last, "end")
        pools = sorted({pool for pool, _ in self._actors if pool})
        label = pools[0] if len(pools) == 1 else ""
        process = Process(
            id="process", name=name or label, nodes=tuple(self._nodes), flows=tuple(self._flows),
            lanes=self._build_lanes(pools),
        )  # fmt: skip
        pool = (Pool(id="pool", name=label, process="process"),) if label else ()
        return Model(id="model", name=name, source=file, processes=(process,), pools=pool)

    def _build_lanes(self, pools: list[str]) -> tuple[Lane, ...]:
        lanes: list[Lane] = []
        parents: dict[str, str] = {}
        if len(pools) > 1:
            for number, pool in enumerate(pools, 1):
                parents[pool] = f"pool_{number}"
                alone = tuple(self._actors.get((pool, ""), ()))
                lanes.append(Lane(id=f"pool_{number}", name=pool, members=alone, lane_set="lanes"))
        for (pool, lane), members in self._actors.items():
            if lane:
                id = f"lane_{len(lanes) + 1}"
                parent = parents.get(pool)
                lanes.append(
                    Lane(id=id, name=lane, members=tuple(members), parent=parent, lane_set="lanes")
                )
        return tuple(lanes)

    # -- parts --------------------------------------------------------------------------------

    def _connect_nodes(self, open_: _Open, target: str) -> None:
        id = f"flow_{len(self._flows) + 1}"
        self._flows.append(Flow(id=id, source=open_.source, target=target, name=open_.label))

    def _add_gateway(self, kind: GatewayKind, name: str = "") -> str:
        id = f"gateway_{next(self._numbers)}"
        self._nodes.append(Gateway(id=id, gateway_kind=kind, name=name))
        return id

    def _add_part(self, powl: Powl, open_: _Open) -> _Open:
        """Add a part behind an open flow; gives the open flow behind the part."""
        match powl:
            case Silent():
                return open_
            case Activity():
                return self._add_activity(powl, open_)
            case Choice():
                return self._add_choice(powl, open_)
            case Loop():
                return self._add_loop(powl, open_)
            case PartialOrder():
                return self._add_order(powl, open_)
            case _:
                assert_never(powl)

    def _add_activity(self, activity: Activity, open_: _Open) -> _Open:
        id = f"task_{next(self._numbers)}"
        self._nodes.append(Task(id=id, name=activity.label, loc=activity.loc))
        self._connect_nodes(open_, id)
        if activity.lane or activity.pool:
            self._actors.setdefault((activity.pool, activity.lane), []).append(id)
        return _Open(id)

    def _add_choice(self, choice: Choice, open_: _Open) -> _Open:
        conditions = choice.conditions or ("",) * len(choice.children)
        branches = list(zip(choice.children, conditions, strict=True))
        if len(branches) == 1:
            return self._add_part(branches[0][0], open_)
        split = self._add_gateway("exclusive", choice.name)
        self._connect_nodes(open_, split)
        ends = [self._add_part(child, _Open(split, label)) for child, label in branches]
        join = self._add_gateway("exclusive")
        skipped: set[str] = set()
        for end in ends:
            if end.source == split:  # two silent branches with one label are one
                if end.label in skipped:
                    continue
                skipped.add(end.label)
            self._connect_nodes(end, join)
        return _Open(join)

    def _add_loop(self, loop: Loop, open_: _Open) -> _Open:
        entry = self._add_gateway("exclusive")
        self._connect_nodes(open_, entry)
        after = self._add_part(loop.do, _Open(entry))
        leave = self._add_gateway("exclusive", loop.name)
        self._connect_nodes(after, leave)
        self._connect_nodes(self._add_part(loop.redo, _Open(leave, loop.again)), entry)
        return _Open(leave, loop.leave)

    def _add_order(self, order: PartialOrder, open_: _Open) -> _Open:
        before: dict[int, list[int]] = {n: [] for n in range(len(order.nodes))}
        after: dict[int, list[int]] = {n: [] for n in range(len(order.nodes))}
        for first, second in sorted(order.order):
            before[second].append(first)
            after[first].append(second)
        if not order.nodes:
            return open_
        sources = [n for n in before if not before[n]]
        entry = open_
        if len(sources) > 1:
            split = self._add_gateway("parallel")
            self._connect_nodes(open_, split)
            entry = _Open(split)
        left: dict[int, _Open] = {}
        todo = list(sources)
        missing = {n: len(before[n]) for n in before}
        while todo:
            node = todo.pop(0)
            given = [left[n] for n in before[node]] or [entry]
            left[node] = self._add_ordered(order.nodes[node], given, len(after[node]))
            for later in after[node]:
                missing[later] -= 1
                if not missing[later]:
                    todo.append(later)
        sinks = [left[n] for n in after if not after[n]]
        return sinks[0] if len(sinks) == 1 else self._join_open(sinks)

    def _add_ordered(self, part: Powl, given: list[_Open], branches: int) -> _Open:
        """A node of an order: behind a join where it waits for several, before a split where
        several wait for it."""
        behind = self._add_part(part, given[0] if len(given) == 1 else self._join_open(given))
        if branches < 2:
            return behind
        split = self._add_gateway("parallel")
        self._connect_nodes(behind, split)
        return _Open(split)

    def _join_open(self, given: list[_Open]) -> _Open:
        given = list(dict.fromkeys(given))  # several silent branches of one split are one
        if len(given) == 1:
            return given[0]
        join = self._add_gateway("parallel")
        for branch in given:
            self._connect_nodes(branch, join)
        return _Open(join)
