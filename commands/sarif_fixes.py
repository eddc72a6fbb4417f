"""Fixes of findings as replacements in their files, for SARIF; each is proved as for `--fix`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from orgflow.commands.checking import KeptFixes
from orgflow.commands.language_server.positions import Lines, diff_edits
from orgflow.commands.project.file_fixes import Fixer, Read

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.diagnostics.ordering import order_diagnostics
from orgflow_ir.model.neighbours import noted_neighbours
from orgflow_ir.model.source import Source, SourceFile
from orgflow_ir.reporting.sarif_reporter import Replacement

if TYPE_CHECKING:
    from orgflow.commands.check_cache import CheckCache

MOST = 100
"""Maximum number of fixes tried in one command; each requires a check of its file."""


class SarifFixes:
    """The replacements of the fixes for the findings of one command line, in files that are UTF-8;
    `cache` contains those that earlier command lines proved."""

    def __init__(
        self, fixer: Fixer, sources: Mapping[str, Source], cache: CheckCache | None = None
    ) -> None:
        self._fixer, self._sources, self._cache = fixer, sources, cache
        self._read: dict[str, Read] = {}
        self._kept: dict[str, KeptFixes] = {}
        self._proved: dict[int, tuple[Replacement, ...]] = {}

    def prove(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Look up or try the fixes of findings in the order of reports, and store the results."""
        tried, added = 0, set()
        for d in order_diagnostics(diagnostics):
            source = self._sources.get(d.loc.file) if d.loc is not None else None
            if d.fix is None or not d.fix.edits or not isinstance(source, SourceFile):
                continue
            if tried == MOST:
                break
            tried += 1
            kept = self._kept_of(source)
            key = repr((d.code, d.element, d.suppressed, d.fix))
            if key not in kept.found:
                with noted_neighbours() as noted:
                    kept.found[key] = self._replacements(source, d)
                kept.note(noted)
                added.add(source.path)
            self._proved[id(d)] = kept.found[key]
        if self._cache is not None:
            for path in sorted(added):
                self._cache.keep_fixes(path, self._kept[path])

    def replacements(self, d: Diagnostic) -> tuple[Replacement, ...]:
        """Empty if a finding has no fix that can be written and removes it."""
        return self._proved.get(id(d), ())

    def _kept_of(self, source: SourceFile) -> KeptFixes:
        if source.path not in self._kept:
            kept = self._cache.find_fixes(source.path) if self._cache is not None else None
            self._kept[source.path] = kept or KeptFixes()
        return self._kept[source.path]

    def _replacements(self, source: SourceFile, d: Diagnostic) -> tuple[Replacement, ...]:
        """Those of a fix that is tried now."""
        if source.path not in self._read:
            self._read[source.path] = self._fixer.read(source)
        fixed = self._fixer.fixed_one(self._read[source.path], d)
        if fixed is None:
            return ()
        try:
            old, new = source.data.decode(), fixed.data.decode()
        except UnicodeDecodeError:
            return ()
        lines, replacements = Lines(old, "utf-32"), []
        for (start, end), text in diff_edits(old, new):
            first, last = lines.position(start), lines.position(end)
            at, to = (len(old[:offset].encode()) for offset in (start, end))
            replacements.append(
                Replacement(
                    (first.line + 1, first.column + 1), (last.line + 1, last.column + 1),
                    (start, end), (at, to), text,
                )
            )  # fmt: skip
        return tuple(replacements)
