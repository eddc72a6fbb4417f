"""`orgflowc serve`: deploy models to a local server, and again whenever they are saved."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import FILE
from orgflow.commands.deploy import Compiling, Deploying, deploy_files
from orgflow.commands.deploy_output import TextOutput
from orgflow.commands.engine import describe_server, find_engines, local_server
from orgflow.commands.inputs import expand_folders
from orgflow.commands.options import (
    SourceOptions,
    diagnostics_options,
    parsed_into,
    resolve_target,
    target_option,
    watched_file_option,
)
from orgflow.commands.progress import report_elapsed
from orgflow.commands.server import SERVER_FAILED, deployer_of
from orgflow.commands.session import Session, end_command

from orgflow_ir.model.printable import escape_controls
from orgflow_ir.plugins.deployment import Deployer, DeployOptions, DeployResult
from orgflow_ir.plugins.engines import (
    EngineProvider,
    LocalServer,
    RunningServer,
    ServerAccess,
    ServerExecution,
)
from orgflow_ir.plugins.runners import RunnerError

MISUSE = 2

_POLL_SECONDS = 0.5
_EVERY = 4
"""Number of rounds of `_POLL_SECONDS` between two queries of executions."""


class ServeOptions(SourceOptions):
    """The options of `serve`."""

    files: tuple[str, ...]
    target: str
    port: int | None
    yes: bool
    no_watch: bool
    allow_lossy: bool


@click.command(
    "serve", short_help=f"Deploy models to {DEFAULT_TARGET} on this machine at every save."
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@target_option
@click.option("--port", type=click.IntRange(1024, 65535), help="As for `engine start`.")
@click.option("-y", "--yes", is_flag=True, help="Install the server without asking.")
@click.option("--no-watch", is_flag=True, help="Deploy once instead of at every save.")
@click.option("--allow-lossy", is_flag=True, help="Models: as for `compile`.")
@watched_file_option
@diagnostics_options
@parsed_into(ServeOptions)
def command(options: ServeOptions) -> None:
    """Start a local server (or use the one that `engine start` has started), deploy each FILE (a
    model, a compiled workflow, or a folder of both), and print the address of the form or webhook
    that starts each workflow.

    A file that is saved is deployed again. Each execution is printed on one line. Ctrl-C ends the
    command, and the server if this command started it. Workflows stay in the server's data. If the
    server is not installed, the command asks whether to install it.
    """
    session = Session.with_options(options)
    backend, target_options = resolve_target(options.target, session.registry, options.files)
    engines = find_engines(options.target)
    local, deployer = local_server(options.target), deployer_of(backend)
    if "-" in options.files:
        raise click.UsageError("standard input cannot be watched: name a file")
    try:
        _install_server(engines, local, yes=options.yes)
        with local.held(_print_line, port=options.port) as server:
            compiling = Compiling(
                backend, target_options, options.allow_lossy, force=False, strict=False
            )
            asked = Deploying(
                options.files,
                options.from_,
                None,
                compiling,
                DeployOptions(rollback=True),  # whoever undoes a change saves an older model
            )
            serving = Serving(session, local, server, deployer, asked)
            try:
                code = serving.run(watch=not options.no_watch)
            except KeyboardInterrupt:
                code = 0
                if server.begun:
                    _print_line("stopping; the workflows stay")
    except RunnerError as error:
        click.echo(f"orgflowc serve: {error}", err=True)
        end_command(MISUSE)
    end_command(code)


class Serving(TextOutput):
    """Models on a running server."""

    def __init__(
        self,
        session: Session,
        local: LocalServer,
        server: RunningServer,
        deployer: Deployer,
        asked: Deploying,
    ) -> None:
        self._session, self._local, self._server = session, local, server
        self._deployer, self._asked = deployer, asked
        self._names: dict[str, str] = {}
        self._seen: dict[str, str] = {}

    def run(self, *, watch: bool) -> int:
        """Deploy and continue until Ctrl-C (`KeyboardInterrupt`) or the end of the server; returns
        the exit code for the latter."""
        self._seen = {execution.id: execution.status for execution in self._executions()}
        _print_line(describe_server(self._server).rstrip())
        self.deploy()
        state = self._state()
        _print_line(
            "Ctrl-C ends this"
            + (f"; {_describe_watched(self._asked.files)} watched" if watch else "")
        )
        rounds = 0
        while True:
            time.sleep(_POLL_SECONDS)  # Ctrl-C ends it
            rounds += 1
            if rounds % _EVERY == 0:
                if self._local.running() is None:
                    _print_line("the server has ended")
                    return SERVER_FAILED
                self._follow()
            if watch and (now := self._state()) != state:
                state = now
                _print_line("saved: deploying again")
                self.deploy()

    def deploy(self) -> int:
        """Compile and deploy all files, print findings and addresses, and return the exit code."""
        self._session.forget()
        access = ServerAccess(self._server.address, self._server.key_file)
        code = deploy_files(self._session, self._deployer, access, self._asked, self)
        if sys.stderr is not None:  # what was found is read while the command goes on
            sys.stderr.flush()
        return code

    def results(self, results: Sequence[DeployResult]) -> None:
        for workflow in (workflow for result in results for workflow in result.deployed):
            self._names[workflow.id] = workflow.name
            where = "  ".join(workflow.urls) or f"{self._server.address}/workflow/{workflow.id}"
            _print_line(f"{workflow.action}: {workflow.name}  {where}")
        skipped = [name for result in results if not result.ok for name in result.names]
        if skipped:
            _print_line(f"not deployed: {', '.join(skipped)}")

    def _state(self) -> dict[str, tuple[int, int]]:
        """The files that there are, each with its time and size."""
        files = {}
        for path in expand_folders(self._asked.files, self._session)[0]:
            try:
                entry = os.stat(path)
            except OSError:
                continue
            files[path] = (entry.st_mtime_ns, entry.st_size)
        return files

    def _follow(self) -> None:
        """Print executions of these workflows that are new, or changed."""
        for run in self._executions():
            if self._seen.get(run.id) != run.status and run.workflow in self._names:
                _print_line(f"run {run.id} of {self._names[run.workflow]}: {run.status}")
            self._seen[run.id] = run.status

    def _executions(self) -> Sequence[ServerExecution]:
        try:
            return self._local.executions(self._server)
        except RunnerError:  # it is asked again
            return ()


def _install_server(engines: EngineProvider, local: LocalServer, *, yes: bool) -> None:
    """Install the server where it is missing and the user agrees. Raises `RunnerError`, and
    `click.UsageError` where nobody can be asked."""
    if local.installed:
        return
    installable = engines.server
    cost = installable.cost if installable is not None else ""
    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise click.UsageError(
                f"the server is not installed ({cost}): --yes installs it, as does "
                "`orgflowc engine install --server`"
            )
        click.confirm(
            f"The server is not installed ({cost}). Install it now?", abort=True, err=True
        )
    _print_line(
        "after an interruption, the same command continues with the packages downloaded so far"
    )
    with report_elapsed(_print_line):
        engines.install(_print_line, server=True)


def _describe_watched(files: Sequence[str]) -> str:
    return ", ".join(files) + (" is" if len(files) == 1 else " are")


def _print_line(line: str) -> None:
    if line and sys.stdout is not None:
        click.echo(escape_controls(line))
