"""Escalations that leave a called process, and the events on calls that catch them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from orgflow_ir.flow.nets.activity_summaries import Nesting
from orgflow_ir.flow.nets.call_order import CallOrder
from orgflow_ir.model import CallActivity, Event, EventDefinition, Model, Process, Scope
from orgflow_ir.model.records import NamedTuple


class Place(NamedTuple):
    """A node, and the process or sub-process that it is in."""

    node: Event | CallActivity
    scope: Scope


class LeavingEscalation(NamedTuple):
    """An event that throws an escalation that nothing in its process catches. `way` contains the
    calls through which it leaves, the outermost first, then the event itself."""

    event: Event
    definition: EventDefinition
    way: tuple[Place, ...]


class CaughtEscalation(NamedTuple):
    """An escalation boundary event on a call, and the escalations that it catches."""

    event: Event
    leaving: tuple[LeavingEscalation, ...]


MOST_WAYS = 2
"""The maximum number of paths through the same first call that are listed: two show that an event
occurs several times."""


class LeavingEscalations:
    """The escalations that leave the processes of a model; each process is searched once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._order = CallOrder(model)
        self._known: dict[str, tuple[LeavingEscalation, ...]] = {}

    def of(self, process: Process, calling: tuple[str, ...] = ()) -> tuple[LeavingEscalation, ...]:
        """The escalations that leave a process, in model order, including those of processes that
        it calls; of each event at most `MOST_WAYS` paths through the same call. `calling` contains
        the ids of its calling processes, which are not searched again."""
        if self._order.calls_itself(process.id):
            return tuple(self._search(process, calling))
        for inner in (*self._order.list_inner(process.id), process):
            if inner.id not in self._known:
                self._known[inner.id] = tuple(self._search(inner, ()))
        return self._known[process.id]

    def _search(self, process: Process, calling: tuple[str, ...]) -> Iterator[LeavingEscalation]:
        nesting, calling = Nesting(process, self._model), (*calling, process.id)
        for scope in nesting.scopes:
            for node in scope.nodes:
                if isinstance(node, Event) and node.position in ("throw", "end"):
                    for thrown in node.definitions:
                        if thrown.kind == "escalation" and not nesting.caught(scope, thrown).by:
                            yield LeavingEscalation(node, thrown, (Place(node, scope),))
                elif isinstance(node, CallActivity):
                    called = nesting.process_called(node)
                    if called is not None and called.id not in calling:
                        yield from self._pass_on(node, scope, nesting, self.of(called, calling))

    @staticmethod
    def _pass_on(
        call: CallActivity, scope: Scope, nesting: Nesting, inner: Iterable[LeavingEscalation]
    ) -> Iterator[LeavingEscalation]:
        """What leaves a called process and is not caught around the call."""
        counts: Counter[int] = Counter()
        for escalation in inner:
            thrown = escalation.definition
            if _on_call(call, thrown, nesting) is None and not nesting.caught(scope, thrown).by:
                counts[id(thrown)] += 1
                if counts[id(thrown)] <= MOST_WAYS:
                    yield escalation._replace(way=(Place(call, scope), *escalation.way))


def _on_call(call: CallActivity, thrown: EventDefinition, nesting: Nesting) -> Event | None:
    """The boundary event of a call that catches what leaves the called process: one for this
    escalation comes before one for all."""
    events = sorted(
        nesting.around.get(call.id, ()),
        key=lambda event: any(map(nesting.model.catches_any, event.definitions)),
    )
    return next(
        (event for event in events if any(nesting.matches(d, thrown) for d in event.definitions)),
        None,
    )


def caught_escalations(scope: Scope, model: Model) -> dict[str, tuple[CaughtEscalation, ...]]:
    """The escalation boundary events of each call directly in a scope that catch something."""
    calls = [node for node in scope.nodes if isinstance(node, CallActivity)]
    around = {n.attached_to for n in scope.nodes if isinstance(n, Event) and _catches_escalation(n)}
    if around.isdisjoint(call.id for call in calls):
        return {}
    process = next(p for p in model.processes if any(s.id == scope.id for s in p.scopes()))
    nesting = Nesting(process, model)
    leaving = LeavingEscalations(model)
    caught_by_call: dict[str, tuple[CaughtEscalation, ...]] = {}
    for call in calls:
        called = nesting.process_called(call)
        if called is None or call.id not in around:
            continue
        caught: dict[str, CaughtEscalation] = {}
        for escalation in leaving.of(called, (process.id,)):
            event = _on_call(call, escalation.definition, nesting)
            if event is not None:
                known = caught.get(event.id, CaughtEscalation(event, ()))
                caught[event.id] = known._replace(leaving=(*known.leaving, escalation))
        if caught:
            caught_by_call[call.id] = tuple(caught.values())
    return caught_by_call


def _catches_escalation(event: Event) -> bool:
    return event.position == "boundary" and any(d.kind == "escalation" for d in event.definitions)


def heard_escalations(model: Model) -> frozenset[str]:
    """Ids of the events whose escalation leaves their process and is caught by a boundary event on
    a call or on a sub-process around the call."""
    events: set[str] = set()
    leaving = LeavingEscalations(model)
    for process in model.processes:
        nesting = Nesting(process, model)
        for scope in nesting.scopes:
            for call in (node for node in scope.nodes if isinstance(node, CallActivity)):
                called = nesting.process_called(call)
                if called is None:
                    continue
                events |= {
                    escalation.event.id
                    for escalation in leaving.of(called, (process.id,))
                    if _on_call(call, escalation.definition, nesting)
                    or nesting.caught(scope, escalation.definition).by
                }
    return frozenset(events)


def throwing_calls(caught: EventDefinition, scope: Scope, model: Model) -> list[CallActivity]:
    """The calls directly in a scope that propagate an escalation to an event on the border of the
    scope."""
    process = next(p for p in model.processes if any(s.id == scope.id for s in p.scopes()))
    nesting, leaving = Nesting(process, model), LeavingEscalations(model)
    return [
        call
        for call in scope.nodes
        if isinstance(call, CallActivity)
        and (called := nesting.process_called(call)) is not None
        and any(
            nesting.matches(caught, escalation.definition)
            and _on_call(call, escalation.definition, nesting) is None
            for escalation in leaving.of(called, (process.id,))
        )
    ]
