"""XML as text: prefixes in force, elements with sorted children, indentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orgflow.backends.bpmn.format import (
    BPMN,
    CONVENTIONAL,
    ORGFLOW,
    XMLNS,
    attribute_text,
    child_rank,
    content_text,
)

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.value import Extra

INDENT = "  "
Attributes = Sequence[tuple[str, str | None]]
"""Literal names and values; `None` omits the attribute."""


class Child(NamedTuple):
    """An element for its parent: its position there, and its text, indented."""

    rank: int
    text: str


class Names:
    """Prefixes declared on the root: those of the source, and those that every file needs."""

    def __init__(self, extra: Extra) -> None:
        self.declared: dict[str, str] = {}
        for key, uri in extra:
            if key.startswith(f"@{{{XMLNS}}}"):
                prefix = key[len(XMLNS) + 3 :]
                self.declared["" if prefix == "xmlns" else prefix] = uri
        self._prefixes: dict[str, str] = {}
        self._ours: dict[str, str] = {}
        for prefix, uri in self.declared.items():
            if prefix or uri == BPMN:
                self._prefixes.setdefault(uri, prefix)
        for prefix, uri in CONVENTIONAL.items():
            if uri not in self._prefixes:
                self._ours[self._free_prefix(prefix)] = uri
                self._prefixes[uri] = next(reversed(self._ours))
        self._bpmn = f"{self._prefixes[BPMN]}:" if self._prefixes[BPMN] else ""

    def _free_prefix(self, wanted: str) -> str:
        prefix, number = wanted, 1
        while prefix in self.declared or prefix in self._ours:
            number += 1
            prefix = f"{wanted}{number}"
        return prefix

    @property
    def root(self) -> dict[str, str]:
        """Every prefix (`""`: default) that the root declares."""
        return {**self.declared, **self._ours}

    @property
    def made_prefixes(self) -> str:
        """Prefixes that the source did not declare, except orgflow's."""
        return " ".join(p for p, uri in self._ours.items() if not uri.startswith(ORGFLOW))

    def bpmn(self, local: str) -> str:
        """The written form of a BPMN tag."""
        return self._bpmn + local

    def of(self, uri: str, local: str) -> str:
        """A tag or attribute of a namespace that the root declares, or of one of orgflow's, which
        it will declare."""
        prefix = self._prefixes.get(uri)
        if prefix is None:
            wanted = "orgflow" if uri == ORGFLOW else uri.rpartition(":")[2]
            prefix = self._free_prefix(wanted)
            self._ours[prefix] = uri
            self._prefixes[uri] = prefix
        return f"{prefix}:{local}" if prefix else local

    def attribute(self, uri: str, local: str) -> tuple[str, str | None]:
        """The written form of an attribute's name, and its required declaration, if any."""
        prefix = self._prefixes.get(uri)
        if prefix:
            return f"{prefix}:{local}", None
        if uri.startswith(ORGFLOW):
            return self.of(uri, local), None
        if uri == "http://www.w3.org/XML/1998/namespace":
            return f"xml:{local}", None
        prefix = uri if uri.isidentifier() and uri not in self.root else self._free_prefix("ns")
        return f"{prefix}:{local}", f' xmlns:{prefix}="{attribute_text(uri)}"'


def start_tag(name: str, attributes: Attributes, more: str = "") -> str:
    """`<name a="b"`, without its end."""
    parts = [f' {key}="{attribute_text(value)}"' for key, value in attributes if value is not None]
    return f"<{name}{''.join(parts)}{more}"


def write_element(
    depth: int,
    name: str,
    attributes: Attributes = (),
    children: Iterable[Child] = (),
    *,
    text: str | None = None,
    more: str = "",
) -> str:
    """One element on separate lines, children in order of rank; `more` are raw attributes.

    An element has text or children; if it has both, the text comes first.
    """
    pad = INDENT * depth
    head = pad + start_tag(name, attributes, more)
    inner = sorted(children, key=lambda c: c.rank)
    if not inner:
        return f"{head} />\n" if text is None else f"{head}>{content_text(text)}</{name}>\n"
    body = "".join(c.text for c in inner)
    if text:
        return f"{head}>{content_text(text)}{body.strip()}</{name}>\n"
    return f"{head}>\n{body}{pad}</{name}>\n"


def ranked_child(parent: str, local: str, text: str) -> Child:
    """A BPMN child in the position that the schema defines in `parent`."""
    return Child(child_rank(parent, BPMN, local), text)
