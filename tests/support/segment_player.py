"""Plays a process of segments on the model of rows beside the token game of its model.

The plan's nodes and connections are followed as n8n would: a segment begins at the switch and ends
by `complete`. Decisions are drawn at random, and the token game takes the same flows. After each
answer, timer and message both have to wait for the same elements.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

from orgflow.backends.n8n.emit.model_compilation import compile_processes
from orgflow.backends.n8n.plan.actions import (
    AnyRow,
    ChooseSegment,
    ChosenRows,
    CompleteSegment,
    Decide,
    DecideAny,
    OpenedRow,
)
from orgflow.backends.n8n.plan.graph import NodeKey, Port
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.segment_cuts import END, hub_key
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.waiting.row_model import (
    Answer,
    Row,
    RowWorld,
    Steps,
    Token,
    complete_steps,
    continue_process,
    receive_message,
    start_instance,
)

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Event, Model
from orgflow_ir.pipeline import PassContext

WAITING = ("task", "timer", "receiver")


class PlayError(AssertionError):
    """The process of segments and the token game differ."""


def plan_segments(model: Model) -> ScopePlan | None:
    """The plan of the first process, if it is cut into segments."""
    ctx = PassContext(source=model, target=N8N_TARGET, options={"trigger": "webhook"})
    legal = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
    if ctx.has_errors:
        return None
    plan = compile_processes(legal, ctx)[0].scopes[0].plan
    return plan if plan.segments is not None else None


class SegmentPlay:
    """One instance of a process, and the state of the token game beside it."""

    def __init__(self, model: Model, plan: ScopePlan, rnd: random.Random) -> None:
        self.plan, self.rnd = plan, rnd
        self.graph = plan.workflow_graph
        self.world = RowWorld()
        self.world.processes["p"] = self.run_segments
        self.game = Game(model, Policy(messages="free"))
        process = model.processes[0].id
        self.start = self.game.starts(process)[0]
        self.state = self.game.initial(process, self.start)
        self.chosen: dict[str, deque[tuple[str, ...]]] = defaultdict(deque)
        self.flows_of_ports = {port: flow for flow, port in plan.exits.items()}
        self.waits = plan.segments.waits if plan.segments is not None else set()
        self.log: list[str] = []

    # -- the process ---------------------------------------------------------------------------

    def run_segments(self, world: RowWorld, token: Token, claimed: Answer) -> Steps:
        """All segments of an execution."""
        result: Answer = claimed
        while result.get("won"):
            result = yield from self._run_segment(world, result["token"])
        return {}

    def _run_segment(self, world: RowWorld, token: Token) -> Steps:
        switch = self.graph.nodes[hub_key(self.plan, "segment")]
        assert isinstance(switch.action, ChooseSegment)
        events = [event for event, _ in switch.action.events]
        left = token.kind == "scope" and token.event == "end"
        event = f"{END}{token.element}" if left else token.event
        if event not in events:
            raise PlayError(f"no segment begins at {event}")
        port = Port(switch.key, events.index(event))
        for _ in range(1000):
            node = self.graph.nodes[self._follow(port)]
            action = node.action
            if isinstance(action, CompleteSegment):
                rows = [self._row(r, token) for r in self._list_rows(action.rows)]
                result = (
                    yield from complete_steps(
                        world, token, rows, {}, end=action.ends, leave=action.leaves,
                        levels=action.levels,
                    )
                )  # fmt: skip
                goes_on = [t.node for _, t in self.graph.wires.leaving(node.key)]
                return result if goes_on == [hub_key(self.plan, "taken")] else {}
            port = self._leave(node.key, action)
        raise PlayError("a segment does not end")

    def _follow(self, port: Port) -> NodeKey:
        targets = [t.node for s, t in self.graph.wires.leaving(port.node) if s == port]
        if len(targets) != 1:
            raise PlayError(f"{port} leads to {targets}")
        return targets[0]

    def _leave(self, key: NodeKey, action: Any) -> Port:
        if isinstance(action, Decide):
            ports = [Port(key, n) for n in range(action.rules + 1)]
            ports = [p for p in ports if p in self.flows_of_ports]
            port = self.rnd.choice(ports)
            self.chosen[str(key)].append((self.flows_of_ports[port],))
            return port
        if isinstance(action, DecideAny):
            flows = [b.flow.id for b in action.decision.branches if b.kind != "default"]
            default = action.decision.default
            count = self.rnd.randint(0 if default is not None else 1, len(flows))
            sample = self.rnd.sample(flows, count)
            taken = tuple(f for f in flows if f in sample)
            if not taken:
                assert default is not None
                taken = (default.flow.id,)
            self.taken = taken
            self.chosen[str(key)].append(taken)
            return Port(key, int(action.unset))
        return Port(key)

    def _list_rows(self, rows: tuple[AnyRow, ...]) -> Iterator[OpenedRow]:
        for row in rows:
            if isinstance(row, OpenedRow):
                yield row
            else:
                assert isinstance(row, ChosenRows)
                chosen = row.rows if row.branch.flow.id in self.taken else row.otherwise
                yield from self._list_rows(chosen)

    def _row(self, row: OpenedRow, token: Token) -> Row:
        cells: Row = {"kind": row.kind, "element": row.element}
        for name in ("ref", "host", "attached_to", "inside", "branch"):
            if getattr(row, name):
                cells[name] = getattr(row, name)
        if row.hosts_events:
            cells["hosts_events"] = "yes"
        if row.attached_to:
            cells |= {"interrupting": "no"}
        if row.repeats:
            cells |= {"attached_to": token.attached_to, "interrupting": "no"}
        if row.needed:
            cells["needed"] = row.needed
        if row.kind == "timer":
            # One that nothing waits for is due at once.
            later = row.element in self.waits
            cells["due"] = cells["check_at"] = self.world.now + (10**6 if later else 0)
        if row.kind == "receiver":
            cells["message_key"] = f"{row.element}|"
        return cells

    def settle(self) -> None:
        """Run all executions to their ends, in random order."""
        for _ in range(100_000):
            if not self.world.running:
                return
            self.world.advance(self.rnd.choice(self.world.running))
        raise PlayError("the executions do not end")

    # -- what happens --------------------------------------------------------------------------

    def play(self, most: int = 30) -> None:
        """From the start until the end, or so many events."""
        self.world.begin(self._begin())
        self.settle()
        self._play_game()
        for _ in range(most):
            self._compare()
            rows = [r for r in self.world.rows if r["state"] == "open" and r["kind"] in WAITING]
            if not rows:
                # In a deadlocked scope the game lets an event that does not interrupt occur again.
                happened = {line.split()[-1] for line in self.log}
                left = self.game.enabled(self.state)
                again = bool(left) and all(step.element in happened for step in left)
                stuck = again or self.game.outcome(self.state) == "stuck"
                if any(r["live"] for r in self.world.rows) != stuck:
                    raise PlayError(f"nothing is open, and rows are live: {self._texts()}")
                return
            self._happen(self.rnd.choice(rows))
            self.settle()

    def _begin(self) -> Steps:
        trigger = next(iter(self.plan.with_role("trigger")))
        started = yield from start_instance(self.world, "p", trigger.element, {})
        yield from self.run_segments(self.world, started["token"], started)
        return {}

    def _happen(self, row: Row) -> None:
        element = row["element"]
        self.log.append(f"{row['kind']} {element}")
        if row["kind"] == "task":
            self.world.begin(continue_process(self.world, "p", row["key"], "", "", {}))
        elif row["kind"] == "timer":
            own = row["interrupting"] == "no" or not row["host"]
            key = row["key"] if own else row["host"]
            self.world.begin(continue_process(self.world, "p", key, "", element, {}))
        else:
            self.world.begin(receive_message(self.world, row["message_key"], {}))
        self.settle()
        self._fire_game(element)
        self._play_game()

    def _fire_game(self, element: str) -> None:
        steps = [s for s in self.game.steps_of(self.state, element) if s.action != "open"]
        if not steps:
            raise PlayError(f"the token game does not allow {element}")
        self.state = self.game.fire(self.state, self._select(steps))

    def _select(self, steps: list[Step]) -> Step:
        """The step whose flows the process has taken."""
        queue = self.chosen.get(steps[0].element)
        if len({s.taken for s in steps}) > 1 and queue:
            wanted = set(queue.popleft())
            return next(s for s in steps if set(s.taken) == wanted)
        return steps[0]

    def _play_game(self) -> None:
        """All moves that need nobody."""
        for _ in range(10_000):
            by_element: dict[str, list[Step]] = defaultdict(list)
            for step in self.game.enabled(self.state):
                if step.action == "open" or not self._is_awaited(step.element):
                    by_element[step.element].append(step)
            ready = [
                steps
                for element, steps in by_element.items()
                if len({s.taken for s in steps}) == 1 or self.chosen.get(element)
            ]
            if not ready:
                if by_element:
                    raise PlayError(f"the process did not decide {list(by_element)}")
                return
            self.state = self.game.fire(self.state, self._select(ready[0]))
        raise PlayError("the token game does not come to rest")

    def _is_awaited(self, element: str) -> bool:
        return element in self.waits

    def _compare(self) -> None:
        nodes = {n.id: n for n in self.plan.scope.body.nodes}
        here = sorted(
            r["element"]
            for r in self.world.rows
            if r["state"] == "open" and r["kind"] in WAITING and not self._is_boundary(r, nodes)
        )
        there = [e for e in self.game.open_elements(self.state) if e in self.waits]
        if here != sorted(there):
            raise PlayError(f"after {self.log}: rows {here}, token game {there}")

    def _is_boundary(self, row: Row, nodes: dict[str, Any]) -> bool:
        node = nodes.get(row["element"])
        return isinstance(node, Event) and node.position == "boundary"

    def _texts(self) -> list[str]:
        return [f"{r['kind']} {r['element']} {r['state']}" for r in self.world.rows if r["live"]]
