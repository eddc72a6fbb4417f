"""Random block-structured processes of constructs in which bpmn-engine follows BPMN; seeded."""

from __future__ import annotations

import random
from typing import Any

from bpmn_engine_models import elements, hosts

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.runs import Run
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.model import (
    Event,
    EventDefinition,
    Flow,
    Gateway,
    Model,
    Node,
    Process,
    SubProcess,
    Task,
)

CHOICES = ("task", "catch", "seq", "xor", "loop", "race", "guard", "notice", "sub")
FORKS = ("task", "catch", "seq", "and", "or", "notice", "sub")

INSIDE = ("task", "seq", "and")
TYPES = ("user", "user", "abstract", "manual")


class Draft:
    """A random block-structured process in which choices and forks do not share a scope.

    bpmn-engine sends "discarded" down every branch not taken, and its joins count that as an
    arrival even when the merge before them passes on a token later. A scope has either choices
    (exclusive, loops, event-based, interrupted tasks) or forks (parallel, inclusive); where one
    meets the other it stands in a sub-process of its own.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.count = 0

    def model(self) -> Model:
        """The model, of one process `P` with 8 to 30 nodes."""
        while True:
            self.count = 0
            nodes, flows = self._scope(self.rng.choice((CHOICES, FORKS)), 2)
            process = Process(id="P", nodes=nodes, flows=flows)
            made = Model(id=f"M{self.seed}", processes=(process,))
            if 8 <= len(elements(made)) <= 30:
                return made

    def _name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def _scope(
        self, kinds: tuple[str, ...], depth: int, types: tuple[str, ...] = TYPES
    ) -> tuple[tuple[Node, ...], tuple[Flow, ...]]:
        part = _Part(self, kinds, depth, types)
        start = part.event("start")
        first, last = part.block(2 if kinds is CHOICES else 3)
        part.wire(start, first)
        part.wire(last, part.event("end"))
        return tuple(part.nodes), tuple(part.flows)


class _Part:
    """One scope of a draft."""

    def __init__(
        self, draft: Draft, kinds: tuple[str, ...], depth: int, types: tuple[str, ...]
    ) -> None:
        self.draft, self.kinds, self.depth, self.types = draft, kinds, depth, types
        self.rng = draft.rng
        self.nodes: list[Node] = []
        self.flows: list[Flow] = []

    def add(self, node: Node) -> str:
        self.nodes.append(node)
        return node.id

    def wire(self, a: str, b: str, default: bool = False) -> None:
        self.flows.append(Flow(id=self.draft._name("f"), source=a, target=b, default=default))

    def event(self, position: str, **more: Any) -> str:
        name = self.draft._name(position[0] if position != "boundary" else "on")
        return self.add(Event.validate({"id": name, "position": position, **more}))

    def gateway(self, kind: str) -> str:
        name = self.draft._name("g")
        return self.add(Gateway.validate({"id": name, "gateway_kind": kind}))

    def task(self, *types: str) -> str:
        kind = self.rng.choice(types or self.types)
        return self.add(Task.validate({"id": self.draft._name("t"), "task_type": kind}))

    def trigger(self) -> tuple[EventDefinition, ...]:
        kind = self.rng.choice(("timer", "message"))
        return (EventDefinition.validate({"kind": kind}),)

    def block(self, level: int) -> tuple[str, str]:
        """A block: its first and its last node."""
        what = self.rng.choice(self.kinds) if level > 0 else "task"
        match what:
            case "catch":
                node = self.event("catch", definitions=self.trigger())
                return node, node
            case "seq":
                first, second = self.block(level - 1), self.block(level - 1)
                self.wire(first[1], second[0])
                return first[0], second[1]
            case "xor" | "and" | "or":
                return self.fork(what, level)
            case "loop":
                return self.loop(level)
            case "race":
                return self.race(level)
            case "guard" | "notice":
                return self.guarded(level, what == "guard")
            case "sub" if self.depth > 0:
                kinds = self.rng.choice((CHOICES, FORKS))
                nodes, flows = self.draft._scope(kinds, self.depth - 1)
                node = self.add(SubProcess(id=self.draft._name("sp"), nodes=nodes, flows=flows))
                return node, node
        node = self.task()
        return node, node

    def fork(self, what: str, level: int) -> tuple[str, str]:
        kind = {"xor": "exclusive", "and": "parallel", "or": "inclusive"}[what]
        split, join = self.gateway(kind), self.gateway(kind)
        count = self.rng.choice((2, 2, 3))
        empty = self.rng.randrange(count) if what != "and" and self.rng.random() < 0.2 else None
        default = self.rng.randrange(count) if what != "and" and self.rng.random() < 0.5 else None
        for branch in range(count):
            if branch == empty:
                self.wire(split, join, branch == default)
                continue
            first, last = self.block(level - 1)
            self.wire(split, first, branch == default)
            self.wire(last, join)
        return split, join

    def loop(self, level: int) -> tuple[str, str]:
        join, split = self.gateway("exclusive"), self.gateway("exclusive")
        first, last = self.block(level - 1)
        self.wire(join, first)
        self.wire(last, split)
        if self.rng.random() < 0.5:
            self.wire(split, join)
        else:
            again = self.block(level - 1)
            self.wire(split, again[0])
            self.wire(again[1], join)
        after = self.task()
        self.wire(split, after, self.rng.random() < 0.5)
        return join, after

    def race(self, level: int) -> tuple[str, str]:
        split, join = self.gateway("event"), self.gateway("exclusive")
        for _ in range(2):
            event = self.event("catch", definitions=self.trigger())
            first, last = self.block(level - 1)
            self.wire(split, event)
            self.wire(event, first)
            self.wire(last, join)
        return split, join

    def guarded(self, level: int, interrupting: bool) -> tuple[str, str]:
        """A task or sub-process with a boundary event: an interrupting one leads round it, another
        to an end of its own."""
        host: str | None = None
        if self.depth > 0 and self.rng.random() < 0.3:
            nodes, flows = self.draft._scope(INSIDE, 0, ("user",))
            host = self.add(SubProcess(id=self.draft._name("sp"), nodes=nodes, flows=flows))
        host = host or self.task("user")
        event = self.event(
            "boundary", attached_to=host, interrupting=interrupting, definitions=self.trigger()
        )
        first, last = self.block(level - 1)
        self.wire(event, first)
        if not interrupting:
            self.wire(last, self.event("end"))
            return host, host
        join = self.gateway("exclusive")
        self.wire(host, join)
        self.wire(last, join)
        return host, join


def random_run(game: Game, seed: int, limit: int = 300) -> Run | None:
    """A run in which whatever waits is done in any order; `None` where it gets too long.

    What need not wait happens at once, as in an engine: only then can the engine be told the rest.
    """
    rng = random.Random(seed)
    nodes, boundary = elements(game.model), hosts(game.model)

    def waits(step: Step) -> bool:
        own = step.action == "done" and not isinstance(nodes[step.element], SubProcess)
        return own or step.element in boundary

    process = game.model.processes[0].id
    start = game.starts(process)[0]
    state = game.initial(process, start)
    steps: list[Step] = []
    while not game.finished(state) and len(steps) < limit:
        enabled = game.enabled(state)
        steps.append(rng.choice([s for s in enabled if not waits(s)] or enabled))
        state = game.fire(state, steps[-1])
    if not game.finished(state):
        return None
    choices = tuple(choice for step in steps for choice in game.decisions(step))
    return Run(process, start, tuple(steps), choices, game.outcome(state))
