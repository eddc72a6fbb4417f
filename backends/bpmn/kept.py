"""Kept data back into XML: attributes, elements of BPMN, tools' own elements, shells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.parsers import expat

from orgflow.backends.bpmn.format import (
    BPMN,
    COLLABORATION,
    EXTENSIONS,
    KEPT,
    ORGFLOW,
    XMLNS,
    child_rank,
    declare_namespaces,
    is_our_text,
    split_key,
)
from orgflow.backends.bpmn.xml_text import INDENT, Child, Names, start_tag, write_element

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.value import Extra

_OPENING = re.compile(r"""<([^\s/>]+)((?:\s+xmlns(?::[^\s=]+)?\s*=\s*"[^"]*")*)""")
_DECLARATION = re.compile(r"""\s+(xmlns(?::[^\s=]+)?)\s*=\s*"([^"]*)\"""")
_START_TAG = re.compile(r"""<(?:"[^"]*"|'[^']*'|[^'">])*>""")
_NAME = re.compile(r"[^\W\d][\w.\-]*")
_NAMESPACE = re.compile(r"[^\s{}<>\"^`|\\]*")
_END_TAG = re.compile(r"</[^<>]*>\s*$")


class Part(NamedTuple):
    """An element directly in a fragment: its namespace, name, literal text, attributes."""

    ns: str
    local: str
    raw: str
    attrs: dict[str, str]
    text: str
    plain: bool


class Fragment(NamedTuple):
    """A piece of XML: its root's attributes (verbatim) and its direct child elements."""

    attrs: dict[str, str]
    text: str
    parts: tuple[Part, ...]
    all_text: str
    """Text of the root and of its descendants, each stripped, in lines."""


def parse_fragment(xml: str) -> Fragment | None:
    """A parsed fragment; `None` if it is not well-formed (undeclared prefixes are permitted)."""
    try:
        return _Parse(xml).run()
    except expat.ExpatError:
        return None


class _Parse:
    def __init__(self, xml: str) -> None:
        self.data = xml.encode("utf-8", "replace")
        self.parser = expat.ParserCreate("utf-8")
        self.depth = 0
        self.scopes: list[dict[str, str]] = [{}]
        self.texts: list[list[str]] = []
        self.order: list[list[str]] = []
        self.root: dict[str, str] = {}
        self.parts: list[Part] = []
        self.at = 0
        self.part: tuple[str, str, dict[str, str]] = ("", "", {})
        self.inner = 0

    def run(self) -> Fragment:
        p = self.parser
        p.buffer_text = True
        p.StartElementHandler = self.start
        p.EndElementHandler = self.end
        p.CharacterDataHandler = self.text
        try:
            p.Parse(self.data, True)
        finally:
            p.StartElementHandler = p.EndElementHandler = p.CharacterDataHandler = None
        words = [t for t in ("".join(o).strip() for o in self.order) if t]
        return Fragment(self.root, "".join(self.order[0]), tuple(self.parts), "\n".join(words))

    def start(self, qname: str, attrs: dict[str, str]) -> None:
        scope = self.scopes[-1]
        if any(k.startswith("xmlns") for k in attrs):
            scope = {**scope, **{k[6:]: v for k, v in attrs.items() if k.startswith("xmlns")}}
        self.scopes.append(scope)
        mine: list[str] = []
        self.texts.append(mine)
        self.order.append(mine)
        if self.depth == 0:
            self.root = attrs
        elif self.depth == 1:
            prefix, _, local = qname.rpartition(":")
            self.part = (scope.get(prefix, prefix), local, attrs)
            self.at = self.parser.CurrentByteIndex
            self.inner = len(self.order)
        self.depth += 1

    def end(self, qname: str) -> None:
        self.depth -= 1
        self.scopes.pop()
        mine = self.texts.pop()
        if self.depth == 1:
            stop = self.parser.CurrentByteIndex
            ns, local, attrs = self.part
            plain = self.inner == len(self.order)
            if mine or not plain or self.data[stop - 2 : stop] != b"/>":
                stop = self.data.index(b">", stop) + 1  # else it stands behind `<a/>` already
            raw = self.data[self.at : stop].decode()
            self.parts.append(Part(ns, local, raw, attrs, "".join(mine), plain))

    def text(self, run: str) -> None:
        self.texts[-1].append(run)


def is_writable(key: str, value: str) -> bool:
    """Whether extension data can be XML as their key states, which is not the case for all data of
    other formats and programs."""
    ns, local = split_key(key)
    if _NAME.fullmatch(local) is None or _NAMESPACE.fullmatch(ns) is None:
        return key.startswith(f"@{{{XMLNS}}}")
    if key.startswith("@"):
        return True
    if value.lstrip().startswith("<"):
        return is_our_text(ns) or parse_fragment(value) is not None
    return ns != BPMN


class Keeper:
    """Writes kept data, without the declarations that the root already has."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def attributes(self, extra: Extra) -> str:
        """Kept attributes as raw text, each with its required declaration."""
        text = ""
        for key, value in extra:
            if not key.startswith("@") or key.startswith(f"@{{{XMLNS}}}") or key == COLLABORATION:
                continue
            if not is_writable(key, value):
                continue
            ns, local = split_key(key)
            name, declaration = (local, None) if ns == BPMN else self.names.attribute(ns, local)
            if declaration is not None and declaration not in text:
                text += declaration
            text += start_tag("", [(name, value)])[1:]
        return text

    def elements(
        self, extra: Extra, parent: str, depth: int, but: Iterable[int] = ()
    ) -> list[Child]:
        """Kept elements as children of `parent`; those of tools together in `extensionElements`.

        `but` are positions in `extra` to omit.
        """
        inside: list[str] = []
        children: list[Child] = []
        skip = frozenset(but)
        for at, (key, value) in enumerate(extra):
            if at in skip:
                continue
            if not is_writable(key, value):
                name = self.names.of(ORGFLOW, KEPT)
                inside.append(write_element(depth + 1, name, [("key", key)], text=value))
                continue
            if key.startswith("@"):
                continue
            ns, local = split_key(key)
            if ns == BPMN:
                children.append(Child(child_rank(parent, ns, local), self.verbatim(value, depth)))
            else:
                inside.append(self._write_foreign(ns, local, value, depth + 1))
        if inside:
            children.append(self.extensions(parent, depth, inside))
        return children

    def extensions(self, parent: str, depth: int, inside: list[str]) -> Child:
        """`extensionElements` around elements with matching indentation."""
        name = self.names.bpmn(EXTENSIONS)
        text = write_element(depth, name, (), [Child(0, t) for t in inside])
        return Child(child_rank(parent, BPMN, EXTENSIONS), text)

    def _write_foreign(self, ns: str, local: str, value: str, depth: int) -> str:
        if is_our_text(ns) or not ns or not value.lstrip().startswith("<"):
            return write_element(depth, self.names.of(ns, local) if ns else local, text=value)
        return self.verbatim(value, depth)

    def verbatim(self, xml: str, depth: int) -> str:
        """Kept XML on separate lines; its inner lines are unchanged."""
        return f"{INDENT * depth}{self.stripped(xml)}\n"

    def stripped(self, xml: str) -> str:
        """Without the declarations of the source's root, which the frontend would restore."""
        match = _OPENING.match(xml)
        if match is None or not match[2]:
            return xml
        around = self.names.declared
        own = _DECLARATION.findall(match[2])
        keep = "".join(f' {key}="{uri}"' for key, uri in own if around.get(key[6:]) != uri)
        bare = f"<{match[1]}{keep}{xml[match.end() :]}"
        head = _START_TAG.match(bare)
        names = {k for k, _ in _DECLARATION.findall(head[0])} if head else set()
        if declare_namespaces(match[1], bare, names, around, _uses_default(bare)) == xml:
            return bare
        return xml


_TAG = re.compile(r"""<(/?)([^\s<>/!?'"=]+)((?:"[^"]*"|'[^']*'|[^'">])*?)(/?)>""")
_NO_TAGS = re.compile(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>", re.DOTALL)


def _uses_default(xml: str) -> bool:
    """Whether an element in `xml` has its name from the default namespace around it."""
    hidden = 0
    depth = 0
    for end, qname, rest, closed in _TAG.findall(_NO_TAGS.sub("", xml)):
        if end:
            depth -= 1
            hidden = 0 if depth < hidden else hidden
            continue
        depth += 1
        if not hidden and depth > 1 and re.search(r"\sxmlns\s*=", rest):
            hidden = depth
        if not hidden and ":" not in qname:
            return True
        if closed:
            depth -= 1
            hidden = 0 if depth < hidden else hidden
    return False


class Shell(NamedTuple):
    """A kept element without its modelled children: its start and end tag, and its other
    content."""

    head: str
    tail: str
    fragment: Fragment


def parse_shell(xml: str) -> Shell | None:
    """A parsed shell; `None` if the XML is not well-formed."""
    fragment = parse_fragment(xml)
    head, tail = _START_TAG.match(xml), _END_TAG.search(xml)
    if fragment is None or head is None:
        return None
    if tail is None or head[0].endswith("/>"):
        name = _OPENING.match(xml)
        assert name is not None
        return Shell(head[0].rstrip("/>").rstrip() + ">", f"</{name[1]}>", fragment)
    return Shell(head[0], tail[0], fragment)


def fill_shell(keeper: Keeper, outer: Shell, parent: str, depth: int, children: list[Child]) -> str:
    """A shell with its modelled children in place again."""
    ranked = list(children)
    for part in outer.fragment.parts:
        at = child_rank(parent, part.ns, part.local)
        ranked.append(Child(at, f"{INDENT * (depth + 1)}{part.raw}\n"))
    ranked.sort(key=lambda c: c.rank)
    pad = INDENT * depth
    inner = "".join(part.raw for part in outer.fragment.parts)
    whole = keeper.stripped(f"{outer.head}{inner}{outer.tail}")
    head = _START_TAG.match(whole)
    assert head is not None
    return f"{pad}{head[0]}\n{''.join(c.text for c in ranked)}{pad}{outer.tail.strip()}\n"


def find_kept(extra: Extra, local: str) -> list[tuple[int, str]]:
    """Positions and XML of kept elements of BPMN with that name."""
    key = f"{{{BPMN}}}{local}"
    return [(at, value) for at, (k, value) in enumerate(extra) if k == key]


def kept_attribute(extra: Extra, local: str, ns: str = BPMN) -> str | None:
    """A kept attribute's value."""
    key = f"@{{{ns}}}{local}"
    return next((value for k, value in extra if k == key), None)
