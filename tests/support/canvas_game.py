"""Follows a run of a canvas in the token game: whether the model has such a run, and waits for the
same elements after each happening.

Choices of gateways are not taken from the workflow: all of them are followed, and one has to lead
to what the run shows.
"""

from __future__ import annotations

from canvas_player import StepRecord

from orgflow_ir.flow.token_game.semantics import Game, Policy, State
from orgflow_ir.lowering.meaning import as_executed
from orgflow_ir.model import Event, Model, Node, Process, Task
from orgflow_ir.work.form_fields import is_done_by_a_person

_MOST = 4_000
_UNDECIDED = "error: stopped: No branch of"


class GameRun:
    """The states in which a model may be after a run.

    Attributes:
        waits: elements that wait as rows.
        acts: tasks that a node does.
        repeated: events that do not interrupt: the game has each once while its step is active.
        again: whether one has happened again, or the run has stopped undecided, so that nothing
            more can be followed.
    """

    def __init__(self, model: Model, process: Process, start: str | None) -> None:
        self.game = Game(as_executed(model), Policy(once=True, calls="steps"))
        nodes = [node for scope in process.scopes() for node in scope.nodes]
        nodes += [
            node
            for other in as_executed(model).processes
            if other.id == process.id
            for scope in other.scopes()
            for node in scope.nodes
        ]
        hosts = {
            node.attached_to
            for node in nodes
            if isinstance(node, Event) and node.trigger in ("timer", "message")
        }
        self.waits = {node.id for node in nodes if _waits(node, start)}
        self.waits |= {node.id for node in nodes if node.id in hosts and _is_open(node)}
        self.acts = {node.id for node in nodes if isinstance(node, Task)} - self.waits
        self.repeated = {
            n.id
            for n in nodes
            if isinstance(n, Event) and n.position in ("boundary", "start") and not n.interrupting
        }
        self.states = {self.game.initial(process.id, start)}
        self.again = False

    def follow(self, record: StepRecord) -> str:
        """Make the moves of one step: empty, or why the model has no such run."""
        happening = record.happening
        self._close()
        # Nothing answers for a step without an implementation, so that no branch is chosen.
        if any(effect.startswith(_UNDECIDED) for effect in record.effects):
            self.again = True
        if self.again:
            return ""
        if happening is not None and happening.element in self.waits:
            self._fire(happening.element)
            if not self.states and happening.element in self.repeated:
                self.again = True
                return ""
            if not self.states:
                return f"the model does not allow {happening.element}"
        own = happening.element if happening is not None else ""
        for element in record.executed:
            if element in self.acts and element != own:
                self._fire(element)
                if not self.states:
                    return f"the model does not allow {element}"
        rows = {
            row.split("', '")[1].split("'")[0]
            for row in record.open_rows
            if row[2:6] in ("task", "time", "rece")
        }
        rows -= self.repeated
        fitting = {state for state in self.states if self._waits_in(state) == rows}
        if not fitting:
            shown = [sorted(self._waits_in(state)) for state in self.states][:3]
            return f"rows {sorted(rows)}, token game {shown}"
        self.states = fitting
        if record.over and not any(not self.game.enabled(state) for state in fitting):
            return "the instance is over, and the model goes on"
        return ""

    def _waits_in(self, state: State) -> set[str]:
        """What can happen in a state; a task that a node does is something the run left undone."""
        names = {step.element for step in self.game.enabled(state) if step.action != "open"}
        return names - self.repeated

    def _fire(self, element: str) -> None:
        after = set()
        for state in self.states:
            for step in self.game.steps_of(state, element):
                if step.action != "open":
                    after.add(self.game.fire(state, step))
        self.states = after
        self._close()

    def _close(self) -> None:
        """All that happens by itself: gateways, with each choice, and events without a wait."""
        todo, settled = list(self.states), set()
        seen = set(todo)
        while todo and len(seen) < _MOST:
            state = todo.pop()
            steps = [
                step
                for step in self.game.enabled(state)
                if step.action == "open" or step.element not in self.waits | self.acts
            ]
            settled.add(state)  # a gateway may stand behind a step that has not run yet
            for step in steps:
                after = self.game.fire(state, step)
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        self.states = settled


def _waits(node: Node, start: str | None) -> bool:
    """Whether a run waits for an element that is not its start."""
    match node:
        case Task():
            return is_done_by_a_person(node) or node.task_type == "receive"
        case Event():
            if node.position not in ("catch", "boundary", "start") or node.id == start:
                return False
            if node.trigger == "timer":  # one without a time is due at once
                return bool(node.definitions) and node.definitions[0].time is not None
            return node.trigger == "message"
        case _:
            return False


def _is_open(node: Node) -> bool:
    """Whether nothing states who does a step: a person, where an event at it is waited for."""
    return isinstance(node, Task) and node.task_type == "abstract" and node.binding is None
