"""A plain interpreter of BPMN, written from the text of the specification alone.

It plays sub-processes, called processes, loops, multi-instance activities, boundary events, event
sub-processes, terminate, errors, escalations and compensation directly: an instance of a scope
holds its tokens and the instances inside it, nothing is compiled or rewritten, and what may happen
is tried in every order. Imports the types of the IR and nothing else. For small models without
what comes from outside.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Gateway,
    Model,
    Process,
    SubProcess,
    Task,
)

Scope = Process | SubProcess
Trace = tuple[str, ...]

MOST_BODIES = 2

PLAYED = ("exclusive", "parallel", "inclusive")


class Unsupported(ValueError):
    """The model has something that is not played."""


@dataclass
class Running:
    """An activity under way: bodies still to begin, whether one after the other, and those that are
    under way; of an event that compensates the handlers that are not done."""

    node: str
    left: int
    sequential: bool = True
    inside: list[Instance] = field(default_factory=list)
    undoing: list[str] = field(default_factory=list)
    cancels: bool = False


@dataclass
class Instance:
    """A scope under way: flows with tokens, activities, event sub-processes, what was completed.
    `of` is the activity whose body it is: a sub-process itself, or the call of a process."""

    scope: str
    tokens: list[str] = field(default_factory=list)
    running: list[Running] = field(default_factory=list)
    handlers: list[tuple[str, Instance]] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)
    interrupted: bool = False
    of: str = ""

    @property
    def over(self) -> bool:
        return not (self.tokens or self.running or self.handlers)


@dataclass
class Play:
    """A process instance and what was done in it."""

    root: Instance
    trace: list[str] = field(default_factory=list)
    failed: bool = False

    def key(self) -> str:
        return f"{self.root}{self.trace}{self.failed}"


Path = list[Instance]
"""The instances around a place, the root first."""


class Interpreter:
    """All traces of the tasks of a process, in runs that end."""

    def __init__(self, model: Model, most: int = 40_000) -> None:
        self.model, self.most = model, most
        self.process = model.processes[0]
        self.scopes: dict[str, Scope] = {s.id: s for s in model.scopes()}
        self.nodes = {n.id: n for s in self.scopes.values() for n in s.nodes}
        self.flows = {f.id: f for s in self.scopes.values() for f in s.flows}
        for node in self.nodes.values():
            if isinstance(node, Gateway) and node.gateway_kind not in PLAYED:
                raise Unsupported(node.id)

    def traces(self) -> set[Trace]:
        play = Play(Instance(self.process.id))
        self.begin(play.root)
        found: set[Trace] = set()
        seen: set[str] = set()
        todo = [play]
        while todo:
            play = todo.pop()
            if play.key() in seen:
                continue
            seen.add(play.key())
            if len(seen) > self.most:
                raise Unsupported("too many states")
            if play.root.over or play.failed:
                found.add(tuple(play.trace))
                continue
            todo += self.steps(play)
        return found

    # -- lookup --------------------------------------------------------------------------------

    def out(self, node: str) -> list[str]:
        return [f.id for f in self.flows.values() if f.source == node]

    def boundary(self, node: str, kind: str) -> list[Event]:
        return [
            n
            for n in self.nodes.values()
            if isinstance(n, Event) and n.attached_to == node
            if any(d.kind == kind for d in n.definitions)
        ]

    def undoer(self, activity: str) -> str | None:
        """The handler of an activity."""
        for event in self.boundary(activity, "compensation"):
            for scope in self.scopes.values():
                for artifact in scope.artifacts:
                    if artifact.source == event.id:
                        return artifact.target
        return None

    def begin(self, instance: Instance) -> None:
        """13.3.4: at the start event without a trigger."""
        for node in self.scopes[instance.scope].nodes:
            if isinstance(node, Event) and node.position == "start":
                instance.tokens += self.out(node.id)

    def body_of(self, node: Task | SubProcess | CallActivity) -> str | None:
        """The scope that an activity runs: its own, or the process that it calls (13.3.4); none of
        a task, and of a call of something that is not in the model."""
        if isinstance(node, SubProcess):
            return node.id
        called = node.process.split(":")[-1] if isinstance(node, CallActivity) else None
        return called if any(p.id == called for p in self.model.processes) else None

    def bodies(self, node: Task | SubProcess | CallActivity) -> range:
        """How often an activity may be done."""
        loop = node.loop
        if loop is None:
            return range(1, 2)
        if loop.kind == "standard":
            most = min(MOST_BODIES, loop.maximum) if loop.maximum else MOST_BODIES
            return range(0 if loop.test_before else 1, most + 1)
        return range(MOST_BODIES + 1)

    # -- steps ---------------------------------------------------------------------------------

    def steps(self, play: Play) -> Iterator[Play]:
        """Every state after one step."""
        for path in self.paths(play.root, []):
            here = path[-1]
            for token in sorted(set(here.tokens)):
                for choice in self.entering(here, token):
                    yield self.after(play, path, choice)
            for index, one in enumerate(here.running):
                for choice in self.going_on(one, index):
                    yield self.after(play, path, choice)
            for index, (_, inside) in enumerate(here.handlers):
                if inside.over:

                    def ended(_: Play, there: Path, index: int = index) -> None:
                        there[-1].handlers.pop(index)

                    yield self.after(play, path, ended)

    def paths(self, instance: Instance, above: Path) -> Iterator[Path]:
        here = [*above, instance]
        yield here
        for one in instance.running:
            for inside in one.inside:
                yield from self.paths(inside, here)
        for _, inside in instance.handlers:
            yield from self.paths(inside, here)

    def after(self, play: Play, path: Path, act: Callable[[Play, Path], None]) -> Play:
        """A copy of the state in which something happened at the same place."""
        copied = copy.deepcopy((play, path))
        act(*copied)
        return copied[0]

    def entering(self, here: Instance, token: str) -> Iterator[Callable[[Play, Path], None]]:
        node = self.nodes[self.flows[token].target]
        if isinstance(node, Gateway) and node.gateway_kind == "parallel":
            into = [f.id for f in self.flows.values() if f.target == node.id]
            if set(into) <= set(here.tokens) and token == min(into):

                def joined(_: Play, there: Path) -> None:
                    for flow in into:
                        there[-1].tokens.remove(flow)
                    there[-1].tokens += self.out(node.id)

                yield joined
            return
        if isinstance(node, Gateway) and node.gateway_kind == "inclusive":
            yield from self.inclusive(here, token, node.id)
            return
        if isinstance(node, Gateway):
            for flow in self.out(node.id):

                def chosen(_: Play, there: Path, flow: str = flow) -> None:
                    there[-1].tokens.remove(token)
                    there[-1].tokens.append(flow)

                yield chosen
            return
        if isinstance(node, Event):

            def happened(play: Play, there: Path) -> None:
                there[-1].tokens.remove(token)
                self.event(node, play, there)

            yield happened
            return
        assert isinstance(node, Task | SubProcess | CallActivity)
        for times in self.bodies(node):

            def opened(_: Play, there: Path, times: int = times) -> None:
                there[-1].tokens.remove(token)
                sequential = node.loop is None or node.loop.kind == "standard"
                sequential = sequential or bool(node.loop and node.loop.sequential)
                there[-1].running.append(Running(node.id, times, sequential))

            yield opened

    def inclusive(
        self, here: Instance, token: str, gateway: str
    ) -> Iterator[Callable[[Play, Path], None]]:
        """13.4.3: activated where a token is on some flow in, and for every path from a token to an
        empty flow in, not through the gateway, there is one from it to a flow in that has a token.
        It takes one from each, and any flows out are taken, but not none."""
        into = [f.id for f in self.flows.values() if f.target == gateway]
        full = [f for f in into if f in here.tokens]
        if token != min(full):
            return
        empty = set(into) - set(full)
        busy = {flow for r in here.running for flow in self.out(r.node)}
        for flow in {*here.tokens, *busy} - set(full):
            reached = self.reached(flow, gateway)
            if reached & empty and not reached & set(full):
                return
        out = self.out(gateway)
        for number in range(1, 2 ** len(out)):
            chosen = [flow for at, flow in enumerate(out) if number >> at & 1]

            def passed(_: Play, there: Path, chosen: list[str] = chosen) -> None:
                for flow in full:
                    there[-1].tokens.remove(flow)
                there[-1].tokens += chosen

            yield passed

    def reached(self, flow: str, avoiding: str) -> set[str]:
        """Flows on paths that begin with a flow and do not visit a gateway."""
        found, todo = {flow}, [flow]
        while todo:
            target = self.flows[todo.pop()].target
            events = [
                n.id
                for n in self.nodes.values()
                if isinstance(n, Event) and n.attached_to == target
            ]
            more = {f for node in (target, *events) for f in self.out(node)} - found
            if target != avoiding:
                found |= more
                todo += more
        return found

    def going_on(self, one: Running, index: int) -> Iterator[Callable[[Play, Path], None]]:
        """A body begins, a task body is done, or the whole is done."""
        for handler in one.undoing:

            def undo(play: Play, there: Path, handler: str = handler) -> None:
                there[-1].running[index].undoing.remove(handler)
                there[-1].running.append(Running(handler, 1))

            yield undo
        node = self.nodes[one.node]
        if isinstance(node, Event):

            def undone(play: Play, there: Path) -> None:
                here = there[-1]
                handlers = {n.id for n in self.nodes.values() if getattr(n, "for_compensation", 0)}
                if any(other.node in handlers for other in here.running):
                    return
                here.running.pop(index)
                if one.cancels:
                    self.leave(there)
                else:
                    here.tokens += self.out(one.node)

            if not one.undoing:
                yield undone
            return
        if one.left and not (one.sequential and one.inside):
            assert isinstance(node, Task | SubProcess | CallActivity)
            scope = self.body_of(node)

            def body(play: Play, there: Path) -> None:
                mine = there[-1].running[index]
                mine.left -= 1
                if scope is None:
                    play.trace.append(one.node)
                    return
                inside = Instance(scope, of=one.node)
                mine.inside.append(inside)
                self.begin(inside)

            yield body
        if isinstance(node, Task) and one.left:  # 10.5.7: a task that is under way may fail
            for event in self.boundary(one.node, "error"):

                def failed(_: Play, there: Path, event: Event = event) -> None:
                    there[-1].running.pop(index)
                    there[-1].tokens += self.out(event.id)

                yield failed
        for number, inside in enumerate(one.inside):
            if inside.over:

                def body_done(_: Play, there: Path, number: int = number) -> None:
                    mine = there[-1].running[index]
                    done = mine.inside.pop(number)
                    if self.undoer(one.node) is None:
                        there[-1].completed += done.completed

                yield body_done
        if not one.left and not one.inside:

            def done(_: Play, there: Path) -> None:
                there[-1].running.pop(index)
                if self.undoer(one.node) is not None:
                    there[-1].completed.append(one.node)
                there[-1].tokens += self.out(one.node)

            yield done

    # -- events --------------------------------------------------------------------------------

    def event(self, event: Event, play: Play, there: Path) -> None:
        here = there[-1]
        definition = event.definitions[0] if event.definitions else None
        kind = definition.kind if definition is not None else "none"
        if kind == "terminate":  # 13.5.6
            here.tokens, here.running, here.handlers = [], [], []
            return
        if kind in ("compensation", "cancel"):
            assert definition is not None
            self.compensate(event, definition, here, cancels=kind == "cancel")
            return
        thrown = definition is not None and kind in ("error", "escalation")
        if thrown and definition is not None and self.throw(definition, play, there):
            return
        here.tokens += self.out(event.id)

    def compensate(
        self, event: Event, definition: EventDefinition, here: Instance, *, cancels: bool
    ) -> None:
        """10.7: the handlers of what was completed in the scope; an activity once each time."""
        if cancels:
            here.tokens, here.running, here.handlers = [], [], []
        due = [a for a in here.completed if definition.ref in (None, a)]
        here.completed = [a for a in here.completed if a not in due]
        handlers = [handler for a in due if (handler := self.undoer(a)) is not None]
        here.running.append(Running(event.id, 0, undoing=handlers, cancels=cancels))

    def leave(self, there: Path) -> None:
        """A cancelled transaction is left by its cancel event."""
        inside, outer = there[-1], there[-2]
        outer.running = [r for r in outer.running if all(i is not inside for i in r.inside)]
        (event,) = self.boundary(inside.of, "cancel")
        outer.tokens += self.out(event.id)

    def throw(self, thrown: EventDefinition, play: Play, there: Path) -> bool:
        """10.5.7: the nearest catch, inside out. Whether the flow ends where it was thrown."""
        for depth in range(len(there) - 1, -1, -1):
            here = there[depth]
            below = there[depth + 1].scope if depth + 1 < len(there) else None
            for node in self.scopes[here.scope].nodes:
                if not isinstance(node, SubProcess) or node.flavour != "event":
                    continue
                start = next(
                    n for n in node.nodes if isinstance(n, Event) and n.position == "start"
                )
                if node.id == below or here.interrupted or not self.catches(start, thrown):
                    continue
                if start.interrupting or thrown.kind == "error":
                    here.tokens, here.running, here.handlers = [], [], []
                    here.interrupted = True
                inside = Instance(node.id, tokens=self.out(start.id))
                here.handlers.append((node.id, inside))
                return here.interrupted
            if depth == 0:
                break
            outer = there[depth - 1]
            for event in self.boundary(here.of, thrown.kind):
                if not self.catches(event, thrown):
                    continue
                ends = event.interrupting or thrown.kind == "error"
                if ends:
                    outer.running = [
                        r for r in outer.running if all(i is not here for i in r.inside)
                    ]
                outer.tokens += self.out(event.id)
                return ends
        if thrown.kind == "error":
            play.failed = True
            return True
        return False

    def catches(self, event: Event, thrown: EventDefinition) -> bool:
        return any(
            d.kind == thrown.kind and (d.ref is None or d.ref == thrown.ref)
            for d in event.definitions
        )
