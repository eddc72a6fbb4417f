"""Reading pages in tests: a parser that insists on tags that close, and what it found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "rect", "path", "circle", "polygon", "line"}


@dataclass
class Tag:
    name: str
    attributes: dict[str, str]
    parts: list[Tag | str] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        return "".join(p if isinstance(p, str) else p.text for p in self.parts)

    def all(self, name: str = "", kind: str = "") -> Iterator[Tag]:
        for part in self.parts:
            if isinstance(part, Tag):
                if name in ("", part.name) and (not kind or kind in part.classes):
                    yield part
                yield from part.all(name, kind)

    def one(self, name: str = "", kind: str = "") -> Tag:
        return next(self.all(name, kind))

    def by_id(self, wanted: str) -> Tag:
        return next(t for t in self.all() if t.attributes.get("id") == wanted)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Tag("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = Tag(tag, {k: v or "" for k, v in attrs})
        self.open[-1].parts.append(found)
        if tag not in VOID:
            self.open.append(found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].parts.append(Tag(tag, {k: v or "" for k, v in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")


def parsed(text: str) -> Tag:
    """The page as a tree; fails where a tag is left open or closed by another."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [reader.root], f"left open: {[t.name for t in reader.open]}"
    return reader.root
