"""Errors of tasks and calls that boundary events on them catch."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orgflow_ir.flow.control_flow.calls import find_callee
from orgflow_ir.flow.nets.activity_summaries import Nesting
from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Model,
    Node,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.records import NamedTuple


class CaughtError(NamedTuple):
    """A boundary event and the code of the errors that it catches; `None` if it catches all.
    `thrown` if it catches only errors that the process or a worker throws as process errors,
    whatever their code; any other failure is not caught."""

    event: str
    code: str | None
    thrown: bool = False


_THROWN_ONLY = frozenset(("camunda7", "operaton", "flowable", "activiti", "camunda8"))
"""Engines in which an event without a code catches only process errors; a failure such as an
exception is an incident or causes a rollback. In jBPM, and if no engine is named, such an event
catches both."""


def caught_errors(scope: Scope, model: Model) -> dict[str, tuple[CaughtError, ...]]:
    """The error boundary events of each task and call of a scope, those with a code first."""
    codes: dict[str | None, str | None] = {e.id: e.code for e in model.catalog.errors}
    steps = {node.id for node in scope.nodes if isinstance(node, Task | CallActivity)}
    caught_by_host: dict[str, list[CaughtError]] = {}
    around = (p for p in model.processes if any(s.id == scope.id for s in p.scopes()))
    dialect = next((process.dialect for process in around), None)
    only = dialect is not None and dialect.engine in _THROWN_ONLY
    for node in scope.nodes:
        if (
            isinstance(node, Event)
            and node.position == "boundary"
            and node.trigger == "error"
            and node.attached_to in steps
        ):
            catch = node.definitions[0]
            code = (
                None if model.catches_any(catch) else codes.get(catch.ref, catch.ref) or catch.ref
            )
            caught = CaughtError(node.id, code, only and code is None)
            caught_by_host.setdefault(node.attached_to, []).append(caught)
    return {
        host: tuple(sorted(events, key=lambda error: error.code is None))
        for host, events in caught_by_host.items()
    }


_WAITING_TASKS = ("user", "manual", "receive")
"""Types of tasks that wait and therefore report no error."""


def _handled_events(node: Node) -> Iterator[EventDefinition]:
    """What starts a node that is an event sub-process."""
    if isinstance(node, SubProcess) and node.flavour == "event":
        for start in node.nodes:
            if isinstance(start, Event) and start.position == "start":
                yield from start.definitions


def failing_steps(
    scope: Scope,
    caught: EventDefinition,
    matches: Callable[[EventDefinition, EventDefinition], bool],
    handler: str = "",
    called: Callable[[CallActivity], Scope | None] = lambda call: None,
    seen: tuple[str, ...] = (),
) -> Iterator[Task | CallActivity]:
    """The steps in a scope, at any depth, that may throw an error that reaches an error event of
    the scope: steps that do not wait, and whose error no nearer event catches.

    Args:
        scope: the sub-process that the event is attached to, or the scope of an event sub-process.
        caught: the definition of that event.
        matches: whether a definition (the first argument) catches the error of another one.
        handler: id of the event sub-process that the event starts, if any.
        called: the process that a call runs, whose steps replace the call; without it, the result
            contains the call itself.
        seen: ids of the calling processes, which are not searched again.
    """
    seen = (*seen, scope.id)
    nearer: dict[str, list[EventDefinition]] = {}
    for node in scope.nodes:
        if isinstance(node, Event) and node.attached_to:
            nearer.setdefault(node.attached_to, []).extend(node.definitions)
        if node.id != handler and any(matches(d, caught) for d in _handled_events(node)):
            return
    for node in scope.nodes:
        if node.id == handler or any(matches(d, caught) for d in nearer.get(node.id, ())):
            continue
        if isinstance(node, SubProcess):
            yield from failing_steps(node, caught, matches, "", called, seen)
        elif isinstance(node, CallActivity) and (inner := called(node)) is not None:
            if inner.id not in seen:
                yield from failing_steps(inner, caught, matches, "", called, seen)
        elif isinstance(node, CallActivity) or (
            isinstance(node, Task) and node.task_type not in _WAITING_TASKS
        ):
            yield node


def steps_called(
    call: CallActivity, caught: EventDefinition, model: Model
) -> Iterator[Task | CallActivity]:
    """The steps of the process that a call runs, and of those that it calls, whose errors leave it
    and reach an error event on the call."""
    called = find_callee(call, model)
    if called is not None:
        matches = Nesting(called, model).matches
        yield from failing_steps(
            called, caught, matches, "", lambda inner_call: find_callee(inner_call, model)
        )
