"""The BPMN token game over the IR: what a model means (BPMN 2.0.2, chapter 13).

Tokens are on sequence flows and in open elements. Every choice is free: data is not evaluated.

- Splits: exclusive: one outgoing flow; inclusive and complex: any non-empty set of those that are
  not the default, or the default alone; parallel: all. An activity takes all its unconditional
  flows and, of the conditional ones, any set (its default in place of an empty set); with one
  condition and a default that is an exclusive choice. Several flows without conditions fork; in
  addition to a default, they are choices (`control_flow/outgoing.py`).
- Joins: exclusive gateways, activities and events take each token separately (if several flows have
  one, that of the first flow: the others follow, so nothing is lost); a parallel gateway takes one
  from every incoming flow; an inclusive one by the rule of 13.4.3 (see `Moves.synced`). The
  activation condition of a complex gateway is not evaluated: the gateway joins like an inclusive
  one, which is the case in which activation and reset (13.4.5) coincide.
- Waiting: user, manual and receive tasks, message, timer, signal and conditional catch events,
  activities with boundary events, sub-processes and calls have two steps, `open` and `done`. An
  event-based gateway opens its targets; the first `done` of one withdraws the others, and its step
  also names the flow from the gateway, which is the one that got the token.
- Boundary events are armed while their activity is open. An error or escalation that is thrown
  inside occurs only as thrown; any other trigger is free.
- A sub-process is done when no token is left in it. Several start events in it are alternatives.
  An event sub-process may start while its scope has tokens; an interrupting one takes them.
- An unsupported element (`Opaque`) with incoming flows passes its token.
- An error, escalation or cancel goes to the nearest event sub-process or boundary event that
  catches it; an uncaught error ends the process instance with outcome `error`.
- Terminate ends the process or sub-process that contains it (13.5.6), not the surrounding ones.
- Compensation: a throw starts the handlers of the completed activities of its scope (or of the one
  it names) and completes when they do; handlers run in any order. A completed sub-process is
  compensated by its own handler, otherwise by those inside it; compensation event sub-processes are
  not run. Cancelling a transaction compensates and leaves by its cancel event.
- Ad-hoc: each activity without incoming flows may start, repeatedly but never twice at the same
  time; the sub-process completes whenever nothing in it runs, even if none was performed.
- Loops and multi-instance: see `Policy.instances`. With more than one body, the activity itself has
  `open` and `done` steps, and bodies are steps with their own instance number. For targets that
  lower loops to flows, the comparison uses the game of the model with loops as flows
  (`orgflow_ir.lowering.loops.loops_as_flows`): any number of bodies, in sequence.
- Messages and signals arrive when they are awaited, or with `Policy.messages` = `flows` only when
  sent: a node with message flows to other nodes sends one over each when it is done, and the
  receiving node needs it (messages from a pool without a process always arrive). A service or
  business rule task with both requests something and waits for the answer (13.3.3), so it sends
  when it begins. Any other task with both is done when it receives its message, and then sends its
  own. Messages are kept until taken, oldest first. A message to a start event always creates an
  instance.
  Correlation: the first message that is received makes sender and receiver partners. From then on,
      messages that either sends to the other's process are for its partner alone (the latest, if
      there were several), and other instances do not receive them. A thrown signal reaches every
      element that waits for it.
- A step's `instance` numbers process instances from 0, and also concurrent instances of the same
  sub-process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.effects import apply_move, begin_instance
from orgflow_ir.flow.token_game.moves import Around, Move, Moves, node_interrupts
from orgflow_ir.flow.token_game.net import Policy
from orgflow_ir.flow.token_game.net_compiler import compile_net
from orgflow_ir.flow.token_game.state import Draft, Left, State
from orgflow_ir.model import Gateway, Model, Task

__all__ = ["Game", "NotEnabled", "Policy", "State"]


class NotEnabled(ValueError):
    """A step that the state does not allow; the message names it and the allowed steps."""


class Game:
    """The token game of a model. Compiled once; `fire` returns new states without side effects."""

    def __init__(self, model: Model, policy: Policy | None = None) -> None:
        self.model = model
        self.policy = policy or Policy()
        self.net = compile_net(model, self.policy)
        self._moves = Moves(self.net)
        # A step is most often fired, or asked for again, right after the steps of its element were.
        self._asked: tuple[State, str, list[Move], tuple[Step, ...]] | None = None
        self._around: tuple[frozenset[str], Around] | None = None

    # -- where runs begin ---------------------------------------------------------------------

    def starts(self, process_id: str) -> tuple[str | None, ...]:
        """Each possible start of the process: its start events, instantiating receive tasks
        and event-based gateways. `None`: the process has no start, and all nodes without incoming
        flows begin together (BPMN 2.0.2, 13.2). Raises `KeyError` for an unknown process."""
        scope = self.net.scopes[self.net.processes[process_id]]
        names = [self.net.nodes[i].id for i in scope.starts]
        for i in scope.sources:
            element = self.net.nodes[i].element
            if isinstance(element, Task | Gateway) and element.instantiate:
                names.append(element.id)
        return tuple(names) or (None,)

    def initial(self, process_id: str, start: str | None = None) -> State:
        """One instance of the process, number 0, that begins at `start` (one of `starts`; by
        default the first). Raises `KeyError` if the process or start does not exist."""
        draft = Draft(State())
        options = self.starts(process_id)
        if start is not None and start not in options:
            raise KeyError(f"process `{process_id}` cannot start at `{start}`")
        begin_instance(
            self.net, draft, self.net.processes[process_id], options[0] if start is None else start
        )
        return draft.freeze()

    def initial_all(self, starts: Mapping[str, str | None] | None = None) -> State:
        """The initial state of a collaboration: one instance of every process with a start that
        needs no message from another process of the model, numbered in model order; `starts`
        selects the starts."""
        draft = Draft(State())
        for process_id, scope in self.net.processes.items():
            if not self.net.scopes[scope].nodes:
                continue
            options = self.starts(process_id)
            free = [
                s for s in options if s is None or not self.net.nodes[self._find_index(s)].needs
            ]
            wanted = (starts or {}).get(process_id, free[0] if free else "")
            if wanted in options:
                begin_instance(self.net, draft, scope, wanted)
        return draft.freeze()

    def _find_index(self, element: str) -> int:
        return self.net.by_id[element][0]

    # -- what a state allows ------------------------------------------------------------------

    def enabled(self, state: State) -> tuple[Step, ...]:
        """Every step the state allows, in a fixed order (frames, nodes in model order, choices).

        For an inclusive split with more than `policy.subsets` choices, only that number is listed,
        and `wide` names the split; `fire` accepts the others too.
        """
        steps: dict[Step, None] = {}
        for move in self._moves.of_state(state):
            for ids, _ in self._moves.choices(move):
                steps.setdefault(Step(move.action, move.node.id, ids, move.instance))
        return tuple(steps)

    def steps_of(self, state: State, element: str) -> tuple[Step, ...]:
        """The enabled steps of one element."""
        asked = self._asked
        if asked is not None and asked[0] is state and asked[1] == element:
            return asked[3]
        steps_here: dict[Step, None] = {}
        moves = list(self._moves.of_element(state, element))
        for move in moves:
            for ids, _ in self._moves.choices(move):
                steps_here.setdefault(Step(move.action, element, ids, move.instance))
        steps = tuple(steps_here)
        self._asked = (state, element, moves, steps)
        return steps

    def steps_from(
        self, state: State, elements: frozenset[str]
    ) -> Iterator[tuple[Step, Callable[[], State]]]:
        """The enabled steps of some elements in the order of `enabled`, each with a function that
        returns the state after it."""
        next_steps: set[Step] = set()
        if self._around is None or self._around[0] is not elements:
            self._around = (elements, self._moves.around(elements))
        for move in self._moves.of_state(state, self._around[1]):
            if move.node.id not in elements:
                continue
            for ids, taken in self._moves.choices(move):
                step = Step(move.action, move.node.id, ids, move.instance)
                if step not in next_steps:
                    next_steps.add(step)
                    yield step, partial(apply_move, self.net, state, move, taken)

    def moves(self, state: State) -> list[Move]:
        """Every move the state allows, before the choice of flows, in the order of `enabled`."""
        return list(self._moves.of_state(state))

    def states_after(self, state: State, moves: Iterable[Move]) -> Iterator[State]:
        """The states after the steps of some moves of a state, in the order of `enabled`: what
        `fire` returns for each, without a search for the moves of each step."""
        seen: set[Step] = set()
        for move in moves:
            for ids, taken in self._moves.choices(move):
                step = Step(move.action, move.node.id, ids, move.instance)
                if step not in seen:
                    seen.add(step)
                    yield apply_move(self.net, state, move, taken)

    @property
    def wide(self) -> frozenset[str]:
        """Splits whose choices `enabled` does not list in full."""
        return frozenset(self.net.wide)

    def fire(self, state: State, step: Step) -> State:
        """The state after `step`. Raises `NotEnabled`."""
        asked, moves = self._asked, None
        if asked is not None and asked[0] is state and asked[1] == step.element:
            moves = asked[2]
        for move in self._moves.of_element(state, step.element) if moves is None else moves:
            if move.action == step.action and move.instance == step.instance:
                taken = self._moves.taken(move, step.taken)
                if taken is not None:
                    return apply_move(self.net, state, move, taken)
        steps = self.steps_of(state, step.element)
        what = ", ".join(f"{s.action} {list(s.taken)} ({s.instance})" for s in steps[:8])
        raise NotEnabled(
            f"`{step.element}` cannot {step.action} {list(step.taken)} ({step.instance}) here; "
            f"it can: {what or 'nothing'}"
        )

    def decisions(self, step: Step) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The decision of a step: (element, flows taken), empty if there was no choice.

        The element is a splitting gateway or activity, an event-based gateway (the flow to the
        event that came), an activity with interrupting boundary events (the flows of whatever
        ended it), a non-interrupting boundary event, or the start event of an event sub-process
        that catches the errors of steps.
        """
        decided: list[tuple[str, tuple[str, ...]]] = []
        net = self.net
        node = net.nodes[net.by_id[step.element][0]]
        taken = step.taken
        if step.action == "open":
            return ()
        if step.action == "done" and taken and taken not in node.options:
            gateway = net.nodes[net.producer[net.flow_index[taken[0]]]]
            if gateway.race:
                if len(gateway.outs) > 1:
                    decided.append((gateway.id, taken[:1]))
                taken = taken[1:]
        if node.attached >= 0 and not node.thrown_inside and "cancel" not in node.kinds():
            ends = node_interrupts(node)
            decided.append((net.nodes[node.attached].id if ends else node.id, taken))
        elif (
            node.failing
            or len(node.options) > 1
            or any(
                node_interrupts(net.nodes[b]) and not net.nodes[b].thrown_inside
                for b in node.boundaries
            )
        ):
            decided.append((node.id, taken))
        return tuple(decided)

    def finished(self, state: State) -> bool:
        """Whether no token is left."""
        return not state.frames

    def outcome(self, state: State) -> str:
        """`running`, `stuck` (tokens left, nothing enabled), or how it ended: `completed`,
        `terminated` (by a terminate end event), `error` (nothing caught it)."""
        if not state.frames:
            return state.ended or "completed"
        return "running" if any(True for _ in self._moves.of_state(state)) else "stuck"

    def left(self, state: State) -> tuple[Left, ...]:
        """The places of the remaining tokens and messages."""
        net = self.net
        leftovers = []
        for frame in state.frames:
            for place, number in frame.tokens:
                if place < len(net.flows):
                    item = ("flow", net.flows[place].id)
                else:
                    node = net.nodes[net.consumer[place]]
                    item = ("open" if place == node.open else "pending", node.id)
                leftovers.append(Left(*item, number, frame.key))
        for message in state.messages:
            flow = net.model.message_flows[message.flow].id
            leftovers.append(Left("message", flow, 1, message.sender))
        return tuple(leftovers)

    def is_at(self, state: State, element: str) -> bool:
        """Whether a token is on a flow to an element, or in it."""
        net = self.net
        return any(
            net.nodes[net.consumer[place]].id == element
            for frame in state.frames
            for place, _ in frame.tokens
        )

    def open_elements(self, state: State) -> tuple[str, ...]:
        """Elements that are waiting, sorted, one entry per open instance: open activities
        (including a sub-process and those inside it) and events, and the targets of an event-based
        gateway in its place."""
        names: list[str] = []
        for frame in state.frames:
            for place, number in frame.tokens:
                node = self.net.nodes[self.net.consumer[place]]
                if place != node.open:
                    continue
                if node.race:
                    targets = {self.net.consumer[p] for p in node.outs}
                    names += [self.net.nodes[t].id for t in sorted(targets)] * number
                else:
                    names += [node.id] * number
        return tuple(sorted(names))
