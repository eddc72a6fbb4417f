"""What n8n can say, as data: measured facts of N8N.md and DESIGN's "Tokens on n8n"."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.backends.n8n.emit.inclusive import inclusive_joins
from orgflow.backends.n8n.emit.settings import (
    why_no_inbox,
    why_no_limit,
    why_no_messages,
    why_no_sender,
)
from orgflow.backends.n8n.format.versions import KNOWN_VERSIONS
from orgflow.backends.n8n.timed_starts import TIMED_STARTS

from orgflow_ir.analysis.calls import called_from, callee
from orgflow_ir.analysis.control_flow.graph import ControlFlow
from orgflow_ir.analysis.control_flow.outgoing import outgoing
from orgflow_ir.analysis.expressions.syntax import variables
from orgflow_ir.analysis.signals import other_end
from orgflow_ir.lowering.ad_hoc import AD_HOC
from orgflow_ir.lowering.calls import CALLS
from orgflow_ir.lowering.common import (
    LOWERINGS,
    conditional_splits,
    mixed_gateways,
    timer_use,
)
from orgflow_ir.lowering.compensation import COMPENSATION, why_not_undone
from orgflow_ir.lowering.complex_gateways import COMPLEX_GATEWAYS
from orgflow_ir.lowering.loops import LOOPS, why_not_repeated
from orgflow_ir.lowering.sending import SENDING, is_sent_by_itself
from orgflow_ir.lowering.sub_processes import SUB_PROCESSES, why_no_path, why_not_inline
from orgflow_ir.model import CallActivity, Event, EventDefinition, Gateway, Model, Node, Task
from orgflow_ir.model.bindings import SubProcessCall
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.element_names import listed, one_line
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import Illegal, Legal, LegalIf, TargetSpec
from orgflow_ir.targets.rules import UnsupportedTime


def unstructured_inclusive(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`gateway.inclusive.unstructured`: an inclusive join without a split that it closes, where no
    Merge waits for what can still come."""
    for process in model.processes:
        graph = ctx.analysis(ControlFlow, process)
        for join in inclusive_joins(process, graph, ctx).values():
            if join.kind == "unstructured":
                yield ConstructUse(
                    "gateway.inclusive.unstructured", graph.nodes[join.gateway], process
                )


def unsupported_times(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`timer.unsupported`: times that the model states and no node keeps."""
    for scope in model.scopes():
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
    """Whether nothing else of the scope can be under way at an end event: terminating is ending."""
    del model
    return use.scope is not None and not _beside(use, ctx)


def named_beside(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """What may run beside a terminate end event, for the refusal."""
    del model
    return f"{_named(use, ctx)} may still be active, and n8n has no way to end other branches"


def raced(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """What may run beside an error end event, for the refusal."""
    del model
    return f"{_named(use, ctx)} may still be active, and what of it is done before is a race"


def _named(use: ConstructUse, ctx: PassContext) -> str:
    others = [node for node in _beside(use, ctx) if not isinstance(node, Event | Gateway)]
    named = [ctx.name(node) for node in others[:_NAMED]]
    if len(others) > _NAMED:
        named.append(f"{len(others) - _NAMED} more")
    return listed(named) if named else "another branch"


def _beside(use: ConstructUse, ctx: PassContext) -> list[Node]:
    """What may be under way, gateways and events that a token is about to leave included."""
    from orgflow_ir.analysis.control_flow.concurrency import Concurrency

    assert use.scope is not None
    graph = ctx.analysis(ControlFlow, use.scope)
    return [graph.nodes[n] for n in ctx.analysis(Concurrency, graph).beside(use.element.id)]


def leads_on(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether the error output of a node can lead to an error boundary event."""
    return not why_not_on_error(use, model, ctx)


def why_not_on_error(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """What keeps an error boundary event from being wired; nothing where it can be."""
    from orgflow_ir.analysis.failures import caught_errors

    event, scope = use.element, use.scope
    assert isinstance(event, Event)
    assert scope is not None
    graph = ctx.analysis(ControlFlow, scope)
    host = graph.nodes.get(event.attached_to or "")
    if host is None:
        return "it is on nothing"
    name = ctx.name(host)
    if not isinstance(host, Task):
        return f"errors of {name} are not led to it"
    if host.task_type in ("user", "manual", "receive"):
        return f"what waits at {name} reports no error to n8n"
    if host.loop is not None:
        return f"{name} is repeated"
    if outgoing(graph.flows_out(host.id)).chosen:
        return f"the flows out of {name} depend on data"
    codes = [one.code for one in caught_errors(scope, model).get(host.id, ())]
    if len(event.definitions) != 1 or len(set(codes)) < len(codes):
        return "another event catches the same error"
    return ""


def from_outside(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether a signal comes from outside of the model, or goes there only."""
    del ctx
    assert isinstance(use.element, Event)
    return other_end(use.element, model) is None


def why_not_signal(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """Between which events of the model a signal is not carried."""
    assert isinstance(use.element, Event)
    other = other_end(use.element, model)
    assert other is not None
    waits = use.element.position in ("throw", "end")
    towards = "to" if waits else "from"
    return f"no signal is carried {towards} another event of the model, {ctx.name(other)}"


def callable_process(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether a call can be emitted as one of the workflow of the process that it calls."""
    return not why_not_call(use, model, ctx)


_MAPPED_BY_CODE = ("variableMappingClass", "variableMappingDelegateExpression")
"""Settings of engines that name a class which maps the variables of a call."""


def _adds_only(call: CallActivity) -> bool:
    """Whether variables of a call itself are handed over with all others, and nothing else is that
    is made of them."""
    binding = call.binding
    if not isinstance(binding, SubProcessCall) or not binding.all_variables or binding.outputs:
        return False
    from orgflow_ir.analysis.work.tasks import call_mappings

    values = call_mappings(call).inputs
    read = {path[0] for _, value in values for path in variables(value)}
    return read.isdisjoint(name for name, _ in values)


def why_not_call(use: ConstructUse, model: Model, ctx: PassContext) -> str:
    """What keeps a call from being emitted; nothing where it can be."""
    call = use.element
    assert isinstance(call, CallActivity)
    called = callee(call, model)
    if called is None:
        name = one_line(call.process).replace("`", "'")
        if not name:
            return "it does not define what it calls"
        return f"which process `{name}` names shows in a run only"
    if any(one is called for one in called_from(called, model)):
        return f"{ctx.name(called)} calls itself, and n8n cannot publish such workflows"
    starts = [n for n in called.nodes if isinstance(n, Event) and n.position == "start"]
    if [n.trigger for n in starts] not in ([], ["none"]):
        return f"{ctx.name(called)} does not begin with one plain start event"
    settings = dict(call.binding.parameters) if call.binding is not None else {}
    if any(name in settings for name in _MAPPED_BY_CODE):
        return "code that is not in the model maps its variables"
    if "inputOutput" in settings and not _adds_only(call):
        return "its `inputOutput` sets variables of the call itself, beside what it passes on"
    if settings.get("useLocalScopeForOutParameters") == "true":
        return "what comes back is known in the call only"
    if settings.get("waitForCompletion") == "false":
        return f"it continues while {ctx.name(called)} is active"
    if call.binding is not None and (call.binding.inputs or call.binding.outputs):
        from orgflow_ir.analysis.work.tasks import call_mappings

        for what, text, reason in call_mappings(call).unread:
            shown = one_line(text).replace("`", "'")
            return f"its {what}, `{shown}`, is not understood: {reason}"
    return ""


_NAMED = 3
_NO_NODE = "no node is emitted for it"
_WAITS = (
    "an n8n execution waits at one place at a time, and nothing is emitted that waits for "
    "whichever of several things comes first"
)
_UNDOES = "nothing is emitted that undoes finished work"
_UNDO = "draw what undoes it as its own path, which a gateway leads to"
_LATER = "decide after the step what to do when it took too long or something else came"
_TELL = "send a message, or decide at a gateway how the run continues"
_OUTSIDE = "nothing in the model throws its signal: a call from outside brings it"
_NOT_HEARD = (
    "nothing in the model waits for its signal: a placeholder until it is filled, or a request"
)
_NO_TRIGGER = "no trigger is emitted for it"
_OTHER_START = (
    "start the process with a message, a timer or by hand; where it begins an event sub-process, "
    "decide in the process itself what to do when the event has come"
)

_SENT = LegalIf(
    is_sent_by_itself,
    "nothing in the model says what sends it: a placeholder until it is filled, or a request",
)

N8N_TARGET = TargetSpec(
    name="n8n",
    consequences={
        "OF201": "the execution ends there with the status success: nothing after it happens",
        "OF202": "the execution goes round until the server stops it",
        "OF203": "every step after it runs once for each branch that comes",
        "OF206": "every round is added to one execution, until the server stops it",
    },
    constructs={
        "task": Legal("a placeholder until it is filled"),
        "activity.compensation": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        "activity.quantity": Illegal(
            "a node is emitted that is done once for each time it is reached",
            "draw a parallel gateway or a loop in its place",
            yet=True,
        ),
        "call-activity": LegalIf(
            callable_process,
            "it calls a process of the same file, or of one in the same folder, that starts by "
            "itself and never calls itself, and its mappings are understood",
            why_not_call,
            "put the called process into the folder, with one plain start event, and let the call "
            "map variables by their names or by simple expressions",
        ),
        "sub-process": Illegal(
            "its steps cannot be put into the process around it",
            "draw its steps in the parent process, with gateways for what ends or repeats them",
            yet=True,
            because=why_not_inline,
        ),
        "sub-process.event": Illegal(
            "nothing is emitted that begins while other steps are active",
            "decide in the process itself what to do when its event has come",
            yet=True,
            because=why_no_path,
        ),
        "sub-process.transaction": Illegal(
            "nothing is emitted that undoes finished work",
            "move its steps into the parent process, and what undoes them after a gateway",
            yet=True,
            because=why_not_undone,
        ),
        "sub-process.ad-hoc": Illegal(
            "steps without an order of their own are not emitted",
            "draw its steps in the parent process, in the order in which they are done",
            yet=True,
        ),
        "loop": Illegal(
            "its repetition cannot become a loop of flows",
            "draw the loop with a gateway and a flow back",
            yet=True,
            because=why_not_repeated,
        ),
        "event.start.none": Legal(),
        "event.start.message": Legal("a webhook"),
        "event.start.timer": Legal("a schedule, where the cycle can be read; once: when published"),
        "event.start.signal": LegalIf(from_outside, _OUTSIDE, why_not_signal, _TELL, yet=True),
        "event.start.signal.non-interrupting": Illegal(_NO_TRIGGER, _OTHER_START, yet=True),
        "event.start": Illegal(_NO_TRIGGER, _OTHER_START, yet=True),
        "event.catch.timer": Legal(),
        "event.catch.message": Legal("a webhook wait"),
        "event.catch.signal": LegalIf(from_outside, _OUTSIDE, why_not_signal, _TELL, yet=True),
        "event.catch.conditional": Legal("a check, alone and where it is code, else a placeholder"),
        "event.catch.none": Illegal("it has no trigger, so it waits for nothing", "give it one"),
        "event.catch": Illegal(_NO_NODE, "wait for a message or a time instead", yet=True),
        "event.throw.none": Legal(),
        "event.throw.message": _SENT,
        "event.throw.signal": LegalIf(from_outside, _NOT_HEARD, why_not_signal, _TELL, yet=True),
        "event.throw": Illegal(_NO_NODE, _TELL, yet=True),
        "event.throw.compensation": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        "event.boundary": Illegal(_WAITS, _LATER, yet=True),
        "event.boundary.none": Illegal("it has no trigger, so it never comes", "give it one"),
        "event.boundary.error": LegalIf(
            leads_on,
            "it is on a task whose error output can lead to it",
            why_not_on_error,
            "let what is done when it fails follow a gateway after it",
            yet=True,
        ),
        "event.boundary.cancel": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        "event.boundary.escalation": Illegal(
            "nothing leads from where an escalation is thrown to where it is caught",
            "decide after the step how the run continues",
            yet=True,
        ),
        "event.boundary.compensation": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        "event.end.none": Legal(),
        "event.end.message": _SENT,
        "event.end.signal": LegalIf(from_outside, _NOT_HEARD, why_not_signal, _TELL, yet=True),
        "event.end.terminate": LegalIf(
            nothing_beside,
            "nothing else can be running: n8n has no way to end other branches",
            named_beside,
            "join what runs beside it before this end, or end each branch by itself",
        ),
        "event.end": Illegal(_NO_NODE, _TELL, yet=True),
        "event.end.compensation": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        "event.end.cancel": Illegal(_UNDOES, _UNDO, yet=True, because=why_not_undone),
        "event.end.error": LegalIf(
            nothing_beside,
            "nothing else can be running: what is done before it is a race",
            raced,
            "join what runs beside it before this end",
        ),
        "gateway.exclusive": Legal(),
        "gateway.parallel": Legal("its branches run one after the other"),
        "gateway.inclusive": Legal("its branches run one after the other"),
        "gateway.inclusive.unstructured": Illegal(
            "no single split opens what this inclusive join closes, and in a loop, or where work "
            "is done twice, n8n cannot tell which branches are still to come",
            "let each inclusive join close exactly one split, or use exclusive and parallel ones",
        ),
        "gateway.mixed": Illegal("a Merge cannot also split"),
        "gateway.event": Illegal(_WAITS, "wait for one of them only", yet=True),
        "gateway.complex": Illegal(
            "it continues by its own rule, and no node of n8n waits by such a rule",
            "say what it does with exclusive, parallel or inclusive gateways",
        ),
        "split.conditional": Illegal("a node of n8n has no conditions on its wires"),
        "timer.unsupported": Illegal(
            "no node keeps it",
            "give the event a time that n8n keeps: a duration or a date where it waits, a "
            "repetition without end where it starts",
            yet=True,
            rule=UnsupportedTime,
        ),
        "flow.sequence": Legal(),
        "flow.conditional": Legal(),
        "flow.default": Legal(),
        "flow.message": Illegal(
            "messages between processes are not emitted",
            "-o DIR/ compiles each process by itself, --process NAME one of them",
            yet=True,
        ),
        "flow.message.black-box": Legal("the other side is not part of the workflow"),
        "lane": Legal("a sticky note"),
        "pool": Legal("a sticky note"),
        "data": Legal("not part of the workflow"),
        "artifact": Legal("not part of the workflow"),
        "opaque.harmless": Legal("not part of the workflow"),
        "opaque.illegal": Illegal("orgflow does not know what it means"),
        "stub": Legal("a Stop and Error node, and a placeholder after it"),
    },
    derivations=(mixed_gateways, conditional_splits, unstructured_inclusive, unsupported_times),
    lowerings=(
        *LOWERINGS,
        *COMPLEX_GATEWAYS,
        *COMPENSATION,
        *LOOPS,
        *CALLS,
        *SUB_PROCESSES,
        *AD_HOC,
        *SENDING,
        *TIMED_STARTS,
    ),
    options={
        "version": tuple(str(v) for v in reversed(KNOWN_VERSIONS)),
        "people": ("form", "placeholder", "mail", "slack", "teams"),
        "inbox": (),
        "trigger": ("auto", "form", "manual", "webhook"),
        "stubs": ("placeholder", "workflow"),
        "errors": ("none", "workflow"),
        "callers": ("any", "model"),
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
)
