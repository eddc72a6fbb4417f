"""`orgflowc compile`: a model into the files of a target."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import FILE, targets
from orgflow.commands.options import (
    model_flags_with,
    model_options,
    process_option,
    resolve_target,
    source_options,
)
from orgflow.commands.output import (
    OutputError,
    destinations,
    is_folder,
    keep_input,
    same_file,
    write_files,
    write_stdout,
)
from orgflow.commands.session import (
    Session,
    configuration_for,
    exit_code,
    leave,
    list_folders_once,
    text_width,
)
from orgflow.compiler import (
    InputError,
    compile_model,
    compile_separately,
    read_source,
    separable,
    with_called,
)

from orgflow_ir.diagnostics import Category, Diagnostic, Severity
from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import listed
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.reporting.suppression import carries_any
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.artifact import Artifact, Emitted


@click.command("compile", short_help="Compile a model into a workflow of the target.")
@click.argument("inputs", metavar="IN...", nargs=-1, required=True, type=FILE)
@click.option(
    "--target",
    required=True,
    metavar="T[{option=value,…}]",
    shell_complete=targets,
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
def command(
    inputs: tuple[str, ...],
    target: str,
    output: str | None,
    golden: str | None,
    edited: str | None,
    dry_run: bool,
    verify: bool,
    fill: bool,
    allow_lossy: bool,
    force: bool,
    strict: bool,
    report: str | None,
    process: str | None,
    from_: str | None,
    format_: str,
    verbose: bool,
    **more: Any,
) -> None:
    """Compile the model in IN (a file, or - with --from) for a target; of a folder, all models in
    it.

    The result goes to standard output, diagnostics go to standard error. With -o DIR/, processes
    that cannot be compiled together are compiled separately. Of several models, one with errors
    does not stop the others, and work that several of them name becomes one workflow. Exit code 1:
    a model has errors; faulty processes were not written.
    """
    if output is not None and golden is not None:
        raise click.UsageError("-o writes and --check only compares; use one of them")
    if golden is not None and not Path(golden).exists():
        raise click.UsageError(f"{golden} does not exist; -o {golden} creates it")
    if edited is not None and golden is not None:
        raise click.UsageError(
            "--merge and --check cannot be combined, because a merge changes the workflow"
        )
    if dry_run and edited is None:
        raise click.UsageError("--dry-run requires --merge")
    flags = model_flags_with("--fill", more, used=fill)
    keep_input(output, *inputs)
    keep_input(report, *inputs, option="--report")
    if report is not None and output is not None and Path(report) == Path(output):
        raise click.UsageError(f"--report and -o both name {report}")
    session = Session(format_, verbose=verbose)
    backend, options = resolve_target(target, session.registry, inputs)
    paths = list(dict.fromkeys(inputs))
    empty: list[str] = []
    if any(os.path.isdir(one) for one in inputs):
        from orgflow.commands.inputs import models_in, without_output

        paths, empty = models_in(inputs, session)
        paths = without_output(paths, inputs, golden or output)
    several = len(paths) != 1
    if several:
        list_folders_once()
    if several and (edited is not None or process is not None):
        named, what = ("--process", "the process")
        if edited is not None:
            named, what = "--merge", "the workflow"
        raise click.UsageError(
            f"{named} is for one model, and there are {len(paths)}; name the file with the model "
            f"of {what}"
        )
    folder = several or (is_folder(golden or output or "", ()) and edited is None)
    models: list[Model] = []
    made: list[tuple[Model, Emitted]] = []
    ctx = session.context()
    for without in empty:
        ctx.emit(UnreadableInput, f"there is no model in {without}", help="name a file in it")
    if several:
        session.collect(ctx)

    def read() -> Iterator[tuple[str, Model, PassContext]]:
        for in_ in paths:
            own = session.context() if several else ctx
            own.given = paths if several else ()
            model = session.load(
                in_, own, from_, diagram=backend.target.wants_diagram, process=process
            )
            if model is not None:
                yield in_, model, own
            else:
                session.collect(own)

    loaded: Iterable[tuple[str, Model, PassContext]] = read()
    if fill:
        from orgflow.commands.filling import Loaded, fill_models

        loaded = fill_models(
            [Loaded(*one) for one in loaded], backend, session, flags=flags,
            called=backend.target.executes,
        )  # fmt: skip
    for in_, model, ctx in loaded:
        model = with_called(model, backend, ctx)
        models.append(model)
        some = _compile(
            model, backend, ctx, folder=folder, options=options, allow_lossy=allow_lossy,
            force=force, strict=strict,
        )  # fmt: skip
        if verify:
            some = [(one, e) for one, e in some if _verified(one, e, backend, session, ctx)]
        made += some
        if not several and some and edited is not None:
            break  # what is found while merging is accepted, too
        _accept(in_, model, session, ctx)
        if several:
            session.collect(ctx)
    artifacts: Sequence[Artifact] | None = None
    beside: list[Artifact] = []
    emitted: Sequence[Emitted] = ()
    if len(made) > 1 and backend.target.executes and any(os.path.isdir(one) for one in inputs):
        from orgflow.commands.inputs import used_decisions

        used = used_decisions(models, inputs, session)
        made = [(one, e) for one, e in made if one.source not in used]
    if made:
        if len(made) > 1:
            session.collect(ctx)
            ctx = session.context()
            ctx.options = {**backend.target.default_options, **options}
        emitted = backend.link(made, ctx) if len(made) > 1 else tuple(e for _, e in made)
        artifacts = [artifact for one in emitted for artifact in one.artifacts]
        beside = [artifact for one in emitted for artifact in one.beside]
        if edited is not None:
            from orgflow.commands.merge import merged_artifacts

            artifacts = merged_artifacts(
                edited, models[0], made[0][1], backend, session, ctx, dry_run=dry_run
            )
            _accept(paths[0], models[0], session, ctx)
    session.collect(ctx)
    if artifacts is not None and edited is None:
        kept = with_filled_work(emitted, golden or output, backend, session)
        artifacts = None
        if kept is not None:
            beside = [artifact for one in kept for artifact in one.beside]
            artifacts = [artifact for one in kept for artifact in one.artifacts]
            if golden is None and output is not None:
                _report_uncalled(kept, output, backend, session)
    code = exit_code(session.diagnostics)
    shown = " ".join(inputs)
    try:
        if artifacts is not None and golden is not None:
            code = max(code, _compare(golden, artifacts, backend, session))
        elif artifacts is not None:
            write_compiled(paths, output, artifacts, beside)
            if edited is None and (session.diagnostics or output not in (None, "-")):
                session.outcome = _outcome(paths, output, backend, session.diagnostics, report)
        elif golden is None and edited is None and code == 1:
            session.outcome = (
                "nothing written",
                _after_errors(inputs, session.diagnostics, backend),
            )
        if report is not None:
            from orgflow.commands.report import markdown, page

            form = page if Path(report).suffix.lower() in (".html", ".htm") else markdown
            text = form(shown, target, models, artifacts, session.diagnostics)
            write_files([(Path(report), text)])
    finally:
        session.show(brief=True)
    if session.format == "text" and not session.quiet:
        for line in _no_help(session.diagnostics, backend, force=force, allow_lossy=allow_lossy):
            click.echo(line, err=True)
    leave(code)


def _compile(
    model: Model,
    backend: Backend,
    ctx: PassContext,
    *,
    folder: bool,
    options: Mapping[str, str],
    allow_lossy: bool,
    force: bool,
    strict: bool,
) -> list[tuple[Model, Emitted]]:
    """What was compiled, and of which model: of the whole one or, for a folder and where that has
    errors, of each process by itself."""
    several = folder and len(executable_processes(model)) > 1 and len(separable(model)) > 1
    read = list(ctx.diagnostics)
    emitted = compile_model(
        model, backend, ctx, options=options, allow_lossy=allow_lossy, force=force, strict=strict
    )
    if emitted is not None:
        return [(model, emitted)]
    if not several or any(d.severity is Severity.ERROR for d in read):
        return []
    ctx.diagnostics[:] = read
    return compile_separately(
        model, backend, ctx, options=options, allow_lossy=allow_lossy, force=force, strict=strict
    )


def _outcome(
    paths: Sequence[str],
    output: str | None,
    backend: Backend,
    found: Sequence[Diagnostic],
    report: str | None,
) -> tuple[str, str]:
    """What was written, and what to do next."""
    made = "compiled" if output is None or output == "-" else f"wrote {output}"
    if report is not None:
        return made, f"{report} lists the remaining work"
    if any(d.category is Category.GAP and d.suppressed is None for d in found):
        return made, "--report todo.md lists the remaining work"
    if len(paths) != 1 or paths[0] == "-" or backend.engines() is None:
        return made, ""
    return made, f"next: orgflowc run {shlex.quote(paths[0])}"


def _after_errors(inputs: Sequence[str], found: Sequence[Diagnostic], backend: Backend) -> str:
    """What to do about errors: take fixes, compile what is supported, or read about the first."""
    errors = [d for d in found if d.severity is Severity.ERROR and d.suppressed is None]
    safe = [d for d in errors if d.fix is not None and d.fix.applicability == "safe"]
    if safe and "-" not in inputs:
        return f"next: orgflowc check --fix {shlex.join(inputs)}"
    of_model = all(d.category is Category.TARGET and d.element is not None for d in errors)
    if errors and backend.target.stubs and of_model:
        return f"next: --target '{backend.name}{{unsupported=stub}}' compiles the rest"
    return f"next: orgflowc explain {errors[0].code}" if errors else ""


def _no_help(
    diagnostics: Iterable[Diagnostic], backend: Backend, *, force: bool, allow_lossy: bool
) -> Iterator[str]:
    """Which of the options that let something through were given, and let none of the errors
    through that are left."""
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    if not errors or any(d.category is Category.INTERNAL for d in errors):
        return
    codes = listed(sorted({d.code for d in errors}))
    if force:
        from orgflow.passes.pipelines import FORCEABLE

        yield (
            f"--force does not help: it permits {listed(sorted(FORCEABLE))}, and the remaining "
            f"errors are {codes}"
        )
    if allow_lossy:
        yield (
            "--allow-lossy does not help: there is no approximation for the remaining errors, "
            "which are "
            f"{codes}"
        )
    refused = any(d.category is Category.TARGET for d in errors)
    if (force or allow_lossy) and refused and backend.target.stubs:
        yield (
            f"--target '{backend.name}{{unsupported=stub}}' compiles the rest, with stops in "
            "place of unsupported elements"
        )


def _accept(in_: str, model: Model, session: Session, ctx: PassContext) -> None:
    """Mark warnings and infos that the model or an orgflow.toml accepts; errors stay errors."""
    path = None if in_ == "-" else in_
    if carries_any(model) or (path is not None and configuration_for(path) is not None):
        from orgflow.commands.suppressions import Acceptance

        Acceptance(session.registry, errors=False, whole=True).apply(path, model, ctx)


def _verified(
    model: Model, emitted: Emitted, backend: Backend, session: Session, ctx: PassContext
) -> bool:
    """Whether no difference between the artifacts and the model was found; a line a process on
    standard error, everything else is in `ctx`."""
    if not backend.validate(emitted.artifacts, ctx):
        return False
    text = as_one(emitted.artifacts)
    made = SourceFile("what was compiled", text.encode("utf-8", "surrogatepass"))
    results = backend.verify(model, made, ctx, emitted=emitted)
    if results is None:
        raise click.UsageError(
            f"target `{backend.name}` does not support verification; omit --verify"
        )
    for result in results:
        states = f", {result.states} states" if result.verdict.value == "proved" else ""
        session.note(f"verified `{result.label}`: {result.verdict.value}{states}")
    return bool(results) and all(r.ok for r in results)


_MOST_OTHERS = 1000
"""Maximum number of files in the output folder that are searched for work."""


def _report_uncalled(
    emitted: Sequence[Emitted], output: str, backend: Backend, session: Session
) -> None:
    """Report work that an earlier compilation wrote to the folder and that nothing in it uses any
    more."""
    if type(backend).report_uncalled is Backend.report_uncalled or not os.path.isdir(output):
        return
    artifacts = [artifact for one in emitted for artifact in one.artifacts]
    new = {os.path.abspath(place) for place, _ in _files(output, artifacts)}
    names = sorted(name for name in os.listdir(output) if name.endswith(".json"))
    if len(names) > _MOST_OTHERS:
        return  # what is not read may be the caller
    paths = [os.path.join(output, name) for name in names]
    others = []
    for path in (path for path in paths if os.path.abspath(path) not in new):
        with contextlib.suppress(InputError):  # nobody asked for it
            others.append(read_source(path))
    from orgflow.commands.merge import read_beside

    ctx = session.context()
    backend.report_uncalled(emitted, others, ctx, lambda path: read_beside(Path(output), path))
    session.collect(ctx)


def with_filled_work(
    emitted: Sequence[Emitted], output: str | None, backend: Backend, session: Session
) -> Sequence[Emitted] | None:
    """The output, with the work that people implemented in the files that it replaces; `None` after
    an error."""
    artifacts = [artifact for one in emitted for artifact in one.artifacts]
    if output in (None, "-") or type(backend).keep_filled is Backend.keep_filled:
        return emitted
    assert output is not None
    there = []
    for place in dict.fromkeys(place for place, _ in _files(output, artifacts)):
        if os.path.isfile(place):  # `Path.is_file` raises for names that are too long
            try:
                there.append(read_source(str(place)))
            except InputError as error:
                raise OutputError(
                    f"cannot replace {place}, which may contain implemented work: {error}; move it"
                ) from None
    if not there:
        return emitted
    from orgflow.commands.merge import read_beside

    ctx = session.context()
    folder = Path(there[0].path).parent
    kept = backend.keep_filled(emitted, there, ctx, lambda path: read_beside(folder, path))
    session.collect(ctx)
    if ctx.has_errors:
        return None
    texts = {artifact.path: artifact.text for artifact in artifacts}
    for one in (artifact for some in kept for artifact in some.artifacts):
        if one.text != texts[one.path]:
            session.note(f"kept the edits of {one.path}")
    return kept


def write_compiled(
    paths: Sequence[str],
    output: str | None,
    artifacts: Sequence[Artifact],
    beside: Sequence[Artifact],
) -> None:
    """Write what models were compiled to, and the files beside it, or print it without `-o`.

    Raises `OutputError` and `click.UsageError`.
    """
    if output is None or output == "-":
        write_stdout(as_one(artifacts))
        return
    files = _files(output, artifacts)
    if any(same_file(place, one) for place, _ in files for one in paths):
        raise click.UsageError(f"-o {output} would overwrite the input")
    write_files([*files, *((files[0][0].parent / one.path, one.text) for one in beside)])


def write_artifacts(artifacts: Sequence[Artifact], output: str | None) -> None:
    """Write all files to `-o OUTPUT`, or print them if it is omitted or `-`.

    Raises `OutputError` and `click.UsageError`.
    """
    if output is None or output == "-":
        write_stdout(as_one(artifacts))
        return
    write_files(_files(output, artifacts))


def _files(output: str, artifacts: Sequence[Artifact]) -> list[tuple[Path, str]]:
    """What to write where: several JSON files are one array in a file whose name has a suffix.
    Raises `click.UsageError`."""
    place = Path(output)
    in_one = bool(place.suffix) and not is_folder(output, ())
    if in_one and len(artifacts) > 1 and all(a.path.endswith(".json") for a in artifacts):
        return [(place, as_one(artifacts))]
    return list(zip(destinations(output, artifacts), (a.text for a in artifacts), strict=True))


def as_one(artifacts: Sequence[Artifact]) -> str:
    """The text for standard output: the one file, or several JSON files as one array.

    Raises `click.UsageError` if several files are not JSON.
    """
    if len(artifacts) == 1:
        return artifacts[0].text
    if not all(a.path.endswith(".json") for a in artifacts):
        raise click.UsageError(f"the result is {len(artifacts)} files; use -o DIR")
    return "[\n" + ",\n".join(a.text.strip() for a in artifacts) + "\n]\n"


def _compare(golden: str, artifacts: Sequence[Artifact], backend: Backend, session: Session) -> int:
    """0 where the golden file or folder holds exactly these artifacts, else 1 and what differs on
    standard output: behaviour and nodes, or where these are the same the bytes."""
    from orgflow.commands.golden import golden_difference, wanted_files

    ctx = session.context()
    said = golden_difference(wanted_files(golden, artifacts), backend, ctx, text_width(sys.stdout))
    session.collect(ctx)
    write_stdout(said)
    return 1 if said else 0
