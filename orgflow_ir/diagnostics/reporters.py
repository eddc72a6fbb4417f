"""The reporters that ship with orgflow."""

from __future__ import annotations

from orgflow_ir.diagnostics.json import JsonReporter
from orgflow_ir.diagnostics.text import (
    TextReporter,
)
from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Reporter


@hookimpl
def orgflow_reporters() -> tuple[Reporter, ...]:
    """The reporters that ship with orgflow."""
    from orgflow_ir.diagnostics.github import GithubReporter
    from orgflow_ir.diagnostics.sarif import SarifReporter

    return TextReporter(), JsonReporter(), SarifReporter(), GithubReporter()
