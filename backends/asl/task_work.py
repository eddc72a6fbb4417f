"""Plans of the work that a model states for a task: a state computes it, a function is called for
it, or a person is asked.

A script, a mapping, a listener or a decision is computed by a JSONata state if JSONata has exactly
its value; otherwise a function has to do it, and the state that calls the function holds its
contract.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from orgflow.backends.asl.collections import is_multi_instance
from orgflow.backends.asl.jsonata.program_code import print_block, set_names

from orgflow_ir.gaps import has_implementation
from orgflow_ir.model import Event, Gateway, Task
from orgflow_ir.model.bindings import Form
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import ConditionError
from orgflow_ir.work.process_variables import declared_by
from orgflow_ir.work.statements import Decide, Statement, assigned, ends_with_error
from orgflow_ir.work.tasks import Unread, Work, mentioned, only_mapped, read_task_work, work_by

if TYPE_CHECKING:
    from orgflow.backends.asl.graph import ProcessGraph, ScopeGraph

Doer = Literal["state", "function", "person"]
"""Who does the work: a JSONata state, a function, or a person (or whoever sends what is waited
for)."""

REPEATED = "a Map state passes on no variables of its iterations"
LOST = "an error that is caught drops the variables that are set before it"
UNDECIDED = "it sets no variable by which the next gateway decides"
TIMED = "a state that computes has no time limit"


class TaskWork(NamedTuple):
    """The work of a task or event.

    Attributes:
        doer: who does it.
        before: statements in front of what a function or person does, or all that a state computes.
        after: statements behind it.
        reads: process variables that the states read.
        sets: process variables that they may set.
        is_closed: whether the answer of a function or person sets variables only through `after`.
        unread: parts that are only in the contract, each with the reason.
        decisions: decisions that a function has to make.
    """

    doer: Doer
    before: tuple[Statement, ...] = ()
    after: tuple[Statement, ...] = ()
    reads: tuple[str, ...] = ()
    sets: frozenset[str] = frozenset()
    is_closed: bool = False
    unread: tuple[Unread, ...] = ()
    decisions: tuple[Decide, ...] = ()

    @property
    def throws(self) -> bool:
        """Whether the state that computes it may end with an error of the process."""
        return ends_with_error((*self.before, *self.after))

    @property
    def maps(self) -> bool:
        """Whether something is computed beside what a function or person does."""
        return bool(self.before or self.after)


def plan_works(graph: ProcessGraph, nodes: Iterable[Task | Event]) -> dict[str, TaskWork]:
    """The work of elements of a process, without those for which the model states none."""
    wanted: dict[str, set[str]] = {}
    for decision in graph.decisions.values():
        if decision.values:
            wanted.setdefault(decision.setter, set()).add(decision.variable)
    works: dict[str, TaskWork] = {}
    for node in nodes:
        scope = graph.scope_of[node.id]
        if isinstance(node, Event) and _is_raced(node, scope):
            continue
        boundary = [n for n in scope.scope.nodes if isinstance(n, Event)]
        attached = [event for event in boundary if event.attached_to == node.id]
        work = (
            _plan_event(node)
            if isinstance(node, Event)
            else _plan_task(
                node,
                scope.ctx,
                is_caught=bool(attached),
                is_timed=any(event.trigger == "timer" for event in attached),
                wanted=frozenset(wanted.get(node.id, ())),
            )
        )
        if work is not None:
            works[node.id] = work
    return {element: _with_shown(element, work, graph, works) for element, work in works.items()}


def _is_raced(event: Event, scope: ScopeGraph) -> bool:
    """Whether an event-based gateway waits for an event, which then has no answer of its own."""
    sources = [flow.source for flow in scope.graph.flows_in(event.id)]
    gateways = (scope.graph.nodes[source] for source in sources)
    return any(n.gateway_kind == "event" for n in gateways if isinstance(n, Gateway))


def _with_shown(
    element: str, work: TaskWork, graph: ProcessGraph, works: Mapping[str, TaskWork]
) -> TaskWork:
    """The work of a person also reads the variables of its fields that another element sets:
    engines show their values in the form."""
    node = graph.scope_of[element].graph.nodes[element]
    binding = node.binding if isinstance(node, Task) else None
    if work.doer != "person" or not isinstance(binding, Form):
        return work
    others = {name for other, stated in works.items() if other != element for name in stated.sets}
    shown = (f.path[0] for f in binding.fields if f.is_read_only or f.path[0] in others)
    return work._replace(reads=_drop_repeated((*work.reads, *shown)))


def _plan_task(
    node: Task, ctx: PassContext, *, is_caught: bool, is_timed: bool, wanted: frozenset[str]
) -> TaskWork | None:
    """The work of a task; `None` if the model states none.

    Args:
        node: a task.
        ctx: has the decisions that the model refers to.
        is_caught: whether a boundary event catches its errors.
        is_timed: whether a boundary timer limits it.
        wanted: variables that its result has to have for the next gateways to decide.
    """
    assert node.binding is not None
    work = read_task_work(node, ctx)
    if isinstance(node.binding, Form) or node.task_type in ("user", "manual", "receive"):
        return _plan_mapped("person", node, work)
    if not has_implementation(node) and not work.statements and not work.unread:
        return None
    if work.steps is None or work.act is not None:
        return _plan_mapped("function", node, work)
    try:
        reason = _why_no_state(node, work, is_caught=is_caught, is_timed=is_timed, wanted=wanted)
        if not reason:
            return _plan_computed(work.statements)
    except ConditionError as error:
        reason = str(error)
    return _plan_function(node, work, reason)


def _why_no_state(
    node: Task, work: Work, *, is_caught: bool, is_timed: bool, wanted: frozenset[str]
) -> str:
    """Why no state can compute the work of a task, whatever it is; empty if one can. Arguments are
    those of `_plan_task`."""
    reasons = (
        (REPEATED, is_multi_instance(node)),
        (TIMED, is_timed),
        (LOST, is_caught and _loses_variables(work.statements)),
        (UNDECIDED, not wanted <= {*assigned(work.statements)}),
    )
    return next((reason for reason, holds in reasons if holds), "")


def _plan_function(node: Task, work: Work, reason: str) -> TaskWork:
    """A function computes what no state can, for a reason; what it reads and sets is known."""
    function = _plan_contract("function", node, (Unread("work", "", reason),))
    return function._replace(
        decisions=tuple(s for s in work.statements if isinstance(s, Decide)),
        reads=_drop_repeated((*function.reads, *(needed.path[0] for needed in work.reads()))),
        sets=function.sets | frozenset(assigned(work.statements)),
    )


def _loses_variables(statements: Iterable[Statement]) -> bool:
    """Whether statements set variables and may end with an error."""
    every = tuple(statements)
    return ends_with_error(every) and any(True for _ in assigned(every))


def _plan_computed(statements: tuple[Statement, ...]) -> TaskWork:
    """A state computes everything. Raises `ConditionError` if JSONata cannot."""
    print_block(statements, "$s", set_names(statements))
    reads = _drop_repeated(needed.path[0] for needed in Work(steps=statements).reads())
    return TaskWork("state", statements, (), reads, frozenset(assigned(statements)))


def _plan_event(event: Event) -> TaskWork | None:
    """The work of an event: what waits for a message has mappings, what sends one a sender."""
    if event.binding is None:
        return None
    if event.position == "catch" and event.trigger in ("message", "signal", "conditional"):
        return _plan_mapped("person", event, work_by(event.binding, None))
    if event.position in ("throw", "end") and event.trigger == "message":
        return _plan_mapped("function", event, work_by(event.binding, None))
    return None


def _plan_mapped(doer: Doer, node: Task | Event, work: Work) -> TaskWork:
    """A function or a person does the work between mappings and listeners, which are computed as
    far as JSONata can."""
    assert node.binding is not None
    if work.unread:
        return _plan_contract(doer, node, work.unread)
    before, after = work.before, work.after
    contract = _plan_contract(doer, node, ())
    unread: list[Unread] = []
    if isinstance(node, Task) and is_multi_instance(node) and (before or after):
        unread.append(Unread("mappings", "", REPEATED))
        before = after = ()
    if work.act is not None and (before or after):
        # What comes back has parts that only a client of the protocol knows.
        before = after = ()
    if ends_with_error((*before, *after)):
        unread.append(Unread("listeners", "", "they may end with an error of the process"))
        before = after = ()
    try:
        print_block(before, "$s", set_names(before))
        print_block(after, "$s", set_names(after))
    except ConditionError as error:
        unread.append(Unread("mappings", "", str(error)))
        before = after = ()
    statements = (*before, *after)
    local = {*assigned(statements, local=True)}
    reads = _drop_repeated((
        *contract.reads,
        *(needed.path[0] for needed in Work(before=before, after=after).reads()),
    ))  # fmt: skip
    is_closed = only_mapped(node.binding) and bool(after)
    sets = frozenset(assigned(statements))
    declared = frozenset() if is_closed else contract.sets
    return TaskWork(doer, before, after, reads, sets | declared - local, is_closed, tuple(unread))


def _plan_contract(doer: Doer, node: Task | Event, unread: tuple[Unread, ...]) -> TaskWork:
    """A function or a person does everything that the model states."""
    assert node.binding is not None
    names = _drop_repeated(mentioned(node.binding))
    return TaskWork(doer, (), (), names, frozenset(declared_by(node)), False, unread)


def _drop_repeated(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
