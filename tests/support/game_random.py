"""Random flat processes of any shape, seeded: cycles, faults, several tokens in one place."""

from __future__ import annotations

import random

from orgflow_ir.model import Event, Flow, Gateway, Node, Process, Task

KINDS = ("exclusive", "parallel", "inclusive", "task", "task", "guarded")


def random_process(seed: int) -> Process:
    """Any graph at all over a start, a few nodes and two ends: cycles, faults, unsafe ones."""
    rng = random.Random(seed)
    nodes: list[Node] = [Event(id="s", position="start")]
    inner: list[str] = []
    for i in range(rng.randint(2, 7)):
        kind = rng.choice(KINDS)
        name = f"n{i}"
        inner.append(name)
        if kind in ("task", "guarded"):
            nodes.append(Task(id=name))
            if kind == "guarded":
                nodes.append(Event(id=f"b{i}", position="boundary", attached_to=name))
        else:
            nodes.append(Gateway.validate({"id": name, "gateway_kind": kind}))
    nodes += [Event(id="e", position="end"), Event(id="f", position="end")]
    flows = [("s", inner[0])]
    for node in nodes[1:-2]:
        fan = rng.choice((1, 1, 2, 2, 3)) if isinstance(node, Gateway) else 1
        for _ in range(fan):
            flows.append((node.id, rng.choice([*inner, "e", "f"])))
    made = [Flow(id=f"f{i}", source=a, target=b) for i, (a, b) in enumerate(flows)]
    split = [n.id for n in nodes if isinstance(n, Gateway) and n.gateway_kind == "inclusive"]
    for name in split:
        if rng.random() < 0.4:
            last = max(i for i, f in enumerate(made) if f.source == name)
            made[last] = made[last].replace(default=True)
    return Process(id="P", nodes=tuple(nodes), flows=tuple(made))
