"""`orgflowc deploy`: deploy the workflows of a target, for example to its server."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from orgflow import compiler
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import FILE
from orgflow.commands.deploy_output import JsonOutput, Output, TextOutput
from orgflow.commands.inputs import expand_folders, used_decisions
from orgflow.commands.options import (
    SourceOptions,
    parsed_into,
    resolve_target,
    source_options,
    target_option,
)
from orgflow.commands.output import write_files
from orgflow.commands.progress import progress_bar
from orgflow.commands.server import (
    SERVER_FAILED,
    ServerOptions,
    deployer_and_address,
    environment_variable,
    open_connection,
    server_exit_code,
    server_options,
)
from orgflow.commands.session import Session, drop_known, end_command, list_folders_once, text_width
from orgflow.compilation.input_sources import read_source
from orgflow.compilation.reading import choose_frontend, load_model
from orgflow.compilation.target_choice import keep_deployed_options
from orgflow.compilation.usage_errors import InputError, UnknownName, suggest_name

from orgflow_ir.diagnostics import Category, Diagnostic, Severity
from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model import Model
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.deployment import (
    Deployable,
    Deployer,
    DeployOptions,
    DeployPlan,
    DeploySession,
)
from orgflow_ir.plugins.engines import RemoteError, ServerAccess
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.artifact import Emitted

_MODEL_ERRORS = 1


_HELP = f"""Deploy each FILE: a compiled {DEFAULT_TARGET} workflow, a model (compiled first), or a
folder with models. A model with errors does not stop the others.

A workflow that was deployed before is updated. Edits made since then are kept: the changes of the
model are merged with them, or conflicts are reported. A workflow that was created differently or
from another process is not changed. Workflows of one file, or that call each other, are deployed
together or not at all. Exit code 1: a workflow was not deployed; 3: the server failed.
"""
_SUMMARY = f"Put workflows on an {DEFAULT_TARGET} server and publish them."


class CommandOptions(ServerOptions, SourceOptions):
    """The options of `deploy`."""

    files: tuple[str, ...]
    url: str | None
    target: str
    dry_run: bool
    take_over: bool
    rollback: bool
    name: str | None
    no_publish: bool
    credentials: str | None
    keys: bool
    migrate: tuple[str, ...]
    settings: tuple[str, ...]
    allow_lossy: bool
    force: bool
    strict: bool
    as_json: bool


@click.command("deploy", help=_HELP, short_help=_SUMMARY)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "--url",
    metavar="URL",
    help=f"Address of {DEFAULT_TARGET}'s editor.  "
    f"[default: {environment_variable(DEFAULT_TARGET, 'URL')}]",
)
@target_option
@click.option("--dry-run", is_flag=True, help="Only print the changes, in the form of `diff`.")
@click.option(
    "--take-over",
    is_flag=True,
    help="Overwrite edited workflows, workflows created differently, and those of another process.",
)
@click.option(
    "--rollback",
    is_flag=True,
    help="Deploy a model again that has since been replaced by another one.",
)
@click.option(
    "--as", "name", metavar="NAME", help="Deploy one workflow separately under this name."
)
@click.option(
    "--no-publish",
    is_flag=True,
    help="Leave new workflows as drafts; changes of published ones still go live.",
)
@click.option(
    "--credentials",
    metavar="FILE",
    help="Create credentials from a JSON file, and select them in the nodes that need them.",
)
@click.option(
    "--keys",
    is_flag=True,
    help="Put a random key into the addresses that start new workflows; later deployments keep it.",
)
@click.option(
    "--migrate",
    metavar="OLD=NEW",
    multiple=True,
    help="Process instances that wait at element OLD, which the new version lacks, go on at NEW.",
)
@click.option(
    "--setting",
    "settings",
    metavar="NAME=N",
    multiple=True,
    help="Setting of the support set of processes that wait in several places; it stays until "
    "another one is given: retention_days, message_days, sweep_seconds, lease_minutes.",
)
@click.option("--allow-lossy", is_flag=True, help="Models: as for `compile`.")
@click.option("--force", is_flag=True, help="Models: as for `compile`.")
@click.option("--strict", is_flag=True, help="Models: as for `compile`.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print what was done as JSON, with the findings."
)
@server_options
@source_options
@parsed_into(CommandOptions)
def command(options: CommandOptions) -> None:
    """See the help."""
    session = Session.with_options(options)
    backend, target_options = resolve_target(options.target, session.registry, options.files)
    deployer, address = deployer_and_address(backend, options.url)
    if options.name is not None and not options.name.strip():
        raise click.UsageError("--as requires a name")
    if options.key_file == "-" and "-" in options.files:
        raise click.UsageError("standard input cannot be both the key and a model")
    folders = tuple(path for path in options.files if os.path.isdir(path))
    compiling = Compiling(
        backend, target_options, options.allow_lossy, options.force, options.strict
    )
    asked = Deploying(
        options.files,
        options.from_,
        options.name,
        compiling,
        DeployOptions(
            publish=not options.no_publish,
            take_over=options.take_over,
            rollback=options.rollback,
            credentials=_read_credentials(options.credentials),
            keys=options.keys,
            folders=folders if options.name is None else (),
            settings=_read_settings(options.settings, deployer),
            migrations=dict(_split_pair(pair, "--migrate") for pair in options.migrate),
        ),
        options.dry_run,
    )
    list_folders_once()
    access = ServerAccess(address, options.key_file, options.wait)
    as_json = options.as_json or options.format_ == "json"
    output: Output = JsonOutput(session) if as_json else TextOutput()
    try:
        code = deploy_files(session, deployer, access, asked, output)
    except UnusableFile as error:
        raise click.UsageError(f"{options.credentials}: {error}") from None
    end_command(code)


class Deploying(NamedTuple):
    """The workflows to deploy, and the options.

    Attributes:
        files: workflows, models, and folders of both.
        from_: the format of models.
        name: the name under which a single workflow is deployed.
        compiling: how models are compiled.
        options: how workflows are deployed.
        dry_run: only show what would change.
    """

    files: tuple[str, ...]
    from_: str | None
    name: str | None
    compiling: Compiling
    options: DeployOptions
    dry_run: bool = False


def deploy_files(
    session: Session,
    deployer: Deployer,
    access: ServerAccess,
    asked: Deploying,
    output: Output,
) -> int:
    """Compile and deploy files, show the findings, and return the exit code.

    Args:
        session: receives the findings.
        deployer, access: the deployer and its address.
        asked: the files to deploy.
        output: prints the results.

    Raises:
        UnusableFile: the credentials cannot be read. click.UsageError: the address or the key is
            invalid.
    """
    ctx = session.context()
    code = 0
    with open_connection(deployer.connect(access, ctx)) as server:
        if server is not None:
            wanted = wanted_workflows(
                asked.files, asked.from_, asked.name, server, session, ctx, asked.compiling
            )
            try:
                if wanted.workflows:
                    code = _deploy_workflows(wanted, server, session, ctx, asked, output)
            except UnusableFile:
                raise
            except BaseException:  # interrupted: whatever is on the server by now is reported
                session.collect(wanted.ctx)
                show_findings(session, ctx, output)
                raise
            session.collect(wanted.ctx)
    show_findings(session, ctx, output)
    return max(code, server_exit_code(session, asked.compiling.backend))


class UnusableFile(Exception):
    """A file of credentials that cannot be read; the message gives the reason and nothing of its
    content."""


def _split_pair(text: str, option: str) -> tuple[str, str]:
    """The two parts of `OLD=NEW`. Raises `click.UsageError`."""
    before, equals, after = text.partition("=")
    if not (before and equals and after):
        raise click.UsageError(f"{option} {text!r} is not of the form NAME=VALUE")
    return before, after


def _read_settings(pairs: Sequence[str], deployer: Deployer) -> dict[str, str]:
    """Settings by name. Raises `click.UsageError` for an unknown name or a value out of range."""
    settings = dict(_split_pair(pair, "--setting") for pair in pairs)
    for name, value in settings.items():
        if name not in deployer.settings:
            raise click.UsageError(
                f"no setting `{name}`; {suggest_name(name, tuple(deployer.settings))}"
            )
        least, most = deployer.settings[name]
        if not value.isdecimal() or not least <= int(value) <= most:
            raise click.UsageError(f"--setting {name} takes a number from {least} to {most}")
    return settings


def _read_credentials(file: str | None) -> str:
    """The text of a file of credentials. Raises `click.UsageError`."""
    if file is None:
        return ""
    try:
        return Path(file).read_text("utf-8") or " "
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not a text"
        raise click.UsageError(f"{file}: {why}") from None


def show_findings(session: Session, ctx: PassContext, output: Output) -> None:
    """Show the findings, in one document with the results if requested; short text omits open
    tasks, which `compile` reports."""
    session.collect(ctx)
    output.finish()
    if session.format == "json":  # the document has the findings
        return
    if session.format == "text" and not session.verbose:
        session.diagnostics = [d for d in session.diagnostics if _is_shown(d)]
    session.show()


def _is_shown(diagnostic: Diagnostic) -> bool:
    return diagnostic.severity is not Severity.INFO or diagnostic.category is Category.DEPLOY


class Compiling(NamedTuple):
    """How models are compiled before they are deployed."""

    backend: Backend
    options: dict[str, str]
    allow_lossy: bool
    force: bool
    strict: bool


class Wanted(NamedTuple):
    """The workflows to deploy.

    Attributes:
        workflows: of all files without errors.
        beside: files that later deployments need, by their path.
        ctx: the findings in the files.
    """

    workflows: list[Deployable]
    beside: list[tuple[Path, str]]
    ctx: PassContext


def wanted_workflows(
    files: Sequence[str],
    from_: str | None,
    name: str | None,
    server: DeploySession,
    session: Session,
    ctx: PassContext,
    compiling: Compiling,
    *,
    every: bool = False,
) -> Wanted:
    """The workflows in all files and folders; models are compiled for the server, and a file with
    errors has none. With `every`, decisions have one as well if only others use them.

    Raises: click.UsageError: there are several workflows, and `name` names one.
    """
    wanted = Wanted([], [], session.context())
    paths, empty = expand_folders(tuple(files), session)
    for folder in empty:
        ctx.emit(UnreadableInput, f"there is no model in {folder}", help="name a file in it")
    read: list[tuple[str, Sequence[Deployable], _Compiled | None]] = []
    for path in paths:
        own = session.context()
        own.given = paths
        workflows, compiled = _read_workflows(path, from_, name, server, session, own, compiling)
        wanted.ctx.diagnostics.extend(drop_known(own.diagnostics, wanted.ctx.diagnostics))
        if not own.has_errors:
            read.append((path, workflows, compiled))
    models = [compiled for *_, compiled in read if compiled is not None]
    used = frozenset[str]()
    if not every:
        used = used_decisions([item.model for item in models], files, session)
    if used:
        read = [item for item in read if item[2] is None or item[2].model.source not in used]
        models = [item for item in models if item.model.source not in used]
    together = [item.emitted for item in models]
    if len(models) > 1:
        linking = session.context()
        linking.options = models[0].ctx.options
        linked = compiling.backend.link([(item.model, item.emitted) for item in models], linking)
        wanted.ctx.diagnostics.extend(linking.diagnostics)
        together = list(linked)
    emitted = iter(together)
    for path, workflows, compiled in read:
        wanted.workflows.extend(workflows)
        if compiled is not None:
            linked_files = next(emitted)
            named = name is not None
            wanted.workflows.extend(
                server.compiled(linked_files, compiled.model, path, compiled.ctx, named=named)
            )
            wanted.beside.extend((Path(path).parent / a.path, a.text) for a in linked_files.beside)
    count = sum(len(workflows) for _, workflows, _ in read)
    count += sum(len(executable_processes(item.model)) for item in models)
    if name is not None and count > 1:
        raise click.UsageError(f"--as names one workflow, but there are {count}")
    return wanted


class _Compiled(NamedTuple):
    """What one model became, and what was found in it."""

    model: Model
    emitted: Emitted
    ctx: PassContext


def _read_workflows(
    path: str,
    from_: str | None,
    name: str | None,
    server: DeploySession,
    session: Session,
    ctx: PassContext,
    compiling: Compiling,
) -> tuple[Sequence[Deployable], _Compiled | None]:
    """The workflows in one file, or what its model became."""
    try:
        source = read_source(path)
    except InputError as error:
        ctx.emit(UnreadableInput, str(error), help=error.help)
        return (), None
    session.inputs.append(source.path)
    session.sources[source.path] = source
    backend = compiling.backend
    if path == "-" and from_ is None:
        raise click.UsageError("standard input needs its format: --from FRONTEND")
    try:
        frontend = choose_frontend(source, session.registry, ctx, from_)
    except InputError as error:
        ctx.emit(UnreadableInput, str(error), help=error.help)
        return (), None
    except UnknownName as error:
        raise click.UsageError(str(error)) from None
    if frontend is None:
        return (), None
    if frontend.name == backend.name:
        return server.read(source, path, ctx, name=name), None
    diagram = backend.target.wants_diagram
    model = load_model(source, session.registry, ctx, from_=from_, diagram=diagram)
    if model is None:
        return (), None
    if name is not None and len(model.processes) == 1:
        model = model.replace(processes=(model.processes[0].replace(name=name.strip()),))
    session.models.append(model)
    given = {**server.options, **compiling.options}
    try:
        options = keep_deployed_options(backend, given, server.stated_options(model), ctx)
    except RemoteError as error:
        error.report(ctx)
        return (), None
    model = compiler.add_called_processes(model, backend, ctx)
    emitted = compiler.compile_model(
        model,
        backend,
        ctx,
        options=options,
        allow_lossy=compiling.allow_lossy,
        force=compiling.force,
        strict=compiling.strict,
    )
    return (), _Compiled(model, emitted, ctx) if emitted is not None else None


def _deploy_workflows(
    wanted: Wanted,
    server: DeploySession,
    session: Session,
    ctx: PassContext,
    asked: Deploying,
    output: Output,
) -> int:
    """Deploy and print; the exit code as far as diagnostics do not say it."""
    with progress_bar() as progress:
        ctx.services = ctx.services.showing(progress)
        try:
            plan = server.plan(wanted.workflows, asked.options)
        except ValueError as error:
            raise UnusableFile(str(error)) from None
        except RemoteError as error:
            error.report(ctx)
            return SERVER_FAILED
        if asked.dry_run:
            for text in plan.preview(ctx, text_width(sys.stdout)):
                output.preview(text)
            _note_unfinished(plan, session)
            return 0
        _note_unfinished(plan, session)
        with session.signals.held():  # whatever is on the server in the end is reported
            try:
                plan.apply(ctx)
            finally:
                plan.report(ctx)
                output.results(plan.results)
    if wanted.beside:
        write_files(wanted.beside)
    return 0 if all(result.ok for result in plan.results) else _MODEL_ERRORS


def _note_unfinished(plan: DeployPlan, session: Session) -> None:
    """Before anything is published: what a person still has to do."""
    for line in plan.unfinished():
        session.note(f"unfinished: {line}")
