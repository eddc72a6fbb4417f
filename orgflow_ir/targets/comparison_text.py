"""A comparison as text: behaviour as two runs in parallel, then one line per change."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterable, Iterator

from orgflow_ir.model.printable import escape_controls
from orgflow_ir.targets.comparison import Behaviour, Change, Comparison, Part, Row

_FIRST, _LAST = 4, 16
"""Number of rows shown of a long run, at its beginning and before the difference."""
_LINES = 6
"""Maximum number of lines shown of a changed text."""
_SHOWN = 16
"""Number of characters shown before the difference of two long lines."""
_MOST = 12
"""Maximum number of changes of one node shown in full."""

_SIGNS = {"added": "+", "removed": "-", "renamed": "~", "changed": "~"}
_MANY = {
    "node": "nodes", "element": "elements", "condition": "conditions", "parameter": "parameters",
    "setting": "settings", "connection": "connections", "note": "notes",
    "sticky note": "sticky notes", "flow": "flows", "workflow": "workflow",
}  # fmt: skip


def comparison_text(comparison: Comparison, width: int = 80) -> str:
    """The whole comparison; empty if nothing differs. `width` in columns."""
    lines: list[str] = []
    for note in comparison.notes:
        lines += [*_wrap_text(f"note: {note}", width, ""), ""]
    shown = [part for part in comparison.parts if part.differs or not comparison.layout_only]
    for part in shown:
        lines += [*_part_lines(part, width, single=len(comparison.parts) == 1), ""]
    if comparison.layout_only:
        lines.append("only layout differs: positions, ids or order")
    elif not comparison.differs:
        lines.append(_summarise_comparison(comparison))
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _summarise_comparison(comparison: Comparison) -> str:
    if comparison.verdict == "bounded":
        return "no difference was found"
    if comparison.verdict == "unknown":
        return "no difference, but behaviour was not compared"
    return "no difference"


def _part_lines(part: Part, width: int, *, single: bool) -> Iterator[str]:
    name = _one_line(part.name) or "workflow"
    if part.behaviour is None:
        which = "old" if part.new is None else "new"
        yield f"{name}: only in the {which} version"
        return
    if not part.differs and not single and part.behaviour.verdict == "same":
        yield f"{name}: no difference"
        return
    yield from _wrap_text(f"{name}: {_verdict_text(part, part.behaviour)}", width, "")
    yield from _behaviour_lines(part.behaviour, width)
    yield from _change_groups(part.changes, width)


def _verdict_text(part: Part, behaviour: Behaviour) -> str:
    moved = any(
        c.kind in ("added", "removed") and c.what in ("node", "element") for c in part.changes
    )
    but = " except for additions and removals" if moved else ""
    given = ", if " + " and ".join(behaviour.assumed) if behaviour.assumed else ""
    match behaviour.verdict:
        case "same" | "changed":
            return f"same behaviour{but}{given}"
        case "bounded":
            return f"no difference was found{but} within a bound{given}: {behaviour.reason}"
        case "unknown":
            return f"behaviour not judged: {behaviour.reason}"
        case _:
            return "different behaviour"


# -- runs ----------------------------------------------------------------------------------------


def _behaviour_lines(behaviour: Behaviour, width: int) -> Iterator[str]:
    if behaviour.verdict != "different":
        return
    yield from _wrap_text(behaviour.reason, width, "  ")
    if not behaviour.run:
        return
    yield ""
    column = max(12, (width - 6) // 2)
    yield f"    {'old':<{column}}{'new'}"
    run = list(behaviour.run)
    if len(run) > _FIRST + _LAST + 1:
        left_out = len(run) - _FIRST - _LAST
        middle: list[Row | int] = [*run[:_FIRST], left_out, *run[-_LAST:]]
    else:
        middle = [*run]
    for row in middle:
        if isinstance(row, int):
            yield f"    … {row} more steps on both sides"
            continue
        old, new = (_cut_line(_one_line(text), column - 2) for text in (row.old, row.new))
        mark = " " if row.same and row.old and row.new else "·" if row.same else "≠"
        yield f"  {mark} {old:<{column}}{new}"


def _cut_line(text: str, width: int) -> str:
    """A long line loses its middle: a name's end and the branch taken are what tell it apart."""
    if len(text) <= width:
        return text
    tail = min(width // 2, 14)
    return f"{text[: width - tail - 1]}…{text[-tail:]}"


# -- changes -------------------------------------------------------------------------------------


def _change_groups(changes: Iterable[Change], width: int) -> Iterator[str]:
    groups: dict[str, list[Change]] = {}
    for change in changes:
        groups.setdefault(change.what, []).append(change)
    for what, items in groups.items():
        yield ""
        yield f"  {_MANY.get(what, what)}"
        shown: dict[str, int] = {}
        for change in items:
            shown[change.name] = shown.get(change.name, 0) + 1
            if shown[change.name] <= _MOST:
                yield from _change_lines(change, width)
        for name, count in shown.items():
            if count > _MOST:
                yield f"      and {count - _MOST} more of `{name}`"


def _change_lines(change: Change, width: int) -> Iterator[str]:
    sign = _SIGNS[change.kind]
    name = _one_line(change.name)
    detail = _one_line(change.detail)
    if change.kind == "renamed":
        renaming = f"`{_one_line(change.old or '')}` is now `{_one_line(change.new or '')}`"
        yield from _wrap_text(f"{sign} {renaming}{f', {detail}' if detail else ''}", width, "    ")
        return
    value = change.new if change.new is not None else change.old
    if change.kind in ("added", "removed") and change.what in (
        "node", "element", "connection", "flow",
    ):  # fmt: skip
        kind = f" ({value})" if value and value != change.name else ""
        yield from _wrap_text(f"{sign} {name}{kind} {detail}", width, "    ")
        return
    yield from _wrap_text(f"{sign} {name}{f': {detail}' if detail else ''}", width, "    ")
    yield from _value_lines(change.old, change.new, width)


def _value_lines(old: str | None, new: str | None, width: int) -> Iterator[str]:
    before = [] if old is None else old.splitlines() or [""]
    after = [] if new is None else new.splitlines() or [""]
    if len(before) > 1 or len(after) > 1:
        lines = [
            line
            for line in difflib.ndiff(before, after)
            if line.startswith(("+ ", "- ")) and line[2:].strip()
        ]
    else:
        lines = [*(f"- {line}" for line in before), *(f"+ {line}" for line in after)]
    if len(lines) == 2 and max(map(len, lines)) > width - 8:
        lines = _align_lines(lines[0], lines[1])
    for line in lines[:_LINES]:
        yield "        " + _cut_line(_escape_control(line), width - 8)
    if len(lines) > _LINES:
        yield f"        … {len(lines) - _LINES} more lines"


def _align_lines(old: str, new: str) -> list[str]:
    """Two long lines without most of what they have in common at the beginning."""
    same = 2
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    left_out = same - 2 - _SHOWN
    if left_out < _SHOWN:
        return [old, new]
    return [f"{line[:2]}…{line[2 + left_out :]}" for line in (old, new)]


def _wrap_text(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        _escape_control(text),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _one_line(text: str) -> str:
    return " ".join(_escape_control(text).split())


def _escape_control(text: str) -> str:
    """Characters of a file that act on a terminal, tabs included, shown as their numbers."""
    return escape_controls(text.replace("\t", "\\x09"))
