"""What Amazon States Language can say, as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from orgflow.backends.asl.collections import collection_of
from orgflow.backends.asl.structure import plan
from orgflow.backends.asl.times import is_kept, timer_seconds, unsaid
from orgflow.backends.asl.unseen import unseen_variables

from orgflow_ir.analysis.control_flow.graph import ControlFlow
from orgflow_ir.lowering.ad_hoc import AD_HOC
from orgflow_ir.lowering.common import (
    LOWERINGS,
    conditional_splits,
    mixed_gateways,
    timer_use,
)
from orgflow_ir.lowering.sending import SENDING, is_sent_by_itself
from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Model,
    Node,
    Opaque,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import Illegal, Legal, LegalIf, TargetSpec
from orgflow_ir.targets.rules import UnsupportedTime


def unstructured_parallel(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`parallel.unstructured`: parallel work that is not blocks inside each other, each with the
    reason. Looked for once all gateways either join or split, and each is one that is known."""
    rewritten = {u.scope.id for u in mixed_gateways(model, ctx) if u.scope is not None}
    rewritten |= {u.scope.id for u in conditional_splits(model, ctx) if u.scope is not None}
    for scope in model.scopes():
        complex_ = any(isinstance(n, Gateway) and n.gateway_kind == "complex" for n in scope.nodes)
        if scope.id in rewritten or complex_ or not scope.nodes:
            continue
        graph = ctx.analysis(ControlFlow, scope)
        for fault in ctx.analysis(plan, graph).faults:
            element = graph.nodes.get(fault.node, scope)
            yield ConstructUse("parallel.unstructured", element, scope, fault.reason)


def several_starts(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`sub-process.starts`: sub-processes that may begin at one start event or another."""
    del ctx
    for scope in model.scopes():
        for node in scope.nodes:
            if isinstance(node, SubProcess):
                starts = [n for n in node.nodes if isinstance(n, Event) and n.position == "start"]
                if len(starts) > 1:
                    yield ConstructUse("sub-process.starts", node, scope)


def unsupported_times(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`timer.unsupported`: times that the model states and no state keeps. Those of boundary events
    are judged with what they are attached to; executions are started from outside."""
    for scope in model.scopes():
        raced = _raced(scope)
        for node in scope.nodes:
            if not isinstance(node, Event) or node.trigger != "timer" or node.position != "catch":
                continue
            (definition,) = node.definitions
            if definition.time is None:
                continue  # nothing is stated: that is a gap
            kept = timer_seconds(node) is not None if node.id in raced else is_kept(definition)
            if not kept:
                yield timer_use("timer.unsupported", node, scope, unsaid(definition), ctx)


def _raced(scope: Scope) -> frozenset[str]:
    """Events of which an event-based gateway waits for the first."""
    races = {n.id for n in scope.nodes if isinstance(n, Gateway) and n.gateway_kind == "event"}
    return frozenset(f.target for f in scope.flows if f.source in races)


def error_host(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether a boundary error event stands on something that can fail as a state."""
    del model, ctx
    host = _host(use)
    match host:
        case Task():
            return host.loop is None
        case SubProcess():
            return True
        case None | CallActivity() | Event() | Gateway() | Opaque():
            return False
        case _:
            assert_never(host)


def timed_host(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether a boundary timer is the only one of a task without a marker, and says how long."""
    del model, ctx
    host, event, scope = _host(use), use.element, use.scope
    assert isinstance(event, Event)
    assert scope is not None
    timers = [n for n in scope.nodes if isinstance(n, Event) and n.trigger == "timer"]
    return (
        isinstance(host, Task)
        and host.loop is None
        and timer_seconds(event) is not None
        and sum(n.attached_to == host.id for n in timers) == 1
    )


def _host(use: ConstructUse) -> Node | None:
    event = use.element
    assert isinstance(event, Event)
    assert use.scope is not None
    return next((n for n in use.scope.nodes if n.id == event.attached_to), None)


def mappable(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether a multi-instance activity says over which list it goes and never stops early."""
    del model, ctx
    node = use.element
    if not isinstance(node, Task | SubProcess) or node.loop is None:
        return False
    return node.loop.until is None and collection_of(node.loop) is not None


_NO_STATE = "no state is emitted for it"
_RACE = (
    "a state waits for one answer at a time, and cannot be left by anything else in the meantime"
)
_SENT = LegalIf(
    is_sent_by_itself, "nothing in the model says what sends it: a placeholder until it is filled"
)

ASL_TARGET = TargetSpec(
    name="asl",
    constructs={
        "task": Legal("a placeholder until it is filled, or a callback"),
        "task.receive": Legal("a callback"),
        "activity.compensation": Illegal("an execution cannot undo finished work"),
        "activity.quantity": Illegal("a state is entered by one token at a time"),
        "call-activity": Illegal(
            "it needs the ARN of another state machine",
            "move the steps of what it calls into this process",
            yet=True,
        ),
        "sub-process.plain": Legal("a Parallel state with one branch"),
        "sub-process.starts": Illegal(
            "nothing says at which of its start events it begins",
            "let it begin at one, and decide after that",
        ),
        "sub-process.event": Illegal("nothing can begin while other states run"),
        "sub-process.transaction": Illegal("an execution cannot undo finished work"),
        "sub-process.ad-hoc": Illegal("states run in the order that is drawn"),
        "loop.standard": Illegal(
            "markers for repetition are not emitted",
            "draw the loop with a gateway and a flow back",
            yet=True,
        ),
        "loop.multi-instance": LegalIf(
            mappable,
            "it names its list by one name of ASCII letters (`items` or `${items}`; a number of "
            "times is no list), and has no condition for stopping early",
        ),
        "event.start.none": Legal(),
        "event.start.message": Legal("an execution that is started from outside"),
        "event.start.timer": Legal("an execution that is started from outside"),
        "event.start.signal": Legal("an execution that is started from outside"),
        "event.start.conditional": Legal("an execution that is started from outside"),
        "event.start": Illegal("an execution begins in one way only"),
        "event.catch.timer": Legal("a Wait state"),
        "event.catch.message": Legal("a callback"),
        "event.catch.signal": Legal("a callback"),
        "event.catch.conditional": Legal("a callback"),
        "event.catch": Illegal(_NO_STATE, yet=True),
        "event.throw.none": Legal(),
        "event.throw.message": _SENT,
        "event.throw": Illegal(_NO_STATE, yet=True),
        "event.boundary.error": LegalIf(
            error_host, "it stands on a task without a marker for repetition, or on a sub-process"
        ),
        "event.boundary.timer": LegalIf(
            timed_host,
            "it is the only one of a task without a marker for repetition, and has a fixed length",
        ),
        "event.boundary.timer.non-interrupting": Illegal(_RACE),
        "event.boundary": Illegal(_RACE, "wait for one of them only"),
        "event.end.none": Legal(),
        "event.end.message": _SENT,
        "event.end.error": Legal("a Fail state"),
        "event.end.terminate": Legal("in a branch an error that is caught outside it"),
        "event.end": Illegal(_NO_STATE, yet=True),
        "gateway.exclusive": Legal("a Choice state"),
        "gateway.parallel": Legal("a Parallel state"),
        "gateway.inclusive": Legal("a Parallel state whose branches may be skipped"),
        "gateway.event": Legal("one callback for all of its events"),
        "gateway.event.instantiating": Illegal("an execution begins in one way only"),
        "gateway.mixed": Illegal("a Parallel state cannot join what it did not split"),
        "gateway.complex": Illegal(
            "it continues by its own rule, and no state waits by such a rule",
            "say what it does with exclusive, parallel or inclusive gateways",
        ),
        "parallel.unstructured": Illegal(
            "branches of a Parallel state are entered and left together",
            "let parallel branches begin at one split and all end at one join, or use n8n, which "
            "can run them",
        ),
        "split.conditional": Illegal("a state has no conditions on its outgoing flow"),
        "timer.unsupported": Illegal(
            "no state keeps it",
            "give the event an ISO 8601 duration in days or less, or a date with a time zone",
            rule=UnsupportedTime,
        ),
        "flow.sequence": Legal(),
        "flow.conditional": Legal("a rule of a Choice state"),
        "flow.default": Legal("the default of a Choice state"),
        "flow.message": Illegal(
            "messages between processes are not emitted",
            "-o DIR/ compiles each process by itself, --process NAME one of them",
            yet=True,
        ),
        "variable.unseen": Illegal(
            "it reads a variable that no state passes on to it",
            "set it where every path to the gateway passes the task, or read it after the join",
        ),
        "flow.message.black-box": Legal("the other side is not part of the state machine"),
        "lane": Legal("not part of the state machine"),
        "pool": Legal("not part of the state machine"),
        "data": Legal("not part of the state machine"),
        "artifact": Legal("not part of the state machine"),
        "opaque.harmless": Legal("not part of the state machine"),
        "opaque.illegal": Illegal("orgflow does not know what it means"),
        "stub": Legal("a Fail state"),
    },
    derivations=(
        mixed_gateways,
        conditional_splits,
        several_starts,
        unstructured_parallel,
        unsupported_times,
        unseen_variables,
    ),
    lowerings=(*LOWERINGS, *AD_HOC, *SENDING),
    options={"tasks": ("placeholder", "callback")},
)
