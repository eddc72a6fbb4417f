"""Determines the compensation handlers that each event of a process starts, and makes them steps of
its flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from orgflow_ir.flow.concurrency.parallel_steps import Concurrency
from orgflow_ir.flow.control_flow.compensation import map_handlers
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.token_game.moves import (
    Move,
    handlers_due,
    list_completed,
    throws_compensation,
)
from orgflow_ir.flow.token_game.net import Policy
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Loop,
    Model,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.elements import Node
from orgflow_ir.model.records import dataclass
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.spec import Reason
from orgflow_ir.work.repetition import NotRepeatable, read_repetition

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter

Activity = Task | CallActivity | SubProcess

MOST_STATES = 4_000
"""Maximum number of states of a process explored to find the activities that are completed when
compensation starts."""


def handlers_in(scope: Scope, model: Model) -> Iterator[tuple[Activity, Activity]]:
    """The activities of a scope with the handlers that their boundary events name."""
    if not any(map(_is_mark, scope.nodes)):
        return
    nodes = {node.id: node for node in scope.nodes}
    named = map_handlers(model)
    for node in scope.nodes:
        if _is_mark(node) and isinstance(node, Event) and node.id in named:
            activity, handler = nodes.get(node.attached_to or ""), nodes[named[node.id]]
            if isinstance(activity, Activity) and isinstance(handler, Activity):
                yield activity, handler


def undone_in(sub: SubProcess, model: Model) -> bool:
    """Whether an activity in a sub-process, at any depth, has a handler."""
    return any(True for scope in sub.scopes() for _ in handlers_in(scope, model))


def _is_mark(node: Node) -> bool:
    """Whether a node is a boundary event that names a handler."""
    if not isinstance(node, Event) or node.position != "boundary":
        return False
    return any(d.kind == "compensation" for d in node.definitions)


def _undoes_work(node: Node) -> bool:
    """Whether a node starts handlers when it is reached."""
    if not isinstance(node, Event) or node.position not in ("throw", "end"):
        return False
    return any(d.kind in ("compensation", "cancel") for d in node.definitions)


@dataclass
class Plan:
    """The plan for the handlers of one process.

    Attributes:
        process: the process.
        started: for each compensating event, by id, the activities whose handlers it starts, in the
            order of compensation.
        handlers: the handler of each such activity, by its id, with the scope that contains it.
        scope_of: the scope of every node, by its id.
        obstacle: why the handlers cannot become steps; empty if they can.
    """

    process: Process
    started: dict[str, tuple[str, ...]] = field(default_factory=dict)
    handlers: dict[str, tuple[Activity, Scope]] = field(default_factory=dict)
    activities: dict[str, Activity] = field(default_factory=dict)
    scope_of: dict[str, Scope] = field(default_factory=dict)
    obstacle: str = ""

    def throwing_events(self) -> list[Event]:
        """The events of the process that start handlers."""
        nodes = (node for scope in self.process.scopes() for node in scope.nodes)
        return [node for node in nodes if isinstance(node, Event) and _undoes_work(node)]


class ProcessesTooLarge:
    """The processes of a model that are known to have more than `MOST_STATES` states, for
    `ctx.analysis(ProcessesTooLarge, model)`.

    Lowerings of other constructs change such a process little, and its plan is asked for again
    after each: its states are explored once a compile.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.ids: set[str] = set()


class Plans:
    """The plans of a model, computed on demand, for `ctx.analysis(Plans, model)`."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._made: dict[str, Plan] = {}

    def of(self, scope: Scope, ctx: PassContext) -> Plan:
        """The plan of the process that a scope belongs to."""
        process = next(p for p in self._model.processes if any(s is scope for s in p.scopes()))
        if process.id not in self._made:
            self._made[process.id] = _plan_process(process, self._model, ctx)
        return self._made[process.id]


def _plan_process(process: Process, model: Model, ctx: PassContext) -> Plan:
    plan = Plan(process)
    for scope in process.scopes():
        for node in scope.nodes:
            plan.scope_of[node.id] = scope
        for activity, handler in handlers_in(scope, model):
            plan.handlers[activity.id] = handler, scope
            plan.activities[activity.id] = activity
    plan.obstacle = next(_unusual_parts(plan, ctx), "")
    if not plan.obstacle:
        too_large = ctx.analysis(ProcessesTooLarge, ctx.source or model).ids
        if process.id not in too_large and not _find_started(plan, model, ctx):
            too_large.add(process.id)
        if process.id in too_large:
            plan.obstacle = Reason(
                "the process has too many states to determine which work it compensates",
                *plan.throwing_events(),
            )
    if not plan.obstacle:
        plan.obstacle = next(_list_obstacles(plan, ctx), "")
    return plan


def _unusual_parts(plan: Plan, ctx: PassContext) -> Iterator[str]:
    """What is not looked into further."""
    yield from _unusual_handlers(plan, ctx)
    for scope in plan.process.scopes():
        graph = ctx.analysis(ControlFlow, scope)
        for node in scope.nodes:
            if not isinstance(node, Event):
                continue
            if node.position == "start" and any(d.kind == "compensation" for d in node.definitions):
                yield Reason(
                    f"{ctx.name(node)} begins an event sub-process for compensation", scope
                )
            if not _undoes_work(node):
                continue
            if len(node.definitions) > 1:
                yield Reason(f"{ctx.name(node)} has several events to throw", node)
            if not graph.flows_in(node.id):
                yield Reason(f"no flow leads to {ctx.name(node)}", node)
            refs = {d.ref for d in node.definitions if d.ref}
            reachable = {n.id for s in _scopes_around(scope, plan) for n in _nodes_inside(s)}
            if refs - reachable:
                yield Reason(
                    f"the work that {ctx.name(node)} compensates is not in its own scope", node
                )


def _unusual_handlers(plan: Plan, ctx: PassContext) -> Iterator[str]:
    """Handlers of several activities, with flows or boundary events, or that undo something."""
    users: dict[str, str] = {}
    for activity, (handler, scope) in plan.handlers.items():
        graph = ctx.analysis(ControlFlow, scope)
        if handler.id in users:
            yield Reason(f"{ctx.name(handler)} undoes several activities", handler)
        users[handler.id] = activity
        if graph.flows_in(handler.id) or graph.flows_out(handler.id):
            yield Reason(f"flows lead to {ctx.name(handler)} or out of it", handler)
        if any(n.attached_to == handler.id for n in scope.nodes if isinstance(n, Event)):
            yield Reason(f"{ctx.name(handler)} has boundary events", handler)
        if isinstance(handler, SubProcess) and any(map(_undoes_work, _nodes_inside(handler))):
            yield Reason(f"{ctx.name(handler)} undoes something itself", handler)


def _nodes_inside(scope: Scope) -> Iterator[Node]:
    return (node for inner in scope.scopes() for node in inner.nodes)


def _scopes_around(scope: Scope, plan: Plan) -> Iterator[Scope]:
    """The scope in which an event undoes: its own, for an event sub-process the one around it,
    too."""
    yield scope
    if isinstance(scope, SubProcess) and scope.flavour == "event":
        yield plan.scope_of[scope.id]


# -- what is completed -------------------------------------------------------------------------


def _find_started(plan: Plan, model: Model, ctx: PassContext) -> bool:
    """For each event that undoes something the activities that are completed when it is reached:
    the same in every state in which it is, or there is an obstacle. Returns whether the process has
    at most `MOST_STATES` states, or an obstacle is found in the first of these."""
    # 1. Walk through all states and note, whenever a compensating event is about to be entered,
    #    which activities are completed.
    game = Game(model, Policy(once=True))
    undoing = {node.index for node in game.net.nodes if _undoes_work(node.element)}
    handlers_by_event: dict[str, dict[str, int]] = {}
    known: set[State] = set()
    todo = [game.initial(plan.process.id, start) for start in game.starts(plan.process.id)]
    while todo:
        state = todo.pop()
        if state in known:
            continue
        known.add(state)
        if len(known) > MOST_STATES:
            return False
        possible = game.moves(state)
        for move in possible:
            if move.kind != "enter" or move.node.index not in undoing:
                continue
            due = _due_activities(game, state, move)
            before = handlers_by_event.setdefault(move.node.id, due)
            # 2. Another set than in an earlier state is no plan for steps in a fixed place.
            if before != due:
                differing = sorted(a for a in {*before, *due} if before.get(a) != due.get(a))
                named = ctx.name(plan.activities[differing[0]])
                plan.obstacle = Reason(
                    f"whether {named} is compensated at {ctx.name(move.node.element)} depends "
                    "on the run",
                    move.node.element,
                )
                return True
        todo += game.states_after(state, possible)
    # 3. The handlers of an event run in the reverse order of completion (BPMN 2.0.2, 13.5.5).
    order = {id: i for i, id in enumerate(_finishing_order(plan, ctx))}
    for event in plan.scope_of:
        if event not in handlers_by_event:
            continue
        due = handlers_by_event[event]
        for activity, times in due.items():
            if times > 1:
                plan.obstacle = Reason(
                    f"{ctx.name(plan.activities[activity])} may have to be compensated several "
                    "times",
                    plan.handlers[activity][0],
                )
        plan.started[event] = tuple(sorted(due, key=lambda a: -order[a]))
    return True


def _due_activities(game: Game, state: State, move: Move) -> dict[str, int]:
    """The activities that an event undoes, and how often each was completed."""
    frames = {(f.scope, f.key): f for f in state.frames}
    if throws_compensation(move.node):
        _, due = handlers_due(game.net, frames, move.at, move.node)
    else:
        due = list_completed(game.net, frames[move.at])
    return {game.net.nodes[i].id: times for i, times in due}


def _finishing_order(plan: Plan, ctx: PassContext) -> Iterator[str]:
    """Activities with those that can only come later behind them, where there is such an order:
    depth first, sub-processes after what is in them."""

    def scope_order(scope: Scope) -> Iterator[str]:
        graph = ctx.analysis(ControlFlow, scope)
        seen: set[str] = set()
        order: list[str] = []
        for entry in (*graph.entries, *graph.nodes):
            stack = [(entry, iter(graph.successors[entry]))] if entry not in seen else []
            seen.add(entry)
            while stack:
                _, ahead = stack[-1]
                after = next((n for n in ahead if n not in seen), None)
                if after is None:
                    order.append(stack.pop()[0])
                else:
                    seen.add(after)
                    stack.append((after, iter(graph.successors[after])))
        for id in reversed(order):
            node = graph.nodes[id]
            if isinstance(node, SubProcess):
                yield from scope_order(node)
            yield id

    return scope_order(plan.process)


def _list_obstacles(plan: Plan, ctx: PassContext) -> Iterator[str]:
    """What keeps handlers that are known from becoming steps."""
    events = {n.id: n for s in plan.process.scopes() for n in s.nodes if isinstance(n, Event)}
    starters: dict[str, str] = {}
    for event, activities in plan.started.items():
        scope = plan.scope_of[event]
        for activity in activities:
            handler = plan.handlers[activity][0]
            if handler.id in starters:
                named = join_listed([ctx.name(events[e]) for e in (starters[handler.id], event)])
                yield Reason(f"{named} start {ctx.name(handler)}, each in a different way", handler)
            starters[handler.id] = event
            yield from _repetition_obstacles(plan, activity, scope, ctx)
        if any(d.kind == "cancel" for d in events[event].definitions):
            yield from _cancellation_obstacles(plan, events[event], scope, ctx)


def _repetition_obstacles(
    plan: Plan, activity: str, until: Scope, ctx: PassContext
) -> Iterator[str]:
    """What keeps the handler of an activity from being repeated as often as the activity is: by its
    own marker, or by that of a sub-process around it."""
    around = list_repetitions(activity, until, plan)
    if not around:
        return
    done = plan.activities[activity]
    (repeated, scope), *more = around
    assert repeated.loop is not None
    handler = plan.handlers[activity][0]
    if more or handler.loop is not None or _reversed_loop(repeated.loop, scope) is None:
        yield Reason(
            f"the number of times that {ctx.name(done)} was done is unknown when it is compensated",
            handler,
        )


def list_repetitions(activity: str, until: Scope, plan: Plan) -> list[tuple[Activity, Scope]]:
    """The repeated activities among an activity and the sub-processes around it, with the scopes
    that contain them, within the scopes in which an event in `until` compensates."""
    reach = set(map(id, _scopes_around(until, plan)))
    node: Node = plan.activities[activity]
    repeated: list[tuple[Activity, Scope]] = []
    while True:
        scope = plan.scope_of[node.id]
        if isinstance(node, Activity) and node.loop is not None:
            repeated.append((node, scope))
        if id(scope) in reach or not isinstance(scope, SubProcess):
            return repeated
        node = scope


def _reversed_loop(loop: Loop, scope: Scope) -> Loop | None:
    """The marker of a handler of a repeated activity: it undoes each instance, one after the other.
    `None` where it is not known how many there were."""
    if loop.kind != "multi-instance" or loop.until is not None:
        return None
    try:
        read = read_repetition(loop, scope)
    except NotRepeatable:
        return None
    if read.results or (read.items is None and read.number is None):
        return None
    return loop.replace(sequential=True)


def _cancellation_obstacles(
    plan: Plan, event: Event, scope: Scope, ctx: PassContext
) -> Iterator[str]:
    """What keeps a transaction from being left by an error in the place of its cancellation."""
    if not isinstance(scope, SubProcess):
        yield Reason(f"{ctx.name(event)} is in no transaction", event)
        return
    if scope.loop is not None:
        yield Reason(
            f"{ctx.name(scope)} is repeated, and may be cancelled in one of its iterations", scope
        )
    if len(_cancel_events(scope, plan)) != 1:
        yield Reason(f"{ctx.name(scope)} is not left by exactly one cancel event", event)
    others = (n for n in _nodes_inside(scope) if isinstance(n, Event) and n.position != "boundary")
    for other in others:
        if any(d.kind == "error" for d in other.definitions):
            yield Reason(f"{ctx.name(other)} throws an error in work that may be cancelled", event)
    beside = ctx.analysis(Concurrency, ctx.analysis(ControlFlow, scope)).beside(event.id)
    running = [n for n in scope.nodes if n.id in beside]
    if running:
        yield Reason(f"{ctx.name(event)} ends {ctx.name(running[0])}, which may be active", event)


def _cancel_events(scope: SubProcess, plan: Plan) -> list[Event]:
    """The boundary events by which a transaction is left when it is cancelled."""
    return [
        n
        for n in plan.scope_of[scope.id].nodes
        if isinstance(n, Event)
        and n.attached_to == scope.id
        and any(d.kind == "cancel" for d in n.definitions)
    ]


# -- the edits ---------------------------------------------------------------------------------


class Undoing:
    """Makes the handlers of one process steps of its flows."""

    def __init__(self, plan: Plan, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> None:
        self.plan, self.rewriter, self.ctx = plan, rewriter, ctx
        self.use = use

    def run(self) -> str | None:
        """Makes the edits; returns the note that describes them, `None` if nothing changes."""
        plan, before = self.plan, self.rewriter.count
        # 1. The handlers that an event starts become steps before what follows the event.
        undone = [a for activities in plan.started.values() for a in activities]
        for scope in plan.process.scopes():
            for node in scope.nodes:
                if _is_mark(node):
                    self.rewriter.remove(scope.id, node.id)
                elif isinstance(node, Event) and _undoes_work(node):
                    self._place_starter(node, scope)
        # 2. Handlers that nothing starts are never done.
        for activity, (handler, scope) in plan.handlers.items():
            if activity not in undone:
                self.rewriter.remove(scope.id, handler.id)
        steps = self._remove_unnamed()
        return self._rewrite_note(undone, steps) if self.rewriter.count != before else None

    def _remove_unnamed(self) -> list[str]:
        """Removes the activities that are marked as handlers and that no event names. One with
        flows is a step like others, whatever its mark; the names of those."""
        named = {handler.id for handler, _ in self.plan.handlers.values()}
        steps: list[str] = []
        for scope in self.plan.process.scopes():
            graph = self.ctx.analysis(ControlFlow, scope)
            for node in scope.nodes:
                if not isinstance(node, Activity) or not node.for_compensation:
                    continue
                if node.id in named:
                    continue
                if graph.flows_in(node.id) or graph.flows_out(node.id):
                    unmarked = node.replace(for_compensation=False)
                    self.rewriter.replace(scope.id, node.id, unmarked)
                    steps.append(self.ctx.name(node))
                else:
                    self.rewriter.remove(scope.id, node.id)
        return steps

    def _rewrite_note(self, undone: list[str], steps: list[str]) -> str:
        """The note of the rewrite: one for all elements that the plan changes."""
        names = [self.ctx.name(self.plan.activities[a]) for a in undone]
        if steps:
            verb = "is a step of the flow" if len(steps) == 1 else "are steps of the flow"
            kept = f"{join_listed(steps)} {verb}, although marked for compensation"
            if not names:
                return kept
        if not names:
            return "handlers that nothing starts were removed"
        note = f"the compensation of {join_listed(names)} became steps of the flow"
        hasty = [self.ctx.name(event) for event in self._hasty_events()]
        if hasty:
            note += f", and {join_listed(hasty)} " + ("waits" if len(hasty) == 1 else "wait")
            note += " until they are done"
        return note

    def _hasty_events(self) -> list[Event]:
        """Events that go on while work is undone (`waitForCompletion`, BPMN 2.0.2, 10.5.5)."""
        events = [
            node
            for scope in self.plan.process.scopes()
            for node in scope.nodes
            if isinstance(node, Event) and self.plan.started.get(node.id)
        ]
        return [e for e in events if not all(d.wait_for_completion for d in e.definitions)]

    def _place_starter(self, event: Event, scope: Scope) -> None:
        """The event with the handlers that it starts before what follows it."""
        cancels = any(d.kind == "cancel" for d in event.definitions)
        activities = self.plan.started.get(event.id, ())
        after = self._leaving_error(event, scope) if cancels else ()
        if not activities:
            self.rewriter.replace(scope.id, event.id, event.replace(definitions=after))
            return
        steps = [self._place_handler(activity, scope) for activity in activities]
        graph = self.ctx.analysis(ControlFlow, scope)
        last = self.rewriter.fresh_id(event.id, "undone")
        name = event.name if event.name.strip() and not cancels else "Undone"
        starter = Event(id=last, name=name, position=event.position, definitions=after)
        self.rewriter.insert(scope.id, starter, of=(event,))
        if cancels:  # it is seen, then its handlers are
            kept = event.replace(position="throw", definitions=())
            self.rewriter.replace(scope.id, event.id, kept)
            steps.insert(0, event.id)
        else:
            for flow in graph.flows_in(event.id):
                self.rewriter.redirect(scope.id, flow.id, target=steps[0])
            for flow in graph.flows_out(event.id):
                self.rewriter.redirect(scope.id, flow.id, source=last)
            self.rewriter.remove(scope.id, event.id)
        for source, target in zip(steps, (*steps[1:], last), strict=True):
            id = self.rewriter.fresh_id(source, "to")
            self.rewriter.connect(scope.id, source, target, id=id, of=(event,))

    def _place_handler(self, activity: str, scope: Scope) -> str:
        """The handler of an activity as a step of a scope."""
        handler, home = self.plan.handlers[activity]
        again = handler.loop
        for repeated, around in list_repetitions(activity, scope, self.plan):
            assert repeated.loop is not None
            again = _reversed_loop(repeated.loop, around)
        handler_step = handler.replace(for_compensation=False, loop=again)
        if home.id == scope.id:
            self.rewriter.replace(scope.id, handler.id, handler_step)
        else:
            self.rewriter.remove(home.id, handler.id)
            self.rewriter.insert(scope.id, handler_step)
        return handler.id

    def _leaving_error(self, event: Event, scope: Scope) -> tuple[EventDefinition, ...]:
        """The error by which a cancelled transaction is left; its cancel event catches it."""
        assert isinstance(scope, SubProcess)
        (leave,) = _cancel_events(scope, self.plan)
        error = (EventDefinition(kind="error"),)
        around = self.plan.scope_of[scope.id]
        if not self.rewriter.touched(around.id, leave.id):
            name = leave.name if leave.name.strip() else "Cancelled"
            caught = leave.replace(name=name, definitions=error, interrupting=True)
            self.rewriter.replace(around.id, leave.id, caught)
        return error
