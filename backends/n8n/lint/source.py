"""The workflows of a file, with places: what is well formed of them.

What is not well formed is reported by the frontend (OF05x) and left out here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from orgflow.backends.n8n.format.document import is_trigger, outputs_of, short_type
from orgflow.backends.n8n.lint.known import newest

from orgflow_ir.analysis.control_flow.graph import components
from orgflow_ir.model.json_source_map import JsonDocument, JsonNode, json_path
from orgflow_ir.model.source import SourceLocation

Path = tuple[str | int, ...]

_WRAPPERS: Final = ("workflow", "workflows", "workflowData", "data")
_DEPTH: Final = 4
_OTHER_TRIGGERS: Final = frozenset({"cron", "interval", "start", "emailReadImap"})
_READS: Final = re.compile(r"""\.([A-Za-z_$][\w$]*)|\[\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*\]""")


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A node.

    Attributes:
        index: its place in `Workflow.nodes`; path: its place in the file.
        raw: as it is in the file; parameters: those, or nothing where they are no object.
        short: its type within n8n-nodes-base, empty for other packages.
        version: where the file does not say (`versioned`), the newest, which n8n then takes.
    """

    index: int
    path: Path
    raw: Mapping[str, Any]
    name: str
    short: str
    version: float
    parameters: Mapping[str, Any]

    @property
    def type(self) -> str:
        """The full type; empty where there is none."""
        found = self.raw.get("type")
        return found if isinstance(found, str) else ""

    @property
    def versioned(self) -> bool:
        """Whether the file says the version."""
        return bool(number(self.raw.get("typeVersion")))

    @property
    def disabled(self) -> bool:
        """Whether it only passes its first input on."""
        return self.raw.get("disabled") is True

    @property
    def starts(self) -> bool:
        """Whether a run can start here."""
        return not self.disabled and self.trigger

    @property
    def trigger(self) -> bool:
        """Whether it is a trigger, disabled or not."""
        return is_trigger(self.raw) or self.short in _OTHER_TRIGGERS

    @property
    def on_error(self) -> str:
        """What the node does with an error; empty for n8n's default, to stop."""
        found = self.raw.get("onError")
        return found if isinstance(found, str) else ""

    @property
    def position(self) -> tuple[float, float] | None:
        """Left and top on the canvas."""
        found = self.raw.get("position")
        if not isinstance(found, list) or len(found) != 2:
            return None
        x, y = number(found[0]), number(found[1])
        return (x, y) if x is not None and y is not None else None

    def inside(self, *keys: str) -> Any:
        """A value within the parameters; `None` where there is none."""
        return inside(self.parameters, *keys)

    @property
    def regular_outputs(self) -> int | None:
        """How many outputs it has without the error output; `None` where that is not known."""
        return outputs_of({k: v for k, v in self.raw.items() if k != "onError"})


@dataclass(frozen=True, slots=True)
class Wire:
    """A connection on `main` between two nodes of the workflow, by their indexes."""

    source: int
    output: int
    target: int
    slot: int
    path: Path


@dataclass(frozen=True)
class Workflow:
    """A workflow of a file.

    Attributes:
        nodes: those that have a name and a type, without sticky notes, the first of equal names.
        notes: how many nodes were left out.
        other: connections of another kind than `main`: kind, the node that serves, the one served.
    """

    document: JsonDocument
    path: Path
    raw: Mapping[str, Any]
    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]
    other: tuple[tuple[str, int, int, Path], ...]

    @property
    def name(self) -> str:
        """What it is called."""
        found = self.raw.get("name")
        return found if isinstance(found, str) and found.strip() else "workflow"

    @property
    def id(self) -> str:
        """n8n's id of it; empty where there is none."""
        found = self.raw.get("id")
        return str(found) if type(found) in (str, int) else ""

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """Its settings."""
        found = self.raw.get("settings")
        return found if isinstance(found, Mapping) else {}

    @property
    def ordered(self) -> bool:
        """Whether it runs in the order v1."""
        return self.settings.get("executionOrder") == "v1"

    @cached_property
    def by_name(self) -> Mapping[str, Node]:
        """Nodes by name."""
        return {n.name: n for n in self.nodes}

    @cached_property
    def out(self) -> tuple[tuple[Wire, ...], ...]:
        """The wires that leave each node."""
        found: list[list[Wire]] = [[] for _ in self.nodes]
        for wire in self.wires:
            found[wire.source].append(wire)
        return tuple(map(tuple, found))

    @cached_property
    def into(self) -> tuple[tuple[Wire, ...], ...]:
        """The wires that enter each node."""
        found: list[list[Wire]] = [[] for _ in self.nodes]
        for wire in self.wires:
            found[wire.target].append(wire)
        return tuple(map(tuple, found))

    @cached_property
    def serving(self) -> frozenset[int]:
        """Nodes that only serve others (a model, a tool, a memory)."""
        steps = {w.source for w in self.wires} | {w.target for w in self.wires}
        return frozenset(source for _, source, _, _ in self.other) - steps

    @cached_property
    def live(self) -> frozenset[int]:
        """Nodes that some trigger leads to."""
        return self.reach([n.index for n in self.nodes if n.starts])

    def reach(self, starts: list[int], avoiding: frozenset[int] = frozenset()) -> frozenset[int]:
        """Nodes that wires lead to from `starts`, these included."""
        found = {s for s in starts if s not in avoiding}
        todo = sorted(found)
        while todo:
            for wire in self.out[todo.pop()]:
                if wire.target not in found and wire.target not in avoiding:
                    found.add(wire.target)
                    todo.append(wire.target)
        return frozenset(found)

    def after(self, index: int, avoiding: frozenset[int] = frozenset()) -> frozenset[int]:
        """Nodes that wires lead to from behind a node; itself where it is on a cycle."""
        return self.reach([w.target for w in self.out[index]], avoiding)

    @cached_property
    def cyclic(self) -> frozenset[int]:
        """Nodes on a cycle of wires."""
        follow = {str(n.index): [str(w.target) for w in self.out[n.index]] for n in self.nodes}
        found = components(follow)
        size = Counter(found.values())
        return frozenset(int(n) for n, one in found.items() if size[one] > 1 or n in follow[n])

    def loc(self, path: Path) -> SourceLocation:
        """Where something stands in the file: `path`, or the nearest there is."""
        return self.document.loc(self.document.root.find(path), json_path(path))


def inside(value: Any, *keys: str) -> Any:
    """A value some keys down; `None` where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def number(value: Any) -> float | None:
    """A number of JSON; `None` for anything else, true and false included."""
    return float(value) if type(value) in (int, float) else None


def rows(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; nothing of anything else."""
    return [r for r in value if isinstance(r, Mapping)] if isinstance(value, list) else []


def texts(value: Any) -> Iterator[tuple[Path, str]]:
    """Every text in a value with its path, in order, without recursion."""
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, str):
            yield path, one
        elif isinstance(one, dict):
            waiting.extend(((*path, key), one[key]) for key in reversed(one))
        elif isinstance(one, list):
            last = len(one) - 1
            waiting.extend(((*path, last - at), item) for at, item in enumerate(reversed(one)))


def field_after(text: str, at: int) -> str | None:
    """The field that an access at `at` reads: `x` of `.x` and of `["x"]`."""
    if text.startswith("?.", at):
        at += 2 if text.startswith("?.[", at) else 1
    match = _READS.match(text, at)
    if match is None:
        return None
    return next(part for part in match.groups() if part is not None)


def workflows(document: JsonDocument) -> tuple[Workflow, ...]:
    """Every workflow of a file, in order."""
    return tuple(_workflow(document, path, item) for path, item in _find((), document.root, _DEPTH))


def _find(path: Path, item: JsonNode, depth: int) -> Iterator[tuple[Path, JsonNode]]:
    if isinstance(item.value, dict) and ("nodes" in item.value or "connections" in item.value):
        yield path, item
    elif isinstance(item.value, list) and depth:
        for index, entry in enumerate(item.items):
            yield from _find((*path, index), entry, depth - 1)
    elif isinstance(item.value, dict) and depth:
        for name in _WRAPPERS:
            if name in item.members:
                yield from _find((*path, name), item.members[name], depth - 1)


def _workflow(document: JsonDocument, path: Path, item: JsonNode) -> Workflow:
    nodes: list[Node] = []
    taken: set[str] = set()
    listed = item.value.get("nodes")
    for place, raw in enumerate(listed if isinstance(listed, list) else ()):
        node = _node(raw, len(nodes), (*path, "nodes", place))
        if node is not None and node.name not in taken:
            taken.add(node.name)
            nodes.append(node)
    by_name = {n.name: n.index for n in nodes}
    wires: list[Wire] = []
    other: list[tuple[str, int, int, Path]] = []
    for kind, source, output, target, slot, where in _ends(item.value, (*path, "connections")):
        if source not in by_name or target not in by_name:
            continue
        if kind == "main":
            wires.append(Wire(by_name[source], output, by_name[target], slot, where))
        else:
            other.append((kind, by_name[source], by_name[target], where))
    return Workflow(document, path, item.value, tuple(nodes), tuple(wires), tuple(other))


def _node(raw: Any, index: int, path: Path) -> Node | None:
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str) or not raw["name"]:
        return None
    full = raw.get("type")
    short = short_type(raw) or ""
    if not isinstance(full, str) or not full or short == "stickyNote":
        return None
    version, parameters = number(raw.get("typeVersion")), raw.get("parameters")
    return Node(
        index=index,
        path=path,
        raw=raw,
        name=raw["name"],
        short=short,
        version=version if version is not None and 0 < version < 1e9 else newest(full),
        parameters=parameters if isinstance(parameters, dict) else {},
    )


def _ends(
    workflow: Mapping[str, Any], path: Path
) -> Iterator[tuple[str, str, int, str, int, Path]]:
    connections = workflow.get("connections")
    for source, kinds in connections.items() if isinstance(connections, dict) else ():
        for kind, outputs in kinds.items() if isinstance(kinds, dict) else ():
            for output, ends in enumerate(outputs if isinstance(outputs, list) else ()):
                for place, end in enumerate(ends if isinstance(ends, list) else ()):
                    target, slot = inside(end, "node"), inside(end, "index")
                    slot = 0 if slot is None else slot
                    if isinstance(target, str) and type(slot) is int and slot >= 0:
                        where = (*path, source, kind, output, place)
                        yield kind, source, output, target, slot, where
