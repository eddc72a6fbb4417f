"""The shared state of one command: registry, sources, findings, and their output."""

from __future__ import annotations

import dataclasses
import io
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self, TextIO

import click
from orgflow.commands.cancellation import Signals
from orgflow.commands.options import FORMATS, DiagnosticsOptions, is_quiet
from orgflow.compilation.input_sources import STDIN, source_name
from orgflow.compilation.reading import ReadRequest, read_model
from orgflow.compilation.usage_errors import InputError, UnknownName, suggest_name

from orgflow_ir.diagnostics import Category, Diagnostic, Severity
from orgflow_ir.diagnostics.core_rules import UnknownFormat, UnreadableInput
from orgflow_ir.diagnostics.message_rules import NoMessageStore
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import ElementNames, collect_labels
from orgflow_ir.model.printable import escape_controls
from orgflow_ir.model.provenance import elements_by_id
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import Source, SourceFile, SourceLocation, SourceStream
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import CancelFlag, Services
from orgflow_ir.plugins import Registry
from orgflow_ir.reporting.text_reporter import TextReporter

if TYPE_CHECKING:
    import shutil
    from importlib import metadata

    from orgflow_ir.model import neighbours
    from orgflow_ir.model.elements import Element
    from orgflow_ir.reporting import json_reporter, streamed_lines
    from orgflow_ir.reporting.sarif_reporter import Replacement
else:  # for one output form, with a terminal, or with a trace
    metadata = LazyModule("importlib.metadata")
    neighbours = LazyModule("orgflow_ir.model.neighbours")
    json_reporter = LazyModule("orgflow_ir.reporting.json_reporter")
    streamed_lines = LazyModule("orgflow_ir.reporting.streamed_lines")
    shutil = LazyModule("shutil")

MISUSE_CODES = (UnreadableInput.code, UnknownFormat.code, NoMessageStore.code)
"""Codes about the call and not about a model: exit code 2."""


def exit_code(diagnostics: Iterable[Diagnostic], *, strict: bool = False) -> int:
    """0 no errors, 1 the model has errors (or, `strict`, warnings), 2 usage error or internal
    error."""
    worst = 0
    for d in diagnostics:
        if d.suppressed is not None:
            continue
        if d.severity is Severity.ERROR:
            ours = d.code in MISUSE_CODES or d.category is Category.INTERNAL
            worst = max(worst, 2 if ours else 1)
        elif strict and d.severity is Severity.WARNING:
            worst = max(worst, 1)
    return worst


class Traced(NamedTuple):
    """Texts for the elements in the runs of findings, by id."""

    labels: dict[str, str]
    """Labels for people."""
    names: dict[str, str]
    """Names in messages."""
    places: dict[str, SourceLocation]

    @classmethod
    def of(cls, model: Model, diagnostics: Iterable[Diagnostic]) -> Self | None:
        """The texts for a model with its findings; `None` if no finding has a run."""
        steps = [step for d in diagnostics for step in d.trace]
        if not steps:
            return None

        labels, names, elements = collect_labels(model), ElementNames(model), elements_by_id(model)
        ids = dict.fromkeys(id for step in steps for id in (step.element, *step.taken))
        return cls(
            {id: labels[id] for id in ids if id in labels},
            {id: names.name(id) for id in ids},
            {id: e.loc for id in ids if (e := elements.get(id)) is not None and e.loc is not None},
        )


class Session:
    """One invocation: reads inputs, collects every diagnostic, and shows all of them once at the
    end."""

    def __init__(self, format_: str = "text", *, verbose: bool = False) -> None:
        self.registry = Registry()
        self.verbose = verbose
        self.quiet = is_quiet()
        if self.quiet and verbose:
            raise click.UsageError("--quiet and --verbose contradict each other; use one of them")
        self.outcome: tuple[str, str] | None = None
        self.replacements: Callable[[Diagnostic], Sequence[Replacement]] | None = None
        """What fixes replace in files, where somebody wants to see it (SARIF)."""
        self.format = format_
        if format_ not in FORMATS:  # a known one is only looked up when there is something to say
            self._lookup_reporter()
        self.diagnostics: list[Diagnostic] = []
        self.notes: list[str] = []
        self.language_model: dict[str, Any] | None = None
        """What the language model was about to use and used, as JSON data."""
        self.inputs: list[str] = []
        self.folders: tuple[str, ...] = ()
        """The folders that the command was given, for every context."""
        self.sources: dict[str, Source] = {}
        self.models: list[Model] = []
        self.traced: dict[str, Traced] = {}
        """By file, where the models themselves are no longer needed."""
        self._broken_told = False
        self._names: dict[str, ElementNames | None] = {}
        self._elements: dict[str, dict[str, Element]] = {}
        cancellation = CancelFlag()
        self.services = Services(cancellation=cancellation)
        self.signals = Signals(cancellation)
        running = click.get_current_context(silent=True)
        if running is not None:  # until the command is over
            running.with_resource(self.signals.caught())

    @classmethod
    def with_options(cls, options: DiagnosticsOptions) -> Self:
        """The session of a command with these options. Raises `click.UsageError`."""
        return cls(options.format_, verbose=options.verbose)

    def forget(self) -> None:
        """Forget inputs and findings, for a command that reads its files repeatedly."""
        for values in (self.diagnostics, self.inputs, self.models):
            values.clear()
        self.sources.clear()
        self.traced.clear()
        self._names.clear()

    def _lookup_reporter(self) -> Any:
        if self.format == "text":  # the others need not be loaded for it
            return TextReporter()
        reporters = self.registry.reporters
        if self.format not in reporters:
            raise click.UsageError(
                f"no format `{self.format}`; {suggest_name(self.format, tuple(reporters))}"
            )
        return reporters[self.format]

    def context(self) -> PassContext:
        """A context for one input whose findings are shown with all others."""
        return PassContext(registry=self.registry, services=self.services, folders=self.folders)

    def load(
        self,
        path: str,
        ctx: PassContext,
        from_: str | None,
        *,
        diagram: bool = False,
        process: str | None = None,
    ) -> Model | None:
        """Read and parse one input (or one of its processes); `None` after an error. Raises
        `click.UsageError`."""
        self.inputs.append(source_name(path))
        try:
            model, source = read_model(ReadRequest(path, from_, process, diagram), ctx)
        except InputError as error:
            ctx.emit(UnreadableInput, str(error), help=error.help)
            return None
        except UnknownName as error:
            raise click.UsageError(str(error)) from None
        if source is not None:
            self.sources[source.path] = source
        if model is not None:
            self.models.append(model)
        return model

    def collect(self, ctx: PassContext) -> None:
        """Add the findings of a context, once: those in a process that several models call are in
        the context of each."""
        if not self._broken_told:
            self.registry.report_broken(ctx)
            self._broken_told = True
        self.diagnostics.extend(drop_known(ctx.diagnostics, self.diagnostics))

    def note(self, line: str) -> None:
        """A line about the work: on standard error, or with the findings if these are data for
        programs; nowhere with `--quiet`."""
        if self.quiet:
            return
        if self.format in ("text", "github"):
            if sys.stderr is not None:
                click.echo(escape_controls(line), err=True)
        else:
            self.notes.append(line)

    def more(self) -> dict[str, Any]:
        """Optional fields of a JSON result: `notes` and `language_model`."""
        fields = {"notes": self.notes, "language_model": self.language_model}
        return {name: value for name, value in fields.items() if value}

    def show(self, *, brief: bool = False) -> None:
        """Write the diagnostics to standard error, for commands with a different result; as text
        only if there are any, or an outcome."""
        if sys.stderr is None or not (self.diagnostics or self.outcome or self.format != "text"):
            return  # where whoever called closed it, the exit code has to do
        sys.stderr.write(self.rendered(sys.stderr, brief=brief))

    def rendered(self, stream: TextIO | None = None, *, brief: bool = False) -> str:
        """The diagnostics in the form of `--format`, with colours and width for a stream; `None`
        stands for a file."""
        text = io.StringIO()
        reporter = self._configured(self._lookup_reporter(), stream, brief)
        reporter.report(self.diagnostics, text)
        return text.getvalue()

    def _configured(self, reporter: Any, stream: TextIO | None, brief: bool) -> Any:
        if isinstance(reporter, TextReporter):
            return dataclasses.replace(
                reporter,
                colour=wants_colour(stream),
                verbose=self.verbose,
                brief=brief,
                quiet=self.quiet,
                outcome=self.outcome if brief else None,
                width=text_width(stream),
                inputs=tuple(self.inputs),
                sources=self._texts(),
                labels=self._labels(),
                name_of=self._name_of,
            )
        if reporter.name == "json" and isinstance(reporter, json_reporter.JsonReporter):
            return dataclasses.replace(reporter, more=self.more())
        if reporter.name == "sarif":
            return dataclasses.replace(
                reporter,
                rules=self.registry.rules,
                version=metadata.version("orgflow"),
                label=self._name_of,
                place=self._place_of,
                notes=tuple(self.notes),
                **({} if self.replacements is None else {"replacements": self.replacements}),
            )
        return reporter

    def _texts(self) -> dict[str, bytes | streamed_lines.StreamedLines]:
        """Where excerpts come from: what came once, or is a folder, has none."""
        texts: dict[str, bytes | streamed_lines.StreamedLines] = {}
        for name, source in self.sources.items():
            if isinstance(source, SourceFile):
                texts[name] = source.data
            elif isinstance(source, SourceStream) and name != STDIN:
                texts[name] = streamed_lines.StreamedLines(name)
        return texts

    def _name_of(self, file: str, element: str) -> str:
        """How messages name an element without a label: by what is next to it."""
        if file in self.traced and element in self.traced[file].names:
            return self.traced[file].names[element]
        if file not in self._names:
            model_of_file = next((model for model in self.models if model.source == file), None)
            self._names[file] = None if model_of_file is None else ElementNames(model_of_file)
        names = self._names[file]
        return names.name(element) if names is not None else f"`{element}`"

    def _place_of(self, file: str, element: str) -> SourceLocation | None:
        """Where an element is in its file."""
        if file in self.traced and element in self.traced[file].names:
            return self.traced[file].places.get(element)
        if file not in self._elements:
            model_of_file = next((model for model in self.models if model.source == file), None)
            self._elements[file] = {} if model_of_file is None else elements_by_id(model_of_file)
        found_there = self._elements[file].get(element)
        return None if found_there is None else found_there.loc

    def _labels(self) -> dict[str, dict[str, str]]:
        labels = {file: dict(traced.labels) for file, traced in self.traced.items()}
        for model in self.models:
            labels.setdefault(model.source, {}).update(collect_labels(model))
        return labels


def drop_known(findings: Sequence[Diagnostic], known: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Findings except those that are known from the compilation of another model."""
    keys = set(map(_finding_key, known))
    return (
        [finding for finding in findings if _finding_key(finding) not in keys]
        if keys
        else list(findings)
    )


def _finding_key(finding: Diagnostic) -> object:
    """Equal for the same finding at the same place; without a place, every finding is another."""
    if finding.loc is None or finding.loc.line is None:
        return id(finding)
    place = (finding.loc.file, finding.loc.line, finding.loc.column)
    return finding.code, finding.message, place


def wants_colour(stream: TextIO | None) -> bool:
    """Colours only for a terminal without NO_COLOR (no-color.org) and with TERM other than dumb."""
    return (
        stream is not None
        and stream.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )


def text_width(stream: TextIO | None) -> int:
    """The width of the output: that of a terminal, between 60 and 100, otherwise 80."""
    if stream is None or not stream.isatty():
        return 80

    return min(max(shutil.get_terminal_size().columns, 60), 100)


def list_folders_once() -> None:
    """Until the command is over, list each folder with called processes once for all models."""
    running = click.get_current_context(silent=True)
    if running is not None:
        running.with_resource(neighbours.folders_listed_once())


def end_command(code: int) -> NoReturn:
    """End the command with an exit code."""
    raise click.exceptions.Exit(code)
