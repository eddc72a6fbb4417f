"""Fixes of findings as replacements in their files, for SARIF: each is proved as `--fix` does."""

from __future__ import annotations

from collections.abc import Mapping

from orgflow.commands.autofix import Fixer, Read
from orgflow.commands.language_server.positions import Lines, edits

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.diagnostics.sarif import Replacement
from orgflow_ir.model.source import Source, SourceFile

MOST = 100
"""Fixes that are tried in one command: each takes a check of its file."""


class SarifFixes:
    """What the fixes of the findings of one command line replace in files that are UTF-8."""

    def __init__(self, fixer: Fixer, sources: Mapping[str, Source]) -> None:
        self._fixer, self._sources = fixer, sources
        self._read: dict[str, Read] = {}
        self._tried = 0

    def replacements(self, d: Diagnostic) -> tuple[Replacement, ...]:
        """Empty where a finding has no fix, or none that can be written and cures it."""
        source = self._sources.get(d.loc.file) if d.loc is not None else None
        if d.fix is None or not d.fix.edits or self._tried >= MOST:
            return ()
        if not isinstance(source, SourceFile):
            return ()
        self._tried += 1
        if source.path not in self._read:
            self._read[source.path] = self._fixer.read(source)
        fixed = self._fixer.fixed_one(self._read[source.path], d)
        if fixed is None:
            return ()
        try:
            old, new = source.data.decode(), fixed.data.decode()
        except UnicodeDecodeError:
            return ()
        lines, found = Lines(old, "utf-32"), []
        for (start, end), text in edits(old, new):
            first, last = lines.position(start), lines.position(end)
            at, to = (len(old[:offset].encode()) for offset in (start, end))
            found.append(
                Replacement(
                    (first.line + 1, first.column + 1), (last.line + 1, last.column + 1),
                    (start, end), (at, to), text,
                )
            )  # fmt: skip
        return tuple(found)
