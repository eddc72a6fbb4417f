"""Small random processes for the model of rows: people in parallel, gateways, sub-processes with
boundary events, timers and messages that do not interrupt, loops, and events that end a scope."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orgflow.backends.n8n.waiting.row_model import (
    NEVER,
    Answer,
    Row,
    RowWorld,
    Steps,
    Token,
    complete_steps,
)

INTERRUPTING = ("timer", "message")
BESIDE = ("reminder", "note")


@dataclass(frozen=True)
class Task:
    """A task of a person, with a boundary event or none; `stops` ends the enclosing scope."""

    name: str
    boundary: str = ""
    stops: bool = False


@dataclass(frozen=True)
class Gate:
    """An event-based gateway; each event is a timer or a message."""

    name: str
    events: tuple[str, ...]


@dataclass(frozen=True)
class Parallel:
    """Branches that begin with a wait, and a join; all of it `rounds` times."""

    name: str
    branches: tuple[Sequence, ...]
    rounds: int = 1


@dataclass(frozen=True)
class Sub:
    """A sub-process with a boundary event or none."""

    name: str
    body: Sequence
    boundary: str = ""


Node = Task | Gate | Parallel | Sub
Sequence = tuple[Node, ...]


class NetMaker:
    """Makes random nets of few elements."""

    def __init__(self, rnd: random.Random) -> None:
        self.rnd = rnd
        self.number = 0

    def make(self) -> Sequence:
        """A net."""
        return self._sequence(2, root=True)

    def _name(self, kind: str) -> str:
        self.number += 1
        return f"{kind}{self.number}"

    def _sequence(
        self, depth: int, *, root: bool = False, stops: bool = False, branch: bool = False
    ) -> Sequence:
        nodes = [self._node(depth) for _ in range(self.rnd.choice((1, 1, 2)))]
        if branch and isinstance(nodes[0], Parallel):  # its rounds could not be told apart
            nodes.insert(0, Task(self._name("T")))
        if root and not any(isinstance(node, Parallel | Sub) for node in nodes):
            nodes.append(self._composite(depth))
        if stops and self.rnd.random() < 0.4:
            nodes.append(Task(self._name("T"), stops=True))
        return tuple(nodes)

    def _node(self, depth: int) -> Node:
        if depth and self.rnd.random() < 0.4:
            return self._composite(depth)
        if self.rnd.random() < 0.25:
            events = self.rnd.choice((("timer", "message"), ("message", "message")))
            return Gate(self._name("G"), events)
        return Task(self._name("T"), self.rnd.choice(("", "", *INTERRUPTING, *BESIDE)))

    def _composite(self, depth: int) -> Node:
        if self.rnd.random() < 0.6:
            count = self.rnd.choice((2, 2, 3))
            branches = tuple(self._sequence(depth - 1, branch=True) for _ in range(count))
            return Parallel(self._name("J"), branches, self.rnd.choice((1, 1, 2)))
        boundary = self.rnd.choice(("", *INTERRUPTING, *BESIDE))
        return Sub(self._name("S"), self._sequence(depth - 1, stops=True), boundary)


def walk_nodes(body: Sequence) -> Iterator[Node]:
    """All nodes of a net."""
    for node in body:
        yield node
        if isinstance(node, Parallel):
            for branch in node.branches:
                yield from walk_nodes(branch)
        if isinstance(node, Sub):
            yield from walk_nodes(node.body)


@dataclass(frozen=True)
class Exit:
    """What follows the last node of a sequence: the end of its scope, or a join."""

    join: str = ""
    branch: str = ""
    needed: int = 0


class NetProcess:
    """A net as a process: the segment after each event."""

    def __init__(self, body: Sequence) -> None:
        self.body = body
        self.effects: list[tuple[str, str]] = []
        self._after: dict[str, tuple[Sequence, int, Exit]] = {}
        self._stops: set[str] = set()
        self._beside: dict[str, str] = {}
        self._loops: dict[str, Parallel] = {}
        self._note(body, Exit())

    def _note(self, body: Sequence, leaves: Exit) -> None:
        for number, node in enumerate(body):
            following = (body, number + 1, leaves)
            self._after[node.name] = following
            if isinstance(node, Task | Sub) and node.boundary:
                event = f"{node.name} {node.boundary}"
                if node.boundary in INTERRUPTING:
                    self._after[event] = following
                else:
                    self._beside[event] = node.boundary
            if isinstance(node, Task) and node.stops:
                self._stops.add(node.name)
            if isinstance(node, Gate):
                for place, _ in enumerate(node.events):
                    self._after[f"{node.name} event {place}"] = following
            if isinstance(node, Parallel):
                self._loops[node.name] = node
                for branch in node.branches:
                    self._note(branch, Exit(node.name, branch[0].name, len(node.branches)))
            if isinstance(node, Sub):
                self._after[f"end {node.name}"] = following
                for inner in node.body:
                    if isinstance(inner, Task) and inner.stops:
                        self._after[f"stop {inner.name}"] = following
                self._note(node.body, Exit())

    def first_rows(self, world: RowWorld, instance: str) -> list[Row]:
        """What a new instance waits for."""
        return self._enter(world, self.body[0], instance)

    def segment(self, world: RowWorld, token: Token, claimed: Answer) -> Steps:
        """The steps after the event of a claimed row, up to the next wait."""
        while True:
            event = f"end {token.element}" if token.event == "end" else token.event
            self.effects.append((token.key, event))
            yield
            claimed = yield from self._complete(world, token, claimed, event)
            if not claimed:
                return {}
            token = claimed["token"]

    def _complete(self, world: RowWorld, token: Token, claimed: Answer, event: str) -> Steps:
        data = dict(claimed["data"])
        if event == "start":
            rows = self.first_rows(world, token.instance)
            return complete_steps(world, token, rows, claimed["variables"])
        if event in self._stops:
            return complete_steps(world, token, [], data, leave=f"stop {event}")
        if event in self._beside:
            rows = []
            if self._beside[event] == "reminder" and not claimed["variables"].get(event):
                rows = [self._event_row(world, event, "reminder", token)]
                data[event] = 1
            return complete_steps(world, token, rows, data, end=True)
        loop = self._loops.get(event)
        if loop is not None:
            done = claimed["variables"].get(f"round {event}", 0) + 1
            data[f"round {event}"] = done
            if done < loop.rounds:
                return complete_steps(world, token, self._enter(world, loop, token.instance), data)
            data[f"round {event}"] = 0
        body, following, leaves = self._after[event]
        if following < len(body):
            rows = self._enter(world, body[following], token.instance)
            return complete_steps(world, token, rows, data)
        if leaves.join:
            branch = {
                "kind": "branch", "element": leaves.join, "branch": leaves.branch,
                "needed": leaves.needed,
            }  # fmt: skip
            return complete_steps(world, token, [branch], data)
        return complete_steps(world, token, [], data, end=True)

    def _event_row(self, world: RowWorld, event: str, kind: str, token: Token) -> Row:
        row = event_row(world, event, kind, token.instance)
        row["attached_to"] = token.attached_to
        return row

    def _enter(self, world: RowWorld, node: Node, instance: str) -> list[Row]:
        """The rows by which a node waits."""
        rows: list[Row] = []
        if isinstance(node, Parallel):
            for branch in node.branches:
                rows += self._enter(world, branch[0], instance)
            return rows
        kinds = {Task: "task", Gate: "gateway", Sub: "scope"}
        rows.append({"kind": kinds[type(node)], "element": node.name, "ref": node.name})
        if isinstance(node, Gate):
            rows[0]["hosts_events"] = "yes"
            for place, kind in enumerate(node.events):
                row = event_row(world, f"{node.name} event {place}", kind, instance)
                rows.append({**row, "host": node.name})
            return rows
        if isinstance(node, Sub):
            for row in self._enter(world, node.body[0], instance):
                rows.append({"inside": node.name, **row})
        if node.boundary:
            rows[0]["hosts_events"] = "yes"
            row = event_row(world, f"{node.name} {node.boundary}", node.boundary, instance)
            column = "host" if node.boundary in INTERRUPTING else "attached_to"
            rows.append({**row, column: node.name})
        return rows


def event_row(world: RowWorld, event: str, kind: str, instance: str) -> Row:
    """The row of a timer or of an expected message."""
    if kind in ("timer", "reminder"):
        return {"kind": "timer", "element": event, "due": world.now + 120_000}
    return {
        "kind": "receiver", "element": event, "message_key": f"{event}|{instance}",
        "due": NEVER,
    }  # fmt: skip


def net_text(body: Sequence) -> Any:
    """A net as nested lists, for messages of failing tests."""
    return [repr(node) for node in body]
