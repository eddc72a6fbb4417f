"""`orgflowc check`: reports faults of models."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import click
from orgflow.commands.completion_values import FILE, among, targets
from orgflow.commands.inputs import expand
from orgflow.commands.options import resolve_target, source_options
from orgflow.commands.output import keep_input, write_files, write_stdout
from orgflow.commands.progress import progress_bar
from orgflow.commands.session import Session, exit_code, leave
from orgflow.commands.suppressions import Acceptance
from orgflow.compiler import (
    check_gaps,
    check_source,
    legal_model,
    needs_diagram,
    own_backend,
    source_name,
    suggestion,
    with_called,
)
from orgflow.passes.presets import PRESETS

from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model.source import SourceFile
from orgflow_ir.plugins.contracts import Backend

MANY = 20
"""From so many files on a terminal shows how far it is."""


@click.command("check", short_help="Find what is wrong with models.")
@click.argument("in_", metavar="IN...", nargs=-1, required=True, type=FILE)
@click.option(
    "--target",
    metavar="T[{option=value,…}]",
    shell_complete=targets,
    help="Also report constructs that this target does not support.",
)
@click.option(
    "--messages",
    is_flag=True,
    help="Also simulate all pools together: undelivered messages, circular waiting.",
)
@click.option(
    "--preset",
    metavar="|".join(PRESETS),
    shell_complete=among(*PRESETS),
    help="The set of rules to report and their severities; overrides the preset in orgflow.toml.",
)
@click.option("--strict", is_flag=True, help="Also exit with code 1 on warnings.")
@click.option("--fix", is_flag=True, help="Write safe fixes into the files.")
@click.option(
    "--unsafe-fixes",
    is_flag=True,
    help="With --fix: also apply fixes that remove something or make a choice.",
)
@click.option("--diff", "show_diff", is_flag=True, help="Only print what --fix would change.")
@click.option(
    "--baseline",
    metavar="FILE",
    help="Ignore the findings that FILE lists; only new findings count.",
)
@click.option(
    "--write-baseline",
    "listing",
    metavar="FILE",
    help="Write the current findings to FILE, for --baseline.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with code 0 even if models have errors.")
@click.option("-o", "output", metavar="FILE", help="Write the findings to this file.")
@source_options
def command(
    in_: tuple[str, ...],
    target: str | None,
    messages: bool,
    preset: str | None,
    strict: bool,
    fix: bool,
    unsafe_fixes: bool,
    show_diff: bool,
    baseline: str | None,
    listing: str | None,
    exit_zero: bool,
    output: str | None,
    from_: str | None,
    format_: str,
    verbose: bool,
) -> None:
    """Check the models in IN (files, folders with all models in them, or - with --from).

    Findings go to standard output; with --diff, to standard error. Exit code 1: a model has errors.
    Findings that a model or the nearest orgflow.toml suppresses with a reason do not count; -v
    shows them.
    """
    if preset is not None and preset not in PRESETS:
        raise click.UsageError(f"no preset `{preset}`; {suggestion(preset, tuple(PRESETS))}")
    session = Session(format_, verbose=verbose)
    backend: Backend | None = None
    options: dict[str, str] = {}
    if target is not None:
        backend, options = resolve_target(target, session.registry)
    files, empty = expand(in_, session.registry.frontends)
    keep_input(output, *files)
    keep_input(listing, *files, option="--write-baseline")
    accepted = Acceptance(session.registry, errors=True, whole=backend is not None, preset=preset)
    ctx = session.context()
    for folder in empty:
        session.inputs.append(folder)
        ctx.emit(UnreadableInput, f"{folder} has no models in it", help="name a file or a folder")
    fixer = None
    if unsafe_fixes and not (fix or show_diff):
        raise click.UsageError("--unsafe-fixes belongs to --fix or --diff")
    if fix or show_diff:
        if "-" in files:
            raise click.UsageError("--fix and --diff need files, not standard input")
        from orgflow.commands.autofix import Fixer

        fixer = Fixer(
            session.registry, from_, unsafe=unsafe_fixes, write=not show_diff, preset=preset,
            target=backend.target if backend is not None else None,
        )  # fmt: skip
        fixer.fix(files)
    with progress_bar() if len(files) >= MANY else nullcontext() as progress:
        for number, path in enumerate(files):
            if progress is not None:
                progress(number, len(files), path)
            _check_one(session, path, from_, backend, options, accepted, files, messages=messages)
    accepted.report_unused(ctx)
    session.collect(ctx)
    if fixer is not None:
        fixer.report()
    if listing is not None:  # all there are, those of another baseline too
        from orgflow.commands.baseline import write_baseline

        number = write_baseline(session.diagnostics, listing)
        click.echo(f"{listing}: {number} {'finding' if number == 1 else 'findings'}", err=True)
    gone = 0
    if baseline is not None:
        from orgflow.commands.baseline import without_known

        session.diagnostics, gone = without_known(session.diagnostics, baseline, files)
    if format_ == "sarif":
        from orgflow.commands.autofix import Fixer
        from orgflow.commands.sarif_fixes import SarifFixes

        tried = Fixer(
            session.registry, from_, unsafe=True, write=False, preset=preset,
            target=backend.target if backend is not None else None,
        )  # fmt: skip
        session.replacements = SarifFixes(tried, session.sources).replacements
    if output is not None:
        write_files([(Path(output), session.rendered().encode(errors="backslashreplace"))])
    elif show_diff:  # which is the result
        session.show()
    elif listing is None:
        write_stdout(session.rendered(sys.stdout))
    if gone and format_ == "text":
        what = "finding is" if gone == 1 else "findings are"
        click.echo(
            f"{gone} {what} gone that {baseline} lists: --write-baseline {baseline} takes them out",
            err=True,
        )
    code = exit_code(session.diagnostics, strict=strict)
    leave(0 if code == 1 and (exit_zero or listing is not None) else code)


def _check_one(
    session: Session,
    path: str,
    from_: str | None,
    backend: Backend | None,
    options: dict[str, str],
    accepted: Acceptance,
    files: list[str],
    *,
    messages: bool,
) -> None:
    ctx = session.context()
    ctx.given = files
    if backend is not None:
        from orgflow.commands.target_settings import configured

        # Its faults are findings.
        options = {**configured(backend, path, session.registry).options, **options}
    accepted.configure(None if path == "-" else path, ctx)
    model = session.load(path, ctx, from_, diagram=needs_diagram(ctx))
    find_gaps = None
    if model is not None:
        source = session.sources[source_name(path)]
        own = own_backend(source, session.registry, from_)
        # Nothing is left to legalise in a file of the target's own format.
        as_it_is = backend is None or (own is not None and own.name == backend.name)
        if backend is None or as_it_is:
            ctx.options = {**ctx.options, **options}
            check_source(source, model, ctx, from_)
        else:
            legal_model(with_called(model, backend, ctx), backend, ctx, options=options)
            others = {source_name(file) for file in files} - {source.path}
            if others:  # each file of the command reports its own findings
                ctx.diagnostics[:] = [
                    d for d in ctx.diagnostics if d.loc is None or d.loc.file not in others
                ]
            if own is not None and isinstance(source, SourceFile):
                own.lint(source, ctx)
        if messages:
            from orgflow.passes.pipelines import ON_REQUEST

            from orgflow_ir.pipeline import PassManager

            rest = [p for p in ON_REQUEST if ctx.passes.get(p.name) is None]
            PassManager(rest).run(model, ctx)
        find_gaps = partial(check_gaps, model, ctx, own if as_it_is else None)
    accepted.apply(None if path == "-" else path, model, ctx, find_gaps)
    session.collect(ctx)
