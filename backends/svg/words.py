"""Text as SVG: separate lines, escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orgflow.backends.svg.marks import num_text

from orgflow_ir.layout.text import LINE
from orgflow_ir.model.characters import replace_unwritable

_MARKS = (
    (re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)"), ""),
    (re.compile(r"\[([^\]\n]+)\]\(https?:[^)\n]*\)"), r"\1"),
    (re.compile(r"(?m)^\s{0,3}#{1,6}[ \t]+"), ""),
    (re.compile(r"\*\*([^*\n]+)\*\*"), r"\1"),
    (re.compile(r"(?m)^[ \t]*```\w*[ \t]*$"), ""),
    (re.compile(r"`([^`\n]+)`"), r"\1"),
    (re.compile(r"<br ?/?>"), " "),
)


def strip_markdown(text: str) -> str:
    """Text without Markdown markup (headings, bold, code, links), white space folded."""
    for pattern, instead in _MARKS:
        text = pattern.sub(instead, text)
    return " ".join(text.split())


def escape_text(text: str) -> str:
    """Text or attribute value; characters that XML does not permit are replaced."""
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(char, entity)
    return replace_unwritable(text)


def lines_of(
    lines: Sequence[str], x: float, y: float, anchor: str = "middle", kind: str = ""
) -> list[str]:
    """Lines of text; y is the base line of the first one."""
    cls = f' class="{kind}"' if kind else ""
    return [
        f'<text{cls} x="{num_text(x)}" y="{num_text(y + LINE * n)}" text-anchor="{anchor}">'
        f"{escape_text(line)}</text>"
        for n, line in enumerate(lines)
    ]


def draw_centred(lines: Sequence[str], x: float, y: float, kind: str = "") -> list[str]:
    """Lines of text around a point."""
    first = y - LINE * len(lines) / 2 + LINE * 0.78
    return lines_of(lines, x, first, "middle", kind)
