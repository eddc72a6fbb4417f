"""The moves that a state of the token game allows, each with its choices of flows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgflow_ir.flow.token_game.net import ARRIVED, COMPLETED, FIRED, SLOTS, Net, NetNode
from orgflow_ir.flow.token_game.state import Draft, Frame, FrameId, Message, State, read_count
from orgflow_ir.model import Event, SubProcess, Task
from orgflow_ir.model.records import NamedTuple


class Move(NamedTuple):
    """A possible move, before the choice of flows. `kind` is `enter`, `body` (one of a loop or
    ad-hoc sub-process), `done`, `race` (`other`: the gateway), `trigger` (`other`: the activity a
    boundary event leaves), `event` (an event sub-process starts) or `message` (a process does)."""

    kind: str
    at: FrameId
    node: NetNode
    instance: int
    action: str
    other: int = -1
    child: FrameId | None = None


class Around(NamedTuple):
    """Where moves of some elements may come from: nodes whose tokens they may take, and scopes
    whose state decides on them."""

    nodes: frozenset[int]
    guards: frozenset[int]


_OPENING: tuple[tuple[tuple[str, ...], tuple[int, ...]]] = (((), ()),)
"""The one choice of a move that opens an element: it takes no flow."""


class Moves:
    """Finds moves, based only on the net and its policy."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.policy = net.policy

    def choices(self, move: Move) -> Iterable[tuple[tuple[str, ...], tuple[int, ...]]]:
        """The flows that a move may take, and their places."""
        if move.kind == "race":
            return [
                ((self.net.flows[place].id, *ids), taken)
                for place in self.net.nodes[move.other].outs
                if self.net.consumer[place] == move.node.index
                for ids, taken in move.node.options.items()
            ]
        return _OPENING if move.action == "open" else move.node.options.items()

    def taken(self, move: Move, ids: tuple[str, ...]) -> tuple[int, ...] | None:
        if move.kind == "race":
            if not ids or ids[0] not in self.net.flow_index:
                return None
            place = self.net.flow_index[ids[0]]
            fits = place in self.net.nodes[move.other].outs
            if not fits or self.net.consumer[place] != move.node.index:
                return None
            return self.net.taken(move.node, ids[1:])
        if move.action == "open":
            return None if ids else ()
        return self.net.taken(move.node, ids)

    def around(self, elements: frozenset[str]) -> Around:
        """Where moves of some elements may come from."""
        nodes = [self.net.nodes[i] for e in elements for i in self.net.by_id.get(e, ())]
        return Around(
            frozenset([k for node in nodes for k in node.near]),
            frozenset([node.guard for node in nodes]),
        )

    def of_state(self, state: State, around: Around | None = None) -> Iterator[Move]:
        """All moves, frames and nodes in order; with `around` those of its elements, and others."""
        for frame in state.frames:
            tokens = dict(frame.tokens)
            consumers = {self.net.consumer[p] for p in tokens}
            for i in sorted(consumers if around is None else consumers & around.nodes):
                yield from self._node_moves(state, frame, tokens, self.net.nodes[i])
            guards = self.net.scopes[frame.scope].guards
            if guards and (around is None or frame.scope in around.guards):
                yield from self._scope_moves(state, frame, tokens)
        if state.messages:
            yield from self._message_starts(state)

    def of_element(self, state: State, element: str) -> Iterator[Move]:
        """The moves of one element, independent of the others."""
        nodes = self.net.nodes
        for i in self.net.by_id.get(element, ()):
            node = nodes[i]
            for frame in state.frames:
                if frame.scope == node.scope or node.handles:
                    tokens = dict(frame.tokens)
                    for k in node.near:
                        for move in self._node_moves(state, frame, tokens, nodes[k]):
                            if move.node is node:
                                yield move
                if frame.scope == node.guard:
                    for move in self._scope_moves(state, frame, dict(frame.tokens)):
                        if move.node is node:
                            yield move
            if state.messages:
                for move in self._message_starts(state):
                    if move.node is node:
                        yield move

    def _node_moves(
        self, state: State, frame: Frame, tokens: dict[int, int], node: NetNode
    ) -> Iterator[Move]:
        """The moves of a node in one frame: it begins, or what is open in it ends."""
        at = (frame.scope, frame.key)
        # A token at each way in that the node waits for: it begins.
        if self._is_activated(tokens, node) and self._can_enter(state, frame, node):
            yield self._enter_move("enter", state, at, node)
        if node.open not in tokens:
            return
        # An event-based gateway is open until one of the events behind it comes.
        if node.race:
            for target in sorted({self.net.consumer[p] for p in node.outs}):
                if self._is_ready(state, frame, self.net.nodes[target]):
                    raced = self.net.nodes[target]
                    yield Move("race", at, raced, frame.key, "done", node.index)
            return
        # A node with a body is done with each of its frames that has no token left; a cancelled
        # transaction is left by its cancel event. Meanwhile its boundary events may come.
        if node.body >= 0:
            children = [f for f in state.frames if f.owner == (frame.scope, frame.key, node.index)]
            for child in children:
                inside = (child.scope, child.key)
                if not child.tokens and self._enough_bodies(child):
                    leave = self._cancel_event(child, node)
                    if leave is None:
                        yield Move("done", at, node, child.key, "done", -1, inside)
                    else:
                        fires = leave.action
                        yield Move("trigger", at, leave, child.key, fires, node.index, inside)
                    continue
                yield from self._boundary_moves(state, frame, node, inside)
            return
        # Every other open node ends by itself, or one of its boundary events comes.
        if self._done_possible(state, frame, tokens, node):
            yield Move("done", at, node, frame.key, "done")
        yield from self._boundary_moves(state, frame, node, None)

    def _boundary_moves(
        self, state: State, frame: Frame, node: NetNode, child: FrameId | None
    ) -> Iterator[Move]:
        at = (frame.scope, frame.key)
        for b in node.boundaries:
            event = self.net.nodes[b]
            # What is thrown inside comes by itself when it is thrown, and so does a cancellation.
            if (event.thrown_inside and not event.failing) or "cancel" in event.kinds():
                continue
            # Its message or signal is there; a step that may throw its error is open.
            if not self._is_ready(state, frame, event):
                continue
            if event.failing and child is not None and not self._may_fail(state, child, event):
                continue
            # One that does not interrupt comes once an activation, where the policy says so.
            if self.policy.once and not node_interrupts(event):
                fired = read_count(frame.memo, b * SLOTS + FIRED)
                if fired >= read_count(frame.tokens, node.open):
                    continue
            key = child[1] if child else frame.key
            yield Move("trigger", at, event, key, "fire", node.index, child)

    def _may_fail(self, state: State, child: FrameId, event: NetNode) -> bool:
        """Whether a step in a scope, however deep, is open whose error an event of that scope
        catches (BPMN 2.0.2, 10.5.1: an activity throws it, not a flow or gateway)."""
        # 1. The frames in the scope, at any depth: until no frame is added.
        inside, size = {child}, 0
        while size < len(inside):
            size = len(inside)
            inside.update(
                (f.scope, f.key)
                for f in state.frames
                if f.owner is not None and (f.owner[0], f.owner[1]) in inside
            )
        # 2. Whether one of them holds an open step that may throw the error.
        places = {self.net.nodes[i].open for i in event.failing}
        return any(
            place in places
            for f in state.frames
            if (f.scope, f.key) in inside
            for place, _ in f.tokens
        )

    def _scope_moves(self, state: State, frame: Frame, tokens: dict[int, int]) -> Iterator[Move]:
        """The moves of a frame that no token in it causes: event sub-processes, the next round of a
        loop, the next activity of an ad-hoc sub-process."""
        scope = self.net.scopes[frame.scope]
        at = (frame.scope, frame.key)
        # Event sub-processes start while the scope is under way and none has interrupted it.
        if tokens and not is_interrupted(self.net, frame):
            for i in scope.events:
                yield from self._event_scope_moves(state, frame, self.net.nodes[i])
        # A loop has bounds (least, most, whether rounds run together). Rounds that run together
        # begin before the first one is over, others when nothing is under way.
        if scope.loop is not None:
            body = self.net.nodes[scope.nodes[0]]
            begun = read_count(frame.memo, body.index * SLOTS + FIRED)
            if begun < scope.loop[1]:
                over = read_count(frame.memo, body.index * SLOTS + COMPLETED)
                together = over == 0 or begun < scope.loop[0] or not body.opens
                if together if scope.loop[2] else not tokens:
                    yield self._enter_move("body", state, at, body)
        elif scope.ad_hoc and not (scope.sequential and tokens):
            for i in scope.sources:
                body = self.net.nodes[i]
                begun = read_count(frame.memo, i * SLOTS + FIRED)
                if body.open not in tokens and not (self.policy.once and begun):
                    yield self._enter_move("body", state, at, body)

    def _event_scope_moves(self, state: State, frame: Frame, node: NetNode) -> Iterator[Move]:
        at = (frame.scope, frame.key)
        for s in self.net.scopes[node.body].starts if node.body >= 0 else ():
            start = self.net.nodes[s]
            thrown = start.thrown_inside and not start.failing
            if thrown or "compensation" in start.kinds():
                continue
            if self.policy.once and read_count(frame.memo, s * SLOTS + FIRED):
                continue
            if start.failing and not self._may_fail(state, at, start):
                continue
            if self._is_ready(state, frame, start):
                key = self._child_key(state, node.body, frame.key)
                yield Move("event", at, start, key, "start", node.index)

    def _message_starts(self, state: State) -> Iterator[Move]:
        for number in dict.fromkeys(m.flow for m in state.messages):
            target = self.net.model.message_flows[number].target
            for i in self.net.by_id.get(target, ()):
                node = self.net.nodes[i]
                scope = self.net.scopes[node.scope]
                element = node.element
                begins = i in scope.starts or (
                    isinstance(element, Task) and element.instantiate and i in scope.sources
                )
                if begins and scope.index == scope.process:
                    key = Draft(state).fresh()
                    yield Move("message", (scope.index, key), node, key, "start", number)

    def _enter_move(self, kind: str, state: State, at: FrameId, node: NetNode) -> Move:
        key = at[1]
        if node.body >= 0:
            around = self.net.scopes[node.body].loop is not None
            key = self._child_key(state, node.body, -1 if around else key)
            return Move(kind, at, node, key, "open")
        opens = node.opens or self._waits_for_handlers(state, at, node)
        return Move(kind, at, node, key, "open" if opens else node.action)

    def _child_key(self, state: State, scope: int, key: int) -> int:
        if key >= 0 and not any(f.scope == scope and f.key == key for f in state.frames):
            return key
        return Draft(state).fresh()

    def _waits_for_handlers(self, state: State, at: FrameId, node: NetNode) -> bool:
        if not throws_compensation(node):
            return False
        if not any(d.wait_for_completion for d in node.definitions if d.kind == "compensation"):
            return False
        frames = {(f.scope, f.key): f for f in state.frames}
        return bool(handlers_due(self.net, frames, at, node)[1])

    def _is_activated(self, tokens: dict[int, int], node: NetNode) -> bool:
        if node.pending in tokens:
            return True
        if node.join == "each":
            return not tokens.keys().isdisjoint(node.ins)
        if node.join == "all":
            return bool(node.ins) and all(p in tokens for p in node.ins)
        return self.synced(tokens, node)

    def synced(self, tokens: dict[int, int], node: NetNode) -> bool:
        """The inclusive gateway's activation (BPMN 2.0.2, 13.4.3): at least one incoming flow has a
        token, and for every path that starts at a flow with a token, ends at an incoming flow
        without one and does not visit the gateway, there is also such a path from the same flow
        to an incoming flow that has one.

        The specification refers to tokens on flows and paths of flows. A token inside an element
        counts as on its outgoing flow. The gateway waits for tokens that may still arrive through a
        boundary event, even for tokens that may leave through one."""
        marked = 0
        for bit, place in enumerate(node.ins):
            if place in tokens:
                marked |= 1 << bit
        if not marked:
            return False
        if marked == (1 << len(node.ins)) - 1:
            return True
        # Bits of the ways in that a token elsewhere can still reach, and that excuse it.
        reaches, excuses = self.net.masks(node)
        for place in tokens:
            at = self.net.consumer[place]
            if (
                at != node.index
                and reaches.get(at, 0) & ~marked
                and not (excuses.get(at, 0) & marked)
            ):
                return False
        return True

    def _can_enter(self, state: State, frame: Frame, node: NetNode) -> bool:
        """A link throw without its catch goes nowhere; what does not wait but needs a message (a
        start or a catch without definition) needs it here."""
        if node.definitions and "link" in node.kinds() and not node.links:
            return isinstance(node.element, Event) and node.element.position == "catch"
        return node.opens or not node.needs or node.action == "start"

    def _is_ready(self, state: State, frame: Frame, node: NetNode) -> bool:
        """Whether what a waiting element or trigger waits for is there."""
        if node.needs:
            return receivable_message(self.net, state, frame, node) is not None
        if node.signals:
            return read_count(frame.memo, node.index * SLOTS + ARRIVED) > 0
        return True

    def _done_possible(
        self, state: State, frame: Frame, tokens: dict[int, int], node: NetNode
    ) -> bool:
        if not throws_compensation(node):
            return self._is_ready(state, frame, node)
        frames = {(f.scope, f.key): f for f in state.frames}
        where, _ = handlers_due(self.net, frames, (frame.scope, frame.key), node)
        nodes, consumer = self.net.nodes, self.net.consumer
        return not any(nodes[consumer[p]].handles for p, _ in frames[where].tokens)

    def _cancel_event(self, child: Frame, node: NetNode) -> NetNode | None:
        """The cancel event by which a cancelled transaction is left."""
        if not read_count(child.memo, node.index * SLOTS + FIRED):
            return None
        events = (self.net.nodes[b] for b in node.boundaries)
        return next((e for e in events if "cancel" in e.kinds()), None)

    def _enough_bodies(self, child: Frame) -> bool:
        scope = self.net.scopes[child.scope]
        if scope.loop is None:
            return True
        return read_count(child.memo, scope.nodes[0] * SLOTS + FIRED) >= scope.loop[0]


def node_interrupts(event: NetNode) -> bool:
    """Whether a boundary event or the start of an event sub-process interrupts its activity or
    scope."""
    element = event.element
    assert isinstance(element, Event)
    return element.interrupting or not event.kinds().isdisjoint(("error", "cancel"))


def is_interrupted(net: Net, frame: Frame) -> bool:
    """Whether an interrupting event sub-process has started, which disarms the others."""
    for i in net.scopes[frame.scope].events:
        body = net.nodes[i].body
        for s in net.scopes[body].starts if body >= 0 else ():
            if node_interrupts(net.nodes[s]) and read_count(frame.memo, s * SLOTS + FIRED):
                return True
    return False


def throws_compensation(node: NetNode) -> bool:
    """Whether a node is a throw or end event that compensates."""
    return (
        isinstance(node.element, Event)
        and node.element.position in ("throw", "end")
        and "compensation" in node.kinds()
    )


def handlers_due(
    net: Net, frames: dict[FrameId, Frame], at: FrameId, node: NetNode
) -> tuple[FrameId, list[tuple[int, int]]]:
    """For a compensation throw in frame `at`: the frame whose activities it compensates (from an
    event sub-process: the one around it, unless it names one of its own activities), and (activity,
    times completed) for each with a handler.
    """
    owner = frames[at].owner
    wanted = {d.ref for d in node.definitions if d.kind == "compensation" and d.ref}
    own = any(net.nodes[i].scope == at[0] for ref in wanted for i in net.by_id.get(ref, ()))
    if owner is not None and is_event_scope(net.nodes[owner[2]]) and not own:
        at = (owner[0], owner[1])
    due = [
        (i, times)
        for i, times in list_completed(net, frames[at])
        if not wanted or wanted & set(_list_around(net, i, at[0]))
    ]
    return at, due


def list_completed(net: Net, frame: Frame) -> list[tuple[int, int]]:
    """Activities with a handler that were completed in a frame or in its completed sub-processes,
    with their counts."""
    activities = []
    for key, times in frame.memo:
        i, slot = divmod(key, SLOTS)
        if slot == COMPLETED and net.nodes[i].handler >= 0:
            activities.append((i, times))
    return activities


def _list_around(net: Net, node: int, scope: int) -> Iterator[str]:
    """Ids of a node and of the sub-processes around it within a scope."""
    while True:
        yield net.nodes[node].id
        if net.nodes[node].scope == scope:
            return
        node = net.holder[net.nodes[node].scope]


def is_event_scope(node: NetNode) -> bool:
    """Whether a node is an event sub-process, which has no incoming flows."""
    return isinstance(node.element, SubProcess) and node.element.flavour == "event"


def receivable_message(net: Net, state: State, frame: Frame, node: NetNode) -> Message | None:
    """The oldest message that `node` may receive in this instance: sent over one of its message
    flows, to this instance or to any, and not from an instance that is paired with another one."""
    partners = {
        other: process for instance, process, other in state.talks if instance == frame.root
    }
    for message in state.messages:
        if message.flow not in node.needs or message.receiver not in (-1, frame.root):
            continue
        sender = sender_scope(net, message.flow)
        known = [o for o, process in partners.items() if process == sender]
        if message.receiver == frame.root or not known or message.sender in known:
            return message
    return None


def sender_scope(net: Net, flow: int) -> int:
    """Index of the source process of a message flow."""
    source = net.by_id[net.model.message_flows[flow].source][0]
    return net.scopes[net.nodes[source].scope].process
