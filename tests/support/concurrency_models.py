"""Random small models with nested scopes, and the pairs of steps that are active together in some
state that the token game reaches: the referee of the analysis of concurrency, with which it shares
no code."""

from __future__ import annotations

import random
from collections import Counter
from typing import NamedTuple

from orgflow_ir.flow.token_game.net import Policy
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Loop,
    Model,
    Node,
    Process,
    SubProcess,
    Task,
)

MOST_STATES = 3_000

JOINING = ("parallel", "inclusive")


class _Scope:
    """A scope under construction; `block` adds a part that is entered and left by one node."""

    def __init__(self, rng: random.Random, prefix: str, kinds: tuple[str, ...], depth: int) -> None:
        self.rng, self.prefix, self.kinds, self.depth = rng, prefix, kinds, depth
        self.nodes: list[Node] = []
        self.flows: list[Flow] = []
        self.loose: list[str] = []
        """Nodes behind boundary events, which lead nowhere yet."""

    def name(self, kind: str) -> str:
        return f"{self.prefix}{kind}{len(self.nodes)}"

    def add(self, node: Node) -> str:
        self.nodes.append(node)
        return node.id

    def flow(self, source: str, target: str) -> None:
        name = f"{self.prefix}f{len(self.flows)}"
        self.flows.append(Flow(id=name, source=source, target=target))

    def gateway(self, kind: str) -> str:
        return self.add(Gateway.validate({"id": self.name("g"), "gateway_kind": kind}))

    def activity(self) -> str:
        """A task or another activity, perhaps with a boundary event."""
        kind = self.rng.choice(self.kinds)
        name = self.name("a")
        loop = None
        if "instances" in self.kinds and self.rng.random() < 0.15:
            sequential = self.rng.random() < 0.4
            two = Expression(text="2")
            loop = Loop(kind="multi-instance", sequential=sequential, cardinality=two)
        if kind == "sub" and self.depth:
            inner = _Scope(self.rng, f"{name}_", self.kinds, self.depth - 1)
            inner.fill(self.rng.randint(1, 4))
            self.add(
                SubProcess(id=name, nodes=tuple(inner.nodes), flows=tuple(inner.flows), loop=loop)
            )
        elif kind == "call":
            self.add(CallActivity(id=name, called="Q"))
        else:
            user = self.rng.random() < 0.6
            self.add(Task(id=name, task_type="user" if user else "abstract", loop=loop))
        if "boundary" in self.kinds and self.rng.random() < 0.3:
            event = Event(
                id=self.name("b"),
                position="boundary",
                attached_to=name,
                interrupting=self.rng.random() < 0.6,
                definitions=(EventDefinition(kind="timer"),),
            )
            after = Task(id=f"{event.id}_t", task_type="user")
            self.add(event)
            self.add(after)
            self.flow(event.id, after.id)
            self.loose.append(after.id)
        return name

    def block(self, size: int) -> tuple[str, str]:
        """A block of about `size` activities: its first and its last node."""
        if size <= 1:
            activity = self.activity()
            return activity, activity
        shape = self.rng.choice(("row", "exclusive", "parallel", "parallel", "loop", "inclusive"))
        if shape == "inclusive" and "inclusive" not in self.kinds:
            shape = "row"
        if shape == "row":
            first, end = self.block(size // 2)
            start, last = self.block(size - size // 2)
            self.flow(end, start)
            return first, last
        if shape == "loop":
            header, exit_ = self.gateway("exclusive"), self.gateway("exclusive")
            first, last = self.block(size - 1)
            again = self.activity()
            after = self.activity()
            for pair in ((header, first), (last, exit_), (exit_, after), (exit_, again)):
                self.flow(*pair)
            self.flow(again, header)
            return header, after
        split, join = self.gateway(shape), self.gateway(shape)
        for _ in range(2):
            first, last = self.block(size // 2)
            self.flow(split, first)
            self.flow(last, join)
        return split, join

    def fill(self, size: int) -> None:
        """Start, a block, end, what boundary events lead to, and perhaps an event sub-process."""
        start = self.add(Event(id=self.name("s"), position="start"))
        first, last = self.block(size)
        end = self.add(Event(id=self.name("e"), position="end"))
        self.flow(start, first)
        self.flow(last, end)
        for node in self.loose:
            own = self.add(Event(id=self.name("e"), position="end"))
            self.flow(node, own)
        if "handler" in self.kinds and self.rng.random() < 0.35:
            self.add(self.handler())

    def handler(self) -> SubProcess:
        """An event sub-process that a message begins."""
        name = self.name("h")
        nodes = (
            Event(
                id=f"{name}_s",
                position="start",
                interrupting=self.rng.random() < 0.5,
                definitions=(EventDefinition(kind="message"),),
            ),
            Task(id=f"{name}_t", task_type="user"),
            Event(id=f"{name}_e", position="end"),
        )
        flows = (
            Flow(id=f"{name}_1", source=f"{name}_s", target=f"{name}_t"),
            Flow(id=f"{name}_2", source=f"{name}_t", target=f"{name}_e"),
        )
        return SubProcess(id=name, flavour="event", nodes=nodes, flows=flows)


STRUCTURED = ("task", "task", "sub", "boundary", "handler", "call", "instances")
"""Kinds of elements of models without joins that depend on data."""


def nested_model(seed: int, kinds: tuple[str, ...] = STRUCTURED) -> Model:
    """A random model of a process, and of one that it may call. Blocks are structured; with
    `inclusive` among the kinds, what joins wait for depends on data."""
    rng = random.Random(seed)
    called = _Scope(rng, "q_", tuple(k for k in kinds if k != "call"), 1)
    called.fill(rng.randint(1, 3))
    main = _Scope(rng, "", kinds, 2)
    main.fill(rng.randint(2, 6))
    processes = [Process(id="P", nodes=tuple(main.nodes), flows=tuple(main.flows))]
    if "call" in kinds:
        processes.append(Process(id="Q", nodes=tuple(called.nodes), flows=tuple(called.flows)))
    return Model(id=f"nested-{seed}", processes=tuple(processes))


def cross_flows(model: Model, seed: int) -> Model:
    """The model with the targets of two flows of its first process exchanged: mostly unsound."""
    rng = random.Random(seed)
    process, *others = model.processes
    flows = list(process.flows)
    a, b = rng.sample(range(len(flows)), 2)
    flows[a], flows[b] = (
        flows[a].replace(target=flows[b].target),
        flows[b].replace(target=flows[a].target),
    )
    return model.replace(processes=(process.replace(flows=tuple(flows)), *others))


class ActivePairs(NamedTuple):
    """Pairs of elements that are active together in some state, both ways round, and whether all
    states were explored."""

    pairs: frozenset[tuple[str, str]]
    complete: bool


def explore_pairs(model: Model, most: int = MOST_STATES) -> ActivePairs:
    """What the token game shows of the first process. An element is active while a token is before
    it or in it; a token that waits for others at a join is counted where it comes from."""
    game = Game(model, Policy(instances=2))
    names = _names_of_places(game)
    process = model.processes[0].id
    todo = [game.initial(process, start) for start in game.starts(process)]
    seen = set(todo)
    pairs: set[tuple[str, str]] = set()
    while todo and len(seen) < most:
        state = todo.pop()
        active = _active_elements(state, names, game)
        for i, one in enumerate(active):
            for other in active[i + 1 :]:
                pairs.add((one, other))
                pairs.add((other, one))
        for step in game.enabled(state):
            after = game.fire(state, step)
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return ActivePairs(frozenset(pairs), not todo)


def _names_of_places(game: Game) -> dict[int, str]:
    net = game.net
    names: dict[int, str] = {}
    for place, number in enumerate(net.consumer):
        node = net.nodes[number]
        element = node.element
        joins = isinstance(element, Gateway) and element.gateway_kind in JOINING
        if joins and len(node.ins) > 1 and place in node.ins:
            node = net.nodes[net.producer[place]]
        names[place] = node.id
    return names


def _active_elements(state: State, names: dict[int, str], game: Game) -> list[str]:
    active = [
        names[place]
        for frame in state.frames
        for place, count in frame.tokens
        for _ in range(min(count, 2))
    ]
    # A repeated activity has a token of its own beside those of its instances.
    for frame in state.frames:
        if frame.owner is not None:
            holder = game.net.nodes[frame.owner[2]].id
            if any(names[place] == holder for place, _ in frame.tokens):
                active.remove(holder)
    return active


def lost_waits(model: Model, most: int = MOST_STATES) -> list[tuple[str, set[str]]]:
    """For each step of an interrupting boundary event, or of the start event of an interrupting
    event sub-process, that event, or the sub-process, and the elements whose wait it ended."""
    game = Game(model, Policy(instances=2))
    nodes = {node.id: node for scope in model.scopes() for node in scope.nodes}
    handlers = {
        start.id: node.id
        for node in nodes.values()
        if isinstance(node, SubProcess) and node.flavour == "event"
        for start in node.nodes
        if isinstance(start, Event) and start.position == "start"
    }
    waiting = {n.id for n in nodes.values() if isinstance(n, Task) and n.task_type == "user"}
    process = model.processes[0].id
    todo = [game.initial(process, start) for start in game.starts(process)]
    seen = set(todo)
    found: list[tuple[str, set[str]]] = []
    while todo and len(seen) < most:
        state = todo.pop()
        for step in game.enabled(state):
            after = game.fire(state, step)
            event = nodes[step.element]
            if isinstance(event, Event) and event.interrupting:
                by = handlers.get(event.id) or (event.id if event.attached_to else "")
                before = Counter(game.open_elements(state))
                lost = set(before - Counter(game.open_elements(after))) & waiting
                if by and lost:
                    found.append((by, lost))
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return found
