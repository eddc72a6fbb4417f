"""Which processes wait in several places at once, and are emitted as segments whose open work is
rows of a Data Table (`waiting.rows`).

An n8n execution waits in one place at a time. Where that is sufficient, the waits of a process stay
nodes of one execution; a process needs rows where people or messages are awaited beside other
waits, where one of several events is awaited, or where an event or an end stops other work. A
process with an element for which there is no encoding in rows is planned as if there were no rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from orgflow.backends.n8n.plan.target_options import EXECUTION, PEOPLE, WAITS, version_of
from orgflow.backends.n8n.plan.wait_constructs import is_awaited, parallel_waits

from orgflow_ir.flow.concurrency.model_concurrency import concurrency_of, is_repeated_at_once
from orgflow_ir.flow.concurrency.waits import WaitingElements, comes_from_outside, stops_others
from orgflow_ir.flow.control_flow.calls import is_called
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import CallActivity, Event, Gateway, Model, Node, Process, SubProcess, Task
from orgflow_ir.model.bindings import Form
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.elements import Scope
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.scope_mappings import has_mappings
from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.form_fields import is_done_by_a_person

if TYPE_CHECKING:
    from orgflow.backends.n8n.plan import message_links, row_scopes
    from orgflow.backends.n8n.plan.inclusive_joins import InclusiveJoin
else:  # for models that need rows
    message_links = LazyModule("orgflow.backends.n8n.plan.message_links")
    row_scopes = LazyModule("orgflow.backends.n8n.plan.row_scopes")

AWAITED: Final = ("timer", "message")
"""Triggers that a row waits for."""


class RowVerdicts:
    """Which processes have an encoding in rows, and which were found legal because of it.

    Attributes:
        flat: processes with the elements of all their scopes in one graph, by id.
        reasons: why a process has none, by the identity of the process, which is kept with it.
        used: ids of processes of which an element is legal only in rows.
        permitted: ids of processes of which rows may make elements legal: where lowerings are not
            sufficient, and no lowering is left that could be.
    """

    def __init__(self) -> None:
        self.reasons: dict[int, tuple[Process, str]] = {}
        self.used: set[str] = set()
        self.flat: dict[str, row_scopes.FlatProcess] = {}
        self.permitted: set[str] = set()


def permit_rows(model: Model, ctx: PassContext) -> bool:
    """Let rows make elements legal of all processes that have an encoding in them; whether this was
    not permitted before for one of them."""
    verdicts = ctx.shared(RowVerdicts)
    new = {process.id for process in model.processes} - verdicts.permitted
    new = {p.id for p in model.processes if p.id in new and not why_no_rows(p, model, ctx)}
    verdicts.permitted |= new
    return bool(new)


def may_have_rows(process: Process | None, model: Model, ctx: PassContext) -> bool:
    """Whether rows may make elements of a process legal."""
    if process is None or process.id not in ctx.shared(RowVerdicts).permitted:
        return False
    return not why_no_rows(process, model, ctx)


def is_legal_in_rows(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether an element that an execution of n8n cannot wait for is a row of its process."""
    process = _process_of(use, model)
    if process is None or not may_have_rows(process, model, ctx):
        return False
    ctx.shared(RowVerdicts).used.add(process.id)
    return True


def is_matched(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether a message flow leads to an element that waits for its message, and both processes
    have an encoding in rows."""
    links = ctx.analysis(message_links.message_links, model)
    link = next((link for link in links if link.flow == use.element.id), None)
    if link is None or not may_have_rows(link.source, model, ctx):
        return False
    if not may_have_rows(link.target, model, ctx):
        return False
    ctx.shared(RowVerdicts).used |= {link.source.id, link.target.id}
    return True


def _process_of(use: ConstructUse, model: Model) -> Process | None:
    """The process that contains an element, in a sub-process or not."""
    for process in model.processes:
        if any(scope is use.scope for scope in process.scopes()):
            return process
    return None


def waits_in_rows(process: Process, model: Model, ctx: PassContext) -> bool:
    """Whether a legal process is emitted as segments: it needs rows, and has an encoding in
    them."""
    if process.id in ctx.shared(RowVerdicts).flat:
        return True
    return needs_rows(process, model, ctx) and not why_no_rows(process, model, ctx)


def flatten_scopes(model: Model, ctx: PassContext) -> Model:
    """The legal model, with all scopes of processes that wait in rows in one graph each."""
    verdicts = ctx.shared(RowVerdicts)
    processes = []
    for process in model.processes:
        if process.has_kind("sub-process") and waits_in_rows(process, model, ctx):
            flat = row_scopes.flatten_process(process, model)
            verdicts.flat[process.id] = flat._replace(joins=_list_joins(process, ctx))
            process = flat.process
        processes.append(process)
    return model.replace(processes=tuple(processes))


def _list_joins(process: Process, ctx: PassContext) -> dict[str, InclusiveJoin]:
    """The inclusive joins of all scopes of a process, each in its own scope: in the graph of all
    scopes no split belongs to one with a sub-process in between that an event may end."""
    from orgflow.backends.n8n.plan.inclusive_joins import inclusive_joins

    joins: dict[str, InclusiveJoin] = {}
    for scope in process.scopes():
        joins |= inclusive_joins(scope, ctx.analysis(ControlFlow, scope), ctx)
    return joins


def is_caught_in_rows(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether the error of an end event in a sub-process leads to an event on its border."""
    event, scope = use.element, use.scope
    assert isinstance(event, Event)
    process = _process_of(use, model)
    if process is None or scope is None or not may_have_rows(process, model, ctx):
        return False
    host = ctx.analysis(ControlFlow, scope).nodes.get(event.attached_to or "")
    if not isinstance(host, SubProcess):
        return False
    catchers = row_scopes.flatten_process(process, model).catchers
    return event.id in catchers.values() and is_legal_in_rows(use, model, ctx)


def needs_rows(process: Process, model: Model, ctx: PassContext) -> bool:
    """Whether one execution cannot do what a process waits for."""
    used = process.id in ctx.shared(RowVerdicts).used
    if used and process.has_kind("sub-process"):
        return True
    return has_row_needs(process, model, ctx, races=used)


def has_row_needs(process: Process, model: Model, ctx: PassContext, *, races: bool = True) -> bool:
    """Whether people or messages are awaited beside other waits in a process; with `races`, also
    whether events compete, or messages of other processes are awaited."""
    links = ctx.analysis(message_links.message_links, model) if races else ()
    if any(process.id in (link.source.id, link.target.id) for link in links):
        return True
    tasks = []
    for scope in process.scopes():
        if races and any(_stops_or_races(node, scope, ctx) for node in scope.nodes):
            return True
        tasks += [n for n in scope.nodes if isinstance(n, Task) and _waits_for_somebody(n, ctx)]
    return bool(tasks) and not parallel_waits(model, ctx).keys().isdisjoint(n.id for n in tasks)


def _stops_or_races(node: Node, process: Scope, ctx: PassContext) -> bool:
    if isinstance(node, Gateway):
        return node.gateway_kind == "event"
    if stops_others(node):
        return bool(beside_in_scope(node, process, ctx))
    return comes_from_outside(node)


def beside_in_scope(node: Node, process: Scope, ctx: PassContext) -> frozenset[str]:
    """The nodes of a scope that may be active while a node of it is."""
    from orgflow_ir.flow.concurrency.parallel_steps import Concurrency

    graph = ctx.analysis(ControlFlow, process)
    return frozenset(ctx.analysis(Concurrency, graph).beside(node.id))


def _waits_for_somebody(task: Task, ctx: PassContext) -> bool:
    """Whether a task waits for a person or a message."""
    person = is_done_by_a_person(task) and ctx.options.get(PEOPLE, "form") != "placeholder"
    return person or is_awaited(task)


def why_no_rows(process: Process, model: Model, ctx: PassContext) -> str:
    """Why a process has no encoding in rows; empty if it has one. Computed once a process."""
    known = ctx.shared(RowVerdicts).reasons
    if id(process) not in known:
        known[id(process)] = process, next(_list_obstacles(process, model, ctx), "")
    return known[id(process)][1]


def _list_obstacles(process: Process, model: Model, ctx: PassContext) -> Iterator[str]:
    """What has no encoding in rows, each as a sentence without its subject."""
    if ctx.options.get(WAITS) == EXECUTION:
        yield "the options keep it in one execution"
    if version_of(ctx).major < 2:
        yield "n8n 1 has no API for Data Tables"
    if is_called(process, model):
        yield "a call of a process waits in one execution"
    waiting = WaitingElements(model)
    people = ctx.options.get(PEOPLE, "form")
    for scope in process.scopes():
        for node in scope.nodes:
            if isinstance(node, Task) and is_done_by_a_person(node) and people not in _ON_PAGES:
                yield f"people are asked by {people}"
            for kind, find in _OBSTACLES:
                if isinstance(node, kind) and (reason := find(node, scope, model, ctx)):
                    yield f"{ctx.name(node)}: {reason}"
            if isinstance(node, CallActivity) and waiting.waits(node):
                yield f"{ctx.name(node)}: the called process waits"
    yield from _list_uncaught(process, model, ctx)


def _list_uncaught(process: Process, model: Model, ctx: PassContext) -> Iterator[str]:
    """Error events of scopes that no end event leads to, or that catch errors of steps as well."""
    catching = list(_list_catching(process, ctx))
    if not catching:
        return
    from orgflow_ir.lowering.inlining import failing_steps_of

    caught = {*row_scopes.flatten_process(process, model).catchers.values()}
    for event, scope, handler in catching:
        if event.id not in caught:
            yield f"no end event throws the error of {event.label}"
        elif failing_steps_of(event, scope, model, ctx, handler):
            yield f"{event.label} catches errors of steps"


def _list_catching(
    process: Process, ctx: PassContext
) -> Iterator[tuple[Event, Scope, SubProcess | None]]:
    """The error events of scopes, each with the scope that it ends, and the event sub-process that
    it starts, if it starts one."""
    for scope in process.scopes():
        nodes = ctx.analysis(ControlFlow, scope).nodes
        for node in scope.nodes:
            if isinstance(node, SubProcess) and node.flavour == "event":
                for start in row_scopes.starts_in(node):
                    if start.trigger == "error":
                        yield start, scope, node
            elif isinstance(node, Event) and node.position == "boundary":
                host = nodes.get(node.attached_to or "")
                if node.trigger == "error" and isinstance(host, SubProcess):
                    yield node, host, None


_ON_PAGES: Final = ("form", "placeholder")
"""Values of the option for people with which no message asks them."""


def _find_task_obstacle(task: Task, process: Scope, model: Model, ctx: PassContext) -> str:
    if _waits_for_somebody(task, ctx) and (
        is_repeated_at_once(task) or was_repeated_at_once(task, ctx)
    ):
        return "its instances wait at the same time"
    if task.instantiate:
        return "it begins an instance"
    if not _waits_for_somebody(task, ctx) or not isinstance(task.binding, Form):
        return ""
    binding = task.binding
    if binding.inputs or binding.outputs or binding.listeners:
        return "its mappings are computed in the execution that waits"
    if any(len(field.path) > 1 for field in binding.fields):
        return "its answers are parts of objects"
    return ""


def was_repeated_at_once(task: Task, ctx: PassContext) -> bool:
    """Whether a task was made of one whose instances the source begins at once."""
    if ctx.source is None:
        return False
    begun = concurrency_of(ctx.source, ctx).begun_at_once
    return not begun.isdisjoint(source_ids(task))


_ROW_EVENTS: Final = {
    "start": ("none", "message", "timer", "signal", "error"),
    "catch": AWAITED,
    "boundary": (*AWAITED, "error"),
    "throw": ("none", "message", "signal"),
    "end": ("none", "message", "signal", "terminate", "error"),
}
"""The triggers of events with an encoding, by the position of the event."""


def _find_event_obstacle(event: Event, process: Scope, model: Model, ctx: PassContext) -> str:
    if event.trigger not in _ROW_EVENTS[event.position]:
        return f"rows do not wait for its trigger, {event.trigger}"
    if event.position not in ("catch", "boundary") or event.trigger == "error":
        return ""
    if event.binding is not None:
        return "its mappings are computed in the execution that waits"
    if event.position == "catch":
        return ""
    host = ctx.analysis(ControlFlow, process).nodes.get(event.attached_to or "")
    waits = isinstance(host, Task) and _waits_for_somebody(host, ctx)
    if not waits and not isinstance(host, SubProcess):
        return "its step does not wait"
    return "" if is_fixed_time(event) else "its time is computed"


def is_fixed_time(event: Event) -> bool:
    """Whether an event waits for no time, or one that the model states or leaves open."""
    from orgflow.backends.n8n.node_types import wait  # few processes wait in rows

    if event.trigger != "timer":
        return True
    (definition,) = event.definitions
    return definition.time is None or wait.for_timer(definition) is not None


def _find_gateway_obstacle(gateway: Gateway, process: Scope, model: Model, ctx: PassContext) -> str:
    graph = ctx.analysis(ControlFlow, process)
    if gateway.gateway_kind == "event":
        if gateway.instantiate or gateway.await_all:
            return "it begins an instance, or waits for all of its events"
        targets = [graph.nodes[flow.target] for flow in graph.flows_out(gateway.id)]
        known = (
            (isinstance(node, Event) and node.position == "catch" and node.trigger in AWAITED)
            or (isinstance(node, Task) and node.task_type == "receive")
            for node in targets
        )  # fmt: skip
        if not all(known):
            return "rows wait for times and messages"
        if any(len(graph.flows_in(node.id)) > 1 for node in targets):
            return "one of its events is awaited elsewhere as well"
        if not all(is_fixed_time(node) for node in targets if isinstance(node, Event)):
            return "a time of its events is computed"
    if gateway.gateway_kind == "complex":
        return "it continues by its own rule"
    if gateway.gateway_kind == "inclusive" and len(graph.flows_in(gateway.id)) > 1:
        from orgflow.backends.n8n.plan.inclusive_joins import inclusive_joins

        join = inclusive_joins(process, graph, ctx)[gateway.id]
        if join.kind != "exclusive" and not join.inputs:
            return "this inclusive join does not belong to exactly one split"
    return ""


def _find_scope_obstacle(scope: SubProcess, process: Scope, model: Model, ctx: PassContext) -> str:
    del model
    if scope.flavour not in ("plain", "event"):
        return f"rows have no scope like it, {scope.flavour}"
    if scope.loop is not None:
        return "it is repeated"
    if not scope.nodes:
        return "it is empty"
    if scope.for_compensation:
        return "it compensates"
    if has_mappings(scope):
        return "its mappings cannot become steps"
    starts = list(row_scopes.starts_in(scope))
    if scope.flavour == "plain":
        return "" if len(starts) <= 1 else "it has several starts"
    if len(starts) != 1 or starts[0].trigger not in (*AWAITED, "error"):
        return "rows do not wait for its trigger"
    if starts[0].binding is not None:
        return "its mappings are computed in the execution that waits"
    if not is_fixed_time(starts[0]):
        return "its time is computed"
    if any(isinstance(n, SubProcess) and n.flavour == "event" for n in scope.nodes):
        return "it contains an event sub-process"
    for node in scope.nodes:
        if row_scopes.is_terminating(node) and beside_in_scope(node, scope, ctx):
            return "an end in it ends other steps of it"
    return "" if len(list(row_scopes.starts_in(process))) == 1 else "its scope has several starts"


_Find = Callable[..., str]

_OBSTACLES: Final[tuple[tuple[type, _Find], ...]] = (
    (Task, _find_task_obstacle),
    (Event, _find_event_obstacle),
    (Gateway, _find_gateway_obstacle),
    (SubProcess, _find_scope_obstacle),
)
"""What has no encoding, by the type of a node."""
