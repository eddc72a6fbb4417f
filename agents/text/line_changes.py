"""Changes of a draft by the numbers of its lines: `7: new text`, `7-`, `7+ line behind`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from orgflow_ir.model.records import NamedTuple

_CHANGE = re.compile(r"[ \t]*[-*•]?[ \t]*(?:line[ \t]+)?(\d{1,5})[ \t]*([:+-])(.*)", re.IGNORECASE)
_UNCHANGED = re.compile(r"\W*ok(?:ay)?\W*", re.IGNORECASE)


class LineChanges(NamedTuple):
    """Changes of numbered lines.

    Attributes:
        replaced: the new text by the number of the line; `None` removes it.
        added: the lines behind a line, by its number; 0 is the beginning.
    """

    replaced: Mapping[int, str | None]
    added: Mapping[int, tuple[str, ...]]


def number_lines(lines: Sequence[str]) -> str:
    """The lines with their numbers, from 1; each keeps its indent.

    Example:
        >>> print(number_lines(["repeat:", "  test goods"]))
        1: repeat:
        2:   test goods
    """
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1))


def is_unchanged(answer: str) -> bool:
    """Whether an answer says that nothing is to be changed."""
    return _UNCHANGED.fullmatch(answer) is not None


def read_changes(answer: str) -> LineChanges | None:
    """The changes in an answer, `None` if no line of it is one."""
    replaced: dict[int, str | None] = {}
    added: dict[int, list[str]] = {}
    for row in answer.splitlines():
        match = _CHANGE.fullmatch(row)
        if match is None:
            continue
        number, sign, text = int(match[1]), match[2], match[3].rstrip().removeprefix(" ")
        if sign == "-":
            if text.strip():  # prose such as `3 - 4 days`
                continue
            replaced[number] = None
        elif sign == "+" or number in replaced:
            added.setdefault(number, []).append(text)
        else:
            replaced[number] = text
    if not replaced and not added:
        return None
    return LineChanges(replaced, {number: tuple(texts) for number, texts in added.items()})


def apply_changes(lines: Sequence[str], changes: LineChanges) -> tuple[tuple[str, ...], ...]:
    """The changed lines: as written, and with the indent of the numbered lines for those without
    one, if that makes a difference. Numbers behind the last line add lines."""
    as_written = _change_lines(lines, changes, inherit=False)
    inherited = _change_lines(lines, changes, inherit=True)
    return (as_written,) if as_written == inherited else (as_written, inherited)


def _change_lines(lines: Sequence[str], changes: LineChanges, *, inherit: bool) -> tuple[str, ...]:
    last = max((len(lines), *changes.replaced, *changes.added))
    changed: list[str] = []
    for number in range(min(last, len(lines) + _MOST_ADDED) + 1):
        old = lines[number - 1] if 1 <= number <= len(lines) else None
        indent = old[: len(old) - len(old.lstrip())] if old is not None and inherit else ""
        new = changes.replaced.get(number, old)
        texts = ([] if new is None else [new]) + list(changes.added.get(number, ()))
        changed += [text if text[:1].isspace() else indent + text for text in texts if text.strip()]
    return tuple(changed)


_MOST_ADDED = 1_000
"""Maximum number of lines behind the last one."""
