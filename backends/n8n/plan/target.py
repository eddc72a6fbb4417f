"""The constructs that n8n supports, as data: measured facts of N8N.md and DESIGN's "Tokens on
n8n"."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.backends.n8n.format.versions import KNOWN_VERSIONS
from orgflow.backends.n8n.plan.inclusive_joins import inclusive_joins
from orgflow.backends.n8n.plan.row_waits import (
    is_caught_in_rows,
    is_legal_in_rows,
    is_matched,
    permit_rows,
)
from orgflow.backends.n8n.plan.steps_of_people import (
    AWAITED_STEP,
    STEPS_OF_PEOPLE,
    awaited_steps,
)
from orgflow.backends.n8n.plan.target_options import (
    why_no_inbox,
    why_no_limit,
    why_no_messages,
    why_no_sender,
)
from orgflow.backends.n8n.plan.timed_starts import TIMED_STARTS
from orgflow.backends.n8n.plan.wait_constructs import wait_uses

from orgflow_ir.flow.control_flow.calls import called_from, find_callee, takes_everything
from orgflow_ir.flow.control_flow.deliveries import find_deliveries
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.control_flow.outgoing import sort_outgoing
from orgflow_ir.flow.control_flow.signals import other_end
from orgflow_ir.lowering.ad_hoc import AD_HOC, why_not_in_order
from orgflow_ir.lowering.calls import CALLS
from orgflow_ir.lowering.common import (
    LOWERINGS,
    conditional_splits,
    mixed_gateways,
    timer_use,
)
from orgflow_ir.lowering.compensation import COMPENSATION, why_not_undone
from orgflow_ir.lowering.complex_gateways import COMPLEX_GATEWAYS
from orgflow_ir.lowering.listeners import LISTENERS, listener_uses
from orgflow_ir.lowering.loops import LOOPS, why_not_repeated
from orgflow_ir.lowering.mappings import MAPPINGS, mapping_uses
from orgflow_ir.lowering.sending import SENDING, is_sent_by_itself
from orgflow_ir.lowering.signals import SIGNALS, signal_around, signal_uses
from orgflow_ir.lowering.sub_processes import SUB_PROCESSES, why_no_path, why_not_inline
from orgflow_ir.lowering.unreached_events import UNREACHED_EVENTS, UNREACHED_STEPS
from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Gateway,
    MessageFlow,
    Model,
    Node,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import SubProcessCall
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.element_names import join_listed, one_line
from orgflow_ir.model.vendor_triggers import vendor_trigger
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import variables
from orgflow_ir.targets import Illegal, Legal, LegalIf, Reason, TargetSpec
from orgflow_ir.targets.target_rules import UnsupportedTime
from orgflow_ir.work.process_variables import declared_by


def unstructured_inclusive(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`gateway.inclusive.unstructured`: an inclusive join without a matching split, at which no
    Merge waits for all tokens that may still arrive."""
    for process in model.processes:
        graph = ctx.analysis(ControlFlow, process)
        for join in inclusive_joins(process, graph, ctx).values():
            if join.kind == "unstructured":
                yield ConstructUse(
                    "gateway.inclusive.unstructured", graph.nodes[join.gateway], process
                )


def unsupported_times(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`timer.unsupported`: times that the model states and no node keeps. An event sub-process is
    refused as a whole, since no node waits for the time at which it begins."""
    for scope in model.scopes():
        if isinstance(scope, SubProcess) and scope.flavour == "event":
            continue
        for node in scope.nodes:
            if not isinstance(node, Event) or node.trigger != "timer":
                continue
            (definition,) = node.definitions
            if definition.time is None:
                continue  # nothing is stated: that is a gap
            reason = _why_not(node.position, definition)
            if reason is not None:
                yield timer_use("timer.unsupported", node, scope, reason, ctx)


def _why_not(position: str, definition: EventDefinition) -> str | None:
    """Why no node keeps the time of an event; `None` where one does, or the position counts."""
    assert definition.time is not None
    if position == "start":
        from orgflow.backends.n8n.node_types import n8n_trigger, schedule_trigger

        kept = schedule_trigger.for_timer(definition) is not None
        kept = kept or n8n_trigger.for_timer(definition) is not None
        return None if kept else schedule_trigger.why_not(definition.time)
    if position == "catch":
        from orgflow.backends.n8n.node_types import wait

        return None if wait.for_timer(definition) is not None else wait.why_not(definition)
    return None


def nothing_beside(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether nothing else of the scope can be active at an end event, so that terminating equals
    ending."""
    del model
    return use.scope is not None and not _nodes_beside(use, ctx)


def ends_alone(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether an end that terminates has nothing to end, or all that it ends is rows."""
    return nothing_beside(use, model, ctx) or is_legal_in_rows(use, model, ctx)


def named_beside(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """The elements that may be active in parallel with a terminate end event, for the refusal."""
    del model
    return f"{_list_beside(use, ctx)} may still be active, and n8n has no way to end other branches"


def describe_race(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """The elements that may be active in parallel with an error end event, for the refusal."""
    del model
    return (
        f"{_list_beside(use, ctx)} may still be active, and the amount of work done by then "
        "depends on timing"
    )


def _list_beside(use: ConstructUse, ctx: PassContext) -> str:
    others = [node for node in _nodes_beside(use, ctx) if not isinstance(node, Event | Gateway)]
    named = [ctx.name(node) for node in others[:_NAMED]]
    if len(others) > _NAMED:
        named.append(f"{len(others) - _NAMED} more")
    return join_listed(named) if named else "another branch"


def _nodes_beside(use: ConstructUse, ctx: PassContext) -> list[Node]:
    """What may be under way, gateways and events that a token is about to leave included."""
    from orgflow_ir.flow.concurrency.parallel_steps import Concurrency

    assert use.scope is not None
    graph = ctx.analysis(ControlFlow, use.scope)
    return [graph.nodes[n] for n in ctx.analysis(Concurrency, graph).beside(use.element.id)]


def why_refused(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Why the element of a race is refused: the reason for its own construct."""
    element = use.element
    assert isinstance(element, Event | Gateway | SubProcess)
    verdict = N8N_TARGET.legality(element.construct)
    assert not isinstance(verdict, Legal)
    because = verdict.because(use, model, ctx) if verdict.because is not None else ""
    return because or verdict.reason


def leads_from(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether an error boundary event is led to by the error output of its node, or by an error end
    in its sub-process."""
    return leads_on(use, model, ctx) or is_caught_in_rows(use, model, ctx)


def leads_on(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether the error output of a node can lead to an error boundary event."""
    return not why_not_on_error(use, model, ctx)


def why_not_on_error(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """The reason why an error boundary event cannot be connected; empty if it can."""
    from orgflow_ir.flow.nets.failures import caught_errors

    event, scope = use.element, use.scope
    assert isinstance(event, Event)
    assert scope is not None
    graph = ctx.analysis(ControlFlow, scope)
    host = graph.nodes.get(event.attached_to or "")
    if host is None:
        return "it is not attached to anything"
    name = ctx.name(host)
    if isinstance(host, CallActivity):
        from orgflow_ir.lowering.inlining import why_no_error_of

        reason = why_no_error_of(host, event, model, ctx)
        if reason:
            return reason
    elif not isinstance(host, Task):
        return Reason(f"errors of {name} do not lead to it", host)
    elif host.task_type in ("user", "manual", "receive"):
        return f"the wait at {name} reports no error to n8n"
    if host.loop is not None:
        return f"{name} is repeated"
    if sort_outgoing(graph.flows_out(host.id)).chosen:
        return f"the outgoing flows of {name} depend on data"
    codes = [error.code for error in caught_errors(scope, model).get(host.id, ())]
    if len(event.definitions) != 1 or len(set(codes)) < len(codes):
        return "another event catches the same error"
    return ""


def why_not_begun(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """The event sub-process that a start event begins; empty for other start events."""
    del model
    scope = use.scope
    if not isinstance(scope, SubProcess) or scope.flavour != "event":
        return ""
    return Reason(f"it begins {ctx.name(scope)}, which is not supported", scope)


def returns_it(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether the node of a call can lead to an escalation boundary event at its return."""
    return not why_not_returned(use, model, ctx)


def why_not_returned(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """The reason why an escalation boundary event cannot be connected; empty if it can."""
    event, scope = use.element, use.scope
    assert isinstance(event, Event)
    assert scope is not None
    graph = ctx.analysis(ControlFlow, scope)
    host = graph.nodes.get(event.attached_to or "")
    if host is None:
        return "it is not attached to anything"
    if isinstance(host, Task) and isinstance(host.binding, SubProcessCall):
        called = host.binding.process
        return Reason(
            f"the process {f'`{called}` ' if called else ''}that throws it is in none of the files",
            help="pass the file with that process as well, or put it into the same folder",
        )
    if not isinstance(host, CallActivity) or find_callee(host, model) is None:
        return Reason(f"no known step of {ctx.name(host)} throws the event that it catches", host)
    if host.loop is not None:
        return f"{ctx.name(host)} is repeated"
    if sort_outgoing(graph.flows_out(host.id)).chosen:
        return f"the outgoing flows of {ctx.name(host)} depend on data"
    if len(event.definitions) != 1:
        return "it catches several events"
    from orgflow_ir.lowering.inlining import why_no_escalation_of

    return why_no_escalation_of(host, event, model, ctx)


def leaves_its_process(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether an event throws only an escalation that the caller of the process catches."""
    from orgflow_ir.flow.nets.escalations import heard_escalations

    del ctx
    event = use.element
    assert isinstance(event, Event)
    return len(event.definitions) == 1 and event.id in heard_escalations(model)


def vendor_starts(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`event.start.vendor`: start events whose only trigger is one of a vendor."""
    del ctx
    for scope in model.scopes():
        for node in scope.nodes:
            if not isinstance(node, Event) or node.position != "start" or not node.extra:
                continue
            if vendor_trigger(node):
                yield ConstructUse("event.start.vendor", node, scope)


def why_no_trigger(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """That the trigger of an event is one of a vendor; empty for an event without any trigger."""
    del model, ctx
    assert isinstance(use.element, Event)
    trigger = vendor_trigger(use.element)
    return (
        Reason(f"its trigger, {trigger}, is not part of BPMN", help=_OWN_TRIGGER) if trigger else ""
    )


def is_delivered(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether a message flow begins another process of the model, or is matched with an element of
    it that waits."""
    return is_matched(use, model, ctx) or any(
        d.flow == use.element.id for d in ctx.analysis(find_deliveries, model).values()
    )


def why_not_delivered(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Why a message flow is not emitted."""
    flow = use.element
    assert isinstance(flow, MessageFlow)
    nodes = {node.id: node for scope in model.scopes() for node in scope.nodes}
    sender, receiver = nodes.get(flow.source), nodes.get(flow.target)
    if not isinstance(receiver, Event) or receiver.position != "start":
        return (
            "messages are delivered only to the start event of another process, which "
            f"{ctx.name(flow.target)} is not"
        )
    if not isinstance(sender, Event) and not (
        isinstance(sender, Task) and sender.task_type == "send"
    ):
        return f"{ctx.name(flow.source)} is neither a send task nor a message event"
    return "messages between processes are not emitted"


def why_not_heard(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Why what catches an escalation is not reached by it; empty if nothing does."""
    from orgflow_ir.flow.nets.activity_summaries import Nesting

    event, scope = use.element, use.scope
    assert isinstance(event, Event)
    assert scope is not None
    process = next(p for p in model.processes if any(s is scope for s in p.scopes()))
    thrown = next((d for d in event.definitions if d.kind == "escalation"), None)
    by = Nesting(process, model).caught(scope, thrown).by if thrown is not None else None
    nodes = (node for inner in process.scopes() for node in inner.nodes)
    catcher = next((node for node in nodes if node.id == by), None)
    if catcher is None:
        return ""
    return Reason(f"{ctx.name(catcher)} catches it, which is not supported", catcher)


def from_outside(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether a signal comes from outside of the model, or only goes there."""
    del ctx
    assert isinstance(use.element, Event)
    return other_end(use.element, model) is None


def why_not_signal(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """The events of the model between which a signal is not transmitted; the one that waits for it
    is the cause."""
    assert isinstance(use.element, Event)
    other = other_end(use.element, model)
    assert other is not None
    throws = use.element.position in ("throw", "end")
    if ctx.analysis(signal_around, model) is not None:
        text = "other instances may throw its signal as well while what it ends is active"
    else:
        text = (
            "a signal reaches every instance that waits for it, and none is delivered "
            f"{'to' if throws else 'from'} {ctx.name(other)}"
        )
    return Reason(text, other) if throws else text


def callable_process(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether a call can be emitted as a call of the called process's workflow."""
    return not why_not_call(use, model, ctx)


_MAPPED_BY_CODE = ("variableMappingClass", "variableMappingDelegateExpression")
"""Settings of engines that name a class for the variable mappings of a call."""


def _adds_only(call: CallActivity) -> bool:
    """Whether variables of a call itself are handed over with all others, and nothing else is that
    is made of them."""
    binding = call.binding
    if not isinstance(binding, SubProcessCall) or not binding.all_variables or binding.outputs:
        return False
    from orgflow_ir.work.tasks import call_mappings

    values = call_mappings(call).inputs
    read = {path[0] for _, value in values for path in variables(value)}
    return read.isdisjoint(name for name, _ in values)


def why_not_call(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """The reason why a call cannot be emitted; empty if it can."""
    call = use.element
    assert isinstance(call, CallActivity)
    called = find_callee(call, model)
    if called is None:
        name = one_line(call.process).replace("`", "'")
        if not name:
            return Reason(
                "it does not name the process that it calls",
                help="name the process (`calledElement`), or use a task",
            )
        return Reason(
            f"the process that `{name}` names is known only at run time",
            help="name the process itself, or decide at a gateway which process is called",
        )
    if any(process is called for process in called_from(called, model)):
        return _describe_recursion(called, model, ctx)
    starts = [n for n in called.nodes if isinstance(n, Event) and n.position == "start"]
    if [n.trigger for n in starts] not in ([], ["none"]):
        return Reason(
            f"{ctx.name(called)} does not begin with one plain start event",
            help=f"give {ctx.name(called)} one start event without a trigger",
        )
    return _why_not_mapped(call, called, ctx) or _lost_results(call, called, ctx)


def _describe_recursion(called: Process, model: Model, ctx: PassContext) -> str:
    """The reason why a process that comes to call itself is refused."""
    others = [process for process in called_from(called, model) if process is not called]
    circle = [
        process_called
        for process_called in others
        if any(p is called for p in called_from(process_called, model))
    ]
    if not circle:
        return f"{ctx.name(called)} calls itself, and runs of any depth cannot be compared"
    which = "which call it" if len(circle) > 1 else "which calls it"
    back = f"{join_listed(ctx.name(process) for process in circle)}, {which} again"
    return f"{ctx.name(called)} calls {back}, and n8n cannot publish such workflows"


def _why_not_mapped(call: CallActivity, called: Process, ctx: PassContext) -> str:
    """The reason why the settings or the variables of a call cannot be emitted; empty if they
    can."""
    settings = dict(call.binding.parameters) if call.binding is not None else {}
    if any(name in settings for name in _MAPPED_BY_CODE):
        return "code outside the model maps its variables"
    if "inputOutput" in settings and not _adds_only(call):
        return (
            "its `inputOutput` sets variables of the call itself, in addition to those it passes on"
        )
    if settings.get("useLocalScopeForOutParameters") == "true":
        return "the returned variables are known only at run time"
    if settings.get("waitForCompletion") == "false":
        return f"it continues while {ctx.name(called)} is active"
    if call.binding is not None and (call.binding.inputs or call.binding.outputs):
        from orgflow_ir.work.tasks import call_mappings

        for what, text, reason in call_mappings(call).unread:
            shown = one_line(text).replace("`", "'")
            return f"its {what}, `{shown}`, is not supported: {reason}"
    return ""


def _lost_results(call: CallActivity, called: Process, ctx: PassContext) -> str:
    """Why a call would not get its results: n8n returns the items of the last node alone, and
    branches that end separately have their own."""
    binding = call.binding
    if binding is None or not (binding.outputs or getattr(binding, "all_results", False)):
        return ""
    from orgflow_ir.flow.concurrency.parallel_steps import Concurrency

    graph = ctx.analysis(ControlFlow, called)
    concurrency = ctx.analysis(Concurrency, graph)
    ends = [n for n in graph.nodes if n in graph.reachable and not graph.flows_out(n)]
    beside = dict.fromkeys(node for end in ends for node in sorted(concurrency.beside(end)))
    if not beside:
        return ""
    from orgflow_ir.work.tasks import call_mappings

    values = (value for _, value in call_mappings(call).outputs)
    taken = {path[0] for value in values for path in variables(value)}
    for node in beside:
        for name in declared_by(graph.nodes[node]):
            if name in taken or takes_everything(call):
                return (
                    f"{ctx.name(called)} ends in several parallel branches, of which n8n returns "
                    f"the variables of one, and {ctx.name(graph.nodes[node])} sets `{name}` in one "
                    "of them"
                )
    return ""


def why_not_first(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Why a gateway that waits for one message or signal, or a time, is not a Wait with a limit;
    nothing for other events."""
    del model
    assert isinstance(use.element, Gateway)
    assert use.scope is not None
    graph = ctx.analysis(ControlFlow, use.scope)
    awaited = [graph.nodes[flow.target] for flow in graph.flows_out(use.element.id)]
    kinds = sorted("message" if isinstance(n, Task) else n.trigger or "" for n in awaited
                   if isinstance(n, Event | Task))  # fmt: skip
    if len(awaited) == 2 and kinds in (["message", "timer"], ["signal", "timer"]):
        return _LIMITED.format(what=f"for one {kinds[0]}")
    return ""


def why_no_limit_of(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Why a time on the boundary of a step that waits is not the limit of its Wait node, or why a
    signal of the model does not reach the boundary; nothing for other events and steps."""
    event = use.element
    assert isinstance(event, Event)
    if event.trigger == "signal" and other_end(event, model) is not None:
        return why_not_signal(use, model, ctx)
    assert use.scope is not None
    host = ctx.analysis(ControlFlow, use.scope).nodes.get(event.attached_to or "")
    waits = isinstance(host, Task) and host.task_type in ("user", "receive")
    if waits and event.trigger == "timer" and event.interrupting:
        return _LIMITED.format(what="for this step")
    return ""


def why_not_awaited(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Why an event-based gateway is refused."""
    return why_not_first(use, model, ctx) or _WAITS


def why_not_beside(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Why an event on the boundary of a step is refused."""
    return why_no_limit_of(use, model, ctx) or _BESIDE


def why_no_scope(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Why a sub-process is refused."""
    return why_not_inline(use, model, ctx) or "its steps cannot be moved into the parent process"


def why_no_handler(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Why an event sub-process is refused."""
    return why_no_path(use, model, ctx) or "nothing can begin while other steps are active"


def why_not_started(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Why a start event is refused."""
    return why_not_begun(use, model, ctx) or _NO_TRIGGER


_NAMED = 3
_NO_NODE = "no node is emitted for it"
_WAITS = (
    "an n8n execution waits at one place at a time, and orgflow emits no wait for several events"
)
_BESIDE = "an n8n execution does one thing at a time, and waits for no event while a step is active"
_IN_ROWS = "all waits of its process have an encoding in rows of the Data Table of open work"
_LIMITED = (
    "a Wait node can wait {what} up to a time limit, but n8n keeps the timer of the limit after "
    "the wait has ended, and it may end a later wait of the same execution"
)
_UNDOES = "compensation of finished work is not supported"
_UNDO = "model the compensation as a separate path after a gateway"
_LATER = "after the step, decide how to handle a timeout or another event"
_TELL = "send a message, or decide at a gateway how the run continues"
_OUTSIDE = "no element of the model throws its signal: an external call triggers it"
_NOT_HEARD = (
    "no element of the model waits for its signal: a placeholder until it is filled, or a request"
)
_OWN_TRIGGER = "use a trigger of BPMN: a message, a timer, a signal …"
_NO_TRIGGER = "it has no supported trigger"
_OTHER_START = (
    "start the process with a message, a timer or manually; for an event sub-process, handle the "
    "event within the process itself"
)

_SENT = LegalIf(
    is_sent_by_itself,
    "the model does not define its sender: a placeholder until it is filled, or a request",
)

_HEARD = LegalIf(
    leaves_its_process,
    "it leaves a called process, and an event on the call catches it",
    why_not_heard,
    _TELL,
    yet=True,
)

N8N_TARGET = TargetSpec(
    name="n8n",
    consequences={
        "OF201": "the execution ends there with the status success, and nothing after it happens",
        "OF202": "the execution loops until the server stops it",
        "OF203": "every step after it runs once for each branch",
        "OF206": "every iteration is added to the same execution, until the server stops it",
    },
    constructs={
        "task": Legal("a placeholder until it is filled"),
        "activity.compensation": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        "activity.quantity": Illegal(
            "its node runs once each time it is reached",
            "use a parallel gateway or a loop instead",
            yet=True,
        ),
        "call-activity": LegalIf(
            callable_process,
            "it calls a process of the same file or of a file in the same folder, which has a "
            "plain start event and never calls itself, and its mappings are supported",
            why_not_call,
            "name the called process, put it into the folder, with one plain start event and no "
            "call back to its caller, and map variables by name or with simple expressions",
        ),
        "sub-process": LegalIf(
            is_legal_in_rows,
            _IN_ROWS,
            why_no_scope,
            "move its steps into the parent process, and use gateways to end or repeat them",
            yet=True,
        ),
        "sub-process.event": LegalIf(
            is_legal_in_rows,
            _IN_ROWS,
            why_no_handler,
            "handle its event within the process itself",
            yet=True,
        ),
        "sub-process.transaction": Illegal(
            "compensation of finished work is not supported",
            "move its steps into the parent process, and its compensation after a gateway",
            yet=True,
            because=why_not_undone,
        ),
        "sub-process.ad-hoc": Illegal(
            "steps without an order are not supported",
            "move its steps into the parent process, in the order of execution",
            yet=True,
            because=why_not_in_order,
        ),
        "loop": Illegal(
            "its repetition cannot become a loop of flows",
            "model the loop with a gateway and a returning flow",
            yet=True,
            because=why_not_repeated,
        ),
        "event.start.none": Legal(),
        "event.start.message": Legal("a webhook"),
        "event.start.timer": Legal("a schedule if the cycle is supported; once: at publication"),
        "event.start.signal": LegalIf(from_outside, _OUTSIDE, why_not_signal, _TELL, yet=True),
        "event.start.signal.non-interrupting": Illegal(
            _NO_TRIGGER, _OTHER_START, yet=True, because=why_not_begun
        ),
        "event.start.error": LegalIf(
            is_legal_in_rows,
            _IN_ROWS,
            why_not_started,
            _OTHER_START,
            yet=True,
        ),
        "event.start": Illegal(_NO_TRIGGER, _OTHER_START, yet=True, because=why_not_begun),
        "event.catch.timer": Legal(),
        "event.catch.message": Legal("a webhook wait"),
        "event.catch.signal": LegalIf(from_outside, _OUTSIDE, why_not_signal, _TELL, yet=True),
        "event.catch.conditional": Legal(
            "a check if nothing else runs and the condition is code, otherwise a placeholder"
        ),
        "event.start.vendor": Illegal(
            "its trigger is not part of BPMN", _OWN_TRIGGER, yet=True, because=why_no_trigger
        ),
        "event.catch.none": Illegal(
            "it has no trigger, so it waits for nothing", "give it one", because=why_no_trigger
        ),
        "event.catch": Illegal(_NO_NODE, "wait for a message or a time instead", yet=True),
        "event.throw.none": Legal(),
        "event.throw.message": _SENT,
        "event.throw.signal": LegalIf(from_outside, _NOT_HEARD, why_not_signal, _TELL, yet=True),
        "event.throw": Illegal(_NO_NODE, _TELL, yet=True),
        "event.throw.escalation": _HEARD,
        "event.throw.compensation": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        AWAITED_STEP: Illegal(
            "its placeholder passes on at once, so that no event at it occurs",
            "make it a user task",
        ),
        "event.boundary": Illegal(_BESIDE, _LATER, yet=True, because=why_no_limit_of),
        "event.boundary.timer": LegalIf(
            is_legal_in_rows, _IN_ROWS, why_not_beside, _LATER, yet=True
        ),
        "event.boundary.message": LegalIf(
            is_legal_in_rows, _IN_ROWS, why_not_beside, _LATER, yet=True
        ),
        "event.boundary.none": Illegal(
            "it has no trigger, so it never occurs", "give it one", because=why_no_trigger
        ),
        "event.boundary.error": LegalIf(
            leads_from,
            "it is on a task or a call whose error output can lead to it",
            why_not_on_error,
            "handle the failure at a gateway after the task",
            yet=True,
        ),
        "event.boundary.cancel": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        "event.boundary.escalation": LegalIf(
            returns_it,
            "it is on a call whose process throws it once, and ends there if the event interrupts",
            why_not_returned,
            "decide after the step how the run continues",
            yet=True,
        ),
        "event.boundary.compensation": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        "event.end.none": Legal(),
        "event.end.message": _SENT,
        "event.end.signal": LegalIf(from_outside, _NOT_HEARD, why_not_signal, _TELL, yet=True),
        "event.end.terminate": LegalIf(
            ends_alone,
            "nothing else can be running, or the branches are rows: n8n cannot end other branches",
            named_beside,
            "join the parallel branches before this end event, or end each branch separately",
        ),
        "event.end": Illegal(_NO_NODE, _TELL, yet=True),
        "event.end.escalation": _HEARD,
        "event.end.compensation": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        "event.end.cancel": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        "event.end.error": LegalIf(
            ends_alone,
            "nothing else can be running, or the branches are rows: otherwise the result depends "
            "on timing",
            describe_race,
            "join the parallel branches before this end event",
        ),
        "gateway.exclusive": Legal(),
        "gateway.parallel": Legal("its branches run one after the other"),
        "gateway.inclusive": Legal("its branches run one after the other"),
        "gateway.inclusive.unstructured": Illegal(
            "this inclusive join does not belong to exactly one split, and in a loop or with "
            "duplicate execution, n8n cannot determine which branches are still active",
            "close exactly one split with each inclusive join, or use exclusive and parallel "
            "gateways",
        ),
        "gateway.mixed": Illegal("a Merge cannot also split"),
        "gateway.event": LegalIf(
            is_legal_in_rows,
            _IN_ROWS,
            why_not_awaited,
            "wait for one of them only",
            yet=True,
        ),
        "gateway.event.instantiating": Illegal(
            _WAITS, "wait for one of them only", yet=True, because=why_not_first
        ),
        "gateway.complex": Illegal(
            "it continues by its own rule, which no node of n8n supports",
            "replace it with exclusive, parallel or inclusive gateways",
        ),
        "split.conditional": Illegal("connections in n8n have no conditions"),
        "wait.parallel": Legal(
            "a row of the Data Table of open work; where its process has no encoding in rows, "
            "branches run one after the other, and the step of a person or a message is a "
            "placeholder"
        ),
        "wait.race": LegalIf(
            is_legal_in_rows, _IN_ROWS, why_refused, "wait for one of them only", yet=True
        ),
        "wait.interrupted": LegalIf(is_legal_in_rows, _IN_ROWS, why_refused, _LATER, yet=True),
        "timer.unsupported": Illegal(
            "no node supports it",
            "use a time that n8n supports: a duration or a date for a wait, an unlimited "
            "repetition for a start",
            yet=True,
            rule=UnsupportedTime,
        ),
        "signal.around": Illegal("n8n does not call a node by a signal"),
        "signal.lasting": Illegal(
            "other instances may throw it as well while its scope is active",
            "decide at a gateway how the run continues",
            yet=True,
        ),
        "listener": Illegal("n8n does not call a node when another one begins or ends"),
        "mapping": Illegal("n8n has one set of variables for a workflow"),
        "flow.sequence": Legal(),
        "flow.conditional": Legal(),
        "flow.default": Legal(),
        "flow.message": LegalIf(
            is_delivered,
            "a send task or a message event without an implementation sends it to the only start "
            "event of another process, whose only senders are in the model, or a step sends it to "
            "an element that waits for it, in processes that have an encoding in rows",
            why_not_delivered,
            "use -o DIR/ to compile each process separately, or --process NAME for one of them",
            yet=True,
        ),
        "flow.message.black-box": Legal("the other side is not part of the workflow"),
        "lane": Legal("a sticky note"),
        "pool": Legal("a sticky note"),
        "data": Legal("not part of the workflow"),
        "artifact": Legal("not part of the workflow"),
        "opaque.harmless": Legal("not part of the workflow"),
        "opaque.illegal": Illegal("its meaning is unknown to orgflow"),
        "stub": Legal("a Stop and Error node, and a placeholder after it"),
    },
    derivations=(
        vendor_starts,
        mixed_gateways,
        conditional_splits,
        unstructured_inclusive,
        unsupported_times,
        listener_uses,
        mapping_uses,
        signal_uses,
        wait_uses,
        awaited_steps,
    ),
    lowerings=(
        *UNREACHED_EVENTS,
        *LISTENERS,
        *MAPPINGS,
        *SIGNALS,
        *LOWERINGS,
        *COMPLEX_GATEWAYS,
        *COMPENSATION,
        *LOOPS,
        *CALLS,
        *SUB_PROCESSES,
        *AD_HOC,
        *SENDING,
        *TIMED_STARTS,
        *STEPS_OF_PEOPLE,
        *UNREACHED_STEPS,
    ),
    options={
        "version": tuple(str(v) for v in reversed(KNOWN_VERSIONS)),
        "people": ("form", "placeholder", "mail", "slack", "teams"),
        "inbox": (),
        "waits": ("rows", "execution"),
        "trigger": ("auto", "form", "manual", "webhook"),
        "stubs": ("workflow", "placeholder"),
        "errors": ("none", "workflow"),
        "callers": ("any", "model"),
        "retries": ("stop", "boundary"),
        "payload": ("any", "checked"),
        "timeout": (),
        "sender": (),
        "messages": (),
        "auth": ("none", "header"),
    },
    values={
        "timeout": why_no_limit,
        "sender": why_no_sender,
        "inbox": why_no_inbox,
        "messages": why_no_messages,
    },
    wants_diagram=True,
    resort=permit_rows,
)
