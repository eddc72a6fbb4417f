"""Rows of a benchmark, as CSV text and as a readable table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_NAME = 30


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A line of column names and one line per row, ended by line feeds. Raises `ValueError` for a
    field without a column."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def table_lines(
    columns: Sequence[str], rows: Iterable[tuple[str, Sequence[int | float | None]]]
) -> list[str]:
    """A header and one line per row, which begins with its name; `None` stays empty.

    Example:
        >>> table_lines(("texts", "task"), [("rules", (3, 0.5)), ("model", (3, None))])[1].split()
        ['rules', '3', '0.500']
    """
    widths = [max(len(column), 6) + 2 for column in columns]
    lines = [" " * _NAME + "".join(f"{c:>{w}}" for c, w in zip(columns, widths, strict=True))]
    for name, values in rows:
        shown = (f"{_format_cell(v):>{width}}" for v, width in zip(values, widths, strict=True))
        lines.append(f"{name:{_NAME}}{''.join(shown)}".rstrip())
    return lines


def _format_cell(value: int | float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.3f}"
