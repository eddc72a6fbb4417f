"""Process variables in a state machine: one object, `$.vars`, initially the execution's input.

After each step whose result may contain a variable that a later state reads, the value is copied
there; conditions read `$.vars.approved`. A branch of a Parallel state works on a copy of the token,
so it also records its variables in `$.branch.vars`, from which the join takes them; two branches
that set one variable differently fail the execution.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from orgflow.backends.asl import choice
from orgflow.backends.asl.choice import Place, Rule
from orgflow.backends.asl.collections import collection_of, is_multi_instance
from orgflow.backends.asl.names import path_of
from orgflow.backends.asl.plan import Fork, Jump, Machine
from orgflow.backends.asl.times import variable_path

from orgflow_ir.flow.control_flow.graph import list_reachable
from orgflow_ir.model import Event, Gateway, Node, SubProcess, Task
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program import requirements
from orgflow_ir.program.syntax import Empty, Variable
from orgflow_ir.work.gateway_decisions import Decision

if TYPE_CHECKING:
    from orgflow.backends.asl.graph import ProcessGraph, ScopeGraph

    from orgflow_ir.program.evaluation_guards import Guards
    from orgflow_ir.program.syntax import Tree

INPUT = "$.input"
"""The place of the execution's input in a machine without variables."""

VARS = "$.vars"
"""The place of variables, including the execution's input."""

BRANCH_VARS = "$.branch.vars"
"""The place where a branch records its variables; with a number in nested forks."""

NEVER_SET = "VariableNeverSet"
"""The error of an execution that reads an unset variable."""

NO_TRUTH = "NoTruthValue"
"""The error of an execution that reads another value as a truth value."""

NOT_TOLD = "ContentNotTold"
"""The error of an execution in which a condition tests emptiness that a Choice state cannot
determine."""

CONFLICT = "ParallelValues"
"""The error of an execution in which parallel branches set one variable differently."""

Names = frozenset[str]


class Kept(NamedTuple):
    """The place where the states of a branch record their variables, and the variables read after
    its join."""

    store: str
    names: Names


NOWHERE = Kept("", frozenset())
"""Outside of branches."""


class ProcessVariables:
    """Variables that states of a process read, and the places where they are still needed.

    Attributes:
        names: all passed variables, in the order of their readers; empty without any.
    """

    def __init__(self, graph: ProcessGraph) -> None:
        self.graph = graph
        self._parents = {
            node.id: scope
            for scope in graph.scopes.values()
            for node in scope.scope.nodes
            if isinstance(node, SubProcess) and node.id in graph.scopes
        }
        self._reads = {s: _collect_reads(scope, graph) for s, scope in graph.scopes.items()}
        conditions = (p[0] for d in graph.decisions.values() for p in d.coded)
        others = (n for reads in self._reads.values() for names in reads.values() for n in names)
        self.names = tuple(dict.fromkeys((*conditions, *others)))
        self._ahead: dict[str, dict[str, frozenset[str]]] = {}
        self._behind_scope: dict[str, Names] = {}
        if self.names and not graph.coded and not any(self._set_anywhere()):
            self.names = ()  # all is read from the input, and nothing overwrites it

    @property
    def root(self) -> str:
        """The place of the execution's input."""
        return VARS if self.names else INPUT

    @property
    def errors(self) -> tuple[str, ...]:
        """Errors with which a choice that reads variables may fail an execution."""
        asks = any(self.untold(decision) for decision in self.graph.decisions.values())
        reads = any(self.no_truth(decision) for decision in self.graph.decisions.values())
        errors = (*((NOT_TOLD,) if asks else ()), *((NO_TRUTH,) if reads else ()))
        return (NEVER_SET, *errors, CONFLICT)

    def _set_anywhere(self) -> Iterator[str]:
        for scope in self.graph.scopes.values():
            for node in scope.scope.nodes:
                yield from self.set_by(node.id, scope)

    # -- what is read where --------------------------------------------------------------------

    def _inner_reads(self, scope: str) -> Names:
        """What a scope reads, with all inside it."""
        read = {n for names in self._reads[scope].values() for n in names}
        for inner, parent in self._parents.items():
            if parent.scope.id == scope:
                read |= self._inner_reads(inner)
        return frozenset(read)

    def ahead(self, scope: ScopeGraph) -> Mapping[str, frozenset[str]]:
        """For each variable, the nodes at or after which the scope reads it."""
        id = scope.scope.id
        if id not in self._ahead:
            graph = scope.graph
            ends: dict[str, list[str]] = {name: [] for name in self.names}
            for node, names in self._reads[id].items():
                for name in names:
                    ends[name].append(node)
            for inner, parent in self._parents.items():
                if parent is scope:
                    for name in self._inner_reads(inner):
                        ends[name].append(inner)
            into = {n: [a.source for a in arcs] for n, arcs in graph.into.items()}
            self._ahead[id] = {name: list_reachable(nodes, into) for name, nodes in ends.items()}
        return self._ahead[id]

    def _after_scope(self, scope: ScopeGraph) -> Names:
        """What is read behind a sub-process once it is over; nothing that a repeated one sets."""
        id = scope.scope.id
        if id not in self._behind_scope:
            parent = self._parents.get(id)
            over = parent is None or is_multi_instance(parent.graph.nodes[id])
            behind = self.read_behind(id, parent) if parent is not None and not over else []
            self._behind_scope[id] = frozenset(behind)
        return self._behind_scope[id]

    def read_at(self, nodes: Iterable[str], scope: ScopeGraph) -> Names:
        """Variables that are read at nodes, after them, or after the surrounding scope."""
        ahead, targets = self.ahead(scope), list(nodes)
        here = {n for n in self.names if any(t in ahead[n] for t in targets)}
        return frozenset(here | self._after_scope(scope))

    def read_behind(self, node: str, scope: ScopeGraph) -> Names:
        """Variables that may be read after a node."""
        return self.read_at((f.target for f in scope.graph.flows_out(node)), scope)

    # -- what sets them ------------------------------------------------------------------------

    def set_by(self, node: str, scope: ScopeGraph) -> Names:
        """Variables that the result of a node may contain and a later node reads."""
        if not self.names:
            return frozenset()
        work = self.graph.works.get(node)
        if work is not None and work.doer == "state":
            return self.read_behind(node, scope) & work.sets
        if holds_variables(scope.graph.nodes[node]):
            return self.read_behind(node, scope)
        decision = scope.decisions.get(node)
        if decision is not None and decision.setter == node:
            return self.read_at([node], scope)
        return frozenset()

    def setters_of(self, gateway: str) -> frozenset[str]:
        """Tasks that may have set the variables of a gateway's conditions; empty if other elements
        may also have set them."""
        tasks: set[str] = set()
        at, scope = gateway, self.graph.scope_of[gateway]
        while self.graph.decisions[gateway].coded:
            into = {n: [a.source for a in arcs] for n, arcs in scope.graph.into.items()}
            before = list_reachable(into[at], into)
            for node in scope.scope.nodes:
                if node.id in before and not scope.variables.concurrent(node.id, at):
                    tasks.update(self._tasks_in(node))
            if scope.scope.id not in self._parents:
                break
            at, scope = scope.scope.id, self._parents[scope.scope.id]
        return frozenset(tasks)

    def _tasks_in(self, node: Node) -> Iterator[str]:
        """Tasks whose results hold variables, at a node or inside it."""
        if isinstance(node, Task) and holds_variables(node):
            yield node.id
        elif isinstance(node, SubProcess) and not is_multi_instance(node):
            for inner in node.nodes:
                yield from self._tasks_in(inner)

    def set_in(self, machine: Machine, scope: ScopeGraph) -> Names:
        """Variables that the states of a machine may set."""
        names: set[str] = set()
        for inner in machine.machines() if self.names else ():
            for step in inner.steps.values():
                if step.node is None:
                    continue
                node = scope.graph.nodes[step.node]
                if isinstance(node, SubProcess) and not is_multi_instance(node):
                    inside = self.graph.scopes[node.id]
                    names |= self.set_in(inside.plan.machine, inside)
                else:
                    names |= self.set_by(node.id, scope)
        return frozenset(names)

    def joined(self, fork: Fork, machine: Machine, scope: ScopeGraph) -> Names:
        """Variables of a fork's branches that are read after it."""
        return self.read_at(self._targets(fork.after, machine, scope), scope)

    def _targets(self, jump: Jump, machine: Machine, scope: ScopeGraph) -> list[str]:
        if jump.kind == "step":
            step = machine.steps[jump.step]
            if step.node is not None:
                return [step.node]
            return scope.graph.successors.get(step.fork.split, []) if step.fork else []
        return [f.target for f in scope.scope.flows if f.id == jump.flow]

    # -- rules of Choice states ----------------------------------------------------------------

    def rule(self, tree: Tree) -> Rule:
        """The rule that holds if a condition is true."""
        return choice.to_rule(tree, self._places)

    def _places(self, path: tuple[str, ...]) -> list[Place]:
        return [Place(path_of(self.root, path[:1]), path_of(self.root, path))]

    def never_set(self, decision: Decision) -> list[tuple[str, Rule]]:
        """Variables that the conditions of a gateway need, in reading order, each with the rule
        that holds if it is needed and unset."""
        if not decision.coded:
            return []
        from orgflow_ir.program.evaluation_guards import list_needs, null_tested

        trees = [b.tree for b in decision.branches if b.tree is not None]
        missing_rules: list[tuple[str, Rule]] = []
        for need in list_needs(trees, null_tested(trees), in_turn=not decision.several):
            rules = [(self.rule(tree), truth) for tree, truth in need.guards]
            guards = [rule if truth else choice.negate_rule(rule) for rule, truth in rules]
            for name in need.names:
                missing = choice.negate_rule(choice.is_present(path_of(self.root, (name,))))
                missing_rules.append((name, choice.all_of([*guards, missing])))
        return missing_rules

    def untold(self, decision: Decision) -> list[tuple[str, Rule]]:
        """Values whose emptiness the conditions of a gateway test, each with the rule that holds if
        it is tested and a Choice state cannot determine it."""
        trees = [b.tree for b in decision.branches if b.tree is not None]
        tests: dict[str, tuple[str, Rule]] = {}
        for guards, path in _asked_for_content(trees, in_turn=not decision.several):
            rules = [(self.rule(tree), truth) for tree, truth in guards]
            held = [rule if truth else choice.negate_rule(rule) for rule, truth in rules]
            test = choice.all_of([*held, choice.is_untestable(path_of(self.root, path))])
            tests.setdefault(json.dumps(test), (".".join(path), test))
        return list(tests.values())

    def no_truth(self, decision: Decision) -> list[tuple[str, Rule]]:
        """Variables that the conditions of a gateway read as truth values, each with the rule that
        holds if it is read and is another value, where an engine ends with an error."""
        if not decision.coded:
            return []
        from orgflow_ir.program.demands import demands

        trees = [b.tree for b in decision.branches if b.tree is not None]
        tests: dict[str, tuple[str, Rule]] = {}
        for demand in demands(trees, in_turn=not decision.several):
            (operand, *_) = demand.operands
            if demand.requirement not in _TRUTHS or not isinstance(operand, Variable):
                continue
            rules = [(self.rule(tree), truth) for tree, truth in demand.guards]
            held = [rule if truth else choice.negate_rule(rule) for rule, truth in rules]
            path = path_of(self.root, operand.path)
            test = choice.all_of(
                [*held, choice.no_truth(path, texts=demand.requirement is not requirements.BOOLEAN)]
            )
            tests.setdefault(json.dumps(test), (".".join(operand.path), test))
        return list(tests.values())


_TRUTHS = (requirements.FLAG, requirements.TRUTH, requirements.BOOLEAN)
"""Requirements of truth values."""


def _asked_for_content(
    trees: Iterable[Tree], *, in_turn: bool
) -> Iterator[tuple[Guards, tuple[str, ...]]]:
    """Variables of which conditions ask whether they are empty, in the order of an evaluation, each
    with what has to hold for it to be asked."""
    from orgflow_ir.program.evaluation_guards import walk_guarded

    before: Guards = ()
    for tree in trees:
        for guards, node in walk_guarded(tree, before):
            if isinstance(node, Empty) and isinstance(node.operand, Variable):
                yield guards, node.operand.path
        if in_turn:
            before = (*before, (tree, False))


def holds_variables(node: Node) -> bool:
    """Whether the result of an element contains process variables by their names."""
    if isinstance(node, Task):
        return not is_multi_instance(node)
    if isinstance(node, Gateway):
        return node.gateway_kind == "event"
    comes_in = ("message", "signal", "conditional")
    return isinstance(node, Event) and node.position == "catch" and node.trigger in comes_in


def _collect_reads(scope: ScopeGraph, graph: ProcessGraph) -> dict[str, tuple[str, ...]]:
    """Variables that the state of a node reads, by the node."""
    reads: dict[str, list[str]] = {}
    for node, names in _list_reads(scope, graph):
        reads.setdefault(node, []).extend(names)
    return {node: tuple(dict.fromkeys(names)) for node, names in reads.items()}


def _list_reads(scope: ScopeGraph, graph: ProcessGraph) -> Iterator[tuple[str, tuple[str, ...]]]:
    for gateway, decision in scope.decisions.items():
        if decision.coded:
            yield gateway, tuple(dict.fromkeys(path[0] for path in decision.coded))
    for node in scope.scope.nodes:
        if isinstance(node, Task | SubProcess) and node.loop is not None:
            if node.loop.kind == "multi-instance" and (name := collection_of(node.loop)):
                yield node.id, (name,)
        elif isinstance(node, Event) and node.trigger == "timer" and node.position == "catch":
            definition = node.definitions[0]
            path = variable_path(definition)
            if path is not None and definition.timer == "date":
                yield node.id, path[:1]
        if node.id in graph.works:
            yield node.id, graph.read_by(node.id)
