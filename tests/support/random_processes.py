"""Random processes of plain control flow: structured with faults put in, acyclic tangles, cyclic
tangles, with inclusive gateways; seeded."""

from __future__ import annotations

import random

from orgflow_ir.model import Event, Expression, Flow, Gateway, Node, Process, Task

KINDS = {"x": "exclusive", "a": "parallel", "o": "inclusive"}


class Draft:
    def __init__(self, rnd: random.Random) -> None:
        self.rnd = rnd
        self.kinds: list[str] = []
        self.edges: list[tuple[int, int]] = []

    def node(self, kind: str) -> int:
        self.kinds.append(kind)
        return len(self.kinds) - 1

    def edge(self, a: int, b: int) -> None:
        self.edges.append((a, b))

    def process(self, flavour: str = "") -> Process:
        """The process; `boundary` and `conditional` sprinkle those in."""
        rnd = self.rnd
        nodes: list[Node] = []
        for i, kind in enumerate(self.kinds):
            name = f"n{i}"
            if kind in KINDS:
                nodes.append(Gateway(id=name, gateway_kind=KINDS[kind]))  # type: ignore[arg-type]
            elif kind == "t":
                nodes.append(Task(id=name, name=f"T{i}"))
            else:
                nodes.append(Event(id=name, position="start" if kind == "s" else "end"))
        flows = []
        fan = [sum(a == i for a, _ in self.edges) for i in range(len(self.kinds))]
        for j, (a, b) in enumerate(self.edges):
            flow = Flow(id=f"f{j}", source=f"n{a}", target=f"n{b}")
            first = all(x != a for x, _ in self.edges[:j])
            if (
                "conditional" in flavour
                and self.kinds[a] in "to"
                and fan[a] > 1
                and rnd.random() < 0.6
            ):
                flow = (
                    flow.replace(default=True)
                    if first
                    else flow.replace(condition=Expression(text="c"))
                )
            flows.append(flow)
        if "boundary" in flavour:
            tasks = [i for i, k in enumerate(self.kinds) if k == "t"]
            goals = [i for i, k in enumerate(self.kinds) if k not in "s"]
            for i in rnd.sample(tasks, min(len(tasks), rnd.choice([1, 1, 2]))):
                nodes.append(
                    Event(
                        id=f"b{i}",
                        position="boundary",
                        attached_to=f"n{i}",
                        interrupting=rnd.random() < 0.6,
                    )
                )
                goal = rnd.choice(goals)
                flows.append(Flow(id=f"fb{i}", source=f"b{i}", target=f"n{goal}"))
        return Process(id="P", nodes=tuple(nodes), flows=tuple(flows))


def structured(rnd: random.Random, size: int, kinds: str, faults: int) -> Draft:
    """Nested blocks and loops; then faults: a gateway of another type, a flow bent elsewhere, a
    flow too many."""
    g = Draft(rnd)
    start = g.node("s")
    last = _block(g, start, size, kinds)
    g.edge(last, g.node("e"))
    for _ in range(faults):
        how = rnd.random()
        gates = [i for i, k in enumerate(g.kinds) if k in KINDS]
        if how < 0.5 and gates:
            g.kinds[rnd.choice(gates)] = rnd.choice("xao")
        elif how < 0.75:
            j = rnd.randrange(1, len(g.edges))
            a, _ = g.edges[j]
            g.edges[j] = (a, rnd.randrange(1, len(g.kinds)))
        else:
            a = rnd.choice([i for i, k in enumerate(g.kinds) if k != "e"])
            g.edge(a, rnd.randrange(1, len(g.kinds)))
    return g


def _block(g: Draft, at: int, size: int, kinds: str) -> int:
    rnd = g.rnd
    while size > 0:
        if size < 4 or rnd.random() < 0.3:
            task = g.node("t")
            g.edge(at, task)
            at, size = task, size - 1
            continue
        inner = min(size - 2, max(2, int(size * rnd.uniform(0.3, 0.7))))
        kind = rnd.choice(kinds)
        if kind == "l":
            header = g.node("x")
            g.edge(at, header)
            last = _block(g, header, inner, kinds)
            leave = g.node("x")
            g.edge(last, leave)
            if rnd.random() < 0.5:
                g.edge(leave, header)
            else:
                g.edge(_block(g, leave, 1, kinds), header)
            at = leave
        else:
            split = g.node(kind)
            g.edge(at, split)
            count = rnd.choice([2, 2, 3])
            lasts = [
                split if rnd.random() < 0.1 else _block(g, split, max(1, inner // count), kinds)
                for _ in range(count)
            ]
            join = g.node(kind)
            for last in lasts:
                g.edge(last, join)
            at = join
        size -= inner + 2
    return at


def tangle(rnd: random.Random, size: int, kinds: str, back: float) -> Draft:
    """Splits and joins at random: `back` is the chance that a branch jumps back."""
    g = Draft(rnd)
    start = g.node("s")
    front = [start]
    old: list[int] = []
    while len(g.kinds) < size:
        i = rnd.randrange(len(front))
        at = front[i]
        how = rnd.random()
        if how < 0.25:
            task = g.node("t")
            g.edge(at, task)
            front[i] = task
        elif how < 0.6 and len(front) < 5:
            split = g.node(rnd.choice(kinds))
            g.edge(at, split)
            front[i] = split
            front.append(split)
            if rnd.random() < back and old:
                g.edge(split, rnd.choice(old))
        elif len(front) > 1:
            j = rnd.choice([k for k in range(len(front)) if k != i])
            join = g.node(rnd.choice(kinds))
            g.edge(at, join)
            g.edge(front[j], join)
            front[i] = join
            front.pop(j)
            old.append(join)
            continue
        if g.kinds[front[i]] == "t" and rnd.random() < 0.3:
            header = g.node(rnd.choice(kinds))
            g.edge(front[i], header)
            front[i] = header
            old.append(header)
    if rnd.random() < 0.6:
        while len(front) > 1:
            join = g.node(rnd.choice(kinds))
            g.edge(front.pop(), join)
            g.edge(front.pop(), join)
            front.append(join)
    for at in front:
        g.edge(at, g.node("e"))
    return g


def process(seed: int, smallest: int = 8, largest: int = 26) -> Process:
    """One random process; the same seed gives the same."""
    rnd = random.Random(seed)
    size = rnd.randint(smallest, largest)
    kinds = rnd.choice(["xa", "xa", "xao", "xxao", "xo"])
    how = rnd.random()
    if how < 0.4:
        draft = structured(rnd, size, kinds + rnd.choice(["", "l"]), rnd.choice([0, 1, 1, 2]))
    elif how < 0.6:
        draft = tangle(rnd, size, kinds, 0.0)
    else:
        draft = tangle(rnd, size, kinds, rnd.choice([0.2, 0.4]))
    flavour = rnd.choice(["", "", "", "conditional", "boundary"])
    return draft.process(flavour)
