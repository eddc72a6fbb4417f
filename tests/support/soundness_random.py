"""Random nested processes for the soundness analysis and its oracle, seeded: blocks with faults put
in, acyclic tangles, cyclic tangles with several ways into their loops; inclusive gateways,
boundary events, sub-processes, links, terminate and error ends sprinkled in."""

from __future__ import annotations

import random
from dataclasses import dataclass

from random_processes import Draft, structured, tangle

from orgflow_ir.model import Event, EventDefinition, Flow, Gateway, Node, Process, Scope, SubProcess


@dataclass
class _Maker:
    rnd: random.Random
    count: int = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def flat(self, size: int, rough: bool) -> Process:
        """A process without sub-processes."""
        rnd = self.rnd
        kinds = rnd.choice(["xa", "xxa", "xxxa", "xao", "xxao", "xxo"])
        how = rnd.random()
        draft: Draft
        if how < 0.25:
            faults = rnd.choice([0, 0, 1, 2]) if rough else 0
            draft = structured(rnd, size, kinds + rnd.choice(["", "l"]), faults)
        elif how < 0.33:
            draft = tangle(rnd, size, kinds, 0.0)
        elif how < 0.6:
            draft = jumble(rnd, size, "x", 0.8)
        else:
            draft = jumble(rnd, size, rnd.choice(["xxxxa", "xxxxo", "xxxxxa", "xxxxao"]), 0.6)
        return draft.process(rnd.choice(["", "", "conditional", "boundary"]))

    def inner(self, holder: str, size: int) -> tuple[tuple[Node, ...], tuple[Flow, ...]]:
        """Nodes and flows of a sub-process, with ids of their own."""
        scope = self.flat(size, self.rnd.random() < 0.3)
        if self.rnd.random() < 0.4:
            scope = self.ended(scope)
        return renamed(scope, f"{holder}_")

    def ended(self, scope: Process) -> Process:
        """Some end events become terminate or error ends."""
        rnd = self.rnd
        kind = rnd.choice(["terminate", "error"])
        nodes = [
            n.replace(definitions=(EventDefinition(kind=kind),))
            if isinstance(n, Event) and n.position == "end" and rnd.random() < 0.5
            else n
            for n in scope.nodes
        ]
        return scope.replace(nodes=tuple(nodes))

    def nest(self, scope: Process, most: int) -> Process:
        """Some tasks become sub-processes, some of them with events on their border."""
        rnd = self.rnd
        tasks = [n.id for n in scope.nodes if n.kind == "task"]
        chosen = set(rnd.sample(tasks, min(len(tasks), rnd.choice([1, 1, 2, most]))))
        nodes: list[Node] = []
        flows = list(scope.flows)
        goals = [n.id for n in scope.nodes if n.kind != "event" or n.position == "end"]
        for node in scope.nodes:
            if node.id not in chosen:
                nodes.append(node)
                continue
            inside, ways = self.inner(node.id, rnd.randint(3, 9))
            nodes.append(SubProcess(id=node.id, name=node.name, nodes=inside, flows=ways))
            kind = rnd.choice(["", "", "timer", "timer", "error", "error"])
            if kind:
                event = self.name("on")
                nodes.append(
                    Event(
                        id=event,
                        position="boundary",
                        attached_to=node.id,
                        interrupting=kind == "error" or rnd.random() < 0.6,
                        definitions=(EventDefinition(kind=kind),),
                    )
                )
                flows.append(Flow(id=self.name("w"), source=event, target=rnd.choice(goals)))
        return scope.replace(nodes=tuple(nodes), flows=tuple(flows))

    def linked(self, scope: Process) -> Process:
        """One flow into something becomes a pair of link events."""
        flows = [f for f in scope.flows if f.condition is None and not f.default]
        if not flows:
            return scope
        flow = self.rnd.choice(flows)
        link = (EventDefinition(kind="link", name="L"),)
        one, two = self.name("throw"), self.name("catch")
        new = [f.replace(target=one) if f is flow else f for f in scope.flows]
        new.append(Flow(id=self.name("w"), source=two, target=flow.target))
        nodes = (
            *scope.nodes,
            Event(id=one, position="throw", definitions=link),
            Event(id=two, position="catch", definitions=link),
        )
        return scope.replace(nodes=nodes, flows=tuple(new))


def jumble(rnd: random.Random, size: int, kinds: str, back: float) -> Draft:
    """Mostly exclusive gateways with jumps to anywhere; a few parallel or inclusive blocks."""
    g = Draft(rnd)
    start = g.node("s")
    heads = [g.node("x") for _ in range(max(3, size // 5))]
    last = g.node("t")
    g.edge(start, heads[0])
    for i, head in enumerate(heads):
        at = head
        kind = rnd.choice(kinds)
        if kind in "ao" or rnd.random() < 0.2:
            k = kind if kind in "ao" else "a"
            split, join = g.node(k), g.node(k)
            g.edge(at, split)
            for _ in range(2):
                task = g.node("t")
                g.edge(split, task)
                g.edge(task, join)
            at = join
        else:
            task = g.node("t")
            g.edge(at, task)
            at = task
        choice = g.node("x")
        g.edge(at, choice)
        onward = heads[i + 1] if i + 1 < len(heads) else last
        g.edge(choice, onward)
        if rnd.random() < 0.3 + back:
            g.edge(choice, rnd.choice(heads))
        if rnd.random() < back:
            g.edge(choice, rnd.choice(heads))
    g.edge(last, g.node("e"))
    if rnd.random() < 0.35:
        _break(g, rnd)
    return g


def _break(g: Draft, rnd: random.Random) -> None:
    """One gateway of another kind, or a flow that leads elsewhere."""
    gates = [i for i, k in enumerate(g.kinds) if k in "xao"]
    if rnd.random() < 0.6:
        g.kinds[rnd.choice(gates)] = rnd.choice("xao")
    else:
        j = rnd.randrange(1, len(g.edges))
        g.edges[j] = (g.edges[j][0], rnd.randrange(1, len(g.kinds)))


def renamed(scope: Scope, prefix: str) -> tuple[tuple[Node, ...], tuple[Flow, ...]]:
    """The nodes and flows of a scope with a prefix before every id."""
    nodes = []
    for node in scope.nodes:
        new = node.replace(id=prefix + node.id)
        if isinstance(new, Event) and new.attached_to:
            new = new.replace(attached_to=prefix + new.attached_to)
        nodes.append(new)
    flows = tuple(
        f.replace(id=prefix + f.id, source=prefix + f.source, target=prefix + f.target)
        for f in scope.flows
    )
    return tuple(nodes), flows


def process(seed: int, smallest: int = 8, largest: int = 60) -> Process:
    """One random process; the same seed gives the same."""
    rnd = random.Random(seed)
    maker = _Maker(rnd)
    size = int(smallest + (largest - smallest) * rnd.random() ** 2)
    nested = rnd.random() < 0.4
    scope = maker.flat(max(5, size - 10) if nested else size, True)
    if rnd.random() < 0.1:
        scope = maker.ended(scope)
    if nested:
        scope = maker.nest(scope, 3)
    if rnd.random() < 0.08:
        scope = maker.linked(scope)
    if rnd.random() < 0.1:
        nodes = tuple(_raced(n, scope) for n in scope.nodes)
        scope = scope.replace(nodes=nodes)
    return scope


def _raced(node: Node, scope: Process) -> Node:
    """An exclusive split before events becomes an event-based gateway where it may be one."""
    outs = [f.target for f in scope.flows if f.source == node.id]
    if not isinstance(node, Gateway) or node.gateway_kind != "exclusive" or len(outs) < 2:
        return node
    targets = {n.id: n for n in scope.nodes}
    into = [f.target for f in scope.flows]
    if all(targets[t].kind == "task" and into.count(t) == 1 for t in outs) and not any(
        isinstance(n, Event) and n.attached_to in outs for n in scope.nodes
    ):
        return node.replace(gateway_kind="event")
    return node
