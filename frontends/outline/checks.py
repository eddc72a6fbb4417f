"""Faults of an outline that concern several lines: jumps out of branches that a join waits for,
lines that never run, references without a target."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.backends.outline.format.line_forms import STEP, Line, Outline
from orgflow.frontends.outline.faults import Fault

from orgflow_ir.model.event_words import read_event
from orgflow_ir.model.records import NamedTuple

_LAST = frozenset(("end", "stop", "leave", "go to"))
"""Keywords behind which the flow does not go on."""

_OWN_SCOPE = frozenset(("part", "each"))
"""Keywords of lines that end, and are left, by themselves."""


class _Place(NamedTuple):
    """What is around a line.

    Args:
        scope: the line that it is a part of; `None` in a process.
        in_branch: whether a `together:` of the same scope waits for it.
        in_loop: whether a `repeat:` is around it that it may leave.
        loop_in_branch: whether only the `together:` separates it from a `repeat:`.
    """

    scope: int = 0
    in_branch: bool = False
    in_loop: bool = False
    loop_in_branch: bool = False


def find_faults(outline: Outline) -> tuple[Fault, ...]:
    """The faults of all lines, in their order."""
    faults = list(_find_line_faults(outline))
    for lines in split_processes(outline):
        faults += _find_reference_faults(lines)
    return tuple(sorted(faults, key=lambda fault: (fault.line, fault.column)))


def split_processes(outline: Outline) -> list[tuple[Line, ...]]:
    """The lines of each process, without its `process:` line."""
    before = tuple(line for line in outline.lines if line.keyword != "process")
    rest = [line.children for line in outline.lines if line.keyword == "process"]
    return [before, *rest] if before or not rest else rest


def _find_line_faults(outline: Outline) -> Iterator[Fault]:
    """Faults of lines by what is around them; a stack, since outlines may be deep."""
    stack = [(lines, _Place(), True) for lines in reversed(split_processes(outline))]
    while stack:
        lines, place, top = stack.pop()
        yield from _find_sequence_faults(lines)
        for line in lines:
            yield from _find_own_faults(line, place)
            inner = _inner_place(line, place)
            if top and line.keyword == "on":
                inner = _Place(scope=line.line)
            stack.append((line.children, inner, False))


def _inner_place(line: Line, place: _Place) -> _Place:
    """What is around the lines inside a line."""
    if line.keyword in _OWN_SCOPE:
        return _Place(scope=line.line)
    if line.keyword == "on" and line.qualifier == "also":
        return _Place(scope=place.scope)
    if line.keyword == "together":
        around = place.in_loop or place.loop_in_branch
        return _Place(place.scope, in_branch=True, loop_in_branch=around)
    if line.keyword == "repeat":
        return place._replace(in_loop=True)
    return place


def _find_sequence_faults(lines: tuple[Line, ...]) -> Iterator[Fault]:
    """Lines behind one that the flow does not pass."""
    ended: Line | None = None
    for line in lines:
        if line.keyword in ("on", "start", "again", "if", "else", "row"):
            continue
        if ended is not None and not line.id:
            yield _make_fault(
                "unread", line, f"the line never runs, since `{ended.keyword}:` is before it",
                "move it, or remove one of the two lines",
            )  # fmt: skip
            return
        ended = line if line.keyword in _LAST else None


def _find_own_faults(line: Line, place: _Place) -> Iterator[Fault]:
    if line.keyword == "end" and place.in_branch:
        yield _make_fault(
            "ended-branch", line,
            "`end:` is in a branch of `together:`, whose other branches would wait forever",
            "write it behind `together:`, or put the branch into a `part:`, which alone ends",
        )  # fmt: skip
    if line.keyword == "leave" and not place.in_loop:
        if place.loop_in_branch:
            yield _make_fault(
                "ended-branch", line,
                "`leave:` is in a branch of `together:`, whose other branches would wait forever",
                "write it behind `together:`, inside the `repeat:`",
            )  # fmt: skip
        else:
            yield _make_fault(
                "reference", line, "`leave:` is not inside a `repeat:`",
                "write `end:` to end the process, or `go to: #id` to go on at another line",
            )  # fmt: skip
    if line.keyword == "on" and read_event(line.text) is None:
        yield _make_fault(
            "unread", line, f"`{line.text}` is no event" if line.text else "`on:` has no event",
            "write `on: after 3 days`, `on: until 1 May`, `on: receive MESSAGE from WHO` or "
            "`on: error NAME`",
        )  # fmt: skip
    if line.keyword == "first":
        yield from _find_waiting_faults(line)


def _find_waiting_faults(line: Line) -> Iterator[Fault]:
    """Events that cannot be waited for."""
    for child in line.children:
        event = read_event(child.text)
        if event is not None and event.kind == "error":
            yield _make_fault(
                "unread", child, "`first:` cannot wait for an error",
                "write `on: error NAME, stop` inside the step or part that fails",
            )  # fmt: skip


def _find_reference_faults(lines: tuple[Line, ...]) -> Iterator[Fault]:
    """References within one process: each id once, each target in the same part."""
    owners: dict[str, tuple[Line, int]] = {}
    uses: list[tuple[Line, int, tuple[str, ...]]] = []
    events = {id(line) for line in lines if line.keyword == "on"}
    stack: list[tuple[tuple[Line, ...], int, tuple[str, ...]]] = [(lines, 0, ())]
    while stack:
        inner, scope, branches = stack.pop()
        for line in inner:
            if line.id and line.id in owners:
                yield _make_fault(
                    "reference", line, f"`#{line.id}` is the id of line {owners[line.id][0].line}",
                    "give each line another id",
                )  # fmt: skip
            elif line.id:
                owners[line.id] = (line, scope)
            uses.append((line, scope, branches))
            ids = tuple(c.id for c in line.children if c.id) if line.keyword == "together" else ()
            own = line.line if line.keyword in _OWN_SCOPE or _is_top_event(line, events) else scope
            stack.append((line.children, own, ids))
    for line, scope, branches in uses:
        yield from _find_target_faults(line, scope, owners)
        yield from _find_order_faults(line, branches)


def _is_top_event(line: Line, events: set[int]) -> bool:
    """Whether a line is an event of the whole process, which has a scope of its own."""
    return line.keyword == "on" and id(line) in events


def _find_target_faults(
    line: Line, scope: int, owners: dict[str, tuple[Line, int]]
) -> Iterator[Fault]:
    if line.keyword != "go to":
        return
    target = owners.get(line.text)
    if target is None:
        yield _make_fault(
            "reference", line, f"no line has the id `#{line.text}`" if line.text
            else "`go to:` names no line",
            "write the id at the end of the line to go to: `pay invoice | clerk | #pay`",
        )  # fmt: skip
    elif target[1] != scope or target[0].keyword in ("if", "else", "row", "on", "again", "start"):
        yield _make_fault(
            "reference", line, f"the flow cannot go to `#{line.text}`, which is "
            + ("in another part" if target[1] != scope else f"an `{target[0].keyword}:`"),
            "go to a step of the same part",
        )  # fmt: skip


def _find_order_faults(line: Line, branches: tuple[str, ...]) -> Iterator[Fault]:
    for id in line.after:
        if id not in branches or id == line.id:
            yield _make_fault(
                "reference", line, f"`#{id}` is not another branch of the same `together:`",
                "write `after #id` at a branch, and the id at the branch to wait for",
            )  # fmt: skip
    if line.keyword == "together":
        yield from _find_circles(line)


def _find_circles(line: Line) -> Iterator[Fault]:
    """A branch that waits for itself, directly or over others."""
    waits = {child.id: child.after for child in line.children if child.id}
    done: set[str] = set()
    for child in line.children:
        path: dict[str, None] = {}
        stack = [(child.id, False)]
        while stack:
            id, left = stack.pop()
            if left:
                path.pop(id, None)
                done.add(id)
            elif id in path:
                yield _make_fault(
                    "reference", child, f"`{child.text or STEP}` waits for itself by `after`",
                    "remove one `after`",
                )  # fmt: skip
                return
            elif id in waits and id not in done:
                path[id] = None
                stack.append((id, True))
                stack += [(other, False) for other in waits[id]]


def _make_fault(kind: str, line: Line, message: str, help: str) -> Fault:
    return Fault(kind, line.line, line.column, message, help)  # type: ignore[arg-type]
