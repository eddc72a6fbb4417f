"""`check --fix`: fixes written into source files, each proved by checking the file again."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.suppressions import Acceptance
from orgflow.compiler import (
    InputError,
    TooLargeError,
    check_source,
    choose_frontend,
    read_source,
)

from orgflow_ir.diagnostics import Diagnostic, FixError, Severity
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.contracts import Frontend
from orgflow_ir.targets import TargetSpec

MOST = 1_000
"""Most fixes made in one file."""

Found = tuple[str, str | None]
"""Code and element of a finding: they identify it between two checks."""


class Fixer:
    """Fixes in the files of one command line; without `write` they are only shown as a diff."""

    def __init__(
        self,
        registry: Registry,
        from_: str | None,
        *,
        unsafe: bool,
        write: bool,
        preset: str | None = None,
        target: TargetSpec | None = None,
    ) -> None:
        self._registry, self._from, self._write = registry, from_, write
        self._preset, self._target = preset, target
        self._allowed = ("safe", "unsafe") if unsafe else ("safe",)
        self._made: list[str] = []
        self._left: list[str] = []
        self._held_back = 0

    def fix(self, paths: Sequence[str]) -> None:
        """Make every fix that can be made in these files. Raises `OutputError`."""
        for path in paths:
            try:
                source = read_source(path)
                fixed = self._mended(source)
            except TooLargeError as error:  # the check itself may read it, as a stream
                self._left.append(str(error))
                continue
            except InputError:
                continue  # the check itself says so
            if fixed.data == source.data:
                continue
            if self._write:
                write_files([(Path(path), fixed.data)])
            else:
                write_stdout(_diff(source, fixed))

    def tell(self) -> None:
        """Say on standard error what was done, and what could not be."""
        done = "fixed" if self._write else "would fix"
        for line in self._made:
            click.echo(f"{done}: {line}", err=True)
        for line in self._left:
            click.echo(f"not fixed: {line}", err=True)
        if self._held_back:
            some = "1 fix" if self._held_back == 1 else f"{self._held_back} fixes"
            click.echo(f"{some} more with --unsafe-fixes", err=True)
        if self._made or self._left or self._held_back:
            click.echo("", err=True)

    def _mended(self, source: SourceFile) -> SourceFile:
        frontend = choose_frontend(source, self._registry, PassContext(), self._from)
        if frontend is None:
            return source
        tried: set[tuple[Found, str]] = set()
        model, found = self._check(source)
        for _ in range(MOST):
            wanted = next((d for d in found if self._wanted(d) and _key(d) not in tried), None)
            if wanted is None or model is None:
                break
            tried.add(_key(wanted))
            better = self._try(source, model, found, wanted, frontend)
            if better is not None:
                source, model, found = better
        self._held_back += sum(
            1
            for d in found
            if d.fix is not None and d.fix.applicability == "unsafe" and not self._wanted(d)
        )
        return source

    def _wanted(self, d: Diagnostic) -> bool:
        if d.fix is None or d.suppressed is not None or not d.fix.edits:
            return False
        return d.fix.applicability in self._allowed

    def _try(
        self,
        source: SourceFile,
        model: Model,
        found: Sequence[Diagnostic],
        wanted: Diagnostic,
        frontend: Frontend,
    ) -> tuple[SourceFile, Model, list[Diagnostic]] | None:
        """The file with one fix, if it cures what it is for and makes nothing worse."""
        fix = wanted.fix
        assert fix is not None
        what = f"{source.path}: {fix.title} ({wanted.code})"
        try:
            changed = SourceFile(source.path, frontend.patched(source, model, fix))
        except FixError as error:
            self._left.append(f"{what}: {error}")
            return None
        after, now = self._check(changed)
        new = _faults(now) - _counted(found)
        cured = _count(now, wanted) < _count(found, wanted)
        if after is None or new or not cured:
            why = "it would not be gone" if after is not None and not new else "there would be more"
            self._left.append(f"{what}: {why}")
            return None
        self._made.append(what)
        return changed, after, now

    def _check(self, source: SourceFile) -> tuple[Model | None, list[Diagnostic]]:
        from orgflow.compiler import load, needs_diagram

        ctx = PassContext(registry=self._registry, target=self._target)
        accepted = Acceptance(self._registry, errors=True, whole=False, preset=self._preset)
        accepted.configure(source.path, ctx)
        model = load(source, self._registry, ctx, from_=self._from, diagram=needs_diagram(ctx))
        if model is not None:
            check_source(source, model, ctx, self._from)
        accepted.apply(source.path, model, ctx)
        return model, ctx.diagnostics


def _key(d: Diagnostic) -> tuple[Found, str]:
    assert d.fix is not None
    return (d.code, d.element), d.fix.title


def _count(found: Sequence[Diagnostic], like: Diagnostic) -> int:
    return sum(1 for d in found if (d.code, d.element) == (like.code, like.element))


def _faults(found: Sequence[Diagnostic]) -> Counter[Found]:
    """Errors that count, by code and element."""
    return Counter(
        (d.code, d.element) for d in found if d.severity is Severity.ERROR and d.suppressed is None
    )


def _counted(found: Sequence[Diagnostic]) -> Counter[Found]:
    """All that was told: a warning of a fault behind others is an error once those are gone."""
    return Counter((d.code, d.element) for d in found)


def _diff(old: SourceFile, new: SourceFile) -> str:
    """A unified diff, as far as the bytes are UTF-8."""
    was, now = (s.data.decode("utf-8", "replace").splitlines(keepends=True) for s in (old, new))
    lines = difflib.unified_diff(was, now, old.path, old.path)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
