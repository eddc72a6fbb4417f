"""Deciding gateways: their nodes, the outputs of their branches, and a stop where none matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow.backends.n8n.plan import notes
from orgflow.backends.n8n.plan.actions import (
    Decide,
    DecideAny,
    DecideBranch,
    SetDecision,
    StopUnmatched,
    WaitForCall,
    WebhookStart,
)
from orgflow.backends.n8n.plan.graph import HelperKey, Port, decide_key
from orgflow.backends.n8n.plan.known_types import known_types
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.model import Event
from orgflow_ir.program.syntax import Call
from orgflow_ir.work.gateway_decisions import Branch, Decision, preceding_words

if TYPE_CHECKING:
    from orgflow.backends.n8n.plan.inclusive_joins import InclusiveJoin

    from orgflow_ir.program.demands import Demand
    from orgflow_ir.program.evaluation_guards import Guards, Need


def plan_decision_node(decision: Decision, plan: ScopePlan) -> None:
    """The node of a deciding gateway, in the order of elements, and before it that in which a
    person decides. `plan_decisions` completes it."""
    graph, gateway = plan.workflow_graph, decision.gateway
    name = gateway.name
    if not name:
        before = preceding_words(gateway.id, plan.graph)
        name = f"Choice after {before}" if before else "Choice"
    action = Decide(decision, (), unset=False)
    node = graph.add(gateway.id, name, action, element=gateway.id)
    node.notes += notes.note_deciding_gateway(
        decision, plan.defaults, asked=decision.setter in plan.forms
    )
    if decision.values and decision.setter == gateway.id:
        key = decide_key(gateway.id)
        setter = graph.add(
            key, f"Decide: {name}", SetDecision(decision), element=gateway.id, role="decide"
        )
        setter.notes += notes.note_setter(decision)
        graph.connect(Port(key), Port(gateway.id))
        plan.enter_by(gateway.id, key)


def plan_decisions(plan: ScopePlan) -> None:
    """Give the branches of every deciding gateway their outputs."""
    bypasses = {join.split: join for join in plan.joins.values() if join.kind == "bypass"}
    for decision in plan.decisions.values():
        if plan.segments is not None and decision.several:
            continue  # its branches are rows
        join = bypasses.get(decision.gateway.id)
        if decision.several and join is not None:
            _Bypass(decision, plan, join).plan()
        else:
            _plan_branches(decision, plan)


def _plan_branches(decision: Decision, plan: ScopePlan) -> None:
    node = plan.workflow_graph.nodes[decision.gateway.id]
    chosen = tuple(b for b in decision.branches if b.kind != "default")
    default = decision.default
    unset = may_be_unset(decision, plan)
    action = node.action = Decide(decision, chosen, unset)
    for index, branch in enumerate(chosen, action.first):
        plan.exits[branch.flow.id] = Port(node.key, index)
    rest = Port(node.key, action.rules)
    if default is not None:
        plan.exits[default.flow.id] = rest
    stops = [Port(node.key, 0)] if unset else []
    add_stop(decision, plan, stops if default is not None else [*stops, rest])


def may_be_unset(decision: Decision, plan: ScopePlan) -> bool:
    """Whether the conditions read a variable that nobody may have set, or one whose type may not be
    valid there; not if they test for that themselves, or read none."""
    if not decision.coded:
        return False
    return bool(
        list_demands(decision, plan)
        or list_asked_methods(decision)
        or any(need.names for need in list_required(decision))
    )


def list_required(decision: Decision) -> tuple[Need, ...]:
    """Variables that the conditions need to be set."""
    from orgflow_ir.program.evaluation_guards import list_needs, null_tested

    trees = [b.tree for b in decision.branches if b.tree is not None]
    return list_needs(trees, null_tested(trees), in_turn=not decision.several)


def list_asked_methods(decision: Decision) -> tuple[tuple[Guards, Call], ...]:
    """Methods that the conditions call on variables: an engine ends with an error if a variable
    does not have the method."""
    from orgflow_ir.program.evaluation_guards import list_method_calls

    trees = [b.tree for b in decision.branches if b.tree is not None]
    return list_method_calls(trees, in_turn=not decision.several)


def list_demands(decision: Decision, plan: ScopePlan) -> tuple[Demand, ...]:
    """Types that the operands of the conditions must have."""
    from orgflow_ir.program.demands import demands

    trees = [b.tree for b in decision.branches if b.tree is not None]
    types = known_types(decision.gateway.id, plan)
    return demands(trees, types, in_turn=not decision.several)


def is_bypassed(decision: Decision, plan: ScopePlan) -> bool:
    """Whether the join of an inclusive split gets an input for every branch."""
    joins = plan.joins.values()
    return any(j.split == decision.gateway.id and j.kind == "bypass" for j in joins)


def reads_body(source: str, plan: ScopePlan) -> bool:
    """Whether the item of `source` has the posted data under `body`, as passed on by a Webhook and
    a Wait for a call."""
    node = plan.graph.nodes.get(source)
    if source in plan.received:
        action = plan.workflow_graph.nodes[source].action
        return isinstance(action, WaitForCall)
    started = isinstance(node, Event) and plan.workflow_graph.nodes[source].action
    return isinstance(started, WebhookStart)


def add_stop(decision: Decision, plan: ScopePlan, ports: list[Port]) -> None:
    """Connect ports with a node that stops the run where no branch matches, if there are any."""
    if not ports:
        return
    graph = plan.workflow_graph
    node = graph.nodes[decision.gateway.id]
    key = HelperKey(node.key, "stop")
    graph.add(
        key,
        f"Stop: {node.name}",
        StopUnmatched(decision),
        element=decision.gateway.id,
        role="stop",
    )
    for port in ports:
        graph.connect(port, Port(key))


class _Bypass:
    """An inclusive split whose join shares a cycle with another Merge: every input of the join is
    always delivered, by the branch or by a wire around it (N8N.md, "Inclusive in a loop")."""

    def __init__(self, decision: Decision, plan: ScopePlan, join: InclusiveJoin) -> None:
        self.decision, self.of = decision, plan
        self.join, self.inputs = join.gateway, join.inputs

    def plan(self) -> None:
        """Add a node for each branch, and the wires around."""
        decision, plan = self.decision, self.of
        graph = plan.workflow_graph
        node = graph.nodes[decision.gateway.id]
        unset = may_be_unset(decision, plan)
        node.action = DecideAny(decision, unset)
        chosen = [b for b in decision.branches if b.kind != "default"]
        first = 1 if unset else 0
        yes, no = Port(node.key, first), Port(node.key, first + 1)
        for index, branch in enumerate(chosen):
            key = HelperKey(node.key, "branch", index)
            graph.add(
                key,
                f"{branch.value}?",
                DecideBranch(decision, branch),
                element=decision.gateway.id,
                role="branch",
            )
            graph.connect(yes, Port(key))
            plan.exits[branch.flow.id] = Port(key, 0)
            self._go_around(Port(key, 1), branch)
        default = decision.default
        stops = [Port(node.key, 0)] if unset else []
        if default is None:
            add_stop(decision, plan, [*stops, no])
            return
        add_stop(decision, plan, stops)
        plan.exits[default.flow.id] = no
        self._go_around(yes, default)
        for branch in chosen:
            self._go_around(no, branch)

    def _go_around(self, port: Port, branch: Branch) -> None:
        target = self.inputs.get(branch.flow.id)
        if target is not None:
            self.of.workflow_graph.connect(port, self.of.entry[(self.join, target)])
