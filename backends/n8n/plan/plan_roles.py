"""The roles of the nodes of a plan: what they stand for in the model, decide, set and stop.

A verifier compares an edited workflow with these. The verifier reads the rest from the edited
workflow: which nodes are disabled, and which no longer decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from orgflow.backends.n8n.plan.actions import (
    Action,
    AskAgain,
    CheckCall,
    KeepAnswers,
    KeepJoined,
    KeepLatest,
    KeepVariables,
    ReadEscalations,
    StopBefore,
    StopUncaught,
)
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey, PlanNode, decide_key
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.flow.token_game.stub_data import decided_by
from orgflow_ir.legalisation.stubs import is_guard
from orgflow_ir.model import Event, Gateway, Node, Opaque
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.work.gateway_decisions import Decision
from orgflow_ir.work.statements import assigned
from orgflow_ir.work.tasks import Work


class PlanRoles(NamedTuple):
    """The purposes of the nodes of a plan.

    Attributes:
        steps: the task or event of the source for each node that represents one.
        deciders: gateways by the element of the source whose step decides them.
        branches: gateway → flows of its branches in order, and its default, if any.
        coded: gateways that read unmodelled data: free at every visit.
        setters: node → gateways whose decision it sets each time it runs.
        given: gateways whose decision is part of the trigger's data.
        several: gateways that may take several branches.
        failing: nodes with an error output that leads to boundary events.
        uncaught: nodes that stop a run with an error that no event of the model catches.
        stubs: nodes that stop a run before an unsupported element.
        guards: nodes that lead back to the preceding unanswered form.
        checks: nodes that check a call.
        escalations: nodes after calls that evaluate the thrown escalations.
    """

    steps: Mapping[NodeKey, str]
    deciders: Mapping[str, tuple[str, ...]]
    branches: Mapping[str, tuple[tuple[str, ...], str | None]]
    coded: frozenset[str]
    setters: Mapping[NodeKey, tuple[str, ...]]
    given: frozenset[str]
    several: frozenset[str]
    failing: frozenset[NodeKey]
    uncaught: frozenset[NodeKey]
    stubs: frozenset[NodeKey]
    guards: frozenset[NodeKey]
    checks: frozenset[NodeKey]
    escalations: Mapping[NodeKey, ReadEscalations]

    @property
    def owners(self) -> dict[str, str]:
        """Gateway → element of the source whose step decides."""
        return {gateway: owner for owner, some in self.deciders.items() for gateway in some}


def read_roles(plan: ScopePlan, source: Iterable[Node]) -> PlanRoles:
    """The roles of all nodes of a plan; `source` are the nodes of the source process, without what
    lowerings added."""
    nodes = plan.workflow_graph.nodes
    known = {node.id for node in source}
    steps = ((key, _find_step(node, plan, known)) for key, node in nodes.items())
    deciders: dict[str, list[str]] = {}
    setters: dict[NodeKey, list[str]] = {}
    coded, given = set(), set()
    for gateway, decision in plan.decisions.items():
        deciders.setdefault(decided_by(decision), []).append(gateway)
        if decision.coded or not decision.values:
            coded.add(gateway)
        elif (key := find_setter(decision, plan)) is None:
            given.add(gateway)
        else:
            setters.setdefault(key, []).append(gateway)
    return PlanRoles(
        steps={key: step for key, step in steps if step is not None},
        deciders={owner: tuple(gateways) for owner, gateways in deciders.items()},
        branches={g: _list_branches(decision) for g, decision in plan.decisions.items()},
        coded=frozenset(coded),
        setters={key: tuple(gateways) for key, gateways in setters.items()},
        given=frozenset(given),
        several=frozenset(g for g, decision in plan.decisions.items() if decision.several),
        failing=frozenset(key for key, node in nodes.items() if node.fails_over),
        uncaught=frozenset(_keys_of(plan, StopUncaught)),
        stubs=frozenset(_keys_of(plan, StopBefore)),
        guards=frozenset(_keys_of(plan, AskAgain)),
        checks=frozenset(_keys_of(plan, CheckCall)),
        escalations={
            key: node.action
            for key, node in nodes.items()
            if isinstance(node.action, ReadEscalations)
        },
    )


def find_setter(decision: Decision, plan: ScopePlan) -> NodeKey | None:
    """The key of the node that sets a decision; `None` if it is part of the trigger's data."""
    if decision.setter == decision.gateway.id:
        return decide_key(decision.gateway.id)
    nodes = plan.workflow_graph.nodes
    if nodes[decision.setter].role == "trigger":
        return None
    # The answers of a form have other names: the node behind it sets the decision.
    data = HelperKey(decision.setter, "data")
    return data if decision.setter in plan.forms and data in nodes else decision.setter


def list_read_nodes(action: Action, plan: ScopePlan) -> tuple[NodeKey, ...]:
    """The nodes whose output a node that keeps variables reads, without that of its own step."""
    match action:
        case KeepVariables(_, _, source):
            return () if source is None else (source.node,)
        case KeepAnswers(step, _, _, source):
            inputs = HelperKey(step, "inputs")
            work = plan.work.get(str(step))
            begun = inputs in plan.workflow_graph.nodes and work is not None and sets_any(work)
            read = () if source is None else (source.node,)
            return (*read, inputs) if begun else read
        case KeepJoined(_, _, sources):
            return tuple(source.node for source in sources)
        case KeepLatest(_, setters):
            return tuple(HelperKey(key, "data") for _, keys in setters for key in keys)
        case _:
            return ()


def sets_any(work: Work) -> bool:
    """Whether variables are set when a task begins."""
    return any(True for _ in assigned(work.before))


def source_of_stub(node: PlanNode, plan: ScopePlan) -> str:
    """The element of the source that a stop is before."""
    return source_ids(plan.graph.nodes[node.element])[0]


def _find_step(node: PlanNode, plan: ScopePlan, known: set[str]) -> str | None:
    """The task or event of the source that a node represents."""
    if not node.represents:
        return None
    element = plan.graph.nodes.get(node.element)
    match element:
        case None | Gateway():
            return None
        case Event():
            # one that a lowering made stands for no step of the source
            return element.id if element.id in known else None
        case Opaque() if is_guard(element):
            return None
        case _:
            return element.id


def _keys_of(plan: ScopePlan, kind: type) -> Iterator[NodeKey]:
    nodes = plan.workflow_graph.nodes.items()
    return (key for key, node in nodes if isinstance(node.action, kind))


def _list_branches(decision: Decision) -> tuple[tuple[str, ...], str | None]:
    default = decision.default
    flows = tuple(branch.flow.id for branch in decision.branches)
    return flows, default.flow.id if default is not None else None
