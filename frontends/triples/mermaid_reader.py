"""Reads the statements of a Mermaid flowchart into a procedural graph."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from orgflow.frontends.triples.graph_reader import MAX_LINES, Graph, GraphFlow, GraphNode, Unread

_HEAD = re.compile(r"^(?:flowchart|graph)\b(?:[ \t]+(?:TB|TD|BT|RL|LR))?[ \t]*;?", re.IGNORECASE)
_IGNORED = re.compile(r"^(?:classDef|class|style|linkStyle|click|direction|accTitle|accDescr)\b")
_SUBGRAPH = re.compile(r"^subgraph\s+(?P<id>[^\s\[]+)?\s*(?:\[(?P<label>.*)\])?(?P<rest>.*)$")
_SHAPES = (
    ("(((", ")))", "event"), ("((", "))", "event"), ("([", "])", "event"), ("[(", ")]", "data"),
    ("[[", "]]", "task"), ("{{", "}}", "task"), ("{", "}", "gateway"), ("[/", "/]", "task"),
    ("[\\", "\\]", "task"), ("[", "]", "task"), ("(", ")", "task"), (">", "]", "task"),
)  # fmt: skip
_OBJECT = re.compile(r"@\{(?P<keys>(?:\"[^\"]*\"|[^}\"])*)\}")
_KEY = re.compile(r"(\w+)\s*:\s*(\"[^\"]*\"|[^,\"]+)")
_NAMED_SHAPES = {
    **dict.fromkeys(
        ("circle", "circ", "sm-circ", "small-circle", "start", "dbl-circ", "double-circle", "stop",
         "framed-circle", "fr-circ", "f-circ", "filled-circle", "stadium", "pill", "terminal"),
        "event",
    ),
    **dict.fromkeys(("diam", "diamond", "decision", "question"), "gateway"),
    **dict.fromkeys(("fork", "join"), "parallel"),
    **dict.fromkeys(("cyl", "cylinder", "db", "database", "datastore", "data-store"), "data"),
}  # fmt: skip
"""Names of shapes in `id@{ shape: name }` that are not steps."""
_KEY_OF_NODES = re.compile(r"\b(?:shape|label|icon|img)\s*:")
"""The keys that distinguish `id@{…}` of a node from that of a flow, which only defines its
appearance."""
_STATEMENT = re.compile(r'(?:"[^"]*"|#\w+;|[^;"]|")+')
_EDGE_ID = re.compile(r"\s+\w+@(?=[<ox]?[-=])")
_UNLINKED = re.compile(r"\s*~~~+\s*")
_ID = re.compile(r"[^\W]\w*(?:[.-](?![.>-])\w+)*")
_LINK = re.compile(
    r"\s*(?:<|(?<=\s)[ox](?=-|=))?(?:--+[>xo]?\|(?P<a>\"[^\"]*\"|[^|]*)\||(?:--|==|-\.)\s*(?![xo]\s)"
    r"(?P<b>\"[^\"]*\"|[^\s|>=.\"-][^|>]*?)\s*(?:--+|==+|\.-+)[>xo]?"
    r"|(?:-{2,}|={2,}|-\.+-)[>xo]?(?:\|(?P<c>\"[^\"]*\"|[^|]*)\|)?)\s*"
)
_IN_BRACKETS = re.compile(r"\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|\|[^|]*\|")
_LISTED = re.compile(r"\w\s*,\s*\w")
"""Nodes with commas between them, which Mermaid does not have."""
_SIGNS = {
    "+": "parallel", "and": "parallel", "parallel": "parallel", "○": "inclusive",
    "o": "inclusive", "or": "inclusive", "x": "exclusive", "×": "exclusive", "xor": "exclusive",
}  # fmt: skip


def read_chart(text: str) -> Graph:
    """The graph in a flowchart. Raises nothing: unsupported lines are in `unread`."""
    reader = _Reader()
    for number, line in _read_lines(text):
        for statement in _STATEMENT.findall(line):
            reader.statement(number, statement.strip())
    return reader.finished()


def _read_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, without front matter and directives; a text in backticks and
    quotes that goes over several lines is in one."""
    lines = text.splitlines()[:MAX_LINES]
    first = next((n for n, line in enumerate(lines) if line.strip(" `") not in ("", "mermaid")), 0)
    at = first
    if lines and lines[first].strip() == "---":
        ends = [n for n, line in enumerate(lines) if n > first and line.strip() == "---"]
        at = ends[0] + 1 if ends else first + 1
    while at < len(lines):
        number, line = at + 1, lines[at]
        at += 1
        for opening, closing in (("%%{", "}%%"), ("accDescr {", "}")):
            if line.strip().startswith(opening):
                while closing not in line and at < len(lines):
                    line, at = lines[at], at + 1
                line = ""
        if line.count('"`') > line.count('`"'):
            end = next((n for n in range(at, len(lines)) if '`"' in lines[n]), None)
            if end is not None:
                line, at = " ".join((line, *lines[at : end + 1])), end + 1
        yield number, line


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
            self._groups.append(_plain_label(label))
            return
        if text == "end":
            if self._groups:
                self._groups.pop()
            return
        if not self._read_chain(number, text):
            several = _LISTED.search(_IN_BRACKETS.sub("", text)) is not None
            help = "join several nodes with `&`, as in `A --> B & C`" if several else ""
            self._graph.unread.append(Unread(number, help))

    def _read_chain(self, number: int, text: str) -> bool:
        """`A --> B & C -- text --> D`: every node is linked with every one of the next part."""
        at, before, label = 0, list[GraphNode](), ""
        while True:
            nodes: list[GraphNode] = []
            while True:
                node_there = self._read_node(number, text, at)
                if node_there is None:
                    return False
                node, at = node_there
                nodes.append(node)
                more = re.compile(r"\s*&\s*").match(text, at)
                if more is None:
                    break
                at = more.end()
            for first in before:
                for second in nodes:
                    self._graph.flows.append(GraphFlow(first.key, second.key, label, number))
            named = _EDGE_ID.match(text, at)
            if named is not None:
                at = named.end()
            apart = _UNLINKED.match(text, at)
            if apart is not None:
                before, at = [], apart.end()
                continue
            link = _LINK.match(text, at)
            if link is None or not link[0].strip():
                return not text[at:].strip()
            before, at = nodes, link.end()
            label = _plain_label(link["a"] or link["b"] or link["c"] or "")

    def _read_node(self, number: int, text: str, at: int) -> tuple[GraphNode, int] | None:
        """The node that begins at a place, and where it ends."""
        match = _ID.match(text, at)
        if match is None:
            return None
        key, at = match[0], match.end()
        properties = _OBJECT.match(text, at)
        if properties is not None and not _KEY_OF_NODES.search(properties["keys"]):
            return None if text[properties.end() :].strip() else (GraphNode(key, "task"), len(text))
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
                self._set_shape(node, kind, _plain_label(text[at + len(opening) : end]))
                at = end + len(closing)
                break
        if properties is not None:
            keys = {k: v.strip() for k, v in _KEY.findall(properties["keys"])}
            shape = keys.get("shape", "").strip('"')
            kind = _NAMED_SHAPES.get(shape, "task") if shape else node.kind
            label = _plain_label(keys["label"]) if "label" in keys else node.name
            self._set_shape(node, kind, "" if kind == "event" and label == key else label)
            at = properties.end()
        classes = re.compile(r":::\w+").match(text, at)
        return node, classes.end() if classes is not None else at

    def _set_shape(self, node: GraphNode, kind: str, label: str) -> None:
        node.kind, node.name = kind, label
        if kind == "gateway":
            sign, _, rest = label.partition(" ")
            known = _SIGNS.get(sign.lower())
            node.kind = known or "exclusive"
            node.name = rest.strip() if known is not None else label

    def finished(self) -> Graph:
        """The graph with round nodes as starts and ends where nothing leads to or from them, and
        with data through which alone the flow goes on as steps."""
        self._data_in_the_flow()
        sources = {flow.source for flow in self._graph.flows}
        targets = {flow.target for flow in self._graph.flows}
        for node in self._graph.nodes.values():
            if node.kind == "event":
                inner = node.key in sources and node.key in targets
                node.kind = "task" if inner else "start" if node.key in sources else "end"
                if node.name.lower() in ("start", "end", "stop", "begin"):
                    node.name = ""
        return self._graph

    def _data_in_the_flow(self) -> None:
        nodes = self._graph.nodes
        after: dict[str, set[str]] = {}
        for flow in self._graph.flows:
            after.setdefault(flow.source, set()).add(flow.target)
        for key, targets in after.items():
            if nodes[key].kind != "data" and all(nodes[t].kind == "data" for t in targets):
                for target in targets & after.keys():
                    nodes[target].kind = "task"


def _plain_label(text: str) -> str:
    """A label as people see it: without quotes, entities and line breaks."""
    plain = re.sub(r"<br\s*/?>", " ", text.strip().strip('"').strip("`"))
    plain = re.sub(r"#(\d+);", r"&#\1;", plain)
    plain = re.sub(r"#([A-Za-z]+);", r"&\1;", plain)
    return " ".join(html.unescape(plain).split())
