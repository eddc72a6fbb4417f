"""`orgflowc check`: reports faults of models."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from orgflow.commands.checking import Checked, Checker, CheckOptions, own_checker
from orgflow.commands.completion_values import FILE, among, targets
from orgflow.commands.inputs import expand
from orgflow.commands.options import resolve_target, source_options
from orgflow.commands.output import keep_input, write_files, write_stdout
from orgflow.commands.progress import progress_bar
from orgflow.commands.session import Session, exit_code, leave, list_folders_once
from orgflow.commands.suppressions import Acceptance
from orgflow.compiler import suggestion
from orgflow.passes.presets import PRESETS

from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.pipeline.services import no_progress
from orgflow_ir.plugins.contracts import Backend

if TYPE_CHECKING:
    from orgflow.commands.check_cache import CheckCache

MANY = 20
"""From this number of files on, several processes check them, and a terminal shows the progress."""


@click.command("check", short_help="Find faults in models.")
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
@click.option(
    "--diff", "show_diff", is_flag=True, help="Only print the changes that --fix would make."
)
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
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(1),
    help="Check many files in N processes; by default in one per core.",
)
@click.option(
    "--no-cache", is_flag=True, help="Check every file again, even one that has not changed."
)
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
    jobs: int | None,
    no_cache: bool,
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
    files, empty = expand(in_, session)
    keep_input(output, *files)
    keep_input(listing, *files, option="--write-baseline")
    accepted = Acceptance(session.registry, errors=True, whole=backend is not None, preset=preset)
    ctx = session.context()
    for folder in empty:
        session.inputs.append(folder)
        ctx.emit(UnreadableInput, f"{folder} contains no models", help="name a file or a folder")
    fixer = None
    if unsafe_fixes and not (fix or show_diff):
        raise click.UsageError("--unsafe-fixes requires --fix or --diff")
    if fix or show_diff:
        if "-" in files:
            raise click.UsageError("--fix and --diff need files, not standard input")
        from orgflow.commands.autofix import Fixer

        fixer = Fixer(
            session.registry, from_, unsafe=unsafe_fixes, write=not show_diff, preset=preset,
            target=backend.target if backend is not None else None,
        )  # fmt: skip
        fixer.fix(files)
    accepted.prepare(files, ctx)
    asked = CheckOptions(
        from_, None if backend is None else backend.name, tuple(sorted(options.items())), messages,
        preset, tuple(files), session.folders,
    )  # fmt: skip
    cache = None
    if len(files) > 1 and not no_cache:
        from orgflow.commands.check_cache import CheckCache, cache_folder

        cache = CheckCache(asked, accepted, cache_folder())
    if len(files) > 1:
        list_folders_once()
    _check_all(session, accepted, asked, cache, jobs or _cores())
    accepted.report_unused(ctx)
    session.collect(ctx)
    if fixer is not None:
        lines = list(fixer.report())
        for line in lines:
            session.note(line)
        if lines and format_ == "text":
            session.note("")  # apart from the findings
    if listing is not None:  # all there are, those of another baseline too
        from orgflow.commands.baseline import write_baseline

        number = write_baseline(session.diagnostics, listing)
        session.note(f"{listing}: {number} {'finding' if number == 1 else 'findings'}")
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
        proved = SarifFixes(tried, session.sources, cache)
        proved.prove(session.diagnostics)
        session.replacements = proved.replacements
    if cache is not None:
        cache.trim()
    if output is not None:
        write_files([(Path(output), session.rendered().encode(errors="backslashreplace"))])
    elif show_diff:  # which is the result
        session.show()
    elif listing is None:
        write_stdout(session.rendered(sys.stdout))
    if gone and format_ == "text":
        what = "finding is" if gone == 1 else "findings are"
        session.note(
            f"{gone} {what} gone that {baseline} lists: --write-baseline {baseline} removes them"
        )
    code = exit_code(session.diagnostics, strict=strict)
    leave(0 if code == 1 and (exit_zero or listing is not None) else code)


def _check_all(
    session: Session,
    accepted: Acceptance,
    options: CheckOptions,
    cache: CheckCache | None,
    jobs: int,
) -> None:
    """Check every file: what an earlier run found is looked up, many others are divided among
    processes, and the results are added in the order of the files."""
    files, checker = options.given, Checker(session, accepted, options)
    if len(files) == 1:
        checker.add(files[0], checker.check(files[0]))
        return
    found: dict[str, tuple[bytes | None, Checked]] = {}
    for path in files if cache is not None else ():
        if path != "-" and (stored := cache.find(path) if cache is not None else None) is not None:
            found[path] = stored
    old = len(found)
    rest = [path for path in files if path not in found and path != "-"]
    with progress_bar() if len(rest) >= MANY else nullcontext(no_progress) as progress:
        if len(rest) >= MANY and jobs > 1:
            from orgflow.commands.check_workers import START, check_in_processes

            progress(0, len(rest), rest[0])
            make = partial(own_checker, options) if START == "spawn" else lambda: checker
            for path, checked in check_in_processes(make, rest, jobs):
                if checked is not None:
                    found[path] = None, checked
                    progress(len(found) - old, len(rest), path)
        for number, path in enumerate(files):
            if path in found:
                data, checked = found[path]
                checker.take(path, checked, data)
            else:
                progress(number, len(files), path)
                data, checked = None, checker.check(path)
            checker.add(path, checked)
            if cache is not None and data is None:
                cache.keep(path, checked)


def _cores() -> int:
    """How many processes can work at a time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
