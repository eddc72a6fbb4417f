"""The reporters that ship with orgflow."""

from __future__ import annotations

from orgflow_ir.plugins import hookimpl
from orgflow_ir.plugins.contracts import Reporter
from orgflow_ir.reporting.json_reporter import JsonReporter
from orgflow_ir.reporting.text_reporter import (
    TextReporter,
)


@hookimpl
def orgflow_reporters() -> tuple[Reporter, ...]:
    """The reporters that ship with orgflow."""
    from orgflow_ir.reporting.github_reporter import GithubReporter
    from orgflow_ir.reporting.sarif_reporter import SarifReporter

    return TextReporter(), JsonReporter(), SarifReporter(), GithubReporter()
