"""Suppressions on a command's way: those of a model and of `orgflow.toml`, and the unused ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from orgflow.commands.session import configuration_for

from orgflow_ir.diagnostics import Category, Severity
from orgflow_ir.diagnostics.suppression import (
    Suppression,
    carries_any,
    in_model,
    mark,
    report_unused,
)
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

if TYPE_CHECKING:
    from orgflow.commands.configuration import Configuration


class Acceptance:
    """What is accepted in the inputs of one command line.

    `whole`: what a target finds is looked for, too, so that a suppression of it can be unused.
    """

    def __init__(self, registry: Registry, *, errors: bool, whole: bool) -> None:
        self._registry, self._errors, self._whole = registry, errors, whole
        self._files: dict[str, Configuration] = {}
        self._applied: set[tuple[str, int]] = set()
        self._used: set[tuple[str, int]] = set()
        self._without_gaps = False

    def apply(
        self,
        path: str | None,
        model: Model | None,
        ctx: PassContext,
        find_gaps: Callable[[], None] | None = None,
    ) -> None:
        """Mark what was found in one input; `path` is `None` for standard input.

        `find_gaps` looks for gaps, and is called between: only while no error stands, and a
        suppressed one does not.
        """
        found = None if path is None else configuration_for(path)
        if found is None and (model is None or not carries_any(model)):
            self._find(find_gaps, ctx)
            return
        keys: list[tuple[str, int] | None] = []
        suppressions: list[Suppression] = []
        if found is not None:
            if found not in self._files:
                from orgflow.commands import configuration

                self._files[found] = configuration.read(found, self._registry.named_rules, ctx)
            file = self._files[found]
            assert path is not None
            for at in file.applying(path):
                suppressions.append(file.entries[at].suppression)
                keys.append((found, at))
                self._applied.add((found, at))
        if model is not None:
            own = in_model(model, self._registry.named_rules, ctx)
            suppressions += own
            keys += [None] * len(own)
        labels = {} if model is None else _labels(model)
        self._mark(suppressions, labels, ctx)
        self._find(find_gaps, ctx)
        used = self._mark(suppressions, labels, ctx)
        for at, (suppression, key) in enumerate(zip(suppressions, keys, strict=True)):
            if key is not None:
                self._used |= {key} if at in used else set()
            elif at not in used and self._judged(suppression.code) and model is not None:
                report_unused(suppression, ctx)

    def _find(self, find_gaps: Callable[[], None] | None, ctx: PassContext) -> None:
        if ctx.has_errors:
            self._without_gaps = True
        elif find_gaps is not None:
            find_gaps()

    def _mark(
        self, suppressions: Sequence[Suppression], labels: Mapping[str, str], ctx: PassContext
    ) -> set[int]:
        """Mark what is suppressed; the positions of the suppressions that were needed."""
        marked, used = mark(ctx.diagnostics, suppressions, labels)
        ctx.diagnostics[:] = [
            new if self._errors or new.severity is not Severity.ERROR else old
            for old, new in zip(ctx.diagnostics, marked, strict=True)
        ]
        return used

    def report_unused(self, ctx: PassContext) -> None:
        """OF005 for what `orgflow.toml` suppresses in files that were looked at, and nothing in
        them needs."""
        for path, at in sorted(self._applied - self._used):
            suppression = self._files[path].entries[at].suppression
            if self._judged(suppression.code):
                report_unused(suppression, ctx)

    def _judged(self, code: str) -> bool:
        """Whether this command looks for what the rule finds: `check` knows no target."""
        category = self._registry.rules[code].category
        if category is Category.GAP and self._without_gaps:
            return False
        return self._errors and (self._whole or category is not Category.TARGET)


def _labels(model: Model) -> dict[str, str]:
    return {n.id: n.label for s in model.scopes() for n in (*s.nodes, *s.flows)}
