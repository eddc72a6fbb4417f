"""Outputs of decisions in the vertical order of their targets, so that connections do not cross."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow.backends.n8n.plan.actions import Decide, renumber_ports
from orgflow.backends.n8n.plan.graph import NodeKey, Port
from orgflow.backends.n8n.plan.scope_plan import ScopePlan


def order_outputs(plan: ScopePlan, positions: Mapping[NodeKey, tuple[int, int]]) -> None:
    """Sort the outputs of each decision by values, which are all different.

    The fallback stays the last output, as n8n requires. The variable nodes refer to outputs by
    number, and refer to the same ones afterwards.
    """
    graph = plan.workflow_graph
    targets: dict[Port, list[NodeKey]] = {}
    for source, target in graph.wires:
        targets.setdefault(source, []).append(target.node)
    moved: dict[Port, Port] = {}
    for gateway in plan.decisions:
        action = graph.nodes[gateway].action
        if not isinstance(action, Decide) or action.unset or action.rules < 2:
            continue
        if any(branch.kind != "value" for branch in action.branches):
            continue  # of conditions, the first that holds counts
        at_x = positions[gateway][0]

        def height(number: int, gateway: str = gateway, at_x: int = at_x) -> tuple[bool, int]:
            ends = targets.get(Port(gateway, number), ())
            ahead = [positions[end][1] for end in ends if positions[end][0] > at_x]
            return not ahead, min(ahead, default=0)  # a wire back leaves below all others

        order = sorted(range(action.rules), key=height)
        if order != list(range(action.rules)):
            branches = tuple(action.branches[old] for old in order)
            graph.nodes[gateway].action = action._replace(branches=branches)
            moved |= {Port(gateway, old): Port(gateway, new) for new, old in enumerate(order)}
    if moved:
        _move_ports(plan, moved)


def _move_ports(plan: ScopePlan, moved: dict[Port, Port]) -> None:
    """Renumber outputs in connections, and where nodes read them."""
    graph, carried = plan.workflow_graph, plan.carried
    graph.reroute(moved)
    plan.exits.update((f, moved[p]) for f, p in plan.exits.items() if p in moved)
    if carried is not None:
        carried.before = {key: moved.get(port, port) for key, port in carried.before.items()}
        for node in graph.nodes.values():
            node.action = renumber_ports(node.action, moved)
