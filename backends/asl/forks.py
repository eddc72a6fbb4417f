"""Forks as Parallel states: branches, what comes out of them, terminate end events inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow.backends.asl import choice, gaps
from orgflow.backends.asl.branching import rule
from orgflow.backends.asl.format import Definition, State
from orgflow.backends.asl.graph import ScopeGraph, branches_of, first_words, fork_place
from orgflow.backends.asl.plan import Branch, Fork, Step

from orgflow_ir.analysis.decisions import Decision
from orgflow_ir.model import Event, Gateway

if TYPE_CHECKING:
    from orgflow.backends.asl.emit import Emitter, Frame


class Forks:
    """Writes the states of forks for an emitter."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.s = emitter.s
        self._names: dict[tuple[str, str], str] = {}

    def door(self, step: Step, fork: Fork, scope: ScopeGraph) -> str:
        """The state by which a fork is entered."""
        if step.key == fork.split and _guarded(fork.split, scope):
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
            if not _guarded(split.id, scope):
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
            if _guarded(fork.split, frame.scope):
                first = self.s.names[fork.split]
                self._guard(first, name, decision, frame)
            self.emitter.decide_first(decision, first, frame)
        split = frame.scope.graph.nodes.get(fork.split)
        comment = gaps.comment(split) if split is not None else "All that begins the process."
        working = branches_of(fork)
        state: State = {"Type": "Parallel" if working else "Pass", "Comment": comment}
        if working:
            state["Branches"] = [self._branch(b, decision, frame.scope) for b in working]
            self._results(state, step)
        if not frame.nested:
            self._terminated(state, fork, frame)
        self.emitter.goes(state, fork.after, frame)
        frame.states[name] = state

    def _guard(self, name: str, then: str, decision: Decision, frame: Frame) -> None:
        """An inclusive split that takes no branch at all fails, loudly, before it."""
        gateway = decision.gateway
        rules = choice.any_of([rule(self.s, decision, b) for b in decision.branches])
        cause = gaps.stop_cause(decision)
        frame.states[name] = {
            "Type": "Choice",
            "Comment": gaps.comment(gateway),
            "Choices": [{**rules, "Next": then}],
            "Default": self.emitter.stop(name, cause, gateway.id, frame),
        }

    def _branch(self, branch: Branch, decision: Decision | None, scope: ScopeGraph) -> Definition:
        """A branch; of an inclusive split it begins with whether it is taken."""
        assert branch.machine is not None
        body = self.emitter.definition(branch.machine, scope, nested=True)
        if decision is None:
            return body
        ids = {f.id for f in branch.flows}
        mine = [b for b in decision.branches if b.flow.id in ids]
        test = choice.any_of([rule(self.s, decision, b) for b in mine])
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
        for event in _terminations(fork, frame.scope):
            name = self.s.names[event.id]
            over = self.s.take(f"{name}: all is over", event.id, "element")
            frame.states[over] = {"Type": "Succeed", "Comment": gaps.comment(event)}
            error = self.emitter.leaves.termination(event)
            entry = {"ErrorEquals": [error], "ResultPath": None, "Next": over}
            state.setdefault("Catch", []).append(entry)


def _guarded(node: str, scope: ScopeGraph) -> bool:
    """Whether somebody has to see to it that an inclusive split takes any branch at all."""
    return node in scope.decisions


def _terminations(fork: Fork, scope: ScopeGraph) -> list[Event]:
    """Terminate end events of the scope inside the branches of a fork, each once."""
    found = [
        node
        for branch in branches_of(fork)
        if branch.machine is not None
        for machine in branch.machine.machines()
        for step in machine.steps.values()
        if isinstance(node := scope.graph.nodes.get(step.node or ""), Event)
        and node.position == "end"
        and node.trigger == "terminate"
    ]
    return list({event.id: event for event in found}.values())
