"""The open rows of a process at a deployment: which go on, and which have no counterpart.

A row whose element the new canvas does not have would be claimed and then end in nothing. So a
deployment needs a counterpart for each of these (`--migrate`), and moves the rows by conditional
updates after it has replaced the canvas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from orgflow.backends.n8n.server.canvas_elements import elements_of
from orgflow.backends.n8n.server.support_rows import SupportServer, next_element, open_instances

from orgflow_ir.model.records import NamedTuple

Json = dict[str, Any]

_PASSES: Final = 5
_FOLLOWED: Final = frozenset({"task", "timer", "receiver", "branch", "start"})
"""Kinds of rows from which a process always goes on at their own element; a gateway goes on at an
event, and a scope may end with its instance."""


class RowMove(NamedTuple):
    """Rows of one element that get another one.

    Attributes:
        before, after: the elements.
        paths: the path of the form of a task before and after, if both have one.
    """

    before: str
    after: str
    paths: tuple[str, str] | None = None


class OpenRows(NamedTuple):
    """The open rows of a workflow that a deployment replaces.

    Attributes:
        workflow: its id on the server.
        instances: number of open process instances.
        going_on: number of rows that go on in the new version.
        moves: elements that change.
        lost: number of rows by element that have no counterpart.
        lost_before: the same for elements that the present version lacks already.
        titles: titles of tasks by element.
        candidates: elements that only the new version has.
    """

    workflow: str
    instances: int
    going_on: int
    moves: tuple[RowMove, ...] = ()
    lost: Mapping[str, int] = {}
    lost_before: Mapping[str, int] = {}
    titles: Mapping[str, str] = {}
    candidates: tuple[str, ...] = ()


def compare_rows(
    existing: Mapping[str, Any],
    wanted: Mapping[str, Any],
    rows: Iterable[Json],
    migrations: Mapping[str, str],
) -> OpenRows | None:
    """The fate of the open rows of a workflow when another content replaces it; `None` if there
    are none. `migrations` are new elements by old ones."""
    rows = tuple(rows)
    if not rows:
        return None
    old, new = elements_of(existing), elements_of(wanted)
    named = [(row, element) for row in rows if (element := next_element(row))]
    counts = Counter(element for row, element in named if _is_followed(row, element, old, new))
    moved = {
        element: migrations[element]
        for element in counts
        if migrations.get(element) in new and element not in new
    }
    lost = {e: n for e, n in sorted(counts.items()) if e not in new and e not in moved}
    moves = [RowMove(e, moved[e], _changed_path(old.get(e, ""), new[moved[e]])) for e in moved]
    moves += [
        RowMove(element, element, paths)
        for element in sorted(counts.keys() & new.keys())
        if (paths := _changed_path(old.get(element, ""), new[element]))
    ]
    going = sum(number for element, number in counts.items() if element not in lost)
    return OpenRows(
        str(existing["id"]),
        len(open_instances(rows)),
        going,
        tuple(sorted(moves)),
        {e: n for e, n in lost.items() if e in old},
        {e: n for e, n in lost.items() if e not in old},
        {str(row["element"]): str(row["title"] or "") for row in rows},
        tuple(sorted(new.keys() - old.keys())),
    )


def _is_followed(
    row: Mapping[str, Any], element: str, old: Mapping[str, str], new: Mapping[str, str]
) -> bool:
    """Whether the process goes on at this element; unknown for a canvas that names none."""
    if not old or not new:
        return False
    return element in old or str(row["kind"]) in _FOLLOWED


def _changed_path(before: str, after: str) -> tuple[str, str] | None:
    return (before, after) if before and after and before != after else None


def read_open_rows(
    server: SupportServer | None,
    existing: Mapping[str, Any],
    wanted: Mapping[str, Any],
    migrations: Mapping[str, str],
) -> OpenRows | None:
    """The fate of the open rows of a workflow. Raises `ServerError`."""
    if server is None:
        return None
    rows = server.live_rows("workflow", str(existing["id"]))
    return compare_rows(existing, wanted, rows, migrations)


def move_rows(server: SupportServer, plan: OpenRows) -> int:
    """Give open rows their new elements and links, after the workflow was replaced; returns how
    many were moved. An execution of the old version may still write one, so it looks repeatedly.
    Raises `ServerError`."""
    if not plan.moves:
        return 0
    moves = {move.before: move for move in plan.moves}
    count = 0
    for _ in range(_PASSES):
        changed = 0
        for row in server.live_rows("workflow", plan.workflow):
            move = moves.get(next_element(row))
            values = _moved_values(row, move) if move is not None else {}
            if values and row["state"] != "staged":
                changed += server.change_row(row, values)
        count += changed
        if not changed:
            return count
    return count


def _moved_values(row: Mapping[str, Any], move: RowMove) -> dict[str, str]:
    values = {}
    for column in ("element", "event"):
        if row[column] == move.before != move.after:
            values[column] = move.after
    link = str(row["link"] or "")
    if move.paths is not None:
        before, after = move.paths
        place, question, query = link.partition("?")
        if place.endswith(f"/{before}"):
            place = place.removesuffix(before) + after
            values["link"] = f"{place}{question}{query}"
    return values
