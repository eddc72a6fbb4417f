"""Workflows as a comparison sees them: steps, wires and notes, whatever is odd in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from orgflow.backends.n8n.format.document import (
    MAP_PREFIX,
    TYPE_PREFIX,
    OrgflowMap,
    is_trigger,
    read_map,
    tag_of,
)

_WRAPPERS = ("workflow", "workflows", "workflowData", "data")
"""What APIs and exports put around workflows, as in `orgflow.frontends.n8n.opening`."""
_DEPTH = 4
_OTHER_STARTS = frozenset(f"{TYPE_PREFIX}{s}" for s in ("cron", "interval", "start")) | {
    f"{TYPE_PREFIX}emailReadImap"
}


class Wire(NamedTuple):
    """A connection; `kind` is `main` or what a sub-node gives its root."""

    kind: str
    source: str
    output: int
    target: str
    input: int


@dataclass(frozen=True)
class Step:
    """A node that is no sticky note; its name is unique in its workflow."""

    name: str
    raw: Mapping[str, Any]

    @property
    def type(self) -> str:
        """The full type, empty where there is none."""
        return _text(self.raw.get("type"))

    @property
    def short(self) -> str:
        """The type without the package."""
        return self.type.rsplit(".", 1)[-1]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters, empty where they are none."""
        found = self.raw.get("parameters")
        return found if isinstance(found, Mapping) else {}

    @property
    def version(self) -> float:
        """The type version."""
        found = self.raw.get("typeVersion")
        number = isinstance(found, int | float) and not isinstance(found, bool)
        return float(found) if number else 1.0  # type: ignore[arg-type]

    @property
    def position(self) -> tuple[float, float]:
        """Left and top on the canvas."""
        found = self.raw.get("position")
        if isinstance(found, list) and len(found) == 2:
            x, y = found
            if type(x) in (int, float) and type(y) in (int, float):
                return (x, y)
        return (0, 0)

    @property
    def id(self) -> str:
        """n8n's id, empty where there is none."""
        return _text(self.raw.get("id"))

    @property
    def tag(self) -> tuple[str, str] | None:
        """Element and role that its notes name."""
        return tag_of(self.raw.get("notes"))

    @property
    def disabled(self) -> bool:
        """Whether it only passes on what it gets."""
        return self.raw.get("disabled") is True

    @property
    def starts(self) -> bool:
        """Whether it is a trigger."""
        return is_trigger(self.raw) or self.type in _OTHER_STARTS


@dataclass(frozen=True)
class Flow:
    """A workflow of a file."""

    raw: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What it is called."""
        return " ".join(_text(self.raw.get("name")).split())

    @property
    def id(self) -> str:
        """n8n's id as text, empty where there is none."""
        found = self.raw.get("id")
        return str(found) if type(found) in (str, int) else ""

    @cached_property
    def _rows(self) -> list[tuple[int, Mapping[str, Any]]]:
        listed = self.raw.get("nodes")
        rows = listed if isinstance(listed, list) else []
        return [(index, row) for index, row in enumerate(rows) if isinstance(row, Mapping)]

    @cached_property
    def steps(self) -> dict[str, Step]:
        """Steps by name; a name that is there twice gets a number, as n8n itself gives them."""
        found: dict[str, Step] = {}
        for index, row in self._rows:
            if row.get("type") == f"{TYPE_PREFIX}stickyNote":
                continue
            wanted = _text(row.get("name")) or f"Node {index + 1}"
            name, number = wanted, 2
            while name in found:
                name, number = f"{wanted} ({number})", number + 1
            found[name] = Step(name, row)
        return found

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What sticky notes say, but for the map, in the order of the file."""
        said = []
        for _, row in self._rows:
            parameters = row.get("parameters")
            if row.get("type") == f"{TYPE_PREFIX}stickyNote" and isinstance(parameters, Mapping):
                content = _text(parameters.get("content"))
                if MAP_PREFIX not in content:
                    said.append(content.strip())
        return tuple(said)

    @cached_property
    def map(self) -> OrgflowMap:
        """Which node stands for which element."""
        return read_map(self._rows)

    @cached_property
    def wires(self) -> tuple[Wire, ...]:
        """Connections between steps that exist, in the order of the file."""
        found = self.raw.get("connections")
        return tuple(_wires(found, self.steps)) if isinstance(found, Mapping) else ()

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings, empty where they are none."""
        found = self.raw.get("settings")
        return found if isinstance(found, Mapping) else {}

    @property
    def order(self) -> str:
        """`v1`, or empty for n8n's first order of execution, which is what absence means."""
        found = self.settings.get("executionOrder")
        return found if isinstance(found, str) and found != "v0" else ""

    def sound(self) -> dict[str, Any]:
        """The workflow as the machine takes it: without what n8n does not look at, and without an
        id, so that a call of itself is like any other call."""
        connections: dict[str, Any] = {}
        for wire in self.wires:
            if wire.kind != "main":
                continue
            outputs = connections.setdefault(wire.source, {"main": []})["main"]
            while len(outputs) <= wire.output:
                outputs.append([])
            outputs[wire.output].append({"node": wire.target, "type": "main", "index": wire.input})
        nodes = [
            {
                **step.raw,
                "name": step.name,
                "type": step.type,
                "typeVersion": step.version,
                "position": list(step.position),
                "parameters": step.parameters,
                "maxTries": 3,
            }
            for step in self.steps.values()
        ]
        return {"nodes": nodes, "connections": connections, "settings": {"executionOrder": "v1"}}


def flows_of(value: Any) -> tuple[Flow, ...]:
    """Every workflow in a parsed file: at the top, in a list, or in what an API put around."""
    return tuple(Flow(found) for found in _find(value, _DEPTH))


def _find(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if "nodes" in value or "connections" in value:
            yield value
        elif depth:
            for name in _WRAPPERS:
                if name in value:
                    yield from _find(value[name], depth - 1)
    elif isinstance(value, list) and depth:
        for entry in value:
            yield from _find(entry, depth - 1)


_MOST = 1_000
"""More outputs or inputs than any node has: a larger number in a file is not believed."""


def _wires(connections: Mapping[str, Any], steps: Mapping[str, Step]) -> Iterator[Wire]:
    for source, kinds in connections.items():
        if source not in steps or not isinstance(kinds, Mapping):
            continue
        for kind, outputs in kinds.items():
            if not isinstance(outputs, list):
                continue
            for output, ends in enumerate(outputs[:_MOST]):
                for end in ends if isinstance(ends, list) else ():
                    target = end.get("node") if isinstance(end, Mapping) else None
                    slot = end.get("index") if isinstance(end, Mapping) else None
                    slot = 0 if slot is None else slot
                    fits = type(slot) is int and 0 <= slot < _MOST
                    if fits and isinstance(target, str) and target in steps:
                        yield Wire(kind, source, output, target, slot)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
