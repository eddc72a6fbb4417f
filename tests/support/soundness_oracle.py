"""An explicit-state token game for nested processes: the referee of the soundness analysis.

Written from the BPMN text and the policies of the analysis alone, slow on purpose: it imports the
IR's types and nothing else of the project. Tasks, events, exclusive, event-based, parallel and
inclusive gateways, implicit splits and joins, conditional and default flows, boundary events,
sub-processes, links, terminate and error ends. Several starts: each is a scenario. An error that
nothing inside a sub-process throws may come from outside: it ends loops, but a join that waits is
not waited out.

A sub-process in which nothing moves any more is stuck also where an endless loop beside it keeps
the whole from coming to rest.

A state is a frame: places with counts, whether an end was come to, and the frames of the
sub-processes that run in it. Every order of steps is tried; nothing is reduced.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from soundness_components import bottoms, leading_to

from orgflow_ir.model import Event, Flow, Gateway, Process, Scope, SubProcess

MOST = 5
"""Tokens at one place above which a state is not followed."""


class Frame(NamedTuple):
    """One running scope: `inner` are (holder, frame) of the sub-processes in it."""

    scope: str
    tokens: tuple[tuple[str, int], ...]
    ended: bool = False
    inner: tuple[tuple[str, Frame], ...] = ()


@dataclass
class Verdict:
    """`complete`: all states were seen; `piled`: some place held more than `MOST` tokens and was
    not followed. `double` are places that held two; `stuck` the nodes tokens wait at where nothing
    moves; `improper`: an end was come to before; `dead` nodes that no run uses."""

    complete: bool = True
    piled: bool = False
    double: set[str] = field(default_factory=set)
    stuck: set[str] = field(default_factory=set)
    improper: bool = False
    livelock: bool = False
    dead: set[str] = field(default_factory=set)
    states: int = 0

    @property
    def sound(self) -> bool:
        return not (self.double or self.stuck or self.livelock or self.dead or self.piled)


class _Scope:
    """Tables of one scope."""

    def __init__(self, scope: Scope) -> None:
        self.id = scope.id
        self.nodes = {n.id: n for n in scope.nodes}
        self.flows = {f.id: f for f in scope.flows}
        self.ins: dict[str, list[Flow]] = {n: [] for n in self.nodes}
        self.outs: dict[str, list[Flow]] = {n: [] for n in self.nodes}
        for flow in scope.flows:
            self.ins[flow.target].append(flow)
            self.outs[flow.source].append(flow)
        self.attached: dict[str, list[Event]] = {}
        for node in scope.nodes:
            if isinstance(node, Event) and node.position == "boundary" and node.attached_to:
                self.attached.setdefault(node.attached_to, []).append(node)
        starts = [n for n in scope.nodes if isinstance(n, Event) and n.position == "start"]
        self.starts = [n.id for n in starts]

    def where(self, place: str) -> str:
        return self.flows[place].target if place in self.flows else place.split(":", 1)[1]


class Oracle:
    """The game of one process."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.scopes = {s.id: _Scope(s) for s in process.scopes()}
        self.kind = {n.id: n for s in process.scopes() for n in s.nodes}

    # -- rules --------------------------------------------------------------------------------

    def throws(self, holder: str) -> bool:
        """Whether something inside a sub-process ends in an error that may come out of it."""
        item = self.kind[holder]
        return isinstance(item, SubProcess) and any(
            isinstance(n, Event) and n.position == "end" and n.trigger == "error"
            for s in item.scopes()
            for n in s.nodes
        )

    def keeps(self, scope: _Scope, node: str) -> bool:
        """Whether tokens stay inside the node for a while (so that two can be seen there)."""
        item = scope.nodes[node]
        if item.kind == "sub-process":
            return True
        several = len(scope.ins[node]) > 1
        acting = item.kind == "event" and item.position in ("catch", "throw")
        return (item.kind == "task" or acting) and (several or node in scope.attached)

    def leaving(self, scope: _Scope, node: str) -> list[tuple[str, ...]]:
        """The sets of flows that may be taken on the way out."""
        outs = scope.outs[node]
        item = scope.nodes[node]
        if isinstance(item, Gateway):
            if item.gateway_kind == "parallel":
                return [tuple(f.id for f in outs)]
            if item.gateway_kind in ("exclusive", "event"):
                return [(f.id,) for f in outs] or [()]
            default = [f.id for f in outs if f.default]
            rest = [f.id for f in outs if not f.default]
            found = [c for n in range(1, len(rest) + 1) for c in combinations(rest, n)]
            return [*found, *((d,) for d in default)] or [()]
        if isinstance(item, Event):
            return [tuple(f.id for f in outs)]
        conditional = [f.id for f in outs if f.condition and not f.default]
        default = [f.id for f in outs if f.default]
        if default and not conditional:  # a default goes with choices: only their labels are known
            conditional = [f.id for f in outs if not f.default]
        if not conditional:
            return [tuple(f.id for f in outs)]
        always = tuple(f.id for f in outs if f.id not in conditional and f.id not in default)
        found = [
            always + c for n in range(1, len(conditional) + 1) for c in combinations(conditional, n)
        ]
        if default:
            found.append((*always, *default))
        elif always:
            found.append(always)
        return found

    def reach(self, scope: _Scope, place: str, join: str, events: bool) -> set[str]:
        """Incoming flows of `join` at which a path from `place` ends that does not visit it;
        `events`: paths may lead through boundary events, too."""
        found: set[str] = set()
        stack, seen = [place], set()
        while stack:
            here = stack.pop()
            if here in seen:
                continue
            seen.add(here)
            node = scope.where(here)
            if node == join:
                if here in scope.flows:
                    found.add(here)
                continue
            stack.extend(f.id for f in scope.outs[node])
            stack.extend(self.linked(scope, node))
            for event in scope.attached.get(node, ()):
                # A token inside leaves by an interrupting event only; others make new tokens.
                if events and (event.interrupting or not here.startswith("in:")):
                    stack.extend(f.id for f in scope.outs[event.id])
        return found

    def synchronised(self, scope: _Scope, join: str, tokens: Counter[str]) -> bool:
        """BPMN 2.0.2, 13.4.3. The text knows only flows: what may come through a boundary event is
        waited for, and is no excuse not to wait for a token on its normal way."""
        flows = {f.id for f in scope.ins[join]}
        marked = {f for f in flows if tokens[f]}
        if not marked:
            return False
        for place, number in tokens.items():
            if place in marked or not number:
                continue
            coming = self.reach(scope, place, join, True) - marked
            if coming and not self.reach(scope, place, join, False) & marked:
                return False
        return True

    def linked(self, scope: _Scope, node: str) -> tuple[str, ...]:
        """The place before the link event that a throwing one leads to."""
        item = scope.nodes[node]
        if not isinstance(item, Event) or item.trigger != "link" or item.position == "catch":
            return ()
        return tuple(
            f"at:{n.id}"
            for n in scope.nodes.values()
            if isinstance(n, Event)
            and n.position == "catch"
            and n.trigger == "link"
            and n.definitions[0].name == item.definitions[0].name
        )

    # -- steps --------------------------------------------------------------------------------

    def steps(self, frame: Frame) -> Iterator[tuple[str, Frame | None, str]]:
        """(node, the frame after it, what it raises): `None` where the frame is gone."""
        scope = self.scopes[frame.scope]
        tokens = Counter(dict(frame.tokens))
        tokens.update(f"in:{holder}" for holder, _ in frame.inner)
        for node in dict.fromkeys(map(scope.where, tokens)):
            yield from self.node_steps(scope, frame, tokens, node)
        for number, (holder, inner) in enumerate(frame.inner):
            rest = frame.inner[:number] + frame.inner[number + 1 :]
            yield from self.inner_steps(scope, frame._replace(inner=rest), holder, inner)

    def inner_steps(
        self, scope: _Scope, rest: Frame, holder: str, inner: Frame
    ) -> Iterator[tuple[str, Frame | None, str]]:
        """Steps of a sub-process, and by which it is left; `rest` is the frame without it."""
        if not inner.tokens and not inner.inner:
            for out in self.leaving(scope, holder):
                yield holder, self.put(scope, rest, out, holder), ""
        for event in scope.attached.get(holder, ()):
            free = event.trigger != "error" or not self.throws(holder)
            if event.interrupting and free:
                rescue = "rescue" if event.trigger == "error" else ""
                for out in self.leaving(scope, event.id):
                    yield event.id, self.put(scope, rest, out, event.id), rescue
        for node, after, raised in self.steps(inner):
            if raised == "error":
                caught = [e for e in scope.attached.get(holder, ()) if e.trigger == "error"]
                if not caught:
                    yield node, None, "error"
                    continue
                for out in self.leaving(scope, caught[0].id):
                    yield f"{node} {caught[0].id}", self.put(scope, rest, out, caught[0].id), ""
                continue
            done = after or Frame(inner.scope, ())
            yield node, rest._replace(inner=tuple(sorted((*rest.inner, (holder, done))))), raised

    def node_steps(
        self, scope: _Scope, frame: Frame, tokens: Counter[str], node: str
    ) -> Iterator[tuple[str, Frame | None, str]]:
        item = scope.nodes[node]
        held = [f.id for f in scope.ins[node] if tokens[f.id]]
        if tokens[f"at:{node}"]:
            held.append(f"at:{node}")
        if isinstance(item, Gateway) and item.gateway_kind in ("parallel", "inclusive"):
            if not held:
                return
            if item.gateway_kind == "parallel" and len(held) < len(scope.ins[node]):
                return
            if item.gateway_kind == "inclusive" and not self.synchronised(scope, node, tokens):
                return
            for out in self.leaving(scope, node):
                yield node, self.put(scope, self.take(frame, held), out, node), ""
            return
        for place in held:
            after = self.take(frame, [place])
            if isinstance(item, Event) and item.position == "end" and item.trigger == "terminate":
                yield node, Frame(frame.scope, (), True), ""
            elif isinstance(item, Event) and item.position == "end" and item.trigger == "error":
                yield node, None, "error"
            elif isinstance(item, Event) and item.trigger == "link" and item.position != "catch":
                yield node, self.put(scope, after, self.linked(scope, node), node), ""
            elif self.keeps(scope, node):
                beside = [b for b in scope.attached.get(node, ()) if not b.interrupting]
                # Whether it will fire is chosen when the activity begins: at most once.
                for n in range(len(beside) + 1):
                    for some in combinations(beside, n):
                        extra = tuple(f"event:{b.id}" for b in some)
                        yield node, self.begin(scope, after, node, extra), ""
            else:
                for out in self.leaving(scope, node):
                    yield node, self.put(scope, after, out, node), ""
        if tokens[f"in:{node}"] and item.kind != "sub-process":
            after = self.take(frame, [f"in:{node}"])
            for out in self.leaving(scope, node):
                yield node, self.put(scope, after, out, node), ""
            for event in scope.attached.get(node, ()):
                if event.interrupting:
                    for out in self.leaving(scope, event.id):
                        yield event.id, self.put(scope, after, out, event.id), ""
        if tokens[f"event:{node}"]:
            after = self.take(frame, [f"event:{node}"])
            for out in self.leaving(scope, node):
                yield node, self.put(scope, after, out, node), ""

    def begin(self, scope: _Scope, frame: Frame, node: str, extra: tuple[str, ...]) -> Frame:
        item = scope.nodes[node]
        frame = self.put(scope, frame, extra, "")
        if not isinstance(item, SubProcess):
            return self.put(scope, frame, (f"in:{node}",), "")
        (inner,) = self.fresh(node)[:1]
        return frame._replace(inner=tuple(sorted((*frame.inner, (node, inner)))))

    def fresh(self, scope_id: str) -> list[Frame]:
        """A frame about to begin, for each way to begin."""
        scope = self.scopes[scope_id]
        if scope.starts:
            return [
                Frame(scope_id, tuple(sorted(Counter(out).items())))
                for s in scope.starts
                for out in self.leaving(scope, s)
            ]
        sources = [n for n in scope.nodes if not scope.ins[n] and scope.nodes[n].kind != "event"]
        return [Frame(scope_id, tuple((f"at:{n}", 1) for n in sorted(sources)))]

    def take(self, frame: Frame, places: list[str]) -> Frame:
        tokens = Counter(dict(frame.tokens))
        tokens.subtract(places)
        return frame._replace(tokens=tuple(sorted((p, n) for p, n in tokens.items() if n)))

    def put(self, scope: _Scope, frame: Frame, places: tuple[str, ...], node: str) -> Frame:
        ends = bool(node) and not places
        tokens = Counter(dict(frame.tokens))
        tokens.update(places)
        return frame._replace(tokens=tuple(sorted(tokens.items())), ended=frame.ended or ends)

    # -- verdict ------------------------------------------------------------------------------

    def verdict(self, limit: int = 50_000) -> Verdict:
        found = Verdict()
        after: dict[Frame | None, list[Frame | None]] = {None: []}
        calm: dict[Frame | None, list[Frame | None]] = {None: []}
        escape: set[Frame | None] = {None}
        used: set[str] = set(self.scopes[self.process.id].starts)
        queue: deque[Frame] = deque(self.fresh(self.process.id))
        seen: set[Frame | None] = {None, *queue}
        for frame in queue:
            self.note(frame, found)
        while queue:
            state = queue.popleft()
            following, undisturbed = after[state], calm[state] = [], []
            if not state.tokens and not state.inner:
                escape.add(state)
                continue
            moved = False
            for node, new, raised in self.steps(state):
                used.update(node.split())
                moved |= raised != "rescue"
                following.append(new)
                if raised != "rescue":
                    undisturbed.append(new)
                if new in seen:
                    continue
                seen.add(new)
                assert new is not None
                if len(seen) > limit:
                    found.complete = False
                    return found
                if self.note(new, found):
                    found.piled = True
                    escape.add(new)
                    after[new] = calm[new] = []
                    continue
                queue.append(new)
            if not moved:
                escape.add(state)
                self.halt(state, found)
        found.states = len(seen)
        begun = {s for h in used if h in self.scopes for s in self.scopes[h].starts}
        found.dead = set(self.kind) - used - begun
        found.livelock = len(leading_to(after, escape)) < len(after)
        if found.livelock:  # what rests beside an endless loop rests indefinitely
            lost = {s for s in calm if s is not None} - leading_to(calm, escape)
            for group in bottoms(calm, lost):
                for frame in set.intersection(*(set(self.resting(s)) for s in group)):
                    self.halt(frame, found)
        return found

    def resting(self, frame: Frame) -> Iterator[Frame]:
        """Running sub-processes in which nothing moves while something else may. That it might be
        left by an error from outside is no way on."""
        scope = self.scopes[frame.scope]
        for number, (holder, inner) in enumerate(frame.inner):
            rest = frame._replace(inner=frame.inner[:number] + frame.inner[number + 1 :])
            if any(r != "rescue" for _, _, r in self.inner_steps(scope, rest, holder, inner)):
                yield from self.resting(inner)
            else:
                yield inner

    def note(self, frame: Frame, found: Verdict) -> bool:
        """Record places with two tokens; whether some place holds too many."""
        scope = self.scopes[frame.scope]
        counts = [(p, n) for p, n in frame.tokens if not self.final(scope, p)]
        counts += [(f"in:{h}", n) for h, n in Counter(h for h, _ in frame.inner).items()]
        found.double |= {scope.where(p) for p, n in counts if n > 1}
        found.double |= {scope.flows[p].source for p, n in counts if n > 1 and p in scope.flows}
        too_many = any(n > MOST for _, n in counts)
        return sum(self.note(inner, found) for _, inner in frame.inner) > 0 or too_many

    def final(self, scope: _Scope, place: str) -> bool:
        """Whether the first token on a flow ends everything, so that more of them do nothing."""
        item = scope.nodes[scope.where(place)]
        return (
            isinstance(item, Event)
            and item.position == "end"
            and item.trigger in ("terminate", "error")
        )

    def halt(self, frame: Frame, found: Verdict) -> None:
        scope = self.scopes[frame.scope]
        found.stuck |= {scope.where(p) for p, _ in frame.tokens}
        found.improper |= frame.ended and bool(frame.tokens) and not frame.inner
        for _, inner in frame.inner:
            self.halt(inner, found)
