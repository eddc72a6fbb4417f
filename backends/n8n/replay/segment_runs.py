"""Runs of processes that wait in several places, on the model of rows.

The connections of the delivered workflow are followed as n8n follows them; `complete`, `claim` and
`join` are those of the model of rows, which tests compare with the support set. No expression is
evaluated: gateways take the branches of the run, and people, times and messages come when it says.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import Final

from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.plan.actions import (
    AnyRow,
    BeginsHere,
    ChooseSegment,
    ChosenRows,
    CompleteSegment,
    Decide,
    DecideAny,
    OpenedRow,
    OpenPage,
    Stop,
)
from orgflow.backends.n8n.plan.graph import PlanNode, most_ports
from orgflow.backends.n8n.plan.message_links import message_links
from orgflow.backends.n8n.plan.row_scopes import BODY, is_terminating
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.segment_cuts import END, hub_key
from orgflow.backends.n8n.waiting.row_model import (
    Answer,
    Row,
    RowWorld,
    Steps,
    Token,
    complete_steps,
    continue_process,
    start_instance,
)

from orgflow_ir.flow.token_game.runs import Run
from orgflow_ir.flow.token_game.stub_data import Unplayable
from orgflow_ir.model import CallActivity, Event, Gateway, Task
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.plugins.runners import NodeExecution, RunResult

NOT_EVALUATED: Final = (
    "its parts are played on a model of the Data Table: no expression is evaluated"
)
"""What differs from the delivered workflow."""

_LATER: Final = 10**6
_MOST_NODES: Final = 10_000


class SegmentRunError(Exception):
    """A run that the workflow does not follow; the text is the reason."""


def play_segments(plan: ScopePlan, workflow: Workflow, run: Run) -> RunResult:
    """The behaviour of a process of segments in a run; `workflow` is the delivered one of the
    plan."""
    try:
        played = SegmentRun(plan, workflow, run)
        played.play()
    except Unplayable as error:
        return RunResult("unplayable", error=str(error))
    except SegmentRunError as error:
        return RunResult("error", error=str(error))
    stopped = played.stopped
    return RunResult("error" if stopped else "success", tuple(played.executed), stopped or None)


def visible_elements(plan: ScopePlan) -> Iterator[str]:
    """The elements whose execution a run shows: not scopes, which are open while others run, no
    splits, since what comes before one may open its branches, and no starts of event sub-processes
    for errors, which begin as the error is thrown."""
    assert plan.segments is not None
    for node in plan.workflow_graph.nodes.values():
        element = plan.graph.nodes.get(node.element)
        splits = isinstance(element, Gateway) and isinstance(node.action, CompleteSegment)
        handles = (
            isinstance(element, Event)
            and element.trigger == "error"
            and (element.attached_to or "").endswith(BODY)
        )
        shown = node.role == "element" and not splits and not handles
        if shown and node.element not in plan.segments.flat.scopes:
            yield node.element


class SegmentRun:
    """One run of one process.

    Attributes:
        executed: the nodes in the order of their execution; one that opens what an element waits
            for counts once the wait is over.
        stopped: why the run stopped with an error; empty if it did not.
    """

    def __init__(self, plan: ScopePlan, workflow: Workflow, run: Run) -> None:
        self.plan, self.run = plan, run
        self.graph = plan.workflow_graph
        self.by_name = {node.name: node for node in self.graph.nodes.values()}
        self.connections = workflow["connections"]
        assert plan.segments is not None
        self.segments = plan.segments
        self.world = RowWorld()
        self.world.processes["p"] = self._run_segments
        self.executed: list[NodeExecution] = []
        self.stopped = ""
        self.flows = {port: flow for flow, port in plan.exits.items()}
        self.chosen: tuple[str, ...] = ()
        happened = {step.element for step in run.steps}
        self.early = {
            node.attached_to
            for node in plan.scope.body.nodes
            if isinstance(node, Event) and node.attached_to is not None and node.id in happened
        }
        """Elements that count once they are open, since an event on their border follows."""
        self.taken: dict[str, deque[tuple[str, ...]]] = {}
        for step in run.steps:
            if step.taken:
                self.taken.setdefault(step.element, deque()).append(step.taken)

    def play(self) -> None:
        """Play all steps. Raises `Unplayable` and `SegmentRunError`."""
        if any(node.fails_over for node in self.graph.nodes.values()):
            raise Unplayable("errors of steps are not played beside several waits")
        self.world.begin(self._begin())
        self._settle()
        links = self.plan.ctx.analysis(message_links, self.plan.scope.model)
        for step in self.run.steps:
            for link in links:
                if link.receiver.id == step.element and self._find_rows(link.flow):
                    self._happen(link.flow)
            if step.element in self.segments.waits and step.action != "open":
                self._happen(step.element)
        left = [row["element"] for row in self.world.rows if row["live"]]
        if left and not self.stopped:
            raise SegmentRunError(f"rows are open at the end: {', '.join(left)}")
        self._find_early_steps()

    def _find_early_steps(self) -> None:
        """Raises `Unplayable` if a step is over, or counts as begun, before an event of the run
        ends the scope around it: one that waits for nothing begins as soon as the scope does."""
        ended: set[str] = set()
        steps = Counter(step.element for step in self.run.steps if step.action != "open")
        for node in self.plan.scope.body.nodes:
            if not isinstance(node, Event) or node.id not in steps:
                continue
            if node.position == "boundary" and node.interrupting and node.attached_to:
                ended.add(node.attached_to)
            elif is_terminating(node) or (node.position == "end" and node.trigger != "none"):
                ended |= set(self._scopes_around(node.id))
        for element, count in Counter(e.element for e in self.executed if e.element).items():
            task = self.plan.graph.nodes.get(element)
            if not isinstance(task, Task) or element in ended:
                continue
            most = max(steps[name] for name in (element, *source_ids(task)))
            if count > most and not ended.isdisjoint(self._scopes_around(element)):
                raise Unplayable(f"{element} has begun before an event around it ends it")

    def _scopes_around(self, element: str) -> Iterator[str]:
        """The scopes around an element, the innermost first; the process is the empty name."""
        flat = self.segments.flat
        scope = flat.owners.get(element, "")
        while scope:
            yield scope
            scope = flat.scopes[scope].parent
        yield ""

    def _begin(self) -> Steps:
        starts = [*self.plan.with_role("trigger")]
        starts += [self.graph.nodes[event] for event in self.segments.called]
        given = [node for node in starts if node.element == self.run.start]
        first = (given or starts)[0]
        self._execute(first)
        if first.element in self.segments.called:
            self._lead_to_switch(self.graph.nodes[hub_key(self.plan, "continue")], begins=True)
        else:
            self._lead_to_switch(first)
        started = yield from start_instance(self.world, "p", first.element, {})
        return (yield from self._run_segments(self.world, started["token"], started))

    def _happen(self, element: str) -> None:
        """What a row waits for: an answer, a moment or a message."""
        rows = self._find_rows(element)
        if not rows:
            if element not in self.segments.begun:
                return  # an event-based gateway
            if self.world.select(element=element):
                raise Unplayable(f"steps without a wait are over before {element} happens")
            raise SegmentRunError(f"nothing is open at {element}")
        row = rows[0]
        own = row["interrupting"] == "no" or not row["host"]
        key, event = (row["key"], "" if row["kind"] == "task" else element)
        key = key if own else row["host"]
        entry = element if row["kind"] == "task" else hub_key(self.plan, "continue")
        self._lead_to_switch(self.graph.nodes[entry])
        self.world.begin(continue_process(self.world, "p", key, "", event, {}))
        self._settle()

    def _find_rows(self, element: str) -> list[Row]:
        """The open rows of an element that something may happen to."""
        rows = self.world.select(element=element, state="open")
        return [row for row in rows if row["kind"] in ("task", "timer", "receiver")]

    def _settle(self) -> None:
        """Run all executions to their ends, the oldest first."""
        for _ in range(_MOST_NODES):
            if not self.world.running:
                return
            self.world.advance(self.world.running[0])
        raise SegmentRunError("the executions do not end")

    # -- segments ------------------------------------------------------------------------------

    def _run_segments(self, world: RowWorld, token: Token, claimed: Answer) -> Steps:
        """All segments of an execution."""
        result = claimed
        while result.get("won") and not self.stopped:
            result = yield from self._run_segment(world, result["token"])
        return {}

    def _run_segment(self, world: RowWorld, token: Token) -> Steps:
        switch = self.graph.nodes[hub_key(self.plan, "segment")]
        assert isinstance(switch.action, ChooseSegment)
        left = token.kind == "scope" and token.event == "end"
        event = f"{END}{token.element}" if left else token.event
        events = [known for known, _ in switch.action.events]
        if event not in events:
            raise SegmentRunError(f"no part begins at {event}")
        waited = self.graph.nodes.get(event)
        opens_itself = waited is not None and isinstance(waited.action, CompleteSegment | OpenPage)
        waits = event in self.segments.waits and event not in self.early
        if waited is not None and opens_itself and waits:
            self._execute(waited)
        node = self._follow(switch, events.index(event))
        for _ in range(_MOST_NODES):
            action = node.action
            counted = node.element == event and event in self.early  # once it was open
            if not isinstance(action, CompleteSegment) and not counted:
                self._execute(node)
            if isinstance(action, CompleteSegment):
                rows = [self._row(row, token) for row in self._list_rows(action.rows)]
                result = yield from complete_steps(
                    world, token, rows, {}, end=action.ends, leave=action.leaves,
                    levels=action.levels,
                )  # fmt: skip
                if world.read(token.key)["state"] not in ("done", "ending"):
                    return {}  # it was cancelled meanwhile
                if node.role != "element" or node.element not in self.segments.waits:
                    self._execute(node)
                for row in action.rows:
                    self._open_early(row)
                if action.stops:
                    node = self._follow(node, 0)
                    continue
                if result.get("won"):
                    self._lead_to_switch(node)
                return result
            if isinstance(action, Stop):
                self.stopped = action.message
                return {}
            node = self._follow(node, self._choose_output(node))
        raise SegmentRunError("a part does not end")

    def _open_early(self, row: AnyRow) -> None:
        if isinstance(row, ChosenRows):
            chosen = row.branch.flow.id in self.chosen
            for inner in row.rows if chosen else row.otherwise:
                self._open_early(inner)
        elif row.element in self.early and row.kind != "scope":
            self._execute(self.graph.nodes[row.element])

    def _lead_to_switch(self, node: PlanNode, *, begins: bool = False) -> None:
        """Follow the connections from a trigger, or from the end of a part, to the switch."""
        switch = hub_key(self.plan, "segment")
        for _ in range(_MOST_NODES):
            if node.key == switch:
                return
            tells = isinstance(node.action, BeginsHere) and not begins
            node = self._follow(node, int(tells))
        raise SegmentRunError(f"`{node.name}` does not lead to the parts of the process")

    def _execute(self, node: PlanNode) -> None:
        if isinstance(self.plan.graph.nodes.get(node.element), CallActivity):
            raise Unplayable(f"the steps of the process that `{node.name}` calls are not played")
        mine = node.role in ("element", "trigger")
        element = node.element if mine or node.element in self.segments.called else None
        self.executed.append(NodeExecution(node.name, element))

    def _follow(self, node: PlanNode, output: int) -> PlanNode:
        wired = self.connections.get(node.name)
        outputs = wired["main"] if wired is not None else []
        ends = outputs[output] if output < len(outputs) else []
        if len(ends) != 1:
            raise SegmentRunError(f"`{node.name}` leads to {len(ends)} nodes")
        return self.by_name[ends[0]["node"]]

    def _choose_output(self, node: PlanNode) -> int:
        """The output that the run takes."""
        action = node.action
        if isinstance(action, Decide | DecideAny):
            self.chosen = self._take(node.element)
            if isinstance(action, DecideAny):
                return int(action.unset)
            ports = [p for p, flow in self.flows.items() if p.node == node.key]
            return next(p.number for p in ports if self.flows[p] in self.chosen)
        if most_ports(node) > 1:
            raise Unplayable(f"`{node.name}` decides by data that are not played")
        return 0

    def _take(self, element: str) -> tuple[str, ...]:
        source = source_ids(self.plan.graph.nodes[element])[0]
        queue = self.taken.get(element) or self.taken.get(source)
        if not queue:
            raise Unplayable(f"steps without a wait come to {element} before an event ends them")
        return queue.popleft()

    def _list_rows(self, rows: tuple[AnyRow, ...]) -> Iterator[OpenedRow]:
        for row in rows:
            if isinstance(row, ChosenRows):
                chosen = row.branch.flow.id in self.chosen
                yield from self._list_rows(row.rows if chosen else row.otherwise)
            else:
                yield row

    def _row(self, row: OpenedRow, token: Token) -> Row:
        """The cells of a row; one that nothing waits for is due at once."""
        cells: Row = {"kind": row.kind, "element": row.element}
        for name in ("ref", "host", "attached_to", "inside", "branch"):
            if getattr(row, name):
                cells[name] = getattr(row, name)
        if row.hosts_events:
            cells["hosts_events"] = "yes"
        if row.repeats:
            cells["attached_to"] = token.attached_to
        if row.needed:
            cells["needed"] = row.needed
        if row.kind == "timer":
            element = self.plan.graph.nodes.get(row.element)
            drawn = element is None or not element.derived_from
            waits = row.element in self.segments.waits and drawn
            cells["due"] = self.world.now + (_LATER if waits else 0)
        return cells
