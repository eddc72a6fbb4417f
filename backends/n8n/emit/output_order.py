"""Outputs of Switch nodes in the order in which their targets stand, so that wires do not cross."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow.backends.n8n.emit.emitter import CompiledScope
from orgflow.backends.n8n.emit.graph import NodeKey, Port
from orgflow.backends.n8n.emit.references import quote_node


def order_outputs(compiled: CompiledScope, positions: Mapping[NodeKey, tuple[int, int]]) -> None:
    """Sort the outputs of each decision by values, of which no two are equal.

    The fallback stays the last output, as n8n has it. What keeps process variables may read outputs
    by number; the nodes that it reads from are left as they are.
    """
    graph = compiled.workflow_graph
    keeping = ""
    if compiled.carried is not None:
        kept = (n.parameters for n in graph.nodes.values() if n.role in ("data", "latest"))
        keeping = "\n".join(str(p.get("jsonOutput") or p.get("jsCode")) for p in kept)
    targets: dict[Port, list[NodeKey]] = {}
    for source, target in graph.wires:
        targets.setdefault(source, []).append(target.node)
    moved: dict[Port, Port] = {}
    for gateway, decision in compiled.decisions.items():
        node = graph.nodes[gateway]
        chosen = [branch for branch in decision.branches if branch.kind != "default"]
        if node.type != "switch" or any(branch.kind != "value" for branch in chosen):
            continue  # of conditions, the first that holds counts
        rules = node.parameters["rules"]["values"]
        if len(rules) != len(chosen):
            continue  # each branch has an If of its own
        if keeping and quote_node(node.name) in keeping:
            continue
        at_x = positions[gateway][0]

        def height(number: int, gateway: str = gateway, at_x: int = at_x) -> tuple[bool, int]:
            ends = targets.get(Port(gateway, number), ())
            ahead = [positions[end][1] for end in ends if positions[end][0] > at_x]
            return not ahead, min(ahead, default=0)  # a wire back leaves below all others

        order = sorted(range(len(rules)), key=height)
        if order != list(range(len(rules))):
            node.parameters["rules"]["values"] = [rules[old] for old in order]
            moved |= {Port(gateway, old): Port(gateway, new) for new, old in enumerate(order)}
    if moved:
        graph.wires = {(moved.get(a, a), b): flow for (a, b), flow in graph.wires.items()}
        compiled.exits.update((f, moved[p]) for f, p in compiled.exits.items() if p in moved)
