"""Behind forms: nodes that lead back to a form that was not answered."""

from __future__ import annotations

from orgflow.backends.n8n.plan.actions import AskAgain
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey, PlanNode, Port
from orgflow.backends.n8n.plan.scope_plan import ScopePlan


def plan_guards(plan: ScopePlan) -> None:
    """Behind the form of each task that needs it a node that leads back to it: the page of another
    form was sent again, or an answer breaks a rule."""
    graph = plan.workflow_graph
    added: dict[NodeKey, PlanNode] = {}
    for task, form in plan.forms.items():
        asking = graph.nodes[task]
        if not form.is_checked or asking.role == "trigger":
            continue
        counter = graph.nodes.get(HelperKey(task, "round"))
        action = AskAgain(form, asking.name, counter.name if counter is not None else "")
        key = HelperKey(task, "guard")
        node = graph.add(key, f"{asking.name} answered?", action, element=task, role="guard")
        node.notes.append(
            f"Asks again if the answer to “{asking.name}” is invalid: the page of another form, or "
            "a value that violates a rule."
        )
        added[task] = node
    if not added:
        return
    graph.reroute({Port(task): Port(node.key) for task, node in added.items()})
    for asking_key, node in added.items():
        graph.connect(Port(asking_key), Port(node.key))
        graph.connect(Port(node.key, 1), Port(asking_key))
    nodes: dict[NodeKey, PlanNode] = {}
    for node_key, node in graph.nodes.items():
        if node.role != "guard":
            nodes[node_key] = node
        if node_key in added:
            nodes[added[node_key].key] = added[node_key]
    graph.nodes = nodes
