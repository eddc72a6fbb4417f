"""`orgflowc engine`: install or show a target's local engine; start and stop its server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.options import resolve_target
from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.session import end_command

from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.engines import EngineProvider, LocalServer, RunningServer
from orgflow_ir.plugins.guards import call_guarded
from orgflow_ir.plugins.runners import RunnerError

MISUSE = 2


def find_engines(target: str) -> EngineProvider:
    """The engines of a target. Raises `click.UsageError` if it has none."""
    backend, _ = resolve_target(target, Registry())
    engines: EngineProvider | None = call_guarded(backend, "engines", EngineProvider)
    if engines is None:
        raise click.UsageError(f"target `{backend.name}` has no engine to run on")
    return engines


_DEFAULT = find_engines(DEFAULT_TARGET)
_SERVER = _DEFAULT.server

target_option = click.option(
    "--target", default=DEFAULT_TARGET, metavar="T", help=f"Target.  [default: {DEFAULT_TARGET}]"
)


@click.group(
    "engine", short_help="Install the local engine; start and stop a server.", help=_DEFAULT.about
)
def command() -> None:
    """See `EngineProvider.about`."""


@command.command(
    "install",
    help="\n\n".join(part.help for part in (_DEFAULT.engine, _SERVER) if part is not None),
)
@click.option("--force", is_flag=True, help="Install again even if it is already installed.")
@click.option(
    "--server",
    is_flag=True,
    help=f"A complete {DEFAULT_TARGET} server instead ({_SERVER.cost if _SERVER else ''}).",
)
@click.option(
    f"--{DEFAULT_TARGET}",
    "version",
    metavar="VERSION",
    help=f"With --server: another {DEFAULT_TARGET}, "
    f"{', '.join(_SERVER.versions[1:]) if _SERVER else ''}.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@target_option
def install_engine(
    force: bool, server: bool, version: str | None, quiet: bool, target: str
) -> None:
    """See `EngineProvider.install`."""
    engines = find_engines(target)
    if version is not None and not server:
        raise click.UsageError(f"--{DEFAULT_TARGET} goes with --server")
    if server and engines.server is None:
        raise click.UsageError(f"target `{target}` has no server to install")
    versions = engines.server.versions if engines.server is not None else ()
    if version is not None and version not in versions:
        raise click.UsageError(f"no {target} `{version}`; there is: {', '.join(versions)}")

    try:
        path = engines.install(_report_progress(quiet), force=force, server=server, version=version)
    except RunnerError as error:
        click.echo(f"orgflowc engine install: {error}", err=True)
        end_command(MISUSE)
    write_stdout(f"{path}\n")


@command.command("export")
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@target_option
def export_shared(folder: Path, target: str) -> None:
    """Write into FOLDER what the processes of a server share, for a manual import: the support
    set of processes that wait in several places. `deploy` installs it by itself.
    """
    files = find_engines(target).shared_workflows()
    if not files:
        raise click.UsageError(f"the processes of target `{target}` share nothing")
    write_files([(folder / name, text) for name, text in files.items()])
    write_stdout("".join(f"{folder / name}\n" for name in files))


@command.command("status")
@target_option
def show_status(target: str) -> None:
    """Show whether the engine is installed, and whether the server is installed and runs; exit code
    2 if the engine is not usable."""
    engines = find_engines(target)
    state = engines.status()
    lines = [f"engine: {'installed' if state.installed else 'not installed'}"]
    lines += [f"{name}: {fact}" for name, fact in state.facts.items()]
    local = engines.local_server()
    if local is not None:
        lines += [f"{name}: {fact}" for name, fact in local.facts.items()]
    write_stdout("\n".join(lines) + "\n")
    for problem in state.problems:
        click.echo(problem, err=True)
    end_command(0 if state.installed else MISUSE)


def local_server(target: str) -> LocalServer:
    """The server of a target on this machine. Raises `click.UsageError` if it has none."""
    server = find_engines(target).local_server()
    if server is None:
        raise click.UsageError(f"target `{target}` has no server to start")
    return server


def describe_server(running: RunningServer) -> str:
    """The address of a server and its login, as lines."""
    email, password = running.login
    return (
        f"editor: {running.address}\n"
        f"login: {email}  {password}\n"
        f"key: {running.key_file}\n"
        f"log: {running.log}\n"
    )


@command.command("start")
@click.option(
    "--port",
    type=click.IntRange(1024, 65535),
    help="Port to listen on. [default: the previous port, otherwise a free port from 5690]",
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@target_option
def start_server(port: int | None, quiet: bool, target: str) -> None:
    """Start the installed server in the background, on 127.0.0.1, unless it already runs.

    The server keeps its workflows, port and login in its own folder, which `engine status` prints.
    Prints the address of the editor, the login, the file with the API key, and the log.
    """
    try:
        running = local_server(target).start(_report_progress(quiet), port=port)
    except RunnerError as error:
        click.echo(f"orgflowc engine start: {error}", err=True)
        end_command(MISUSE)
    if not running.begun and not quiet:
        click.echo("it runs already", err=True)
    write_stdout(describe_server(running))


@command.command("stop")
@target_option
def stop_server(target: str) -> None:
    """Stop the server that `engine start` or `serve` started; its workflows are kept."""
    try:
        ended = local_server(target).stop()
    except RunnerError as error:
        click.echo(f"orgflowc engine stop: {error}", err=True)
        end_command(MISUSE)
    write_stdout("stopped\n" if ended else "not running\n")


def _report_progress(quiet: bool) -> Callable[[str], None]:
    """Prints lines of progress to standard error."""

    def say(line: str) -> None:
        if line and not quiet:
            click.echo(line, err=True)

    return say
