"""Forks as Parallel states: branches, their output, terminate end events inside."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from orgflow.backends.asl import choice, gaps
from orgflow.backends.asl.branching import branch_rule
from orgflow.backends.asl.format import Definition, State
from orgflow.backends.asl.frame import Frame
from orgflow.backends.asl.graph import ScopeGraph, branches_of, first_words, fork_place
from orgflow.backends.asl.names import path_of
from orgflow.backends.asl.plan import Branch, Fork, Step
from orgflow.backends.asl.variables import BRANCH_VARS, CONFLICT, NOWHERE, Kept

from orgflow_ir.model import Event, Gateway
from orgflow_ir.model.element_names import one_line
from orgflow_ir.work.gateway_decisions import Decision

if TYPE_CHECKING:
    from orgflow.backends.asl.emit import Emitter


class Forks:
    """Writes the states of forks for an emitter."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.s = emitter.s
        self._names: dict[tuple[str, str], str] = {}

    def door(self, step: Step, fork: Fork, scope: ScopeGraph) -> str:
        """The first state of a fork."""
        if step.key == fork.split and _guarded_branches(fork.split, scope):
            return self.s.names[fork.split]
        return self._name(step, fork, scope)

    def _name(self, step: Step, fork: Fork, scope: ScopeGraph) -> str:
        """The Parallel state's own name."""
        key = (scope.scope.id, step.key)
        if key not in self._names:
            self._names[key] = self._new_name(step, fork, scope)
        return self._names[key]

    def _new_name(self, step: Step, fork: Fork, scope: ScopeGraph) -> str:
        split = scope.graph.nodes.get(fork.split)
        if isinstance(split, Gateway) and step.key == fork.split:
            words = self.s.names[split.id]
            if not _guarded_branches(split.id, scope):
                return words
            return self.s.take(f"{words}: branches", split.id, "fork")
        if fork.split in scope.decisions:
            return self.s.take(f"{self.s.names[fork.split]}: branches", fork.split, "fork")
        words = self.s.names.get(fork.split, "") or first_words(scope.graph, fork.split)
        words = f"Parallel work after {words}" if words else "Parallel work"
        return self.s.take(words, fork.split, "fork")

    def write(self, step: Step, fork: Fork, frame: Frame) -> None:
        """The states of a fork."""
        name = self._name(step, fork, frame.scope)
        decision = frame.scope.decisions.get(fork.split)
        if decision is not None and step.key == fork.split:
            gaps.complete_decision(decision, self.emitter.leaves.defaults, self.emitter.ctx)
            first = name
            if _guarded_branches(fork.split, frame.scope):
                first = self.s.names[fork.split]
                self._guard(first, name, decision, frame)
            self.emitter.decide_first(decision, first, frame)
        split = frame.scope.graph.nodes.get(fork.split)
        comment = (
            gaps.state_comment(split)
            if split is not None
            else ("Everything that begins the process.")
        )
        working = branches_of(fork)
        state: State = {"Type": "Parallel" if working else "Pass", "Comment": comment}
        frame.states[name] = state
        kept = self._kept(fork, frame) if len(working) > 1 else frame.kept
        if working:
            state["Branches"] = [self._branch(b, decision, kept, frame) for b in working]
            self._results(state, step)
        if not frame.nested:
            self._terminated(state, fork, frame)
        if not self._joined(name, step, working, kept, frame):
            self.emitter.goes(state, fork.after, frame)

    def _guard(self, name: str, then: str, decision: Decision, frame: Frame) -> None:
        """An inclusive split that takes no branch at all fails, loudly, before it."""
        gateway = decision.gateway
        needs = self.emitter.needs(decision, frame)
        rules = choice.any_of([branch_rule(self.s, decision, b) for b in decision.branches])
        cause = gaps.stop_cause(decision)
        frame.states[name] = {
            "Type": "Choice",
            "Comment": gaps.state_comment(gateway, gaps.branch_names(decision)),
            "Choices": [*needs, {**rules, "Next": then}],
            "Default": self.emitter.stop(name, cause, gateway.id, frame),
        }

    def _branch(
        self, branch: Branch, decision: Decision | None, kept: Kept, frame: Frame
    ) -> Definition:
        """A branch; of an inclusive split it begins with whether it is taken."""
        assert branch.machine is not None
        forks = frame.forks + (kept is not frame.kept)
        inner = Frame(branch.machine, frame.scope, {}, True, frame.token, forks, kept)
        body = self.emitter.definition(inner)
        if decision is None:
            return body
        ids = {f.id for f in branch.flows}
        mine = [b for b in decision.branches if b.flow.id in ids]
        test = choice.any_of([branch_rule(self.s, decision, b) for b in mine])
        words = " or ".join(b.value for b in mine)
        ask = self.s.take(f"{words}?", decision.gateway.id, "branch")
        skip = self.s.take(f"Not {words}", decision.gateway.id, "skip")
        states: dict[str, State] = {
            ask: {
                "Type": "Choice",
                "Comment": "Whether this branch is taken.",
                "Choices": [{**test, "Next": body["StartAt"]}],
                "Default": skip,
            },
            skip: {"Type": "Succeed", "Comment": "This branch is not taken."},
        }
        return {"StartAt": ask, "States": {**states, **body["States"]}}

    # -- variables -----------------------------------------------------------------------------

    def _kept(self, fork: Fork, frame: Frame) -> Kept:
        """Where the branches of a fork note what they set of the variables that are read behind."""
        variables = self.s.variables
        names = variables.joined(fork, frame.machine, frame.scope) if variables.names else None
        if not names or not any(self._set_in(b, names, frame) for b in branches_of(fork)):
            return NOWHERE
        store = BRANCH_VARS if not frame.forks else f"{BRANCH_VARS}_{frame.forks + 1}"
        _, outer, inner = store.split(".")
        frame.token.setdefault(outer, {})[inner] = {}
        return Kept(store, names)

    def _set_in(self, branch: Branch, names: frozenset[str], frame: Frame) -> frozenset[str]:
        assert branch.machine is not None
        return names & self.s.variables.set_in(branch.machine, frame.scope)

    def _joined(
        self, name: str, step: Step, working: Sequence[Branch], kept: Kept, frame: Frame
    ) -> bool:
        """States behind a fork that take each variable from the branch that has set it, and fail
        where two have set it differently; whether there are any."""
        assert step.fork is not None
        setting = [self._set_in(b, kept.names, frame) for b in working]
        if len(working) < 2 or not any(setting):
            return False
        place, field = self.s.path(fork_place(step)), kept.store.removeprefix("$.")
        state = frame.states[name]
        for number, names in enumerate(setting):
            if names:
                state["ResultSelector"][f"vars_{number + 1}.$"] = f"$[{number}].{field}"
        then = self.emitter.to(step.fork.after, frame)
        element = step.fork.join or step.fork.split
        for variable in reversed(self.s.variables.names):
            sources = [
                path_of(place, (f"vars_{number}", variable))
                for number, names in enumerate(setting, 1)
                if variable in names
            ]
            if sources:
                then = self._join(name, variable, sources, element, then, frame)
        state["Next"] = then
        return True

    def _join(
        self, name: str, variable: str, sources: list[str], element: str, then: str, frame: Frame
    ) -> str:
        """The choice that takes one variable from the places where branches have noted it."""
        ask = self.s.take(f"{variable} set in {name}?", element, "data")
        choices = []
        pairs = [
            choice.all_of(
                [
                    choice.is_present(a),
                    choice.is_present(b),
                    choice.negate_rule(choice.equal_paths(a, b)),
                ]
            )
            for a, b in itertools.combinations(sources, 2)
        ]
        if pairs:
            stop = self.s.take(f"Stop: {variable} differs ({name})", element, "stop")
            choices.append({**choice.any_of(pairs), "Next": stop})
            cause = f"Parallel branches left different values in “{variable}”, after {name}."
            frame.states[stop] = {"Type": "Fail", "Error": CONFLICT, "Cause": one_line(cause)}
        for place in sources:
            copy = self.s.take(f"Keep {variable} of {name}", element, "data")
            self.emitter.copy(copy, variable, place, then, frame)
            choices.append({**choice.is_present(place), "Next": copy})
        frame.states[ask] = {
            "Type": "Choice",
            "Comment": f"Which branch has set {variable}, if any.",
            "Choices": choices,
            "Default": then,
        }
        return ask

    def _results(self, state: State, step: Step) -> None:
        """What comes out of parallel branches: of each its own place, beside what was before."""
        if len(state["Branches"]) == 1:
            state["OutputPath"] = "$[0]"
            return
        key = fork_place(step)
        if key not in self.s.places:
            state["ResultPath"] = None
            return
        place = self.s.places[key]
        held = self.s.skeleton
        for part in place:
            held = held[part]
        state["ResultSelector"] = {
            f"{branch}.$": f"$[{int(branch.removeprefix('branch_')) - 1}]."
            + ".".join(("results", *place, branch))
            for branch in held
        }
        state["ResultPath"] = self.s.path(key)

    def _terminated(self, state: State, fork: Fork, frame: Frame) -> None:
        """A terminate end event inside a branch fails it with an error of its own, which stops all
        branches; here, outside them, it is caught, and the scope is over."""
        for event in _list_terminations(fork, frame.scope):
            name = self.s.names[event.id]
            over = self.s.take(f"{name}: all is over", event.id, "element")
            frame.states[over] = {"Type": "Succeed", "Comment": gaps.state_comment(event)}
            error = self.emitter.leaves.termination(event)
            entry = {"ErrorEquals": [error], "ResultPath": None, "Next": over}
            state.setdefault("Catch", []).append(entry)


def _guarded_branches(node: str, scope: ScopeGraph) -> bool:
    """Whether somebody has to see to it that an inclusive split takes any branch at all."""
    return node in scope.decisions


def _list_terminations(fork: Fork, scope: ScopeGraph) -> list[Event]:
    """Terminate end events of the scope inside the branches of a fork, each once."""
    events = [
        node
        for branch in branches_of(fork)
        if branch.machine is not None
        for machine in branch.machine.machines()
        for step in machine.steps.values()
        if isinstance(node := scope.graph.nodes.get(step.node or ""), Event)
        and node.position == "end"
        and node.trigger == "terminate"
    ]
    return list({event.id: event for event in events}.values())
