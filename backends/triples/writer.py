"""A process as the lines of a procedural graph."""

from __future__ import annotations

from typing import assert_never

from orgflow.backends.triples.format import (
    DEFAULT_MARK,
    GATEWAY_WORDS,
    OTHERWISE,
    clean_text,
    condition_text,
    plain_text,
    sentence_numbers,
)

from orgflow_ir.model import (
    CallActivity,
    Event,
    Flow,
    Gateway,
    Node,
    Opaque,
    Process,
    SubProcess,
    Task,
)

_LETTERS = {"exclusive": "X", "parallel": "A", "inclusive": "O"}


class GraphText:
    """The lines of one process.

    Attributes:
        names: the name of each node in the lines, by id.
        changed: labels that had to be changed for the lines.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._counts: dict[str, int] = {}
        self._extra: list[str] = []
        self.names: dict[str, str] = {}
        self.changed: list[str] = []
        self._actors = {m: lane.name for lane in process.lanes for m in lane.members}

    def text(self) -> str:
        """Steps and gateways with their names, then flows, then data and notes."""
        declared = [line for node in self._process.nodes if (line := self._declare_node(node))]
        flows = [line for node in self._process.nodes for line in self._write_flows(node)]
        rest = [*self._write_data(), *self._write_notes()]
        return "\n".join([*declared, *self._extra, *flows, *rest, ""])

    def _next_name(self, letter: str) -> str:
        self._counts[letter] = self._counts.get(letter, 0) + 1
        return f"{letter}{self._counts[letter]}"

    def _keep_label(self, text: str, *, condition: bool = False) -> str:
        """A label as the lines can have it; noted where that is another one."""
        plain = condition_text(text) if condition else plain_text(text)
        if plain != " ".join(text.split()):
            self.changed.append(text)
        return plain

    def _declare_node(self, node: Node) -> str:
        match node:
            case Gateway():
                letter = _LETTERS[node.gateway_kind]
            case Event():
                letter = {"start": "Start", "end": "End"}.get(node.position, "X")
            case Task():
                letter = "T"
            case Opaque():  # harmless, or it would have been refused
                return ""
            case CallActivity() | SubProcess():
                raise AssertionError(f"{node.construct} is not supported here")
            case _:
                assert_never(node)
        name = self.names[node.id] = self._next_name(letter)
        label = self._keep_label(node.caption if isinstance(node, Task) else node.name)
        if isinstance(node, Gateway | Event) and label.lower() in GATEWAY_WORDS:
            self.changed.append(label)
            label = ""
        if isinstance(node, Task) and not label:
            label = name
        actor = self._keep_label(self._actors.get(node.id, ""))
        if sentence_numbers(actor) or actor in ("-", "–", "none", "None"):
            actor = f"{actor} (actor)"
            self.changed.append(actor)
        if label or actor:
            kind = "gateway" if isinstance(node, Gateway) or letter == "X" else ""
            return f"{name} {label or kind}".rstrip() + (f" | {actor}" if actor else "")
        return ""

    def _write_flows(self, node: Node) -> list[str]:
        out = [flow for flow in self._process.flows if flow.source == node.id]
        if node.id not in self.names:
            return []
        source = self.names[node.id]
        lines = []
        if not isinstance(node, Gateway) and len(out) > 1 and any(map(_flow_label, out)):
            # Behind a step a condition would make it a decision.
            split = self._next_name("A")
            lines.append(f"{source} -> {split}")
            source = split
        for flow in out:
            if flow.target not in self.names:
                continue
            label = self._keep_label(_flow_label(flow), condition=True)
            arrow = f"-({label})->" if label else "->"
            lines.append(f"{source} {arrow} {self.names[flow.target]}")
        return lines

    def _write_data(self) -> list[str]:
        objects = {d.id: d for d in self._process.data_objects}
        lines = []
        for link in self._process.data_flows:
            ends = []
            for end in (link.source, link.target):
                if end in objects:
                    label = condition_text(objects[end].caption)
                    ends.append(f"DataObject({label})" if label else "")
                else:
                    ends.append(self.names.get(end, ""))
            if all(ends) and any(end.startswith("DataObject") for end in ends):
                lines.append(f"{ends[0]} -> {ends[1]}")
        return lines

    def _write_notes(self) -> list[str]:
        texts = {a.id: clean_text(condition_text(a.text or "")) for a in self._process.artifacts}
        lines = []
        for link in self._process.artifacts:
            if link.artifact_kind != "association":
                continue
            for note, node in ((link.source, link.target), (link.target, link.source)):
                if texts.get(note or "") and node in self.names:
                    lines.append(f"TextAnnotation({texts[note or '']}) -> {self.names[node]}")
        return lines


def _flow_label(flow: Flow) -> str:
    condition = flow.condition.text if flow.condition is not None else ""
    label = flow.name or condition
    return f"{label or OTHERWISE} {DEFAULT_MARK}" if flow.default else label
