"""Texts of models in the output for people: characters that act on a terminal or a log, or that
change the direction of text, are shown as their numbers.

Names in a model come from whoever wrote it. An escape sequence in a name could hide a finding in a
terminal or a log, a line break could begin a command of GitHub's runner, and a bidirectional
override could show a text in another order than it has (CVE-2021-42574).
"""

from __future__ import annotations

import re

_ACTING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f"
)
"""Control characters but tab and line feed; marks, embeddings, overrides and isolates of direction;
line and paragraph separators; what has no width; tags. Joiners stay: some scripts need them."""


def escape_controls(text: str) -> str:
    """The text with such characters as `\\x1b` and `\\u202e`; line feeds and tabs stay."""
    if text.isprintable():  # most are, and the pattern takes its time to compile
        return text
    return re.sub(f"[{_ACTING}]", _describe_character, text)


def mask_controls(text: str) -> str:
    """The text with `?` for each such character, for a line in which columns count."""
    return text if text.isprintable() else re.sub(f"[{_ACTING}]", "?", text)


def _describe_character(match: re.Match[str]) -> str:
    number = ord(match[0])
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def escape_json(text: str) -> str:
    """A JSON text with such characters escaped as JSON does: its values stay the same."""
    # Line feeds are between values; within texts they are escaped already.
    if text.replace("\n", "").isprintable():
        return text
    return re.sub(f"[{_ACTING}]", _json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
