"""Features of a scope of the model that the analysis depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from orgflow_ir.flow.nets.net import Body
from orgflow_ir.flow.nets.wiring import Wiring, is_handler
from orgflow_ir.model import CallActivity, Event, Gateway, Opaque, Scope, SubProcess, Task
from orgflow_ir.model import Node as ModelNode


def early_end(scopes: Sequence[Scope]) -> Event | None:
    """The first end event that consumes more than its own token."""
    ends = (n for s in scopes for n in s.nodes if isinstance(n, Event) and n.position == "end")
    return next((e for e in ends if {d.kind for d in e.definitions} & {"terminate", "error"}), None)


def has_shut_flow(scope: Scope, bodies: Mapping[str, Body]) -> bool:
    """Whether an activity has outgoing flows that no run takes: an inclusive join counts them as
    paths (BPMN 2.0.2, 13.4.3)."""
    if any(b.holds or not b.completes for b in bodies.values()):
        return True
    return any(
        (body := bodies.get(n.attached_to or "")) is not None
        and body.fires is not None
        and n.id not in body.fires
        for n in scope.nodes
        if isinstance(n, Event)
    )


def has_inclusive_join(scope: Scope) -> bool:
    """Whether some join waits by the path rule."""
    wide = [
        n.id
        for n in scope.nodes
        if isinstance(n, Gateway) and n.gateway_kind in ("inclusive", "complex")
    ]
    return any(sum(f.target == join for f in scope.flows) > 1 for join in wide)


def is_entangled(scope: SubProcess) -> bool:
    """Whether an element of an ad-hoc sub-process waits for another element of it."""
    into: dict[str, int] = {}
    for flow in scope.flows:
        into[flow.target] = into.get(flow.target, 0) + 1
    return any(n > 1 for n in into.values())


def stands_apart(node: ModelNode, wiring: Wiring) -> bool:
    """Whether a node without incoming flows is expected."""
    match node:
        case Opaque():
            number = wiring.at[node.id]
            return not (wiring.outs[number] or wiring.ins[number])
        case Event():
            if node.position != "boundary":
                return False
            host = wiring.at.get(node.attached_to or "")
            compensates = any(d.kind == "compensation" for d in node.definitions)
            return host is None or is_handler(wiring.nodes[host]) or compensates
        case Task() | CallActivity() | SubProcess() | Gateway():
            return is_handler(node)
        case _:
            assert_never(node)
