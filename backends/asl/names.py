"""Names in a state machine: states, fields of the token, error names."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.model.element_names import one_line, slug

MAX_NAME = 80
"""Longest state name in characters (Amazon States Language, "States")."""

MAX_FIELD = 60
"""Maximum length of generated field names, so that paths stay readable."""

_UNQUOTABLE = frozenset("'\"\\")
"""Characters that path interpreters read differently between quotes."""

MAX_ERROR = 200
"""Maximum length of generated error names; Step Functions accepts 256 characters."""


class StateNames:
    """Assigns state names, unique in the whole state machine."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, wanted: str, fallback: str = "State") -> str:
        """`wanted` as a state name, with a number appended if it is taken."""
        base = one_line(wanted) or one_line(fallback) or "State"
        base = _cut_text(base, MAX_NAME)
        name, number = base, self._next.get(base, 2)
        while name in self._taken:
            tail = f" ({number})"
            name = _cut_text(base, MAX_NAME - len(tail)) + tail
            number += 1
        self._next[base] = number
        self._taken.add(name)
        return name


class FieldNames:
    """Assigns the names of sibling fields in the token."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, wanted: str, fallback: str) -> str:
        """A field name derived from `wanted`, unique among those assigned."""
        base = field_name(wanted, fallback)
        name, number = base, self._next.get(base, 2)
        while name in self._taken:
            name = f"{base}_{number}"
            number += 1
        self._next[base] = number
        self._taken.add(name)
        return name


def _cut_text(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def field_name(text: str, fallback: str) -> str:
    """`text` in a form that can follow a dot in a path: ASCII letters, digits and `_`."""
    name = (slug(text) or slug(fallback) or "field")[:MAX_FIELD].rstrip("_")
    return f"v_{name}" if name[0].isdigit() else name


def safe_path(parts: tuple[str, ...]) -> bool:
    """Whether a path can read fields of these names, with dots or in brackets."""
    return all(p.isprintable() and not _UNQUOTABLE.intersection(p) for p in parts)


def is_dotted(part: str) -> bool:
    """Whether a field can follow a dot in a path."""
    return part.isascii() and part.isidentifier()


def path_of(root: str, parts: Iterable[str]) -> str:
    """The path of a field below another path; names that are not identifiers are in brackets."""
    return root + "".join(f".{p}" if is_dotted(p) else f"['{p}']" for p in parts)


def error_name(text: str, fallback: str) -> str:
    """An error name of a Fail state. Names that begin with `States.` are reserved by the
    language."""
    name = _cut_text(one_line(text) or one_line(fallback) or "Error", MAX_ERROR)
    return f"Error {name}" if name.startswith("States.") else name
