"""The layout of a process before its states are written: names, places of results, entries.

Every element with a result has its own place in the token, `$.results.check_stock`; a parallel
branch has one for all of its elements, `$.results.pack_and_bill.branch_1`. So the output of a step
cannot overwrite that of another, and each branch contributes its own place when they join.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, assert_never

from orgflow.backends.asl.choice import check_sayable
from orgflow.backends.asl.collections import is_multi_instance
from orgflow.backends.asl.names import FieldNames, StateNames, field_name
from orgflow.backends.asl.plan import Branch, Fork, Machine, Plan, Step
from orgflow.backends.asl.structure import plan_scope
from orgflow.backends.asl.variables import ProcessVariables

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Model,
    Node,
    Opaque,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.gateway_decisions import (
    Decision,
    DecisionConventions,
    DecisionMemory,
    preceding_words,
    target_words,
)

if TYPE_CHECKING:
    from orgflow.backends.asl.task_work import TaskWork

    from orgflow_ir.work.process_variables import Variables

CONVENTIONS = DecisionConventions(field_name, check=check_sayable)

Path = tuple[str, ...]
"""Field names below `$.results`."""


class StateInfo(NamedTuple):
    """A written state: its element and its role.

    `role`: `element` (its execution is the element's), `decide` (a deciding step before a gateway),
    or an auxiliary state.
    """

    name: str
    element: str
    role: str


@dataclass(eq=False, repr=False)
class ScopeGraph:
    """A process or sub-process: its graph, plan and decisions."""

    scope: Scope
    graph: ControlFlow
    plan: Plan
    decisions: Mapping[str, Decision]
    ctx: PassContext

    @cached_property
    def variables(self) -> Variables:
        """The readers and setters of the variables of the scope."""
        from orgflow_ir.work.process_variables import Variables

        return Variables(self.graph, self.decisions, self.ctx)


@dataclass(eq=False, repr=False)
class ProcessGraph:
    """Names and places of all elements of a process, before states are written.

    `names` are those of states that represent elements, `places` the places of results (by element,
    and by `fork_place` for forks), `skeleton` the empty places of an initial token, `states` the
    element of each state, filled while states are written.
    """

    process: Process
    scopes: dict[str, ScopeGraph] = field(default_factory=dict)
    state_names: StateNames = field(default_factory=StateNames)
    names: dict[str, str] = field(default_factory=dict)
    places: dict[str, Path] = field(default_factory=dict)
    skeleton: dict[str, Any] = field(default_factory=dict)
    states: dict[str, StateInfo] = field(default_factory=dict)

    def take(self, wanted: str, element: str, role: str) -> str:
        """A new state name."""
        name = self.state_names.take(wanted)
        self.states[name] = StateInfo(name, element, role)
        return name

    def set_role(self, name: str, role: str) -> None:
        """Make another state represent the element of this one."""
        self.states[name] = self.states[name]._replace(role=role)

    def path(self, key: str) -> str:
        """The path of a place in the token."""
        return ".".join(("$.results", *self.places[key]))

    @cached_property
    def variables(self) -> ProcessVariables:
        """The variables that are passed from state to state."""
        return ProcessVariables(self)

    @cached_property
    def works(self) -> dict[str, TaskWork]:
        """The work of tasks and events that the model states, by element."""
        stated = [
            node
            for scope in self.scopes.values()
            for node in scope.scope.nodes
            if isinstance(node, Task | Event) and node.binding is not None
        ]
        if not stated:
            return {}
        from orgflow.backends.asl.task_work import plan_works  # of models that state work

        return plan_works(self, stated)

    def read_by(self, element: str) -> tuple[str, ...]:
        """Variables that the work of an element reads: all that the model sets, if a function does
        it, whose code is unknown."""
        work = self.works[element]
        if work.doer != "function":
            return work.reads
        known = (name for other in self.works.values() for name in sorted(other.sets))
        return tuple(dict.fromkeys((*work.reads, *known)))

    @cached_property
    def scope_of(self) -> dict[str, ScopeGraph]:
        """The scope of every element."""
        return {n.id: scope for scope in self.scopes.values() for n in scope.scope.nodes}

    @property
    def handed(self) -> dict[str, str]:
        """The part of the input and the variables that a state passes on, as fields of a
        payload."""
        root = self.variables.root
        return {f"{root.removeprefix('$.')}.$": root}

    @property
    def coded(self) -> bool:
        """Whether any condition reads a variable."""
        return any(d.coded for s in self.scopes.values() for d in s.decisions.values())

    @property
    def decisions(self) -> dict[str, Decision]:
        """The decisions of all scopes by gateway."""
        return {g: d for s in self.scopes.values() for g, d in s.decisions.items()}


def branch_fields(decision: Decision) -> dict[str, str]:
    """For an inclusive decision, the field of each branch that a value stands for, by its flow."""
    names = FieldNames()
    return {
        b.flow.id: names.take(b.value, "branch") for b in decision.branches if b.kind == "value"
    }


def process_graph(model: Model, process: Process, ctx: PassContext) -> ProcessGraph:
    """Plans, decisions, names and places of a process that is legal for the target."""
    del model
    result = ProcessGraph(process)
    for scope in process.scopes():
        graph = ctx.analysis(ControlFlow, scope)
        result.scopes[scope.id] = ScopeGraph(
            scope,
            graph,
            ctx.analysis(plan_scope, graph),
            ctx.shared(DecisionMemory).decisions(graph, CONVENTIONS),
            ctx,
        )
    _StateNames(result).run()
    return result


class _StateNames:
    def __init__(self, result: ProcessGraph) -> None:
        self.s = result

    def run(self) -> None:
        for scope in self.s.scopes.values():
            held = {
                s.node for m in scope.plan.machine.machines() for s in m.steps.values() if s.node
            }
            held |= {f.target for n in held for f in self._raced(n, scope)}
            for node in scope.scope.nodes:
                if node.id in held:
                    self.s.names[node.id] = self.s.take(
                        self._words(node, scope), node.id, "element"
                    )
        process = self.s.scopes[self.s.process.id]
        self._machine(process.plan.machine, process, (), FieldNames(), self.s.skeleton)

    def _raced(self, node: str, scope: ScopeGraph) -> list[Any]:
        gateway = scope.graph.nodes[node]
        race = isinstance(gateway, Gateway) and gateway.gateway_kind == "event"
        return scope.graph.flows_out(node) if race else []

    def _words(self, node: Node, scope: ScopeGraph) -> str:
        """What the state of an element is called: its label, else what it does."""
        label = one_line(node.name)
        if label:
            return label
        match node:
            case Gateway():
                before = preceding_words(node.id, scope.graph)
                kinds = {"parallel": "Parallel work", "event": "Wait"}
                kind = kinds.get(node.gateway_kind, "Choice")
                return f"{kind} after {before}" if before else kind
            case Event():
                kind = {"start": "Start", "end": "End"}.get(node.position, "")
                waits = f"Wait for {node.trigger}" if node.position == "catch" else "Event"
                return kind or waits
            case Task() | CallActivity() | SubProcess() | Opaque():
                return one_line(node.id)
            case _:
                assert_never(node)

    # -- places --------------------------------------------------------------------------------

    def _machine(
        self,
        machine: Machine,
        scope: ScopeGraph,
        prefix: Path,
        fields: FieldNames,
        skeleton: dict[str, Any],
    ) -> None:
        for step in machine.steps.values():
            if step.node is not None:
                self._node(step.node, scope, prefix, fields, skeleton)
            if step.fork is not None:
                self._fork(step, step.fork, scope, prefix, fields, skeleton)

    def _node(
        self,
        node: str,
        scope: ScopeGraph,
        prefix: Path,
        fields: FieldNames,
        skeleton: dict[str, Any],
    ) -> None:
        element = scope.graph.nodes[node]
        decision = scope.decisions.get(node)
        if is_multi_instance(element):
            own = fields.take(element.name, self.s.names[node])
            self.s.places[node] = (*prefix, own, "each")
            skeleton[own] = {"each": {}}
            if isinstance(element, SubProcess):
                inside = self.s.scopes[node]
                self._machine(
                    inside.plan.machine,
                    inside,
                    self.s.places[node],
                    FieldNames(),
                    skeleton[own]["each"],
                )
            return
        if has_result(element) or (decision is not None and decision.setter == node):
            self.s.places[node] = (*prefix, fields.take(element.name, self.s.names[node]))
        if isinstance(element, SubProcess):
            inside = self.s.scopes[node]
            self._machine(inside.plan.machine, inside, prefix, fields, skeleton)

    def _fork(
        self,
        step: Step,
        fork: Fork,
        scope: ScopeGraph,
        prefix: Path,
        fields: FieldNames,
        skeleton: dict[str, Any],
    ) -> None:
        working = branches_of(fork)
        if len(working) < 2:
            for branch in working:
                assert branch.machine is not None
                self._machine(branch.machine, scope, prefix, fields, skeleton)
            return
        words = scope.graph.nodes[fork.split].name if fork.split else ""
        own = fields.take(words, f"parallel_{len(self.s.places) + 1}")
        parts: dict[str, Any] = {}
        for number, branch in enumerate(working, 1):
            assert branch.machine is not None
            part: dict[str, Any] = {}
            before = len(self.s.places)
            self._machine(
                branch.machine, scope, (*prefix, own, f"branch_{number}"), FieldNames(), part
            )
            if len(self.s.places) > before:
                parts[f"branch_{number}"] = part
        if parts:
            self.s.places[fork_place(step)] = (*prefix, own)
            skeleton[own] = parts


def fork_place(step: Step) -> str:
    """The key of a fork's place, since its node may also have one for a decision."""
    return f"{step.key}\x00parallel"


def branches_of(fork: Fork) -> tuple[Branch, ...]:
    """The branches with content."""
    return tuple(b for b in fork.branches if b.machine is not None)


def has_result(node: Node) -> bool:
    """Whether an element has an output that later ones may read."""
    match node:
        case Task():
            return True
        case Gateway():
            return node.gateway_kind == "event"
        case Event():
            carries = node.trigger in ("message", "signal", "conditional")
            return carries and node.position in ("catch", "throw", "end")
        case CallActivity() | SubProcess() | Opaque():
            return False
        case _:
            assert_never(node)


def first_words(graph: ControlFlow, node: str) -> str:
    """The successors of a node, in words; empty without named ones."""
    out = graph.flows_out(node) if node else []
    return target_words(out[0], graph) if out else ""
