"""The order of diagnostics in reports, and their counts."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.diagnostics.diagnostic import Diagnostic
from orgflow_ir.diagnostics.rule import Severity


def order_diagnostics(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Errors first, then by file, place and code; equal ones keep their order."""

    def report_place(d: Diagnostic) -> tuple[int, str, int, int, str]:
        loc = d.loc
        place = (loc.file, loc.line or 0, loc.column or 0) if loc is not None else ("", 0, 0)
        return (d.severity.rank, *place, d.code)

    return sorted(diagnostics, key=report_place)


def count_severities(diagnostics: Iterable[Diagnostic]) -> dict[str, int]:
    """The number of findings of each severity: `{"error": 0, "warning": 2, "info": 1}`; suppressed
    findings, if any, are counted under `suppressed` instead."""
    numbers = {s.value: 0 for s in Severity}
    for d in diagnostics:
        key = d.severity.value if d.suppressed is None else "suppressed"
        numbers[key] = numbers.get(key, 0) + 1
    return numbers
