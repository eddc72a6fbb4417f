"""The plan of one workflow: its graph of typed nodes, and what the passes found out for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from orgflow.backends.n8n.plan.graph import (
    HelperKey,
    NodeKey,
    PlanGraph,
    PlanNode,
    Port,
    decide_key,
)
from orgflow.backends.n8n.plan.names import field_name, plain
from orgflow.backends.n8n.plan.scopes import WorkflowScope

from orgflow_ir.flow.control_flow.deliveries import Delivery, find_deliveries
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.gaps import Defaults
from orgflow_ir.model import Flow, Process
from orgflow_ir.model.records import dataclass
from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.gateway_decisions import Decision, DecisionConventions

if TYPE_CHECKING:
    from orgflow.backends.n8n.plan.carried import Carried
    from orgflow.backends.n8n.plan.groups import Group
    from orgflow.backends.n8n.plan.inclusive_joins import InclusiveJoin
    from orgflow.backends.n8n.plan.segment_data import SegmentCuts
    from orgflow.backends.n8n.plan.task_form import TaskForm
    from orgflow.backends.n8n.plan.work_names import NamedWork

    from orgflow_ir.work.form_fields import ReadFields
    from orgflow_ir.work.process_variables import Variables
    from orgflow_ir.work.tasks import CallMappings, Work

CONVENTIONS = DecisionConventions(field_name, text=plain)
"""How decision variables and their values are named."""


@dataclass(eq=False, repr=False)
class ScopePlan:
    """The plan of one scope: the graph of its workflow, and the data that its passes share.

    Attributes:
        scope: what it is the plan of.
        graph: the control flow of the scope.
        workflow_graph: the nodes and connections.
        decisions: those of its gateways.
        joins: its inclusive joins.
        ctx: receives the findings, and has the options.
        silent: gateways without a node.
        implicit_flows: flows from a start that the model leaves out.
        entry: the input of a token on a flow, for elements that are entered by flow (joins).
        exits: the output of the tokens on a flow, for elements that are left by flow (decisions).
        forms: the forms of user tasks, by task, and pages that start runs and ask for data: after
            each is the node that converts its answers to variables, if it asks for any.
        received: the receive tasks that wait for a call.
        work: the computations of tasks that the model defines.
        mapped: the mappings of calls that compute.
        named_work: the names that tasks call.
        stubs_called: those of them that replace calls, with their mappings.
        carried: how process variables travel, if a condition reads any or a form asks for some.
        groups: which sub-processes became part of it.
        addresses: the texts for URLs that are taken.
        defaults: what was planned in place of gaps.
        segments: the cuts of a process that waits in several places; `None` for others.
        has_effects: whether it changes something outside of n8n, or calls a workflow that does.
    """

    scope: WorkflowScope
    graph: ControlFlow
    workflow_graph: PlanGraph
    decisions: dict[str, Decision]
    joins: Mapping[str, InclusiveJoin]
    ctx: PassContext
    silent: set[str] = field(default_factory=set)
    implicit_flows: tuple[Flow, ...] = ()
    entry: dict[tuple[str, str], Port] = field(default_factory=dict)
    exits: dict[str, Port] = field(default_factory=dict)
    forms: Mapping[str, TaskForm] = field(default_factory=dict)
    received: frozenset[str] = frozenset()
    work: dict[str, Work] = field(default_factory=dict)
    mapped: dict[str, CallMappings] = field(default_factory=dict)
    named_work: dict[str, NamedWork] = field(default_factory=dict)
    stubs_called: set[str] = field(default_factory=set)
    carried: Carried | None = None
    groups: tuple[Group, ...] = ()
    addresses: set[str] = field(default_factory=set)
    defaults: Defaults = field(default_factory=Defaults)
    has_effects: bool = False
    segments: SegmentCuts | None = None

    @property
    def process(self) -> Process:
        """The process of the scope."""
        return self.scope.process

    @cached_property
    def variables(self) -> Variables:
        """The readers and setters of process variables."""
        from orgflow_ir.work.process_variables import Variables

        return Variables(self.graph, self.decisions, self.ctx)

    @cached_property
    def read_fields(self) -> ReadFields:
        """What gateways read, as fields of forms."""
        from orgflow_ir.work.form_fields import ReadFields

        return ReadFields(self.variables)

    @cached_property
    def decided_by(self) -> Mapping[str, list[Decision]]:
        """The decisions whose variable each element sets."""
        setters: dict[str, list[Decision]] = {}
        for decision in self.decisions.values():
            if decision.values:
                setters.setdefault(decision.setter, []).append(decision)
        return setters

    @cached_property
    def deliveries(self) -> Mapping[str, Delivery]:
        """The messages of the model that begin other processes of it, by their senders."""
        return self.ctx.analysis(find_deliveries, self.scope.model)

    def name_of(self, element: str) -> str:
        """Name of the node that represents an element (its decision node for a gateway that sets
        its own variable); the label of an element that needs no node, such as a gateway."""
        node = self.workflow_graph.nodes.get(self._decide_node(element) or element)
        return node.name if node is not None else self.graph.nodes[element].label

    def _decide_node(self, element: str) -> NodeKey | None:
        """The node in which a person decides for a gateway, if it has one."""
        if element not in self.decisions:
            return None
        own = decide_key(element)
        return own if own in self.workflow_graph.nodes else None

    def outlet(self, element: str) -> NodeKey:
        """The node that outputs the variables of an element: after a form, the one that converts
        its answers."""
        own = self._decide_node(element)
        if own is not None:
            return own
        form = self.forms.get(element)
        return element if form is None or not form.fields else HelperKey(element, "data")

    def with_role(self, *roles: str) -> Iterator[PlanNode]:
        """The nodes with one of some roles, in order."""
        nodes = self.workflow_graph.nodes.values()
        return iter([node for node in nodes if node.role in roles])

    def flows_into(self, element: str) -> tuple[Flow, ...]:
        """The flows to an element, with one from a start that the model leaves out."""
        implicit = (flow for flow in self.implicit_flows if flow.target == element)
        return (*self.graph.flows_in(element), *implicit)

    def enter_by(self, element: str, key: NodeKey) -> None:
        """Lead the flows to an element to a node before it."""
        for flow in self.flows_into(element):
            self.entry[(element, flow.id)] = Port(key)

    def leave_by(self, element: str, port: Port) -> None:
        """Lead the flows from an element from a port behind it."""
        for flow in self.graph.flows_out(element):
            self.exits[flow.id] = port
