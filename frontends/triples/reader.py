"""Reads the lines of a procedural graph: what is on each, whatever numbering, bullets, quotes and
fences stand around it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from orgflow.backends.triples.format import (
    ARROW,
    GATEWAY_WORDS,
    clean,
    sentence_numbers,
)

MAX_LINES = 20_000


@dataclass
class GraphNode:
    """A node by its key; `kind` is `start`, `end`, `task`, `exclusive`, `parallel`, `inclusive`,
    `data` or `note`."""

    key: str
    kind: str
    name: str = ""
    actor: str = ""
    sentences: tuple[int, ...] = ()
    line: int = 0


class GraphFlow(NamedTuple):
    """A flow between keys, with its condition."""

    source: str
    target: str
    label: str = ""
    line: int = 0


@dataclass
class Graph:
    """What was read; `unread` are numbers of lines that are nothing of it."""

    nodes: dict[str, GraphNode] = field(default_factory=dict)
    flows: list[GraphFlow] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)


_LABEL = re.compile(
    r"^\((?P<a>[^()]*(?:\([^()]*\)[^()]*)*)\)\s*|^\[(?P<b>[^\]]*)\]\s*|^\|(?P<c>[^|]*)\|\s*"
)
_BRACKETED = re.compile(r"\((?P<a>[^()]+)\)|\[(?P<b>[^\[\]]+)\]")
_BULLET = re.compile(r"^\s*(?:[-*+•]\s+|\(?\d{1,4}[.)]\s+|>\s+)+")
_GATEWAY = re.compile(
    r"(?P<kind>XOR|X|AND|A|P|PAR|OR|O|I)[ _-]?\d+(?:[ _-]?(?:split|join|merge|start|end))?", re.I
)
_EVENT = re.compile(r"(?P<kind>start|begin|end|stop|finish|s|e)[ _-]?\d*", re.I)
_CONSTRAINT = re.compile(
    r"(?P<kind>DataObject|Data|TextAnnotation|Annotation|Note)\s*\((?P<text>.*)\)", re.I
)
_ACTOR = re.compile(r"^(?:for\s+(?:the\s+)?|actor\s*:\s*)(?P<name>[^:>|]{1,80}?)\s*:?\s*$", re.I)
_DECLARED = re.compile(r"^(?P<id>[A-Za-z]{1,6}[_-]?\d{1,4})\s*[:.=)]?\s+(?P<rest>\S.*)$")
_KINDS = {
    "XOR": "exclusive", "X": "exclusive", "AND": "parallel", "A": "parallel", "P": "parallel",
    "PAR": "parallel", "OR": "inclusive", "O": "inclusive", "I": "inclusive",
}  # fmt: skip


def read_graph(text: str) -> Graph:
    """The graph in a text. Raises nothing: what is not understood is `unread`."""
    reader = _Reader()
    for number, line in enumerate(text.splitlines()[:MAX_LINES], 1):
        reader.line(number, line)
    return reader.graph


class _Reader:
    def __init__(self) -> None:
        self.graph = Graph()
        self._actor = ""

    def line(self, number: int, text: str) -> None:
        """Read one line."""
        plain = clean(_BULLET.sub("", text))
        if not plain or plain.startswith(("```", "~~~", "#", "//", "%%")):
            return
        if ARROW.search(plain):
            if not self._flows(number, plain):
                self.graph.unread.append(number)
            return
        actor = _ACTOR.match(plain)
        if actor is not None:
            self._actor = clean(actor["name"])
            return
        declared = _DECLARED.match(plain)
        if declared is not None:
            self._declared(number, declared["id"], declared["rest"])
            return
        if not _EVENT.fullmatch(plain):
            self.graph.unread.append(number)

    def _declared(self, number: int, id: str, rest: str) -> None:
        """`T1 name | actor | s1,s2`: the order of the parts behind the name is free."""
        name, *parts = (clean(part) for part in rest.split("|"))
        node = self._node(id, number)
        node.line = node.line or number
        if node.kind in ("start", "end", "task") or name.lower() not in GATEWAY_WORDS:
            node.name = name
        for part in parts:
            if not part or part in ("-", "–", "none", "None"):
                continue
            found = sentence_numbers(part)
            if found:
                node.sentences = found
            elif not node.actor:
                node.actor = part

    def _flows(self, number: int, text: str) -> bool:
        """`A -> B`, `A -(label)-> B`, `A -> (label) B`, also several in a row."""
        parts: list[str] = []
        labels: list[str] = []
        at = 0
        for match in ARROW.finditer(text):
            before = text[at : match.start()]
            if before.count("(") > before.count(")") and ")" in text[match.end() :]:
                continue  # an arrow within a condition
            parts.append(text[at : match.start()])
            labels.append(match["a"] or match["b"] or match["c"] or "")
            at = match.end()
        parts.append(text[at:])
        keys: list[str] = []
        for place, part in enumerate(parts):
            plain = part.strip()
            label = _LABEL.match(plain) if place else None
            if label is not None and plain[label.end() :].strip():
                labels[place - 1] = label["a"] or label["b"] or label["c"] or labels[place - 1]
                plain = plain[label.end() :]
            plain = clean(plain)
            bracketed = _BRACKETED.fullmatch(plain)
            if bracketed is not None:
                plain = clean(bracketed["a"] or bracketed["b"])
            if not plain:
                return False
            keys.append(self._node(plain, number).key)
        for place, label_text in enumerate(labels):
            label_text = clean(label_text)
            self.graph.flows.append(GraphFlow(keys[place], keys[place + 1], label_text, number))
        return True

    def _node(self, text: str, number: int) -> GraphNode:
        """The node that a text names; made where it is new."""
        nodes = self.graph.nodes
        key = _key(text)
        if key in nodes:
            return nodes[key]
        constraint = _CONSTRAINT.fullmatch(text)
        gateway = _GATEWAY.fullmatch(text)
        event = _EVENT.fullmatch(text)
        if constraint is not None:
            kind = "data" if constraint["kind"].lower().startswith("data") else "note"
            node = GraphNode(key, kind, clean(constraint["text"]), line=number)
        elif gateway is not None:
            node = GraphNode(key, _KINDS[gateway["kind"].upper()], line=number)
        elif event is not None:
            first = event["kind"].lower() in ("start", "begin", "s")
            node = GraphNode(key, "start" if first else "end", line=number)
        else:
            declared = _DECLARED.match(text)
            if declared is not None and _key(declared["id"]) in nodes:  # `T1 check` for `T1`
                return nodes[_key(declared["id"])]
            name = "" if re.fullmatch(r"[A-Za-z]{1,2}\d{1,4}", text) else text
            node = GraphNode(key, "task", name, self._actor, line=number)
        nodes[key] = node
        return node


def _key(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip(" .").casefold()
