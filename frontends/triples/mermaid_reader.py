"""Reads the statements of a Mermaid flowchart into a procedural graph."""

from __future__ import annotations

import html
import re

from orgflow.frontends.triples.reader import MAX_LINES, Graph, GraphFlow, GraphNode

_HEAD = re.compile(r"^(?:flowchart|graph)\b(?:[ \t]+(?:TB|TD|BT|RL|LR))?[ \t]*;?", re.IGNORECASE)
_IGNORED = re.compile(r"^(?:classDef|class|style|linkStyle|click|direction|accTitle|accDescr)\b")
_SUBGRAPH = re.compile(r"^subgraph\s+(?P<id>[^\s\[]+)?\s*(?:\[(?P<label>.*)\])?(?P<rest>.*)$")
_SHAPES = (
    ("(((", ")))", "event"), ("((", "))", "event"), ("([", "])", "event"), ("[(", ")]", "data"),
    ("[[", "]]", "task"), ("{{", "}}", "task"), ("{", "}", "gateway"), ("[/", "/]", "task"),
    ("[\\", "\\]", "task"), ("[", "]", "task"), ("(", ")", "task"), (">", "]", "task"),
)  # fmt: skip
_ID = re.compile(r"[^\W]\w*(?:[.-](?![.>-])\w+)*")
_LINK = re.compile(
    r"\s*(?:<?--+[>xo]?\|(?P<a>[^|]*)\||<?(?:--|==|-\.)\s+(?P<b>[^\s|>=-][^|>]*?)\s*(?:--+|==+|\.-+)[>xo]?"
    r"|<?(?:-{2,}|={2,}|-\.+-)[>xo]?(?:\|(?P<c>[^|]*)\|)?)\s*"
)
_SIGNS = {
    "+": "parallel", "and": "parallel", "parallel": "parallel", "○": "inclusive",
    "o": "inclusive", "or": "inclusive", "x": "exclusive", "×": "exclusive", "xor": "exclusive",
}  # fmt: skip


def read_chart(text: str) -> Graph:
    """The graph in a flowchart. Raises nothing: what is not understood is `unread`."""
    reader = _Reader()
    for number, line in enumerate(text.splitlines()[:MAX_LINES], 1):
        for statement in line.split(";") if '"' not in line else [line]:
            reader.statement(number, statement.strip())
    return reader.finished()


class _Reader:
    def __init__(self) -> None:
        self._graph = Graph()
        self._groups: list[str] = []

    def statement(self, number: int, text: str) -> None:
        """Read one statement."""
        text = _HEAD.sub("", text).strip()
        if not text or text.startswith(("%%", "```", "---")) or _IGNORED.match(text):
            return
        group = _SUBGRAPH.match(text)
        if group is not None:
            label = group["label"] or f"{group['id'] or ''}{group['rest']}"
            self._groups.append(_label(label))
            return
        if text == "end":
            if self._groups:
                self._groups.pop()
            return
        if not self._chain(number, text):
            self._graph.unread.append(number)

    def _chain(self, number: int, text: str) -> bool:
        """`A --> B & C -- text --> D`: every node is linked with every one of the next part."""
        at, before, label = 0, list[GraphNode](), ""
        while True:
            nodes: list[GraphNode] = []
            while True:
                found = self._node(number, text, at)
                if found is None:
                    return False
                node, at = found
                nodes.append(node)
                more = re.compile(r"\s*&\s*").match(text, at)
                if more is None:
                    break
                at = more.end()
            for first in before:
                for second in nodes:
                    self._graph.flows.append(GraphFlow(first.key, second.key, label, number))
            link = _LINK.match(text, at)
            if link is None or not link[0].strip():
                return not text[at:].strip()
            before, at = nodes, link.end()
            label = _label(link["a"] or link["b"] or link["c"] or "")

    def _node(self, number: int, text: str, at: int) -> tuple[GraphNode, int] | None:
        """The node that begins at a place, and where it ends."""
        match = _ID.match(text, at)
        if match is None:
            return None
        key, at = match[0], match.end()
        node = self._graph.nodes.get(key)
        if node is None:
            actor = self._groups[-1] if self._groups else ""
            node = self._graph.nodes[key] = GraphNode(key, "task", key, actor, line=number)
        for opening, closing, kind in _SHAPES:
            if text.startswith(opening, at):
                quoted = re.compile(r"\s*\"[^\"]*\"\s*").match(text, at + len(opening))
                start = quoted.end() if quoted is not None else at + len(opening)
                end = text.find(closing, start)
                if end < 0:
                    return None
                self._shape(node, kind, _label(text[at + len(opening) : end]))
                at = end + len(closing)
                break
        classes = re.compile(r":::\w+").match(text, at)
        return node, classes.end() if classes is not None else at

    def _shape(self, node: GraphNode, kind: str, label: str) -> None:
        node.kind, node.name = kind, label
        if kind == "gateway":
            sign, _, rest = label.partition(" ")
            known = _SIGNS.get(sign.lower())
            node.kind = known or "exclusive"
            node.name = rest.strip() if known is not None else label

    def finished(self) -> Graph:
        """The graph with round nodes as starts and ends where nothing leads to or from them."""
        sources = {flow.source for flow in self._graph.flows}
        targets = {flow.target for flow in self._graph.flows}
        for node in self._graph.nodes.values():
            if node.kind == "event":
                inner = node.key in sources and node.key in targets
                node.kind = "task" if inner else "start" if node.key in sources else "end"
                if node.name.lower() in ("start", "end", "stop", "begin"):
                    node.name = ""
        return self._graph


def _label(text: str) -> str:
    """A label as people see it: without quotes, entities and line breaks."""
    plain = re.sub(r"<br\s*/?>", " ", text.strip().strip('"').strip("`"))
    plain = re.sub(r"#(\d+);", r"&#\1;", plain)
    plain = re.sub(r"#([A-Za-z]+);", r"&\1;", plain)
    return " ".join(html.unescape(plain).split())
