"""Outputs of Switch nodes in the vertical order of their targets, so that connections do not
cross."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.emit.emitter import CompiledScope
from orgflow.backends.n8n.emit.graph import NodeKey, Port, Wires, WorkflowGraph
from orgflow.backends.n8n.emit.references import quote_node


def order_outputs(compiled: CompiledScope, positions: Mapping[NodeKey, tuple[int, int]]) -> None:
    """Sort the outputs of each decision by values, which are all different.

    The fallback stays the last output, as n8n requires. The variable nodes refer to outputs by
    number, and refer to the same ones afterwards.
    """
    graph = compiled.workflow_graph
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
        at_x = positions[gateway][0]

        def height(number: int, gateway: str = gateway, at_x: int = at_x) -> tuple[bool, int]:
            ends = targets.get(Port(gateway, number), ())
            ahead = [positions[end][1] for end in ends if positions[end][0] > at_x]
            return not ahead, min(ahead, default=0)  # a wire back leaves below all others

        order = sorted(range(len(rules)), key=height)
        if order != list(range(len(rules))):
            node.parameters["rules"]["values"] = [rules[old] for old in order]
            moved |= {Port(gateway, old): Port(gateway, new) for new, old in enumerate(order)}
            if compiled.carried is not None:
                _read_again(graph, node.name, order)
    if moved:
        graph.wires = Wires({(moved.get(a, a), b): flow for (a, b), flow in graph.wires.items()})
        compiled.exits.update((f, moved[p]) for f, p in compiled.exits.items() if p in moved)


def _read_again(graph: WorkflowGraph, name: str, order: Sequence[int]) -> None:
    """Write the new number of each output of a node where another node reads it."""
    start = f"$({quote_node(name)}).first("
    read = re.compile(re.escape(start) + r"(\d+)\)")

    def renumbered(found: re.Match[str]) -> str:
        old = int(found[1])
        return f"{start}{order.index(old) if old in order else old})"

    def written(value: Any) -> Any:
        if isinstance(value, str):
            return read.sub(renumbered, value) if start in value else value
        if isinstance(value, dict):
            return {key: written(inner) for key, inner in value.items()}
        return [written(inner) for inner in value] if isinstance(value, list) else value

    for node in graph.nodes.values():
        node.parameters = written(node.parameters)
