"""A model as the text of a Mermaid flowchart; labels cannot be read as syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import assert_never

from orgflow_ir.model import (
    Artifact,
    CallActivity,
    DataObject,
    Event,
    Gateway,
    Lane,
    Model,
    Node,
    Opaque,
    Pool,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.lanes import outermost_first

_PLAIN = re.compile(r"[^\w .,?!'()/+\-=äöüÄÖÜß]|_(?=_)")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SIGNS = {"exclusive": "×", "parallel": "+", "inclusive": "○", "event": "⬠", "complex": "✳"}
_SHAPES = {
    "task": ("[", "]"), "call": ("[[", "]]"), "start": ("((", "))"), "end": ("(((", ")))"),
    "event": ("([", "])"), "gateway": ("{", "}"), "data": ("[/", "/]"), "store": ("[(", ")]"),
    "note": (">", "]"), "box": ("[", "]"),
}  # fmt: skip
_INDENT = "  "
_MOST_LINKS = 500
_MOST_TEXT = 50_000
"""The default limits of Mermaid 11."""


def write_flowchart(model: Model, direction: str = "LR") -> str:
    """The whole model; `direction` is `LR` or `TB`.

    Mermaid refuses charts beyond its `maxEdges` and `maxTextSize`, which only the page that shows
    them can raise; such charts begin with a comment that states this.
    """
    return Chart(model, direction).text()


def too_large(text: str) -> tuple[str, ...]:
    """The settings of Mermaid to be raised for a chart, with their defaults."""
    lines = text.splitlines()
    return tuple(f"{name} ({most:,})" for name, most in _needed_limits(lines))


def _needed_limits(lines: list[str]) -> list[tuple[str, int]]:
    links = sum(" --> " in line or " -.-" in line or " -->|" in line for line in lines)
    size = sum(map(len, lines)) + len(lines)
    return [(name, most) for name, most, needed in (
        ("maxEdges", _MOST_LINKS, links), ("maxTextSize", _MOST_TEXT, size + 100),
    ) if needed > most]  # fmt: skip


def quote_label(text: str) -> str:
    """A quoted label: white space folded, all characters except letters, digits and harmless signs
    as Mermaid's entity codes, so that no quote, tag, comment or directive remains."""
    text = _FORBIDDEN.sub("\ufffd", " ".join(text.split())) or " "
    return '"' + _PLAIN.sub(lambda m: f"#{ord(m.group())};", text) + '"'


class Chart:
    """One chart. After its text is made, `names` contains the name of each element that is a node
    or subgraph, `linked` the element of each link, in order."""

    def __init__(self, model: Model, direction: str) -> None:
        self.model = model
        self.direction = direction
        self.names: dict[str, str] = {}
        self.linked: list[str] = []
        self.styled: dict[str, list[str]] = {}
        self.references: dict[str, str] = {}
        """The first reference to each data object that has one: those stand for it."""
        for scope in model.scopes():
            for value in scope.data_objects:
                if value.ref is not None and value.data_kind == "reference":
                    self.references.setdefault(value.ref, value.id)

    def text(self) -> str:
        """See `write_flowchart`."""
        lines = list(self.lines())
        limits = [f"{name} above {most}" for name, most in _needed_limits(lines)]
        if limits:
            lines.insert(1, f"{_INDENT}%% large: to draw it, mermaid.initialize needs "
                            + " and ".join(limits))  # fmt: skip
        return "\n".join(lines) + "\n"

    def name(self, element: str) -> str:
        """`n1`, `n2` …, since ids of the model may be words or signs of Mermaid."""
        return self.names.setdefault(element, f"n{len(self.names) + 1}")

    def lines(self) -> Iterator[str]:
        """The text, line by line."""
        yield f"flowchart {self.direction}"
        model = self.model
        processes = {p.id: p for p in model.processes}
        drawn: set[str] = set()
        for pool in model.pools:
            process = processes.get(pool.process or "")
            if process is None or process.id in drawn:
                yield f"{_INDENT}{self._write_node(pool.id, pool.caption, 'box')}"
                continue
            drawn.add(process.id)
            yield from self._write_group(pool, list(self._write_scope(process, 2)), 1)
        for process in model.processes:
            if process.id not in drawn:
                yield from self._write_scope(process, 1)
        for thing in model.artifacts:
            if thing.artifact_kind != "association":
                yield _INDENT + self._write_note(thing)
        for data, reference in self.references.items():
            if reference in self.names:
                self.names.setdefault(data, self.names[reference])
        yield from self._write_links()
        yield from (
            "  classDef event fill:none",
            "  classDef note fill:none,stroke-dasharray:2",
        )
        for kind, names in sorted(self.styled.items()):
            yield f"{_INDENT}class {','.join(names)} {kind}"

    def _write_group(
        self, owner: Pool | Lane | SubProcess, inside: list[str], depth: int
    ) -> list[str]:
        pad = _INDENT * depth
        if not inside:
            return [f"{pad}{self._write_node(owner.id, owner.caption, 'box')}"]
        head = f"{pad}subgraph {self.name(owner.id)} [{quote_label(owner.caption)}]"
        return [head, f"{pad}{_INDENT}direction {self.direction}", *inside, f"{pad}end"]

    def _write_scope(self, scope: Scope, depth: int) -> Iterator[str]:
        home: dict[str, str] = {}
        lanes = {lane.id: lane for lane in outermost_first(scope.lanes)}
        for lane in lanes.values():  # inner lanes come after the lanes around them
            home.update(dict.fromkeys(lane.members, lane.id))
        inside: dict[str | None, list[Node]] = {}
        for node in scope.nodes:
            where = home.get(node.id)
            if where is None and isinstance(node, Event) and node.attached_to:
                where = home.get(node.attached_to)
            inside.setdefault(where, []).append(node)

        def in_lane(lane: Lane, level: int) -> list[str]:
            content: list[str] = []
            for other in lanes.values():
                if other.parent == lane.id:
                    content += in_lane(other, level + 1)
            for node in inside.get(lane.id, ()):
                content += self._in_scope(node, level + 1)
            return self._write_group(lane, content, level)

        for lane in lanes.values():
            if lane.parent not in lanes:
                yield from in_lane(lane, depth)
        for node in inside.get(None, ()):
            yield from self._in_scope(node, depth)
        for value in scope.data_objects:
            if value.data_kind == "object" and value.id in self.references:
                continue
            yield _INDENT * depth + self._write_data(value)
        for thing in scope.artifacts:
            if thing.artifact_kind != "association":
                yield _INDENT * depth + self._write_note(thing)

    def _in_scope(self, node: Node, depth: int) -> list[str]:
        if isinstance(node, SubProcess) and node.nodes:
            return self._write_group(node, list(self._write_scope(node, depth + 1)), depth)
        return [_INDENT * depth + self._flow_node(node)]

    def _flow_node(self, node: Node) -> str:
        label = node.caption if node.name.strip() else ""
        match node:
            case Event():
                trigger = "" if node.trigger == "none" else node.trigger
                kind = node.position if node.position in ("start", "end") else "event"
                self.styled.setdefault("event", []).append(self.name(node.id))
                return self._write_node(node.id, label or trigger or node.position, kind)
            case Gateway():
                sign = _SIGNS[node.gateway_kind]
                return self._write_node(node.id, f"{sign} {label}".strip(), "gateway")
            case CallActivity():
                return self._write_node(node.id, node.caption, "call")
            case Task() | SubProcess() | Opaque():
                return self._write_node(node.id, node.caption, "task")
            case _:
                assert_never(node)

    def _write_data(self, value: DataObject) -> str:
        kind = "store" if value.data_kind.startswith("store") else "data"
        return self._write_node(value.id, value.caption, kind)

    def _write_note(self, value: Artifact) -> str:
        self.styled.setdefault("note", []).append(self.name(value.id))
        return self._write_node(value.id, value.text or value.caption, "note")

    def _write_node(self, element: str, label: str, kind: str) -> str:
        opening, closing = _SHAPES[kind]
        return f"{self.name(element)}{opening}{quote_label(label or ' ')}{closing}"

    def _write_links(self) -> Iterator[str]:
        for scope in self.model.scopes():
            for node in scope.nodes:
                if isinstance(node, Event) and node.attached_to:
                    yield from self._write_link(node.id, node.attached_to, node.id, "-.-")
            for flow in scope.flows:
                label = flow.name or (flow.condition.text if flow.condition else "")
                if flow.default:
                    label = f"{label} (default)".strip()
                yield from self._write_link(flow.id, flow.source, flow.target, "-->", label)
            for data in scope.data_flows:
                yield from self._write_link(data.id, data.source, data.target, "-.->", data.name)
            yield from self._write_associations(scope.artifacts)
        yield from self._write_associations(self.model.artifacts)
        for message in self.model.message_flows:
            ends = message.source, message.target
            yield from self._write_link(message.id, *ends, "-.->", message.name)

    def _write_associations(self, artifacts: tuple[Artifact, ...]) -> Iterator[str]:
        for thing in artifacts:
            if thing.artifact_kind == "association":
                arrow = "-.->" if thing.direction == "one" else "-.-"
                yield from self._write_link(thing.id, thing.source or "", thing.target or "", arrow)

    def _write_link(
        self, element: str, source: str, target: str, arrow: str, label: str = ""
    ) -> Iterator[str]:
        """A link; one that ends at nothing drawn (a flow, say) is left out."""
        if source in self.names and target in self.names:
            self.linked.append(element)
            text = f"|{quote_label(label)}|" if label.strip() else ""
            yield f"{_INDENT}{self.names[source]} {arrow}{text} {self.names[target]}"
