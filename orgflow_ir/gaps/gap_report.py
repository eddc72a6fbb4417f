"""Reports gaps as diagnostics, with the output that a backend emitted in their place."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.diagnostics import Rule
from orgflow_ir.gaps.find import find_gaps
from orgflow_ir.gaps.gap import Gap
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext


def report_gaps(model: Model, ctx: PassContext) -> tuple[Gap, ...]:
    """Report every gap of a model; returns the gaps in the order of their diagnostics."""
    gaps_there = find_gaps(model, ctx)
    for gap in gaps_there:
        ctx.emit(gap.rule, gap.message, element=gap.element, help=gap.help, severity=gap.severity)
    return gaps_there


class Defaults:
    """The output that a backend emitted in place of gaps, element by element.

    A backend does not report gaps itself. It completes the message and the help of the gap that was
    found in the source (`user task `X` has no implementation; emitted a placeholder`).
    """

    def __init__(self) -> None:
        self._added: dict[tuple[str, str], tuple[str, str | None]] = {}
        self._filled: set[tuple[str, str]] = set()

    def add(
        self, rules: Iterable[type[Rule]], element: str, words: str, help: str | None = None
    ) -> None:
        """Record, for gaps of `rules` at `element`, the emitted output and the remedy in the
        target."""
        for rule in rules:
            self._added[rule.code, element] = (words, help)

    def fill(self, rules: Iterable[type[Rule]], element: str) -> None:
        """Record that the target needs no answer to gaps of `rules` at `element`."""
        self._filled.update((rule.code, element) for rule in rules)

    def complete(self, ctx: PassContext) -> None:
        """Complete the diagnostics of gaps in `ctx`, and remove those that are filled."""
        if self._filled:
            ctx.diagnostics = [
                d for d in ctx.diagnostics if (d.code, d.element or "") not in self._filled
            ]
        for index, finding in enumerate(ctx.diagnostics):
            added = self._added.get((finding.code, finding.element or ""))
            if added is not None:
                words, help = added
                ctx.diagnostics[index] = finding.replace(
                    message=f"{finding.message}; {words}", help=help or finding.help
                )
