"""The findings of the checks, as numbered badges on a picture and a list below it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from orgflow.backends.svg.marks import draw_circle
from orgflow.backends.svg.words import draw_centred, lines_of

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.layout.text import LINE, wrap_text
from orgflow_ir.model.records import NamedTuple

_ORDER = ("error", "warning", "info")
_GAP = 8.0
_ABOVE = 14.0
_INDENT = 26.0
_LEAST_WIDTH = 460.0


class Finding(NamedTuple):
    """One line of the list: severity, text, and the element with its number."""

    severity: str
    text: str
    element: str | None = None
    run: frozenset[str] = frozenset()


def findings_of(diagnostics: Iterable[Diagnostic]) -> tuple[Finding, ...]:
    """The unsuppressed findings, the most severe first, otherwise in the order reported."""
    rows = (
        Finding(
            diagnostic.severity.value,
            re.sub(r"`([^`]+)`", r"“\1”", f"{diagnostic.code}  {diagnostic.message}"),
            diagnostic.element,
            frozenset(n for step in diagnostic.trace for n in (step.element, *step.taken)),
        )
        for diagnostic in diagnostics
        if diagnostic.suppressed is None
    )
    return tuple(sorted(rows, key=lambda row: _ORDER.index(row.severity)))


def number_findings(findings: Sequence[Finding]) -> dict[str, str]:
    """The numbers on each element, as in `1` or `1, 3`."""
    numbers_by_element: dict[str, list[str]] = {}
    for number, finding in enumerate(findings, 1):
        if finding.element is not None:
            numbers_by_element.setdefault(finding.element, []).append(str(number))
    return {element: ", ".join(mine) for element, mine in numbers_by_element.items()}


def highest_severities(findings: Sequence[Finding]) -> dict[str, str]:
    """The highest severity of each element."""
    return {f.element: f.severity for f in reversed(findings) if f.element is not None}


def run_of(findings: Sequence[Finding]) -> Collection[str]:
    """The elements of the run that shows the first finding that has one."""
    return next((finding.run for finding in findings if finding.run), frozenset())


def draw_legend(
    findings: Sequence[Finding], x: float, y: float, width: float
) -> tuple[list[str], float, float]:
    """The list with its top left corner at `x`, `y`; its width and height with a gap above."""
    if not findings:
        return [], 0.0, 0.0
    wide = max(width, _LEAST_WIDTH)
    body: list[str] = []
    at = y + _ABOVE
    for number, finding in enumerate(findings, 1):
        block = wrap_text(" ".join(finding.text.split()), wide - _INDENT, 4)
        body.append(draw_circle(x + 8, at + LINE / 2, 8, f"of-badge-{finding.severity}"))
        body += draw_centred([str(number)], x + 8, at + LINE / 2, "of-badge-text")
        body += lines_of(block.lines, x + _INDENT, at + LINE * 0.78, "start")
        at += max(block.height, LINE) + _GAP
    return body, wide, at - y
