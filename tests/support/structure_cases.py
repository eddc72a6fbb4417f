"""Reads models with their expected runs (`tests/backends/n8n/structure_cases.txt`)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from orgflow_ir.model import (
    CallActivity,
    Catalog,
    CatalogEntry,
    Event,
    Expression,
    Flow,
    Gateway,
    Model,
    Node,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.elements import Loop

Trace = tuple[str, ...]
"""The tasks that a run completes, in order; `ERR` last where it ends with an error."""


class Case(NamedTuple):
    """A model and its runs. Each alternative has all orders of its parallel steps. `bodies`: the
    number of repetitions, `any` where the data decide, or nothing; `refused`: words of the reason
    why n8n does not have it; `rows`: words of the reason why one execution does not."""

    title: str
    model: Model
    runs: tuple[frozenset[Trace], ...]
    bodies: str
    refused: str
    rows: str


_GATEWAYS = {"xor": "exclusive", "and": "parallel", "or": "inclusive"}
_EVENTS: dict[str, tuple[str, str | None, bool]] = {
    # kind → position, trigger, interrupting
    "start": ("start", None, True),
    "end": ("end", None, True),
    "terminate": ("end", "terminate", True),
    "throw-error": ("end", "error", True),
    "throw-escalation": ("end", "escalation", True),
    "escalate": ("throw", "escalation", True),
    "throw-link": ("throw", "link", True),
    "catch-link": ("catch", "link", True),
    "timer": ("catch", "timer", True),
    "on-error": ("start", "error", True),
    "on-escalation-beside": ("start", "escalation", False),
    "error": ("boundary", "error", True),
    "escalation": ("boundary", "escalation", True),
    "escalation-beside": ("boundary", "escalation", False),
}
_LOOPS = {"sequential": True, "parallel": False}
_SCOPES = {"sub": "plain", "sub-loop": "plain", "event-sub": "event", "transaction": "transaction"}


def cases(file: Path) -> Iterator[Case]:
    """The cases of a file."""
    for text in file.read_text(encoding="utf-8").split("\n== ")[1:]:
        title, *lines = text.splitlines()
        yield _Reader(title).read(lines)


class _Reader:
    def __init__(self, title: str) -> None:
        self.title = title
        self.nodes: dict[str, dict[str, tuple[str, str, str]]] = {"p": {}}
        self.flows: dict[str, list[Flow]] = {"p": []}
        self.processes = ["p"]

    def read(self, lines: list[str]) -> Case:
        here, runs, bodies, refused, rows = "p", "", "", "", ""
        for line in filter(None, lines):
            if line.startswith("in "):
                here = line[3:-1]
            elif line.startswith("process "):
                here = line[8:-1]
                self.processes.append(here)
            elif line.startswith("expect: "):
                runs = line[8:]
            elif line.startswith("bodies: "):
                bodies = line[8:]
            elif line.startswith("refused: "):
                refused = line[9:]
            elif line.startswith("rows: "):
                rows = line[6:]
            else:
                self._draw(here, line)
        catalog = Catalog(
            errors=tuple(CatalogEntry(id=c, name=f"Error {c}", code=c) for c in "XY"),
            escalations=tuple(CatalogEntry(id=c, name=f"Late {c}", code=c) for c in "XY"),
        )
        processes = tuple(
            Process(id=id, name=f"Process {id}", nodes=self._inside(id), flows=self._flows(id))
            for id in self.processes
        )
        model = Model(id="m", catalog=catalog, processes=processes)
        alternatives = tuple(frozenset(_orders(one)) for one in runs.split("|"))
        return Case(self.title, model, alternatives, bodies, refused, rows)

    def _draw(self, scope: str, line: str) -> None:
        nodes, flows = self.nodes.setdefault(scope, {}), self.flows.setdefault(scope, [])
        ids = []
        for part in line.split(" > "):
            found = re.fullmatch(r"(?:(\w+)\.)?(\w+)(?:=([\w-]+)(?:\((\w+)\))?)?", part.strip())
            assert found is not None, part
            host, id, kind, given = found.groups(default="")
            if kind or id not in nodes:
                nodes[id] = (kind or "task", given, host)
            ids.append(id)
        for one, two in itertools.pairwise(ids):
            flows.append(Flow(id=f"{scope}_{len(flows)}", source=one, target=two, name=two))

    def _flows(self, scope: str) -> tuple[Flow, ...]:
        return tuple(self.flows.get(scope, ()))

    def _inside(self, scope: str) -> tuple[Node, ...]:
        return tuple(self._node(id, *it) for id, it in self.nodes.get(scope, {}).items())

    def _node(self, id: str, kind: str, given: str, host: str) -> Node:
        name = id
        if kind in _GATEWAYS:
            return Gateway.validate({"id": id, "name": f"{id}?", "gateway_kind": _GATEWAYS[kind]})
        if kind in _SCOPES:
            looped = Loop(kind="standard") if kind == "sub-loop" else None
            return SubProcess.validate(
                {"id": id, "name": name, "flavour": _SCOPES[kind], "nodes": self._inside(id),
                 "flows": self._flows(id), "loop": looped}
            )  # fmt: skip
        if kind == "call":
            return CallActivity(id=id, name=name, called=given)
        if kind in _EVENTS:
            position, trigger, ends = _EVENTS[kind]
            return Event.validate(
                {"id": id, "position": position, "attached_to": host or None,
                 "interrupting": ends, "definitions": _definitions(trigger, given)}
            )  # fmt: skip
        loop = Loop(kind="standard") if kind == "loop" else None
        if kind in _LOOPS:
            number = Expression(text=given)
            loop = Loop(kind="multi-instance", sequential=_LOOPS[kind], cardinality=number)
        of = {"task": "abstract", "loop": "abstract"} | dict.fromkeys(_LOOPS, "abstract")
        return Task.validate(
            {"id": id, "name": name, "task_type": of.get(kind, kind), "loop": loop}
        )


def _definitions(trigger: str | None, given: str) -> tuple[dict[str, Any], ...]:
    if trigger is None:
        return ()
    if trigger == "timer":
        return ({"kind": "timer", "timer": "duration", "expression": {"text": "PT1S"}},)
    if trigger == "link":
        return ({"kind": "link", "name": given},)
    return ({"kind": trigger, "ref": given or None},)


def _orders(text: str) -> set[Trace]:
    """All orders that an alternative allows."""
    found: set[Trace] = {()}
    for part in re.findall(r"\([^)]*\)|\S+", text):
        if part.startswith("("):
            ways: set[Trace] = {()}
            for branch in part[1:-1].split("&"):
                steps = tuple(branch.split())
                ways = {mixed for way in ways for mixed in _mixed(way, steps)}
        else:
            ways = {(part,)}
        found = {(*before, *way) for before in found for way in ways}
    return found


def _mixed(one: Trace, two: Trace) -> Iterator[Trace]:
    """All interleavings of two sequences."""
    if not one or not two:
        yield (*one, *two)
        return
    yield from ((one[0], *rest) for rest in _mixed(one[1:], two))
    yield from ((two[0], *rest) for rest in _mixed(one, two[1:]))
