"""Figures of a benchmark as charts, and the page that shows them with the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orgflow.evaluation.page import clean_text, page_templates

from orgflow_ir.model.records import NamedTuple

TableRows = Sequence[tuple[str, Sequence[int | float | None]]]
"""Rows of a table: a name and one value per column, `None` if there is none."""

_WIDTH, _HEIGHT = 560, 240
_LEFT, _BOTTOM, _TOP, _RIGHT = 40, 28, 10, 10
_STROKES = ("", "6 4", "2 3", "10 3 2 3")
"""Dashes distinguish lines without colours."""


class Bar(NamedTuple):
    """One bar.

    Attributes:
        label: the measured quantity.
        value: from 0 to 1.
        shown: the value as text.
        published: whether it is a published figure for comparison.
    """

    label: str
    value: float
    shown: str
    published: bool = False


class BarChart(NamedTuple):
    """Bars on one scale from 0 to 1."""

    title: str
    bars: tuple[Bar, ...]


class LineChart(NamedTuple):
    """Values from 0 to 1 over a common axis; a line is its label and one value per place of `x`."""

    title: str
    axis: str
    x: tuple[float, ...]
    lines: tuple[tuple[str, tuple[float, ...]], ...]


class Charts(NamedTuple):
    """All charts of a benchmark."""

    bars: tuple[BarChart, ...]
    lines: tuple[LineChart, ...] = ()


def measure_share(label: str, number: int, of: int, *, published: bool = False) -> Bar:
    """A bar for `number of of`."""
    return Bar(label, number / of if of else 0.0, f"{number} of {of}", published)


def columns_as_charts(
    columns: Sequence[str], rows: TableRows, published: Iterable[str] = ()
) -> tuple[BarChart, ...]:
    """A chart for each column of shares, with a bar for each row that has a value there.

    Example:
        >>> [chart] = columns_as_charts(("texts", "F1"), [("rules", (3, 0.5))])
        >>> chart.title, chart.bars[0].shown
        ('F1', '0.500')
    """
    others = frozenset(published)
    charts = []
    for place, column in enumerate(columns):
        bars = tuple(
            Bar(name, value, f"{value:.3f}", name in others)
            for name, values in rows
            if isinstance(value := values[place], float)
        )
        if bars:
            charts.append(BarChart(column, bars))
    return tuple(charts)


def chart_counts(title: str, numbers: Mapping[str, int]) -> tuple[BarChart, ...]:
    """A chart of counts, the largest first; no chart if there are none."""
    if not numbers:
        return ()
    most = max(numbers.values())
    ordered = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return (BarChart(title, tuple(Bar(k, n / most, str(n)) for k, n in ordered)),)


def render_evaluation(
    title: str,
    place: str,
    summary: str,
    charts: Charts,
    columns: Sequence[str] = (),
    rows: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The page as HTML: charts, the summary that the command prints, and all rows. It needs no
    script and no network; all texts may come from a model and are escaped.

    Args:
        title: the benchmark.
        place: the measured folder or store.
        summary: as text.
        charts: the charts of the figures.
        columns, rows: the table; no table without columns.
    """
    html: str = page_templates().get_template("evaluation.html.j2").render(
        title=clean_text(title),
        place=clean_text(place),
        summary=clean_text(summary),
        charts=[
            (
                clean_text(chart.title),
                [
                    (clean_text(b.label), f"{min(max(b.value, 0.0), 1.0) * 100:.1f}", b.shown,
                     b.published)
                    for b in chart.bars
                ],
            )
            for chart in charts.bars
        ],
        lines=[_line_chart(chart) for chart in charts.lines],
        columns=[column.replace("_", " ") for column in columns],
        rows=[[_format_cell(row.get(column, "")) for column in columns] for row in rows],
    )  # fmt: skip
    return html


def _format_cell(value: Any) -> tuple[str, bool]:
    """A cell as text, and whether it is a number."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return (f"{value:.3f}" if isinstance(value, float) else clean_text(str(value))), number


def _line_chart(chart: LineChart) -> dict[str, Any]:
    low, high = min(chart.x), max(chart.x)
    inner, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def across(x: float) -> str:
        return f"{_LEFT + (x - low) / ((high - low) or 1) * inner:.1f}"

    def down(y: float) -> str:
        return f"{_TOP + (1 - y) * tall:.1f}"

    return {
        "title": clean_text(chart.title),
        "axis": clean_text(chart.axis),
        "width": _WIDTH,
        "height": _HEIGHT,
        "left": _LEFT,
        "right": _WIDTH - _RIGHT,
        "bottom": _HEIGHT - _BOTTOM,
        "ticks": [(across(x), f"{x:g}") for x in chart.x],
        "levels": [(down(y), f"{y:g}") for y in (0.0, 0.25, 0.5, 0.75, 1.0)],
        "lines": [
            {
                "label": clean_text(label),
                "points": " ".join(
                    f"{across(x)},{down(y)}" for x, y in zip(chart.x, values, strict=True)
                ),
                "hue": number % 4,
                "dash": _STROKES[number // 4 % len(_STROKES)],
                "shown": ", ".join(f"{value:.3f}" for value in values),
            }
            for number, (label, values) in enumerate(chart.lines)
        ],
    }
