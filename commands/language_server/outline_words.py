"""Words that fit at a place of an outline: keywords, ids and performers."""

from __future__ import annotations

import re

from orgflow.backends.outline.format.line_forms import CHILDREN, KEYWORDS, STEP, TOP

_KEYWORD = re.compile(rf"\s*({'|'.join(KEYWORDS)}|again if)\b", re.IGNORECASE)
_ID = re.compile(r"\|\s*#([\w.-]+)")
_FIELDS = ("each ", "reads ", "writes ", "after #", "named ")


def complete_words(text: str, line: int, before: str) -> list[str]:
    """The words that may follow `before`, the part of a line up to the cursor; `line` counts from
    0."""
    lines = text.splitlines()
    if before.rstrip().endswith("#") or re.search(r"#[\w.-]*$", before):
        return sorted({id for other in lines for id in _ID.findall(other)})
    if "|" in before:
        return [*_list_performers(lines), *_FIELDS]
    if before.strip().isalpha() or not before.strip():
        inside = CHILDREN[parent] if (parent := _find_parent(lines[:line], before)) else TOP
        return [_keyword_text(word) for word in KEYWORDS if word in inside and word != STEP]
    return []


def _keyword_text(keyword: str) -> str:
    return {"again": "again if: ", "else": "else:", "row": "row:", "leave": "leave:"}.get(
        keyword, f"{keyword}: "
    )


def _find_parent(above: list[str], before: str) -> str:
    """The keyword of the line that a line with this indent is inside; empty at the top."""
    width = len(before) - len(before.lstrip())
    for other in reversed(above):
        if other.strip() and len(other) - len(other.lstrip()) < width:
            match = _KEYWORD.match(other)
            word = match[1].casefold() if match is not None else STEP
            return "again" if word == "again if" else word
    return ""


def _list_performers(lines: list[str]) -> list[str]:
    """The performers of all steps, each once."""
    names: dict[str, None] = {}
    for line in lines:
        for field in line.split("|")[1:2]:
            name = field.strip()
            if name and not re.fullmatch(r"s[\d,\s s-]*|#\S*", name) and not name.startswith(
                tuple(word.rstrip("#") for word in _FIELDS)
            ):  # fmt: skip
                names[name] = None
    return list(names)
