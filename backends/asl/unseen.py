"""Variables that a state machine cannot pass from the task that sets them to the gateway that reads
them: a branch works on a copy, and an error or an iteration drops its copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from orgflow.backends.asl.collections import is_multi_instance
from orgflow.backends.asl.graph import CONVENTIONS
from orgflow.backends.asl.rules import UnseenVariable
from orgflow.backends.asl.variables import holds_variables

from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.model import Event, Model, Node, Process, Scope, SubProcess, Task
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import executable_processes
from orgflow_ir.work.gateway_decisions import Decision, DecisionMemory

if TYPE_CHECKING:
    from orgflow.backends.asl.task_work import TaskWork

MOST_NAMED = 3
"""Maximum number of tasks that a message names."""


class Unseen(NamedTuple):
    """A gateway or task that does not see the variables that tasks set.

    Attributes:
        reader: the gateway whose conditions read them, or the task whose work reads them.
        declared: whether the model states that these tasks set it; otherwise they may.
        reason: their position, in words that follow their names.
    """

    reader: Node
    scope: Scope
    variables: tuple[str, ...]
    setters: tuple[Node, ...]
    declared: bool
    reason: str


def unseen_variables(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`variable.unseen`: gateways that read a variable which a task sets according to the model,
    but which no state machine can pass on."""
    for process in executable_processes(model):
        for lost in list_unseen(process, ctx):
            if lost.declared:
                yield ConstructUse(
                    "variable.unseen",
                    lost.reader,
                    lost.scope,
                    f"it cannot read {_unseen_message(lost, ctx)}",
                )


def report_unseen(process: Process, ctx: PassContext) -> None:
    """OF488 if the model does not state the variables that tasks set, and no gateway sees those
    tasks."""
    for lost in list_unseen(process, ctx):
        if not lost.declared:
            ctx.emit(
                UnseenVariable,
                f"{ctx.name(lost.reader)} does not see {_unseen_message(lost, ctx)}",
                element=lost.reader,
                help=f"set {_list_names(lost)} in a task on every path to the gateway",
            )


def report_unseen_work(process: Process, works: Mapping[str, TaskWork], ctx: PassContext) -> None:
    """OF488 for tasks whose work reads a variable which, according to the model, another task sets
    where no state passes it on."""
    for lost in _Search(process, ctx).list_works(works):
        if lost.declared:
            ctx.emit(
                UnseenVariable,
                f"{ctx.name(lost.reader)} does not see {_unseen_message(lost, ctx)}",
                element=lost.reader,
                help=f"set {_list_names(lost)} in a task on every path to it",
            )


def _unseen_message(lost: Unseen, ctx: PassContext) -> str:
    names = [ctx.name(n) for n in lost.setters]
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} other tasks"]
    sets = "set" if len(lost.setters) > 1 else "sets"
    when = "as" if lost.declared else "if"
    read, them = _list_names(lost), "it" if len(lost.variables) == 1 else "them"
    return f"{read} {when} {join_listed(names)} {sets} {them}: {lost.reason}"


def _list_names(lost: Unseen) -> str:
    return join_listed(f"`{name}`" for name in lost.variables)


def list_unseen(process: Process, ctx: PassContext) -> Iterator[Unseen]:
    """Every gateway and variable of a process, with the tasks whose value it does not see."""
    scopes = [s for s in process.scopes() if s.flows]
    if any(f.condition is not None for s in scopes for f in s.flows):
        yield from _Search(process, ctx).run()


class _Search:
    def __init__(self, process: Process, ctx: PassContext) -> None:
        from orgflow_ir.work.process_variables import Variables

        self.ctx = ctx
        self.scopes = list(process.scopes())
        self.variables: dict[str, Variables] = {}
        self.decisions: dict[str, dict[str, Decision]] = {}
        for scope in self.scopes:
            graph = ctx.analysis(ControlFlow, scope)
            memory = ctx.shared(DecisionMemory)
            self.decisions[scope.id] = memory.decisions(graph, CONVENTIONS)
            self.variables[scope.id] = Variables(graph, self.decisions[scope.id], ctx)
        self.parents = {
            n.id: scope for scope in self.scopes for n in scope.nodes if isinstance(n, SubProcess)
        }
        self.declared: dict[str, set[str]] = {}
        for variables in self.variables.values():
            for name, setters in variables.declared.items():
                self.declared.setdefault(name, set()).update(s.element for s in setters)

    def run(self) -> Iterator[Unseen]:
        for scope in self.scopes:
            for decision in self.decisions[scope.id].values():
                if decision.coded:
                    names = dict.fromkeys(path[0] for path in decision.coded)
                    yield from self._list_unseen(decision.gateway, names, scope)

    def list_works(self, works: Mapping[str, TaskWork]) -> Iterator[Unseen]:
        """Tasks and events with the variables that their work reads and that they do not see."""
        for scope in self.scopes:
            for node in scope.nodes:
                if node.id in works:
                    yield from self._list_unseen(node, works[node.id].reads, scope)

    def _list_unseen(self, reader: Node, names: Iterable[str], scope: Scope) -> Iterator[Unseen]:
        lost: dict[str, tuple[Node, ...]] = {}
        at, around = reader.id, scope
        while True:
            for reason, tasks in self._lost(at, around):
                lost[reason] = (*lost.get(reason, ()), *tasks)
            if around.id not in self.parents:
                break
            at, around = around.id, self.parents[around.id]
        unseen_by: dict[tuple[tuple[Node, ...], bool, str], list[str]] = {}
        for variable in names:
            known = self.declared.get(variable)
            for reason, nodes in lost.items():
                setters = tuple(n for n in nodes if known is None or n.id in known)
                if setters:
                    unseen_by.setdefault((setters, known is not None, reason), []).append(variable)
        for (setters, declared, reason), variables in unseen_by.items():
            yield Unseen(reader, scope, tuple(variables), setters, declared, reason)

    def _lost(self, at: str, scope: Scope) -> Iterator[tuple[str, list[Node]]]:
        """Tasks whose variables do not come to an element of a scope, by the reason."""
        variables = self.variables[scope.id]
        graph = variables.graph
        into = {n: [a.source for a in arcs] for n, arcs in graph.into.items()}
        before = list_reachable(into.get(at, ()), into)
        for node in scope.nodes:
            tasks = list(_list_tasks(node))
            if not tasks:
                continue
            if variables.concurrent(node.id, at):
                yield "branches of a Parallel state do not see each other's variables", tasks
            if node.id not in before:
                continue
            if is_multi_instance(node):
                yield "a Map state passes on results, and no variables of its iterations", tasks
            elif isinstance(node, SubProcess):
                events = (
                    e for e in scope.nodes if isinstance(e, Event) and e.attached_to == node.id
                )
                if any(e.id in before for e in events):
                    yield "an error drops the variables that were set before it", tasks
                elif self._aborts(node):
                    yield (
                        (
                            "a terminate end event drops the variables that parallel branches have "
                            "set"
                        ),
                        tasks,
                    )

    def _aborts(self, node: SubProcess) -> bool:
        ends = (e for e in node.nodes if isinstance(e, Event) and e.trigger == "terminate")
        return any(self.variables[node.id].parallel(e.id) for e in ends)


def _list_tasks(node: Node) -> Iterator[Node]:
    """Elements at or in a node that may set variables."""
    if isinstance(node, SubProcess):
        for inner in node.nodes:
            yield from _list_tasks(inner)
    elif isinstance(node, Task) or holds_variables(node):
        yield node
