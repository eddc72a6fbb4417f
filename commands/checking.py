"""The result of checking one file, as a value that can be transferred to another process or stored
for a later run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from orgflow.commands.project.suppressions import Acceptance, Applied
from orgflow.commands.session import Session, Traced
from orgflow.compilation.input_sources import read_source, source_name
from orgflow.compilation.model_checks import check_gaps, check_messages, needs_diagram
from orgflow.compilation.reading import own_backend
from orgflow.compilation.usage_errors import InputError
from orgflow.compiler import CHECK, LEGAL, CompileRequest, lint_own_format, run_stages

from orgflow_ir.diagnostics import Category, Diagnostic
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.neighbours import Neighbours, noted_neighbours
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import Source, SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend

if TYPE_CHECKING:
    from orgflow.commands.project import target_settings
    from orgflow.compilation import target_choice

    from orgflow_ir.reporting.sarif_reporter import Replacement
else:  # with a target only
    target_settings = LazyModule("orgflow.commands.project.target_settings")
    target_choice = LazyModule("orgflow.compilation.target_choice")


class CheckOptions(NamedTuple):
    """The settings for every file of a command line; `given` contains all of its files,
    `folders` those named."""

    from_: str | None
    target: str | None
    target_options: tuple[tuple[str, str], ...]
    messages: bool
    preset: str | None
    given: tuple[str, ...]
    folders: tuple[str, ...] = ()

    def same_for_all(self) -> str:
        """The options except the files, as text."""
        return repr((self.from_, self.target, self.target_options, self.messages, self.preset))


class Checked(NamedTuple):
    """The findings of one file."""

    diagnostics: tuple[Diagnostic, ...]
    """Graded, with accepted ones marked."""
    applied: Applied
    """The suppressions of its `orgflow.toml` that were used."""
    traced: Traced | None
    """Labels and places of the elements in its runs."""
    plain: bool
    """The file was read as bytes, and not as a stream."""
    lasting: bool
    """The same bytes give the same result: no options of a target, which may name files, and no
    internal error."""
    folders: tuple[tuple[str, tuple[str, ...]], ...]
    """Those of other files that mattered, with their suffixes."""
    by_given: bool
    """Whether it mattered which other files the command was given."""
    broken: tuple[tuple[str, str], ...]
    """Plugins of which some part cannot be used, and why."""


class KeptFixes:
    """The replacements in a file that proved fixes of its findings make.

    Attributes:
        found: by finding and fix, as text; empty if a fix cannot be written or does not remove the
            finding.
        folders: folders of neighbouring files that mattered, with their suffixes.
        by_given: whether the other files of the command mattered.
    """

    def __init__(self) -> None:
        self.found: dict[str, tuple[Replacement, ...]] = {}
        self.folders: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self.by_given = False

    def note(self, noted: Neighbours) -> None:
        """Record that neighbouring files mattered for another fix."""
        self.folders = tuple(sorted({*self.folders, *noted.folders}))
        self.by_given = self.by_given or noted.given


def own_checker(options: CheckOptions) -> Checker:
    """The checker of a process, independent of other processes."""
    session = Session()
    session.folders = options.folders
    whole = options.target is not None
    accepted = Acceptance(session.registry, errors=True, whole=whole, preset=options.preset)
    accepted.prepare(options.given, PassContext())
    return Checker(session, accepted, options)


class Checker:
    """Checks files one after the other with shared state."""

    def __init__(self, session: Session, accepted: Acceptance, options: CheckOptions) -> None:
        self.session, self.accepted, self.options = session, accepted, options
        self.backend: Backend | None = None
        self._by_options = False
        if options.target is not None:
            self.backend = session.registry.backend(options.target)

    def check(self, path: str) -> Checked:
        """Check one file, which becomes an input of the session. Raises `click.UsageError`."""
        with noted_neighbours() as noted:
            diagnostics, applied, traced = self._check(path)
        plain = isinstance(self.session.sources.get(source_name(path)), SourceFile)
        folders = tuple(sorted(noted.folders))
        broken = tuple(self.session.registry.broken)
        failed = any(d.category is Category.INTERNAL for d in diagnostics)
        lasting = plain and not self._by_options and not failed
        return Checked(
            diagnostics, applied, traced, plain=plain, lasting=lasting,
            folders=folders, by_given=noted.given, broken=broken,
        )  # fmt: skip

    def take(self, path: str, checked: Checked, data: bytes | None) -> None:
        """Add the findings of a file that was checked elsewhere; its bytes are `data`, if known."""
        session, name = self.session, source_name(path)
        session.inputs.append(name)
        if checked.diagnostics:  # which are shown with an excerpt
            with suppress(InputError):
                session.sources[name] = (
                    read_source(path) if data is None else SourceFile(name, data)
                )
        known = session.registry.broken
        known += (plugin for plugin in checked.broken if plugin not in known)
        self.accepted.add(None if path == "-" else path, checked.applied, PassContext())

    def add(self, path: str, checked: Checked) -> None:
        """The findings of a file are shown with all others."""
        self.session.diagnostics += checked.diagnostics
        if checked.traced is not None:
            self.session.traced[source_name(path)] = checked.traced

    def _check(self, path: str) -> tuple[tuple[Diagnostic, ...], Applied, Traced | None]:
        session, options = self.session, self.options
        ctx = session.context()
        ctx.given = options.given
        config = None if path == "-" else path
        target_options = self._target_options(path)
        self._by_options = bool(target_options)
        self.accepted.configure(config, ctx)
        model = session.load(path, ctx, options.from_, diagram=needs_diagram(ctx))
        find_gaps = None
        if model is not None:
            source = session.sources[source_name(path)]
            find_gaps = self._check_model(model, source, target_options, ctx)
        applied = self.accepted.apply(config, model, ctx, find_gaps)
        diagnostics = tuple(ctx.diagnostics)
        traced = None
        if model is not None:
            session.models.pop()  # what is shown of it is in `traced`
            traced = Traced.of(model, diagnostics)
        return diagnostics, applied, traced

    def _target_options(self, path: str) -> dict[str, str]:
        """The options of the target for one file; faults of its configuration are findings."""
        given = dict(self.options.target_options)
        if self.backend is None:
            return given

        return {
            **target_settings.read_target_options(
                self.backend, path, self.session.registry
            ).options,
            **given,
        }

    def _with_stated_options(
        self, own: Backend, source: SourceFile, given: dict[str, str], ctx: PassContext
    ) -> dict[str, str]:
        """The options for a file in the format of the target, with those that it states."""
        if self.backend is None:
            return own.stated_options(source) or {}
        if self.backend.name != own.name:
            return given
        return target_choice.combine_stated_options(own, given, source, ctx)

    def _check_model(
        self, model: Model, source: Source, target_options: dict[str, str], ctx: PassContext
    ) -> Callable[[], None]:
        """Check one model; the result finds its gaps."""
        backend = self.backend
        own = own_backend(source, self.session.registry, self.options.from_)
        if own is not None and isinstance(source, SourceFile):
            target_options = self._with_stated_options(own, source, target_options, ctx)
        request = CompileRequest(model, backend, target_options, source=source, own=own)
        # Nothing is left to legalise in a file of the target's own format.
        as_it_is = backend is None or (own is not None and own.name == backend.name)
        if as_it_is:
            ctx.options = {**ctx.options, **target_options}
            run_stages(CHECK, request, ctx)
        else:
            run_stages(LEGAL, request, ctx)
            self._drop_findings_of_others(source, ctx)
            run_stages((lint_own_format,), request, ctx)
        if self.options.messages:
            check_messages(model, ctx)
        return partial(check_gaps, model, ctx, own if as_it_is else None)

    def _drop_findings_of_others(self, source: Source, ctx: PassContext) -> None:
        """Each file of the command reports its own findings, not those of called processes."""
        others = {source_name(file) for file in self.options.given} - {source.path}
        if others:
            ctx.diagnostics[:] = [
                d for d in ctx.diagnostics if d.loc is None or d.loc.file not in others
            ]
