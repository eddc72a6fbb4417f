"""The required start data of a process: the fields that its readers need, and nodes that check a
call for them."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.backends.n8n.plan.actions import (
    AcceptCall,
    Action,
    CheckCall,
    FieldType,
    PayloadField,
    RefuseCall,
    WebhookStart,
)
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey, Port
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.start_data import Always

from orgflow_ir.work.condition_types import typed_variables
from orgflow_ir.work.process_variables import Read

FIELD_WORDS: dict[FieldType, str] = {
    "number": "a number", "boolean": "true or false", "object": "an object", "list": "a list",
    "any": "given",
}  # fmt: skip
"""The requirement of a field, in words."""


def payload_fields(plan: ScopePlan, start: str) -> tuple[PayloadField, ...]:
    """The fields that only a start sets and that are read."""
    fields: dict[str, PayloadField] = {}
    always = Always(plan, start)
    trees = [b.tree for d in plan.decisions.values() for b in d.branches if b.tree is not None]
    types = {field.variable: field.type for field in typed_variables(trees)}
    # Tasks that do what the model says set what it says; of others nobody knows.
    does = (e for e, work in plan.work.items() if work.steps is not None or work.act)
    known = {(element, "unknown") for element in does}
    for read in _list_reads(plan):
        setters = {(s.element, s.by) for s in plan.variables.setters(read)} - known
        if (start, "form") in setters:  # the fields of its form are what it is started with
            setters = setters - {(start, "form")} | {(start, "payload")}
        if setters != {(start, "payload")}:
            continue
        name, required = read.variable, not read.tested and always.passes(read.element)
        kind = _FIELD_TYPES.get(types.get(name), "object" if len(read.path) > 1 else "any")
        other = fields.get(name)
        if other is not None:
            kind = kind if other.type == "any" else other.type
            required = required or other.required
        fields[name] = PayloadField(name, kind, required)
    fields.update((field.name, field) for field in _list_decided_fields(plan, start, always))
    return tuple(fields.values())


def _list_decided_fields(plan: ScopePlan, start: str, always: Always) -> Iterator[PayloadField]:
    """The fields that decide at gateways which take no other value."""
    for decision in plan.decided_by.get(start, ()):
        if decision.default is None:
            required = always.passes(decision.gateway.id)
            kind: FieldType = "list" if decision.several else "any"
            values = () if decision.several else tuple(decision.values)
            yield PayloadField(decision.variable, kind, required, values)


_FIELD_TYPES: dict[str | None, FieldType] = {
    "number": "number", "whole": "number", "boolean": "boolean",
}  # fmt: skip
"""The type of a field by that which conditions imply."""


def _list_reads(plan: ScopePlan) -> Iterator[Read]:
    """What conditions and the work of tasks read."""
    yield from (read for read in plan.variables.reads if read.by == "condition")
    for element, work in plan.work.items():
        for needed in work.reads():
            yield Read(element, needed.path, "mapping", needed.tested)


def plan_call_checks(plan: ScopePlan) -> None:
    """Insert the answer to incomplete calls after each webhook that starts a run."""
    for key, node in list(plan.workflow_graph.nodes.items()):
        if isinstance(node.action, WebhookStart):
            _plan_call_check(key, node.action, plan)


def _plan_call_check(start: NodeKey, webhook: WebhookStart, plan: ScopePlan) -> None:
    """Insert the nodes of one webhook; none if the process needs no data."""
    fields = payload_fields(plan, str(start))
    if not fields:
        return
    graph = plan.workflow_graph
    trigger = graph.nodes[start]
    trigger.action = webhook._replace(checked=True)
    check, accept, refuse = (HelperKey(start, "check", number) for number in range(3))
    graph.add(
        check,
        f"{trigger.name}: complete?",
        CheckCall(fields),
        element=trigger.element,
        role="check",
        notes=[f"A call must contain {', '.join(map(_describe_field, fields))}."],
    )
    answers: tuple[tuple[HelperKey, str, Action], ...] = (
        (accept, "accepted", AcceptCall()), (refuse, "refused", RefuseCall(fields)),
    )  # fmt: skip
    for key, word, action in answers:
        name = f"{trigger.name}: {word}"
        graph.add(key, name, action, element=trigger.element, role="check")
    graph.reroute({Port(start): Port(accept)})
    graph.connect(Port(start), Port(check))
    graph.connect(Port(check), Port(accept))
    graph.connect(Port(check, 1), Port(refuse))


def _describe_field(field: PayloadField) -> str:
    words = " | ".join(field.values) if field.values else FIELD_WORDS[field.type]
    optional = "" if field.required else ", if present"
    kind = "" if words == "given" and not optional else f" ({words}{optional})"
    return f"{plain(field.name)}{kind}"
