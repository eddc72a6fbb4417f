"""Every construct that a model uses, by the dotted name used in capability tables and matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from orgflow_ir.model.elements import (
    CallActivity,
    Element,
    Event,
    Gateway,
    Model,
    Node,
    Opaque,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.records import NamedTuple

_INTERRUPTIBLE = (
    "message", "timer", "signal", "escalation", "conditional", "multiple", "parallel-multiple",
)  # fmt: skip

CONSTRUCTS: dict[str, str] = {
    **{
        f"task.{t}": f"{t} task"
        for t in (
            "abstract",
            "user",
            "manual",
            "service",
            "script",
            "send",
            "receive",
            "business-rule",
        )
    },
    "activity.compensation": "activity that compensates another",
    "activity.quantity": "activity with start or completion quantity other than 1",
    "call-activity": "call of another process",
    "sub-process.plain": "embedded sub-process",
    "sub-process.event": "event sub-process",
    "sub-process.transaction": "transaction",
    "sub-process.ad-hoc": "ad-hoc sub-process",
    "loop.standard": "standard loop",
    "loop.multi-instance.parallel": "multi-instance, in parallel",
    "loop.multi-instance.sequential": "multi-instance, one after the other",
    **{
        f"event.{position}.{kind}": f"{position} event, {kind}"
        for position, kinds in {
            "start": "none message timer signal error escalation conditional compensation "
            "multiple parallel-multiple",
            "catch": "message timer signal conditional link multiple parallel-multiple",
            "throw": "none message signal escalation compensation link multiple",
            "boundary": "message timer signal error escalation conditional compensation cancel "
            "multiple parallel-multiple",
            "end": "none message signal error escalation compensation terminate cancel multiple",
        }.items()
        for kind in kinds.split()
    },
    **{
        f"event.boundary.{kind}.non-interrupting": f"non-interrupting boundary event, {kind}"
        for kind in _INTERRUPTIBLE
    },
    **{
        f"event.start.{kind}.non-interrupting": f"non-interrupting start, {kind}"
        for kind in _INTERRUPTIBLE
    },
    "gateway.exclusive": "exclusive gateway",
    "gateway.inclusive": "inclusive gateway",
    "gateway.parallel": "parallel gateway",
    "gateway.event": "event-based gateway",
    "gateway.event.instantiating": "event-based gateway that starts the process",
    "gateway.complex": "complex gateway",
    "flow.sequence": "sequence flow",
    "flow.conditional": "sequence flow with a condition",
    "flow.default": "default flow",
    "flow.message": "message flow between two nodes of the model",
    "flow.message.black-box": "message flow from or to a pool without a process",
    "lane": "lane",
    "pool": "pool",
    "pool.black-box": "pool without a process",
    "data.object": "data object, store, input or output",
    "data.flow": "data association",
    "artifact": "annotation, group or association",
    "opaque.harmless": "kept data without effect on control flow",
    "opaque.illegal": "element that cannot be modelled",
    "stub": "stop in place of an unsupported element",
}
"""Every plain construct with a short description; targets and tables use these names."""


class ConstructUse(NamedTuple):
    """An element that uses a construct; `scope` is `None` outside processes.

    `reason`: why this use is illegal, in place of the target's reason for all uses (a derived
    construct may be more specific). `subject`: its name in messages if it is only a part of the
    element (`the time of `Wait``).
    """

    construct: str
    element: Element
    scope: Scope | None = None
    reason: str = ""
    subject: str = ""


def is_several(quantity: str) -> bool:
    """Whether a start or completion quantity is more than one. Anything other than a number of at
    least 1 is invalid (BPMN 2.0.2, table 10.3) and counts as 1, the default."""
    text = quantity.strip()
    return text.isascii() and text.isdigit() and text.lstrip("0") not in ("", "1")


def _has_quantity(node: Element) -> bool:
    return any(
        key.endswith(("}startQuantity", "}completionQuantity")) and is_several(value)
        for key, value in node.extra
    )


def plain_constructs(
    model: Model, select: Callable[[str], object] = lambda construct: True
) -> Iterator[ConstructUse]:
    """The constructs that elements state themselves, in model order; only those for whose name
    `select` returns something true."""
    nodes: set[str] = set()
    for scope in model.scopes():
        for node in scope.nodes:
            nodes.add(node.id)
            for construct in _node_constructs(node):
                if select(construct):
                    yield ConstructUse(construct, node, scope)
        for construct, element in _list_scope_parts(scope):
            if select(construct):
                yield ConstructUse(construct, element, scope)
    for construct, element in _list_model_parts(model, nodes):
        if select(construct):
            yield ConstructUse(construct, element)


def _list_scope_parts(scope: Scope) -> Iterator[tuple[str, Element]]:
    """All but the nodes."""
    for flow in scope.flows:
        yield flow.construct, flow
    for lane in scope.lanes:
        yield "lane", lane
    for data in scope.data_objects:
        yield "data.object", data
    for link in scope.data_flows:
        yield "data.flow", link
    for artifact in scope.artifacts:
        yield "artifact", artifact


def _list_model_parts(model: Model, nodes: set[str]) -> Iterator[tuple[str, Element]]:
    filled = {p.id for p in model.processes if p.nodes}
    boxes = {p.id for p in model.pools if p.process not in filled}
    for pool in model.pools:
        yield "pool.black-box" if pool.id in boxes else "pool", pool
    known = {*nodes, *(pool.id for pool in model.pools)} if model.message_flows else nodes
    for message in model.message_flows:
        ends = (message.source, message.target)
        outside = any(end in boxes or end not in known for end in ends)
        yield "flow.message.black-box" if outside else "flow.message", message
    for artifact in model.artifacts:
        yield "artifact", artifact
    for opaque in model.opaque:
        yield opaque.construct, opaque


def _node_constructs(node: Node) -> list[str]:
    constructs = [node.construct]
    match node:
        case Task() | CallActivity() | SubProcess():
            if node.loop is not None:
                constructs.append(node.loop.construct)
            if node.for_compensation:
                constructs.append("activity.compensation")
            if node.extra and _has_quantity(node):
                constructs.append("activity.quantity")
        case Gateway():
            if node.gateway_kind == "event" and node.instantiate:
                constructs[0] += ".instantiating"
        case Event() | Opaque():
            pass
        case _:
            assert_never(node)
    return constructs
