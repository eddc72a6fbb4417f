"""Readable names: node names and decision variables, derived from labels."""

from __future__ import annotations

import re

from orgflow.backends.javascript.identifiers import JS_WORDS

from orgflow_ir.model import Event, Model, Process, Task
from orgflow_ir.model import element_names as naming
from orgflow_ir.model.element_names import one_line, slug

_RESERVED = frozenset(
    {
        "__proto__", "constructor", "prototype", "toString", "toLocaleString", "valueOf",
        "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "__defineGetter__",
        "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
    }
)  # fmt: skip
"""n8n keeps nodes and run data in plain JavaScript objects, in which these keys have a meaning."""

# What means something in the Markdown of the editor: links also without brackets, `@[x](y)`, which
# loads a video and may end in code further on, emoji (`:x:`, `;)`), `(c)`, dashes. An underscore
# inside a word means nothing, nor do a colon or full stop before a blank.
_MARKUP = re.compile(
    r"[\\`*\[\]<>~&@|=\"]|(?<![^\W_])_|_(?![^\W_])|[:.](?=\S)|/(?=/)|-(?=[-)])|(?<=-)-"
    r"|;(?=[-)])|\((?=\w{1,2}\))|#(?=#*$)"
)
MAX_NAME = 100
"""Maximum length of a node name in characters: longer ones are shortened, and the note contains the
whole label."""


def plain(text: str) -> str:
    """One line of text that n8n does not evaluate: no leading `=` (N8N.md: a parameter that starts
    with `=` is evaluated)."""
    return one_line(text).lstrip("= ").strip()


def literal(text: str) -> str:
    """Text as Markdown that shows it verbatim: a label of a model is not a link, and loads no
    picture when the editor opens a note."""
    return _MARKUP.sub(r"\\\g<0>", text)


def quoted(text: str) -> str:
    """Text in a code span, without any Markdown."""
    if "`" not in text:
        return f"`{text}`"
    fence = "`" * (1 + max(map(len, re.findall("`+", text))))
    return f"{fence} {text} {fence}"


class Names:
    """Assigns unique node names."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, wanted: str, fallback: str = "Step") -> str:
        """`wanted` as a node name, with a number appended if it is taken."""
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


def field_name(text: str, fallback: str) -> str:
    """`slug(text)` in a form that can follow a dot in JavaScript and in n8n, which refuses every
    expression with `.constructor`."""
    name = slug(text) or slug(fallback) or "decision"
    refused = name in JS_WORDS or name in _RESERVED or name.startswith("constructor")
    if name[0].isdigit() or refused:
        name = f"v_{name}"
    return name


def is_refused(name: str) -> bool:
    """Whether n8n refuses every expression that reads a field of this name."""
    return name in _RESERVED or name.startswith("constructor")


def title(model: Model, process: Process) -> str:
    """The name of a process's workflow."""
    return plain(naming.title(model, process)) or "Process"


def message_name(element: Task | Event, model: Model) -> str:
    """The name of the message or signal that an element sends, otherwise its own."""
    ref = element.message if isinstance(element, Task) else element.definitions[0].ref
    entries = (*model.catalog.messages, *model.catalog.signals)
    entry = next((candidate for candidate in entries if candidate.id == ref), None)
    return plain(entry.name if entry is not None else "") or plain(element.caption)
