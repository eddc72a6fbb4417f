"""What may follow an event-based gateway."""

from __future__ import annotations

from typing import ClassVar, assert_never

from orgflow_ir.analysis.control_flow.graph import ControlFlow
from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import CallActivity, Event, Gateway, Model, Opaque, SubProcess, Task
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.pipeline import Pass, PassContext, Stage


class EventGatewayTarget(Rule):
    """
    What it finds
        A flow from an event-based gateway to something that does not wait for an event, or that
        is led to from elsewhere, too.
    Why it is wrong
        The gateway waits for whichever of the events after it comes first (BPMN 2.0.2, 10.6.6);
        a task, gateway or end event is no event that could come.
    Example
        An event-based gateway leads to `Answer received` and to the user task `Call customer`.
    Instead
        An event-based gateway leads to `Answer received` and to a timer that leads to the task.
    """

    code = "OF115"
    name = "event-gateway-target"
    severity = Severity.ERROR
    category = Category.MALFORMED


_CATCHING = frozenset({"message", "signal", "timer", "conditional"})


class EventGateways(Pass):
    """Reports event-based gateways that lead to something other than waiting events."""

    name: ClassVar[str] = "event-gateways"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (EventGatewayTarget,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report; the model is given back as it is."""
        for scope in model.scopes():
            graph: ControlFlow | None = None
            for node in scope.nodes:
                if isinstance(node, Gateway) and node.gateway_kind == "event":
                    graph = graph or ctx.analysis(ControlFlow, scope)
                    _check(node, graph, ctx)
        return model


def _check(gateway: Gateway, graph: ControlFlow, ctx: PassContext) -> None:
    for flow in graph.flows_out(gateway.id):
        target = graph.nodes[flow.target]
        if not _waits(target):
            problem = "does not wait for an event"
            help_text = "put a message, timer, signal or conditional event there"
        elif len(graph.flows_in(target.id)) > 1:
            problem = "is led to from elsewhere, too"
            help_text = "join behind the event, not before it"
        else:
            continue
        ctx.emit(
            EventGatewayTarget,
            f"{ctx.full_name(gateway)} leads to {ctx.name(target)}, which {problem}",
            element=flow,
            help=help_text,
        )


def _waits(node: ModelNode) -> bool:
    match node:
        case Task():
            return node.task_type == "receive"
        case Event():
            # One without a definition states only that something is waited for: accepted as meant.
            return node.position == "catch" and all(d.kind in _CATCHING for d in node.definitions)
        case CallActivity() | SubProcess() | Gateway() | Opaque():
            return False
        case _:
            assert_never(node)
