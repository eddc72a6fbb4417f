"""Small processes for the tests of soundness, written as `a-b b-c`."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow_ir.model import Event, EventDefinition, Flow, Gateway, Node, Process, Task

GATES = {"x": "exclusive", "a": "parallel", "o": "inclusive"}

NESTED = "s-a0 a0-x1 a0-t3 x1-t1 x1-t2 t1-a1 t2-a1 a1-a2 t3-a2 a2-t4 t4-e"
"""`a1` waits indefinitely, and `a2` for it."""
DEEP = "s-a0 a0-x1 a0-t3 a0-t5 x1-t1 x1-t2 t1-a1 t2-a1 a1-a2 t3-a2 a2-o3 t5-o3 o3-t4 t4-e"
"""… and `o3` for `a2`."""
CYCLE = "s-a1 a1-o1 a1-o2 o1-t1 t1-x1 o2-t2 t2-x2 x1-o2 x2-o1 x1-a2 x2-a2 a2-e"
"""Each of two inclusive joins waits for what may come from the other."""
CROSSED = "s-a0 a0-a1 a0-a2 a1-a3 a2-a4 a3-a2 a4-a1 a3-t1 a4-t2 t1-e1 t2-e2"
"""Each of two parallel joins waits for the other."""


def node(name: str) -> Node:
    """A node by its first letter: start, end, exclusive, and, or; else a task."""
    if name[0] in GATES:
        return Gateway.validate({"id": name, "gateway_kind": GATES[name[0]]})
    if name[0] in "se":
        return Event.validate({"id": name, "position": "start" if name[0] == "s" else "end"})
    return Task(id=name)


def flows(text: str, prefix: str) -> Iterator[Flow]:
    """The flows of `a-b b-c`."""
    for i, item in enumerate(text.split()):
        source, target = item.split("-")
        yield Flow(id=f"{prefix}{i}", source=source, target=target)


def build(text: str, *others: Node) -> Process:
    """A process from `a-b b-c`, with some of the nodes given."""
    known = {n.id: n for n in others}
    names = dict.fromkeys(n for item in text.split() for n in item.split("-"))
    nodes = [known.get(n) or node(n) for n in names]
    nodes += [n for n in others if n.id not in names]
    return Process(id="p", nodes=tuple(nodes), flows=tuple(flows(text, "f")))


def end(name: str, kind: str) -> Event:
    """An end event that throws something."""
    definition = EventDefinition.validate({"kind": kind})
    return Event(id=name, position="end", definitions=(definition,))


def timer(name: str, host: str) -> Event:
    """A timer on the border of an activity, which ends it."""
    return Event(
        id=name, position="boundary", attached_to=host, interrupting=True,
        definitions=(EventDefinition(kind="timer"),),
    )  # fmt: skip
