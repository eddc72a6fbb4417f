"""The permitted successors of an event-based gateway."""

from __future__ import annotations

from typing import ClassVar, assert_never

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import CallActivity, Event, Gateway, Model, Opaque, SubProcess, Task
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.pipeline import Pass, PassContext, Stage


class EventGatewayTarget(Rule):
    """
    What it finds
        A flow from an event-based gateway to something that does not wait for an event, or that has
        other incoming flows.
    Why it is wrong
        The gateway waits for the first of the events after it (BPMN 2.0.2, 10.6.6); a task, gateway
        or end event cannot occur.
    Example
        An event-based gateway leads to `Answer received` and to the user task `Call customer`.
    Instead
        An event-based gateway leads to `Answer received` and to a timer that leads to the task.
    """

    code = "OF115"
    name = "event-gateway-target"
    severity = Severity.ERROR
    category = Category.MALFORMED


class SingleEvent(Rule):
    """
    What it finds
        An event-based gateway with only one outgoing flow.
    Why it is wrong
        It chooses between events, so it needs two or more outgoing flows (BPMN 2.0.2, 10.6.6); with
        one, the event alone does the same. Usually the timeout of the wait is missing.
    Example
        An event-based gateway that leads to `Answer received` only.
    Instead
        Add a timer as its second outgoing flow, or remove the gateway.
    """

    code = "OF134"
    name = "single-event"
    severity = Severity.WARNING
    category = Category.MALFORMED


class MixedEventGateway(Rule):
    """
    What it finds
        An event-based gateway that leads both to message events and to receive tasks, or to a
        receive task with a boundary event.
    Why it is wrong
        The specification allows one or the other, and no boundary event on such a task (BPMN 2.0.2,
        10.6.6): two parts of the model would wait for the same thing.
    Example
        An event-based gateway leads to the receive task `Get order` and to the message event
        `Order withdrawn`.
    Instead
        Use message events for both; connect the gateway to a timer instead of using a boundary
        timer.
    """

    code = "OF135"
    name = "mixed-event-gateway"
    severity = Severity.WARNING
    category = Category.MALFORMED


class InstantiatingFlow(Rule):
    """
    What it finds
        A sequence flow into a receive task or event-based gateway that begins the process.
    Why it is wrong
        An element that starts a run cannot be reached within a run (BPMN 2.0.2, 10.3.3 and 10.6.6);
        with the flow, it never starts one.
    Example
        <receiveTask id="r" instantiate="true"/> and a flow from `Start` to `r`
    Instead
        Remove the flow, or `instantiate`.
    """

    code = "OF145"
    name = "instantiating-flow"
    severity = Severity.WARNING
    category = Category.MALFORMED


_CATCHING = frozenset({"message", "signal", "timer", "conditional"})


class EventGateways(Pass):
    """Reports event-based gateways that lead to something other than waiting events."""

    name: ClassVar[str] = "event-gateways"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        EventGatewayTarget, SingleEvent, MixedEventGateway, InstantiatingFlow,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for scope in ctx.scopes(model):
            graph: ControlFlow | None = None
            for node in scope.nodes:
                if isinstance(node, Gateway) and node.gateway_kind == "event":
                    graph = graph or ctx.analysis(ControlFlow, scope)
                    _check_gateway(node, graph, ctx)
                    _check_events(node, graph, ctx)
                if isinstance(node, (Task, Gateway)) and node.instantiate:
                    graph = graph or ctx.analysis(ControlFlow, scope)
                    for flow in graph.flows_in(node.id)[:1]:
                        ctx.emit(
                            InstantiatingFlow,
                            f"{ctx.full_name(node)} begins {ctx.name(scope)}, but has an incoming "
                            f"flow from {ctx.name(flow.source)}",
                            element=node,
                            help="remove the flow, or the attribute `instantiate`",
                        )
        return model


def _check_events(gateway: Gateway, graph: ControlFlow, ctx: PassContext) -> None:
    flows = graph.flows_out(gateway.id)
    if len(flows) == 1:  # OF110 reports one without any
        ctx.emit(
            SingleEvent,
            f"{ctx.full_name(gateway)} has only one outgoing flow, to {ctx.name(flows[0].target)}",
            element=gateway,
            help="add the other events that may occur first, or remove the gateway",
        )
    targets = [graph.nodes[f.target] for f in flows]
    tasks = [n for n in targets if isinstance(n, Task) and n.task_type == "receive"]
    if not tasks:
        return
    message = next(
        (
            n
            for n in targets
            if isinstance(n, Event) and any(d.kind == "message" for d in n.definitions)
        ),
        None,
    )
    if message is not None:
        ctx.emit(
            MixedEventGateway,
            f"{ctx.full_name(gateway)} leads to the receive task {ctx.name(tasks[0])} and to the "
            f"message event {ctx.name(message)}",
            element=gateway,
            help="use message events or receive tasks for both",
        )
    for task in tasks:
        if any(n.attached_to == task.id for n in graph.nodes.values() if isinstance(n, Event)):
            ctx.emit(
                MixedEventGateway,
                f"{ctx.name(task)}, which follows {ctx.name(gateway)}, has a boundary event",
                element=task,
                help=f"add a flow from {ctx.name(gateway)} to that event instead",
            )


def _check_gateway(gateway: Gateway, graph: ControlFlow, ctx: PassContext) -> None:
    for flow in graph.flows_out(gateway.id):
        target = graph.nodes[flow.target]
        if not _is_waiting(target):
            problem = "does not wait for an event"
            help_text = "use a message, timer, signal or conditional event there"
        elif len(graph.flows_in(target.id)) > 1:
            problem = "has other incoming flows"
            help_text = "join the flows after the event"
        else:
            continue
        ctx.emit(
            EventGatewayTarget,
            f"{ctx.full_name(gateway)} leads to {ctx.name(target)}, which {problem}",
            element=flow,
            help=help_text,
        )


def _is_waiting(node: ModelNode) -> bool:
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
