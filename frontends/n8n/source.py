"""A workflow as it lies in the file: its nodes and connections, checked, with their places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from orgflow.frontends.n8n.catalogue import known_short, split_type
from orgflow.frontends.n8n.identity import OrgflowMap, read_map, words_of
from orgflow.frontends.n8n.opening import Found, Path
from orgflow.frontends.n8n.rules import (
    LostConnection,
    MissingWorkflowKey,
    RepeatedNodeName,
    UnreadableMap,
    WrongWorkflowValue,
)

from orgflow_ir.diagnostics import Rule, Severity
from orgflow_ir.model.json_source_map import JsonDocument, JsonNode, json_path
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.pipeline import PassContext

_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false",
          int: "a number", float: "a number", type(None): "null"}  # fmt: skip
_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    "parameters": ("an object", (dict,)),
    "typeVersion": ("a number", (int, float)),
    "disabled": ("true or false", (bool, type(None))),
}


@dataclass
class SourceNode:
    """A node: `short` is its type without the package, empty for packages not known."""

    index: int
    path: Path
    raw: Mapping[str, Any]
    loc: SourceLocation
    name: str
    short: str
    version: float
    parameters: Mapping[str, Any]
    id: str = ""

    @property
    def type(self) -> str:
        """The full type; empty where there is none."""
        found = self.raw.get("type")
        return found if isinstance(found, str) else ""

    @property
    def disabled(self) -> bool:
        """Whether it only passes its first input on."""
        return self.raw.get("disabled") is True

    @property
    def position(self) -> tuple[float, float] | None:
        """Left and top on the canvas."""
        found = self.raw.get("position")
        if isinstance(found, Mapping):  # as very old exports have it
            found = [found.get("x"), found.get("y")]
        if not isinstance(found, list) or len(found) != 2:
            return None
        x, y = found
        if isinstance(x, int | float) and isinstance(y, int | float) and abs(x) + abs(y) < 1e9:
            return float(x), float(y)
        return None

    @property
    def doc(self) -> str:
        """The node's notes."""
        return words_of(self.raw.get("notes"))


@dataclass
class Wire:
    """A connection: `raw` is its end as the file has it, `path` where it is."""

    kind: str
    source: SourceNode
    output: int
    target: SourceNode
    input: int
    raw: Any
    path: Path


@dataclass
class SourceWorkflow:
    """A workflow; `lost` are connections that are none: source name, kind, output and raw end."""

    path: Path
    item: JsonNode
    raw: Mapping[str, Any]
    loc: SourceLocation
    nodes: list[SourceNode] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    lost: list[list[Any]] = field(default_factory=list)
    map: OrgflowMap = field(default_factory=OrgflowMap)

    @property
    def name(self) -> str:
        """What it is called."""
        found = self.raw.get("name")
        return found if isinstance(found, str) else ""


class Opener:
    """Reads workflows of one document; every finding names the JSON path."""

    def __init__(self, document: JsonDocument, ctx: PassContext) -> None:
        self.document, self.ctx = document, ctx

    def workflow(self, found: Found) -> SourceWorkflow:
        """What is there; whatever is wrong is reported and kept as far as it goes."""
        path, item = found
        flow = SourceWorkflow(path, item, item.value, self.loc(path, item))
        self._repeated(path, item)
        self._nodes(flow)
        self._connections(flow)
        flow.map = read_map((n.index, n.raw) for n in flow.nodes if n.short == "stickyNote")
        for index in flow.map.broken:
            node = next(n for n in flow.nodes if n.index == index)
            self.report(
                UnreadableMap,
                f"the map in the note `{node.name}` cannot be read",
                node.path,
                "delete the note, or compile the model again",
            )
        return flow

    def loc(self, path: Path, item: JsonNode) -> SourceLocation:
        """Where a value stands."""
        return self.document.loc(item, json_path(path))

    def report(
        self,
        rule: type[Rule],
        message: str,
        path: Path,
        help: str,
        element: str | None = None,
        severity: Severity | None = None,
    ) -> None:
        """Tell of a fault at a JSON path."""
        loc = self.loc(path, self.document.root.find(path))
        self.ctx.emit(rule, message, loc=loc, help=help, element=element, severity=severity)

    def _wrong(self, path: Path, value: Any, wanted: str, kind: str = "main") -> None:
        """A value of the wrong type; in a connection of a `kind` that n8n does not know, n8n does
        not look at it (N8N.md, "refused nowhere")."""
        unread = kind != "main" and not kind.startswith("ai_")
        self.report(
            WrongWorkflowValue,
            f"{json_path(path)} is {_KINDS[type(value)]}, not {wanted}"
            + (f", and n8n has no connections of the type `{kind}`" if unread else ""),
            path,
            f"write {wanted}",
            severity=Severity.WARNING if unread else None,
        )

    def _repeated(self, path: Path, item: JsonNode) -> None:
        for name in item.repeated:
            self.report(
                WrongWorkflowValue,
                f"{json_path(path)} has the key `{name}` more than once; only the last one counts",
                path,
                "keep one of them",
            )

    # -- nodes ---------------------------------------------------------------------------------

    def _nodes(self, flow: SourceWorkflow) -> None:
        path = (*flow.path, "nodes")
        listed = flow.item.members.get("nodes")
        if listed is None:
            self.report(
                MissingWorkflowKey,
                f"{json_path(flow.path)} has connections and no `nodes`",
                flow.path,
                "export the workflow again",
            )
            return
        if not isinstance(listed.value, list):
            self._wrong(path, listed.value, "a list")
            return
        seen: Counter[str] = Counter()
        for index, item in enumerate(listed.items):
            if not isinstance(item.value, dict):
                self._wrong((*path, index), item.value, "an object")
                continue
            node = self._node((*path, index), index, item)
            flow.nodes.append(node)
            seen[node.name] += 1
            if seen[node.name] == 2:
                self.report(
                    RepeatedNodeName,
                    f"more than one node is called `{node.name}`",
                    (*path, index),
                    "give them names that differ; connections are taken to mean the first",
                )

    def _node(self, path: Path, index: int, item: JsonNode) -> SourceNode:
        raw = item.value
        self._repeated(path, item)
        name = self._word(path, raw, "name") or f"Node {index + 1}"
        full = self._word(path, raw, "type") or ""
        for key, (wanted, types) in _TYPES.items():
            value = raw.get(key)
            if key in raw and (type(value) not in types):
                self._wrong((*path, key), value, wanted)
        parameters = raw.get("parameters")
        version = raw.get("typeVersion")
        return SourceNode(
            index=index,
            path=path,
            raw=raw,
            loc=self.loc(path, item),
            name=name,
            short=known_short(full),
            version=float(version) if type(version) in (int, float) and version < 1e9 else 1.0,
            parameters=parameters if isinstance(parameters, dict) else {},
        )

    def _word(self, path: Path, raw: Mapping[str, Any], key: str) -> str | None:
        value = raw.get(key)
        if isinstance(value, str) and value:
            return value
        if value is None or value == "":
            self.report(
                MissingWorkflowKey, f"{json_path(path)} has no `{key}`", path, "give it one"
            )
        else:
            self._wrong((*path, key), value, "a text")
        return None

    # -- connections ---------------------------------------------------------------------------

    def _connections(self, flow: SourceWorkflow) -> None:
        path: Path = (*flow.path, "connections")
        value = flow.raw.get("connections")
        if value is None:
            return
        if not isinstance(value, dict):
            self._wrong(path, value, "an object")
            flow.lost.append([None, None, None, value])
            return
        self._repeated(path, flow.item.members["connections"])
        nodes: dict[str, SourceNode] = {}
        for node in flow.nodes:
            nodes.setdefault(node.name, node)
        for name, kinds in value.items():
            at = (*path, name)
            if not isinstance(kinds, dict):
                self._wrong(at, kinds, "an object")
                flow.lost.append([name, None, None, kinds])
                continue
            for kind, output, where, end in self._ends(at, name, kinds, flow):
                self._wire(flow, nodes, name, kind, output, where, end)

    def _ends(
        self, at: Path, name: str, kinds: Mapping[str, Any], flow: SourceWorkflow
    ) -> Iterator[tuple[str, int, Path, Any]]:
        for kind, outputs in kinds.items():
            if outputs is None:
                continue
            if not isinstance(outputs, list):
                self._wrong((*at, kind), outputs, "a list", kind)
                flow.lost.append([name, kind, None, outputs])
                continue
            for output, ends in enumerate(outputs):
                if ends is None:  # n8n writes it for an output without wires
                    continue
                where = (*at, kind, output)
                if not isinstance(ends, list):
                    self._wrong(where, ends, "a list", kind)
                    flow.lost.append([name, kind, output, ends])
                    continue
                for number, end in enumerate(ends):
                    yield kind, output, (*where, number), end

    def _wire(
        self,
        flow: SourceWorkflow,
        nodes: Mapping[str, SourceNode],
        name: str,
        kind: str,
        output: int,
        where: Path,
        end: Any,
    ) -> None:
        lost = [name, kind, output, end]
        if not isinstance(end, dict):
            self._wrong(where, end, "an object")
            flow.lost.append(lost)
            return
        target = end.get("node")
        if not isinstance(target, str):
            self._wrong((*where, "node"), target, "a text")
            flow.lost.append(lost)
            return
        index = end.get("index", 0)
        if index is not None and (type(index) is not int or index < 0):
            self._wrong((*where, "index"), index, "a number of an input")
            flow.lost.append(lost)
            return
        for missing, which in ((name, "from"), (target, "to")):
            if missing not in nodes:
                self.report(
                    LostConnection,
                    f"a connection leads {which} `{missing}`, which the workflow does not have",
                    where,
                    "name a node of the workflow, or remove the connection",
                )
                flow.lost.append(lost)
                return
        flow.wires.append(Wire(kind, nodes[name], output, nodes[target], index or 0, end, where))


def package_of(node: SourceNode) -> str:
    """The package a node's type is from."""
    return split_type(node.type)[0]
