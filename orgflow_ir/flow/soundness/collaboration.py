"""Messages between processes: receivers that wait in vain, messages that are never received, and
circular waits.

Every state of the collaboration's token game is visited (`Policy(messages="flows", once=True)`):
messages are kept until taken, those of different flows in any order (an unordered network: fbpmn's
*Bag*), each process of a pool runs once, and a message to a start event makes another instance.
Instances of a process and messages of one flow are counted up to a bound; beyond it, or beyond the
budget of states, nothing is proved.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from typing import Literal

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.net import NetNode, Policy
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.model import Model
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.records import NamedTuple

BUDGET = 20_000
"""Maximum number of states visited before the analysis gives up."""

MOST = 3
"""Maximum number of instances of one process, and of pending messages of one flow, that are
distinguished."""

FaultKind = Literal["unsent", "circular", "unreceived"]


class CollaborationFault(NamedTuple):
    """A fault between processes, with a shortest run that reaches it.

    `unsent`: `elements` wait for messages that never arrive; `circular`: each of `elements` waits
    for an event that only follows another of them; `unreceived`: the message of `flows` is never
    received. `flows` are ids of message flows; if the elements wait for messages, there is one for
    each of `elements`.
    """

    kind: FaultKind
    elements: tuple[str, ...]
    flows: tuple[str, ...]
    trace: tuple[Step, ...]


class CollaborationAnalysis(NamedTuple):
    """What was found. `verdict` is `proved` (every run of the collaboration ends with all messages
    received), `violated`, `unknown` (`reason` names the bound that was reached) or `not
    applicable`."""

    verdict: Literal["proved", "violated", "unknown", "not applicable"]
    faults: tuple[CollaborationFault, ...] = ()
    states: int = 0
    reason: str = ""


def analyse_collaboration(model: Model, *, budget: int = BUDGET) -> CollaborationAnalysis:
    """The analysis of a collaboration. Faults of the control flow alone are not repeated."""
    if not any(_between_nodes(model)):
        return CollaborationAnalysis("not applicable", reason="no message flow connects two nodes")
    return _Search(model, budget).run()


def _between_nodes(model: Model) -> Iterator[str]:
    nodes = {n.id for s in model.scopes() for n in s.nodes}
    for flow in model.message_flows:
        if flow.source in nodes and flow.target in nodes:
            yield flow.id


class _Search:
    def __init__(self, model: Model, budget: int) -> None:
        self.model, self.budget = model, budget
        self.index = ModelIndex(model)
        self.game = Game(model, Policy(messages="flows", once=True))
        self.net = self.game.net
        self.before: dict[State, tuple[State, Step] | None] = {}
        self.found: dict[tuple[FaultKind, tuple[str, ...]], CollaborationFault] = {}
        self.beyond = ""

    def run(self) -> CollaborationAnalysis:
        first = self.game.initial_all()
        self.before[first] = None
        queue = deque([first])
        while queue:
            if len(self.before) > self.budget:
                self.beyond = f"more than {self.budget:,} states"
                break
            state = queue.popleft()
            steps = self.game.enabled(state)
            if not steps:
                self._judge_state(state)
            for step in steps:
                after = self.game.fire(state, step)
                if after in self.before:
                    continue
                self.before[after] = (state, step)
                if self._is_bounded(after):
                    queue.append(after)
        faults = tuple(self.found.values())
        verdict: Literal["proved", "violated", "unknown"] = "violated" if faults else "proved"
        if not faults and (self.beyond or self.game.wide):
            verdict = "unknown"
        reason = self.beyond or (
            "an inclusive split has too many choices" if self.game.wide else ""
        )
        return CollaborationAnalysis(verdict, faults, len(self.before), reason)

    def _is_bounded(self, state: State) -> bool:
        instances = Counter(f.scope for f in state.frames if f.owner is None)
        messages = Counter(m.flow for m in state.messages)
        if any(n > MOST for n in instances.values()):
            self.beyond = f"more than {MOST} instances of one process"
        elif any(n > MOST for n in messages.values()):
            self.beyond = f"more than {MOST} pending messages of one flow"
        else:
            return True
        return False

    # -- states in which nothing happens any more ----------------------------------------------

    def _judge_state(self, state: State) -> None:
        waiting = self._list_waiting(state)
        if waiting:
            self._judge_waiting(state, waiting)
        elif state.frames:
            self.beyond = self.beyond or "the control flow of a process gets stuck without messages"
        if not state.frames:
            for flow in dict.fromkeys(m.flow for m in state.messages):
                name = self.model.message_flows[flow].id
                self._add_fault("unreceived", (), (name,), state)

    def _list_waiting(self, state: State) -> dict[int, tuple[NetNode, int]]:
        """The nodes that wait for messages, by the process they are in, with its instance; nothing
        where something waits for a token: that is a fault of the control flow."""
        result: dict[int, tuple[NetNode, int]] = {}
        for frame in state.frames:
            for place, _ in frame.tokens:
                node = self.net.nodes[self.net.consumer[place]]
                if place != node.open:
                    if not node.needs:
                        return {}
                elif not self._wants_message(node):
                    continue  # it is open because of what is in it
                if self._wants_message(node):
                    result[len(result)] = (node, frame.root)
        return result

    def _wants_message(self, node: NetNode) -> bool:
        if node.race:
            return any(self.net.nodes[self.net.consumer[p]].needs for p in node.outs)
        return bool(node.needs)

    def _list_flows(self, node: NetNode) -> tuple[int, ...]:
        if node.race:
            targets = (self.net.nodes[self.net.consumer[p]] for p in node.outs)
            return tuple(f for t in targets for f in t.needs)
        return node.needs

    def _judge_waiting(self, state: State, waiting: Mapping[int, tuple[NetNode, int]]) -> None:
        live = {self._name_process(node.id) for node, _ in waiting.values()}
        senders: dict[str, set[str]] = {}
        for node, _ in waiting.values():
            flows = (self.model.message_flows[f] for f in self._list_flows(node))
            senders[node.id] = {self._name_process(f.source) for f in flows}
        ring = self._find_ring(waiting, senders)
        if len(ring) > 1:
            among = {self._name_process(node) for node in ring}
            wanted = tuple(f for node in ring for f in self._flow_ids(node, among))
            self._add_fault("circular", tuple(sorted(ring)), wanted, state)
        for node, _ in waiting.values():
            if node.id not in ring and not senders[node.id] & (
                live - {self._name_process(node.id)}
            ):
                names = tuple(self.model.message_flows[f].id for f in self._list_flows(node))
                self._add_fault("unsent", (node.id,), names, state)

    def _flow_ids(self, node: str, among: set[str]) -> tuple[str, ...]:
        at = self.net.nodes[self.net.by_id[node][0]]
        flows = (self.model.message_flows[f] for f in self._list_flows(at))
        return tuple(f.id for f in flows if self._name_process(f.source) in among)

    def _find_ring(
        self,
        waiting: Mapping[int, tuple[NetNode, int]],
        senders: Mapping[str, set[str]],
    ) -> list[str]:
        """Nodes that wait for each other's processes: what is left when those are taken away,
        again and again, that wait for somebody who does not wait."""
        left = {n.id for n, _ in waiting.values()}
        while True:
            homes = {self._name_process(n) for n in left}
            free = {n for n in left if not senders[n] & (homes - {self._name_process(n)})}
            if not free:
                return sorted(left)
            left -= free

    def _name_process(self, node: str) -> str:
        process = self.index.process(node)
        return process.id if process is not None else ""

    def _add_fault(
        self, kind: FaultKind, elements: tuple[str, ...], flows: tuple[str, ...], state: State
    ) -> None:
        key = (kind, elements or flows)
        if key not in self.found:
            self.found[key] = CollaborationFault(kind, elements, flows, self._trace_steps(state))

    def _trace_steps(self, state: State) -> tuple[Step, ...]:
        steps = []
        at = self.before[state]
        while at is not None:
            state, step = at
            steps.append(step)
            at = self.before[state]
        return tuple(reversed(steps))
