"""Process variables along a run of the model, by the model's own meaning: what scripts, decisions,
mappings and times compute from the inputs of the run, and the branches that conditions take."""

from __future__ import annotations

import copy
import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal

from orgflow.backends.n8n.plan.actions import (
    REPLACED,
    Call,
    ConcludeWork,
    HandOver,
    PrepareWork,
    Program,
    Send,
    TakeBack,
)
from orgflow.backends.n8n.plan.decisions import list_required
from orgflow.backends.n8n.plan.failures import caught_in
from orgflow.backends.n8n.plan.graph import PlanNode
from orgflow.backends.n8n.plan.task_work import is_narrow
from orgflow.backends.n8n.replay.path_conditions import (
    DEFAULTS,
    PathCondition,
    Slot,
    branch_distance,
    infer_types,
    is_covered,
    list_values,
    order_values,
)

from orgflow_ir.decisions.link import Logic
from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.control_flow.calls import find_callee, hands_everything, takes_everything
from orgflow_ir.flow.control_flow.graph import list_reachable
from orgflow_ir.flow.nets.failures import steps_called
from orgflow_ir.flow.token_game.stub_data import (
    decided_by,
    list_demands,
    nest_values,
    taken_flows,
)
from orgflow_ir.lowering.unrolling import is_loop_variable
from orgflow_ir.model import CallActivity, Event
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.program.evaluation_guards import Need
from orgflow_ir.program.evaluator import evaluate, is_truthy
from orgflow_ir.program.syntax import (
    Comparison,
    Constant,
    Path,
    Tree,
    Variable,
    nodes,
    variables,
    walk_parts,
)
from orgflow_ir.work.gateway_decisions import Decision
from orgflow_ir.work.statement_evaluation import (
    CLOCK,
    Observed,
    Origins,
    PathValues,
    StatementEvaluation,
    StatementFault,
    Variables,
    compare_operands,
    is_portable,
)
from orgflow_ir.work.statements import (
    Assign,
    Decide,
    Each,
    Statement,
    When,
    assigned,
    expressions,
    read,
)

if TYPE_CHECKING:
    from orgflow.backends.n8n.plan.scope_plan import ScopePlan

    from orgflow_ir.flow.nets.failures import CaughtError


class Predicted(NamedTuple):
    """The variables that a node of the workflow has to output when it runs for the `visit`-th time,
    counted from 0; `scope` is the number of its workflow."""

    scope: int
    node: str
    element: str
    visit: int
    values: tuple[tuple[str, Any], ...]


ConflictKind = Literal["branch", "no-branch", "thrown", "failed", "invalid-time", "unset"]


class Conflict(Exception):
    """The variables do not lead where a run goes.

    Attributes:
        kind: `branch` if conditions lead elsewhere, `no-branch` if none holds, otherwise the fault
            of a step.
        element: the id of the element.
        message: the reason.
        slots: the inputs that it depends on.
        distance: how far the conditions are from the branch, 0 to 1.
    """

    def __init__(
        self,
        kind: ConflictKind,
        element: str,
        message: str,
        origins: Origins = frozenset(),
        distance: float = 1.0,
    ) -> None:
        super().__init__(message)
        self.kind, self.element, self.message, self.distance = kind, element, message, distance
        self.slots = frozenset(origin for origin in origins if isinstance(origin, Slot))


@dataclass(eq=False)
class ComputedProcess:
    """The workflows of a process, as a walk sees them.

    Attributes:
        plans: of its workflows, that of the process first.
        scripted: names of computing nodes whose results are scripted, by the number of the plan.
    """

    plans: Sequence[ScopePlan]
    scripted: set[tuple[int, str]] = field(default_factory=set)
    _solved: dict[Hashable, Mapping[Path, Any]] = field(default_factory=dict)
    _before: dict[tuple[str, str], bool] = field(default_factory=dict)
    _needs: dict[int, Sequence[Need]] = field(default_factory=dict)

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The number of the plan that an element belongs to."""
        return {
            node: number
            for number, plan in reversed(list(enumerate(self.plans)))
            for node in plan.graph.nodes
        }

    @cached_property
    def deciders(self) -> Mapping[str, list[tuple[int, Decision]]]:
        """The decisions in code, by the element of the model that decides."""
        deciders: dict[str, list[tuple[int, Decision]]] = {}
        for number, plan in enumerate(self.plans):
            for decision in plan.decisions.values():
                if decision.coded or any(b.tree is not None for b in decision.branches):
                    deciders.setdefault(decided_by(decision), []).append((number, decision))
        return deciders

    @cached_property
    def programs(self) -> Mapping[str, list[PlanNode]]:
        """The computing nodes of each element that run as emitted."""
        programs: dict[str, list[PlanNode]] = {}
        kinds = (Program, PrepareWork, ConcludeWork, HandOver, TakeBack)
        for number, plan in enumerate(self.plans):
            for node in plan.workflow_graph.nodes.values():
                if isinstance(node.action, kinds) and (number, node.name) not in self.scripted:
                    programs.setdefault(node.element, []).append(node)
        return programs

    @cached_property
    def types(self) -> Mapping[str, str]:
        """The type that conditions and programs expect of each variable."""
        return infer_types(used_trees(self), used_copies(self))

    @cached_property
    def cyclic(self) -> frozenset[str]:
        """The elements that are on a cycle of flows."""
        return frozenset(
            node
            for plan in self.plans
            for node in plan.graph.nodes
            if node in list_reachable(plan.graph.successors[node], plan.graph.successors)
        )

    @cached_property
    def cyclic_names(self) -> frozenset[str]:
        """The variables whose values depend on the number of rounds of a cycle."""
        works = [(element, work) for plan in self.plans for element, work in plan.work.items()]
        names = {
            name
            for element, work in works
            if element in self.cyclic
            for name in assigned(work.statements)
        }
        while (
            more := {
                name
                for _, work in works
                if any(need.path[0] in names for need in read(work.statements))
                for name in assigned(work.statements)
            }
            - names
        ):
            names |= more
        return frozenset(names)

    @cached_property
    def is_covered(self) -> bool:
        """Whether a search covers each expression of its programs."""
        return all(is_covered([tree]) for tree in used_trees(self, programs_only=True))

    @cached_property
    def computes(self) -> bool:
        """Whether anything is computed."""
        return bool(self.programs)

    @cached_property
    def searches(self) -> bool:
        """Whether inputs decide or change something: a condition in code, or what is computed."""
        return self.computes or bool(self.deciders)

    @cached_property
    def caught(self) -> Mapping[str, tuple[CaughtError, ...]]:
        """The error events on computed steps and on calls, by what they are on."""
        return {
            host: errors
            for plan in self.plans
            for host, errors in caught_in(plan).items()
            if self.does_itself(host) or isinstance(plan.graph.nodes.get(host), CallActivity)
        }

    @cached_property
    def failing_inside(self) -> Mapping[str, Sequence[str]]:
        """For each error event on a call the steps of what the call runs whose errors reach it."""
        return {
            error.event: [step.id for step in steps_called(call, event.definitions[0], model)]
            for plan in self.plans
            for model in (plan.scope.model,)
            for host, errors in caught_in(plan).items()
            if isinstance(call := plan.graph.nodes.get(host), CallActivity)
            for error in errors
            if isinstance(event := plan.graph.nodes.get(error.event), Event)
        }

    def does_itself(self, element: str) -> bool:
        """Whether the workflow does all the work of an element."""
        return any(isinstance(node.action, Program) for node in self.programs.get(element, ()))

    @cached_property
    def sites(self) -> Mapping[str, frozenset[str] | None]:
        """The steps whose output is an input of the run, each with the variables that it may set;
        `None` for any that the model lets no other step set."""
        sites: dict[str, frozenset[str] | None] = {}
        for plan in self.plans:
            for node in plan.workflow_graph.nodes.values():
                if node.role == "element" and self._is_site(node, plan):
                    sites[node.element] = _list_settable(node.element, plan)
        return sites

    def _is_site(self, node: PlanNode, plan: ScopePlan) -> bool:
        if node.element in plan.forms or node.element in plan.received:
            return True
        if isinstance(plan.graph.nodes.get(node.element), Event):
            return False
        return isinstance(node.action, (*REPLACED, Send)) or (
            isinstance(node.action, Call) and node.element in plan.named_work
        )

    @cached_property
    def declared(self) -> Sequence[Mapping[str, frozenset[str]]]:
        """By plan, for each variable the elements that the model says set it."""
        return [
            {
                name: frozenset(setter.element for setter in setters)
                for name, setters in plan.variables.declared.items()
            }
            for plan in self.plans
        ]

    def may_set(self, site: str, name: str, *, freely: bool) -> bool:
        """Whether a step may set a variable; `freely` if a step that the model does not restrict
        may also set what other steps set."""
        names = self.sites[site]
        if names is not None:
            return name in names
        setters = self.declared[self.place[site]].get(name)
        if not setters or site in setters:
            return True
        return freely and not is_loop_variable(name)

    def fit_answer(self, site: str, path: Path, value: Any) -> Any:
        """The value, or the nearest one that a person can enter if a form asks for it."""
        number = self.place.get(site)
        form = self.plans[number].forms.get(site) if number is not None else None
        if form is None or path[0] in form.sets:
            return value
        options = (option.value for field in form.fields for option in field.options)
        for entered in (value, str(value), *_ENTERED, *options):
            try:
                answers = form.answers(nest_values({path: entered}))
            except (ValueError, TypeError, AttributeError):
                continue
            # An option that stands for every other value has one of its own.
            chosen = (
                option.value
                for field in form.fields
                if field.asked.type == "choice" and tuple(field.asked.path) == path
                for option in field.options
                if option.label == answers.get(field.label)
            )
            return next(chosen, entered)
        return value

    def list_needs(self, decision: Decision) -> Sequence[Need]:
        """The variables that the conditions of a decision need to be set."""
        needs = self._needs.get(id(decision))
        if needs is None:
            needs = self._needs[id(decision)] = list_required(decision)
        return needs

    def solve_missing(
        self,
        demands: Sequence[tuple[Tree, bool]],
        paths: Sequence[Path],
        missing: Sequence[Path],
        known: PathValues,
    ) -> Mapping[Path, Any]:
        """Values of variables without one under which conditions hold as demanded; empty if none
        are found. The same problem is solved once."""
        given = repr([known.get(path) for path in paths if path not in missing])
        key = (tuple((id(tree), want) for tree, want in demands), tuple(missing), given)
        if key not in self._solved:
            self._solved[key] = _solve_missing(demands, missing, known, self.types)
        return self._solved[key]

    def is_before(self, site: str, reader: str) -> bool:
        """Whether a step of the same workflow comes before a reader, not beside it."""
        known = self._before.get((site, reader))
        if known is None:
            known = self._before[site, reader] = self._is_before(site, reader)
        return known

    def _is_before(self, site: str, reader: str) -> bool:
        number = self.place[site]
        if self.place.get(reader) != number:
            return False
        if site == reader:
            return True
        plan = self.plans[number]
        ahead = list_reachable(plan.graph.successors[site], plan.graph.successors)
        return reader in ahead and not plan.variables.concurrent(site, reader)


def _list_settable(element: str, plan: ScopePlan) -> frozenset[str] | None:
    """The variables that the output of a step may set; `None` for any."""
    form = plan.forms.get(element)
    if form is not None:
        return frozenset((*form.known, *form.asks))
    if is_narrow(element, plan):
        work = plan.work.get(element)
        return frozenset(need.path[0] for need in read(work.after)) if work else frozenset()
    return None


class WalkRules(NamedTuple):
    """The assumptions of a walk about the inputs.

    Attributes:
        portable: they have the types that conditions and programs expect, so that no language
            converts them.
        freely: a step that the model does not restrict also sets variables of other steps.
    """

    portable: bool = True
    freely: bool = False


class DataWalk:
    """One walk along a run.

    Args:
        process: the workflows.
        start: the id of the element that the run starts at.
        inputs: values of inputs; others get the value that the next reader needs.
        rules: what it takes for granted of the inputs.

    Attributes:
        slots: the inputs that the run has, with their values.
        observed: the branches in programs and conditions that it took.
        predicted: what nodes have to output.
        reached: the number of the step that it is at.
        asked_at: the number of the step that reads each input first.
        before: its state before each step, if it keeps that.
        passed: the conditions that it passed.
        failed: those that it did not pass last.
        cycle_slots: the inputs that conditions on cycles depend on.
    """

    def __init__(
        self,
        process: ComputedProcess,
        start: str,
        inputs: Mapping[Slot, Any],
        rules: WalkRules,
    ) -> None:
        self.process, self.start, self.inputs, self.rules = process, start, inputs, rules
        self.scopes = [Variables() for _ in process.plans]
        self.slots: dict[Slot, Any] = {}
        self.observed: set[Hashable] = set()
        self.predicted: list[Predicted] = []
        self.reached = 0
        self.asked_at: dict[Slot, int] = {}
        self.before: list[DataWalk] = []
        self.passed: list[PathCondition] = []
        self.failed: PathCondition | None = None
        self._raw: dict[tuple[int, Path], Slot] = {}
        self._unset: dict[str, Slot] = {}
        self.cycle_slots: set[Slot] = set()
        self._visits = Counter[str]()
        self._visited: list[tuple[str, int]] = []
        self._node_runs = Counter[tuple[int, str]]()
        self._locals: dict[str, Variables] = {}
        self._written: dict[tuple[int, str], tuple[int, bool]] = {}
        self._tick = 0
        self._done_early: set[str] = set()
        self._thrown: dict[str, StatementFault] = {}
        self._opened = Counter[str]()
        self._open_calls: list[str] = []

    def fork(self, inputs: Mapping[Slot, Any]) -> DataWalk:
        """A walk that goes on from here with other inputs. What both have come to stays equal."""
        other = copy.copy(self)
        other.inputs = inputs
        other.scopes = [scope.copied() for scope in self.scopes]
        other.slots, other.asked_at = dict(self.slots), dict(self.asked_at)
        other.observed, other.predicted = set(self.observed), list(self.predicted)
        other._visits, other._visited = self._visits.copy(), list(self._visited)
        other._node_runs, other._written = self._node_runs.copy(), dict(self._written)
        other._raw, other.passed = dict(self._raw), list(self.passed)
        other._unset, other.cycle_slots = dict(self._unset), set(self.cycle_slots)
        other._locals = {element: own.copied() for element, own in self._locals.items()}
        other._done_early, other._thrown = set(self._done_early), dict(self._thrown)
        other._opened, other._open_calls = self._opened.copy(), list(self._open_calls)
        other.before = []
        return other

    # -- steps -------------------------------------------------------------------------------------

    def follow(self, steps: Sequence[Step], *, keep: bool = False) -> None:
        """Walk along the remaining steps of a run; with `keep`, each state is kept in `before`.
        Raises `Conflict`; `reached` is the number of the step."""
        for number in range(self.reached, len(steps)):
            self.reached = number
            if keep:
                self.before.append(self.fork(self.inputs))
            step = steps[number]
            self.prepare(step)
            self.decide(step)
            self.apply(step)

    def prepare(self, step: Step) -> None:
        """Compute what the element of a step computes before it is done. Raises `Conflict`."""
        element = step.element
        host = self._host_of(element)
        if step.action == "open" or host is not None or element in self._done_early:
            return
        if step.action in ("fire", "done", "start"):
            interrupted = self._interrupted_by(element)
            if interrupted is not None:
                self._prepare_interrupted(interrupted)
            self._compute(element)

    def _interrupted_by(self, element: str) -> str | None:
        """The step on which an event is that ends it, if only its preparation is computed."""
        event = self._node(element)
        if not isinstance(event, Event) or event.attached_to is None:
            return None
        host = event.attached_to
        return host if host not in self._done_early and event.interrupting else None

    def _prepare_interrupted(self, host: str) -> None:
        """Compute what a step computes before it fails or is interrupted. Raises `Conflict`."""
        number = self.process.place.get(host)
        work = self.process.plans[number].work.get(host) if number is not None else None
        for node in self.process.programs.get(host, ()):
            if number is not None and work is not None and isinstance(node.action, PrepareWork):
                self._tick += 1
                self._execute(node, number, work.before)

    def _host_of(self, element: str) -> str | None:
        """The computed step whose error an event catches: the one that it is on, or one that the
        call runs on which it is."""
        for host, errors in self.process.caught.items():
            for error in errors:
                if self._is_event(error.event, element):
                    return self._failing_step(host, error)
        return None

    def _failing_step(self, host: str, error: CaughtError) -> str | None:
        """The computed step that fails where an event on a step or a call occurs."""
        if self.process.does_itself(host):
            return host
        inside = self.process.failing_inside.get(error.event, ())
        failing = next((step for step in inside if self._opened[step]), "")
        return failing if failing and self.process.does_itself(failing) else None

    def _is_event(self, event: str, element: str) -> bool:
        if element == event:
            return True
        node = self._node(event)
        return node is not None and source_ids(node)[0] == element

    def _compute(self, element: str) -> None:
        """Do the work of an element, once for each visit. Raises `Conflict`."""
        self._done_early.add(element)
        self._tick += 1
        number = self.process.place.get(element)
        if number is None:
            return
        plan = self.process.plans[number]
        nodes_by_kind = {type(node.action): node for node in self.process.programs.get(element, ())}
        work = plan.work.get(element)
        self._locals.pop(element, None)
        if work is not None and Program in nodes_by_kind:
            self._execute(nodes_by_kind[Program], number, work.statements)
        elif work is not None and PrepareWork in nodes_by_kind:
            self._execute(nodes_by_kind[PrepareWork], number, work.before)
        if element in self.process.sites:
            self._visits[element] += 1
            self._visited.append((element, self._tick))
        self._take_back(element, plan)
        if work is not None and ConcludeWork in nodes_by_kind:
            self._tick += 1
            self._execute(nodes_by_kind[ConcludeWork], number, work.after)

    def apply(self, step: Step) -> None:
        """Note that a step is done."""
        node = self._node(step.element)
        if step.action == "open":
            self._opened[step.element] += 1
            if isinstance(node, CallActivity):
                self._open_calls.append(step.element)
                self._open_call(step.element)
        host = self._host_of(step.element)
        if step.action in ("fire", "done", "start"):
            self._close_step(step.element)
        if host is not None:
            self._close_step(host)
        if isinstance(node, Event) and node.attached_to is not None and node.interrupting:
            self._close_step(node.attached_to)

    def _close_step(self, element: str) -> None:
        """Note that a step, or all that a call runs, has ended."""
        self._done_early.discard(element)
        self._thrown.pop(element, None)
        self._opened.pop(element, None)
        if element in self._open_calls:
            number = self._open_calls.index(element)
            for call in self._open_calls[number:]:
                self._opened.pop(call, None)
                inner = self._called_number(self._node(call), self._plan_of(call))
                for step in self.process.plans[inner].graph.nodes if inner is not None else ():
                    self._opened.pop(step, None)
            del self._open_calls[number:]

    def _plan_of(self, element: str) -> ScopePlan:
        return self.process.plans[self.process.place[element]]

    def _node(self, element: str) -> Any:
        number = self.process.place.get(element)
        return None if number is None else self.process.plans[number].graph.nodes.get(element)

    # -- programs ----------------------------------------------------------------------------------

    def _execute(self, node: PlanNode, number: int, statements: Sequence[Statement]) -> None:
        """Evaluate the statements of a node. Raises `Conflict`."""
        element, scope = node.element, self.scopes[number]
        evaluation = StatementEvaluation(
            scope,
            lambda path, tested: self._ask(path, element, number, tested=tested),
            lambda observed: self.observed.add((element, *observed)),
            portable=self.rules.portable,
        )
        if element in self.process.cyclic:
            evaluation.control = frozenset(self.cycle_slots)
        if isinstance(node.action, ConcludeWork) and element in self._locals:
            evaluation.own = self._locals[element]
        visit = self._node_runs[number, node.name]
        self._node_runs[number, node.name] += 1
        before = scope.copied()
        try:
            evaluation.run(statements)
        except StatementFault as fault:
            self._thrown[element] = fault
            if self._catching(element, fault) is not None:
                if fault.kind != "thrown":  # only an error of the process keeps what is set
                    scope.values, scope.origins = before.values, before.origins
                    evaluation.assigned.clear()
                return
            raise Conflict(fault.kind, element, fault.message, fault.origins) from None
        finally:
            for name in evaluation.assigned:
                self._written[number, name] = (self._tick, True)
        self._locals[element] = evaluation.own
        values = tuple(
            (name, scope.values[name])
            for name in dict.fromkeys(assigned(statements))
            if name in scope.values and CLOCK not in scope.origins[name]
        )
        self.predicted.append(Predicted(number, node.name, element, visit, values))

    def _catching(self, host: str, fault: StatementFault) -> CaughtError | None:
        """The event that catches an error of a computed step: on the step itself, or on the nearest
        open call. An event for a code catches what throws it, one without a code also a failure,
        unless the engine of the model leaves failures to incidents."""
        for around in (host, *reversed(self._open_calls)):
            errors = [
                error
                for error in self.process.caught.get(around, ())
                if around == host or host in self.process.failing_inside.get(error.event, ())
            ]
            if fault.is_assumed:
                errors = []
            elif fault.kind != "thrown":
                errors = [e for e in errors if e.code is None and not e.thrown]
            exact = (error for error in errors if error.code == fault.code)
            caught = next(exact, next((error for error in errors if error.code is None), None))
            if caught is not None:
                return caught
        return None

    def _open_call(self, element: str) -> None:
        """Give a called process its variables. Raises `Conflict`."""
        number = self.process.place[element]
        plan = self.process.plans[number]
        call = plan.graph.nodes[element]
        assert isinstance(call, CallActivity)
        inner = self._called_number(call, plan)
        if inner is None:
            return
        outer = self.scopes[number]
        scope = outer.copied() if hands_everything(call) else Variables()
        mappings = plan.mapped.get(element)
        for name, value in mappings.inputs if mappings is not None else ():
            evaluation = StatementEvaluation(
                outer, lambda path, tested: self._ask(path, element, number, tested=tested)
            )
            try:
                scope.assign(name, evaluation.value(value), evaluation.origins_of(value))
            except StatementFault as fault:
                raise Conflict(fault.kind, element, fault.message, fault.origins) from None
        self.scopes[inner] = scope
        for name in scope.values:
            self._written[inner, name] = (self._tick, True)

    def _called_number(self, call: CallActivity, plan: ScopePlan) -> int | None:
        callee = find_callee(call, plan.scope.model)
        if callee is None:
            return None
        return next(
            (
                number
                for number, inner in enumerate(self.process.plans)
                if number and inner.process.id == callee.id
            ),
            None,
        )

    def _take_back(self, element: str, plan: ScopePlan) -> None:
        """Set the variables that a call returns. Raises `Conflict`."""
        call = plan.graph.nodes.get(element)
        if not isinstance(call, CallActivity):
            return
        inner = self._called_number(call, plan)
        if inner is None:
            return
        number = self.process.place[element]
        outer, scope = self.scopes[number], self.scopes[inner]
        if takes_everything(call):
            for name, value in scope.values.items():
                outer.assign(name, value, scope.origins[name])
                self._written[number, name] = (self._tick, True)
        mappings = plan.mapped.get(element)
        for name, tree in mappings.outputs if mappings is not None else ():
            evaluation = StatementEvaluation(scope, lambda path, tested: None)
            try:
                value = evaluation.value(tree)
            except StatementFault as fault:
                raise Conflict(fault.kind, element, fault.message, fault.origins) from None
            outer.assign(name, value, evaluation.origins_of(tree))
            self._written[number, name] = (self._tick, True)

    # -- inputs ------------------------------------------------------------------------------------

    def _ask(
        self,
        path: Path,
        reader: str,
        number: int,
        *,
        tested: bool = False,
        wanted: Any = None,
        is_wanted: bool = False,
    ) -> None:
        """Give a variable a value before it is read, if an input has to."""
        name = path[0]
        scope = self.scopes[number]
        tick, computed = self._written.get((number, name), (-1, False))
        site, at = next(
            (
                (element, at)
                for element, at in reversed(self._visited)
                if self.process.may_set(element, name, freely=self.rules.freely)
                and self.process.is_before(element, reader)
            ),
            (self.start, 0),
        )
        is_known = PathValues(scope.values).get(path, _MISSING) is not _MISSING
        is_newer = at > tick and (not computed or site != self.start)
        if name in scope.values and not is_newer and (is_known or computed):
            return
        slot = Slot(site, max(self._visits[site], 1), path)
        current = PathValues(scope.values).get(path, _MISSING)
        kind = self.process.types.get(name, "") if len(path) == 1 else ""
        usual = DEFAULTS.get(kind, _DEFAULT)
        default = wanted if is_wanted else (usual if current is _MISSING else current)
        value = self.inputs.get(slot, default)
        if value is UNSET:
            self._unset[name] = slot
            return
        if tested and not is_wanted and slot not in self.inputs and current is _MISSING:
            value = None
        value = self.process.fit_answer(site, path, value)
        self.slots[slot] = value
        self._raw[number, path] = slot
        self.asked_at.setdefault(slot, self.reached)
        whole = nest_values({path: value})[name] if len(path) > 1 else value
        held = scope.values.get(name)
        if isinstance(held, dict) and isinstance(whole, dict):
            whole = _merge_values(held, whole)
        origins = frozenset({slot}) | (
            scope.origins.get(name, frozenset()) if held else frozenset()
        )
        scope.assign(name, whole, origins)
        self._written[number, name] = (max(at, 0), False)
        if number and site == self.start:
            self._hand_down(name, whole, origins)

    def _hand_down(self, name: str, value: Any, origins: Origins) -> None:
        """A variable that a called process reads is one of the process that calls it."""
        root = self.scopes[0]
        if name not in root.values:
            root.assign(name, value, origins)
            self._written[0, name] = (0, False)

    # -- decisions ---------------------------------------------------------------------------------

    def decide(self, step: Step) -> None:
        """Check that conditions lead where a step goes. Raises `Conflict`."""
        if step.action not in ("fire", "done", "start"):
            return
        host = self._host_of(step.element)
        if host is not None:
            self._check_error(host, step.element)
            return
        if step.element in self._thrown:
            fault = self._thrown[step.element]
            raise Conflict("branch", step.element, fault.message, fault.origins)
        for number, decision in self.process.deciders.get(step.element, ()):
            flows = taken_flows(decision, step)
            demands = list_demands(decision, flows)
            self.ask_for(decision, number, demands)
            self._check_demands(step.element, number, decision, demands)

    def _check_error(self, host: str, element: str) -> None:
        """Check that a computed step throws the error that an event catches."""
        if host not in self._done_early:
            self._compute(host)
        fault = self._thrown.get(host)
        caught = self._catching(host, fault) if fault is not None else None
        if caught is None or not self._is_event(caught.event, element):
            origins: set[Hashable] = set(self.slots)
            raise Conflict("branch", host, "it does not throw the error", frozenset(origins))

    def ask_for(
        self, decision: Decision, number: int, demands: Sequence[tuple[Tree, bool]]
    ) -> None:
        """Give the variables of conditions values under which they hold as demanded."""
        scope = self.scopes[number]
        reader = decision.gateway.id
        paths = list(dict.fromkeys(p for tree, _ in demands for p in variables(tree)))
        known = PathValues(scope.values)
        missing = [path for path in paths if path not in known and path[0] not in scope.values]
        solved: Mapping[Path, Any] = {}
        if missing:
            solved = self.process.solve_missing(demands, paths, missing, known)
        for path in paths:
            self._ask(
                path, reader, number,
                wanted=solved.get(path), is_wanted=path in solved,
            )  # fmt: skip

    def _check_demands(
        self,
        element: str,
        number: int,
        decision: Decision,
        demands: Sequence[tuple[Tree, bool]],
    ) -> None:
        scope = self.scopes[number]
        values = PathValues(scope.values)
        self._check_set(element, decision, demands, values)
        distance, origins = 0.0, frozenset[Hashable]()
        for tree, want in demands:
            apart = branch_distance(tree, want, values)
            if not apart and not isinstance(evaluate(tree, values), bool | NoneType):
                apart = _UNFIT  # the workflow stops where a condition is no truth value
            mine = frozenset[Hashable]()
            for path in variables(tree):
                mine |= scope.origins.get(path[0], frozenset())
                if path[0] in self.process.cyclic_names:
                    mine |= self.cycle_slots
            if self.rules.portable and not apart and mine and not is_portable(tree, want, values):
                apart = _UNFIT
            origins |= mine
            distance += apart
            for node in nodes(tree):
                if isinstance(node, Comparison):
                    order = compare_operands(node, values)
                    if order is not None:
                        self.observed.add((element, *Observed(id(node), order)))
        condition = self._read_condition(number, demands)
        if distance > 0:
            self.failed = condition
            branch = distance < 1 or self._is_decided(decision, values)
            raise Conflict(
                "branch" if branch else "no-branch", element,
                "its conditions lead to another branch" if branch else "no condition holds",
                origins, distance / (distance + 1),
            )  # fmt: skip
        self.passed.append(condition)
        if decision.gateway.id in self.process.cyclic:
            self.cycle_slots.update(origin for origin in origins if isinstance(origin, Slot))

    def _check_set(
        self,
        element: str,
        decision: Decision,
        demands: Sequence[tuple[Tree, bool]],
        values: PathValues,
    ) -> None:
        """Check that each variable has a value that demanded conditions need. Raises `Conflict`."""
        read = {path[0] for tree, _ in demands for path in variables(tree)}
        for need in self.process.list_needs(decision):
            missing = [name for name in need.names if name in read and (name,) not in values]
            if missing and all(is_truthy(evaluate(t, values)) is want for t, want in need.guards):
                slots = frozenset[Hashable](self._unset.get(name) for name in missing)
                raise Conflict("unset", element, f"the variable `{missing[0]}` has no value", slots)

    def _read_condition(self, number: int, demands: Sequence[tuple[Tree, bool]]) -> PathCondition:
        """The demands with the variables that are inputs, and the values of the others."""
        values = PathValues(self.scopes[number].values)
        inputs: dict[Path, Slot] = {}
        fixed: dict[Path, Any] = {}
        for path in dict.fromkeys(path for tree, _ in demands for path in variables(tree)):
            _, computed = self._written.get((number, path[0]), (0, True))
            if not computed and (number, path) in self._raw:
                inputs[path] = self._raw[number, path]
            elif path in values:
                fixed[path] = values[path]
        return PathCondition(tuple(demands), inputs, fixed)

    def _is_decided(self, decision: Decision, values: PathValues) -> bool:
        return decision.default is not None or any(
            branch.tree is None or is_truthy(evaluate(branch.tree, values))
            for branch in decision.branches
        )


UNSET = object()
"""The value of an input that is not given."""

_MISSING = object()
_ENTERED = (1, True, "2030-01-01", "text", None)
_DEFAULT = 1
_UNFIT = 0.05
"""The distance of a condition that holds only after a conversion."""
_MOST_TRIES = 2_000


def _merge_values(held: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    merged = dict(held)
    for name, value in more.items():
        inner = merged.get(name)
        if isinstance(inner, dict) and isinstance(value, dict):
            merged[name] = _merge_values(inner, value)
        else:
            merged[name] = value
    return merged


def _solve_missing(
    demands: Sequence[tuple[Tree, bool]],
    missing: Sequence[Path],
    known: PathValues,
    types: Mapping[str, str],
) -> dict[Path, Any]:
    """Values of variables without one under which conditions hold as demanded, in every language
    if possible; empty if none are found."""
    values = list_values(demands)
    ordered = [
        order_values(values, types.get(path[0]) if len(path) == 1 else None) for path in missing
    ]
    for portable in (True, False):
        for combination in itertools.islice(itertools.product(*ordered), _MOST_TRIES):
            tried = dict(zip(missing, combination, strict=True))
            given = _Overlay(tried, known)
            if all(is_truthy(evaluate(tree, given)) is want for tree, want in demands) and (
                not portable or all(is_portable(tree, want, given) for tree, want in demands)
            ):
                return tried
    return {}


class _Overlay(PathValues):
    """Values of paths before those of variables."""

    def __init__(self, first: Mapping[Path, Any], rest: PathValues) -> None:
        super().__init__()
        self._first, self._rest = first, rest

    def __getitem__(self, path: Path) -> Any:
        return self._first[path] if path in self._first else self._rest[path]

    def __iter__(self) -> Iterator[Path]:
        return iter(dict.fromkeys((*self._first, *self._rest)))


def rows_of(slots: Mapping[Slot, Any]) -> dict[str, dict[int, dict[str, Any]]]:
    """The fields that each step outputs, by its id and visit. Raises `Unplayable`."""
    paths: dict[tuple[str, int], dict[Path, Any]] = {}
    for slot, value in slots.items():
        paths.setdefault((slot.site, slot.visit), {})[slot.path] = value
    rows: dict[str, dict[int, dict[str, Any]]] = {}
    for (site, visit), values in paths.items():
        shorter_first = dict(sorted(values.items(), key=lambda item: len(item[0])))
        row: dict[str, Any] = {}
        for path, value in shorter_first.items():
            whole = nest_values({path: value})
            row = _merge_values(row, whole)
        rows.setdefault(site, {})[visit] = row
    return rows


def used_constants(process: ComputedProcess) -> Iterator[Any]:
    """Constants of the conditions, programs and decisions of a process, as JSON."""
    for tree in used_trees(process):
        for part in walk_parts(tree):
            if isinstance(part, Constant) and part.value is not None:
                yield _read_constant(part.value)


def used_copies(process: ComputedProcess) -> Iterator[tuple[str, str]]:
    """Variables that programs set to another variable, with that one."""
    for plan in process.plans:
        for work in plan.work.values():
            for statement in work.statements:
                if isinstance(statement, Assign) and isinstance(statement.value, Variable):
                    yield statement.name, statement.value.path[0]


def used_trees(process: ComputedProcess, *, programs_only: bool = False) -> Iterator[Tree]:
    """The conditions of a process, and the expressions of its programs and decisions."""
    for plan in process.plans:
        if not programs_only:
            yield from (b.tree for d in plan.decisions.values() for b in d.branches if b.tree)
        for work in plan.work.values():
            yield from _list_trees(work.statements)
        for mappings in plan.mapped.values():
            yield from (tree for _, tree in (*mappings.inputs, *mappings.outputs))


def _list_trees(statements: Iterable[Statement]) -> Iterator[Tree]:
    """The expressions of statements, with those of the decisions that they evaluate."""
    yield from expressions(statements)
    for statement in statements:
        match statement:
            case Decide(decision):
                for unit in decision.model.units.values():
                    if isinstance(unit, Logic) and unit.tree is not None:
                        yield unit.tree
            case When(_, then, otherwise):
                yield from _list_trees((*then, *otherwise))
            case Each(_, _, body):
                yield from _list_trees(body)
            case _:
                pass  # evaluates no decision


def _read_constant(value: Any) -> Any:
    """A constant of a program as JSON."""
    if isinstance(value, str | int | float):
        return value
    from orgflow_ir.program.feel.boundary import to_json  # in few models

    return to_json(value)
