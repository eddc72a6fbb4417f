"""All gaps of a model as read from its source, independent of any target."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from orgflow_ir.diagnostics import Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.control_flow.signals import other_end
from orgflow_ir.gaps import gap_rules, schemas
from orgflow_ir.gaps.gap import Gap
from orgflow_ir.gaps.implementation import has_implementation
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Loop,
    Model,
    Node,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.element_names import ElementNames, join_listed, one_line
from orgflow_ir.model.evidence import DOUBT
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.gateway_decisions import (
    Decision,
    DecisionConventions,
    DecisionMemory,
    with_gateways,
)

if TYPE_CHECKING:
    from orgflow_ir.gaps import setters as variable_setters
    from orgflow_ir.gaps import timer_times
    from orgflow_ir.model import timer_values
    from orgflow_ir.program import syntax
    from orgflow_ir.program.syntax import Path
    from orgflow_ir.work import process_variables, repetition, tasks, waiting
    from orgflow_ir.work.process_variables import Variables
else:  # models with timers, variables, mappings or repeated steps
    variable_setters = LazyModule("orgflow_ir.gaps.setters")
    timer_times = LazyModule("orgflow_ir.gaps.timer_times")
    timer_values = LazyModule("orgflow_ir.model.timer_values")
    syntax = LazyModule("orgflow_ir.program.syntax")
    process_variables = LazyModule("orgflow_ir.work.process_variables")
    repetition = LazyModule("orgflow_ir.work.repetition")
    tasks = LazyModule("orgflow_ir.work.tasks")
    waiting = LazyModule("orgflow_ir.work.waiting")

CONVENTIONS = DecisionConventions()
"""Names of decision variables in gaps and their schemas."""

_BRACED = r"[$#]\{\s*([^{}]*?)\s*\}"
_MOST_NAMED = 3
"""Maximum number of possible setters that a help text names."""

_WAITS = frozenset(("message", "signal", "conditional"))


def find_gaps(model: Model, ctx: PassContext) -> tuple[Gap, ...]:
    """Every gap, scope by scope in the model's order; graphs and names are kept in `ctx`."""
    finder = _Finder(model, ctx)
    return tuple(gap for scope in model.scopes() for gap in finder.scope(scope))


class _Deciding(NamedTuple):
    """A scope with a gateway behind each activity that chooses among its flows."""

    graph: ControlFlow
    decisions: dict[str, Decision]
    owners: dict[str, Node]
    """The activities, by the gateways."""


_WAITED_FOR = {
    "signal": "a signal, but the model does not define its sender",
    "conditional": "a condition, but the model does not define what evaluates it",
}
"""The object that an event waits for, and the open part of it, by its trigger."""


class _Finder:
    def __init__(self, model: Model, ctx: PassContext) -> None:
        self.ctx, self.model = ctx, model
        self.names = ctx.analysis(ElementNames, model)
        self.thrown = {
            d.ref
            for scope in model.scopes()
            for n in scope.nodes
            if isinstance(n, Event) and n.position in ("throw", "end")
            for d in n.definitions
            if d.kind == "signal" and d.ref is not None
        }
        """Signals that the model itself throws: nothing outside has to."""
        self.senders: dict[str, list[str]] = {}
        self.receivers: dict[str, list[str]] = {}
        for flow in model.message_flows:
            self.senders.setdefault(flow.target, []).append(flow.source)
            self.receivers.setdefault(flow.source, []).append(flow.target)

        self.model = model
        self._deciding: dict[str, _Deciding] = {}
        self._variables: dict[str, Variables] = {}

    def deciding(self, scope: Scope) -> _Deciding:
        if scope.id not in self._deciding:
            graph = self.ctx.analysis(ControlFlow, scope)
            asking, owners = with_gateways(scope, graph)
            if owners:
                graph = ControlFlow(asking)
            decisions = self.ctx.shared(DecisionMemory).decisions(graph, CONVENTIONS)
            self._deciding[scope.id] = _Deciding(graph, decisions, owners)
        return self._deciding[scope.id]

    def variables(self, scope: Scope) -> process_variables.Variables:
        if scope.id not in self._variables:
            graph, decisions, _ = self.deciding(scope)
            self._variables[scope.id] = process_variables.Variables(graph, decisions, self.ctx)
        return self._variables[scope.id]

    @functools.cached_property
    def setters(self) -> variable_setters.Setters:
        return variable_setters.Setters(self.model, self.variables, self.ctx)

    @functools.cached_property
    def executable(self) -> frozenset[str]:
        """The scopes of executable processes."""
        processes = [process for process in self.model.processes if process.executable]
        return frozenset(scope.id for process in processes for scope in process.scopes())

    def scope(self, scope: Scope) -> Iterator[Gap]:
        graph, decisions, owners = self.deciding(scope)
        chosen_by = {owner.id: decisions[gateway] for gateway, owner in owners.items()}
        yield from self._start_gaps(scope)
        for node in scope.nodes:
            if node.extra:
                yield from self._doubt_gaps(node, scope)
            if isinstance(node, Task):
                yield from self._task_gaps(node, scope)
            elif isinstance(node, Event):
                yield from self._event_gaps(node, scope)
            elif isinstance(node, Gateway) and node.id in decisions:
                yield from self._decision_gaps(decisions[node.id], node, scope, graph)
            elif isinstance(node, Gateway):
                yield from self._single_branch(node, scope, graph)
            if isinstance(node, (Task, CallActivity, Event)):
                binding = node.binding
                if binding is not None and (binding.inputs or binding.outputs):
                    yield from self._mapping_gaps(node, scope)
            if isinstance(node, (Task, SubProcess, CallActivity)) and node.loop is not None:
                yield from self._list_gaps(node, node.loop, scope)
            if node.id in chosen_by:
                yield from self._decision_gaps(chosen_by[node.id], node, scope, graph)

    def _doubt_gaps(self, node: Node, scope: Scope) -> Iterator[Gap]:
        """What the author of a node was unsure about: only a person can decide it."""
        if any(key == DOUBT for key, _ in node.extra):
            yield Gap(
                "doubt", gap_rules.OpenDoubt, node, scope.id,
                f"the author was unsure about {self.names.full_name(node)}",
                "ask somebody who knows the process, then correct the model or remove the mark",
                None, "keep it as it is",
            )  # fmt: skip

    # -- tasks -------------------------------------------------------------------------------

    def _task_gaps(self, task: Task, scope: Scope) -> Iterator[Gap]:
        if has_implementation(task):
            return
        named = self.names.full_name(task, article=False)
        if task.task_type == "receive":
            yield Gap(
                "message", gap_rules.OpenMessage, task, scope.id,
                f"{named} waits for {self._message_text(task)}",
                "bind the task to the channel of the message", schemas.BINDING,
                "wait for an external call",
            )  # fmt: skip
            return
        yield Gap(
            "task", gap_rules.OpenTask, task, scope.id, f"{named} has no implementation",
            "bind it to a script, a service, a form or the inbox of a person", schemas.BINDING,
            "emit a placeholder that passes its input on",
        )  # fmt: skip

    def _mapping_gaps(self, node: Task | CallActivity | Event, scope: Scope) -> Iterator[Gap]:
        """Variables that the mappings of an activity read, and of which nothing says who sets
        them: one gap for each side."""
        named = self.names.full_name(node, article=False)
        open_reads: dict[str, list[Path]] = {}
        for side, path in tasks.mapping_reads(node):
            if side == "output" and isinstance(node, CallActivity):
                is_set = self.setters.is_set_in_callee(path, node)
            else:
                is_set = self.setters.is_set(path, node.id, scope)
            if not is_set:
                open_reads.setdefault(side, []).append(path)
        for of, paths in open_reads.items():
            read = join_listed(f"`{'.'.join(path)}`" for path in paths)
            them = "them" if len(paths) > 1 else "it"
            yield Gap(
                "variable", gap_rules.OpenMapping, node, scope.id,
                f"the {of} mapping of {named} reads {read}, but the model does not define which "
                f"step sets {them}",
                f"let {self._possible_setters(node, of, scope)} set {them}", None,
                "stop the run if a variable is not set",
            )  # fmt: skip

    def _possible_setters(self, node: Task | CallActivity | Event, side: str, scope: Scope) -> str:
        """Who may set what a mapping reads, by name."""
        if side == "output" and isinstance(node, CallActivity):
            return f"the process that {self.names.name(node)} calls"
        itself = [node.id] if side == "output" else []
        ids, number = self.setters.possible(
            node.id, scope, _MOST_NAMED, without=node.id if itself else ""
        )
        names = [self.names.name(id) for id in (*itself, *ids)][:_MOST_NAMED]
        if (others := len(itself) + number - len(names)) > 0:
            names.append(f"{others} other steps")
        return join_listed([*names, "the input of the run"], last="or")

    def _list_gaps(self, node: Node, loop: Loop, scope: Scope) -> Iterator[Gap]:
        if loop.kind == "standard":
            counted = loop.maximum is not None and not loop.test_before
            if loop.condition is None and not counted:
                when = "before" if loop.test_before else "after"
                yield Gap(
                    "repetition", gap_rules.OpenDecision, node, scope.id,
                    f"no condition decides how often {self.names.name(node)} is repeated",
                    "add a loop condition or a maximum to its marker", None,
                    f"ask {when} each iteration whether there is another one",
                )  # fmt: skip
            return
        if loop.cardinality is not None or isinstance(node, CallActivity):
            return

        list_text = repetition.list_of(loop)
        named = self.names.name(node)
        braced = re.fullmatch(_BRACED, list_text.strip()) if list_text is not None else None
        list_text = braced[1] if braced is not None else list_text
        if list_text is None:
            yield Gap(
                "list", gap_rules.OpenList, node, scope.id,
                f"{named} is repeated for each item of a list that the model does not name",
                "name the list, or define the number of repetitions", schemas.LIST,
                "ask before each iteration whether there is another item, or refuse",
            )  # fmt: skip
            return
        yield Gap(
            "list", gap_rules.OpenList, node, scope.id,
            f"{named} is repeated for each item of `{one_line(list_text)}`, but the model does not "
            "define which step provides that list",
            "start the run with an input that contains the list", None,
            "read the list from the input of the run",
        )  # fmt: skip

    # -- events ------------------------------------------------------------------------------

    def _event_gaps(self, event: Event, scope: Scope) -> Iterator[Gap]:
        if event.trigger == "message" and has_implementation(event):
            return
        named = self.names.name(event)
        if event.trigger == "timer":
            if timer_times.is_open(event) and not self._is_computed(event, scope):
                yield self._time_gap(event, named, scope)
            return
        waits = event.position in ("start", "catch", "boundary")
        trigger = event.trigger
        if waits and trigger == "signal" and event.definitions[0].ref in self.thrown:
            return
        if waits and trigger in _WAITS:
            what = self._message_text(event) if trigger == "message" else _WAITED_FOR[trigger]
            help_text = "define its channel in the target's workflow"
            default = "wait for an external call"
        elif not waits and self._is_undelivered(event):
            to = self._other_ends(self.receivers, event)
            what = f"a {trigger}{f' to {to}' if to else ''}, but the model does not define how it "
            what += "is delivered"
            help_text = "define the channel used (mail, chat, HTTP) in the target's workflow"
            default = "emit a placeholder that sends nothing"
        else:
            return
        verb = "starts with" if event.position == "start" else "waits for" if waits else "sends"
        yield Gap(
            "message", gap_rules.OpenMessage, event, scope.id, f"{named} {verb} {what}", help_text,
            None, default,
        )  # fmt: skip

    def _is_undelivered(self, event: Event) -> bool:
        """Whether nothing in the model receives what an event sends."""
        if event.trigger == "signal":
            return other_end(event, self.model) is None
        return event.trigger == "message"

    def _is_computed(self, event: Event, scope: Scope) -> bool:
        """Whether the time of an event is computed from what the model says a step before it
        sets."""
        if event.position == "start" or event.definitions[0].time is None:
            return False
        try:
            read = [needed.path for needed in waiting.waiting_until(event.definitions[0]).reads()]
        except syntax.ConditionError:
            return False
        return bool(read) and all(self.setters.is_set(path, event.id, scope) for path in read)

    def _message_text(self, node: Node) -> str:
        """The message that a node receives, and what is open about it."""
        sender = self._other_ends(self.senders, node)
        if sender:
            return f"a message from {sender}, but the model does not define how it arrives"
        return "a message, but the model does not define its sender"

    def _other_ends(self, ends: Mapping[str, list[str]], node: Node) -> str:
        """What is at the other ends of the message flows of a node, by name; empty without any."""
        names = [self.names.name(id) for id in dict.fromkeys(ends.get(node.id, ()))]
        return join_listed(names) if names else ""

    def _time_gap(self, event: Event, named: str, scope: Scope) -> Gap:
        text = next((d.expression.text for d in event.definitions if d.expression is not None), "")
        computed = any(isinstance(d.time, timer_values.Computed) for d in event.definitions)
        severity = None
        if computed:
            message = (
                f"the time of {named} is computed by `{one_line(text)}`, but the model does not "
                "define which step sets its variables"
            )
        elif one_line(text):
            message = f"the time of {named}, `{one_line(text)}`, is not an ISO 8601 time"
        else:
            message = f"{named} has no time"
            severity = Severity.WARNING if scope.id in self.executable else None
        start = event.position == "start"
        help_text = (
            "give the event a cycle such as R/P1D"
            if start
            else "give the event an ISO 8601 duration such as PT2H, or a date with a time zone"
        )
        default = "start by hand" if start else "wait 0 seconds"
        if one_line(text):
            default = "refuse a time that the target does not support"
        return Gap(
            "time", gap_rules.OpenTime, event, scope.id, message, help_text, schemas.TIME, default,
            severity,
        )  # fmt: skip

    def _start_gaps(self, scope: Scope) -> Iterator[Gap]:
        starts = [n for n in scope.nodes if isinstance(n, Event) and n.position == "start"]
        if len(starts) < 2:
            return
        yield Gap(
            "start", gap_rules.OpenStart, scope, scope.id,
            f"{self.names.name(scope)} has {len(starts)} start events, "
            f"{join_listed(self.names.name(s) for s in starts[:4])}"
            f"{' and more' if len(starts) > 4 else ''}; the model does not define which one "
            "begins a run",
            "start the process with one event, or select one when you start a run", None,
            "emit a trigger for each",
        )  # fmt: skip

    # -- gateways ----------------------------------------------------------------------------

    def _decision_gaps(
        self,
        decision: Decision,
        asked: Node,
        scope: Scope,
        graph: ControlFlow,
    ) -> Iterator[Gap]:
        """What is open about a decision; `asked` is the gateway, or the activity that chooses among
        its own flows."""
        named = self.names.name(asked)
        for flow, reason in decision.unread:
            text = one_line(flow.condition.text) if flow.condition is not None else ""
            yield Gap(
                "condition", gap_rules.UnreadCondition, flow, scope.id,
                f"the condition `{text}` of {named} cannot be read: {reason}",
                "write it with comparisons, and, or, not and variables", schemas.CONDITION,
                "select the branch by a value of a decision variable",
            )  # fmt: skip
        if decision.bare:
            several = len(decision.bare) > 1
            to = join_listed(self.names.name(b.flow.target) for b in decision.bare)
            yield Gap(
                "branch", gap_rules.UnlabelledBranch, asked, scope.id,
                f"{'the branches' if several else 'the branch'} of {named} to {to} "
                f"{'have' if several else 'has'} neither a condition nor a label",
                "label each flow with the answer that selects it, or make one the default flow",
                schemas.branch_schema(
                    [b.flow.id for b in decision.bare], has_default=decision.default is not None
                ),
                "name the answer after the branch's target",
            )  # fmt: skip
        if decision.labelled:
            values = {b.flow.id: b.value for b in decision.labelled}
            yield Gap(
                "decision", gap_rules.OpenDecision, asked, scope.id,
                f"no condition decides whether {named} continues with "
                f"{join_listed((f'`{v}`' for v in values.values()), last='or')}",
                f"write a condition on each flow, or let a step set `{decision.variable}` to "
                f"{'a list of these values' if decision.several else 'one of these values'}",
                schemas.decision_schema(decision.variable, values, several=decision.several),
                "read a decision variable, and stop the run if it is not set",
            )  # fmt: skip
        open_paths = [
            path
            for path in decision.coded
            if not self.setters.is_set(path, decision.gateway.id, scope)
        ]
        if open_paths:
            read = join_listed(f"`{'.'.join(path)}`" for path in open_paths)
            them = "them" if len(open_paths) > 1 else "it"
            yield Gap(
                "variable", gap_rules.OpenDecision, asked, scope.id,
                f"the conditions of {named} read {read}, but the model does not define which step "
                f"sets {them}",
                f"let {self._name_setter(decision, graph)} set {them}",
                None, "read the variables from the nearest step before the gateway",
            )  # fmt: skip

    def _name_setter(self, decision: Decision, graph: ControlFlow) -> str:
        if decision.setter == decision.gateway.id:
            return "a step before it"
        setter = graph.nodes[decision.setter]
        if isinstance(setter, Event):  # nothing is done there: it passes on what it is given
            return "the input of the run, or a step before it,"
        return self.names.name(setter)

    def _single_branch(self, gateway: Gateway, scope: Scope, graph: ControlFlow) -> Iterator[Gap]:
        out = graph.flows_out(gateway.id)
        asks = gateway.gateway_kind in ("exclusive", "inclusive")
        label = one_line(out[0].name) if asks and len(out) == 1 else ""
        if label and gateway.id in graph.reachable:
            yield Gap(
                "single-branch", gap_rules.SingleBranch, gateway, scope.id,
                f"{self.names.name(gateway)} has only one branch, `{label}`, which is always taken",
                "add the other branch, or remove the gateway", None,
                "take the branch",
            )  # fmt: skip
