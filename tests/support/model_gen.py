"""Random sound process models for property tests, from a seed; built of IR values alone.

Blocks nest: sequence, exclusive, parallel, inclusive, loop, and *jumble*, a single-threaded region
of exclusive gateways with arbitrary jumps (often irreducible) from which the exit can always be
reached. Single tokens stay single, so every model is sound and safe by construction.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from orgflow_ir.model import Event, Flow, Gateway, Model, Process, Task

KINDS = ("task", "xor", "and", "or", "loop", "jumble")


@dataclass
class Builder:
    """Collects nodes and flows; every block is entered and left by one node."""

    rng: random.Random
    kinds: tuple[str, ...] = KINDS
    nodes: list[Task | Event | Gateway] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)

    def task(self) -> str:
        number = len(self.nodes)
        self.nodes.append(Task(id=f"t{number}", name=f"Task {number}"))
        return f"t{number}"

    def gateway(self, kind: str) -> str:
        number = len(self.nodes)
        name = f"Question {number}?" if self.rng.random() < 0.5 else ""
        full = {"xor": "exclusive", "and": "parallel", "or": "inclusive"}[kind]
        self.nodes.append(
            Gateway.validate({"id": f"g{number}", "name": name, "gateway_kind": full})
        )
        return f"g{number}"

    def flow(self, source: str, target: str, name: str = "", default: bool = False) -> None:
        self.flows.append(
            Flow(id=f"f{len(self.flows)}", source=source, target=target, name=name, default=default)
        )

    def branch_flow(self, split: str, target: str, index: int) -> None:
        node = next(n for n in self.nodes if n.id == split)
        parallel = isinstance(node, Gateway) and node.gateway_kind == "parallel"
        default = (
            not parallel
            and index == 0
            and self.rng.random() < 0.25
            and not any(f.default and f.source == split for f in self.flows)
        )
        self.flow(split, target, "" if parallel else f"Way {index}", default)

    def block(self, size: int) -> tuple[str, str]:
        """A block of about `size` nodes: its first and its last node."""
        if size <= 2:
            task = self.task()
            return task, task
        kind = self.rng.choice(self.kinds)
        if kind == "task":
            first, end = self.block(size // 2)
            second, last = self.block(size - size // 2)
            self.flow(end, second)
            return first, last
        if kind == "loop":
            header, exit_ = self.gateway("xor"), self.gateway("xor")
            first, last = self.block(max(1, (size - 2) // 2))
            self.flow(header, first)
            self.flow(last, exit_)
            after, back = self.task(), self.task()
            self.branch_flow(exit_, after, 0)
            self.branch_flow(exit_, back, 1)
            self.flow(back, header)
            return header, after
        if kind == "jumble":
            return self.jumble(size)
        split, join = self.gateway(kind), self.gateway(kind)
        count = self.rng.randint(2, 3)
        for index in range(count):
            if index and self.rng.random() < 0.2 and kind != "and":
                self.branch_flow(split, join, index)
                continue
            first, last = self.block(max(1, (size - 2) // count))
            self.branch_flow(split, first, index)
            self.flow(last, join)
        return split, join

    def jumble(self, size: int) -> tuple[str, str]:
        """Tasks with a choice behind each: to the next task, or anywhere in the region."""
        count = max(3, min(size // 2, 6))
        heads = [self.gateway("xor") for _ in range(count)]
        last = self.task()
        for index, head in enumerate(heads):
            task, choice = self.task(), self.gateway("xor")
            self.flow(head, task)
            self.flow(task, choice)
            onward = heads[index + 1] if index + 1 < count else last
            self.branch_flow(choice, onward, 0)
            self.branch_flow(choice, self.rng.choice(heads[1:]), 1)
        return heads[0], last


def random_model(seed: int, size: int, kinds: tuple[str, ...] = KINDS) -> Model:
    """A sound model of about `size` nodes."""
    builder = Builder(random.Random(seed), kinds)
    builder.nodes.append(Event(id="start", position="start"))
    first, last = builder.block(size)
    builder.nodes.append(Event(id="end", name="Done", position="end"))
    builder.flow("start", first)
    builder.flow(last, "end")
    process = Process(
        id="P", name=f"Random {seed}", nodes=tuple(builder.nodes), flows=tuple(builder.flows)
    )
    return Model(id=f"random-{seed}", processes=(process,), source="random.bpmn")


def implicit(model: Model) -> Model:
    """The same behaviour without gateways where BPMN lets them out: a parallel split behind a task
    becomes its several ways out, an exclusive join before a task or an end its several ways in."""
    process = model.processes[0]
    nodes = {n.id: n for n in process.nodes}
    flows = list(process.flows)
    for gateway in process.nodes:
        if not isinstance(gateway, Gateway):
            continue
        into = [f for f in flows if f.target == gateway.id]
        out = [f for f in flows if f.source == gateway.id]
        before = nodes.get(into[0].source) if len(into) == 1 else None
        after = nodes.get(out[0].target) if len(out) == 1 else None
        if gateway.gateway_kind == "parallel" and isinstance(before, Task) and len(out) > 1:
            gone, moved = into[0], {f.id: f.replace(source=before.id) for f in out}
        elif (
            gateway.gateway_kind == "exclusive"
            and len(into) > 1
            and isinstance(after, Task | Event)
        ):
            gone, moved = out[0], {f.id: f.replace(target=after.id) for f in into}
        else:
            continue
        del nodes[gateway.id]
        flows = [moved.get(f.id, f) for f in flows if f.id != gone.id]
    made = process.replace(nodes=tuple(nodes.values()), flows=tuple(flows))
    return model.replace(processes=(made,))
