"""The parser of n8n workflows: irregularities in a file are kept and listed as faults.

Files come from n8n's editor (exports, lists of exports, the clipboard), from its API, from stored
executions, and from people. The parser refuses nothing; each reader decides which faults matter to
it. Places in the file are computed on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from math import inf
from typing import Any, Final, Literal

from orgflow.backends.n8n.format.document import TYPE_PREFIX, is_trigger
from orgflow.backends.n8n.format.identity import (
    OrgflowMap,
    read_map,
    readable_text,
    tag_of,
    words_of,
)
from orgflow.backends.n8n.format.json_values import inside, mapping, number

from orgflow_ir.model.json_source_map import JsonDocument, JsonNode, json_path
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.model.source import SourceLocation

Path = tuple[str | int, ...]

_WRAPPERS: Final = ("workflow", "workflows", "workflowData", "data")
"""Keys that contain workflows: templates and the cloud's export, lists of workflows, executions,
the API's lists. `data` of an execution has other content."""

_DEPTH: Final = 4
_OLD_TRIGGERS: Final = frozenset(
    f"{TYPE_PREFIX}{short}" for short in ("cron", "interval", "start", "emailReadImap")
)
"""Triggers of n8n's own package without a matching name."""

_STICKY_NOTE: Final = f"{TYPE_PREFIX}stickyNote"


class Fault(NamedTuple):
    """An irregularity in a file.

    Attributes:
        kind: `repeated-key` (`name` is the key), `missing` (the key `name`), `wrong-type` (`value`
            is not `name`), `repeated-name` (of the node `name`), `lost-source` and `lost-target` (a
            connection from or to `name`, which is not a node).
        path: its place; for a missing key, the object that should have it.
        value: the actual value.
        wire: the type of the faulty connection; `main` outside connections.
    """

    kind: Literal[
        "repeated-key", "missing", "wrong-type", "repeated-name", "lost-source", "lost-target"
    ]
    path: Path
    name: str
    value: Any = None
    wire: str = "main"


@dataclass(eq=False)
class Node:
    """A node, including sticky notes.

    Attributes:
        place: its index in the file's `nodes`.
        index: its index among the nodes that n8n can run: named, typed, the first of their name and
            not sticky notes; -1 for any other.
        path: its place in the file.
        raw: the object in the file.
        name: its name in the file; `Node 3` for a third node without name.
        key: the name, numbered if an earlier node has it, as n8n numbers copies.
        version: `typeVersion`; if the file has none, the version given to the parser.
        parameters: empty if they are not an object.
    """

    place: int
    index: int
    path: Path
    raw: Mapping[str, Any]
    name: str
    key: str
    version: float
    parameters: Mapping[str, Any]

    @property
    def type(self) -> str:
        """The full type; empty if there is none."""
        return _text_of(self.raw.get("type"))

    @property
    def short(self) -> str:
        """The type within n8n-nodes-base (`if`); empty for other packages."""
        full = self.type
        return full[len(TYPE_PREFIX) :] if full.startswith(TYPE_PREFIX) else ""

    @property
    def versioned(self) -> bool:
        """Whether the file has a version."""
        return bool(number(self.raw.get("typeVersion")))

    @property
    def n8n_id(self) -> str:
        """n8n's id; empty if there is none."""
        return _text_of(self.raw.get("id"))

    @property
    def tag(self) -> tuple[str, str] | None:
        """Element and role in its notes."""
        return tag_of(self.raw.get("notes"))

    @property
    def doc(self) -> str:
        """The notes without orgflow's line."""
        return words_of(self.raw.get("notes"))

    @property
    def sticky(self) -> bool:
        """Whether it is a sticky note."""
        return self.raw.get("type") == _STICKY_NOTE

    @property
    def disabled(self) -> bool:
        """Whether it only passes on the items of its first input."""
        return self.raw.get("disabled") is True

    @property
    def trigger(self) -> bool:
        """Whether it is a trigger, disabled or not."""
        return is_trigger(self.raw) or self.type in _OLD_TRIGGERS

    @property
    def starts(self) -> bool:
        """Whether a run can start here."""
        return self.trigger and not self.disabled

    @property
    def on_error(self) -> str:
        """The node's reaction to an error; empty for n8n's default, to stop."""
        return _text_of(self.raw.get("onError"))

    @property
    def position(self) -> tuple[float, float] | None:
        """Left and top on the canvas."""
        place = self.raw.get("position")
        if not isinstance(place, list) or len(place) != 2:
            return None
        x, y = number(place[0]), number(place[1])
        return (x, y) if x is not None and y is not None else None

    def inside(self, *keys: str) -> Any:
        """A value in the parameters; `None` if there is none."""
        return inside(self.parameters, *keys)


@dataclass(frozen=True, order=True)
class Wire:
    """A connection between two nodes of the workflow, which it names.

    Attributes:
        kind: `main`, or the service of a sub-node for its root (`ai_tool`).
        raw: the end in the file; path: its place.
    """

    kind: str
    source: str
    output: int
    target: str
    input: int
    raw: Any = field(default=None, compare=False)
    path: Path = field(default=(), compare=False)


class WorkflowDocument:
    """A workflow of a file.

    Attributes:
        raw: the object in the file.
        path: its place in the file.
        nodes: every object in `nodes`, in order.
        wires: every connection between two of them, in n8n's reading order.
        lost: invalid connections: source name, type, output and raw end, if present.
        faults: irregularities, in the order of the file.
    """

    def __init__(
        self,
        raw: Mapping[str, Any],
        path: Path = (),
        item: JsonNode | None = None,
        source: JsonDocument | None = None,
        unstated: Callable[[str], float] = lambda _: 1.0,
    ) -> None:
        self.raw, self.path, self._item, self.source = raw, path, item, source
        self.nodes: list[Node] = []
        self.wires: list[Wire] = []
        self.lost: list[list[Any]] = []
        self.faults: list[Fault] = []
        self._report_repeated((), item)
        self._read_nodes(unstated)
        self._read_connections()

    # -- the workflow ----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its name; empty if it has none."""
        return _text_of(self.raw.get("name"))

    @property
    def title(self) -> str:
        """The name on one line."""
        return " ".join(self.name.split())

    @property
    def id(self) -> str:
        """n8n's id as text; empty if there is none."""
        id_value = self.raw.get("id")
        return str(id_value) if type(id_value) in (str, int) else ""

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """The settings; empty if they are not an object."""
        return mapping(self.raw.get("settings"))

    @property
    def order(self) -> str:
        """`v1`, or empty for n8n's first order of execution, the default."""
        order_text = _text_of(self.settings.get("executionOrder"))
        return "" if order_text == "v0" else order_text

    @cached_property
    def map(self) -> OrgflowMap:
        """The mapping from nodes to elements."""
        return read_map((node.place, node.raw) for node in self.nodes if node.sticky)

    @cached_property
    def steps(self) -> dict[str, Node]:
        """Nodes except sticky notes, by key."""
        return {node.key: node for node in self.nodes if not node.sticky}

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Texts of the sticky notes without hidden lines."""
        contents = (_text_of(node.parameters.get("content")) for node in self.nodes if node.sticky)
        return tuple(text for content in contents if (text := readable_text(content)))

    @cached_property
    def targets(self) -> Mapping[str, Mapping[int, tuple[str, ...]]]:
        """The targets of main connections, by node and output."""
        targets_by_source: dict[str, dict[int, tuple[str, ...]]] = {}
        for wire in self.wires:
            if wire.kind == "main":
                outputs = targets_by_source.setdefault(wire.source, {})
                outputs[wire.output] = (*outputs.get(wire.output, ()), wire.target)
        return targets_by_source

    def loc(self, path: Path) -> SourceLocation:
        """The place in the file: that of `path`, or the nearest existing one. The workflow must
        have been parsed from a file."""
        assert self.source is not None
        return self.source.loc(self.source.root.find(path), json_path(path))

    # -- nodes -----------------------------------------------------------------------------------

    def _read_nodes(self, unstated: Callable[[str], float]) -> None:
        path = (*self.path, "nodes")
        if "nodes" not in self.raw:
            self.faults.append(Fault("missing", self.path, "nodes"))
            return
        listed = self.raw["nodes"]
        if not isinstance(listed, list):
            self._report_type(path, listed, "a list")
            return
        names: dict[str, int] = {}
        runnable: set[str] = set()
        for place, raw in enumerate(listed):
            at = (*path, place)
            if not isinstance(raw, Mapping):
                self._report_type(at, raw, "an object")
                continue
            item = self._item.members["nodes"].items[place] if self._item is not None else None
            node = self._read_node(at, place, raw, item, unstated)
            self.nodes.append(node)
            names[node.name] = names.get(node.name, 0) + 1
            if names[node.name] == 2:
                self.faults.append(Fault("repeated-name", at, node.name))
            named = isinstance(raw.get("name"), str) and raw["name"]
            if named and node.type and not node.sticky and node.name not in runnable:
                node.index = len(runnable)
                runnable.add(node.name)
        # Notes give way: a wire that names a step and a note means the step.
        taken: set[str] = set()
        for node in sorted(self.nodes, key=lambda row: row.sticky):
            count = 2
            while node.key in taken:
                node.key, count = f"{node.name} ({count})", count + 1
            taken.add(node.key)

    def _read_node(
        self,
        path: Path,
        place: int,
        raw: Mapping[str, Any],
        item: JsonNode | None,
        unstated: Callable[[str], float],
    ) -> Node:
        self._report_repeated(path[len(self.path) :], item)
        for key in ("name", "type"):
            value = raw.get(key)
            if value is None or value == "":
                self.faults.append(Fault("missing", path, key))
            elif not isinstance(value, str):
                self._report_type((*path, key), value, "a text")
        version, parameters = raw.get("typeVersion"), raw.get("parameters")
        if "parameters" in raw and not isinstance(parameters, Mapping):
            self._report_type((*path, "parameters"), parameters, "an object")
        if "typeVersion" in raw and number(version) is None:
            self._report_type((*path, "typeVersion"), version, "a number")
        if not isinstance(raw.get("disabled"), bool | None):
            self._report_type((*path, "disabled"), raw["disabled"], "true or false")
        name, stated = _text_of(raw.get("name")) or f"Node {place + 1}", number(version)
        return Node(
            place=place,
            index=-1,
            path=path,
            raw=raw,
            name=name,
            key=name,
            version=stated if stated and 0 < stated < inf else unstated(_text_of(raw.get("type"))),
            parameters=mapping(parameters),
        )

    # -- connections -----------------------------------------------------------------------------

    def _read_connections(self) -> None:
        value, path = self.raw.get("connections"), (*self.path, "connections")
        if value is None:
            return
        if not isinstance(value, Mapping):
            self._note_lost(path, value, "an object", [None, None, None, value])
            return
        if self._item is not None:
            self._report_repeated(("connections",), self._item.members["connections"])
        keys = {node.key for node in self.nodes}
        for name, kinds in value.items():
            at = (*path, name)
            if not isinstance(kinds, Mapping):
                self._note_lost(at, kinds, "an object", [name, None, None, kinds])
                continue
            for kind, output, where, end in self._read_ends(at, name, kinds):
                self._read_end(keys, name, kind, output, where, end)

    def _read_ends(
        self, at: Path, name: str, kinds: Mapping[str, Any]
    ) -> Iterator[tuple[str, int, Path, Any]]:
        for kind, outputs in kinds.items():
            if outputs is None:
                continue
            if not isinstance(outputs, list):
                lost = [name, kind, None, outputs]
                self._note_lost((*at, kind), outputs, "a list", lost, kind)
                continue
            for output, ends in enumerate(outputs):
                if ends is None:  # n8n writes it for an output without wires
                    continue
                where = (*at, kind, output)
                if not isinstance(ends, list):
                    self._note_lost(where, ends, "a list", [name, kind, output, ends], kind)
                    continue
                for count, end in enumerate(ends):
                    yield kind, output, (*where, count), end

    def _read_end(
        self, keys: set[str], name: str, kind: str, output: int, where: Path, end: Any
    ) -> None:
        lost = [name, kind, output, end]
        if not isinstance(end, Mapping):
            self._note_lost(where, end, "an object", lost)
            return
        target, index = end.get("node"), end.get("index")
        if not isinstance(target, str):
            self._note_lost((*where, "node"), target, "a text", lost)
            return
        if index is not None and (type(index) is not int or index < 0):
            self._note_lost((*where, "index"), index, "a number of an input", lost)
            return
        if name not in keys or target not in keys:
            source = name not in keys
            kind_of_fault: Literal["lost-source", "lost-target"] = (
                "lost-source" if source else "lost-target"
            )
            self.faults.append(Fault(kind_of_fault, where, name if source else target))
            self.lost.append(lost)
            return
        self.wires.append(Wire(kind, name, output, target, index or 0, end, where))

    # -- faults ----------------------------------------------------------------------------------

    def _report_type(self, path: Path, value: Any, wanted: str, wire: str = "main") -> None:
        self.faults.append(Fault("wrong-type", path, wanted, value, wire))

    def _note_lost(
        self, path: Path, value: Any, wanted: str, lost: list[Any], wire: str = "main"
    ) -> None:
        self._report_type(path, value, wanted, wire)
        self.lost.append(lost)

    def _report_repeated(self, path: Path, item: JsonNode | None) -> None:
        for key in item.repeated if item is not None else ():
            self.faults.append(Fault("repeated-key", (*self.path, *path), key))


# -- workflows in a file -------------------------------------------------------------------------


def workflows_in(
    source: JsonDocument, unstated: Callable[[str], float] = lambda _: 1.0
) -> tuple[WorkflowDocument, ...]:
    """Every workflow of a parsed file, in order: at the top, in a list, or wrapped by an API, an
    export or an execution.

    Args:
        source: the file.
        unstated: the version of a node of this type without a version in the file.
    """
    return tuple(
        WorkflowDocument(item.value, path, item, source, unstated)
        for path, item in _find_workflows((), source.root, _DEPTH)
    )


def workflows_of(value: Any) -> tuple[WorkflowDocument, ...]:
    """Every workflow in a JSON value, as `workflows_in`, without places."""
    return tuple(WorkflowDocument(workflow_value) for workflow_value in _find_values(value, _DEPTH))


def _is_workflow(value: Any) -> bool:
    return isinstance(value, Mapping) and ("nodes" in value or "connections" in value)


def _find_workflows(path: Path, item: JsonNode, depth: int) -> Iterator[tuple[Path, JsonNode]]:
    if _is_workflow(item.value):
        yield path, item
    elif depth:
        for index, entry in enumerate(item.items):
            yield from _find_workflows((*path, index), entry, depth - 1)
        for name in _WRAPPERS:
            if name in item.members:
                yield from _find_workflows((*path, name), item.members[name], depth - 1)


def _find_values(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if _is_workflow(value):
        yield value
    elif isinstance(value, list) and depth:
        for entry in value:
            yield from _find_values(entry, depth - 1)
    elif isinstance(value, Mapping) and depth:
        for name in _WRAPPERS:
            if name in value:
                yield from _find_values(value[name], depth - 1)


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""
