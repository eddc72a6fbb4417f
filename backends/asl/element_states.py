"""The state of a single element: placeholder, callback, wait, Map, failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from orgflow.backends.asl import gaps, times
from orgflow.backends.asl.collections import collection_of
from orgflow.backends.asl.format import Definition, State
from orgflow.backends.asl.graph import branch_fields
from orgflow.backends.asl.names import error_name, path_of

from orgflow_ir.diagnostics import Severity
from orgflow_ir.gaps import Defaults
from orgflow_ir.gaps.gap_rules import OpenList, OpenMessage, OpenTask, OpenTime
from orgflow_ir.gaps.timer_times import is_open
from orgflow_ir.model import (
    CallActivity,
    CatalogEntry,
    Event,
    Gateway,
    Model,
    Node,
    Opaque,
    SubProcess,
    Task,
)
from orgflow_ir.model.element_names import join_listed, one_line
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.target_rules import UnsupportedTime
from orgflow_ir.work.gateway_decisions import Decision

if TYPE_CHECKING:
    from orgflow.backends.asl.compiled_process import CompiledProcess
    from orgflow.backends.asl.task_work import TaskWork

CALLBACK = "arn:aws:states:::events:putEvents.waitForTaskToken"
"""Puts an event with a task token on the default bus and waits for the return of the token. The
only callback integration that is accepted without any set-up."""


class Leaves:
    """Creates states without their successor (`Next` or `End`) and records placeholders for
    gaps."""

    def __init__(
        self,
        compiled: CompiledProcess,
        model: Model,
        setters: Mapping[str, list[Decision]],
        ctx: PassContext,
    ) -> None:
        self.e, self.s, self.model, self.setters, self.ctx = (
            compiled, compiled.graph, model, setters, ctx,
        )  # fmt: skip
        self.limits = {
            str(n.attached_to): times.timer_seconds(n)
            for scope in model.scopes()
            for n in scope.nodes
            if isinstance(n, Event) and n.position == "boundary" and n.trigger == "timer"
        }
        self.defaults = Defaults()
        self.callbacks = str(ctx.options.get("tasks", "placeholder")) == "callback"

    def state(self, node: Node) -> State:
        """The state of a task, an event, or a gateway that only passes tokens on."""
        match node:
            case Task():
                return self._task(node)
            case Event():
                return self._event(node)
            case CallActivity() | SubProcess() | Gateway() | Opaque():
                return {"Type": "Pass", "Comment": gaps.state_comment(node)}
            case _:
                assert_never(node)

    # -- tasks ---------------------------------------------------------------------------------

    def _task(self, task: Task) -> State:
        content = " ".join(
            p for p in (gaps.describe_result(self.setters.get(task.id, [])), self._kept(task)) if p
        )
        work = self.s.works.get(task.id)
        if work is not None or self.answered(task):
            state = self._callback(task, content) if work is None else self._do(task, work, content)
            if task.id in self.limits:
                state["TimeoutSeconds"] = self.limits[task.id]
            return state
        gaps.complete_task(task, self.defaults, self.ctx)
        kind = "" if task.task_type == "abstract" else f"{task.task_type.replace('-', ' ')} "
        words = f"Placeholder for a {kind}task: replace it with the Task state that does the work."
        return self._placeholder(task, gaps.state_comment(task, words, content))

    def _do(self, node: Task | Event, work: TaskWork, content: str) -> State:
        """The state that does the work which the model states: it computes it, calls a function,
        or waits for a person."""
        from orgflow.backends.asl import work_states  # of models that state work

        if work.doer == "state":
            comment = gaps.state_comment(node, "Computes the work of the task.")
            return work_states.computing_state(self.s, node.id, work, comment)
        contract = (*work_states.describe_contract(work), *([content] if content else []))
        if work.doer == "function":
            gaps.complete_function(node, work, self.defaults, self.ctx)
            comment = gaps.state_comment(node, " ".join(contract))
            return work_states.calling_state(self.s, node, work, comment)
        gaps.complete_answer(node, work, self.ctx)
        form = work_states.form_contract(self.s, node) if isinstance(node, Task) else {}
        state = self._callback(node, " ".join(contract), {"form": form} if form else {})
        return work_states.asking_state(self.s, node, work, state) if work.maps else state

    def _kept(self, task: Task) -> str:
        """Which variables the result of a task may set."""
        names = self.s.variables.set_by(task.id, self.s.scope_of[task.id])
        ordered = [n for n in self.s.variables.names if n in names]
        if not ordered:
            return ""
        if len(ordered) == 1:
            return f"The field {ordered[0]} of its result sets the variable of that name."
        return f"The fields {join_listed(ordered)} of its result set the variables of these names."

    def answered(self, node: Node) -> bool:
        """Whether a task is performed by answering a callback."""
        work = self.s.works.get(node.id)
        if work is not None:
            return work.doer == "person" and not work.maps
        return isinstance(node, Task) and (
            node.task_type == "receive" or node.id in self.limits or self.callbacks
        )

    def _placeholder(self, node: Node, comment: str) -> State:
        return {
            "Type": "Pass",
            "Comment": comment,
            "Result": result_template(self.setters.get(node.id, [])),
            "ResultPath": self.s.path(node.id),
        }

    def decide(self, decision: Decision) -> State:
        """The deciding step before a gateway that follows no task."""
        words = "Replace it with the state that decides."
        return {
            "Type": "Pass",
            "Comment": f"{words} {gaps.describe_result([decision])}",
            "Result": result_template([decision]),
            "ResultPath": self.s.path(decision.gateway.id),
        }

    def each(self, node: Node, body: Definition, token: Mapping[str, Any]) -> State:
        """A Map over the items of a multi-instance activity; `token` contains the further fields
        that its body needs."""
        assert isinstance(node, Task | SubProcess)
        loop = node.loop
        assert loop is not None
        gaps.complete_loop(node, self.s.scope_of[node.id].scope, self.ctx)
        place = self.s.path(node.id)
        state: State = {"Type": "Map", "Comment": gaps.state_comment(node)}
        collection = collection_of(loop)
        if collection is not None:
            state["ItemsPath"] = f"{self.s.variables.root}.{collection}"
            self.defaults.add(
                (OpenList,),
                node.id,
                "the Map state reads it from the input of the execution",
                f"start the execution with an input that has the list `{collection}`",
            )
        state["ItemSelector"] = {
            **self.s.handed,
            "results.$": "$.results",
            "item.$": "$$.Map.Item.Value",
            **token,
        }
        state["MaxConcurrency"] = 1 if loop.sequential else 0
        state["ItemProcessor"] = {"ProcessorConfig": {"Mode": "INLINE"}, **body}
        inside = place.removeprefix("$.")
        state["ResultSelector"] = {"items.$": f"$[*].{inside}"}
        state["ResultPath"] = place.removesuffix(".each") + ".all"
        return state

    # -- events --------------------------------------------------------------------------------

    def start(self, event: Event) -> str:
        """The comment of a start event's state."""
        content = gaps.describe_result(self.setters.get(event.id, []), whose="the input")
        if self.s.variables.names:
            read = f"The input's fields are variables; read: {', '.join(self.s.variables.names)}."
            content = " ".join((content, read)).strip()
        help = "start executions with an EventBridge rule or schedule, an API, or the sender"
        words = "somebody has to start an execution"
        if event.trigger == "timer" and not is_open(event):
            stated = event.definitions[0].expression
            time = f", `{one_line(stated.text)}`" if stated is not None else ""
            self.ctx.emit(
                UnsupportedTime,
                f"a state machine does not start by itself at the time of `{event.label}`{time}; "
                f"{words}",
                element=event,
                severity=Severity.INFO,
                help=help,
            )
        self.defaults.add((OpenTime, OpenMessage), event.id, words, help)
        return gaps.state_comment(event, content)

    def _event(self, event: Event) -> State:
        if event.position == "start":
            return {"Type": "Pass", "Comment": self.start(event)}
        if event.position == "catch" and event.trigger == "timer":
            return self._wait(event)
        work = self.s.works.get(event.id)
        if work is not None:
            return self._do(event, work, "")
        if event.position == "catch":
            return self._callback(event, "")
        if event.trigger == "message":
            self.defaults.add(
                (OpenMessage,),
                event.id,
                "emitted a Pass state",
                "replace it with the Task state of the channel used, and keep the name",
            )
            words = "Placeholder: replace it with the state that sends the message."
            return self._placeholder(event, gaps.state_comment(event, words))
        return {"Type": "Pass", "Comment": gaps.state_comment(event)}

    def _wait(self, event: Event) -> State:
        definition, _ = times.timer_time(event)
        kind = definition.timer if definition else None
        state: State = {"Type": "Wait", "Comment": gaps.state_comment(event)}
        moment = times.moment_timestamp(definition)
        if moment is not None:
            return {**state, "Timestamp": moment}
        seconds = times.whole_seconds(definition)
        path = times.variable_path(definition)
        if seconds is None and path is not None and kind == "date":
            field = ".".join(path)
            self.defaults.add(
                (OpenTime,),
                event.id,
                f"the state reads `{field}` from the input of the execution",
                f"start the execution with an input that has `{field}` as a timestamp (RFC 3339)",
            )
            return {**state, "TimestampPath": path_of(self.s.variables.root, path)}
        if seconds is None:
            self._open_delay(event, "the state waits 0 seconds until it is set")
        return {**state, "Seconds": seconds or 0}

    def _open_delay(self, event: Event, consequence: str) -> None:
        """The event has no time: what it states and no state keeps is refused before."""
        help = "give the event an ISO 8601 duration in days or less, or a date with a time zone"
        self.defaults.add((OpenTime,), event.id, consequence, help)

    def _callback(self, node: Node, content: str, more: dict[str, Any] | None = None) -> State:
        self.defaults.add(
            (OpenTask, OpenMessage),
            node.id,
            "the state waits until its task token is answered",
            "pass the task token to the responder with a rule on the default event bus",
        )
        words = "Waits until somebody calls SendTaskSuccess with the task token of its event."
        return self._asking(node, gaps.state_comment(node, words, content), more or {})

    def _asking(self, node: Node, comment: str, more: dict[str, Any]) -> State:
        detail = {
            "element": one_line(node.id),
            "name": one_line(node.caption),
            "taskToken.$": "$$.Task.Token",
            **self.s.handed,
            **more,
        }
        wanted = result_template(self.setters.get(node.id, []))
        if wanted:
            detail["wanted"] = wanted
        entry = {"Source": "orgflow", "DetailType": node.construct, "Detail": detail}
        return {
            "Type": "Task",
            "Comment": comment,
            "Resource": CALLBACK,
            "Parameters": {"Entries": [entry]},
            "ResultPath": self.s.path(node.id),
        }

    def race(self, gateway: Gateway, events: Sequence[Node], values: Mapping[str, str]) -> State:
        """An event-based gateway: one wait whose answer names the event; the first timer with a
        length is its timeout."""
        for event in events:
            self.defaults.add(
                (OpenMessage,),
                event.id,
                "one state waits for the first of several events, until its task token is answered",
                f"set the field `event` of the answer to `{values[event.id]}`",
            )
        words = "Waits for SendTaskSuccess with {event: …}, one of " + ", ".join(values.values())
        state = self._asking(
            gateway, gaps.state_comment(gateway, f"{words}."), {"events": list(values.values())}
        )
        for event in events:
            if isinstance(event, Event) and event.trigger == "timer":
                if self.times_out(event, events):
                    state["TimeoutSeconds"] = times.timer_seconds(event)
                elif not times.timer_seconds(event):
                    self._open_delay(event, "it occurs only if the answer selects it")
        return state

    def times_out(self, event: Node, events: Sequence[Node]) -> bool:
        """Whether this is the first timer after an event-based gateway."""
        lengths = [s for e in events if isinstance(e, Event) and (s := times.timer_seconds(e))]
        first = [
            e
            for e in events
            if isinstance(e, Event) and times.timer_seconds(e) == min(lengths, default=-1)
        ]
        return bool(first) and first[0].id == event.id

    # -- ends and errors -----------------------------------------------------------------------

    def abort(self, event: Event, *, nested: bool) -> State:
        """An end event that ends more than its token: an error, or a terminate in a branch."""
        comment = gaps.state_comment(event)
        if event.trigger == "error":
            error = self._error(event)
            return {
                "Type": "Fail", "Comment": comment, "Error": error, "Cause": one_line(event.caption)
            }  # fmt: skip
        if not nested:
            return {"Type": "Succeed", "Comment": comment}
        error = self.termination(event)
        cause = "Ends all branches; caught where they were opened."
        return {"Type": "Fail", "Comment": comment, "Error": error, "Cause": cause}

    def stub(self, node: Opaque, reason: str, error: str) -> State:
        """The state that fails an execution in place of an unsupported element."""
        return {
            "Type": "Fail",
            "Comment": gaps.state_comment(node),
            "Error": error,
            "Cause": one_line(reason),
        }

    def termination(self, event: Event) -> str:
        """The error by which a terminate end event leaves its branch."""
        return error_name(f"Terminated: {self.s.names[event.id]}", "Terminated")

    def _error(self, event: Event) -> str:
        ref = event.definitions[0].ref if event.definitions else None
        entry: CatalogEntry | None = next(
            (e for e in self.model.catalog.errors if e.id == ref), None
        )
        words = (entry.code or entry.name) if entry is not None else ""
        return error_name(words or event.name, event.id)

    def caught(self, event: Event) -> str:
        """The error that a boundary event catches: its own, or `States.ALL` without one."""
        definition = event.definitions[0] if event.definitions else None
        if event.trigger == "timer":
            return "States.Timeout"
        if definition is None or definition.ref is None:
            return "States.ALL"
        return self._error(event)


def result_template(decisions: Sequence[Decision]) -> dict[str, Any]:
    """The required fields of a result, not yet set."""
    fields: dict[str, Any] = {}
    for d in decisions:
        if d.values and d.several:
            fields[d.variable] = dict.fromkeys(branch_fields(d).values(), False)
        elif d.values:
            fields[d.variable] = ""
    return fields
