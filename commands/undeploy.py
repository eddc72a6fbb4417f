"""`orgflowc undeploy`: remove deployed workflows from a server."""

from __future__ import annotations

import os

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import FILE
from orgflow.commands.deploy import Compiling, Wanted, show_findings, wanted_workflows
from orgflow.commands.deploy_output import JsonOutput, Output, TextOutput
from orgflow.commands.options import (
    SourceOptions,
    parsed_into,
    resolve_target,
    source_options,
    target_option,
)
from orgflow.commands.server import (
    SERVER_FAILED,
    ServerOptions,
    deployer_and_address,
    environment_variable,
    open_connection,
    server_exit_code,
    server_options,
)
from orgflow.commands.session import Session, end_command

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.deployment import DeploySession
from orgflow_ir.plugins.engines import RemoteError, ServerAccess

_KEPT = 1
_HELP = f"""Unpublish and delete the workflows that `deploy` created for each FILE: a model, a
compiled {DEFAULT_TARGET} workflow, or a folder with models. Use the same --target as for `deploy`.

Workflows that `deploy` did not create are kept, and so are edited ones unless --take-over is used,
and those that other workflows still call. Executions are deleted with their workflows. Exit code 1:
a workflow was kept; 3: the server failed.
"""


class UndeployOptions(ServerOptions, SourceOptions):
    """The options of `undeploy`."""

    files: tuple[str, ...]
    url: str | None
    target: str
    dry_run: bool
    take_over: bool
    deleted: bool
    name: str | None


@click.command("undeploy", help=_HELP, short_help="Remove deployed workflows.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "--url",
    metavar="URL",
    help=f"Address of {DEFAULT_TARGET}'s editor.  "
    f"[default: {environment_variable(DEFAULT_TARGET, 'URL')}]",
)
@target_option
@click.option("--dry-run", is_flag=True, help="Only print the workflows that would be deleted.")
@click.option("--take-over", is_flag=True, help="Also delete workflows that were edited.")
@click.option(
    "--deleted",
    is_flag=True,
    help="Of folders: the workflows of models that no longer exist, instead of the others.",
)
@click.option("--as", "name", metavar="NAME", help="The name under which it was deployed.")
@server_options
@source_options
@parsed_into(UndeployOptions)
def command(options: UndeployOptions) -> None:
    """See the help."""
    files = options.files
    session = Session.with_options(options)
    backend, target_options = resolve_target(options.target, session.registry, files)
    deployer, address = deployer_and_address(backend, options.url)
    if options.deleted and (
        options.name is not None or not all(os.path.isdir(path) for path in files)
    ):
        raise click.UsageError("--deleted is for folders")
    if options.key_file == "-" and "-" in files:
        raise click.UsageError("standard input cannot be both the key and a model")
    ctx = session.context()
    output: Output = JsonOutput(session) if options.format_ == "json" else TextOutput()
    code = 0
    access = ServerAccess(address, options.key_file, options.wait)
    with open_connection(deployer.connect(access, ctx)) as server:
        if server is not None:
            # What cannot be compiled any more without loss was deployed all the same.
            compiling = Compiling(
                backend, target_options, allow_lossy=True, force=True, strict=False
            )
            wanted = wanted_workflows(
                () if options.deleted else files, options.from_, options.name, server, session, ctx,
                compiling, every=True,
            )  # fmt: skip
            code = _remove_workflows(wanted, options, server, session, ctx, output)
            session.collect(wanted.ctx)
    show_findings(session, ctx, output)
    end_command(max(code, server_exit_code(session, backend)))


def _remove_workflows(
    wanted: Wanted,
    options: UndeployOptions,
    server: DeploySession,
    session: Session,
    ctx: PassContext,
    output: Output,
) -> int:
    """Remove the workflows, print each, and return the exit code."""
    code = number = 0
    dry_run, edited = options.dry_run, options.take_over
    if options.deleted:
        removals = server.remove_deleted(options.files, edited=edited, dry_run=dry_run)
    else:
        removals = server.remove(wanted.workflows, edited=edited, dry_run=dry_run)
    try:
        for removal in removals:
            number += 1
            word = "kept" if removal.kept else "would go" if dry_run else "removed"
            output.removed(word, removal)
            code = max(code, _KEPT if removal.kept else 0)
    except RemoteError as error:
        error.report(ctx)
        return SERVER_FAILED
    if options.deleted and not number:
        session.note("every deployed model of these folders is still there")
    elif not number and wanted.workflows:
        session.note("none of this is deployed there")
    return code
