"""`orgflowc check`: reports faults of models."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from orgflow.commands.checking import Checked, Checker, CheckOptions, own_checker
from orgflow.commands.completion_values import FILE, complete_among, complete_targets
from orgflow.commands.inputs import expand_folders
from orgflow.commands.options import SourceOptions, parsed_into, resolve_target, source_options
from orgflow.commands.output import keep_input, write_files, write_stdout
from orgflow.commands.project.suppressions import Acceptance
from orgflow.commands.session import Session, end_command, exit_code, list_folders_once
from orgflow.compilation.usage_errors import suggest_name
from orgflow.passes.presets import PRESETS

from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.pipeline.services import Progress, no_progress
from orgflow_ir.plugins.contracts import Backend

if TYPE_CHECKING:  # parts of single options, and of many files
    from orgflow.commands import (
        autofix,
        baseline,
        check_cache,
        check_workers,
        progress,
        sarif_fixes,
    )
    from orgflow.commands.check_cache import CheckCache
    from orgflow.commands.project import file_fixes
    from orgflow.commands.project.file_fixes import Fixer
else:
    autofix = LazyModule("orgflow.commands.autofix")
    file_fixes = LazyModule("orgflow.commands.project.file_fixes")
    baseline = LazyModule("orgflow.commands.baseline")
    check_cache = LazyModule("orgflow.commands.check_cache")
    check_workers = LazyModule("orgflow.commands.check_workers")
    progress = LazyModule("orgflow.commands.progress")
    sarif_fixes = LazyModule("orgflow.commands.sarif_fixes")

MANY = 20
"""From this number of files on, several processes check them, and a terminal shows the progress."""


class CommandOptions(SourceOptions):
    """The options of `check`."""

    in_: tuple[str, ...]
    target: str | None
    messages: bool
    preset: str | None
    strict: bool
    fix: bool
    unsafe_fixes: bool
    show_diff: bool
    baseline: str | None
    listing: str | None
    exit_zero: bool
    jobs: int | None
    no_cache: bool
    output: str | None


@click.command("check", short_help="Find faults in models.")
@click.argument("in_", metavar="IN...", nargs=-1, required=True, type=FILE)
@click.option(
    "--target",
    metavar="T[{option=value,…}]",
    shell_complete=complete_targets,
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
    shell_complete=complete_among(*PRESETS),
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
@parsed_into(CommandOptions)
def command(options: CommandOptions) -> None:
    """Check the models in IN (files, folders with all models in them, or - with --from).

    Findings go to standard output; with --diff, to standard error. Exit code 1: a model has errors.
    Findings that a model or the nearest orgflow.toml suppresses with a reason do not count; -v
    shows them.
    """
    if options.preset is not None and options.preset not in PRESETS:
        hint = suggest_name(options.preset, tuple(PRESETS))
        raise click.UsageError(f"no preset `{options.preset}`; {hint}")
    check = _Check(options, Session.with_options(options))
    check.fix_files()
    check.check_files()
    check.compare_with_baseline()
    check.prove_fixes()
    check.write()
    end_command(check.code)


class _Check:
    """One call of `check`: its files, the findings so far, and the kept results."""

    def __init__(self, options: CommandOptions, session: Session) -> None:
        self.options, self.session = options, session
        self.backend: Backend | None = None
        self.target_options: dict[str, str] = {}
        if options.target is not None:
            self.backend, self.target_options = resolve_target(options.target, session.registry)
        self.files, empty = expand_folders(options.in_, session)
        keep_input(options.output, *self.files)
        keep_input(options.listing, *self.files, option="--write-baseline")
        whole = self.backend is not None
        self.accepted = Acceptance(
            session.registry, errors=True, whole=whole, preset=options.preset
        )
        self.ctx = session.context()
        for folder in empty:
            session.inputs.append(folder)
            self.ctx.emit(
                UnreadableInput, f"{folder} contains no models", help="name a file or a folder"
            )
        self.fixer: Fixer | None = None
        self.cache: CheckCache | None = None
        self.gone = 0

    def fix_files(self) -> None:
        """Write the fixes, or print them with `--diff`. Raises `click.UsageError`."""
        options = self.options
        if options.unsafe_fixes and not (options.fix or options.show_diff):
            raise click.UsageError("--unsafe-fixes requires --fix or --diff")
        if not (options.fix or options.show_diff):
            return
        if "-" in self.files:
            raise click.UsageError("--fix and --diff need files, not standard input")
        self.fixer = self._new_fixer(unsafe=options.unsafe_fixes, write=not options.show_diff)
        autofix.fix_files(self.fixer, self.files)

    def _new_fixer(self, *, unsafe: bool, write: bool) -> Fixer:
        return file_fixes.Fixer(
            self.session.registry, self.options.from_, unsafe=unsafe, write=write,
            preset=self.options.preset,
            target=self.backend.target if self.backend is not None else None,
        )  # fmt: skip

    def check_files(self) -> None:
        """Check every file; unchanged ones are looked up."""
        options, session = self.options, self.session
        self.accepted.prepare(self.files, self.ctx)
        settings = CheckOptions(
            options.from_, None if self.backend is None else self.backend.name,
            tuple(sorted(self.target_options.items())), options.messages, options.preset,
            tuple(self.files), session.folders,
        )  # fmt: skip
        if len(self.files) > 1:
            if not options.no_cache:
                with suppress(RuntimeError):  # the user has no home folder
                    folder = check_cache.cache_folder()
                    self.cache = check_cache.CheckCache(settings, self.accepted, folder)
            list_folders_once()
        jobs = options.jobs or _count_cores()
        _check_all(session, self.accepted, settings, self.cache, jobs)
        self.accepted.report_unused(self.ctx)
        session.collect(self.ctx)
        if self.fixer is not None:
            lines = list(self.fixer.report())
            for line in lines:
                session.note(line)
            if lines and options.format_ == "text":
                session.note("")  # apart from the findings

    def compare_with_baseline(self) -> None:
        """Write the baseline that the options name, and accept what another one lists."""
        options, session = self.options, self.session
        if options.listing is not None:  # all there are, those of another baseline too
            number = baseline.write_baseline(session.diagnostics, options.listing)
            findings = "finding" if number == 1 else "findings"
            session.note(f"{options.listing}: {number} {findings}")
        if options.baseline is not None:
            session.diagnostics, self.gone = baseline.without_known(
                session.diagnostics, options.baseline, self.files
            )

    def prove_fixes(self) -> None:
        """Find the replacements that SARIF contains, for fixes that remove their findings."""
        if self.options.format_ == "sarif":
            fixer = self._new_fixer(unsafe=True, write=False)
            proved = sarif_fixes.SarifFixes(fixer, self.session.sources, self.cache)
            proved.prove(self.session.diagnostics)
            self.session.replacements = proved.replacements
        if self.cache is not None:
            self.cache.trim()

    def write(self) -> None:
        """Write the findings to the file or the stream that the options name."""
        options, session = self.options, self.session
        if options.output is not None:
            text = session.rendered().encode(errors="backslashreplace")
            write_files([(Path(options.output), text)])
        elif options.show_diff:  # which is the result
            session.show()
        elif options.listing is None:
            write_stdout(session.rendered(sys.stdout))
        if self.gone and options.format_ == "text":
            what = "finding is" if self.gone == 1 else "findings are"
            session.note(
                f"{self.gone} {what} gone that {options.baseline} lists: "
                f"--write-baseline {options.baseline} removes them"
            )

    @property
    def code(self) -> int:
        """The exit code."""
        options = self.options
        code = exit_code(self.session.diagnostics, strict=options.strict)
        return 0 if code == 1 and (options.exit_zero or options.listing is not None) else code


Results = dict[str, tuple[bytes | None, Checked]]
"""The results for files that need no further check, with their bytes if these are known."""


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
    results = _look_up(files, cache)
    rest = [path for path in files if path not in results and path != "-"]
    shown = progress.progress_bar() if len(rest) >= MANY else nullcontext(no_progress)
    with shown as show:
        if len(rest) >= MANY and jobs > 1:
            results |= _check_in_processes(checker, options, rest, jobs, show)
        for number, path in enumerate(files):
            if path in results:
                data, checked = results[path]
                checker.take(path, checked, data)
            else:
                show(number, len(files), path)
                data, checked = None, checker.check(path)
            checker.add(path, checked)
            if cache is not None and data is None:
                cache.keep(path, checked)


def _look_up(files: Sequence[str], cache: CheckCache | None) -> Results:
    """The kept results of files that have not changed."""
    if cache is None:
        return {}
    kept = {path: cache.find(path) for path in files if path != "-"}
    return {path: result for path, result in kept.items() if result is not None}


def _check_in_processes(
    checker: Checker, options: CheckOptions, files: Sequence[str], jobs: int, show: Progress
) -> Results:
    """The results of files that other processes check."""
    results: Results = {}
    show(0, len(files), files[0])
    start = check_workers.START
    make = partial(own_checker, options) if start == "spawn" else lambda: checker
    for path, checked in check_workers.check_in_processes(make, files, jobs):
        if checked is not None:
            results[path] = None, checked
            show(len(results), len(files), path)
    return results


def _count_cores() -> int:
    """How many processes can work at a time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
