"""`orgflowc lsp`: the language server for editors."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.plugins.packages import install_command

if TYPE_CHECKING:
    from orgflow.commands.language_server import server
else:  # the language server needs pygls, an extra of the installation
    server = LazyModule("orgflow.commands.language_server.server")


@click.command("lsp", short_help="Show findings and fixes in an editor.")
@click.option(
    "--stdio", is_flag=True, help="Accepted for editors that add it; this is the default."
)
def command(stdio: bool) -> None:
    """Start a language server on standard input and output; editors run this command.

    It reports the findings of `check` in BPMN files and the errors in orgflow.toml while they are
    edited, and offers the fixes. It requires the Python package pygls.
    """
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        raise click.UsageError(f"the language server needs pygls: {install_command('pygls')}")

    server.serve_editor()
