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


class SingleEvent(Rule):
    """
    What it finds
        An event-based gateway with one way out only.
    Why it is wrong
        It lets events race, so it has two ways out or more (BPMN 2.0.2, 10.6.6); with one the event
        alone does the same. Usually the time limit of the wait is missing.
    Example
        An event-based gateway that leads to `Answer received` only.
    Instead
        Add a timer as its second way out, or leave the gateway out.
    """

    code = "OF134"
    name = "single-event"
    severity = Severity.WARNING
    category = Category.MALFORMED


class MixedEventGateway(Rule):
    """
    What it finds
        An event-based gateway that leads to message events and to receive tasks, or to a receive
        task with an event on its border.
    Why it is wrong
        The specification allows either of them, and no event on the border of such a task
        (BPMN 2.0.2, 10.6.6): two parts of the model would wait for the same thing.
    Example
        An event-based gateway leads to the receive task `Get order` and to the message event
        `Order withdrawn`.
    Instead
        Use message events for both; lead the gateway to a timer instead of one on the border.
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
        What creates a run is not come to in a run (BPMN 2.0.2, 10.3.3 and 10.6.6); with the flow it
        never begins anything.
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
        """Report; the model is given back as it is."""
        for scope in ctx.scopes(model):
            graph: ControlFlow | None = None
            for node in scope.nodes:
                if isinstance(node, Gateway) and node.gateway_kind == "event":
                    graph = graph or ctx.analysis(ControlFlow, scope)
                    _check(node, graph, ctx)
                    _check_events(node, graph, ctx)
                if isinstance(node, Task | Gateway) and node.instantiate:
                    graph = graph or ctx.analysis(ControlFlow, scope)
                    for flow in graph.flows_in(node.id)[:1]:
                        ctx.emit(
                            InstantiatingFlow,
                            f"{ctx.full_name(node)} begins {ctx.name(scope)}, but a flow from "
                            f"{ctx.name(flow.source)} leads to it",
                            element=node,
                            help="remove the flow, or `instantiate`",
                        )
        return model


def _check_events(gateway: Gateway, graph: ControlFlow, ctx: PassContext) -> None:
    flows = graph.flows_out(gateway.id)
    if len(flows) == 1:  # OF110 reports one without any
        ctx.emit(
            SingleEvent,
            f"{ctx.full_name(gateway)} has one way out only, to {ctx.name(flows[0].target)}",
            element=gateway,
            help="add the other events that may come first, or leave the gateway out",
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
            help="use message events for both, or receive tasks",
        )
    for task in tasks:
        if any(isinstance(n, Event) and n.attached_to == task.id for n in graph.nodes.values()):
            ctx.emit(
                MixedEventGateway,
                f"{ctx.name(task)}, for which {ctx.name(gateway)} waits, has an event on its "
                "border",
                element=task,
                help=f"let {ctx.name(gateway)} lead to that event, too",
            )


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
