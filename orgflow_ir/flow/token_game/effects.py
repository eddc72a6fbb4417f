"""The effect of a step of the token game on the state."""

from __future__ import annotations

from orgflow_ir.flow.token_game.moves import (
    Move,
    handlers_due,
    is_event_scope,
    is_interrupted,
    list_completed,
    node_interrupts,
    receivable_message,
    sender_scope,
    throws_compensation,
)
from orgflow_ir.flow.token_game.net import ARRIVED, COMPLETED, FIRED, SLOTS, Net, NetNode
from orgflow_ir.flow.token_game.state import Draft, Frame, FrameId, Message, State, read_count
from orgflow_ir.model import Event, EventDefinition


def apply_move(net: Net, state: State, move: Move, taken: tuple[int, ...]) -> State:
    """The state after `move` with tokens put on the flows `taken`."""
    draft = Draft(state)
    at, node = move.at, move.node
    if move.kind in ("done", "race", "trigger", "event") and node.needs:
        _receive_message(net, draft, draft.frames[at], node)
    match move.kind:
        case "enter" | "body":
            if move.kind == "enter":
                _consume_tokens(net, draft, at, node)
            else:
                draft.remember(at, node.index * SLOTS + FIRED)
            if move.action == "open":
                _open_node(net, draft, move)
                return draft.freeze()
        case "done":
            draft.add(at, node.open, -1)
            if move.child is not None:
                if node.handler < 0:
                    for i, times in list_completed(net, draft.frames[move.child]):
                        draft.remember(at, i * SLOTS + COMPLETED, times)
                draft.kill(move.child)
        case "race":
            draft.add(at, net.nodes[move.other].open, -1)
        case "trigger":
            _trigger_event(net, draft, move)
        case "event":
            _start_event_scope(net, draft, move)
            at = (node.scope, move.instance)
        case "message":
            at = begin_instance(net, draft, at[0], node.id)
            _receive_message(net, draft, draft.frames[at], node)
            draft.add(at, node.pending, -1)
    _complete_node(net, draft, at, node, taken)
    _settle_activation(net, draft, move)
    return draft.freeze()


def begin_instance(net: Net, draft: Draft, scope: int, start: str | None) -> FrameId:
    """A new process instance that begins at `start` (`None`: at all nodes without incoming
    flows)."""
    key = draft.fresh()
    at = (scope, key)
    draft.frames[at] = Frame(scope, key, key, None)
    if start is None:
        for i in net.scopes[scope].sources:
            draft.add(at, net.nodes[i].pending)
    else:
        here = next(i for i in net.by_id[start] if net.nodes[i].scope == scope)
        draft.add(at, net.nodes[here].pending)
    return at


def _consume_tokens(net: Net, draft: Draft, at: FrameId, node: NetNode) -> None:
    frame = draft.frames[at]
    tokens = frame.tokens
    if read_count(tokens, node.pending):
        draft.add(at, node.pending, -1)
        if node.action == "start" and frame.owner is not None:
            _withdraw_starts(net, draft, at)
    elif node.join == "each":
        draft.add(at, next(p for p, _ in tokens if p in node.ins), -1)
    else:
        for place in node.ins:
            if read_count(tokens, place):
                draft.add(at, place, -1)


def _withdraw_starts(net: Net, draft: Draft, at: FrameId) -> None:
    """Several start events of a sub-process are alternatives: the first one is the one."""
    for i in net.scopes[at[0]].starts:
        place = net.nodes[i].pending
        draft.add(at, place, -read_count(draft.frames[at].tokens, place))


def _open_node(net: Net, draft: Draft, move: Move) -> None:
    node, at = move.node, move.at
    if throws_compensation(node):
        _start_compensation(net, draft, at, node)
    draft.add(at, node.open)
    if node.asks:
        _send_messages(net, draft, at, node)
    if node.body < 0:
        return
    inside = (node.body, move.instance)
    scope = net.scopes[node.body]
    owner = (at[0], at[1], node.index)
    draft.frames[inside] = Frame(*inside, draft.frames[at].root, owner)
    if scope.loop is not None or scope.ad_hoc:
        return
    none = tuple(s for s in scope.starts if not net.nodes[s].definitions)
    for s in none or scope.starts or scope.sources:
        draft.add(inside, net.nodes[s].pending)


def _trigger_event(net: Net, draft: Draft, move: Move) -> None:
    event = move.node
    if node_interrupts(event):
        draft.add(move.at, net.nodes[move.other].open, -1)
        if move.child is not None:
            draft.kill(move.child)
    elif net.policy.once:
        draft.remember(move.at, event.index * SLOTS + FIRED)


def _start_event_scope(net: Net, draft: Draft, move: Move) -> None:
    start, holder = move.node, net.nodes[move.other]
    if node_interrupts(start):
        draft.clear(move.at)
    if net.policy.once or node_interrupts(start):
        draft.remember(move.at, start.index * SLOTS + FIRED)
    draft.add(move.at, holder.open)
    inside = (holder.body, move.instance)
    owner = (move.at[0], move.at[1], holder.index)
    draft.frames[inside] = Frame(*inside, draft.frames[move.at].root, owner)


def _complete_node(
    net: Net, draft: Draft, at: FrameId, node: NetNode, taken: tuple[int, ...]
) -> None:
    """What a node does when it is done: it throws, sends, and puts tokens on its flows."""
    if node.sends and not node.asks:
        _send_messages(net, draft, at, node)
    if isinstance(node.element, Event) and node.element.position in ("throw", "end"):
        armed = not is_interrupted(net, draft.frames[at])
        for definition in node.definitions:
            _throw_event(net, draft, at, node, definition)
            if at not in draft.frames or (armed and is_interrupted(net, draft.frames[at])):
                return  # caught further out, or by an event sub-process that ends this scope
    for place in taken:
        draft.add(at, place)
    for target in node.links:
        draft.add(at, net.nodes[target].pending)
    if node.handler >= 0 or net.scopes[at[0]].loop is not None:
        draft.remember(at, node.index * SLOTS + COMPLETED)


def _settle_activation(net: Net, draft: Draft, move: Move) -> None:
    """Forget what belonged to an activation that is over."""
    frame = draft.frames.get(move.at)
    if frame is None or not frame.memo:
        return
    at = move.at
    if move.kind == "trigger":
        arrived = move.node.index * SLOTS + ARRIVED
        draft.cap(at, arrived, max(0, read_count(frame.memo, arrived) - 1))
    if move.kind == "race":
        gateway = net.nodes[move.other]
        open_ones = read_count(frame.tokens, gateway.open)
        for place in gateway.outs:
            draft.cap(at, net.consumer[place] * SLOTS + ARRIVED, open_ones)
    elif move.kind in ("done", "trigger"):
        held = move.node if move.kind == "done" else net.nodes[move.other]
        draft.cap(at, held.index * SLOTS + ARRIVED, read_count(frame.tokens, held.open))
        _forget_events(net, draft, at, held)


def _forget_events(net: Net, draft: Draft, at: FrameId, held: NetNode) -> None:
    """An activity is left: what its boundary events have done is no matter any more."""
    open_ones = read_count(draft.frames[at].tokens, held.open)
    for b in held.boundaries:
        draft.cap(at, b * SLOTS + FIRED, open_ones)
        draft.cap(at, b * SLOTS + ARRIVED, open_ones)


# -- messages ---------------------------------------------------------------------------------


def _send_messages(net: Net, draft: Draft, at: FrameId, node: NetNode) -> None:
    """One message over each flow of the sender. It is for the instance that the sending instance
    talks to, if there is one; a message to a start event is for no one yet."""
    root = draft.frames[at].root
    for flow in node.sends:
        target = net.nodes[net.by_id[net.model.message_flows[flow].target][0]]
        scope = net.scopes[target.scope]
        process = scope.process
        partner = -1
        if target.index not in scope.starts or scope.index != process:
            partner = next((o for r, p, o in draft.talks if r == root and p == process), -1)
        draft.messages = tuple(sorted((*draft.messages, Message(flow, root, partner))))


def _receive_message(net: Net, draft: Draft, frame: Frame, node: NetNode) -> None:
    """Take the message and let the two instances talk to each other from now on."""
    state = State((), draft.messages, draft.talks)
    message = receivable_message(net, state, frame, node)
    if message is None:
        return
    rest = list(draft.messages)
    rest.remove(message)
    draft.messages = tuple(rest)
    mine = net.scopes[frame.scope].process
    theirs = sender_scope(net, message.flow)
    alive = {f.root for f in draft.frames.values()}
    talks = [
        t for t in draft.talks if (t[0], t[1]) not in ((frame.root, theirs), (message.sender, mine))
    ]
    talks.append((frame.root, theirs, message.sender))
    if message.sender in alive:
        talks.append((message.sender, mine, frame.root))
    draft.talks = tuple(sorted(talks))


# -- throwing ---------------------------------------------------------------------------------


def _throw_event(
    net: Net, draft: Draft, at: FrameId, node: NetNode, thrown: EventDefinition
) -> None:
    match thrown.kind:
        case "terminate":
            draft.clear(at)
            if draft.frames[at].owner is None:
                draft.ended = draft.ended or "terminated"
        case "error" | "escalation":
            _raise_event(net, draft, at, thrown)
        case "cancel":
            _cancel_transaction(net, draft, at)
        case "signal":
            _broadcast_signal(net, draft, thrown)
        case "compensation":
            if node.element.kind == "event" and not thrown.wait_for_completion:
                _start_compensation(net, draft, at, node)
        case "message" | "link" | "timer" | "conditional":
            pass


def _raise_event(net: Net, draft: Draft, at: FrameId, thrown: EventDefinition) -> None:
    """Find the nearest catch of an error or escalation (BPMN 2.0.2, 10.5.7), inside out."""
    root = draft.frames[at].root
    here: FrameId | None = at
    source = -1
    while here is not None:
        frame = draft.frames[here]
        if _raise_in_scope(net, draft, here, thrown, source):
            return
        if frame.owner is None:
            break
        outer = (frame.owner[0], frame.owner[1])
        held = net.nodes[frame.owner[2]]
        for event in _specific_first(net, [net.nodes[b] for b in held.boundaries]):
            if any(net.matches(d, thrown) for d in event.definitions):
                if node_interrupts(event):
                    draft.add(outer, held.open, -1)
                    draft.kill(here)
                    _forget_events(net, draft, outer, held)
                draft.add(outer, event.pending)
                return
        # an event sub-process does not catch what it throws itself
        source = held.index if is_event_scope(held) else -1
        here = outer
    if thrown.kind == "error":
        for item in [i for i, f in draft.frames.items() if f.root == root and f.owner is None]:
            draft.kill(item)
        draft.ended = "error"


def _raise_in_scope(
    net: Net, draft: Draft, at: FrameId, thrown: EventDefinition, source: int
) -> bool:
    if is_interrupted(net, draft.frames[at]):
        return False
    holders = {
        s: net.nodes[i]
        for i in net.scopes[at[0]].events
        if i != source and net.nodes[i].body >= 0
        for s in net.scopes[net.nodes[i].body].starts
    }
    for start in _specific_first(net, [net.nodes[s] for s in holders]):
        if not any(net.matches(d, thrown) for d in start.definitions):
            continue
        holder = holders[start.index]
        if node_interrupts(start):
            draft.clear(at)
            draft.remember(at, start.index * SLOTS + FIRED)
        draft.add(at, holder.open)
        key = at[1] if (holder.body, at[1]) not in draft.frames else draft.fresh()
        owner = (at[0], at[1], holder.index)
        inside = (holder.body, key)
        draft.frames[inside] = Frame(*inside, draft.frames[at].root, owner)
        draft.add(inside, start.pending)
        return True
    return False


def _specific_first(net: Net, events: list[NetNode]) -> list[NetNode]:
    """Events that catch one error or escalation before those that catch any: the more specific one
    catches what both match, in whatever order they are listed."""
    return sorted(events, key=lambda event: any(map(net.model.catches_any, event.definitions)))


def _cancel_transaction(net: Net, draft: Draft, at: FrameId) -> None:
    """End a transaction: nothing goes on in it but the handlers of what was completed."""
    owner = draft.frames[at].owner
    draft.clear(at)
    if owner is None:
        return
    draft.remember(at, owner[2] * SLOTS + FIRED)
    _run_handlers(net, draft, at, list_completed(net, draft.frames[at]))


def _start_compensation(net: Net, draft: Draft, at: FrameId, node: NetNode) -> None:
    where, due = handlers_due(net, draft.frames, at, node)
    _run_handlers(net, draft, where, due)


def _run_handlers(net: Net, draft: Draft, at: FrameId, due: list[tuple[int, int]]) -> None:
    for i, times in due:
        draft.remember(at, i * SLOTS + COMPLETED, -times)
        draft.add(at, net.nodes[net.nodes[i].handler].pending, times)


def _broadcast_signal(net: Net, draft: Draft, thrown: EventDefinition) -> None:
    """A signal reaches everything that waits for it now and starts what starts with it
    (BPMN 2.0.2, 10.5.1); it is not kept. Only where catching needs it (`Policy.messages`)."""
    name = thrown.ref or thrown.name
    for node in net.nodes:
        if name not in node.signals:
            continue
        scope = net.scopes[node.scope]
        if node.action == "start":
            if scope.index == scope.process:
                begin_instance(net, draft, scope.index, node.id)
            else:
                _signal_event_scope(net, draft, node)
            continue
        holders = {node.index} if node.attached < 0 else {node.attached}
        holders |= {net.producer[p] for p in node.ins if net.nodes[net.producer[p]].race}
        for at, frame in sorted(draft.frames.items()):
            waiting = sum(read_count(frame.tokens, net.nodes[h].open) for h in holders)
            if frame.scope == node.scope and waiting:
                key = node.index * SLOTS + ARRIVED
                draft.remember(at, key, waiting - read_count(frame.memo, key))


def _signal_event_scope(net: Net, draft: Draft, start: NetNode) -> None:
    """Let an event sub-process of every running instance of the scope around it start."""
    for holder in (n for n in net.nodes if n.body == start.scope and is_event_scope(n)):
        for at, frame in sorted(draft.frames.items()):
            if frame.scope == holder.scope and frame.tokens:
                key = start.index * SLOTS + ARRIVED
                draft.remember(at, key, 1 - read_count(frame.memo, key))
