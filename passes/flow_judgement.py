"""From what a reduction left over to the faults of a scope, each with a run that shows it.

Imported where there is something to judge: most models have no faults.
"""

from __future__ import annotations

from collections.abc import Callable

from orgflow.passes.counterexample import Firing, Lost, Play, of_clash, of_moves, valid
from orgflow.passes.flow_faults import Doubt, Fault, ScopeFaults
from orgflow.passes.state_space import Exploration, Move, StateSpace

from orgflow_ir.control_net import SINK, Net
from orgflow_ir.graph import components
from orgflow_ir.regions import Clash, Reduction

SECOND_LOOK = 2_000
LONGEST = 400


def judge(found: ScopeFaults, reduction: Reduction, max_states: int) -> None:
    """Add to `found` the faults of a net that is not sound, or not reduced to nothing."""
    net = found.net
    faults = [_of_clash(reduction, clash) for clash in reduction.clashes]
    complete = True
    if reduction.edges:
        edges = reduction.edges
        by_event = frozenset(i for i, e in enumerate(edges) if e.event)
        ways = [(e.src, e.dst) for e in edges]
        space = StateSpace(reduction.kinds, ways, by_event=by_event)
        exploration = space.explore(max_states)
        complete = exploration.complete
        ends = [(e.first, e.last) for e in edges]
        faults += _of_exploration(
            space, exploration, ends, lambda moves, e: _log(of_moves(reduction, moves, e)), net
        )
    for fault in faults:
        fault.masked = not shows(net, fault)
    if any(f.masked for f in faults) and not net.terminating:
        _look_again(found, faults, min(max_states, SECOND_LOOK))
    for fault in faults:
        if not fault.masked:
            _settle(reduction, fault)
            fault.unbounded = fault.kind == "unsync" and grows(net, fault.log)
    shown = [f for f in faults if not f.masked]
    if (faults and not shown) or (net.terminating and (len(shown) < len(faults) or not complete)):
        exact = _exact(found, max_states)
        if exact is not None:
            for fault in exact:
                fault.unbounded = fault.kind == "unsync" and grows(net, fault.log)
            found.faults += exact
            return
        complete = False
        faults = shown
    if not complete:
        _undecided(found, reduction, max_states)
    if shown:
        found.faults += faults
        found.faults += _leftovers(net, shown)


def _look_again(found: ScopeFaults, faults: list[Fault], max_states: int) -> None:
    """Runs for masked faults from the states of the net itself, where those are few."""
    net = found.net
    exact = {(f.kind, net.element[f.join]): f for f in _exact(found, max_states) or ()}
    for fault in faults:
        same = exact.get((fault.kind, net.element[fault.join]))
        if fault.masked and same is not None and not same.masked:
            fault.log, fault.masked = same.log, False


def _settle(reduction: Reduction, fault: Fault) -> None:
    """Name the join that waits at the end of the run (one of several that were fused)."""
    net = reduction.net
    if fault.kind == "unsync":
        _outward(net, fault)
    if fault.kind != "deadlock":
        return
    end = Play(net)
    end.marks = valid(net, fault.log) or {}
    waiting = end.stuck()
    if fault.join not in waiting:
        near = [n for n in waiting if reduction.root(n) == reduction.root(fault.join)]
        fault.join = (near or waiting)[0]
        fault.split = -1
    if fault.split < 0:
        fault.missing = tuple(a for a in net.ins[fault.join] if a not in end.marks)
        fault.split, fault.taken = _turning(net, fault.log, list(fault.missing), fault.join)


def _outward(net: Net, fault: Fault) -> None:
    """Let tokens inside an element come out of it: two that meet there leave it the same way, and
    what the last step has begun is done (the game knows no state in between)."""
    marks = valid(net, fault.log) or {}
    while True:
        inner = [a for a in marks if net.flow[a] is None and net.dst[a] != SINK]
        events = {a for a in inner if a in net.by_event}
        inner = [a for a in inner if net.element[net.src[a]] == net.element[net.dst[a]]]
        begun = {a for a in fault.log[-1].put if a in inner} | events
        inner += events
        arc = next((a for a in inner if marks[a] > 1 or a in begun), -1)
        if arc < 0:
            return
        node, count = net.dst[arc], marks.pop(arc)
        outs = net.outs[node]
        put = tuple(outs) if net.kind[node] == "A" else (outs[-1 if node in net.aside else 0],)
        fault.log = [*fault.log, *[Firing(node, (arc,), put)] * count]
        for way in put:
            marks[way] = marks.get(way, 0) + count


def _undecided(found: ScopeFaults, reduction: Reduction, max_states: int) -> None:
    net = found.net
    nodes = {n for e in reduction.edges for n in (e.src, e.dst)} or set(range(len(net.kind)))
    named = list(dict.fromkeys(net.element[n] for n in sorted(nodes) if net.element[n]))
    found.doubts.append(
        Doubt(named[0], f"more than {max_states} states between {len(named)} gateways")
    )


def _log(play: Play | None) -> list[Firing]:
    return play.log if play is not None else []


def _of_clash(reduction: Reduction, clash: Clash) -> Fault:
    log = _log(of_clash(reduction, clash))
    net, pair = reduction.net, clash.pair
    if clash.fault == "livelock":
        return Fault("livelock", clash.join, around=_cycle(net, clash.join), log=log)
    if pair is None:
        dead = {f.id for f in net.dead_inputs[clash.join]}
        assert dead
        return Fault("deadlock", clash.join, log=log)
    firsts = sorted(pair.branches)
    if clash.fault == "deadlock":
        missing = tuple(last for _, last in firsts[1:])
        return Fault("deadlock", clash.join, pair.split, (firsts[0][0],), missing, log=log)
    taken = tuple(first for first, _ in firsts)
    return Fault("unsync", clash.join, pair.split, taken, log=log)


def _of_exploration(
    space: StateSpace,
    seen: Exploration,
    ends: list[tuple[int, int]],
    log: Callable[[list[Move], int], list[Firing]],
    net: Net,
) -> list[Fault]:
    """Faults of an explored graph; `ends` gives (first, last) arc of each of its edges."""
    faults: list[Fault] = []
    rounds: set[int] = set()
    number = _components(net) if len(seen.unsafe) > 1 else {}
    for node, (state, move, edge) in seen.unsafe.items():
        if number.get(node, -1) in rounds:
            continue  # the same round of a loop: one fault, told where it is first seen
        rounds.add(number.get(node, -2))
        moves = [*seen.moves_to(state), move]
        run = log(_needed(moves, 1 << edge), edge)
        if valid(net, run) is None:
            run = log(moves, edge)
        faults.append(Fault("unsync", node, log=run))
    told: set[int] = set()
    for state in seen.stuck:
        for join in space.waiting(state):
            if join not in told:
                told.add(join)
                run = log(seen.moves_to(state), -1)
                empty = [ends[e][1] for e in _bits(space.ins[join] & ~state)]
                split, taken = _turning(net, run, empty, join)
                faults.append(Fault("deadlock", join, split, taken, tuple(empty), log=run))
    for group in seen.endless:
        first = min(group, key=lambda s: len(seen.moves_to(s)))
        active = set.union(*({move[0] for move in space.moves(s)} for s in group))
        run = log(seen.moves_to(first), -1)
        faults.append(Fault("livelock", min(active), around=tuple(sorted(active)), log=run))
    return faults


def _components(net: Net) -> dict[int, int]:
    follow = {str(n): [str(net.dst[a]) for a in outs] for n, outs in enumerate(net.outs)}
    return {int(n): c for n, c in components(follow).items()}


def _needed(moves: list[Move], wanted: int) -> list[Move]:
    """The moves that the last one, and the token it meets, depend on."""
    *before, last = moves
    kept, wanted = [last], wanted | last[1]
    for move in reversed(before):
        if move[2] & wanted:
            kept.append(move)
            wanted = wanted & ~move[2] | move[1]
    return kept[::-1]


def _bits(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def _turning(
    net: Net, log: list[Firing], missing: list[int], join: int
) -> tuple[int, tuple[int, ...]]:
    """The last choice of the run that lost a missing branch: its node and the way it took."""
    behind, stack = set(missing), list(missing)
    while stack:
        src = net.src[stack.pop()]
        if src != join:
            for arc in net.ins[src]:
                if arc not in behind:
                    behind.add(arc)
                    stack.append(arc)
    for step in reversed(log):
        outs = net.outs[step.node]
        chose = net.kind[step.node] != "A" and len(outs) > 1
        if chose and any(a in behind for a in outs) and not any(a in behind for a in step.put):
            return step.node, step.put
    return -1, ()


def _cycle(net: Net, node: int) -> tuple[int, ...]:
    """All nodes that can be reached from a node without a way out, itself among them."""
    seen, stack = {node}, [node]
    while stack:
        for arc in net.outs[stack.pop()]:
            if net.dst[arc] not in seen:
                seen.add(net.dst[arc])
                stack.append(net.dst[arc])
    return tuple(sorted(seen))


def _exact(found: ScopeFaults, max_states: int) -> list[Fault] | None:
    """Faults by exploring the net itself, with everything that ends a scope at once; `None` over
    the budget."""
    net = found.net
    never = frozenset(n for n, flows in net.dead_inputs.items() if flows)
    ways = list(zip(net.src, net.dst, strict=True))
    space = StateSpace(net.kind, ways, never, frozenset(net.terminating), frozenset(net.by_event))
    seen = space.explore(max_states)
    if not seen.complete:
        return None
    ends = [(a, a) for a in range(len(net.src))]
    faults = _of_exploration(space, seen, ends, lambda moves, _: _firings(moves), net)
    for fault in faults:
        fault.masked = valid(net, fault.log) is None
        if fault.kind == "unsync" and not fault.masked:
            _outward(net, fault)
    return faults


def _firings(moves: list[Move]) -> list[Firing]:
    return [Firing(node, tuple(_bits(taken)), tuple(_bits(put))) for node, taken, put in moves]


def shows(net: Net, fault: Fault) -> bool:
    """Whether the run of a fault keeps to the rules and ends where the fault is to be seen."""
    if not fault.log:
        return False
    marks = valid(net, fault.log)
    if marks is None:
        return False
    if fault.kind == "unsync":
        return any(count > 1 for count in marks.values())
    end = Play(net)
    end.marks = marks
    if fault.kind == "livelock":
        ends = {SINK} & set(_cycle(net, fault.join))
        return not ends and not net.terminating
    waiting = end.stuck()
    return bool(waiting)


def grows(net: Net, log: list[Firing]) -> bool:
    """Whether the run comes to a position that covers an earlier one with more tokens: what led
    from there to here can then be repeated for ever (inclusive joins aside: more tokens can make
    them wait). Tokens at the end do not count."""
    play = Play(net)
    seen: list[dict[int, int]] = []
    for step in log:
        if net.kind[step.node] == "O" and len(net.ins[step.node]) > 1:
            seen = []
        play.fire(step.node, step.taken, step.put)
        work = {a: n for a, n in play.marks.items() if net.dst[a] != SINK}
        for earlier in seen:
            if all(work.get(a, 0) >= n for a, n in earlier.items()) and work != earlier:
                return True
        seen.append(work)
        if len(seen) > LONGEST:
            return False
    return False


def _leftovers(net: Net, shown: list[Fault]) -> list[Fault]:
    """What becomes of doubled work: a join that has gone on and keeps a token for ever."""
    found: dict[int, Fault] = {}
    for fault in shown:
        if fault.kind != "unsync":
            continue
        play = Play(net)
        for step in fault.log:
            play.fire(step.node, step.taken, step.put)
        try:
            play.drain()
        except Lost:
            continue
        fired = {step.node for step in play.log}
        for join in play.stuck():
            if join in fired and join not in found:
                held = tuple(a for a in net.ins[join] if a in play.marks)
                found[join] = Fault("leftover", join, fault.join, taken=held, log=play.log)
    return list(found.values())
