"""The open work of one process instance as a value, and what the support set does with it.

A segment takes effect as a whole at its commit (WAITING.md, section 5), so a state has no running
or staged rows: only those that are open. The operations are those of `waiting.row_model`, with
which tests compare them. Rows whose host has been claimed can never count and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgflow.backends.n8n.verify.row_expressions import RowKind, RowTemplate

from orgflow_ir.model.records import NamedTuple

Path = tuple[int, ...]
"""The numbers of the rows of the enclosing scopes, outermost first; empty for the process."""

_NO_HOST = -1
_CLOSED = -2
"""A scope that is no longer open, of rows that stay in it indefinitely."""


class OpenRow(NamedTuple):
    """An open row.

    Attributes:
        number: identifies the row in its state; a later row has a higher number.
        kind, element, branch, needed, link, at_once: as in `RowTemplate`.
        scope: the scopes around it.
        host: the number of the row that its event is attached to; -1 if there is none.
        interrupts: whether its event claims the host.
    """

    number: int
    kind: RowKind
    element: str
    scope: Path = ()
    host: int = _NO_HOST
    interrupts: bool = True
    branch: str = ""
    needed: int = 0
    link: str = ""
    at_once: bool = False


class OpenWork(NamedTuple):
    """The open rows of an instance by ascending number; `ended` once its own row is closed."""

    rows: tuple[OpenRow, ...] = ()
    ended: bool = False

    def find(self, number: int) -> OpenRow | None:
        """The row with a number, if it is open."""
        return next((row for row in self.rows if row.number == number), None)


class SegmentToken(NamedTuple):
    """The part of a claimed row that its segment keeps; `attached` is the host of an event that
    does not interrupt."""

    kind: str
    element: str
    event: str
    scope: Path = ()
    attached: int = _NO_HOST


class BrokenRows(ValueError):
    """Rows that the support set cannot write; the text is the reason."""


def start_token(element: str) -> SegmentToken:
    """The token of the segment from a start to the first wait."""
    return SegmentToken("start", element, element)


def claim_event(work: OpenWork, number: int) -> tuple[OpenWork, SegmentToken] | None:
    """Claim what an open row decides by its event; `None` if nothing comes of it."""
    row = work.find(number)
    assert row is not None
    if row.host == _NO_HOST or not row.interrupts:
        return claim_row(work, row, row.element)
    host = work.find(row.host)
    return None if host is None else claim_row(work, host, row.element)


def claim_row(work: OpenWork, row: OpenRow, event: str) -> tuple[OpenWork, SegmentToken]:
    """Claim an open row: its events, and everything below a scope, are cancelled."""
    attached = _NO_HOST if row.interrupts else row.host
    token = SegmentToken(row.kind, row.element, event, row.scope, attached)
    gone = {row.number}
    if row.kind == "scope" and row.interrupts:
        gone |= {other.number for other in work.rows if row.number in other.scope}
    return _remove_rows(work, gone), token


def _remove_rows(work: OpenWork, gone: set[int]) -> OpenWork:
    """The state without some rows, and without the events of what is no longer open."""
    rows = tuple(row for row in work.rows if row.number not in gone)
    live = {row.number for row in rows} | {_NO_HOST}
    return work._replace(rows=tuple(row for row in rows if row.host in live))


def commit_segment(
    work: OpenWork,
    token: SegmentToken,
    rows: Iterable[RowTemplate],
    *,
    end: bool = False,
    leave: str = "",
    levels: int = 1,
) -> tuple[OpenWork, SegmentToken | None]:
    """The state after a segment, and the token with which the same execution goes on, if any.
    Raises `BrokenRows`."""
    written = list(rows)
    work = _add_rows(work, token, written)
    branch = next((row for row in written if row.kind == "branch"), None)
    if branch is not None:
        joined = join_branches(work, branch.element, token.scope, branch.needed)
        return joined if joined is not None else (work, None)
    if end or leave:
        return _end_scope(work, token.scope, leave, levels)
    return work, None


def _add_rows(work: OpenWork, token: SegmentToken, rows: list[RowTemplate]) -> OpenWork:
    first = max((row.number for row in work.rows), default=0) + 1
    named = {row.ref: first + place for place, row in enumerate(rows) if row.ref}
    scopes: dict[int, Path] = {}
    added: list[OpenRow] = []
    for number, row in enumerate(rows, first):
        scope = token.scope
        if row.inside:
            if row.inside not in named:
                raise BrokenRows(f"no row is named {row.inside}, in which {row.element} should be")
            outer = named[row.inside]
            scope = (*scopes.get(outer, token.scope), outer)
        scopes[number] = scope
        if row.repeats:
            continue  # an event that does not interrupt counts once while its step is active
        name = row.attached_to or row.host
        if name and name not in named:
            continue  # its host is not open: it can never count
        host = named[name] if name else _NO_HOST
        added.append(
            OpenRow(
                number, row.kind, row.element, scope, host, not row.attached_to, row.branch,
                row.needed, row.link, row.at_once,
            )
        )  # fmt: skip
    return work._replace(rows=(*work.rows, *added))


def join_branches(
    work: OpenWork, element: str, scope: Path, needed: int
) -> tuple[OpenWork, SegmentToken] | None:
    """Consume the branches that have arrived at a join; `None` if one is missing."""
    arrived = [
        row
        for row in work.rows
        if row.kind == "branch" and row.element == element and row.scope == scope
    ]
    if not arrived or len({row.branch for row in arrived}) < max(1, needed):
        return None
    token = SegmentToken("branch", element, element, scope)
    return _remove_rows(work, {row.number for row in arrived}), token


def _end_scope(
    work: OpenWork, scope: Path, leave: str, levels: int
) -> tuple[OpenWork, SegmentToken | None]:
    """End the scope of a token if nothing in it is open, or because an event leaves it."""
    around = (0, *scope)
    if not 1 <= levels <= len(around):
        return work, None
    target = around[-levels]
    if not leave and has_open_rows(work, scope):
        return work, None
    if target == 0:
        return OpenWork(ended=True), None
    row = work.find(target)
    return (work, None) if row is None else claim_row(work, row, leave or "end")


def has_open_rows(work: OpenWork, scope: Path) -> bool:
    """Whether anything but events is open in a scope."""
    depth = len(scope)
    return any(row.scope[:depth] == scope and row.host == _NO_HOST for row in work.rows)


def list_sweeps(work: OpenWork) -> Iterator[tuple[OpenWork, SegmentToken | None]]:
    """The work that the sweep finishes: complete joins, and scopes in which nothing is open."""
    if not work.ended and not has_open_rows(work, ()):
        yield OpenWork(ended=True), None
    joins: dict[tuple[str, Path], int] = {}
    for row in work.rows:
        if row.kind == "branch":
            joins.setdefault((row.element, row.scope), row.needed)
        elif row.kind == "scope" and not has_open_rows(work, (*row.scope, row.number)):
            yield claim_row(work, row, "end")
    for (element, scope), needed in joins.items():
        joined = join_branches(work, element, scope, needed)
        if joined is not None:
            yield joined


def canonical_work(work: OpenWork) -> OpenWork:
    """An equal state whose rows are numbered by what they are, so that states that differ only in
    the order of independent segments are one."""
    by_number = {row.number: row for row in work.rows}

    def describe(number: int) -> tuple[object, ...]:
        row = by_number.get(number)
        if row is None:
            return ()
        path = tuple(describe_row(by_number[other]) for other in row.scope if other in by_number)
        return (path, describe_row(row), describe(row.host))

    def describe_row(row: OpenRow) -> tuple[object, ...]:
        return (row.kind, row.element, row.branch, row.needed, row.link, row.at_once)

    # The first branch that arrived at a join decides nothing, so the order may be lost.
    ordered = sorted(work.rows, key=lambda row: (describe(row.number), row.number))
    renamed = {row.number: place for place, row in enumerate(ordered, 1)}
    renamed[_NO_HOST] = _NO_HOST
    return work._replace(
        rows=tuple(
            row._replace(
                number=renamed[row.number],
                scope=tuple(renamed.get(number, _CLOSED) for number in row.scope),
                host=renamed[row.host],
            )
            for row in ordered
        )
    )
