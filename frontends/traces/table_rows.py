"""Events of tables: CSV, and Parquet with pyarrow."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from orgflow.frontends.traces.columns import CASE_PREFIX, choose_columns
from orgflow.frontends.traces.log_times import (
    UnreadableTime,
    detect_month_first,
    is_day_form,
    read_time,
)
from orgflow.frontends.traces.opened_file import LONGEST_LINE, detect_encoding, open_log, read_head

from orgflow_ir.mining.event_log import (
    COMPLETE,
    NO_TIME,
    CaseAttributes,
    LogEvent,
    LogFault,
    LogItem,
    Scalar,
    UnreadableLog,
)
from orgflow_ir.plugins.packages import install_command

SEPARATORS: Final = (",", ";", "\t", "|")
MOST_COLUMNS: Final = 5_000
PARQUET: Final = b"PAR1"
_WITHOUT_NUL: Final = {0: None}

Row = tuple[int, Sequence[Any]]
"""The line of a row, and its cells."""


def read_csv_log(path: str, mapping: Mapping[str, str]) -> Iterator[LogItem]:
    """The events of a table as text, one a row. Raises `UnreadableLog`, `OSError`."""
    head = read_head(path)
    encoding = detect_encoding(head)
    first = head.decode(encoding, "replace").splitlines() or [""]
    separator = max(SEPARATORS, key=first[0].count)
    skipped = 0
    if first[0].lower().startswith("sep=") and len(first[0]) == 5:
        separator, skipped = first[0][4], 1

    def iterate_rows() -> Iterator[Row]:
        with open_log(path) as file:
            lines = codecs.getreader(encoding)(file, "replace")
            rows = csv.reader(_bound_lines(lines), delimiter=separator)
            csv.field_size_limit(LONGEST_LINE)
            try:
                for row in rows:
                    if rows.line_num > skipped and row:
                        yield rows.line_num, row
            except csv.Error as error:
                raise UnreadableLog(f"the table cannot be read: {error}", rows.line_num) from None

    yield from read_rows(iterate_rows, mapping)


def _bound_lines(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            raise UnreadableLog(f"the line has more than {LONGEST_LINE:,} characters", number)
        yield line.translate(_WITHOUT_NUL) if "\0" in line else line


def read_parquet_log(path: str, mapping: Mapping[str, str]) -> Iterator[LogItem]:
    """The events of a Parquet file, batch by batch; the line is the number of the row. Raises
    `UnreadableLog`, `OSError`."""
    if find_spec("pyarrow") is None:
        raise UnreadableLog(
            "a Parquet file needs pyarrow, which is not installed",
            advice=install_command("pyarrow"),
        )
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")

    def iterate_rows() -> Iterator[Row]:
        try:
            with parquet.ParquetFile(path) as table:
                yield 0, table.schema_arrow.names
                line = 0
                for batch in table.iter_batches(8192):
                    for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                        line += 1
                        yield line, row
        except pyarrow.ArrowException as error:
            raise UnreadableLog(f"the Parquet file cannot be read: {error}") from None

    yield from read_rows(iterate_rows, mapping)


def read_rows(
    iterate_rows: Callable[[], Iterator[Row]], mapping: Mapping[str, str]
) -> Iterator[LogItem]:
    """The events of rows, of which the first one names the columns.

    Args:
        iterate_rows: the rows from the start, each time it is called.
        mapping: names of columns by field.

    Raises:
        UnreadableLog: a column is missing.
    """
    rows = iterate_rows()
    _, cells = next(rows, (0, ()))
    header = [str(cell).strip() for cell in cells]
    if len(header) > MOST_COLUMNS:
        raise UnreadableLog(f"the table has more than {MOST_COLUMNS:,} columns", 1)
    places = choose_columns(header, mapping)
    month_first, note = _detect_dates(iterate_rows, places.get("time"))
    if note is not None:
        yield note
    case_at, activity_at = places["case"], places["activity"]
    time_at, start_at = places.get("time", -1), places.get("start", -1)
    transition_at, resource_at = places.get("lifecycle", -1), places.get("resource", -1)
    used = set(places.values())
    others = [(n, name) for n, name in enumerate(header) if n not in used and name]
    of_case = [(n, name[len(CASE_PREFIX) :]) for n, name in others if name.startswith(CASE_PREFIX)]
    of_event = [(n, name) for n, name in others if not name.startswith(CASE_PREFIX)]
    needed = max(case_at, activity_at)
    seen: set[str] = set()
    for line, row in rows:
        # 1. what every event has
        if len(row) <= needed:
            yield LogFault(line, f"the row has {len(row)} of {len(header)} cells; it is left out")
            continue
        case, activity = _read_text(row[case_at]), _read_text(row[activity_at])
        if not case or not activity:
            what = "case" if not case else "activity"
            yield LogFault(line, f"the row has no {what}; it is left out")
            continue
        width = len(row)
        # 2. times
        time = start = NO_TIME
        try:
            if 0 <= time_at < width:
                time = _read_moment(row[time_at], month_first)
            if 0 <= start_at < width:
                start = _read_moment(row[start_at], month_first)
        except UnreadableTime as error:
            fault = f"`{str(error)[:60]}` is not a time; the event keeps its place"
            yield LogFault(line, fault, True)
        # 3. the rest
        if of_case and case not in seen:
            seen.add(case)
            stated = {name: read_scalar(row[n]) for n, name in of_case if n < width}
            kept = {name: value for name, value in stated.items() if value is not None}
            yield CaseAttributes(case, kept, line)
        values: dict[str, Scalar] = {}
        for n, name in of_event:
            if n < width:
                value = read_scalar(row[n])
                if value is not None:
                    values[name] = value
        transition = _read_text(row[transition_at]).lower() if 0 <= transition_at < width else ""
        resource = _read_text(row[resource_at]) if 0 <= resource_at < width else ""
        yield LogEvent(case, activity, time, start, transition or COMPLETE, resource, values, line)


def _detect_dates(
    iterate_rows: Callable[[], Iterator[Row]], time_at: int | None
) -> tuple[bool, LogFault | None]:
    """Whether dates have the month first; all rows are read if the first date does not tell."""
    rows = iterate_rows()
    next(rows, None)
    line, first = next(rows, (0, ()))
    text = first[time_at] if time_at is not None and time_at < len(first) else None
    if time_at is None or not isinstance(text, str) or not is_day_form(text):
        return False, None
    order = detect_month_first(row[time_at] for _, row in iterate_rows() if time_at < len(row))
    if order is None:
        fault = "no date shows whether the day or the month is first; they are read day first"
        return False, LogFault(line, fault, True)
    return order, None


def _read_moment(cell: Any, month_first: bool) -> float:
    """Raises `UnreadableTime`."""
    if isinstance(cell, str):
        return read_time(cell, month_first) if cell.strip() else NO_TIME
    if cell is None:
        return NO_TIME
    if isinstance(cell, datetime):
        return read_time(cell.isoformat())
    return read_time(str(cell))


def _read_text(cell: Any) -> str:
    if type(cell) is str:
        return cell.strip()
    return "" if cell is None else str(cell)


def read_scalar(cell: Any) -> Scalar | None:
    """The value of a cell: a number, a truth value, or text; `None` for an empty one."""
    if type(cell) is not str:
        if cell is None or isinstance(cell, bool | float):
            return cell
        return float(cell) if isinstance(cell, int) else str(cell)
    text = cell.strip()
    if not text:
        return None
    # a number such as 007 is a name
    if text[0] in "0123456789-." and "_" not in text and not re.match(r"-?0\d", text):
        try:
            return float(text)
        except ValueError:
            return text
    return {"true": True, "false": False}.get(text.lower(), text)
