"""Escalations as n8n nodes: the code that returns them, and the rules that read them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.node_types import if_, set_, switch
from orgflow.backends.n8n.node_types.conditions import is_true, make_expression
from orgflow.backends.n8n.plan.actions import ReadEscalations, Thrown
from orgflow.backends.n8n.plan.escalations import THROWN
from orgflow.backends.n8n.plan.graph import NodeKey
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.references import quote_node
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.flow.nets.escalations import CaughtEscalation


def print_read_escalations(action: ReadEscalations, key: NodeKey, plan: ScopePlan) -> Printed:
    """The node after a call: a rule for each event, and one for completion if several may hold."""
    nodes = plan.workflow_graph.nodes
    call = nodes[action.call].name
    rules = [
        (
            is_true(_threw_code(call, [caught]), f"{key}/{caught.event.id}"),
            plain(nodes[caught.event.id].name),
        )
        for caught in action.events
    ]
    if action.several:
        ending = [caught for caught in action.events if caught.event.interrupting]
        goes_on = f"!{_threw_code(call, ending)}" if ending else "true"
        rules.append((is_true(goes_on, f"{key}/completed"), "completed"))
    if len(rules) == 1:
        return Printed("if", if_.test_parameters(rules[0][0]))
    fallback = None if action.several else "completed"
    return Printed("switch", switch.by_rules(rules, fallback=fallback, every=action.several))


def print_thrown(thrown: Iterable[Thrown], seed: str, plan: ScopePlan) -> Printed:
    """The node that returns escalations."""
    code = make_expression(
        f"[{', '.join(_thrown_code(escalation, plan) for escalation in thrown)}]"
    )
    return Printed("set", set_.assign_parameters([(THROWN, code, "array")], seed))


def _threw_code(call: str, events: Iterable[CaughtEscalation]) -> str:
    """JavaScript: whether a call returned that something was thrown that one of the events
    catches."""
    ids = list(dict.fromkeys(event.event.id for caught in events for event in caught.leaving))
    returned = f"($({quote_node(call)}).first().json.{THROWN} ?? [])"
    return f"{returned}.some((one) => {json.dumps(ids)}.includes(one))"


def _thrown_code(thrown: Thrown, plan: ScopePlan) -> str:
    """JavaScript for what an event, or a call, has thrown by now."""
    ids = json.dumps(list(thrown.events))
    if thrown.here:
        return f"...{ids}"
    node = quote_node(plan.workflow_graph.nodes[thrown.at].name)
    value = ids
    if thrown.events != (thrown.at,):
        value = f"($({node}).first().json.{THROWN} ?? []).filter((one) => {ids}.includes(one))"
    return f"...($({node}).isExecuted ? {value} : [])"
