"""Escalations that leave a called process: it returns those that it threw, and a node after the
call leads to the events on it.

A called workflow runs to its end before its caller continues, so an event on the call occurs when
the call returns. In the token game, this is one of the possible orders, since the throwing process
does not wait, and a process that an escalation ends is at its end where it throws.
"""

from __future__ import annotations

from orgflow.backends.n8n.plan.actions import (
    STOPS,
    PassOn,
    Placeholder,
    ReadEscalations,
    ReturnThrown,
    Thrown,
)
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey, Port, exit_key
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.flow.nets.escalations import (
    LeavingEscalations,
    caught_escalations,
    heard_escalations,
)
from orgflow_ir.model.element_names import join_listed

THROWN = "_escalated"
"""The field of the item that a called workflow returns: ids of the events whose escalation left
it."""


def plan_escalations(plan: ScopePlan) -> None:
    """A node after each call that catches escalations, with an output for each event and one for
    normal completion. Flows are connected afterwards, from the ports that `plan.exits` then
    contains."""
    graph = plan.workflow_graph
    for call, events in caught_escalations(plan.scope.body, plan.scope.model).items():
        several = any(not caught.event.interrupting for caught in events)
        action = ReadEscalations(call, events, several)
        node = graph.nodes[call]
        key = HelperKey(call, "escalated")
        reader = graph.add(
            key, f"Escalation of {node.name}?", action, element=call, role="escalated"
        )
        names = join_listed([f"“{graph.nodes[caught.event.id].name}”" for caught in events])
        reader.notes.append(
            f"{names}: occurs if the workflow that “{node.name}” called has thrown the escalation. "
            f"The workflow returns its thrown escalations in `{THROWN}`."
        )
        graph.connect(Port(exit_key(call, graph)), Port(key))
        for output, caught in enumerate(events):
            graph.connect(Port(key, output), Port(caught.event.id))
        plan.leave_by(call, Port(key, action.completed))


def plan_returns(plan: ScopePlan) -> None:
    """Every end of a called workflow returns the escalations thrown before. All flows are wired."""
    model = plan.scope.model
    heard = heard_escalations(model) if plan.scope.started_by_call else frozenset[str]()
    if not heard:
        return
    by_first: dict[str, list[str]] = {}
    for leaving in LeavingEscalations(model).of(plan.process):
        if leaving.event.id in heard:
            by_first.setdefault(leaving.way[0].node.id, []).append(leaving.event.id)
    if not by_first:
        return
    graph = plan.workflow_graph
    for key in _list_ends(plan):
        node = graph.nodes[key]
        action = node.action
        thrown = tuple(Thrown(id, tuple(events)) for id, events in by_first.items())
        if node.role == "element" and _does_nothing(action):
            here = tuple(escalation._replace(here=escalation.at == key) for escalation in thrown)
            assert isinstance(action, PassOn | Placeholder)
            node.action = action._replace(returns=here)
            returning = node
        else:
            returning = graph.add(
                HelperKey(key, "thrown"),
                f"{node.name} returns",
                ReturnThrown(thrown),
                element=node.element,
                role="thrown",
            )
            graph.connect(Port(key), Port(returning.key))
        returning.notes.append(
            f"Returns in `{THROWN}` which escalations this workflow has thrown: events on the call "
            "read it."
        )


def _does_nothing(action: object) -> bool:
    """Whether a node passes on its items, and may as well set a field."""
    return isinstance(action, PassOn) or (isinstance(action, Placeholder) and not action.decisions)


def _list_ends(plan: ScopePlan) -> list[NodeKey]:
    """Nodes that lead to nothing, but for those that stop the run."""
    graph = plan.workflow_graph
    leading = {source.node for source, _ in graph.wires}
    return [
        key
        for key, node in graph.nodes.items()
        if key not in leading and not isinstance(node.action, STOPS) and node.role != "trigger"
    ]
