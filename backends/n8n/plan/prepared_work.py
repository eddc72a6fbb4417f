"""Nodes that compute the input of a step, and what becomes of its output."""

from __future__ import annotations

from orgflow.backends.n8n.plan.actions import Action
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey, Port
from orgflow.backends.n8n.plan.scope_plan import ScopePlan


def add_preparation(
    plan: ScopePlan,
    element: str,
    name: str,
    action: Action,
    notes: list[str],
) -> NodeKey:
    """A node in front of an element that computes what it is given. Flows lead to it; it is not
    connected with the node of the element."""
    key = HelperKey(element, "inputs")
    plan.workflow_graph.add(key, name, action, element=element, role="inputs", notes=notes)
    plan.enter_by(element, key)
    return key


def add_conclusion(plan: ScopePlan, element: str, action: Action, notes: list[str]) -> HelperKey:
    """A node behind that of an element that makes variables of its output."""
    graph = plan.workflow_graph
    key = HelperKey(element, "outputs")
    name = f"{graph.nodes[element].name} outputs"
    graph.add(key, name, action, element=element, role="outputs", notes=notes)
    graph.connect(Port(element), Port(key))
    plan.leave_by(element, Port(key))
    return key
