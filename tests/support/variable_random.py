"""Random structured models that read and set variables, from a seed.

No two parallel branches touch a variable that one of them sets, so that the order in which they
run does not matter (else there is more than one right answer).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from variable_scenarios import Scenario

from orgflow_ir.model import Event, Expression, Flow, Gateway, Model, Process, Task

NAMES = ("alpha", "beta", "gamma", "delta")


@dataclass
class _Builder:
    rng: random.Random
    nodes: list[Any] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    sets: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def flow(self, source: str, target: str, condition: str = "", default: bool = False) -> None:
        text = Expression(text=condition) if condition else None
        self.flows.append(
            Flow(id=f"f{len(self.flows)}", source=source, target=target, condition=text,
                 default=default)
        )  # fmt: skip

    def gateway(self, kind: str) -> str:
        id = f"g{len(self.nodes)}"
        self.nodes.append(Gateway.validate({"id": id, "gateway_kind": kind, "name": f"Q {id}?"}))
        return id

    def task(self, mine: tuple[str, ...]) -> tuple[str, str]:
        id = f"t{len(self.nodes)}"
        self.nodes.append(Task(id=id, name=f"Task {id}"))
        rows = []
        for _ in range(self.rng.randrange(1, 12)):
            row: dict[str, Any] = {}
            for name in mine:
                if self.rng.random() < 0.4:
                    row[name] = self.rng.choice([0, 1, 2])
            rows.append(row)
        self.sets[id] = rows
        return id, id

    def block(self, size: int, mine: tuple[str, ...], seen: tuple[str, ...]) -> tuple[str, str]:
        """A block of about `size` nodes that sets `mine` and reads `seen`: first and last node."""
        kinds = ["sequence"] * 3
        if size > 3:
            kinds += ["xor", "xor", "loop", "and", "or"] if seen else ["and"]
        if size <= 1:
            return self.task(mine)
        match self.rng.choice(kinds):
            case "sequence":
                left = self.rng.randrange(1, size)
                a, b = self.block(left, mine, seen)
                c, d = self.block(size - left, mine, seen)
                self.flow(b, c)
                return a, d
            case "xor":
                return self._branches("exclusive", size, mine, seen)
            case "or":
                return self._branches("inclusive", size, mine, seen)
            case "loop":
                return self._loop(size, mine, seen)
        return self._branches("parallel", size, mine, seen)

    def _condition(self, seen: tuple[str, ...]) -> str:
        name, value = self.rng.choice(seen), self.rng.choice([0, 1, 2])
        text = f"{name} {self.rng.choice(['==', '!=', '<'])} {value}"
        if self.rng.random() < 0.3:
            word = self.rng.choice(["&&", "||"])
            text = f"{text} {word} {self.rng.choice(seen)} == {self.rng.choice([0, 1])}"
        return text

    def _branches(
        self, kind: str, size: int, mine: tuple[str, ...], seen: tuple[str, ...]
    ) -> tuple[str, str]:
        split, join = self.gateway(kind), self.gateway(kind)
        count = self.rng.choice([2, 2, 3])
        default = self.rng.randrange(count)
        owner = {name: self.rng.randrange(count) for name in mine}
        for index in range(count):
            inside, reads = mine, seen
            if kind != "exclusive":
                inside = tuple(n for n in mine if owner[n] == index)
                reads = tuple(n for n in seen if owner.get(n, index) == index)
            condition = self._condition(seen) if kind != "parallel" and index != default else ""
            is_default = kind != "parallel" and index == default
            if kind != "parallel" and self.rng.random() < 0.2:
                self.flow(split, join, f"${{{condition}}}" if condition else "", is_default)
                continue
            a, b = self.block(max(1, size // count), inside, reads)
            self.flow(split, a, f"${{{condition}}}" if condition else "", is_default)
            self.flow(b, join)
        return split, join

    def _loop(self, size: int, mine: tuple[str, ...], seen: tuple[str, ...]) -> tuple[str, str]:
        """A loop that a variable of its own ends, after some passes."""
        head, test = self.gateway("exclusive"), self.gateway("exclusive")
        name = f"loop{len(self.nodes)}"
        a, b = self.block(size - 1, (*mine,), (*seen,))
        last, _ = self.task(())
        passes = [self.rng.random() < 0.5 for _ in range(6)]
        self.sets[last] = [
            {name: again} if again or self.rng.random() < 0.9 else {name: False} for again in passes
        ]
        self.flow(head, a)
        self.flow(b, last)
        self.flow(last, test)
        self.flow(test, head, f"${{{name}}}")
        out = self.gateway("exclusive")
        self.flow(test, out, f"${{!{name}}}")
        return head, out


def random_scenario(seed: int) -> Scenario:
    """A model and an instance of it."""
    rng = random.Random(seed)
    builder = _Builder(rng)
    a, b = builder.block(rng.randrange(4, 16), NAMES, NAMES)
    begin, end = Event(id="start", position="start"), Event(id="end", position="end")
    builder.flow("start", a)
    builder.flow(b, "end")
    start = {name: rng.choice([0, 1, 2]) for name in NAMES if rng.random() < 0.8}
    for rows in builder.sets.values():  # the last visits leave every loop
        for name in rows[-1]:
            if name.startswith("loop"):
                rows[-1] = {name: False}
                rows += [{name: False}] * 60
    process = Process(id="P", nodes=(begin, *builder.nodes, end), flows=tuple(builder.flows))
    return Scenario(f"seed {seed}", Model(id="m", processes=(process,)), builder.sets, start)
