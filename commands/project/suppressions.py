"""The decisions of a project about findings: severities in its `orgflow.toml` or of a preset,
suppressions there and in models, and unused suppressions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from orgflow.commands.project.configuration_file import find_configuration

from orgflow_ir.diagnostics import Category, Severity
from orgflow_ir.diagnostics.grading import Grading
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import collect_labels
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.reporting.suppression import (
    Suppression,
    carries_any,
    in_model,
    mark_suppressed,
    report_unused,
)

if TYPE_CHECKING:
    from orgflow.commands.project import configuration
    from orgflow.commands.project.configuration import Configuration
    from orgflow.passes import presets
else:  # near an orgflow.toml, and with a preset
    configuration = LazyModule("orgflow.commands.project.configuration")
    presets = LazyModule("orgflow.passes.presets")


class Applied(NamedTuple):
    """The accepted findings of one input."""

    there: tuple[int, ...] = ()
    """Positions of the configured suppressions that apply to the file."""
    used: tuple[int, ...] = ()
    """Those that were needed."""
    without_gaps: bool = False
    """Whether an error prevented the search for gaps."""


class Acceptance:
    """The accepted findings in the inputs of one command line.

    `whole`: findings of a target are included, so that a suppression of one can be unused. `preset`
    takes precedence over the one in a configuration. Without `errors`, errors are unchanged.
    """

    def __init__(
        self, registry: Registry, *, errors: bool, whole: bool, preset: str | None = None
    ) -> None:
        self._registry, self._errors, self._whole = registry, errors, whole
        self._preset = preset
        self._files: dict[str, Configuration] = {}
        self._nearest: dict[str, str | None] = {}  # path of the configuration by folder
        self._applied: set[tuple[str, int]] = set()
        self._used: set[tuple[str, int]] = set()
        self._without_gaps = False
        self._gradings: dict[str, Grading] = {}

    def configure(self, path: str | None, ctx: PassContext) -> None:
        """Set the optional rules and the options of passes in the context before an input is
        checked. `path` is `None` for standard input."""
        file = self._configuration(path, ctx)
        ctx.grading = self._grading(file)
        if file is not None:
            ctx.passes = file.settings.passes

    def prepare(self, paths: Iterable[str], ctx: PassContext) -> None:
        """Read the configurations of files; their faults are reported to this context once."""
        for path in paths:
            self._configuration(None if path == "-" else path, ctx)

    def configuration(self, path: str) -> Configuration | None:
        """The configuration of a prepared file."""
        path_of_file = self._path_for(path)
        return None if path_of_file is None else self._files.get(path_of_file)

    def _configuration(self, path: str | None, ctx: PassContext) -> Configuration | None:
        """The configuration for an input; its faults go to the first context that asks."""
        path_of_file = None if path is None else self._path_for(path)
        if path_of_file is None:
            return None
        if path_of_file not in self._files:
            self._files[path_of_file] = configuration.read_configuration(
                path_of_file, self._registry, ctx
            )
        return self._files[path_of_file]

    def _path_for(self, path: str) -> str | None:
        folder = os.path.dirname(path)
        if folder not in self._nearest:
            self._nearest[folder] = find_configuration(path)
        return self._nearest[folder]

    def _grading(self, file: Configuration | None) -> Grading:
        """What the preset says of each rule, and on top of it the configuration."""
        settings = file.settings if file is not None else None
        preset = self._preset or (settings.preset if settings is not None else None)
        own = settings.severities if settings is not None else {}
        if preset is None:
            return Grading(own)
        return Grading({**presets.preset_grading(preset, self._registry.rules).severities, **own})

    def apply(
        self,
        path: str | None,
        model: Model | None,
        ctx: PassContext,
        find_gaps: Callable[[], None] | None = None,
    ) -> Applied:
        """Grade and mark the findings of one input; `path` is `None` for standard input.

        `find_gaps` finds gaps and is called in between: only if there is no unsuppressed error. The
        result is the argument of `add` if another process, or an earlier run, checked the file.
        """
        applied = self._apply(path, model, ctx, find_gaps)
        self.add(path, applied, ctx)
        return applied

    def add(self, path: str | None, applied: Applied, ctx: PassContext) -> None:
        """Add the accepted findings of one input."""
        self._without_gaps |= applied.without_gaps
        file = self._configuration(path, ctx)
        if file is not None and applied.there:
            self._applied.update((file.path, at) for at in applied.there)
            self._used.update((file.path, at) for at in applied.used)
            self._gradings[file.path] = self._grading(file)

    def _apply(
        self,
        path: str | None,
        model: Model | None,
        ctx: PassContext,
        find_gaps: Callable[[], None] | None,
    ) -> Applied:
        file = self._configuration(path, ctx)
        grading = self._grading(file)
        if file is None and (model is None or not carries_any(model)):
            self._grade(grading, ctx)
            without = self._find(find_gaps, ctx)
            self._grade(grading, ctx)
            return Applied(without_gaps=without)
        there: tuple[int, ...] = ()
        suppressions: list[Suppression] = []
        if file is not None:
            assert path is not None
            there = file.applying(path)
            suppressions += (file.entries[at].suppression for at in there)
        if model is not None:
            suppressions += in_model(model, self._registry.named_rules, ctx)
        labels = {} if model is None else collect_labels(model)
        self._grade(grading, ctx)
        self._mark(suppressions, labels, ctx)
        without = self._find(find_gaps, ctx)
        self._grade(grading, ctx)
        used = self._mark(suppressions, labels, ctx)
        for at in range(len(there), len(suppressions)):  # those in the model
            judged = self._judged(suppressions[at].code, grading, without_gaps=without)
            if at not in used and judged and model is not None:
                report_unused(suppressions[at], ctx)
        return Applied(there, tuple(key for at, key in enumerate(there) if at in used), without)

    def _grade(self, grading: Grading, ctx: PassContext) -> None:
        if grading.severities:
            ctx.diagnostics[:] = grading.graded(ctx.diagnostics, errors=self._errors)

    def _find(self, find_gaps: Callable[[], None] | None, ctx: PassContext) -> bool:
        """Whether an error keeps gaps from being looked for."""
        if ctx.has_errors:
            return True
        if find_gaps is not None:
            find_gaps()
        return False

    def _mark(
        self, suppressions: Sequence[Suppression], labels: Mapping[str, str], ctx: PassContext
    ) -> set[int]:
        """Mark what is suppressed; the positions of the suppressions that were needed."""
        marked, used = mark_suppressed(ctx.diagnostics, suppressions, labels)
        ctx.diagnostics[:] = [
            new if self._errors or new.severity is not Severity.ERROR else old
            for old, new in zip(ctx.diagnostics, marked, strict=True)
        ]
        return used

    def report_unused(self, ctx: PassContext) -> None:
        """OF005 for suppressions in `orgflow.toml` that no finding of the checked files needs."""
        for path, at in sorted(self._applied - self._used):
            suppression = self._files[path].entries[at].suppression
            grading = self._gradings[path]
            if self._judged(suppression.code, grading, without_gaps=self._without_gaps):
                report_unused(suppression, ctx)

    def _judged(self, code: str, grading: Grading, *, without_gaps: bool) -> bool:
        """Whether this command looks for what the rule finds: `check` knows no target."""
        rule = self._registry.rules[code]
        category = rule.category
        if not grading.reports(rule):
            return False
        if category is Category.GAP and without_gaps:
            return False
        return self._errors and (self._whole or category is not Category.TARGET)
