"""Events between scopes: the events that a body throws, where they are caught, and the scopes that
they end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from orgflow_ir.flow.nets.net import Body
from orgflow_ir.flow.nets.wiring import is_handler
from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Gateway,
    Model,
    Opaque,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.records import NamedTuple

_OUTSIDE = frozenset({"message", "timer", "signal", "conditional", "escalation"})


class Caught(NamedTuple):
    """The effect of a throw: the scope it ends (`None` if it ends none), whether that is the
    process, and the boundary event or event sub-process that catches it (`None` if nothing catches
    it)."""

    ends: Scope | None
    by: str | None


class Nesting:
    """The scopes of one process, the activities that contain them, and the events thrown in
    them."""

    def __init__(self, process: Process, model: Model) -> None:
        self.process, self.model = process, model
        self.scopes: list[Scope] = list(process.scopes())
        self.parent: dict[int, Scope] = {}
        self.around: dict[str, list[Event]] = {}
        for scope in self.scopes:
            for node in scope.nodes:
                match node:
                    case SubProcess():
                        self.parent[id(node)] = scope
                    case Event():
                        if node.position == "boundary" and node.attached_to:
                            self.around.setdefault(node.attached_to, []).append(node)
                    case Task() | CallActivity() | Gateway() | Opaque():
                        pass
                    case _:
                        assert_never(node)
        self.called = {p.id: p for p in model.processes}
        self._codes: dict[tuple[str, str], str | None] = {}
        for kind, entries in (
            ("error", model.catalog.errors),
            ("escalation", model.catalog.escalations),
        ):
            for entry in entries:
                self._codes[kind, entry.id] = entry.code

    def chain(self, scope: Scope) -> list[Scope]:
        """The scopes from the process down to `scope`."""
        scopes = [scope]
        while (outer := self.parent.get(id(scopes[0]))) is not None:
            scopes.insert(0, outer)
        return scopes

    def matches(self, catch: EventDefinition, thrown: EventDefinition) -> bool:
        """Whether `catch` catches a thrown event: it has the same entry or code, or names none."""
        if catch.kind != thrown.kind or catch.kind not in ("error", "escalation"):
            return False
        if self.model.catches_any(catch) or catch.ref == thrown.ref:
            return True
        code = self._codes.get((catch.kind, catch.ref or ""))
        return code is not None and self._codes.get((catch.kind, thrown.ref or "")) == code

    def _catches_any(self, event: Event) -> bool:
        """Whether an event catches any error or escalation: the more specific ones come first."""
        return any(map(self.model.catches_any, event.definitions))

    def caught(self, scope: Scope, thrown: EventDefinition) -> Caught:
        """Where an event thrown in a scope is caught (BPMN 2.0.2, 10.5.7), from the inside out."""
        here: Scope | None = scope
        source: Scope | None = None
        while here is not None:
            handlers = [
                (start, node)
                for node in here.nodes
                if isinstance(node, SubProcess) and node.flavour == "event" and node is not source
                for start in starts_of(node)
            ]
            for start, node in sorted(handlers, key=lambda pair: self._catches_any(pair[0])):
                if any(self.matches(d, thrown) for d in start.definitions):
                    return Caught(here if event_interrupts(start) else None, node.id)
            outer = self.parent.get(id(here))
            if outer is None:
                break
            for event in sorted(self.around.get(here.id, ()), key=self._catches_any):
                if any(self.matches(d, thrown) for d in event.definitions):
                    return Caught(here if event_interrupts(event) else None, event.id)
            source = here if isinstance(here, SubProcess) and here.flavour == "event" else None
            here = outer
        return Caught(self.process if thrown.kind == "error" else None, None)

    def thrown_in(self, scope: Scope) -> Iterator[EventDefinition]:
        """Errors and escalations that some event in a scope throws, at any depth."""
        seen: set[str] = set()
        stack: list[Scope] = [scope]
        while stack:
            for inner in stack.pop().scopes():
                for node in inner.nodes:
                    match node:
                        case Event():
                            if node.position in ("throw", "end"):
                                yield from (
                                    d for d in node.definitions if d.kind in ("error", "escalation")
                                )
                        case CallActivity():
                            process = self.process_called(node)
                            if process is not None and process.id not in seen:
                                seen.add(process.id)
                                stack.append(process)
                        case Task() | SubProcess() | Gateway() | Opaque():
                            pass  # `scopes` already goes into sub-processes
                        case _:
                            assert_never(node)

    def process_called(self, node: CallActivity) -> Process | None:
        """The process of the model that an activity calls."""
        return self.called.get(node.process.rpartition(":")[2]) if node.process else None

    def throws_itself(self, event: Event, inside: Scope) -> bool:
        """Whether an event inside throws what a boundary or start event catches; it can then only
        come from there."""
        return any(self.matches(d, t) for t in self.thrown_in(inside) for d in event.definitions)

    def ended_by(self, scope: Scope, errors: bool = False) -> Event | None:
        """An external event that removes every token from a scope. Events arrive. An error that
        nothing inside throws may occur (`errors`), but a join does not wait for it."""
        chain = self.chain(scope)
        for outer, inner in zip([None, *chain], chain, strict=False):
            if outer is not None and isinstance(inner, SubProcess) and inner.flavour != "event":
                for event in self.around.get(inner.id, ()):
                    comes = _from_outside(event) or (errors and event_interrupts(event))
                    if comes and not self.throws_itself(event, inner):
                        return event
            for node in inner.nodes:
                if isinstance(node, SubProcess) and node.flavour == "event" and node not in chain:
                    for start in starts_of(node):
                        if _from_outside(start) and not self.throws_itself(start, inner):
                            return start
        return None


def _from_outside(event: Event) -> bool:
    kinds = {d.kind for d in event.definitions}
    return event.interrupting and (not kinds or bool(kinds & _OUTSIDE))


def starts_of(scope: Scope) -> Iterator[Event]:
    """The start events of a scope."""
    return (n for n in scope.nodes if isinstance(n, Event) and n.position == "start")


def event_interrupts(event: Event) -> bool:
    """Whether a boundary event or the start of an event sub-process interrupts its activity or
    scope."""
    return event.interrupting or any(d.kind in ("error", "cancel") for d in event.definitions)


class Thrown:
    """Events that runs throw, collected scope by scope, from the inside out."""

    def __init__(self, nesting: Nesting) -> None:
        self.nesting = nesting
        self.fired: set[str] = set()
        self.escapes: set[str] = set()
        self._leaving: dict[int, EventDefinition] = {}

    @property
    def leaving(self) -> tuple[EventDefinition, ...]:
        """The events that are thrown and not caught, each once."""
        return tuple(self._leaving.values())

    def note(self, scope: Scope, used: set[str]) -> None:
        """Events of `scope` that some run throws."""
        for node in scope.nodes:
            if node.id in used and isinstance(node, Event) and node.position in ("throw", "end"):
                for definition in node.definitions:
                    if definition.kind in ("error", "escalation"):
                        self.throw(scope, definition)
                    elif definition.kind == "cancel":
                        self.fired |= {
                            b.id
                            for b in self.nesting.around.get(scope.id, ())
                            if any(d.kind == "cancel" for d in b.definitions)
                        }

    def throw(self, scope: Scope, definition: EventDefinition) -> None:
        """Record an event thrown in `scope`."""
        caught = self.nesting.caught(scope, definition)
        if caught.by is not None:
            self.fired.add(caught.by)
        else:
            self._leaving[id(definition)] = definition
        here: Scope | None = scope
        while caught.ends is not None and here is not None and here is not caught.ends:
            self.escapes.add(here.id)
            here = self.nesting.parent.get(id(here))

    def through_call(
        self, scope: Scope, call: CallActivity, leaving: Iterable[EventDefinition]
    ) -> None:
        """Record the uncaught throws of a called process."""
        for definition in leaving:
            events = self.nesting.around.get(call.id, ())
            by = next(
                (
                    e
                    for e in events
                    if any(self.nesting.matches(d, definition) for d in e.definitions)
                ),
                None,
            )
            if by is not None:
                self.fired.add(by.id)
                continue
            caught = self.nesting.caught(scope, definition)
            self.throw(scope, definition)
            if caught.ends is not None:
                self.escapes.add(call.id)

    def ending(self, scope: Scope) -> frozenset[str]:
        """Throw events of `scope` that end it."""
        return frozenset(
            n.id
            for n in scope.nodes
            if isinstance(n, Event)
            and n.position in ("throw", "end")
            and any(
                d.kind in ("error", "escalation") and self.nesting.caught(scope, d).ends is not None
                for d in n.definitions
            )
        )

    def body(self, holder: str, inside: Scope, completes: bool) -> Body | None:
        """The summary of an activity for the scope around it; `None` for an ordinary one."""
        fires: set[str] = set()
        limited = False
        for event in self.nesting.around.get(holder, ()):
            cancels = any(d.kind == "cancel" for d in event.definitions)
            if cancels or self.nesting.throws_itself(event, inside):
                limited = True
                if event.id not in self.fired:
                    continue
            fires.add(event.id)
        escapes = holder in self.escapes
        if completes and not limited and not escapes:
            return None
        return Body(completes, frozenset(fires) if limited else None, escapes)


def in_flow(scope: Scope) -> bool:
    """Whether a token on a sequence flow starts the sub-process."""
    return not (isinstance(scope, SubProcess) and is_handler(scope))
