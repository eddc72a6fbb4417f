"""From a legal process to the graph of its workflow: tokens become items (DESIGN, "Tokens on n8n").

An exclusive join is several connections into one input, a parallel split several connections from
one output: these gateways are *silent* and have no node. All other elements get a node, and a flow
connects the output port of its source with every input port of its target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, assert_never

from orgflow.backends.n8n.emit import notes
from orgflow.backends.n8n.emit.emission_rules import UnstatedCallData
from orgflow.backends.n8n.emit.graph import (
    GraphNode,
    HelperKey,
    NodeKey,
    Port,
    Role,
    Wires,
    WorkflowGraph,
    decide_key,
    start_key,
)
from orgflow.backends.n8n.emit.names import field_name, plain
from orgflow.backends.n8n.emit.scopes import Together, WorkflowScope, scopes_of
from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types import merge, set_
from orgflow.backends.n8n.plan.target_options import MESSAGES, version_of

from orgflow_ir.flow.control_flow.calls import (
    called_from,
    find_callee,
    hands_computed,
    states_data,
    takes_computed,
)
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.gaps import Defaults
from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Flow,
    Gateway,
    Model,
    Opaque,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import AnyBinding, Form, SubProcessCall
from orgflow_ir.model.element_names import join_listed, slug
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import executable_processes
from orgflow_ir.work.gateway_decisions import (
    Decision,
    DecisionConventions,
    DecisionMemory,
    preceding_words,
    target_words,
)

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.forms import TaskForm
    from orgflow.backends.n8n.emit.groups import Group
    from orgflow.backends.n8n.emit.named_work import NamedWork
    from orgflow.backends.n8n.emit.outside import OutsideNode
    from orgflow.backends.n8n.emit.variables import Carried
    from orgflow.backends.n8n.plan.inclusive_joins import InclusiveJoin

    from orgflow_ir.model.elements import Scope
    from orgflow_ir.work.form_fields import ReadFields
    from orgflow_ir.work.people import About
    from orgflow_ir.work.process_variables import Variables
    from orgflow_ir.work.tasks import CallMappings, Work

MERGE_INPUTS = 10
"""Maximum number of inputs of a Merge node (DESIGN); wider joins are nested."""

PEOPLE, PLACEHOLDER = "people", "placeholder"
"""The option that selects the implementation of user tasks, and its value for no form."""

TRIGGER = "trigger"
"""The option that selects how a process with a none start event starts: by a page in a browser,
manually, or by a call. Without it, by a page if people fill in forms, otherwise manually."""

_BROUGHT = ("message", "signal")
"""Triggers that an external call brings, and those that are sent to an external receiver."""

CONVENTIONS = DecisionConventions(field_name, text=plain)


@dataclass(eq=False, repr=False)
class CompiledScope:
    """The compiled form of one scope: the graph, its decisions, and the nodes that represent
    elements.

    `entry` is the input of a token on a flow, for elements that are entered by flow (joins).
    `forms` contains the forms of user tasks, by task, and pages that start runs and ask for
    data: after each is the node that converts its answers to variables, if it asks for any.
    `received` are the receive tasks that wait for a call. `carried` defines how process variables
    travel, if a condition reads any or a form asks for some, `groups` which sub-processes became
    part of it; `work` the computations of tasks that the model defines, `mapped` the mappings of
    calls that compute, `named_work` the names that tasks call, `stubs_called` those of them that
    replace calls, with their mappings. `workflow`, `base` (the packed workflow, for later merges),
    `stickies` (element by name of a sticky note) and `wired` (flow by source node, output and
    position there) exist once the workflow is built.
    """

    scope: WorkflowScope
    graph: ControlFlow
    workflow_graph: WorkflowGraph
    decisions: dict[str, Decision]
    joins: Mapping[str, InclusiveJoin]
    ctx: PassContext
    silent: set[str] = field(default_factory=set)
    entry: dict[tuple[str, str], Port] = field(default_factory=dict)
    exits: dict[str, Port] = field(default_factory=dict)
    forms: Mapping[str, TaskForm] = field(default_factory=dict)
    received: frozenset[str] = frozenset()
    mapped: dict[str, CallMappings] = field(default_factory=dict)
    carried: Carried | None = None
    groups: tuple[Group, ...] = ()
    work: dict[str, Work] = field(default_factory=dict)
    named_work: dict[str, NamedWork] = field(default_factory=dict)
    stubs_called: set[str] = field(default_factory=set)
    workflow: Workflow = field(init=False)
    base: str = field(init=False)
    stickies: dict[str, str] = field(default_factory=dict)
    wired: dict[tuple[str, int, int], str] = field(default_factory=dict)

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

    def name_of(self, element: str) -> str:
        """Name of the node that represents an element (its decision node for a gateway that sets
        its own variable)."""
        own = decide_key(element)
        key: NodeKey = own if own in self.workflow_graph.nodes else element
        return self.workflow_graph.nodes[key].name

    def outlet(self, element: str) -> NodeKey:
        """The node that outputs the variables of an element: after a form, the one that converts
        its answers."""
        own = decide_key(element)
        if own in self.workflow_graph.nodes:
            return own
        form = self.forms.get(element)
        return element if form is None or not form.fields else HelperKey(element, "data")


class CompiledProcess(NamedTuple):
    """What one process became: its own scope, then those of its sub-processes that became workflows
    of their own. `called` has the scopes of the processes that it calls, which are compiled by
    themselves; `digest` is the hash of the model in their maps."""

    process: Process
    scopes: tuple[CompiledScope, ...]
    called: tuple[CompiledScope, ...] = ()
    digest: str = ""

    @property
    def root(self) -> CompiledScope:
        """The scope of the process itself, in which runs start."""
        return self.scopes[0]


def compile_process(
    model: Model,
    process: Process,
    ctx: PassContext,
    together: Mapping[str, Together] | None = None,
) -> CompiledProcess:
    """The graphs of a process that is legal for n8n; the messages of gaps that `ctx` has are
    completed by what was emitted in their place. `together` is as in `WorkflowScope`."""
    found = scopes_of(model, process, together)
    return CompiledProcess(process, tuple(_compile_scope(scope, ctx) for scope in found))


def compile_made(scope: WorkflowScope, ctx: PassContext) -> CompiledProcess:
    """The graph of a process that is created for others, such as work that tasks name."""
    return CompiledProcess(scope.process, (_compile_scope(scope, ctx),))


def _compile_scope(scope: WorkflowScope, ctx: PassContext) -> CompiledScope:
    graph = ctx.analysis(ControlFlow, scope.body)
    compiled = CompiledScope(
        scope,
        graph,
        WorkflowGraph(),
        ctx.shared(DecisionMemory).decisions(graph, CONVENTIONS),
        _inclusive_joins(scope.body, graph, ctx),
        ctx,
    )
    _Emitter(compiled, ctx).run()
    return compiled


def _inclusive_joins(
    scope: Scope, graph: ControlFlow, ctx: PassContext
) -> Mapping[str, InclusiveJoin]:
    if not any(isinstance(n, Gateway) and n.gateway_kind == "inclusive" for n in scope.nodes):
        return {}
    from orgflow.backends.n8n.plan.inclusive_joins import inclusive_joins  # few models have one

    return inclusive_joins(scope, graph, ctx)


class _Emitter:
    # Node types that few workflows have are imported where a node of them is made.

    def __init__(self, compiled: CompiledScope, ctx: PassContext) -> None:
        self.e = compiled
        self.scope = compiled.scope
        self.graph = compiled.graph
        self.workflow_graph = compiled.workflow_graph
        self.ctx = ctx
        self.defaults = Defaults()
        self.sinks: dict[str, tuple[Port, ...]] = {}
        self.addresses: set[str] = set()
        self.started: tuple[Flow, ...] = ()
        self.calls = False
        self.setters: dict[str, list[Decision]] = {}
        for decision in compiled.decisions.values():
            if decision.values:
                self.setters.setdefault(decision.setter, []).append(decision)

    def run(self) -> None:
        self._plan_waits()
        for node in self.scope.body.nodes:
            if self._is_silent(node.id):
                self.e.silent.add(node.id)
            if isinstance(node, Event) and node.extra:
                notes.unmapped(node, self.ctx)
        self.started = self._implicit_start()
        for node in self.scope.body.nodes:
            if node.id in self.e.silent:
                continue
            match node:
                case Task():
                    self._task(node)
                case SubProcess():
                    self._call(node, self.scope.inside(node))
                case CallActivity() if (called := find_callee(node, self.scope.model)) is not None:
                    self._call(node, self.scope.of(called))
                case Event():
                    self._event(node)
                case Gateway() if node.id in self.e.decisions:
                    self._reserve_decision(self.e.decisions[node.id])
                case Gateway():
                    self._join(node)
                case Opaque() if node.stops is not None:
                    self._stub(node, node.stops)
                case CallActivity() | Opaque():
                    pass  # refused before, or without a meaning for the flow
                case _:
                    assert_never(node)
        for decision in self.e.decisions.values():
            self._decision(decision)
        if any(isinstance(n, Event) and n.position == "boundary" for n in self.scope.body.nodes):
            from orgflow.backends.n8n.emit.failures import wire_failures

            wire_failures(self.e)
        if self.calls:
            from orgflow.backends.n8n.emit.escalations import wire_escalations

            wire_escalations(self.e)
        for flow in self.started:
            for port in self._ports(flow):
                self.workflow_graph.connect(Port(flow.source), port)
        for node in self.scope.body.nodes:
            if node.id in self.e.silent:
                continue
            for flow in self.graph.flows_out(node.id):
                out = self.e.exits.get(flow.id, Port(self.e.outlet(node.id)))
                if out.node not in self.workflow_graph.nodes:
                    continue  # a stub beside an element: nothing comes out of it
                for target in self._ports(flow):
                    self.workflow_graph.connect(out, target, flow.id)
        if self.scope.started_by_call:
            from orgflow.backends.n8n.emit.escalations import return_escalations

            return_escalations(self.e)
        asked = any(form.fields for form in self.e.forms.values())
        coded = any(d.coded for d in self.e.decisions.values())
        if self.e.work or self.scope.started_by_call or coded or self.calls or asked:
            from orgflow.backends.n8n.emit.variables import carry_variables

            self.e.carried = carry_variables(self.e, self.ctx)
        if self.ctx.options.get("payload") == "checked":
            from orgflow.backends.n8n.emit.payload import check_payload

            for key, made in list(self.workflow_graph.nodes.items()):
                if made.role == "trigger" and made.type == "webhook":
                    check_payload(self.e, key)
        if self.e.work or self.e.mapped:
            from orgflow.backends.n8n.emit.computed import write_work

            write_work(self.e)
        guards: dict[str, str] = {}
        for task, form in self.e.forms.items():
            counter = self.workflow_graph.nodes.get(HelperKey(task, "round"))
            guard = form.guard(
                self.workflow_graph.nodes[task].name, counter.name if counter is not None else ""
            )
            starts = self.workflow_graph.nodes[task].role == "trigger"
            if guard is not None and not starts:
                guards[task] = guard
        if guards:
            self._guard(guards)
        if any(node.webhook for node in self.workflow_graph.nodes.values()):
            from orgflow.backends.n8n.emit.addresses import protect

            protect(self.e, self.ctx)
        self.defaults.complete(self.ctx)
        self._say_what_it_is_part_of()

    def _plan_waits(self) -> None:
        """Which tasks become forms, and which wait for a call."""
        with_forms = self.ctx.options.get(PEOPLE) != PLACEHOLDER
        kinds = ("user", "manual", "receive") if with_forms else ("receive",)
        nodes = self.scope.body.nodes
        if not any(isinstance(node, Task) and node.task_type in kinds for node in nodes):
            return
        from orgflow.backends.n8n.emit.parallel import waiting_alone
        from orgflow.backends.n8n.plan.wait_constructs import is_awaited

        from orgflow_ir.work.form_fields import is_done_by_a_person

        people = [node.id for node in nodes if with_forms and is_done_by_a_person(node)]
        tasks = [node for node in nodes if node.id in people or is_awaited(node)]
        alone = waiting_alone(tasks, self.scope.model, self.ctx)
        self.e.received = alone - frozenset(people)
        if people:
            from orgflow.backends.n8n.emit.forms import plan_forms

            by = str(self.ctx.options.get(PEOPLE, "form"))
            asked = [task for task in people if task in alone]
            channel = "" if by == "form" else by
            self.e.forms = plan_forms(self.e, asked, channel, version_of(self.ctx), self.ctx)

    def _say_what_it_is_part_of(self) -> None:
        source = self.ctx.source
        nodes = (n for p in source.processes for n in p.nodes) if source is not None else ()
        if not any(isinstance(node, SubProcess) for node in nodes):
            return
        from orgflow.backends.n8n.emit.groups import groups

        self.e.groups = groups(self.scope, self.ctx)
        for group in self.e.groups:
            for node in self.workflow_graph.nodes.values():
                if node.element in group.elements and node.role in ("element", "trigger"):
                    node.notes.append(f"Part of “{group.title}”.")

    # -- silent gateways -----------------------------------------------------------------------

    def _is_silent(self, node: str) -> bool:
        gateway = self.graph.nodes[node]
        if not isinstance(gateway, Gateway) or node in self.e.decisions:
            return False
        if node not in self.graph.reachable:  # a join behind it still has an input to wait at
            return False
        into, out = self.graph.flows_in(node), self.graph.flows_out(node)
        if gateway.gateway_kind == "exclusive":
            return True
        if gateway.gateway_kind == "inclusive":
            return len(into) < 2 or self.e.joins[node].kind == "exclusive"
        if len(into) > 1:
            return False
        # k wires into a silent join times m out of a split make a knot nobody can read
        before = self.graph.nodes[into[0].source] if into else None
        return not (
            len(out) > 1
            and isinstance(before, Gateway)
            and before.gateway_kind in ("exclusive", "inclusive")
            and before.id not in self.e.decisions
            and len(self.graph.flows_in(before.id)) > 1
        )

    def _ports(self, flow: Flow) -> tuple[Port, ...]:
        """Where a token on `flow` arrives, through silent gateways."""
        if flow.target not in self.e.silent:
            return (self.e.entry.get((flow.target, flow.id), Port(flow.target)),)
        if flow.target in self.sinks:
            return self.sinks[flow.target]
        for node in self._silent_postorder(flow.target):
            ports: list[Port] = []
            for out in self.graph.flows_out(node):
                if out.target in self.e.silent:
                    ports.extend(self.sinks.get(out.target, ()))
                else:
                    ports.append(self.e.entry.get((out.target, out.id), Port(out.target)))
            self.sinks[node] = tuple(ports)
        return self.sinks[flow.target]

    def _silent_postorder(self, root: str) -> list[str]:
        """Silent gateways from `root` on, each after those it leads to (a ring of silent gateways
        alone never does anything; the checks refuse it, here it ends somewhere)."""

        def ahead(node: str) -> Iterator[str]:
            return (f.target for f in self.graph.flows_out(node) if f.target in self.e.silent)

        order: list[str] = []
        seen = {root}
        work = [(root, ahead(root))]
        while work:
            for target in work[-1][1]:
                if target not in seen and target not in self.sinks:
                    seen.add(target)
                    work.append((target, ahead(target)))
                    break
            else:
                order.append(work.pop()[0])
        return order

    # -- starts, tasks, events -----------------------------------------------------------------

    def _implicit_start(self) -> tuple[Flow, ...]:
        """BPMN 2.0.2, 10.5.2: without a start event all that nothing leads to starts at once; the
        flows there, to be connected when every node has its ports."""
        if any(isinstance(n, Event) and n.position == "start" for n in self.scope.body.nodes):
            return ()
        start = start_key(self.scope.body)
        kind, parameters = self._plain_trigger(start)
        self.workflow_graph.add(
            start,
            "Start",
            kind,
            parameters,
            element=start,
            role="trigger",
            webhook=kind != "manualTrigger" and not self.scope.started_by_call,
        )
        return tuple(
            Flow(id=f"{start}_{node}", source=start, target=node) for node in self.graph.entries
        )

    def _plain_trigger(self, start: str) -> tuple[str, dict[str, Any]]:
        """Type and parameters of the trigger by which a scope starts where nothing else does."""
        if self.scope.started_by_call:
            from orgflow.backends.n8n.node_types import execute_workflow_trigger

            return execute_workflow_trigger.NODE.name, execute_workflow_trigger.taking_all()
        if self.scope.on_error:
            from orgflow.backends.n8n.node_types import error_trigger

            return error_trigger.NODE.name, {}
        if self.ctx.options.get(TRIGGER) == "webhook":
            from orgflow.backends.n8n.node_types import webhook

            return webhook.NODE.name, webhook.posted_to(self._address(self.scope.title))
        if not self.by_page:
            return "manualTrigger", {}
        from orgflow.backends.n8n.emit.forms import fields_of, plan_start
        from orgflow.backends.n8n.node_types import form_trigger

        page = plan_start(self.e, start, self.ctx)
        if page is None:
            return "manualTrigger", {}
        if page.fields:
            self.e.forms = {**self.e.forms, start: page}
        path = self._address(self.scope.title)
        return form_trigger.NODE.name, form_trigger.opened_at(
            path, self.scope.title, fields_of(page)
        )

    @cached_property
    def by_page(self) -> bool:
        """Whether a plain start is a page: where a run comes to a form, here or in what it calls,
        unless the option says otherwise."""
        wanted = self.ctx.options.get(TRIGGER, "auto")
        if wanted in ("manual", "webhook"):
            return False
        if wanted != "auto" or self.e.forms or self._has_start_form:
            return True
        if self.ctx.options.get(PEOPLE) == PLACEHOLDER:
            return False
        called = called_from(self.scope.process, self.scope.model)
        nodes = (node for process in called for node in process.nodes)
        return any(isinstance(n, Task) and n.task_type in ("user", "manual") for n in nodes)

    @property
    def _has_start_form(self) -> bool:
        """Whether the model defines a form by which the process starts."""
        return any(
            isinstance(n, Event) and isinstance(n.binding, Form) and n.binding.fields
            for n in self.scope.body.nodes
        )

    def _call(self, caller: SubProcess | CallActivity, called: WorkflowScope) -> None:
        """A node that calls a workflow and waits for its end."""
        from orgflow.backends.n8n.node_types import execute_workflow

        self.calls = True
        if isinstance(caller, CallActivity) and not states_data(caller):
            self._report_unstated(caller)
        said = notes.call(caller, called.title)
        made = execute_workflow.NODE.name, execute_workflow.call_parameters(called.workflow_id)
        self._calling(caller, made, said)

    def _stub_call(self, task: Task) -> bool:
        """Whether a task stands for the call of a process that is not in the model, and became a
        call of the workflow that stands for the process, with the same mappings."""
        if not isinstance(task.binding, SubProcessCall):
            return False
        from orgflow_ir.work.tasks import call_mappings

        made = None if call_mappings(task).unread else self._named_work(task)
        if made is None:
            return False
        self.e.stubs_called.add(task.id)
        named = self.e.named_work[task.id]
        decisions = self.setters.get(task.id, [])
        said = notes.named_work(task, decisions, f"{named.kind} {named.name}", self.ctx)
        self._calling(task, made, said)
        return True

    def _calling(
        self,
        caller: SubProcess | CallActivity | Task,
        made: tuple[str, dict[str, Any]],
        said: list[str],
    ) -> None:
        """The node `made` that calls a workflow, with the nodes that compute what it hands over and
        takes back."""
        computes = not isinstance(caller, SubProcess) and self._hands_over(caller)
        kind, parameters = made
        self.workflow_graph.add(
            caller.id, caller.name, kind, parameters, element=caller.id, notes=said
        )
        if computes:
            self.workflow_graph.connect(Port(HelperKey(caller.id, "inputs")), Port(caller.id))
        if not isinstance(caller, SubProcess) and takes_computed(caller):
            name = f"{self.workflow_graph.nodes[caller.id].name} outputs"
            key = self._beside(caller.id, "outputs", name, notes.mapping(before=False))
            self.workflow_graph.connect(Port(caller.id), Port(key))
            for flow in self.graph.flows_out(caller.id):
                self.e.exits[flow.id] = Port(key)

    def _report_unstated(self, call: CallActivity) -> None:
        """OF427, where the engine is not known, either."""
        if self.scope.process.dialect is not None:
            return
        self.ctx.emit(
            UnstatedCallData,
            f"{self.ctx.name(call)} does not state which variables it passes: all variables are "
            "passed to the called process and returned",
            element=call.id,
            loc=call.loc,
            help="name the variables in the call, or the engine in the file: most engines pass "
            "only the variables that a call names",
        )

    def _hands_over(self, call: CallActivity | Task) -> bool:
        """Whether a node computes what a call hands over; its mappings are written at the end."""
        if not hands_computed(call) and not takes_computed(call):
            return False
        from orgflow_ir.work.statements import Evaluate
        from orgflow_ir.work.tasks import Work, call_mappings

        mappings = call_mappings(call)
        self.e.mapped[call.id] = mappings
        if not hands_computed(call):
            return False
        self.e.work[call.id] = Work(before=tuple(Evaluate(value) for _, value in mappings.inputs))
        self._before(call.id, f"{call.name or call.id} inputs", notes.mapping(before=True))
        return True

    def _stub(self, stub: Opaque, reason: str) -> None:
        """A node that stops the run where it would reach what n8n does not support; a placeholder
        behind it, which nothing leads to, is wired onward as the element is."""
        from orgflow.backends.n8n.node_types import stop_and_error

        from orgflow_ir.legalisation.stubs import is_guard

        label = stub.name or _stub_words(stub, self.ctx)
        if not is_guard(stub):
            placeholder = self.workflow_graph.add(stub.id, label, "noOp", {}, element=stub.id)
            placeholder.notes += notes.stub(stub, reason)
        implicit = [flow for flow in self.started if flow.target == stub.id]
        into = [*self.graph.flows_in(stub.id), *implicit]
        if not into:
            return
        key = HelperKey(stub.id, "stub")
        self.workflow_graph.add(
            key,
            f"Stop: {label}",
            "stopAndError",
            stop_and_error.stop_parameters(plain(reason)),
            element=stub.id,
            role="stub",
        )
        for flow in into:
            self.e.entry[(stub.id, flow.id)] = Port(key)

    def _form(self, task: Task, form: TaskForm) -> None:
        """A task of a person: a Wait with a form, and what makes variables of the answers."""
        from orgflow.backends.n8n.emit import forms

        counter = self._count_rounds(task) if form.again else ""
        said = self._say_of(task, form.by)
        computed = ""
        if said is not None and said.work.before:
            from orgflow_ir.work.people import TEXT

            said_there = notes.about(mapped=bool(said.inputs) or TEXT in said.computed)
            self._before(task.id, f"{task.name or task.id} inputs", said_there)
            computed = self.workflow_graph.nodes[HelperKey(task.id, "inputs")].name
        page = forms.Page(self.scope.lanes, counter, said, computed)
        if form.by:
            from orgflow.backends.n8n.emit.asking import asking_node

            made = asking_node(form.by, task, form, page, self.ctx)
            node = self.workflow_graph.add(
                task.id, task.name, made.type, made.parameters, element=task.id
            )
            node.notes += notes.asked(task, made, self.ctx)
        else:
            parameters = forms.parameters(task, form, page)
            node = self.workflow_graph.add(
                task.id, task.name, "wait", parameters, element=task.id, webhook=True
            )
        node.notes += notes.form(task, form.variables, said, self.defaults, self.ctx)
        first: NodeKey = task.id
        if form.again:
            first = HelperKey(task.id, "round")
            self.workflow_graph.connect(Port(first), Port(task.id))
        if computed:
            self.workflow_graph.connect(Port(HelperKey(task.id, "inputs")), Port(first))
        last: NodeKey = task.id
        if said is not None and said.work.after:
            last = self._beside(
                task.id, "outputs", f"{node.name} outputs", notes.mapping(before=False)
            )
            self.workflow_graph.connect(Port(task.id), Port(last))
            for flow in self.graph.flows_out(task.id):
                self.e.exits[flow.id] = Port(last)
        if form.fields:
            key = HelperKey(task.id, "data")
            self.workflow_graph.add(
                key, f"{node.name} data", "set", {}, element=task.id, role="data"
            )
            self.workflow_graph.connect(Port(last), Port(key))
            for flow in self.graph.flows_out(task.id):
                self.e.exits.pop(flow.id, None)

    def _say_of(self, task: Task, by: str) -> About | None:
        """What the page of a task says of it, who is asked `by` a channel; `None` where the model
        says nothing."""
        from orgflow_ir.facts.notes import own_text
        from orgflow_ir.work.form_fields import describes

        if not describes(task, doc := own_text(task.doc)):
            return None
        from orgflow_ir.work.people import about_task

        found = about_task(task, doc)
        if by == "mail":
            from orgflow.backends.n8n.emit.asking import reached

            found = reached(found, task, self.ctx)
        if found.work.before or found.work.after:
            self.e.work[task.id] = found.work
        return found

    def _count_rounds(self, task: Task) -> str:
        """In front of a form that a run may come to again a node that counts, so that the page of
        an earlier round answers nothing; its name."""
        from orgflow.backends.n8n.emit.forms import ROUND
        from orgflow.backends.n8n.node_types.conditions import make_expression

        key = HelperKey(task.id, "round")
        fields = [(ROUND, make_expression("$runIndex"), "number")]
        name = f"{task.name or task.id} round"
        parameters = set_.assign_parameters(fields, str(key))
        node = self.workflow_graph.add(key, name, "set", parameters, element=task.id, role="round")
        node.notes.append(
            "Counts the iterations, so that the page of an earlier iteration has no effect."
        )
        self._enter_by(task.id, key)
        return node.name

    def _guard(self, guards: Mapping[str, str]) -> None:
        """Behind the form of each task a node that leads back to it where it was not answered: the
        page of another form was sent again, or an answer breaks a rule. `guards` is the code for
        whether it was, by the task."""
        from orgflow.backends.n8n.node_types import if_
        from orgflow.backends.n8n.node_types.conditions import is_true

        graph = self.workflow_graph
        added: dict[str, GraphNode] = {}
        for task, code in guards.items():
            name = graph.nodes[task].name
            added[task] = graph.add(
                HelperKey(task, "guard"),
                f"{name} answered?",
                if_.NODE.name,
                if_.test_parameters(is_true(code, f"{task}/guard")),
                element=task,
                role="guard",
            )
            added[task].notes.append(
                f"Asks again if the answer to “{name}” is invalid: the page of another form, or a "
                "value that violates a rule."
            )
        moved = {Port(task): Port(node.key) for task, node in added.items()}
        graph.wires = Wires(
            {
                (moved.get(source, source), target): flow
                for (source, target), flow in graph.wires.items()
            }
        )
        for task, node in added.items():
            graph.connect(Port(task), Port(node.key))
            graph.connect(Port(node.key, 1), Port(task))
        nodes: dict[NodeKey, GraphNode] = {}
        for key, node in graph.nodes.items():
            if node.role != "guard":
                nodes[key] = node
            if isinstance(key, str) and key in added:
                nodes[added[key].key] = added[key]
        graph.nodes = nodes

    def _sent(self, element: Task | Event) -> bool:
        """Whether an element sends a message, and became a request where the option says so."""
        base = str(self.ctx.options.get(MESSAGES, PLACEHOLDER))
        if base == PLACEHOLDER or self.setters.get(element.id):
            return False
        from orgflow.backends.n8n.emit.messages import request_of, sends_message

        if not sends_message(element):
            return False
        kind, name, work, made = request_of(element, self.scope.model, self.ctx, base)
        self.e.work[element.id] = work
        label = element.name or (_event_words(element) if isinstance(element, Event) else "")
        self._before(element.id, f"{label or element.id} inputs", notes.mapping(before=True))
        node = self.workflow_graph.add(
            element.id, label, made.type, made.parameters, element=element.id
        )
        node.notes += notes.message(element, kind, name, made, self.defaults)
        self.workflow_graph.connect(Port(HelperKey(element.id, "inputs")), Port(element.id))
        return True

    def _task(self, task: Task) -> None:
        form = self.e.forms.get(task.id)
        if form is not None:
            self._form(task, form)
            return
        if self._sent(task) or self._stub_call(task):
            return
        decisions = self.setters.get(task.id, [])
        work = self._work(task, decisions) if task.binding is not None else None
        if work is not None and work.steps is not None and not decisions:
            # its code needs the names of nodes around it, so it is written at the end
            node = self.workflow_graph.add(task.id, task.name, "code", {}, element=task.id)
            node.notes += notes.computed(task, work)
            return
        if work is not None and work.before:
            self._before(task.id, f"{task.name or task.id} inputs", notes.mapping(before=True))
        outside = self._outside(task, work)
        awaited = task.id in self.e.received
        called = self._named_work(task) if outside is None and not awaited else None
        fields = [f for d in decisions for f in _fields(d)]
        if outside is not None:
            kind, parameters = outside.type, outside.parameters
        elif called is not None:
            kind, parameters = called
        elif awaited:
            from orgflow.backends.n8n.node_types import wait

            suffix = self._address(task.name)
            kind, parameters = "wait", wait.for_call(suffix)
        else:
            kind = "set" if fields else "noOp"
            parameters = set_.assign_parameters(fields, task.id) if fields else {}
        node = self.workflow_graph.add(
            task.id, task.name, kind, parameters, element=task.id, webhook=awaited
        )
        if outside is not None:
            node.switches = outside.more
            node.version = outside.version
            node.notes += notes.outside(task, outside, self.ctx)
        elif called is not None:
            named = self.e.named_work[task.id]
            node.notes += notes.named_work(
                task, decisions, f"{named.kind} {named.name}", self.ctx, work
            )
        elif awaited:
            node.notes += notes.receive(task, suffix, decisions, self.defaults, self.ctx, work)
        else:
            node.notes += notes.task(task, decisions, self.defaults, self.ctx, work)
        if work is not None and work.before:
            self.workflow_graph.connect(Port(HelperKey(task.id, "inputs")), Port(task.id))
        if work is not None and work.after:
            self._beside(task.id, "outputs", f"{node.name} outputs", notes.mapping(before=False))
            self.workflow_graph.connect(Port(task.id), Port(HelperKey(task.id, "outputs")))
            for flow in self.graph.flows_out(task.id):
                self.e.exits[flow.id] = Port(HelperKey(task.id, "outputs"))

    def _named_work(self, task: Task) -> tuple[str, dict[str, Any]] | None:
        """Type and parameters of the node that calls a workflow for the work that a task names,
        where the option says so; `None` where it names none."""
        if self.ctx.options.get("stubs") != "workflow":
            return None
        from orgflow.backends.n8n.emit.named_work import named_work
        from orgflow.backends.n8n.node_types import execute_workflow

        found = named_work(task)
        if found is None:
            return None
        self.e.named_work[task.id] = found
        first = executable_processes(self.scope.model)[0]
        called = found.scope(self.scope.model, first)
        return execute_workflow.NODE.name, execute_workflow.call_parameters(called.workflow_id)

    def _before(self, element: str, name: str, said: list[str]) -> None:
        """A node in front of an element that computes what it is given."""
        self._enter_by(element, self._beside(element, "inputs", name, said))

    def _enter_by(self, element: str, key: NodeKey) -> None:
        """Lead what leads to an element to the node in front of it."""
        implicit = (flow for flow in self.started if flow.target == element)
        for flow in (*self.graph.flows_in(element), *implicit):
            self.e.entry[(element, flow.id)] = Port(key)

    def _beside(self, element: str, role: Role, name: str, said: list[str]) -> NodeKey:
        added = self.workflow_graph.add(
            HelperKey(element, role), name, "code", {}, element=element, role=role
        )
        added.notes += said
        return added.key

    def _waiting(self, event: Event, definition: EventDefinition | None) -> Work | None:
        """What computes until when an event waits; `None` where nothing says when."""
        if definition is None or definition.time is None:
            return None
        from orgflow_ir.work.waiting import waiting_until

        work = waiting_until(definition)
        self.e.work[event.id] = work
        return work

    def _outside(self, task: Task, work: Work | None) -> OutsideNode | None:
        """The node of the request or mail that a task is; `None` where it is neither."""
        if work is None or work.act is None or task.binding is None:
            return None
        from orgflow.backends.n8n.emit.outside import outside_node
        from orgflow.backends.n8n.plan.target_options import SENDER

        sender = str(self.ctx.options.get(SENDER, ""))
        return outside_node(work.act, task.binding, sender, work.after)

    def _work(self, task: Task, decisions: list[Decision]) -> Work | None:
        """What a task computes; `None` where that is nothing."""
        from orgflow.backends.n8n.emit.computed import work_in

        from orgflow_ir.work.tasks import Unread, Work

        work = work_in(task, self.ctx)
        if work.act is not None and decisions:
            names = ", ".join(f"`{decision.variable}`" for decision in decisions)
            work = Work(unread=(Unread("request", "", f"none of its answers sets {names}"),))
        if not work.statements and work.steps is None and not work.unread and work.act is None:
            return None
        self.e.work[task.id] = work
        return work

    def _event(self, event: Event) -> None:
        if event.position == "start":
            self._start(event)
            return
        if self._sent(event) or self._checked(event):
            return
        definition = event.definitions[0] if event.definitions else None
        kind, parameters, called = "noOp", {}, False
        if event.position == "boundary" and event.trigger == "error":
            from orgflow.backends.n8n.emit.failures import keeping_the_error

            kind, parameters = "set", keeping_the_error(event)
        text = definition.expression.text if definition and definition.expression else ""
        suffix = ""
        open_time = False
        if event.position == "catch" and event.trigger in ("timer", *_BROUGHT):
            from orgflow.backends.n8n.node_types import wait
        if event.position == "catch" and event.trigger == "timer":
            kind = "wait"
            found = wait.for_timer(definition)
            work = self._waiting(event, definition) if found is None else None
            if work is not None:
                from orgflow_ir.work.waiting import UNTIL

                found = wait.until_field(UNTIL)
                self._before(event.id, f"{event.name or _event_words(event)} time", notes.moment())
            open_time = found is None
            parameters, called = found or wait.for_interval(0, "seconds"), True
        elif event.position == "catch" and event.trigger in _BROUGHT:
            suffix = self._address(event.caption)
            kind, parameters, called = "wait", wait.for_call(suffix), True
        elif event.position == "end" and event.trigger == "error":
            from orgflow.backends.n8n.node_types import stop_and_error

            kind, parameters = (
                "stopAndError",
                stop_and_error.stop_parameters(self._error_text(definition)),
            )
        node = self.workflow_graph.add(
            event.id,
            event.name or _event_words(event),
            kind,
            parameters,
            element=event.id,
            webhook=called,
        )
        if event.id in self.e.work:
            self.workflow_graph.connect(Port(HelperKey(event.id, "inputs")), Port(event.id))
        if event.position == "catch" and event.trigger in _BROUGHT and event.binding is not None:
            self._takes(event, node)
        if event.position == "boundary" and event.binding is not None:
            node.notes += self._unread_of_error(event, event.binding)
        node.notes += notes.event(event, open_time, text, suffix, self.defaults)

    def _takes(self, event: Event, node: GraphNode) -> None:
        """Behind an event a node with what its mappings make of what comes."""
        from orgflow_ir.work.tasks import work_by

        assert event.binding is not None
        work = work_by(event.binding, None)
        if work.unread:
            node.notes += notes.unread_mapping(event, work.unread, self.ctx)
        if not work.after:
            return
        self.e.work[event.id] = work
        self._beside(event.id, "outputs", f"{node.name} outputs", notes.mapping(before=False))
        self.workflow_graph.connect(Port(event.id), Port(HelperKey(event.id, "outputs")))
        for flow in self.graph.flows_out(event.id):
            self.e.exits[flow.id] = Port(HelperKey(event.id, "outputs"))

    def _unread_of_error(self, event: Event, binding: AnyBinding) -> list[str]:
        """Note of mappings of what comes with an error beside its code and message."""
        from orgflow_ir.work.tasks import Unread

        reason = "the data of an error other than its code and message is unknown"
        unread = [
            Unread(f"output mapping `{one.name}`", one.text, reason)
            for one in binding.outputs
            if one.language != "variable"
        ]
        return notes.unread_mapping(event, unread, self.ctx) if unread else []

    def _checked(self, event: Event) -> bool:
        """Whether an event waits for a condition that nothing can change while it waits, and became
        a node that stops the run where it does not hold."""
        if event.construct != "event.catch.conditional":
            return False
        from orgflow_ir.flow.concurrency.model_concurrency import concurrency_of
        from orgflow_ir.work.waiting import holding

        if concurrency_of(self.scope.model, self.ctx).beside(event.id):
            return False
        words = plain(event.name) or "The event"
        (definition,) = event.definitions
        work = holding(
            definition,
            f"{words} waits for a condition that does not hold, and nothing else is active that "
            "could change it.",
        )
        if work is None:
            return False
        self.e.work[event.id] = work
        name = event.name or _event_words(event)
        node = self.workflow_graph.add(event.id, name, "code", {}, element=event.id)
        node.notes += notes.condition(event, self.defaults)
        return True

    def _error_text(self, definition: EventDefinition | None) -> str:
        """The message of an error, by its entry of the catalogue."""
        from orgflow.backends.n8n.emit.failures import NO_CODE

        ref = definition.ref if definition is not None else None
        entry = next((e for e in self.scope.model.catalog.errors if e.id == ref), None)
        words = plain(entry.name) if entry is not None else ""
        code = plain(entry.code or "") if entry is not None else ""
        return ": ".join(dict.fromkeys(w for w in (code, words) if w)) or plain(ref or NO_CODE)

    def _start(self, event: Event) -> None:
        kind, parameters, called = "manualTrigger", dict[str, Any](), False
        definition = event.definitions[0] if event.definitions else None
        triggers = [n for n in self.workflow_graph.nodes.values() if n.role == "trigger"]
        first = not any(n.type == "manualTrigger" for n in triggers)
        if self.scope.started_by_call or event.trigger == "none":
            kind, parameters = self._plain_trigger(event.id)
            called = kind in ("formTrigger", "webhook")
        schedule = None
        if event.trigger == "timer":
            from orgflow.backends.n8n.node_types import n8n_trigger, schedule_trigger

            schedule = schedule_trigger.for_timer(definition)
            once = n8n_trigger.for_timer(definition)
            if schedule is not None:
                kind, parameters = "scheduleTrigger", schedule
            elif once is not None:
                kind, parameters = "n8nTrigger", once
                schedule = once
        if event.trigger in _BROUGHT or (kind == "manualTrigger" and not first):
            from orgflow.backends.n8n.node_types import webhook

            path = self._address(self.scope.title, event.caption)
            kind, called = "webhook", True
            parameters = webhook.posted_to(path)
        node = self.workflow_graph.add(
            event.id,
            event.name or "Start",
            kind,
            parameters,
            element=event.id,
            role="trigger",
            webhook=called,
        )
        page = self.e.forms.get(event.id)
        if page is not None:
            key = HelperKey(event.id, "data")
            name = f"{node.name} data"
            self.workflow_graph.add(key, name, "set", {}, element=event.id, role="data")
            self.workflow_graph.connect(Port(event.id), Port(key))
            node.notes.append(f"Asks for {join_listed(page.variables)}.")
        if kind == "manualTrigger" and event.trigger == "none" and self.by_page:
            node.notes.append("Started manually: a gateway reads the input of the run.")
        decisions = self.setters.get(event.id, [])
        if event.binding is not None and kind == "webhook":
            self._takes(event, node)
        node.notes += notes.start(
            event, kind, schedule is None, decisions, self.scope.body, self.defaults
        )

    def _address(self, *words: str) -> str:
        """Static text for a URL, unlike every other in this workflow."""
        parts = [slug(w, words=5).replace("_", "-") for w in words]
        base = "-".join(dict.fromkeys(p for p in parts if p)) or "process"
        address, number = base, 2
        while address in self.addresses:
            address, number = f"{base}-{number}", number + 1
        self.addresses.add(address)
        return address

    # -- joins ---------------------------------------------------------------------------------

    def _join(self, gateway: Gateway) -> None:
        """A parallel or inclusive join as Merge, or a node for a knot (`_is_silent`)."""
        into = self.graph.flows_in(gateway.id)
        if len(into) < 2 or gateway.gateway_kind == "exclusive":
            name = gateway.name or f"Split before {_next_words(gateway, self.graph)}"
            self.workflow_graph.add(
                gateway.id, name, "noOp", {}, element=gateway.id
            ).notes += notes.gateway(gateway)
            return
        join = self.e.joins.get(gateway.id)
        partial = join is not None and join.kind == "partial"
        name = gateway.name or f"Join before {_next_words(gateway, self.graph)}"
        count = min(len(into), MERGE_INPUTS)
        node = self.workflow_graph.add(
            gateway.id, name, "merge", merge.by_position(count, partial=partial), element=gateway.id
        )
        node.notes += notes.gateway(gateway)
        for flow, port in zip(into, self._inputs(node, len(into), partial), strict=True):
            self.e.entry[(gateway.id, flow.id)] = port

    def _inputs(self, node: GraphNode, wanted: int, partial: bool) -> list[Port]:
        """Ports for `wanted` branches: inputs of the Merge, or of Merges in front of it."""
        if wanted <= MERGE_INPUTS:
            return [Port(node.key, i) for i in range(wanted)]
        result: list[Port] = []
        shares = [wanted // MERGE_INPUTS + (i < wanted % MERGE_INPUTS) for i in range(MERGE_INPUTS)]
        for index, share in enumerate(shares):
            if share == 1:
                result.append(Port(node.key, index))
                continue
            inner = self.workflow_graph.add(
                HelperKey(node.key, "join", index),
                f"{node.name} {index + 1}",
                "merge",
                merge.by_position(min(share, MERGE_INPUTS), partial=partial),
                element=node.element,
                role="join",
            )
            self.workflow_graph.connect(Port(inner.key), Port(node.key, index))
            result.extend(self._inputs(inner, share, partial))
        return result

    # -- decisions -----------------------------------------------------------------------------

    def _reserve_decision(self, decision: Decision) -> None:
        """Name and place of a deciding gateway; its parameters need the names of the setters."""
        gateway = decision.gateway
        name = gateway.name
        if not name:
            before = preceding_words(gateway.id, self.graph)
            name = f"Choice after {before}" if before else "Choice"
        node = self.workflow_graph.add(gateway.id, name, "if", {}, element=gateway.id)
        node.notes += notes.decision(decision, self.defaults, asked=decision.setter in self.e.forms)
        if decision.values and decision.setter == gateway.id:
            key = decide_key(gateway.id)
            setter = self.workflow_graph.add(
                key,
                f"Decide: {name}",
                "set",
                set_.assign_parameters(_fields(decision), str(key)),
                element=gateway.id,
                role="decide",
            )
            setter.notes += notes.decide(decision)
            self.workflow_graph.connect(Port(key), Port(gateway.id))
            implicit = (f for f in self.started if f.target == gateway.id)
            for flow in (*self.graph.flows_in(gateway.id), *implicit):
                self.e.entry[(gateway.id, flow.id)] = Port(key)

    def _decision(self, decision: Decision) -> None:
        from orgflow.backends.n8n.emit.decisions import emit_decision

        emit_decision(decision, self.e)


def _fields(decision: Decision) -> list[tuple[str, object, str]]:
    if not decision.values:
        return []
    if decision.several:
        return [(decision.variable, "[]", "array")]
    return [(decision.variable, "", "string")]


def _stub_words(stub: Opaque, ctx: PassContext) -> str:
    """What a stub without a label is called: as messages name the element."""
    return plain(ctx.name(stub).replace("`", ""))


def _event_words(event: Event) -> str:
    return {
        "end": "End",
        "throw": "Send" if event.trigger in _BROUGHT else "Milestone",
        "boundary": event.trigger.capitalize(),
    }.get(event.position, f"Wait for {event.trigger}")


def _next_words(gateway: Gateway, graph: ControlFlow) -> str:
    out = graph.flows_out(gateway.id)
    if not out:
        return "the end"
    return target_words(out[0], graph) or "what follows"
