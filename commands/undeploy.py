"""`orgflowc undeploy`: remove deployed workflows from a server."""

from __future__ import annotations

import os

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import FILE
from orgflow.commands.deploy import Compiling, show, wanted_workflows
from orgflow.commands.deploy_output import JsonOutput, TextOutput
from orgflow.commands.options import resolve_target, source_options, target_option
from orgflow.commands.server import (
    SERVER_FAILED,
    connected,
    deployer_and_address,
    server_exit_code,
    server_options,
    variable,
)
from orgflow.commands.session import Session, leave

_KEPT = 1
_HELP = f"""Unpublish and delete the workflows that `deploy` created for each FILE: a model, a
compiled {DEFAULT_TARGET} workflow, or a folder with models. Use the same --target as for `deploy`.

Workflows that `deploy` did not create are kept, and so are edited ones unless --take-over is used,
and those that other workflows still call. Executions are deleted with their workflows. Exit code 1:
a workflow was kept; 3: the server failed.
"""


@click.command("undeploy", help=_HELP, short_help="Remove deployed workflows.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "--url",
    metavar="URL",
    help=f"Address of {DEFAULT_TARGET}'s editor.  [default: {variable(DEFAULT_TARGET, 'URL')}]",
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
def command(
    files: tuple[str, ...],
    url: str | None,
    target: str,
    dry_run: bool,
    take_over: bool,
    deleted: bool,
    name: str | None,
    key_file: str | None,
    wait: float,
    from_: str | None,
    format_: str,
    verbose: bool,
) -> None:
    """See the help."""
    session = Session(format_, verbose=verbose)
    backend, options = resolve_target(target, session.registry, files)
    deployer, address = deployer_and_address(backend, url)
    if deleted and (name is not None or not all(os.path.isdir(one) for one in files)):
        raise click.UsageError("--deleted is for folders")
    if key_file == "-" and "-" in files:
        raise click.UsageError("standard input cannot be both the key and a model")
    from orgflow_ir.plugins.engines import RemoteError, ServerAccess

    ctx = session.context()
    output = JsonOutput(session) if format_ == "json" else TextOutput()
    code = 0
    with connected(deployer.connect(ServerAccess(address, key_file, wait), ctx)) as server:
        if server is not None:
            # What cannot be compiled any more without loss was deployed all the same.
            compiling = Compiling(backend, options, allow_lossy=True, force=True, strict=False)
            given = () if deleted else files
            wanted = wanted_workflows(
                given, from_, name, server, session, ctx, compiling, every=True
            )
            found = 0
            if deleted:
                going = server.remove_deleted(files, edited=take_over, dry_run=dry_run)
            else:
                going = server.remove(wanted.workflows, edited=take_over, dry_run=dry_run)
            try:
                for one in going:
                    found += 1
                    word = "kept" if one.kept else "would go" if dry_run else "removed"
                    output.removed(word, one)
                    code = max(code, _KEPT if one.kept else 0)
            except RemoteError as error:
                error.report(ctx)
                code = SERVER_FAILED
            else:
                if deleted and not found:
                    session.note("every deployed model of these folders is still there")
                elif not found and wanted.workflows:
                    session.note("none of this is deployed there")
            session.collect(wanted.ctx)
    show(session, ctx, output)
    leave(max(code, server_exit_code(session, backend)))
