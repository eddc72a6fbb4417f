"""From the graph of a process to the states of its machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from orgflow.backends.asl import choice, gaps
from orgflow.backends.asl.branching import branch_rule
from orgflow.backends.asl.choice import Rule
from orgflow.backends.asl.collections import is_multi_instance
from orgflow.backends.asl.compiled_process import CompiledProcess
from orgflow.backends.asl.element_states import Leaves
from orgflow.backends.asl.forks import Forks
from orgflow.backends.asl.format import Definition, State, all_states
from orgflow.backends.asl.frame import Frame
from orgflow.backends.asl.graph import ScopeGraph, process_graph
from orgflow.backends.asl.jsonata.error_entry import THROWN
from orgflow.backends.asl.names import FieldNames, path_of
from orgflow.backends.asl.plan import END, START, Jump, Machine, Step
from orgflow.backends.asl.variables import NEVER_SET, NO_TRUTH, NOT_TOLD, VARS

from orgflow_ir.flow.control_flow.graph import list_reachable
from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Model,
    Node,
    Opaque,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.element_names import join_listed, one_line, title
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.artifact import STUB_ROLE
from orgflow_ir.work.gateway_decisions import Decision

MOST_NAMED = 4
"""Maximum number of steps that a message names as possible setters of a variable."""

NO_BRANCH = "NoBranchFits"
"""The error of an execution in which a gateway's variable has none of its values."""

NOT_COMPUTED = "States.QueryEvaluationError"
"""The error of a state that does not compute a value."""

NOT_SUPPORTED = "NotSupported"
"""The error of an execution that reaches an unsupported element."""


def emit_process(model: Model, process: Process, ctx: PassContext) -> CompiledProcess:
    """The state machine of a process that is legal for the target; the gap messages in `ctx` are
    completed by the emitted replacements."""
    compiled = CompiledProcess(process_graph(model, process, ctx))
    Emitter(compiled, model, ctx).run()
    if compiled.graph.coded:
        from orgflow.backends.asl.unseen import report_unseen

        report_unseen(process, ctx)
    if any(work.reads for work in compiled.graph.works.values()):
        from orgflow.backends.asl.unseen import report_unseen_work

        report_unseen_work(process, compiled.graph.works, ctx)
    return compiled


class Emitter:
    """Writes the machines of a process, outermost first."""

    def __init__(self, compiled: CompiledProcess, model: Model, ctx: PassContext) -> None:
        self.e, self.s, self.model, self.ctx = compiled, compiled.graph, model, ctx
        self.setters: dict[str, list[Decision]] = {}
        for decision in self.s.decisions.values():
            if decision.values:
                self.setters.setdefault(decision.setter, []).append(decision)
        self.leaves = Leaves(compiled, model, self.setters, ctx)
        self.forks = Forks(self)
        self._doors: dict[tuple[int, str], str] = {}
        self._shared: set[str] = set()
        self._begun: set[str] = set()
        self._idles: dict[int, str] = {}

    def run(self) -> None:
        """Write everything."""
        process = self.s.scopes[self.s.process.id]
        token = {**self.s.handed, "results": self.s.skeleton}
        token[next(iter(self.s.handed))] = "$"
        frame = Frame(process.plan.machine, process, {}, nested=False, token=token)
        begin = self._begin(frame)
        self._states(frame)
        for scope in self.s.scopes.values():
            for node in scope.scope.nodes:
                if isinstance(node, Event) and node.id not in self.s.works:
                    gaps.complete_event(node, self.ctx)
        gaps.complete_starts(self.s, self.e.starts, self.leaves.defaults)
        self.leaves.defaults.complete(self.ctx)
        self.e.definition = {"StartAt": begin, "States": frame.states}
        self.e.definition = {"Comment": self._comment(), **self.e.definition}
        if any(_has_stubs(scope) for scope in self.s.scopes.values()):
            keep_reachable(self.e.definition)

    def _comment(self) -> str:
        """What the whole is called, and what the model says of it."""
        process = self.s.process
        name = title(self.model, process)
        pools = [one_line(p.name) for p in self.model.pools if p.process == process.id]
        others = [f"Pool: {pool}." for pool in pools if pool and pool not in name]
        words = (name, *others, gaps.keep_documentation(process.doc))
        return "\n".join((" ".join(word for word in words if word), *self._stateless()))

    def _stateless(self) -> Iterator[str]:
        """What the model says of gateways that are no states, such as joins."""
        gateways = [
            node
            for scope in self.s.scopes.values()
            for node in scope.scope.nodes
            if isinstance(node, Gateway) and node.doc.strip()
        ]
        if not gateways:
            return
        comments = [str(state.get("Comment")) for _, state in all_states(self.e.definition)]
        for gateway in gateways:
            if not any(comment.startswith(gaps.comment_head(gateway)) for comment in comments):
                yield gaps.state_comment(gateway)

    def _begin(self, frame: Frame) -> str:
        """The state that makes the token: the input in its field, empty places for results."""
        machine, process = frame.machine, frame.scope
        step = machine.steps.get(machine.entry.step)
        start = process.graph.nodes.get(step.node) if step and step.node else None
        if step is not None and isinstance(start, Event) and start.position == "start":
            name, comment = self.s.names[start.id], self.leaves.start(start)
            then = next_jump(step)
            self._begun.add(start.id)
        else:
            name = self.s.take("Begin", process.scope.id, "begin")
            comment = "Keeps the input and adds fields for results."
            then = machine.entry
        frame.states[name] = {"Type": "Pass", "Comment": comment, "Parameters": frame.token}
        self.goes(frame.states[name], then, frame)
        return name

    # -- machines ------------------------------------------------------------------------------

    def definition(self, frame: Frame) -> Definition:
        """A machine inside a state."""
        start = self.to(frame.machine.entry, frame)
        self._states(frame)
        return {"StartAt": start, "States": frame.states}

    def _states(self, frame: Frame) -> None:
        for step in frame.machine.steps.values():
            if step.fork is not None:
                self.forks.write(step, step.fork, frame)
            elif step.key == START:
                self._which_start(step, frame)
            elif step.node != frame.machine.entry.step or step.node not in self._begun:
                self._node(step, frame)

    def goes(self, state: State, jump: Jump, frame: Frame) -> None:
        """Connect a state to the token's next step; its machine ends if there is none."""
        if jump.kind == "step":
            state["Next"] = self.door(frame.machine, jump.step, frame.scope)
        else:
            state["End"] = True

    def to(self, jump: Jump, frame: Frame) -> str:
        """The target state of a choice or a catch."""
        if jump.kind == "step":
            return self.door(frame.machine, jump.step, frame.scope)
        if id(frame.machine) not in self._idles:
            name = self.s.take("Nothing more to do", frame.scope.scope.id, "idle")
            self._idles[id(frame.machine)] = name
            frame.states[name] = {"Type": "Succeed", "Comment": "This branch ends here."}
        return self._idles[id(frame.machine)]

    def door(self, machine: Machine, key: str, scope: ScopeGraph) -> str:
        """The first state of a step."""
        place = (id(machine), key)
        if place not in self._doors:
            self._doors[place] = self._new_door(machine.steps[key], scope)
        return self._doors[place]

    def _new_door(self, step: Step, scope: ScopeGraph) -> str:
        if step.key == START:
            return self.s.take("Which start?", scope.scope.id, "starts")
        node = step.node if step.node is not None else step.key
        decision = scope.decisions.get(node)
        if decision is not None and decision.setter == node:
            return self._decide_name(decision)
        if step.fork is not None:
            return self.forks.door(step, step.fork, scope)
        if step.caught and self._wrapped(scope.graph.nodes[node]):
            return self.s.take(f"{self.s.names[node]}: attempt", node, "attempt")
        if node in self._shared:  # an end event that several branches lead to
            return self.s.take(self.s.names[node], node, "element")
        self._shared.add(node)
        return self.s.names[node]

    def _decide_name(self, decision: Decision) -> str:
        gateway = decision.gateway.id
        if gateway not in self.e.deciders:
            words = f"Decide: {self.s.names[gateway]}"
            self.e.deciders[gateway] = self.s.take(words, gateway, "decide")
        return self.e.deciders[gateway]

    def decide_first(self, decision: Decision, then: str, frame: Frame) -> None:
        """The deciding state directly before a gateway that follows no task."""
        if decision.setter == decision.gateway.id:
            state = self.leaves.decide(decision)
            name = self._decide_name(decision)
            frame.states[name] = state
            state["Next"] = self.keep(name, decision.gateway.id, then, frame)

    def stop(self, name: str, cause: str, element: str, frame: Frame) -> str:
        """A state that fails the execution if no branch of state `name` matches."""
        stop = self.s.take(f"Stop: {name}", element, "stop")
        frame.states[stop] = {"Type": "Fail", "Error": NO_BRANCH, "Cause": one_line(cause)}
        return stop

    # -- variables -----------------------------------------------------------------------------

    def keep(self, name: str, node: str, then: str, frame: Frame) -> str:
        """States that copy the variables in the result of state `name`, each only if it exists; the
        first of them, or `then` if nothing reads them later."""
        names = self.s.variables.set_by(node, frame.scope)
        for variable in [n for n in reversed(self.s.variables.names) if n in names]:
            place = path_of(self.s.path(node), (variable,))
            test = choice.is_present(place)
            if variable in frame.kept.names:  # what is handed on as it was is not set
                was = path_of(VARS, (variable,))
                unchanged = choice.all_of([choice.is_present(was), choice.equal_paths(place, was)])
                test = choice.all_of([test, choice.negate_rule(unchanged)])
            ask = self.s.take(f"{variable} set by {name}?", node, "data")
            copy = self.s.take(f"Keep {variable} of {name}", node, "data")
            frame.states[ask] = {
                "Type": "Choice",
                "Comment": f"Whether the result of {name} sets {variable}.",
                "Choices": [{**test, "Next": copy}],
                "Default": then,
            }
            self.copy(copy, variable, place, then, frame)
            then = ask
        return then

    def copy(self, name: str, variable: str, source: str, then: str, frame: Frame) -> None:
        """State `name`, which stores the value at `found` in a variable; in a branch, a following
        state records it for the join."""
        kept = frame.kept
        comment = f"The process variable {variable} is the value at {source}."
        state: State = {"Type": "Pass", "Comment": comment, "InputPath": source}
        frame.states[name] = state
        state["ResultPath"] = path_of(VARS, (variable,))
        state["Next"] = then
        if variable in kept.names:
            note = self.s.take(f"{name} for the join", self.s.states[name].element, "data")
            comment = f"This branch sets {variable}, which is read after it."
            place = path_of(kept.store, (variable,))
            frame.states[note] = {**state, "Comment": comment, "ResultPath": place}
            state["Next"] = note

    def needs(self, decision: Decision, frame: Frame) -> list[Rule]:
        """Rules of a choice that lead to a failure if it reads an unset variable, or tests
        emptiness that cannot be determined."""
        stops: dict[str, str] = {}
        rules = []
        for variable, test in self.s.variables.never_set(decision):
            if variable not in stops:
                stops[variable] = self._never_set(variable, decision, frame)
            rules.append({**test, "Next": stops[variable]})
        for name, test in self.s.variables.untold(decision):
            key = f"content of {name}"
            if key not in stops:
                stops[key] = self._untold(name, decision, frame)
            rules.append({**test, "Next": stops[key]})
        for name, test in self.s.variables.no_truth(decision):
            key = f"truth of {name}"
            if key not in stops:
                stops[key] = self._no_truth(name, decision, frame)
            rules.append({**test, "Next": stops[key]})
        return rules

    def _no_truth(self, name: str, decision: Decision, frame: Frame) -> str:
        gateway = decision.gateway.id
        label = self.s.names[gateway]
        cause = f"“{name}” is neither true nor false, and “{label}” reads it as a truth value."
        stop = self.s.take(f"Stop: {name} is not true or false ({label})", gateway, "stop")
        frame.states[stop] = {"Type": "Fail", "Error": NO_TRUTH, "Cause": one_line(cause)}
        return stop

    def _untold(self, name: str, decision: Decision, frame: Frame) -> str:
        gateway = decision.gateway.id
        label = self.s.names[gateway]
        cause = (
            f"“{name}” is an empty list or an object, and “{label}” tests whether it is empty, "
            "which a Choice state cannot determine. "
            "Pass on null instead of an empty list."
        )
        stop = self.s.take(f"Stop: {name} may be empty ({label})", gateway, "stop")
        frame.states[stop] = {"Type": "Fail", "Error": NOT_TOLD, "Cause": one_line(cause)}
        return stop

    def _never_set(self, variable: str, decision: Decision, frame: Frame) -> str:
        from orgflow_ir.work.process_variables import Read

        gateway = decision.gateway.id
        label = self.s.names[gateway]
        setters = frame.scope.variables.setters(Read(gateway, (variable,), "condition"))
        names = [
            f"“{self.s.names.get(s.element, s.element)}”" for s in setters if s.by != "payload"
        ]
        if len(names) > MOST_NAMED:
            names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} other steps"]
        where = join_listed((*names, "the input of the execution"), last="or")
        cause = f"“{variable}” was never set, and “{label}” reads it. Set it in {where}."
        stop = self.s.take(f"Stop: {variable} was never set ({label})", gateway, "stop")
        frame.states[stop] = {"Type": "Fail", "Error": NEVER_SET, "Cause": one_line(cause)}
        return stop

    # -- nodes ---------------------------------------------------------------------------------

    def _which_start(self, step: Step, frame: Frame) -> None:
        """Several start events are alternatives: the input says which one began."""
        name = self.door(frame.machine, START, frame.scope)
        values = FieldNames()
        choices = []
        for way in step.exits:
            label = frame.scope.graph.nodes[way.flow.target].caption
            self.e.starts[way.flow.target] = value = values.take(label, "start")
            test = choice.is_value(f"{self.s.variables.root}.start", value)
            choices.append({**test, "Next": self.to(way.to, frame)})
        allowed = ", ".join(self.e.starts.values())
        cause = f"the input field start has to be one of: {allowed}"
        frame.states[name] = {
            "Type": "Choice",
            "Comment": "The start event that began this execution.",
            "Choices": choices,
            "Default": self.stop(name, cause, frame.scope.scope.id, frame),
        }

    def _node(self, step: Step, frame: Frame) -> None:
        assert step.node is not None
        node = frame.scope.graph.nodes[step.node]
        name = self.s.names[node.id]
        match node:
            case Gateway() if node.id in frame.scope.decisions:
                self._decision(step, frame.scope.decisions[node.id], frame)
            case Gateway() if node.gateway_kind == "event":
                self._race(step, node, frame)
            case SubProcess():
                self._sub_process(step, node, frame)
            case Event() if node.position == "end" and node.trigger in ("error", "terminate"):
                name = self.door(frame.machine, step.key, frame.scope)
                frame.states[name] = self.leaves.abort(node, nested=frame.nested)
                if frame.nested and node.trigger == "terminate":
                    self.s.set_role(name, "terminate")  # it is caught outside all branches
            case Event() if node.position == "end" and node.trigger == "none":
                name = self.door(frame.machine, step.key, frame.scope)
                frame.states[name] = {"Type": "Succeed", "Comment": gaps.state_comment(node)}
            case Opaque() if node.stops is not None:
                name = self.door(frame.machine, step.key, frame.scope)
                frame.states[name] = self.leaves.stub(node, node.stops, NOT_SUPPORTED)
                self.s.set_role(name, STUB_ROLE)
            case Task() | CallActivity() | Event() | Gateway() | Opaque():
                self._work(step, frame)
            case _:
                assert_never(node)

    def _work(self, step: Step, frame: Frame) -> None:
        """One state for a task or an event, inside whatever repeats it or catches its errors."""
        assert step.node is not None
        node = frame.scope.graph.nodes[step.node]
        name, state = self.s.names[node.id], self.leaves.state(node)
        if node.id in self.setters or self.s.variables.set_by(node.id, frame.scope):
            self.e.deciders[node.id] = name
        if is_multi_instance(node):
            inner = self.s.take(f"{name}: each", node.id, "element")
            self.s.set_role(name, "map")
            body: Definition = {"StartAt": inner, "States": {inner: {**state, "End": True}}}
            state = self.leaves.each(node, body, {})
        if step.caught and not self._wrapped(node):
            self._caught(state, step, frame)
        elif step.caught:
            self.e.attempts[node.id] = name
            outer = self.door(frame.machine, step.key, frame.scope)
            body = {"StartAt": name, "States": {name: {**state, "End": True}}}
            if self._may_throw(node):
                done = self.s.take(f"Done: {name}", node.id, "done")
                asks, states = self._ask_thrown(name, node, done)
                states[done] = {"Type": "Succeed", "Comment": f"{name} ended without an error."}
                body["States"] = {name: {**state, "Next": asks}, **states}
            state = {
                "Type": "Parallel",
                "Comment": f"Catches errors in “{name}”.",
                "Branches": [body],
                "OutputPath": "$[0]",
            }
            self._caught(state, step, frame)
            name = outer
        frame.states[name] = state
        is_asked = self._may_throw(node) and not step.caught
        if is_asked or self.s.variables.set_by(node.id, frame.scope):
            then = self.to(next_jump(step), frame)
            kept = self.keep(self.s.names[node.id], node.id, then, frame)
            if is_asked:
                kept, states = self._ask_thrown(name, node, kept)
                frame.states.update(states)
            state["Next"] = kept
        else:
            self.goes(state, next_jump(step), frame)

    def _may_throw(self, node: Node) -> bool:
        """Whether a state computes the work of a node that may end with an error."""
        work = self.s.works.get(node.id)
        return work is not None and work.doer == "state" and work.throws

    def _ask_thrown(self, name: str, node: Node, then: str) -> tuple[str, dict[str, State]]:
        """States behind a computed task that fail with the error with which its work ended; the
        name of the first of them."""
        thrown = path_of(self.s.path(node.id), (THROWN,))
        asks = self.s.take(f"Error of {name}?", node.id, "data")
        fails = self.s.take(f"Error of {name}", node.id, "thrown")
        return asks, {
            asks: {
                "Type": "Choice",
                "Comment": f"Whether {name} ended with an error of the process.",
                "Choices": [{**choice.is_present(thrown), "Next": fails}],
                "Default": then,
            },
            fails: {
                "Type": "Fail",
                "ErrorPath": path_of(thrown, ("code",)),
                "CausePath": path_of(thrown, ("message",)),
            },
        }

    def _wrapped(self, node: Node) -> bool:
        """Whether a node's errors are caught around its state: a Pass state catches nothing."""
        return not isinstance(node, SubProcess) and not self.leaves.answered(node)

    def _caught(self, state: State, step: Step, frame: Frame) -> None:
        """Boundary events as what a state catches; one without a code takes all and comes last."""
        host = frame.scope.graph.nodes[step.node or ""]
        events = [frame.scope.graph.nodes[e] for e in step.caught]
        named = [(e, self.leaves.caught(e)) for e in events if isinstance(e, Event)]
        for event, error in sorted(named, key=lambda pair: pair[1] == "States.ALL"):
            self.e.catches[event.id] = error
            if error == "States.ALL" and isinstance(host, SubProcess):
                cause = f"no branch of a gateway inside {host.caption} matches"
                stop = self.stop(self.s.names[host.id], cause, host.id, frame)
                # a decision that nobody took is no error that the model knows of
                entry = {"ErrorEquals": [NO_BRANCH], "ResultPath": None, "Next": stop}
                state.setdefault("Catch", []).append(entry)
                if self.s.coded:
                    state["Catch"].append(self._pass_on(host, self.s.variables.errors, frame))
                if _has_stubs(self.s.scopes[host.id]):
                    self._uncaught(state, host, frame)
            work = self.s.works.get(host.id)
            if error == "States.ALL" and work is not None and work.doer == "state":
                # a fault of the work is no error that the model knows of
                entry = self._pass_on(host, (NOT_COMPUTED,), frame)
                state.setdefault("Catch", []).append(entry)
            target = self.to(Jump("step", event.id), frame)
            entry = {"ErrorEquals": [error], "ResultPath": None, "Next": target}
            state.setdefault("Catch", []).append(entry)

    def _pass_on(self, host: Node, errors: Iterable[str], frame: Frame) -> dict[str, Any]:
        """An entry that catches errors that no event may catch, and fails with them again."""
        stop = self.s.take(f"Stop: {self.s.names[host.id]}", host.id, "stop")
        place = f"{self.s.variables.root}.stopped"
        frame.states[stop] = {
            "Type": "Fail", "ErrorPath": f"{place}.Error", "CausePath": f"{place}.Cause",
        }  # fmt: skip
        return {"ErrorEquals": [*errors], "ResultPath": place, "Next": stop}

    def _uncaught(self, state: State, host: SubProcess, frame: Frame) -> None:
        """A stub inside a sub-process stops the execution, whatever errors are caught there."""
        name = self.s.take(f"Stop in {self.s.names[host.id]}", host.id, "stub")
        cause = f"{host.label} reached an unsupported element; the state inside it names it"
        frame.states[name] = {"Type": "Fail", "Error": NOT_SUPPORTED, "Cause": one_line(cause)}
        entry = {"ErrorEquals": [NOT_SUPPORTED], "ResultPath": None, "Next": name}
        state.setdefault("Catch", []).append(entry)

    def _sub_process(self, step: Step, node: SubProcess, frame: Frame) -> None:
        inside = self.s.scopes[node.id]
        inner = Frame(inside.plan.machine, inside, {}, nested=False, token={})
        if not is_multi_instance(node):
            inner = inner._replace(token=frame.token, forks=frame.forks, kept=frame.kept)
        body = self.definition(inner)
        if is_multi_instance(node):
            state = self.leaves.each(node, body, inner.token)
        else:
            state = {
                "Type": "Parallel",
                "Comment": gaps.state_comment(node),
                "Branches": [body],
                "OutputPath": "$[0]",
            }
        self._caught(state, step, frame)
        self.goes(state, next_jump(step), frame)
        frame.states[self.s.names[node.id]] = state
        if node.extra:
            gaps.complete_scope(node, frame.scope.scope, self.model, self.ctx)

    def _decision(self, step: Step, decision: Decision, frame: Frame) -> None:
        """The first branch whose rule holds, else the default or a stop; of an inclusive gateway
        with a default the others together."""
        gateway = decision.gateway
        name = self.s.names[gateway.id]
        gaps.complete_decision(decision, self.leaves.defaults, self.ctx)
        self.decide_first(decision, name, frame)
        to = {w.flow.id: self.to(w.to, frame) for w in step.exits}
        default = decision.default
        chosen = [b for b in decision.branches if b.kind != "default"]
        needs = self.needs(decision, frame)
        tests = [(branch_rule(self.s, decision, b), to.get(b.flow.id, "")) for b in chosen]
        if decision.several:  # the other flows are a fork, entered by the first of them
            tests = [(choice.any_of([t for t, _ in tests]), tests[0][1])]
        frame.states[name] = {
            "Type": "Choice",
            "Comment": gaps.state_comment(gateway, gaps.branch_names(decision)),
            "Choices": [*needs, *({**test, "Next": target} for test, target in tests)],
            "Default": (
                to[default.flow.id]
                if default is not None
                else self.stop(name, gaps.stop_cause(decision), gateway.id, frame)
            ),
        }

    def _race(self, step: Step, gateway: Gateway, frame: Frame) -> None:
        """An event-based gateway: one callback for all of its events, then which one came."""
        name = self.s.names[gateway.id]
        events = [frame.scope.graph.nodes[w.flow.target] for w in step.exits]
        came = FieldNames()
        values = {e.id: came.take(e.caption, "event") for e in events}
        self.e.races[gateway.id] = values
        which = self.s.take(f"Which came first: {name}", gateway.id, "which")
        state = {**self.leaves.race(gateway, events, values), "Next": which}
        choices = []
        for way, event in zip(step.exits, events, strict=True):
            happened = self.s.names[event.id]
            frame.states[happened] = {"Type": "Pass", "Comment": gaps.state_comment(event)}
            self.goes(frame.states[happened], way.to, frame)
            test = choice.is_value(f"{self.s.path(gateway.id)}.event", values[event.id])
            choices.append({**test, "Next": happened})
            if self.leaves.times_out(event, events):
                caught = {"ErrorEquals": ["States.Timeout"], "ResultPath": None, "Next": happened}
                state["Catch"] = [caught]
        cause = f"the field event of the answer is one of: {', '.join(values.values())}"
        frame.states[name] = state
        state["Next"] = self.keep(name, gateway.id, which, frame)
        frame.states[which] = {
            "Type": "Choice",
            "Comment": "The event that occurred first.",
            "Choices": choices,
            "Default": self.stop(name, cause, gateway.id, frame),
        }


def next_jump(step: Step) -> Jump:
    """The next step of the token after a step that does not decide."""
    return step.exits[0].to if step.exits else END


def _has_stubs(scope: ScopeGraph) -> bool:
    """Whether a stop stands in a scope, or in a sub-process of it."""
    return any(
        isinstance(node, Opaque) and node.stops is not None
        for inside in scope.scope.scopes()
        for node in inside.nodes
    )


def keep_reachable(machine: Definition) -> None:
    """Remove unreachable states, also in nested machines: there may be some after a stop, and Step
    Functions refuses machines with any."""
    work = [machine]
    while work:
        current = work.pop()
        states = current["States"]
        ahead = {name: _next_states(state) for name, state in states.items()}
        kept = list_reachable([current["StartAt"]], ahead)
        current["States"] = {name: state for name, state in states.items() if name in kept}
        for state in current["States"].values():
            work += state.get("Branches", ())
            if "ItemProcessor" in state:
                work.append(state["ItemProcessor"])


def _next_states(state: State) -> list[str]:
    rules = (state, *state.get("Choices", ()), *state.get("Catch", ()))
    targets = [branch_rule["Next"] for branch_rule in rules if "Next" in branch_rule]
    return [*targets, *([state["Default"]] if "Default" in state else [])]
