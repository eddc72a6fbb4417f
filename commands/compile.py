"""`orgflowc compile`: a model into the files of a target."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import FILE, complete_targets
from orgflow.commands.options import (
    ModelOptions,
    ProcessOptions,
    SourceOptions,
    model_options,
    model_settings_with,
    parsed_into,
    process_option,
    resolve_target,
    source_options,
)
from orgflow.commands.output import (
    is_array,
    is_folder,
    join_artifacts,
    keep_input,
    print_text,
    write_compiled,
    write_files,
)
from orgflow.commands.project.configuration_file import find_configuration
from orgflow.commands.session import (
    Session,
    end_command,
    exit_code,
    list_folders_once,
    text_width,
)
from orgflow.compiler import (
    COMPILE,
    CompileRequest,
    add_called_processes,
    compile_separately,
    run_stages,
)
from orgflow.passes.pipelines import FORCEABLE

from orgflow_ir.diagnostics import Category, Diagnostic, Severity
from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.reporting.suppression import carries_any
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.artifact import Artifact, Emitted

if TYPE_CHECKING:  # parts of single options, and of folders
    import shlex

    from orgflow.commands import filled_work, filling, golden, inputs, merge, report
    from orgflow.commands.project import suppressions
    from orgflow.compilation import process_groups, target_choice
else:
    shlex = LazyModule("shlex")
    filled_work = LazyModule("orgflow.commands.filled_work")
    filling = LazyModule("orgflow.commands.filling")
    golden = LazyModule("orgflow.commands.golden")
    inputs = LazyModule("orgflow.commands.inputs")
    merge = LazyModule("orgflow.commands.merge")
    target_choice = LazyModule("orgflow.compilation.target_choice")
    report = LazyModule("orgflow.commands.report")
    suppressions = LazyModule("orgflow.commands.project.suppressions")
    process_groups = LazyModule("orgflow.compilation.process_groups")


class CompileOptions(ModelOptions, ProcessOptions, SourceOptions):
    """The options of `compile`."""

    inputs: tuple[str, ...]
    target: str
    output: str | None
    golden: str | None
    edited: str | None
    dry_run: bool
    verify: bool
    fill: bool
    allow_lossy: bool
    force: bool
    strict: bool
    report: str | None


@click.command("compile", short_help="Compile a model into a workflow of the target.")
@click.argument("inputs", metavar="IN...", nargs=-1, required=True, type=FILE)
@click.option(
    "--target",
    required=True,
    metavar="T[{option=value,…}]",
    shell_complete=complete_targets,
    help=f"Target, e.g. {DEFAULT_TARGET} or '{DEFAULT_TARGET}{{version=2.41,people=placeholder}}'.",
)
@click.option(
    "-o",
    "output",
    metavar="FILE|DIR",
    help="Write to this file or folder (DIR/) instead of stdout. A file holds several workflows as "
    "one array.",
)
@click.option(
    "--check",
    "golden",
    metavar="GOLDEN",
    type=FILE,
    help="Write nothing; compare with this file (or folder) and exit with code 1 if they differ.",
)
@click.option(
    "--merge",
    "edited",
    metavar="FILE",
    type=FILE,
    help="Merge the result into this workflow, which was edited after it was compiled.",
)
@click.option(
    "--dry-run", is_flag=True, help="With --merge: print the changes without writing them."
)
@click.option(
    "--verify",
    is_flag=True,
    help="Prove that the compiled workflow behaves like the model; otherwise write nothing.",
)
@click.option(
    "--fill", is_flag=True, help="Fill open tasks first, with the configured language model."
)
@click.option("--allow-lossy", is_flag=True, help="Allow approximations that lose information.")
@click.option(
    "--force", is_flag=True, help="Compile despite deadlocks, livelocks and endless work."
)
@click.option("--strict", is_flag=True, help="Also reject duplicate execution and leftover tokens.")
@click.option(
    "--report",
    metavar="FILE.md|FILE.html",
    help="Write a checklist of remaining work, and which element was compiled to which node.",
)
@model_options
@process_option
@source_options
@parsed_into(CompileOptions)
def command(options: CompileOptions) -> None:
    """Compile the model in IN (a file, or - with --from) for a target; of a folder, all models in
    it.

    The result goes to standard output, diagnostics go to standard error. With -o DIR/, processes
    that cannot be compiled together are compiled separately. Of several models, one with errors
    does not stop the others, and work that several of them name becomes one workflow. Exit code 1:
    a model has errors; faulty processes were not written.
    """
    _check_options(options)
    settings = model_settings_with("--fill", options, used=options.fill)
    _protect_files(options)
    session = Session.with_options(options)
    compilation = _Compilation(options, session)
    compilation.compile_inputs(settings)
    compilation.link()
    code = compilation.write()
    if session.format == "text" and not session.quiet:
        for line in _list_unhelpful_options(session.diagnostics, compilation.backend, options):
            click.echo(line, err=True)
    end_command(code)


def _check_options(options: CompileOptions) -> None:
    """Raises `click.UsageError` for options that cannot be combined."""
    golden_file = options.golden
    if options.output is not None and golden_file is not None:
        raise click.UsageError("-o writes and --check only compares; use one of them")
    if golden_file is not None and not Path(golden_file).exists():
        raise click.UsageError(f"{golden_file} does not exist; -o {golden_file} creates it")
    if options.edited is not None and golden_file is not None:
        raise click.UsageError(
            "--merge and --check cannot be combined, because a merge changes the workflow"
        )
    if options.dry_run and options.edited is None:
        raise click.UsageError("--dry-run requires --merge")


def _protect_files(options: CompileOptions) -> None:
    """Raises `click.UsageError` if a result would overwrite an input or another result."""
    keep_input(options.output, *options.inputs)
    keep_input(options.report, *options.inputs, option="--report")
    report_file, output = options.report, options.output
    if report_file is not None and output is not None and Path(report_file) == Path(output):
        raise click.UsageError(f"--report and -o both name {report_file}")


Compiled = list[tuple[Model, Emitted]]
"""Models, each with its files."""


_MOST_NAMES = 4
"""Most files that the last line names."""


class _Compilation:
    """One call of `compile`: its inputs, and the results so far.

    Attributes:
        backend, target_options: the target.
        edited: the workflow that the output is merged into; `None` if there is none, or if it
            cannot be read.
        paths: the files that are compiled, with those in folders; `several`: not one.
        ctx: receives the findings of the only model, or those of all models together.
        models: as they were compiled, with the processes that they call.
        compiled: the files of each model without errors.
        emitted: the same after models were linked.
        artifacts: the files that are written or compared; `None` if there are none.
        unwritten: the names of the models and processes without files.
    """

    def __init__(self, options: CompileOptions, session: Session) -> None:
        self.options, self.session = options, session
        self.backend, self.target_options = resolve_target(
            options.target, session.registry, options.inputs
        )
        self.paths, empty = self._find_inputs()
        self.several = len(self.paths) != 1
        if self.several:
            list_folders_once()
            self._refuse_options_for_one_model()
        self.ctx = session.context()
        for folder in empty:
            self.ctx.emit(
                UnreadableInput, f"there is no model in {folder}", help="name a file in it"
            )
        if self.several:
            session.collect(self.ctx)
        self.edited: SourceFile | None = None
        self._take_stated_options()
        self.models: list[Model] = []
        self.compiled: Compiled = []
        self.emitted: Sequence[Emitted] = ()
        self.artifacts: Sequence[Artifact] | None = None
        self.unwritten: list[str] = []

    def _take_stated_options(self) -> None:
        """Use the options of the workflow that the output is merged into."""
        if self.options.edited is None:
            return
        self.edited = merge.read_edited(self.options.edited)
        if self.edited is not None:
            self.target_options = target_choice.combine_stated_options(
                self.backend, self.target_options, self.edited, self.ctx
            )

    @property
    def destination(self) -> str | None:
        """The file or folder that is written or compared."""
        return self.options.golden or self.options.output

    @property
    def has_folders(self) -> bool:
        """Whether an input is a folder."""
        return any(os.path.isdir(path) for path in self.options.inputs)

    def _find_inputs(self) -> tuple[list[str], list[str]]:
        """The files to compile, and the folders without any."""
        if not self.has_folders:
            return list(dict.fromkeys(self.options.inputs)), []
        paths, empty = inputs.models_in(self.options.inputs, self.session)
        return inputs.without_output(paths, self.options.inputs, self.destination), empty

    def _refuse_options_for_one_model(self) -> None:
        option, what = ("--process", "the process")
        if self.options.edited is not None:
            option, what = "--merge", "the workflow"
        elif self.options.process is None:
            return
        raise click.UsageError(
            f"{option} is for one model, and there are {len(self.paths)}; name the file with the "
            f"model of {what}"
        )

    def compile_inputs(self, settings: dict[str, Any]) -> None:
        """Read, fill, compile and verify each input; `settings` are those of a language model."""
        for path, model, ctx in self._fill_models(settings):
            self.ctx = ctx
            model = add_called_processes(model, self.backend, ctx)
            self.models.append(model)
            compiled = self._compile_model(model)
            if self.several and not compiled:
                self.unwritten.append(f"`{path}`")
            if self.options.verify:
                compiled = [(m, files) for m, files in compiled if self._is_verified(m, files)]
            self.compiled += compiled
            if not self.several and compiled and self.options.edited is not None:
                return  # findings of the merge are accepted, too
            self._accept_findings(path, model)
            if self.several:
                self.session.collect(ctx)

    def _read_models(self) -> Iterator[tuple[str, Model, PassContext]]:
        """The inputs without errors, each with its context."""
        options, session = self.options, self.session
        diagram = self.backend.target.wants_diagram
        for path in self.paths:
            own = session.context() if self.several else self.ctx
            own.given = self.paths if self.several else ()
            model = session.load(path, own, options.from_, diagram=diagram, process=options.process)
            if model is not None:
                yield path, model, own
            else:
                self.unwritten += [f"`{path}`"] if self.several else []
                session.collect(own)

    def _fill_models(self, settings: dict[str, Any]) -> Iterable[tuple[str, Model, PassContext]]:
        """The inputs, with the answers of agents if the options request them."""
        loaded = self._read_models()
        if not self.options.fill:
            return loaded
        request = filling.FillRequest(self.backend, settings, called=self.backend.target.executes)
        models = [filling.Loaded(*item) for item in loaded]
        return filling.fill_models(models, request, self.session)

    def _compile_model(self, model: Model) -> Compiled:
        """The files of a whole model or, for a folder and after errors, of each process."""
        options, ctx = self.options, self.ctx
        before = list(ctx.diagnostics)
        request = CompileRequest(
            model, self.backend, self.target_options, options.allow_lossy, options.force,
            options.strict,
        )  # fmt: skip
        emitted = run_stages(COMPILE, request, ctx).emitted
        if emitted is not None:
            return [(model, emitted)]
        if any(d.severity is Severity.ERROR for d in before) or not self._is_separable(model):
            return []
        ctx.diagnostics[:] = before
        compiled = compile_separately(request, ctx)
        written = {p.id for alone, _ in compiled for p in alone.processes}
        groups = process_groups.group_processes(model)
        if compiled:  # otherwise the whole file is named
            self.unwritten += [ctx.name(group[0]) for group in groups if group[0].id not in written]
        return compiled

    def _is_separable(self, model: Model) -> bool:
        """Whether the processes of a model can be written to a folder one by one."""
        folder = is_folder(self.destination or "", ()) and self.options.edited is None
        if not (self.several or folder) or len(executable_processes(model)) < 2:
            return False
        lost = process_groups.lost_messages(model, ModelIndex(model))
        return bool(lost) or len(process_groups.group_processes(model)) > 1

    def _is_verified(self, model: Model, emitted: Emitted) -> bool:
        """Whether no difference between the files and the model was found; a line a process on
        standard error, everything else is in the context."""
        backend, ctx = self.backend, self.ctx
        if not backend.validate(emitted.artifacts, ctx):
            return False
        text = join_artifacts(emitted.artifacts)
        workflow = SourceFile("what was compiled", text.encode("utf-8", "surrogatepass"))
        results = backend.verify(model, workflow, ctx, emitted=emitted)
        if results is None:
            raise click.UsageError(
                f"target `{backend.name}` does not support verification; omit --verify"
            )
        for result in results:
            if result.verdict.value == "not compared":
                self.session.note(f"not verified: `{result.label}`")
                continue
            states = f", {result.states} states" if result.verdict.value == "proved" else ""
            self.session.note(f"verified `{result.label}`: {result.verdict.value}{states}")
        return bool(results) and all(r.ok for r in results)

    def _accept_findings(self, path: str, model: Model) -> None:
        """Mark warnings and infos that the model or an orgflow.toml accepts; errors stay errors."""
        file = None if path == "-" else path
        if carries_any(model) or (file is not None and find_configuration(file) is not None):
            accepted = suppressions.Acceptance(self.session.registry, errors=False, whole=True)
            accepted.apply(file, model, self.ctx)

    def link(self) -> None:
        """Link the files of several models, merge them into an edited workflow, and keep the work
        that people implemented in files that they replace."""
        self._leave_out_used_decisions()
        if self.compiled:
            self._link_models()
            self.artifacts = [a for files in self.emitted for a in files.artifacts]
            if self.options.edited is not None:
                self._merge(self.options.edited)
        self.session.collect(self.ctx)
        if self.artifacts is not None and self.options.edited is None:
            self._keep_filled_work()

    def _leave_out_used_decisions(self) -> None:
        """Decisions in a folder need no workflow if those of their callers contain them."""
        if len(self.compiled) > 1 and self.backend.target.executes and self.has_folders:
            used = inputs.used_decisions(self.models, self.options.inputs, self.session)
            self.compiled = [(m, files) for m, files in self.compiled if m.source not in used]

    def _link_models(self) -> None:
        if len(self.compiled) == 1:
            self.emitted = (self.compiled[0][1],)
            return
        self.session.collect(self.ctx)
        self.ctx = self.session.context()
        self.ctx.options = {**self.backend.target.default_options, **self.target_options}
        self.emitted = self.backend.link(self.compiled, self.ctx)

    def _merge(self, edited: str) -> None:
        self.artifacts = merge.merged_artifacts(
            edited, self.models[0], self.compiled[0][1], self.backend, self.session, self.ctx,
            source=self.edited, dry_run=self.options.dry_run,
        )  # fmt: skip
        self._accept_findings(self.paths[0], self.models[0])

    def _keep_filled_work(self) -> None:
        output = self.destination
        if output is None or output == "-":
            return
        kept = filled_work.keep_filled_work(self.emitted, output, self.backend, self.session)
        self.artifacts = None
        if kept is None:
            return
        self.emitted = kept
        self.artifacts = [a for files in kept for a in files.artifacts]
        if self.options.golden is None:
            filled_work.report_uncalled_work(kept, output, self.backend, self.session)

    def write(self) -> int:
        """Write or compare the files, write the report, show the findings; the exit code."""
        options, session = self.options, self.session
        code = exit_code(session.diagnostics)
        try:
            if self.artifacts is not None and options.golden is not None:
                code = max(code, self._compare_golden(options.golden, self.artifacts))
            elif self.artifacts is not None:
                self._write_files(self.artifacts)
            elif options.golden is None and options.edited is None and code == 1:
                advice = _advise_after_errors(options.inputs, session.diagnostics, self.backend)
                session.outcome = "nothing written", advice
            if options.report is not None:
                self._write_report(options.report)
        finally:
            session.show(brief=True)
        return code

    def _write_files(self, artifacts: Sequence[Artifact]) -> None:
        options, session = self.options, self.session
        beside = [a for files in self.emitted for a in files.beside]
        write_compiled(self.paths, options.output, artifacts, beside)
        shows_more = session.diagnostics or options.output not in (None, "-")
        if options.edited is None and shows_more:
            session.outcome = self._describe_outcome()

    def _describe_outcome(self) -> tuple[str, str]:
        """What was written, and the next command."""
        output, findings = self.options.output, self.session.diagnostics
        done = "compiled" if output is None or output == "-" else f"wrote {output}"
        done += self._describe_files()
        if self.options.report is not None:
            return done, f"{self.options.report} lists the remaining work"
        if any(d.category is Category.GAP and d.suppressed is None for d in findings):
            return done, "--report todo.md lists the remaining work"
        if self.several or self.paths[0] == "-" or self.backend.engines() is None:
            return done, ""
        return done, f"next: orgflowc run {shlex.quote(self.paths[0])}"

    def _describe_files(self) -> str:
        """The files in the folder that was written, and the models and processes without files."""
        output, artifacts = self.options.output, self.artifacts or ()
        if output is None or output == "-":
            return ""
        done = ""
        if is_folder(output, artifacts) and not is_array(output, artifacts):
            names = [artifact.path for artifact in artifacts]
            more = len(names) - _MOST_NAMES
            names[_MOST_NAMES:] = [f"{more} more"] if more > 0 else []
            done = f" ({join_listed(names)})"
        if not self.unwritten:
            return done
        return f"{done}, but nothing for {join_listed(self.unwritten)}"

    def _compare_golden(self, path: str, artifacts: Sequence[Artifact]) -> int:
        """0 where the golden file or folder holds exactly these files, else 1 and the differences
        on standard output: behaviour and nodes, or where these are the same the bytes."""
        ctx = self.session.context()
        wanted = golden.wanted_files(path, artifacts)
        text = golden.golden_difference(wanted, self.backend, ctx, text_width(sys.stdout))
        self.session.collect(ctx)
        print_text(text)
        return 1 if text else 0

    def _write_report(self, path: str) -> None:
        form = (
            report.render_html
            if Path(path).suffix.lower() in (".html", ".htm")
            else report.render_markdown
        )
        text = form(
            " ".join(self.options.inputs), self.options.target, self.models, self.artifacts,
            self.session.diagnostics,
        )  # fmt: skip
        write_files([(Path(path), text)])


def _advise_after_errors(
    files: Sequence[str], findings: Sequence[Diagnostic], backend: Backend
) -> str:
    """What to do about errors: take fixes, compile what is supported, or read about the first."""
    errors = [d for d in findings if d.severity is Severity.ERROR and d.suppressed is None]
    safe = [d for d in errors if d.fix is not None and d.fix.applicability == "safe"]
    if safe and "-" not in files:
        return f"next: orgflowc check --fix {shlex.join(files)}"
    if errors and all(d.code == "OF402" for d in errors):
        return "next: --allow-lossy compiles it, without what the errors name"
    of_model = all(d.category is Category.TARGET and d.element is not None for d in errors)
    if errors and backend.target.stubs and of_model:
        return f"next: --target '{backend.name}{{unsupported=stub}}' compiles the rest"
    return f"next: orgflowc explain {errors[0].code}" if errors else ""


def _list_unhelpful_options(
    findings: Iterable[Diagnostic], backend: Backend, options: CompileOptions
) -> Iterator[str]:
    """The options that let something through, were given, and let none of the remaining errors
    through."""
    errors = [d for d in findings if d.severity is Severity.ERROR]
    if not errors or any(d.category is Category.INTERNAL for d in errors):
        return
    codes = join_listed(sorted({d.code for d in errors}))
    if options.force:
        yield (
            f"--force does not help: it permits {join_listed(sorted(FORCEABLE))}, and the "
            "remaining "
            f"errors are {codes}"
        )
    if options.allow_lossy:
        yield (
            "--allow-lossy does not help: there is no approximation for the remaining errors, "
            "which are "
            f"{codes}"
        )
    refused = any(d.category is Category.TARGET for d in errors)
    if (options.force or options.allow_lossy) and refused and backend.target.stubs:
        yield (
            f"--target '{backend.name}{{unsupported=stub}}' compiles the rest, with stops in "
            "place of unsupported elements"
        )
