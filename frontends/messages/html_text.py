"""The text of an HTML mail in its visible form, with block elements on separate lines."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

_HIDDEN = frozenset(("script", "style", "title", "template"))
_BLOCKS = frozenset(
    ("address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "footer",
     "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p",
     "pre", "section", "table", "tr", "ul")
)  # fmt: skip
_APART = frozenset(("p", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table"))
_VOID = frozenset(("br", "hr", "img", "meta", "link", "input", "col", "base", "area", "wbr"))


class _Text(HTMLParser):
    """Collects text; a quoted reply (`blockquote`, or the block a client marks as one) becomes
    lines that begin with `>`, as in plain text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.quoted: list[str] = []
        self._stack: list[tuple[str, bool]] = []
        self._open: Counter[str] = Counter()
        """How many elements of each name are on the stack."""
        self._quotes = 0
        """How many quotes are on it."""
        self._hidden = 0
        self._pre = 0
        self._rest_is_quoted = False

    @property
    def _target_parts(self) -> list[str]:
        return self.quoted if self._rest_is_quoted or self._quotes else self.parts

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += tag not in _VOID
            return
        values = {key: value or "" for key, value in attrs}
        if values.get("id") in ("divRplyFwdMsg", "appendonsend", "mail-editor-reference-message"):
            self._rest_is_quoted = True  # Outlook: all that follows is the message replied to
        quote = (tag == "blockquote" and values.get("class", "") != "") or (
            tag == "blockquote" and values.get("type") == "cite"
        )
        quote = quote or values.get("itemtype", "").endswith("/Reply")  # Teams
        quote = quote or "gmail_quote" in values.get("class", "").split()
        quote = quote or "yahoo_quoted" in values.get("class", "").split()
        if values.get("id") == "Signature":  # Outlook on the web
            self._target_parts.append("\n-- ")
        if tag in _BLOCKS:
            self._target_parts.append("\n\n" if tag in _APART else "\n")
        if tag == "li":
            self._target_parts.append("- ")
        elif tag in ("td", "th"):
            self._target_parts.append(" ")
        self._pre += tag == "pre"
        if tag not in _VOID:
            self._stack.append((tag, quote))
            self._open[tag] += 1
            self._quotes += quote

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
            return
        if tag == "pre":
            self._pre = max(0, self._pre - 1)
        if tag in _BLOCKS:
            self._target_parts.append("\n\n" if tag in _APART else "\n")
        while self._open[tag]:  # what was not closed ends here, too
            inner, quote = self._stack.pop()
            self._open[inner] -= 1
            self._quotes -= quote
            if inner == tag:
                break

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._target_parts.append(data if self._pre else re.sub(r"\s+", " ", data))


def html_text(html: str) -> tuple[str, str]:
    """The text of an HTML document, and the text that it marks as quoted."""
    parser = _Text()
    parser.feed(_without_endless_tags(html))
    parser.close()
    return _tidy_text(parser.parts), _tidy_text(parser.quoted)


_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def _without_endless_tags(html: str) -> str:
    """A document without what takes the standard library's parser quadratic time: many beginnings
    of comments and of tags, none of which ends. As in a browser, a comment without an end hides the
    rest."""
    html = _COMMENT.sub("", html)
    end = html.rfind(">") + 1
    return html[:end] + html[end:].replace("<", "&lt;")


def _tidy_text(parts: list[str]) -> str:
    text = "".join(parts).replace("\xa0", " ")
    text = re.sub(r"[ \t]*\n[ \t]*", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+", " ", text)).strip()
