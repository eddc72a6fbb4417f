"""An explicit-state token game for plain control flow: the referee of the flow analysis.

Written from the BPMN text alone and slow on purpose: it imports the IR's types and nothing else of
the project. Tasks, none events, exclusive, parallel and inclusive gateways, implicit splits and
joins, conditional and default flows, boundary events. Several starts: each is a scenario.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from orgflow_ir.model import Event, Flow, Gateway, Process


@dataclass
class Verdict:
    """`complete`: all states were seen. A state with two tokens at one place is `unsafe` and not
    followed; the other verdicts are about the states before. `stuck` are the joins in which some
    run halts; `livelock`: from some state steps go on for ever and no end can be reached; `dead`
    are nodes that no run uses."""

    complete: bool = True
    unsafe: set[str] = field(default_factory=set)
    stuck: set[str] = field(default_factory=set)
    livelock: bool = False
    dead: set[str] = field(default_factory=set)
    states: int = 0

    @property
    def sound(self) -> bool:
        return not (self.unsafe or self.stuck or self.livelock)


State = frozenset[str]
Step = tuple[str, State, tuple[str, ...]]


class Oracle:
    def __init__(self, process: Process) -> None:
        self.nodes = {n.id: n for n in process.nodes}
        self.ins: dict[str, list[Flow]] = {n: [] for n in self.nodes}
        self.outs: dict[str, list[Flow]] = {n: [] for n in self.nodes}
        for flow in process.flows:
            self.ins[flow.target].append(flow)
            self.outs[flow.source].append(flow)
        self.attached: dict[str, list[Event]] = {}
        for node in process.nodes:
            if isinstance(node, Event) and node.attached_to:
                self.attached.setdefault(node.attached_to, []).append(node)
        self.flows = {f.id: f for f in process.flows}

    def inside(self, node: str) -> bool:
        """Whether tokens stay inside the node for a while (so that two can be seen there)."""
        kind = self.nodes[node].kind
        return kind == "task" and (len(self.ins[node]) > 1 or node in self.attached)

    def where(self, place: str) -> str:
        """The node a place leads to or is in."""
        return self.flows[place].target if place in self.flows else place.split(":", 1)[1]

    def leaving(self, node: str) -> list[tuple[str, ...]]:
        """The sets of flows that may be taken on the way out."""
        outs = self.outs[node]
        item = self.nodes[node]
        if isinstance(item, Gateway):
            if item.gateway_kind == "parallel":
                return [tuple(f.id for f in outs)]
            if item.gateway_kind in ("exclusive", "event"):
                return [(f.id,) for f in outs] or [()]
            default = [f.id for f in outs if f.default]
            rest = [f.id for f in outs if not f.default]
            found = [c for n in range(1, len(rest) + 1) for c in combinations(rest, n)]
            return [*found, *((d,) for d in default)] or [()]
        conditional = [f.id for f in outs if f.condition and not f.default]
        default = [f.id for f in outs if f.default]
        if not conditional or len(outs) < 2:
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

    def steps(self, state: State) -> Iterator[Step]:
        for node, item in self.nodes.items():
            held = [f.id for f in self.ins[node] if f.id in state]
            if isinstance(item, Gateway) and item.gateway_kind in ("parallel", "inclusive"):
                if not held:
                    continue
                if item.gateway_kind == "parallel" and len(held) < len(self.ins[node]):
                    continue
                if item.gateway_kind == "inclusive" and not self.synchronised(node, state):
                    continue
                for out in self.leaving(node):
                    yield node, frozenset(held), out
                continue
            for place in held:
                if isinstance(item, Event) and item.position == "end":
                    yield node, frozenset([place]), ()
                elif self.inside(node):
                    begin = (f"run:{node}",)
                    beside = [b for b in self.attached.get(node, ()) if not b.interrupting]
                    # Whether it will fire is chosen when the activity begins: at most once.
                    for n in range(len(beside) + 1):
                        for some in combinations(beside, n):
                            extra = tuple(f"event:{b.id}" for b in some)
                            yield node, frozenset([place]), begin + extra
                else:
                    for out in self.leaving(node):
                        yield node, frozenset([place]), out
            if f"run:{node}" in state:
                for out in self.leaving(node):
                    yield node, frozenset([f"run:{node}"]), out
                for event in self.attached.get(node, ()):
                    if event.interrupting:
                        for out in self.leaving(event.id):
                            yield event.id, frozenset([f"run:{node}"]), out
            if f"event:{node}" in state:
                for out in self.leaving(node):
                    yield node, frozenset([f"event:{node}"]), out

    def reach(self, place: str, join: str, events: bool) -> set[str]:
        """Incoming flows of `join` at which a path from `place` ends that does not visit it;
        `events`: paths may lead through boundary events, too."""
        found: set[str] = set()
        stack = [place]
        seen: set[str] = set()
        while stack:
            here = stack.pop()
            if here in seen:
                continue
            seen.add(here)
            node = self.where(here)
            if node == join:
                if here in self.flows:
                    found.add(here)
                continue
            stack.extend(f.id for f in self.outs[node])
            for event in self.attached.get(node, ()):
                # A token inside leaves by an interrupting event only; others make new tokens.
                if events and (event.interrupting or not here.startswith("run:")):
                    stack.extend(f.id for f in self.outs[event.id])
        return found

    def synchronised(self, join: str, state: State) -> bool:
        """BPMN 2.0.2, 13.4.3. The text knows only flows: what may come through a boundary event is
        waited for, and is no excuse not to wait for a token on its normal way."""
        flows = {f.id for f in self.ins[join]}
        marked = flows & state
        if not marked:
            return False
        for place in state - marked:
            coming = self.reach(place, join, True) - marked
            if coming and not self.reach(place, join, False) & marked:
                return False
        return True

    def initial(self) -> list[tuple[str, ...]]:
        starts = [
            n
            for n, item in self.nodes.items()
            if isinstance(item, Event) and item.position == "start"
        ]
        return [out for s in starts for out in self.leaving(s)]

    def verdict(self, limit: int = 50_000) -> Verdict:
        found = Verdict()
        after: dict[State, list[State]] = {}
        escape: set[State] = set()
        used: set[str] = set()
        queue = deque(frozenset(i) for i in self.initial())
        seen = set(queue)
        while queue:
            state = queue.popleft()
            after[state] = []
            any_step = False
            for node, taken, put in self.steps(state):
                any_step = True
                used.add(node)
                rest = state - taken
                double = [p for p in put if p in rest]
                if double or len(set(put)) < len(put):
                    found.unsafe.add(node)
                    escape.add(state)
                    continue
                new = rest | frozenset(put)
                after[state].append(new)
                if new not in seen:
                    seen.add(new)
                    if len(seen) > limit:
                        found.complete = False
                        return found
                    queue.append(new)
            if not any_step:
                escape.add(state)
                if state:
                    found.stuck |= {self.where(p) for p in state}
        found.states = len(seen)
        found.dead = {n for n in self.nodes if n not in used} - {
            n for n, i in self.nodes.items() if isinstance(i, Event) and i.position == "start"
        }
        found.livelock = self._endless(after, escape)
        return found

    @staticmethod
    def _endless(after: dict[State, list[State]], escape: set[State]) -> bool:
        before: dict[State, list[State]] = {}
        for state, following in after.items():
            for new in following:
                before.setdefault(new, []).append(state)
        seen, stack = set(escape), list(escape)
        while stack:
            for state in before.get(stack.pop(), ()):
                if state not in seen:
                    seen.add(state)
                    stack.append(state)
        return len(seen) < len(after)
