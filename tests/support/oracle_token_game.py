"""A second, plain token game for one flat process, written from the text of BPMN 2.0.2 alone.

Markings are sorted tuples of (place, count) over names; nothing is compiled or cached, paths of the
inclusive join are searched afresh each time. Imports the types of the IR and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations

from orgflow_ir.model import Event, Flow, Gateway, Process

Marking = tuple[tuple[str, int], ...]


class Oracle:
    """Successors of markings. Places are flow ids and `@task` for an activity with a boundary."""

    def __init__(self, process: Process) -> None:
        self.nodes = {n.id: n for n in process.nodes}
        self.flows = process.flows

    def outgoing(self, node: str) -> list[Flow]:
        return [f for f in self.flows if f.source == node]

    def incoming(self, node: str) -> list[Flow]:
        return [f for f in self.flows if f.target == node]

    def first(self, start: str) -> Marking:
        return tuple(sorted((f.id, 1) for f in self.outgoing(start)))

    def consumptions(self, name: str, tokens: Counter[str]) -> list[list[str]]:
        node = self.nodes[name]
        ins = [f.id for f in self.incoming(name)]
        marked = [f for f in ins if tokens[f]]
        if isinstance(node, Event) and node.position == "boundary":
            return [[f"@{node.attached_to}"]] if tokens[f"@{node.attached_to}"] else []
        if isinstance(node, Gateway) and node.gateway_kind == "parallel":
            return [ins] if ins and len(marked) == len(ins) else []
        if isinstance(node, Gateway) and node.gateway_kind == "inclusive" and len(ins) > 1:
            return [marked] if marked and self.activated(name, ins, tokens) else []
        found = [[f] for f in marked]
        if self.guarded(name) and tokens[f"@{name}"]:
            found.append([f"@{name}"])
        return found

    def guarded(self, name: str) -> bool:
        return any(isinstance(n, Event) and n.attached_to == name for n in self.nodes.values())

    def productions(self, name: str) -> list[list[str]]:
        node = self.nodes[name]
        flows = self.outgoing(name)
        if isinstance(node, Gateway) and node.gateway_kind == "exclusive":
            return [[f.id] for f in flows] or [[]]
        if isinstance(node, Gateway) and node.gateway_kind == "inclusive":
            some = [f.id for f in flows if not f.default]
            sets = chain.from_iterable(combinations(some, n) for n in range(1, len(some) + 1))
            return [list(s) for s in sets] + [[f.id] for f in flows if f.default] or [[]]
        return [[f.id for f in flows]]

    def activated(self, name: str, ins: list[str], tokens: Counter[str]) -> bool:
        """13.4.3, word for word, but that tokens may still come by boundary events."""
        for place in (p for p, n in tokens.items() if n):
            ends = self.reached(name, place, True)
            sure = self.reached(name, place, False)
            if any(not tokens[e] for e in ends) and not any(tokens[e] for e in sure):
                return False
        return True

    def reached(self, gateway: str, place: str, events: bool) -> set[str]:
        """Incoming flows of the gateway at the end of paths from a token that do not visit it."""
        flow = {f.id: f for f in self.flows}
        here = [flow[place].target] if place in flow else [place[1:]]
        found = {place} if place in flow and flow[place].target == gateway else set()
        seen: set[str] = set()
        while here:
            node = here.pop()
            if node == gateway or node in seen:
                continue
            seen.add(node)
            for out in self.outgoing(node):
                if out.target == gateway:
                    found.add(out.id)
                here.append(out.target)
            here += [
                n.id
                for n in self.nodes.values()
                if events and isinstance(n, Event) and n.attached_to == node
            ]
        return found


def reachable(process: Process, start: str, limit: int) -> tuple[set[Marking], set[Marking]] | None:
    """All reachable markings and the dead ones among them; `None` above `limit`. An activity with
    boundary events holds its token at `@activity` before it goes on."""
    oracle = Oracle(process)
    guarded = {n for n in oracle.nodes if oracle.guarded(n)}

    def steps(marking: Marking) -> Iterator[Marking]:
        tokens = Counter(dict(marking))
        for name in guarded:
            for flow in oracle.incoming(name):
                if tokens[flow.id]:
                    left = Counter(tokens)
                    left.subtract([flow.id])
                    left.update([f"@{name}"])
                    yield tuple(sorted((p, n) for p, n in left.items() if n))
        for name in oracle.nodes:
            for used in oracle.consumptions(name, tokens):
                if name in guarded and used != [f"@{name}"]:
                    continue
                for made in oracle.productions(name):
                    left = Counter(tokens)
                    left.subtract(used)
                    left.update(made)
                    yield tuple(sorted((p, n) for p, n in left.items() if n))

    first = oracle.first(start)
    seen, stack, dead = {first}, [first], set()
    while stack:
        marking = stack.pop()
        stuck = True
        for after in steps(marking):
            stuck = False
            if after not in seen:
                if len(seen) >= limit:
                    return None
                seen.add(after)
                stack.append(after)
        if stuck:
            dead.add(marking)
    return seen, dead
