"""The constructs that Amazon States Language supports, as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from orgflow.backends.asl.collections import collection_of
from orgflow.backends.asl.structure import plan_scope
from orgflow.backends.asl.times import is_kept, timer_seconds, why_refused
from orgflow.backends.asl.unseen import unseen_variables

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.lowering.ad_hoc import AD_HOC
from orgflow_ir.lowering.common import (
    LOWERINGS,
    conditional_splits,
    mixed_gateways,
    timer_use,
)
from orgflow_ir.lowering.listeners import LISTENERS, listener_uses
from orgflow_ir.lowering.mappings import MAPPINGS, mapping_uses
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
from orgflow_ir.targets.target_rules import UnsupportedTime


def unstructured_parallel(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`parallel.unstructured`: parallel work that is not block-structured, each with the reason.
    Searched once all gateways either join or split, and each is of a known kind."""
    rewritten = {u.scope.id for u in mixed_gateways(model, ctx) if u.scope is not None}
    rewritten |= {u.scope.id for u in conditional_splits(model, ctx) if u.scope is not None}
    for scope in model.scopes():
        complex_ = any(n.gateway_kind == "complex" for n in scope.nodes if isinstance(n, Gateway))
        if scope.id in rewritten or complex_ or not scope.nodes:
            continue
        graph = ctx.analysis(ControlFlow, scope)
        for fault in ctx.analysis(plan_scope, graph).faults:
            element = graph.nodes.get(fault.node, scope)
            yield ConstructUse("parallel.unstructured", element, scope, fault.reason)


def several_starts(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`sub-process.starts`: sub-processes with alternative start events."""
    del ctx
    for scope in model.scopes():
        for node in scope.nodes:
            if isinstance(node, SubProcess):
                starts = [n for n in node.nodes if isinstance(n, Event) and n.position == "start"]
                if len(starts) > 1:
                    yield ConstructUse("sub-process.starts", node, scope)


def unsupported_times(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`timer.unsupported`: times of the model that no state supports. Those of boundary events are
    judged with their activity; executions are started externally."""
    for scope in model.scopes():
        raced = _raced_events(scope)
        for node in scope.nodes:
            if not isinstance(node, Event) or node.trigger != "timer" or node.position != "catch":
                continue
            (definition,) = node.definitions
            if definition.time is None:
                continue  # nothing is stated: that is a gap
            kept = timer_seconds(node) is not None if node.id in raced else is_kept(definition)
            if not kept:
                yield timer_use("timer.unsupported", node, scope, why_refused(definition), ctx)


def _raced_events(scope: Scope) -> frozenset[str]:
    """Events of which an event-based gateway waits for the first."""
    races = {n.id for n in scope.nodes if isinstance(n, Gateway) and n.gateway_kind == "event"}
    return frozenset(f.target for f in scope.flows if f.source in races)


def error_host(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether a boundary error event is attached to an activity that can fail as a state."""
    del model, ctx
    host = _find_host(use)
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
    """Whether a boundary timer is the only one of a task without a marker, and has a duration."""
    del model, ctx
    host, event, scope = _find_host(use), use.element, use.scope
    assert isinstance(event, Event)
    assert scope is not None
    timers = [n for n in scope.nodes if isinstance(n, Event) and n.trigger == "timer"]
    return (
        isinstance(host, Task)
        and host.loop is None
        and timer_seconds(event) is not None
        and sum(n.attached_to == host.id for n in timers) == 1
    )


def _find_host(use: ConstructUse) -> Node | None:
    event = use.element
    assert isinstance(event, Event)
    assert use.scope is not None
    return next((n for n in use.scope.nodes if n.id == event.attached_to), None)


def is_mappable(use: ConstructUse, model: Model, ctx: PassContext) -> bool:
    """Whether a multi-instance activity names its list and never stops early."""
    del model, ctx
    node = use.element
    if not isinstance(node, Task | SubProcess) or node.loop is None:
        return False
    return node.loop.until is None and collection_of(node.loop) is not None


_NO_STATE = "no state is emitted for it"
_RACE = "a state waits for one answer at a time, and no other event can end the wait"
_SENT = LegalIf(
    is_sent_by_itself, "the model does not define its sender: a placeholder until it is filled"
)

ASL_TARGET = TargetSpec(
    name="asl",
    constructs={
        "task": Legal(
            "a state that computes its script, mappings or decision, a call of a function, a "
            "callback, or a placeholder until it is filled"
        ),
        "task.receive": Legal("a callback"),
        "activity.compensation": Illegal("an execution cannot undo finished work"),
        "activity.quantity": Illegal("one token at a time enters a state"),
        "call-activity": Illegal(
            "it needs the ARN of another state machine",
            "move the steps of the called process into this process",
            yet=True,
        ),
        "sub-process.plain": Legal("a Parallel state with one branch"),
        "sub-process.starts": Illegal(
            "the model does not define at which of its start events it begins",
            "use one start event, followed by a decision",
        ),
        "sub-process.event": Illegal("no state can begin while other states run"),
        "sub-process.transaction": Illegal("an execution cannot undo finished work"),
        "sub-process.ad-hoc": Illegal("states run in the order of the model"),
        "loop.standard": Illegal(
            "markers for repetition are not emitted",
            "model the loop with a gateway and a returning flow",
            yet=True,
        ),
        "loop.multi-instance": LegalIf(
            is_mappable,
            "it defines its list by a single name of ASCII letters (`items` or `${items}`, not a "
            "number of times), and has no completion condition",
        ),
        "event.start.none": Legal(),
        "event.start.message": Legal("an execution is started from outside"),
        "event.start.timer": Legal("an execution is started from outside"),
        "event.start.signal": Legal("an execution is started from outside"),
        "event.start.conditional": Legal("an execution is started from outside"),
        "event.start": Illegal("an execution can begin in only one way"),
        "event.catch.timer": Legal("a Wait state"),
        "event.catch.message": Legal("a callback"),
        "event.catch.signal": Legal("a callback"),
        "event.catch.conditional": Legal("a callback"),
        "event.catch": Illegal(_NO_STATE, yet=True),
        "event.throw.none": Legal(),
        "event.throw.message": _SENT,
        "event.throw": Illegal(_NO_STATE, yet=True),
        "event.boundary.error": LegalIf(
            error_host, "it is attached to a task without a repetition marker, or to a sub-process"
        ),
        "event.boundary.timer": LegalIf(
            timed_host,
            "it is the only boundary event of a task without a repetition marker, and has "
            "a fixed length",
        ),
        "event.boundary.timer.non-interrupting": Illegal(_RACE),
        "event.boundary": Illegal(_RACE, "wait for one of them only"),
        "event.end.none": Legal(),
        "event.end.message": _SENT,
        "event.end.error": Legal("a Fail state"),
        "event.end.terminate": Legal("in a branch, an error that is caught outside it"),
        "event.end": Illegal(_NO_STATE, yet=True),
        "gateway.exclusive": Legal("a Choice state"),
        "gateway.parallel": Legal("a Parallel state"),
        "gateway.inclusive": Legal("a Parallel state whose branches may be skipped"),
        "gateway.event": Legal("one callback for all of its events"),
        "gateway.event.instantiating": Illegal("an execution can begin in only one way"),
        "gateway.mixed": Illegal("a Parallel state cannot join branches that it did not split"),
        "gateway.complex": Illegal(
            "it continues by its own rule, which no state supports",
            "replace it with exclusive, parallel or inclusive gateways",
        ),
        "parallel.unstructured": Illegal(
            "a Parallel state has a single entry and a single exit for its branches",
            "begin parallel branches at one split and end all of them at one join, or use n8n, "
            "which supports other structures",
        ),
        "split.conditional": Illegal("a state has no conditions on its outgoing flow"),
        "timer.unsupported": Illegal(
            "no state supports it",
            "use an ISO 8601 duration in days or less, or a date with a time zone",
            rule=UnsupportedTime,
        ),
        "flow.sequence": Legal(),
        "flow.conditional": Legal("a rule of a Choice state"),
        "flow.default": Legal("the default of a Choice state"),
        "flow.message": Illegal(
            "messages between processes are not emitted",
            "use -o DIR/ to compile each process separately, or --process NAME for one of them",
            yet=True,
        ),
        "listener": Illegal("no state is called when another one begins or ends"),
        "mapping": Illegal("a state machine has one set of variables"),
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
        "opaque.illegal": Illegal("its meaning is unknown to orgflow"),
        "stub": Legal("a Fail state"),
    },
    derivations=(
        mixed_gateways,
        conditional_splits,
        several_starts,
        unstructured_parallel,
        unsupported_times,
        listener_uses,
        mapping_uses,
        unseen_variables,
    ),
    lowerings=(*LISTENERS, *MAPPINGS, *LOWERINGS, *AD_HOC, *SENDING),
    options={"tasks": ("placeholder", "callback")},
)
