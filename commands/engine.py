"""`orgflowc engine`: install or show a target's local engine."""

from __future__ import annotations

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.options import resolve_target
from orgflow.commands.output import write_stdout
from orgflow.commands.session import leave

from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.engines import EngineProvider
from orgflow_ir.plugins.guards import given

MISUSE = 2


def provider(target: str) -> EngineProvider:
    """The engines of a target. Raises `click.UsageError` where it has none."""
    backend, _ = resolve_target(target, Registry())
    engines: EngineProvider | None = given(backend, "engines", EngineProvider)
    if engines is None:
        raise click.UsageError(f"target `{backend.name}` has no engine to run on")
    return engines


_DEFAULT = provider(DEFAULT_TARGET)
_SERVER = _DEFAULT.server

target_option = click.option(
    "--target", default=DEFAULT_TARGET, metavar="T", help=f"Target.  [default: {DEFAULT_TARGET}]"
)


@click.group("engine", short_help="Install or show the local engine.", help=_DEFAULT.about)
def command() -> None:
    """See `EngineProvider.about`."""


@command.command(
    "install",
    help="\n\n".join(part.help for part in (_DEFAULT.engine, _SERVER) if part is not None),
)
@click.option("--force", is_flag=True, help="Install again although it is there.")
@click.option(
    "--server",
    is_flag=True,
    help=f"A whole {DEFAULT_TARGET} server instead ({_SERVER.cost if _SERVER else ''}).",
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
def install(force: bool, server: bool, version: str | None, quiet: bool, target: str) -> None:
    """See `EngineProvider.install`."""
    from orgflow_ir.plugins.contracts import RunnerError

    engines = provider(target)
    if version is not None and not server:
        raise click.UsageError(f"--{DEFAULT_TARGET} goes with --server")
    if server and engines.server is None:
        raise click.UsageError(f"target `{target}` has no server to install")
    versions = engines.server.versions if engines.server is not None else ()
    if version is not None and version not in versions:
        raise click.UsageError(f"no {target} `{version}`; there is: {', '.join(versions)}")

    def say(line: str) -> None:
        if line and not quiet:
            click.echo(line, err=True)

    try:
        path = engines.install(say, force=force, server=server, version=version)
    except RunnerError as error:
        click.echo(f"orgflowc engine install: {error}", err=True)
        leave(MISUSE)
    write_stdout(f"{path}\n")


@command.command("status")
@target_option
def status(target: str) -> None:
    """Show whether the engine is installed; exit code 2 where it cannot be used."""
    found = provider(target).status()
    lines = [f"engine: {'installed' if found.installed else 'not installed'}"]
    lines += [f"{name}: {fact}" for name, fact in found.facts.items()]
    write_stdout("\n".join(lines) + "\n")
    for problem in found.problems:
        click.echo(problem, err=True)
    leave(0 if found.installed else MISUSE)
