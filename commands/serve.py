"""`orgflowc serve`: deploy models to a local server, and again whenever they are saved."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.completion_values import FILE
from orgflow.commands.deploy import Compiling, Deploying, deploy_files
from orgflow.commands.deploy_output import TextOutput
from orgflow.commands.engine import describe_server, local_server, provider
from orgflow.commands.inputs import expand
from orgflow.commands.options import (
    diagnostics_options,
    resolve_target,
    target_option,
    watched_file_option,
)
from orgflow.commands.progress import heartbeat
from orgflow.commands.server import SERVER_FAILED, deployer_of
from orgflow.commands.session import Session, leave

if TYPE_CHECKING:
    from orgflow_ir.plugins.deployment import Deployer, DeployResult
    from orgflow_ir.plugins.engines import (
        EngineProvider,
        LocalServer,
        RunningServer,
        ServerExecution,
    )

MISUSE = 2

_POLL_SECONDS = 0.5
_EVERY = 4
"""Number of rounds of `_POLL_SECONDS` between two queries of executions."""


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
def command(
    files: tuple[str, ...],
    target: str,
    port: int | None,
    yes: bool,
    no_watch: bool,
    allow_lossy: bool,
    from_: str | None,
    format_: str,
    verbose: bool,
) -> None:
    """Start a local server (or use the one that `engine start` has started), deploy each FILE (a
    model, a compiled workflow, or a folder of both), and print the address of the form or webhook
    that starts each workflow.

    A file that is saved is deployed again. Each execution is printed on one line. Ctrl-C ends the
    command, and the server if this command started it. Workflows stay in the server's data. If the
    server is not installed, the command asks whether to install it.
    """
    from orgflow_ir.plugins.runners import RunnerError

    session = Session(format_, verbose=verbose)
    backend, options = resolve_target(target, session.registry, files)
    engines = provider(target)
    local, deployer = local_server(target), deployer_of(backend)
    if "-" in files:
        raise click.UsageError("standard input cannot be watched: name a file")
    try:
        _install(engines, local, yes=yes)
        with local.held(_say, port=port) as server:
            from orgflow_ir.plugins.deployment import DeployOptions

            asked = Deploying(
                files,
                from_,
                None,
                Compiling(backend, options, allow_lossy, force=False, strict=False),
                DeployOptions(rollback=True),  # whoever undoes a change saves an older model
            )
            serving = Serving(session, local, server, deployer, asked)
            try:
                code = serving.run(watch=not no_watch)
            except KeyboardInterrupt:
                code = 0
                if server.begun:
                    _say("stopping; the workflows stay")
    except RunnerError as error:
        click.echo(f"orgflowc serve: {error}", err=True)
        leave(MISUSE)
    leave(code)


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
        self._seen = {one.id: one.status for one in self._executions()}
        _say(describe_server(self._server).rstrip())
        self.deploy()
        state = self._state()
        _say("Ctrl-C ends this" + (f"; {_listed(self._asked.files)} watched" if watch else ""))
        rounds = 0
        while True:
            time.sleep(_POLL_SECONDS)  # Ctrl-C ends it
            rounds += 1
            if rounds % _EVERY == 0:
                if self._local.running() is None:
                    _say("the server has ended")
                    return SERVER_FAILED
                self._follow()
            if watch and (now := self._state()) != state:
                state = now
                _say("saved: deploying again")
                self.deploy()

    def deploy(self) -> int:
        """Compile and deploy all files, print findings and addresses, and return the exit code."""
        from orgflow_ir.plugins.engines import ServerAccess

        self._session.forget()
        access = ServerAccess(self._server.address, self._server.key_file)
        code = deploy_files(self._session, self._deployer, access, self._asked, self)
        if sys.stderr is not None:  # what was found is read while the command goes on
            sys.stderr.flush()
        return code

    def results(self, results: Sequence[DeployResult]) -> None:
        for one in (one for result in results for one in result.deployed):
            self._names[one.id] = one.name
            where = "  ".join(one.urls) or f"{self._server.address}/workflow/{one.id}"
            _say(f"{one.action}: {one.name}  {where}")
        skipped = [name for result in results if not result.ok for name in result.names]
        if skipped:
            _say(f"not deployed: {', '.join(skipped)}")

    def _state(self) -> dict[str, tuple[int, int]]:
        """The files that there are, each with its time and size."""
        found = {}
        for path in expand(self._asked.files, self._session)[0]:
            try:
                entry = os.stat(path)
            except OSError:
                continue
            found[path] = (entry.st_mtime_ns, entry.st_size)
        return found

    def _follow(self) -> None:
        """Print executions of these workflows that are new, or changed."""
        for one in self._executions():
            if self._seen.get(one.id) != one.status and one.workflow in self._names:
                _say(f"run {one.id} of {self._names[one.workflow]}: {one.status}")
            self._seen[one.id] = one.status

    def _executions(self) -> Sequence[ServerExecution]:
        from orgflow_ir.plugins.runners import RunnerError

        try:
            return self._local.executions(self._server)
        except RunnerError:  # it is asked again
            return ()


def _install(engines: EngineProvider, local: LocalServer, *, yes: bool) -> None:
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
    _say("after an interruption, the same command continues with the packages downloaded so far")
    with heartbeat(_say):
        engines.install(_say, server=True)


def _listed(files: Sequence[str]) -> str:
    return ", ".join(files) + (" is" if len(files) == 1 else " are")


def _say(line: str) -> None:
    if line and sys.stdout is not None:
        click.echo(line)
