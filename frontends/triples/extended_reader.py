"""Reads extended graph lines: events, parts, calls, participants, data, conditions.

A text is extended if it has a form that plain graph lines do not have (`is_extended`), or begins
with the comment `# extended`. Plain lines keep their meaning. In an extended text `E1`, `W1`,
`C1` and `S1 … {` are events, event gateways, calls and parts.
"""

from __future__ import annotations

import re
from dataclasses import field

from orgflow.backends.triples.format import clean_text, sentence_numbers
from orgflow.frontends.triples.graph_reader import (
    MAX_LINES,
    Graph,
    GraphNode,
    LineReader,
    Unread,
    name_key,
    name_letters,
)

from orgflow_ir.model.records import NamedTuple, dataclass

MAX_DEPTH = 40
"""Maximum nesting of parts."""

PROCESS = "process"
"""The key of the host of events of the whole process."""

_MARK = re.compile(r"\ufeff?\s*# extended\b")
_SECTION = re.compile(r"\s*==\s*(?![>=])(?P<name>\S.*)")
_PART = re.compile(r"\s*(?:[-*+•]\s+)?(?P<id>S\d+)\b(?P<rest>[^{}]*)\{\s*", re.IGNORECASE)
_EVENT_ARROW = re.compile(r"-\s*(?P<mark>[!+])\s*\((?P<text>[^()]*(?:\([^()]*\)[^()]*)*)\)\s*-*>")
_MESSAGE = re.compile(r"E\d+[:.]?\s+(?:wait|receive|send)\b", re.IGNORECASE)
_TERMINAL = re.compile(
    r"(?P<id>(?:start|end)\d*)\s*(?P<rest>(?:\s(?!\s*(?:->|-\())|\|).*)?", re.I | re.S
)
_TYPED = re.compile(r"(?P<letter>[EWCS])\d+", re.IGNORECASE)
_FIELD = re.compile(r"(?:each|reads|writes|named|doubt)\b.*", re.IGNORECASE)
_START = r"(?im)^\s*Start\d*\s+(?:every|receive|timer|daily|weekly|monthly)\b(?!.*->)"
_FOURTH = (
    r"(?im)^\s*[A-Z]{1,2}\d+\b[^|\n]*\|[^|\n]*\|[^|\n]*\|\s*(?:each|reads|writes|named|doubt)\b"
)
_CONDITION = r"-\([^()\n]*\S\s*\[[^\]\n]*(?:[<>=]|\b(?:and|or|not)\b)[^\n]*\]\s*\)->"
_CALL = r"(?im)^\s*C\d+\s+call\b(?!.*->)"


@dataclass(eq=False)
class ExtendedNode(GraphNode):
    """A node with what extended lines state: its kind may also be `wait`, `receive`, `send`,
    `event`, `call`, `part` and `boundary`."""

    each: str = ""
    at_once: bool = False
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    named: str | None = None
    doubt: bool = False
    host: str = ""
    stops: bool = True


class GraphScope(NamedTuple):
    """The graph of a process or part, and those of its parts by their keys."""

    graph: Graph
    parts: dict[str, GraphScope]


class Section(NamedTuple):
    """A participant with its process; its name is empty if the text names none."""

    name: str
    scope: GraphScope
    line: int


@dataclass(eq=False)
class _Text:
    """The numbered lines of a scope, and the texts of its parts."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    parts: dict[str, _Text] = field(default_factory=dict)


def is_extended(text: str) -> bool:
    """Whether a text has a form that only extended lines have."""
    lines = text.splitlines()[:MAX_LINES]
    if _MARK.match(text) is not None:
        return True
    if any(_SECTION.fullmatch(line) or _PART.fullmatch(line) for line in lines):
        return True
    if any(_EVENT_ARROW.search(line) for line in lines):
        return True
    plain = "\n".join(lines)
    if any(re.search(form, plain) for form in (_START, _FOURTH, _CONDITION, _CALL)):
        return True
    events = [m[0].split()[0].rstrip(":.") for line in lines if (m := _MESSAGE.match(line.strip()))]
    flows = "\n".join(line for line in lines if "->" in line or "→" in line)
    return any(re.search(rf"\b{re.escape(id)}\b[^\n]*?-+(?:\(|>)", flows) for id in events[:50])


def read_sections(text: str) -> tuple[list[Section], list[Unread]]:
    """The processes of an extended text, and the lines that are not part of it."""
    unread: list[Unread] = []
    sections: list[tuple[str, _Text, int]] = []
    stack: list[_Text] = []
    for number, line in enumerate(text.splitlines()[:MAX_LINES], 1):
        header = _SECTION.fullmatch(line)
        if header is not None or not sections:
            stack = [_Text()]
            sections.append((clean_text(header["name"]) if header else "", stack[0], number))
            if header is not None:
                continue
        _add_line(number, line, stack, unread)
    if (
        len(sections) > 1
        and not sections[0][0]
        and not any(t.strip() for _, t in sections[0][1].lines)
    ):
        del sections[0]
    read = [Section(name, _read_scope(text, unread), line) for name, text, line in sections]
    return read, sorted(unread, key=lambda u: u.line)


def _add_line(number: int, line: str, stack: list[_Text], unread: list[Unread]) -> None:
    """Put a line into the innermost part; one that begins or ends a part opens or closes it."""
    part = _PART.fullmatch(line)
    if part is not None:
        inner = _Text()
        stack[-1].lines.append((number, f"{part['id']}{part['rest']}"))
        if len(stack) >= MAX_DEPTH:
            unread.append(Unread(number, f"use at most {MAX_DEPTH} parts inside each other"))
        stack[-1].parts[name_key(part["id"])] = inner
        stack.append(inner if len(stack) < MAX_DEPTH else stack[-1])
    elif line.strip() == "}":
        if len(stack) > 1:
            stack.pop()
        else:
            unread.append(Unread(number, "write `S1 name {` before the part, or remove the line"))
    else:
        stack[-1].lines.append((number, line))


def _read_scope(text: _Text, unread: list[Unread]) -> GraphScope:
    """The graph of a scope. Raises nothing."""
    known: frozenset[str] = frozenset()
    for _ in range(2):
        reader = _ExtendedReader(known, frozenset(text.parts))
        for number, line in text.lines:
            reader.line(number, line)
        known = frozenset(reader.graph.nodes)
    name_letters(reader.graph)
    unread += reader.graph.unread
    return GraphScope(
        reader.graph, {key: _read_scope(inner, unread) for key, inner in text.parts.items()}
    )


class _ExtendedReader(LineReader):
    """Reads the lines of one scope."""

    def __init__(self, known: frozenset[str], parts: frozenset[str]) -> None:
        super().__init__(known)
        self._parts = parts
        self._events = 0

    def line(self, number: int, text: str) -> None:
        """Read one line; an event at a step is a node that the flow behind it begins at."""
        arrow = _EVENT_ARROW.search(text)
        if arrow is not None:
            self._read_event(number, text, arrow)
            return
        plain = clean_text(text)
        terminal = _TERMINAL.fullmatch(plain)
        if terminal is not None and "->" not in plain and (terminal["rest"] or "").strip():
            self.read_declared(number, terminal["id"], terminal["rest"].strip())
            return
        super().line(number, text)

    def _read_event(self, number: int, text: str, arrow: re.Match[str]) -> None:
        """`T5 -!(after 10 days)-> T9 -> End`."""
        before, _, host = text[: arrow.start()].rpartition("->")
        host = clean_text(host)
        if before.strip():
            super().line(number, text[: arrow.start()])
        self._events += 1
        key = f"at {number} {self._events}"
        words, _, more = arrow["text"].partition("|")
        node = ExtendedNode(
            key, "boundary", clean_text(words), line=number, stops=arrow["mark"] == "!",
            host=PROCESS if host.casefold() == PROCESS else self.find_node(host, number).key,
        )  # fmt: skip
        self.graph.nodes[key] = node
        if more.strip():
            self._read_more(node, clean_text(more))
        rest = text[arrow.end() :]
        if clean_text(rest):
            super().line(number, f'"{key}" -> {rest}')
        else:
            self.graph.unread.append(Unread(number, "write `T1 -!(after 3 days)-> T2`"))

    def read_declared(self, number: int, id: str, rest: str) -> None:
        """`T1 name | actor | s1 | each item · reads A`: the fourth field on states the rest."""
        name, *parts = (clean_text(part) for part in rest.split("|"))
        node = self.find_node(id, number)
        assert isinstance(node, ExtendedNode)
        node.line = node.line or number
        self._name_node(node, name)
        for place, part in enumerate(parts):
            if place > 1 and _FIELD.fullmatch(part):
                self._read_more(node, part)
            elif sentence_numbers(part):
                node.sentences = sentence_numbers(part)
            elif part not in ("", "-", "–", "none", "None") and not node.actor:
                node.actor = part

    def _name_node(self, node: ExtendedNode, name: str) -> None:
        """The name of a node; the first word of an event or a call is its kind."""
        word, _, rest = name.partition(" ")
        letter = _TYPED.fullmatch(node.key)
        word = word.casefold()
        if letter is not None and letter["letter"].casefold() == "e" and word in (
            "wait", "receive", "send",
        ):  # fmt: skip
            node.kind, node.name = word, rest.strip()
        elif node.kind == "call":
            node.name = rest.strip() if word == "call" else name
        elif node.kind in ("exclusive", "parallel", "inclusive", "event") and name == "gateway":
            node.name = ""
        else:
            node.name = name

    def _read_more(self, node: ExtendedNode, text: str) -> None:
        """`each item, at once · reads A, B · writes C · named X`."""
        for piece in re.split(r"\s+·\s+", text):
            word, _, rest = piece.partition(" ")
            rest = rest.strip()
            match word.casefold():
                case "each":
                    item, comma, tail = rest.rpartition(",")
                    node.at_once = bool(comma) and tail.strip().casefold() == "at once"
                    node.each = item.strip() if node.at_once else rest
                case "reads":
                    node.reads = _split_names(rest)
                case "writes":
                    node.writes = _split_names(rest)
                case "named":
                    node.named = rest
                case "doubt":
                    node.doubt = True
                case _:
                    self.graph.unread.append(Unread(node.line, f"write `{piece}` as another field"))

    def find_node(self, text: str, number: int) -> GraphNode:
        """The node that a text names; made where it is new."""
        terminal = _TERMINAL.fullmatch(text)
        key = name_key(text)
        words = (terminal["rest"] or "").strip() if terminal is not None else ""
        if terminal is not None and words and "|" not in words and key not in self.graph.nodes:
            id = terminal["id"]
            key = name_key(id) if id[-1].isdigit() else key
            kind = "start" if id.casefold().startswith("start") else "end"
            node = self.graph.nodes.setdefault(key, ExtendedNode(key, kind, line=number))
            node.name = node.name or words
            return node
        if key in self.graph.nodes:
            return self.graph.nodes[key]
        typed = _TYPED.fullmatch(text)
        kinds = {"e": "end", "w": "event", "c": "call", "s": "part" if key in self._parts else ""}
        kind = kinds[typed["letter"].casefold()] if typed is not None else ""
        if kind:
            return self.graph.nodes.setdefault(key, ExtendedNode(key, kind, line=number))
        plain = super().find_node(text, number)
        if isinstance(plain, ExtendedNode):
            return plain
        node = ExtendedNode(
            plain.key, plain.kind, plain.name, plain.actor, plain.sentences, plain.line
        )
        self.graph.nodes[plain.key] = node
        return node


def _split_names(text: str) -> tuple[str, ...]:
    names = [a or b for a, b in re.findall(r'\s*(?:"([^"]*)"|([^,]*))\s*(?:,|$)', text)]
    return tuple(dict.fromkeys(" ".join(name.split()) for name in names if name.strip()))
