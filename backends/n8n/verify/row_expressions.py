"""The rows that the end of a segment writes, read from the expression of its node.

The expression is a list of objects. Of an object count the columns by which the support set decides
what happens next; the others (title, link, person, moment, message) are compared as programs with
those of the model (`computed_nodes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, get_args

from orgflow.backends.javascript.source_programs import ProgramForm
from orgflow.backends.n8n.format.parameter_values import code_form
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES

from orgflow_ir.model.records import NamedTuple

RowKind = Literal["task", "timer", "receiver", "gateway", "branch", "scope"]
"""The kinds of rows that a segment may leave open."""

AT_ONCE: Final = "new Date().toISOString()"
"""The moment of a timer that is due as soon as it is written: a branch that begins with steps."""

_KINDS: Final[Mapping[str, RowKind]] = {kind: kind for kind in get_args(RowKind)}
_INPUTS: Final = frozenset({*COLUMN_NAMES, "ref", "inside", "local"})
_TEXTS: Final[tuple[str, ...]] = ("ref", "host", "inside", "branch", "link")


class UnreadExpression(ValueError):
    """An expression of a form that the reading does not understand."""


class RowTemplate(NamedTuple):
    """A row that a segment leaves open.

    Attributes:
        kind: the kind of row.
        element: the element by which the process continues from it.
        ref: the name of the row among those of the same list.
        host: the `ref` of the row that this event interrupts.
        attached_to: the `ref` of the row that this event does not interrupt.
        inside: the `ref` of the scope that it is in.
        hosts_events: whether events are attached to it.
        branch: the branch that has arrived.
        needed: the number of branches that the join waits for.
        link: the page of a task.
        at_once: whether nothing is awaited: a timer that is due already.
        repeats: whether it follows an earlier row of the same event.
        columns: the names of all columns that the list states for it.
    """

    kind: RowKind
    element: str
    ref: str = ""
    host: str = ""
    attached_to: str = ""
    inside: str = ""
    hosts_events: bool = False
    branch: str = ""
    needed: int = 0
    link: str = ""
    at_once: bool = False
    repeats: bool = False
    columns: frozenset[str] = frozenset()


class ConditionalRows(NamedTuple):
    """Rows that are written if a condition holds, and others if not. `condition` is the form of
    its program."""

    condition: ProgramForm
    rows: tuple[AnyTemplate, ...]
    otherwise: tuple[AnyTemplate, ...]


AnyTemplate = RowTemplate | ConditionalRows


def list_templates(rows: tuple[AnyTemplate, ...]) -> Iterator[RowTemplate]:
    """All rows that may be written."""
    for row in rows:
        if isinstance(row, ConditionalRows):
            yield from list_templates((*row.rows, *row.otherwise))
        else:
            yield row


def expression_of(form: ProgramForm) -> ProgramForm:
    """The form of the expression that is the whole of a program. Raises `UnreadExpression`."""
    match form:
        case ("program", ("expression_statement", expression)):
            assert isinstance(expression, tuple | str)
            return expression
        case _:
            raise UnreadExpression("it is no single expression")


def read_constant(form: ProgramForm) -> str | int | bool:
    """A text, a whole number or a truth value. Raises `UnreadExpression`."""
    match form:
        case ("text", str(text)):
            return text
        case ("number", str(digits)) if float(digits).is_integer():
            return int(float(digits))
        case ("true", _):
            return True
        case ("false", _):
            return False
        case _:
            raise UnreadExpression("a value is not constant")


def read_text(form: ProgramForm) -> str:
    """A constant text. Raises `UnreadExpression`."""
    value = read_constant(form)
    if not isinstance(value, str):
        raise UnreadExpression("a value is not a text")
    return value


def read_templates(form: ProgramForm, attached: ProgramForm) -> tuple[AnyTemplate, ...]:
    """The rows of a list.

    Args:
        form: of the expression of the list.
        attached: of the expression for the host of the claimed event, by which an event repeats.

    Raises:
        UnreadExpression: it has another form than those that the compiler writes.
    """
    match form:
        case ("array", *parts):
            return tuple(_read_part(part, attached) for part in parts)
        case _:
            raise UnreadExpression("the rows are no list")


def _read_part(part: object, attached: ProgramForm) -> AnyTemplate:
    match part:
        case ("object", *pairs):
            return _read_row(pairs, attached)
        case (
            "spread_element",
            "...",
            ("ternary_expression", tuple(condition), "?", tuple(rows), ":", tuple(others)),
        ):
            return ConditionalRows(
                condition, read_templates(rows, attached), read_templates(others, attached)
            )
        case _:
            raise UnreadExpression("an entry of the rows is neither a row nor a choice of rows")


def _read_row(pairs: list[object], attached: ProgramForm) -> RowTemplate:
    cells = dict(_read_pair(pair) for pair in pairs)
    if len(cells) != len(pairs):
        raise UnreadExpression("a row has a column twice")
    unknown = cells.keys() - _INPUTS
    if unknown:
        raise UnreadExpression(f"rows have no column {min(unknown)}")
    for own in ("key", "instance", "scope", "state", "live", "execution", "created_by", "workflow"):
        if own in cells:
            raise UnreadExpression(f"the column {own} is not for a process to write")
    kind = _KINDS.get(read_text(_find_cell(cells, "kind")))
    if kind is None:
        raise UnreadExpression("there is no open work of its kind")
    repeats = cells.get("attached_to") == attached
    texts = {name: read_text(cells[name]) if name in cells else "" for name in _TEXTS}
    attached_to = "" if repeats or "attached_to" not in cells else read_text(cells["attached_to"])
    needed = read_constant(cells["needed"]) if "needed" in cells else 0
    if isinstance(needed, bool | str):
        raise UnreadExpression("the number of branches is no number")
    hosts = read_constant(cells["hosts_events"]) if "hosts_events" in cells else ""
    return RowTemplate(
        kind,
        read_text(_find_cell(cells, "element")),
        hosts_events=bool(hosts),
        needed=needed,
        at_once=kind == "timer" and cells.get("due") == expression_of(code_form(AT_ONCE)),
        repeats=repeats,
        attached_to=attached_to,
        columns=frozenset(cells),
        **texts,
    )


def _find_cell(cells: Mapping[str, ProgramForm], name: str) -> ProgramForm:
    if name not in cells:
        raise UnreadExpression(f"a row has no {name}")
    return cells[name]


def _read_pair(pair: object) -> tuple[str, ProgramForm]:
    match pair:
        case ("pair", ("property", str(name)), tuple(value)):
            return name, value
        case _:
            raise UnreadExpression("a column of a row is computed")
