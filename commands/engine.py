"""`orgflowc engine`: install or show n8n's local engine."""

from __future__ import annotations

import click
from orgflow.commands.output import write_stdout
from orgflow.commands.session import leave

MISUSE = 2


@click.group("engine", short_help="Install or show the local engine.")
def command() -> None:
    """n8n's own engine on this machine: what `run`, `eval` and the tests execute workflows with.

    It is installed from npm, by this command only, into ORGFLOW_ENGINE_DIR (else the user's cache
    folder); it takes about 0.9 GB. n8n's packages are under the Sustainable Use License.
    """


@command.command("install")
@click.option("--force", is_flag=True, help="Install again although it is there.")
@click.option("--server", is_flag=True, help="A whole n8n server instead (2.9 GB, minutes).")
@click.option("--n8n", "version", metavar="VERSION", help="With --server: another n8n, 1.123.81.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def install(force: bool, server: bool, version: str | None, quiet: bool) -> None:
    """Install the engine, unless it is there already (about a minute).

    With --server a whole n8n server is installed beside it, into ORGFLOW_N8N_SERVER (else the
    user's cache folder): for tests on the real thing. It needs python3, make and a C++ compiler.
    """
    from orgflow.backends.n8n.engine.install import InstallError
    from orgflow.backends.n8n.engine.install import install as install_engine
    from orgflow.backends.n8n.engine.node import NodeError
    from orgflow.backends.n8n.server.install import N8N_VERSION, VERSIONS
    from orgflow.backends.n8n.server.install import install as install_server

    if version is not None and not server:
        raise click.UsageError("--n8n goes with --server")
    if version is not None and version not in VERSIONS:
        raise click.UsageError(f"no n8n `{version}`; there is: {', '.join(VERSIONS)}")

    def say(line: str) -> None:
        if line and not quiet:
            click.echo(line, err=True)

    try:
        path = (
            install_server(say, force=force, version=version or N8N_VERSION).path
            if server
            else install_engine(say, force=force).path
        )
    except (InstallError, NodeError) as error:
        click.echo(f"orgflowc engine install: {error}", err=True)
        leave(MISUSE)
    write_stdout(f"{path}\n")


@command.command("status")
def status() -> None:
    """Show whether the engine is installed; exit code 2 where it cannot be used."""
    from orgflow.backends.n8n.engine.install import status as engine_status

    found = engine_status()
    lines = [f"engine: {'installed' if found.installed else 'not installed'}"]
    lines.append(f"folder: {found.path}")
    if found.node is not None:
        node = found.node
        lines.append(f"node: {node.version_text} ({node.origin}: {node.path})")
    lines += [f"{name}: {version}" for name, version in sorted(found.versions.items())]
    write_stdout("\n".join(lines) + "\n")
    for problem in found.problems:
        click.echo(problem, err=True)
    leave(0 if found.installed else MISUSE)
