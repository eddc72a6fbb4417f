"""Reads the lines of a procedural graph, regardless of numbering, bullets, quotes and fences around
them."""

from __future__ import annotations

import re
from dataclasses import field

from orgflow.backends.triples.format import (
    ARROW,
    GATEWAY_WORDS,
    clean_text,
    sentence_numbers,
)

from orgflow_ir.model.records import NamedTuple, dataclass

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


class Unread(NamedTuple):
    """A line that was not read; `help` is the suggested replacement, empty if it is unclear."""

    line: int
    help: str = ""


@dataclass
class Graph:
    """The result, and the lines that are not part of it."""

    nodes: dict[str, GraphNode] = field(default_factory=dict)
    flows: list[GraphFlow] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


class _End(NamedTuple):
    """The end of a flow, with the condition that is written before it."""

    name: str
    label: str = ""


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
_SHORT_ID = re.compile(r"[A-Z]|[A-Za-z]{1,6}[_-]?\d{1,4}")
_SEPARATOR = re.compile(r"\s*(?:,(?!\d)|(?<!\d),|[;&])\s*(?:(?:and|or)\s+)?|\s+and\s+")
_QUOTED = re.compile(r"[\"“].*[\"”]")
_KINDS = {
    "XOR": "exclusive", "X": "exclusive", "AND": "parallel", "A": "parallel", "P": "parallel",
    "PAR": "parallel", "OR": "inclusive", "O": "inclusive", "I": "inclusive",
}  # fmt: skip


def read_graph(text: str) -> Graph:
    """The graph in a text. Raises nothing: unsupported lines are in `unread`."""
    lines = text.splitlines()[:MAX_LINES]
    names = LineReader(frozenset())
    for number, line in enumerate(lines, 1):
        names.line(number, line)
    reader = LineReader(frozenset(names.graph.nodes))
    for number, line in enumerate(lines, 1):
        reader.line(number, line)
    name_letters(reader.graph)
    return reader.graph


def name_letters(graph: Graph) -> None:
    """`S` and `E` are steps where other steps are single letters, too, or where a flow leads into
    `S` or out of `E`."""
    letters = any(len(key) == 1 and key not in "se" for key in graph.nodes)
    into = {flow.target for flow in graph.flows}
    out = {flow.source for flow in graph.flows}
    for key, wrong in (("s", into), ("e", out)):
        node = graph.nodes.get(key)
        if node is not None and (letters or key in wrong):
            node.kind, node.name = "task", node.name or key.upper()


class _Ambiguous(ValueError):
    """A part of a line that is one name or several, which nothing decides."""


class LineReader:
    """Reads lines.

    Args:
        known: the keys of all nodes of the text, each list of names taken for one name: what a list
            is shows in what stands alone elsewhere.
    """

    def __init__(self, known: frozenset[str]) -> None:
        self.graph = Graph()
        self._known = known
        self._actor = ""

    def line(self, number: int, text: str) -> None:
        """Read one line."""
        plain = clean_text(_BULLET.sub("", text))
        if not plain or plain.startswith(("```", "~~~", "#", "//", "%%")):
            return
        if ARROW.search(plain):
            try:
                if not self._read_flows(number, plain):
                    self.graph.unread.append(Unread(number))
            except _Ambiguous as ambiguous:
                help = f"write each flow in its own line, or quote the name: {ambiguous}"
                self.graph.unread.append(Unread(number, help))
            return
        actor = _ACTOR.match(plain)
        if actor is not None:
            self._actor = clean_text(actor["name"])
            return
        declared = _DECLARED.match(plain)
        if declared is not None:
            self.read_declared(number, declared["id"], declared["rest"])
            return
        if not _EVENT.fullmatch(plain):
            self.graph.unread.append(Unread(number))

    def read_declared(self, number: int, id: str, rest: str) -> None:
        """`T1 name | actor | s1,s2`: the order of the parts behind the name is free."""
        name, *parts = (clean_text(part) for part in rest.split("|"))
        node = self.find_node(id, number)
        node.line = node.line or number
        if node.kind in ("start", "end", "task") or name.lower() not in GATEWAY_WORDS:
            node.name = name
        for part in parts:
            if not part or part in ("-", "–", "none", "None"):
                continue
            numbers = sentence_numbers(part)
            if numbers:
                node.sentences = numbers
            elif not node.actor:
                node.actor = part

    def _read_flows(self, number: int, text: str) -> bool:
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
        ends: list[list[_End]] = []
        for place, part in enumerate(parts):
            names_there = self._read_ends(part, labelled=place > 0)
            if not all(end.name for end in names_there):
                return False
            ends.append(names_there)
        for place, label_text in enumerate(labels):
            for source in ends[place]:
                for target in ends[place + 1]:
                    keys = [self.find_node(end.name, number).key for end in (source, target)]
                    label = clean_text(target.label or label_text)
                    self.graph.flows.append(GraphFlow(keys[0], keys[1], label, number))
        return True

    def _read_ends(self, part: str, *, labelled: bool) -> list[_End]:
        """The names between two arrows, with the conditions before them. Raises `_Ambiguous`."""
        whole = _read_end(part, labelled=labelled)
        if _QUOTED.fullmatch(part.strip(" ,;")):
            return [whole]
        pieces = _outside_brackets(part)
        if len(pieces) < 2:
            return [whole]
        ends = [_read_end(piece, labelled=labelled) for piece in pieces]
        if labelled and all(end.label for end in ends):
            return ends
        names = [end.name for end in ends]
        listed = [
            bool(_SHORT_ID.fullmatch(name)) or name_key(name) in self._known for name in names
        ]
        if all(listed):
            return [end._replace(label=end.label or ends[0].label) for end in ends]
        if any(listed) and not re.search(r"\s+and\s+", part):
            raise _Ambiguous(f'"{whole.name}"')
        return [whole]

    def find_node(self, text: str, number: int) -> GraphNode:
        """The node that a text names; made where it is new."""
        nodes = self.graph.nodes
        key = name_key(text)
        if key in nodes:
            return nodes[key]
        constraint = _CONSTRAINT.fullmatch(text)
        gateway = _GATEWAY.fullmatch(text)
        event = _EVENT.fullmatch(text)
        if constraint is not None:
            kind = "data" if constraint["kind"].lower().startswith("data") else "note"
            node = GraphNode(key, kind, clean_text(constraint["text"]), line=number)
        elif gateway is not None:
            node = GraphNode(key, _KINDS[gateway["kind"].upper()], line=number)
        elif event is not None:
            first = event["kind"].lower() in ("start", "begin", "s")
            node = GraphNode(key, "start" if first else "end", line=number)
        else:
            declared = _DECLARED.match(text)
            if declared is not None and name_key(declared["id"]) in nodes:  # `T1 check` for `T1`
                return nodes[name_key(declared["id"])]
            name = "" if re.fullmatch(r"[A-Za-z]{1,2}\d{1,4}", text) else text
            node = GraphNode(key, "task", name, self._actor, line=number)
        nodes[key] = node
        return node


def _read_end(part: str, *, labelled: bool) -> _End:
    """A name without brackets around it, and the condition before it, if there may be one."""
    plain = part.strip()
    label = _LABEL.match(plain) if labelled else None
    condition = ""
    if label is not None and plain[label.end() :].strip():
        condition = label["a"] or label["b"] or label["c"] or ""
        plain = plain[label.end() :]
    plain = clean_text(plain)
    bracketed = _BRACKETED.fullmatch(plain)
    if bracketed is not None:
        plain = clean_text(bracketed["a"] or bracketed["b"])
    return _End(plain, condition)


def _outside_brackets(part: str) -> list[str]:
    """A part split at separators that are not within brackets or quotes."""
    pieces, begin = [], 0
    for match in _SEPARATOR.finditer(part):
        before = part[: match.start()]
        closed = all(before.count(a) <= before.count(b) for a, b in ("()", "[]"))
        if closed and before.count('"') % 2 == 0:
            pieces.append(part[begin : match.start()])
            begin = match.end()
    return [piece for piece in (*pieces, part[begin:]) if piece.strip()]


def name_key(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip(" .").casefold()
