"""Names people read: node names, decision variables and their values, made from labels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from orgflow_ir.model import Model, Process

_RESERVED = frozenset(
    {
        "__proto__", "constructor", "prototype", "toString", "toLocaleString", "valueOf",
        "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "__defineGetter__",
        "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
    }
)  # fmt: skip
"""n8n keeps nodes and run data in plain JavaScript objects, where these keys mean something."""

_JS_WORDS = frozenset(
    {
        "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete",
        "do", "else", "enum", "export", "extends", "false", "finally", "for", "function", "if",
        "import", "in", "instanceof", "new", "null", "return", "super", "switch", "this", "throw",
        "true", "try", "typeof", "var", "void", "while", "with", "yield", "let", "static", "await",
    }
)  # fmt: skip
MAX_NAME = 100
"""Longest node name in characters: longer ones are cut, the note keeps the whole label."""


def plain(text: str) -> str:
    """One line of text that n8n does not take for an expression: no control characters, white
    space folded, no leading `=` (N8N.md: a parameter that starts with `=` is evaluated)."""
    cleaned = text
    if not text.isprintable():  # which all but few labels are
        cleaned = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    return " ".join(cleaned.split()).lstrip("= ").strip()


class Names:
    """Hands out unique node names."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, wanted: str, fallback: str = "Step") -> str:
        """`wanted` as a node name, with a number behind it where it is taken already."""
        base = plain(wanted) or plain(fallback) or "Step"
        if len(base) > MAX_NAME:
            base = base[: MAX_NAME - 1].rstrip() + "…"
        if base in _RESERVED:
            base += " (step)"
        name = base
        number = self._next.get(base, 2)
        while name in self._taken:
            name = f"{base} ({number})"
            number += 1
        self._next[base] = number
        self._taken.add(name)
        return name


_FOLD = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "đ": "d", "ł": "l", "Æ": "AE", "Ø": "O"})


def slug(text: str, *, words: int = 8) -> str:
    """A field name: lower-case ASCII words joined by `_`; the empty string where none is left."""
    ascii_text = unicodedata.normalize("NFKD", text.translate(_FOLD))
    ascii_text = ascii_text.encode("ascii", "ignore").decode().lower()
    parts = re.findall(r"[a-z0-9]+", ascii_text.replace("'", ""))
    return "_".join(parts[:words])


def field_name(text: str, fallback: str) -> str:
    """`slug(text)` as something that can stand behind a dot in JavaScript."""
    name = slug(text) or slug(fallback) or "decision"
    if name[0].isdigit() or name in _JS_WORDS or name in _RESERVED:
        name = f"v_{name}"
    return name


def unique(values: Iterable[str], fallback: str) -> list[str]:
    """The values in order, each made non-empty and different from those before it."""
    result: list[str] = []
    for value in values:
        base = value or fallback
        candidate, number = base, 2
        while candidate in result:
            candidate = f"{base} ({number})"
            number += 1
        result.append(candidate)
    return result


def title(model: Model, process: Process) -> str:
    """The process's name, its pool's, the model's or the file's: what the workflow is called."""
    pool = next((p.name for p in model.pools if p.process == process.id), "")
    stem = model.source.replace("\\", "/").rsplit("/", 1)[-1].split(".")[0]
    return next((plain(n) for n in (process.name, pool, model.name, stem) if plain(n)), "Process")
