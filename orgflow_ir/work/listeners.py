"""Listeners: what an engine calls when an instance begins or leaves an element.

Code in the model that belongs to a task is part of the work of the task (`tasks`). Everything else
becomes a step before or after its element: code of other elements, and what the model only names
(a class, a delegate expression, a job type).

The order is that of Camunda 7 and Flowable: an exclusive gateway calls its listeners at the end
when it has chosen a flow, a start event all of its listeners before the first flow is taken.
Listeners at the end of an activity come before its output mappings and before its flow is chosen,
and are also called when an event interrupts it. Listeners of Camunda 8 are jobs: those at the end
come after the output mappings, are not called when an event interrupts the activity, and throw no
BPMN errors. jBPM executes code before the input mappings and after the output mappings.

A user task is filled in by one person, who neither claims it nor changes anything else about it.
So its listeners are called when it is created, when it is assigned (if the model states to whom;
Flowable and Activiti assign before they create), and when it is completed, at which Flowable and
Activiti delete it as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.control_flow.outgoing import sort_outgoing
from orgflow_ir.model import (
    CallActivity,
    Element,
    Event,
    Flow,
    Gateway,
    Node,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import (
    LISTENER_RESULT,
    AnyBinding,
    Form,
    Listener,
    Script,
    Worker,
    is_listener,
)
from orgflow_ir.model.listener_data import listeners_in
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program import methods
from orgflow_ir.program.juel_operators import JUEL
from orgflow_ir.program.syntax import ConditionError, Constant, Tree
from orgflow_ir.work.statements import assigned

_BY_CODE = ("script", "expression")
_JOB = "type"
_NAMED = {"class": "class", "delegateExpression": "delegate", _JOB: "job"}
"""Kinds of references to code that is not in the model, and `Worker.by` of a task that does it."""

_BEFORE = {"start": 0, "create": 2, "creating": 2, "assignment": 3, "assigning": 3}
_AFTER = {"complete": 0, "completing": 0, "end": 2}
"""Events before and after the work of a task, by the order in which engines call them: those of a
user task are within those of the activity."""

_DELETED_BY = ("flowable", "activiti")
"""Engines that assign a task before they create it, and delete it when it is completed."""

_OUTERMOST = "jbpm"
"""The engine that calls listeners before the input mappings and after the output mappings, and
calls none when an event interrupts an activity."""

_ASSIGNED = ("assignment", "assigning")
_NOT_CALLED = {
    **dict.fromkeys(_ASSIGNED, "the model does not state to whom the task is assigned"),
    **dict.fromkeys(("update", "updating"), "it is called when somebody changes the task"),
    **dict.fromkeys(("delete", "canceling"), "it is called when the task is cancelled"),
    "timeout": "it is called at a time at which the task still waits",
}
"""Events of a user task that are not called while one person fills it in."""

_NOT_HERE = "its code is not in the model"


def listeners_of(element: Element) -> tuple[Listener, ...]:
    """The listeners of an element other than a task. The listeners of an event that sends by an
    implementation are in its binding and belong to the sending."""
    if isinstance(element, Task) or not any(is_listener(key) for key, _ in element.extra):
        return ()
    if isinstance(element, Event) and element.binding is not None and element.binding.listeners:
        return ()
    return listeners_in(element.extra)


def _of_binding(element: Element) -> tuple[Listener, ...]:
    """The listeners that a task or a sending event has beside its work."""
    if isinstance(element, Task | Event) and element.binding is not None:
        return element.binding.listeners
    return ()


def all_listeners(element: Element) -> tuple[Listener, ...]:
    """The listeners of any element."""
    return _of_binding(element) or listeners_of(element)


def binding_of(listener: Listener) -> Script | Worker | None:
    """The binding of a task that does the work of a listener; `None` if the model does not state
    what it calls."""
    if not listener.target.strip():
        return None
    if listener.by == "script":
        result = dict(listener.parameters).get(LISTENER_RESULT)
        engine = listener.engine or "camunda7"
        return Script(language=listener.language, code=listener.target, by=engine, result=result)
    by = listener.by if listener.by == "expression" else _NAMED.get(listener.by)
    if by is None:
        return None
    retries = dict(listener.parameters).get("retries") if listener.by == _JOB else None
    parameters = tuple(p for p in listener.parameters if retries is None or p[0] != "retries")
    return Worker(by=by, target=listener.target, parameters=parameters, retries=retries)


def is_outermost(listener: Listener) -> bool:
    """Whether a listener comes after the output mappings, and is not called when an event
    interrupts the activity."""
    return listener.engine == _OUTERMOST or listener.by == _JOB


def surrounds_mappings(called: InOrder) -> bool:
    """Whether the listeners of a task come before its input and after its output mappings."""
    return any(listener.engine == _OUTERMOST for listener in (*called.before, *called.after))


def why_not_read(listener: Listener) -> str:
    """Why the code of a listener is not supported; empty if it is."""
    from orgflow_ir.work.scripts import read_call, read_listener

    if listener.by not in _BY_CODE:
        return _NOT_HERE
    try:
        if listener.by == "script":
            read_listener(listener)
        else:
            read_call(listener.target)
    except ConditionError as error:
        return str(error)
    return ""


def set_by_listeners(listeners: Iterable[Listener]) -> Iterator[str]:
    """Variables that the supported code of listeners sets."""
    from orgflow_ir.work.scripts import read_call, read_listener

    for listener in listeners:
        if listener.by not in _BY_CODE:
            continue
        try:
            if listener.by == "script":
                yield from assigned(read_listener(listener).statements)
            else:
                yield from assigned(read_call(listener.target).statements)
        except ConditionError:
            continue


class InOrder(NamedTuple):
    """The listeners of a task in the order of their calls, before and after its work.

    Attributes:
        never: listeners that are called at neither of these times.
        assigned: the value that shows in a run whether the task is assigned; listeners at its
            assignment are called only then.
    """

    before: tuple[Listener, ...] = ()
    after: tuple[Listener, ...] = ()
    never: tuple[Left, ...] = ()
    assigned: Tree | None = None

    def condition(self, listener: Listener) -> Tree | None:
        """The condition under which a listener is called, if there is one."""
        if self.assigned is None or listener.event not in _ASSIGNED:
            return None
        return JUEL.negation(methods.EMPTY(self.assigned))


def in_order(binding: AnyBinding) -> InOrder:
    """The listeners of a binding in the order in which its engine calls them."""
    if not binding.listeners:
        return InOrder()
    before: list[tuple[int, Listener]] = []
    after: list[tuple[int, Listener]] = []
    never: list[Left] = []
    # Events of an assignment are called only if the task is assigned, which may be unknown.
    reason, assigned = "", None
    if any(listener.event in _ASSIGNED for listener in binding.listeners):
        reason, assigned = _read_assignee(binding)
    # Each listener goes to its side with its place there, or is never called.
    for listener in binding.listeners:
        event, deletes = listener.event, listener.engine in _DELETED_BY
        if event in _BEFORE and (event not in _ASSIGNED or not reason):
            early = event in _ASSIGNED and deletes
            before.append((1 if early else _BEFORE[event], listener))
        elif event in _AFTER or (event == "delete" and deletes):
            after.append((_AFTER.get(event, 1), listener))
        else:
            unknown = f"nothing is called at its event `{event}`"
            why = reason if event in _ASSIGNED else _NOT_CALLED.get(event, unknown)
            never.append(Left(listener, why))
    # Sorting is stable: listeners of one event keep the order of the model.
    first, last = (
        tuple(listener for _, listener in sorted(side, key=lambda pair: pair[0]))
        for side in (before, after)
    )
    return InOrder(first, last, tuple(never), assigned)


def _read_assignee(binding: AnyBinding) -> tuple[str, Tree | None]:
    """Why it is unknown whether a task is assigned, or the value that shows it in a run; neither
    for a task that is always assigned."""
    from orgflow_ir.work.mappings import read_value

    text = (binding.assignee or "").strip() if isinstance(binding, Form) else ""
    if not text:
        return _NOT_CALLED[_ASSIGNED[0]], None
    try:
        tree = read_value(text, "feel" if text.startswith("=") else None)
    except ConditionError as error:
        return f"whether the task is assigned depends on `{text}`: {error}", None
    return "", None if isinstance(tree, Constant) else tree


class Left(NamedTuple):
    """A listener that does not become a step, and the reason."""

    listener: Listener
    reason: str


class Placement(NamedTuple):
    """The positions of steps for the listeners of an element: before it, after it, or (for a flow)
    on it; and the listeners that cannot become steps."""

    before: tuple[Listener, ...] = ()
    after: tuple[Listener, ...] = ()
    left: tuple[Left, ...] = ()

    def within(self, placed: Sequence[Listener]) -> Placement:
        """The same without the steps for other listeners than these."""
        before = tuple(listener for listener in self.before if listener in placed)
        after = tuple(listener for listener in self.after if listener in placed)
        others = (listener for listener in (*self.before, *self.after) if listener not in placed)
        return Placement(before, after, (*self.left, *(Left(listener, "") for listener in others)))


def without_loop(element: Element) -> Element:
    """An element whose listeners are to be placed: a repeated activity becomes flows around one."""
    if isinstance(element, Task | CallActivity | SubProcess) and element.loop is not None:
        return element.replace(loop=None)
    return element


def place_listeners(element: Element, scope: Scope, graph: ControlFlow) -> Placement:
    """The positions of steps for the listeners of an element of a scope; `element` may be the scope
    itself, a process."""
    if _of_binding(element):
        assert isinstance(element, Task | Event)
        return _beside_work(element, scope, graph)
    before: list[Listener] = []
    after: list[Listener] = []
    left: list[Left] = []
    for listener in listeners_of(element):
        reason = _why_no_step(listener) or _why_no_place(element, listener, scope, graph)
        if reason:
            left.append(Left(listener, reason))
        elif _is_before(element, listener):
            before.append(listener)
        else:
            after.append(listener)
    return Placement(tuple(before), tuple(after), tuple(left))


def _beside_work(node: Task | Event, scope: Scope, graph: ControlFlow) -> Placement:
    """Steps for the listeners of a task or a sending event that its work does not do, and for the
    code that comes before one of these at the start, or after one at the end. If such code cannot
    be a step, none of the listeners of its side is, so that their order stays."""
    assert node.binding is not None
    called = in_order(node.binding)
    left = [*called.never]
    sides: list[tuple[Listener, ...]] = []
    for listeners, backwards in ((called.before, False), (called.after, True)):
        # Why a listener cannot be a step; those that the work does are none.
        reasons = {
            listener: _why_no_step(listener)
            or _only_sometimes(called.condition(listener))
            or _of_work(node, listener, scope, graph)
            for listener in listeners
        }
        left += (
            Left(listener, reasons[listener])
            for listener in listeners
            if reasons[listener] and not _in_work(listener)
        )
        # The others in order: steps, and between them code that the work does.
        side = [listener for listener in listeners if _in_work(listener) or not reasons[listener]]
        steps = [at for at, listener in enumerate(side) if not _in_work(listener)]
        # Code on the far side of all steps stays in the work, next to the task.
        if not steps:
            side = []
        elif backwards:
            side = side[steps[0] :]
        else:
            side = side[: steps[-1] + 1]
        # Code between steps has to be a step as well, or none of this side is one.
        why = next((reasons[listener] for listener in side if reasons[listener]), "")
        left += (Left(listener, why) for listener in side if why and not _in_work(listener))
        sides.append(() if why else tuple(side))
    before, after = sides
    return Placement(before, after, tuple(left))


def _only_sometimes(condition: Tree | None) -> str:
    return "" if condition is None else "only a run shows whether the task is assigned"


def _in_work(listener: Listener) -> bool:
    """Whether the work of a task has the code of one of its listeners."""
    return listener.by in _BY_CODE and not why_not_read(listener)


def _why_no_step(listener: Listener) -> str:
    return "" if binding_of(listener) is not None else _NOT_HERE


def _is_before(element: Element, listener: Listener) -> bool:
    """Whether the step comes before its element; of a process, in front of its ends."""
    if isinstance(element, Process):
        return listener.event == "end"
    if isinstance(element, Event):
        if element.position == "end":
            return True
        if element.position in ("start", "boundary"):
            return False
    return listener.event == "start"


def _why_no_place(element: Element, listener: Listener, scope: Scope, graph: ControlFlow) -> str:
    if isinstance(element, Flow):
        if listener.event not in ("take", ""):
            return f"flows have no event `{listener.event}`"
        source = graph.nodes.get(element.source)
        if isinstance(source, Gateway) and source.gateway_kind == "event":
            return "the event-based gateway before it waits for an event"
        return "" if source is not None and element.target in graph.nodes else "the flow has no end"
    if listener.event not in ("start", "end"):
        return f"it has no event `{listener.event}`"
    match element:
        case Process():
            return _of_process(element, listener, graph)
        case Event():
            return _of_event(element, listener, graph)
        case Gateway():
            return _of_gateway(element, listener, graph)
        case SubProcess() | CallActivity():
            return _of_activity(element, listener, scope, graph)
        case _:
            return "the time of its call is unknown"


def _of_process(process: Process, listener: Listener, graph: ControlFlow) -> str:
    nodes = process.nodes
    starts = [n for n in nodes if isinstance(n, Event) and n.position == "start"]
    if listener.event == "start":
        plain = starts and set(graph.entries) <= {s.id for s in starts}
        return "" if plain else "the process has no start event"
    last = [n for n in nodes if not graph.flows_out(n.id) and _is_reached(n)]
    if any(not isinstance(n, Event) or n.position != "end" or n.trigger != "none" for n in last):
        return "the process does not end only at plain end events"
    several = len(starts) > 1 or any(
        len(graph.flows_out(n.id)) > 1
        and not (isinstance(n, Gateway) and n.gateway_kind in ("exclusive", "event"))
        for n in nodes
    )
    several = several or any(not n.interrupting for n in nodes if isinstance(n, Event))
    return "several branches may be active when the process ends" if several else ""


def _is_reached(node: Node) -> bool:
    return not (isinstance(node, SubProcess) and node.flavour == "event")


def _of_event(event: Event, listener: Listener, graph: ControlFlow) -> str:
    mapped = event.binding is not None and any(
        p.language != "variable" for p in event.binding.outputs
    )
    match event.position:
        case "end":
            plain = listener.event == "start" or event.trigger == "none"
            return "" if plain else "it is called when the event has occurred"
        case "catch" if listener.event == "start":
            into = (graph.nodes[f.source] for f in graph.flows_in(event.id))
            waits = any(n.gateway_kind == "event" for n in into if isinstance(n, Gateway))
            return "the event-based gateway before it waits for the event" if waits else ""
        case _:
            return "it comes before the output mapping of the event" if mapped else ""


def _of_gateway(gateway: Gateway, listener: Listener, graph: ControlFlow) -> str:
    joins, splits = len(graph.flows_in(gateway.id)) > 1, len(graph.flows_out(gateway.id)) > 1
    match gateway.gateway_kind:
        case "exclusive":
            return ""
        case "event":
            return "" if listener.event == "start" else "its events wait at that point"
        case "parallel" | "inclusive":
            if listener.event == "start" or not splits:
                return ""
            if gateway.gateway_kind == "parallel" and not joins:
                return ""
            return "it is called once for all branches"
        case _:
            return "it is unknown when a complex gateway calls it"


def _of_activity(
    activity: SubProcess | CallActivity, listener: Listener, scope: Scope, graph: ControlFlow
) -> str:
    if isinstance(activity, SubProcess) and activity.flavour == "event":
        return "the event sub-process is not a step of the flow"
    return _why_not_around(activity, listener, scope, graph)


def _of_work(node: Task | Event, listener: Listener, scope: Scope, graph: ControlFlow) -> str:
    """Why a listener of a task or a sending event cannot become a step."""
    assert node.binding is not None
    kind = "task" if isinstance(node, Task) else "event"
    if listener.event in _BEFORE:
        if isinstance(node, Task) and node.instantiate:
            return "the task starts the process"
        into = (graph.nodes[f.source] for f in graph.flows_in(node.id))
        if any(n.gateway_kind == "event" for n in into if isinstance(n, Gateway)):
            return "the event-based gateway before it waits for the message"
        if node.binding.inputs and listener.engine != _OUTERMOST:
            return f"it comes after the input mapping of the {kind}"
    elif node.binding.outputs and not (is_outermost(listener) and listener.event == "end"):
        return f"it comes before the output mapping of the {kind}"
    if isinstance(node, Task):
        return _why_not_around(node, listener, scope, graph)
    return _of_event(node, listener, graph) if node.position == "end" else ""


def _why_not_around(
    activity: Task | SubProcess | CallActivity, listener: Listener, scope: Scope, graph: ControlFlow
) -> str:
    """Why a step before or after an activity does not do the work of a listener."""
    if activity.loop is not None:
        return "the activity is repeated"
    if activity.for_compensation:
        return "the activity compensates another"
    if isinstance(scope, SubProcess) and scope.flavour == "ad-hoc":
        return "the ad-hoc sub-process around it says when it begins"
    if is_outermost(listener):
        return ""
    attached = [n for n in scope.nodes if isinstance(n, Event) and n.attached_to == activity.id]
    if listener.event in ("end", "delete") and any(n.trigger != "compensation" for n in attached):
        return "it is also called when an event interrupts the activity"
    if listener.event != "end":
        if not _in_work(listener) and any(n.trigger == "error" for n in attached):
            return "an error event of the activity also catches its errors"
        return ""
    if sort_outgoing(graph.flows_out(activity.id)).chosen:
        return "it is called when a flow has been chosen"
    return ""


def only_at_the_end(element: Element, scope: Scope) -> Iterator[Listener]:
    """Code that the work of a task executes at its end, which the engine also calls when an event
    interrupts the task."""
    if isinstance(element, Task) and any(
        n.attached_to == element.id and n.trigger != "compensation"
        for n in scope.nodes
        if isinstance(n, Event)
    ):
        yield from (
            listener
            for listener in _of_binding(element)
            if listener.event == "end" and _in_work(listener) and not is_outermost(listener)
        )


def unread_listeners(element: Element) -> bool:
    """Whether an element has listeners with unknown code, which may set any variable."""
    return any(not _in_work(listener) for listener in all_listeners(element))
