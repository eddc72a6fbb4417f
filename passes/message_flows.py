"""Message flows: between pools, from and to existing elements."""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import Event, Gateway, MessageFlow, Model
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.pipeline import Pass, PassContext, Stage


class MessageFlowInPool(Rule):
    """
    What it finds
        A message flow between two elements of the same pool.
    Why it is wrong
        Message flows connect pools (BPMN 2.0.2, 9.3); within a pool, sequence flows define the
        order, and this message flow has no effect on it.
    Example
        A message flow from `Ask manager` to `Decide` in the same pool.
    Instead
        Use a sequence flow, or model the other party as its own pool.
    """

    code = "OF116"
    name = "message-flow-in-pool"
    severity = Severity.WARNING
    category = Category.MALFORMED


class DanglingMessageFlow(Rule):
    """
    What it finds
        A message flow that is not connected to a step, event or pool at both ends.
    Why it is wrong
        The message has no sender or no receiver (BPMN 2.0.2, 7.6.2 and 9.4).
    Example
        <messageFlow id="m" sourceRef="Send" targetRef=""/>
    Instead
        <messageFlow id="m" sourceRef="Send" targetRef="Pool_Customer"/>
    """

    code = "OF117"
    name = "dangling-message-flow"
    severity = Severity.WARNING
    category = Category.MALFORMED


class MessageFlowEnd(Rule):
    """
    What it finds
        A message flow from an element that cannot send, or to one that cannot receive: from a start
        event or a catch event, to an end event or a throw event, to an event that waits for
        something other than a message, at a gateway.
    Why it is wrong
        The message is never sent, or the event does not wait for it (BPMN 2.0.2, 7.6.2, 10.5.2 to
        10.5.4).
    Example
        A message flow leads into the start event `Order received`, which has no trigger.
    Instead
        Make `Order received` a message start event.
    """

    code = "OF139"
    name = "message-flow-end"
    severity = Severity.WARNING
    category = Category.MALFORMED


class MessageFlows(Pass):
    """Reports message flows with impossible ends."""

    name: ClassVar[str] = "message-flows"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        MessageFlowInPool, DanglingMessageFlow, MessageFlowEnd,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        if not model.message_flows:
            return model
        index = ctx.analysis(ModelIndex, model)
        reported = {d.element for d in ctx.diagnostics if d.code == "OF152"}
        for flow in model.message_flows:
            if flow.id in reported:
                continue  # the frontend has said that an end is not there
            _check_flow(flow, index, ctx)
        return model


def _home_of(end: str, index: ModelIndex) -> str | None:
    """The process around an end of a message flow, or the pool without one; None where the end is
    no step, process or pool."""
    pool = index.pools.get(end)
    if pool is not None:
        return pool.process or pool.id
    process = index.process(end) if end in index.nodes or end in index.scopes else None
    return process.id if process is not None else None


def _check_flow(flow: MessageFlow, index: ModelIndex, ctx: PassContext) -> None:
    name = f"the message flow `{flow.label}`" if flow.name.strip() else "a message flow"
    homes = [_home_of(end, index) for end in (flow.source, flow.target)]
    ends = [
        f"`{index.label(end)}`" if home is not None else "nothing"
        for end, home in zip((flow.source, flow.target), homes, strict=True)
    ]
    if None in homes:
        ctx.emit(
            DanglingMessageFlow,
            f"{name} leads from {ends[0]} to {ends[1]}",
            element=flow,
            help="connect both ends to a step, an event or a pool, or remove the flow",
        )
    elif homes[0] == homes[1]:
        ctx.emit(
            MessageFlowInPool,
            f"{name} leads from {ends[0]} to {ends[1]} in the same pool",
            element=flow,
            help="use a sequence flow, or model the other party as its own pool",
        )
    for sends, end in ((True, flow.source), (False, flow.target)):
        node = index.nodes.get(end)
        wrong = _impossible_end(node, sends=sends) if node is not None else None
        if wrong is not None and node is not None:
            what, help_text = wrong
            way = "leaves" if sends else "leads into"
            ctx.emit(
                MessageFlowEnd,
                f"{name} {way} {ctx.full_name(node)}, which {what}",
                element=flow,
                help=help_text,
            )


_SENDING = ("throw", "end")
_RECEIVING = ("start", "catch", "boundary")


def _impossible_end(node: ModelNode, *, sends: bool) -> tuple[str, str] | None:
    """Why a node cannot be an end of a message flow, and the remedy; `None` where it can."""
    if isinstance(node, Gateway):
        word = "sends" if sends else "receives"
        return f"{word} nothing", f"connect the message flow to the step that {word} the message"
    if not isinstance(node, Event):
        return None
    if sends and node.position in _RECEIVING:
        return "sends nothing", "connect it to the step or event that sends the message"
    if not sends and node.position in _SENDING:
        return "receives nothing", "connect it to the step or event that receives the message"
    if any(d.kind == "message" for d in node.definitions):
        return None
    what = "sends no message" if sends else "does not wait for a message"
    return what, f"make it a message {_NAMES[node.position]}"


_NAMES = {
    "start": "start event", "end": "end event", "catch": "event", "throw": "event",
    "boundary": "event",
}  # fmt: skip
